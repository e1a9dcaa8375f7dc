"""The audit on both pairs: whatever is done to a row, by whoever can write to the store, is found and named."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis

from services import assembly, diagnosis
from services.audit_witness import Witness
from services.commands.audit import Audit
from services.domain import audit
from services.domain.audit import AuditEntry, Link
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.insight.audit import (
    ALTERED,
    INSERTED,
    REMOVED,
    REORDERED,
    TAIL_CUT,
    UNREADABLE,
    WRITER_GONE,
    Verdict,
)
from services.engine.audit_check import check
from services.store.redis import keys
from tests.integration.fleet_rig import Fleet

WHO = ("ann@desk-01", "ben@desk-02", "cleo@desk-03")
ROWS = 50
PACK, UNPACK = msgspec.msgpack.encode, msgspec.msgpack.decode


@dataclass(frozen=True)
class Raw:
    """A row as it lies in the store."""

    key: str
    data: bytes
    outcome: str
    closed_at: int
    ending: bytes | None

    @property
    def entry(self) -> AuditEntry:
        return msgspec.msgpack.decode(self.data, type=AuditEntry)

    def with_data(self, change: Callable[[dict[str, Any]], None]) -> Raw:
        found = UNPACK(self.data)
        change(found)
        return dataclasses.replace(self, data=PACK(found))

    def with_ending(self, change: Callable[[dict[str, Any]], None]) -> Raw:
        assert self.ending is not None
        found = UNPACK(self.ending)
        change(found)
        return dataclasses.replace(self, ending=PACK(found))


class Hand:
    """Somebody who can write to the store, past every program."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.store = fleet, fleet.engine.store
        self.open: Any = None  #: an act that nobody ends

    def read(self) -> tuple[list[Raw], list[str]]:
        """All rows in their order, and the heads."""
        if self.fleet.kind == "embedded":
            with closing(sqlite3.connect(self.fleet.settings.database)) as db:
                rows = db.execute("SELECT entry_id, data, outcome, closed_at, ending FROM audit ORDER BY id").fetchall()
                heads = [mark for (mark,) in db.execute("SELECT mark FROM audit_heads")]
            return [Raw(*row) for row in rows], heads
        with closing(redis.Redis.from_url(self.fleet.settings.store.url)) as server:
            found = []
            for name in server.zrange(keys.AUDIT_ORDER, 0, -1):
                closed = server.hget(keys.AUDIT_CLOSED, name)
                outcome, at = UNPACK(closed) if closed else ("", 0)
                data, ending = server.hget(keys.AUDIT, name), server.hget(keys.AUDIT_ENDS, name)
                found.append(Raw(name.decode(), data, outcome, at, ending))
            return found, [mark.decode() for mark in server.smembers(keys.AUDIT_HEADS)]

    def write(self, rows: Sequence[Raw], heads: Sequence[str]) -> None:
        """These and no others."""
        if self.fleet.kind == "embedded":
            with closing(sqlite3.connect(self.fleet.settings.database, timeout=30)) as db, db:
                db.execute("PRAGMA synchronous=OFF")
                db.execute("DROP TRIGGER IF EXISTS audit_is_append_only")
                db.execute("DROP TRIGGER IF EXISTS audit_is_closed_once")
                db.execute("DELETE FROM audit")
                db.execute("DELETE FROM audit_heads")
                sql = "INSERT INTO audit (entry_id, data, outcome, closed_at, ending) VALUES (?, ?, ?, ?, ?)"
                db.executemany(sql, [dataclasses.astuple(row) for row in rows])
                db.executemany("INSERT INTO audit_heads VALUES (?)", [(mark,) for mark in heads])
            return
        with closing(redis.Redis.from_url(self.fleet.settings.store.url)) as server, server.pipeline() as pipe:
            pipe.delete(keys.AUDIT, keys.AUDIT_ORDER, keys.AUDIT_CLOSED, keys.AUDIT_ENDS, keys.AUDIT_HEADS)
            for place, row in enumerate(rows):
                pipe.hset(keys.AUDIT, row.key, row.data)
                pipe.zadd(keys.AUDIT_ORDER, {row.key: place})
                if row.outcome or row.closed_at:
                    pipe.hset(keys.AUDIT_CLOSED, row.key, PACK((row.outcome, row.closed_at)))
                if row.ending is not None:
                    pipe.hset(keys.AUDIT_ENDS, row.key, row.ending)
            if heads:
                pipe.sadd(keys.AUDIT_HEADS, *heads)
            pipe.execute()

    def judged(self, rows: Sequence[Raw], heads: Sequence[str], witness: Witness | None = None) -> Verdict:
        self.write(rows, heads)
        return check(self.store, witness)


