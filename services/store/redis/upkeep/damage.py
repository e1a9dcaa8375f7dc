"""What cannot be read on Redis: every key by its family, every entry by the reader that its callers use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import Pause, Shop, read_pause, valid_scope
from services.domain.gates.session import ClosedSession
from services.domain.task import own_words, tombstone
from services.domain.task.record import ENCODER, check, decode
from services.domain.task.status import TERMINAL
from services.domain.upkeep.damage import SCHEDULE, WHY_LIMIT, Check, Damage, shown
from services.ports import AuditEntry, Letter, LogLine, ScheduleEntry
from services.store.redis import keys
from services.store.redis.breakers import read_breaker
from services.store.redis.fleet import Fleet, read_home, read_worker
from services.store.redis.journals import read_end, read_seal
from services.store.redis.ledger import read_days, read_entry
from services.store.redis.limits import read_limit
from services.store.redis.logins import read_last_run, read_login
from services.store.redis.notes import read_note, read_suppressed
from services.store.redis.reads import KIND, read_shop
from services.store.redis.script import PREFIX, load
from services.store.redis.upkeep import aside as redis_aside
from services.store.redis.upkeep.payloads import Payloads
from services.store.unreadable import WRONG, instant, number

_SET_ASIDE = load("set_aside")
AT_ONCE = 500
#: keys whose value this looks into whole; larger ones are read in slices
Entry = Callable[[bytes, bytes], object]


class Family(msgspec.Struct, frozen=True):
    """Keys of one kind. ``read`` raises where an entry (field and value; member and score; "" and value) is none."""

    name: str
    kind: str  #: as TYPE calls it
    read: Entry = lambda field, value: field.decode()
    many: bool = False  #: one key for each task, shop, worker …: the name is only the beginning
    thing: str = ""  #: what an entry is to people


def _value(read: Callable[[bytes], object]) -> Entry:
    return lambda field, value: (field.decode(), read(value))


def _typed(kind: type) -> Entry:
    return _value(msgspec.msgpack.Decoder(kind, strict=False).decode)


def _score(member: bytes, score: bytes) -> object:
    if not math.isfinite(float(score)) or abs(float(score)) > 2.0**53 * 16:
        raise ValueError("its place is no number")
    return member.decode()


def _meta(field: bytes, value: bytes) -> object:
    if field == b"epoch" and not value.decode().isalnum():
        raise ValueError("no epoch")
    if field in (b"schema", b"writer") and not 0 <= int(value) <= keys.MOST_SCHEMA:
        raise ValueError("no version that there can be")
    return field.decode()


def _kinds(field: bytes, value: bytes) -> object:
    words = field.decode().split("|")
    if len(words) != len(KIND) or not words[5].isdecimal():
        raise ValueError("it counts nothing that there is")
    return number(value)


def _watermark(field: bytes, value: bytes) -> object:
    if not field.decode().rpartition("|")[2].isdecimal():
        raise ValueError("it names no queue")
    return instant(value)


def _under_way(field: bytes, value: bytes) -> object:
    if len(value) != 4 * len(keys.PRIORITIES):
        raise ValueError("not a number for each priority")
    return field.decode()


def _numbers(field: bytes, value: bytes) -> object:
    if len(value) != 8 * (1 + len(keys.COUNTED)):
        raise ValueError("not a number for each status")
    return field.decode(), read_shop(value)


def _record(field: bytes, value: bytes) -> object:
    return check(decode(value[PREFIX:]))


def _tomb(field: bytes, value: bytes) -> object:
    if tombstone.read("", value.decode()).status not in TERMINAL:
        raise ValueError("it does not say how the task ended")
    return value


def _any(field: bytes, value: bytes) -> object:
    return None


_HASH, _ZSET, _SET, _STRING, _LIST = "hash", "zset", "set", "string", "list"
#: of documents; those of single runs are found by a deep look
_KINDS = (
    *("type", "queue", "cause", "fleet", "role", "people", "move", "leader", "relay", "bulk", "type_version"),
    *("token", "token_used", "window", "worker_log"),
)
_SCANS = {_HASH: "HSCAN", _ZSET: "ZSCAN", _SET: "SSCAN"}
_FAMILIES = (
    Family(keys.META, _HASH, _meta),
    Family(keys.EVENTS, "stream", _any),
    *(Family(name, _ZSET, _score) for name in (keys.OUTBOX, keys.LEASES, keys.PLANNED, keys.RETRIES, keys.UPDATED)),
    *(Family(name, _ZSET, _score) for name in (keys.SCHEDULES_DUE, keys.BREAKERS_OPEN, keys.RESERVING)),
    *(Family(name, _ZSET, _score) for name in (keys.SHOP_NAMES, keys.PLATFORMS, keys.BATCHES, keys.DEADLINES)),
    *(Family(name, _ZSET, _score) for name in (keys.AUDIT_ORDER, keys.SUPPRESSED)),
    *(Family(name, _SET) for name in (keys.LOTS, keys.UNSERVED, keys.LIMIT_SCOPES, keys.NEEDED, keys.UNTOLD)),
    Family(keys.WATERMARKS, _HASH, _watermark),
    Family(keys.HOMES, _HASH, _value(read_home), thing="home"),
    Family(keys.PAUSES, _HASH, lambda field, value: read_pause(value, field.decode()), thing="pause"),
    Family(keys.SCHEDULES, _HASH, _typed(ScheduleEntry), thing="schedule"),
    Family(keys.SCHEDULE_VERSIONS, _HASH, _value(instant)),
    Family(keys.SHOPS, _HASH, _typed(Shop), thing="shop"),
    Family(keys.LIMITS, _HASH, _value(read_limit), thing="limit"),
    Family(keys.LIMIT_RUNNING, _HASH, _value(number)),
    Family(keys.SESSIONS, _HASH, _typed(ClosedSession), thing="session"),
    Family(keys.LOGINS, _HASH, _value(read_login)),
    Family(keys.SUCCESSES, _HASH, _value(instant)),
    Family(keys.LAST_RUNS, _HASH, _value(read_last_run)),
    Family(keys.BREAKERS, _HASH, _value(read_breaker), thing="breaker"),
    Family(keys.INDEXED, _HASH, _value(bytes.decode)),
    Family(keys.BY_SHOP, _HASH, _numbers),
    Family(keys.UNDER_WAY, _HASH, _under_way),
    Family(keys.BY_KIND, _HASH, _kinds),
    Family(keys.WORKERS, _HASH, _value(read_worker), thing="worker"),
    Family(keys.LETTERS, _HASH, _typed(Letter), thing="letter"),
    Family(keys.AUDIT, _HASH, _typed(AuditEntry), thing="audit"),
    Family(keys.AUDIT_CLOSED, _HASH, _value(read_end)),
    Family(keys.AUDIT_ENDS, _HASH, _value(read_seal)),
    Family(keys.AUDIT_HEADS, _SET),
    Family(keys.SUPPRESSED_OF, _HASH, _value(read_suppressed)),
    Family(keys.SUPPRESSED_N, _HASH, _value(number)),
    Family(keys.SUCCESSES_OF, _HASH, _value(instant), many=True),
    Family(keys.DOCUMENTS, _HASH, _value(bytes.decode), many=True),
    Family(keys.TASK, _STRING, _record, many=True, thing="task"),
    Family(keys.TOMB, _STRING, _tomb, many=True),
    Family(keys.WORK, _STRING, _value(read_entry), many=True),
    Family(keys.PAST, _STRING, _value(read_days), many=True),
    Family(keys.BURIED, _HASH, _value(number), many=True),
    Family(keys.LEADER, _STRING, _value(bytes.decode), many=True),
    Family(keys.NOTES, _LIST, _value(read_note), many=True, thing="notes"),
    Family(keys.ORDERS, _LIST, _value(bytes.decode), many=True),
    Family(keys.LOT_TYPES, _SET, many=True),
    Family(keys.NEEDS, _SET, many=True),
    Family(keys.LIMIT_STARTS, _HASH, lambda field, value: (number(field), number(value)), many=True),
    *(Family(name, _ZSET, _score, many=True) for name in (keys.UNIQUE, keys.LOT, keys.UNSERVED_OF, keys.RESERVED)),
    *(Family(name, _ZSET, _score, many=True) for name in (keys.LIMIT_RESERVED, keys.LIMIT_WAITING, keys.DEPENDANTS)),
    *(Family(name, _ZSET, _score, many=True) for name in (keys.BY_STATUS, keys.SHOP, keys.TYPE, keys.WORKER)),
    *(Family(name, _ZSET, _score, many=True) for name in (keys.BATCH, keys.FINGERPRINT, keys.PAYLOAD)),
    Family(keys.LOG, _LIST, _typed(LogLine), many=True, thing="log"),
)
#: the audit, which is never shortened
_TRAIL = tuple(key.encode() for key in (keys.AUDIT, keys.AUDIT_CLOSED, keys.AUDIT_ENDS))
_SINGLE = {family.name: family for family in _FAMILIES if not family.many}
_MANY = sorted((family for family in _FAMILIES if family.many), key=lambda family: -len(family.name))
_COUNTER = Family(keys.LOG, _STRING, lambda field, value: number(value), many=True)  #: beside the lines of a log


def family_of(key: str) -> Family | None:
    """What a key of ours holds; None for what is none, and for what was set aside."""
    if key.startswith(keys.LOG) and key.endswith(":n"):
        return _COUNTER
    found = _SINGLE.get(key)
    return found or next((family for family in _MANY if key.startswith(family.name)), None)


class Damages(Fleet, Payloads):
    """The calls of ``services.ports.upkeep``."""

    def damage(self, check: Check, *, deep: bool) -> list[Damage]:
        """Key by key; one that went meanwhile is passed over."""
        found: list[Damage] = []
        for names in self._names(deep=deep):
            kinds = self._link.many([("TYPE", name) for name in names])
            for name, kind in zip(names, kinds, strict=True):
                key = name.decode("utf-8", "backslashreplace")
                family = family_of(key)
                kind_of = kind.decode() if isinstance(kind, bytes) else str(kind)
                if family is None or kind_of == "none":
                    continue
                if kind_of != family.kind:
                    why = f"it is a {kind_of} and should be a {family.kind}"
                    thing = family.thing if family.many else ""
                    named = shown(key.removeprefix(family.name))
                    found.append(
                        Damage(place=shown(key), entry="", why=why, shape="whole", ref=(name,), thing=thing, name=named)
                    )
                else:
                    found += self._unsound(name, key, family, check)
        known = self._copied()
        found.sort(key=lambda one: one.place != keys.META)  # nobody else may write before that is mended
        return [one for one in found if (one.place, one.ref[1:]) not in known]

    def set_aside(self, found: Sequence[Damage]) -> int:
        """One step each."""
        self._link.check_writable(repairing=True)
        moved = 0
        for one in found:
            key, *rest = one.ref
            member = rest[0] if rest else b""
            shape = "copy" if key in _TRAIL and one.shape == _HASH else one.shape
            aside = keys.ASIDE.encode() + key
            if shape in ("whole", "string"):
                aside += b":%d" % self._ticker.now_ms()
            instead = _instead(key.decode("utf-8", "replace"), member, self._ticker.now_ms())
            if self._link.run(_SET_ASIDE, (key, aside), shape, member, one.data, instead):
                moved += 1
                noted = member if shape in ("hash", "copy", "zset", "set") else b""
                told = redis_aside.note(self._ticker.now_ms(), one.why)
                self._link.call("HSET", keys.ASIDE_NOTES, redis_aside.note_name(aside, noted), told)
                self._follow(key.decode("utf-8", "replace"), member)
        return moved

    def _follow(self, key: str, member: bytes) -> None:
        """What stands and falls with an entry."""
        if key == keys.SCHEDULES:
            self._link.many([("HDEL", keys.SCHEDULE_VERSIONS, member), ("ZREM", keys.SCHEDULES_DUE, member)])
        elif key == keys.SCHEDULE_VERSIONS and member:
            stored = self._link.call("HGET", keys.SCHEDULES, member)
            if stored is not None:
                entry = msgspec.msgpack.decode(stored, type=ScheduleEntry)
                self._link.call("HSET", keys.SCHEDULE_VERSIONS, member, entry.version)
        elif key in (keys.BY_SHOP, keys.SHOPS):
            self._slots()
        elif key == keys.META:
            fields = (("schema", keys.BASE_SCHEMA), ("writer", keys.BASE_SCHEMA))
            self._link.many([("HSETNX", keys.META, field, value) for field, value in fields])
            self.index_fields(self.indexed())

    def _slots(self) -> None:
        """How many tasks of each shop may run, from its description."""
        shops = self._link.call("HGETALL", keys.SHOPS)
        numbers = self._link.call("HGETALL", keys.BY_SHOP)
        for name, packed in shops.items():
            try:
                shop = msgspec.msgpack.decode(packed, type=Shop)
            except WRONG:
                continue
            if not numbers.get(name) or int.from_bytes(numbers[name][:8], "big") != max(1, shop.concurrency):
                self.put_shops([shop])

    def _copied(self) -> set[tuple[str, tuple[bytes, ...]]]:
        """Entries of the audit that are known to be none: the trail itself is never shortened."""
        copies = [self._link.call("HKEYS", keys.ASIDE.encode() + key) for key in _TRAIL]
        return {(key.decode(), (member,)) for key, members in zip(_TRAIL, copies, strict=True) for member in members}

    def _names(self, *, deep: bool) -> Iterator[list[bytes]]:
        if not deep:
            yield [name.encode() for name in _SINGLE]
            kinds = (
                "type",
                "queue",
                "cause",
                "fleet",
                "role",
                "people",
                "move",
                "leader",
                "relay",
                "bulk",
                "type_version",
            )
            yield [(keys.DOCUMENTS + kind).encode() for kind in kinds]
            return
        cursor = 0
        while True:
            cursor, found = self._link.call("SCAN", cursor, "MATCH", f"{keys.ROOT}*", "COUNT", AT_ONCE)
            if found:
                yield sorted(set(found))
            if not cursor:
                return

    def _unsound(self, name: bytes, key: str, family: Family, check: Check) -> Iterator[Damage]:
        for member, value, ref in self._contents(name, family.kind):
            try:
                family.read(member, value)
                if family.name == keys.DOCUMENTS:
                    check(key.removeprefix(keys.DOCUMENTS), member.decode(), value.decode())
                elif key == keys.SCHEDULES:
                    check(SCHEDULE, member.decode(), msgspec.msgpack.decode(value, type=ScheduleEntry).body)
            except (*WRONG, UsageError) as exc:
                why = str(exc)[:WHY_LIMIT] or type(exc).__name__
                kind = key.removeprefix(keys.DOCUMENTS) if family.name == keys.DOCUMENTS else ""
                yield Damage(
                    place=shown(key),
                    entry=shown(member),
                    why=why,
                    shape=family.kind,
                    document=(kind, shown(member)) if kind else ("", ""),
                    ref=(name, *ref),
                    data=value,
                    thing=family.thing,
                    name=shown(key.removeprefix(family.name)) if family.many else shown(member),
                )

    def _contents(self, name: bytes, kind: str) -> Iterator[tuple[bytes, bytes, tuple[bytes, ...]]]:
        """Field or member, value or score, and what is needed to find it again."""
        if kind == _STRING:
            value = self._link.call("GET", name)
            if value is not None:
                yield b"", value, ()
        elif kind == _LIST:
            for value in self._link.call("LRANGE", name, 0, -1):
                yield b"", value, (b"",)
        elif kind in _SCANS:
            for member, value in self._scanned(_SCANS[kind], name):
                yield member, value, (member,)

    def _scanned(self, scan: str, name: bytes) -> Iterator[tuple[bytes, bytes]]:
        cursor = 0
        while True:
            cursor, found = self._link.call(scan, name, cursor, "COUNT", AT_ONCE)
            if scan == "SSCAN":
                yield from ((member, b"") for member in found)
            elif scan == "HSCAN":
                yield from found.items() if isinstance(found, dict) else found
            else:
                yield from ((member, repr(score).encode()) for member, score in found)
            if not cursor:
                return


def _instead(key: str, member: bytes, now: int) -> bytes:
    """What keeps a gate closed whose entry cannot be read: a person opens it."""
    name = member.decode("utf-8", "replace")
    note, by = own_words.write("own.entry_aside"), own_words.REPAIR
    if not member or name.encode() != member:
        return b""
    if key == keys.PAUSES and valid_scope(name):
        return ENCODER.encode(Pause(scope=name, by=by, at=now, reason=note))
    if key == keys.SESSIONS:
        return ENCODER.encode(ClosedSession(shop=name, kind="login_expired", since=now, by=by, note=note))
    return b""
