"""What a gate is: the one description of it that lists, panels, commands and drivers read."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

import msgspec

from services.domain.fleet.shop import Pause
from services.domain.text.message import Message


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """How a gate is closed that somebody closes for a scope: all, a platform, a shop or a type (``Pause`` and what is
    made after it, told apart by ``Pause.gate``).
    """

    #: verb of a person that opens it now, about its scope; "": none does, it opens by itself
    verb: str = ""
    document: str = ""  #: kind of the documents in which the store keeps when it is closed, "" for none
    #: one of these documents (name, body) at an instant (UTC ms): what it closes then, None for nothing. One that
    #: cannot be read closes: nobody knows what it was to hold back
    read: Callable[[str, str, int], Pause | None] | None = None
    #: what the doctor warns of: asked with what gives the documents of a kind, and an instant (UTC ms)
    doubts: Callable[[Callable[[str], Mapping[str, str]], int], list[Message]] | None = None
    state: str  #: source text: the state of a shop that it covers as a whole
    word: str  #: source text: the same wherever a status stands
    glyph: str  #: of that, as a status
    fallback: str  #: the mdi6 name, for a machine whose Phosphor font will not load
    cell: str  #: the glyph in a cell of the heat map


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate. Its words are source texts, to be translated where they are shown.

    A gate with a switch has these sentences: ``gate.NAME`` and ``gate.not_NAME``, ``doctor.NAME``,
    ``shop.NAME_SCOPE`` and the same with ``_why`` (SCOPE: all, platform, shop, type), and ``flow.why_FLOW``.
    """

    name: str  #: as it stands in ``gate:NAME`` and in the record of a parked task
    short: str  #: where a task waits, in the fewest words, the decisive ones first
    no_help: str = ""  #: why moving a task to the front does not start it
    person: bool = False  #: somebody has to do something before it goes on
    #: what it is to the flow of work: a reason of ``insight.flow``, "" where that is more than one or none
    flow: str = ""
    switch: Switch | None = None
    sentences: Mapping[str, str] = {}  #: by code, where they are its own


def sentence(family: str, closed: Pause, known: Container[str]) -> str:
    """The code of what is said of a switch that is closed now, by the family of the sentence: ``NAME_unread`` and
    ``NAME_unsaid``, where no reason was given, only if there is one in ``known``.
    """
    code = f"{family}.{closed.gate}"
    suffix = "_unread" if closed.unread else "" if closed.reason else "_unsaid"
    return code + suffix if code + suffix in known else code
