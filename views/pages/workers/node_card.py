"""One worker as a card: how it is, what its slots hold, and what it can be told."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.clock import SystemClock
from services.domain.fleet import autoscale
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.worker import WorkerNow
from services.i18n import N_, _
from views.pages.workers import nodes
from views.pages.workers.browser_list import BrowserList
from views.pages.workers.fact_list import FactList
from views.pages.workers.lanes_dialog import obeyed
from views.pages.workers.load_bar import LoadBar
from views.pages.workers.nodes import Names
from views.pages.workers.slot_grid import SlotGrid
from views.support import safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import RADIUS_CARD, status
from views.widgets.badge import Badge
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.stepper import Stepper

LEFT, RIGHT = 186, 206
#: verbs stand in words where that leaves this much for the slots
MIDDLE = 300
#: a bar of memory is full here
MEMORY_FULL_MB = 1024
STEP_MS = 700
#: an order that no heartbeat has confirmed after this long is no longer shown as asked
ASKED_MS = 20_000
_CLOCK = SystemClock()


class NodeCard(QFrame):
    """Signals:
    ordered: worker, order (``slots=6``, ``drain``, ``resume``).
    stop_wanted: worker.
    lanes_wanted: worker: its slots shall be shared otherwise.
    task_wanted: id of the task in a slot.
    tasks_wanted: filter of the tasks behind a fact.
    forget_wanted: worker: strike it off the list.
    start_wanted: one shall run on this computer in its place.
    """

    ordered = Signal(str, str)
    stop_wanted = Signal(str)
    lanes_wanted = Signal(str)
    task_wanted = Signal(str)
    tasks_wanted = Signal(str)
    forget_wanted = Signal(str)
    start_wanted = Signal()

    def __init__(self, now: WorkerNow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.now, self._now_ms = now, 0
        self._names = nodes.NO_NAMES
        self._here = self._selected = self._can_start = self._leads = False
        self._reason = ""
        self._asked: tuple[str, int] = ("", 0)
        self.setProperty("panel", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.grid = SlotGrid()
        self.grid.task_wanted.connect(self.task_wanted)
        self._settle = QTimer(self, singleShot=True, interval=STEP_MS)
        self._settle.timeout.connect(self._order_slots)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        row.addWidget(self._build_left())
        row.addWidget(line("v"))
        middle = QVBoxLayout()
        middle.setContentsMargins(10, 9, 10, 9)
        self.facts = FactList()
        self.facts.tasks_wanted.connect(self.tasks_wanted)
        middle.addWidget(self.facts)
        middle.addWidget(self.grid)
        self.browsers = BrowserList()
        middle.addWidget(self.browsers)
        middle.addStretch(1)
        row.addLayout(middle, 1)
        row.addWidget(line("v"))
        row.addWidget(self._build_right())
        on_language_changed(self._say)
        theme().changed.connect(self._say)

    def _build_left(self) -> QWidget:
        side = QWidget()
        side.setFixedWidth(LEFT)
        self._glyph, self._name = QLabel(), Elided("", "strong", middle=True)
        self._count, self.badge = Label("", "label", "text2"), Badge("", "accent")
        self._beat, self.note = Elided("", "label", "text3"), Elided("", "label", "text3")
        first = QHBoxLayout()
        first.setSpacing(7)
        first.addWidget(self._glyph)
        first.addWidget(self._name, 1)
        second = QHBoxLayout()
        second.setSpacing(6)
        second.addWidget(self._count)
        second.addWidget(self._beat, 1)
        column = QVBoxLayout(side)
        column.setContentsMargins(12, 9, 8, 9)
        column.setSpacing(3)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.note)
        column.addWidget(self.badge)
        column.addStretch(1)
        return side

    def _build_right(self) -> QWidget:
        side = self._right = QWidget()
        side.setFixedWidth(RIGHT)
        self._cpu, self._memory = LoadBar(), LoadBar()
        self.stepper = Stepper(N_("Slots"), 1, 1, 512)
        self.lanes_button = IconButton("ph.sliders-horizontal", N_("Slots and lanes"), kind="plain", word=N_("Lanes"))
        self.lanes_button.clicked.connect(lambda: self.lanes_wanted.emit(self.info.worker))
        self.drain_button = IconButton(
            "ph.download-simple", N_("Drain: take no new tasks"), kind="plain", word=N_("Drain")
        )
        self.resume_button = IconButton("ph.play", N_("Resume: take tasks again"), kind="plain", word=N_("Resume"))
        self.stop_button = IconButton("ph.square", N_("Stop this worker"), kind="plain", word=N_("Stop"))
        self.stepper.value_changed.connect(self._on_step)
        self.drain_button.clicked.connect(self._on_drain)
        self.resume_button.clicked.connect(self._on_drain)
        self.stop_button.clicked.connect(self._on_stop)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.stepper)
        row.addStretch(1)
        row.addWidget(self.lanes_button)
        row.addWidget(self.drain_button)
        row.addWidget(self.resume_button)
        row.addWidget(self.stop_button)
        self.forget_button = Button(
            N_("Forget"), small=True, tip=N_("Take it off the list; it comes back if it beats.")
        )
        self.forget_button.clicked.connect(lambda: self.forget_wanted.emit(self.info.worker))
        self.start_button = Button(N_("Start one here"), icon="ph.play-fill", small=True)
        self.start_button.clicked.connect(self.start_wanted)
        row.addWidget(self.start_button)
        row.addWidget(self.forget_button)
        column = QVBoxLayout(side)
        column.setContentsMargins(10, 9, 10, 9)
        column.setSpacing(2)
        column.addWidget(self._cpu)
        column.addWidget(self._memory)
        column.addSpacing(6)
        column.addLayout(row)
        column.addStretch(1)
        return side

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say the verbs in words where there is room for them."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        turn = self.resume_button if self.info.state == "draining" else self.drain_button
        verbs = (self.lanes_button, turn, self.stop_button)
        wide = 20 + self.stepper.sizeHint().width() + sum(verb.worded_width() + 6 for verb in verbs) + 6
        worded = self.width() - LEFT - max(RIGHT, wide) >= MIDDLE
        for verb in (self.lanes_button, self.drain_button, self.resume_button, self.stop_button):
            verb.set_worded(worded)
        self._right.setFixedWidth(max(RIGHT, wide) if worded else RIGHT)

    @property
    def info(self) -> WorkerInfo:
        """The newest heartbeat."""
        return self.now.info

    def show_worker(
        self, one: WorkerNow, names: Names, now_ms: int, *, here: bool, can_start: bool = False, leads: bool = False
    ) -> None:
        """Show what is true of it now. ``can_start``: one could run on this computer in its place; ``leads``: that is
        what the page asks for, so its verb is filled.
        """
        self._can_start, self._leads = can_start, leads
        self.now, self._now_ms, self._names, self._here = one, now_ms, names, here
        info = one.info
        order, asked_at = self._asked
        if order and (_obeyed(info, order) or _CLOCK.now_ms() - asked_at > ASKED_MS):
            self._asked = ("", 0)
        self._say()

    def set_selected(self, selected: bool) -> None:
        """Be the one that somebody asked for."""
        if selected != self._selected:
            self._selected = selected
            self._say()

    @property
    def selected(self) -> bool:
        """Whether somebody asked for it."""
        return self._selected

    def set_acting(self, reason: str) -> None:
        """Take no orders, for this reason; "" takes them again."""
        self._reason = reason
        self._say()

    def note_asked(self, order: str) -> None:
        """Remember an order until a heartbeat shows it was obeyed."""
        self._asked = (order, _CLOCK.now_ms())
        self._say()

    def refused(self) -> None:
        """An order could not be given: show what is true again."""
        self._asked = ("", 0)
        self._say()

    def _say(self) -> None:
        one, info, now = self.now, self.info, self._now_ms
        token = status(nodes.glyph(one))
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        self._name.show_text(info.worker)
        self.setToolTip(safe.tooltip(nodes.abilities(info)))
        gone = one.state in (insight.GONE, insight.STOPPED)
        self._count.setVisible(not gone)
        self._count.setText("" if gone else f"{one.busy} / {len(one.slots)}")
        words, tone = nodes.heartbeat(one, now)
        self._beat.show_text(words)
        self._beat.set_tone(tone)
        note, tone = nodes.note(one)
        if self._asked[0]:
            note, tone = _asked_words(self._asked[0]), "scheduled"
        self.note.show_text(note)
        self.note.set_tone(tone)
        self.badge.show_text(_("this computer") if self._here else "")
        self.grid.show_worker(one, self._names, now)
        self.facts.show_lines(nodes.facts(one, now))
        self.browsers.show_lines(() if one.missing else nodes.browser_lines(info, self._names, now))
        self._show_load()
        self._show_verbs()
        self._arrange()
        chosen = _("chosen") if self._selected else ""
        told = (info.worker, chosen, self._count.text(), words, note, *self.facts.lines())
        self.setAccessibleName(", ".join(part for part in told if part))
        self.update()

    def _show_load(self) -> None:
        info, gone = self.info, self.now.state in (insight.GONE, insight.STOPPED)
        self._cpu.setVisible(not gone)
        self._memory.setVisible(not gone)
        if self.now.missing:  # what it told last is not true any more
            info = msgspec.structs.replace(info, cpu=-1.0, memory_mb=-1.0)
        cpu = text.whole_percent(info.cpu / 100) if info.cpu >= 0 else "–"
        tip = _("Share of one core, all its threads together; may pass 100 %.")
        self._cpu.show_load(
            _("CPU"), cpu, info.cpu / 100 if info.cpu >= 0 else None, high=info.cpu >= nodes.CPU_HIGH, tip=tip
        )
        memory = text.join(text.count(round(info.memory_mb)), "MB") if info.memory_mb >= 0 else "–"
        share = info.memory_mb / MEMORY_FULL_MB if info.memory_mb >= 0 else None
        self._memory.show_load(
            _("Mem"), memory, share, high=bool(share and share >= 1), tip=_("The bar is full at 1 GB.")
        )

    def _show_verbs(self) -> None:
        info, missing = self.info, self.now.missing or self.now.state == insight.STOPPED
        held = insight.kept(self.now, self._now_ms)
        self.start_button.setVisible(self.now.missing and self._can_start)
        self.start_button.set_kind("primary" if self._leads else "plain")
        self.start_button.disable(self._reason)
        self.forget_button.setVisible(missing)
        self.forget_button.disable(self._reason or (shown.told(held) if held is not None else ""))
        draining = info.state == "draining"
        # each is shown or hidden once: what is shown for a moment is laid out, and takes the room of the others
        for part in (self.stepper, self.lanes_button, self.stop_button):
            part.setVisible(not missing)
        self.drain_button.setVisible(not missing and not draining)
        self.resume_button.setVisible(not missing and draining)
        if missing:
            return
        if not self._settle.isActive() and not self._asked[0].startswith("slots="):
            self.stepper.set_value(len(info.slots))
        leaving = (
            _("It is stopping") if info.state in ("stopping", "stopped") or self._asked[0].startswith("stop") else ""
        )
        for button in (self.lanes_button, self.drain_button, self.resume_button, self.stop_button):
            button.disable(leaving or self._reason)
        self.stepper.setEnabled(not (leaving or self._reason))

    def _on_step(self) -> None:
        self._settle.start()

    def _order_slots(self) -> None:
        if self.stepper.value() != len(self.info.slots):
            self.ordered.emit(self.info.worker, f"slots={self.stepper.value()}")

    def _on_drain(self) -> None:
        self.ordered.emit(self.info.worker, "resume" if self.info.state == "draining" else "drain")

    def _on_stop(self) -> None:
        self.stop_wanted.emit(self.info.worker)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw an edge in the colour of what is wrong."""
        super().paintEvent(event)
        wrong = self.now.state in (insight.LATE, insight.SILENT, insight.CUT_OFF)
        if wrong or self._selected:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme().color("retrying" if wrong else "accent"), 2 if self._selected else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)


def _obeyed(info: WorkerInfo, order: str) -> bool:
    verb, _sign, value = order.partition("=")
    if verb == "slots":
        return obeyed(info, value)
    if verb == "refuse":
        return set(info.declines) == set(filter(None, value.split(",")))
    return info.state == {"drain": "draining", "resume": "running", "stop": "stopping"}[verb]


def _asked_words(order: str) -> str:
    verb, _sign, value = order.partition("=")
    if verb == "slots" and value.startswith(autoscale.WORD):
        return _("asked to set its slots by itself")
    if verb == "slots":
        return _("asked for {n} slots").format(n=value.partition(",")[0])
    if verb == "refuse":
        return _("asked to refuse types") if value else _("asked to take all types")
    return {"drain": _("asked to drain"), "resume": _("asked to resume"), "stop": _("asked to stop")}[verb]
