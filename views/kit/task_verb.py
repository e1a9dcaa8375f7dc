"""A verb on tasks: which it fits, what its preview counts and says, what it sends, and how that is taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from services.commands.outcome import Outcome
from services.commands.tasks import TaskCommands, join
from services.domain.insight.wait import GateView
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.i18n import N_, _, ngettext
from services.monitor.tasks import Pick
from views.context import CommandSet
from views.dialogs.confirm import Question, typed_count
from views.kit.verb import Place, Verb
from views.support import shown, text
from views.support.acting import Reverse

#: up to this many are acted on without a preview where Undo does not give all of it back (else ``confirm_limit`` says);
#: a preview names what is left out, so above it a few misfits are fine
FEW = 9

#: how many tasks of a selection stand where: (status, triage) -> number
Standing = Mapping[tuple[str, str], int]


def standing_of(picks: Iterable[Pick]) -> Counter[tuple[str, str]]:
    """Where the tasks of a selection stand."""
    return Counter((one.status, one.triage) for one in picks)


def undecided(standing: Standing) -> bool:
    """Whether some of a selection wait for a person to say how they ended."""
    return any(number for (status, _triage), number in standing.items() if status == Status.HELD)


def told_cancelled(outcome: Outcome) -> str:
    """What has ended, and apart from that what only was asked to: it may yet succeed."""
    number = len(outcome.done)
    ended = ngettext("{n} task cancelled", "{n} tasks cancelled", number).format(n=text.count(number))
    if not outcome.pending:
        return ended
    asked = ngettext("{n} running task asked to stop", "{n} running tasks asked to stop", len(outcome.pending))
    asked = asked.format(n=text.count(len(outcome.pending)))
    return asked if not outcome.done else text.listed((ended, asked), ";")


def again_of_cancelled(tasks: TaskCommands) -> Reverse:
    """What takes a cancel back: the same work under new ids. Of what ran then only what has stopped since and may be
    done twice, or surely was not begun; the rest is told as left alone, and what has not stopped yet is offered again.
    """

    def call(outcome: Outcome) -> Outcome:
        waited = tasks.create_again(outcome.done)
        return join(waited, tasks.create_again(outcome.pending, untouched=True)) if outcome.pending else waited

    def later(_made: Outcome, found: Outcome) -> Outcome:
        return Outcome(pending=tuple(one.task_id for one in found.skipped if one.why.code == "task.stopping"))

    return Reverse(call=call, text=N_("Create again"), told=told_created_again, later=later)


def explain_again() -> str:
    """What becomes of cancelled tasks that are created again."""
    return _("New tasks with the same work, linked to the old ones. What is active already is left out and named.")


def told_created_again(outcome: Outcome) -> str:
    """How many were created again."""
    number = len(outcome.done)
    return ngettext("{n} task created again", "{n} tasks created again", number).format(n=text.count(number))


def many(number: int) -> str:
    """``51 tasks``."""
    return ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks that a verb is about; what is dear to know is asked for by the verb that needs it."""

    standing: Standing
    picks: Callable[[], Sequence[Pick]]  #: a hundred thousand of them may be ticked
    refused: Callable[[], str] = lambda: ""  #: why none could be run again, as far as their rows tell
    one: Task | None = None  #: the one under the cursor, while none is ticked
    gate: GateView | None = None  #: where that one waits, as far as it was asked
    waits_at: str = ""  #: the name of the gate at which the only one waits, as far as its row tells


def _never(_picks: Sequence[Pick]) -> bool:
    return False


