"""One connection: chosen, opened, lost, left."""
