"""One curve of a chart as a value; needs nothing that draws."""

from __future__ import annotations

import msgspec

from views.charts.series import Numbers

#: strokes and gaps, by the width of the line: curves beside each other are told apart without their colours, too
SOLID, DASHED, DOTTED, LIMIT = "solid", "dashed", "dotted", "limit"
DASHES = {DASHED: (5.0, 3.0), DOTTED: (1.5, 2.5), LIMIT: (4.0, 3.0)}


class Line(msgspec.Struct, frozen=True):
    """One curve: pen in ``role``, and ``fill`` per cent of it down to the base, 0 for none."""

    role: str
    values: Numbers
    fill: float = 0.0
    dash: str = ""  #: one of ``DASHES``, else it has no gaps
