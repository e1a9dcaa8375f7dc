"""Tasks whose outcome nobody knows: it ran, run it again, or give it up, with the evidence shown before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.domain.insight.verdict import CHECK, SAFE, WOULD_DUPLICATE
from services.domain.task.status import Status
from services.i18n import _, ngettext
from services.monitor.tasks import Pick, Weighed
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Finding, Question, typed_count
from views.kit.task_verb import FEW, TaskVerb, many
from views.pages.tasks.verbs import AGAIN, GIVE_UP, RAN
from views.support import safe, text
from views.support.acting import HOLD_MANY_S, HOLD_S, Acting
from views.support.operation import Operation
from views.support.words import type_names, verdicts

#: different pieces of evidence that are told one by one
TOLD = 4
_ORDER = (WOULD_DUPLICATE, CHECK, SAFE)


class Deciding(QObject):
    """Signals:
    decided: something was asked for these ids (tuple).
    """

    decided = Signal(object)

    def __init__(self, context: PageContext, acting: Acting, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._acting, self._owner = context, acting, owner
        self._look = Operation(self, latest=True)

    def ask(self, verb: TaskVerb, picks: Sequence[Pick]) -> None:
        """Look at what is known of them, then ask."""
        ids = [one.task_id for one in picks if one.status == Status.HELD]
        self._look.start(partial(self._context.tasks.weigh, ids), partial(self._show, verb))

    def _show(self, verb: TaskVerb, weighed: tuple[Weighed, ...], note: str = "") -> None:
        if not weighed:
            self._acting.at_once(Outcome, lambda _outcome: "")
            return
        dialog = ConfirmDialog(partial(question, verb, weighed, self._context.environment), self._owner)
        dialog.note_field.setText(note)
        dialog.confirmed.connect(lambda: self._decide(verb, weighed, dialog.note))
        dialog.open()

    def _decide(self, verb: TaskVerb, weighed: tuple[Weighed, ...], note: str) -> None:
        ids = tuple(one.task_id for one in weighed)
        call = partial(self._context.commands.tasks.resolve, ids, verb.key, note=note)
        number = len(ids)
        seconds = HOLD_S if number <= FEW else HOLD_MANY_S

        def announce() -> str:
            words = ngettext("Deciding about {n} task in {s} s", "Deciding about {n} tasks in {s} s", number)
            return words.format(n=text.count(number), s=seconds)

        ask_again = partial(self._show, verb, weighed, note)
        about = [(verb.key, one) for one in ids]
        self._acting.delayed(announce, call, verb.done, seconds, about=about, ask_again=ask_again)
        self.decided.emit(ids)


def question(verb: TaskVerb, weighed: Sequence[Weighed], environment: str) -> Question:
    """What is asked before ``verb`` on these tasks: how many, what is known of them, what will happen."""
    number = len(weighed)
    duplicates = verb is AGAIN and any(one.verdict.level == WOULD_DUPLICATE for one in weighed)
    note, needed = _("Note, kept with the task"), ""
    if verb is RAN:
        note, needed = _("How do you know? It is kept with the task."), _("Write down first how you know that it ran")
    elif verb is AGAIN:
        note, needed = _("Why again? It is kept with the task."), _("Write down first why it is to run again")
    elif any(one.asks for one in weighed):
        note, needed = _("Why give it up? It is kept with the task."), _("Write down first why it is given up")
    return Question(
        title=verb.title,
        number=many(number) if number > 1 else "",
        rows=_about(weighed[0]) if number == 1 else (),
        findings=tuple(_findings(weighed)),
        text=_explain(verb, number, safe_=all(one.verdict.level == SAFE for one in weighed)),
        verb=verb.count(number),
        danger=verb is GIVE_UP or duplicates,
        typed=typed_count(number, environment),
        note=note,
        note_needed=needed,
    )


def _about(one: Weighed) -> tuple[tuple[str, str], ...]:
    return ((_("task"), type_names.name(one.task_type)), (_("shop"), one.shop), (_("task id"), one.task_id))


def _findings(weighed: Sequence[Weighed]) -> list[Finding]:
    """The evidence, the worst first, equal pieces as one with their number."""
    groups: Counter[tuple[int, Finding]] = Counter()
    for one in weighed:
        said = verdicts.say(one.verdict)
        rank = _ORDER.index(one.verdict.level) if one.verdict.level in _ORDER else 0
        groups[rank, Finding(said.status, said.lead, safe.one_line(said.evidence, 200))] += 1
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    found = [
        finding if len(weighed) == 1 else finding._replace(lead=_("{name}: {value}").format(name=finding.lead, value=n))
        for (_rank, finding), n in ((group, text.count(number)) for group, number in ordered[:TOLD])
    ]
    rest = sum(number for _group, number in ordered[TOLD:])
    if rest:
        words = ngettext("{n} more with other evidence", "{n} more with other evidence", rest)
        found.append(Finding("warning", "", words.format(n=text.count(rest))))
    return found


def _explain(verb: TaskVerb, number: int, *, safe_: bool) -> str:
    if verb is RAN:
        return ngettext(
            "It is recorded as succeeded by hand and does not run again; what waits for it may start.",
            "They are recorded as succeeded by hand and do not run again; what waits for them may start.",
            number,
        )
    if verb is GIVE_UP:
        return ngettext(
            "It becomes a dead letter and does not run; from there it can still be corrected and republished.",
            "They become dead letters and do not run; from there they can still be corrected and republished.",
            number,
        )
    if safe_:
        return ngettext(
            "It goes back to its lane under its own id.", "They go back to their lanes under their own ids.", number
        )
    return ngettext(
        "It goes back to its lane under its own id. Look into the shop first: what it did already is done twice.",
        "They go back to their lanes under their own ids. Look into the shops first: what they did already is done"
        " twice.",
        number,
    )
