"""How many tasks match, are loaded, kept and selected: one set of numbers for tab, head and foot of the page."""

from __future__ import annotations

from PySide6.QtCore import Qt

from services.i18n import _, ngettext
from views.pages.tasks.action_bar import BarState
from views.pages.tasks.listing import Listing, TaskLister
from views.pages.tasks.rows import name
from views.pages.tasks.selection import Selection
from views.pages.tasks.view_keeper import ViewKeeper
from views.support import safe, text
from views.support.feed import Feed
from views.support.words.rows import News
from views.tables.table_view import TableView


class Tally:
    """Knows the numbers; says nothing by itself."""

    def __init__(self, lister: TaskLister, views: ViewKeeper, feed: Feed, table: TableView) -> None:
        self._lister, self._views, self._feed, self._table = lister, views, feed, table
        self._total: int | None = None
        self._at_least = 0
        self._answered, self._cut = 0, False
        self._searched: tuple[str, ...] = ()
        self._among = 0
        self._logs: int | None = None

    def note(self, listing: Listing) -> None:
        """A list was answered."""
        self._total, self._at_least = listing.total, listing.at_least
        self._answered, self._cut = len(listing.rows), listing.more is not None
        self._searched, self._among, self._logs = listing.searched, listing.among, listing.logs
        self._views.note_total(listing.wanted.filter, listing.total)

    def match(self) -> int | None:
        """How many match; a view, its tab and the foot say one number, what lies between two looks must not show."""
        counted = self._views.number_of(self._lister.wanted.filter)
        return counted if counted is not None else self._total

    def summary(self) -> str:
        """The head's words, and why the list may take its time."""
        if self._logs is not None:
            far = _("looked into the logs of {n} of {all} tasks")
            if self._cut:
                far = _("looked into the logs of the first {n} of {all} tasks; narrow the filter to look further")
            return " · ".join((self._numbers(), far.format(n=text.count(self._logs), all=text.count(self._among))))
        if not self._searched:
            return self._numbers()
        looked = ngettext(
            "{fields} is not indexed: looks through {n} tasks",
            "{fields} are not indexed: looks through {n} tasks",
            len(self._searched),
        )
        fields = safe.one_line(text.listed(self._searched), 80)
        return " · ".join((self._numbers(), looked.format(fields=fields, n=text.count(self._among))))

    def _numbers(self) -> str:
        number = max(self._feed.latest.counts.total, self._total or 0)
        if not number and self._total == 0:
            return _("Nothing is kept yet.")
        kept = text.count(number)
        match = self.match()
        if match is None and self._at_least > self._table.records.rowCount():
            return _("at least {match} match, of {kept} kept").format(match=text.count(self._at_least), kept=kept)
        if match is None:
            return _("{shown} shown, of {kept} kept").format(
                shown=text.count(self._table.records.rowCount()), kept=kept
            )
        return _("{match} match, of {kept} kept").format(match=text.count(match), kept=kept)

    def bar_state(self, selection: Selection) -> BarState:
        """What the bar says."""
        model, key = self._table.records, self._table.current_key()
        row = model.find(key) if key is not None else None
        return BarState(
            ticked=selection.count,
            beyond=model.ticked_beyond(),
            loaded=model.rowCount(),
            left=model.departed,
            total=self._total,
            at_least=self._at_least,
            match=self.match(),
            all_ticked=model.tick_state() == Qt.CheckState.Checked,
            news=News(model.pending, self._answered, self._cut),
            cursor=key is not None,
            current=name(row) if row is not None else "",
        )
