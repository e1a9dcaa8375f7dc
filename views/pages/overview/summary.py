"""The line beside the title: is work flowing, in words."""

from __future__ import annotations

from datetime import timedelta

from services.i18n import _, ngettext
from services.monitor.overview import OverviewNow
from views.pages.overview.tiles import waiting
from views.support import text

LONGEST_S = 7 * 86_400


def summary(now: OverviewNow) -> str:
    """One sentence about work and pace."""
    total = waiting(now)
    if not total:
        return _idle(now)
    tasks = ngettext("{n} task waiting", "{n} tasks waiting", total).format(n=text.count(total))
    if not now.slots_total:
        return _("{tasks}, no worker is connected").format(tasks=tasks)
    held = min(total, sum(shop.waiting for shop in now.shops if shop.session or shop.state == "paused"))
    if held == total:
        return _("{tasks}, all of them for a person: a login or a pause").format(tasks=tasks)
    if now.ack_rate <= 0:
        return _("{tasks}, none has finished in the last seconds").format(tasks=tasks)
    left = (total - held) / now.ack_rate
    if held:
        return _("{tasks}, {held} of them for a person, the others clear in about {span}").format(
            tasks=tasks, held=text.count(held), span=_about(min(left, LONGEST_S))
        )
    if left > LONGEST_S:
        return _("{tasks}, more than a week of work at the present pace").format(tasks=tasks)
    return _("{tasks}, clear in about {span} at the present pace").format(tasks=tasks, span=_about(left))


def _about(seconds: float) -> str:
    """A span without false precision: tens of seconds from a minute on."""
    if seconds < 10:
        return text.coarse(timedelta(seconds=max(1, round(seconds))))
    step = 10 if seconds < 3600 else 60
    return text.duration(timedelta(seconds=max(10, round(seconds / step) * step)))


def _idle(now: OverviewNow) -> str:
    if now.running:
        running = ngettext("{n} task running", "{n} tasks running", now.running).format(n=text.count(now.running))
        return _("Nothing is waiting, {running}").format(running=running)
    return _("Nothing is waiting and nothing is running")
