"""Republish many dead letters: what becomes of each, how fast, and what it does to the others."""
