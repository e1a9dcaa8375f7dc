"""The audit trail: without the entry there is no act, the chain shows what was changed, secrets stay secret."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from services.commands.audit import Audit, heard, reasons, undoing
from services.domain import audit
from services.domain.audit import TARGETS_KEPT, AuditEntry, Link
from services.domain.errors import NotAllowed, StoreUnavailable, UsageError
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room


def silent(*_: object) -> None:
    raise StoreUnavailable("nobody answers")


def test_the_entry_is_there_before_the_act_and_closed_after_it(room: Room) -> None:
    audit = Audit(room.store, "ann@desk")
    with audit.act("task.cancel", ["t1"], {"reason": "wrong shop"}):
        (entry,) = room.store.audit(10)
        assert (entry.who, entry.action, entry.target, entry.outcome) == ("ann@desk", "task.cancel", ("t1",), "")
        room.clock.advance(2)
    (entry,) = room.store.audit(10)
    assert (entry.outcome, entry.closed_at - entry.at, json.loads(entry.detail)) == (
        "done", 2000, {"reason": "wrong shop"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("who", "via", "origin"),
    [
        ("ann@desk", "window", "window"),
        ("ann@desk", "", ""),
        ("erp@rest", "", "rest"),
        ("ann@rest", "window", "window"),  # a machine may be called so
        ("rule shop_stuck", "", "rule"),
        ("known issue 3fa1", "", "rule"),
        ("worker desk-1", "", "worker"),
        ("whoever", "", ""),
    ],
)
def test_an_entry_says_through_what_somebody_acted(room: Room, who: str, via: str, origin: str) -> None:
    with Audit(room.store, who, via=via).act("pause", ["all"], {"reason": "sale"}):
        pass
    (entry,) = room.store.audit(1)
    assert audit.origin(entry) == origin
    assert audit.told_of(entry) == {"reason": "sale"}


def test_of_several_acts_that_are_taken_back_each_is_by_the_act_on_its_own_object(room: Room) -> None:
    """One that nobody took back, for that failed, is not told as taken back."""
    writer = Audit(room.store, "ann@desk", via="window")
    with heard() as done:
        for shop in ("s1", "s2", "s3"):
            with writer.act("shop.concurrency", [f"pdd:{shop}"]):
                pass
    with undoing(done):
        for shop in ("s1", "s3"):
            with writer.act("shop.concurrency", [f"pdd:{shop}"]):
                pass
        with writer.act("task.cancel", ["t1"]):
            pass
    whole, third, first = room.store.audit(3)
    names = [entry.entry_id for entry in done]
    assert (audit.undoes(first), audit.undoes(third)) == ((names[0],), (names[2],))
    assert audit.undoes(whole) == tuple(names), "of an object that none of them names it is said of all"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(UsageError("no such shop"), "refused: no such shop"), (StoreUnavailable("silent"), "failed: silent")],
)
def test_how_it_failed_is_written_down(room: Room, error: Exception, outcome: str) -> None:
    with pytest.raises(type(error)), Audit(room.store, "ann").act("x", []):
        raise error
    assert room.store.audit(1)[0].outcome == outcome


def test_counted_items_are_told(room: Room) -> None:
    audit = Audit(room.store, "ann")
    for done, refused, left, why in (
        (3, 0, 0, ""),
        (0, 2, 0, "task.refused"),
        (3, 2, 0, ""),
        (3, 0, 55, "bulk.probe_same"),
        (3, 1, 55, ""),
        (0, 0, 2, "bulk.stopped"),
    ):
        with audit.act("x", []) as act:
            act.counted(done, refused, why, left=left)
    assert [entry.outcome for entry in reversed(room.store.audit(10))] == [
        "done",
        "refused: 2: task.refused",
        "partly: 3 done, 2 refused",
        "partly: 3 done, 55 left alone: bulk.probe_same",
        "partly: 3 done, 1 refused, 55 left alone",
        "partly: 0 done, 2 left alone: bulk.stopped",
    ]


def test_places_tell_which_objects_were_not_done_where_there_is_room(room: Room) -> None:
    ids = [f"t{number}" for number in range(200)]
    refused = [(one, "task.unknown" if number == 7 else "task.refused") for number, one in enumerate(ids[2:9], 2)]
    with Audit(room.store, "ann").act("task.cancel", ids) as act:
        act.counted(193, 7, reasons([code for _id, code in refused]))
        act.placed(refused)
    told = room.store.audit(1)[0].outcome
    assert told.endswith("; not done: task.refused 2-6 8, task.unknown 7")
    counts, places = audit.parted(told)
    assert counts == "partly: 193 done, 7 refused: task.refused 6, task.unknown 1"
    assert places == {"task.refused": (2, 3, 4, 5, 6, 8), "task.unknown": (7,)}
    for these, why in (([one for number, one in enumerate(ids) if number % 3], "no room"), (["else"], "not named")):
        with Audit(room.store, "ann").act("task.cancel", ids) as act:
            act.counted(1, len(these), "task.refused")
            act.placed([(one, "task.refused") for one in these])
        assert audit.parted(room.store.audit(1)[0].outcome)[1] == {}, why
    with Audit(room.store, "ann").act("task.cancel", [*ids, "more"]) as act:
        act.counted(200, 1, "task.refused")
        act.placed([("t1", "task.refused")])
    assert room.store.audit(1)[0].outcome == "partly: 200 done, 1 refused: task.refused", "it names only the first"


def test_each_link_seals_the_one_before_and_names_what_others_wrote_last(room: Room) -> None:
    audit = Audit(room.store, "ann@desk")
    for number in range(4):
        with audit.act("task.cancel", [f"t{number}"], {"n": number}):
            pass
    previous, number = "", 0
    for entry in reversed(room.store.audit(10)):
        assert entry.link is not None
        assert entry.end is not None
        assert (entry.previous, entry.link.number, entry.end.number) == (previous, number + 1, number + 2)
        assert entry.digest == entry.link.digest == sealed(entry, entry.link)
        assert entry.end.seen == (f"{entry.entry_id}/{entry.link.number}/{entry.digest}",)
        previous, number = entry.end.digest, entry.end.number
        last = f"{entry.entry_id}/{number}/{previous}"
    assert room.store.audit_heads() == [last]
    other = Audit(room.store, "ann@desk")
    with other.act("x", []):
        pass
    fresh = room.store.audit(1)[0]
    assert fresh.previous == "", "each writer has a chain of its own"
    assert fresh.link is not None
    assert fresh.link.seen == (last,), "and names the heads of the others"


def sealed(entry: AuditEntry, link: Link) -> str:
    """The digest as anybody can compute it."""
    words = [entry.entry_id, entry.at, entry.who, entry.action, list(entry.target), entry.detail, entry.previous]
    said = ["fleetdeck audit 1", "begins", *words, link.number, list(link.seen), list(link.unsure)]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def test_an_act_that_is_broken_off_is_told_as_that(room: Room) -> None:
    with pytest.raises(KeyboardInterrupt), Audit(room.store, "ann").act("x", []):
        raise KeyboardInterrupt
    assert room.store.audit(1)[0].outcome == "failed: broken off (KeyboardInterrupt)"


def test_many_targets_are_cut_and_counted(room: Room) -> None:
    with Audit(room.store, "ann").act("x", [f"t{number}" for number in range(TARGETS_KEPT + 5)]):
        pass
    (entry,) = room.store.audit(1)
    assert (len(entry.target), json.loads(entry.detail)["count"]) == (TARGETS_KEPT, TARGETS_KEPT + 5)


ACTS: dict[str, Callable[[Desk, str], Any]] = {
    "create": lambda desk, task_id: desk.tasks.create([], origin="cli"),
    "cancel": lambda desk, task_id: desk.tasks.cancel([task_id]),
    "run now": lambda desk, task_id: desk.tasks.run_now([task_id]),
    "prioritize": lambda desk, task_id: desk.tasks.prioritize([task_id], "high"),
    "retry": lambda desk, task_id: desk.tasks.retry_waiting([task_id], reason="x"),
    "resolve": lambda desk, task_id: desk.tasks.resolve([task_id], "dead", note="x"),
    "republish": lambda desk, task_id: desk.dead_letters.republish([task_id]),
    "archive": lambda desk, task_id: desk.dead_letters.set_triage([task_id], "archived"),
    "pause": lambda desk, task_id: desk.fleet.pause("all"),
    "resume": lambda desk, task_id: desk.fleet.resume("all"),
    "shops": lambda desk, task_id: desk.fleet.import_shops([]),
    "types": lambda desk, task_id: desk.fleet.import_types(['{"name": "work"}']),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_without_an_entry_nothing_happens(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch, act: Callable[[Desk, str], Any]
) -> None:
    task = room.create()
    before, counts = room.store.events("", 1, 0.0).cursor, room.store.counts()
    monkeypatch.setattr(room.store, "append_audit", silent)
    with pytest.raises(StoreUnavailable):
        act(desk, task.task_id)
    assert room.store.events(before, 10, 0.0).events == ()
    assert room.store.counts() == counts
    assert (room.store.pauses(), room.store.documents("type")) == ([], {})


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_a_viewer_may_only_look(room: Room, act: Callable[[Desk, str], Any]) -> None:
    task = room.create()
    before = room.store.counts(), room.task(task.task_id)
    with pytest.raises(NotAllowed):
        act(desk_of(room, "viewer"), task.task_id)
    assert (room.store.counts(), room.task(task.task_id)) == before
    (entry,) = room.store.audit(10)
    assert (entry.who, entry.outcome.partition(":")[0]) == ("ann@desk", "refused")


def test_an_entry_that_cannot_be_closed_does_not_undo_the_act(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    task = room.create()
    monkeypatch.setattr(room.store, "close_audit", silent)
    assert desk.tasks.cancel([task.task_id]).done == (task.task_id,)
    assert room.store.audit(1)[0].outcome == "", "what is not known is not claimed"
    assert "stays open" in caplog.text


def test_how_somebody_works_is_told_once_an_hour(room: Room) -> None:
    for _ in range(3):
        Audit(room.store, "ann@desk").told("connection.unverified", ["Redis"], {"profile": "shops"})
    Audit(room.store, "bob@desk").told("connection.unverified", ["Redis"], {"profile": "shops"})
    told = [(entry.who, entry.action, entry.target, entry.outcome) for entry in room.store.audit(10)]
    assert told == [(who, "connection.unverified", ("Redis",), "done") for who in ("bob@desk", "ann@desk")]


def test_what_is_tried_in_a_loop_and_refused_is_told_once_an_hour(room: Room) -> None:
    viewer = desk_of(room, "viewer")
    for seconds in (0, 1799, 1799):
        room.clock.advance(seconds)
        for act in (lambda: viewer.tasks.cancel(["t1"]), lambda: viewer.fleet.pause("all")):
            with pytest.raises(NotAllowed):
                act()
    told = [(entry.action, entry.target, entry.outcome.partition(":")[0]) for entry in room.store.audit(10)]
    assert told == [("pause", ("all",), "refused"), ("task.cancel", ("t1",), "refused")], "each of what was tried"
    room.clock.advance(4)
    with pytest.raises(NotAllowed):
        viewer.tasks.cancel(["t2"])
    again = room.store.audit(10)
    assert len(again) == 3
    assert (again[0].action, again[0].target) == ("task.cancel", ("t2",)), "it goes on, and that is told"


def test_targets_and_outcomes_hold_no_secret(room: Room) -> None:
    with pytest.raises(UsageError), Audit(room.store, "ann").act("x", ["token=hunter2"], {"n": "password=hunter2"}):
        raise UsageError("amqp://ann:hunter2@mq refuses")
    (entry,) = room.store.audit(1)
    assert "hunter2" not in str(entry)
