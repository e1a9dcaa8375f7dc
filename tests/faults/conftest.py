"""Fleets to be broken: a command line with processes of its own, and the same fleet as the test sees it."""

from __future__ import annotations

from tests.e2e.conftest import cli, fleet, pair, words

__all__ = ["cli", "fleet", "pair", "words"]
