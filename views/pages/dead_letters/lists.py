"""The two left panes of the page: the causes, and the table of one cause."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.insight.cause import AGAIN, NOW, OF_CREATOR
from services.i18n import N_, _, ngettext
from views.kit.bulk_bar import AllLink
from views.kit.verb import Place, Verbs, show
from views.pages.dead_letters import words
from views.pages.dead_letters.causes import SORTS, CauseList
from views.pages.dead_letters.table import LetterRow
from views.pages.dead_letters.verbs import CauseVerb, Letters, LetterVerb, OfCause
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.look import Label, line, paint_ground, set_look
from views.support.words import verdicts
from views.support.words.rows import NOTHING_NEW, News, with_left
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import TABS
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.layout import in_column, in_row
from views.widgets.strip import Strip


class CausePane(QWidget):
    """Signals:
    order_chosen: key of one of ``SORTS``.
    """

    order_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.order = "urgent"
        self.causes = CauseList()
        self._title = Label("", "card")
        self._button = Button(kind="ghost", small=True)
        self._menu = QMenu(self)
        self._button.set_menu(self._menu)
        self._hint = Label("", "label", "text3", wrap=True)
        self._hint.setContentsMargins(16, 8, 16, 10)
        self.setMinimumWidth(196)
        paint_ground(self, "table")
        _column(self, _head(self._title, self._button), self.causes, self._hint)
        on_language_changed(self._say)
        self._say()

    def _choose(self, key: str) -> None:
        self.order = key
        self._say()
        self.order_chosen.emit(key)

    def _say(self) -> None:
        self._title.setText(_("By cause"))
        self._hint.setText(
            _("Tasks with the same error, once numbers, ids and addresses are taken out, share a cause.")
        )
        self._button.set_count_text(next(_(title) for key, title, _order in SORTS if key == self.order))
        self._menu.clear()
        for key, title, _order in SORTS:
            self._menu.addAction(_(title), partial(self._choose, key))


class LetterPane(QWidget):
    """The letters of one cause, whether they would pass now, and the bar for those that are ticked.

    Signals:
        menu_wanted: where on the screen the menu of the cause shall open.
    """

    menu_wanted = Signal(QPoint)

    def __init__(
        self, model: RecordModel[LetterRow], letters: Verbs[LetterVerb, Letters], causes: Verbs[CauseVerb, OfCause]
    ) -> None:
        super().__init__()
        self._verbs = causes
        self._of: OfCause | None = None
        self.table = TableView(model, name=N_("Dead letters of the cause"))
        self.bar = BulkBar(letters)
        self._title = Elided("", "card")
        self._note = Label("", "label", "text3")
        self.shops = Label("", "label", "text2", wrap=True)
        self.more = IconButton("ph.dots-three", N_("What to do about this cause"))
        self.more.clicked.connect(self._on_more)
        self.worth = Strip("warning")
        self.buttons: dict[str, Button] = {}
        for verb in causes.at(Place.PANEL):
            kind = "plain" if verb.key in ("republish_all", "hold") else "primary"
            self.buttons[verb.key] = button = Button(kind=kind, icon=verb.icon, small=True)
            button.clicked.connect(partial(self._act, verb.key))
        self.republish, *others = self.buttons.values()
        self.said = Label("", "label", "text2", wrap=True)
        self.said.setContentsMargins(16, 6, 16, 8)
        self.setMinimumWidth(300)
        self._reach = QWidget()
        in_row(self._note, (self.shops, 1), owner=self._reach, margins=(4, 0, 4, 0), spacing=8)
        head = _head(self._title, self.more)
        about = QWidget()
        room = in_column(self._reach, self.worth, owner=about, margins=(12, 8, 12, 8), spacing=7)
        ways = FlowRow(across=8, down=6)
        for button in (*others, self.republish):
            ways.addWidget(button)
        room.addLayout(ways)
        _column(self, head, self.table, self.bar, about, self.said)
        self._about = about
        on_language_changed(self._say)

    def show_cause(self, of: OfCause | None) -> None:
        """Name the cause whose letters are listed, and what can be done about it."""
        self._of = of
        self._say()

    @property
    def of(self) -> OfCause | None:
        """The cause that is named."""
        return self._of

    @property
    def asks(self) -> bool:
        """Whether republishing the whole cause is what would help now; only open ones are."""
        of = self._of
        return of is not None and of.is_open and of.cause.count > 1 and of.cause.worth.level == NOW

    def set_leading(self, leads: bool) -> None:
        """Whether the one filled button of the page may be here."""
        self.republish.set_kind("primary" if leads and self.asks else "plain")

    def title(self) -> str:
        """What the cause is called."""
        return words.heading(self._of.cause) if self._of is not None else ""

    def number(self) -> str:
        """How many letters it says there are."""
        return self._note.text()

    def _act(self, key: str, _checked: bool = False) -> None:
        if self._of is not None:
            self._verbs.act(key, self._of)

    def _say(self) -> None:
        cause = self._of.cause if self._of is not None else None
        count = cause.count if cause is not None else 0
        self._title.show_text(self.title())
        every = cause.among or count if cause is not None else 0
        number = _("{n} of {total}").format(n=text.count(count), total=text.count(every))
        number = number if every != count else text.count(count)
        self._note.setText(ngettext("{n} task", "{n} tasks", every).format(n=number) if count else "")
        self.shops.setText(words.lies(cause) if cause is not None else "")
        self.shops.setToolTip(words.matrix(cause) if cause is not None else "")
        self.more.disable("" if cause is not None else _("Choose a cause first"))
        self._about.setVisible(cause is not None)
        if self._of is not None:
            self._say_worth(self._of)
        told = (words.known(cause), cause.rule.note) if cause is not None else ()
        note = "\n".join(part for part in told if part)
        self.said.setText(safe.visible(note, keep_newlines=True))
        self.said.setVisible(bool(note))

    def _say_worth(self, of: OfCause) -> None:
        cause = of.cause
        found = verdicts.look(cause.worth)
        self.worth.set_status(found.status, found.glyph)
        why = verdicts.why(cause.worth)
        if cause.kind in OF_CREATOR and cause.worth.level == AGAIN and cause.worth.code != "worth.flow_refused":
            # that some failed again is the reason, but says not what to do
            way_out = _("Have it put right where the tasks are created, then republish; edit single ones here.")
            why = text.run_on((why, way_out))
        if of.is_open:
            self.worth.show_text(why)
        else:
            self.worth.hide()
        for one in self._verbs.offers(Place.PANEL, of):
            button = self.buttons[one.verb.key]
            if button is self.republish:
                button.disable(one.reason)
                # one letter is decided where it is read: there it is told as well whether it would be done twice
                button.setVisible(of.is_open and cause.count > 1)
            else:
                show(button, one)
                button.set_glyph(one.glyph)
        self.republish.set_count_text(verdicts.republish_some(cause.worth).format(n=text.count(cause.count)))

    def _on_more(self) -> None:
        self.menu_wanted.emit(self.more.mapToGlobal(self.more.rect().bottomLeft()))


def _head(title: QWidget, right: QWidget) -> QWidget:
    head = QWidget()
    head.setFixedHeight(TABS + 2)
    in_row((title, 1), right, owner=head, margins=(16, 0, 12, 0), spacing=8)
    return head


def _column(pane: QWidget, head: QWidget, middle: QWidget, foot: QWidget, *notes: QWidget) -> None:
    in_column(head, line(), *notes, (middle, 1), foot, owner=pane, spacing=0)


HEIGHT, LINE = 42, 28


class BulkBar(QWidget):
    """Signals:
    all_wanted: tick everything that matches, loaded or not.
    clear_wanted: untick everything.
    new_rows_wanted: show the rows that wait.
    """

    all_wanted = Signal()
    clear_wanted = Signal()
    new_rows_wanted = Signal()

    def __init__(self, verbs: Verbs[LetterVerb, Letters], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verbs, self._letters = verbs, Letters()
        self._state, self._news = (0, 0, 0, 0), NOTHING_NEW
        self.setMinimumHeight(HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._count = Label("", "strong")
        self._count.setMinimumHeight(LINE)  # alone it stands where it stands beside buttons
        self._clear = IconButton("ph.x", N_("Clear the selection"))
        self._clear.clicked.connect(self.clear_wanted)
        self._all = AllLink()
        self._all.activated.connect(self.all_wanted)
        self.new_button = Button(small=True, icon="ph.arrow-down")
        self.new_button.clicked.connect(self.new_rows_wanted)
        self.buttons: dict[str, Button] = {}
        for verb in verbs.at(Place.BAR):
            kind, icon = ("primary", verb.icon) if verb.key == "republish" else ("ghost", "")
            self.buttons[verb.key] = button = Button(kind=kind, icon=icon)
            button.clicked.connect(partial(self._act, verb.key))
        row = FlowRow(across=6, down=4, last_right=True, shrinks=True)
        in_column(row, owner=self, margins=(16, 7, 12, 7))
        first, *others = self.buttons.values()
        parts: tuple[QWidget, ...] = (self._count, self._clear, self._all, self.new_button, *others, first)
        for widget in parts:
            row.addWidget(widget)
        on_language_changed(self._say)

    def show_state(self, letters: Letters, *, loaded: int, total: int, news: News, left: int = 0) -> None:
        """Show how many are ticked (``letters``), of how many, and what suits them; ``left`` stand there besides and
        belong to the list no more.
        """
        self._letters, self._news = letters, news
        ticked = len(letters.ids)
        self._state = (ticked, loaded, total, left)
        set_look(self, panel="actionbar" if ticked else "footer")
        self._clear.setVisible(bool(ticked))
        self._all.offer(total, wanted=loaded < total and 0 < ticked < total)
        self.new_button.setVisible(bool(news.number))
        self._say()

    def _act(self, key: str, _checked: bool = False) -> None:
        self._verbs.act(key, self._letters)

    def _say(self) -> None:
        ticked, loaded, total, left = self._state
        if ticked:
            self._count.setText(ngettext("{n} selected", "{n} selected", ticked).format(n=text.count(ticked)))
        elif not total:
            self._count.setText(with_left("", left))  # the list says why it is empty, or that it loads
        else:
            shown = _("{shown} of {total} loaded") if loaded < total else ngettext("{n} task", "{n} tasks", total)
            shown = shown.format(shown=text.count(loaded), total=text.count(total), n=text.count(total))
            self._count.setText(with_left(shown, left))
        self._count.set_tone("text" if ticked else "text2")
        self.new_button.set_count_text(self._news.words())
        for one in self._verbs.offers(Place.BAR, self._letters):
            show(self.buttons[one.verb.key], replace(one, shown=one.shown and bool(ticked)))
        self.buttons["republish"].set_count_text(_("Republish {n}").format(n=text.count(ticked)))
