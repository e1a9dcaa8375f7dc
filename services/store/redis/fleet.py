"""Shops, pauses, documents, workers and the leader's lease on Redis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from services.domain.fleet.shop import Pause, Shop, read_pause
from services.domain.fleet.worker import Heard, WorkerInfo
from services.domain.gates import home, listed
from services.domain.gates.home import Home
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.redis.script import load
from services.store.unreadable import by_name, instant, text, texts

_HEARTBEAT = load("heartbeat")
_LEAD = load("lead")
_RESIGN = load("resign")
_STRIKE_OFF = load("strike_off")
_PUT_SHOPS = load("put_shops")
_SWAP = load("swap_document")
_SHOPS_AT_ONCE = 500
#: a worker that was not heard of for a day is forgotten, and orders for it with it
_DAY_MS = 86_400_000
_INSTANT = 13  #: digits in front of a worker's own words: when it was seen

_PACK = msgspec.msgpack.Encoder()
_SHOP = msgspec.msgpack.Decoder(Shop)
_WORKER = msgspec.msgpack.Decoder(WorkerInfo)


def pauses_in(found: Mapping[bytes, bytes]) -> list[Pause]:
    """The stored ones, by scope."""
    return list(by_name(read_pause, found, "pause").values())


def workers_in(found: Mapping[bytes, bytes], now: int) -> list[WorkerInfo]:
    """The stored ones that were heard of within a day, by name."""
    heard = by_name(read_worker, found, "heartbeat").values()
    return [info for info in heard if info.seen_at >= now - _DAY_MS]


class Fleet(Part):
    """What changes seldom, and the workers' signs of life."""

    def put_shops(self, shops: Iterable[Shop]) -> None:
        """Insert or replace by (platform, shop_id)."""
        self._link.check_writable()
        arguments: list[str | bytes | int] = []
        for shop in shops:
            arguments += (shop.platform, shop.key, _PACK.encode(shop), max(1, shop.concurrency))
        names = (keys.SHOPS, keys.BY_SHOP, keys.SHOP_NAMES, keys.PLATFORMS)
        for start in range(0, len(arguments), _SHOPS_AT_ONCE * 4):
            self._link.run(_PUT_SHOPS, names, *arguments[start : start + _SHOPS_AT_ONCE * 4])

    def shops(self) -> list[Shop]:
        """Every registered shop, by name."""
        found = self._link.call("HGETALL", keys.SHOPS)
        return list(self._hashes.by_name(keys.SHOPS, _SHOP.decode, found, "shop").values())

    def set_pause(self, pause: Pause) -> None:
        """Close a switch (again: replace it); ``at`` 0 is filled."""
        self._link.check_writable()
        self._link.call("HSET", keys.PAUSES, pause.scope, self._packed(pause))

    def _packed(self, pause: Pause) -> bytes:
        return _PACK.encode(pause if pause.at else msgspec.structs.replace(pause, at=self._ticker.now_ms()))

    def clear_pause(self, scope: str) -> bool:
        """Open a switch; tell whether it was closed."""
        self._link.check_writable()
        return bool(self._link.call("HDEL", keys.PAUSES, scope))

    def swap_pause(self, scope: str, by: str, pause: Pause | None) -> bool:
        """Close or open a switch in the place of this one's pause."""
        self._link.check_writable()
        before = self._link.call("HGET", keys.PAUSES, scope) or b""
        known = pauses_in({scope.encode(): before}) if before else []
        if bool(before) != bool(by) or [one.by for one in known] != [by] * bool(by):
            return False
        after = b"" if pause is None else self._packed(pause)
        return bool(self._link.run(_SWAP, (keys.PAUSES,), scope, before, after))

    def pauses(self) -> list[Pause]:
        """The closed switches."""
        return pauses_in(self._link.call("HGETALL", keys.PAUSES))

    def switches(self) -> list[Pause]:
        """The closed switches of all gates."""
        documents = {kind: self.documents(kind) for kind in listed.DOCUMENTS}
        return listed.switched(self.pauses(), documents, self._ticker.now_ms())

    def homes(self, shops: Iterable[str] | None = None) -> dict[str, Home]:
        """Where shops are at home."""
        if shops is None:
            known: Mapping[bytes, bytes] = self._link.call("HGETALL", keys.HOMES)
        elif names := sorted(set(shops)):
            found = self._link.call("HMGET", keys.HOMES, *names)
            known = {name.encode(): words for name, words in zip(names, found, strict=True) if words is not None}
        else:
            known = {}
        return {
            shop: Home(shop=shop, node=node, since=since)
            for shop, (since, node) in by_name(read_home, known, "home").items()
        }

    def put_home(self, shop: str, node: str) -> None:
        """Let a shop be at home somewhere."""
        self._link.check_writable()
        self._link.call("HSET", keys.HOMES, shop, f"{self._ticker.now_ms()} {node}")

    def put_document(self, kind: str, name: str, body: str) -> None:
        """Keep a JSON document."""
        self._link.check_writable()
        self._link.call("HSET", keys.DOCUMENTS + kind, name, body)

    def add_document(self, kind: str, name: str, body: str) -> bool:
        """Keep a JSON document where there is none."""
        self._link.check_writable()
        return bool(self._link.call("HSETNX", keys.DOCUMENTS + kind, name, body))

    def swap_document(self, kind: str, name: str, before: str, body: str) -> bool:
        """Keep a JSON document in the place of this one, or strike it off."""
        self._link.check_writable()
        # "" would stand for none there is: what was not read cannot be replaced
        return bool(before) and bool(self._link.run(_SWAP, (keys.DOCUMENTS + kind,), name, before, body))

    def remove_document(self, kind: str, name: str) -> bool:
        """Strike a document off."""
        self._link.check_writable()
        return bool(self._link.call("HDEL", keys.DOCUMENTS + kind, name))

    def document(self, kind: str, name: str) -> str | None:
        """A document of a kind by its name."""
        body = self._link.call("HGET", keys.DOCUMENTS + kind, name)
        found = {} if body is None else {name.encode(): body}
        return by_name(bytes.decode, found, f"document ({kind})").get(name)

    def documents(self, kind: str) -> Mapping[str, str]:
        """The documents of a kind by name."""
        found = self._link.call("HGETALL", keys.DOCUMENTS + kind)
        return self._hashes.by_name(keys.DOCUMENTS + kind, bytes.decode, found, f"document ({kind})")

    def heartbeat(self, info: WorkerInfo) -> Heard:
        """Record a worker, fetch the orders left for it, and hear what waits for a capable one."""
        self._link.check_writable()
        names = (keys.WORKERS, keys.ORDERS + info.worker, keys.UNSERVED)
        self._life.look()
        seen, orders, kinds, own = self._link.run(_HEARTBEAT, names, info.worker, _PACK.encode(info), info.node)
        self._ticker.saw(seen)
        return Heard(
            orders=tuple(texts(orders, "order of a worker")),
            unserved=frozenset(keys.kind(kind)[:2] for kind in texts(kinds)),
            homebound=frozenset(keys.kind(kind)[:2] for kind in texts(own)),
            life=f"{self._life.known}.{self._link.returns}",
        )

    def workers(self) -> list[WorkerInfo]:
        """Workers heard of within a day, by name."""
        return workers_in(self._link.call("HGETALL", keys.WORKERS), self._ticker.now_ms())

    def tell_worker(self, worker: str, order: str) -> None:
        """Leave an order for a worker's next heartbeat."""
        self._link.check_writable()
        name = keys.ORDERS + worker
        self._link.many([("RPUSH", name, order), ("PEXPIRE", name, _DAY_MS)], atomic=True)

    def strike_off(self, worker: str, seen_at: int) -> bool:
        """Take one off the list unless it was heard of since."""
        self._link.check_writable()
        return bool(self._link.run(_STRIKE_OFF, (keys.WORKERS,), worker, seen_at))

    def forget_worker(self, worker: str) -> None:
        """A worker says goodbye."""
        self._link.check_writable()
        self._link.many([("HDEL", keys.WORKERS, worker), ("DEL", keys.ORDERS + worker)], atomic=True)

    def lead(self, role: str, holder: str, ttl_ms: int) -> bool:
        """Take or prolong the leader lease; tell whether ``holder`` leads."""
        self._link.check_writable()
        self._life.look()
        return bool(self._link.run(_LEAD, (keys.LEADER + role,), holder, ttl_ms))

    def leader(self, role: str) -> str:
        """Who leads now, "" for nobody."""
        return text(self._link.call("GET", keys.LEADER + role) or b"", "leader") or ""

    def resign(self, role: str, holder: str) -> None:
        """Give the lease up, if ``holder`` has it."""
        self._link.run(_RESIGN, (keys.LEADER + role,), holder)


def read_home(words: bytes) -> tuple[int, str]:
    """Since when a shop is at home, and where.

    Raises:
        ValueError: it is something else.
    """
    since, _, node = words.decode().partition(" ")
    if not home.valid_node(node):
        raise ValueError("it names no node")
    return instant(since), node


def read_worker(stored: bytes) -> WorkerInfo:
    """A heartbeat with the instant that stands before it.

    Raises:
        ValueError: it is none.
    """
    seen = instant(stored[:_INSTANT])
    return msgspec.structs.replace(_WORKER.decode(stored[_INSTANT:]), seen_at=seen)
