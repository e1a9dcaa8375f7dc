"""Widgets, item models and pages: everything with a pixel, nothing with a socket."""
