"""How promises stand, as people are told: rows, causes, the matrix, what is stale, and the items of Overview."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from services import messages
from services.domain.fleet.shop import Shop
from services.domain.insight.gates import GATES
from services.domain.promises import holds, standing
from services.domain.promises import promise as promises
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE, Due, Hold, Judged
from services.domain.promises.promise import Promise
from services.domain.promises.standing import Standing
from services.domain.task.record import Task
from services.domain.text.message import Message
from services.monitor.promises import DISABLED, STALE_MS, UNJUDGED, PromiseQueries
from tests.unit.services.engine.room import Room
from tests.unit.services.monitor.test_attention import found as attention
from views.support.words import way

MINUTE = 60_000


def keep(room: Room, name: str = "orders", **fields: Any) -> Promise:
    words = {"task_type": "work", "limit_s": 3600, "all_shops": True, "version": 1, **fields}
    made = Promise(name=name, **words)
    room.store.put_document(promises.KIND, name, promises.DOCUMENT.dump(made))
    return made


def judged(room: Room, promise: Promise, *shops: Judged, ago_ms: int = 0) -> Standing:
    now = room.clock.now_ms() - ago_ms
    found = standing.after(promise, Due(), shops, None, now=now, by="desk")
    room.store.put_document(promises.STATE, promise.name, standing.DOCUMENT.dump(found))
    return found


def shop(room: Room, name: str, state: str, minutes: float, **fields: Any) -> Judged:
    return Judged(shop=f"pdd:{name}", state=state, break_at=room.clock.now_ms() + round(minutes * MINUTE), **fields)


PAUSED = Hold(
    "gates", "promise.paused", {"scope": "all", "by": "ann", "reason": ""}, "ann", holds.OPERATOR, "resume", "all"
)
PAGE = Hold("page", "promise.failing", {"kind": "page_changed", "n": 2}, "", holds.OF_FLOW, "triage", "9ac1")


def test_what_breaks_next_in_some_shops_if_nobody_acts(room: Room) -> None:
    asked = PromiseQueries(room.store, room.registry)
    shops = [f"pdd:{name}" for name in ("s1", "s2", "s3")]
    judged(room, keep(room, "a"), shop(room, "s1", AT_RISK, 40), shop(room, "s2", AT_RISK, 30))
    judged(room, keep(room, "b"), shop(room, "s1", AT_RISK, 20), shop(room, "s3", BROKEN, -3))
    judged(room, keep(room, "c"), shop(room, "s1", AT_RISK, 10), ago_ms=STALE_MS + 1)
    found = asked.ahead(shops[:2])
    assert found is not None
    assert (found.row.name, found.shops, found.among) == ("b", 1, 1), "what nobody judges any more tells nothing"
    assert found.break_at == room.clock.now_ms() + 20 * MINUTE
    other = asked.ahead(shops[1:])
    assert other is not None
    assert (other.row.name, other.shops, other.among) == ("a", 2, 1)
    assert asked.ahead(shops[2:]) is None, "it is broken already"
    assert asked.ahead(()) is None


def test_which_of_some_shops_are_at_risk_goes_by_their_keys(room: Room) -> None:
    asked = PromiseQueries(room.store, room.registry)
    room.store.put_shops([Shop(platform=one, shop_id="s1", name="Lumo Home") for one in ("pdd", "temu")])
    room.registry.forget()
    many = [f"pdd:s{number}" for number in range(1, 31)]
    risky = [shop(room, one.partition(":")[2], AT_RISK, 40) for one in many]
    other = Judged(shop="temu:s1", state=AT_RISK, break_at=room.clock.now_ms() + 5 * MINUTE)
    judged(room, keep(room, "a"), *risky)
    judged(room, keep(room, "b"), other)
    found = asked.ahead(many[:25], ["Lumo Home"])
    assert found is not None
    assert (found.row.name, found.shops, found.among) == ("a", 30, 25), "one of the same name is another shop"
    by_name = asked.ahead((), ["Lumo Home"])
    assert by_name is not None
    assert (by_name.row.name, by_name.among) == ("b", 0), "of names alone nobody knows how many they are"


def test_rows_say_how_each_stands_and_how_old_that_is(room: Room) -> None:
    asked = PromiseQueries(room.store, room.registry)
    assert asked.now().rows == ()
    judged(room, keep(room, "a"), shop(room, "s1", KEPT, 30), ago_ms=5_000)
    judged(room, keep(room, "b"), shop(room, "s1", AT_RISK, 30, hold=PAUSED), ago_ms=STALE_MS + 1)
    judged(room, keep(room, "c"), shop(room, "s1", BROKEN, -3, hold=PAGE))
    keep(room, "d")
    keep(room, "e", enabled=False)
    judged(room, msgspec.structs.replace(keep(room, "f", version=2), version=1), shop(room, "s1", BROKEN, -3))
    room.store.put_document(promises.KIND, "g", "{}")
    now = asked.now()
    assert [(one.name, one.state, one.stale) for one in now.rows] == [
        ("a", KEPT, False),
        ("b", AT_RISK, True),
        ("c", BROKEN, False),
        ("d", UNJUDGED, False),
        ("e", DISABLED, False),
        ("f", UNJUDGED, False),  # somebody has just promised something else
    ]
    assert now.rows[0].age_ms == 5_000
    assert now.counts[UNJUDGED] == 2
    assert now.first_break is None  # what is stale says nothing of what comes
    judged(room, keep(room, "b"), shop(room, "s1", AT_RISK, 30, hold=PAUSED))
    first = asked.now().first_break
    assert first is not None
    assert first.name == "b"


def test_a_story_has_its_causes_and_the_matrix(room: Room) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1", name="Velia")])
    asked = PromiseQueries(room.store, room.registry)
    promise = keep(room)
    now = room.clock.now_ms()
    judged(
        room, promise, shop(room, "s1", AT_RISK, 5, hold=PAGE, done_at=now - 55 * MINUTE),
        shop(room, "s2", AT_RISK, 9, hold=PAUSED), shop(room, "s3", AT_RISK, 9, hold=PAUSED),
        shop(room, "s4", KEPT, 50),
    )  # fmt: skip
    story = asked.story("orders")
    assert story is not None
    assert [(messages.english(one.message), one.shops, one.who, one.verb) for one in story.causes] == [
        ("all paused by ann", 2, "ann", "resume"),
        ("its last 2 runs failed (page_changed)", 1, "", "triage"),
    ]
    assert [(one.name, one.cells) for one in story.matrix] == [
        ("Velia", ("passed", "passed", "passed", "passed", "holds")),
        ("pdd:s2", ("passed", "holds", "", "", "")),
        ("pdd:s3", ("passed", "holds", "", "", "")),
    ]
    assert (story.unlisted, story.breaks) == (0, ())
    assert asked.story("nobody") is None


def test_a_shop_is_kept_only_where_the_judgement_was_of_it_and_it_is_due(room: Room) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id=name) for name in ("s1", "s2", "s3")])
    room.registry.forget()
    asked = PromiseQueries(room.store, room.registry)

    def states() -> list[str]:
        return [one.state for name in ("s1", "s2", "s3") for one in asked.of_work(f"pdd:{name}", "work")]

    room.finish(room.claim(room.create()), "succeeded")
    promise = keep(room, since=room.clock.now_ms())
    kept, fresh = shop(room, "s1", KEPT, 60), shop(room, "s2", NOT_DUE, 60)
    judged(room, promise, kept, fresh, shop(room, "s3", AT_RISK, 5))
    assert states() == [KEPT, NOT_DUE, AT_RISK]
    judged(room, promise, kept, fresh)  # the third joined since
    assert states() == [UNJUDGED, UNJUDGED, UNJUDGED]


def test_overview_names_what_is_broken_and_what_will_be(room: Room) -> None:
    assert not [key for key in attention(room) if key.startswith("promise:")]
    judged(
        room, keep(room, "late"), shop(room, "s1", BROKEN, -3, hold=PAUSED), shop(room, "s2", AT_RISK, 3, hold=PAUSED)
    )
    judged(room, keep(room, "soon"), shop(room, "s1", AT_RISK, 20, hold=PAGE), shop(room, "s2", KEPT, 30))
    judged(room, keep(room, "well"), shop(room, "s1", KEPT, 20))
    judged(room, keep(room, "old"), shop(room, "s1", BROKEN, -3), ago_ms=STALE_MS + 1)
    found = {key: one for key, one in attention(room).items() if key.startswith("promise:")}
    assert list(found) == ["promise:late", "promise:soon"]
    late, soon = found.values()
    assert (late.severity, late.code, late.params["shops"], late.params["left"]) == (
        *("dead", "attention.promise_broken"),
        *(1, 1),
    )
    assert late.verbs == (("resume", "all"), ("open_promise", "late"))
    assert "all paused by ann" in [messages.english(one) for one in late.facts]
    assert (soon.severity, soon.code, soon.params["shops"], soon.params["total"]) == (
        *("warning", "attention.promise_at_risk"),
        *(1, 2),
    )
    assert soon.verbs[0] == ("triage", "9ac1")


@pytest.mark.parametrize("gate", GATES)
def test_every_way_out_is_one_that_windows_know(gate: str) -> None:
    task = Task(task_id="t", shop_id="s1", platform="pdd", task_type="work")
    found = [
        holds.unfired("nightly", "14:31", 60_000), holds.silent("14:31", 600), holds.unplanned(),
        holds.planned("nightly", "14:31"), holds.gate(task, gate), holds.held(task), holds.in_line(task),
        holds.away("desk"), holds.failing("timeout", 1, "9ac1"), holds.runs(task, 5),
    ]  # fmt: skip
    for one in found:
        assert one.verb in way.VERBS
        assert one.role in holds.SENTENCES
        assert "{" not in messages.english(Message(one.code, one.params))


def test_how_a_new_promise_would_have_stood_is_asked_of_the_ledger(room: Room) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id=name) for name in ("s1", "s2", "s3")])
    asked, wanted = PromiseQueries(room.store, room.registry), Promise(name="p", task_type="work", all_shops=True)
    for name in ("s1", "s2"):
        room.finish(room.running(shop_id=name, payload={}), "succeeded")
    room.clock.advance(86_400.0)
    room.finish(room.running(shop_id="s1", payload={}), "succeeded")
    day = msgspec.structs.replace(wanted, limit_s=86_400 // 2)
    found = asked.before(day)
    assert (found.breaks, found.shops, found.unknown) == (2, 2, 1), "of the third nothing is known"
    assert found.last <= room.clock.now_ms() - 43_000_000
    assert asked.before(msgspec.structs.replace(wanted, limit_s=2 * 86_400)).breaks == 0
    room.finish(room.running(shop_id="s2", payload={"n": 1}), "succeeded")
    found = asked.before(day)
    assert (found.breaks, found.shops, found.unknown) == (1, 1, 2), "another work succeeded there last"
    room.define("work", uniqueness="none")
    assert not asked.before(day).told
