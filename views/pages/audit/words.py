"""Entries of the audit in words: the act, how it ended, what is wrong with one. Pure but for the language."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

import msgspec

from services import act_words
from services.called import ACT_WORDS, ORIGIN_WORDS
from services.commands.back.ways import Way
from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.insight.audit import Verdict, Wrong
from services.i18n import N_, _, ngettext
from services.messages import render
from services.monitor.audit import POSSIBLE
from views.kit.saved_views import View
from views.support import instant, safe, shown, text
from views.widgets.filter.text import Chip

#: what the filter of the time offers
SPANS: Mapping[str, str] = {
    "1h": N_("the last hour"),
    "today": N_("today"),
    "yesterday": N_("yesterday"),
    "7d": N_("the last 7 days"),
    "90d": N_("the last 90 days"),
}
#: writers of the trail that are named
MOST_WRITERS = 8
#: by state: the status whose glyph and colour it has, and its word
STATES: Mapping[str, tuple[str, str]] = {
    "done": ("succeeded", ACT_WORDS["done"]),
    "partly": ("warning", ACT_WORDS["partly"]),
    "refused": ("cancelled", ACT_WORDS["refused"]),
    "failed": ("dead", ACT_WORDS["failed"]),
    "open": ("running", ACT_WORDS["open"]),
    "unknown": ("unconfirmed", ACT_WORDS["unknown"]),
}


def views(me: str) -> tuple[View, ...]:
    """The views of the design for this person."""
    return (
        View(key="all", title=N_("All")),
        View(key="people", title=N_("By people"), filter=f"-from:{audit.RULE},{audit.WORKER}"),
        View(key="refused", title=N_("Refused"), filter="state:refused"),
        View(key="badly", title=N_("Did not end well"), filter="state:failed,partly,unknown"),
        View(key="undo", title=N_("Can be undone"), filter=f"undo:{POSSIBLE}"),
        View(key="mine", title=N_("My acts"), filter=Chip("who", (me,)).text()),
        View(key="hour", title=N_("Last hour"), filter="since:1h"),
    )


def time(chip: Chip) -> str:
    """A condition on the time, in words."""
    value = ",".join(chip.values)
    with suppress(ValueError):
        at = datetime.strptime(value, "%Y-%m-%dT%H:%M").replace(tzinfo=shown.zone())
        now = shown.moment(instant.now_ms())
        value = text.minute(at, now, shown.zone()) if at.year == now.year else value  # else only its day would be said
    said = _(SPANS[value]) if value in SPANS else value
    return _("{name}: {value}").format(name=_("Since") if chip.field == "since" else _("Until"), value=said)


def origin(name: str) -> str:
    """Through what it was asked for, "" where nobody knows."""
    return _(ORIGIN_WORDS[name]) if name in ORIGIN_WORDS else name


def machine(who: str, name: str) -> str:
    """The machine at which somebody acted, "" where that is none of a person."""
    return who.partition("@")[2] if name in ("", audit.WINDOW, audit.CLI, audit.PYTHON) else ""


def state(name: str) -> str:
    """How it ended, in a word or two."""
    return _(STATES[name][1]) if name in STATES else name


def glyph(name: str) -> str:
    """The status name of an outcome."""
    return STATES[name][0] if name in STATES else "unconfirmed"


def of_asked(way: Way) -> str:
    """Of an act that was done in part: how much of it is taken back."""
    words = _("{n} of {all}: only what was done is taken back")
    return words.format(n=text.count(way.number), all=text.count(way.asked))


def about(targets: tuple[str, ...], number: int = 0, *, whole: bool = False) -> str:
    """On what: the first one, and how many more.

    ``number``: of all, where ``targets`` are the first of them. ``whole``: the first one has the others as its tasks.
    """
    n = max(number, len(targets)) - 1
    if n < 1:
        return safe.one_line(targets[0], 120) if targets else ""
    words = ngettext("{first}, {n} task", "{first}, {n} tasks", n) if whole else _("{first} and {n} more")
    return words.format(first=safe.one_line(targets[0], 100), n=text.count(n))


def why(outcome: str) -> str:
    """What the outcome says behind its first word, its counts in the present language."""
    return safe.one_line(act_words.why(outcome), 200)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the objects of an act ended alike."""

    status: str  #: whose glyph stands before it
    number: int
    said: str
    objects: tuple[str, ...] = ()  #: which they are, where the entry tells


