"""One file that a task left: an image, or an excerpt as plain text; nothing in it is ever run or rendered."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QKeyEvent, QPixmap, QTextCursor
from PySide6.QtWidgets import QGridLayout, QLabel, QPlainTextEdit, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from services import whole_file
from services.domain.task.artifact import Artifact
from services.i18n import N_, _
from services.messages import told
from services.monitor.artifacts import ArtifactQueries
from views.dialogs.file import FileDialog
from views.dialogs.frame import DialogFrame
from views.support import safe, text
from views.support.keys import pressed
from views.support.look import Label
from views.support.operation import Operation
from views.support.thumbnails import MOST_BYTES, thumbnail
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (1000, 700), (640, 420)
EDGE, EXCERPT = 1600, 32 * 1024
#: between two pictures
GAP = 12
#: longer lines are folded: laying out one of a minified page would hold up the window
LINE = 240
READABLE = frozenset({"html", "text"})
#: tables that are text; others can only be saved
_TEXT_TABLES = (".csv", ".tsv")
#: of these the end is looked for: what went wrong was written last
_LOGS = (".log", ".out", ".err")


class ArtifactDialog(DialogFrame):
    """Left and Right step through the files of the task; C compares a picture with the one that it is best seen beside:
    of the same step of another attempt, else the one before it. The one that came first stands on the left.
    """

    def __init__(
        self, queries: ArtifactQueries, files: Sequence[Artifact], at: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(N_("File of a task"), icon="ph.image", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._queries, self._files, self._at = queries, tuple(files), at
        self._pictures: tuple[QImage, ...] = ()
        self._comparing = False
        self._reading, self._writing = Operation(self, latest=True), Operation(self)
        self.error = ErrorStrip()
        self.image, self.second = QLabel(), QLabel()
        self.captions = (Label("", "label"), Label("", "label"))
        self._images = QWidget()
        self._columns = beside = QGridLayout(self._images)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setHorizontalSpacing(GAP)
        beside.setRowStretch(1, 1)
        beside.setColumnStretch(0, 1)
        for column, (caption, image) in enumerate(zip(self.captions, (self.image, self.second), strict=True)):
            image.setAlignment(Qt.AlignmentFlag.AlignCenter)
            image.setMinimumSize(1, 1)
            image.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # both are equally wide
            beside.addWidget(caption, 0, column, Qt.AlignmentFlag.AlignHCenter)
            beside.addWidget(image, 1, column)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(theme().font("monosmall"))
        self.text.setAccessibleName(_("Excerpt"))
        self.none = Label("", "body", "text2", wrap=True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for widget in (self._images, self.text, self.none):
            self._stack.addWidget(widget)
        self._build()
        self._look()

    @property
    def file(self) -> Artifact:
        """The file that is shown."""
        return self._files[self._at]

    def _build(self) -> None:
        head, body = QVBoxLayout(), QVBoxLayout()
        head.addWidget(self.error)
        body.setContentsMargins(16, 12, 16, 12)
        body.addWidget(self._stack)
        self.fill(head, body, size=SIZE, least=LEAST)
        self.before_button = Button(N_("Before"), icon="ph.arrow-left", kind="ghost")
        self.next_button = Button(N_("Next"), icon="ph.arrow-right", kind="ghost")
        self.compare_button = Button(N_("Compare"), icon="ph.columns", kind="ghost", hint="dialog.compare")
        self.folder_button = Button(N_("Open folder"), icon="ph.folder-open")
        self.save_button = Button(N_("Save as"), icon="ph.download-simple", kind="primary")
        self.close_button = Button(N_("Close"), hint="Esc")
        self.before_button.clicked.connect(partial(self.step, -1))
        self.next_button.clicked.connect(partial(self.step, 1))
        self.compare_button.clicked.connect(self.compare)
        self.folder_button.clicked.connect(self._on_folder)
        self.save_button.clicked.connect(self._on_save)
        self.close_button.clicked.connect(self.reject)
        self.error.retry.connect(self._look)
        for button in (self.before_button, self.next_button, self.compare_button):
            self.foot.addWidget(button)
        self.foot.addStretch(1)
        for button in (self.close_button, self.folder_button, self.save_button):
            self.foot.addWidget(button)
        self.close_button.setFocus()

    def step(self, by: int) -> None:
        """Show another file."""
        at = min(max(0, self._at + by), len(self._files) - 1)
        if at != self._at:
            self._at = at
            self._look()

    def compare(self) -> None:
        """Show another picture beside this one, or this one alone again."""
        if self._comparing or self._beside() is not None:
            self._comparing = not self._comparing
            self._look()

    def _beside(self) -> int | None:
        """The place of the picture that this one is best compared with."""
        one = self.file
        others = [at for at, file in enumerate(self._files) if at != self._at and file.kind == "image"]
        if one.kind != "image" or not others:
            return None

        def rank(at: int) -> tuple[bool, bool, int]:
            other = self._files[at]
            alike = (other.step, other.step or other.name) == (one.step, one.step or one.name)
            return not (alike and _run(other) != _run(one)), at > self._at, abs(at - self._at)

        return min(others, key=rank)

    def _shown(self) -> tuple[Artifact, ...]:
        """The pictures that stand there, from left to right."""
        other = self._beside() if self._comparing else None
        return tuple(self._files[at] for at in sorted({self._at, self._at if other is None else other}))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step by Left and Right, compare by C."""
        if pressed(event, "dialog.compare") and not self.text.hasFocus():
            self.compare()
            return
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        by = steps.get(Qt.Key(event.key()), 0)
        if by and not self.text.hasFocus():
            self.step(by)
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: object) -> None:
        """Fit the picture."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    # reading

    def _look(self) -> None:
        one = self.file
        self._reading.drop()
        self.error.clear()
        self.save_button.set_kind("primary")
        attempt = _("attempt {n}").format(n=one.attempt)
        reads = one.kind in READABLE or one.name.lower().endswith(_TEXT_TABLES)
        cut = _("only its last {size} are shown") if _is_log(one) else _("only its first {size} are shown")
        part = cut.format(size=text.size(EXCERPT)) if reads and one.size > EXCERPT else ""
        parts = (safe.one_line(one.name, 80), text.size(one.size), part, attempt, safe.one_line(one.step, 60))
        self.set_note(text.listed(part for part in parts if part))
        place = _("{n} of {of}").format(n=self._at + 1, of=len(self._files))
        self.before_button.disable(place if self._at == 0 else "")
        self.next_button.disable(place if self._at == len(self._files) - 1 else "")
        self.folder_button.disable("" if self.folder() is not None else _("It lies in a bucket, not in a folder"))
        alone = _("There is no other picture") if self._beside() is None else ""
        self.compare_button.disable(alone)
        self.compare_button.set_source(N_("Compare") if alone or not self._comparing else N_("One picture"))
        if one.kind == "image":
            self._reading.start(partial(pictures, self._queries, self._shown()), self._show_images, self._fail)
        elif reads:
            self._reading.start(partial(excerpt, self._queries, one), self._show_text, self._fail)
        else:
            self._say_none(_("There is no preview of this kind of file; save it to look at it."))

    def _show_images(self, images: tuple[QImage, ...]) -> None:
        self._pictures = images
        if any(image.isNull() for image in images):
            self._say_none(_("This is no image that can be shown; save it to look at it."))
            return
        shown = self._shown()
        for place, caption in enumerate(self.captions):
            caption.setVisible(len(shown) > 1)
            if len(shown) > 1:
                caption.setText(_caption(shown[place]))
                caption.set_tone("text" if shown[place] == self.file else "text3")
        self.second.setVisible(len(shown) > 1)
        self._columns.setColumnStretch(1, len(shown) - 1)
        self._stack.setCurrentWidget(self._images)
        self._fit()

    def _fit(self) -> None:
        if not self._pictures or self._stack.currentWidget() is not self._images:
            return
        ratio, room = self.devicePixelRatioF(), self._stack.size()
        if len(self._pictures) > 1:
            above = max(caption.sizeHint().height() for caption in self.captions) + GAP
            room = QSize((room.width() - GAP) // 2, max(1, room.height() - above))
        room *= ratio
        for image, picture in zip((self.image, self.second), self._pictures, strict=False):
            pixmap = QPixmap.fromImage(picture)
            if pixmap.width() > room.width() or pixmap.height() > room.height():
                pixmap = pixmap.scaled(
                    room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
                )
            pixmap.setDevicePixelRatio(ratio)
            image.setPixmap(pixmap)

    def _show_text(self, words: str) -> None:
        self.text.setPlainText(words)
        if _is_log(self.file):
            self.text.moveCursor(QTextCursor.MoveOperation.End)
        self._stack.setCurrentWidget(self.text)

    def _say_none(self, words: str) -> None:
        self.none.setText(words)
        self._stack.setCurrentWidget(self.none)

    def _fail(self, error: BaseException) -> None:
        self._say_none("")  # the file before is not this one
        self.save_button.set_kind("plain")  # nobody is led to save what could not be read
        self.error.show_error(told(error), lead=_("The file cannot be read."))

    # taking it away

    def folder(self) -> Path | None:
        """Where the file lies, None where that is no folder."""
        where = self._queries.where()
        return (Path(where) / self.file.place).parent if where and "://" not in where and self.file.place else None

    def _on_folder(self) -> None:
        folder = self.folder()
        if folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _on_save(self) -> None:
        FileDialog(self, _("Save as"), self.save).write(self.file.name)

    def save(self, path: Path) -> None:
        """Write a copy of the file."""
        self._writing.start(partial(_copy, self._queries, self.file, path), self._saved, self._unsaved)

    def _saved(self, path: Path) -> None:
        self.set_note(_("saved as {name}").format(name=safe.one_line(path.name, 80)))

    def _unsaved(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("The file could not be written."))


def excerpt(queries: ArtifactQueries, artifact: Artifact) -> str:
    """The beginning of a file as text, of a log the end; what is no text is made visible. Blocking."""
    with queries.open(artifact) as stream:
        if _is_log(artifact) and artifact.size > EXCERPT:
            stream.seek(artifact.size - EXCERPT)
            end = stream.read(EXCERPT)
            return "\n".join(["…", *_lines(end.partition(b"\n")[2] or end)])
        data = stream.read(EXCERPT + 1)
    lines = _lines(data[:EXCERPT])
    return "\n".join(lines if len(data) <= EXCERPT else [*lines, "…"])


def _is_log(artifact: Artifact) -> bool:
    return artifact.name.lower().endswith(_LOGS)


def _lines(data: bytes) -> list[str]:
    words = safe.visible(data.decode("utf-8", "replace"), keep_newlines=True)
    return [line[at : at + LINE] for line in words.split("\n") for at in range(0, len(line) or 1, LINE)]


def pictures(queries: ArtifactQueries, artifacts: Sequence[Artifact]) -> tuple[QImage, ...]:
    """Those files as pictures that fit a screen; null where one cannot be shown. Blocking."""
    return tuple(thumbnail(queries.read(one, MOST_BYTES), EDGE) for one in artifacts)


def _run(one: Artifact) -> tuple[str, int]:
    return one.task_id, one.attempt


def _caption(one: Artifact) -> str:
    attempt = _("attempt {n}").format(n=one.attempt)
    return text.listed(part for part in (attempt, safe.one_line(one.step or one.name, 40)) if part)


def _copy(queries: ArtifactQueries, artifact: Artifact, path: Path) -> Path:
    part = whole_file.draft_of(path)
    with queries.open(artifact) as stream, part.open("wb") as file:
        shutil.copyfileobj(stream, file)
    whole_file.put(part, path)
    return path
