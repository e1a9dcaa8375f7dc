"""What an operator may do to shops, pauses, task types and workers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from services.commands import types
from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.change import OpenShop
from services.domain.errors import NotFound, UsageError
from services.domain.fleet import platforms, worker_order
from services.domain.fleet import role as roles
from services.domain.fleet import shop as shops
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.fleet.worker_order import WorkerOrder
from services.domain.gates import lane_share
from services.domain.gates import limit as limits
from services.domain.gates.limit import Limit
from services.domain.insight import worker as insight
from services.domain.text.said import Said, said
from services.domain.types import task_type
from services.domain.upkeep.stored import version_name
from services.engine import farewells, fates
from services.engine.lead.opener import SHOPS, Opener
from services.engine.lead.shop_queues import ShopQueues
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Broker, Store

#: so many shops are told by name, of the others that there are some
NAMED = 5
#: browser profiles of a shop that is at home on a node; never two tasks work in one
PROFILES = 1
#: what a worker is once it has obeyed
_STATES = {"drain": "draining", "resume": "running"}


class ShopChanged(UsageError):
    """Somebody else changed a shop while it was edited; ``now`` is how it stands, its text tells of one field."""

    def __init__(self, text: str, field: str, now: Shop) -> None:
        super().__init__(text, field)
        self.now = now


class QueueMoved(NamedTuple):
    """What became of a shop's queue."""

    had: bool  #: it had one of its own before
    tasks: int  #: so many waiting ones went elsewhere


