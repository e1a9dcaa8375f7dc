"""What stands below the list: one promise, what holds it and what helps, its breaks, and how far each run comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QMenu, QVBoxLayout, QWidget

from services.domain.promises.judge import AT_RISK, BROKEN, CHECKS
from services.domain.promises.standing import SharedCause
from services.i18n import N_, _, ngettext
from services.monitor.promises import MatrixRow, PromiseRow, PromiseStory
from views.kit.verb import LOOK, Place, Verbs, show
from views.pages.promises import words
from views.pages.promises.record import Column, KeptCard
from views.pages.promises.table import SHOPS
from views.pages.promises.verbs import USUAL, PromiseActions, PromiseVerb, role_of
from views.support import instant, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.words import way
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import CARD_GAP, PAGE_MARGIN, status
from views.widgets.buttons import Button, IconButton
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

SIDE, WIDEST_SIDE, LOWEST = 270, 400, 230
#: from this height on what holds it and the chart have room one below the other
BOTH = 420
#: px of width that the shops need
SHOPS_NEED = 1120
#: what the cards take of more height, to 1 of the chart
_CARDS_FIRST = 1000
HOLDS, CHART = "holds", "chart"
MOST_CAUSES, MOST_BREAKS = 5, 4
ALL = "all"
WHICH = ((ALL, N_("Not kept")), (BROKEN, N_("Broken")), (AT_RISK, N_("At risk")))
#: why no shop is listed: source text and glyph; of what nobody judges now nothing is known
NONE: Mapping[str, tuple[str, str]] = {
    ALL: (N_("No shop is broken or at risk."), "ph.check-circle"),
    BROKEN: (N_("No shop is broken."), "ph.check-circle"),
    AT_RISK: (N_("No shop is at risk."), "ph.check-circle"),
}
NOBODY = (N_("No shop that is enabled fits it."), "ph.question")
UNKNOWN = (N_("Which shops keep it is not known yet."), "ph.question")
OUTDATED = (N_("Which shops keep it is not known any more."), "ph.question")


class PromisePanel(QWidget):
    """Signals:
    closed: a person wants the list alone.
    """

    closed = Signal()

    def __init__(self, actions: PromiseActions, verbs: Callable[[PromiseRow], Verbs[PromiseVerb, PromiseRow]]) -> None:
        """``verbs``: what can be done to a promise."""
        super().__init__()
        self._actions, self._verbs = actions, verbs
        self._story: PromiseStory | None = None
        self._together: dict[str, int] = {}  #: shops that broke together when their order was made
        self._glyph = QLabel()
        self.title, self._facts = Elided("", "panel"), Label("", "label", "text3", tabular=True)
        self.buttons: dict[str, Button] = {}
        for verb in USUAL:
            if Place.PANEL in verb.places:
                self.buttons[verb.key] = button = Button(verb.text, icon=verb.icon, small=True)
                button.clicked.connect(partial(self._act, verb.key))
        self.close_button = IconButton("ph.x", N_("Close"))
        self.close_button.clicked.connect(self.closed)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        self.causes = Causes()
        self.causes.wanted.connect(self._help)
        self.kept = KeptCard()
        self.kept.opened.connect(self._open_time)
        yield
        self._breaks_card, self.breaks = Card(N_("Breaks of the last 30 days")), KeyValues()
        self._breaks_card.body.addWidget(self.breaks)
        self.side = _Side([self.causes, self._breaks_card], self.kept)
        yield
        self._model: RecordModel[MatrixRow] = RecordModel(
            SHOPS, key=lambda row: row.row.shop, hold_new=False, local_sort=True, sentence=words.matrix_sentence
        )
        self.matrix = TableView(self._model, name=N_("Shops that are not kept"))
        self.which = Segmented(WHICH, N_("Which shops"))
        self._told = Elided("", "label", "text3")
        self.none = EmptyState(UNKNOWN[0], icon=UNKNOWN[1])
        self._shops = stacked(self.matrix, self.none)
        yield
        self._put_together()
        self.which.chosen.connect(lambda _key: self._show_shops(settle=True))
        self._model.applied.connect(self._head_groups)
        self.matrix.open_requested.connect(self._open_shop)
        self.matrix.menu_requested.connect(self._fill_menu)
        self.matrix.clicked.connect(self._on_clicked)
        theme().changed.connect(self._say)
        on_language_changed(self._say)
        on_language_changed(self._head_groups)

    def _put_together(self) -> None:
        head = in_row(
            self._glyph,
            self.title,
            self._facts,
            STRETCH,
            *self.buttons.values(),
            self.close_button,
            margins=(PAGE_MARGIN, 8, PAGE_MARGIN - 6, 8),
            spacing=8,
        )
        bar = in_row(self.which, self._told, STRETCH, margins=(0, 0, PAGE_MARGIN, 8), spacing=12)
        right = in_column(bar, (self._shops, 1), spacing=0)
        row = in_row(self.side, (right, 1), margins=(PAGE_MARGIN, 0, 0, 0), spacing=CARD_GAP)
        self.parts, inside = stacked(), QWidget()
        self.parts.addWidget(inside)
        in_column(self.parts, owner=self)
        in_column(line(), head, (row, 1), owner=inside, spacing=0)
        self.setMinimumHeight(LOWEST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the chart what the shops do not need."""
        super().resizeEvent(event)
        self.side.give(self.width() - round(SHOPS_NEED * theme().growth))

    @property
    def shown(self) -> PromiseRow | None:
        """The promise shown."""
        return self._story.row if self._story is not None else None

    def show_story(self, story: PromiseStory | None) -> None:
        """Show one; of the same one the cursor among its shops and the focus stay."""
        other = self._story is None or story is None or self._story.row.name != story.row.name
        self._story = story
        if other:
            self.which.set_current(ALL)
        self._show_shops(settle=other)
        self._say()

    def follow(self) -> None:
        """Say again how far away everything is, and what may be done."""
        self._say()

    # saying

    def _show_shops(self, *, settle: bool) -> None:
        rows = self._rows()
        if settle:
            self._together = words.groups(rows)
        self._model.apply(rows, settle=settle)
        self._shops.setCurrentWidget(self.matrix if rows else self.none)
        if not rows and self._story is not None:
            why, icon = self._why_none(self._story.row)
            self.none.set_texts(why, icon=icon)
        if rows and self.matrix.current_key() is None:
            self.matrix.set_current_key(self._model.key_at(0))

    def _head_groups(self) -> None:
        """Above those that break together, while they stand in that order."""
        rows, sorted_ = self._model.records(), bool(self._model.sorts)
        self._model.set_headings({} if sorted_ else words.headings(rows, self._together, instant.now_ms()))

    def _why_none(self, row: PromiseRow) -> tuple[str, str]:
        if row.standing is None:
            return UNKNOWN
        if row.stale:
            return OUTDATED
        return NONE[self.which.current()] if row.standing.total else NOBODY

    def _rows(self) -> tuple[MatrixRow, ...]:
        story = self._story
        if story is None or story.row.stale:
            return ()
        which = self.which.current()
        return tuple(one for one in story.matrix if which in (ALL, one.row.state))

    def _say(self) -> None:
        story = self._story
        if story is None:
            return
        row, now = story.row, instant.now_ms()
        token = status(words.GLYPHS[row.state])
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 16))
        self._glyph.setToolTip(words.state(row.state))
        self.title.show_text(words.sentence(row.promise))
        made = _("version {n}").format(n=row.promise.version)
        self._facts.setText(text.listed([words.judged(row, now), made] if row.standing is not None else [made]))
        self._facts.set_tone("retrying" if row.stale else "text3")
        self.causes.show_row(row, self._actions.barred())
        self._say_numbers(row, story)
        self.kept.show_standing(row.standing, row.promise, stale=row.stale)
        self.side.show_chart(wanted=row.standing is not None)
        self._breaks_card.setVisible(bool(story.breaks))
        self.breaks.set_rows(words.broke(one, now) for one in story.breaks[:MOST_BREAKS])
        for offer in self._verbs(row).offers(Place.PANEL, row):
            if offer.verb.key in self.buttons:
                show(self.buttons[offer.verb.key], offer)

    def _say_numbers(self, row: PromiseRow, story: PromiseStory) -> None:
        found = None if row.stale else row.standing
        broken, risky = (found.broken, found.at_risk) if found is not None else (0, 0)
        for key, number in ((ALL, broken + risky), (BROKEN, broken), (AT_RISK, risky)):
            self.which.set_suffix(key, text.count(number))
        told = _("a run passes the checks from left to right; the first coloured one holds it")
        if story.unlisted:
            told = ngettext("{n} more shop has no row", "{n} more shops have no row", story.unlisted)
            told = told.format(n=text.count(story.unlisted))
        self._told.show_text(told)
        self._told.setVisible(bool(broken + risky))
        self.which.setVisible(bool(broken + risky))

    # acting

    def _act(self, key: str, _checked: bool = False) -> None:
        row = self.shown
        if row is not None:
            self._verbs(row).act(key, row)

    def _help(self, cause: SharedCause) -> None:
        row = self.shown
        if row is not None:
            self._actions.help_row(row, cause)

    def _open_shop(self, key: object) -> None:
        """The key that opens a row opens its shop; on a check, what a click on that opens."""
        if self.matrix.currentIndex().isValid() and self._is_check():
            self._show_work(str(key))
        else:
            self._actions.show_shop(str(key))

    def _on_clicked(self, index: object) -> None:
        """A click on the next step does it, one on a check opens the runs that it is about."""
        place = self.matrix.currentIndex()
        if place != index:
            return
        if self._model.column(place.column()).key == "next":
            self._help_shop(self._model.record(place.row()))
        elif self._is_check():
            self._show_work(self._model.record(place.row()).row.shop)

    def _is_check(self) -> bool:
        return self._model.column(self.matrix.currentIndex().column()).key in CHECKS

    def _show_work(self, shop: str) -> None:
        if self.shown is not None:
            self._actions.show_work(self.shown, shop)

    def _open_time(self, one: Column, past: bool) -> None:
        if self.shown is not None:
            self._actions.show_tasks(self.shown, one.at, one.until, past=past)

    def _help_shop(self, one: MatrixRow) -> None:
        row = self.shown
        if row is not None and one.row.verb in way.VERBS and not self._bars(one):
            self._actions.help(one.row, f"{words.sentence(row.promise)}\n{one.row.shop}: {words.held_by(one)}")

    def _bars(self, one: MatrixRow) -> str:
        return self._actions.barred() if role_of(one.row.verb) != LOOK else ""

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        one = self._model.find(str(key))
        if one is None:
            return
        if one.row.verb in way.VERBS:
            step = menu.addAction(words.verb(one.row), partial(self._help_shop, one))
            step.setEnabled(not self._bars(one))
            step.setToolTip(self._bars(one))
        menu.addAction(_("Open shop"), partial(self._open_shop, key))


