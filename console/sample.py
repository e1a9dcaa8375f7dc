"""The sample fleet inside this program: loaded, at work, and stopped again."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from msgspec import structs

from console.local_slots import LocalSlots
from services import assembly
from services.domain.change import OpenSession
from services.domain.fleet import role as roles
from services.domain.fleet.worker import AMBER_AFTER_MS
from services.domain.task.search.query import Query, each, equals
from services.domain.task.status import CANCELLABLE
from services.processes import lives

if TYPE_CHECKING:
    from services.sample.care import Caretaker
    from services.sample.fleet import SampleFleet, Trickle

RATE = 3.0
#: for so long a shop of the sample waits for a login
CARE_S = 45.0
PAGE = 200


class SampleAtWork:
    """What pages see of it is ``views.context.SampleControl``; every call but the properties and ``made`` blocks."""

    def __init__(self, engine: assembly.Engine, commands: assembly.Commands, local: LocalSlots) -> None:
        self._engine, self._commands, self._local = engine, commands, local
        self._audit = assembly.audit_of(engine, commands.operator.who)
        self._fleet: SampleFleet | None = None
        self._trickle: Trickle | None = None
        self._care: Caretaker | None = None
        self._lock = threading.Lock()

    @property
    def loaded(self) -> bool:
        """Whether it is at work."""
        return self._trickle is not None

    def made(self, task_id: str) -> bool:
        """Whether the sample made this task, which nobody would miss."""
        return self._trickle is not None and self._trickle.made(task_id)

    def page(self, shop: str) -> str:
        """Where a shop (``platform:shop_id``) logs in at the storefront of the sample, "" where it is not at work."""
        return self._fleet.page(shop) if self._fleet is not None and self.loaded else ""

    def follow(self, trickle: Trickle | None) -> None:
        """Take this for the sample's trickle."""
        self._trickle = trickle

    def resume(self) -> None:
        """Go on where it was loaded before, unless another console of this profile does."""
        may = roles.reaches(self._commands.operator.now(self._engine.store).role, roles.OPERATOR)
        if may and self._engine.settings.embedded and self._marked() and not self.works_elsewhere():
            with self._lock:
                self._load()  # goes on by itself: nobody asked for it now, so the trail has nothing new to tell

    def works_elsewhere(self) -> bool:
        """Whether another console of this profile has a living worker; two would double the slots. One that was killed
        a moment ago was heard of just now.
        """
        store = self._engine.store
        now, here = store.now_ms(), socket.gethostname()
        return any(
            info.kind == "console"
            and now - info.seen_at < AMBER_AFTER_MS
            and (info.host != here or lives(info.pid, info.pid_started))
            for info in store.workers()
        )

    def load(self) -> None:
        """Load shops, storefront, flows, a local worker and a trickle of tasks; once is enough.

        Raises:
            NotAllowed: this person may only look.
            ConsoleError: the storefront does not start, or store or broker do not answer.
        """
        assembly.refuse_read_only(self._engine.settings, self._engine.newer)
        self._audit.need(self._commands.operator, roles.OPERATOR, "sample.load")
        with self._lock:
            if self._trickle is None:
                with self._audit.act("sample.load", []):
                    self._load()

    def _load(self) -> None:
        if self._trickle is not None:
            return
        # read when it is needed: the window opens sooner
        from services import workforce
        from services.sample.care import Caretaker
        from services.sample.fleet import CREATOR, SampleFleet, Trickle, by_itself, sample_shops

        engine = self._engine

        def logged_in(shop: str) -> None:
            """The sample does so by itself, so nobody's audit tells of it; the reconciler lets the tasks go."""
            engine.steps.apply([OpenSession(shop=shop, by=CREATOR)])

        self.close()  # an earlier one that did not come to its end
        fleet = self._fleet = SampleFleet(engine.settings.home_path)
        with ExitStack() as undo:
            undo.callback(self.close)
            fleet.start()
            # before anything is changed: a module of handlers may be of no use
            workers = workforce.local_workers(structs.replace(engine, settings=fleet.equip(engine.settings)))
            shops = sample_shops()
            known = engine.registry.shops()
            if any(shop.key not in known for shop in shops):
                self._commands.fleet.import_shops(shops)
            undo.callback(self._put_back, self._local.works)
            self._local.replace(workers)
            self._local.start(self._local.slots)
            engine.store.put_document("fleet", "sample", '{"loaded": true}')
            self._care = Caretaker(engine.store, fleet, logged_in, after_s=CARE_S)
            self._care.start()
            trickle = Trickle(by_itself(engine.producer.submit), shops, per_second=RATE)
            trickle.start()
            self._trickle = trickle
            undo.pop_all()

    def _put_back(self, works: tuple[int, tuple[str, ...]] | None) -> None:
        """Workers that have no storefront, at work as before the sample was to be loaded."""
        from services import workforce

        self._local.replace(workforce.local_workers(self._engine))
        if works is not None:
            self._local.start(*works)

    def stop(self) -> int:
        """End trickle and storefront for good and cancel what waits of it; shops and ended tasks stay.

        Returns how many tasks were cancelled. What runs may end within the grace of a worker that stops.

        Raises:
            NotAllowed: this person may only look.
            ConsoleError: store or broker do not answer; repeat the call.
        """
        from services import workforce

        self._audit.need(self._commands.operator, roles.OPERATOR, "sample.stop")
        with self._lock, self._audit.act("sample.stop", []):
            if self._trickle is not None:
                self._trickle.close()
            self._engine.store.remove_document("fleet", "sample")
            cancelled = self._cancel_waiting()
            self._local.restart_with(workforce.local_workers(self._engine))
            cancelled += self._cancel_waiting()  # what the worker gave back
            self._trickle = None
            self.close()
            return cancelled

    def end(self) -> None:
        """Make no more tasks and log in no shop, while the store is still open; the program ends and goes on with the
        sample when it starts again.
        """
        if self._trickle is not None:
            self._trickle.close()
        care, self._care = self._care, None
        if care is not None:
            care.close()

    def close(self) -> None:
        """End the storefront, which running tasks need to the last."""
        self.end()
        fleet, self._fleet = self._fleet, None
        if fleet is not None:
            fleet.close()

    def _marked(self) -> bool:
        return "sample" in self._engine.store.documents("fleet")

    def _cancel_waiting(self) -> int:
        from services.sample.fleet import CREATOR

        query = Query(terms=(equals("status", *sorted(CANCELLABLE)),), limit=PAGE, want_total=False)
        ids = [task.task_id for task in each(self._engine.store.query, query) if task.created_by == CREATOR]
        return len(self._commands.tasks.cancel(ids, reason="the sample fleet was stopped").done) if ids else 0
