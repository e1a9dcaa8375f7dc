"""``make soak``: steady work for hours or days, and whether anything grows, is lost, or done twice."""
