"""Foreign text made safe to show: messages come from other programs and may hold anything, secrets too."""

from __future__ import annotations

import html
from functools import lru_cache

from services.domain.text import mask
from services.domain.text import visible as characters

MAX_LINE = 400
MAX_TOOLTIP = 2_000
#: a secret is looked for in so much of a text before it is cut: half of one gives nothing away by its form
LOOKED_AT = 8_000
#: texts whose dots are remembered: cells are asked for at every painting
_REMEMBERED = 4_096


def one_line(text: object, limit: int = MAX_LINE) -> str:
    """Return the first line of a foreign text, visible and cut at `limit` characters."""
    raw = masked(str(text)[:LOOKED_AT])[: limit * 2].strip()
    first, _, rest = raw.partition("\n")
    shown = characters.visible(first.rstrip("\r"))
    if len(shown) > limit:
        return shown[: limit - 1] + "…"
    return f"{shown} …" if rest.strip() else shown


def beginning(text: str, limit: int) -> str:
    """Return the first ``limit`` characters of a foreign text of any length, visible and with its line ends. No more
    than ``LOOKED_AT`` are read, nor need be given: to look for secrets in a megabyte takes half a second.
    """
    return cut(visible(text[:LOOKED_AT], keep_newlines=True), limit)


def visible(text: str, *, keep_newlines: bool = False) -> str:
    """Return foreign text with dots for secrets and signs for what cannot be seen."""
    return characters.visible(masked(text), keep_newlines=keep_newlines)


def masked(text: str) -> str:
    """Return foreign text with dots for secrets."""
    if len(text) > LOOKED_AT:
        return mask.masked_text(text)
    return _masked(text, mask.met())


@lru_cache(_REMEMBERED)
def _masked(text: str, met: int) -> str:
    del met  # what is known by now decides
    return mask.masked_text(text)


def cut(text: str, limit: int) -> str:
    """Return `text` cut at `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def tooltip(text: object) -> str:
    """Return foreign text for ``setToolTip``: escaped, so that it cannot become rich text."""
    shown = cut(visible(str(text)[:LOOKED_AT], keep_newlines=True), MAX_TOOLTIP)
    # A tool tip that looks like HTML is read as HTML; wrapping makes it so on purpose.
    body = html.escape(shown, quote=False).replace("\n", "<br>")
    return f"<qt>{body}</qt>" if shown else ""
