"""The files that the attempts of a task left: a picture of where it failed, and each file by name, size and attempt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from services.domain.artifact import Artifact
from services.domain.task import Task
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.artifacts import ArtifactQueries, Found
from views.dialogs.artifact import ArtifactDialog
from views.support import safe, text
from views.support.look import Label
from views.support.operation import Operation
from views.support.thumbnails import MOST_BYTES, thumbnail
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


class Picture(QLabel):
    """A small picture that opens the large one by click, Space and Enter.

    Signals:
        activated: somebody wants to see it.
    """

    activated = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)

    def mousePressEvent(self, _event: object) -> None:
        """Open it."""
        self.activated.emit()

    def keyPressEvent(self, event: object) -> None:
        """Open it by keys."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):  # type: ignore[attr-defined]
            self.activated.emit()
            return
        super().keyPressEvent(event)  # type: ignore[arg-type]


class ArtifactSection(Section):
    """Hidden where there is no file. Reads and decodes off the GUI thread; nothing in a file is ever rendered."""

    def __init__(self, queries: ArtifactQueries) -> None:
        super().__init__(N_("Files"))
        self._queries = queries
        self._found: tuple[Found, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._shown: Artifact | None = None
        self._asking, self._drawing = Operation(self, latest=True), Operation(self, latest=True)
        self.picture = Picture()
        self.picture.activated.connect(self._open_picture)
        self._caption, self._trouble = Label("", "caption", "text3", wrap=True), Label("", "label", "text2", wrap=True)
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
        self.body.addWidget(self._caption)
        self.body.addWidget(self._trouble)
        self.clear()

    def clear(self) -> None:
        """Show nothing; another task comes."""
        self._found, self._seen, self._shown = (), (), None
        self.picture.hide()
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
        if found == self._found:
            return
        self._found = found
        self.set_note(ngettext("{n} file", "{n} files", len(found)).format(n=text.count(len(found))))
        self._fill(found)
        picture = featured(task, found)
        if picture != self._shown:
            self._shown = picture
            self._draw(picture)

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

    def _draw(self, artifact: Artifact | None) -> None:
        self.picture.hide()
        self._caption.setVisible(artifact is not None)
        if artifact is None:
            return
        self._caption.setText(caption(artifact))
        self.picture.setAccessibleName(self._caption.text())
        ratio = self.devicePixelRatioF()
        edge = round(EDGE * ratio)
        self._drawing.start(partial(_small, self._queries, artifact, edge), partial(self._drawn, ratio), _pass)

    def _drawn(self, ratio: float, image: QImage) -> None:
        if image.isNull():
            return
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(ratio)
        self.picture.setPixmap(pixmap)
        self.picture.show()

    def _open_picture(self) -> None:
        if self._shown is not None:
            self.open(self._shown)


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


def _small(queries: ArtifactQueries, artifact: Artifact, edge: int) -> QImage:
    return thumbnail(queries.read(artifact, MOST_BYTES), edge)


def _pass(_error: BaseException) -> None:
    """Without its picture the file still stands in the list, and opening it says what is wrong."""
