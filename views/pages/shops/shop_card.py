"""One shop beside the table: what it does, what holds it, its limits and its queue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.domain.fleet.shop import Pause
from services.domain.insight import shop as insight
from services.i18n import N_, _
from services.monitor.shops.queries import PAUSED, ShopRow
from services.monitor.works import TypeRow
from views.pages.shops import words
from views.support import instant, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.words import shop, type_names
from views.theme.tokens import platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.stepper import Stepper
from views.widgets.strip import Strip
from views.widgets.toggle import Toggle

MOST_AT_ONCE, STEP_MS = 64, 700


class ShopCard(Card):
    """Signals:
    concurrency_chosen: how many tasks at once.
    dedicated_chosen: whether it has a queue of its own.
    pause_chosen: whether it is to be paused.
    close_wanted: its breaker shall be closed.
    login_wanted: its browser shall open for a person.
    session_wanted: somebody has logged it in elsewhere.
    resume_wanted: the scope of a pause that shall end.
    decide_wanted: show its held tasks.
    tasks_wanted: show its tasks.
    work_wanted: ask whether something ran for it.
    """

    concurrency_chosen = Signal(int)
    dedicated_chosen = Signal(bool)
    pause_chosen = Signal(bool)
    close_wanted = Signal()
    login_wanted = Signal()
    session_wanted = Signal()
    resume_wanted = Signal(str)
    decide_wanted = Signal()
    tasks_wanted = Signal()
    work_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("", divided=True)
        self._row_shown: ShopRow | None = None
        self._works: tuple[str, tuple[TypeRow, ...]] = ("", ())
        self._reason = ""
        self._badge = Badge.platform("")
        self.facts, self.works = KeyValues(spread=True), KeyValues(spread=True)
        self.state = Strip("healthy")
        self.decide_button = Button(N_("Show what is to decide"), kind="primary", icon="ph.list-bullets", small=True)
        self.pauses = _Pauses()
        self.session, self.breaker = Strip("blocked"), Strip("blocked")
        self._told = Label("", "label", "text2", wrap=True)
        self.login_button = Button(N_("Open this shop's browser"), kind="primary", icon="ph.browser", small=True)
        self.session_button = Button(N_("Logged in elsewhere: go on"), icon="ph.sign-in", small=True)
        self._why = Label("", "label", "text2", wrap=True)
        self.close_button = Button(N_("Let the shop run again"), icon="ph.shield-check", small=True)
        self.at_once = Stepper(N_("Tasks at once"), 1, 1, MOST_AT_ONCE)
        self.dedicated = Toggle(N_("Dedicated queue"))
        self.pause_button = Button(N_("Pause shop"), icon="ph.pause-circle")
        self.tasks_button = Button(N_("Show tasks"), icon="ph.list-bullets")
        self.work_button = Button(N_("Ask for a day"), icon="ph.clock-counter-clockwise", small=True)
        self._labels = [Label("", "body") for _n in range(2)]
        self._settle = QTimer(self, singleShot=True, interval=STEP_MS)
        self._settle.timeout.connect(lambda: self.concurrency_chosen.emit(self.at_once.value()))
        self._put_together()
        self.at_once.value_changed.connect(lambda _value: self._settle.start())
        self.dedicated.clicked.connect(self.dedicated_chosen)
        self.pause_button.clicked.connect(self._on_pause)
        self.close_button.clicked.connect(self.close_wanted)
        self.login_button.clicked.connect(self.login_wanted)
        self.session_button.clicked.connect(self.session_wanted)
        self.tasks_button.clicked.connect(self.tasks_wanted)
        self.work_button.clicked.connect(self.work_wanted)
        self.decide_button.clicked.connect(self.decide_wanted)
        self.pauses.resume.connect(self.resume_wanted)
        on_language_changed(self._say)

    def _put_together(self) -> None:
        self.add_action(self._badge)
        self.body.addWidget(self.state)
        decide = QHBoxLayout()
        decide.addWidget(self.decide_button)
        decide.addStretch(1)
        self.body.addLayout(decide)
        self.body.addWidget(self.pauses)
        self.body.addWidget(self._build_session())
        self._held = QWidget()
        held = QVBoxLayout(self._held)
        held.setContentsMargins(0, 0, 0, 4)
        held.addWidget(self.breaker)
        row = QHBoxLayout()
        row.addWidget(self._why, 1)
        row.addWidget(self.close_button)
        held.addLayout(row)
        self.body.addWidget(self._held)
        self.body.addWidget(self.facts)
        self._works_title = Label("", "labelstrong")
        asking = QHBoxLayout()
        asking.addWidget(self._works_title, 1)
        asking.addWidget(self.work_button)
        self.body.addLayout(asking)
        self.body.addWidget(self.works)
        for label, control in zip(self._labels, (self.at_once, self.dedicated), strict=True):
            self.body.addWidget(line())
            pair = QHBoxLayout()
            pair.addWidget(label, 1)
            pair.addWidget(control)
            self.body.addLayout(pair)
        self.body.addWidget(line())
        buttons = QHBoxLayout()
        buttons.addWidget(self.pause_button)
        buttons.addWidget(self.tasks_button)
        buttons.addStretch(1)
        self.body.addLayout(buttons)

    def _build_session(self) -> QWidget:
        self._asking = QWidget()
        column = QVBoxLayout(self._asking)
        column.setContentsMargins(0, 0, 0, 4)
        verbs = FlowRow(across=8, down=6)
        verbs.addWidget(self.login_button)
        verbs.addWidget(self.session_button)
        column.addWidget(self.session)
        column.addWidget(self._told)
        column.addLayout(verbs)
        return self._asking

    @property
    def shown(self) -> ShopRow | None:
        """The shop shown."""
        return self._row_shown

    def show_shop(self, row: ShopRow | None) -> None:
        """Show a shop; a number that a person is changing stays."""
        if row is None or self._row_shown is None or row.key != self._row_shown.key:
            self._settle.stop()
        self._row_shown = row
        self.setVisible(row is not None)
        self._say()

    def show_works(self, key: str, rows: Sequence[TypeRow]) -> None:
        """Show when each type of this shop ran last, failed last, and would run next."""
        self._works = (key, tuple(rows))
        self._say_works()

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed, for this reason."""
        self._reason = reason
        self._say()

    def _say_works(self) -> None:
        key, rows = self._works
        shown = rows if self._row_shown is not None and self._row_shown.key == key else ()
        now = instant.now_ms()
        self._works_title.setText(_("Did it run?"))
        self.works.setVisible(bool(shown))
        self.works.set_rows((type_names.name(one.task_type), words.ran(one, now)) for one in shown)

    def _say(self) -> None:
        row = self._row_shown
        if row is None:
            return
        now = instant.now_ms()
        self.show_name(words.name(row))
        self.setAccessibleName(words.sentence(row))
        self._badge.show_text(platform_badge(row.shop.platform))
        self.facts.set_rows(self._rows(row))
        self._say_works()
        self.state.set_status(row.now.state)
        # these have a strip of their own below; shown for a moment only, it would leave a gap until the next paint
        if row.now.state in (insight.LOGIN, insight.BREAKER, insight.PAUSED_TYPE, *insight.SWITCHED):
            self.state.hide()
        else:
            told = insight.reasons(row.now, now)[0]
            self.state.show_text(shop.said(told), shop.word(row.now.state))
        self.decide_button.setVisible(bool(row.now.held))
        self.pauses.show_pauses(row.now.pauses, now)
        session, breaker = row.now.session, row.now.breaker
        self._asking.setVisible(session is not None)
        if session is not None:
            self.session.show_text(words.asks_for(row.now, now))
            self._told.setText(words.told_by(session))
            self._told.setVisible(bool(self._told.text()))
        self._held.setVisible(breaker is not None)
        if breaker is not None:
            self.breaker.show_text(words.next_try(breaker, now), words.failures(breaker))
            self._why.setText(words.last_failure(breaker))
        for label, source in zip(self._labels, (N_("Tasks at once"), N_("Dedicated queue")), strict=True):
            label.setText(_(source))
        if not self._settle.isActive():
            self.at_once.set_value(row.shop.concurrency)
        self.dedicated.setChecked(row.shop.dedicated)
        paused = words.is_paused(row)
        self.pause_button.set_source(N_("Resume shop") if paused else N_("Pause shop"))
        self.pause_button.set_glyph("ph.play" if paused else "ph.pause-circle")
        self._show_verbs(row)

    def _show_verbs(self, row: ShopRow) -> None:
        asked = bool(row.now.held) or row.now.session is not None
        self.login_button.set_kind("plain" if row.now.held else "primary")
        self.pauses.set_leading(not asked)
        self.pause_button.disable(self._reason)
        self.close_button.disable(self._reason)
        if not self._reason:
            self.close_button.setToolTip(_("Closes the breaker of this shop"))
        self.login_button.disable(self._reason)
        self.session_button.disable(self._reason)
        self.pauses.set_acting(self._reason)
        stranger = _("Only tasks tell of this shop; import it first") if row.shop.unregistered else ""
        for control in (self.at_once, self.dedicated):
            control.setEnabled(not (self._reason or stranger))
            control.setToolTip(self._reason or stranger)

    def _rows(self, row: ShopRow) -> list[tuple[str, str, str]]:
        now = instant.now_ms()
        login = [words.login_age(row, now), row.login.by if row.login is not None else ""]
        found = [
            (_("Id"), row.key, "text"),
            (_("Waiting"), text.count(row.now.waiting), "text"),
            (_("Running"), words.used(row.now.running, row.shop.concurrency), "text"),
            (_("Retrying"), text.count(row.now.retrying), "text"),
            (_("Dead letters"), text.count(row.now.dead), "dead" if row.now.dead else "text"),
            (_("Last login"), text.listed([part for part in login if part]), "text"),
            (_("Last success"), words.since(row.now.success_at, now), "text"),
            (_("Home node"), row.home, "text"),
        ]
        return [one for one in found if one[1]]

    def _on_pause(self) -> None:
        row = self._row_shown
        if row is not None:
            self.pause_chosen.emit(not words.is_paused(row))


