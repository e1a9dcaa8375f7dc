"""What needs a person, as a list."""
