"""Small widgets, one duty each, painted from the theme."""