class _Pauses(QWidget):
    """Every switch that holds a shop, who closed it, since when and why, each with its own way out, if it has one.

    Signals:
        resume: the scope of one.
    """

    resume = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 4)
        self._column.setSpacing(6)
        self._strips: dict[str, Strip] = {}
        self._buttons: dict[str, Button] = {}
        self._reason = ""

    def buttons(self) -> list[Button]:
        """The ways out, the widest first."""
        return list(self._buttons.values())

    def show_pauses(self, pauses: Sequence[Pause], now_ms: int) -> None:
        """Show these; a button that stays keeps its focus."""
        if [pause.key for pause in pauses] != list(self._strips):
            self._rebuild(pauses)
        for pause in pauses:
            self._strips[pause.key].show_text(shop.said(insight.paused(pause, now_ms)))
            if pause.key in self._buttons:
                self._buttons[pause.key].set_count_text(shop.resume(pause.scope))
        self.setVisible(bool(pauses))

    def set_leading(self, leads: bool) -> None:
        """Whether ending the first of them is what the card asks for: one filled button a view."""
        for place, button in enumerate(self._buttons.values()):
            button.set_kind("primary" if leads and not place else "plain")

    def set_acting(self, reason: str) -> None:
        """End none while that is not allowed, for this reason."""
        self._reason = reason
        for button in self._buttons.values():
            button.disable(reason)

    def _rebuild(self, pauses: Sequence[Pause]) -> None:
        for widget in (*self._strips.values(), *self._buttons.values()):
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._strips, self._buttons = {}, {}
        for pause in pauses:
            self._strips[pause.key] = strip = Strip(pause.gate)
            self._column.addWidget(strip)
            if pause.gate != PAUSED:
                continue
            self._buttons[pause.key] = button = Button("", icon="ph.play", small=True)
            button.disable(self._reason)
            button.clicked.connect(partial(self.resume.emit, pause.scope))
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
