"""Verbs of ``queue`` that are more than a switch."""
