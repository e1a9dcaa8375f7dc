"""A dead letter beside the last success: both pictures, the first step at which they part, the steps and both logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QPlainTextEdit, QWidget

from services.domain.task.event import Event
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.types.flow_apart import How, Line, Pair, Parting
from services.domain.types.flow_trace import StepState
from services.i18n import N_, _, language, ngettext
from services.messages import logged, told
from services.monitor.artifacts import ArtifactQueries
from services.monitor.letters.beside import Beside, Blank, ComparedAttempt, Kin
from services.monitor.live import Changes
from views.dialogs.artifact import ArtifactDialog
from views.kit.list_source import Ask, ListSource
from views.kit.picture import Picture
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.words.shop import platform_name
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import LinkLabel
from views.widgets.layout import clear, in_column, in_row
from views.widgets.section import Section
from views.widgets.segmented import Segmented

EDGE, LOG_HEIGHT, LINE_CHARS = 188, 140, 500
#: it is looked for again at most so often, milliseconds: records and files are read for it
LOOK_MS = 1000
#: steps around the one that matters
BEFORE, AFTER = 3, 3
_KINS = {
    Kin.WORK: N_("the same work"),
    Kin.SHOP: N_("the same flow, the same shop"),
    Kin.PLATFORM: N_("the same flow, another shop"),
    Kin.ANY: N_("the same flow, another platform"),
}
_BLANKS = {
    Blank.NONE: N_("It left no picture. A step of the kind “screenshot” leaves one."),
    Blank.AWAY: N_("Its picture is not here: it lies on the machine of its worker, or was removed."),
    Blank.OFF: N_("This machine keeps no files (artifacts.place is off)."),
    Blank.SILENT: N_("The place of the files does not answer now."),
}
_PARTED = {
    How.FAILED: N_("They part at step “{step}”: here it failed, there it was done."),
    How.STOPPED: N_("They part at step “{step}”: this one came no further, there it was done."),
    How.CHANGED: N_("They part at step “{step}”: here it asks for {here}, there for {there}."),
    How.ADDED: N_("They part at step “{step}”: only this one has it."),
    How.MISSING: N_("They part at step “{step}”: only the last success has it."),
}
_GLYPHS = {
    StepState.DONE: "succeeded",
    StepState.FAILED: "dead",
    StepState.NOW: "running",
    StepState.STOPPED: "cancelled",
}


class BesideSection(Section):
    """Asks for itself, off the GUI thread, when another letter is shown, and when work like it succeeded.

    Signals:
        task_wanted: id of the other task.
        answered: another answer is shown.
    """

    task_wanted = Signal(str)
    answered = Signal()

    def __init__(
        self,
        find: Callable[[str], Beside | None],
        files: ArtifactQueries,
        title: str = N_("Beside the last success"),
        names: tuple[str, str] = (N_("This letter"), N_("Last success")),
        *,
        shops: bool = False,
    ) -> None:
        """``find`` tells of a letter by what is shown (blocking); ``names``: what both are called; ``shops``: of which
        shops they are is said in any case.
        """
        super().__init__(title)
        self._find, self._files, self._names, self._of_many = find, files, names, shops
        self._task_id = ""
        self._found: Beside | None = None
        self._looking = ListSource(self._call, "", self, soon_ms=LOOK_MS)
        self._looking.listed.connect(self._show)
        self._looking.failed.connect(self._fail)
        self.sentence = Label("", "labelstrong", "text", wrap=True)
        self.left, self.right = ComparedColumn(files), ComparedColumn(files)
        for side in (self.left, self.right):
            side.picture.activated.connect(partial(self._open, side))
        self.right.task_wanted.connect(self.task_wanted)
        self.steps = StepGrid()
        self.which = Segmented((("letter", N_("Log of this letter")), ("success", N_("Log of the success"))), N_("Log"))
        self.which.chosen.connect(lambda _key: self._show_log())
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setFont(theme().font("monosmall"))
        self.log.setFixedHeight(LOG_HEIGHT)
        self.log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.log.setAccessibleName(_("Log"))
        self._pair = QWidget()
        row = in_row(owner=self._pair, margins=(0, 2, 0, 2), spacing=12)
        for side in (self.left, self.right):
            row.addWidget(side, 1, Qt.AlignmentFlag.AlignTop)
        for widget in (self.sentence, self._pair, self.steps):
            self.body.addWidget(widget)
        self.body.addWidget(self.which, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self.log)
        on_language_changed(self._say)
        self.hide()

    @property
    def found(self) -> Beside | None:
        """What is shown; None while it is asked for."""
        return self._found

    @property
    def task_id(self) -> str:
        """The letter whose success is looked for, "" for none."""
        return self._task_id

    @property
    def before(self) -> tuple[Task, ...]:
        """The dead letters that the one shown was republished from, as far as they are known by now."""
        return self._found.before if self._found is not None else ()

    def show_letter(self, task_id: str, *, again: bool = False) -> None:
        """Look for the last success of this letter; of the same one only when it is asked for ``again``."""
        if task_id == self._task_id and not again:
            return
        if task_id != self._task_id:
            self._found = None
            self.which.set_current("letter")
        self._task_id = task_id
        self.setVisible(bool(task_id))
        self._say()
        self._looking.ask(task_id)

    def set_active(self, active: bool) -> None:
        """Look again now and follow the fleet, or look no more by itself."""
        self._looking.set_active(active)

    def follow(self, changes: Changes) -> None:
        """Look again soon where a success came that may be nearer, or newer, than what is shown."""
        if changes.gap or any(event.to == Status.SUCCEEDED and self._matters(event) for event in changes.events):
            self._looking.soon()

    def _matters(self, event: Event) -> bool:
        found = self._found
        if found is None:
            return True
        task = found.letter.task
        if event.task_type != task.task_type:
            return False
        # one of another shop is not taken from under the eyes of whoever compares for a newer one of such a shop
        return found.success is None or (event.platform, event.shop_id) == (task.platform, task.shop_id)

    def _call(self, ask: Ask[str]) -> Callable[[], tuple[str, Beside | None]] | None:
        return partial(_look, self._find, ask.wanted) if ask.wanted else None

    def _show(self, answer: tuple[str, Beside | None]) -> None:
        task_id, found = answer
        if task_id == self._task_id:
            self._found = found
            self.setVisible(found is not None)  # there is no such letter any more
            self._say()
            self.answered.emit()

    def _fail(self, error: BaseException) -> None:
        if self._found is None:
            self.set_note("")
            self.sentence.setText(told(error))

    # words

    def _say(self) -> None:
        found = self._found
        success = found.success if found is not None else None
        # without a success the letter's own picture and log are what there is to look at
        letter = found.letter if found is not None else None
        seen = letter is not None and (letter.picture is not None or letter.blank == Blank.AWAY)
        self._pair.setVisible(success is not None or seen)
        self.log.setVisible(success is not None or (letter is not None and bool(letter.log)))
        for widget in (self.right, self.steps, self.which):
            widget.setVisible(success is not None)
        if found is None:
            self.set_note("")
            self.sentence.setText(_("Looking for the last success…"))
            return
        now, (bad, good) = instant.now_ms(), map(_, self._names)
        if success is None:
            self.set_note("")
            self.sentence.setText(nothing(found, now))
            self.left.show_run(found.letter, bad, now, shop=self._of_many)
            self.right.show_run(None, "", now)
            self._show_log()
            return
        self.set_note(kin(found))
        self.sentence.setText(sentence(found, now))
        self.left.show_run(found.letter, bad, now, shop=self._of_many)
        other = self._of_many or found.kin not in (Kin.WORK, Kin.SHOP)
        self.right.show_run(success, good, now, shop=other)
        self.steps.show_pairs(found.pairs, found.parting)
        self._show_log()

    def _show_log(self) -> None:
        found = self._found
        if found is None:
            return
        run = found.letter if self.which.current() == "letter" or found.success is None else found.success
        now = instant.now_ms()
        said = [safe.one_line(logged(line.stream, line.text), LINE_CHARS) for line in run.log]
        lines = [f"{shown.log_time(line.at, now)}  {words}" for line, words in zip(run.log, said, strict=True)]
        words = "\n".join(lines) or _("No line of its log is kept.")
        if words == self.log.toPlainText():
            return  # whoever reads it stays where they are
        self.log.setPlainText(words)
        bar = self.log.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _open(self, side: ComparedColumn) -> None:
        """Both pictures in one window: Left and Right change between them at the same place."""
        files = [one.picture.shown for one in (self.left, self.right) if one.picture.shown is not None]
        if side.picture.shown is not None:
            ArtifactDialog(self._files, files, files.index(side.picture.shown), self.window()).open()


def _look(find: Callable[[str], Beside | None], wanted: str) -> tuple[str, Beside | None]:
    return wanted, find(wanted)


class ComparedColumn(QWidget):
    """One of both: its picture or why there is none, when and where it ran.

    Signals:
        task_wanted: its id.
    """

    task_wanted = Signal(str)

    def __init__(self, files: ArtifactQueries) -> None:
        super().__init__()
        self._task_id = ""
        self.door = LinkLabel()
        self.door.activated.connect(lambda: self.task_wanted.emit(self._task_id))
        self._name = Label("", "labelstrong")
        self.picture = Picture(files, EDGE)
        self.picture.spoiled.connect(lambda: self._say_blank(Blank.NO))
        self.blank = Label("", "caption", "text3", wrap=True)
        self.facts = Label("", "caption", "text2", wrap=True)
        in_column(self._name, self.picture, self.blank, self.facts, self.door, owner=self, spacing=4)

    def show_run(self, run: ComparedAttempt | None, name: str, now_ms: int, *, shop: bool = False) -> None:
        """Show it; ``shop``: it is of another one, which is named."""
        self._task_id = run.task.task_id if run is not None else ""
        self._name.setText(name)
        self.picture.setAccessibleName(_("Screenshot: {name}").format(name=name))
        self.picture.show_file(run.picture if run is not None else None)
        self._say_blank(run.blank if run is not None else Blank.NO)
        self.facts.setText(facts(run, now_ms, shop=shop) if run is not None else "")
        self.door.setVisible(run is not None and run.task.status == Status.SUCCEEDED)
        self.door.set_count_text(_("Open its task"))

    def _say_blank(self, why: Blank) -> None:
        words = _(_BLANKS[why]) if why in _BLANKS else ""
        if self.picture.is_spoiled:
            words = _("Its picture cannot be shown: the file is damaged, or too large.")
        self.blank.setText(words)
        self.blank.setVisible(bool(words))


class StepGrid(QWidget):
    """The steps around the parting: name, and for both what became of it and how long it took."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self.rows: list[tuple[str, ...]] = []  #: what stands there
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(0, 1)

    def show_pairs(self, pairs: Sequence[Pair], parting: Parting | None) -> None:
        """Show the steps around the place where both part, else the first ones."""
        wanted = (tuple(pairs), parting, theme().tokens, language())
        if wanted == self._shown:
            return
        self._shown = wanted
        self._clear()
        self.setVisible(bool(pairs))
        here = parting.at if parting is not None else 0
        first, last = max(0, here - BEFORE), min(len(pairs), here + 1 + AFTER)
        self._add_rest(first)
        for at in range(first, last):
            self._add(pairs[at], marked=parting is not None and at == here)
        self._add_rest(len(pairs) - last)

    def _clear(self) -> None:
        self.rows = []
        clear(self._grid)

    def _add_rest(self, count: int) -> None:
        if count:
            words = ngettext("{n} step more", "{n} steps more", count).format(n=text.count(count))
            self._grid.addWidget(Label(words, "label", "text3"), len(self.rows), 0)
            self.rows.append((words,))

    def _add(self, pair: Pair, *, marked: bool) -> None:
        name = Label(step_name(pair.step), "labelstrong" if marked else "label", "text" if marked else "text2")
        name.setToolTip(safe.tooltip(pair.step.about) if pair.step.about else "")
        row = len(self.rows)
        self._grid.addWidget(name, row, 0)
        for column, line in ((1, pair.one), (2, pair.other)):
            self._grid.addWidget(_cell(*_became(line)), row, column)
        self.rows.append((name.text(), _became(pair.one)[0], _became(pair.other)[0]))


