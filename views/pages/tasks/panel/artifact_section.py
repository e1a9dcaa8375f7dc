"""The files that the attempts of a task left: a picture of where it failed, and each file by name, size and attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from services.domain.task.artifact import Artifact
from services.domain.task.record import Task
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.artifacts import ArtifactQueries, Found
from views.dialogs.artifact import ArtifactDialog
from views.pages.tasks.panel.picture import Picture
from views.support import safe, text
from views.support.look import Label
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import LinkLabel
from views.widgets.section import Section

EDGE, ROWS, SIZE_COLUMN = 132, 10, 2
_GLYPHS = {
    "image": "ph.image",
    "html": "ph.browser",
    "text": "ph.file-text",
    "table": "ph.table",
    "download": "ph.file-arrow-down",
}


class ArtifactSection(Section):
    """Hidden where there is no file. Reads and decodes off the GUI thread; nothing in a file is ever rendered.

    Signals:
        answered: the files of the task, each time they were asked for (tuple of ``Found``).
    """

    answered = Signal(object)

    def __init__(self, queries: ArtifactQueries, elsewhere: Callable[[Artifact], bool] = lambda _: False) -> None:
        """``elsewhere``: whether a picture is shown at another place of the panel already."""
        super().__init__(N_("Files"))
        self._queries, self._elsewhere = queries, elsewhere
        self._found: tuple[Found, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._asking = Operation(self, latest=True)
        self.picture = Picture(queries, EDGE)
        self.picture.activated.connect(self._open_picture)
        self.caption, self._trouble = Label("", "caption", "text3", wrap=True), Label("", "label", "text2", wrap=True)
        self._list = QWidget()
        self._grid = QGridLayout(self._list)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._list, 1, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(row)
        self.body.addWidget(self.caption)
        self.body.addWidget(self._trouble)
        self.clear()

    def clear(self) -> None:
        """Show nothing; another task comes."""
        self._found, self._seen = (), ()
        self.picture.show_file(None)
        self.hide()

    def follow(self, task: Task) -> None:
        """Look for files when something happened to the task since the last time."""
        seen = (task.task_id, task.attempt, task.status, task.progress, len(task.attempts))
        if task.attempt and seen != self._seen:
            self._seen = seen
            self._asking.start(partial(self._queries.of, task.task_id, task), partial(self._show, task), self._fail)

    def names(self) -> list[str]:
        """The files that are listed."""
        return [one.artifact.name for one in self._found]

    def open(self, artifact: Artifact) -> None:
        """Show a file, and the others beside it."""
        here = [one.artifact for one in self._found if one.here]
        dialog = ArtifactDialog(self._queries, here, here.index(artifact), self.window())
        dialog.open()

    def _show(self, task: Task, found: tuple[Found, ...]) -> None:
        self._trouble.setText(
            safe.one_line(next((a.artifacts_note for a in task.attempts if a.artifacts_note), ""), 300)
        )
        self._trouble.setVisible(bool(self._trouble.text()))
        self.setVisible(bool(found or self._trouble.text()))
        self.answered.emit(found)
        self._feature(featured(task, found))
        if found == self._found:
            return
        self._found = found
        self.set_note(ngettext("{n} file", "{n} files", len(found)).format(n=text.count(len(found))))
        self._fill(found)

    def _feature(self, picture: Artifact | None) -> None:
        if picture is not None and self._elsewhere(picture):
            picture = None
        self.caption.setVisible(picture is not None)
        self.caption.setText(caption(picture) if picture is not None else "")
        self.picture.setAccessibleName(self.caption.text())
        self.picture.show_file(picture)

    def _fail(self, error: BaseException) -> None:
        self._seen = ()
        self._trouble.setText(told(error))
        self._trouble.show()
        self.show()

    def _fill(self, found: Sequence[Found]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        # the newest first: what the last attempt left is what one looks for
        for row, one in enumerate(reversed(found[-ROWS:])):
            for column, widget in enumerate(self._line(one)):
                side = Qt.AlignmentFlag.AlignRight if column == SIZE_COLUMN else Qt.AlignmentFlag.AlignLeft
                self._grid.addWidget(widget, row, column, side | Qt.AlignmentFlag.AlignVCenter)
        if len(found) > ROWS:
            rest = len(found) - ROWS
            words = ngettext("and {n} older file", "and {n} older files", rest).format(n=text.count(rest))
            self._grid.addWidget(Label(words, "label", "text3"), ROWS, 1)

    def _line(self, one: Found) -> tuple[QWidget, QWidget, QWidget]:
        artifact = one.artifact
        glyph = QLabel()
        glyph.setFixedWidth(16)
        glyph.setPixmap(theme().pixmap(_GLYPHS.get(artifact.kind, "ph.file"), "text2", 14))
        link = LinkLabel()
        link.set_count_text(safe.one_line(artifact.name, 60))
        link.disable("" if one.here else _("It lies on the machine of its worker, not here"))
        link.activated.connect(partial(self.open, artifact))
        size = Label(text.size(artifact.size), "label", "text3", tabular=True)
        return glyph, link, size

    def _open_picture(self) -> None:
        if self.picture.shown is not None:
            self.open(self.picture.shown)


def featured(task: Task, found: Sequence[Found]) -> Artifact | None:
    """The picture that tells most: the last one of the last attempt that failed, else the last of all."""
    images = [one.artifact for one in found if one.here and one.artifact.kind == "image"]
    failed = {one.number for one in task.attempts if one.error or one.error_kind}
    of_failures = [one for one in images if one.attempt in failed]
    chosen = of_failures or images
    return chosen[-1] if chosen else None


def caption(artifact: Artifact) -> str:
    """Which attempt it is of, and which step where that is known."""
    attempt = _("attempt {n}").format(n=artifact.attempt)
    if not artifact.step:
        return attempt
    return text.listed((attempt, _("step {name}").format(name=safe.one_line(artifact.step, 60))))
