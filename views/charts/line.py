"""One curve of a chart as a value; needs nothing that draws."""

from __future__ import annotations

import msgspec

from views.charts.series import Numbers


class Line(msgspec.Struct, frozen=True):
    """One curve: pen in ``role``, and ``fill`` per cent of it down to the base, 0 for none."""

    role: str
    values: Numbers
    fill: float = 0.0