def _cell(words: str, glyph: str) -> QWidget:
    """What became of a step, by glyph and word."""
    cell = QWidget()
    row = in_row(owner=cell, spacing=5)
    if glyph:
        token = status(glyph)
        picture = Label("")
        picture.setPixmap(theme().pixmap(token.glyph, token.role, 12))
        row.addWidget(picture)
    row.addWidget(Label(words, "label", "dead" if glyph == "dead" else "text2", tabular=True))
    row.addStretch(1)
    cell.setMinimumWidth(104)
    return cell


def _became(line: Line | None) -> tuple[str, str]:
    if line is None:
        return _("no such step"), ""
    word = {
        StepState.DONE: _("done"),
        StepState.FAILED: _("failed"),
        StepState.NOW: _("running"),
        StepState.STOPPED: _("stopped"),
        StepState.AHEAD: _("not begun"),
    }[line.state]
    if line.seconds >= 0:
        word = text.listed((word, text.duration(shown.span(line.seconds * 1000), precise=True)))
    return word, _GLYPHS.get(line.state, "")


def step_name(line: Line) -> str:
    """Its place, name and word."""
    return safe.one_line(" ".join(part for part in (line.place, line.title) if part), 48)


def sentence(found: Beside, now_ms: int) -> str:
    """At which step both part, with what is known of a success that is closer than the one shown."""
    lines = []
    if found.parting is not None:
        pair = found.pairs[found.parting.at]
        said = {
            "step": step_name(pair.step),
            "here": safe.one_line(pair.one.about, 60) if pair.one is not None else "",
            "there": safe.one_line(pair.other.about, 60) if pair.other is not None else "",
        }
        lines.append(_(_PARTED[found.parting.how]).format(**said))
    elif not found.pairs:
        lines.append(_("This kind of work tells no steps: compare the pictures and the logs."))
    else:
        lines.append(_("No step differs as far as both tell them: compare the pictures and the logs."))
    if found.gone is not None:
        lines.append(removed(found, now_ms))
    return text.sentences(lines)


