"""All workers in a line, as every screen says it."""

from __future__ import annotations

from services.domain.insight import worker as insight
from services.domain.insight.worker import FleetNow
from services.messages import render
from views.support import text


def summary(fleet: FleetNow) -> str:
    """Workers and machines, busy slots, and what is not as it should be."""
    return text.listed(map(render, insight.summary(fleet)))
