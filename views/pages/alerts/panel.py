"""The panel of one incident: what is wrong and how far, what a person does now, what happened, who was told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.domain.alerts.incident import Incident
from services.i18n import N_, _, ngettext
from services.monitor.alerts.queries import IncidentNow, OnPlatform
from services.monitor.promises import Ahead
from views.context import PageContext
from views.kit.beside import BesideSection
from views.kit.verb import Place, Verbs, button_of, show
from views.pages.alerts import words
from views.pages.alerts.verbs import Chosen, IncidentVerb
from views.support import instant, safe, text
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground
from views.support.operation import Operation
from views.support.paint import draw_box, width_of, write
from views.support.words import shop as shop_words
from views.theme import theme
from views.theme.tokens import platform_badge, status
from views.widgets.buttons import Button, IconButton, LinkLabel, focus_first
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.status_pill import StatusPill
from views.widgets.strip import Strip
from views.widgets.timeline import Timeline

NAMES = 20
#: platforms that have a row, px of a row and of a cell with what parts it from the next
PLATFORMS, ROW, CELL = 6, 22, 16
JUDGED_MS = 15_000  #: so often promises are judged


class AlertPanel(QWidget):
    """Shows one incident.

    Signals:
        closed: the person wants the panel away.
        rule_wanted: its rule shall be shown, by name.
        task_wanted: a task shall be shown, by its id.
        promise_wanted: a promise shall be shown, by its name.
    """

    closed = Signal()
    rule_wanted = Signal(str)
    task_wanted = Signal(str)
    promise_wanted = Signal(str)

    def __init__(self, verbs: Verbs[IncidentVerb, Chosen], context: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verbs = verbs
        self.evidence = BesideSection(
            context.letters.first,
            context.artifacts,
            N_("Evidence"),
            (N_("First bad"), N_("Last good")),
            shops=True,
        )
        self.evidence.task_wanted.connect(self.task_wanted)
        self._shown: IncidentNow | None = None
        paint_ground(self, "surface")
        self.title, self.pill = Label("", "panel", wrap=True), StatusPill(framed=True)
        self._close = IconButton("ph.x", N_("Close panel"))
        self._close.clicked.connect(self.closed)
        self.id_label = Label("", "monosmall", "text3")
        self._copy = IconButton("ph.copy", N_("Copy the incident's id"))
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.key))
        self.rule_link = LinkLabel()
        self.rule_link.activated.connect(self._on_rule)
        self.buttons = {verb.key: button_of(verb, self._act, small=True) for verb in verbs.at(Place.PANEL)}
        self.next, self.ahead = Strip("warning"), Strip("warning", stacked=True)
        self.promise_button = Button(N_("Open promise"), small=True)
        self.promise_button.clicked.connect(self._on_promise)
        self.ahead.add_action(self.promise_button)
        self._ahead_of: Callable[[Collection[str], Collection[str]], Ahead | None] = context.promises.ahead
        self._found: Ahead | None = None
        self._asking, self._asked = Operation(self, latest=True), ("", 0)
        self.facts = KeyValues()
        self.names = Label("", "body", "text2", wrap=True)
        self.platforms = PlatformRows()
        self.timeline = Timeline()
        self.messages = KeyValues()
        self.sent = Label("", "label", "text2", wrap=True)
        self.sent.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    @property
    def key(self) -> str:
        """The incident shown, "" for none."""
        return self._shown.incident.id or self._shown.incident.key if self._shown is not None else ""

    @property
    def shown(self) -> IncidentNow | None:
        """The incident shown."""
        return self._shown

    def show_incident(self, one: IncidentNow | None) -> None:
        """Show an incident; None keeps what stands there."""
        if one is not None:
            self._shown = one
        self._say()

    def say_verbs(self) -> None:
        """Say again what can be done."""
        if self._shown is not None:
            for offer in self._verbs.offers(Place.PANEL, self._shown):
                show(self.buttons[offer.verb.key], offer)

    def focus_first(self) -> None:
        """Bring the keyboard to the first thing that can be done here."""
        focus_first(self, self.buttons.values(), self._close)

    def showEvent(self, event: QShowEvent) -> None:
        """Look for what failed first, and follow."""
        super().showEvent(event)
        self.evidence.set_active(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Look for nothing that nobody sees."""
        super().hideEvent(event)
        self.evidence.set_active(False)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        column = in_column(owner=self, spacing=0)
        head = QVBoxLayout()
        column.addLayout(head)
        head.setContentsMargins(16, 10, 12, 10)
        head.setSpacing(8)
        head.addLayout(in_row(self.pill, self.id_label, self._copy, STRETCH, self._close))
        head.addWidget(self.title)
        yield
        pane = ScrollPane(name=N_("Details"))
        column.addWidget(pane, 1)
        doing = QWidget()
        pane.body.addWidget(doing)
        rows = in_column(owner=doing, margins=(16, 0, 12, 12), spacing=10)
        row = FlowRow(across=8, down=6)
        for button in self.buttons.values():
            row.addWidget(button)
        put(rows, (self.rule_link, 0, Qt.AlignmentFlag.AlignLeft), row, self.next, self.ahead)
        yield
        self._extent = Section(N_("Extent"), foldable=False)
        self._extent.body.addWidget(self.platforms)
        self._extent.body.addWidget(self.names)
        self._extent.body.addWidget(self.facts)
        self._story = Section(N_("Timeline"))
        self._story.body.addWidget(self.timeline)
        self._told = Section(N_("Who was told"))
        self._told.body.addWidget(self.messages)
        self._message = Section(N_("Message"))
        self._message.body.addWidget(self.sent)
        for section in (self._extent, self._story, self.evidence, self._told, self._message):
            yield
            pane.body.addWidget(section)
        pane.body.addStretch(1)
        on_language_changed(self._say)

    def _ask_ahead(self, incident: Incident) -> None:
        """What breaks if nobody acts, asked anew as often as promises are judged."""
        now = instant.now_ms()
        key, at = self._asked
        other = key != self.key
        none = bool(incident.resolved_at) or incident.key.startswith("promise:")  # of itself it says so in its title
        if other or none:
            self._show_ahead(None)
        if none:
            self._asked = self.key, 0
            self._asking.drop()
            return
        if not other and now - at < JUDGED_MS:
            return
        self._asked = self.key, now
        call = partial(self._ahead_of, incident.shops, incident.names)
        self._asking.start(call, self._show_ahead, lambda _error: self._show_ahead(None))

    def _show_ahead(self, found: Ahead | None) -> None:
        self._found = found
        self._say_ahead()

    def _say_ahead(self) -> None:
        lead, said = words.ahead_of(self._found) if self._found is not None else ("", "")
        self.ahead.show_text(said, lead)

    def _on_promise(self) -> None:
        if self._found is not None:
            self.promise_wanted.emit(self._found.row.name)

    def _act(self, key: str) -> None:
        self._verbs.act(key, self._shown)

    def _on_rule(self) -> None:
        if self._shown is not None:
            self.rule_wanted.emit(self._shown.incident.rule.name)

    def _say(self) -> None:
        one = self._shown
        if one is None:
            return
        incident = one.incident
        self.title.setText(words.title(one))
        self.setAccessibleName(words.sentence(one))
        name, word = words.STATES[one.state]
        self.pill.set_status(name, _(word))
        self.id_label.setText(incident.id)
        self._copy.setVisible(bool(incident.id))
        self.rule_link.set_count_text(_("Rule: {name}").format(name=words.rule_name(incident.rule)))
        self.say_verbs()
        self.next.set_status(words.SEVERITIES[incident.rule.severity][0])
        step = "" if one.state == "resolved" else words.next_step(one)
        self.next.show_text(step, _("Next step") if step else "")
        self._ask_ahead(incident)
        self._say_ahead()
        self._extent.set_note(_("since {time}, {span}").format(time=words.since(one), span=words.lasted(one)))
        self.platforms.show_shops(one.platforms, words.SEVERITIES[incident.rule.severity][0])
        names = [safe.one_line(name, 60) for name in incident.names[:NAMES]]
        more = max(0, incident.count - len(names)) if names and not incident.of else 0
        said = text.listed(names)
        self.names.setText(_("{names} and {n} more").format(names=said, n=text.count(more)) if more else said)
        self.names.setVisible(bool(names))
        self.facts.set_rows(_rows(one))
        self.timeline.set_entries(words.story(one))
        self.evidence.show_letter(words.failing(one))
        rows = words.deliveries(one)
        self._told.setVisible(bool(rows))
        self.messages.set_rows(rows)
        message = words.message(one)
        self._message.setVisible(bool(message))
        self._message.set_note(*words.reached(one))
        self.sent.setText(message)


