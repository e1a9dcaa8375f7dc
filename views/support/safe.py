"""Foreign text made safe to show: messages come from other programs and may hold anything."""

from __future__ import annotations

import html

from services.domain.visible import visible as visible

MAX_LINE = 400
MAX_TOOLTIP = 2_000


def one_line(text: object, limit: int = MAX_LINE) -> str:
    """Return the first line of a foreign text, visible and cut at `limit` characters."""
    raw = str(text)[: limit * 2].strip()
    first, _, rest = raw.partition("\n")
    shown = visible(first.rstrip("\r"))
    if len(shown) > limit:
        return shown[: limit - 1] + "…"
    return f"{shown} …" if rest.strip() else shown


def cut(text: str, limit: int) -> str:
    """Return `text` cut at `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def tooltip(text: object, limit: int = MAX_TOOLTIP) -> str:
    """Return foreign text for ``setToolTip``: escaped, so that it cannot become rich text."""
    shown = cut(visible(str(text), keep_newlines=True), limit)
    # A tool tip that looks like HTML is read as HTML; wrapping makes it so on purpose.
    body = html.escape(shown, quote=False).replace("\n", "<br>")
    return f"<qt>{body}</qt>" if shown else ""


def rich(text: object, limit: int = MAX_LINE) -> str:
    """Return foreign text for use inside rich text of our own."""
    return html.escape(cut(visible(str(text)), limit))
