"""What the attempts of a task left: the log of each, a picture of where it failed, and each file by name and size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QPlainTextEdit, QScrollArea, QWidget

from services.domain.task.artifact import Artifact
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.i18n import N_, _, language, ngettext
from services.messages import logged, of_files, told
from services.monitor.artifacts import ArtifactQueries, Found
from services.monitor.tasks import LogTail, TaskQueries
from services.ports import LogLine
from views.dialogs.artifact import ArtifactDialog
from views.kit.find_bar import FindBar
from views.kit.picture import Picture
from views.support import heard, instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import IconButton, LinkLabel
from views.widgets.layout import clear, in_row, put
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
        self._filled: tuple[str, tuple[Found, ...]] = ("", ())  #: what is listed, and in which language
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
        row = in_row(
            (self.picture, 0, Qt.AlignmentFlag.AlignTop), (self._list, 1, Qt.AlignmentFlag.AlignTop), spacing=12
        )
        put(self.body, row, self.caption, self._trouble)
        self.clear()

    def clear(self) -> None:
        """Show nothing; another task comes, and what was asked about the last one is no longer wanted."""
        self._asking.drop()
        self._found, self._seen, self._filled = (), (), ("", ())
        self.picture.show_file(None)
        self.hide()

    def follow(self, task: Task) -> None:
        """Look for files when something happened to the task since the last time, or another language is in use."""
        seen = (language(), task.task_id, task.attempt, task.status, task.progress, len(task.attempts))
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
            safe.one_line(of_files(next((a.artifacts_note for a in task.attempts if a.artifacts_note), "")), 300)
        )
        self._trouble.setVisible(bool(self._trouble.text()))
        self.setVisible(bool(found or self._trouble.text()))
        self.answered.emit(found)
        self._feature(featured(task, found))
        self._found = found
        if self._filled == (filled := (language(), found)):
            return
        self._filled = filled
        number = ngettext("{n} file", "{n} files", len(found)).format(n=text.count(len(found)))
        self.set_note(number if found else "")
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
        clear(self._grid)
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


LINES, HEIGHT, TALL = 5000, 150, 380
#: of the log that is in sight below its search
ROOM_BELOW = 60


class LogSection(Section):
    """Stays at the end while a person has not scrolled up; hidden where nothing ran yet."""

    def __init__(self, queries: TaskQueries) -> None:
        super().__init__(N_("Log"))
        self._queries = queries
        self._task_id, self._attempt, self._newest = "", 0, 0
        self._chosen = 0  #: an earlier attempt, 0 follows the newest
        self._place, self._heard = 0, False  #: what was read, and whether an answer came at all
        self._lines: deque[LogLine] = deque(maxlen=LINES)  #: those that are shown
        self._live = False  #: the newest attempt runs, so more lines may come
        self._ask = Operation(self, latest=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(LINES)
        self._tall = HEIGHT
        self.text.setFixedHeight(HEIGHT)
        self.text.setFont(theme().font("monosmall"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(_("Log"))
        self.text.verticalScrollBar().valueChanged.connect(self._say)
        self.finder = FindBar(self.text)
        self._attempts = IconButton("ph.list-numbers", N_("Other attempts"))
        self._attempts.clicked.connect(self._choose_attempt)
        copy = IconButton("ph.copy", N_("Copy the log"))
        copy.clicked.connect(self._copy)
        search = IconButton("ph.magnifying-glass", N_("Find in the log"), keys="parts.find")
        search.clicked.connect(self.search)
        for button in (self._attempts, search, copy):
            self.add_action(button)
        self.body.addWidget(self.finder)
        self.body.addWidget(self.text)
        self.hide()
        on_language_changed(self._retell)

    def set_tall(self, tall: bool) -> None:
        """Show more lines at once where there is room, or few."""
        self._tall = TALL if tall else HEIGHT
        self._fit()

    def _fit(self) -> None:
        """As high as what an attempt that has ended wrote; where more may come nothing below moves with each line."""
        settled = self._heard and not (self._live and self._attempt == self._newest)
        lines = max(1, self.text.blockCount()) if settled else LINES
        bar = self.text.horizontalScrollBar()
        across = bar.sizeHint().height() if bar.maximum() > 0 else 0
        self.text.setFixedHeight(min(self._tall, lines * self.text.fontMetrics().lineSpacing() + across + 12))

    def search(self) -> None:
        """Let words be looked for in the lines that are shown."""
        if self.isVisible():
            self.set_folded(False)
            self.finder.open()
            QTimer.singleShot(0, self.finder, self._bring_into_sight)  # it has its place once all is laid out

    def _bring_into_sight(self) -> None:
        part = self.parentWidget()
        while part is not None and not isinstance(part, QScrollArea):
            part = part.parentWidget()
        if part is not None:
            part.ensureWidgetVisible(self.finder, 0, ROOM_BELOW)

    def clear(self) -> None:
        """Show nothing; another task comes."""
        self._task_id, self._newest, self._chosen = "", 0, 0
        self._begin(0)

    def follow(self, task: Task) -> None:
        """Show what came since the last time."""
        self._task_id, self._newest = task.task_id, task.attempt
        self._live = task.status == Status.RUNNING and not heard.unconfirmed(task, instant.now_ms())
        self.setVisible(bool(task.attempt))
        self._attempts.setVisible(task.attempt > 1)
        wanted = self._chosen or task.attempt
        if wanted != self._attempt:
            self._begin(wanted)
        self._say()
        if self._attempt and not self._ask.awaited:
            call = partial(self._queries.log, task.task_id, self._attempt, self._place)
            self._ask.start(call, partial(self._append, task.task_id, self._attempt))

    def attempts_menu(self) -> QMenu:
        """The attempts, newest first."""
        menu = QMenu(self)
        for number in range(self._newest, 0, -1):
            action = menu.addAction(_("Attempt {n}").format(n=number), partial(self._show_attempt, number))
            action.setCheckable(True)
            action.setChecked(number == self._attempt)
        return menu

    def _choose_attempt(self) -> None:
        self.attempts_menu().popup(self._attempts.mapToGlobal(self._attempts.rect().bottomLeft()))

    def _show_attempt(self, number: int) -> None:
        self._chosen = 0 if number == self._newest else number
        self._begin(number)
        self._say()
        call = partial(self._queries.log, self._task_id, number, 0)
        self._ask.start(call, partial(self._append, self._task_id, number))

    def _begin(self, attempt: int) -> None:
        """Show nothing of an attempt yet."""
        self._ask.drop()
        self._attempt, self._place, self._heard = attempt, 0, False
        self._lines.clear()
        self.text.clear()

    def _append(self, task_id: str, attempt: int, tail: LogTail) -> None:
        if task_id != self._task_id or attempt != self._attempt:
            return
        self._heard = True
        if tail.place <= self._place:
            self._say()
            return
        self._place = tail.place
        at_end = self._at_end()
        self._lines.extend(tail.lines)
        self.text.appendPlainText(_written(tail.lines))
        if at_end:
            bar = self.text.verticalScrollBar()
            bar.setValue(bar.maximum())
        self._say()

    def _retell(self) -> None:
        """Say all lines in the language that is in use now; those that were in sight stay there."""
        across, down = self.text.horizontalScrollBar(), self.text.verticalScrollBar()
        left, top, at_end = across.value(), down.value(), self._at_end()
        self.text.setPlainText(_written(self._lines))
        down.setValue(down.maximum() if at_end else top)
        across.setValue(left)
        self._say()

    def _at_end(self) -> bool:
        bar = self.text.verticalScrollBar()
        return bar.value() >= bar.maximum() - 4

    def _say(self) -> None:
        at_work = self._live and self._attempt == self._newest
        empty = _("Nothing written yet.") if at_work else _("No lines of this attempt are kept.")
        self.text.setPlaceholderText(empty if self._heard and not self._lines else "")
        place = _("attempt {n} of {total}").format(n=self._attempt, total=self._newest) if self._attempt else ""
        if at_work and self._at_end():
            self.set_note(_("following, {place}").format(place=place), "succeeded")
        else:
            self.set_note(place)
        self._fit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())


def _written(lines: Iterable[LogLine]) -> str:
    """Each with its time, as it is shown."""
    now = instant.now_ms()
    said = ((line.at, safe.one_line(logged(line.stream, line.text), 2000)) for line in lines)
    return "\n".join(f"{shown.log_time(at, now)}  {words}" for at, words in said)
