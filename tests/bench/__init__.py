"""Benchmarks: the production path measured beside its peers in one run. ``make bench``."""
