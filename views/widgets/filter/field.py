"""Fields that can become a condition of a filter, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from services.i18n import _, pgettext


class FilterValue(msgspec.Struct, frozen=True):
    """A value of a field: source text, glyph (icon and role), and the context that its word is translated in."""

    value: str
    word: str
    glyph: tuple[str, str] | None = None
    context: str = ""

    @property
    def said(self) -> str:
        """Its word in the language of the moment."""
        return pgettext(self.context, self.word) if self.context else _(self.word)


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that can become a chip; without `values` any text is one. `title` is source text."""

    key: str
    title: str
    values: tuple[FilterValue, ...] = ()
    free: bool = False  #: other values than those listed are possible
    single: bool = False  #: one value at a time
    #: finds more values by a text that is typed, where ``values`` are not all there are
    find: Callable[[str], Sequence[FilterValue]] | None = field(default=None, compare=False)

    say: Callable[[str], str] | None = field(default=None, compare=False)  #: words of a value that is none of those
    bound: bool = False  #: conditions from and up to a value are chips, too
    offered: bool = True  #: else it is a chip only where the filter has it

    @property
    def takes_text(self) -> bool:
        """Whether a value can be typed."""
        return self.free or not self.values
