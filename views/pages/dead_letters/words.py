"""Reasons and reach of dead letters in words. Pure but for the language."""

from __future__ import annotations

from services.domain import classify
from services.domain.message import Message
from services.domain.status import Triage
from services.domain.task import Task
from services.domain.verdict import Verdict
from services.i18n import N_, _, ngettext
from services.messages import render
from services.monitor.causes import Cause, Causes
from views.support import safe, shown, text
from views.theme.tokens import platform_badge

#: kind -> (title of the cause, why it died in one sentence)
_KINDS: dict[str, tuple[str, str]] = {
    classify.TIMEOUT: (N_("Timed out"), N_("It took longer than it may.")),
    classify.LOGIN_EXPIRED: (N_("Seller login expired"), N_("The shop was logged out; somebody must log in again.")),
    classify.CAPTCHA: (N_("Captcha"), N_("The platform asked for a captcha that only a person can solve.")),
    classify.RISK_CONTROL: (N_("Risk control"), N_("The platform holds the account back; look into the shop.")),
    classify.ELEMENT_NOT_FOUND: (N_("Page element missing"), N_("The page did not show what the flow looked for.")),
    classify.NETWORK: (N_("Network error"), N_("The platform could not be reached.")),
    classify.RATE_LIMITED: (N_("Too many requests"), N_("The platform asked for fewer requests.")),
    classify.BAD_PAYLOAD: (N_("Payload rejected"), N_("The parameters do not suit the task; correct them below.")),
    classify.CRASHED: (N_("Flow crashed"), N_("The program of the flow ended by itself.")),
    classify.NO_BROWSER: (N_("No browser"), N_("The browser of the shop did not start or went away.")),
    classify.WORKER_LOST: (N_("Worker lost"), N_("Its worker went silent while it ran.")),
    classify.BAD_MESSAGE: (N_("Unreadable message"), N_("The message was not a task.")),
    classify.UNKNOWN_TYPE: (N_("Unknown task type"), N_("No worker knows this task type.")),
    classify.MISSING_SECRET: (N_("Missing password"), N_("A password or key that the flow needs is not set.")),
    classify.ID_CONFLICT: (N_("Task id in use"), N_("Another task has the same id.")),
    classify.NO_COMMAND: (N_("No flow program"), N_("The worker has no program to run flows with.")),
    classify.CANCELLED: (N_("Cancelled"), N_("It was cancelled from outside.")),
}


def title(cause: Cause) -> str:
    """What the cause is called: its kind, or its own words where the kind is not known."""
    named = _KINDS.get(cause.kind)
    if named is not None:
        return _(named[0])
    return safe.one_line(cause.headline.partition(":")[0], 80) or _("Unknown error")


def detail(cause: Cause) -> str:
    """The error text itself, without what the title says already."""
    head, _colon, rest = cause.headline.partition(":")
    if cause.kind in _KINDS or not rest.strip():
        return safe.one_line(cause.headline, 160)
    return safe.one_line(rest, 160) if head else ""


def reason(task: Task) -> str:
    """Why a task died, in one sentence."""
    named = _KINDS.get(task.error_kind)
    return _(named[1]) if named is not None else _("It failed in a way that is not known yet; read the error below.")


def scope(cause: Cause) -> str:
    """How far the cause reaches: one shop, all of a platform, everywhere."""
    if cause.scope == "shop":
        return _("one shop")
    shops = ngettext("{n} shop", "{n} shops", cause.shops).format(n=text.count(cause.shops))
    if cause.scope == "platform" and cause.platforms:
        platform = platform_badge(cause.platforms[0])
        return _("{shops}, all of {platform}").format(shops=shops, platform=platform)
    if cause.scope == "all":
        return _("{shops}, everywhere").format(shops=shops)
    return shops


def span(cause: Cause, now_ms: int) -> tuple[str, str]:
    """When it was first and last seen."""
    first = _("first {time}").format(time=minute(cause.first_at, now_ms))
    return first, _("last {time}").format(time=minute(cause.last_at, now_ms))


def minute(instant_ms: int, now_ms: int) -> str:
    """A time of day without its seconds; the date where it is not today."""
    whole = shown.clock(instant_ms, now_ms)
    return whole[:5] if whole.count(":") == 2 else whole


def summary(causes: Causes, closed_at: int, now_ms: int) -> str:
    """The page's line: how many, where, of how many kinds; else when the last one was closed."""
    if not causes.rows:
        if not closed_at:
            return _("No dead letters.")
        return _("No dead letters. Last one closed {time}.").format(time=minute(closed_at, now_ms))
    tasks = ngettext("{n} task", "{n} tasks", causes.total).format(n=text.count(causes.total))
    shops = ngettext("{n} shop", "{n} shops", causes.shops).format(n=text.count(causes.shops))
    kinds = ngettext("{n} cause", "{n} causes", len(causes.rows)).format(n=text.count(len(causes.rows)))
    return _("{tasks}, {shops}, {causes}").format(tasks=tasks, shops=shops, causes=kinds)


def sentence(cause: Cause) -> str:
    """The cause for a screen reader."""
    number = ngettext("{n} dead letter", "{n} dead letters", cause.count).format(n=text.count(cause.count))
    return text.listed((title(cause), number, scope(cause), detail(cause)))


_LEVELS = {"safe": "healthy", "check": "warning", "would_duplicate": "dead"}


def verdict_words(verdict: Verdict) -> tuple[str, str]:
    """Status for the tint, and the verdict with its evidence."""
    params = dict(verdict.params)
    named = _KINDS.get(str(params.get("kind", "")))
    if named is not None:
        params["kind"] = _(named[0])
    return _LEVELS.get(verdict.level, "warning"), render(Message(verdict.code, params))


def attempts(task: Task, now_ms: int) -> list[tuple[str, str]]:
    """The attempts as names and values."""
    rows = []
    for one in task.attempts:
        took = text.duration(shown.span(one.ended_at - one.started_at), precise=True)
        where = text.listed(part for part in (one.worker, took) if part)
        name = _("Attempt {n}").format(n=one.number)
        rows.append((name, f"{shown.clock(one.started_at, now_ms)}  {where}"))
    return rows


def next_step(task: Task, who: str) -> str:
    """What happens with the letter from here on."""
    if task.triage == Triage.REPUBLISHED:
        return _("This letter is closed: it was republished as {id}.").format(id=task.successor)
    if task.task_id.startswith("bad_"):
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
