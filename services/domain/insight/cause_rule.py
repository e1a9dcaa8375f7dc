"""What a person decided about a cause of dead letters: its name, owner and note, for how long it is ignored, and what
whoever leads does about it by itself. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from services.domain.errors import UsageError
from services.domain.upkeep.stored import Instant

KIND = "cause"  #: of the store's documents; the name is the fingerprint
MAX_NAME, MAX_NOTE, MAX_LINK = 80, 2000, 500
_FINGERPRINT = re.compile(r"[0-9a-f]{16}\Z")
FOREVER = 0


class CauseRule(msgspec.Struct, frozen=True, kw_only=True):
    """``ignored``: what dies of it is ignored ``until`` an instant (UTC ms), ``FOREVER`` until its text changes.

    Another text has another fingerprint, so such a rule never has to end.
    """

    name: str = ""
    note: str = ""
    by: str = ""
    at: Instant = 0
    ignored: bool = False
    until: int = FOREVER
    owner: str = ""  #: who is at it
    park_s: int = 0  #: the shops that have it are paused for so long after each letter, 0: they go on
    retry_at: str = ""  #: ``HH:MM`` on the clocks of the fleet: its letters run again then, each day; "" never
    alert_once: bool = False  #: an alert on it is told once, neither again nor to others
    route: tuple[str, ...] = ()  #: who hears of it in the place of those whom the rule names: channels and groups
    known_by: str = ""  #: who decided these, and when
    known_at: Instant = 0
    into: str = ""  #: fingerprint of the cause that this one is a part of, "" for none
    link: str = ""  #: where it is followed up: an address of an issue tracker, "" for none

    @property
    def known(self) -> bool:
        """Whether anything is done about it by itself, or somebody is at it."""
        return bool(self.owner or self.park_s or self.retry_at or self.alert_once or self.route or self.link)

    @property
    def mark(self) -> str:
        """The note of the letters that this rule has ignored: only those come back when it ends."""
        return f"rule {self.at}"

    def holds(self, now_ms: int) -> bool:
        """Whether it ignores now."""
        return self.ignored and (self.until == FOREVER or now_ms < self.until)

    def over(self, now_ms: int) -> bool:
        """Whether its time has run out and its letters shall come back."""
        return self.ignored and not self.holds(now_ms)


def root(fingerprint: str, rules: Mapping[str, CauseRule]) -> str:
    """The cause that this one counts to: itself, or what it was merged into."""
    seen = {fingerprint}
    while (rule := rules.get(fingerprint)) is not None and rule.into and rule.into not in seen:
        fingerprint = rule.into
        seen.add(fingerprint)
    return fingerprint


_DECODER = msgspec.json.Decoder(CauseRule)


def parse(text: str) -> CauseRule:
    """Read a rule; one that cannot be read decides nothing."""
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return CauseRule()


def dump(rule: CauseRule) -> str:
    """The rule as JSON."""
    return msgspec.json.encode(rule).decode()


def check_fingerprint(fingerprint: str) -> str:
    """The fingerprint of a cause.

    Raises:
        UsageError: it is none, as of letters that were never a readable task.
    """
    if not _FINGERPRINT.match(fingerprint):
        raise UsageError("a cause is named by its fingerprint of 16 hex letters; see `dead list --causes`", "cause")
    return fingerprint
