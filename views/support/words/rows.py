"""What a list says of the rows that wait to be shown."""

from __future__ import annotations

import msgspec

from services.i18n import _, ngettext
from views.support import text


class News(msgspec.Struct, frozen=True):
    """Rows that arrived and wait to be asked for."""

    number: int = 0  #: those of the last answer
    answered: int = 0  #: so many rows that answer had
    cut: bool = False  #: whether more lay behind its end

    def words(self) -> str:
        """The pill. Of a cut answer that had nothing shown before, nobody counted how many arrived."""
        if self.cut and self.number >= self.answered:
            return _("{n} or more new rows").format(n=text.count(self.number))
        return ngettext("{n} new row", "{n} new rows", self.number).format(n=text.count(self.number))


NOTHING_NEW = News()


def with_left(words: str, left: int) -> str:
    """What is said of the rows of a list, and how many stand there dimmed beside them."""
    if not left:
        return words
    gone = ngettext("{n} dimmed row matches no more", "{n} dimmed rows match no more", left)
    return text.listed([part for part in (words, gone.format(n=text.count(left))) if part])
