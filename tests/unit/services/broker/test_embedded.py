"""What only the embedded broker has: a clock that tests turn, rows with owners, errors as receipts."""

from __future__ import annotations

import logging
import os
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services.broker.sqlite import broker as brokers
from services.broker.sqlite import consumer as consumers
from services.broker.sqlite import messages
from services.broker.sqlite.broker import EmbeddedBroker
from services.clock import ManualClock
from services.domain.errors import BrokerError, BrokerUnavailable
from services.domain.task.order import Order, Receipt
from services.store.sqlite.store import EmbeddedStore
from tests.contract.posts import collect, depth, order
from tests.contract.waiting import eventually

NOBODY = 2**22 + 1  #: above all numbers that processes have


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fleet.sqlite"


@pytest.fixture
def broker(path: Path, clock: ManualClock) -> Iterator[EmbeddedBroker]:
    opened = EmbeddedBroker(path, clock)
    opened.ensure(delays=[30, 60])
    yield opened
    opened.close()


def test_a_delay_runs_by_the_clock(broker: EmbeddedBroker, clock: ManualClock) -> None:
    consumer = broker.consumer(["normal"], window=5, name="c")
    broker.publish([order(1, delay_s=30)])
    assert consumer.take(5, 0.1) == []
    clock.advance(29)
    assert consumer.take(5, 0.0) == []
    assert {one.name: one.ready for one in broker.depths()}["rpa_delay_30s"] == 1
    clock.advance(1)
    assert depth(broker, "normal").ready == 1
    assert [delivery.message_id for delivery in consumer.take(5, 1.0)] == ["m1"]
    consumer.close()


def test_who_only_looks_does_not_wait_for_another_process_to_let_go(
    broker: EmbeddedBroker, path: Path, clock: ManualClock
) -> None:
    clock.advance(60)  # it is time to show that this process lives, which is written
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert depth(broker, "normal").ready == 0
        assert other.in_transaction


