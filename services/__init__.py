"""The headless half: importable, testable and usable with no Qt installed."""
