"""Batches in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime

import msgspec

from services.domain.insight import batch as insight
from services.domain.insight.batch import Box, Chances, Foretold, Hold, ShopLeft, Story
from services.domain.task.status import TERMINAL, Status
from services.i18n import N_, _, ngettext
from services.monitor.batches import MOST, Ahead, BatchView
from services.monitor.forecast.drain import Raised
from views.support import instant, safe, shown, text
from views.support.words import origins, type_names
from views.theme.tokens import platform_badge

#: parts of a bar: colour role, and word
PARTS: dict[str, tuple[str, str]] = {
    insight.DONE: ("succeeded", N_("Done")),
    insight.RUNNING: ("running", N_("Running")),
    insight.WAITING: ("waiting", N_("Waiting")),
    insight.HELD: ("line2", N_("Held up")),
    insight.DEAD: ("dead", N_("Dead")),
    insight.CANCELLED: ("dis", N_("Cancelled")),
}
#: ends of so long tell how fast a batch goes
PACE_MS = 10 * 60_000
SOME = 10  #: from so many a minute on, tenths say nothing
FAILS_FROM = 3  #: so many dead letters and nothing done: the rest may well fail as they did
#: what the scheduler calls the batch of a run
_RUN = re.compile(r"(.+)@(\d{8}T\d{6}[+-]\d{4})")
#: by what a store says: a status that a newer program wrote, or that was spoiled, waits
_BY_STATUS: Mapping[str, str] = {
    Status.SUCCEEDED: insight.DONE,
    Status.RUNNING: insight.RUNNING,
    Status.BLOCKED: insight.HELD,
    Status.SCHEDULED: insight.HELD,
    Status.HELD: insight.HELD,
    Status.DEAD: insight.DEAD,
    Status.CANCELLED: insight.CANCELLED,
}
_GLYPHS = {
    Status.DEAD: "dead",
    Status.HELD: "held",
    Status.RETRYING: "retrying",
    Status.RUNNING: "running",
    "session": "login",
    "breaker": "breaker",
    "paused": "paused",
    "dependency": "waiting",
    "not_due": "scheduled",
}
_WORDS: Mapping[str, str] = {
    Status.DEAD: N_("Dead, no attempt left"),
    Status.HELD: N_("Nobody knows how they ended"),
    Status.RETRYING: N_("Back-off after a failure"),
    Status.RUNNING: N_("Running"),
    Status.QUEUED: N_("In their lane"),
    Status.PENDING: N_("Recorded, not sent yet"),
}


#: steps that a person would take, in words
_STEPS: Mapping[str, str] = {
    "retry": N_("Retry"),
    "raise": N_("Raise"),
    "triage": N_("Triage"),
    "decide": N_("Decide"),
    "session": N_("Log-in list"),
    "breaker": N_("Shops that fail"),
    "chain": N_("Show chain"),
    "show": N_("Show"),
}


#: a forecast that was off by less was right
LEAST_OFF_MS = 1000


class BatchNow(msgspec.Struct, frozen=True, kw_only=True):
    """A batch as the list and the page show it; the story only of the one under the cursor."""

    view: BatchView
    story: Story | None = None
    ends: tuple[int, ...] = ()  #: when its tasks succeeded, in order, UTC ms
    foretold: Foretold | None = None  #: what was said of its end half-way, where it has ended
    complete: bool = True  #: whether the story tells all of its tasks
    retries: int = 0  #: tasks that each verb is about
    raises: int = 0
    cancels: int = 0
    at_ms: int = 0
    by: str = insight.PLATFORM  #: what tells its boxes of a type apart
    names: Mapping[str, str] = {}  #: of the shops of which something is left, by ``platform:shop_id``
    created_by: str = ""
    again: tuple[str, ...] = ()  #: what was cancelled and for which another stands, as far as its story tells
    ahead: Ahead | None = None  #: what its verbs would change, as far as that was found out
    ahead_ms: int = 0  #: when that was, UTC ms

    @property
    def key(self) -> str:
        """Its name."""
        return self.view.batch


def parts_of(one: BatchNow) -> Mapping[str, int]:
    """Its tasks by part of the bar: as its story tells it, which knows what holds them up, else by their statuses."""
    if one.story is not None and one.complete:
        return one.story.counts
    found: dict[str, int] = {}
    for status, number in one.view.counts.items():
        part = _BY_STATUS.get(status, insight.WAITING)
        found[part] = found.get(part, 0) + number
    return found


def name(view: BatchView) -> str:
    """Its name on one line; one that a schedule made is called by that and its time."""
    planned = _RUN.fullmatch(view.batch)
    if planned is not None:
        with suppress(ValueError, OverflowError, OSError):  # a person may call a batch so, too
            at_ms = round(datetime.strptime(planned[2], "%Y%m%dT%H%M%S%z").timestamp() * 1000)
            said = text.listed([planned[1], shown.clock(at_ms, instant.now_ms())])
            return safe.one_line(said, 120)
    return safe.one_line(view.batch, 120)


def is_open(view: BatchView) -> bool:
    """Whether anything of it has not ended."""
    return any(number and status not in TERMINAL for status, number in view.counts.items())


def state(one: BatchNow) -> tuple[str, str]:
    """Word and colour role of how it stands."""
    parts = parts_of(one)
    if dead := parts.get(insight.DEAD, 0):
        return ngettext("{n} dead", "{n} dead", dead).format(n=text.count(dead)), "dead"
    if not is_open(one.view):
        return (_("cancelled"), "text3") if parts.get(insight.CANCELLED) else (_("all done"), "text3")
    if parts.get(insight.RUNNING):
        return _("running"), "running"
    return (_("held up"), "retrying") if not parts.get(insight.WAITING) else (_("waiting"), "text3")


def look(one: BatchNow) -> str:
    """A status name for the glyph of its row."""
    parts = parts_of(one)
    if not is_open(one.view):
        return "dead" if parts.get(insight.DEAD) else "cancelled" if parts.get(insight.CANCELLED) else "succeeded"
    if late(one):
        return "warning"
    if parts.get(insight.RUNNING):
        return "running"
    return "waiting" if parts.get(insight.WAITING) else "paused"


def began(one: BatchNow) -> str:
    """When it was created, and by whom."""
    if not one.view.begun_at:
        return ""
    when = _("created {time}").format(time=shown.clock(one.view.begun_at, instant.now_ms()))
    who = _("by {who}").format(who=origins.who(one.created_by)) if one.created_by else ""
    return text.listed([part for part in (when, who) if part])


def done_of(one: BatchNow) -> str:
    """How far it is."""
    parts = parts_of(one)
    return _("{n} of {all}").format(n=text.count(parts.get(insight.DONE, 0)), all=text.count(sum(parts.values())))


def sentence_of_row(one: BatchNow) -> str:
    """The row for a screen reader."""
    return text.listed([name(one.view), done_of(one), state(one)[0]])


def headline(one: BatchNow) -> str:
    """How many end by when, against the deadline."""
    view, story = one.view, one.story
    counts = parts_of(one)
    total, done = sum(counts.values()), counts.get(insight.DONE, 0)
    if not is_open(view):
        if done == total:
            words = ngettext("All {n} done", "All {n} done", total).format(n=text.count(total))
        else:
            words = _("Ended: {n} of {all} done").format(n=text.count(done), all=text.count(total))
        cancelled = counts.get(insight.CANCELLED, 0)
        return text.listed([words, *([_gone(cancelled)] if cancelled else []), *_ended(one)])
    if story is None or not one.complete:
        return _("{n} of {all} done").format(n=text.count(done), all=text.count(total))
    likely = story.by_itself
    numbers = {"n": text.count(likely), "all": text.count(story.total)}
    if stuck(one):
        ended = _("{n} of {all} done").format(n=text.count(done), all=text.count(story.total))
        said = text.listed((ended, stay_open(story.stays)))
    elif view.left is None:
        said = _("{n} of {all} can end by themselves; too early to say when").format(**numbers)
    else:
        when = shown.clock(round(one.at_ms + view.left.mid_s * 1000), one.at_ms)
        said = _likely(counts).format(**numbers, time=when, failed=text.count(counts.get(insight.DEAD, 0)))
    if cancelled := counts.get(insight.CANCELLED, 0):
        said = text.listed((said, _gone(cancelled)))
    if story.deadline:
        said = _("{sentence}, deadline {time}").format(sentence=said, time=shown.clock(story.deadline, one.at_ms))
    return said


def _likely(counts: Mapping[str, int]) -> str:
    """What is said of the end; of a batch that brought dead letters only, nobody expects that the rest is done."""
    if not counts.get(insight.DONE) and counts.get(insight.DEAD, 0) >= FAILS_FROM:
        return _("{n} of {all} likely at their end at {time}; none is done so far, {failed} died")
    return _("{n} of {all} likely done at {time}")


def _ended(one: BatchNow) -> list[str]:
    """When it ended, how long after it was created, and how far from its deadline; nothing where nobody can tell."""
    story, begun = one.story, one.view.begun_at
    if story is None or not one.complete or not story.ended_at or story.ended_at < begun:
        return []
    took = text.duration(shown.span(story.ended_at - begun))
    when = shown.clock(story.ended_at, one.at_ms)
    said = [_("at {time} after {span}").format(time=when, span=took) if begun else _("at {time}").format(time=when)]
    if story.due:
        words = _("{span} past its deadline") if late(one) else _("{span} before its deadline")
        said.append(words.format(span=text.duration(shown.span(abs(story.due - story.ended_at)))))
    if missed := off_by(one):
        said.append(missed)
    return said


def off_by(one: BatchNow) -> str:
    """How far off the forecast was that was made half-way, "" where there was none."""
    if one.foretold is None or one.story is None:
        return ""
    off = one.story.ended_at - one.foretold.end_ms
    if abs(off) < LEAST_OFF_MS:
        return _("as its pace foretold half-way")
    words = (
        _("{span} later than its pace foretold half-way")
        if off > 0
        else _("{span} earlier than its pace foretold half-way")
    )
    return words.format(span=text.duration(shown.span(abs(off))))


def _gone(number: int) -> str:
    return ngettext("{n} cancelled", "{n} cancelled", number).format(n=text.count(number))


def stuck(one: BatchNow) -> bool:
    """Whether what is open waits for a person, all of it."""
    story = one.story
    if story is None or not is_open(one.view) or not story.stays:
        return False
    return story.by_itself <= story.counts.get(insight.DONE, 0)


def stay_open(number: int) -> str:
    """So many do not end by themselves."""
    return ngettext("{n} stays open", "{n} stay open", number).format(n=text.count(number))


def late(one: BatchNow) -> bool:
    """Whether it has passed its deadline, or is likely to."""
    story, left = one.story, one.view.left
    if story is not None and not is_open(one.view):
        return 0 < story.due < story.ended_at
    if story is None or not story.deadline:
        return False
    return story.deadline < one.at_ms or (left is not None and one.at_ms + left.mid_s * 1000 > story.deadline)


def others(one: BatchNow) -> str:
    """How many cannot end without a person, and what those hold behind them."""
    story = one.story
    if story is None or not story.needs_person:
        return "" if one.complete else looked_at()
    wanting = [hold for hold in story.holds if hold.person]
    parts = text.listed(
        _("{what}: {n}").format(what=reason(hold.key).lower(), n=text.count(len(hold.ids))) for hold in wanting
    )
    said = ngettext("{n} needs a person ({parts})", "{n} need a person ({parts})", story.needs_person)
    said = said.format(n=text.count(story.needs_person), parts=parts)
    if behind := story.behind_person:
        more = ngettext("{n} waits behind them", "{n} wait behind them", behind).format(n=text.count(behind))
        said = text.listed([said, more])
    return said


def looked_at() -> str:
    """That more tasks are in a batch than its story tells."""
    return _("Only its newest {n} tasks are looked at.").format(n=text.count(MOST))


def reason(key: str) -> str:
    """What holds tasks, by status or gate."""
    if key in _WORDS:
        return _(_WORDS[key])
    word = shown.gate_word(key)
    return text.first_up(word)


def why(hold: Hold) -> str:
    """What holds tasks, or what the dead ones among them died of."""
    if hold.title is not None:
        return safe.one_line(shown.say(hold.title), 120)
    return _("other causes") if ":" in hold.key else reason(hold.key)


def next_step(hold: Hold) -> str:
    """What a person would do about it."""
    return _(_STEPS[step(hold)])


def step(hold: Hold) -> str:
    """The same by its name: ``retry`` and ``raise`` are verbs of the batch, others open a page."""
    if ":" in hold.key:
        return "triage"
    return {
        Status.DEAD: "retry",
        Status.HELD: "decide",
        Status.QUEUED: "raise",
        Status.PENDING: "raise",
        "session": "session",
        "breaker": "breaker",
        "dependency": "chain",
    }.get(hold.key, "show")


def glyph(hold: Hold) -> str:
    """A status name for the glyph of a reason."""
    return _GLYPHS.get(hold.key, "waiting")


def types(hold: Hold | ShopLeft) -> str:
    """How many of which type."""
    return text.listed(f"{text.count(number)} {type_names.name(kind)}" for kind, number in hold.types)


def goes_on(hold: Hold) -> str:
    """What it waits for."""
    if hold.owner:
        return _("{who} is at it").format(who=safe.one_line(hold.owner, 40))
    if hold.key == "paused":
        return _("once it is resumed")
    if hold.person:
        return _("needs a person")
    if hold.key == "breaker":
        return _("one tries now and then")
    if hold.key == Status.RUNNING:
        return _("runs")
    if hold.key == "dependency":  # whether those end by themselves stands in their own rows
        return _("after those end")
    return _("by itself")


def badge(platform: str) -> str:
    """What a box says of its platform."""
    return safe.one_line(platform_badge(platform), 20) if platform else ""


def group(name: str) -> str:
    """What a box says of its group; shops without one are in none."""
    return safe.one_line(name, 40) if name else _("no group")


def any_shop(_name: str) -> str:
    """What a box says that is of all shops."""
    return ""


def type_done(name: str, done: int, total: int) -> str:
    """How far all of one type are."""
    return _("{type} {n} of {all}").format(type=type_names.name(name), n=text.count(done), all=text.count(total))


def link(*, all_to_one: bool) -> str:
    """How many wait for how many."""
    return _("all to 1") if all_to_one else _("1 to 1")


def below(part: str, one: BatchNow) -> tuple[str, ...]:
    """A few words below the number of a part, the most telling first: how fast, where, of what."""
    story, counts = one.story, parts_of(one)
    if story is None or not counts.get(part):
        return ()
    if part == insight.DONE:
        return text.percent(counts[part] / max(1, sum(counts.values()))), *pace(one)
    if part == insight.RUNNING:
        return (ngettext("on {n} worker", "on {n} workers", story.workers).format(n=text.count(story.workers)),)
    if part == insight.WAITING:
        lane = _("{n} in lane").format(n=text.count(counts[part] - story.retrying))
        again = ngettext("{n} retries", "{n} retry", story.retrying).format(n=text.count(story.retrying))
        return (lane, again) if story.retrying else (lane,)
    holds = {hold.key: hold for hold in story.holds}
    if part == insight.HELD and "dependency" in holds:
        number = len(holds["dependency"].ids)
        return (_("{n} by others").format(n=text.count(number)),)
    if part == insight.DEAD and Status.DEAD in holds:
        dead = holds[Status.DEAD]
        causes = ngettext("{n} cause", "{n} causes", len(dead.parts)).format(n=text.count(len(dead.parts)))
        return causes, ngettext("{n} shop", "{n} shops", dead.shops).format(n=text.count(dead.shops))
    return ()


def pace(one: BatchNow) -> list[str]:
    """How many were done a minute of late, while it goes on."""
    ends = [at for at in one.ends if at > one.at_ms - PACE_MS]
    if not is_open(one.view) or not ends:
        return []
    since = max(one.view.begun_at, one.at_ms - PACE_MS)
    minutes = max(1.0, (one.at_ms - since) / 60_000)
    many = len(ends) / minutes
    said = ngettext("{n} a minute", "{n} a minute", max(1, round(many)))
    return [said.format(n=text.count(round(many)) if many >= SOME else f"{many:.1f}")]


def chances(found: Chances) -> str:
    """What is likely to become of what is retried."""
    n, again, login, unknown = found.passes, found.again, found.login, found.unknown
    if not n and not again and not login:
        return _("not enough record to say what passes") if unknown else ""
    said = [ngettext("{n} likely passes", "{n} likely pass", n).format(n=text.count(n))] if n else []
    if again:
        said.append(ngettext("{n} likely fails again", "{n} likely fail again", again).format(n=text.count(again)))
    if login:
        said.append(ngettext("{n} needs a log-in", "{n} need a log-in", login).format(n=text.count(login)))
    if unknown:
        said.append(_("of {n} there is not enough record").format(n=text.count(unknown)))
    return text.listed(said)


def raised(found: Raised, now_ms: int) -> str:
    """What it changes to let what waits go first: when that is through, and what it costs others."""
    if found.why is not None:
        return shown.say(found.why)
    if not found.number:
        return _("nothing of it waits for a slot now")
    return text.listed((_through(found, now_ms), _costs(found)))


def _through(found: Raised, now_ms: int) -> str:
    if found.raised_s is None:
        return _("nobody can say when it is through")
    end = shown.clock(round(now_ms + found.raised_s * 1000), now_ms)
    if found.as_is_s is None:
        return _("through at {time}; as it is, never at this pace").format(time=end)
    if found.as_is_s - found.raised_s < LEAST_OFF_MS / 1000:
        return _("through at {time}, no earlier than as it is").format(time=end)
    as_is = shown.clock(round(now_ms + found.as_is_s * 1000), now_ms)
    return _("through at {time} instead of {before}").format(time=end, before=as_is)


def _costs(found: Raised) -> str:
    if found.later_s < LEAST_OFF_MS / 1000:
        return _("no other work waits longer")
    span = text.duration(shown.span(round(found.later_s * 1000)))
    return _("other work waits {span} longer on average").format(span=span)


def reasons(left: ShopLeft) -> str:
    """Why what is left of a shop is not done, what needs a person first."""
    return text.listed(
        _("{what}: {n}").format(what=reason(key).lower(), n=text.count(number)) for key, number in left.reasons
    )


def shop_left(left: ShopLeft, names: Mapping[str, str]) -> str:
    """The name of a shop."""
    return safe.one_line(names.get(left.shop, "") or left.shop.partition(":")[2], 80)


def box_title(box: Box, called: Callable[[str], str] = badge) -> str:
    """A box for a screen reader; ``called``: how its platform or group is."""
    worst = _(PARTS[box.worst][1]).lower() if box.worst else ""
    far = _("{n} of {all} done").format(n=box.done, all=box.total)
    parts = [type_names.name(box.task_type), called(box.within), far]
    parts += [f"{text.count(box.counts[box.worst])} {worst}"] if box.worst else []
    return text.listed(part for part in parts if part)


def summary(rows: int, opened: int, looked: str = "", *, more: bool = False) -> str:
    """The one line of the page. ``looked``: what the names were looked for by; ``more``: there are older ones."""
    if not rows and not looked:
        return _("No batch yet.")
    said = [ngettext("{n} open", "{n} open", opened).format(n=text.count(opened))]
    said.append(ngettext("{n} ended", "{n} ended", rows - opened).format(n=text.count(rows - opened)))
    if more:
        said.append(_("the newest {n} are shown").format(n=text.count(rows)))
    return text.listed(said)
