"""One curve of a chart as a value; needs nothing that draws."""

from __future__ import annotations

from dataclasses import dataclass

from views.charts.series import Numbers


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: pen in ``role``, and ``fill`` per cent of it down to the base, 0 for none."""

    role: str
    values: Numbers
    fill: float = 0.0
