"""What a bulk action will do, counted before it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from services.domain.task.status import Status
from services.i18n import N_, _, ngettext
from services.monitor.tasks import Pick
from views.dialogs.confirm import Question, typed_count
from views.pages.tasks.verbs import CANCEL, Verb, many, standing_of, undecided
from views.support import shown, text

_TITLES = {
    "retry": N_("Retry tasks"),
    "cancel": N_("Cancel tasks"),
    "raise": N_("Raise the priority"),
    "lower": N_("Lower the priority"),
    "run_now": N_("Run tasks now"),
    "create_again": N_("Create tasks again"),
}


def question(verb: Verb, picks: Sequence[Pick], environment: str) -> Question:
    """The preview of ``verb`` on ``picks``: what happens to how many, and what is left alone."""
    fit = [one for one in picks if verb.fits(one.status, one.triage)]
    rows = [
        (shown.status_word(status), many(number))
        for (status, _triage), number in sorted(standing_of(fit).items(), key=lambda item: -item[1])
    ]
    left: dict[str, int] = {}
    for (status, triage), number in standing_of(picks).items():
        if not verb.fits(status, triage):
            left[status] = left.get(status, 0) + number
    rows += [
        (_("Left alone: {status}").format(status=shown.status_word(status)), many(number))
        for status, number in sorted(left.items(), key=lambda item: -item[1])
    ]
    return Question(
        title=_TITLES[verb.key],
        number=many(len(fit)),
        text=_WORDS[verb.key](fit),
        rows=tuple(rows),
        verb=_verb_text(verb, len(fit)),
        danger=verb.danger,
        leave=N_("Do not cancel") if verb is CANCEL else N_("Cancel"),
        typed=typed_count(len(fit), environment),
    )


def interrupts(picks: Sequence[Pick]) -> int:
    """How many running tasks a cancel would stop."""
    return sum(1 for one in picks if one.status == Status.RUNNING)


def _retry(picks: Sequence[Pick]) -> str:
    words = _(
        "Dead tasks become new ones, linked to the old; the others run again under their own id. "
        "What is active already is left out and named."
    )
    if not undecided(standing_of(picks)):
        return words
    doubt = _("Nobody knows how those to be confirmed ended: what they did already is done twice.")
    return f"{words} {doubt}"


def _cancel(picks: Sequence[Pick]) -> str:
    running = interrupts(picks)
    if not running:
        return _("They end at once and do not run. They can be created again, under new ids.")
    if len(picks) == 1:
        return _("It runs now and is asked to stop: its flow ends in the middle.")
    stopped = ngettext(
        "{n} of them runs now and is asked to stop: its flow ends in the middle.",
        "{n} of them run now and are asked to stop: their flows end in the middle.",
        running,
    )
    return stopped.format(n=text.count(running))


def _raise(_picks: Sequence[Pick]) -> str:
    return _("One step up: low to normal, normal to high. Undo takes it back for ten seconds.")


def _lower(_picks: Sequence[Pick]) -> str:
    return _("One step down: high to normal, normal to low. Undo takes it back for ten seconds.")


def _run_now(_picks: Sequence[Pick]) -> str:
    return _("They go to the front of the high lane, without a delay. Other tasks wait for them.")


def _create_again(_picks: Sequence[Pick]) -> str:
    return _("New tasks with the same work, linked to the old ones. What is active already is left out and named.")


_WORDS: dict[str, Callable[[Sequence[Pick]], str]] = {
    "retry": _retry,
    "cancel": _cancel,
    "raise": _raise,
    "lower": _lower,
    "run_now": _run_now,
    "create_again": _create_again,
}


def _verb_text(verb: Verb, number: int) -> str:
    words = {
        "retry": ngettext("Retry {n} task", "Retry {n} tasks", number),
        "cancel": ngettext("Cancel {n} task", "Cancel {n} tasks", number),
        "raise": ngettext("Raise {n} task", "Raise {n} tasks", number),
        "lower": ngettext("Lower {n} task", "Lower {n} tasks", number),
        "run_now": ngettext("Run {n} task now", "Run {n} tasks now", number),
        "create_again": ngettext("Create {n} task again", "Create {n} tasks again", number),
    }
    return words[verb.key].format(n=text.count(number))
