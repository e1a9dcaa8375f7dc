"""The window and its pages over the real embedded engine."""
