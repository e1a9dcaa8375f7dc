"""What stands beside the tables: one shop with what holds it, or the limit of one platform or type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from services.commands.quiet import QuietNow
from services.domain.fleet.shop import MOST_AT_ONCE, Pause
from services.domain.gates import limit
from services.domain.insight import shop as insight
from services.i18n import N_, _
from services.monitor.shops.queries import PAUSED, ScopeRow, ShopRow
from services.monitor.works import TypeRow
from views.kit.verb import Place, Verbs, show
from views.pages.shops import words
from views.pages.shops.verbs import BUTTONS, ShopVerb, resume_key
from views.support import instant, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.words import shop, type_names
from views.theme.tokens import platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import Button, LinkLabel
from views.widgets.card import Card
from views.widgets.fields import Labelled, NumberField
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.stepper import Stepper
from views.widgets.strip import Strip
from views.widgets.toggle import Toggle

STEP_MS = 700
LINES = 2  #: of what holds a shop, whose times and numbers take now one and now two


#: what can always be done to a shop; all else answers what it asks for, and is a small button beside its words
USUAL = ("pause", "tasks", "edit")


def buttons_of(keys: Collection[str], act: Callable[[str], None]) -> dict[str, Button]:
    """A button for each of these verbs; ``act`` is called with the key of the one that was pressed."""
    found: dict[str, Button] = {}
    for verb in BUTTONS:
        if verb.key in keys:
            kind = "primary" if verb.key in ("decide", "login") else "plain"
            small = verb.key not in USUAL
            found[verb.key] = button = Button(verb.short or verb.text, kind=kind, icon=verb.icon, small=small)
            button.clicked.connect(partial(_pressed, act, verb.key))
    return found


def _pressed(act: Callable[[str], None], key: str, _checked: bool = False) -> None:
    act(key)


def offer_on(buttons: Mapping[str, Button], verbs: Verbs[ShopVerb, ShopRow], row: ShopRow) -> None:
    """Let buttons be what is offered for a shop now; one of them leads."""
    for one in verbs.offers(Place.PANEL, row):
        if one.verb.key not in buttons:
            continue
        if one.verb.short:  # its words stay, what can be done does not
            buttons[one.verb.key].disable(one.reason)
            continue
        show(buttons[one.verb.key], one)
        buttons[one.verb.key].set_glyph(one.glyph)
    if "login" in buttons:
        buttons["login"].set_kind("plain" if row.now.held else "primary")


class ShopCard(Card):
    """One shop: what it does, what holds it, its limits and its queue.

    Signals:
        concurrency_chosen: how many tasks at once.
        dedicated_chosen: whether it has a queue of its own.
        quiet_wanted: its quiet hours shall be shown, to be changed.
    """

    concurrency_chosen = Signal(int)
    dedicated_chosen = Signal(bool)
    quiet_wanted = Signal()

    def __init__(self, verbs: Callable[[ShopRow], Verbs[ShopVerb, ShopRow]]) -> None:
        """``verbs``: what can be done to a shop."""
        super().__init__("", divided=True)
        self._verbs = verbs
        self._row_shown: ShopRow | None = None
        self._works: tuple[str, tuple[TypeRow, ...]] = ("", ())
        self._rules: tuple[str, Sequence[ScopeRow], Sequence[QuietNow], str] = ("", (), (), "")
        self._reason, self._of_day = "", False
        self._badge = Badge.platform("")
        self.facts, self.works, self.rules = (KeyValues(spread=True) for _n in range(3))
        self.quiet = LinkLabel(N_("Change"))
        self.state = Strip("healthy", lines=LINES)
        self.pauses = _Pauses()
        self.session, self.breaker = Strip("blocked", lines=LINES), Strip("blocked", lines=LINES)
        self._told = Label("", "label", "text2", wrap=True)
        self._why = Label("", "label", "text2", wrap=True)
        self.at_once = Stepper(N_("Tasks at once"), 1, 1, MOST_AT_ONCE)
        self.dedicated = Toggle(N_("Dedicated queue"))
        self.buttons = buttons_of([verb.key for verb in BUTTONS], self._act)
        self._labels = [Label("", "body") for _n in range(2)]
        self._settle = QTimer(self, singleShot=True, interval=STEP_MS)
        self._settle.timeout.connect(lambda: self.concurrency_chosen.emit(self.at_once.value()))
        self._put_together()
        self.at_once.value_changed.connect(lambda _value: self._settle.start())
        self.dedicated.clicked.connect(self.dedicated_chosen)
        self.quiet.activated.connect(self.quiet_wanted)
        self.pauses.resume.connect(lambda scope: self._act(resume_key(scope)))
        on_language_changed(self._say)

    def _put_together(self) -> None:
        self.add_action(self._badge)
        self._usual = QWidget()
        buttons = FlowRow(across=8, down=6)  # above all that grows and shrinks: they stand still
        self._usual.setLayout(buttons)
        for key in USUAL:
            buttons.addWidget(self.buttons[key])
        self.body.addWidget(self._usual)
        self.body.addWidget(self.state)
        self.body.addLayout(in_row(self.buttons["decide"], STRETCH))
        self.body.addWidget(self.pauses)
        self.body.addWidget(self._build_session())
        self._held = QWidget()
        held = in_column(self.breaker, owner=self._held, margins=(0, 0, 0, 4))
        held.addLayout(in_row((self._why, 1), self.buttons["close"]))
        self.body.addWidget(self._held)
        self.body.addWidget(self.facts)
        self._works_title = Label("", "labelstrong")
        self.body.addLayout(in_row((self._works_title, 1), self.buttons["day"], self.buttons["work"]))
        self.body.addWidget(self.works)
        for label, control in zip(self._labels, (self.at_once, self.dedicated), strict=True):
            self.body.addWidget(line())
            self.body.addLayout(in_row((label, 1), control))
        self._rules_line = line()
        self.body.addWidget(self._rules_line)
        self._rules_title = Label("", "labelstrong")
        self.body.addLayout(in_row((self._rules_title, 1), self.quiet))
        self.body.addWidget(self.rules)

    def _build_session(self) -> QWidget:
        self._asking = QWidget()
        column = in_column(owner=self._asking, margins=(0, 0, 0, 4))
        verbs = FlowRow(across=8, down=6)
        verbs.addWidget(self.buttons["login"])
        verbs.addWidget(self.buttons["session"])
        put(column, self.session, self._told, verbs)
        return self._asking

    def set_beside_day(self, beside: bool) -> None:
        """Leave out what its day tells beside it: how it stands, what to do about that, and its numbers."""
        if beside != self._of_day:
            self._of_day = beside
            self._usual.setHidden(beside)
            self.buttons["day"].setHidden(beside)
            self._say()

    @property
    def shown(self) -> ShopRow | None:
        """The shop shown."""
        return self._row_shown

    def show_shop(self, row: ShopRow | None) -> None:
        """Show a shop; a number that a person is changing stays, and is set at once where they go on to another one."""
        if self._settle.isActive() and (row is None or self._row_shown is None or row.key != self._row_shown.key):
            self._settle.stop()
            self.concurrency_chosen.emit(self.at_once.value())
        self._row_shown = row
        self._say()  # first: of one that is seen all is laid out with each part that comes or goes
        self.setVisible(row is not None)

    def show_works(self, key: str, rows: Sequence[TypeRow]) -> None:
        """Show when each type of this shop ran last, failed last, and would run next."""
        self._works = (key, tuple(rows))
        self._say_works()

    def show_rules(self, key: str, limits: Sequence[ScopeRow], quiet: Sequence[QuietNow] = (), zone: str = "") -> None:
        """Show what of these limits and quiet hours, in ``zone``, holds for this shop besides its own number; without
        a zone nobody could say, and the part is hidden.
        """
        self._rules = key, limits, quiet, zone
        self._say_rules()

    def _say_rules(self) -> None:
        row = self._row_shown
        if row is None:
            return
        (key, types), (of, limits, quiet, zone) = self._works, self._rules
        kinds = {one.task_type for one in types} if key == row.key else set()
        self._rules_title.setText(_("Limits and quiet hours"))
        known = of == row.key and zone  # else nobody has asked yet, or could not say
        for part in (self._rules_line, self._rules_title, self.quiet, self.rules):
            part.setVisible(of != row.key or bool(zone))
        self.rules.set_rows(words.rules(row, kinds, limits, quiet, zone, instant.now_ms()) if known else ())

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
        self._say_rules()

    def _say(self) -> None:
        row = self._row_shown
        if row is None:
            return
        if self._of_day:  # its name stands above its day
            self.set_title(N_("Runs and limits"))
        else:
            self.show_name(words.name(row))
        self._badge.show_text(platform_badge(row.shop.platform))
        self._badge.setHidden(self._of_day)
        self.tell_time()
        for label, source in zip(self._labels, (N_("Tasks at once"), N_("Dedicated queue")), strict=True):
            label.setText(_(source))
        if not self._settle.isActive():
            self.at_once.set_value(row.shop.concurrency)
        self.dedicated.setChecked(row.shop.dedicated)
        self._show_verbs(row)

    def tell_time(self) -> None:
        """Say again what goes by the clock. What can be done goes by the shop alone, and is not asked every second."""
        row = self._row_shown
        if row is None:
            return
        now = instant.now_ms()
        self.setAccessibleName(words.sentence(row))
        facts = self._rows(row)
        self.facts.set_rows(facts)
        self.facts.setVisible(bool(facts))
        self._say_works()
        self.state.set_status(row.now.state)
        # these have a strip of their own below; shown for a moment only, it would leave a gap until the next paint
        if self._of_day or row.now.state in (insight.LOGIN, insight.BREAKER, insight.PAUSED_TYPE, *insight.SWITCHED):
            self.state.hide()
        else:
            told = insight.reasons(row.now, now)[0]
            self.state.show_text(shop.said(told), shop.word(row.now.state))
        self.pauses.show_pauses(row.now.pauses, now, own=f"shop:{row.key}")
        session, breaker = row.now.session, row.now.breaker
        self._asking.setVisible(session is not None and not self._of_day)
        if session is not None:
            self.session.show_text(words.asks_for(row.now, now))
            self._told.setText(words.told_by(session))
            self._told.setVisible(bool(self._told.text()))
        self._held.setVisible(breaker is not None and not self._of_day)
        if breaker is not None:
            self.breaker.show_text(words.next_try(breaker, now), words.failures(breaker))
            self._why.setText(words.last_failure(breaker))

    def _show_verbs(self, row: ShopRow) -> None:
        offer_on(self.buttons, self._verbs(row), row)
        if self._of_day:
            self.buttons["decide"].hide()
        asked = bool(row.now.held) or row.now.session is not None
        self.pauses.set_leading(not asked)
        leads = not asked and words.is_paused(row) and not self.pauses.buttons()
        self.buttons["pause"].set_kind("primary" if leads else "plain")
        if not self._reason:
            self.buttons["close"].setToolTip(_("Closes the breaker of this shop"))
        self.pauses.set_acting(self._reason)
        stranger = _("Only tasks tell of this shop; import it first") if row.shop.unregistered else ""
        for control in (self.at_once, self.dedicated):
            control.setEnabled(not (self._reason or stranger))
            control.setToolTip(self._reason or stranger)

    def _rows(self, row: ShopRow) -> list[tuple[str, str, str]]:
        now = instant.now_ms()
        login = [words.login_age(row, now), row.login.by if row.login is not None else ""]
        found = [
            (_("Id"), "" if self._of_day else row.key, "text"),
            (_("Waiting"), text.count(row.now.waiting), "text"),
            (_("Running"), words.used(row.now.running, row.shop.concurrency), "text"),
            (_("Retrying"), text.count(row.now.retrying), "text"),
            (_("Dead letters"), text.count(row.now.dead), "dead" if row.now.dead else "text"),
            (_("Last login"), text.listed([part for part in login if part]), "text"),
            (_("Last success"), words.since(row.now.success_at, now), "text"),
            (_("Home node"), row.home, "text"),
            (_("Switched off"), "" if row.shop.enabled else _("schedules and promises leave it out"), "text"),
        ]
        told = {_("Waiting"), _("Running"), _("Retrying"), _("Dead letters"), _("Last success")}
        return [one for one in found if one[1] and not (self._of_day and one[0] in told)]

    def _act(self, key: str) -> None:
        row = self._row_shown
        if row is not None:
            self._verbs(row).act(key, row)


class _Pauses(QWidget):
    """Every switch that holds a shop, who closed it, since when and why, each with its own way out, if it has one. That
    of the shop's own pause is the button that made it.

    Signals:
        resume: the scope of one.
    """

    resume = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._column = in_column(owner=self, margins=(0, 0, 0, 4), spacing=6)
        self._strips: dict[str, Strip] = {}
        self._buttons: dict[str, Button] = {}
        self._reason = ""

    def buttons(self) -> list[Button]:
        """The ways out, the widest first."""
        return list(self._buttons.values())

    def show_pauses(self, pauses: Sequence[Pause], now_ms: int, *, own: str) -> None:
        """Show these; a button that stays keeps its focus. ``own``: the scope of the shop alone."""
        if [pause.key for pause in pauses] != list(self._strips):
            self._rebuild(pauses, own)
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

    def _rebuild(self, pauses: Sequence[Pause], own: str) -> None:
        for widget in (*self._strips.values(), *self._buttons.values()):
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._strips, self._buttons = {}, {}
        for pause in pauses:
            self._strips[pause.key] = strip = Strip(pause.gate, lines=LINES)
            self._column.addWidget(strip)
            if pause.gate != PAUSED or pause.scope == own:
                continue
            self._buttons[pause.key] = button = Button("", icon="ph.play", small=True)
            button.disable(self._reason)
            button.clicked.connect(partial(self.resume.emit, pause.scope))
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)


class ScopeCard(Card):
    """The limit of one platform or type: how far it is used, and its two numbers to be changed.

    Signals:
        limit_chosen: tasks at once, starts a minute; 0 is no limit.
        tasks_wanted: show what waits there.
        pause_wanted: let nothing of it start, or end the pause there is.
        quiet_wanted: the same until a time, with a reason.
    """

    limit_chosen = Signal(int, int)
    tasks_wanted = Signal()
    pause_wanted = Signal()
    quiet_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("", divided=True)
        self._scope: ScopeRow | None = None
        self._reason = ""
        self._facts = KeyValues(spread=True)
        self.at_once = NumberField(0, 0, limit.MAX_CONCURRENCY)
        self.a_minute = NumberField(0, 0, limit.MAX_PER_MINUTE)
        self._note = Label("", "label", "text3", wrap=True)
        self.save_button = Button(N_("Save"), kind="primary")
        self.tasks_button = Button(N_("Show what waits"), icon="ph.list-bullets")
        self.body.addWidget(self._facts)
        self.body.addWidget(line())
        self.body.addWidget(Labelled(N_("Tasks at once"), self.at_once, hint=N_("0: no limit")))
        self.body.addWidget(Labelled(N_("Starts a minute"), self.a_minute, hint=N_("0: no limit")))
        self.body.addWidget(self._note)
        row = FlowRow(across=8, down=6)
        self.pause_button = Button(N_("Pause"), icon="ph.pause-circle")
        self.quiet_button = Button(N_("Pause until a time"), icon="ph.moon")
        for button in (self.save_button, self.pause_button, self.quiet_button, self.tasks_button):
            row.addWidget(button)
        self.body.addLayout(row)
        self.pause_button.clicked.connect(self.pause_wanted)
        self.quiet_button.clicked.connect(self.quiet_wanted)
        for field in (self.at_once, self.a_minute):
            field.valueChanged.connect(self._show_verbs)
        self.save_button.clicked.connect(lambda: self.limit_chosen.emit(self.at_once.value(), self.a_minute.value()))
        self.tasks_button.clicked.connect(self.tasks_wanted)
        on_language_changed(self._say)

    @property
    def shown(self) -> ScopeRow | None:
        """What is shown."""
        return self._scope

    def show_scope(self, row: ScopeRow | None) -> None:
        """Show a limit; numbers that a person has changed stay while it is the same one."""
        before, self._scope = self._scope, row
        self.setVisible(row is not None)
        if row is not None and (before is None or before.key != row.key or not self._changed(before)):
            for field, value in self._pairs(row):
                field.blockSignals(True)
                field.setValue(value)
                field.blockSignals(False)
        self._say()

    def set_acting(self, reason: str, pausing: str) -> None:
        """Change no limit while that is not allowed, for this reason; ``pausing``: the same of a pause."""
        self._reason = reason
        for button in (self.pause_button, self.quiet_button):
            button.disable(pausing)
        self._show_verbs()

    def _pairs(self, row: ScopeRow) -> tuple[tuple[NumberField, int], ...]:
        return (self.at_once, row.now.limit.concurrency), (self.a_minute, row.now.limit.per_minute)

    def _changed(self, row: ScopeRow) -> bool:
        return any(field.value() != value for field, value in self._pairs(row))

    def _say(self) -> None:
        row = self._scope
        if row is None:
            return
        self.show_name(words.scope_name(row))
        self.set_note(words.scope_kind(row))
        self.setAccessibleName(words.scope_sentence(row))
        found, now = row.now, instant.now_ms()
        limited, a_minute = found.limit.limits, found.limit.per_minute
        # what may come and go by itself keeps its line: the verbs stand below, and would move under the mouse
        rows = [
            (_("Running"), words.used(found.running, found.limit.concurrency)),
            (_("Released and not started yet"), text.count(found.promised) if limited else ""),
            (_("Started this minute"), words.used(found.started, a_minute)),
            (_("Next start free"), (words.resets(row, now) or "–") if a_minute else ""),
            (_("Waiting at the gate"), (words.at_gate(found) or "–") if limited else ""),
            (_("Paused"), shop.said(insight.paused(row.pause, now)) if row.pause is not None else ""),
            (_("Quiet hours"), shop.said(insight.paused(row.quiet, now)) if row.quiet is not None else ""),
        ]
        self._facts.set_rows([pair for pair in rows if pair[1]])
        self.pause_button.set_source(N_("Resume") if row.pause is not None else N_("Pause"))
        self.pause_button.set_glyph("ph.play" if row.pause is not None else "ph.pause-circle")
        is_type = row.key.startswith(f"{limit.TYPE}:")
        self._note.setText(
            _("It is written into the document of the type, as its next version.")
            if is_type
            else _("It holds for all shops of the platform together, on every machine.")
        )
        self._show_verbs()

    def _show_verbs(self) -> None:
        row = self._scope
        same = _("Nothing was changed yet") if row is not None and not self._changed(row) else ""
        self.save_button.disable(self._reason or same)
        for field in (self.at_once, self.a_minute):
            field.setReadOnly(bool(self._reason))
