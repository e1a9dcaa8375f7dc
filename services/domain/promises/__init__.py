"""What was promised of the work of shops, and whether it is kept. Pure."""
