"""The steps of a browser flow: what is done, where it failed with the picture of it beside the step, what is ahead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from services.domain.task.artifact import Artifact
from services.domain.text.mask import masked_text
from services.domain.types.flow_trace import StepState, Trace, TracedStep
from services.i18n import N_, _, ngettext
from services.monitor.artifacts import ArtifactQueries, Found
from views.kit.picture import Picture
from views.support import safe, text
from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import IconButton, LinkLabel
from views.widgets.layout import STRETCH, clear, in_column, in_row, put
from views.widgets.section import Section
from views.widgets.timeline import Timeline, TimelineEntry

#: steps before and after the one that matters which are listed at once; of 200 steps one wants to see where it stands
BEFORE, AFTER, LEAST = 6, 4, 14
EDGE, INDENT, SAID_CHARS = 168, 21, 600
_GLYPHS = {
    StepState.DONE: "succeeded",
    StepState.FAILED: "dead",
    StepState.NOW: "running",
    StepState.STOPPED: "cancelled",
    StepState.AHEAD: "",
}
#: what the browser leaves of a failed step, beside its picture
_NAMED = {"console.txt": N_("Console"), "network.txt": N_("Network errors")}
_ICONS = {"console.txt": "ph.terminal-window", "network.txt": "ph.globe-simple", "html": "ph.browser"}


class FailedStep(QWidget):
    """Why a step failed: the picture of the page, the sentence, and the page and what it said as files.

    Signals:
        open_wanted: a file shall be shown (the ``Artifact``).
    """

    open_wanted = Signal(object)

    def __init__(self, queries: ArtifactQueries) -> None:
        super().__init__()
        self.picture = Picture(queries, EDGE)
        self.picture.activated.connect(self._on_picture)
        self.said, self._away = Label("", "label", "text", wrap=True), Label("", "caption", "text3", wrap=True)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.links: list[LinkLabel] = []
        self._files: tuple[Found, ...] = ()
        self._words = in_column(self.said, self._away, spacing=4)
        self._lines = in_column(spacing=2)
        self._words.addLayout(self._lines)
        self._words.addStretch(1)
        in_row(
            (self.picture, 0, Qt.AlignmentFlag.AlignTop),
            (self._words, 1),
            owner=self,
            margins=(INDENT, 2, 0, 6),
            spacing=12,
        )

    def show_failure(self, said: str, title: str, files: Sequence[Found]) -> None:
        """Show the sentence, and of ``files`` those that the step left; the last picture is that of the failure."""
        self.said.setText(safe.visible(safe.cut(masked_text(said), SAID_CHARS), keep_newlines=True))
        pictures = [one for one in files if one.artifact.kind == "image"]
        here = [one.artifact for one in pictures if one.here]
        self.picture.setAccessibleName(_("Screenshot of the step {name}").format(name=safe.one_line(title, 60)))
        self.picture.show_file(here[-1] if here else None)
        lies_elsewhere = bool(pictures) and not here
        self._away.setText(_("Its screenshot lies on the machine of its worker, not here.") if lies_elsewhere else "")
        self._away.setVisible(lies_elsewhere)
        self._fill(tuple(one for one in files if one.artifact.kind != "image"))

    def _fill(self, files: tuple[Found, ...]) -> None:
        if files == self._files:
            return
        self._files = files
        self.links.clear()
        clear(self._lines)
        for one in files:
            self._lines.addWidget(self._line(one))

    def _line(self, one: Found) -> QWidget:
        artifact, line = one.artifact, QWidget()
        row = in_row(owner=line, spacing=6)
        glyph = QLabel()
        icon = _ICONS.get(artifact.name) or _ICONS.get(artifact.kind, "ph.file")
        glyph.setPixmap(theme().pixmap(icon, "text2", 14))
        link = LinkLabel()
        named = _NAMED.get(artifact.name)
        words = _("Page as HTML") if artifact.kind == "html" else _(named) if named else artifact.name
        link.set_count_text(safe.one_line(words, 40))
        link.disable("" if one.here else _("It lies on the machine of its worker, not here"))
        link.activated.connect(partial(self.open_wanted.emit, artifact))
        self.links.append(link)
        put(row, glyph, link, STRETCH, Label(text.size(artifact.size), "label", "text3", tabular=True))
        return line

    def _on_picture(self) -> None:
        if self.picture.shown is not None:
            self.open_wanted.emit(self.picture.shown)


class StepsSection(Section):
    """Hidden for tasks that are no flow.

    Signals:
        open_wanted: a file shall be shown (the ``Artifact``).
    """

    open_wanted = Signal(object)

    def __init__(self, queries: ArtifactQueries) -> None:
        super().__init__(N_("Steps"))
        self._trace: Trace | None = None
        self._files: tuple[Found, ...] = ()
        self._all = False
        self.before, self.after, self.failure = Timeline(), Timeline(), FailedStep(queries)
        self.failure.open_wanted.connect(self.open_wanted)
        self._whole = IconButton("ph.list-numbers", N_("Show all steps"))
        self._whole.clicked.connect(self._show_all)
        self.add_action(self._whole)
        self.body.setSpacing(0)
        for widget in (self.before, self.failure, self.after):
            self.body.addWidget(widget)
        self.hide()

    def clear(self) -> None:
        """Show nothing; another task comes."""
        self._trace, self._files, self._all = None, (), False
        self.failure.picture.show_file(None)
        self.hide()

    @property
    def failed(self) -> bool:
        """Whether a failed step is named."""
        return self._trace is not None and self._trace.failure is not None

    def shows(self, artifact: Artifact) -> bool:
        """Whether this picture stands beside its step."""
        return self.failure.picture.shown == artifact

    def follow(self, trace: Trace | None) -> None:
        """Show how far the flow is."""
        self._trace = trace
        self.setVisible(trace is not None)
        self._say()

    def take(self, files: tuple[Found, ...]) -> None:
        """The files of the task."""
        self._files = files
        self._say()

    def _show_all(self) -> None:
        self._all = True
        self._say()

    def _say(self) -> None:
        trace = self._trace
        if trace is None:
            return
        self.set_note(note(trace), "dead" if self.failed else "text3")
        lines, here = trace.steps, _focus(trace)
        first, last = (0, len(lines)) if self._all else _window(len(lines), here)
        self._whole.setVisible(last - first < len(lines))
        self.before.set_entries([*_left_out(first, done=True), *map(_entry, lines[first : here + 1])])
        after = [*map(_entry, lines[here + 1 : last]), *_left_out(len(lines) - last, done=False)]
        self.after.set_entries(after)
        self.after.setVisible(bool(after))
        failed = trace.failure
        self.failure.setVisible(failed is not None)
        if failed is None:
            self.failure.picture.show_file(None)
            return
        own = [one for one in self._files if (one.artifact.attempt, one.artifact.step) == (trace.attempt, failed.title)]
        self.failure.show_failure(trace.said, failed.title, own)


def note(trace: Trace) -> str:
    """Where it stands, in words."""
    outer = [one for one in trace.steps if "." not in one.place]
    done = sum(1 for one in outer if one.state == StepState.DONE)
    if trace.failure is not None:
        return _("failed at step {place} of {n}").format(place=trace.failure.place.partition(".")[0], n=len(outer))
    if any(one.state == StepState.NOW for one in outer):
        return _("step {place} of {n}").format(place=done + 1, n=len(outer))
    if any(one.state == StepState.STOPPED for one in outer):
        return _("stopped at step {place} of {n}").format(place=done + 1, n=len(outer))
    if done:
        return _("all done")
    return ngettext("{n} step", "{n} steps", len(outer)).format(n=text.count(len(outer)))


def _focus(trace: Trace) -> int:
    """The last line that something is to be said of."""
    if trace.failure is not None:
        return trace.failed
    begun = [place for place, one in enumerate(trace.steps) if one.state != StepState.AHEAD]
    return begun[-1] if begun else 0


def _window(count: int, here: int) -> tuple[int, int]:
    """First and behind the last of the lines that are shown around ``here``."""
    if count <= LEAST:
        return 0, count
    first, last = max(0, here - BEFORE), min(count, here + 1 + AFTER)
    return (0 if first == 1 else first), (count if last == count - 1 else last)


def _left_out(count: int, *, done: bool) -> list[TimelineEntry]:
    if not count:
        return []
    words = ngettext("{n} step more", "{n} steps more", count).format(n=text.count(count))
    return [TimelineEntry(time="", text=words, status="succeeded" if done else "", future=not done)]


def _entry(step: TracedStep) -> TimelineEntry:
    return TimelineEntry(
        time="",
        text=f"{step.place}  {step.do}",
        strong=safe.one_line(step.name, 60),
        tail=safe.one_line(step.about, 120),
        status=_GLYPHS[step.state],
        future=step.state == StepState.AHEAD,
    )
