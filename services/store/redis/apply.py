"""Operations on Redis: packed into one argument, applied by one script, answers unpacked."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard

import msgspec

from services.domain.change import UNREADABLE, Answer, Claim, Create, Finish, Forget, Op, Republish
from services.domain.errors import StoreError, TaskError, Unreadable
from services.domain.task.record import ENCODER, RECOVERED, Task, encode
from services.domain.task.search.payload_match import index_terms
from services.domain.task.status import TERMINAL
from services.domain.text.said import said, words_of
from services.store import fleet_day
from services.store.fleet_day import FleetDay, zone_of
from services.store.redis import keys
from services.store.redis.client import FieldsChanged, OtherLife
from services.store.redis.part import Part
from services.store.redis.script import OPERATIONS, PREFIX, load_apply
from services.store.redis.soon import Soon
from services.store.unreadable import readable

BATCH = 200
BATCH_BYTES = 4 * 1024 * 1024
_APPLY = load_apply()
log = logging.getLogger(__name__)
_KNOWN = frozenset(OPERATIONS)
_Entry = tuple[Any, ...]
#: an operation and how it goes to the script
_Packed = tuple[Op, bytes]
#: the fields of the index may change between two looks at them
_LOOKS = 3
#: SET with its time, in the form of the wire: one goes with every task that ends
_MARK = b"*5\r\n$3\r\nSET\r\n$%%d\r\n%%b\r\n$1\r\n1\r\n$2\r\nEX\r\n$%d\r\n%d\r\n" % (
    len(str(keys.EXECUTED_S)),
    keys.EXECUTED_S,
)


def is_recovered(adopt: Task | None) -> TypeGuard[Task]:
    """Whether a record is made of a message of ours, whose own is gone."""
    return adopt is not None and adopt.origin == RECOVERED


def blob(data: bytes) -> msgspec.Raw:
    """Bytes as Lua's reader knows them: marked as a text, which for Lua is the same."""
    return msgspec.Raw(b"\xdb" + len(data).to_bytes(4, "big") + data)


def _plain(op: Op) -> _Entry:
    return (type(op).__name__, *msgspec.structs.astuple(op))


def _create(op: Create) -> _Entry:
    return ("Create", blob(encode(op.task)), op.on_duplicate, op.done_since)


def _claim(op: Claim) -> _Entry:
    adopt: msgspec.Raw | str = ""
    if op.adopt is not None:
        same = op.adopt.task_id == op.task_id
        adopt = blob(encode(op.adopt if same else msgspec.structs.replace(op.adopt, task_id=op.task_id)))
    lease = (op.owner, op.worker, op.lease_ms)
    able = (op.foreign_done, op.able, op.home)
    return ("Claim", op.task_id, op.gen, op.attempt, *lease, adopt, *able, op.done_since, op.once)


def _finish(op: Finish) -> _Entry:
    fields = msgspec.structs.astuple(op)
    return ("Finish", *fields[:3], blob(ENCODER.encode(op.attempt)), *fields[4:])


def _republish(op: Republish) -> _Entry:
    return ("Republish", op.task_id, blob(encode(op.task)), op.by, op.on_duplicate, op.done_since)


_ENTRIES: dict[type[Op], Callable[[Any], _Entry]] = {
    Create: _create,
    Claim: _claim,
    Finish: _finish,
    Republish: _republish,
}


def _entry(op: Op) -> _Entry:
    return _ENTRIES.get(type(op), _plain)(op)


def read_record(stored: bytes | None) -> Task | None:
    """A record as it is stored; None for none and for bytes that are no record."""
    return readable(stored[PREFIX:]) if stored else None


