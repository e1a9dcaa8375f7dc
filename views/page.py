"""What a page is: one entry of the rail, started when it is seen and stopped when it is not.

class TasksPage(Page):
    page_id = "tasks"

    def __init__(self, context: …) -> None:
        super().__init__(N_("Tasks"))
        self.make(self._build, self._connect)

    def _build(self) -> Iterator[None]:
        self.header.add_action(Button(N_("Export"), icon="ph.export"))
        yield
        self.body.addWidget(TableView(…))

    def activate(self) -> None: self._source.set_active(True)
    def deactivate(self) -> None: self._source.set_active(False)
    def refresh(self) -> None: self._source.again()
    def retranslate(self) -> None: super().retranslate(); …
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.domain.task.search.filter import pieces
from services.domain.text.view_link import ViewLink
from services.i18n import N_, _
from views.support import instant, shown
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground, set_look
from views.theme.tokens import CARD_GAP, PAGE_HEADER, PAGE_MARGIN, QWIDGETSIZE_MAX
from views.widgets.buttons import Button, LinkLabel
from views.widgets.layout import in_column, in_row
from views.widgets.strip import Strip
from views.widgets.unknown import Unknown

#: statements of a summary, which are left out from the end where there is no room
_STATEMENTS = re.compile(r"; |；")
LINES = 2  #: of a summary at most
BELOW = 6  #: below one that has lines of its own
_TENTHS = range(10 * LINES, 5, -1)  #: of a line, that are tried for a statement that is too long for both


class _Summary(Label):
    """As many statements as two lines hold, then an ellipsis; the tool tip has all of them. Of one that has it in
    brief, that stands where the whole is more than a line.
    """

    def __init__(self) -> None:
        super().__init__("", "body", "text3", wrap=True)
        self.brief = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what there is room for."""
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(self.contentsRect(), int(flags), self.fitting())

    def fitting(self) -> str:
        """What of the text is shown."""
        width = self.contentsRect().width()
        words = self.chosen(width)
        while not self.fits(words, width):
            seams = list(_STATEMENTS.finditer(words))
            if not seams:
                return self._cut(words, width)
            # bound to the word before it: alone on the second line it would tell nothing
            words = f"{words[: seams[-1].start()]}\N{NO-BREAK SPACE}…"
        return words

    def chosen(self, width: int) -> str:
        """The whole text, or what it is in brief."""
        return self.brief if self.brief and not self.fits(self.text(), width, 1) else self.text()

    def _cut(self, words: str, width: int) -> str:
        """One long statement, by letters: as much of it as two lines hold."""
        metrics = QFontMetrics(self.font())
        cuts = (metrics.elidedText(words, Qt.TextElideMode.ElideRight, width * tenths // 10) for tenths in _TENTHS)
        return next((cut for cut in cuts if self.fits(cut, width)), "…")

    def fits(self, words: str, width: int, lines: int = LINES) -> bool:
        """Lines are counted, not measured: a script from another font has higher ones."""
        layout = QTextLayout(words, self.font())
        layout.beginLayout()
        for _line in range(lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            if line.naturalTextWidth() > width:  # a word that is longer than a line
                return False
        more = layout.createLine().isValid()
        layout.endLayout()
        return not more


class PageHeader(QWidget):
    """Title, a summary in words on at most two lines, and the actions of a page.

    Signals:
        stood: the view stands still, or moves again: what is said of that, "" while it moves.

    Where these leave too little room for its first statement it stands below them, until the window is another one:
    what is below the header does not move with the words.
    """

    stood = Signal(str)

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self._below = False
        self._told: tuple[str, str, str] | None = None  #: what has its place
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = Label(title, "page")
        self._summary = _Summary()
        self._frozen = Label("", "labelstrong", "retrying")
        self._frozen.hide()
        self._column = in_column(owner=self, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 0), spacing=0)
        self._row = in_row(self._title, spacing=8)
        self._row.addSpacing(4)
        self._row.addWidget(self._summary, 1)
        self._row.addWidget(self._frozen)
        self._column.addLayout(self._row, 1)
        self._fit()

    def set_title(self, title: str) -> None:
        """Show `title`, already translated."""
        self._title.setText(title)

    def lead_from(self, title: str) -> LinkLabel:
        """Say before the title of which page (source text) this is a view, and return the door to that one."""
        door = LinkLabel(title)
        self._row.insertWidget(0, door)
        self._row.insertWidget(1, Label("›", "page", "text3"))
        return door

    def set_summary(self, summary: str, more: str = "", brief: str = "") -> None:
        """Show the one-line answer to: is work flowing, what is broken? ``more`` stands below it in the tool tip,
        ``brief`` in its place where it is more than a line.
        """
        if (summary, more, brief) == self._told:
            return  # said with each answer
        self._told = None
        self._summary.brief = brief
        self._summary.setText(summary)
        self._summary.setToolTip(f"{summary}\n{more}" if more else summary)
        self._place()
        if self.isVisible():
            self._told = summary, more, brief

    def summary_tip(self) -> str:
        """Return the tool tip of that line."""
        return self._summary.toolTip()

    def summary(self) -> str:
        """Return the line shown."""
        return self._summary.text()

    def title(self) -> str:
        """Return the title shown."""
        return self._title.text()

    def still(self) -> str:
        """Return what is said of a view that stands still, "" while it moves."""
        return self._frozen.text()

    def show_frozen(self, since: str) -> None:
        """Say since when the view stands still, "" when it moves."""
        self._say_stood(_("frozen {time}").format(time=since) if since else "")

    def show_still(self, since: str) -> None:
        """Say as of when the view is, while nothing newer is known; "" when it goes on."""
        self._say_stood(_("as of {time}").format(time=since) if since else "")

    def _say_stood(self, said: str) -> None:
        self._frozen.setText(said)
        self._frozen.setVisible(bool(said))
        self.stood.emit(said)

    def set_known(self, known: bool) -> None:
        """Whether anything is known that the summary could tell."""
        self._summary.setVisible(known)

    def add_action(self, widget: QWidget) -> None:
        """Put a button or switch at the right end."""
        self._row.addWidget(widget)

    def add_views(self, widget: QWidget) -> None:
        """Put the switch of the views beside the title: it stands still, whatever each view says and can do."""
        self._row.insertWidget(1, widget)

    def set_divider(self, on: bool) -> None:
        """Draw a line below, for pages whose panes touch the header."""
        set_look(self, panel="header" if on else "")

    def event(self, event: QEvent) -> bool:
        """Follow actions that came or went."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the summary where it has room."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place(anew=True)

    def _place(self, *, anew: bool = False) -> None:
        if not self.isVisible() or not self._summary.text():
            return
        words = self._summary.chosen(self._room())
        below = not self._summary.fits(_STATEMENTS.split(words)[0], self._room()) or (self._below and not anew)
        if below != self._below:
            self._below = below
            if below:
                self._row.removeWidget(self._summary)
                self._row.insertStretch(self._row.indexOf(self._frozen), 1)
                self._column.addWidget(self._summary)
            else:
                self._column.removeWidget(self._summary)
                self._row.takeAt(self._row.indexOf(self._frozen) - 1)
                self._row.insertWidget(self._row.indexOf(self._frozen), self._summary, 1)
        self._fit()

    def _room(self) -> int:
        """How wide the summary is, or would be, beside the actions."""
        items = [self._row.itemAt(place) for place in range(self._row.count())]
        beside = [one for one in items if one is not None and not one.isEmpty() and one.widget() is not self._summary]
        taken = sum(one.sizeHint().width() + self._row.spacing() for one in beside)
        return self.width() - 2 * PAGE_MARGIN - taken

    def _fit(self) -> None:
        width = self.width() - 2 * PAGE_MARGIN
        words = self._summary.chosen(width)
        lines = (1 if self._summary.fits(words, width, 1) else LINES) if self._below else 0
        high = lines * self._summary.fontMetrics().lineSpacing()
        self._summary.setMinimumHeight(high)
        self._summary.setMaximumHeight(high if lines else QWIDGETSIZE_MAX)
        self._column.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, BELOW if lines else 0)
        self.setFixedHeight(PAGE_HEADER + (high + BELOW if lines else 0))


class FromPast(msgspec.Struct, frozen=True, kw_only=True):
    """What a page is asked for by one that shows a moment of the past. Above it stands which moment, and what of it is
    of then, until somebody goes back to now or filters for something else.
    """

    at_ms: int
    said: Callable[[], str]  #: what is of then, and what of now, in the language of the moment
    show: object = None  #: what ``show_request`` takes
    now: object = None  #: the same of now; None where the page shows now already


def past_again(at_ms: int, show: str, now: str | None) -> FromPast:
    """The same from a link, or as it was left: what was said of it is known no more."""
    return FromPast(at_ms=at_ms, said=lambda: _said_again(show), show=show or None, now=now)


def asked_by(link: ViewLink) -> FromPast | str | None:
    """What a page is asked for by a link; nobody looks back at what is yet to come."""
    return past_again(link.at, link.show, link.now) if 0 < link.at < instant.ticks().present_ms() else link.show or None


def _said_again(show: str) -> str:
    if show:
        return _("What fits the filter is of that moment; states and all else of it are of now.")
    return _("What is shown here is as it is now.")


class PageCommand(msgspec.Struct, frozen=True, kw_only=True):
    """Something a page can do now, for the command palette; texts are already translated."""

    key: str
    words: str
    run: Callable[[], object]
    note: str = ""
    icon: str = "ph.lightning"
    keys: str = ""
    reason: str = ""  #: why it cannot be done now


class _Parts:
    """Whether whoever makes a page puts it together."""

    wanted = False


_MADE = object()


@contextmanager
def made_in_parts() -> Iterator[None]:
    """Pages that are made within are put together by ``Page.make_on`` or ``Page.make_all``."""
    before, _Parts.wanted = _Parts.wanted, True
    try:
        yield
    finally:
        _Parts.wanted = before


def _conditions(expression: str) -> frozenset[str]:
    return frozenset(expression[one.at : one.end] for one in pieces(expression))


def _each(steps: Sequence[Callable[[], Iterator[None] | None]]) -> Iterator[None]:
    for step in steps:
        yield from step() or ()
        yield


class Page(QWidget):
    """A page of the console.

    Signals:
        navigate: another page is wanted: page id, then what it shall show (a filter or None).
        summary_changed: the one-line summary was set.
        freeze_wanted: the view shall stand still, or move again.
        reconnect_wanted: the connection shall be tried again.
        return_wanted: the page seen before this one is wanted.
        link_wanted: a link to what is seen is wanted in the clipboard.
        refreshed: another answer to what the page asks is shown.
        past_changed: it tells of a moment of the past now, or no more.
    """

    navigate = Signal(str, object)
    summary_changed = Signal(str)
    freeze_wanted = Signal()
    reconnect_wanted = Signal()
    return_wanted = Signal()
    link_wanted = Signal()
    refreshed = Signal()
    past_changed = Signal()
    page_id = ""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._covers: list[Unknown] = []
        self._then: FromPast | None = None
        self._banner: Strip | None = None
        self._since = ""
        self._summary = ("", "", "")
        self._making: Iterator[None] = iter(())
        self._broken = False
        paint_ground(self, "page")
        self.header = PageHeader(_(title))
        self.body = in_column(spacing=0)
        self._column = in_column(self.header, (self.body, 1), owner=self, spacing=0)
        self.setAccessibleName(_(title))
        on_language_changed(self._on_language)

    def make(self, *steps: Callable[[], Iterator[None] | None]) -> None:
        """Put the page together: call all steps, the last of them what listens to others. Where it is ``made_in_parts``
        nothing of that is done now: who makes it calls ``make_on`` between events, or ``make_all``.
        """
        self._making = _each(steps)
        if not _Parts.wanted:
            self.make_all()

    def make_on(self) -> bool:
        """Do a little more; whether there is more to do.

        Raises:
            RuntimeError: a step failed before, so that this can never be a whole page.
        """
        if self._broken:
            raise RuntimeError(f"half a page: {self._title}")
        self._broken = True
        more = next(self._making, _MADE) is not _MADE
        self._broken = False
        return more

    @property
    def half_made(self) -> bool:
        """Whether a step failed, so that it can never be a whole page."""
        return self._broken

    def make_all(self) -> None:
        """Do all that is left to do."""
        while self.make_on():
            pass

    def _on_language(self) -> None:
        if not self._broken:
            self.make_all()
            self.retranslate()

    @property
    def title(self) -> str:
        """The title in the language of the moment."""
        return _(self._title)

    def activate(self) -> None:
        """The page is seen now: start asking for data."""

    def deactivate(self) -> None:
        """The page is no longer seen: stop asking."""

    def refresh(self) -> None:
        """Ask again at once (F5)."""

    def catch_up(self) -> None:
        """Ask again because the connection is back; nobody asked for that, so what is read stays where it is."""
        self.refresh()

    def undo(self, after: int = 0) -> bool:
        """Take back the newest action while that is offered (Ctrl+Z); tell whether there was one.

        ``after``: number of an act that a message offers to take back; only what was made after it.
        """
        return False

    def set_frozen(self, frozen: bool) -> None:
        """Stand still while data goes on arriving elsewhere, or catch up."""
        if frozen:
            self.deactivate()
        else:
            self.activate()

    def covered(self, area: QWidget, outer: Unknown | None = None) -> Unknown:
        """Let an empty `area` say that nobody knows what belongs there, while it was never loaded and nothing can be.
        The first one is about the page as a whole; ``outer`` says it of an area around this one.
        """
        cover = Unknown(self, area, outer)
        cover.again.connect(self.reconnect_wanted)
        cover.changed.connect(self._say_still)
        self._covers.append(cover)
        self._show_summary()
        return cover

    def load_failed(self) -> None:
        """What was asked for does not come; the page says why."""
        for cover in self._covers:
            cover.failed()

    def stand_still(self, since: str) -> None:
        """Say as of when the view is, while nothing newer is known; "" when it goes on."""
        self._since = since
        for cover in self._covers:
            cover.set_still(bool(since))
        self._say_still()

    @property
    def anything_known(self) -> bool:
        """Whether anything that was asked for stands there: until then it says of nothing that there is none."""
        return not self._covers or self._covers[0].answered

    def _say_still(self) -> None:
        known = not self._covers or self._covers[0].known
        self.header.show_still(self._since if known else "")
        self.header.set_known(known or not self._since)
        self._show_summary()

    def _show_summary(self) -> None:
        if self.anything_known:
            self.header.set_summary(*self._summary)
        else:
            self.header.set_summary(_("Loading…") if self._covers[0].waits else "")

    def panes(self) -> Sequence[QWidget]:
        """The parts that F6 goes through, in their order."""
        return (self,)

    def commands(self) -> Sequence[PageCommand]:
        """What can be done here now, for the command palette."""
        return ()

    def set_acting(self, reason: str) -> None:
        """Nothing may be changed now for this reason, already translated; "" when it may. Looking stays possible."""

    def show_request(self, request: object) -> None:
        """Show what another page asked for through ``navigate``: usually a filter."""

    def shown_request(self) -> str:
        """What ``show_request`` would take to come back to what is seen now; "" for the page as it is."""
        return ""

    def pointed(self) -> tuple[str, str]:
        """Shop (its key) and task type of what is chosen, "" for what there is not; *Did it run?* begins there."""
        return "", ""

    @property
    def settled(self) -> bool:
        """Whether its first answers are on screen, as far as it can tell."""
        return True

    # the past

    @property
    def past_ms(self) -> int:
        """The moment that somebody looks at here in place of now, UTC ms; 0: now."""
        return self._then.at_ms if self._then is not None else 0

    @property
    def recorded(self) -> bool:
        """Whether all that is shown is of that moment."""
        return False

    def filter_shown(self) -> str | None:
        """The filter of its list, None for a page without one."""
        return None

    def show_past(self, asked: FromPast) -> None:
        """Show what is asked for, and say above it of which moment."""
        if asked.show is not None:
            self.show_request(asked.show)
        if self._banner is None:
            self._banner = self._made_banner()
            self.refreshed.connect(self._check_past)
        self._then = asked
        self._say_past()
        self.past_changed.emit()

    @property
    def then(self) -> FromPast | None:
        """What another page asked for of a moment of the past, while that is shown."""
        return self._then

    def leave_past(self) -> None:
        """Say no more that this is of another moment."""
        if self._then is not None:
            self._then = None
            self._say_past()
            self.past_changed.emit()

    def past_panes(self) -> Sequence[QWidget]:
        """What says of which moment this is, where it is of another one."""
        return (self._banner,) if self._banner is not None and self._then is not None else ()

    def _made_banner(self) -> Strip:
        banner = Strip("scheduled", glyph="ph.clock-counter-clockwise")
        again = Button(N_("Look back"), icon="ph.clock-counter-clockwise", small=True)
        leave = Button(N_("Back to now"), kind="primary", icon="ph.arrow-u-up-left")
        again.clicked.connect(lambda: self.navigate.emit("past", str(self.past_ms)))
        leave.clicked.connect(self._back_to_now)
        banner.add_action(again)
        banner.add_action(leave)
        self._banner_row = in_column(banner)
        self._column.insertLayout(1, self._banner_row)
        QWidget.setTabOrder(self, again)
        QWidget.setTabOrder(again, leave)
        return banner

    def _say_past(self) -> None:
        if self._banner is not None:
            then = self._then
            at = shown.clock(then.at_ms, instant.now_ms()) if then is not None else ""
            self._banner.show_text(*(then.said(), _("You look at {time}.").format(time=at)) if then else ("",))
            below = CARD_GAP if then is not None else 0  # a row takes its margins whether anything is seen in it or not
            self._banner_row.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, below)

    def _check_past(self) -> None:
        """A list that somebody filtered for something else is no more what was asked for."""
        asked, filtered = self._then and self._then.show, self.filter_shown()
        if isinstance(asked, str) and filtered is not None and not _conditions(asked) <= _conditions(filtered):
            self.leave_past()

    def _back_to_now(self) -> None:
        now = self._then.now if self._then is not None else None
        self.leave_past()
        if now is not None:
            self.show_request(now)

    def set_summary(self, summary: str, more: str = "", brief: str = "") -> None:
        """Show the one-line summary, once anything is known; ``more`` is told in its tool tip, ``brief`` is what stands
        there where the summary has no room on one line.
        """
        self._summary = summary, more, brief
        self._show_summary()
        self.summary_changed.emit(summary)

    def retranslate(self) -> None:
        self.header.set_title(_(self._title))
        self.setAccessibleName(_(self._title))
        self._show_summary()
        self._say_past()
