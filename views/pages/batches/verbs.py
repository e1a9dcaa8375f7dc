"""What is done to a batch as one: retry, raise, cancel; each says before what it does, and how it is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from services.commands.batches import BatchCommands, BatchOutcome, BatchPlan
from services.commands.outcome import Outcome
from services.commands.tasks import RaisedBatch
from services.domain.insight import batch as insight
from services.domain.insight.batch import Box, Hold
from services.domain.task.search import filter
from services.domain.task.search.filter import field_of_cause, is_fingerprint
from services.domain.task.search.query import Term, equals, excludes
from services.domain.task.status import REPLACED, Status
from services.i18n import N_, _, ngettext
from services.monitor.batches import READ, BatchQueries
from services.monitor.files import export
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.confirm import Question, ask_for_note, confirm, confirm_limit, typed_count
from views.dialogs.file import ask_file
from views.kit.page_acts import PageActs
from views.kit.task_verb import again_of_cancelled, explain_again, many, told_cancelled, told_created_again
from views.kit.verb import LOOK, Place, Verb
from views.pages.batches import words
from views.pages.batches.words import BatchNow
from views.support import safe, shown, text
from views.support.acting import HOLD_MANY_S, Acting, Reverse
from views.support.operation import Operation
from views.widgets.toast import ToastSpec

#: shops that a filter of tasks names, and letters of ids in one
MOST_SHOPS, MOST_NAMED = 200, 16_000
#: letters of a cause that are named one by one; more are found by it, and so are those that come to it meanwhile
BY_NAME = 50


class BatchActions(PageActs):
    """What is done about a batch."""

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self._planning = Operation(self, latest=True)
        self._exporting = Operation(self, lasting=True)
        self.acting = Acting(self, context.toast, context.pending)

    def show_tasks(self, one: BatchNow) -> None:
        """All of its tasks, as many as it counts."""
        self.show_box(one, None)

    def show_box(self, one: BatchNow, box: Box | None, by: str = insight.PLATFORM) -> None:
        """Its tasks, of one box alone where one is named; ``by``: what tells boxes of a type apart."""
        terms = self._of_box(one, box, by)
        if terms is None:
            return
        if one.view.again.get(Status.DEAD):
            terms.append(excludes("triage", *sorted(REPLACED)))
        if one.view.again.get(Status.CANCELLED):
            terms += self._but_created_again(one)
        self.shown.emit("tasks", filter.format_terms(tuple(terms)))

    def show_hold(self, one: BatchNow, hold: Hold, box: Box | None, by: str = insight.PLATFORM) -> None:
        """The tasks that this holds, of one box alone where one is named."""
        by_name = ":" in hold.key and len(hold.ids) <= BY_NAME
        terms = [equals("id", *hold.ids)] if by_name else self._of_box(one, box, by)
        if terms is None:
            return
        if ":" in hold.key and not by_name:
            terms += [equals("status", Status.DEAD), *_of_causes(hold)]
        elif not by_name:
            terms.append(equals("status" if hold.key in set(Status) else "gate", hold.key))
        if hold.key.partition(":")[0] == Status.DEAD and len(terms) > 1 and one.view.again.get(Status.DEAD):
            terms.append(excludes("triage", *sorted(REPLACED)))
        self.shown.emit("tasks", filter.format_terms(tuple(terms)))

    def _of_box(self, one: BatchNow, box: Box | None, by: str) -> list[Term] | None:
        """What the tasks of a box have, None where they cannot be named."""
        terms = [equals("batch", one.view.batch)]
        if box is None:
            return terms
        terms.append(equals("type", box.task_type))
        if box.within and by == insight.PLATFORM:
            terms.append(equals("platform", box.within))
        elif by == insight.GROUP and one.story is not None and len(box.shops) < one.story.shops:
            if len(box.shops) > MOST_SHOPS:
                said = _("Its {n} shops are too many to look for by name.").format(n=text.count(len(box.shops)))
                self._context.toast(ToastSpec(text=said, status="warning"))
                return None
            terms.append(equals("shop", *box.shops))
        return terms

    def _but_created_again(self, one: BatchNow) -> list[Term]:
        """But for what was cancelled and created again, which is named where others were cancelled and were not."""
        if not one.view.counts.get(Status.CANCELLED):
            return [excludes("status", Status.CANCELLED)]
        if len(one.again) == one.view.again[Status.CANCELLED] and len(",".join(one.again)) <= MOST_NAMED:
            return [excludes("id", *one.again)]
        said = _("What was cancelled and created again is listed twice: as cancelled, and as it is now.")
        self._context.toast(ToastSpec(text=said))
        return []

    def ask_export(self, one: BatchNow) -> None:
        """Ask which file its tasks are written to."""
        name = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in one.view.batch)[:80]
        title = _("Export {tasks}").format(tasks=many(one.view.total))
        ask_file(self._owner, title, name or "batch", partial(self.export, one))

    def export(self, one: BatchNow, path: Path) -> None:
        """Write its tasks to a file, off the GUI thread."""
        call = partial(_write, self._context.tasks, one.view.batch, path)
        self._exporting.start(call, partial(self._tell_exported, path), self._fail)

    def _tell_exported(self, path: Path, number: int) -> None:
        words = ngettext("{n} task exported to {file}", "{n} tasks exported to {file}", number)
        said = words.format(n=text.count(number), file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=said, seconds=10))

    # acting as one

    def retry(self, one: BatchNow) -> None:
        """Its open dead letters again, what waits for its next attempt now."""
        self._plan(self._commands.plan_retry, one, self._ask_retry)

    def raise_waiting(self, one: BatchNow) -> None:
        """What waits through the high lane."""
        self._plan(self._commands.plan_raise, one, self._ask_raise)

    def cancel(self, one: BatchNow) -> None:
        """End what has not ended, after a look at it."""
        self._plan(self._commands.plan_cancel, one, self._ask_cancel)

    def again(self, one: BatchNow) -> None:
        """The work of what was cancelled, after a look at how much that is now."""
        call = partial(_cancelled, self._context.batches, one.view.batch)
        self._planning.start(call, partial(self._planned_again, one.view.batch), self._fail)

    @property
    def _commands(self) -> BatchCommands:
        return self._context.commands.batches

    def _plan(self, plan: Callable[[str], BatchPlan], one: BatchNow, then: Callable[[BatchPlan], None]) -> None:
        self._planning.start(partial(plan, one.view.batch), partial(self._planned, then), self._fail)

    def _planned(self, then: Callable[[BatchPlan], None], plan: BatchPlan) -> None:
        if plan.task_ids:
            then(plan)
        else:
            self._tell_nothing_left()

    def _tell_nothing_left(self) -> None:
        self._context.toast(ToastSpec(text=_("There is nothing of it left to do that to."), status="warning"))
        self.changed.emit()

    def _ask_retry(self, plan: BatchPlan) -> None:
        confirm(partial(_asked_to_retry, plan, self._context.environment), self._owner, partial(self._retry, plan))

    def _retry(self, plan: BatchPlan) -> None:
        def announce() -> str:
            said = _("{batch}: {tasks} are retried in {s} s.")
            return said.format(batch=plan.batch, tasks=many(plan.number), s=HOLD_MANY_S)

        call = partial(_outcome, partial(self._commands.retry, plan))
        self.acting.delayed(announce, call, self._told_runs, HOLD_MANY_S)

    def _planned_again(self, batch: str, task_ids: tuple[str, ...]) -> None:
        if not task_ids:
            self._tell_nothing_left()
            return

        def question() -> Question:
            tasks = many(len(task_ids))
            return Question(
                title=N_("Create cancelled tasks again"),
                number=tasks,
                rows=((_("batch"), batch),),
                text=explain_again(),
                verb=_("Create {tasks}").format(tasks=tasks),
                typed=typed_count(len(task_ids), self._context.environment),
            )

        def announce() -> str:
            said = _("{batch}: {tasks} are created again in {s} s.")
            return said.format(batch=batch, tasks=many(len(task_ids)), s=HOLD_MANY_S)

        call = partial(self._context.commands.tasks.create_again, task_ids)
        confirm(question, self._owner, lambda: self.acting.delayed(announce, call, self._told_again, HOLD_MANY_S))

    def _told_again(self, outcome: Outcome) -> str:
        self.changed.emit()
        return told_created_again(outcome)

    def _ask_raise(self, plan: BatchPlan) -> None:
        """Very many only after a look at how many that are; all of it can be taken back, so that nothing is typed."""
        number = len(plan.task_ids)
        if number <= confirm_limit(self._context.environment):
            self._raise(plan)
            return

        def question() -> Question:
            return Question(
                title=N_("Raise the priority"),
                number=many(number),
                rows=((_("batch"), plan.batch),),
                text=_(
                    "What waits goes through the high lane, before that of others. Undo gives it back for ten seconds."
                ),
                verb=ngettext("Raise {n} task", "Raise {n} tasks", number).format(n=text.count(number)),
            )

        confirm(question, self._owner, partial(self._raise, plan))

    def _raise(self, plan: BatchPlan) -> None:
        tasks = self._context.commands.tasks
        made: list[RaisedBatch] = []

        def call() -> Outcome:
            done = self._commands.raise_waiting(plan)
            made.extend([done.raised] if done.raised is not None else [])
            return done.outcome

        undo = Reverse(call=lambda _outcome: tasks.lower_back(made[-1]))
        self.acting.at_once(call, self._told_raised, undo)

    def _ask_cancel(self, plan: BatchPlan) -> None:
        question = partial(_asked_to_cancel, plan, self._context.environment)
        ask_for_note(question, self._owner, lambda note, _start: self._cancel(plan, note))

    def _cancel(self, plan: BatchPlan, reason: str) -> None:
        tasks = self._context.commands.tasks
        again = again_of_cancelled(tasks)
        call = partial(_outcome, partial(self._commands.cancel, plan, reason=reason))
        self.acting.at_once(call, self._told_cancelled, again)

    def _told_runs(self, outcome: Outcome) -> str:
        self.changed.emit()
        number = _number(outcome)
        return ngettext("{n} task runs again.", "{n} tasks run again.", number).format(n=text.count(number))

    def _told_raised(self, outcome: Outcome) -> str:
        self.changed.emit()
        number = _number(outcome)
        said = ngettext("{n} task goes through the high lane.", "{n} tasks go through the high lane.", number)
        return said.format(n=text.count(number))

    def _told_cancelled(self, outcome: Outcome) -> str:
        self.changed.emit()
        return told_cancelled(outcome)


def _number(outcome: Outcome) -> int:
    """Of how many it holds, at once or as soon as it can."""
    return len(outcome.done) + len(outcome.pending)


def _of_causes(hold: Hold) -> list[Term]:
    """The cause of a part; of all the other causes, that it is none of those that have a part of their own. One that
    is known by its kind alone is listed with them: by that, letters of the others would be left out, too.
    """
    if not hold.apart:
        return [equals(field_of_cause(hold.cause), hold.cause)]
    prints = [name for name in hold.apart if is_fingerprint(name)]
    return [excludes("fp", *prints)] if prints else []


def _outcome(call: Callable[[], BatchOutcome]) -> Outcome:
    return call().outcome


def _cancelled(queries: BatchQueries, batch: str) -> tuple[str, ...]:
    """What was cancelled of it, but for that for which others stand."""
    tasks = queries.tasks(batch, READ)
    replaced = {task.task_id for task in insight.replaced(tasks)}
    return tuple(t.task_id for t in tasks if t.status == Status.CANCELLED and t.task_id not in replaced)


def _write(queries: TaskQueries, batch: str, path: Path) -> int:
    tasks = insight.counted(queries.each(filter.format_terms((equals("batch", batch),))))
    return export.write(tasks, path, queries.shops(), shown.zone(), gates=queries.gates)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchVerb(Verb[BatchNow]):
    """Something that can be done to a batch."""

    do: Callable[[BatchActions, BatchNow], None]
    number: Callable[[BatchNow], int] = lambda _one: 1
    effect: Callable[[BatchNow], str] = lambda _one: ""

    def said(self, chosen: BatchNow) -> str:
        """The verb with its number."""
        number = self.number(chosen)
        return f"{_(self.text)} {text.count(number)}" if self.role != LOOK and number else _(self.text)

    def offered(self, place: Place, chosen: BatchNow) -> bool:
        """A special one only where there is something to do that to."""
        return place in self.places and (not self.special or self.number(chosen) > 0)

    def why_not(self, chosen: BatchNow) -> str:
        """Nothing is left to do that to."""
        return "" if self.number(chosen) else _("There is nothing of it left to do that to.")


def _retry_effect(one: BatchNow) -> str:
    behind = one.story.behind_retried if one.story is not None and one.retries else 0
    said = [_("dead letters run again, back-offs now")]
    if behind:
        said.append(
            ngettext("releases {n} behind them", "releases {n} behind them", behind).format(n=text.count(behind))
        )
    chances = one.ahead.chances if one.ahead is not None and one.retries else None
    if chances is not None and (likely := words.chances(chances)):
        said.append(likely)
    return text.listed(said)


def _raise_effect(one: BatchNow) -> str:
    if one.ahead is None or one.ahead.raised is None or not one.raises:
        return _("through the high lane; other work there waits longer")
    return words.raised(one.ahead.raised, one.ahead_ms)


def _cancel_effect(one: BatchNow) -> str:
    parts = words.parts_of(one)
    running, done = parts.get(insight.RUNNING, 0), parts.get(insight.DONE, 0)
    return _("{n} at once, {running} interrupted; {done} done stay").format(
        n=text.count(max(0, one.cancels - running)), running=text.count(running), done=text.count(done)
    )


VERBS: tuple[BatchVerb, ...] = (
    BatchVerb(
        key="tasks", text=N_("Open tasks"), icon="ph.list-bullets", role=LOOK, do=BatchActions.show_tasks,
        places=frozenset({Place.BAR, Place.MENU, Place.PALETTE}),
    ),
    BatchVerb(
        key="export", text=N_("Export"), icon="ph.export", shortcut="batches.export", role=LOOK,
        do=BatchActions.ask_export, places=frozenset({Place.BAR, Place.MENU, Place.PALETTE}),
    ),
    BatchVerb(
        key="retry", text=N_("Retry"), icon="ph.arrow-clockwise", shortcut="batches.retry", do=BatchActions.retry,
        number=lambda one: one.retries, effect=_retry_effect,
    ),
    BatchVerb(
        key="raise", text=N_("Raise"), icon="ph.caret-double-up", shortcut="batches.raise",
        do=BatchActions.raise_waiting, number=lambda one: one.raises, effect=_raise_effect,
    ),
    BatchVerb(
        key="cancel", text=N_("Cancel"), icon="ph.prohibit", shortcut="batches.cancel", danger=True, group=1,
        do=BatchActions.cancel, number=lambda one: one.cancels, effect=_cancel_effect,
    ),
    BatchVerb(
        key="again", text=N_("Create again"), icon="ph.arrow-counter-clockwise", special=True, group=1,
        do=BatchActions.again, number=lambda one: words.parts_of(one).get(insight.CANCELLED, 0),
        effect=lambda _one: _("what was cancelled, under new ids; what is active already stays out"),
    ),
)  # fmt: skip
#: those that change something, each told before
CHANGING = tuple(verb for verb in VERBS if verb.role != LOOK)


def _asked_to_retry(plan: BatchPlan, environment: str) -> Question:
    words = _("Dead letters run again under new ids in the same batch; what waits for its next attempt runs now.")
    if left := len(plan.left_alone):
        stays = ngettext(
            "{n} letter stays: others did or do its work, nobody can read whether, or its type refuses it.",
            "{n} letters stay: others did or do their work, nobody can read whether, or their type refuses them.",
            left,
        )
        words = text.sentences([words, stays.format(n=text.count(left))])
    return Question(
        title=N_("Retry a batch"),
        number=many(plan.number),
        rows=((_("batch"), plan.batch),),
        text=words,
        verb=_("Retry {tasks}").format(tasks=many(plan.number)),
        typed=typed_count(plan.number, environment),
    )


def _asked_to_cancel(plan: BatchPlan, environment: str) -> Question:
    words = _("What waits ends at once, what has ended stays. Cancelled tasks can be created again.")
    if running := plan.before.get("running", 0):
        stop = ngettext("{n} that runs is asked to stop.", "{n} that run are asked to stop.", running)
        words = text.sentences([words, stop.format(n=text.count(running))])
    tasks = many(len(plan.task_ids))
    return Question(
        title=N_("Cancel a batch"),
        number=tasks,
        rows=((_("batch"), plan.batch),),
        text=words,
        verb=_("Cancel {tasks}").format(tasks=tasks),
        danger=True,
        leave=N_("Leave it"),
        note=_("Note, kept in the audit trail"),
        typed=typed_count(len(plan.task_ids), environment),
    )