def test_what_is_declared_already_is_not_written_again(broker: EmbeddedBroker, path: Path) -> None:
    """Every command declares: one that only looks answers while another program keeps the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        broker.ensure(platforms=["pdd"], delays=[30, 60])
    broker.ensure(delays=[120, 60])
    assert {one.name for one in broker.depths() if one.kind == "delay"} == {
        "rpa_delay_30s",
        "rpa_delay_60s",
        "rpa_delay_120s",
    }


@pytest.mark.parametrize(
    ("key", "queue"),
    [
        ("task.pdd.high", "rpa_tasks_high"),
        ("task.x.low", "rpa_tasks_low"),
        ("task.pdd.shop7", "single_shop_shop7"),
        ("task..high", ""),
        ("other.pdd.high", ""),
        ("", ""),
    ],
)
def test_routing(key: str, queue: str) -> None:
    assert messages.queue_of(Order(kind="work", routing_key=key, body=b"", message_id="m")) == queue


def test_store_and_broker_share_one_writer(broker: EmbeddedBroker, path: Path, clock: ManualClock) -> None:
    store = EmbeddedStore(path, clock)
    assert store._file is broker._file
    store.close()
    assert broker.publish([order(1)]) == [Receipt(True)]


def test_a_message_that_went_to_others_is_counted(broker: EmbeddedBroker, path: Path) -> None:
    broker.publish([order(1), order(2)])
    consumer = broker.consumer(["normal"], window=5, name="c")
    got = collect(consumer, 2)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE messages SET owner = 0 WHERE message_id = 'm1'")
    consumer.ack(got)
    eventually(lambda: consumer.ack_lost == 1)
    assert depth(broker, "normal").ready == 1
    consumer.close()


@pytest.mark.parametrize(
    ("host", "pid", "silent_ms", "gone"),
    [
        (socket.gethostname(), NOBODY, 0, True),
        (socket.gethostname(), os.getpid(), 0, True),
        (socket.gethostname(), os.getppid(), 0, False),
        (socket.gethostname(), os.getppid(), 61_000, True),
        ("elsewhere", NOBODY, 0, False),
        ("elsewhere", NOBODY, 61_000, True),
    ],
    ids=["gone", "its_number_is_mine", "clock_was_set", "its_number_is_anothers", "away", "silent_away"],
)
def test_a_consumer_of_a_process_that_never_said_goodbye(
    broker: EmbeddedBroker, path: Path, clock: ManualClock, host: str, pid: int, silent_ms: int, gone: bool
) -> None:
    broker.publish([order(1)])
    row = (host, pid, clock.now_ms() - silent_ms)
    sql = (
        "INSERT INTO consumers (id, name, queues, host, pid, pid_started, beat_at) VALUES (77, 'x', '[]', ?, ?, 5.0, ?)"
    )
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(sql, row)
        conn.execute("UPDATE messages SET owner = 77")
    consumer = broker.consumer(["normal"], window=5, name="c")
    assert [delivery.redelivered for delivery in consumer.take(1, 0.2)] == ([True] if gone else [])
    consumer.close()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT count(*) FROM consumers").fetchone() == (0 if gone else 1,)


def test_after_the_clock_was_set_ahead_who_lives_has_a_turn_to_show_it(
    broker: EmbeddedBroker, path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept() -> list[tuple[int]]:
        broker.depths()
        with closing(sqlite3.connect(path)) as conn:
            return list(conn.execute("SELECT id FROM consumers"))

    monkeypatch.setattr(brokers, "LOOK_AFTER_S", 0.0)
    sql = (
        "INSERT INTO consumers (id, name, queues, host, pid, pid_started, beat_at) VALUES (77, 'x', '[]', 'b', 1, 5, ?)"
    )
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(sql, (clock.now_ms(),))
    assert kept() == [(77,)]
    clock.advance(3600)
    assert kept() == [(77,)]
    assert kept() == []


def test_what_cannot_be_stored_is_not_confirmed(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(conn: sqlite3.Connection, rows: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(messages, "put", fail)
        receipts = broker.publish([order(1), Order(kind="work", routing_key="x", body=b"", message_id="m")])
    assert receipts == [Receipt(False, "refused: database or disk is full"), Receipt(False, "unroutable")]
    assert not broker.health().connected
    assert broker.publish([order(1)]) == [Receipt(True)]
    assert broker.health().connected


@pytest.mark.skipif(sys.platform == "win32", reason="no file in use is moved there")
def test_what_is_given_back_while_the_file_is_away_can_be_taken_when_it_is_back(
    broker: EmbeddedBroker, path: Path
) -> None:
    consumer = broker.consumer(["normal"], window=5, name="c")
    broker.publish([order(1)])
    got = consumer.take(1, 1.0)
    away = path.rename(path.with_suffix(".away"))
    consumer.requeue(got)
    assert broker.publish([order(2)]) == [Receipt(False, "disconnected")], "to be sent as it is, later"
    assert "was moved or removed" in broker.health().error
    assert consumer.take(1, 0.1) == []
    away.rename(path)
    assert [one.message_id for one in eventually(lambda: consumer.take(1, 1.0))] == ["m1"]
    consumer.close()
    assert (depth(broker, "normal").ready, depth(broker, "normal").unacked) == (1, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="no file in use is moved there")
def test_a_file_that_is_away_is_logged_once_and_told_what_was_settled_when_it_gives_again(
    broker: EmbeddedBroker, path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, consumers.__name__)
    monkeypatch.setattr(consumers, "AGAIN_S", 3600.0)
    monkeypatch.setattr(consumers, "AGAIN_MOST_S", 3600.0)
    consumer = broker.consumer(["normal"], window=5, name="c")
    broker.publish([order(1), order(2)])
    got = consumer.take(1, 1.0)

    def heard() -> list[str]:
        told = [one.getMessage().partition(":")[0] for one in caplog.records if one.name == consumers.__name__]
        caplog.clear()
        return [one for one in told if one]

    away = path.rename(path.with_suffix(".away"))
    consumer.ack(got)
    assert [consumer.take(1, 0.05) for _ in range(4)] == [[]] * 4
    assert sorted(heard()) == [
        "1 messages of consumer 1 are settled later", "consumer 1 can take nothing now",
    ]  # fmt: skip
    away.rename(path)
    assert [one.message_id for one in consumer.take(1, 5.0)] == ["m2"]
    assert heard() == ["consumer 1 can take again"]
    eventually(lambda: depth(broker, "normal").unacked == 1)
    consumer.close()
    assert (depth(broker, "normal").ready, depth(broker, "normal").unacked) == (1, 0), "the first is settled, once"
    assert consumer.ack_lost == 0


def test_a_closed_broker_is_unavailable(broker: EmbeddedBroker) -> None:
    broker.close()
    with pytest.raises(BrokerUnavailable):
        broker.consumer(["normal"], window=1, name="c")
    with pytest.raises(BrokerUnavailable):
        broker.depths()
    assert not broker.health().connected


def test_what_is_no_database_is_named(path: Path, clock: ManualClock) -> None:
    path.write_bytes(b"nonsense " * 1000)
    with pytest.raises(BrokerError, match="no database"):
        EmbeddedBroker(path, clock)


def test_closing_the_broker_closes_its_consumers(broker: EmbeddedBroker, path: Path) -> None:
    broker.publish([order(1)])
    consumer = broker.consumer(["normal"], window=5, name="c")
    collect(consumer, 1)
    broker.close()
    assert consumer.take(1, 0.0) == []
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT owner, redelivered FROM messages").fetchall() == [(0, 1)]
