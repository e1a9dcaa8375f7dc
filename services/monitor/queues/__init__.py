"""Queues: what waits in each, how fast it comes and goes, what is wrong with it."""
