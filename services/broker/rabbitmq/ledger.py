"""What one consumer holds: deliveries by urgency, open tags, the shortest way to settle them. No threads, no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Sequence
from enum import Enum

import msgspec

from services.domain.task.order import Delivery


class Verb(Enum):
    """How a delivery is settled."""

    ACK = "ack"
    BACK = "nack, requeued"


class Token(msgspec.Struct, frozen=True, gc=False):
    """Names a delivery: tags die with their channel; ``epoch`` numbers the channels of a consumer."""

    epoch: int
    channel: int
    tag: int
    source: int  #: number of the broker's consumer that delivered it (a change of the window starts another)


class Settle(msgspec.Struct, frozen=True):
    """One frame to send."""

    verb: Verb
    tag: int
    multiple: bool


class Ledger:
    """Book-keeping of one channel after another; the owner guards it with a lock."""

    def __init__(self, queues: Sequence[str], *, named: bool = False) -> None:
        """``named``: keep in mind which queues have unsettled deliveries; other queues than these may come."""
        self._names: dict[int, str] | None = {} if named else None  #: queue of each unsettled tag
        self._ready: dict[str, deque[Delivery]] = {queue: deque() for queue in queues}
        self._open: dict[int, Verb | None] = {}  #: tags the broker waits for, ascending; the verb is decided, not sent
        self._decided = 0
        self.epoch = 0
        self.ack_lost = 0

    @property
    def unacked(self) -> int:
        """Deliveries received and not settled."""
        return len(self._open) - self._decided

    @property
    def ready(self) -> int:
        """Deliveries nobody has taken."""
        return sum(len(queue) for queue in self._ready.values())

    def untouched(self) -> dict[str, int]:
        """The same by queue, without those that have none."""
        return {name: len(queue) for name, queue in self._ready.items() if queue}

    @property
    def decided(self) -> int:
        """Tags to be sent."""
        return self._decided

    def begin(self) -> int:
        """A new channel: what the old one held belongs to the broker again."""
        self.epoch += 1
        self._open.clear()
        self._decided = 0
        if self._names is not None:
            self._names.clear()
            self._ready.clear()
        for queue in self._ready.values():
            queue.clear()
        return self.epoch

    def receive(self, tag: int, delivery: Delivery) -> None:
        """Keep a delivery until somebody takes it."""
        self._open[tag] = None
        if self._names is not None:
            self._names[tag] = delivery.queue
            self._ready.setdefault(delivery.queue, deque())
        self._ready[delivery.queue].append(delivery)

    def take(self, limit: int, plan: Iterable[tuple[str, int]] = ()) -> list[Delivery]:
        """Hand out up to ``limit``, the most urgent queue first, each queue in its order; ``plan`` as in the port."""
        taken: list[Delivery] = []
        for name, most in plan or [(name, limit) for name in self._ready]:
            queue = self._ready.get(name)
            while queue and most > 0 and len(taken) < limit:
                taken.append(queue.popleft())
                most -= 1
        return taken

    def fronts(self) -> list[Delivery]:
        """The next delivery of each queue that has any."""
        return [queue[0] for queue in self._ready.values() if queue]

    def front(self, queue: str) -> Delivery | None:
        """The next delivery of a queue."""
        ready = self._ready.get(queue)
        return ready[0] if ready else None

    def pop(self, queue: str) -> Delivery:
        """Hand out the next one of a queue that has one."""
        return self._ready[queue].popleft()

    def busy(self) -> set[str]:
        """Queues with deliveries that the broker still counts as held, decided about or not, where names are kept."""
        return set((self._names or {}).values())

    def waiting(self, queues: Iterable[str]) -> bool:
        """Whether one of these queues has a delivery that nobody has taken."""
        return any(self._ready.get(queue) for queue in queues)

    def short(self, limit: int, plan: Iterable[tuple[str, int]], among: Container[str]) -> set[str]:
        """Which of the queues ``among`` a take would come to and find too little in."""
        found: set[str] = set()
        for name, most in plan:
            if limit <= 0:
                break
            ready = len(self._ready.get(name, ()))
            if name in among and ready < min(most, limit):
                found.add(name)
            limit -= min(most, ready)
        return found

    def untaken(self, since: float) -> set[str]:
        """Queues whose first delivery came before that instant and was not taken."""
        return {name for name, queue in self._ready.items() if queue and queue[0].received <= since}

    def put_back(self, deliveries: Sequence[Delivery]) -> None:
        """Take deliveries back to the front of their queues; what is settled or of an older channel is left alone."""
        for delivery in reversed(deliveries):
            token = delivery.token
            if isinstance(token, Token) and token.epoch == self.epoch and self._open.get(token.tag, Verb.ACK) is None:
                self._ready[delivery.queue].appendleft(delivery)

    def settle(self, deliveries: Iterable[Delivery], verb: Verb) -> None:
        """Decide about deliveries; one of an older channel counts as lost, one decided before is left alone."""
        for delivery in deliveries:
            token = delivery.token
            if not isinstance(token, Token):
                continue
            if token.epoch != self.epoch:
                self.ack_lost += 1
            elif self._open.get(token.tag, verb) is None:
                self._open[token.tag] = verb
                self._decided += 1

    def give_back(self, keep: Container[int] = ()) -> None:
        """Decide that untaken deliveries return, but for those from the sources to ``keep``."""
        for name, queue in self._ready.items():
            stay = deque(item for item in queue if isinstance(item.token, Token) and item.token.source in keep)
            if len(stay) < len(queue):
                kept = set(map(id, stay))
                self.settle([item for item in queue if id(item) not in kept], Verb.BACK)
                self._ready[name] = stay

    def plan(self) -> list[Settle]:
        """Frames for all that is decided: runs from the oldest open tag on as one frame each, the rest one by one."""
        if not self._decided:
            return []
        frames = self._runs()
        rest = [tag for tag, verb in self._open.items() if verb is not None] if self._decided else []
        for tag in rest:
            verb = self._open.pop(tag)
            assert verb is not None
            frames.append(Settle(verb, tag, False))
        self._decided = 0
        if self._names is not None:
            self._names = {tag: name for tag, name in self._names.items() if tag in self._open}
        return frames

    def _runs(self) -> list[Settle]:
        """Take the decided tags in front; ``multiple`` settles all up to its tag, so nothing open may precede it."""
        front: list[tuple[int, Verb]] = []
        for tag, verb in self._open.items():
            if verb is None:
                break
            front.append((tag, verb))
        frames: list[Settle] = []
        for place, (tag, verb) in enumerate(front):
            del self._open[tag]
            last = place + 1 == len(front) or front[place + 1][1] is not verb
            if last:
                several = place > 0 and front[place - 1][1] is verb
                frames.append(Settle(verb, tag, several))
        self._decided -= len(front)
        return frames
