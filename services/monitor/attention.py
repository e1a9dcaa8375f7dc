"""What needs a person, with the ways out: from a snapshot, the shops and the causes of dead letters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from services.domain import ability, classify, filter
from services.domain.errors import ConsoleError
from services.domain.query import Query, equals
from services.domain.status import WAITING, Status, Triage
from services.domain.task import Task
from services.domain.task_type import TaskType
from services.domain.worker import SILENT_AFTER_MS, WorkerInfo
from services.monitor import attention_held as held
from services.monitor.attention_homes import silent_homes
from services.monitor.causes import Cause, CauseQueries
from services.monitor.live import Snapshot
from services.monitor.overview import Attention, ShopCell
from services.ports import Clock, Store

#: Kinds whose reason lies with a flow, so equal ones of two task types are two matters; the others lie with a shop.
OF_A_FLOW = frozenset(
    {
        classify.ELEMENT_NOT_FOUND,
        classify.TIMEOUT,
        classify.CRASHED,
        classify.BAD_PAYLOAD,
        classify.UNKNOWN_TYPE,
        classify.NO_COMMAND,
        classify.UNKNOWN,
    }
)
#: The causes are grouped anew when the number of dead letters changed, in at most a twentieth of the time.
CAUSES_SHARE = 20


class AttentionFinder:
    """Blocking; one thread at a time."""

    def __init__(
        self,
        store: Store,
        causes: CauseQueries,
        clock: Clock,
        name: Callable[[str], str],
        kind: Callable[[str], TaskType] = TaskType.default,
    ) -> None:
        """``name`` turns ``platform:shop_id`` into the name of the shop, ``kind`` a name into the task type."""
        self._store, self._causes, self._clock, self._name = store, causes, clock, name
        self._kind = kind
        self._grouped: tuple[Attention, ...] = ()
        self._dead = -1
        self._due = 0.0

    def find(
        self, snapshot: Snapshot, stuck: Sequence[tuple[ShopCell, int]], oldest: Task | None
    ) -> tuple[Attention, ...]:
        """All items, in no order. ``stuck``: shops that finish nothing, and since when."""
        if not snapshot.at_ms:
            return ()
        return (
            *self._silent(snapshot),
            *_workers(snapshot, oldest),
            *self._unserved(snapshot),
            *silent_homes(self._store, snapshot),
            *_broker(snapshot),
            *_stuck(stuck),
            *held.sessions(snapshot, self._name),
            *held.breakers(snapshot, self._store.breakers(), self._name),
            *_held(snapshot),
            *self._dead_letters(snapshot),
            *_paused(snapshot),
        )

    def _silent(self, snapshot: Snapshot) -> Iterable[Attention]:
        for info in snapshot.workers:
            if snapshot.at_ms - info.seen_at <= SILENT_AFTER_MS or info.state == "stopped":
                continue
            lost = self._store.query(
                Query(terms=(equals("worker", info.worker), equals("status", Status.RUNNING)), limit=200)
            ).tasks
            until = max((task.lease_until for task in lost), default=0)
            yield Attention(
                key=f"silent:{info.worker}",
                severity="warning",
                code="attention.worker_silent" if lost else "attention.worker_silent_idle",
                params={"worker": info.worker, "tasks": len(lost), "left_ms": max(0, until - snapshot.at_ms)},
                since_ms=info.seen_at,
                verbs=(("open_worker", info.worker),),
            )

    def _unserved(self, snapshot: Snapshot) -> Iterable[Attention]:
        """Types that no living worker of their lane can run; where one can, it fetches them by itself."""
        if not snapshot.counts.status.get(Status.BLOCKED, 0):
            return
        waiting: dict[str, list[str]] = {}
        found = self._store.unserved()
        for lane, name in found:
            waiting.setdefault(name, []).append(lane)
        for name, lanes in waiting.items():
            offers = [ability.supply(self._kind(name), lane, snapshot.workers, snapshot.at_ms) for lane in lanes]
            if any(offer.able or not offer.serving for offer in offers):
                continue
            best = self._store.unserved_tasks([(lane, name) for lane in lanes], 1)
            yield Attention(
                key=f"needs:{name}",
                severity="blocked",
                code=f"attention.needs_{offers[0].needs}",
                params={"type": name, "need": offers[0].need, "tasks": sum(found[lane, name] for lane in lanes)},
                since_ms=best[0].updated_at if best else 0,
                verbs=(("open_tasks", f"gate:no_worker type:{name}"), ("open_workers", "")),
            )

    def _dead_letters(self, snapshot: Snapshot) -> tuple[Attention, ...]:
        dead = snapshot.counts.triage.get(Triage.OPEN, 0)
        begun = self._clock.monotonic()
        if dead == self._dead or begun < self._due:
            return self._again(snapshot)
        try:
            causes = self._causes.causes().rows
        except ConsoleError:
            return self._grouped
        self._grouped, self._dead = tuple(_matters(causes, self._name)), dead
        self._due = begun + CAUSES_SHARE * (self._clock.monotonic() - begun)
        return self._again(snapshot)

    def _again(self, snapshot: Snapshot) -> tuple[Attention, ...]:
        """The matters with the verbs of the moment: a type that is paused can be resumed instead."""
        paused = {pause.scope for pause in snapshot.pauses}
        return tuple(_with_resume(item, paused) for item in self._grouped)


def _matters(causes: Iterable[Cause], name: Callable[[str], str]) -> Iterable[Attention]:
    """Causes with one reason as one item."""

    def matter(cause: Cause) -> tuple[str, str, str]:
        kind = cause.kind or classify.UNKNOWN
        flow = cause.types[0] if kind in OF_A_FLOW and cause.types else ""
        return kind, flow, cause.headline if kind == classify.UNKNOWN else ""

    for (kind, flow, _), group in itertools.groupby(sorted(causes, key=matter), key=matter):
        yield _matter(kind, flow, sorted(group, key=lambda cause: -cause.count), name)


def _matter(kind: str, flow: str, group: Sequence[Cause], name: Callable[[str], str]) -> Attention:
    worst = group[0]
    shops = {shop for cause in group for shop in cause.shop_keys}
    platforms = sorted({platform for cause in group for platform in cause.platforms})
    scopes = {cause.scope for cause in group}
    scope = "shop" if len(shops) == 1 else "all" if "all" in scopes else "platform" if len(platforms) == 1 else "some"
    terms = [equals("status", Status.DEAD), equals("triage", Triage.OPEN), equals("kind", kind)]
    if flow:
        terms.append(equals("type", flow))
    verbs = [("triage", worst.fingerprint), ("open_tasks", filter.format_terms(tuple(terms)))]
    if flow:
        verbs.append(("pause", f"type:{flow}"))
    return Attention(
        key=f"dead:{kind}:{flow}:{worst.headline if kind == classify.UNKNOWN else ''}",
        severity="dead",
        code=f"attention.dead_{scope}",
        params={
            "kind": kind,
            "headline": worst.headline,
            "type": flow,
            "count": sum(cause.count for cause in group),
            "shops": len(shops),
            "shop": name(min(shops)) if len(shops) == 1 else "",
            "platform": ", ".join(platforms),
        },
        since_ms=min(cause.first_at for cause in group),
        verbs=tuple(verbs),
    )


def _with_resume(item: Attention, paused: set[str]) -> Attention:
    if not any(verb == "pause" and target in paused for verb, target in item.verbs):
        return item
    verbs = tuple(("resume" if verb == "pause" else verb, target) for verb, target in item.verbs)
    return Attention(
        key=item.key, severity=item.severity, code=item.code, params=item.params, since_ms=item.since_ms, verbs=verbs
    )


def _workers(snapshot: Snapshot, oldest: Task | None) -> Iterable[Attention]:
    """Nobody works, or nobody works on a lane in which tasks wait."""
    alive = [info for info in snapshot.workers if is_alive(info, snapshot.at_ms)]
    waiting = sum(snapshot.counts.status.get(status, 0) for status in WAITING)
    if waiting and not alive:
        yield Attention(
            key="no_workers",
            severity="dead",
            code="attention.no_workers",
            params={"tasks": waiting},
            since_ms=oldest.created_at if oldest is not None else snapshot.at_ms,
            verbs=(("start_worker", ""), ("open_workers", "")),
        )
        return
    served = {lane for info in alive for lane in info.lanes}
    for lane in ("high", "normal", "low") if alive else ():
        stands = snapshot.counts.lanes.get(lane, {}).get(Status.QUEUED, 0)
        if stands and lane not in served:
            yield Attention(
                key=f"unserved:{lane}",
                severity="dead",
                code="attention.lane_unserved",
                params={"lane": lane, "tasks": stands},
                verbs=(("open_workers", ""), ("open_tasks", f"status:queued lane:{lane}")),
            )


def _broker(snapshot: Snapshot) -> Iterable[Attention]:
    if snapshot.broker.blocked:
        yield Attention(
            key="blocked",
            severity="blocked",
            code="attention.publisher_blocked",
            params={"tasks": snapshot.counts.status.get(Status.PENDING, 0)},
            since_ms=snapshot.broker.since_ms,
            verbs=(("open_tasks", f"status:{Status.PENDING}"),),
        )
    if not snapshot.leader and any(is_alive(info, snapshot.at_ms) for info in snapshot.workers):
        yield Attention(key="no_leader", severity="warning", code="attention.no_leader", verbs=(("open_workers", ""),))


def _stuck(stuck: Sequence[tuple[ShopCell, int]]) -> Iterable[Attention]:
    if stuck:
        keys = ",".join(f"{cell.platform}:{cell.shop_id}" for cell, _since in stuck[:20])
        yield Attention(
            key="stuck",
            severity="stuck",
            code="attention.shops_stuck" if len(stuck) <= held.NAMED else "attention.shops_stuck_more",
            params={
                "shops": len(stuck),
                "names": "\n".join(cell.name for cell, _since in stuck[: held.NAMED]),
                "more": max(0, len(stuck) - held.NAMED),
            },
            since_ms=min(since for _cell, since in stuck),
            verbs=(("open_tasks", f"shop:{keys} status:active"),),
        )


def _held(snapshot: Snapshot) -> Iterable[Attention]:
    if held := snapshot.counts.status.get(Status.HELD, 0):
        yield Attention(
            key="held",
            severity="warning",
            code="attention.held",
            params={"tasks": held},
            verbs=(("open_tasks", f"status:{Status.HELD}"),),
        )


def _paused(snapshot: Snapshot) -> Iterable[Attention]:
    """Pauses of more than one shop; those are seen in the heat map."""
    for pause in snapshot.pauses:
        what, _, which = pause.scope.partition(":")
        if what != "shop":
            yield Attention(
                key=f"paused:{pause.scope}",
                severity="paused",
                code=f"attention.paused_{what}",
                params={"which": which, "platform": which, "who": pause.by, "reason": pause.reason},
                since_ms=pause.at,
                verbs=(("resume", pause.scope),),
            )


def is_alive(info: WorkerInfo, now_ms: int) -> bool:
    """Whether a worker takes tasks."""
    return info.state == "running" and now_ms - info.seen_at <= SILENT_AFTER_MS
