"""All workers as cards: how each is, what its slots hold, and what it can be told."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from services.domain.fleet import autoscale
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.worker import WorkerNow
from services.i18n import N_, _, ngettext
from views.kit.verb import Place, Verbs
from views.pages.workers import nodes
from views.pages.workers.lanes_dialog import obeyed
from views.pages.workers.nodes import Names
from views.pages.workers.slot_grid import SlotGrid
from views.pages.workers.verbs import TWINS, OfWorker, WorkerVerb
from views.support import instant, safe, text
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label, line, paint_ground
from views.support.paint import draw_focus
from views.theme import theme
from views.theme.tokens import BUTTON_SMALL, RADIUS_CARD, status
from views.widgets.badge import Badge
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, clear, in_column, in_row, put, tab_through
from views.widgets.scroll_pane import ScrollPane
from views.widgets.stepper import Stepper


class Board(ScrollPane):
    """The cards, in an order that stays until somebody asks for another.

    Signals:
        ordered: worker, order.
        task_wanted: id of a task.
        tasks_wanted: filter of the tasks behind a fact.
        chosen: a person has chosen this worker.
        menu_wanted: worker, place on the screen: its menu is to open there.
    """

    ordered = Signal(str, str)
    task_wanted = Signal(str)
    tasks_wanted = Signal(str)
    chosen = Signal(str)
    menu_wanted = Signal(str, QPoint)

    def __init__(self, verbs: Verbs[WorkerVerb, OfWorker]) -> None:
        super().__init__()
        self._verbs = verbs
        self._cards: dict[str, NodeCard] = {}
        self._wanted = ""
        self._column = self.body
        self._column.setSpacing(8)
        self._column.addStretch(1)
        self._stops: Sequence[QWidget] = ()
        say_in_language(self._say)

    def card(self, worker: str) -> NodeCard | None:
        """The card of a worker."""
        return self._cards.get(worker)

    def select(self, worker: str) -> None:
        """Mark the card of a worker, and bring it into view; one that is not listed yet once it is."""
        self._wanted = worker
        for name, card in self._cards.items():
            card.set_selected(name == worker)
        if worker in self._cards:
            self.ensureWidgetVisible(self._cards[worker])

    def _on_chosen(self, worker: str) -> None:
        self.select(worker)
        self.chosen.emit(worker)

    def selected(self) -> str:
        """The worker that was asked for, "" for none."""
        return self._wanted

    def names(self) -> list[str]:
        """The workers that have a card, from top to bottom."""
        return sorted(self._cards, key=lambda name: self._column.indexOf(self._cards[name]))

    def show_workers(
        self, workers: Sequence[WorkerNow], names: Names, here: str, now_ms: int, *, can_start: bool = False
    ) -> None:
        """Show the newest heartbeats; cards come and go, those that stay keep their place. ``can_start``: a worker
        could run on this computer in the place of one that is missing.
        """
        known = {one.name for one in workers}
        for worker in [one for one in self._cards if one not in known]:
            card = self._cards.pop(worker)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        missing = [one.name for one in workers if one.missing]
        first = self._wanted if self._wanted in missing else next(iter(missing), "")
        for one in workers:
            if one.name not in self._cards:
                self._add(one)
            leads = can_start and one.name == first
            card = self._cards[one.name]
            card.show_worker(one, names, now_ms, here=one.name == here, can_start=can_start, leads=leads)
        self._order_tabs()

    def rights_changed(self) -> None:
        """Show what may be done now."""
        for card in self._cards.values():
            card.rights_changed()

    def reorder(self) -> None:
        """Missing workers first, then by name; only when a person asked."""
        cards = sorted(self._cards.values(), key=lambda card: (not card.now.missing, card.now.name))
        for place, card in enumerate(cards):
            self._column.removeWidget(card)
            self._column.insertWidget(place, card)
        self._order_tabs()

    def _order_tabs(self) -> None:
        stops = [stop for name in self.names() for stop in self._cards[name].stops()]
        if stops != self._stops:
            self._stops = stops
            tab_through(self, stops)

    def _add(self, one: WorkerNow) -> None:
        card = NodeCard(one, self._verbs)
        card.ordered.connect(self.ordered)
        card.task_wanted.connect(self.task_wanted)
        card.tasks_wanted.connect(self.tasks_wanted)
        card.chosen.connect(self._on_chosen)
        card.menu_wanted.connect(self.menu_wanted)
        card.set_selected(one.name == self._wanted)
        after = sum(1 for name in self._cards if name < one.name)
        self._column.insertWidget(after, card)
        self._cards[one.name] = card

    def _say(self) -> None:
        self.setAccessibleName(_("Worker nodes"))


LEFT, RIGHT = 186, 206
#: verbs stand in words where that leaves this much for the slots: six in a row
MIDDLE = 440
#: a bar of memory is full here
MEMORY_FULL_MB = 1024
STEP_MS = 700
#: an order that no heartbeat has confirmed after this long is no longer shown as asked
ASKED_MS = 20_000
#: in their order
_ICONS = ("share", "log", "drain", "resume", "stop")


class NodeCard(QFrame):
    """One worker.

    Signals:
        ordered: worker, order (``slots=6``).
        task_wanted: id of the task in a slot.
        tasks_wanted: filter of the tasks behind a fact.
        chosen: somebody has chosen it.
        menu_wanted: worker, place on the screen: its menu is to open there.
    """

    ordered = Signal(str, str)
    task_wanted = Signal(str)
    tasks_wanted = Signal(str)
    chosen = Signal(str)
    menu_wanted = Signal(str, QPoint)

    def __init__(self, now: WorkerNow, verbs: Verbs[WorkerVerb, OfWorker]) -> None:
        super().__init__()
        self._verbs = verbs
        self.now, self._now_ms = now, 0
        self._names = nodes.NO_NAMES
        self._here = self._selected = self._can_start = self._leads = False
        self._asked: tuple[str, int] = ("", 0)
        paint_ground(self, "card")
        self.grid = SlotGrid()
        self.grid.task_wanted.connect(self.task_wanted)
        self._settle = QTimer(self, singleShot=True, interval=STEP_MS)
        self._settle.timeout.connect(self._order_slots)
        row = in_row(self._build_left(), line("v"), owner=self, margins=(1, 1, 1, 1), spacing=0)
        middle = in_column(margins=(10, 9, 10, 9))
        self.facts = FactList()
        self.facts.tasks_wanted.connect(self.tasks_wanted)
        put(middle, self.facts, self.grid, STRETCH)
        put(row, (middle, 1), line("v"), self._build_right())
        on_language_changed(self._say)
        theme().changed.connect(self._say)

    def stops(self) -> list[QWidget]:
        """What the tab key comes to in it, in the order in which it is read."""
        buttons = [self.buttons[key] for key in (*_ICONS, "start", "forget")]
        return [*self.facts.doors(), self.grid, self.stepper, *buttons]

    def _build_left(self) -> QWidget:
        side = self._left = QWidget()
        self._glyph, self._name = QLabel(), Elided("", "strong", middle=True)
        self._count, self.badge = Label("", "label", "text2"), Badge("", "accent")
        self._beat, self.note = Elided("", "label", "text3"), Elided("", "label", "text3")
        first = in_row(self._glyph, (self._name, 1), spacing=7)
        second = in_row(self._count, (self._beat, 1), spacing=6)
        in_column(first, second, self.note, self.badge, STRETCH, owner=side, margins=(12, 9, 8, 9), spacing=3)
        return side

    def _build_right(self) -> QWidget:
        side = self._right = QWidget()
        side.setFixedWidth(RIGHT)
        self._cpu, self._memory = LoadBar(), LoadBar()
        self.stepper = Stepper(N_("Slots"), 1, 1, 512)
        self.stepper.value_changed.connect(self._on_step)
        self.buttons: dict[str, Button] = {}
        self._icons: dict[str, IconButton] = {}
        for verb in self._verbs.at(Place.PANEL):
            if verb.key in _ICONS:
                self._icons[verb.key] = IconButton(verb.icon, verb.tip, kind="plain", word=verb.word or verb.text)
                self.buttons[verb.key] = self._icons[verb.key]
            else:
                icon = verb.icon if verb.key == "start" else ""
                self.buttons[verb.key] = Button(verb.text, icon=icon, small=True, tip=verb.tip)
            self.buttons[verb.key].clicked.connect(partial(self._act, verb.key))
        row = in_row(self.stepper, STRETCH, spacing=6)
        for key in (*_ICONS, "start", "forget"):
            row.addWidget(self.buttons[key])
        column = in_column(self._cpu, self._memory, owner=side, margins=(10, 9, 10, 9), spacing=2)
        column.addSpacing(6)
        column.addLayout(row)
        column.addStretch(1)
        return side

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose it, and show its browsers beside it."""
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.now.name)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Choose it and ask for its menu, by mouse at its place, by key below what has the focus in it."""
        self.chosen.emit(self.now.name)
        at, focus = event.globalPos(), self.focusWidget()
        if event.reason() == QContextMenuEvent.Reason.Keyboard and focus is not None:
            at = focus.mapToGlobal(focus.rect().bottomLeft())
        self.menu_wanted.emit(self.now.name, at)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say the verbs in words where there is room for them."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        other = "drain" if self.info.state == "draining" else "resume"
        verbs = [button for key, button in self._icons.items() if key != other]
        wide = 20 + self.stepper.sizeHint().width() + sum(verb.worded_width() + 6 for verb in verbs) + 6
        worded = self.width() - self._left.width() - max(RIGHT, wide) >= MIDDLE
        for verb in self._icons.values():
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
        if order and (_obeyed(info, order) or instant.now_ms() - asked_at > ASKED_MS):
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

    def rights_changed(self) -> None:
        """Show what may be done now."""
        self._say()

    def note_asked(self, order: str) -> None:
        """Remember an order until a heartbeat shows it was obeyed."""
        self._asked = (order, instant.now_ms())
        self._say()

    def refused(self) -> None:
        """An order could not be given: show what is true again."""
        self._asked = ("", 0)
        self._say()

    def _say(self) -> None:
        one, info, now = self.now, self.info, self._now_ms
        self._left.setFixedWidth(round(LEFT * theme().growth))
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
        self.badge.setToolTip(_("It runs in this program. Closing Fleetdeck asks what becomes of its tasks."))
        self.grid.show_worker(one, self._names, now)
        self.facts.show_lines(nodes.facts(one, now))
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
        cpu = text.percent(info.cpu / 100) if info.cpu >= 0 else "–"
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
        of = self.about()
        # each is shown or hidden once: what is shown for a moment is laid out, and takes the room of the others
        held = next((key for key, button in self.buttons.items() if button.hasFocus()), "")
        self.stepper.setVisible(not of.away)
        offers = self._verbs.offers(Place.PANEL, of)
        for one in offers:
            self.buttons[one.verb.key].setVisible(one.shown)
            self.buttons[one.verb.key].disable(one.reason)
        shown = {one.verb.key for one in offers if one.shown}
        if held and held not in shown:  # Qt would go on to the next one, which stops the worker
            twin = TWINS.get(held, "")
            (self.buttons[twin] if twin in shown else self.grid).setFocus(Qt.FocusReason.OtherFocusReason)
        self.buttons["start"].set_kind("primary" if self._leads else "plain")
        if of.away:
            return
        if not self._settle.isActive() and not self._asked[0].startswith("slots="):
            self.stepper.set_value(len(of.info.slots))
        self.stepper.setEnabled(self.buttons["stop"].isEnabled())

    def about(self) -> OfWorker:
        """The worker as verbs take it."""
        return OfWorker(
            now=self.now,
            names=self._names,
            now_ms=self._now_ms,
            here=self._here,
            can_start=self._can_start,
            asked=self._asked[0],
        )

    def _act(self, key: str, _checked: bool = False) -> None:
        self._verbs.act(key, self.about())

    def _on_step(self) -> None:
        self._settle.start()

    def _order_slots(self) -> None:
        if self.stepper.value() != len(self.info.slots):
            self.ordered.emit(self.info.worker, f"slots={self.stepper.value()}")

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
        number = value.partition(",")[0]
        return ngettext("asked for {n} slot", "asked for {n} slots", int(number)).format(n=number)
    if verb == "refuse":
        return _("asked to refuse types") if value else _("asked to take all types")
    return {"drain": _("asked to drain"), "resume": _("asked to resume"), "stop": _("asked to stop")}[verb]


Line = tuple[str, str, str]  #: words, tone, filter of the tasks behind it ("" for none)

_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


class _Door(Button):
    """A link whose words go on in a second line where they have no room in one."""

    def __init__(self, words: str) -> None:
        super().__init__(kind="link")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_count_text(words)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, BUTTON_SMALL)

    def heightForWidth(self, width: int) -> int:
        """Return the room for all lines."""
        return max(BUTTON_SMALL, self._room(width).height() + 3)

    def _room(self, width: int) -> QRect:
        return QFontMetrics(theme().font("body")).boundingRect(QRect(0, 0, width, 1000), _WRAP, self.text())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the words from the left."""
        painter = QPainter(self)
        painter.setFont(theme().font("body"))
        painter.setPen(theme().color("accent" if self.isEnabled() else "dis"))
        painter.drawText(self.rect(), _WRAP, self.text())
        if self.hasFocus():
            draw_focus(painter, self.rect())


