"""Reasons and reach of dead letters in words. Pure but for the language."""

from __future__ import annotations

from collections.abc import Sequence

from services import messages
from services.domain.insight import known_issue, reach
from services.domain.insight.shop import ShopNow
from services.domain.task import classify, ids
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.status import Triage
from services.i18n import N_, NP_, _, ngettext, pgettext
from services.monitor.letters.causes import Cause, Causes
from views.support import safe, shown, text
from views.support.words import cause as names
from views.support.words import kinds, shop, type_names, verdicts
from views.support.words.shop import platform_name


def title(cause: Cause) -> str:
    """What the cause is called: as a person named it, else by its kind; and where, if it was split off."""
    return names.called(cause.rule.name, cause.title, cause.rule.where, cause.place_name)


def place_line(where: str, number: int, name: str = "") -> str:
    """A place with how many letters died there."""
    kind = {"shop": _("Shop"), "platform": _("Platform"), "worker": _("Worker")}[where.partition(":")[0]]
    letters = ngettext("{n} dead letter", "{n} dead letters", number).format(n=text.count(number))
    return text.listed([_("{name}: {value}").format(name=kind, value=names.place(where, name)), letters])


def kind_title(cause: Cause) -> str:
    """Its pattern: the kind with what the errors name, or their own words where the kind is not known."""
    return safe.one_line(shown.say(cause.title), 90)


def has_print(cause: Cause) -> bool:
    """Whether it can be named and ignored as a whole; letters without a fingerprint cannot."""
    return filter.is_fingerprint(cause.fingerprint)


def rule_words(cause: Cause, now_ms: int) -> str:
    """How long it is ignored, "" when it is not."""
    if not cause.rule.holds(now_ms):
        return ""
    if not cause.rule.until:
        return _("ignored until its text changes")
    return _("ignored until {time}").format(time=minute(cause.rule.until, now_ms))


def beyond(cause: Cause) -> str:
    """That what is decided about it is about letters, too, which a filter hides; "" where all are in sight."""
    hidden = cause.among - cause.count
    if hidden <= 0:
        return ""
    return ngettext(
        "It holds for the whole cause: for {n} dead letter, too, that the filter hides.",
        "It holds for the whole cause: for {n} dead letters, too, that the filter hides.",
        hidden,
    ).format(n=text.count(hidden))


def known(cause: Cause) -> str:
    """Who is at it, and what is done about it by itself, "" for nothing."""
    return text.listed(map(shown.say, known_issue.told(cause.rule, cause.issue)))


def types(cause: Cause) -> str:
    """Whose error it is: equal errors of two task types are two causes, and only this tells them apart."""
    return text.listed([type_names.name(code) for code in cause.types[:2]])


def heading(cause: Cause) -> str:
    """Title and task type on one line."""
    return " · ".join(part for part in (title(cause), types(cause)) if part)


def detail(cause: Cause) -> str:
    """The error text without the title's words."""
    head, _colon, rest = cause.headline.partition(":")
    if kinds.title(cause.kind) or not rest.strip():
        rest = cause.headline
    return safe.one_line(messages.own(rest), 160) if head else ""


def reason(task: Task) -> str:
    """Why a task died, in one sentence."""
    return kinds.reason(task.error_kind) or _("It failed in a way that is not known yet; read the error below.")


def scope(cause: Cause) -> str:
    """How far the cause reaches: one shop, all of a platform, everywhere."""
    if cause.scope == "shop":
        return _("one shop")
    shops = ngettext("{n} shop", "{n} shops", cause.shops).format(n=text.count(cause.shops))
    if cause.scope == "platform" and cause.platforms:
        platform = platform_name(cause.platforms[0])
        return _("{shops}, all of {platform}").format(shops=shops, platform=platform)
    if cause.scope == "all":
        return _("{shops}, everywhere").format(shops=shops)
    return shops


def lies(cause: Cause) -> str:
    """Where it lies, by the shops that ran the same work meanwhile; how far it reaches where nobody can tell."""
    found = cause.reach
    if found.at == reach.NOTHING:
        return scope(cause)
    return text.listed((shown.say(found.told(platform_name, shop_id)), *map(shown.say, found.rest)))


def shop_id(key: str) -> str:
    """A shop by its id alone: what it is called stands beside its letters."""
    return key.partition(":")[2] or key


