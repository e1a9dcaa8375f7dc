"""Dead letters: what went wrong, grouped by cause, and what is done about it."""