class FleetCommands:
    """Audited commands on the fleet itself."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        steps: Steps,
        registry: Registry,
        queues: ShopQueues,
        audit: Audit,
        operator: Operator,
    ) -> None:
        self._store, self._broker, self._steps, self._queues = store, broker, steps, queues
        self._registry, self._audit, self._operator = registry, audit, operator
        self._opener = Opener(store, steps)

    def import_shops(self, rows: Sequence[Shop]) -> int:
        """Insert or replace shops; returns how many."""
        self.replace_shops(rows)
        return len(rows)

    def replace_shops(self, rows: Sequence[Shop]) -> dict[str, Shop]:
        """Insert or replace shops; how those that were known stood until then, by key."""
        keys = [row.key for row in rows]
        self._audit.need(self._operator, "operator", "shop.import", keys)
        known = self._known(rows)
        self._check_profiles(rows, known)
        with self._audit.act("shop.import", keys):
            self._put(rows, known)
        return {key: known[key] for key in keys if key in known}

    def edit_shop(self, opened: Shop, wanted: Shop) -> tuple[Shop, Shop]:
        """Change of a shop what ``wanted`` has otherwise than ``opened``, which was shown to whoever edits it; all else
        stays as it stands now. How the shop stood and stands, which is how it may be put back.

        Raises:
            ShopChanged: somebody else changed one of these fields meanwhile to something else; nothing is written.
        """
        self._audit.need(self._operator, "operator", "shop.import", [opened.key])
        every = {shop.key: shop for shop in self._store.shops()}
        stood = every.get(opened.key, opened)  # one that only its tasks told of stands nowhere until it is edited
        row = msgspec.structs.replace(stood, **_edited(opened, wanted, stood))
        known = self._known([row], every)
        self._check_profiles([row], known)
        with self._audit.act("shop.import", [row.key]):
            self._put([row], known)
        return stood, row

    def put_back_shops(self, left: Sequence[Shop], before: Mapping[str, Shop]) -> int:
        """Make each shop that still is as an act ``left`` it what it was ``before`` (by key); returns how many.

        Raises:
            UsageError: some are not as they were left any more; these stay, the others are put back.
        """
        keys = [one.key for one in left]
        self._audit.need(self._operator, "operator", "shop.import", keys)
        now = {shop.key: shop for shop in self._store.shops()}
        others = [one.key for one in left if now.get(one.key) != one]
        stay = set(others)
        rows = [before[key] for key in keys if key not in stay]
        known, why = self._known(rows), said("back.some_shops" if rows else "back.shops", names=_first(others))
        with self._audit.act("shop.import", keys) as act:
            if rows:
                self._put(rows, known)
            act.counted(len(rows), len(others), why if others else "")
        if others:
            raise UsageError(why, field="shop_id")
        return len(rows)

    def _known(self, rows: Sequence[Shop], known: dict[str, Shop] | None = None) -> dict[str, Shop]:
        """The shops that these are written over. Raises ``UsageError`` where one of these cannot be."""
        known = {shop.key: shop for shop in self._store.shops()} if known is None else known
        for row in rows:
            check_shop(row)
            if row.dedicated:
                self._check_alone(row, [*known.values(), *rows])
        return known

    def _check_profiles(self, rows: Sequence[Shop], known: Mapping[str, Shop]) -> None:
        """Refuse more tasks at once than a shop has browser profiles, where that is more than before: a shop may have
        come home since, and what is changed of it otherwise must not fail by that.
        """
        stood = {key: shop.concurrency for key, shop in known.items()}
        raised = [row for row in rows if row.concurrency > max(PROFILES, stood.get(row.key, 0))]
        homes = self._store.homes([row.key for row in raised]) if raised else {}
        for row in raised:
            if row.key in homes:
                raise UsageError(said("shop.profiles", key=row.key, node=homes[row.key].node), field="concurrency")

    def _put(self, rows: Sequence[Shop], known: Mapping[str, Shop]) -> None:
        self._store.put_shops(rows)
        self._broker.ensure(platforms={row.platform for row in rows})
        self._registry.forget()
        for row in rows:
            before = known.get(row.key)
            if row.dedicated != (before is not None and before.dedicated):
                self._queues.settle(row, self._operator.who)
        self._registry.forget()

    def dedicate(self, key: str) -> QueueMoved:
        """Give a shop a queue of its own.

        Raises:
            UsageError: there is no such shop, or another platform has one of the same id: the queue is named by it.
            TopologyMismatch: its queue exists with other arguments.
        """
        self._audit.need(self._operator, "operator", "shop.dedicate", [key])
        shop = self._shop(key)
        known = self._registry.shops()
        there = {key: shops.stranger(key) for key in self._store.counts().shops} | known
        self._check_alone(shop, there.values())
        return self._set_dedicated(shop, "shop.dedicate", dedicated=True)

    def undedicate(self, key: str) -> QueueMoved:
        """Let a shop's tasks go through the lanes again.

        Its queue is still served, until nothing can come there any more, and then deleted by the leader.
        """
        self._audit.need(self._operator, "operator", "shop.undedicate", [key])
        return self._set_dedicated(self._shop(key), "shop.undedicate", dedicated=False)

    def _set_dedicated(self, shop: Shop, action: str, *, dedicated: bool) -> QueueMoved:
        had = shop.dedicated
        with self._audit.act(action, [shop.key], {"from": had, "to": dedicated}) as act:
            if had != dedicated:
                shop = msgspec.structs.replace(shop, dedicated=dedicated)
                self._store.put_shops([shop])
                self._registry.forget()
            moved = self._queues.settle(shop, self._operator.who)
            act.outcome = f"done: {moved} tasks moved"
        return QueueMoved(had, moved)

    def _shop(self, key: str) -> Shop:
        """The shop, also if only tasks tell of it."""
        self._registry.forget()
        found = self._registry.shops().get(key)
        if found is None and key in self._store.counts().shops:
            found = shops.stranger(key)
        if found is None:
            raise NotFound(said("shop.none", key=f"{key!r:.140}"), field="shop")
        return found

    def _check_alone(self, shop: Shop, others: Iterable[Shop]) -> None:
        same = {other.key for other in others if other.shop_id == shop.shop_id and not other.nowhere} - {shop.key}
        if same:
            raise UsageError(
                said("queue.same_id", key=shop.key, value=sorted(same)[0]),
                field="dedicated",
            )

    def pause(self, scope: str, *, reason: str = "", instead: str | None = None) -> Pause | None:
        """Close a pause switch: ``all``, ``platform:pdd``, ``shop:pdd:1`` or ``type:sync_order``; returns the pause
        that stood there. Without a reason that one stays: who closed it, when and why is lost by no empty word.
        ``instead``: only where this person has closed it, "" where it is open.

        A shop that is known from tasks alone is registered (``unregistered``) by this.

        Raises:
            UsageError: it is not as ``instead`` says.
        """
        self._audit.need(self._operator, "operator", "pause", [scope])
        before = self._paused(scope)
        if instead is not None and (before is not None, before.by if before else "") != (bool(instead), instead):
            raise UsageError(said("back.differs"), field="scope")
        if instead is None and not reason:
            if before is not None:
                return before
            instead = ""
        detail: dict[str, object] = {"reason": reason} if reason else {}
        detail["was"] = _told(before)
        with self._audit.act("pause", [_scope(scope)], detail):
            self._register(scope)
            pause = Pause(scope=scope, by=self._operator.who, at=self._store.now_ms(), reason=reason)
            if instead is None:
                self._store.set_pause(pause)
            elif not self._store.swap_pause(scope, instead, pause):  # somebody came in between
                raise UsageError(said("back.differs"), field="scope")
        return before

    def take_back_pause(self, scope: str, before: Pause | None) -> None:
        """Take back that this person closed a switch: as ``pause`` said that it stood ``before``.

        Raises:
            UsageError: the pause that stands there by now is not this person's.
        """
        mine = self._operator.who
        if before is None:
            self.resume(scope, by=mine)
            return
        self._audit.need(self._operator, "operator", "pause", [scope])
        detail = {"reason": before.reason, "was": _told(self._paused(scope))}
        with self._audit.act("pause", [_scope(scope)], detail):
            if not self._store.swap_pause(scope, mine, before):
                raise UsageError(said("back.differs"), field="scope")

    def resume(self, scope: str, *, note: str = "", by: str = "") -> bool:
        """Open a pause switch; what waited behind it is released. False when it was not closed. ``by``: only where
        this person has closed it.

        Raises:
            UsageError: it is not closed by ``by``.
        """
        self._audit.need(self._operator, "operator", "resume", [scope])
        before = self._paused(scope)
        if by and (before is None or before.by != by):
            raise UsageError(said("back.differs"), field="scope")
        detail: dict[str, object] = {"note": note} if note else {}
        detail |= {"was": _told(before)} if before is not None else {}
        with self._audit.act("resume", [_scope(scope)], detail or None):
            was = self._store.swap_pause(scope, by, None) if by else self._store.clear_pause(scope)
            if by and not was:  # somebody came in between
                raise UsageError(said("back.differs"), field="scope")
            head, _, rest = scope.partition(":")
            # what this does not open, the reconciler does within its next rounds
            self._opener.open_shops([rest] if head == "shop" else self._store.parked_shops(SHOPS))
            return was

    def _paused(self, scope: str) -> Pause | None:
        return next((one for one in self._store.pauses() if one.scope == scope), None)

    def set_limit(self, limit: Limit, *, instead: Limit | None = None) -> Limit:
        """Limit a platform, also before its first shop, or take its limit away; what waits there and may go is
        released. Returns the old one. ``instead``: only in the place of this one.

        Raises:
            UsageError: no such limit can be, it is a type: its document says, or there is another one than ``instead``.
        """
        self._audit.need(self._operator, "operator", "limit", [limit.scope])
        limits.check(limit)
        head, _, name = limit.scope.partition(":")
        if head == limits.TYPE:
            raise UsageError(
                said("limit.of_type", name=name),
                field="scope",
            )
        old = {one.limit.scope: one.limit for one in self._store.limits()}.get(limit.scope, Limit(scope=limit.scope))
        if instead not in (None, old):
            raise UsageError(said("back.differs"), field="scope")
        detail = {"from": _figures(old), "to": _figures(limit)}
        with self._audit.act("limit", [limit.scope], detail):
            self._store.put_limit(limit)
            self._opener.open_limits()
        return old

    def limit_type(self, name: str, *, concurrency: int, per_minute: int, instead: Limit | None = None) -> Limit:
        """Limit a task type in the next version of its document; 0 is no limit. Returns the old limit. ``instead``:
        only in the place of this one.

        Raises:
            UsageError: there is no such type, no such limit can be, or there is another one than ``instead``.
        """
        self._audit.need(self._operator, "admin", "type.import", [name])
        body = self._store.documents("type").get(name)
        if body is None:
            raise NotFound(said("type.unknown", name=f"{name!r:.70}"), field="name")
        limits.check(Limit(scope=f"{limits.TYPE}:{name}", concurrency=concurrency, per_minute=per_minute))
        # as text: what a newer program wrote there is refused by the import, not lost
        document = msgspec.json.decode(body)
        old = Limit(
            scope=f"{limits.TYPE}:{name}",
            concurrency=document.get("concurrency") or 0,
            per_minute=document.get("rate_per_minute") or 0,
        )
        if instead not in (None, old):
            raise UsageError(said("back.differs"), field="scope")
        document |= {"concurrency": concurrency or None, "rate_per_minute": per_minute or None}
        self.import_types([msgspec.json.encode(document).decode()])
        return old

    def _register(self, scope: str) -> None:
        head, _, key = scope.partition(":")
        if head != "shop" or key in self._registry.shops():  # nothing removes a shop, and reading all takes its time
            return
        if key not in {shop.key for shop in self._store.shops()}:
            self._store.put_shops([shops.stranger(key)])
            self._registry.forget()

    def plan_types(self, bodies: Sequence[str], *, force: bool = False) -> tuple[list[types.Change], list[types.Fault]]:
        """What these JSON texts would change, and which of them cannot be taken; changes nothing."""
        return types.plan(self._store.documents("type"), bodies, force=force)

    def import_types(self, bodies: Sequence[str], *, force: bool = False) -> tuple[types.Change, ...]:
        """Insert or replace task types from JSON texts, all or none; each change is the next version, and what it
        replaced is kept.

        Raises:
            UsageError: a text is no task type, or was made from another version; the sentence names the field.
        """
        self._audit.need(self._operator, "admin", "type.import", [])
        changes, faults = self.plan_types(bodies, force=force)
        if faults:
            raise UsageError(faults[0].error, field=faults[0].field)
        wanted = [change for change in changes if change.what != types.UNCHANGED]
        if wanted:
            detail = {"versions": {change.kind.name: change.kind.version for change in wanted}}
            with self._audit.act("type.import", [change.kind.name for change in wanted], detail):
                for change in wanted:
                    name = change.kind.name
                    if change.replaced:
                        self._store.put_document(
                            types.HISTORY, version_name(name, change.replaced_version), change.replaced
                        )
                    self._store.put_document("type", name, task_type.dump(change.kind))
                    self._store.put_limit(change.kind.limit)
                self._opener.open_limits()
            self._registry.forget()
        return tuple(changes)

    def tell_worker(self, worker: str, order: str) -> None:
        """Order a worker to drain, resume, stop, change its slots, refuse types, do something with the browser profile
        of a shop or show its log (see ``worker_order``); it obeys at its next heartbeat. A viewer may look at its log,
        though not over a connection that writes nothing.
        """
        try:
            told = worker_order.parse(order)
        except ValueError as exc:
            raise UsageError(f"{exc}", field="slots" if order.startswith("slots") else "order") from exc
        looks = told.verb == worker_order.LOG and not self._operator.read_only
        self._audit.need(self._operator, roles.VIEWER if looks else roles.OPERATOR, f"worker.{told.verb}", [worker])
        known = self._store.workers()
        found = next((info for info in known if info.worker == worker), None)
        if found is None:
            raise NotFound(said("worker.unknown", name=repr(worker)), field="worker")
        if told.shop:
            self._check_profile(found, told, known)
        details: dict[str, object] = (
            {"slots": told.slots, **dict(lane_share.spelled(told.shares))} if told.slots else {}
        )
        details |= {"slots": str(told.auto)} if told.auto is not None else {}
        details |= {"types": list(told.types)} if told.verb == "refuse" else {}
        details |= {"shop": told.shop} if told.shop else {}
        details |= {"seconds": told.log_s} if told.log_s else {}
        details |= {"grace_s": told.grace_s} if told.grace_s is not None else {}
        if told.verb in _STATES and found.state in _STATES.values():
            details |= {"from": found.state, "to": _STATES[told.verb]}
        with self._audit.act(f"worker.{told.verb}", [worker], details or None):
            if told.verb == "stop":
                farewells.told(self._store, worker, self._operator.who)
            self._store.tell_worker(worker, order)

    def _check_profile(self, worker: WorkerInfo, told: WorkerOrder, known: Sequence[WorkerInfo]) -> None:
        """Refuse what would help nobody, or would end the work of another worker on the same machine.

        Raises:
            UsageError: the worker has no browsers, or the profile lives or works elsewhere.
        """
        if "browser" not in worker.executors and not worker.lends:
            raise UsageError(said("profile.no_browser", worker=worker.worker), field="worker")
        if told.verb == worker_order.OPEN_WINDOW:
            home = self._store.homes([told.shop]).get(told.shop)
            if home is not None and home.node != worker.node:
                raise UsageError(said("profile.elsewhere", shop=told.shop, node=home.node), field="worker")
        if told.verb == worker_order.RELEASE_PROFILE:
            for other in known:
                busy = any(one.shop == told.shop and one.state in ("busy", "lent") for one in other.pool)
                if busy and other.node == worker.node and not insight.missed(other, self._store.now_ms()):
                    raise UsageError(said("profile.at_work", shop=told.shop, worker=other.worker), field="shop")

    def forget_worker(self, worker: str) -> None:
        """Strike a worker off the list that is gone; if it beats again it is back, and hears what it was told.

        Raises:
            UsageError: there is none of this name, it lives, or a claim of one of its tasks has not run out.
        """
        self._audit.need(self._operator, "operator", "worker.forget", [worker])
        one = fates.look(self._store).find(worker)
        if one is None:
            raise NotFound(said("worker.unknown", name=repr(worker)), field="worker")
        if (reason := insight.kept(one, self._store.now_ms())) is not None:
            raise UsageError(said(reason.code, **reason.params), field="worker")
        detail = {"state": one.state, "silent_s": one.silence_ms // 1000, "tasks": list(one.unconfirmed)}
        with self._audit.act("worker.forget", [worker], detail):
            farewells.remember(self._store, one.info)
            # whoever was heard of since it was looked at lives, and may have been told something by now
            if not self._store.strike_off(worker, one.info.seen_at):
                raise UsageError(said("worker.lives", worker=worker), field="worker")

    def set_concurrency(self, key: str, concurrency: int, *, instead: int = 0) -> int:
        """Change how many tasks of one shop may run at once; returns how many might before. ``instead``: only where so
        many may, and what is taken back may be any number that stood before; 0: however many.

        Raises:
            UsageError: there is no such shop, it cannot be so many, or others may than ``instead``.
        """
        self._audit.need(self._operator, "operator", "shop.concurrency", [key])
        self._registry.forget()  # the whole shop is written, so what others wrote meanwhile must be known
        found = self._registry.shops().get(key)
        if found is None:
            raise NotFound(said("shop.unknown", name=repr(key)), field="shop")
        if not 1 <= concurrency <= shops.MOST_AT_ONCE:
            raise UsageError(said("shop.concurrency"), field="concurrency")
        if instead not in (0, found.concurrency):
            raise UsageError(said("back.differs"), field="concurrency")
        if concurrency == found.concurrency:
            return concurrency
        wanted = msgspec.structs.replace(found, concurrency=concurrency)
        if not instead:
            self._check_profiles([wanted], {key: found})
        with self._audit.act("shop.concurrency", [key], {"from": found.concurrency, "to": concurrency}):
            self._store.put_shops([wanted])
            self._steps.apply([OpenShop(shop=key)])
        self._registry.forget()
        return found.concurrency


def platform_of(word: str, known: Collection[str]) -> str:
    """The code of a platform that a person wrote by its code or by a name; ``known`` codes go before all others.

    Raises:
        UsageError: it is neither.
    """
    if word in known:
        return word
    named = platforms.codes_of(word, known) or ([] if word.isascii() else platforms.codes_of(word, platforms.NAMES))
    if named:
        return named[0]
    if not word.isascii():
        codes = platforms.listed(known or ("pdd", "temu", "tiktok"))
        raise UsageError(said("shop.platform", name=repr(word)[:60], codes=codes), field="platform")
    return word


def check_shop(row: Shop) -> None:
    """Refuse a shop that cannot be.

    Raises:
        UsageError: ``field`` names what to change.
    """
    if not shops.valid_word(row.platform):
        raise UsageError(said("platform.name", name=repr(row.platform)[:60]), field="platform")
    if not shops.valid_shop_id(row.shop_id):
        raise UsageError(said("shop.bad_id", name=repr(row.shop_id)[:60]), field="shop_id")
    if not 1 <= row.concurrency <= shops.MOST_AT_ONCE:
        raise UsageError(said("shop.concurrency"), field="concurrency")
    if len(row.tags) > shops.MOST_TAGS or any(len(tag) > shops.TAG_LENGTH for tag in row.tags):
        raise UsageError(said("shop.tags", most=shops.MOST_TAGS, length=shops.TAG_LENGTH), field="tags")


def both_edited(opened: Shop, wanted: Shop, now: Shop) -> tuple[str, ...]:
    """Names of the fields that whoever ``opened`` a shop wants otherwise, and that stand otherwise again ``now``."""
    changed = (name for name in Shop.__struct_fields__ if getattr(wanted, name) != getattr(opened, name))
    return tuple(name for name in changed if getattr(now, name) not in (getattr(opened, name), getattr(wanted, name)))


def _edited(opened: Shop, wanted: Shop, stood: Shop) -> dict[str, Any]:
    """The fields that a person changed. Raises ``ShopChanged`` where one of them stands otherwise by now."""
    for name in both_edited(opened, wanted, stood):
        raise ShopChanged(_elsewise(name, getattr(stood, name)), name, stood)
    changed = {name: getattr(wanted, name) for name in Shop.__struct_fields__}
    return {name: value for name, value in changed.items() if value != getattr(opened, name)}


def _elsewise(name: str, value: str | int | tuple[str, ...]) -> Said:
    if isinstance(value, bool):
        return said("shop.edited_on" if value else "shop.edited_off", column=name)
    words = ", ".join(value) if isinstance(value, tuple) else str(value)
    return said("shop.edited", column=name, value=f"{words:.80}") if words else said("shop.edited_empty", column=name)


def _first(keys: Sequence[str]) -> str:
    return ", ".join([*keys[:NAMED], *(["…"] if len(keys) > NAMED else [])])


def _told(pause: Pause | None) -> dict[str, str]:
    """A pause for the audit, nothing where there was none."""
    return {"by": pause.by, "reason": pause.reason} if pause is not None else {}


def _figures(limit: Limit) -> dict[str, int]:
    return {"concurrency": limit.concurrency, "per_minute": limit.per_minute}


def _scope(scope: str) -> str:
    head, _, rest = scope.partition(":")
    parts = {"all": 0, "platform": 1, "type": 1, "shop": 2}
    words = rest.split(":") if rest else []
    if head not in parts or len(words) != parts[head] or not all(shops.valid_word(word) for word in words):
        raise UsageError(said("pause.scope", scope=f"{scope!r:.80}"), field="scope")
    return scope
