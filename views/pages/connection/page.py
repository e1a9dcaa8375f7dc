"""A connection that does not open: which one it is, what does not answer and why, when the next try comes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel

from services.domain.insight import connection
from services.domain.insight.connection import Answer
from services.i18n import N_, _
from services.messages import render
from views.page import Page
from views.support import instant, shown, text
from views.support.connections import Connection
from views.support.language import say_in_language
from views.support.look import Label, paint_ground
from views.theme import theme
from views.widgets.badge import Badge
from views.widgets.buttons import Button, LinkLabel
from views.widgets.connection.answer_line import AnswerLine
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.scroll_pane import ScrollPane

WIDTH, TICK_MS = 620, 1000


class ConnectionPage(Page):
    """Nothing of a fleet is shown here, so nobody can take it for an empty one.

    Signals:
        again: do not wait for the next try.
        copied: a message for whoever runs the server is in the clipboard.
        edit_wanted, other_wanted, back_wanted: what the quiet links say.
    """

    page_id = "connection"
    again = Signal()
    copied = Signal()
    edit_wanted = Signal()
    other_wanted = Signal()
    back_wanted = Signal()

    def __init__(self, shown: Connection, *, back_to: str = "") -> None:
        """``back_to``: the connection that was open before, "" for none."""
        super().__init__(N_("Connection"))
        self.header.hide()
        self._shown, self._back_to = shown, back_to
        self._answers: tuple[Answer, ...] = ()
        self._left, self._cause, self._since_ms = 0, "", 0
        self._reach: connection.Reach | None = None
        self._name, self._address = Label("", "page"), Elided(shown.address, "body", "text3")
        self._glyph = QLabel()
        self._state = Label("", "body", "text2", wrap=True)
        self._true = Label("", "body", "text2", wrap=True)
        self.lines = [AnswerLine(named=True) for _part in range(3)]
        self._error = Label("", "body", "dead", wrap=True)
        # the key is the window's, which asks the page: heard twice it would do nothing
        self.again_button = Button(N_("Try again"), kind="primary", icon="ph.arrow-clockwise", hint="window.refresh")
        # as on the card of a lost connection: it is tried again by itself, what helps is whoever runs the server
        self.copy_button = Button(N_("Copy message for IT"), kind="primary", icon="ph.copy")
        # nobody but who enters another password or user goes on there
        self.edit_button = Button(N_("Edit connection"), kind="primary", icon="ph.pencil-simple")
        self._count = Label("", "label", "text3", tabular=True)
        self.edit_link, self.other_link = LinkLabel(N_("Edit connection")), LinkLabel(N_("Other connection…"))
        self.back_link = LinkLabel()
        self.back_link.setVisible(bool(back_to))
        self._put_together()
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self.again_button.clicked.connect(self.again)
        self.copy_button.clicked.connect(self._copy)
        self.edit_link.activated.connect(self.edit_wanted)
        self.edit_button.clicked.connect(self.edit_wanted)
        self.other_link.activated.connect(self.other_wanted)
        self.back_link.activated.connect(self.back_wanted)
        self._address.setVisible(bool(shown.address))
        self.edit_link.disable(shown.fixed if shown.local else "")
        if shown.fixed and not shown.local:
            copied = _("Here it is corrected in a copy of its own.")
            self.edit_link.setToolTip(f"{shown.fixed}. {copied}")
        theme().changed.connect(self._say)
        say_in_language(self._say)

    def refresh(self) -> None:
        """Do not wait for the next try (F5)."""
        self.again_button.click()

    def show_trying(self) -> None:
        """A try is under way."""
        self._timer.stop()
        self._left = 0
        self.again_button.wait(_("Trying now …"))
        self._say()

    def show_failure(
        self, answers: Sequence[Answer], cause: str, *, reach: connection.Reach | None, next_s: float
    ) -> None:
        """Show what each part said. ``cause``, already translated, where no part has one of its own; ``reach``: what
        is lost, None where that is not it; ``next_s``: until the next try, 0 when only a person can go on.
        """
        self._answers, self._reach, self._left = tuple(answers), reach, round(next_s)
        self._since_ms = self._since_ms or instant.now_ms()
        silent = any(not answer.ok for answer in answers)
        self._cause = "" if silent else cause
        for line in self.lines:
            line.clear()
        for line, answer in zip(self.lines, answers, strict=False):
            line.show_answer(answer)
        self.again_button.disable("")
        if self._left:
            self._timer.start()
        self._say()

    def words(self) -> tuple[str, ...]:
        """Title, state, what is true meanwhile, and what each part said."""
        said = [line.words() for line in self.lines if line.words()]
        return (self._name.text(), self._state.text(), self._true.text(), self._error.text(), *said)

    def _put_together(self) -> None:
        card = QFrame()
        paint_ground(card, "card")
        card.setMaximumWidth(WIDTH)
        head = in_row(self._glyph, self._name, spacing=10)
        if self._shown.tag:
            head.addWidget(Badge(self._shown.tag, "dead" if self._shown.production else "text2"))
        head.addStretch(1)
        column = in_column(
            head,
            self._address,
            self._state,
            *self.lines,
            self._error,
            self._true,
            owner=card,
            margins=(24, 22, 24, 22),
            spacing=10,
        )
        # one row has no room for all of them
        column.addSpacing(6)
        column.addLayout(
            in_row(self.edit_button, self.copy_button, self.again_button, self._count, STRETCH, spacing=12)
        )
        column.addLayout(in_row(self.back_link, self.edit_link, self.other_link, STRETCH, spacing=18))
        middle = in_row(STRETCH, (card, 20), STRETCH)
        pane = ScrollPane()
        pane.body.setContentsMargins(24, 24, 24, 24)
        pane.body.addStretch(2)
        pane.body.addLayout(middle)
        pane.body.addStretch(3)
        self.body.addWidget(pane, 1)

    def _say(self) -> None:
        failed = bool(self._answers or self._cause)
        name = self._shown.title
        self._glyph.setPixmap(theme().pixmap("ph.wifi-slash" if failed else "ph.globe", "retrying", 22))
        self._name.setText(
            _("{name} does not open").format(name=name) if failed else _("Opening {name}").format(name=name)
        )
        silent = [answer for answer in self._answers if not answer.ok]
        self._state.setText(_("Nothing of it is shown until every part answers.") if silent else "")
        self._state.setVisible(bool(silent))
        refused = self._refused()
        self.edit_button.setVisible(refused)
        self.edit_link.setVisible(bool(self._shown.address) and not refused)  # without one there is nothing to correct
        self._count.setVisible(not refused)
        self.copy_button.set_kind("plain" if refused else "primary")
        self.copy_button.setVisible(bool(silent))
        self.again_button.set_kind("plain" if silent else "primary")
        self._error.setText(self._cause)
        self._error.setVisible(bool(self._cause))
        self._true.setText(self._meanwhile())
        self._true.setVisible(bool(self._true.text()))
        self.back_link.set_count_text(_("Back to {name}").format(name=self._back_to))
        self._say_left()
        self.setAccessibleName(" ".join(part for part in self.words() if part))

    def _refused(self) -> bool:
        """Whether what is entered here has to be corrected before any of the silent parts answers."""
        silent = [answer for answer in self._answers if not answer.ok]
        return bool(silent) and all(connection.refused(answer.words) for answer in silent)

    def _meanwhile(self) -> str:
        if self._reach is None or self._reach.whole:
            return ""
        if self._refused():  # a server is there, for others
            return _("Workers go on as usual.") if self._reach.alive and not self._reach.apart else ""
        said = [connection.meanwhile(self._reach), connection.perhaps(self._reach)]
        return text.run_on(render(message) for message in said if message is not None)

    def report(self) -> str:
        """What whoever runs the server has to know: which connection, since when it is shut, each part's answer."""
        now = instant.now_ms()
        head = _("{name} has not opened since {time}.").format(
            name=self._shown.title, time=shown.clock(self._since_ms or now, now)
        )
        said = [line.accessibleName() for line in self.lines if line.words()]
        return "\n".join(part for part in (head, self._shown.address, *said, self._true.text()) if part)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report())
        self.copied.emit()

    def _say_left(self) -> None:
        span = text.seconds(timedelta(seconds=self._left))
        self._count.setText(_("again by itself in {span}").format(span=span) if self._left else "")

    def _on_tick(self) -> None:
        self._left = max(0, self._left - 1)
        if not self._left:
            self._timer.stop()
        self._say_left()