class FactList(QWidget):
    """Takes no room where there are none.

    Signals:
    tasks_wanted: filter of the tasks behind a line.
    """

    tasks_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Line, ...] = ()
        self._column = in_column(owner=self, margins=(0, 0, 0, 5), spacing=2)
        self.hide()

    def lines(self) -> tuple[str, ...]:
        """The words that are shown."""
        return tuple(words for words, _tone, _door in self._shown)

    def door(self, number: int) -> Button | None:
        """The link of a line, None where nothing lies behind it."""
        found = self._column.itemAt(number)
        widget = found.widget() if found is not None else None
        return widget if isinstance(widget, Button) else None

    def doors(self) -> list[Button]:
        """The links of all lines that have one."""
        return [door for number in range(len(self._shown)) if (door := self.door(number)) is not None]

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these; the words of a line change in place while it leads to the same tasks."""
        fresh = tuple(lines)
        if fresh == self._shown:
            return
        same = [door for *_, door in fresh] == [door for *_, door in self._shown]
        self._shown = fresh
        if same:
            for number, (words, _tone, _door) in enumerate(fresh):
                self._say(number, words)
        else:
            self._build()
        self.setVisible(bool(fresh))

    def _build(self) -> None:
        clear(self._column)
        for words, tone, door in self._shown:
            if door:
                link = _Door(words)
                link.clicked.connect(partial(self.tasks_wanted.emit, door))
                self._column.addWidget(link)
            else:
                self._column.addWidget(Label(words, "label", tone, wrap=True))

    def _say(self, number: int, words: str) -> None:
        found = self._column.itemAt(number)
        widget = found.widget() if found is not None else None
        if isinstance(widget, Button):
            widget.set_count_text(words)
        elif isinstance(widget, Label):
            widget.setText(words)


_NAME, _HEIGHT, _BAR = 34, 17, 4
_WIDE_VALUE = text.join("888", "MB")
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class LoadBar(QWidget):
    """`share` is 0 to 1, or None where nobody knows."""

    def __init__(self) -> None:
        super().__init__()
        self._name, self._value = "", ""
        self._share: float | None = None
        self._high = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.updateGeometry)
        theme().changed.connect(self.update)

    def show_load(self, name: str, value: str, share: float | None, *, high: bool = False, tip: str = "") -> None:
        """Show a load; the texts are already translated."""
        self._name, self._value, self._share, self._high = name, value, share, high
        self.setAccessibleName(f"{name} {value}")
        self.setToolTip(tip)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(150, max(_HEIGHT, QFontMetrics(theme().font("caption")).height()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw name, bar and value."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme().font("caption")
        painter.setFont(font)
        painter.setPen(theme().color("text3"))
        metrics = QFontMetrics(font)
        painter.drawText(QRectF(0, 0, _NAME, self.height()), _LEFT, self._name)
        # large letters as well leave bars below each other that begin and end at the same places
        left = max(_NAME, *(metrics.horizontalAdvance(one) + 6 for one in (_("CPU"), _("Mem"))))
        room = max(44, *(metrics.horizontalAdvance(one) + 2 for one in (self._value, _WIDE_VALUE)))
        painter.setPen(theme().color("retrying" if self._high else "text2"))
        painter.drawText(QRectF(self.width() - room, 0, room, self.height()), _RIGHT, self._value)
        bar = QRectF(left, (self.height() - _BAR) / 2, self.width() - left - room - 6, _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("line2"))
        painter.drawRoundedRect(bar, 2, 2)
        if self._share:
            painter.setBrush(theme().color("retrying" if self._high else "text3"))
            bar.setWidth(bar.width() * min(1.0, max(0.0, self._share)))
            painter.drawRoundedRect(bar, 2, 2)
