"""What a worker can be told: the words of an order, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from services.domain.fleet import autoscale, shop
from services.domain.fleet.autoscale import Range
from services.domain.fleet.remote import LOG_S, MOST_LOG_S
from services.domain.gates import lane_share
from services.domain.gates.lane_share import Share
from services.domain.task import ids

RESTART_BROWSER, RELEASE_PROFILE = "restart_browser", "release_profile"
OPEN_WINDOW, RELOAD_WINDOW, CLOSE_WINDOW = "open_window", "reload_window", "close_window"
#: what is done to the browser profile of one shop
OF_PROFILE = (RESTART_BROWSER, RELEASE_PROFILE, OPEN_WINDOW, RELOAD_WINDOW, CLOSE_WINDOW)
LOG = "log"
VERBS = ("drain", "resume", "stop", "slots", "refuse", *OF_PROFILE, LOG)
MAX_GRACE_S = 86_400


class WorkerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """``drain`` and ``resume``; ``stop`` or ``stop=GRACE_SECONDS``; ``slots=8,low=1-3`` or ``slots=auto:2-16``;
    ``refuse=TYPE,TYPE``, all that it shall refuse from now on (``refuse=`` for none); ``restart_browser=SHOP`` and the
    other orders about the profile of a shop (``platform:shop_id``); ``log`` or ``log=SECONDS``: show the log so long.
    """

    verb: str
    grace_s: float | None = None  #: of a stop; None for the worker's own
    slots: int = 0
    shares: Mapping[str, Share] = {}
    auto: Range | None = None  #: instead of ``slots``
    types: tuple[str, ...] = ()  #: to refuse
    shop: str = ""  #: whose profile is meant
    log_s: float = 0.0  #: how long the log is shown


def parse(text: str) -> WorkerOrder:
    """Read an order.

    Raises:
        ValueError: the text says what is wrong.
    """
    verb, equals, value = text.partition("=")
    if verb not in VERBS:
        raise ValueError(f"a worker can be told {', '.join(VERBS)}, not {text!r:.80}")
    if read := _READ.get(verb):
        return read(verb, value if equals else None)
    if equals:
        raise ValueError(f"{verb} takes nothing behind it, not {value!r:.40}")
    return WorkerOrder(verb=verb)


def _slots(verb: str, value: str | None) -> WorkerOrder:
    auto = autoscale.parse(value or "")
    if auto is not None:
        return WorkerOrder(verb=verb, auto=auto)
    slots, shares = lane_share.parse_slots(value or "")
    return WorkerOrder(verb=verb, slots=slots, shares=shares)


def _refuse(verb: str, value: str | None) -> WorkerOrder:
    if value is None:
        raise ValueError("refuse needs task types: refuse=TYPE,TYPE, or refuse= for none")
    return WorkerOrder(verb=verb, types=_types(value))


def _stop(verb: str, value: str | None) -> WorkerOrder:
    if value == "":
        raise ValueError("stop takes the seconds of its grace behind it, or nothing at all")
    return WorkerOrder(verb=verb, grace_s=_grace(value) if value else None)


def _profile(verb: str, value: str | None) -> WorkerOrder:
    platform, colon, shop_id = (value or "").partition(":")
    if not colon or not shop.valid_word(platform) or not shop.valid_shop_id(shop_id):
        raise ValueError(f"{verb} needs a shop as platform:shop_id, not {value!r:.80}")
    return WorkerOrder(verb=verb, shop=f"{platform}:{shop_id}")


def _log(verb: str, value: str | None) -> WorkerOrder:
    return WorkerOrder(verb=verb, log_s=float(LOG_S) if value is None else _seconds(value))


def _types(value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(word.strip() for word in value.split(",") if word.strip()))
    bad = [name for name in names if not ids.valid_task_type(name)]
    if bad:
        raise ValueError(f"a task type is 1-64 of A-Z a-z 0-9 _ -, not {bad[0]!r:.60}")
    return names


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= MOST_LOG_S:
        raise ValueError(f"a log is shown for 1 to {MOST_LOG_S} seconds, not {value!r:.40}")
    return seconds


def _grace(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_GRACE_S:
        raise ValueError(f"the grace of a stop is 0 to {MAX_GRACE_S} seconds, not {value!r:.40}")
    return seconds


#: what is read behind a verb, None where nothing stands there
_READ: dict[str, Callable[[str, str | None], WorkerOrder]] = {
    "slots": _slots,
    "refuse": _refuse,
    "stop": _stop,
    LOG: _log,
    **dict.fromkeys(OF_PROFILE, _profile),
}
