"""A sentence for people that services hand over unrendered, so that every face renders it in its own language."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

Param = str | int | float


class Message(msgspec.Struct, frozen=True):
    """``code`` names the sentence (see ``services/messages.py`` for its English text), ``params`` fill it."""

    code: str
    params: Mapping[str, Param] = {}
