"""Settings: how the console looks, and what it is."""
