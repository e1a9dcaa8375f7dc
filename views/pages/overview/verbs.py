"""What attention items offer beyond opening a page: pause, resume, start a worker; audited, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.domain.gates import paused
from services.domain.task import lane
from services.domain.task.status import MOVABLE
from services.i18n import N_, _, ngettext
from services.monitor.tasks import Pick
from views.context import PageContext
from views.dialogs.again import ask_why
from views.dialogs.confirm import Question, ask_for_note, typed_count
from views.dialogs.shop_login import ShopLogin
from views.kit.page_acts import PageActs
from views.kit.task_acting import TaskActing
from views.kit.task_verb import TaskVerb, again_of_cancelled, many, told_cancelled
from views.support import priorities, shown, text
from views.support.acting import REPUBLISH, Acting, republishing
from views.support.operation import Start
from views.widgets.toast import ToastSpec

LOW = lane.DEFAULT_PRIORITY[lane.Lane.LOW]


def _sunk(outcome: Outcome) -> str:
    number = len(outcome.done)
    words = ngettext("{n} task has a low priority now", "{n} tasks have a low priority now", number)
    return words.format(n=text.count(number))


#: all the way down, where *Lower priority* of the Tasks page is one step
SINK = TaskVerb(
    key="lower_tasks", text=N_("Lower the priority"), suits=MOVABLE, misfit=lambda _n, _of: "",
    title=N_("Lower the priority"), parts=lambda one: _("priority {n}").format(n=one.priority),
    explain=lambda _picks: _(
        "They keep waiting, behind everything of higher priority; what runs goes on. Undo gives it back."
    ),
    count=lambda n: _("Lower {tasks}").format(tasks=many(n)),
    run=lambda commands, picks: priorities.give(commands, {one.task_id: LOW for one in picks}), done=_sunk,
    undo=lambda commands, picks: priorities.back(commands, picks, N_("They have the priority of before.")),
    given_back=True,
)  # fmt: skip


class AttentionVerbs(PageActs):
    """Each verb ends in a toast that says what happened and takes it back where that is possible."""

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self.login = ShopLogin(context, owner)
        self._acting = Acting(self, context.toast, context.pending)
        self._doing = TaskActing(context, self._acting, owner)

    def run(self, verb: str, target: str) -> None:
        """Do what an item offers; ``target`` is a pause scope, a shop, or "" for a worker."""
        act = ACTS.get(verb)
        if act is not None:
            act(self, target)

    def copy(self, words: str) -> None:
        """Put what an item says on the clipboard, for whoever can help."""
        QGuiApplication.clipboard().setText(words)
        self._context.toast(ToastSpec(text=_("Copied: send it to whoever can help"), status="healthy"))

    def pause(self, scope: str) -> None:
        """Let nothing of this scope start."""
        self._pause(scope, partial(_what, scope))

    def resume(self, scope: str) -> None:
        """Let tasks of this scope start again; a pause with a note, or of somebody else, after a look at it."""
        known = self._context.feed.latest.pauses
        pause = next((one for one in known if (one.gate, one.scope) == (paused.GATE, scope)), None)
        self._end_pause(pause, scope, partial(_what, scope))

    def start_worker(self, _target: str = "") -> None:
        """Work on tasks in this program."""
        local = self._context.local
        self._act(partial(local.start, local.slots), lambda _done: _("A worker runs on this computer now."))

    def widen(self, target: str) -> None:
        """Give a worker more slots: ``worker=number``."""
        worker, _sign, number = target.rpartition("=")
        before = next((len(one.slots) for one in self._context.feed.latest.workers if one.worker == worker), 0)
        tell = partial(self._context.commands.fleet.tell_worker, worker)
        self._act(
            partial(tell, f"slots={number}"),
            lambda _done: _("{worker} is asked for {n} slots.").format(worker=worker, n=number),
            partial(tell, f"slots={before}") if before else None,
        )

    def forget_worker(self, worker: str) -> None:
        """Show one that is gone no more."""
        call = partial(self._context.commands.fleet.forget_worker, worker)
        self._act(call, lambda _done: _("{worker} is forgotten").format(worker=worker))

    def republish(self, task_id: str) -> None:
        """Make a new task of a dead letter, in a moment; what waits for the old one waits for the new one."""
        if not self._acting.free(REPUBLISH, [task_id]):
            return
        call = partial(self._context.commands.dead_letters.republish, [task_id])

        def told(_outcome: Outcome) -> str:
            return _("Republished; what waits for it goes on.")

        def again(why: str, start: Start) -> None:
            self._acting.at_once(partial(call, reason=why), told, start=start)

        self._acting.delayed(
            partial(republishing, 1),
            call,
            told,
            about=[(REPUBLISH, task_id)],
            instead=lambda outcome, tell: ask_why(outcome, again, tell, self._owner),
        )

    def cancel(self, target: str) -> None:
        """Cancel tasks that wait in vain, after a look at how many."""
        ids = target.split(",")

        def question() -> Question:
            number = many(len(ids))
            return Question(
                title=N_("Cancel what waits in vain"),
                rows=((_("waiting"), number),),
                text=_(
                    "They wait for a task that will not succeed. A cancelled task does not run; it can be created"
                    " again."
                ),
                verb=_("Cancel {tasks}").format(tasks=number),
                note=_("Note, kept in the audit trail"),
                danger=True,
                leave=N_("Do not cancel"),
                typed=typed_count(len(ids), self._context.environment),
            )

        ask_for_note(question, self._owner, partial(self._cancel, ids))

    def stop(self, task_id: str) -> None:
        """Stop a running task, after a look at what that means."""

        def question() -> Question:
            return Question(
                title=N_("Stop a task that seems to hang"),
                rows=((_("task id"), task_id),),
                text=_(
                    "Its worker ends it and its shop is free again. It counts as cancelled; it can be created again."
                ),
                verb=_("Stop it"),
                note=_("Note, kept in the audit trail"),
                danger=True,
                leave=N_("Do not stop"),
            )

        ask_for_note(question, self._owner, partial(self._cancel, [task_id]))

    def lower(self, target: str) -> None:
        """Let waiting tasks go after those of others; ``target`` is the filter of them. They are counted first."""
        self._operation.start(partial(self._context.tasks.picks, target), self._ask_to_lower, self._fail)

    def _ask_to_lower(self, picks: Sequence[Pick]) -> None:
        high = [one for one in picks if one.status in MOVABLE and one.priority > LOW]
        if high:
            self._doing.ask(SINK, high)
        else:
            self._context.toast(ToastSpec(text=_("Their priority is low already."), status="healthy"))

    def _cancel(self, ids: list[str], note: str, start: Start) -> None:
        tasks = self._context.commands.tasks
        self._acting.at_once(
            partial(tasks.cancel, ids, reason=note), told_cancelled, again_of_cancelled(tasks), start=start
        )


#: what an item may offer
ACTS: Mapping[str, Callable[[AttentionVerbs, str], object]] = {
    "pause": AttentionVerbs.pause,
    "resume": AttentionVerbs.resume,
    "open_session": lambda verbs, shop: verbs.login.go_on(shop),
    "login_shop": lambda verbs, shop: verbs.login.begin(shop),
    "look_shop": lambda verbs, shop: verbs.login.look(shop),
    "start_worker": AttentionVerbs.start_worker,
    "forget_worker": AttentionVerbs.forget_worker,
    "republish": AttentionVerbs.republish,
    "cancel_tasks": AttentionVerbs.cancel,
    "stop_task": AttentionVerbs.stop,
    "lower_tasks": AttentionVerbs.lower,
    "more_slots": AttentionVerbs.widen,
    "copy_server": AttentionVerbs.copy,
    "copy_flow": AttentionVerbs.copy,
    "copy_creator": AttentionVerbs.copy,
}


def _what(scope: str) -> str:
    return _("The shop") if scope.startswith("shop:") else shown.scope_name(scope)
