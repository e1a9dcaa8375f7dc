"""What a cause of dead letters is called. Pure but for the language."""

from __future__ import annotations

from services.domain.text.message import Message
from views.support import safe, shown


def called(name: str, title: Message, where: str, place_name: str = "") -> str:
    """What a cause is called: as a person named it, else by its title; and where, if it was split off."""
    said = safe.one_line(name, 80) or safe.one_line(shown.say(title), 90)
    return f"{said} · {place(where, place_name)}" if where else said


def place(where: str, name: str = "") -> str:
    """A place at which a cause is split; ``name``: what the shop there is called."""
    head, _colon, key = where.partition(":")
    return shown.scope_name(where) if head == "platform" else safe.one_line(name or key, 60)