def short(cause: Cause) -> str:
    """The same in a few words, for a narrow line."""
    found = cause.reach
    where = text.listed(map(platform_name if found.at == reach.PLATFORM else str, found.values))
    numbers = {"failed": text.count(found.failed), "ran": text.count(found.ran), "where": where}
    if found.at == reach.PLATFORM:
        return _("failed in {failed} of {ran} shops of {where}").format(**numbers)
    if found.at in (reach.NODE, reach.PROXY, reach.VERSION):
        return _("failed in {failed} of {ran} shops on {where}").format(**numbers)
    if found.at in (reach.ALL, reach.SINGLE):
        return _("failed in {failed} of {ran} shops").format(**numbers)
    return scope(cause)


#: how a cause goes, where that is worth a word
TRENDS = {
    reach.NEW: NP_("cause", "new"),
    reach.GROWING: NP_("cause", "growing"),
    reach.FADING: NP_("cause", "fading"),
    reach.OVER: NP_("cause", "none for 6 hours"),
}


def trend(cause: Cause) -> str:
    """How it goes in a word, "" where it goes on as before."""
    return pgettext("cause", TRENDS[cause.trend]) if cause.trend in TRENDS else ""


_PLACES = {
    reach.PLATFORM: N_("Platform"),
    reach.NODE: N_("Machine"),
    reach.PROXY: N_("Proxy"),
    reach.VERSION: N_("Version"),
}
_MOST_PLACES = 8


def matrix(cause: Cause) -> str:
    """Of each place how many of the shops that ran the work failed, a line each; "" where nobody knows."""
    lines = []
    for name, title in _PLACES.items():
        for row in cause.reach.tables.get(name, ())[:_MOST_PLACES]:
            value = platform_name(row.value) if name == reach.PLATFORM else row.value
            told = _("{failed} of {ran} shops failed").format(failed=text.count(row.failed), ran=text.count(row.ran))
            lines.append(_("{name}: {value}").format(name=f"{_(title)} {value}", value=told))
    return "\n".join(lines)


def span(cause: Cause, now_ms: int) -> tuple[str, str]:
    """When it was first and last seen."""
    first = _("first {time}").format(time=minute(cause.first_at, now_ms))
    return first, _("last {time}").format(time=minute(cause.last_at, now_ms))


def minute(instant_ms: int, now_ms: int) -> str:
    """A time of day without its seconds; the date where it is not today."""
    whole = shown.clock(instant_ms, now_ms)
    return whole[:5] if whole.count(":") == 2 else whole


def on_their_way(again: Sequence[Task]) -> str:
    """What becomes of tasks made of letters while they have not ended, and what a person does meanwhile."""
    hint = _("They go on by themselves; what fails for good comes back here.")
    if any(task.attempts and task.attempts[-1].error_kind == classify.NETWORK for task in again):
        asked = _("The workers did not reach the platform: have the network of their machines checked meanwhile.")
        return text.sentences((hint, asked))
    return hint


def summary(causes: Causes, closed_at: int, now_ms: int, total: int | None = None, again: Sequence[Task] = ()) -> str:
    """The page's line: how many, where, of how many kinds; else what is on its way again, or when the last one was
    closed.

    ``total``: the number of a later look, which stands in tab and navigation too. ``again``: tasks made of letters
    that have not ended.
    """
    if not causes.rows:
        if again:
            count = text.count(len(again))
            return ngettext(
                "No dead letters now, but {n} republished task has not ended yet.",
                "No dead letters now, but {n} republished tasks have not ended yet.",
                len(again),
            ).format(n=count)
        if not closed_at:
            return _("No dead letters.")
        return _("No dead letters. Last one closed {time}.").format(time=minute(closed_at, now_ms))
    number = total or causes.total
    tasks = ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))
    shops = ngettext("{n} shop", "{n} shops", causes.shops).format(n=text.count(causes.shops))
    kinds = ngettext("{n} cause", "{n} causes", len(causes.rows)).format(n=text.count(len(causes.rows)))
    if causes.scanned < causes.total:
        newest = text.count(causes.scanned)
        said = _("{tasks}; of the newest {newest}: {shops}, {causes}")
        return said.format(tasks=tasks, newest=newest, shops=shops, causes=kinds)
    return _("{tasks}, {shops}, {causes}").format(tasks=tasks, shops=shops, causes=kinds)


def match(causes: Causes, total: int | None = None) -> str:
    """The page's line where a filter leaves some out; ``total``: as of ``summary``."""
    number = sum(cause.count for cause in causes.rows)
    every = max(total or causes.total, number)
    tasks = ngettext("{n} of {total} task matches", "{n} of {total} tasks match", every)
    shops = ngettext("{n} shop", "{n} shops", causes.shops).format(n=text.count(causes.shops))
    kinds = ngettext("{n} cause", "{n} causes", len(causes.rows)).format(n=text.count(len(causes.rows)))
    said = tasks.format(n=text.count(number), total=text.count(every))
    return _("{tasks}, {shops}, {causes}").format(tasks=said, shops=shops, causes=kinds) if number else said


