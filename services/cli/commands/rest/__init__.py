"""The server for other programs, and their tokens."""
