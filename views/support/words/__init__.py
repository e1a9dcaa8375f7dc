"""What things are called on every screen, from the answers of services."""