def results(entry: AuditEntry) -> tuple[Result, ...]:
    """What came of the objects of an act, by how they ended; empty where its outcome does not count them."""
    outcome, places = audit.parted(safe.masked(entry.outcome))
    if found := act_words.COUNTED.match(outcome):
        done, refused, left = (int(found[n] or 0) for n in (1, 2, 3))
        why = found[4] or ""
    elif found := act_words.REFUSED.match(outcome):
        done, refused, left, why = 0, int(found[1]), 0, found[2] or ""
    else:
        return ()
    rows = {code: len(numbers) for code, numbers in places.items()}
    if not rows and act_words.SEVERAL.fullmatch(why):
        rows = {code: int(number) for code, number in (one.split(" ") for one in why.split(", "))}
    rows = rows or {why: refused}
    placed = {number for numbers in places.values() for number in numbers}
    rest = tuple(one for number, one in enumerate(entry.target) if number not in placed)
    there = (
        Result(status="succeeded", number=done, said=_("Done"), objects=rest if len(rest) == done else ()),
        *(
            Result(
                status="cancelled",
                number=number,
                said=text.first_up(safe.one_line(act_words.reason(code), 200)) or _("Refused"),
                objects=tuple(entry.target[at] for at in places.get(code, ()) if at < len(entry.target)),
            )
            for code, number in rows.items()
        ),
        Result(status="paused", number=left, said=_("Left alone")),
    )
    return tuple(one for one in there if one.number)


def reason(told: Mapping[str, object]) -> str:
    """What the person said why, of what an entry tells; "" nothing."""
    found = next((told[name] for name in ("reason", "note") if told.get(name)), "")
    return safe.one_line(found, 200) if isinstance(found, str) else ""


def wrong(one: Wrong) -> str:
    """What is wrong with an entry, and who tells it."""
    told = [f"{render(one.message)}.", *([render(one.witness)] if one.witness is not None else [])]
    return text.sentences(told)


def chain(found: Verdict | None, at_ms: int, *, whole: bool = False) -> str:
    """The same in a few words, as they stay on the page; ``whole``: with how much of it was looked at."""
    if found is None:
        return _("Not checked yet")
    if not found.ok:
        n = len(found.wrong)
        return ngettext("{n} not as written", "{n} not as written", n).format(n=text.count(n))
    now = shown.moment(instant.now_ms())
    parts = [_("Verified at {time}").format(time=text.minute(shown.moment(at_ms), now, shown.zone()))]
    if whole:
        parts.append(ngettext("{n} entry", "{n} entries", found.rows).format(n=text.count(found.rows)))
        writers = ngettext("{n} writer agrees", "{n} writers agree", found.writers)
        parts.append(writers.format(n=text.count(found.writers)))
    return text.listed(parts)


def writers(found: Verdict, now_ms: int) -> list[tuple[str, str]]:
    """Each writer with the last thing that it wrote, the latest first."""
    tails = sorted(found.tails, key=lambda one: -one.at)
    rows = [
        (
            safe.one_line(one.writer, 40),
            ngettext("{n} link, at {time}", "{n} links, the last at {time}", one.number).format(
                n=text.count(one.number), time=shown.clock(one.at, now_ms)
            ),
        )
        for one in tails[:MOST_WRITERS]
    ]
    if len(tails) > MOST_WRITERS:
        left = len(tails) - MOST_WRITERS
        rows.append((_("and {n} more").format(n=text.count(left)), ""))
    return rows


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
    if found.seen_since:
        since = shown.clock(found.seen_since, at_ms)
        parts.append(_("this machine keeps what it sees of it since {time}").format(time=since))
    else:
        parts.append(_("this machine had kept nothing of it before: this is its first look, or it was removed"))
    return text.listed(parts, ";")
