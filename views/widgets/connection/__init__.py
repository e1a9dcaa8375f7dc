"""Addresses of servers and what answered there."""
