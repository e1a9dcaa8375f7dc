"""Promises: how they stand, what holds each shop that is not kept, and what can be done about it."""
