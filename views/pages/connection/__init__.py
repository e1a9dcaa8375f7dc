"""The page of a connection that is not open."""
