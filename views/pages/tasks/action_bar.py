"""The bar under the task table: what is selected, what can be done about it, and the rows that wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services.i18n import N_, _, ngettext
from views.kit.bulk_bar import AllLink
from views.kit.task_verb import TaskVerb, many
from views.kit.verb import Offer
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.support.offers import offer
from views.support.words.rows import NOTHING_NEW, News, with_left
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.layout import in_column

HEIGHT, LINE, CURRENT = 42, 28, 120


class BarState(msgspec.Struct, frozen=True, kw_only=True):
    """What the bar says."""

    ticked: int = 0
    beyond: int = 0  #: of those so many have no row in the list
    loaded: int = 0
    left: int = 0  #: of those so many match no more and are dimmed
    total: int | None = 0  #: None: not counted, there may be more than loaded
    at_least: int = 0  #: so many match for certain, where the total is not counted
    match: int | None = None  #: what the page's head says; None where it says nothing
    all_ticked: bool = False  #: every loaded row is
    news: News = NOTHING_NEW
    cursor: bool = False  #: a row is under the cursor
    current: str = ""  #: what the task under the cursor is called, foreign text


class ActionBar(QWidget):
    """Signals:
    verb_wanted: key of a verb.
    all_wanted: select everything that matches, loaded or not.
    new_rows_wanted: show the rows that wait.
    clear_wanted: untick everything.
    export_wanted: write the selection, else the whole result, to a file.
    """

    verb_wanted = Signal(str)
    all_wanted = Signal()
    new_rows_wanted = Signal()
    clear_wanted = Signal()
    export_wanted = Signal()

    def __init__(self, verbs: Sequence[TaskVerb]) -> None:
        super().__init__()
        self._state, self._busy = BarState(), False
        self.setMinimumHeight(HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.count = Label("", "strong", tabular=True)
        self.count.setMinimumHeight(LINE)  # alone it stands where it stands beside buttons
        self._clear = IconButton("ph.x", N_("Clear the selection"))
        self._clear.clicked.connect(self.clear_wanted)
        self.all_link = AllLink()
        self.all_link.activated.connect(self.all_wanted)
        # beside "17 tasks" a red Cancel would read as one for all of them
        self._current = Elided("", "strong", "text2")
        self._current.setMinimumWidth(CURRENT)
        self.buttons: dict[str, Button] = {}
        # beside the panel of a task in a small window there is room for half of it
        row = FlowRow(across=4, down=4, last_right=True, shrinks=True)
        in_column(row, owner=self, margins=(16, 7, 12, 7))
        self.decide_button = Button(N_("Decide"), icon="ph.question", kind="ghost")
        self.decisions = QMenu(self)
        self.decide_button.set_menu(self.decisions)
        for widget in (self.count, self._clear, self.all_link, self._current, self.decide_button):
            row.addWidget(widget)
        for verb in verbs:
            kind = "ghostdanger" if verb.danger else "ghost"
            button = Button(verb.text, icon=verb.icon, kind=kind, hint=verb.shortcut)
            button.clicked.connect(partial(self.verb_wanted.emit, verb.key))
            button.hide()
            self.buttons[str(verb.key)] = button
            row.addWidget(button)
        self._copy = Button(N_("Copy as"), icon="ph.copy", kind="ghost")
        self._export = Button(N_("Export"), icon="ph.export", kind="ghost")
        self._export.clicked.connect(self.export_wanted)
        row.addWidget(self._copy)
        row.addWidget(self._export)
        self.new_button = Button(N_("New rows"), kind="primary", small=True)
        self.new_button.clicked.connect(self.new_rows_wanted)
        row.addWidget(self.new_button)
        on_language_changed(self._say)
        self.show_state(BarState())
        self.offer_decisions(())

    def set_copy_menu(self, fill: Callable[[QMenu], None]) -> None:
        """Let ``fill`` put the forms of copying into the menu each time it opens."""
        menu = QMenu(self)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(partial(fill, menu))
        self._copy.set_menu(menu)

    def offer_decisions(self, offers: Sequence[Offer[TaskVerb]]) -> None:
        """Offer what a person may answer in one menu; nothing hides it."""
        self.decide_button.setVisible(bool(offers))
        self.decisions.clear()
        for one in offers:
            key = str(one.verb.key)
            offer(self.decisions, one.verb.words(), partial(self.verb_wanted.emit, key), one.reason)

    def show_state(self, state: BarState, offers: Sequence[Offer[TaskVerb]] = ()) -> None:
        """Show how many rows are chosen, and of the verbs those that are offered for them."""
        self._state = state
        set_look(self, panel="actionbar" if state.ticked else "footer")
        for one in offers:
            button = self.buttons[str(one.verb.key)]
            button.disable(one.reason)
            button.set_source(one.name)
            button.setVisible(one.shown and bool(state.ticked or state.cursor))
            if one.warning and not one.reason:
                button.setToolTip(one.warning)
        self._clear.setVisible(bool(state.ticked))
        self._copy.setVisible(bool(state.ticked))
        self._export.setVisible(bool(state.ticked))
        self.new_button.setVisible(bool(state.news.number))
        self._show_all()
        self._say()

    def show_match(self, match: int | None) -> None:
        """Show another number of tasks that match, as the page's head says it."""
        if match != self._state.match:
            self._state = replace(self._state, match=match)
            self._say()

    def show_busy(self, busy: bool) -> None:
        """The ids of everything that matches are on their way."""
        self._busy = busy
        self._show_all()

    def set_newest_first(self, newest: bool) -> None:
        """Let the arrow of the pill show the end where new rows will appear."""
        self.new_button.set_glyph("ph.arrow-up" if newest else "ph.arrow-down")

    def _show_all(self) -> None:
        state = self._state
        more = state.total is None or state.total > max(state.ticked, state.loaded)
        wanted = state.all_ticked and more and state.ticked <= state.loaded
        self.all_link.offer(state.total, wanted=wanted, busy=self._busy)

    def _say(self) -> None:
        state = self._state
        loaded = state.loaded - state.left
        known = state.total if state.match is None or state.match < loaded else state.match
        tip = ""
        if state.beyond:
            words = _("{n} selected, {beyond} of them not shown")
            words = words.format(n=text.count(state.ticked), beyond=text.count(state.beyond))
            tip = _("Not shown are those that another filter showed, or that are not loaded. Verbs act on all of them.")
        elif state.ticked:
            words = ngettext("{n} selected", "{n} selected", state.ticked).format(n=text.count(state.ticked))
        elif not state.loaded:
            words = ""  # the list says why it is empty, or that it loads
        elif known is None and state.at_least > loaded:
            total = text.count(state.at_least)
            words = _("{shown} of at least {total} loaded").format(shown=text.count(loaded), total=total)
        elif known is None or loaded < known:
            total = text.count(known) if known is not None else "…"
            words = _("{shown} of {total} loaded").format(shown=text.count(loaded), total=total)
        else:
            words = many(loaded)
        if state.loaded and not state.ticked:
            words = with_left(words, state.left)
        alone = bool(state.cursor and not state.ticked)
        self._current.setVisible(alone)
        if alone:
            self._current.show_text(_("Current row: {task}").format(task=state.current), state.current)
        else:
            self._current.show_text("")
        # tab and head say that number
        self.count.setVisible(not alone)
        self.count.setText(words)
        self.count.setToolTip(tip)
        self.count.set_tone("text" if state.ticked else "text2")
        self.new_button.set_count_text(state.news.words())
        self._show_all()
