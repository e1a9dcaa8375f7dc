"""The session of a shop: where its login has expired or a captcha asks for a person, its tasks wait. Pure."""

from __future__ import annotations

import msgspec

from services.domain.errors import UsageError
from services.domain.task import classify
from services.domain.text.said import said
from services.domain.upkeep.stored import Instant

GATE = "session"
#: an attempt that ends so closes the gate of its shop
KINDS = (classify.LOGIN_EXPIRED, classify.CAPTCHA)
NOTE_LIMIT = 500


class ClosedSession(msgspec.Struct, frozen=True, kw_only=True):
    """The gate of a shop is closed, by an attempt (``task_id``; its files are the evidence) or by a person (``by``)."""

    shop: str  #: platform:shop_id
    kind: str  #: login_expired | captcha
    since: Instant  #: UTC ms
    task_id: str = ""
    attempt: int = 0
    worker: str = ""
    by: str = ""
    note: str = ""


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody has logged a shop in, or confirmed that it is."""

    shop: str  #: platform:shop_id
    at: Instant  #: UTC ms
    by: str


def check(kind: str, note: str) -> None:
    """Refuse what cannot close a gate.

    Raises:
        UsageError: ``field`` names what to change.
    """
    if kind not in KINDS:
        raise UsageError(said("session.kind", known=", ".join(KINDS), kind=f"{kind!r:.60}"), field="kind")
    check_note(note)


def check_note(note: str) -> None:
    """Refuse a note that is longer than a person reads.

    Raises:
        UsageError: ``field`` names it.
    """
    if len(note) > NOTE_LIMIT:
        raise UsageError(said("session.note", most=NOTE_LIMIT, count=f"{len(note):,}"), field="note")
