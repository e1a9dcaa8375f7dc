"""The page of all tasks."""

from __future__ import annotations
