"""How the lanes share the slots of one worker: how many are kept for a lane, and how many it may use at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from services.domain.task.lane import LANES
from services.domain.text.said import said, words_of

MAX_SLOTS = 512


class Share(msgspec.Struct, frozen=True):
    """``least``: while fewer of its tasks run, a lane goes first, whatever else waits; ``most``: 0 is all slots."""

    least: int = 0
    most: int = 0

    def __str__(self) -> str:
        return f"{self.least}-{self.most}" if self.most else f"{self.least}"


#: the high lane may use all slots, the low one is never shut out
DEFAULT: Mapping[str, Share] = {"low": Share(least=1)}


def parse_share(text: object) -> Share:
    """Read ``1``, ``1-3`` or ``-3``.

    Raises:
        ValueError: the text says what is allowed.
    """
    least, dash, most = str(text).strip().partition("-")
    numbers = [_number(word) for word in (least or "0", most if dash else "0")]
    if None in numbers or (dash and not numbers[1]) or (not least and not dash):
        raise ValueError(said("lanes.share", most=MAX_SLOTS, text=f"{str(text)!r:.40}"))
    share = Share(numbers[0] or 0, numbers[1] or 0)
    if share.most and share.least > share.most:
        raise ValueError(said("lanes.least", least=share.least, most=share.most))
    return share


def parse_slots(text: str) -> tuple[int, dict[str, Share]]:
    """Read ``8`` or ``8,low=1-3,high=-6``: the slots, and the shares of the lanes that are named.

    Raises:
        ValueError: the text says what is wrong.
    """
    first, *words = (word.strip() for word in text.split(","))
    slots = _number(first)
    if slots is None or slots < 1:
        raise ValueError(said("lanes.slots", most=MAX_SLOTS, text=f"{first!r:.40}"))
    shares: dict[str, Share] = {}
    for word in words:
        lane, is_, share = word.partition("=")
        if lane not in LANES or not is_:
            raise ValueError(said("lanes.word", text=f"{word!r:.40}"))
        try:
            shares[lane] = parse_share(share)
        except ValueError as exc:
            raise ValueError(said("lanes.of", lane=lane, why=words_of(exc))) from exc
    check(slots, shares)
    return slots, shares


def check(slots: int, shares: Mapping[str, Share]) -> None:
    """Refuse to keep more slots than there are.

    Raises:
        ValueError: the text has both numbers.
    """
    kept = sum(share.least for share in shares.values())
    if kept > slots:
        raise ValueError(said("lanes.kept", kept=kept, slots=slots))


class Sharing:
    """The shares of the lanes that a worker serves, and what follows from them when a slot is free."""

    def __init__(self, lanes: Sequence[str], slots: int, shares: Mapping[str, Share]) -> None:
        """``shares`` of lanes that are not served are passed over. Too few slots keep what they can, for the most
        urgent lanes first; a single slot, or a single lane, keeps none.
        """
        self.lanes, self.slots = tuple(lanes), slots
        self.wished = {**DEFAULT, **shares}
        left = slots if slots > 1 and len(self.lanes) > 1 else 0
        self._shares: dict[str, Share] = {}
        for lane in self.lanes:
            wish = self.wished.get(lane, Share())
            least = min(wish.least, left)
            left -= least
            self._shares[lane] = Share(least, min(wish.most or slots, slots))

    def shares(self) -> dict[str, Share]:
        """What holds, by lane."""
        return dict(self._shares)

    def changed(self, slots: int, shares: Mapping[str, Share]) -> Sharing:
        """The same lanes with another number of slots and some other shares."""
        return Sharing(self.lanes, slots, {**self.wished, **shares})

    def plan(self, room: int, claimed: Mapping[str, int]) -> list[tuple[str, int]]:
        """From which lanes ``room`` more tasks may come, in this order and so many at most; empty where none may.

        ``claimed``: tasks by lane that run or will run at once.
        """
        if room <= 0:
            return []
        owed: list[tuple[str, int]] = []
        rest: list[tuple[str, int]] = []
        for lane in self.lanes:
            share, has = self._shares[lane], claimed.get(lane, 0)
            # where work is claimed ahead of the slots (short tasks), a bound on the lane still bounds what runs
            free = room if share.most >= self.slots else min(room, share.most - has)
            first = min(share.least - has, free)
            if first > 0:
                owed.append((lane, first))
                free -= first
            if free > 0:
                rest.append((lane, free))
        return owed + rest

    def admits(self, lane: str, claimed: Mapping[str, int]) -> bool:
        """Whether one more task of a lane may run at once."""
        return lane in self._shares and claimed.get(lane, 0) < self._shares[lane].most

    def spare(self, lane: str, claimed: Mapping[str, int]) -> int:
        """Tasks of a lane beyond what is kept for it."""
        share = self._shares.get(lane, Share())
        return claimed.get(lane, 0) - share.least


def spelled(shares: Mapping[str, Share]) -> Iterable[tuple[str, str]]:
    """Lanes in order with their shares as text."""
    return [(str(lane), str(shares[lane])) for lane in LANES if lane in shares]


def _number(word: str) -> int | None:
    word = word.strip()
    if not word.isascii() or not word.isdigit() or len(word) > 3 or int(word) > MAX_SLOTS:
        return None
    return int(word)