class Causes(Card):
    """What holds a promise: one line a cause with its shops, who can act, and one verb.

    Signals:
        wanted: a cause against which something shall be done: ``SharedCause``.
    """

    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._headline = Label("", "strong", wrap=True)
        self._lines: list[_Cause] = []
        self._column = in_column(spacing=10)
        self._more = Label("", "label", "text3")
        put(self.body, self._headline, self._column, self._more)

    def lines(self) -> Sequence[_Cause]:
        """The causes shown."""
        return self._lines

    def headline(self) -> str:
        """What it says above them."""
        return self._headline.text()

    def show_row(self, row: PromiseRow, reason: str) -> None:
        """Show what holds it; ``reason``: why nothing can be changed. Buttons that stay keep their focus."""
        now = instant.now_ms()
        self._headline.setText(words.headline(row, now) or words.calm(row, now))
        causes = () if row.stale else row.holds[:MOST_CAUSES]
        while len(self._lines) > len(causes):
            gone = self._lines.pop()
            self._column.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        while len(self._lines) < len(causes):
            fresh = _Cause(self.wanted.emit)
            self._lines.append(fresh)
            self._column.addWidget(fresh)
        for place, one in zip(self._lines, causes, strict=True):
            place.show_cause(one, reason)
        more = 0 if row.stale else len(row.holds) - len(causes)
        self._more.setText(ngettext("{n} more cause", "{n} more causes", more).format(n=more))
        self._more.setVisible(more > 0)


