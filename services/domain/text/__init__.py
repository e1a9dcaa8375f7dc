"""Sentences of the domain, foreign text made safe, secrets made unreadable."""
