"""Lanes and priorities: how urgent a task is, and the words and numbers for it."""

from __future__ import annotations

from enum import StrEnum

from services.domain.text.said import said


class Lane(StrEnum):
    """A shared queue; workers look at high before normal before low."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


LANES = (Lane.HIGH, Lane.NORMAL, Lane.LOW)
LANE_QUEUE = "rpa_tasks_"  #: before the name of the lane whose queue it is
SHOP_QUEUE = "single_shop_"  #: before the id of the shop whose queue it is
NOTICE_QUEUE = "rpa_notice_queue"  #: copies of what other programs publish
LATE_QUEUE = "rpa_notice_late"  #: such copies that ended before anybody read them
MIN_PRIORITY, MAX_PRIORITY = 1, 10
DEFAULT_PRIORITY = {Lane.HIGH: 10, Lane.NORMAL: 6, Lane.LOW: 2}
_WORDS: dict[str, tuple[Lane, int]] = {lane: (lane, priority) for lane, priority in DEFAULT_PRIORITY.items()}


def lane_of(priority: int) -> Lane:
    """Lane of a priority 1–10: 8–10 high, 4–7 normal, 1–3 low."""
    if priority >= 8:
        return Lane.HIGH
    return Lane.NORMAL if priority >= 4 else Lane.LOW


def shop_queue(shop_id: str) -> str:
    """The dedicated queue of a shop."""
    return SHOP_QUEUE + shop_id


def is_shop_queue(queue: str) -> bool:
    """Whether a queue is dedicated to a shop."""
    return queue.startswith(SHOP_QUEUE)


def place_of(queue: str, priority: int | None) -> int:
    """How urgent a message is, 0 for the high lane: by its lane's queue, in a shop's queue by its own priority."""
    if is_shop_queue(queue):
        return LANES.index(lane_of(DEFAULT_PRIORITY[Lane.NORMAL] if priority is None else priority + 1))
    name = queue.rpartition("_")[2]
    return LANES.index(Lane(name)) if name in DEFAULT_PRIORITY else len(LANES)


def parse_priority(value: object) -> tuple[Lane, int]:
    """Read ``high|normal|low`` or an integer 1–10, as number or as text.

    Raises:
        ValueError: the value is neither; the text names what is allowed.
    """
    known = _WORDS.get(value) if isinstance(value, str) else None  # as nearly every task of a bulk says it
    if known is not None:
        return known
    if isinstance(value, str) and value.strip().lower() in DEFAULT_PRIORITY:
        return _WORDS[value.strip().lower()]
    number = _integer(value)
    if number is None or not MIN_PRIORITY <= number <= MAX_PRIORITY:
        raise ValueError(said("priority.unknown", value=f"{value!r:.40}"))
    return lane_of(number), number


def message_priority(priority: int) -> int:
    """The ``priority`` of a message, 0–9: high 9, normal 5, low 1, i.e. the task's own 1–10 minus 1."""
    return min(max(priority, MIN_PRIORITY), MAX_PRIORITY) - 1


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value.strip()) <= 3:
        return int(value.strip())
    return None
