"""What a task belongs to: its batch, what it waits for, what waits for it, and what it was made from or became."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from services.i18n import N_, _
from services.monitor.tasks import LINKED, Linked, TaskDetail
from views.support import safe, shown, text
from views.support.look import Label
from views.support.words import type_names
from views.widgets.buttons import LinkLabel
from views.widgets.layout import clear
from views.widgets.section import Section
from views.widgets.status_pill import StatusPill


class LinkLine(NamedTuple):
    """One line: what it is to the task, where a click leads (a task, or the batch), and how that stands."""

    kind: str
    target: str
    batch: bool = False
    words: str = ""
    status: str = ""


class LinksSection(Section):
    """Hidden where a task stands alone.

    Signals:
        task_wanted, batch_wanted: the id, or the name, of what was clicked.
    """

    task_wanted = Signal(str)
    batch_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(N_("Belongs to"))
        self._lines: tuple[LinkLine, ...] = ()
        self._room = QWidget()
        self._grid = QGridLayout(self._room)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._more = Label("", "label", "text3", wrap=True)
        self.body.addWidget(self._room)
        self.body.addWidget(self._more)
        self.hide()

    def links(self) -> list[tuple[str, str]]:
        """What each line is to the task, and where it leads."""
        return [(line.kind, line.target) for line in self._lines]

    def press(self, target: str) -> None:
        """Go where a line leads."""
        for line in self._lines:
            if line.target == target:
                self._go(line)
                return

    def show_detail(self, detail: TaskDetail) -> None:
        """Say it of this task."""
        lines = tuple(_lines(detail))
        self._more.setText(_("More than {n} tasks wait for it.").format(n=text.count(LINKED)))
        self._more.setVisible(len(detail.waited_by) > LINKED)
        if lines != self._lines:
            self._lines = lines
            self._fill(lines)
        self.setVisible(bool(lines))

    def _fill(self, lines: Sequence[LinkLine]) -> None:
        clear(self._grid)
        for row, line in enumerate(lines):
            link = LinkLabel()
            link.set_count_text(line.words)
            link.setToolTip(safe.tooltip(line.target))
            link.setAccessibleName(f"{line.kind} {line.target}")
            link.activated.connect(partial(self._go, line))
            self._grid.addWidget(Label(line.kind, "label", "text2"), row, 0)
            self._grid.addWidget(link, row, 1, Qt.AlignmentFlag.AlignLeft)
            if line.status:
                pill = StatusPill()
                pill.set_status(shown.GLYPHS.get(line.status, line.status), shown.status_word(line.status))
                self._grid.addWidget(pill, row, 2, Qt.AlignmentFlag.AlignRight)

    def _go(self, line: LinkLine) -> None:
        (self.batch_wanted if line.batch else self.task_wanted).emit(line.target)


def _lines(detail: TaskDetail) -> Iterator[LinkLine]:
    task = detail.task
    if task.batch:
        yield LinkLine(_("batch"), task.batch, batch=True, words=safe.one_line(task.batch, 48))
    for one in detail.waits_for:
        yield _line(_("waits for") if one.open else _("waited for"), one)
    for one in detail.waited_by[:LINKED]:
        yield _line(_("waits for this"), one)
    if task.parent:
        kind = _("created again from") if task.origin == "again" else _("republished from")
        yield LinkLine(kind, task.parent, words=safe.one_line(task.parent, 40))
    for kind, other in ((_("created again as"), detail.again), (_("republished as"), task.successor)):
        if other:
            yield LinkLine(kind, other, words=safe.one_line(other, 40))


def _line(kind: str, one: Linked) -> LinkLine:
    if one.task is None:
        return LinkLine(kind, one.task_id, words=safe.one_line(one.task_id, 40))
    name = _("{type} · {shop}").format(type=type_names.name(one.task.task_type), shop=one.task.shop)
    return LinkLine(kind, one.task_id, words=safe.one_line(name, 48), status=str(one.task.status))
