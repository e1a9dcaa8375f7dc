"""The duties of whoever leads, one a file."""
