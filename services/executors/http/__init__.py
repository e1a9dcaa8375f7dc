"""Executor ``http``: one request and what its answer means."""
