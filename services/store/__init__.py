"""Drivers of the Store port: Redis and embedded."""
