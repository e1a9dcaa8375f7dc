"""What the doctor found and what a repair does, in words. Pure but for the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from services.called import CHECK_WORDS, FINDING_WORDS, REPAIR_WORDS
from services.domain.upkeep import repair
from services.domain.upkeep.health import ERROR, LEVELS, NOTE, OK, WARNING, Finding
from services.domain.upkeep.repair import Mend
from services.i18n import _, ngettext
from services.messages import render
from views.support import shown, text

#: by level: the status whose glyph and colour it has, and its word
LOOKS: Mapping[str, tuple[str, str]] = {
    ERROR: ("dead", FINDING_WORDS[ERROR]),
    WARNING: ("warning", FINDING_WORDS[WARNING]),
    NOTE: ("waiting", FINDING_WORDS[NOTE]),
    OK: ("succeeded", FINDING_WORDS[OK]),
}
_STATES: Mapping[str, tuple[str, str]] = {
    repair.DONE: (REPAIR_WORDS[repair.DONE], "succeeded"),
    repair.PLANNED: (REPAIR_WORDS[repair.PLANNED], "text"),
    repair.LEFT: (REPAIR_WORDS[repair.LEFT], "retrying"),
    repair.UNSEEN: (REPAIR_WORDS[repair.UNSEEN], "text3"),
}
#: rows of a repair that are shown; the rest is counted
MOST = 100


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A finding as a row: equal ones stand once."""

    finding: Finding
    number: int = 0  #: among those with the same code: their numbers and names change from look to look

    @property
    def key(self) -> str:
        """What tells it from others, also in the next look."""
        return f"{self.finding.check} {self.finding.message.code} {self.number}"

    @property
    def code(self) -> str:
        """The code of its sentence."""
        return self.finding.message.code


def rows(findings: Sequence[Finding]) -> tuple[FindingRow, ...]:
    """The worst first, those of one check together."""
    ordered = sorted(findings, key=lambda one: (LEVELS.index(one.level), check(one.check)))
    once = {(one.check, one.message.code, repr(sorted(one.message.params.items()))): one for one in ordered}
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for one in once.values():
        place = (one.check, one.message.code)
        found.append(FindingRow(finding=one, number=seen[place]))
        seen[place] += 1
    return tuple(found)


def level(name: str) -> str:
    """How bad it is, in a word."""
    return _(LOOKS[name][1]) if name in LOOKS else name


def glyph(name: str) -> str:
    """The status whose glyph and colour a level has."""
    return LOOKS[name][0] if name in LOOKS else "unconfirmed"


def check(name: str) -> str:
    """What was looked at."""
    return _(CHECK_WORDS[name]) if name in CHECK_WORDS else name


def said(row: FindingRow) -> str:
    """What was found."""
    return render(row.finding.message)


def remedy(row: FindingRow) -> str:
    """What helps, "" where nothing has to."""
    return render(row.finding.remedy) if row.finding.remedy is not None else ""


def sentence(row: FindingRow) -> str:
    """The row for a screen reader."""
    parts = [_("{name}: {value}").format(name=level(row.finding.level), value=check(row.finding.check)), said(row)]
    return text.sentences([part for part in (*parts, remedy(row)) if part])


def copied(row: FindingRow) -> str:
    """A finding for whoever looks after the servers."""
    lines = [f"{level(row.finding.level)} · {check(row.finding.check)} · {row.code}", said(row), remedy(row)]
    return "\n".join(line for line in lines if line)


def summary(found: Sequence[FindingRow], checked_ms: int, now_ms: int) -> str:
    """What it comes to, and as of when."""
    counts = Counter(row.finding.level for row in found)
    parts = [
        words.format(n=text.count(counts[name]))
        for name, words in (
            (ERROR, ngettext("{n} error", "{n} errors", counts[ERROR])),
            (WARNING, ngettext("{n} warning", "{n} warnings", counts[WARNING])),
            (NOTE, ngettext("{n} piece of advice", "{n} pieces of advice", counts[NOTE])),
        )
        if counts[name]
    ]
    lead = text.listed(parts) if parts else _("Nothing is wrong")
    when = _("looked at {time}").format(time=shown.clock(checked_ms, now_ms))
    return text.listed([lead, when])


def repaired(who: str, at_ms: int, now_ms: int) -> str:
    """When it was repaired last, and by whom."""
    return _("repaired last at {time} by {who}").format(time=shown.clock(at_ms, now_ms), who=who)


def mends(found: Sequence[Mend]) -> list[tuple[str, str, str]]:
    """State, sentence and tone of what a repair did or would do; what is left for a person stands first."""
    ordered = sorted(found, key=lambda one: repair.STATES.index(one.state))
    shown_ = [(_(_STATES[one.state][0]), render(one.message), _STATES[one.state][1]) for one in ordered[:MOST]]
    more = len(ordered) - len(shown_)
    if more:
        shown_.append(("", ngettext("{n} more", "{n} more", more).format(n=text.count(more)), "text3"))
    return shown_


def number(found: Sequence[Mend], state: str) -> int:
    """How many of them are in a state."""
    return sum(one.state == state for one in found)


def planned(found: Sequence[Mend]) -> str:
    """What a repair would come to."""
    todo, left = number(found, repair.PLANNED), number(found, repair.LEFT)
    if not todo and not left:
        return _("Nothing has to be mended.")
    parts = [ngettext("{n} thing can be mended", "{n} things can be mended", todo).format(n=text.count(todo))]
    if left:
        parts.append(_left(left))
    return text.listed(parts)


def done(found: Sequence[Mend]) -> str:
    """What a repair came to."""
    mended, left = number(found, repair.DONE), number(found, repair.LEFT)
    if not mended and not left:
        return _("Nothing had to be mended.")
    parts = [ngettext("{n} thing mended", "{n} things mended", mended).format(n=text.count(mended))]
    if left:
        parts.append(_left(left))
    return text.listed(parts)


def _left(left: int) -> str:
    return ngettext("{n} is left for a person", "{n} are left for a person", left).format(n=text.count(left))
