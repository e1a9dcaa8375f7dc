"""Task types in words. Pure but for the language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import msgspec

from services.commands.types import CHANGED, CREATED, Change, Fault
from services.domain.task.search import filter_time
from services.domain.types import flow
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, language, ngettext
from services.messages import told
from services.monitor.forecast.drift import DriftNow
from services.monitor.types import DryRun, TypeVersion, changed
from views.dialogs.schema.json_text import pretty
from views.support import safe, shown, text
from views.theme.tokens import platform_badge

UNIQUENESS: Mapping[str, str] = {
    "shop_type_payload": N_("once for each shop and payload"),
    "shop_type": N_("once for each shop"),
    "none": N_("side by side"),
}
#: the fields of the policy
FIELDS: Mapping[str, str] = {
    "title": N_("Title"),
    "description": N_("Description"),
    "executor": N_("Executor"),
    "schema": N_("Payload schema"),
    "timeout_s": N_("Time-out"),
    "max_retries": N_("Retries"),
    "retry_base_s": N_("First delay"),
    "retry_cap_s": N_("Longest delay"),
    "idempotent": N_("Repeatable"),
    "uniqueness": N_("Active at once"),
    "unique_for": N_("Not again for"),
    "preemptible": N_("May be interrupted"),
    "expected_s": N_("Usual duration"),
    "lane": N_("Lane"),
    "concurrency": N_("Tasks at once"),
    "rate_per_minute": N_("Starts a minute"),
    "isolation": N_("Browser"),
    "indexed": N_("Indexed payload fields"),
    "version": N_("Version"),
}


class TypeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A type, and what of it is not as it was."""

    kind: TaskType
    drifts: tuple[DriftNow, ...] = ()  #: what began last first

    @property
    def name(self) -> str:
        return self.kind.name


#: what has drifted in a few words, by the code of its sentence
SHORT: Mapping[str, str] = {
    "drift.seconds": N_("{factor}× slower"),
    "drift.step": N_("{name} {factor}× slower"),
    "drift.rows": N_("{name} {before} → {after}"),
    "drift.size": N_("{before} → {after} bytes"),
}
#: documents of an import that are told one by one
MOST = 12


def title(kind: TaskType) -> str:
    """What people call it, "" where nobody said."""
    chosen = kind.title.get(language(), "") or kind.title.get("en", "")
    return safe.one_line(chosen, 80)


def description(kind: TaskType) -> str:
    """What it does, "" where nobody said."""
    return safe.masked(kind.description.get(language(), "") or kind.description.get("en", ""))


def field(name: str) -> str:
    """What a field of the policy is called."""
    return _(FIELDS[name]) if name in FIELDS else name


def span(seconds: float) -> str:
    """A duration of the policy."""
    chosen = timedelta(seconds=seconds)
    return text.exact(chosen) if seconds == int(seconds) else text.duration(chosen)


def yes(on: bool) -> str:
    """Yes or no."""
    return _("yes") if on else _("no")


def limits(kind: TaskType) -> str:
    """How many at once and a minute, "" for no limit."""
    parts = []
    if kind.concurrency:
        parts.append(_("{n} at once").format(n=text.count(kind.concurrency)))
    if kind.rate_per_minute:
        parts.append(_("{n} a minute").format(n=text.count(kind.rate_per_minute)))
    return text.listed(parts)


