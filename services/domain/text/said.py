"""A sentence in English that remembers its code, so that a window can say it in its own language.

Errors and states are passed on as texts, through drivers and threads, to logs, documents and windows; only windows need
another language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from services.domain.text.message import Message, Param
from services.domain.text.refusals import REFUSALS

_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")


class Said(str):
    """The English text of ``message``."""

    __slots__ = ("message",)
    message: Message


def said(code: str, **params: Param) -> Said:
    """The sentence of a code of ``refusals.REFUSALS``."""
    return said_of(REFUSALS, code, params)


def said_of(sentences: Mapping[str, str], code: str, params: Mapping[str, Param]) -> Said:
    """The same of a catalogue of its own."""
    text = Said(sentences[code].format(**params))
    text.message = Message(code, params)
    return text


def newer(place: str, program: str, found: int, known: int) -> Said:
    """Why what lies at ``place`` is only read: ``program``, where that is known, wrote it in a form too new here."""
    params: dict[str, Param] = {"place": place, "found": found, "known": known}
    if _VERSION.fullmatch(program):
        return said("store.newer_named", program=program, **params)
    return said("store.newer", **params)


def words_of(error: BaseException) -> str:
    """What an error says; still a ``Said`` where it was one."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Said) else str(error)
