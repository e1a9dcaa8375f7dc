"""The panel of one line of a log: all that its program wrote with it."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from services.domain.text.mask import masked_text
from services.i18n import N_, _
from services.monitor.log_files import Logged
from views.pages.logs import table
from views.support import safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground
from views.widgets.buttons import Button, IconButton, focus_first
from views.widgets.document_section import DocumentSection
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.status_pill import StatusPill

#: what is shown of a text; Copy takes all of it
MOST_TEXT = 20_000


class LogPanel(QWidget):
    """Shows one line.

    Signals:
        closed: the person wants the panel away.
        filter_wanted: only lines about that: a field and its value.
        task_wanted: the task it is about.
    """

    closed = Signal()
    filter_wanted = Signal(str, str)
    task_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._row: Logged | None = None
        paint_ground(self, "surface")
        self._pill = StatusPill(framed=True)
        self._close = IconButton("ph.x", N_("Close panel"))
        self._close.clicked.connect(self.closed)
        self.copy_button = Button(N_("Copy"), icon="ph.copy", small=True)
        self.task_button = Button(N_("Open the task"), icon="ph.list-bullets", small=True)
        self.task_button.clicked.connect(lambda: self.task_wanted.emit(self._about("task")))
        self.same_button = Button(N_("Lines about the same"), icon="ph.funnel", small=True)
        self.same_button.clicked.connect(self._on_same)
        self.words = Label("", "mono", "text", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts = KeyValues()
        self._trace = Section(N_("Traceback"))
        self.trace = Label("", "monosmall", "text", wrap=True)
        self.trace.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._trace.body.addWidget(self.trace)
        self._whole = DocumentSection(N_("The line as written"))
        self._whole.copied_by(self.copy_button)
        self._build()
        on_language_changed(self._say)

    @property
    def key(self) -> str:
        """The line shown, "" for none."""
        return self._row.key if self._row is not None else ""

    def document(self) -> str:
        """The line as its program wrote it, secrets as dots."""
        return self._whole.document

    def show_row(self, row: Logged | None) -> None:
        """Show a line; None keeps what stands there."""
        if row is not None and row != self._row:
            self._row = row
            self._say()

    def focus_first(self) -> None:
        """Bring the keyboard to the first thing that can be done here."""
        focus_first(self, (self.copy_button, self.same_button, self.task_button), self._close)

    def _build(self) -> None:
        top, acts = QHBoxLayout(), FlowRow(across=8, down=6)
        put(top, self._pill, STRETCH, self._close)
        for button in (self.copy_button, self.same_button, self.task_button):
            acts.addWidget(button)
        head = in_column(top, self.words, acts, margins=(16, 10, 12, 10), spacing=8)
        area = ScrollPane(name=N_("Details"))
        area.body.setContentsMargins(0, 0, 0, 8)
        story = Section(N_("What it is about"), foldable=False)
        story.body.addWidget(self.facts)
        for section in (story, self._trace, self._whole):
            area.body.addWidget(section)
        area.body.addStretch(1)
        in_column(head, (area, 1), owner=self, spacing=0)

    def _about(self, name: str) -> str:
        return self._row.about(name) if self._row is not None else ""

    def _on_same(self) -> None:
        """By the narrowest that it is about."""
        for name in ("request", "task", "worker"):
            if value := self._about(name):
                self.filter_wanted.emit(name, value)
                return

    def _say(self) -> None:
        row = self._row
        if row is None:
            return
        self._pill.set_status(table.glyph(row), table.level(row))
        self.words.setText(safe.visible(masked_text(row.text[:MOST_TEXT])))
        trace = masked_text(row.about("trace")[-2 * MOST_TEXT :])
        self._trace.setVisible(bool(trace))
        self.trace.setText(safe.visible(trace[-MOST_TEXT:], keep_newlines=True) if trace else "")
        self.task_button.setVisible(bool(row.about("task")))
        named = any(row.about(name) for name in ("request", "task", "worker"))
        self.same_button.disable("" if named else _("It names no task, worker or request"))
        self.facts.set_rows(_facts(row))
        self._whole.show_json(json.dumps(dict(row.data), ensure_ascii=False, default=str))


def _facts(row: Logged) -> list[tuple[str, str]]:
    told = {
        _("Time"): text.full_time(shown.moment(row.at_ms), shown.zone()),
        _("Program"): row.program,
        _("Part"): row.about("logger"),
        _("Task"): row.about("task"),
        _("Attempt"): row.about("attempt"),
        _("Worker"): row.about("worker"),
        _("Request"): row.about("request"),
    }
    return [(name, value) for name, value in told.items() if value]