def unique(kind: TaskType) -> str:
    """What may be active only once."""
    said = _(UNIQUENESS[kind.uniqueness]) if kind.uniqueness in UNIQUENESS else kind.uniqueness
    if not kind.window:
        return said
    within = filter_time.duration_ms(kind.window)
    spelt = span(within // 1000) if within is not None else _("today")
    after = _("not again for {span} after a success without a reason").format(span=spelt)
    return text.listed([said, after])


def sentence(kind: TaskType) -> str:
    """The row for a screen reader."""
    parts = [_("{name}: {value}").format(name=kind.name, value=title(kind) or kind.executor), version(kind.version)]
    return text.listed([*parts, _("time-out {span}").format(span=span(kind.timeout_s)), unique(kind)])


def row(one: TypeRow) -> str:
    """The row for a screen reader, with what has drifted."""
    return text.sentences([part for part in (sentence(one.kind), drifts(one)) if part])


def drift(one: TypeRow) -> str:
    """The worst that is not as it was, and on how many platforms, "" where all is."""
    if not one.drifts:
        return ""
    worst = one.drifts[0].said[0]
    platform = platform_badge(one.drifts[0].platform)
    first = _("{name}: {value}").format(name=platform, value=_(SHORT[worst.code]).format(**worst.params))
    more = sum(len(each.said) for each in one.drifts) - 1
    return _("{first} (+{n})").format(first=first, n=text.count(more)) if more else first


def drifts(one: TypeRow) -> str:
    """All that is not as it was, a line each."""
    return "\n".join(safe.masked(shown.say(said)) for each in one.drifts for said in each.said)


def drift_facts(one: TypeRow) -> list[tuple[str, str, str]]:
    """By platform: since when, what has changed, in how many runs and shops."""
    found = []
    for each in one.drifts:
        said = [shown.say(message) for message in (*each.said, each.extent)]
        if each.stale:
            said.append(_("Nobody has compared it for a while."))
        found.append((shown.scope_name(f"platform:{each.platform}"), text.sentences(said), "retrying"))
    return found


def version(number: int) -> str:
    """``version 3``."""
    return _("version {n}").format(n=number)


def facts(kind: TaskType) -> list[tuple[str, str]]:
    """The policy, field by field."""
    delays = [span(one) for one in (kind.retry_base_s, kind.retry_cap_s) if one is not None]
    rows = [
        (field("executor"), kind.executor),
        (field("lane"), shown.lane_word(kind.lane)),
        (field("timeout_s"), span(kind.timeout_s)),
        (field("expected_s"), span(kind.expected_s) if kind.expected_s else ""),
        (field("max_retries"), text.count(kind.max_retries)),
        (_("Delays"), " – ".join(delays)),
        (field("idempotent"), yes(kind.idempotent)),
        (field("uniqueness"), unique(kind)),
        (field("preemptible"), yes(kind.preemptible)),
        (_("Limits"), limits(kind) or _("no limit")),
        (field("isolation"), kind.isolation if kind.executor in ("browser", flow.EXECUTOR) else ""),
        (_("Payload"), payload(kind)),
        (field("indexed"), text.listed(kind.indexed)),
    ]
    return [row for row in rows if row[1]]


def payload(kind: TaskType) -> str:
    """The fields that its schema names."""
    names = kind.schema.get("properties", {})
    if not isinstance(names, dict) or not names:
        return _("every JSON object")
    needed = kind.schema.get("required", ())
    return text.listed(f"{name}*" if name in needed else name for name in names)


def document(kind: TaskType) -> str:
    """The whole document as people read it."""
    return pretty(msgspec.to_builtins(kind))


def policy(kind: TaskType) -> str:
    """The document without its number, which differs between any two versions."""
    return pretty({key: value for key, value in msgspec.to_builtins(kind).items() if key != "version"})


def known(one: TypeVersion, now_ms: int) -> str:
    """A version in the list of them."""
    parts = [version(one.number)]
    if one.at:
        parts.append(_("{time} by {who}").format(time=shown.clock(one.at, now_ms), who=safe.one_line(one.who, 40)))
    return text.listed(parts)


def between(old: TaskType, new: TaskType) -> str:
    """In which fields two versions differ."""
    fields = changed(old, new)
    return _("Changed: {fields}").format(fields=text.listed(map(field, fields))) if fields else _("They are alike.")


def summary(rows: Sequence[TypeRow]) -> str:
    """How many there are, and which need care."""
    kinds = [row.kind for row in rows]
    if not kinds:
        return _("No task type is defined.")
    parts = [ngettext("{n} task type", "{n} task types", len(kinds)).format(n=text.count(len(kinds)))]
    once = sum(not kind.idempotent for kind in kinds)
    if once:
        parts.append(ngettext("{n} is not repeatable", "{n} are not repeatable", once).format(n=text.count(once)))
    held = sum(bool(limits(kind)) for kind in kinds)
    if held:
        parts.append(ngettext("{n} has a limit", "{n} have a limit", held).format(n=text.count(held)))
    if off := sum(bool(row.drifts) for row in rows):
        parts.append(ngettext("{n} is not as it was", "{n} are not as they were", off).format(n=text.count(off)))
    return text.listed(parts)


# ----------------------------------------------------------------------------------------------- what would change
def would(change: Change) -> str:
    """What a document does to its type."""
    name = change.kind.name
    if change.what == CREATED:
        return _("{name} is new, version {n}").format(name=name, n=change.kind.version)
    if change.what == CHANGED:
        fields = text.listed(map(field, change.fields))
        said = _("{name} becomes version {n}").format(name=name, n=change.kind.version)
        return _("{name}: {value}").format(name=said, value=fields) if fields else said
    return _("{name} stays as it is").format(name=name)


def fault(one: Fault) -> str:
    """Why a document cannot be taken."""
    return _("Document {n}: {why}").format(n=one.place + 1, why=one.error)


def tried(found: DryRun) -> str:
    """What a schema would say of the newest payloads."""
    if not found.looked:
        return _("No task of this type is there whose payload could be tried.")
    looked = ngettext("the newest payload of this type", "the newest {n} payloads of this type", found.looked).format(
        n=text.count(found.looked)
    )
    if not found.refused:
        return _("Dry run: of {payloads} none would be refused").format(payloads=looked)
    said = _("Dry run: of {payloads} {n} would be refused").format(payloads=looked, n=text.count(found.refused))
    parts = [said]
    if found.before:
        words = ngettext("{n} is refused today as well", "{n} are refused today as well", found.before)
        parts.append(words.format(n=text.count(found.before)))
    if found.active:
        words = ngettext("{n} of them has not ended yet", "{n} of them have not ended yet", found.active)
        parts.append(words.format(n=text.count(found.active)))
    return text.listed(parts, ";")


def refusals(found: DryRun) -> list[tuple[str, str]]:
    """Each fault with how many payloads have it."""
    return [
        (
            text.count(one.tasks),
            _("{name}: {value}").format(name=one.problem.path, value=told(one.problem.message))
            if one.problem.path
            else told(one.problem.message),
        )
        for one in found.faults
    ]
