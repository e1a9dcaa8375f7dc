"""Files of people as tables, columns as fields, rows as tasks: one way for the window and the command line."""
