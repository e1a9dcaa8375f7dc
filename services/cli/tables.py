"""Tables for people: no wider than the terminal where there is one, what stands in a state in its colour."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from services.cli import lexicon, output, spoken
from services.domain.text.visible import columns, visible

#: of a cell where nobody said how wide a line may be: piped, or into a file
WIDEST = 60
#: what a column keeps where a line is narrow
LEAST = 6
GAP = "  "
#: what a row is given where it stands on lines of its own, however narrow the terminal says it is
NARROWEST = 20
#: headings of columns whose words have colours
STATES = frozenset({"status", "state", "level", "severity", "outcome", "verdict"})
_GOOD, _BUSY, _DOUBT, _BAD, _OVER = "green", "cyan", "yellow", "bold red", "dim"
COLOURS = {
    **dict.fromkeys(("succeeded", "kept", "ok", "fine", "healthy", "done", "ready"), _GOOD),
    **dict.fromkeys(("running", "queued", "pending"), _BUSY),
    **dict.fromkeys(
        ("retrying", "held", "blocked", "at_risk", "at risk", "warning", "silent", "paused", "stopped", "draining",
         "interrupted", "quiet hours", "waiting", "open", "to decide", "needs login", "fails too often",
         "type paused", "unknown"),
        _DOUBT,
    ),
    **dict.fromkeys(("dead", "broken", "error", "critical", "gone", "failed", "cut_off", "stuck"), _BAD),
    "dead letters": _BAD,
    **dict.fromkeys(("cancelled", "archived", "ignored", "disabled", "off", "idle", "over", "note"), _OVER),
}  # fmt: skip


def table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, meant: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Columns padded to their widest cell, cells masked and visible; what has no room is cut, but no name is: where
    there is too little room for these, each row stands on lines of its own. ``meant``: what a head is in the lexicon
    that has another meaning elsewhere.
    """
    names = [meant.get(name, name) for name in header]
    clean = [[_clean(value) for value in row] for row in rows]
    styles = [[_style(name, cell) for name, cell in zip(header, row, strict=True)] for row in clean]
    heads = [lexicon.head(name, meant.get(name, "")) for name in header]
    cells = [[lexicon.called(name, cell) for name, cell in zip(names, row, strict=True)] for row in clean]
    natural = [max(columns(row[place]) for row in (heads, *cells)) for place in range(len(header))]
    room = output.room()
    if room is not None and rows and natural[0] + sum(min(one, LEAST) + len(GAP) for one in natural[1:]) > room:
        wide = max(room, NARROWEST)
        return [line for row, style in zip(cells, styles, strict=True) for line in _stacked(heads, row, style, wide)]
    widths = [min(one, WIDEST) for one in natural] if room is None else _fitted(natural, room)
    title = _line(heads, widths)
    return [
        output.Line(title, [(0, len(title), "bold")]),
        *(_line(row, widths, style) for row, style in zip(cells, styles, strict=True)),
    ]


def fact(name: str, value: object, width: int = 0, *, meant: str = "") -> str:
    """A fact of one thing: what it is called, padded to ``width`` columns, else with a colon; and its value."""
    called, told = lexicon.head(name, meant), lexicon.called(meant or name, plain(value))
    return f"{padded(called, width)} {told}" if width else f"{called}: {told}"


def counted(name: str, code: str, number: int) -> str:
    """How many there are of what a code of this column stands for."""
    return f"{padded(lexicon.called(name, code), 10)} {number}"


def padded(text: str, width: int) -> str:
    """A visible text with blanks behind it, up to so many columns."""
    return text + " " * (width - columns(text))


def cut(text: str, width: int) -> str:
    """A visible text in so many columns of a terminal, with dots where some of it is left out."""
    if columns(text) <= width:
        return text
    kept, used = 0, 1  # the dots take one
    for char in text:
        used += columns(char)
        if used > width:
            break
        kept += 1
    return text[:kept] + "…"


def _fitted(natural: Sequence[int], room: int) -> list[int]:
    """Widths that fit: the widest gives way first, the first column, by which a row is named, after all others."""
    space = max(room - len(GAP) * (len(natural) - 1), 0)
    widths = [min(one, max(space, LEAST)) for one in natural]
    for places in (range(1, len(widths)), range(len(widths))):
        while sum(widths) > space:
            widest = max(places, key=lambda place: widths[place], default=0)
            if widths[widest] <= LEAST:
                break
            widths[widest] -= 1
    return widths


def _line(cells: Sequence[str], widths: Sequence[int], styles: Sequence[str] = ()) -> output.Line:
    text, spans = "", []
    for cell, width, style in zip(cells, widths, styles or [""] * len(cells), strict=True):
        shown = cut(cell, width)
        if style:
            spans.append((len(text), len(text) + len(shown), style))
        text += padded(shown, width) + GAP
    return output.Line(text.rstrip(), spans)


def _style(name: str, cell: str) -> str:
    return COLOURS.get(cell.casefold(), "") if name in STATES else ""


def _stacked(heads: Sequence[str], cells: Sequence[str], styles: Sequence[str], room: int) -> list[output.Line]:
    """One row: its name, then what else there is with its heading, as much on a line as there is room for."""
    lines = [output.Line(part, [(0, len(part), "bold")]) for part in _parts(cells[0], room)]
    text, spans = "", list[tuple[int, int, str]]()
    for name, cell, style in zip(heads[1:], cells[1:], styles[1:], strict=True):
        if not cell:
            continue
        head = f"{name} " if name else ""
        parts = _parts(head + cell, room - len(GAP))
        if text and columns(text) + len(GAP) + columns(parts[0]) > room:
            lines.append(output.Line(text, spans))
            text, spans = "", []
        for place, part in enumerate(parts):
            if place:
                lines.append(output.Line(text, spans))
                text, spans = "", []
            text += GAP
            if place == 0:
                spans.append((len(text), len(text) + len(name), "dim"))
                if style:
                    spans.append((len(text) + len(head), len(text) + len(part), style))
            text += part
    return [*lines, output.Line(text, spans)] if text else lines


def _parts(text: str, width: int) -> list[str]:
    """A visible text in pieces of so many columns."""
    parts, used = [""], 0
    for char in text:
        if used + columns(char) > width:
            parts.append("")
            used = 0
        parts[-1] += char
        used += columns(char)
    return parts


def plain(value: object) -> str:
    """A value as people read it: nothing for None, yes or no for a truth, items with commas between, JSON as JSON."""
    if isinstance(value, bool):
        return spoken.phrase("yes") if value else spoken.phrase("no")
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _clean(value: object) -> str:
    return visible(output.masked_text(plain(value)))
