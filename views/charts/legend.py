"""What a chart names: its series and the instants it marks."""

from __future__ import annotations

import msgspec

from services.i18n import _, pgettext


class Series(msgspec.Struct, frozen=True):
    """One series of a chart. ``label`` is source text, ``context`` its gettext context."""

    key: str
    label: str
    role: str
    context: str = ""
    tip: str = ""  #: one sentence, source text
    line: str = ""  #: how its line is drawn, by which a legend shows it; "" for an area
    glyph: str = ""  #: what stands in its area, by which a legend shows it; "" for nothing
    fill: float = 100  #: per cent of its colour in its area

    def word(self) -> str:
        """The label in the language of the moment."""
        return pgettext(self.context, self.label) if self.context else _(self.label)


class Marker(msgspec.Struct, frozen=True):
    """Something that happened: a line with words at the top."""

    at_ms: int
    text: str
    role: str = "text2"