class _Side(QWidget):
    """What stands beside the shops: what holds it, and below that the chart; where there is no room for both, the one
    that is chosen. As wide as the verbs in it, for a button is no text that could wrap.
    """

    def __init__(self, cards: Sequence[QWidget], chart: QWidget) -> None:
        super().__init__()
        self._chart, self._pane, self._charted = ScrollPane(), ScrollPane(), False
        self._chart.body.addWidget(chart)
        self.which = Segmented(((HOLDS, N_("What holds it")), (CHART, N_("Chart"))), N_("What is shown"))
        self.which.chosen.connect(lambda _key: self._arrange())
        self._pane.body.setSpacing(CARD_GAP)
        for card in cards:
            self._pane.body.addWidget(card)
        self._pane.body.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(8)
        column.addWidget(self.which, 0, Qt.AlignmentFlag.AlignLeft)
        # the chart has what the cards leave, as far as it gets better by it
        column.addWidget(self._pane, _CARDS_FIRST)
        column.addWidget(self._chart, 1)
        column.addStretch(0)
        self._least = self._needed = SIDE
        self.setFixedWidth(SIDE)
        inner = self._pane.widget()
        if inner is not None:
            inner.installEventFilter(self)
        self._arrange()

    def show_chart(self, *, wanted: bool) -> None:
        """Whether there is anything to draw: of what was never judged there is not."""
        if wanted != self._charted:
            self._charted = wanted
            self._arrange()

    def give(self, width: int) -> None:
        """There is so much room that the shops do not need."""
        self._least = width
        self._widen()

    def _end_cards(self) -> None:
        """The pane ends where they end."""
        tall, inner = self._pane.needed(), self._pane.widget()
        self._pane.setMaximumHeight(tall)
        if inner is not None:
            inner.setMinimumHeight(tall)  # Qt asks for more where lines wrap, and would let it be scrolled

    def _widen(self) -> None:
        self.setFixedWidth(min(WIDEST_SIDE, max(SIDE, self._least, self._needed)))

    def _arrange(self) -> None:
        """Show what there is room for."""
        both = self.height() >= round(BOTH * theme().growth)
        self.which.setVisible(self._charted and not both)
        first = both or not self._charted or self.which.current() == HOLDS
        self._pane.setVisible(first)
        self._chart.setVisible(self._charted and (both or not first))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another height has room for more, or less."""
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what it holds."""
        if event.type() == QEvent.Type.LayoutRequest and isinstance(watched, QWidget):
            self._needed = watched.minimumSizeHint().width() + self._pane.verticalScrollBar().sizeHint().width()
            self._widen()
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._end_cards()
        return super().eventFilter(watched, event)


