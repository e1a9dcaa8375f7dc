"""Entries of the audit in words: the act, how it ended, what is wrong with one. Pure but for the language."""

from __future__ import annotations

import re
from collections.abc import Mapping

from services.domain.insight.audit import Verdict, Wrong
from services.i18n import N_, _, ngettext
from services.messages import render
from views.support import safe, shown, text

#: by state: the status whose glyph and colour it has, and its word
STATES: Mapping[str, tuple[str, str]] = {
    "done": ("succeeded", N_("Done")),
    "partly": ("warning", N_("Partly done")),
    "refused": ("cancelled", N_("Refused")),
    "failed": ("dead", N_("Failed")),
    "open": ("running", N_("Under way")),
    "unknown": ("unconfirmed", N_("Outcome unknown")),
}


def state(name: str) -> str:
    """How it ended, in a word or two."""
    return _(STATES[name][1]) if name in STATES else name


def glyph(name: str) -> str:
    """The status name of an outcome."""
    return STATES[name][0] if name in STATES else "unconfirmed"


def about(targets: tuple[str, ...]) -> str:
    """On what: the first ones, and how many more."""
    if len(targets) < 2:
        return safe.one_line(targets[0], 120) if targets else ""
    words = _("{first} and {n} more")
    return words.format(first=safe.one_line(targets[0], 100), n=text.count(len(targets) - 1))


#: as ``services.commands.audit`` writes down what was done in part
_COUNTED = re.compile(r"(\d+) done, (\d+) refused(?:: (.*))?$", re.DOTALL)


def why(outcome: str) -> str:
    """What the outcome says behind its first word, its counts in the present language."""
    said = outcome.partition(":")[2].strip()
    if counted := _COUNTED.match(said):
        done, refused, first = counted.groups()
        said = _("{done} done, {refused} refused").format(done=text.count(int(done)), refused=text.count(int(refused)))
        if first:
            said = _("{name}: {value}").format(name=said, value=first)
    return safe.one_line(said, 200)


def wrong(one: Wrong) -> str:
    """What is wrong with an entry, and who tells it."""
    told = [f"{render(one.message)}.", *([render(one.witness)] if one.witness is not None else [])]
    return text.sentences(told)


def verdict(found: Verdict, at_ms: int) -> str:
    """What a check of the whole trail found."""
    entries = ngettext("{n} entry", "{n} entries", found.rows).format(n=text.count(found.rows))
    parts = [_("{entries} checked at {time}").format(entries=entries, time=shown.clock(at_ms, at_ms))]
    if found.accepted:
        n = len(found.accepted)
        parts.append(ngettext("{n} fault is known and accepted", "{n} faults are known and accepted", n).format(n=n))
    if found.before:
        n = found.before
        words = ngettext("{n} is older than the seals", "{n} are older than the seals", n)
        parts.append(words.format(n=text.count(n)))
    return text.listed(parts, ";")
