"""One round of everything that can be mended safely, beside working workers; what cannot be is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from services.domain.errors import BrokerUnavailable, ConsoleError, TopologyMismatch, UsageError
from services.domain.fleet import platforms, shop_queue
from services.domain.fleet.shop import SCOPE_ALL, Pause
from services.domain.gates import listed
from services.domain.task import envelope, ids, lane, own_words
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals, pages
from services.domain.task.status import TERMINAL, Status, Triage
from services.domain.upkeep.damage import Damage
from services.domain.upkeep.miscount import some
from services.domain.upkeep.repair import DONE, LEFT, PLANNED, UNSEEN, Mend, Told, mend, unheard
from services.engine import documents
from services.engine.lead.reconcile import OUTBOX_AGE_MS, Reconciler
from services.engine.lead.shop_queues import ShopQueues
from services.engine.relink import relink
from services.engine.steps import Steps
from services.ports import Broker, Letter, Store

LOOK = 1000
ROUNDS = 50  #: of one kind of thing; what is left is the leader's
EXECUTED_MS = 3_600_000
#: the archiver has had time to store a letter
LETTER_MS = 300_000
#: a worker that was heard of so lately renews its leases itself
ALIVE_MS = 15_000


class Repair:
    """Looks first and then does, kind by kind; every act is one that the leader might do too."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        steps: Steps,
        reconciler: Reconciler,
        queues: ShopQueues,
        delays: Sequence[int],
    ) -> None:
        self._store, self._broker, self._steps = store, broker, steps
        self._reconciler, self._queues, self._delays = reconciler, queues, tuple(delays)

    def run(self, *, doing: bool, told: Told = unheard) -> list[Mend]:
        """What was mended (or, if not ``doing``, would be) and what is left.

        Raises:
            StoreError: nothing can be looked at without the store.
        """
        looks: tuple[Callable[[bool], Iterator[Mend]], ...] = (
            self._damage,
            self._topology,
            self._messages,
            self._leases,
            self._links,
            self._counts,
            self._lots,
            self._executed,
            self._letters,
            self._for_people,
        )
        found: list[Mend] = []
        for at, look in enumerate(looks, 1):
            told(at, len(looks))
            found += look(doing)
        return found

    # ------------------------------------------------------------------------------------------------------ damage
    def _damage(self, doing: bool) -> Iterator[Mend]:
        """What cannot be read stands in the way of everything that follows, so it goes first."""
        for one in self._store.damage(documents.check, deep=True):
            moved = bool(self._store.set_aside([one])) if doing else True
            if doing and moved:
                self._hold(one)
            code = "repair.unreadable" if moved else "repair.unreadable_moved"
            state = (DONE if moved else LEFT) if doing else PLANNED
            yield mend(state, code, what=one.what, place=one.place, entry=one.entry or "*", why=one.why)

    def _hold(self, one: Damage) -> None:
        """Without its policy a type would run with the defaults: as often as they say, also twice. Without what closes
        a gate, whatever waits there would start.
        """
        kind, name = one.document
        if kind == "type" and ids.valid_task_type(name):
            why = own_words.write("own.policy_aside")
            self._store.set_pause(Pause(scope=f"type:{name}", by=own_words.REPAIR, reason=why))
        elif kind in listed.DOCUMENTS:  # nobody can tell any more what it was to hold back, or when
            why = own_words.write("own.entry_aside")
            self._store.set_pause(Pause(scope=SCOPE_ALL, by=own_words.REPAIR, reason=why))

    # ------------------------------------------------------------------------------------------------------ broker
    def _topology(self, doing: bool) -> Iterator[Mend]:
        state = DONE if doing else PLANNED
        try:
            seen = self._broker.inspect(self._delays)
            if doing:
                # also those of which nothing came yet: what expires before anybody looks must not be dropped silently
                known = {shop.platform for shop in self._store.shops()} | platforms.NAMES.keys()
                self._broker.ensure(platforms=known, delays=self._delays)
            if seen.missing:
                yield mend(state, "repair.declared", names=", ".join(seen.missing))
            elif seen.unbound:
                yield mend(state, "repair.bindings")
            elif self._broker.capabilities.others and not seen.compared:
                yield mend(UNSEEN, "repair.unseen")
            yield from self._shop_queues(doing)
        except TopologyMismatch as exc:
            yield mend(LEFT, "repair.topology", error=str(exc))
        except BrokerUnavailable as exc:
            yield mend(LEFT, "repair.broker_gone", error=str(exc))

    def _shop_queues(self, doing: bool) -> Iterator[Mend]:
        documents = self._store.documents(shop_queue.KIND)
        wanted = [shop for shop in self._store.shops() if shop.dedicated or shop.key in documents]
        self._broker.know([shop.shop_id for shop in wanted])
        there = {depth.name for depth in self._broker.depths()}
        for shop in wanted:
            if shop.dedicated and lane.shop_queue(shop.shop_id) not in there:
                if doing:
                    self._queues.settle(shop, "repair")
                yield mend(DONE if doing else PLANNED, "repair.shop_queue", shop=shop.key)

    # ---------------------------------------------------------------------------------------------------- messages
    def _messages(self, doing: bool) -> Iterator[Mend]:
        reconciler = self._reconciler
        yield from self._rounds(
            doing, "repair.outbox", len(self._store.outbox(OUTBOX_AGE_MS, LOOK)), reconciler.republish_outbox
        )
        yield from self._rounds(doing, "repair.due", len(reconciler.due(LOOK)), reconciler.release_due)
        yield from self._rounds(doing, "repair.untold", len(self._store.untold(LOOK)), reconciler.tell_dependants)

    def _rounds(self, doing: bool, code: str, count: int, act: Callable[[], int]) -> Iterator[Mend]:
        if not count:
            return
        left = count
        for _ in range(ROUNDS if doing else 0):
            before, left = left, left - act()
            if left <= 0 or left == before:
                break
        yield mend(DONE if doing else PLANNED, code, tasks=count)

    def _leases(self, doing: bool) -> Iterator[Mend]:
        """Not while one of their workers is heard of: the store may just have come back, and it renews in a moment."""
        lost = self._store.expired(LOOK)
        now = self._store.now_ms()
        alive = {info.worker for info in self._store.workers() if now - info.seen_at < ALIVE_MS}
        if not lost:
            return
        if any(task.worker in alive for task in lost):
            yield mend(LEFT, "repair.lost", tasks=len(lost))
        else:
            yield from self._rounds(doing, "repair.lost", len(lost), self._reconciler.take_over_expired)

    def _links(self, doing: bool) -> Iterator[Mend]:
        """What tasks wait for, compared with how that stands."""
        wrong = relink(self._store, self._steps, look=not doing)
        if wrong:
            yield mend(DONE if doing else PLANNED, "repair.links", tasks=len(wrong), where=some(wrong))

    # ------------------------------------------------------------------------------------------------------- store
    def _counts(self, doing: bool) -> Iterator[Mend]:
        for one in self._store.recount(mend=doing):
            moving = doing and one.left > 0 and one.kind == "counter"
            code = "repair.counter_moving" if moving else f"repair.{one.kind}"
            state = LEFT if doing and one.left else DONE if doing else PLANNED
            yield mend(state, code, count=one.count, where=one.where)
        if doing:
            self._store.recount_limits()

    def _lots(self, doing: bool) -> Iterator[Mend]:
        if not doing:
            shops = len(self._store.parked_shops(LOOK))
            if shops:
                yield mend(PLANNED, "repair.parked_shops", shops=shops)
            return
        released = self._reconciler.open_parked()
        if released:
            yield mend(DONE, "repair.parked", tasks=released)

    def _executed(self, doing: bool) -> Iterator[Mend]:
        """Marks that a crash between record and mark has left out; older ones would have gone by now."""
        since = self._store.now_ms() - EXECUTED_MS
        missing: list[str] = []
        for tasks in self._pages("updated", sorted(TERMINAL)):
            fresh = [task.task_id for task in tasks if task.updated_at >= since]
            marks = self._store.executed(fresh)
            missing += [task_id for task_id, marked in zip(fresh, marks, strict=True) if not marked]
            if len(fresh) < len(tasks):
                break
        if missing:
            if doing:
                self._store.mark_executed(missing)
            yield mend(DONE if doing else PLANNED, "repair.executed", tasks=len(missing))

    def _letters(self, doing: bool) -> Iterator[Mend]:
        """The message that a task's death published can be made of its record; that of unreadable bytes cannot."""
        before = self._store.now_ms() - LETTER_MS
        made: list[str] = []
        left: list[str] = []
        for tasks in self._pages("created", [Status.DEAD]):
            for task in tasks:
                if task.triage != Triage.OPEN or task.ended_at > before or self._store.get_letter(task.task_id):
                    continue
                letter = None if ids.is_unread(task.task_id) else _letter(task)
                (left if letter is None else made).append(task.task_id)
                if letter is not None and doing:
                    self._store.put_letter(letter)
        if made:
            yield mend(DONE if doing else PLANNED, "repair.letters", tasks=len(made), where=some(made))
        if left:
            yield mend(LEFT, "repair.no_letter", tasks=len(left), where=some(left))

    def _for_people(self, doing: bool) -> Iterator[Mend]:
        held = self._store.counts().status.get(Status.HELD, 0)
        if held:
            yield mend(LEFT, "repair.held", tasks=held)

    def _pages(self, sort: str, statuses: Sequence[str]) -> Iterator[Sequence[Task]]:
        query = Query(terms=(equals("status", *statuses),), sort=sort, limit=LOOK, want_total=False)
        return (page.tasks for page in pages(self._store.query, query) if page.tasks)


def _letter(task: Task) -> Letter | None:
    try:
        body, headers = envelope.build_dead(task)
    except (ConsoleError, UsageError, ValueError, OverflowError, OSError):
        return None
    return Letter(
        task_id=task.task_id,
        body=body,
        headers=json.dumps(headers),
        routing_key="dead",
        queue="",
        content_type="application/json",
        error_kind=task.error_kind,
        error=task.error,
    )
