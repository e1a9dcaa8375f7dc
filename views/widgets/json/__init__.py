"""A JSON editor and what it is made of."""
