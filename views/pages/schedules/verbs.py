"""What is done to schedules: one list behind buttons, menu and palette; every act is an audited command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from services import messages
from services.commands.outcome import Outcome
from services.domain.plans.schedule import Tally
from services.i18n import N_, _, ngettext
from services.monitor.schedules import ScheduleRow
from views.context import PageContext
from views.dialogs.confirm import Asked, Question, confirm, typed_count
from views.kit.page_acts import PageActs
from views.kit.task_verb import FEW
from views.kit.verb import Verb
from views.pages.schedules import words
from views.pages.schedules.backfill import BackfillDialog, Span
from views.pages.schedules.editor import ScheduleDialog
from views.pages.schedules.versions import VersionsDialog
from views.support import instant, shown, text
from views.support.acting import HOLD_MANY_S, HOLD_S, TELL_S, Acting
from views.widgets.toast import ToastSpec

T = TypeVar("T")
#: names of what is held, for nothing else is about it
RUN, SKIP, BACKFILL = "schedule.run", "schedule.skip", "schedule.backfill"


class ScheduleActions(PageActs):
    """What is done to schedules."""

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self.acting = Acting(self, context.toast, context.pending)
        self.acting.ended.connect(self.changed)

    def create(self) -> None:
        """Make a new one, in a dialog."""
        self._open_dialog(None)

    def edit(self, row: ScheduleRow) -> None:
        """Change one, in a dialog."""
        self._open_dialog(row)

    def switch(self, row: ScheduleRow) -> None:
        """Enable a disabled schedule, disable an enabled one."""
        name, enabled = row.schedule.name, not row.schedule.enabled
        said = N_("{name} is enabled.") if enabled else N_("{name} is disabled.")
        call = partial(self._context.commands.schedules.switch, [name], enabled=enabled)
        back = partial(self._context.commands.schedules.switch, [name], enabled=not enabled)
        self._act(call, lambda _names: _(said).format(name=name), back)

    def skip(self, row: ScheduleRow) -> None:
        """Leave the next run out: it cannot be had back, so that this waits for a moment, unless it is about to run."""
        name, at = row.schedule.name, row.upcoming[0]
        if not self.acting.free(SKIP, [name]):
            return

        def call() -> Outcome:
            return Outcome(done=self._context.commands.schedules.skip([name], at=at))

        def told(_outcome: Outcome) -> str:
            return _("The next run of {name} is left out.").format(name=name)

        now = instant.now_ms()
        if at - now < (HOLD_S + 1) * 1000:
            self.acting.at_once(call, told)
            return

        def announce() -> str:
            said = _("{name} leaves its run of {time} out in {s} s")
            return said.format(name=name, time=shown.clock(at, now), s=HOLD_S)

        self.acting.delayed(announce, call, told, now=N_("Skip now"), about=[(SKIP, name)])

    def run(self, row: ScheduleRow) -> None:
        """Run now, after a look at how many tasks that makes."""

        def question() -> Question:
            return Question(
                title=N_("Run a schedule now"),
                number=ngettext("{n} task", "{n} tasks", row.shops).format(n=text.count(row.shops)),
                text=_("{name} runs for {shops}. Its next run stays as planned.").format(
                    name=row.schedule.name, shops=words.shops(row.schedule)
                ),
                verb=ngettext("Create {n} task", "Create {n} tasks", row.shops).format(n=text.count(row.shops)),
                typed=typed_count(row.shops, self._context.environment),
            )

        confirm(question, self._owner, partial(self._hold_run, row.schedule.name, row.shops))

    def _hold_run(self, name: str, number: int) -> None:
        def words() -> str:
            return ngettext("{name} creates {n} task in {s} s", "{name} creates {n} tasks in {s} s", number)

        self._hold(RUN, name, number, words, lambda: self._context.commands.schedules.run(name))

    def _hold(
        self,
        verb: str,
        name: str,
        number: int,
        announce: Callable[[], str],
        make: Callable[[], Tally],
        ask_again: Callable[[], None] | None = None,
    ) -> None:
        """What is created cannot be taken back, so that it waits for a moment."""
        if not self.acting.free(verb, [name]):
            return
        tallies: list[Tally] = []

        def call() -> Outcome:
            tallies.append(make())
            return Outcome(done=(name,))

        seconds = HOLD_S if number <= FEW else HOLD_MANY_S
        self.acting.delayed(
            lambda: announce().format(name=name, n=text.count(number), s=seconds),
            call,
            lambda _outcome: self._ran(tallies[-1]),
            seconds,
            about=[(verb, name)],
            ask_again=ask_again,
            partly=lambda: bool(tallies[-1].failed),
        )

    def backfill(self, row: ScheduleRow) -> None:
        """Make up for runs that are missing, in a dialog that shows them first."""
        self._ask_span(row, None)

    def _ask_span(self, row: ScheduleRow, span: Span | None) -> None:
        dialog = BackfillDialog(self._context, row, self._owner, span)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.wanted.connect(partial(self._hold_backfill, row))
        dialog.open()

    def _hold_backfill(self, row: ScheduleRow, span: Span) -> None:
        name, ask_again = row.schedule.name, partial(self._ask_span, row, span)

        def words() -> str:
            return ngettext(
                "{name} makes up for {n} task in {s} s", "{name} makes up for {n} tasks in {s} s", span.tasks
            )

        def make() -> Tally:
            return self._context.commands.schedules.backfill(name, span.since, span.until, each=span.each)

        self._hold(BACKFILL, name, span.tasks, words, make, ask_again)

    def versions(self, row: ScheduleRow) -> None:
        """Who changed what, and the way back."""
        dialog = VersionsDialog(self._context, row, self.barred(), self._owner)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.reverted.connect(self._on_reverted)
        dialog.open()

    def _on_reverted(self, name: str) -> None:
        words = _("{name} is as it was before.").format(name=name)
        self._context.toast(ToastSpec(text=words, status="succeeded", seconds=TELL_S))
        self.changed.emit()

    def remove(self, row: ScheduleRow) -> None:
        """Strike a schedule off; its name must be typed."""
        name = row.schedule.name

        def question() -> Question:
            return Question(
                title=N_("Remove a schedule"),
                text=_("{name} runs no more. The tasks that it has made stay.").format(name=name),
                verb=_("Remove"),
                danger=True,
                typed=name,
            )

        call = partial(self._context.commands.schedules.remove, [name])
        self._ask(question, call, lambda _names: _("{name} is removed.").format(name=name))

    def _open_dialog(self, row: ScheduleRow | None) -> None:
        dialog = ScheduleDialog(self._context, row, self._owner)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self.changed)
        dialog.open()

    def _ran(self, tally: Tally) -> str:
        made = _("Created: {tasks}").format(tasks=words.outcome(tally))
        return text.listed([made, messages.own(tally.error)] if tally.error else [made])

    def _ask(self, question: Asked, call: Callable[[], T], done: Callable[[T], str]) -> None:
        confirm(question, self._owner, partial(self._act, call, done))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleVerb(Verb[ScheduleRow | None]):
    """Something that can be done to the schedule that is chosen."""

    do: Callable[[ScheduleActions, ScheduleRow], None]

    def why_not(self, chosen: ScheduleRow | None) -> str:
        """There must be one."""
        return "" if chosen is not None else _("Choose a schedule first")


class Skip(ScheduleVerb):
    """Leaves the next run out, where there is one."""

    def why_not(self, chosen: ScheduleRow | None) -> str:
        """It must have a next run."""
        if chosen is not None and not chosen.upcoming:
            return _("It has no next run")
        return super().why_not(chosen)


class Switch(ScheduleVerb):
    """Enables what is disabled and the other way about."""

    def name(self, chosen: ScheduleRow | None) -> str:
        """What it would do."""
        return self.text if chosen is None or chosen.schedule.enabled else N_("Enable")


#: in their order; all but editing change something at once
VERBS: tuple[ScheduleVerb, ...] = (
    ScheduleVerb(key="edit", text=N_("Edit"), icon="ph.pencil-simple", do=ScheduleActions.edit),
    ScheduleVerb(key="run", text=N_("Run now"), icon="ph.play", do=ScheduleActions.run),
    ScheduleVerb(
        key="backfill", text=N_("Make up for…"), icon="ph.clock-counter-clockwise", do=ScheduleActions.backfill
    ),
    Skip(key="skip", text=N_("Skip next"), icon="ph.skip-forward", do=ScheduleActions.skip),
    Switch(key="switch", text=N_("Disable"), icon="ph.power", do=ScheduleActions.switch),
    ScheduleVerb(key="remove", text=N_("Remove"), icon="ph.trash", danger=True, do=ScheduleActions.remove),
)
