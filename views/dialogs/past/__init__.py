"""Looking back in time."""