def report(cause: Cause, example: Task | None, now_ms: int) -> str:
    """What whoever makes the flow must know of a cause, secrets as dots; ``example``: one of its letters."""
    every = cause.among or cause.count
    number = ngettext("{n} dead letter", "{n} dead letters", every).format(n=text.count(every))
    platforms = text.listed(platform_name(one) for one in cause.platforms)
    rows = [
        (_("Cause"), heading(cause)),
        (_("Extent"), text.listed((number, scope(cause), *span(cause, now_ms)))),
        (_("Where it lies"), lies(cause) if cause.reach.at != reach.NOTHING else ""),
        (_("Platform"), platforms),
        (_("Error"), messages.own(cause.headline)),
        (_("What helps"), verdicts.why(cause.worth)),
    ]
    if example is not None:
        last = example.attempts[-1] if example.attempts else None
        rows += [(_("Task type"), example.task_type), (_("Example"), f"{example.task_id} ({example.shop})")]
        files = [f"{one.step}/{one.name}".strip("/") for one in last.artifacts] if last is not None else []
        rows += [(_("Files"), text.listed(files))] if files else []
    lines = (_("{name}: {value}").format(name=name, value=value) for name, value in rows if value)
    return safe.masked("\n".join(lines))


def sentence(cause: Cause) -> str:
    """The cause for a screen reader."""
    number = ngettext("{n} dead letter", "{n} dead letters", cause.count).format(n=text.count(cause.count))
    again = verdicts.word(cause.worth, cause.count)
    parts = (heading(cause), number, again, lies(cause), trend(cause), known(cause), detail(cause), cause.rule.note)
    return text.listed(part for part in parts if part)


def tip(cause: Cause) -> str:
    """Why it is worth retrying or not, and what a person noted."""
    parts = (verdicts.why(cause.worth), lies(cause), matrix(cause), known(cause), cause.rule.note)
    return "\n".join(part for part in parts if part)


def attempts(task: Task, now_ms: int) -> list[tuple[str, str]]:
    """The attempts as names and values."""
    rows = []
    for one in task.attempts:
        took = text.duration(shown.span(one.ended_at - one.started_at), precise=True)
        where = text.listed(part for part in (one.worker, took) if part)
        name = _("Attempt {n}").format(n=one.number)
        rows.append((name, f"{shown.clock(one.started_at, now_ms)}  {where}"))
    return rows


def before(letters: Sequence[Task], now_ms: int) -> list[tuple[str, str, str]]:
    """How often the work failed as other letters before, the newest first of which it was republished from."""
    if not letters:
        return []
    number = len(letters)
    times = ngettext("{n} time, republished in between", "{n} times, republished in between", number)
    first = _("first {time}").format(time=minute(letters[-1].ended_at, now_ms))
    return [(_("Failed before"), text.listed((times.format(n=text.count(number)), first)), "dead")]


def shop_row(now: ShopNow, task: Task, now_ms: int) -> tuple[str, str, str]:
    """How the shop of a letter stands now, as a row below the attempts."""
    if shop.restricted(now, task):
        return _("Shop now"), _("session open; the platform restricts the account"), "text"
    role = shop.look(now)[2]
    return _("Shop now"), shop.since(now, now_ms), role if role in ("succeeded", "retrying") else "text"


def next_step(task: Task, who: str) -> str:
    """What happens with the letter from here on."""
    if task.triage == Triage.REPUBLISHED:
        return _("This letter is closed: it was republished as {id}.").format(id=task.successor)
    if task.triage == Triage.OVERTAKEN:
        return "\n".join(
            (
                _("The same work succeeded later as {id}, which closed this letter.").format(id=task.successor),
                _("Reopen brings it back to the open ones; republishing it would do the work once more."),
            )
        )
    if ids.is_unread(task.task_id):
        return _("This message never was a readable task. Create a new task from what it says, then archive it.")
    lines = [
        _("Republishing makes a new task with a new id, linked to this one."),
        _("This dead letter closes as republished by {who}.").format(who=who),
    ]
    if task.triage in (Triage.IGNORED, Triage.ARCHIVED):
        ignored = _("It is ignored now. Reopen brings it back to the open ones.")
        archived = _("It is archived now. Reopen brings it back to the open ones.")
        lines.insert(0, ignored if task.triage == Triage.IGNORED else archived)
    return "\n".join(lines)
