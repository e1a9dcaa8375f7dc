"""Judges what was promised of the work of shops, while this process leads."""
