"""What became of the tasks: created, duplicates with a way on for each, errors with their place."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.commands.tasks import Submitted, TaskSpec
from services.domain.task.ledger import Done
from services.i18n import N_, _, ngettext
from views.support import instant, safe, shown, text
from views.support.look import Label, line
from views.widgets.buttons import Button, LinkLabel
from views.widgets.elided import Elided
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip

ROWS = 100


class Created(QWidget):
    """The result in place of the form; what was left out can still be had.

    Signals:
        watch_wanted: id of the active task.
        queue_wanted: the ``TaskSpec`` shall run after the active one.
        force_wanted: the ``TaskSpec`` and the reason to run it beside the active one.
        back_wanted: return to the form.
    """

    watch_wanted = Signal(str)
    queue_wanted = Signal(object)
    force_wanted = Signal(object, str)
    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[tuple[str, int], _Duplicate] = {}
        self._summary = Strip("healthy")
        pane = ScrollPane()
        self._list = pane.body
        self._list.setContentsMargins(0, 0, 10, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        column.addWidget(self._summary)
        column.addWidget(pane, 1)

    def show_result(self, result: Submitted) -> None:
        """Show what was created and what was not."""
        self._clear()
        made, twins, wrong = len(result.created), len(result.duplicates), len(result.errors)
        before = len(result.done)
        words = [ngettext("{n} task created", "{n} tasks created", made).format(n=text.count(made))]
        if twins:
            words.append(ngettext("{n} is active already", "{n} are active already", twins).format(n=text.count(twins)))
        if before:
            words.append(ngettext("{n} was done already", "{n} were done already", before).format(n=text.count(before)))
        if wrong:
            words.append(ngettext("{n} was refused", "{n} were refused", wrong).format(n=text.count(wrong)))
        if result.unconfirmed:
            late = ngettext("{n} is not confirmed yet", "{n} are not confirmed yet", result.unconfirmed)
            words.append(late.format(n=text.count(result.unconfirmed)))
        self._summary.set_status("dead" if wrong else "warning" if twins or before else "healthy")
        self._summary.show_text(text.listed(words, ";"))
        for spec, field, sentence in result.errors[:ROWS]:
            self._list.addWidget(_Error(spec, field, sentence))
        for spec, task in result.duplicates[:ROWS]:
            standing = _("{shop}: {status} as {id}").format(
                shop=place_of(spec), status=shown.status_word(task.status).lower(), id=task.task_id
            )
            self._add(spec, standing, task.task_id)
        for spec, done in result.done[:ROWS]:
            self._add(spec, done_words(place_of(spec), done), done.task_id, active=False)
        self._list.addStretch(1)

    def settle(self, spec: TaskSpec, words: str) -> None:
        """Say what became of a duplicate that a person decided about."""
        row = self._rows.get((f"{spec.platform}:{spec.shop_id}", spec.line))
        if row is not None:
            row.settle(words)

    def duplicate(self, shop: str, row: int = 0) -> _Duplicate | None:
        """What is said of a shop; of a file, of one of its rows."""
        return self._rows.get((shop, row))

    def _add(self, spec: TaskSpec, words: str, existing: str, *, active: bool = True) -> None:
        row = _Duplicate(spec, words, active=active)
        row.watch.activated.connect(partial(self.watch_wanted.emit, existing))
        row.queue.activated.connect(partial(self.queue_wanted.emit, spec))
        row.forced.connect(self.force_wanted)
        self._rows[f"{spec.platform}:{spec.shop_id}", spec.line] = row
        self._list.addWidget(row)

    def _clear(self) -> None:
        self._rows = {}
        while (item := self._list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()


def place_of(spec: TaskSpec) -> str:
    """The shop of a task, after its row where it came from a file."""
    shop = f"{spec.platform}:{spec.shop_id}"
    return _("row {row}: {what}").format(row=spec.line, what=f"{shop} {spec.task_type}") if spec.line else shop


def done_words(what: str, done: Done) -> str:
    """That the same work has succeeded, when, as which task, and who had created that."""
    at = shown.clock(done.at, instant.now_ms())
    words = _("{what}: the same work succeeded at {time} as {id}, by {who}")
    return words.format(what=what, time=at, id=done.task_id, who=done.by)


class _Error(QWidget):
    """One task that was refused."""

    def __init__(self, spec: TaskSpec, field: str, sentence: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 6)
        head = Elided(place_of(spec) if spec.line else f"{place_of(spec)}  {spec.task_type}", "strong")
        words = Label(safe.one_line(sentence or field), "label", "dead", wrap=True)
        column.addWidget(head)
        column.addWidget(words)
        column.addWidget(line())


class _Duplicate(QWidget):
    """One shop that has the task already, or had it: watch that one, queue after an active one, or force with a reason.

    Signals:
        forced: spec and reason.
    """

    forced = Signal(object, str)

    def __init__(self, spec: TaskSpec, words: str, *, active: bool) -> None:
        super().__init__()
        self._spec = spec
        self.watch, self.queue = LinkLabel(N_("Watch it")), LinkLabel(N_("Queue after it"))
        self.force = LinkLabel(N_("Force"))
        self.reason = QLineEdit()
        beside, again = _("Why must it run beside the active one?"), _("Why must it be done again?")
        self.reason.setPlaceholderText(beside if active else again)
        self.reason.setAccessibleName(_("Reason to force"))
        self.go = Button(N_("Force"), kind="warning", small=True)
        self.said = Label("", "label", "text2")
        first, self._second = QHBoxLayout(), QWidget()
        first.setSpacing(14)
        first.addWidget(Elided(words, "body"), 1)
        for link in (self.watch, self.queue, self.force) if active else (self.watch, self.force):
            first.addWidget(link)
        first.addWidget(self.said)
        second = QHBoxLayout(self._second)
        second.setContentsMargins(0, 0, 0, 0)
        second.addWidget(self.reason, 1)
        second.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 6)
        column.addLayout(first)
        column.addWidget(self._second)
        column.addWidget(line())
        self._second.hide()
        self.force.activated.connect(self._ask)
        self.go.clicked.connect(self._on_force)
        self.reason.returnPressed.connect(self._on_force)
        self.reason.textChanged.connect(self._check)
        self._check()

    def settle(self, words: str) -> None:
        """Say what became of it."""
        self.said.setText(words)
        self._second.hide()
        for link in (self.queue, self.force):
            link.hide()

    def _ask(self) -> None:
        self._second.show()
        self.reason.setFocus()

    def _check(self) -> None:
        self.go.disable("" if self.reason.text().strip() else _("Give a reason first"))

    def _on_force(self) -> None:
        if self.reason.text().strip():
            self.forced.emit(self._spec, self.reason.text().strip())
