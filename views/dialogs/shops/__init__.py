"""Choosing shops: from a list, pasted, by group, from a file."""