class Operations(Part):
    """``apply`` and the executed marks."""

    _day: FleetDay
    _soon: Soon
    _indexed = b""  #: fields of payloads that are noted, as META names them; the script tells when they are others

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        """Apply a batch, each operation atomically, in order; at most 200 hold up Redis at a time."""
        _check(ops)
        if len(self._soon) > BATCH - len(ops):  # no room for all of them, and they were there before
            self._soon.settle()
        answers: list[Answer] = []
        for batch in _batches(self._entries(ops)):
            try:
                answers += self._run(batch)
            except Unreadable as exc:  # one of them meets what is none of ours; the others go on
                if keys.META in words_of(exc):  # nobody can tell what all the others are
                    raise
                answers += [answer for one in batch for answer in self._alone(one)]
        return answers

    def apply_soon(self, ops: Sequence[Op]) -> None:
        """They go with the next batch: one wait for the disk of Redis instead of two."""
        _check(ops)
        self._soon.put(ops)

    def _send_waiting(self) -> None:
        """What waits for a batch goes without one; what is not recorded then is as if it had never been said."""
        try:
            self._run([])
        except StoreError as exc:
            log.warning("%s", words_of(exc))

    def _check_starting(self, entries: Sequence[_Packed]) -> None:
        """Let nothing start in data that may not tell yet what runs."""
        if self._life.young and any(isinstance(op, Claim) for op, _ in entries):
            raise OtherLife(said("store.no_writes", address=self._link.address, error="what runs is recorded again"))

    def _run(self, entries: Sequence[_Packed]) -> list[Answer]:
        self._check_starting(entries)
        with self._soon.riding(BATCH - len(entries), [op for op, _ in entries]) as waiting:
            riding = [(op, ENCODER.encode(_entry(op))) for op in waiting]
            packed = [*riding, *entries]
            if not packed:
                return []
            try:
                reply = self._sent(packed)
            except Unreadable:
                if not riding:
                    raise
            else:
                self._ticker.saw(reply[0])
                return list(_answers(reply))[len(riding) :]
        for one in riding:  # it may be one of these that meets what is none of ours
            self._alone(one)
        return self._run(entries)

    def _sent(self, packed: Sequence[_Packed]) -> Any:
        """The answer of the script."""
        if lost := [op.adopt.created_at for op, _ in packed if isinstance(op, Claim) and is_recovered(op.adopt)]:
            self._life.doubt(min(lost))
        today = " ".join(map(str, self._day.span(self._ticker.now_ms(), self._zone)))
        listed = _listed([data for _, data in packed])
        for look in range(_LOOKS):
            fields = self._indexed
            names = fields.decode("utf-8", "replace").split(",") if fields else ()
            noted = self._noted([op for op, _ in packed], names) if names else b""
            try:
                life, fresh = self._life.known, secrets.token_hex(6)
                reply = self._link.run(_APPLY, (keys.META,), listed, fresh, today, fields, noted, life)
                self._life.took(reply[0])
                return reply
            except OtherLife:
                if look == _LOOKS - 1:
                    raise
                self._life.settle()
                self._check_starting(packed)
            except FieldsChanged:
                if look == _LOOKS - 1:
                    raise
                self._indexed = self._link.call("HGET", keys.META, "indexed") or b""
        raise AssertionError

    def _noted(self, ops: Sequence[Op], fields: Sequence[str]) -> bytes:
        """What the index of payloads keeps of those that come and of those that go; a payload never changes."""
        payloads = {op.task.task_id: op.task.payload for op in ops if isinstance(op, Create | Republish)}
        payloads |= {op.task_id: op.adopt.payload for op in ops if isinstance(op, Claim) and op.adopt is not None}
        gone = [op.task_id for op in ops if isinstance(op, Forget)]
        if gone:
            stored = map(read_record, self._link.call("MGET", *map(keys.task, gone)))
            payloads |= {task.task_id: task.payload for task in stored if task is not None}
        noted = {task_id: terms for task_id, text in payloads.items() if (terms := index_terms(text, fields))}
        return ENCODER.encode(noted) if noted else b""

    def _zone(self) -> str:
        return zone_of(self._link.call("HGET", keys.DOCUMENTS + fleet_day.KIND, fleet_day.NAME))

    def _alone(self, entry: _Packed) -> list[Answer]:
        try:
            return self._run([entry])
        except Unreadable as exc:
            log.error("%s", exc)
            return [Answer(UNREADABLE, words=words_of(exc))]

    def executed(self, task_ids: Sequence[str]) -> list[bool]:
        """Whether another program marked these as executed."""
        if not task_ids:
            return []
        return [mark is not None for mark in self._link.call("MGET", *map(keys.executed, task_ids))]

    def mark_executed(self, task_ids: Sequence[str]) -> None:
        """Write the projection of tasks that have ended."""
        marks = [keys.executed(task_id).encode() for task_id in task_ids]
        if marks:
            self._link.tell(b"".join(_MARK % (len(mark), mark) for mark in marks), len(marks))

    def _entries(self, ops: Sequence[Op]) -> Iterator[_Packed]:
        foreign = self._foreign(ops)
        for op in ops:
            if isinstance(op, Claim) and op.task_id in foreign and not op.foreign_done:
                yield op, ENCODER.encode(_claim(msgspec.structs.replace(op, foreign_done=True)))
            else:
                yield op, ENCODER.encode(_entry(op))

    def _foreign(self, ops: Sequence[Op]) -> set[str]:
        """Tasks to be claimed that carry an executed mark while their record has no outcome of ours."""
        ids = [op.task_id for op in ops if isinstance(op, Claim)]
        marked = [task_id for task_id, done in zip(ids, self.executed(ids), strict=True) if done]
        if not marked:
            return set()
        stored = self._link.call("MGET", *map(keys.task, marked))
        records = dict(zip(marked, map(read_record, stored), strict=True))
        return {task_id for task_id, task in records.items() if task is None or task.status not in TERMINAL}


def _check(ops: Sequence[Op]) -> None:
    """Refuse a batch with something in it that is no operation, before anything is changed.

    Raises:
        TaskError: the text names the type.
    """
    for op in ops:
        if type(op) not in _KNOWN:
            raise TaskError(f"{type(op).__name__} is not an operation of the store")


def _batches(entries: Iterator[_Packed]) -> Iterator[list[_Packed]]:
    """Lists of packed of entries, each list of at most 200 and hardly more than 4 MB."""
    batch: list[_Packed] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry[1])
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _listed(entries: Sequence[bytes]) -> bytes:
    """One msgpack array of values that are packed already."""
    return b"\xdc" + len(entries).to_bytes(2, "big") + b"".join(entries)


def _answers(reply: list[Any]) -> Iterator[Answer]:
    place = 1
    while place < len(reply):
        code, stored, released = reply[place : place + 3]
        place += 3
        others = [one for data in reply[place : place + released] if (one := read_record(data)) is not None]
        place += released
        task = read_record(stored)
        known = code.decode() if task is not None or not stored else UNREADABLE
        if not others:
            yield Answer(known, task)
            continue
        ended = tuple(one for one in others if one.status in TERMINAL)
        released = tuple(one for one in others if one.status not in TERMINAL) if ended else tuple(others)
        yield Answer(known, task, released, "", ended)
