"""Book-keeping of deliveries against a model of the broker's own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.broker.rabbitmq.ledger import Ledger, Settle, Token, Verb
from services.domain.task.order import Delivery

QUEUES = ("high", "low")


def delivery(ledger: Ledger, tag: int, queue: str = "high", source: int = 1) -> Delivery:
    made = Delivery(token=Token(ledger.epoch, 1, tag, source), queue=queue, body=b"")
    ledger.receive(tag, made)
    return made


def filled(count: int) -> tuple[Ledger, list[Delivery]]:
    ledger = Ledger(QUEUES)
    ledger.begin()
    return ledger, [delivery(ledger, tag) for tag in range(1, count + 1)]


def test_all_from_the_oldest_on_leave_in_one_frame() -> None:
    ledger, items = filled(5)
    ledger.settle(items[:3], Verb.ACK)
    assert ledger.unacked == 2
    assert ledger.plan() == [Settle(Verb.ACK, 3, True)]
    ledger.settle(items[3:4], Verb.ACK)
    assert ledger.plan() == [Settle(Verb.ACK, 4, False)]
    assert ledger.plan() == []


def test_behind_an_open_one_each_leaves_alone() -> None:
    ledger, items = filled(5)
    ledger.settle([items[4], items[2], items[1]], Verb.ACK)
    assert ledger.plan() == [Settle(Verb.ACK, tag, False) for tag in (2, 3, 5)]
    ledger.settle([items[0], items[3]], Verb.ACK)
    assert ledger.plan() == [Settle(Verb.ACK, 4, True)], "two, three and five are gone already"


def test_acks_and_returns_take_turns() -> None:
    ledger, items = filled(6)
    ledger.settle([items[0], items[1], items[4]], Verb.ACK)
    ledger.settle([items[2], items[3]], Verb.BACK)
    assert ledger.plan() == [Settle(Verb.ACK, 2, True), Settle(Verb.BACK, 4, True), Settle(Verb.ACK, 5, False)]


def test_the_first_decision_counts() -> None:
    ledger, items = filled(1)
    ledger.settle(items, Verb.ACK)
    ledger.settle(items, Verb.BACK)
    assert ledger.plan() == [Settle(Verb.ACK, 1, False)]
    ledger.settle(items, Verb.BACK)
    assert ledger.plan() == []
    assert (ledger.unacked, ledger.ack_lost) == (0, 0)


def test_an_older_channels_deliveries_are_lost_not_settled() -> None:
    ledger, items = filled(3)
    ledger.take(1)
    ledger.begin()
    assert (ledger.unacked, ledger.ready) == (0, 0)
    again = delivery(ledger, 1)
    ledger.settle(items, Verb.ACK)
    assert ledger.ack_lost == 3
    assert ledger.plan() == []
    ledger.settle([again], Verb.ACK)
    assert ledger.plan() == [Settle(Verb.ACK, 1, False)]


def test_the_urgent_queue_is_taken_first() -> None:
    ledger = Ledger(QUEUES)
    ledger.begin()
    for tag, queue in enumerate(["low", "high", "low", "high"], 1):
        delivery(ledger, tag, queue)
    assert [item.token.tag for item in ledger.take(3) if isinstance(item.token, Token)] == [2, 4, 1]
    assert ledger.ready == 1
    assert ledger.unacked == 4


def test_untaken_ones_return_but_for_those_of_a_source_to_keep() -> None:
    ledger = Ledger(QUEUES)
    ledger.begin()
    for tag in range(1, 7):
        delivery(ledger, tag, source=1 if tag <= 4 else 2)
    ledger.take(1)
    ledger.give_back(keep={2})
    assert (ledger.ready, ledger.unacked) == (2, 3)
    assert [item.tag for item in ledger.plan()] == [2, 3, 4]
    ledger.give_back()
    assert (ledger.ready, ledger.unacked) == (0, 1)


def test_a_queue_is_busy_until_the_broker_is_told() -> None:
    """Else somebody would sit down in a place that the broker still counts as taken."""
    ledger = Ledger([], named=True)
    ledger.begin()
    first, second = delivery(ledger, 1, "single_shop_a"), delivery(ledger, 2, "single_shop_b")
    ledger.settle([first], Verb.ACK)
    assert ledger.busy() == {"single_shop_a", "single_shop_b"}
    assert ledger.plan() == [Settle(Verb.ACK, 1, False)]
    assert ledger.busy() == {"single_shop_b"}
    ledger.settle([second], Verb.BACK)
    ledger.plan()
    assert ledger.busy() == set()


def test_a_foreign_token_is_ignored() -> None:
    ledger, _items = filled(1)
    ledger.settle([Delivery(token="row 7", queue="high", body=b"")], Verb.ACK)
    assert (ledger.unacked, ledger.ack_lost) == (1, 0)


@given(st.lists(st.one_of(st.just(("get",)), st.tuples(st.sampled_from(Verb), st.integers(0, 40)), st.just(("send",)))))
def test_what_is_sent_settles_exactly_what_was_decided(steps: list[tuple[object, ...]]) -> None:
    ledger = Ledger(QUEUES)
    ledger.begin()
    items: list[Delivery] = []
    decided: dict[int, Verb] = {}
    broker: dict[int, Verb | None] = {}

    def send() -> None:
        for frame in ledger.plan():
            tags = [
                tag
                for tag, verb in broker.items()
                if verb is None and (tag == frame.tag or (frame.multiple and tag < frame.tag))
            ]
            assert frame.tag in tags, "an unknown tag closes the channel"
            for tag in tags:
                broker[tag] = frame.verb

    for step in steps:
        if step == ("get",):
            broker[len(items) + 1] = None
            items.append(delivery(ledger, len(items) + 1, QUEUES[len(items) % 2]))
        elif step == ("send",):
            send()
        else:
            verb, place = step
            assert isinstance(verb, Verb)
            assert isinstance(place, int)
            if place < len(items):
                ledger.settle([items[place]], verb)
                decided.setdefault(place + 1, verb)
    send()
    assert {tag: verb for tag, verb in broker.items() if verb is not None} == decided
    assert ledger.unacked == len(items) - len(decided)
