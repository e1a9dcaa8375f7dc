"""The card of what could not be read and was set aside: where it lay, when, by whose repair and why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from services.clock import SystemClock
from services.i18n import N_, _, ngettext
from services.messages import own, told
from services.monitor import aside
from services.monitor.aside import AsideView
from services.monitor.trail import AuditQueries
from views.context import PageContext
from views.support import safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec, failure

SHOWN, VALUE_CHARS = 12, 120


class AsideCard(Card):
    """Nothing is to be seen of it while there is nothing."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Set aside"), divided=True)
        self._context = context
        self._asking, self._writing = Operation(self), Operation(self, lasting=True)
        self._found: Sequence[AsideView] = ()
        self._values: Sequence[str] = ()  #: of the first
        self.rows: list[AsideRow] = []
        self.note = Label("", "label", "text3", wrap=True)
        self.error = ErrorStrip()
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self.export_button = Button(N_("Export"), icon="ph.export")
        self.body.addWidget(self.error)
        self.body.addWidget(self.note)
        self.body.addLayout(self._list)
        self.body.addWidget(self.export_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.export_button.clicked.connect(self._on_export)
        self.error.retry.connect(self.refresh)
        on_language_changed(self.show_state)
        self.hide()

    def refresh(self) -> None:
        """Ask what there is now."""
        self.error.clear()
        self._asking.start(partial(_ask, self._context.audit), self._on_found, self._on_failed)

    def show_state(self) -> None:
        """Show what was heard last."""
        while (item := self._list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        number = len(self._found)
        self.rows = [AsideRow(*both) for both in zip(self._found, self._values, strict=False)]
        for row in self.rows:
            self._list.addWidget(row)
        words = ngettext(
            "{n} entry could not be read and was set aside; nothing of it is lost.",
            "{n} entries could not be read and were set aside; nothing of them is lost.",
            number,
        ).format(n=text.count(number))
        left = number - len(self.rows)
        more = ngettext("{n} more is in the file.", "{n} more are in the file.", left).format(n=text.count(left))
        self.note.setText(f"{words} {more}" if left else words)

    def write(self, path: Path) -> None:
        """Write all of it, with secrets as dots, into a new file."""
        self._writing.start(
            partial(_write, self._context.audit, path), partial(self._on_written, path), self._on_not_written
        )

    def _on_export(self) -> None:
        dialog = QFileDialog(self, _("Export what was set aside"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setNameFilters(["JSON (*.jsonl)"])
        dialog.selectFile("aside.jsonl")
        dialog.setDefaultSuffix("jsonl")
        dialog.fileSelected.connect(self._on_path)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_path(self, path: str) -> None:
        self.write(Path(path))

    def _on_found(self, asked: tuple[Sequence[AsideView], Sequence[str]]) -> None:
        found, self._values = asked
        self._found = found
        self.show_state()
        self.setVisible(bool(found))

    def _on_failed(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    def _on_written(self, path: Path, number: int) -> None:
        words = ngettext("{n} entry exported to {file}", "{n} entries exported to {file}", number)
        said = words.format(n=text.count(number), file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=said, status="healthy"))

    def _on_not_written(self, error: BaseException) -> None:
        self._context.toast(failure(error))


class AsideRow(QWidget):
    """One entry: where it lay, then when, by whom and why, then its value."""

    def __init__(self, one: AsideView, value: str) -> None:
        super().__init__()
        entry = one.entry
        place = " · ".join(part for part in (entry.place, entry.entry) if part)
        when = shown.clock(entry.at, SystemClock().now_ms()) if entry.at else ""
        facts = " · ".join(part for part in (when, own(one.by), own(entry.why)) if part)
        self.place = Elided(safe.one_line(place, 200), "strong")
        self.facts = Elided(safe.one_line(facts, 300), "label", "text3")
        self.value = Elided(value, "monosmall", "text3")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        for widget in (self.place, self.facts, self.value):
            column.addWidget(widget)


def _ask(queries: AuditQueries) -> tuple[Sequence[AsideView], Sequence[str]]:
    """What there is, and the values of the first; masking them takes as long as they are."""
    found = queries.aside()
    return found, [safe.one_line(aside.value(one), VALUE_CHARS) for one in found[:SHOWN]]


def _write(queries: AuditQueries, path: Path) -> int:
    found = queries.aside()
    aside.write(path, [aside.document(one) for one in found])
    return len(found)
