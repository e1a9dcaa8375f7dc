"""The line beside the title: is work flowing, as ``insight.flow`` judges it, in words."""

from __future__ import annotations

from services.domain.insight import flow
from services.messages import headline
from services.monitor.overview import OverviewNow
from views.support import shown


def summary(now: OverviewNow) -> str:
    """What is true of the whole fleet, the decisive statement first."""
    return headline(flow.headline(now.flow), shown.say)
