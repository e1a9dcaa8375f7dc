"""Tasks from a file: its columns, its rows, what is wrong with them."""
