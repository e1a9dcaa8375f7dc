"""Task types: their policy as a form and as JSON, their versions, and what a change would refuse."""
