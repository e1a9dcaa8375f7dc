"""What a person wants to know, as queries that return frozen rows."""
