"""Declaring and counting on a connection, each request on a channel of its own, and putting back what was deleted."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import msgspec

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.count import Count, Numbers
from services.broker.rabbitmq.declare import Declaration, Declared, PartRefused
from services.broker.rabbitmq.errors import ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED, ChannelLost, unreachable
from services.broker.rabbitmq.management import Management
from services.broker.rabbitmq.topology import Declarable
from services.broker.rabbitmq.wire import Channel
from services.domain.errors import BrokerUnavailable, TopologyMismatch
from services.domain.task import lane
from services.domain.text.said import said

log = logging.getLogger(__name__)

STREAMS_SINCE = (3, 9)
PATIENCE = 20.0  #: seconds for all declarations of a caller; queues that are silent take ``SILENT`` each


class Wanted(msgspec.Struct):
    """What ``ensure`` was asked for, to be declared again after a loss."""

    base: bool = False
    platforms: set[str] = msgspec.field(default_factory=set)
    delays: set[int] = msgspec.field(default_factory=set)

    def parts(self, profile: str, version: tuple[int, ...]) -> list[Declarable]:
        platforms = [part for name in sorted(self.platforms) for part in topology.platform(name)]
        delays = [part for seconds in sorted(self.delays) for part in topology.delay(seconds, profile)]
        return [*(topology.base(profile, version) if self.base else ()), *platforms, *delays]


class Control:
    """Declares, counts and restores through one link."""

    def __init__(self, link: Link, management: Management, profile: str = topology.SINGLE) -> None:
        self._link, self._management, self._profile = link, management, profile
        self._lock = threading.Lock()
        self._wanted = Wanted()
        self._streams = True
        #: whether work can be published past the notices
        self.own_way = False
        self._waiting: list[Callable[[], None]] = []
        self._unreachable: dict[str, str] = {}
        self.latency_ms = -1.0
        self.error = ""

    # ------------------------------------------------------------------------------------------------- any thread
    @property
    def delays(self) -> set[int]:
        with self._lock:
            return set(self._wanted.delays)

    @property
    def unreachable(self) -> dict[str, str]:
        """Queues that are there and out of reach, as far as was last seen, and what the broker says of each."""
        with self._lock:
            return dict(self._unreachable)

    def ensure(self, platforms: Iterable[str], delays: Iterable[int]) -> None:
        """Declare the base, these platforms' keys and these delays; remember them for recovery.

        A queue that is out of reach is told and left out: whoever comes goes on with the others.
        """
        asked = Wanted(True, set(platforms), set(delays))
        try:
            self._link.wait_up(self._link.timing.connect + 1)
            self._declare(asked.parts(self._profile, self._version))
        except BrokerUnavailable:
            self._remember(asked)  # it is still wanted: the connection declares it as soon as it is up
            raise
        self._remember(asked)
        self._declare_own_way()
        self._declare_dead_log(asked.platforms)
        self.error = ""

    def open_shop(self, platform: str, shop_id: str) -> None:
        """Declare the dedicated queue of a shop; not remembered, for who deletes it may be another process."""
        self._declare(topology.shop(platform, shop_id, self._profile))
        if self.own_way:
            self._try(topology.own_way_of_shop(platform, shop_id), "no notices of messages for a shop")

    def close_shop(self, platform: str, shop_id: str) -> bool:
        """Delete a dedicated queue that is empty and has no consumers; tell whether it is gone."""
        name, key = lane.shop_queue(shop_id), topology.shop_key(platform, shop_id)
        try:
            gone: bool = self._link.call(lambda answer: self._deleting(name, key, answer), self._link.timing.call)
        except ChannelLost as exc:
            if exc.code == PRECONDITION_FAILED and self._profile != topology.CLUSTER:
                return False
            if exc.code != NOT_FOUND or unreachable(exc):
                self._lead_there_again(name, key)
                raise BrokerUnavailable(said("broker.not_deleted", name=name, error=exc.text)) from exc
            self._end_notices(key)  # who deleted it may have come no further
            return True
        except BrokerUnavailable:
            self._lead_there_again(name, key)
            raise
        return gone

    def missing_rights(self) -> str:
        """What is told of a user who may neither read nor write; "" where it may. To look at a queue asks for neither:
        what asks for both and changes nothing is to take away what nobody bound.
        """
        queue, key = topology.lane_queue(lane.Lane.NORMAL), "rights"
        try:
            self._ask(lambda channel, done: channel.queue_unbind(queue, topology.TASKS, routing_key=key, callback=done))
        except ChannelLost as exc:
            if exc.code == ACCESS_REFUSED:
                at = self._link.address
                return said("broker.no_rights", place=at.place, user=repr(at.user), vhost=repr(at.vhost))
        return ""

    def count(self, names: Iterable[str]) -> Numbers:
        """Ready messages and consumers of each queue that exists, as they are now."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        return self._link.call(lambda answer: self.counting(wanted, answer), self._link.timing.call)

    # ------------------------------------------------------------------------------------------------- I/O thread
    def _deleting(self, name: str, key: str, answer: Future[bool]) -> None:
        """Delete a queue, then what gives notice of messages for it: who sends one must hear that it leads nowhere.

        A quorum queue cannot be deleted on a condition (the broker would end the connection), so on a cluster nothing
        of other programs leads to it while it is looked at; what is our own has a record, by which it is sent again.
        """

        def begin(channel: Channel) -> None:
            def deleted(_frame: object) -> None:
                channel.queue_unbind(topology.NOTICES, topology.TASKS, routing_key=key, callback=answered)

            def answered(_frame: object, gone: bool = True) -> None:
                answer.set_result(gone)
                channel.close()

            def looked(frame: Any) -> None:
                if frame.method.message_count or frame.method.consumer_count:
                    kept = partial(answered, gone=False)
                    channel.queue_bind(name, topology.TASKS, routing_key=key, callback=kept)
                else:
                    channel.queue_delete(name, if_unused=False, if_empty=False, callback=deleted)

            def unbound(_frame: object) -> None:
                channel.find_queue(name, looked)

            if self._profile == topology.CLUSTER:
                channel.queue_unbind(name, topology.TASKS, routing_key=key, callback=unbound)
            else:
                channel.queue_delete(name, if_unused=True, if_empty=True, callback=deleted)

        self._link.channel(begin, lambda reason: None if answer.done() else answer.set_exception(reason))

    def _lead_there_again(self, name: str, key: str) -> None:
        """On a cluster it was led nowhere while it was looked at; where it was deleted meanwhile nothing is done."""
        if self._profile == topology.CLUSTER:
            self._try([topology.Binding(name, topology.TASKS, key)], f"nothing of other programs leads to {name}")

    def _end_notices(self, key: str) -> None:
        name = topology.NOTICES
        try:
            self._ask(lambda channel, done: channel.queue_unbind(name, topology.TASKS, routing_key=key, callback=done))
        except ChannelLost as exc:
            raise BrokerUnavailable(said("broker.not_ended", name=key, error=exc.text)) from exc

    def _ask(self, ask: Callable[[Channel, Callable[[object], None]], object]) -> None:
        """One request on a channel of its own, and its answer."""

        def work(answer: Future[None]) -> None:
            def begin(channel: Channel) -> None:
                def answered(_frame: object) -> None:
                    answer.set_result(None)
                    channel.close()

                ask(channel, answered)

            self._link.channel(begin, lambda reason: None if answer.done() else answer.set_exception(reason))

        self._link.call(work, self._link.timing.call)

    def restore(self, then: Callable[[], None]) -> None:
        """Declare again all that is wanted, then go on; requests made meanwhile join."""
        self._waiting.append(then)
        if len(self._waiting) > 1:
            return
        with self._lock:
            parts, platforms = self._wanted.parts(self._profile, self._version), sorted(self._wanted.platforms)
        if not parts or not self._link.ready:
            self._restored()
            return
        answer: Future[Declared] = Future()
        answer.add_done_callback(lambda done: self._restore_log(done, platforms))
        self.declaring(parts, answer, tolerant=True)

    def declaring(self, parts: Sequence[Declarable], answer: Future[Declared], *, tolerant: bool = False) -> None:
        """Declare on a new channel; ``tolerant``: what stands with other arguments does not keep the rest away."""
        answer.add_done_callback(self._note)
        Declaration(self._link, parts, answer, self._set_latency, tolerant=tolerant).start()

    def _note(self, done: Future[Declared]) -> None:
        if done.exception() is None:
            found = done.result()
            self._see({*found.arguments, *found.refused}, found.unreachable)

    def _see(self, reached: Iterable[str], unreachable: Mapping[str, str]) -> None:
        """Keep, and tell once, what is out of reach."""
        with self._lock:
            before, here = self._unreachable, set(reached)
            self._unreachable = {name: why for name, why in {**before, **unreachable}.items() if name not in here}
            now = self._unreachable
        for name in now.keys() - before.keys():
            log.warning("queue %s cannot be reached, the others are used: %s", name, now[name])
        for name in before.keys() - now.keys():
            log.warning("queue %s can be reached again", name)

    def counting(self, names: Sequence[str], answer: Future[Numbers]) -> None:
        """Count on a new channel."""
        Count(self._link, names, answer, self._set_latency, self._see).start()

    def _restore_log(self, done: Future[Declared], platforms: list[str]) -> None:
        reason = done.exception()
        refused = list(done.result().refused.values()) if reason is None else []
        if isinstance(reason, PartRefused) and reason.reason.code != ACCESS_REFUSED:
            refused.append(reason)
        if refused or reason is None:
            error = "\n".join(topology.mismatch(one.part, one.reason.text, None) for one in refused)
            if error and error != self.error:
                log.error("%s", error)
            self.error = error
        with self._lock:
            wanted = self._wanted.base and self._streams
        if reason is None and self._wanted.base and self._link.ready:
            mended: Future[Declared] = Future()
            mended.add_done_callback(lambda done: self._restore_second(done, platforms, streams=wanted))
            self.declaring(topology.own_way(self._profile), mended)
            return
        self._restored()

    def _restore_second(self, done: Future[Declared], platforms: list[str], *, streams: bool) -> None:
        self.own_way = done.exception() is None
        if not streams or not self._link.ready:
            self._restored()
            return
        answer: Future[Declared] = Future()
        answer.add_done_callback(lambda _done: self._restored())
        self.declaring(topology.dead_log(platforms), answer)

    def _restored(self) -> None:
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    # ---------------------------------------------------------------------------------------------------- helpers
    @property
    def _version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self._link.version.split(".")[:2] if part.isdecimal())

    def _set_latency(self, milliseconds: float) -> None:
        self.latency_ms = milliseconds

    def _remember(self, asked: Wanted) -> None:
        with self._lock:
            self._wanted.base |= asked.base
            self._wanted.platforms |= asked.platforms
            self._wanted.delays |= asked.delays

    def _declare(self, parts: Sequence[Declarable]) -> None:
        try:
            self._link.call(lambda answer: self.declaring(parts, answer), max(self._link.timing.call, PATIENCE))
        except PartRefused as exc:
            if exc.reason.code == ACCESS_REFUSED:
                self._accept_existing(parts, exc)
                return
            existing = self._management.arguments(exc.part.name) if isinstance(exc.part, topology.Queue) else None
            text = topology.mismatch(exc.part, exc.reason.text, existing)
            if exc.reason.code == PRECONDITION_FAILED:
                raise TopologyMismatch(text) from exc
            raise BrokerUnavailable(said("broker.not_declared", name=str(exc.part), error=exc.reason.text)) from exc

    def _accept_existing(self, parts: Sequence[Declarable], refused: PartRefused) -> None:
        """An account that may not configure: what it needs must be there already."""
        names = [part.name for part in parts if isinstance(part, topology.Queue)]
        missing = sorted(set(names) - set(self.count(names)) - self.unreachable.keys())
        if missing:
            user, error = repr(self._link.address.user), refused.reason.text
            words = said("broker.may_not_make", names=", ".join(missing), user=user, error=error)
            raise BrokerUnavailable(words) from refused
        log.info("declaring is not permitted (%s); the queues are there", refused.reason.text)

    def _declare_own_way(self) -> None:
        parts, else_ = topology.own_way(self._profile), "other programs' messages are known when taken"
        made = self._try(parts, else_)
        # a quorum queue cannot be deleted on a condition, so on a cluster they stay as they were made
        single = self._profile != topology.CLUSTER
        if made is not None and single and "x-dead-letter-exchange" not in made.arguments.get(topology.NOTICES, {}):
            self._drop_old_notices()
            made = self._try(parts, else_)
        self.own_way = made is not None

    def _drop_old_notices(self) -> None:
        """A queue of notices from before theirs were kept when they expire: one that is empty and unused is made anew.
        What comes meanwhile is in its lane, where it is found.
        """
        name = topology.NOTICES
        try:
            self._ask(lambda channel, done: channel.queue_delete(name, if_unused=True, if_empty=True, callback=done))
        except (ChannelLost, BrokerUnavailable) as exc:
            log.info("the notices stay as they were made: %s", exc)

    def _try(self, parts: Sequence[Declarable], else_: str) -> Declared | None:
        """Declare what is welcome and not required; None where it cannot be."""
        try:
            made: Declared = self._link.call(lambda answer: self.declaring(parts, answer), self._link.timing.call)
        except (PartRefused, BrokerUnavailable) as exc:
            log.info("%s: %s", else_, exc)
            return None
        return made

    def _declare_dead_log(self, platforms: set[str]) -> None:
        """The second copy is welcome, not required: a broker without streams works too."""
        if not self._streams or self._version < STREAMS_SINCE:
            return
        try:
            self._link.call(lambda answer: self.declaring(topology.dead_log(platforms), answer), self._link.timing.call)
        except (PartRefused, BrokerUnavailable) as exc:
            with self._lock:
                self._streams = not isinstance(exc, PartRefused)
            log.info("no second copy of dead letters: %s", exc)
