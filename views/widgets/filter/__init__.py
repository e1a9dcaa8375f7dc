"""The filter of a page: chips, text, values to choose from."""
