"""The broker: messages with confirm, manual acknowledgement, delay and depth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from services.domain.task.order import BrokerHealth, Delivery, Inspection, Order, QueueDepth, Receipt
from services.domain.upkeep.health import Finding


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a broker can do. What it cannot, the engine does from the store or says so; nobody asks which one it is."""

    priority: bool  #: within a lane the more urgent message goes first; else a lane is in the order of its messages
    delay: bool  #: holds a message back for its ``delay_s``; else a retry waits in the store until it is due
    depth: bool  #: counts by itself what waits; else ``ready`` is what the records tell
    unroutable: bool  #: a message that no queue takes is refused; else it lies where nobody may look
    dead_log: bool  #: keeps a second copy of dead letters
    others: bool  #: other programs send and read there: notices, results, work queues of theirs


class Consumer(Protocol):
    """Deliveries from the lane queues (and dedicated ones) for one worker. Any thread may call any method."""

    def take(self, limit: int, timeout: float, plan: Sequence[tuple[str, int]] = ()) -> list[Delivery]:
        """Up to ``limit`` deliveries, the most urgent lane first; waits up to ``timeout`` seconds for the first one.

        ``plan``: from which lanes, in which order, and how many at most of each; a lane may stand in it twice. Empty
        after the time-out, while paused and while disconnected (recovery goes on by itself). A lane whose deliveries
        nobody takes for a second is not consumed any more, and they go back to their queue, until a take comes to it.
        """

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        """As if they had not been taken; for what is not to be started now and may be soon."""

    def ack(self, deliveries: Iterable[Delivery]) -> None:
        """Settle as done, without waiting. A delivery of a lost connection is skipped and counted in ``ack_lost``."""

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        """Give back unstarted, without waiting; the message keeps its place as far as the broker can."""

    def set_window(self, unacked: int) -> None:
        """Deliveries that may be held unsettled per queue (prefetch)."""

    def serve(self, shops: Sequence[str], seats: int) -> None:
        """Take from the dedicated queues of these shops (ids) too, and from no other shop's any more.

        At most ``seats`` queues have an unsettled delivery, each of them one; where there are more queues than seats,
        those with messages have turns. A queue that does not exist is left out until it does. In a take, a message of a
        shop's queue stands in the lane of its priority, and counts as one of that lane in the ``plan``.
        """

    def pause(self) -> None:
        """Take nothing more; what is buffered and not taken goes back to the queues."""

    def resume(self) -> None:
        """Consume again after ``pause``."""

    def unacked(self) -> int:
        """Deliveries received and not settled, taken or not."""

    def untouched(self) -> Mapping[str, int]:
        """Of those the ones that nobody has taken, by queue; queues with none are left out."""

    @property
    def ack_lost(self) -> int: ...

    def close(self) -> None:
        """Give back what is unsettled and untaken, and leave."""


class Broker(Protocol):
    """Messages with confirm, manual ack, delay and depth, as far as the broker can: see ``capabilities``."""

    @property
    def capabilities(self) -> Capabilities: ...

    def ensure(self, platforms: Iterable[str] = (), delays: Iterable[int] = ()) -> None:
        """Declare the topology, the known ``platforms``' dead-letter bindings and the delay queues (seconds);
        idempotent.

        Raises:
            TopologyMismatch: something exists with other arguments.
            BrokerUnavailable: no connection within the connect time-out.
        """

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """Publish a batch in a window of confirms and wait for all of them; thread-safe, concurrent callers share the
        window.

        Never raises for one order; each receipt answers the order at its place.
        """

    def consumer(self, lanes: Sequence[str], *, window: int, name: str) -> Consumer:
        """Start consuming these lanes (in this order of urgency)."""

    def dead_letters(self, *, name: str) -> Consumer:
        """Start consuming the dead-letter queue, for the archiver only (window 50)."""

    def notices(self, *, name: str) -> Consumer | None:
        """Consume copies of what other programs send to lanes, which stays there for the workers; None where the broker
        makes no copies. Some may be missing (there were too many, or they were too old), and some are of our own
        messages that came back from a delay queue. Under ``lane.LATE_QUEUE`` come those that ended before they were
        read, also those that expired with their message.
        """

    def work_queue(self, queue: str, *, name: str) -> Consumer | None:
        """Consume a queue of another program, which that one declares; what of it is not there yet is waited for. None
        where the broker has no queues of others.
        """

    def dead_log(self, *, name: str) -> Consumer | None:
        """Read the second copy of all dead letters from its beginning, taking nothing off it; None where there is none.
        Acknowledge what was read, or nothing more comes.
        """

    def open_shop(self, platform: str, shop_id: str) -> None:
        """Make the dedicated queue of a shop, which takes ``task.{platform}.{shop_id}``; idempotent.

        Raises:
            TopologyMismatch: it exists with other arguments, or takes another platform's messages.
            BrokerUnavailable: no connection.
        """

    def close_shop(self, platform: str, shop_id: str) -> bool:
        """Delete the dedicated queue of a shop if it is empty and nobody consumes it; tell whether it is gone."""

    def know(self, shops: Iterable[str], delays: Iterable[int] = ()) -> None:
        """The shops (ids) whose dedicated queues ``depths`` counts, and delay queues (seconds) beside those that
        ``ensure`` declared, where the broker does not list them by itself. Declares nothing.
        """

    def depths(self) -> list[QueueDepth]:
        """Live depths of lanes, delay queues, dead queue and dedicated queues that exist."""

    def inspect(self, delays: Iterable[int] = ()) -> Inspection:
        """Look whether the topology and the delay queues (seconds) stand as ``ensure`` would declare them; changes
        nothing.

        Raises:
            TopologyMismatch: something exists with other arguments, as far as the broker shows them.
            BrokerUnavailable: no connection within the connect time-out.
        """

    def health(self) -> BrokerHealth:
        """What is known without asking the broker again."""

    def dial_anew(self) -> None:
        """Give a connection up that brings no answer, and make it anew; waits for nothing. What was delivered by it and
        is not settled comes again.
        """

    def facts(self) -> Mapping[str, str]:
        """What the server says about itself: ``kind`` and ``version``, for people; of a cluster ``node NAME`` for each
        node that is known: ``up`` or ``down``, and what it has an alarm for (``memory``, ``disk``). Asks the server.
        """

    def findings(self, longest: tuple[str, int]) -> list[Finding]:
        """What a doctor has to know of this kind of broker beyond ``inspect`` and ``depths``; asks the server.

        ``longest``: the task type that may run longest, and for how many seconds.
        """

    def close(self) -> None: ...
