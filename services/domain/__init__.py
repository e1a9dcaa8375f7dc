"""Pure values and decisions: no clock, no socket, no thread."""
