"""Dialogs: each is opened with ``open()`` and asks or tells one thing."""
