"""The log beside the dead queue gets each letter once, however often the queue refuses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel
from tests.integration.rabbitmq_rig import vhost
from tests.support.rabbit_cluster import NODES
from tests.support.services import RabbitMQ

pytestmark = [
    pytest.mark.parametrize(
        "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
    )
]


def copies(fleet: Fleet) -> list[str]:
    """Ids of the letters in the log, in their order."""
    found: list[str] = []
    consumer = fleet.engine.broker.dead_log(name="test")
    assert consumer is not None
    try:
        while batch := consumer.take(100, 1.0):
            found += [one.message_id for one in batch]
    finally:
        consumer.close()
    return found


@contextmanager
def full_dead_queue(fleet: Fleet, rabbitmq: RabbitMQ) -> Iterator[Callable[[], Any]]:
    """RabbitMQ refuses every letter, until what this gives is called."""
    url = fleet.settings.broker.url
    place = f"/api/policies/{vhost(url)}/full"
    most = 1 if NODES == 1 else 0  # a quorum queue refuses only what comes when it has more than that
    body = {"pattern": "^rpa_dead_queue$", "definition": {"max-length": most, "overflow": "reject-publish"}}
    rabbitmq.api("PUT", place, body | {"apply-to": "queues"})
    with channel(url) as raw:
        raw.confirm_delivery()
        raw.basic_publish("", "rpa_dead_queue", b"{}")
        yield lambda: rabbitmq.api("DELETE", place)


def test_a_queue_that_refuses_its_letters_does_not_fill_the_log(fleet: Fleet, rabbitmq: RabbitMQ) -> None:
    with full_dead_queue(fleet, rabbitmq) as allow:
        fleet.worker()
        ids = [fleet.create(f"s{n}", fail="missing_secret") for n in range(3)]
        fleet.wait_ended(ids)
        reconciler = fleet.reconciler()
        for _ in range(10):
            reconciler.republish_outbox()
        assert len(fleet.engine.store.outbox(0, 100)) == 3, "the queue has not taken them"
        assert sorted(copies(fleet)) == sorted(ids)
        allow()

        def sent() -> bool:
            reconciler.republish_outbox()
            return not fleet.engine.store.outbox(0, 100)

        eventually(sent, 30)
    fleet.archiver()
    for name in ids:
        letter = eventually(lambda name=name: fleet.engine.store.get_letter(name), 30)
        assert letter.error_kind == "missing_secret"
    assert sorted(copies(fleet)) == sorted(ids)
    assert not fleet.engine.store.documents("letter_out")


def test_a_letter_that_was_not_sent_keeps_its_second_copy(fleet: Fleet) -> None:
    """Nothing takes it, so nothing has it."""
    url = fleet.settings.broker.url
    with channel(url) as raw:
        raw.exchange_delete("rpa_dlx_exchange")
        task_id = fleet.create("s1", fail="missing_secret")
        fleet.worker()
        fleet.wait_ended([task_id])
        reconciler = fleet.reconciler(outbox_age_ms=3_000)  # the worker is not at it any more

        def sent() -> bool:
            reconciler.republish_outbox()
            return not fleet.engine.store.outbox(0, 100)

        eventually(sent, 30)
    assert copies(fleet) == [task_id]


def test_what_is_no_task_comes_to_the_log_once_too(
    fleet: Fleet, rabbitmq: RabbitMQ, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays in its lane while the queue refuses it, and is taken up again and again."""
    with full_dead_queue(fleet, rabbitmq) as allow:
        fleet.worker()
        fleet.publish(b"no task at all")
        often = 5 if NODES == 1 else 1  # what a queue of several nodes refuses is asked of it again before that is said
        eventually(lambda: caplog.text.count("stays in its queue") > often, 30)
        allow()
        eventually(lambda: fleet.ready("rpa_dead_queue") == 2, 30)
    assert len(copies(fleet)) == 1
