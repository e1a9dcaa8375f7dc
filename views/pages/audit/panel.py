"""The panel of one entry of the audit: all that the trail keeps of an act."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services import act_words
from services.commands.back.ways import Way
from services.domain import audit
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_, _
from views.pages.audit import words
from views.pages.audit.table import AuditLine, glyph, of_when, said_state
from views.support import safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground
from views.support.operation import Operation
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import Button, IconButton, LinkLabel, focus_first
from views.widgets.document_section import AT_ONCE, MOST_LINES, SHOWN, DocumentSection, in_lines
from views.widgets.elided import Elided
from views.widgets.json.diff import DiffText, lines_between
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, clear, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.segmented import Segmented
from views.widgets.status_pill import StatusPill
from views.widgets.strip import Strip

#: targets shown one by one; the trail keeps 200
MOST_TARGETS = 200
#: tasks that the list of them opens with
MOST_OPENED = 50
#: acts whose first object is what held the tasks; those called like acts on tasks whose objects are others
_OF_QUEUE = ("batch.cancel", "batch.raise", "batch.retry", "queue.purge")
_OF_OTHERS = ("task.create", "dead.abort_run")


#: of the link at the end of a result above and below its words: the others stand on its line; no line is so wide
EDGE, WIDE = 2, 10_000


DIFF, BEFORE, AFTER = "diff", "before", "after"
_MODES = ((DIFF, N_("Diff")), (BEFORE, N_("Before it")), (AFTER, N_("After it")))


class ChangeSection(Section):
    """What an act changed: what stood there before and after, or what differs."""

    def __init__(self) -> None:
        super().__init__(N_("Before and after"))
        self.mode = Segmented(_MODES, N_("What is shown of the change"))
        self.mode.chosen.connect(lambda _mode: self._say())
        self.add_action(self.mode)
        self.text = DiffText(N_("Before and after"))
        self.none = Label("", "label", "text3", wrap=True)  #: said where there is nothing to show
        self.body.addWidget(self.none)
        self.body.addWidget(self.text)
        self._texts: dict[str, str] = {}
        self._reading = Operation(self, latest=True)
        on_language_changed(self._say)

    def show_change(self, entry: audit.AuditEntry) -> None:
        """Show it, secrets as dots; hidden where the entry does not keep it. A long one stands there in a moment."""
        self._reading.drop()
        if len(entry.detail) <= AT_ONCE:
            self._show(_change(entry))
        else:
            self._show({})
            self._reading.start(partial(_change, entry), self._show)

    def _show(self, texts: dict[str, str] | None) -> None:
        self.setVisible(texts is not None)
        self._texts = texts or {}
        self._say()

    def _say(self) -> None:
        mode = self.mode.current()
        said = self._texts.get(mode, "")
        missing = {DIFF: _("Nothing differs."), BEFORE: _("Nothing stood there."), AFTER: _("Nothing is left there.")}
        self.none.setText(missing[mode] if self._texts else _("Loading…"))
        self.none.setVisible(not said)
        self.text.setVisible(bool(said))
        self.text.show_lines(said)
        lines = min(MOST_LINES, self.text.blockCount())
        self.text.setFixedHeight(lines * self.text.fontMetrics().lineSpacing() + 20)


def _change(entry: audit.AuditEntry) -> dict[str, str] | None:
    """The texts by what is shown, masked by the names of their keys and cut to what a panel shows; None where the entry
    does not keep them.
    """
    found = audit.before_after(entry)
    if found is None:
        return None
    before, after = (json.dumps(one, ensure_ascii=False) if one is not None else "" for one in found)
    old, new = (in_lines(one)[:SHOWN] if one else "" for one in (before, after))
    return {DIFF: lines_between(old, new), BEFORE: old, AFTER: new}


class ResultRows(QWidget):
    """How the objects of an act ended, one line for all that ended alike, each a door to those.

    Signals:
        wanted: objects that shall be shown.
    """

    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._rows = in_column(owner=self, spacing=6)
        self._shown: tuple[words.Result, ...] = ()
        self.doors: list[LinkLabel] = []

    def show_results(self, found: tuple[words.Result, ...], *, doors: bool) -> None:
        """Show these; ``doors``: what they name can be shown."""
        self._shown, self.doors = found, []
        clear(self._rows)
        for one in found:
            self._rows.addWidget(self._row(one, door=doors and bool(one.objects)))

    def said(self) -> list[str]:
        """What stands there."""
        return [f"{text.count(one.number)} {one.said}" for one in self._shown]

    def _row(self, one: words.Result, *, door: bool) -> QWidget:
        made = QWidget()
        row = in_row(owner=made, spacing=10)
        glyph, number = QLabel(), Label(text.count(one.number), "strong", tabular=True)
        said = Label(one.said, "body", wrap=True)
        glyph.setPixmap(theme().status_pixmap(status(one.status), 14))
        # words of another script than the font's own stand so much lower in their label
        lower = said.heightForWidth(WIDE) - said.fontMetrics().height()
        top = max(EDGE, lower)
        said.setContentsMargins(0, top - lower, 0, EDGE)
        number.setContentsMargins(0, top, 0, EDGE)
        glyph.setContentsMargins(0, top + 1, 0, 0)
        row.addWidget(glyph, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(number, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(said, 1, Qt.AlignmentFlag.AlignTop)
        if door:
            link = LinkLabel(N_("Show"))
            link.setAccessibleDescription(f"{text.count(one.number)} {one.said}")
            link.activated.connect(partial(self.wanted.emit, one.objects))
            self.doors.append(link)
            # what can be hit is higher than a line, its words stand in the middle
            above = top - EDGE - (link.sizeHint().height() - said.fontMetrics().height()) // 2
            row.addLayout(in_column(link, STRETCH, margins=(0, max(0, above), 0, 0)))
        return made


class AuditPanel(QWidget):
    """Shows one entry.

    Signals:
        closed: the person wants the panel away.
        filter_wanted: only acts on that object.
        tasks_wanted: the tasks that it acted on, as a filter of them.
        back_wanted: the act shall be taken back.
    """

    closed = Signal()
    filter_wanted = Signal(str)
    tasks_wanted = Signal(str)
    back_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._row: AuditLine | None = None
        paint_ground(self, "surface")
        self._act, self._pill = Label("", "panel"), StatusPill(framed=True)
        self._close = IconButton("ph.x", N_("Close panel"))
        self._close.clicked.connect(self.closed)
        self._name = Elided("", "monosmall", "text3", middle=True)
        self._copy = IconButton("ph.copy", N_("Copy the entry's id"))
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.key))
        self.same_button = Button(N_("Acts on the same object"), icon="ph.funnel", small=True)
        self.same_button.clicked.connect(self._on_same)
        self.back_button = Button(N_("Take back…"), icon="ph.arrow-counter-clockwise", small=True)
        self.back_button.clicked.connect(self.back_wanted)
        self.back_note = Label("", "label", "text3", wrap=True)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        self.faults = Strip("dead")
        self.facts = KeyValues()
        self._why, self.why = Section(N_("Reason given"), foldable=False), Label("", "body", "text2", wrap=True)
        self.why.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._why.body.addWidget(self.why)
        self._result, self.results = Section(N_("Result"), foldable=False), ResultRows()
        self.results.wanted.connect(self._open_tasks)
        self._result.body.addWidget(self.results)
        yield
        self._targets = Section(N_("Objects"))
        self.targets = Label("", "monosmall", "text", wrap=True)
        self.targets.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._targets.body.addWidget(self.targets)
        self.tasks_button = Button(N_("Open tasks"), kind="link")
        self.tasks_button.clicked.connect(self._on_tasks)
        self._targets.add_action(self.tasks_button)
        yield
        self.change = ChangeSection()
        yield
        self._details = DocumentSection(N_("Details"))
        self.details = self._details.editor
        yield
        self._seal = Section(N_("Seals"))
        self.seals = KeyValues(mono=True)
        self._seal.body.addWidget(self.seals)
        self._seal.set_folded(True)
        yield
        yield from self._put_together()
        on_language_changed(self._say)

    @property
    def key(self) -> str:
        """The entry shown, "" for none."""
        return self._row.key if self._row is not None else ""

    def show_row(self, row: AuditLine | None) -> None:
        """Show an entry; None keeps what stands there."""
        if row is not None and row != self._row:
            self._row = row
            self._say()

    def show_back(self, reason: str) -> None:
        """Offer to take it back, or say why that is not possible."""
        self.back_button.disable(reason)
        back = self._row.back if self._row is not None else None
        way = act_words.act(back.by) if isinstance(back, Way) else ""
        said = [reason or _("Taken back by: {act}").format(act=way)]
        if not reason and isinstance(back, Way) and back.number < back.asked:
            said.append(words.of_asked(back))
        self.back_note.setText(text.sentences(said))

    def focus_first(self) -> None:
        """Bring the keyboard to the first thing that can be done here."""
        focus_first(self, (self.back_button, self.same_button), self._close)

    def _put_together(self) -> Iterator[None]:
        column = in_column(owner=self, spacing=0)
        head = QVBoxLayout()
        column.addLayout(head)
        head.setContentsMargins(16, 10, 12, 10)
        head.setSpacing(8)
        for parts, stretched in (
            ((self._act, self._pill, None, self._close), None),
            ((self._name, self._copy), self._name),
        ):
            row = QHBoxLayout()
            for part in parts:
                if part is None:
                    row.addStretch(1)
                else:
                    row.addWidget(part, 1 if part is stretched else 0)
            head.addLayout(row)
        put(head, in_row(self.back_button, self.same_button, STRETCH, spacing=8), self.back_note, self.faults)
        self.faults.hide()
        yield
        area = ScrollPane(name=N_("Details"))
        area.body.setContentsMargins(0, 0, 0, 8)
        column.addWidget(area, 1)
        story = Section(N_("What happened"), foldable=False)
        story.body.addWidget(self.facts)
        for section in (story, self._why, self._result, self.change, self._targets, self._details, self._seal):
            yield
            area.body.addWidget(section)
        area.body.addStretch(1)

    def _on_same(self) -> None:
        if self._row is not None and self._row.entry.target:
            self.filter_wanted.emit(self._row.entry.target[0])

    def _on_tasks(self) -> None:
        entry = self._row.entry if self._row is not None else None
        if entry is not None and _is_whole(entry):
            self.tasks_wanted.emit(filter.format_terms((equals("batch", entry.target[0]),)))
        elif entry is not None:
            self._open_tasks(_tasks(entry))

    def _open_tasks(self, ids: tuple[str, ...]) -> None:
        self.tasks_wanted.emit(filter.format_terms((equals("id", *ids[:MOST_OPENED]),)))

    def _say(self) -> None:
        row = self._row
        if row is None:
            return
        entry = row.entry
        self._act.setText(act_words.act(entry.action))
        self._act.setToolTip(safe.tooltip(entry.action))
        self._pill.set_status(glyph(row), said_state(row))
        self._name.show_text(entry.entry_id)
        self.same_button.disable("" if entry.target else _("It names no object"))
        self.faults.setVisible(bool(row.faults))
        if row.faults:
            self.faults.show_text(text.sentences(row.faults), _("Not as it was written"))
        self.facts.set_rows(_facts(row))
        self._why.setVisible(bool(row.reason))
        self.why.setText(row.reason)
        results = words.results(entry)
        self._result.setVisible(bool(results))
        self.results.show_results(results, doors=bool(_tasks(entry)))
        self._targets.setVisible(bool(entry.target))
        self.tasks_button.setVisible(bool(_tasks(entry)))
        some = len(_tasks(entry)) > MOST_OPENED and not _is_whole(entry)
        first = _("Open the first {n} tasks").format(n=text.count(MOST_OPENED))
        self.tasks_button.set_count_text(first if some else _("Open tasks"))
        self._targets.set_note(text.count(row.number))
        self.targets.setText("\n".join(safe.one_line(one, 200) for one in row.looked_up[:MOST_TARGETS]))
        self.change.show_change(entry)
        details = audit.detail_of(entry)
        self._details.setVisible(details not in ("", "{}"))
        self._details.show_json(details)
        self.seals.set_rows(_seals(row))


def _tasks(entry: audit.AuditEntry) -> tuple[str, ...]:
    """The tasks among its objects."""
    if entry.action in _OF_QUEUE:
        return entry.target[1:]
    of_tasks = entry.action.startswith(("task.", "dead.")) and entry.action not in _OF_OTHERS
    return entry.target if of_tasks else ()


def _is_whole(entry: audit.AuditEntry) -> bool:
    """Whether its tasks are so many of a batch that they are found by that."""
    return entry.action.startswith("batch.") and len(_tasks(entry)) > MOST_OPENED


def _facts(row: AuditLine) -> list[tuple[str, str]]:
    entry = row.entry
    when = text.full_time(shown.moment(entry.at), shown.zone())
    facts = [(_("Person"), entry.who)]
    if row.origin:
        place = (words.origin(row.origin), words.machine(entry.who, row.origin))
        facts.append((_("From"), text.listed([part for part in place if part])))
    facts.append((_("Time"), when))
    if entry.closed_at:
        took = timedelta(milliseconds=max(0, entry.closed_at - entry.at))
        facts.append((_("Took"), text.milliseconds(took) if took < timedelta(seconds=10) else text.duration(took)))
    facts.append((_("Outcome"), words.state(row.state)))
    if row.undoes:
        was = act_words.act(audit.undone_act(entry))
        facts.append((_("Takes back"), text.listed([one for one in (was, of_when(row)) if one])))
    if not words.results(entry) and (why := words.why(row.outcome)):
        facts.append((_("Why"), why))
    if row.state == "unknown":
        facts.append((_("Why"), _("Its program ended, or lost the connection, before it wrote how the act ended.")))
    return facts


def _seals(row: AuditLine) -> list[tuple[str, str]]:
    """What ties it to the entries before it."""
    entry = row.entry
    if entry.link is None:
        return [(_("Seal"), _("none: a program before the chain wrote it"))]
    seals = [(_("Seal"), entry.link.digest), (_("Number"), str(entry.link.number))]
    seals += [(_("Seal of the outcome"), entry.end.digest)] if entry.end is not None else []
    return [*seals, (_("Names"), "\n".join(entry.link.seen) or "–")]
