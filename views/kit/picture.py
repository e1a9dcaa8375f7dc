"""A small picture of a file that a task left, read and decoded off the GUI thread."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QLabel

from services.domain.task.artifact import Artifact
from services.monitor.artifacts import ArtifactQueries
from views.support.operation import Operation
from views.support.thumbnails import MOST_BYTES, thumbnail
from views.theme import theme


class Picture(QLabel):
    """Opens the large one by click, Space and Enter; hidden while there is none.

    Signals:
        activated: somebody wants to see it.
        spoiled: the file is no picture that can be shown, or cannot be read.
    """

    activated = Signal()
    spoiled = Signal()

    def __init__(self, queries: ArtifactQueries, edge: int) -> None:
        """``edge``: pixels of the square that it fits into."""
        super().__init__()
        self._queries, self._edge = queries, edge
        self._shown: Artifact | None = None
        self._is_spoiled = False
        self._drawing = Operation(self, latest=True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.hide()

    @property
    def shown(self) -> Artifact | None:
        """The file whose picture stands or will stand here."""
        return self._shown

    @property
    def is_spoiled(self) -> bool:
        """Whether the file is there and no picture came of it."""
        return self._is_spoiled

    def show_file(self, artifact: Artifact | None) -> None:
        """Show another file, None for none."""
        if artifact == self._shown:
            return
        self._shown, self._is_spoiled = artifact, False
        self.hide()
        if artifact is None:
            return
        ratio = self.devicePixelRatioF()
        call = partial(_small, self._queries, artifact, round(self._edge * ratio))
        self._drawing.start(call, partial(self._drawn, artifact, ratio), partial(self._not_drawn, artifact))

    def mousePressEvent(self, _event: object) -> None:
        """Open it."""
        self.activated.emit()

    def keyPressEvent(self, event: object) -> None:
        """Open it by keys."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):  # type: ignore[attr-defined]
            self.activated.emit()
            return
        super().keyPressEvent(event)  # type: ignore[arg-type]

    def _drawn(self, artifact: Artifact, ratio: float, image: QImage) -> None:
        if artifact != self._shown:
            return
        if image.isNull():
            self._spoil()
            return
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(ratio)
        self.setPixmap(pixmap)
        self.show()

    def _not_drawn(self, artifact: Artifact, _error: BaseException) -> None:
        """Where the file stands in a list, opening it says what is wrong."""
        if artifact == self._shown:
            self._spoil()

    def _spoil(self) -> None:
        self._is_spoiled = True
        self.spoiled.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """With an edge of its own: most pages are white, and so is the panel of the light theme."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(theme().color("line2"))
        size = self.pixmap().deviceIndependentSize()
        painter.drawRect(QRectF(0.5, 0.5, size.width() - 1, size.height() - 1))


def _small(queries: ArtifactQueries, artifact: Artifact, edge: int) -> QImage:
    return thumbnail(queries.read(artifact, MOST_BYTES), edge)