class _Cause(QWidget):
    """One of them."""

    def __init__(self, wanted: Callable[[SharedCause], object]) -> None:
        super().__init__()
        self._cause: SharedCause | None = None
        self._wanted = wanted
        self._number = Label("", "strong", "text", tabular=True)
        self._number.setMinimumWidth(24)
        self._number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self.what, self.who = Label("", "body", wrap=True), Label("", "label", "text3", wrap=True)
        self.button = Button("", small=True)
        self.button.clicked.connect(self._on_clicked)
        column = in_column(self.what, spacing=3)
        column.addLayout(in_row((self.who, 1), (self.button, 0, Qt.AlignmentFlag.AlignTop), spacing=8))
        in_row((self._number, 0, Qt.AlignmentFlag.AlignTop), (column, 1), owner=self, spacing=10)

    def show_cause(self, cause: SharedCause, reason: str) -> None:
        """Show a cause."""
        self._cause = cause
        self._number.setText(text.count(cause.shops))
        self.what.setText(words.say(cause.message))
        self.who.setText(words.who(cause))
        self.who.setVisible(bool(self.who.text()))
        known = cause.verb in way.VERBS
        self.button.setVisible(known)
        if known:
            self.button.set_count_text(words.verb(cause))
            self.button.setAccessibleName(text.listed([words.verb(cause), self.who.text()]))
            self.button.disable(reason if role_of(cause.verb) != LOOK else "")

    def _on_clicked(self) -> None:
        if self._cause is not None:
            self._wanted(self._cause)
