"""Did it run? Asked of a shop's work, not of a task."""
