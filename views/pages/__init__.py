"""One package per page of the console."""
