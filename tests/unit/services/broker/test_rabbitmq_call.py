"""The answers of one call."""

from __future__ import annotations

from services.broker.rabbitmq.publisher import OK, Call
from services.domain.task.order import Order, Receipt

GONE = Receipt(False, "disconnected")


def order(**fields: str) -> Order:
    return Order(**{"kind": "work", "routing_key": "k", "body": b"{}", "message_id": "m"} | fields)  # type: ignore[arg-type]


def test_it_is_done_with_the_last_answer() -> None:
    call = Call([order(), order()], 0.0)
    call.slots[1].settle(OK)
    assert not call.done.is_set()
    call.slots[1].settle(GONE)
    call.slots[0].settle(Receipt(False, "nack"))
    assert call.done.is_set()
    assert call.receipts(GONE) == [Receipt(False, "nack"), OK]


def test_what_cannot_be_sent_is_answered_at_once_at_its_place() -> None:
    call = Call([order(), order(kind="gossip"), order()], 0.0)
    assert [slot.place for slot in call.slots] == [0, 2]
    assert call.receipts(GONE)[1].error.startswith("refused: unknown kind")
    only = Call([order(kind="gossip")], 0.0)
    assert only.done.is_set()


def test_giving_up_answers_only_what_is_open() -> None:
    call = Call([order(message_id=str(number)) for number in range(4)], 0.0)
    call.slots[0].settle(OK)
    call.give_up(GONE, lambda slot: slot.place == 2)
    assert call.receipts(Receipt(False, "?")) == [OK, Receipt(False, "?"), GONE, Receipt(False, "?")]
    call.give_up(GONE)
    assert call.done.is_set()
