"""Executor ``browser``: flows in real Chromium, driven by one host process that owns the pool of browsers."""
