"""What config.toml and the environment say, in words: by these rules tasks run."""

from __future__ import annotations

from datetime import timedelta

from services.i18n import _
from services.settings import Settings
from services.spans import HOUR, MINUTE
from views.support import shown, text


def rows(settings: Settings, slots: int | None = None) -> list[tuple[str, str]]:
    """Name and value of each rule; ``slots``: of the worker that runs here now, if one does."""
    worker = settings.worker
    return [
        (_("Failed attempts"), _retries(settings)),
        (_("Silent worker"), _("its tasks go to others after {span}").format(span=_span(settings.lease.seconds))),
        (_("Slots here"), _slots(worker.slots, slots)),
        (_("Lanes here"), text.listed(shown.lane_word(lane) for lane in worker.lanes)),
        (_("Order in a lane"), _order(settings)),
        (_("When stopped"), _("running tasks get {span} to finish").format(span=_span(worker.grace_seconds))),
    ]


def _slots(wished: int, now: int | None) -> str:
    """What the worker here has, as its card says; what is set only where that differs or none runs."""
    if now is None or now == wished:
        return text.count(wished)
    return _("{now} now, {n} when it starts again").format(now=text.count(now), n=text.count(wished))


def _order(settings: Settings) -> str:
    """Oldest first, but for lanes that the embedded engine was told to turn round; RabbitMQ cannot."""
    if not settings.embedded:
        return _("oldest first; RabbitMQ cannot do otherwise")
    turned = settings.broker.lifo_lanes
    if not turned:
        return _("oldest first; broker.lifo_lanes turns a lane round")
    return _("youngest first in {lanes}, oldest first elsewhere").format(
        lanes=text.listed(shown.lane_word(lane) for lane in turned)
    )


def _retries(settings: Settings) -> str:
    most, delays = settings.retry.max_retries, settings.delays
    if not most:
        return _("dead letter at once")
    spans = [_span(delays[min(place, len(delays) - 1)]) for place in range(most)]
    return _("again after {spans}, then a dead letter").format(spans=text.listed(spans))


def _span(seconds: float) -> str:
    span = timedelta(seconds=seconds)
    # whole minutes and hours are set as such; "1 m 00 s" would look measured
    even = (seconds >= HOUR and not seconds % HOUR) or (seconds < HOUR and not seconds % MINUTE)
    return text.coarse(span) if even else text.seconds(span)
