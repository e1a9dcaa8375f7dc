"""How an act is taken back from its entry in the audit, by the command that reverses it and with what the entry keeps.

``take_back`` (``services.domain.task``) says how each act is taken back where it was done. Here stand those of them
whose entry says all that is needed for it, also days later and by somebody else. Each way ends in a command, which asks
for the role and writes an entry of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from services.commands.alerts import AlertCommands
from services.commands.audit import undoing
from services.commands.breakers import BreakerCommands
from services.commands.causes import CauseCommands
from services.commands.dead_letters import DeadLetterCommands
from services.commands.fleet import FleetCommands
from services.commands.outcome import Outcome, Refusal
from services.commands.promises import PromiseCommands
from services.commands.quiet import QuietCommands
from services.commands.roles import RoleCommands
from services.commands.schedules import ScheduleCommands
from services.commands.sessions import SessionCommands
from services.commands.tasks import Place, RaisedBatch, TaskCommands
from services.commands.views import ViewCommands
from services.domain import audit
from services.domain.alerts.rule import Rule as AlertRule
from services.domain.audit import TARGETS_KEPT, AuditEntry
from services.domain.errors import UsageError
from services.domain.gates.breaker import Rule as BreakerRule
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import QuietHours
from services.domain.plans.schedule import Schedule
from services.domain.promises.promise import Promise
from services.domain.task import lane
from services.domain.task.search.shared_view import SharedView
from services.domain.task.status import Triage
from services.domain.text.mask import DOTS
from services.domain.text.message import Message
from services.domain.text.said import Said, said, words_of

Detail = Mapping[str, Any]


class Trail(Protocol):
    """What was written since."""

    def now_ms(self) -> int: ...
    def after(self, entry: AuditEntry, wanted: Callable[[AuditEntry], bool]) -> Sequence[AuditEntry] | None:
        """The wanted ones that may have changed something, written after it; None where nobody can say."""


class Commands(Protocol):
    """What reverses acts."""

    @property
    def tasks(self) -> TaskCommands: ...
    @property
    def dead_letters(self) -> DeadLetterCommands: ...
    @property
    def causes(self) -> CauseCommands: ...
    @property
    def fleet(self) -> FleetCommands: ...
    @property
    def breakers(self) -> BreakerCommands: ...
    @property
    def sessions(self) -> SessionCommands: ...
    @property
    def quiet(self) -> QuietCommands: ...
    @property
    def schedules(self) -> ScheduleCommands: ...
    @property
    def promises(self) -> PromiseCommands: ...
    @property
    def roles(self) -> RoleCommands: ...
    @property
    def alerts(self) -> AlertCommands: ...
    @property
    def views(self) -> ViewCommands: ...


class Way(msgspec.Struct, frozen=True):
    """``by``: the act that reverses it, as the audit names it; ``go`` does that. ``needs``: what of the details it is
    made from, where an entry may lack it; without it there is no way. ``fresh``: it brings nothing back, so there is a
    way only where the entry says (``was``) that nothing stood there before.
    ``way_of`` says ``by`` and ``objects`` as they are for the entry.
    """

    by: str
    go: Callable[[Commands, AuditEntry, Detail], object]
    needs: str = ""
    fresh: bool = False
    role: str = "operator"  #: the least that may; the command asks again
    begins: bool = False  #: work begins by it, which nothing takes back
    #: it leaves by itself what was not done, or is not as it was left any more: only an act on the first object, which
    #: has the others, is in its way
    minds: bool = False
    anew: str = ""  #: the act instead of ``by`` where nothing stood before, so the entry keeps none
    on: Callable[[AuditEntry, Detail], Sequence[str]] = lambda entry, _: entry.target  #: what it acts on
    objects: tuple[str, ...] = ()  #: that, of this entry, as far as it was done and the entry names it
    number: int = 0  #: how many that are
    asked: int = 0  #: so many the act was asked for


def _pause(commands: Commands, entry: AuditEntry, detail: Detail) -> None:
    commands.fleet.pause(entry.target[0], reason=str(detail["was"].get("reason", "")))


def _limit(commands: Commands, entry: AuditEntry, detail: Detail) -> None:
    scope = entry.target[0]
    commands.fleet.set_limit(Limit(scope=scope, **detail["from"]), instead=Limit(scope=scope, **detail["to"]))


def _breaker_rule(commands: Commands, _entry: AuditEntry, detail: Detail) -> None:
    if commands.breakers.rule() != msgspec.convert(detail["to"], BreakerRule):
        raise UsageError(said("back.differs"), field="entry")
    commands.breakers.set_rule(msgspec.convert(detail["from"], BreakerRule))


def _role(commands: Commands, entry: AuditEntry, detail: Detail) -> None:
    who = entry.target[0]
    if detail["own"]:
        commands.roles.set(who, detail["from"], instead=detail["to"])
    else:
        commands.roles.remove(who, instead=detail["to"])


def _schedules(commands: Commands, _entry: AuditEntry, detail: Detail) -> Outcome:
    plans = [msgspec.convert(one, Schedule) for one in detail["schedules"]]
    for one in plans:  # what one of them lacks is said before another is there again, which would bar the way
        commands.schedules.checked(one)
    by_name = {one.name: one for one in plans}
    return _each(tuple(by_name), lambda name: bool(commands.schedules.add(by_name[name])))


def _split(commands: Commands, entry: AuditEntry, _detail: Detail) -> Outcome:
    return _each(entry.target, commands.causes.split)


def _each(names: Sequence[str], act: Callable[[str], bool]) -> Outcome:
    """Each of them, also where another one is refused."""
    done: list[str] = []
    skipped: list[Refusal] = []
    for name in names:
        try:
            if act(name):
                done.append(name)
            else:
                skipped.append(Refusal(task_id=name, why=said("back.differs").message))
        except UsageError as exc:
            words = words_of(exc)
            why = words.message if isinstance(words, Said) else Message("bulk.failed", {"error": words})
            skipped.append(Refusal(task_id=name, why=why))
    return Outcome(done=tuple(done), skipped=tuple(skipped))


def _again(first: int = 0) -> Way:
    """What was cancelled is created again; without a reason not what may have been done. ``first``: so many of the
    objects stand before the tasks.
    """
    return Way(
        "task.create_again",
        lambda commands, entry, _: commands.tasks.create_again(entry.target[first:], untouched=True),
        begins=True,
        on=lambda entry, _: entry.target[first:],
    )


def _lower(commands: Commands, entry: AuditEntry, detail: Detail) -> Outcome:
    most = detail.get("most")  # entries of before name each task, by the number of its priority alone
    raised = RaisedBatch(
        batch=entry.target[0],
        who=entry.who,
        begun=entry.at,
        ended=entry.closed_at,
        most=None if most is None else _place(most),
        others={one: _place(was) for one, was in detail["was"].items()},
    )
    outcome = commands.tasks.lower_back(raised)
    if not outcome.done and not outcome.failed:
        raise UsageError(said("back.differs"), field="entry")
    return outcome


def _place(was: object) -> Place:
    return msgspec.convert(was, Place) if isinstance(was, list) else lane.parse_priority(was)


def _promise_back(commands: Commands, entry: AuditEntry, detail: Detail) -> None:
    if "before" in detail:
        commands.promises.set(msgspec.convert(detail["before"], Promise))
    else:
        commands.promises.remove(entry.target[0])


def _quiet_back(commands: Commands, entry: AuditEntry, detail: Detail) -> None:
    if "before" in detail:
        commands.quiet.set(msgspec.convert(detail["before"], QuietHours))
    else:
        commands.quiet.remove(entry.target[0])


def _alert_rule_back(commands: Commands, entry: AuditEntry, detail: Detail) -> None:
    if "before" in detail:
        commands.alerts.set_rule(msgspec.convert(detail["before"], AlertRule))
    else:
        commands.alerts.reset_rule(entry.target[0])


def _view_back(commands: Commands, _entry: AuditEntry, detail: Detail) -> None:
    now = next((one.version for one in commands.views.known() if one.key == detail["key"]), None)
    if now is None or now != detail.get("version"):
        raise UsageError(said("back.differs"), field="entry")
    if "before" in detail:
        before = msgspec.convert(detail["before"], SharedView)
        commands.views.share(msgspec.structs.replace(before, version=detail["version"]))
    else:
        commands.views.remove(detail["key"])


def _lift(commands: Commands, entry: AuditEntry, _detail: Detail) -> Outcome:
    """What was taken back is the decision, whether or not a letter was waiting behind it."""
    return replace(commands.causes.lift(entry.target[0]), done=entry.target, pending=())


def _tell(order: str) -> Callable[[Commands, AuditEntry, Detail], object]:
    return lambda commands, entry, _detail: commands.fleet.tell_worker(entry.target[0], order)


def _reopen(commands: Commands, entry: AuditEntry, _detail: Detail) -> Outcome:
    return commands.dead_letters.set_triage(entry.target, Triage.OPEN)


def _changed(_entry: AuditEntry, detail: Detail) -> Sequence[str]:
    return detail["changed"] if isinstance(detail["changed"], list) else ()


def _switch(*, enabled: bool) -> Callable[[Commands, AuditEntry, Detail], object]:
    return lambda commands, _entry, detail: Outcome(done=commands.schedules.switch(detail["changed"], enabled=enabled))


WAYS: Mapping[str, Way] = {
    "pause": Way("resume", lambda commands, entry, _: commands.fleet.resume(entry.target[0], by=entry.who), fresh=True),
    "resume": Way("pause", _pause, needs="was"),
    "limit": Way("limit", _limit, needs="from"),
    "shop.concurrency": Way(
        "shop.concurrency",
        lambda commands, entry, detail: commands.fleet.set_concurrency(
            entry.target[0], int(detail["from"]), instead=int(detail["to"])
        ),
        needs="from",
    ),
    "shop.dedicate": Way(
        "shop.undedicate", lambda commands, entry, _: commands.fleet.undedicate(entry.target[0]), needs="from"
    ),
    "shop.undedicate": Way(
        "shop.dedicate", lambda commands, entry, _: commands.fleet.dedicate(entry.target[0]), needs="from"
    ),
    "breaker.rule": Way("breaker.rule", _breaker_rule, needs="from", role="admin"),
    "session.close": Way("session.open", lambda commands, entry, _: commands.sessions.open(entry.target[0])),
    "session.open": Way(
        "session.close",
        lambda commands, entry, detail: commands.sessions.close(entry.target[0], kind=detail["kind"]),
        needs="kind",
    ),
    "worker.drain": Way("worker.resume", _tell("resume"), needs="from"),
    "worker.resume": Way("worker.drain", _tell("drain"), needs="from"),
    "task.cancel": _again(),
    "batch.cancel": _again(first=1),
    "batch.raise": Way("task.prioritize", _lower, needs="was", minds=True, on=lambda entry, _: entry.target[1:]),
    "queue.purge": _again(first=1),
    "task.try": Way("task.try_back", lambda commands, entry, _: commands.tasks.take_back_try(entry.target[0])),
    "dead.archived": Way("dead.open", _reopen, fresh=True),
    "dead.ignored": Way("dead.open", _reopen, fresh=True),
    "cause.ignore": Way("cause.lift", _lift, fresh=True),
    "cause.know": Way("cause.forget", lambda commands, entry, _: commands.causes.forget(entry.target[0]), fresh=True),
    "cause.merge": Way("cause.split", _split, fresh=True),
    "cause.split": Way("cause.join", lambda commands, _, detail: commands.causes.join(detail["part"]), needs="part"),
    "schedule.add": Way("schedule.remove", lambda commands, entry, _: commands.schedules.remove(entry.target)),
    "schedule.change": Way(
        "schedule.change",
        lambda commands, _, detail: commands.schedules.add(msgspec.convert(detail["before"], Schedule), replace=True),
        needs="before",
    ),
    "schedule.remove": Way("schedule.add", _schedules, needs="schedules"),
    "schedule.enable": Way("schedule.disable", _switch(enabled=False), needs="changed", on=_changed),
    "schedule.disable": Way("schedule.enable", _switch(enabled=True), needs="changed", on=_changed),
    "quiet.set": Way("quiet.set", _quiet_back, anew="quiet.remove", on=lambda entry, _: entry.target[:1]),
    "quiet.remove": Way("quiet.set", _quiet_back, needs="before"),
    "promise.set": Way("promise.set", _promise_back, anew="promise.remove"),
    "promise.remove": Way("promise.set", _promise_back, needs="before"),
    "promise.enable": Way(
        "promise.enable",
        lambda commands, entry, detail: commands.promises.enable(entry.target[0], enabled=not detail["enabled"]),
        needs="enabled",
    ),
    "role.set": Way("role.set", _role, anew="role.remove", needs="own", role="admin"),
    "role.remove": Way("role.set", _role, needs="own", role="admin"),
    "role.default": Way(
        "role.default",
        lambda commands, _, detail: commands.roles.set_default(detail["from"], instead=detail["to"]),
        needs="from",
        role="admin",
    ),
    "view.share": Way("view.share", _view_back, anew="view.remove", needs="key"),
    "view.remove": Way(
        "view.share",
        lambda commands, _, detail: commands.views.share(msgspec.convert(detail["before"], SharedView)),
        needs="before",
    ),
    "alert.answer": Way(
        "alert.unanswer", lambda commands, entry, _: commands.alerts.unanswer(entry.target[0]), fresh=True
    ),
    "alert.mute": Way("alert.unmute", lambda commands, entry, _: commands.alerts.unmute(entry.target[0]), fresh=True),
    "alert.rule": Way("alert.rule", _alert_rule_back, anew="alert.rule_reset", role="admin"),
    "alert.rule_reset": Way("alert.rule", _alert_rule_back, needs="before", role="admin"),
}
#: acts on the same object that change nothing an older one left there
BESIDE = frozenset(
    {
        "alert.escalate",
        "alert.run",
        "cause.describe",
        "dead.note",
        "schedule.backfill",
        "schedule.run",
        "schedule.skip",
        "task.prioritize",
        "worker.log",
        "worker.slots",
    }
)


#: details that name what is changed, beside the objects: what was split off, the role that everybody else had
_OTHER_NAMES = ("part", "from")


def way_of(entry: AuditEntry, now_ms: int) -> Way | Message:
    """How this act is taken back, or why it is not from here; of one that was done in part what was done."""
    state, part = audit.state(entry, now_ms), done_part(entry)
    found = WAYS.get(entry.action)
    if state == "refused":
        return said("back.nothing").message
    if found is None:
        return said("back.none").message
    if state not in ("done", "partly"):
        return said("back.open" if state == "open" else "back.partly").message
    way = _told(part, found)
    if state == "done" or isinstance(way, Message):
        return way
    if len(way.objects) != audit.done_number(entry.outcome) and not way.minds:
        return said("back.partly").message
    whole = _number(entry, found.on(entry, audit.details(entry)))
    return replace(way, number=audit.done_number(entry.outcome), asked=whole)


def possible(entry: AuditEntry, now_ms: int) -> bool:
    """Whether its entry is enough to take it back, whatever was done to its objects since."""
    return isinstance(way_of(entry, now_ms), Way)


def _told(entry: AuditEntry, found: Way) -> Way | Message:
    """The way, where the entry says all that is needed for it."""
    detail = audit.details(entry)
    if _idle(detail):
        return said("back.nothing").message
    stood = found.fresh and detail.get("was", True)
    if not entry.target or stood or (found.needs and found.needs not in detail):
        return said("back.unsaid").message
    if DOTS in entry.detail or any(DOTS in one for one in entry.target):
        return said("back.secret").message
    if len(entry.target) >= TARGETS_KEPT and "count" in detail and not found.minds:
        return said("back.many", n=TARGETS_KEPT).message
    return _for(entry, detail, found)


def done_part(entry: AuditEntry) -> AuditEntry:
    """The entry as if only what was done had been asked for, where its outcome names what was not; else itself."""
    named = audit.parted(entry.outcome)[1]
    if not named:
        return entry
    left = {at for found in named.values() for at in found}
    names = {one for at, one in enumerate(entry.target) if at in left}
    detail = dict(audit.details(entry))
    if isinstance(was := detail.get("was"), dict):
        detail["was"] = {name: stood for name, stood in was.items() if name not in names}
    return msgspec.structs.replace(
        entry,
        target=tuple(one for at, one in enumerate(entry.target) if at not in left),
        detail=json.dumps(detail, ensure_ascii=False) if detail else entry.detail,
    )


def _for(entry: AuditEntry, detail: Detail, way: Way) -> Way | Message:
    """The way as it is for this entry."""
    if not (objects := tuple(way.on(entry, detail))):
        return said("back.nothing").message
    stood = "before" in detail or detail.get("own")
    number = _number(entry, objects)
    return replace(way, by=way.by if stood else way.anew or way.by, objects=objects, number=number, asked=number)


def _number(entry: AuditEntry, objects: Sequence[str]) -> int:
    """How many these are, of which an entry names the first alone where they are very many."""
    unnamed = audit.count_of(entry) - len(entry.target)
    return len(objects) + unnamed


def since(trail: Trail, entry: AuditEntry, *, apart: str = "") -> Message | None:
    """Why it cannot be taken back any more: what was done to the same object since, by others than the writer
    ``apart``. None where it can. Blocking.

    Raises:
        StoreUnavailable: it cannot be asked.
    """
    family, part = _family(entry.action), done_part(entry)
    detail = audit.details(part)
    named = (detail.get(key) for key in _OTHER_NAMES)
    minds = entry.action in WAYS and WAYS[entry.action].minds
    objects = {*(part.target[:1] if minds else part.target), *(one for one in named if isinstance(one, str))}
    keys = _keys(detail)

    def touches(one: AuditEntry) -> bool:
        if _family(one.action) != family or one.action in BESIDE:
            return False
        if apart and audit.writer_of(one.entry_id) == apart:
            return False
        if not objects.isdisjoint(one.target):
            return True
        # of so many the rest is not named
        if not minds and max(len(one.target), len(entry.target)) >= TARGETS_KEPT:
            return True
        # a view may be called otherwise since
        return family == "view" and not keys.isdisjoint(_keys(audit.details(one)))

    after = trail.after(entry, touches)
    if after is None:
        return said("back.long").message
    return said("back.changed", who=after[0].who).message if after else None


def unchanged(trail: Trail, entries: Sequence[AuditEntry]) -> None:
    """Raise unless what these acts left stands as they left it, as far as others may have changed it: what their own
    writer did since is aside, for whoever takes back one act after the other has changed it again by each. Blocking.

    Raises:
        UsageError: somebody did something to it since.
        StoreUnavailable: it cannot be asked.
    """
    for entry in entries:
        if (why := since(trail, entry, apart=audit.writer_of(entry.entry_id))) is not None:
            raise UsageError(said(why.code, **why.params), field="entry")


def take_back(commands: Commands, trail: Trail, entry: AuditEntry) -> Outcome:
    """Reverse what this entry tells, by an act of its own. Blocking.

    Raises:
        UsageError: it cannot be taken back from here, or something was done to it since.
        NotAllowed: it needs another role.
    """
    found = way_of(entry, trail.now_ms())
    if isinstance(found, Message):
        raise UsageError(said(found.code, **found.params), field="entry")
    if (why := since(trail, entry)) is not None:
        raise UsageError(said(why.code, **why.params), field="entry")
    part = done_part(entry)
    with undoing([entry]):
        done = found.go(commands, part, audit.details(part))
    return done if isinstance(done, Outcome) else Outcome(done=found.objects)


def _idle(detail: Detail) -> bool:
    """Whether it was so already."""
    known = "to" in detail and "from" in detail and "own" not in detail  # of one's own it may be the usual role
    return bool(known and detail["from"] == detail["to"]) or detail.get("changed") == []


def _keys(detail: Detail) -> set[object]:
    """The view that a change of views is about."""
    before = detail.get("before")
    found = (detail.get("key"), before.get("key") if isinstance(before, dict) else None)
    return {one for one in found if isinstance(one, str)}


def _family(act: str) -> str:
    """Acts that change the same of an object."""
    head = act.partition(".")[0]
    return {"resume": "pause", "batch": "task", "queue": "task"}.get(head, head)
