"""Assembly: settings to drivers to engine; what cannot be opened says which part and leaves nothing open."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from services.clock import ManualClock
from services.domain.change import Create
from services.domain.errors import BrokerUnavailable, StoreUnavailable, UsageError
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.posts import order
from tests.support.services import free_port


@pytest.fixture
def settings(tmp_path: Path) -> config.Settings:
    return config.Settings(home=str(tmp_path))


@pytest.fixture
def engine(settings: config.Settings) -> Iterator[assembly.Engine]:
    made = assembly.open_engine(settings)
    yield made
    made.close()


def test_the_embedded_engine_needs_nothing_but_a_folder(engine: assembly.Engine, settings: config.Settings) -> None:
    assert settings.database.exists()
    assert {"sync_order", "batch_reply"} <= set(engine.registry.types())
    assert {depth.name for depth in engine.broker.depths()} >= {"rpa_tasks_high", "rpa_delay_30s", "rpa_dead_queue"}


def test_types_are_seeded_once_and_what_an_admin_wrote_stays(engine: assembly.Engine) -> None:
    assert assembly.seed_types(engine.store) == 0
    engine.store.put_document("type", "sync_order", '{"name": "sync_order", "timeout_s": 5, "version": 9}')
    assert assembly.seed_types(engine.store) == 0
    engine.registry.forget()
    assert engine.registry.task_type("sync_order").version == 9


def test_a_second_process_on_the_same_file_sees_the_same(engine: assembly.Engine, settings: config.Settings) -> None:
    engine.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    other = assembly.open_engine(settings)
    try:
        assert set(other.registry.shops()) == {"pdd:s1"}
        assert other.name != engine.name
    finally:
        other.close()


def test_what_is_delayed_becomes_due_after_a_clock_was_set_back(settings: config.Settings) -> None:
    """Three hours ahead, the clock left its instants in the file: they are of every program that opens it later."""
    wrong, right = ManualClock(1_795_010_800_000), ManualClock(1_795_000_000_000)
    for clock in (wrong, right):
        store, broker = assembly.drivers(settings, clock)
        with closing(store), closing(broker):
            broker.ensure(delays=[30])
            if clock is wrong:
                store.apply([Create(task=Task(
                    task_id="a", platform="pdd", shop_id="s1", task_type="sync_order", payload="{}", origin="cli",
                    created_by="ann", status=Status.SCHEDULED, due_at=wrong.now_ms() + 30_000,
                ))])  # fmt: skip
                broker.publish([order(1, delay_s=30)])
                continue
            clock.advance(61)
            assert [task.task_id for task in store.due(5)] == ["a"]
            with closing(broker.consumer(["normal"], window=5, name="c")) as consumer:
                assert [one.message_id for one in consumer.take(5, 0.1)] == ["m1"]


def test_settings_reach_their_parts(tmp_path: Path) -> None:
    retry = config.RetrySettings(base_seconds=2, cap_seconds=8, max_retries=1)
    engine = assembly.open_engine(config.Settings(home=str(tmp_path), retry=retry))
    try:
        assert engine.policy.delay(5) == 8
        assert engine.registry.task_type("anything").max_retries == 1
    finally:
        engine.close()


def test_commands_and_queries_stand_on_the_same_engine(engine: assembly.Engine) -> None:
    commands, queries = assembly.commands(engine), assembly.queries(engine)
    assert commands.operator.role == "admin"
    assert queries.tasks.page("").total == 0
    assert queries.causes.causes().total == 0
    history = assembly.history(engine)
    history.close()


def test_no_thread_is_left_when_the_engine_is_closed(settings: config.Settings) -> None:
    before = set(threading.enumerate())
    engine = assembly.open_engine(settings)
    assembly.queries(engine).tasks.page("")
    engine.close()
    engine.close()
    assert set(threading.enumerate()) <= before


def test_nobody_at_the_address_of_the_fleet(tmp_path: Path) -> None:
    nobody = free_port()
    before = set(threading.enumerate())
    settings = config.Settings(
        home=str(tmp_path),
        broker=config.BrokerSettings(url=f"amqp://127.0.0.1:{nobody}"),
        store=config.StoreSettings(url=f"redis://127.0.0.1:{nobody}"),
    )
    with pytest.raises((StoreUnavailable, BrokerUnavailable), match=str(nobody)):
        assembly.open_engine(settings)
    assert set(threading.enumerate()) <= before


def test_an_address_that_is_none(tmp_path: Path) -> None:
    settings = config.Settings(
        home=str(tmp_path),
        broker=config.BrokerSettings(url="http://localhost"),
        store=config.StoreSettings(url="redis://localhost"),
    )
    with pytest.raises(UsageError, match="amqp://"):
        assembly.open_engine(settings)


def test_probing_says_what_answers_and_changes_nothing() -> None:
    nobody = free_port()
    settings = config.Settings(
        broker=config.BrokerSettings(
            url=f"amqp://user:secret@127.0.0.1:{nobody}", management_url=f"http://127.0.0.1:{nobody}"
        ),
        store=config.StoreSettings(url=f"redis://:secret@127.0.0.1:{nobody}"),
    )
    answers = assembly.probe(settings)
    assert [(answer.part, answer.ok) for answer in answers] == [
        ("broker", False),
        ("store", False),
        ("management", False),
    ]
    assert all(answer.words and "secret" not in answer.words for answer in answers)