def _nothing(_chosen: Chosen) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerb(Verb[Chosen]):
    """Words, role, what it fits, preview, run and undo of one action on tasks."""

    suits: frozenset[Status]
    misfit: Callable[[int, int], str]  #: the sentence for n of so many that it does not suit
    closed_to: frozenset[Triage] = frozenset()  #: dead letters that it does not suit
    #: source text, for a task whose outcome nobody knows: when to choose it, and what comes of it
    effect: str = ""
    decides: str = ""  #: the decision that it is about tasks whose outcome nobody knows

    # when it is offered
    shown_for: Callable[[Place, Standing], bool] = lambda _place, _standing: True
    where: Callable[[Chosen], bool] = lambda _chosen: True  #: not offered at all elsewhere
    also: Callable[[Chosen], str] = _nothing  #: another reason against it
    useless: Callable[[Chosen], str] = _nothing  #: why it would be of no use to the one under the cursor
    called: Callable[[Task | None], tuple[str, str]] | None = None  #: for one task: source text, and a warning

    # the preview
    title: str = ""  #: source text
    explain: Callable[[Sequence[Pick]], str] = lambda _picks: ""
    count: Callable[[int], str] = many  #: the verb with its number
    parts: Callable[[Pick], str] = lambda one: shown.status_word(one.status)  #: what the preview counts them by
    leave: str = N_("Cancel")  #: source text of the way out
    note: str = ""  #: source text: what to write down before; "" asks for nothing
    note_needed: str = ""  #: source text: why nothing happens without
    careful: Callable[[Sequence[Pick]], bool] = _never  #: asked about however few they are
    given_back: bool = False  #: its undo leaves nothing behind: however many they are, no number is typed

    # what is done
    run: Callable[[CommandSet, Sequence[Pick]], Outcome] = lambda _commands, _picks: Outcome()  #: blocking
    #: the same with what was written down, where ``note`` asks for it
    noted: Callable[[CommandSet, Sequence[Pick], str], Outcome] | None = None
    #: the same with a reason, for one whose work has succeeded since or may be done
    again: Callable[[CommandSet, Sequence[Pick], str], Outcome] | None = None
    done: Callable[[Outcome], str] = lambda _outcome: ""
    #: the sentence while it is held, with ``{n}`` and ``{s}``; None: done at once, since all of it can be taken back
    soon: Callable[[int], str] | None = None
    now: str = N_("Send now")  #: source text: what ends the wait
    unheld: Callable[[Sequence[Pick]], bool] = _never  #: somebody has read what ends and said yes
    undo: Callable[[CommandSet, Sequence[Pick]], Reverse] | None = None
    about: Callable[[Pick], str] | None = None  #: what it is for a task, where another page calls it otherwise

    def fits(self, status: str, triage: str = "") -> bool:
        """Whether it can do something for a task that stands there."""
        return status in self.suits and triage not in self.closed_to

    def reason(self, standing: Standing) -> str:
        """Why it is disabled for a selection, "" when it is not."""
        total = sum(standing.values())
        if not total:
            return _("Select a task first")
        unfit = sum(number for (status, triage), number in standing.items() if not self.fits(status, triage))
        if unfit == 0 or (total > FEW and unfit < total):
            return ""
        return self.misfit(unfit, total)

    @property
    def decision(self) -> bool:
        """Whether it is one of the answers about a task whose outcome nobody knows."""
        return self.decides == self.key

    def name(self, chosen: Chosen) -> str:
        """What it is called for the one under the cursor."""
        return self.called(chosen.one)[0] if self.called is not None else self.text

    def warning(self, chosen: Chosen) -> str:
        """What must be known of the one under the cursor."""
        return self.called(chosen.one)[1] if self.called is not None else ""

    def words(self) -> str:
        """What it is called, and what comes of it where that is told; translated."""
        return _("{name}: {value}").format(name=_(self.text), value=_(self.effect)) if self.effect else _(self.text)

    def entry(self, chosen: Chosen) -> str:
        """The entry of a menu; a special one with what comes of it."""
        return self.words() if self.special else _(self.name(chosen))

    def offered(self, place: Place, chosen: Chosen) -> bool:
        """A special one only where it suits some."""
        if place not in self.places or not self.shown_for(place, chosen.standing) or not self.where(chosen):
            return False
        return not self.special or any(n and self.fits(*stands) for stands, n in chosen.standing.items())

    def why_not(self, chosen: Chosen) -> str:
        """What it does not suit, or what their rows tell."""
        return self.reason(chosen.standing) or self.also(chosen)

    def needless(self, chosen: Chosen) -> str:
        """Why it would not help the one under the cursor."""
        return self.useless(chosen)

    def stands_for(self, one: Pick) -> str:
        """The act that it is for a task: no two of the same are held about one."""
        return self.about(one) if self.about is not None else self.key


def question(verb: TaskVerb, picks: Sequence[Pick], environment: str) -> Question:
    """The preview of ``verb`` on ``picks``: what happens to how many, and what is left alone."""
    fit = [one for one in picks if verb.fits(one.status, one.triage)]
    parts = Counter((verb.parts(one), one.triage) for one in fit)
    rows = [(name, many(number)) for (name, _triage), number in parts.most_common()]
    left: dict[str, int] = {}
    for (status, triage), number in standing_of(picks).items():
        if not verb.fits(status, triage):
            left[status] = left.get(status, 0) + number
    rows += [
        (_("Left alone: {status}").format(status=shown.status_word(status)), many(number))
        for status, number in sorted(left.items(), key=lambda item: -item[1])
    ]
    return Question(
        title=verb.title,
        number=many(len(fit)),
        text=verb.explain(fit),
        rows=tuple(rows),
        verb=verb.count(len(fit)),
        danger=verb.danger,
        leave=verb.leave,
        typed="" if verb.given_back else typed_count(len(fit), environment),
        note=_(verb.note) if verb.note else "",
        note_needed=_(verb.note_needed) if verb.note_needed else "",
    )
