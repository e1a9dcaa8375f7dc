"""One behaviour suite per port, run against every driver: embedded, and the real service."""
