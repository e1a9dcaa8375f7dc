"""A sentence for people that services hand over unrendered: window, command line and REST each render it in theirs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

Param = str | int | float


class Message(msgspec.Struct, frozen=True):
    """``code`` names the sentence (see ``services/messages.py`` for its English text), ``params`` fill it."""

    code: str
    params: Mapping[str, Param] = {}
