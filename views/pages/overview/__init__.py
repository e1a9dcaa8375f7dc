"""The first page: is work flowing, what is broken, what should I do about it."""