def nothing(found: Beside, now_ms: int) -> str:
    """Why nothing stands beside it."""
    if found.gone is not None:
        return removed(found, now_ms)
    return _("No success of this work is on record, for this shop or for another one.")


def removed(found: Beside, now_ms: int) -> str:
    """That the success of this very work is known, and neither its record nor its files."""
    assert found.gone is not None
    return _(
        "This very work succeeded last at {time} as {id}; its record and its picture were removed by retention."
    ).format(time=shown.clock(found.gone.at, now_ms), id=found.gone.task_id)


def kin(found: Beside) -> str:
    """How near the success is."""
    return _(_KINS[found.kin])


def facts(run: ComparedAttempt, now_ms: int, *, shop: bool = False) -> str:
    """When it ended, where, and how long it ran; of another shop which one."""
    attempt = run.attempt
    parts = [shown.clock(attempt.ended_at if attempt is not None else run.task.ended_at, now_ms)]
    if attempt is not None:
        took = text.duration(shown.span(attempt.ended_at - attempt.started_at), precise=True)
        parts += [attempt.worker, took, _("attempt {n}").format(n=attempt.number)]
    if run.task.type_version:
        parts.append(_("version {n}").format(n=run.task.type_version))
    if shop:
        name = run.shop.name if run.shop is not None and run.shop.name else run.task.shop_id
        parts.append(f"{safe.one_line(name, 40)} ({platform_name(run.task.platform)})")
    return " · ".join(part for part in parts if part)
