"""The verbs of the task pages as data: which tasks they suit, what they are called, why they are disabled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from services.domain.insight import attempts
from services.domain.task.record import Task
from services.domain.task.status import CANCELLABLE, MOVABLE, Status, Triage
from services.i18n import N_, _, ngettext
from services.monitor.tasks import Pick
from views.support import shown, text

_RETRY = frozenset({Status.DEAD, Status.HELD, Status.RETRYING})
_CANCEL = CANCELLABLE | {Status.RUNNING}
#: up to this many are acted on without a preview; a preview names what is left out, so above it a few misfits are fine
FEW = 9

#: how many tasks of a selection stand where: (status, triage) -> number
Standing = Mapping[tuple[str, str], int]


def _not_failed(n: int, of: int) -> str:
    if of == 1:
        return _("This task has not failed")
    return ngettext("{n} of {of} is not failed", "{n} of {of} are not failed", n).format(n=n, of=of)


def _over(n: int, of: int) -> str:
    if of == 1:
        return _("This task is over")
    return ngettext("{n} of {of} is over", "{n} of {of} are over", n).format(n=n, of=of)


def _not_waiting(n: int, of: int) -> str:
    if of == 1:
        return _("This task is not waiting")
    return ngettext("{n} of {of} is not waiting", "{n} of {of} are not waiting", n).format(n=n, of=of)


def _known(n: int, of: int) -> str:
    if of == 1:
        return _("This task is not to be confirmed")
    return ngettext("{n} of {of} is not to be confirmed", "{n} of {of} are not to be confirmed", n).format(n=n, of=of)


def _not_cancelled(n: int, of: int) -> str:
    if of == 1:
        return _("This task was not cancelled")
    return ngettext("{n} of {of} was not cancelled", "{n} of {of} were not cancelled", n).format(n=n, of=of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One action on tasks."""

    key: str
    text: str  #: source text
    icon: str
    shortcut: str
    suits: frozenset[Status]
    misfit: Callable[[int, int], str]  #: the sentence for n of so many that it does not suit
    danger: bool = False
    #: source text, for a task whose outcome nobody knows: when to choose it, and what comes of it
    effect: str = ""

    def fits(self, status: str, triage: str = "") -> bool:
        """Whether it can do something for a task that stands there."""
        if self.key == "retry" and triage == Triage.REPUBLISHED:
            return False
        return status in self.suits

    def reason(self, standing: Standing) -> str:
        """Why it is disabled for a selection, "" when it is not."""
        total = sum(standing.values())
        if not total:
            return _("Select a task first")
        unfit = sum(number for (status, triage), number in standing.items() if not self.fits(status, triage))
        if unfit == 0 or (total > FEW and unfit < total):
            return ""
        return self.misfit(unfit, total)


RETRY = Verb(key="retry", text=N_("Retry"), icon="ph.arrow-clockwise", shortcut="R", suits=_RETRY, misfit=_not_failed)
CANCEL = Verb(
    key="cancel", text=N_("Cancel"), icon="ph.prohibit", shortcut="Del", suits=_CANCEL, misfit=_over, danger=True,
    effect=N_("It is not wanted any more: it ends as cancelled, nothing runs."),
)  # fmt: skip
RAISE = Verb(
    key="raise", text=N_("Raise priority"), icon="ph.caret-double-up", shortcut="P", suits=MOVABLE, misfit=_not_waiting
)
RUN_NOW = Verb(
    key="run_now", text=N_("Run now"), icon="ph.lightning", shortcut="Ctrl+Return", suits=MOVABLE, misfit=_not_waiting
)
LOWER = Verb(
    key="lower", text=N_("Lower priority"), icon="ph.caret-double-down", shortcut="Shift+P", suits=MOVABLE,
    misfit=_not_waiting,
)  # fmt: skip
VERBS = (RETRY, CANCEL, RAISE, RUN_NOW)
#: what *Run now* is called where no attempt follows
RUN_LAST = N_("Run the last try now")
#: what menu, palette and keys offer beside those of bar and panel
MENU_VERBS = (*VERBS, LOWER)
#: offered in their place where all that is chosen was cancelled
CREATE_AGAIN = Verb(
    key="create_again", text=N_("Create again"), icon="ph.arrow-counter-clockwise", shortcut="",
    suits=frozenset({Status.CANCELLED}), misfit=_not_cancelled,
)  # fmt: skip
#: stops the task that stands before another one
STOP_HOLDER = Verb(
    key="stop_holder", text=N_("Stop that one"), icon="ph.stop-circle", shortcut="", suits=MOVABLE, misfit=_not_waiting,
    danger=True,
)  # fmt: skip
_HELD = frozenset({Status.HELD})
#: what a person may decide about a task whose outcome nobody knows; the key is what the record becomes
RAN = Verb(
    key=Status.SUCCEEDED, text=N_("It ran"), icon="ph.check-circle", shortcut="", suits=_HELD, misfit=_known,
    effect=N_("The shop shows that it was done: it ends as succeeded, nothing runs."),
)  # fmt: skip
AGAIN = Verb(
    key=Status.PENDING, text=N_("Run again"), icon="ph.arrow-clockwise", shortcut="", suits=_HELD, misfit=_known,
    effect=N_("The shop shows that it was not done: it runs again. What was done after all is done twice."),
)  # fmt: skip
GIVE_UP = Verb(
    key=Status.DEAD, text=N_("Give up"), icon="ph.x-circle", shortcut="", suits=_HELD, misfit=_known, danger=True,
    effect=N_("Nobody can tell: it becomes a dead letter, nothing runs; it can be republished later."),
)  # fmt: skip
DECISIONS = (RAN, AGAIN, GIVE_UP)


def decision(verb: Verb) -> str:
    """The entry of a menu: the verb, and what comes of it where that is told beside it."""
    return _("{name}: {value}").format(name=_(verb.text), value=_(verb.effect)) if verb.effect else _(verb.text)


def undecided(standing: Standing) -> bool:
    """Whether some of a selection wait for a person to say how they ended."""
    return any(number for (status, _triage), number in standing.items() if status == Status.HELD)


def cancelled(standing: Standing) -> bool:
    """Whether some of a selection were cancelled and can be created again."""
    return any(number for (status, _triage), number in standing.items() if status == Status.CANCELLED)


def extra(standing: Standing) -> tuple[Verb, ...]:
    """The verbs that are offered beside the usual ones only where they suit some of a selection."""
    decisions = DECISIONS if undecided(standing) else ()
    return (*decisions, CREATE_AGAIN) if cancelled(standing) else decisions


def retrying(standing: Standing) -> bool:
    """Whether all of a selection wait for another attempt: of these, *Retry* and *Run now* would do the same."""
    return bool(standing) and all(status == Status.RETRYING for (status, _triage), n in standing.items() if n)


def run_now(task: Task | None) -> tuple[str, str]:
    """What *Run now* is called for this one task (source text), and what must be known before."""
    last = attempts.last(task) if task is not None and task.status == Status.RETRYING else None
    return (RUN_NOW.text, "") if last is None else (RUN_LAST, shown.say(last))


def standing_of(picks: Iterable[Pick]) -> Counter[tuple[str, str]]:
    """Where the tasks of a selection stand."""
    return Counter((one.status, one.triage) for one in picks)


def many(number: int) -> str:
    """``51 tasks``."""
    return ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))
