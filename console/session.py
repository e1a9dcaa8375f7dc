"""One open connection: engine, questions, commands, watcher and local workers, opened and closed as a whole."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Mapping

from services import addresses, assembly, workforce
from services import settings as config
from services.domain.shop import Shop
from services.domain.task_type import TaskType
from services.domain.worker import AMBER_AFTER_MS, SlotState
from services.entrypoints.sample_fleet import SampleFleet, Trickle, by_itself, sample_shops
from services.monitor.history import History
from services.monitor.live import Live
from services.monitor.overview_source import OverviewQueries
from services.workers.host import LocalWorkers, Steward

log = logging.getLogger(__name__)
SAMPLE_RATE = 3.0


class LocalSlots:
    """The workers inside this program, as pages see them (``views.context.LocalControl``)."""

    def __init__(self, workers: LocalWorkers) -> None:
        self._workers = workers

    def replace(self, workers: LocalWorkers) -> None:
        """Use other executors from the next start on."""
        self._workers.close(10.0)
        self._workers = workers

    def start(self, slots: int, lanes: tuple[str, ...] = ("high", "normal", "low")) -> object:
        """Start working here."""
        return self._workers.start(slots, lanes)

    def stop(self, grace_s: float | None = None) -> bool:
        """Stop working here."""
        return self._workers.stop(grace_s)

    def close(self, grace_s: float | None = None) -> bool:
        """Stop working here for good."""
        return self._workers.close(grace_s)

    def running(self) -> tuple[SlotState, ...]:
        """The slots with a task in them."""
        worker = self._workers.worker
        return tuple(slot for slot in worker.info().slots if slot.task_id) if worker is not None else ()

    def drain(self) -> None:
        """Take no new tasks."""
        if self._workers.worker is not None:
            self._workers.worker.drain()

    def resume(self) -> None:
        """Take tasks again."""
        if self._workers.worker is not None:
            self._workers.worker.resume()

    @property
    def name(self) -> str:
        """Name of the running local worker, "" for none."""
        worker = self._workers.worker
        return worker.name if worker is not None and worker.state != "stopped" else ""


class Session:
    """Opened off the GUI thread by ``open``; ``close`` waits for everything in the order of dependence."""

    def __init__(self, settings: config.Settings) -> None:
        self.settings = settings
        self.engine = assembly.open_engine(settings)
        self.commands = assembly.commands(self.engine)
        self.queries = assembly.queries(self.engine)
        self.live: Live = assembly.live(self.engine)
        self.history: History = assembly.history(self.engine)
        self.overview = OverviewQueries(
            self.engine.store, self.engine.registry, self.live, self.history, self.queries.causes, self.engine.clock
        )
        self.local = LocalSlots(workforce.local_workers(self.engine))
        self._steward: Steward | None = None
        self._sample: SampleFleet | None = None
        self._trickle: Trickle | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to watch; on the embedded engine this program may also lead."""
        self.live.start()
        if self.settings.embedded:
            self._steward = workforce.steward(self.engine)
            self._steward.start()
        if self.sample_marked and not self.works_already():
            self.load()

    @property
    def loaded(self) -> bool:
        """Whether the sample fleet is at work."""
        return self._trickle is not None

    def is_sample(self, task_id: str) -> bool:
        """Whether the sample made this task, which nobody would miss."""
        return self._trickle is not None and self._trickle.made(task_id)

    @property
    def sample_marked(self) -> bool:
        """Whether the sample fleet was loaded into this profile before."""
        return self.settings.embedded and "sample" in self.engine.store.documents("fleet")

    def load(self) -> None:
        """Load shops, storefront, flows, a local worker and a trickle of tasks. Blocking; once is enough."""
        with self._lock:
            if self._trickle is not None:
                return
            fleet = SampleFleet(self.settings.home_path)
            fleet.start()
            self._sample = fleet
            shops = sample_shops()
            known = self.engine.registry.shops()
            if any(shop.key not in known for shop in shops):
                self.commands.fleet.import_shops(shops)
            self._equip(fleet)
            self.engine.store.put_document("fleet", "sample", '{"loaded": true}')
            trickle = Trickle(by_itself(self.engine.producer.submit), shops, per_second=SAMPLE_RATE)
            trickle.start()
            self._trickle = trickle

    def works_already(self) -> bool:
        """Whether another console of this profile has a living worker; two would double the slots. Blocking."""
        store = self.engine.store
        now = store.now_ms()
        return any(info.kind == "console" and now - info.seen_at < AMBER_AFTER_MS for info in store.workers())

    @property
    def addresses(self) -> tuple[str, str]:
        """Where broker and store are, without passwords."""
        settings = self.settings
        if settings.embedded:
            return str(settings.database), str(settings.database)
        return addresses.shown(settings.broker.url), addresses.shown(settings.store.url)

    def types(self) -> Mapping[str, TaskType]:
        """Task types by name."""
        return self.engine.registry.types()

    def shops(self) -> Mapping[str, Shop]:
        """Shops by ``platform:shop_id``."""
        return self.engine.registry.shops()

    def close(self, grace_s: float = 5.0) -> None:
        """End everything; running tasks get the grace and then go back to their queues."""
        if self._trickle is not None:
            self._trickle.close()
        self.local.close(grace_s)
        if self._steward is not None:
            self._steward.close()
        self.live.close()
        self.history.close()
        self.engine.close()
        if self._sample is not None:
            self._sample.close()

    def _equip(self, fleet: SampleFleet) -> None:
        equipped = fleet.equip(self.settings)
        engine = dataclasses.replace(self.engine, settings=equipped)
        self.local.replace(workforce.local_workers(engine))
        self.local.start(self.settings.worker.slots)
