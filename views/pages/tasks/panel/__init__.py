"""The panel of one task."""
