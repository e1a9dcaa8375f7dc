"""The Audit page: who did what, when, to what, and how it ended."""
