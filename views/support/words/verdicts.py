"""Whether a task may run again and whether that would help, in words and colour; every page says it alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from services.called import SAFETY_WORDS, WORTH_WORDS
from services.domain.insight.cause import AGAIN, LOGIN, NOT_ASKED, NOW, UNKNOWN, WAIT, Worth
from services.domain.insight.verdict import SAFE, Verdict
from services.domain.text.message import Message
from services.i18n import N_, _
from views.support import shown, text

_LEVELS: dict[str, tuple[str, str]] = {
    "safe": ("healthy", SAFETY_WORDS["safe"]),
    "check": ("warning", SAFETY_WORDS["check"]),
    "would_duplicate": ("dead", SAFETY_WORDS["would_duplicate"]),
}


class Look(NamedTuple):
    """How an answer to "would it pass now?" looks: never by its colour alone."""

    status: str  #: for the tint
    glyph: str
    role: str
    word: str  #: source text


_WORTH: dict[str, Look] = {
    NOW: Look("healthy", "ph.check-circle", "succeeded", WORTH_WORDS[NOW]),
    UNKNOWN: Look("warning", "ph.question", "text2", WORTH_WORDS[UNKNOWN]),
    WAIT: Look("warning", "ph.hourglass-medium", "retrying", WORTH_WORDS[WAIT]),
    LOGIN: Look("warning", "ph.lock-simple-fill", "retrying", WORTH_WORDS[LOGIN]),
    AGAIN: Look("dead", "ph.x-circle", "dead", WORTH_WORDS[AGAIN]),
}
_REFUSED = Look("warning", "ph.hand-palm", "retrying", N_("Cannot be republished as it is"))
_ORDER = ("healthy", "warning", "dead")


class VerdictWords(NamedTuple):
    """A verdict as a page shows it."""

    status: str  #: for the tint
    lead: str  #: in two words
    evidence: str
    beside: str = ""  #: what is no cause for alarm, to be said outside the tint


def look(worth: Worth) -> Look:
    """Word, glyph and role for whether it would pass now."""
    return _WORTH.get(worth.level, _WORTH[UNKNOWN])


def word(worth: Worth, number: int) -> str:
    """The same word for so many letters, translated: no more are to be tried than there are."""
    if worth == NOT_ASKED:
        return _("Being looked into …")
    if worth.level == UNKNOWN and number <= 3:
        return _("Unknown: try this one first") if number == 1 else _("Unknown: try one first")
    return _(look(worth).word)


def hopeless(worth: Worth | None) -> bool:
    """Whether running it now is known to be in vain, so that a person is asked before it is done all the same."""
    return worth is not None and worth.level in (AGAIN, WAIT)


def why(worth: Worth) -> str:
    """The sentence behind it, with those for whom it does not hold."""
    return text.run_on(shown.say(one) for one in (worth.message, worth.but) if one is not None)


def say(verdict: Verdict, worth: Worth | None = None, refusal: Message | None = None) -> VerdictWords:
    """Both answers with their evidence, in the colour of the worse one; what would be refused is never green.

    A level that is not known here is a warning by its own name.
    """
    status, lead = _LEVELS.get(verdict.level, ("warning", verdict.level))
    evidence = shown.say(verdict.message)
    if worth is None:
        return VerdictWords(status, _(lead), evidence)
    found = look(worth)
    # good news has no place in a box that warns
    beside = evidence if verdict.level == SAFE and found.status != "healthy" else ""
    lines = [why(worth)] if beside else [why(worth), evidence]
    if refusal is not None:
        # an active twin is told once, though it answers both questions
        kept = [lines[0]] if verdict.code == "verdict.twin" else lines
        lines = [shown.say(refusal), *kept]
        found = _REFUSED if found.status == "healthy" else found
    worst = max(status, found.status, key=_ORDER.index)
    # the worse of both leads: work done twice is worse than work done in vain
    alone = word(worth, 1) if found is look(worth) else _(found.word)
    first = _(lead) if verdict.level != SAFE and status == worst else alone
    return VerdictWords(worst, first, "\n".join(lines), beside)


def wrapped(words: str) -> str:
    """The words with places where a long id may break, so that none is wider than its panel."""
    return words.replace("_", "_\u200b")


def barred(refusals: Iterable[Message | None]) -> str:
    """Why none of several letters can be republished; "" where one can, or nobody asked."""
    found: list[str] = []
    for one in refusals:
        if one is None:
            return ""
        found.append(shown.say(one))
    if len(set(found)) < 2:
        return found[0] if found else ""
    return _("None of them would go: {why}").format(why=found[0])


def republish_all(worth: Worth) -> str:
    """The verb for a whole cause, with the number ``{n}``: what would fail again is not offered as if it would pass."""
    if worth.level == NOW:
        return _("Republish all {n}: worth it now")
    return republish_some(worth) if worth.level in (AGAIN, LOGIN, WAIT) else _("Republish all {n}")


def republish_some(worth: Worth) -> str:
    """The same beside the sentence that says whether it is worth it."""
    return _("Republish {n} all the same…") if worth.level in (AGAIN, LOGIN, WAIT) else _("Republish {n}…")
