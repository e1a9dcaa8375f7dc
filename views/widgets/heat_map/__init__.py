"""The whole fleet as a map of cells."""