@pytest.fixture
def hand(fleet: Fleet) -> Hand:
    """A trail of fifty rows by three writers, some of them at once, one of them refused, one without an end."""
    store = fleet.engine.store
    writers = [Audit(store, who) for who in WHO]
    for number in range(ROWS - 4):
        with writers[number % 3].act("task.cancel", [f"t{number}"], {"n": number}) as act:
            act.counted(1, number % 2)
    with writers[0].act("shop.pause", ["pdd:s1"]), writers[1].act("shop.pause", ["pdd:s2"]):
        pass
    with pytest.raises(UsageError), writers[2].act("shop.pause", ["pdd:s3"]):
        raise UsageError("no")
    found = Hand(fleet)
    found.open = writers[0].act("shop.resume", ["pdd:s1"])
    found.open.__enter__()
    assert len(store.audit(1000)) == ROWS
    return found


def names(found: Verdict) -> set[str]:
    return {one.entry_id for one in found.wrong}


def kinds(found: Verdict) -> set[str]:
    return {one.what for one in found.wrong}


def test_what_nobody_touched_is_as_it_was_written(hand: Hand) -> None:
    rows, heads = hand.read()
    assert len(heads) == 1, "everything but the very last link is named by another"
    found = hand.judged(rows, heads)
    assert (found.ok, found.rows, found.writers, found.before, found.whole) == (True, ROWS, 3, 0, True)
    assert check(hand.store, newest=20).ok
    assert not check(hand.store, newest=20).whole


def test_each_row_that_is_removed_is_missed(hand: Hand) -> None:
    rows, heads = hand.read()
    for at, row in enumerate(rows):
        found = hand.judged([*rows[:at], *rows[at + 1 :]], heads)
        assert row.key in names(found), (at, found)
        assert kinds(found) <= {REMOVED, TAIL_CUT}
    hand.write(rows, heads)
    assert check(hand.store).ok


def test_a_cut_tail_and_a_writer_that_is_gone_are_missed(hand: Hand) -> None:
    rows, heads = hand.read()
    for who in WHO:
        mine = [row.key for row in rows if row.entry.who == who]
        for count in (1, 2, 5, len(mine)):
            gone = set(mine[-count:])
            found = hand.judged([row for row in rows if row.key not in gone], heads)
            assert names(found) & gone, (who, count)
            assert (WRITER_GONE if count == len(mine) else TAIL_CUT) in kinds(found), (who, count, found)
    for count in (1, 2, 7, ROWS - 1, ROWS):
        assert not hand.judged(rows[: ROWS - count], heads).ok, count
        assert not hand.judged(rows[count:], heads).ok, count