class PlatformRows(QWidget):
    """How far it reaches on each platform: a cell a shop where they can be told apart, else a bar, and both numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[OnPlatform, ...] = ()
        self._more, self._status = 0, ""
        theme().changed.connect(self._measure)

    def show_shops(self, rows: tuple[OnPlatform, ...], status_name: str) -> None:
        """Show these platforms, the first ones; ``status_name``: what the shops that have it are painted as."""
        self._rows, self._more, self._status = rows[:PLATFORMS], max(0, len(rows) - PLATFORMS), status_name
        self.setVisible(bool(rows))
        self.setAccessibleName(text.listed(map(_on_platform, self._rows), ";"))
        self.setToolTip("\n".join(map(_on_platform, rows)))
        self._measure()

    def _measure(self) -> None:
        self.setFixedHeight(ROW * len(self._rows) + (ROW if self._more else 0))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Badge, cells or bar, and numbers."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        said = [_numbers(one) for one in self._rows]
        figures = max((width_of(one, "label") for one in said), default=0) + 10
        left = max((width_of(platform_badge(one.platform), "badge") + 11 for one in self._rows), default=0) + 10
        room = self.width() - left - figures
        for number, (one, numbers) in enumerate(zip(self._rows, said, strict=True)):
            top = ROW * number
            badge = QRect(0, top + (ROW - 17) // 2, left - 10, 17)
            draw_box(painter, badge, 3, theme().color("line2"), theme().color("raised"))
            write(painter, badge, platform_badge(one.platform), "badge", "text2", at=0.5)
            if one.shops and one.of * CELL <= room:
                self._paint_cells(painter, left, top, one)
            else:
                self._paint_bar(painter, QRectF(left, top + ROW / 2 - 2, room, 4), one)
            place = QRect(self.width() - figures, top, figures, ROW)
            write(painter, place, numbers, "label", "text" if one.shops else "text3", at=1.0)
        if self._more:
            place = QRect(0, ROW * len(self._rows), self.width(), ROW)
            said_more = ngettext("{n} more platform", "{n} more platforms", self._more).format(n=self._more)
            write(painter, place, said_more, "label", "text3")

    def _paint_cells(self, painter: QPainter, left: int, top: int, one: OnPlatform) -> None:
        for place in range(one.of):
            rect = QRectF(left + place * CELL, top + (ROW - CELL + 2) / 2, CELL - 2, CELL - 2)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(status(self._status).role if place < one.shops else "okcell"))
            painter.drawRoundedRect(rect, 3, 3)

    def _paint_bar(self, painter: QPainter, rect: QRectF, one: OnPlatform) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("okcell"))
        painter.drawRoundedRect(rect, 2, 2)
        if one.shops:
            painter.setBrush(theme().color(status(self._status).role))
            rect.setWidth(max(4.0, rect.width() * one.shops / one.of))
            painter.drawRoundedRect(rect, 2, 2)


def _numbers(one: OnPlatform) -> str:
    return _("{n} of {all}").format(n=text.count(one.shops), all=text.count(one.of))


def _on_platform(one: OnPlatform) -> str:
    name = shop_words.platform_name(one.platform)
    return ngettext("{name}: {n} of {all} shop", "{name}: {n} of {all} shops", one.of).format(
        name=name, n=text.count(one.shops), all=text.count(one.of)
    )


def _rows(one: IncidentNow) -> list[tuple[str, str]]:
    incident = one.incident
    rows = []
    if incident.of:
        rows.append((_("Extent"), _("{n} of {all}").format(n=text.count(incident.count), all=text.count(incident.of))))
    if cause := words.cause(one):
        rows.append((_("Cause"), cause))
    if facts := words.facts(one):
        rows.append((_("Known"), text.listed(facts, ";")))
    if incident.worst > incident.count:
        rows.append((_("At worst"), text.count(incident.worst)))
    rows.append((_("Severity"), words.severity(incident.rule)))
    return rows
