"""Republishing many dead letters: look first, try a few, send the rest at a pace."""
