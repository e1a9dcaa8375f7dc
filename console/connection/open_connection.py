"""One open connection: engine, questions, commands, watcher and local workers, opened and closed as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property, partial
from typing import TYPE_CHECKING

from console.local_slots import LocalSlots
from console.logins import ShopLogins
from console.sample import SampleAtWork
from services import addresses, assembly
from services import settings as config
from services.domain import audit
from services.domain.fleet.shop import Shop
from services.domain.types.task_type import TaskType
from services.monitor.history import History
from services.monitor.live import Live
from services.monitor.overview_source import OverviewQueries
from services.monitor.queues.board import QueueBoard
from services.self_check import SelfCheck

if TYPE_CHECKING:
    from services.domain.promises.promise import Promise
    from services.domain.promises.standing import Standing
    from services.engine.lead.notice_reader import NoticeReader
    from services.watch.promises.keeper import PromiseKeeper
    from services.workers.host import LocalWorkers, Steward

#: what leads and watches here gets so long to end its round
LEAVE_S = 1.5


class OpenConnection:
    """Opened off the GUI thread by ``open``; ``close`` waits for everything in the order of dependence."""

    def __init__(self, settings: config.Settings) -> None:
        self.doctor = SelfCheck(settings)
        with ExitStack() as undo:
            self.engine = assembly.open_engine(settings, via=audit.WINDOW)
            self.settings = self.engine.settings  # those of a newer program are opened read-only
            undo.callback(self.engine.close)
            self._open(undo)
            undo.pop_all()

    def _open(self, undo: ExitStack) -> None:
        """What stands on the engine; ``undo`` closes what was opened when something of it cannot be."""
        self.commands = assembly.commands(self.engine)
        self.queries = assembly.queries(self.engine)
        self.live: Live = assembly.live(self.engine)
        self.history: History = assembly.history(self.engine)
        undo.callback(self.history.close)
        self.overview = OverviewQueries(
            self.engine.store,
            self.engine.registry,
            self.live,
            self.history,
            self.queries.causes,
            self.engine.clock,
            self.queries.shops.states,
            partial(assembly.broken_run, self.engine),
            self.queries.past,
        )
        self.queues = QueueBoard(self.queries.queues, self.live, self.history, self.engine.clock)
        self.local = LocalSlots(self._workers, self._may_work, self.settings.worker.slots)
        self.logins = ShopLogins(self.engine, self.commands.sessions, page=lambda shop: self.sample.page(shop))
        self._steward: Steward | None = None
        self._notices: NoticeReader | None = None
        self.sample = SampleAtWork(self.engine, self.commands, self.local)

    def start(self) -> None:
        """Begin to watch, and to lead."""
        self.watch()
        self.lead()

    def watch(self) -> None:
        """Begin to watch, which is all that a window needs to show something."""
        self.live.start()

    def lead(self) -> None:
        """Do what is done beside looking: on the embedded engine this program may lead."""
        if self.settings.read_only:
            return
        # read when it is needed, as all that works is: the window opens sooner
        from services import workforce

        if self.settings.embedded:
            self._steward = workforce.steward(self.engine)
            self._steward.start()
        else:
            self._notices = workforce.notice_reader(self.engine)
            self._notices.start()
        self.sample.resume()
        self.local.prepare()

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

    @property
    def zone(self) -> str:
        """The time zone of all times on screen: the fleet's, else that of the settings; "": this machine's."""
        return self.engine.registry.zone or self.settings.time_zone

    def promise_tried(self, promise: Promise) -> Standing:
        """How a promise would stand that nobody has kept. Blocking."""
        return self._promises.tried(promise)

    @cached_property
    def _promises(self) -> PromiseKeeper:
        from services import workforce

        return workforce.promise_keeper(self.engine)

    def _workers(self) -> LocalWorkers:
        from services import workforce

        return workforce.local_workers(self.engine)

    def _may_work(self) -> None:
        from services import workforce

        workforce.refuse_viewer(self.engine)

    def close(self, grace_s: float = 5.0) -> None:
        """End everything; running tasks get the grace and then go back to their queues."""
        self.logins.close()
        self.sample.end()
        self.local.close(grace_s)
        if self._steward is not None:
            self._steward.close(LEAVE_S)
        if self._notices is not None:
            self._notices.stop()
        self.live.close()
        self.history.close()
        self.engine.close()
        self.sample.close()
