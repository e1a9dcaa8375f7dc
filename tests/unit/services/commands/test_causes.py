"""Causes named, ignored for a while and shown again, with a clock that is turned by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.commands.audit import Audit
from services.commands.causes import CauseCommands
from services.commands.operator import Operator
from services.domain.errors import NotAllowed, UsageError
from services.domain.insight import cause_rule
from services.domain.task.status import Triage
from services.engine.lead.cause_keeper import LOOK_S, CauseKeeper
from services.monitor.letters.causes import CauseQueries
from tests.unit.services.engine.room import Room

PRINT, OTHER = "9ac1" * 4, "0b2d" * 4


def die(room: Room, shop_id: str, fingerprint: str = PRINT) -> str:
    task = room.running(shop_id=shop_id)
    return room.finish(task, "dead", error="x", error_kind="login_expired", fingerprint=fingerprint).task_id


def triage(room: Room, *ids: str) -> list[str]:
    return [room.task(task_id).triage for task_id in ids]


def commands(room: Room, role: str = "operator") -> CauseCommands:
    return CauseCommands(room.store, room.steps, Audit(room.store, "ann"), Operator(who="ann@desk", role=role))


@pytest.fixture
def keeper(room: Room) -> CauseKeeper:
    return CauseKeeper(room.store, room.steps, room.clock)


def later(room: Room, keeper: CauseKeeper, seconds: float = LOOK_S) -> None:
    room.clock.advance(seconds)
    keeper.tick()


def test_what_others_decide_while_a_note_is_being_written_stays(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    die(room, "s1")
    commands(room).describe(PRINT, name="QR codes", note="")
    ask, others = room.store.document, [lambda: commands(room).know(PRINT, owner="bo", link="https://example.com/1")]

    def between(kind: str, name: str) -> str | None:
        found = ask(kind, name)
        if others:
            others.pop()()
        return found

    monkeypatch.setattr(room.store, "document", between)
    commands(room).describe(PRINT, name="QR codes", note="ask the shop owner")
    (cause,) = CauseQueries(room.store).causes().rows
    assert (cause.rule.note, cause.rule.owner, cause.rule.link) == ("ask the shop owner", "bo", "https://example.com/1")


def test_a_name_and_a_note_stay_with_the_cause(room: Room) -> None:
    die(room, "s1")
    commands(room).describe(PRINT, name=" QR codes ", note="ask the shop owner")
    (cause,) = CauseQueries(room.store).causes().rows
    assert (cause.rule.name, cause.rule.note) == ("QR codes", "ask the shop owner")
    commands(room).ignore(PRINT, seconds=60)
    commands(room).lift(PRINT)
    (cause,) = CauseQueries(room.store).causes().rows
    assert cause.rule.name == "QR codes", "ignoring keeps it"
    commands(room).describe(PRINT, name="", note="")
    assert CauseQueries(room.store).causes().rows[0].rule.name == ""


def test_an_ignored_cause_stays_ignored_until_its_time_is_over(room: Room, keeper: CauseKeeper) -> None:
    first, other = die(room, "s1"), die(room, "s2", OTHER)
    assert commands(room).ignore(PRINT, seconds=3600).done == (first,)
    second = die(room, "s3")
    later(room, keeper)
    assert triage(room, first, second, other) == [Triage.IGNORED, Triage.IGNORED, Triage.OPEN]
    later(room, keeper, 3601)
    assert triage(room, first, second) == [Triage.OPEN, Triage.OPEN]
    third = die(room, "s4")
    later(room, keeper)
    assert triage(room, third) == [Triage.OPEN]


def test_until_its_text_changes_means_for_good(room: Room, keeper: CauseKeeper) -> None:
    first = die(room, "s1")
    commands(room).ignore(PRINT)
    later(room, keeper, 400 * 86_400)
    assert triage(room, first) == [Triage.IGNORED]
    assert triage(room, die(room, "s2", OTHER)) == [Triage.OPEN], "another text is another cause"


def test_what_a_person_decided_otherwise_stays(room: Room, keeper: CauseKeeper) -> None:
    first, second = die(room, "s1"), die(room, "s2")
    room.triage(second, Triage.IGNORED)
    commands(room).ignore(PRINT, seconds=60)
    room.triage(first, Triage.OPEN)
    later(room, keeper)
    assert triage(room, first, second) == [Triage.OPEN, Triage.IGNORED]
    assert commands(room).lift(PRINT).done == ()
    assert triage(room, first, second) == [Triage.OPEN, Triage.IGNORED]


def test_a_new_rule_takes_what_the_old_one_gave_back(room: Room, keeper: CauseKeeper) -> None:
    first = die(room, "s1")
    commands(room).ignore(PRINT, seconds=10)
    later(room, keeper, 11)
    assert triage(room, first) == [Triage.OPEN]
    assert commands(room).ignore(PRINT, seconds=10).done == (first,)


def test_what_is_ignored_for_longer_comes_back_with_the_longer_rule(room: Room, keeper: CauseKeeper) -> None:
    first = die(room, "s1")
    commands(room).ignore(PRINT, seconds=10)
    room.clock.advance(5)
    commands(room).ignore(PRINT, seconds=3600)
    later(room, keeper, 3500)
    assert triage(room, first) == [Triage.IGNORED]
    later(room, keeper, 101)
    assert triage(room, first) == [Triage.OPEN]


@pytest.mark.parametrize("cause", ["unknown", "", "9AC1" * 4, "9ac1"])
def test_what_is_no_fingerprint_is_refused(room: Room, cause: str) -> None:
    with pytest.raises(UsageError):
        commands(room).ignore(cause)


def test_bad_values_and_roles_are_refused(room: Room) -> None:
    with pytest.raises(UsageError, match="name may have"):
        commands(room).describe(PRINT, name="x" * 81, note="")
    with pytest.raises(UsageError, match="can be ignored"):
        commands(room).ignore(PRINT, seconds=-1)
    with pytest.raises(NotAllowed):
        commands(room, "viewer").ignore(PRINT)


def test_a_rule_that_cannot_be_read_decides_nothing(room: Room, keeper: CauseKeeper) -> None:
    first = die(room, "s1")
    room.store.put_document(cause_rule.KIND, PRINT, "[]")
    later(room, keeper)
    assert triage(room, first) == [Triage.OPEN]


def test_what_was_merged_is_ignored_and_shown_with_the_cause_it_counts_to(room: Room, keeper: CauseKeeper) -> None:
    first, second = die(room, "s1"), die(room, "s2", OTHER)
    commands(room).merge([OTHER], PRINT)
    assert set(commands(room).ignore(PRINT).done) == {first, second}
    third = die(room, "s3", OTHER)
    later(room, keeper)
    assert triage(room, third) == [Triage.IGNORED]
    assert set(commands(room).lift(PRINT).done) == {first, second, third}


def test_what_was_ignored_before_it_was_merged_goes_by_the_other_cause(room: Room, keeper: CauseKeeper) -> None:
    first = die(room, "s1", OTHER)
    commands(room).ignore(OTHER, seconds=3600)
    commands(room).merge([OTHER], PRINT)
    second = die(room, "s2", OTHER)
    later(room, keeper)
    assert triage(room, first, second) == [Triage.IGNORED, Triage.OPEN], "nobody sees that rule any more"
    later(room, keeper, 3601)
    assert triage(room, first, second) == [Triage.OPEN, Triage.OPEN]


THIRD = "77aa" * 4


def split_again(causes: CauseCommands) -> None:
    causes.split(OTHER)


def merged_elsewhere(causes: CauseCommands) -> None:
    causes.merge([OTHER], THIRD)


def split_off(causes: CauseCommands) -> None:
    causes.split_off(PRINT, "shop:pdd:s2")


@pytest.mark.parametrize("leave", [split_again, merged_elsewhere, split_off])
def test_what_leaves_an_ignored_cause_is_open_again(
    room: Room, keeper: CauseKeeper, leave: Callable[[CauseCommands], None]
) -> None:
    first, second = die(room, "s1"), die(room, "s2", OTHER)
    causes = commands(room)
    causes.ignore(PRINT, seconds=3600)
    causes.merge([OTHER], PRINT)
    later(room, keeper)
    assert triage(room, first, second) == [Triage.IGNORED, Triage.IGNORED]
    third = die(room, "s2", OTHER)
    leave(causes)
    later(room, keeper)
    assert triage(room, first, second, third) == [Triage.IGNORED, Triage.OPEN, Triage.OPEN]
    later(room, keeper, 3601)
    assert triage(room, first, second, third) == [Triage.OPEN] * 3


def test_what_a_cause_has_ignored_comes_back_when_it_was_merged_itself(room: Room, keeper: CauseKeeper) -> None:
    first, second = die(room, "s1"), die(room, "s2", OTHER)
    causes = commands(room)
    causes.merge([OTHER], PRINT)
    assert set(causes.ignore(PRINT, seconds=3600).done) == {first, second}
    causes.merge([PRINT], THIRD)
    later(room, keeper, 3601)
    assert triage(room, first, second) == [Triage.OPEN, Triage.OPEN]


def test_what_is_split_by_place_is_merged_only_once_it_is_joined_again(room: Room) -> None:
    for shop in ("s1", "s2"):
        die(room, shop)
    die(room, "s3", OTHER)
    causes = commands(room)
    part = causes.split_off(PRINT, "shop:pdd:s1")
    for merged, into in ((PRINT, OTHER), (part, OTHER), (OTHER, part)):
        with pytest.raises(UsageError, match="split by place"):
            causes.merge([merged], into)
    assert causes.join(part) == PRINT
    causes.merge([PRINT], OTHER)
    (row,) = CauseQueries(room.store).causes().rows
    assert (row.fingerprint, row.count) == (OTHER, 3)