def fields(row: Raw) -> Iterator[tuple[str, Raw]]:
    """The row with each of its fields altered in turn."""

    def put(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
        return lambda found: found.update({name: value})

    def link(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
        return lambda found: found["link"].update({name: value})

    entry = row.entry
    assert entry.link is not None
    other = f"{entry.at:013d}-abcdefabcdef-000001"
    altered: dict[str, Any] = {"entry_id": other, "at": entry.at + 1, "who": "eve@desk", "action": "x"}
    altered |= {"target": ["t999"], "detail": '{"n": 99}', "previous": "0" * 64, "digest": "0" * 64, "link": None}
    altered |= {"outcome": "done: x", "closed_at": 7}
    for name, value in altered.items():
        yield name, row.with_data(put(name, value))
    for name, value in (
        ("number", entry.link.number + 1), ("seen", []), ("unsure", ["x"]), ("digest", "0" * 64),
    ):  # fmt: skip
        if not (name == "seen" and not entry.link.seen):
            yield f"link.{name}", row.with_data(link(name, value))
    yield "key", dataclasses.replace(row, key=other)
    yield "bytes", dataclasses.replace(row, data=b"\xc1")
    if row.ending is None:
        yield "outcome", dataclasses.replace(row, outcome="done", closed_at=entry.at)
        return
    yield "outcome", dataclasses.replace(row, outcome="refused: made up")
    yield "closed_at", dataclasses.replace(row, closed_at=row.closed_at + 1)
    yield "no seal", dataclasses.replace(row, ending=None)
    yield "no outcome", dataclasses.replace(row, outcome="", closed_at=0)
    yield "no end", dataclasses.replace(row, outcome="", closed_at=0, ending=None)
    yield "seal bytes", dataclasses.replace(row, ending=b"\xc1")
    for name, value in (("number", 99), ("seen", []), ("unsure", ["x"]), ("digest", "0" * 64)):
        yield f"end.{name}", row.with_ending(put(name, value))


@pytest.mark.timeout(300)  # a thousand judgements of the whole chain
def test_each_field_of_each_row_that_is_altered_is_found(hand: Hand) -> None:
    rows, heads = hand.read()
    for at, row in enumerate(rows):
        if at % 4 and 3 < at < ROWS - 5:
            continue  # they are all alike, and each writer has its turn
        for name, changed in fields(row):
            found = hand.judged([*rows[:at], changed, *rows[at + 1 :]], heads)
            assert names(found) & {row.key, changed.key}, (at, name, found)


def test_an_altered_row_with_a_seal_that_fits_is_found(hand: Hand) -> None:
    """Whoever knows how the seals are made."""
    rows, heads = hand.read()
    for at, row in enumerate(rows):
        entry = msgspec.structs.replace(row.entry, who="eve@desk")
        assert entry.link is not None
        digest = audit.opening(entry, entry.link)
        entry = msgspec.structs.replace(entry, digest=digest, link=msgspec.structs.replace(entry.link, digest=digest))
        ending = row.ending
        if ending is not None:
            end = msgspec.msgpack.decode(ending, type=Link)
            sealed = audit.ending(entry, row.outcome, row.closed_at, end)
            ending = PACK(msgspec.structs.replace(end, digest=sealed))
        changed = dataclasses.replace(row, data=PACK(entry), ending=ending)
        found = hand.judged([*rows[:at], changed, *rows[at + 1 :]], heads)
        assert row.key in names(found), (at, found)
        assert ALTERED in kinds(found)


def test_rows_that_change_places_are_found(hand: Hand) -> None:
    rows, heads = hand.read()
    for at in range(ROWS - 1):
        for to in {at + 1, (at * 7 + 3) % ROWS} - {at}:
            swapped = list(rows)
            swapped[at], swapped[to] = swapped[to], swapped[at]
            found = hand.judged(swapped, heads)
            assert kinds(found) == {REORDERED}, (at, to, found)


def test_rows_whose_contents_change_places_are_found(hand: Hand) -> None:
    rows, heads = hand.read()
    for at in range(ROWS - 1):
        changed = list(rows)
        changed[at] = dataclasses.replace(rows[at + 1], key=rows[at].key)
        changed[at + 1] = dataclasses.replace(rows[at], key=rows[at + 1].key)
        assert names(hand.judged(changed, heads)) & {rows[at].key, rows[at + 1].key}, at


def test_a_row_that_is_put_in_is_found(hand: Hand) -> None:
    rows, heads = hand.read()
    for at, row in enumerate(rows):
        copy = f"{row.entry.at:013d}-abcdefabcdef-000001"
        for data in (row.data, row.with_data(lambda found, name=copy: found.update(entry_id=name)).data):  # type: ignore[misc]
            found = hand.judged(
                [*rows[: at + 1], dataclasses.replace(row, key=copy, data=data), *rows[at + 1 :]], heads
            )
            assert copy in names(found), (at, found)
    entry = AuditEntry(
        entry_id=f"{rows[-1].entry.at:013d}-abcdefabcdef-000001", at=rows[-1].entry.at, who="x", action="y"
    )
    old = Raw(entry.entry_id, PACK(entry), "done", entry.at, None)
    assert kinds(hand.judged([*rows, old], heads)) == {INSERTED}, "as an older program would have written it"
    link = Link(number=1, seen=tuple(heads))
    digest = audit.opening(entry, link)
    sealed = msgspec.structs.replace(entry, digest=digest, link=msgspec.structs.replace(link, digest=digest))
    forged = Raw(entry.entry_id, PACK(sealed), "", 0, None)
    assert kinds(hand.judged([*rows, forged], heads)) == {INSERTED}, "with a seal that fits"


def test_the_list_of_heads_is_watched_too(hand: Hand) -> None:
    rows, heads = hand.read()
    assert not hand.judged(rows, []).ok
    assert not hand.judged(rows, [*heads, "nonsense"]).ok
    invented = audit.Mark(f"{1:013d}-abcdefabcdef-000001", 1, "0" * 64)
    assert kinds(hand.judged(rows, [*heads, str(invented)])) == {WRITER_GONE}


def test_only_a_machine_that_saw_it_misses_what_is_gone_with_its_heads(hand: Hand, tmp_path: Path) -> None:
    """The limit: the last links and their heads, or everything, written anew."""
    rows, heads = hand.read()
    witness = Witness(tmp_path / "elsewhere", "store")
    assert check(hand.store, witness).ok
    assert witness.marks() == heads
    last = rows[-1].entry
    assert last.link is not None
    shorter, before = rows[:-1], list(last.link.seen[-1:])
    assert hand.judged(shorter, before).ok, "nobody can know"
    found = hand.judged(shorter, before, witness)
    assert [(one.what, one.entry_id, one.told_by) for one in found.wrong] == [(TAIL_CUT, rows[-1].key, "machine")]
    assert hand.judged([], []).ok
    assert kinds(hand.judged([], [], witness)) == {WRITER_GONE}


def test_what_was_done_here_is_missed_here_though_nobody_had_looked_at_it_yet(fleet: Fleet, tmp_path: Path) -> None:
    trail, hand = assembly.queries(fleet.engine).audit, Hand(fleet)
    fleet.commands().fleet.pause("all")
    rows, heads = hand.read()
    hand.write([], [])
    assert check(fleet.engine.store).ok, "nobody else can know of it"
    assert not trail.verify().ok
    hand.write(rows, heads)
    assert trail.verify().ok
    witness = Witness(tmp_path / "other", "store")
    with Audit(fleet.engine.store, "ben@desk-02", witness).act("pause", ["all"]):
        assert not hand.judged(rows, heads, witness).ok, "also what is under way"


def test_a_machine_whose_memory_was_removed_says_so(fleet: Fleet) -> None:
    trail, home = assembly.queries(fleet.engine).audit, fleet.settings.home_path
    assert (trail.verify().seen_since, trail.verify().sight_lost) == (0, False), "nothing was done yet"
    fleet.commands().fleet.pause("all")
    seen = trail.verify()
    assert seen.seen_since == fleet.engine.store.audit(1)[0].at
    assert not seen.sight_lost
    (home / "audit" / f"{fleet.settings.store_mark}.seen").unlink()
    fleet.commands().fleet.resume("all")
    found = trail.verify()
    assert (found.ok, found.sight_lost) == (True, True)
    assert found.seen_since > seen.seen_since
    assert "doctor.audit_sight" in seen_by_doctor(fleet)


def test_what_an_older_program_wrote_is_from_before_the_chain(hand: Hand) -> None:
    rows, heads = hand.read()
    previous, old = "", []
    for number in range(1, 4):
        entry = AuditEntry(
            entry_id=f"{number:013d}-00ff00ff00ff-{number:06d}", at=number, who="ann@desk", action="task.cancel",
            target=("t1",), detail="{}", previous=previous,
        )  # fmt: skip
        entry = msgspec.structs.replace(entry, digest=audit.before_chain(entry))
        fields_then = {name: value for name, value in msgspec.to_builtins(entry).items() if name not in ("link", "end")}
        old.append(Raw(entry.entry_id, PACK(fields_then), "done", number, None))
        previous = entry.digest
    found = hand.judged([*old, *rows], heads)
    assert (found.ok, found.before, found.rows) == (True, 3, ROWS + 3)
    assert [one.who for one in hand.store.audit(100)][-3:] == ["ann@desk"] * 3
    altered = old[1].with_data(lambda found: found.update(who="eve"))
    assert names(hand.judged([old[0], altered, old[2], *rows], heads)) == {old[1].key}
    assert kinds(hand.judged([old[0], old[2], *rows], heads)) == {REMOVED}
    assert kinds(hand.judged([*rows[:3], *old, *rows[3:]], heads)) == {INSERTED}


def test_what_cannot_be_read_stops_nobody(hand: Hand) -> None:
    rows, heads = hand.read()
    broken = [dataclasses.replace(rows[0], data=b"\xc1"), *rows[1:-1], dataclasses.replace(rows[-1], data=b"")]
    found = hand.judged(broken, heads)
    assert {one.entry_id for one in found.wrong if one.what == UNREADABLE} == {rows[0].key, rows[-1].key}
    assert len(hand.store.audit(100)) == ROWS - 2
    with Audit(hand.store, "ann").act("x", []):
        pass
    assert hand.store.audit(1)[0].action == "x"


def test_writers_at_once_do_not_accuse_each_other(fleet: Fleet) -> None:
    store = fleet.engine.store

    def write(who: str) -> None:
        mine = Audit(fleet.open().store, who)
        for number in range(25):
            with mine.act("task.cancel", [f"t{number}"]):
                pass

    with ThreadPoolExecutor(4) as pool:
        ends = [pool.submit(write, f"p{number}@desk") for number in range(4)]
        while not all(end.done() for end in ends):
            assert check(store).ok, check(store).wrong
        for end in ends:
            end.result()
    found = check(store)
    assert (found.ok, found.rows, found.writers) == (True, 100, 4)
    assert len(store.audit_heads()) <= 4


@pytest.mark.parametrize("written", [True, False])
def test_a_reply_that_is_lost_is_no_fault(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, written: bool) -> None:
    store = fleet.engine.store
    mine, other = Audit(store, "ann"), Audit(store, "ben")
    with mine.act("a", []):
        pass

    def lost(real: Callable[..., None]) -> Callable[..., None]:
        def call(*words: Any) -> None:
            if written:
                real(*words)
            raise StoreUnavailable("the reply was lost")

        return call

    for name in ("append_audit", "close_audit"):
        with monkeypatch.context() as patched:
            patched.setattr(store, name, lost(getattr(store, name)))
            if name == "append_audit":
                with pytest.raises(StoreUnavailable), mine.act("b", []):
                    raise AssertionError("without the entry there is no act")
            else:
                with mine.act("c", []):
                    pass
        with other.act("x", []):
            pass
        assert check(store).ok
        with mine.act("d", []):
            pass
        assert check(store).ok, check(store).wrong
    told = {(one.action, one.outcome.partition(":")[0]) for one in store.audit(100) if one.who == "ann"}
    assert told == {("a", "done"), ("d", "done"), ("c", "done" if written else "")} | (
        {("b", "failed")} if written else set()
    )


def test_a_crash_in_between_leaves_an_outcome_that_nobody_knows(hand: Hand) -> None:
    now = hand.store.now_ms()
    (entry,) = [one for one in hand.store.audit(100) if not one.outcome]
    assert audit.state(entry, now) == "open"
    assert audit.state(entry, now + audit.UNKNOWN_MS) == "unknown"
    assert check(hand.store).ok


def seen_by_doctor(fleet: Fleet) -> set[str]:
    return {one.message.code for one in diagnosis.examine(fleet.settings).findings}


def test_the_doctor_and_the_command_find_it_and_an_admin_may_accept_it(hand: Hand) -> None:
    engine = hand.fleet.engine
    commands, queries = assembly.commands(engine), assembly.queries(engine)
    assert queries.audit.verify().ok
    with pytest.raises(UsageError, match="nothing is wrong"):
        commands.audit.accept(note="a backup")
    rows, heads = hand.read()
    hand.write([*rows[:9], *rows[10:]], heads)
    found = queries.audit.verify()
    assert rows[9].key in names(found)
    assert "doctor.audit_wrong" in seen_by_doctor(hand.fleet)
    with pytest.raises(UsageError, match="say why"):
        commands.audit.accept(note=" ")
    commands.audit.accept(note="the backup of Monday")
    after = queries.audit.verify()
    assert after.ok
    assert {"doctor.audit", "doctor.audit_accepted"} <= seen_by_doctor(hand.fleet)
    assert {one.name for one in after.accepted} == {one.name for one in found.wrong}
    rows, heads = hand.read()
    assert names(hand.judged([*rows[:20], *rows[21:]], heads)) == {rows[20].key}, "what is new is told"
