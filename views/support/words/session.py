"""What a shop asks a person for, in words."""

from __future__ import annotations

from services.domain.task import classify
from services.i18n import _
from views.support import shown, text


def asks(kind: str) -> str:
    """For what a shop waits; ``kind`` as its session gate has it, "" where that is not known."""
    return _("captcha waits") if kind == classify.CAPTCHA else _("needs login")


def asks_for(kind: str, since_ms: int, now_ms: int) -> str:
    """The same, and for how long already."""
    return _("{what} for {span}").format(what=asks(kind), span=text.coarse(shown.span(max(0, now_ms - since_ms))))
