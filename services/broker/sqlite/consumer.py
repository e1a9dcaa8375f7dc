"""A consumer of the embedded broker: takes messages by writing its number on them, settles them by deleting them."""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from services.broker.sqlite import messages
from services.broker.sqlite import shops as shop_queues
from services.clock import together
from services.domain.errors import SchemaTooNew
from services.domain.task import lane
from services.domain.task.order import Delivery
from services.ports import Clock
from services.sqlite.writer import POLL_SECONDS, SharedFile

log = logging.getLogger(__name__)
#: a waiting take looks this often for delayed messages that are due, and that of a duty, which nobody waits for, this
#: often for what another process wrote
LOOK_S, DUTY_S = 0.05, 1.0
#: what was settled in vain is told again after so long, after twice as long each time, and at last this often
AGAIN_S, AGAIN_MOST_S = 0.2, 10.0
#: a statement about places of a consumer: how many were its own
_How = Callable[[sqlite3.Connection, int, Sequence[int]], int]


class EmbeddedConsumer:
    """``services.ports.Consumer`` on SQLite. ``look_after`` is called now and then while it takes."""

    def __init__(
        self,
        file: SharedFile,
        clock: Clock,
        number: int,
        queues: Sequence[str],
        window: int,
        look_after: Callable[[], None],
        lifo: frozenset[str] = frozenset(),
        *,
        duty: bool = False,
    ) -> None:
        """``duty``: it serves a queue in which nothing is delayed, and for which nobody hurries."""
        self._file, self._clock, self._number, self._queues = file, clock, number, tuple(queues)
        self._window, self._look_after, self._lifo = max(1, window), look_after, lifo
        self._look_s, self._poll_s = (math.inf, DUTY_S) if duty else (LOOK_S, POLL_SECONDS)
        self._state = threading.Condition()
        self._taking = threading.Lock()
        self._unacked: dict[int, str] = {}
        self._shops: tuple[str, ...] = ()  #: dedicated queues, who had the last turn at the end
        self._seats = 0
        self._paused = self._closed = False
        self._served: frozenset[str] = frozenset()  #: dedicated queues of which the file knows
        self._ack_lost = 0
        #: settled while the file took nothing: told again when it is asked for more, or nobody would have them
        self._owed: list[tuple[_How, list[int], str]] = []
        self._again_s, self._again_at = 0.0, 0.0  #: how long is waited, and until when (monotonic)
        self._trouble = ""  #: why nothing can be taken, as it was logged

    # --------------------------------------------------------------------- taking
    def take(self, limit: int, timeout: float, plan: Sequence[tuple[str, int]] = ()) -> list[Delivery]:
        """See ``services.ports.Consumer``; nothing is fetched ahead, so nothing can lie here untaken."""
        deadline = time.monotonic() + together(timeout)
        quotas = [(messages.LANE_QUEUES.get(lane, lane), most) for lane, most in plan]
        quotas = quotas or [(queue, limit) for queue in self._queues]
        while True:
            try:
                self._pay()
                self._look_after()
                found = self._take(limit, quotas) if self._may_take(deadline, quotas) else []
            except sqlite3.Error as exc:
                found = self._failed(exc, deadline)
            if found or self._closed or time.monotonic() >= deadline:
                return found

    def _may_take(self, deadline: float, quotas: Sequence[tuple[str, int]]) -> bool:
        """Wait until there may be something for this consumer, at most until the deadline."""

        def open_or_closed() -> bool:
            return self._closed or (not self._paused and bool(self._rooms(quotas) or self._waiting_shops()))

        with self._state:
            ready = self._state.wait_for(open_or_closed, max(0.0, deadline - time.monotonic()))
        if not ready or self._closed:
            return False
        queues = {queue for queue, _ in self._rooms(quotas)}
        wish = self._wish(quotas, 1)
        seconds = min(self._look_s, max(0.0, deadline - time.monotonic()))
        look = self._file.wait_for(
            "messages",
            seconds,
            lambda conn: (
                messages.anything(conn, queues, self._clock.now_ms()) or (wish and shop_queues.anything(conn, wish))
            ),
            poll_s=self._poll_s,
        )
        return look is not None

    def _rooms(self, quotas: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """The quotas, cut to what the window leaves; those of full queues are left out."""
        unacked = Counter(list(self._unacked.values()))
        rooms: list[tuple[str, int]] = []
        for queue, most in quotas:
            room = min(most, self._window - unacked[queue])
            if room > 0:
                rooms.append((queue, room))
                unacked[queue] += room
        return rooms

    def _waiting_shops(self) -> list[str]:
        """Dedicated queues of which one more message may be taken, if there is a free seat."""
        taken = self._taken_seats()
        return [queue for queue in self._shops if queue not in taken] if len(taken) < self._seats else []

    def _taken_seats(self) -> set[str]:
        return {queue for queue in list(self._unacked.values()) if lane.is_shop_queue(queue)}

    def _wish(self, quotas: Sequence[tuple[str, int]], limit: int) -> shop_queues.TakeRequest | None:
        """What a take may bring where dedicated queues are served; None where they are not."""
        shops = self._waiting_shops()
        if not shops or self._paused or self._closed:
            return None
        unacked = Counter(list(self._unacked.values()))
        rooms = {queue: max(0, self._window - unacked[queue]) for queue, _ in quotas}
        seats = self._seats - len(self._taken_seats())
        return shop_queues.TakeRequest(
            quotas=quotas, rooms=rooms, shops=shops, seats=seats, limit=limit, lifo=self._lifo
        )

    def _take(self, limit: int, quotas: Sequence[tuple[str, int]]) -> list[Delivery]:
        with self._taking:
            with self._state:
                rooms = [] if self._paused or self._closed else self._rooms(quotas)
                wish = self._wish(quotas, limit)
            if not rooms and wish is None:
                return []
            now = self._clock.now_ms()
            rows = self._file.write(
                lambda conn: (
                    messages.take(conn, self._number, rooms, limit, now, self._lifo)
                    if wish is None
                    else shop_queues.take(conn, self._number, wish, now)
                )
            )
            self._goes()
            with self._state:
                self._unacked.update((row[0], row[1]) for row in rows)
                if wish is not None:
                    gave = {row[1] for row in rows}
                    self._shops = tuple(sorted(self._shops, key=gave.__contains__))
        if rows and self._owed:  # the file takes writes again
            self._again_s = self._again_at = 0.0
            self._pay()
        received = self._clock.monotonic()
        return [messages.delivery(row, received) for row in rows]

    def _failed(self, exc: sqlite3.Error, deadline: float) -> list[Delivery]:
        """An empty answer, late enough that the caller does not spin."""
        if str(exc) != self._trouble:  # asked several times a second, for as long as the file is away
            self._trouble = str(exc)
            log.warning("consumer %d can take nothing now: %s", self._number, exc)
        with self._state:
            self._state.wait_for(lambda: self._closed, min(0.2, max(0.0, deadline - time.monotonic())))
        return []

    def _goes(self) -> None:
        if self._trouble:
            self._trouble = ""
            log.info("consumer %d can take again", self._number)

    # -------------------------------------------------------------------- settling
    def ack(self, deliveries: Iterable[Delivery]) -> None:
        """Settle as done."""
        self._settle(deliveries, messages.delete, "")

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        """Give back."""
        self._settle(deliveries, messages.give_back, "messages")

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        """Whoever is first may take them."""
        self._settle(deliveries, messages.put_back, "messages")

    def _settle(
        self,
        deliveries: Iterable[Delivery],
        how: _How,
        wakes: str,
    ) -> None:
        with self._state:
            places = [one.token for one in deliveries if isinstance(one.token, int) and one.token in self._unacked]
            for place in places:
                del self._unacked[place]
            self._state.notify_all()
        if places:
            self._post(how, places, wakes)

    def _pay(self, *, now: bool = False) -> None:
        if not self._owed or not (now or time.monotonic() >= self._again_at):
            return
        with self._state:
            owed, self._owed = self._owed, []
        for how, places, wakes in owed:
            self._post(how, places, wakes)

    def _post(self, how: _How, places: list[int], wakes: str) -> None:
        def settled(count: int | None, error: BaseException | None) -> None:
            if isinstance(error, sqlite3.OperationalError) and not self._closed:
                with self._state:
                    self._owed.append((how, places, wakes))
                    first, now = not self._again_s, time.monotonic()
                    if now >= self._again_at:  # others that fail meanwhile are no further try
                        self._again_s = min(max(AGAIN_S, 2 * self._again_s), AGAIN_MOST_S)
                        self._again_at = now + self._again_s
                if first:
                    log.info("%d messages of consumer %d are settled later: %s", len(places), self._number, error)
                return
            self._again_s = self._again_at = 0.0
            if error is not None:
                log.warning("%d messages stay with consumer %d: %s", len(places), self._number, error)
            self._ack_lost += len(places) - (count or 0)

        try:
            self._file.post(lambda conn: how(conn, self._number, places), wakes, settled)
        except sqlite3.Error as exc:
            settled(None, exc)

    @property
    def ack_lost(self) -> int:
        """Deliveries that were not ours any more when they were settled."""
        return self._ack_lost

    def unacked(self) -> int:
        """Deliveries taken and not settled."""
        return len(self._unacked)

    def untouched(self) -> Mapping[str, int]:
        """None: nothing is fetched ahead."""
        return {}

    # ----------------------------------------------------------------------- state
    @property
    def closed(self) -> bool:
        """Whether it has left."""
        return self._closed

    def set_window(self, unacked: int) -> None:
        """Hold at most so many of a queue."""
        with self._state:
            self._window = max(1, unacked)
            self._state.notify_all()

    def pause(self) -> None:
        """Take nothing more."""
        with self._state:
            self._paused = True

    def resume(self) -> None:
        """Take again."""
        with self._state:
            self._paused = False
            self._state.notify_all()

    def serve(self, shops: Sequence[str], seats: int) -> None:
        """Take from the dedicated queues of these shops too."""
        queues = dict.fromkeys(map(lane.shop_queue, shops))
        with self._state:
            if self._closed:
                return
            kept = [queue for queue in self._shops if queue in queues]
            changed = self._served != set(queues)
            self._shops = (*(queue for queue in queues if queue not in self._shops), *kept)
            self._seats = max(1, seats)
            self._state.notify_all()
        if changed:
            names = [*self._queues, *queues]
            self._file.write(lambda conn: messages.serve(conn, self._number, names))
            self._served = frozenset(queues)

    def close(self) -> None:
        """Give back what is held, and leave."""
        self._pay(now=True)
        with self._state:
            if self._closed:
                return
            self._closed = True
            self._state.notify_all()
        with self._taking:
            self._unacked.clear()
            try:
                self._file.write(lambda conn: messages.leave(conn, [self._number]), "messages")
            except (sqlite3.Error, SchemaTooNew) as exc:  # of the latter, a newer program gives it back
                log.warning("what consumer %d held comes back when its process ends: %s", self._number, exc)
