"""What is decided about a cause is done by itself: parked shops, letters that run again, causes that are one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, cast

import pytest

from services.commands.audit import Audit
from services.commands.causes import CauseCommands
from services.commands.operator import Operator
from services.domain.alerts.incident import Finding, Incident, Words
from services.domain.alerts.judge import judge
from services.domain.alerts.rule import Rule
from services.domain.errors import NotAllowed, StoreUnavailable, UsageError
from services.domain.fleet.shop import Pause
from services.domain.insight import cause_rule, known_issue
from services.domain.insight.cause_rule import CauseRule
from services.domain.task import ledger
from services.domain.task.search.query import Query, equals
from services.domain.text.message import Message
from services.engine.zone import set_fleet_zone
from services.messages import english
from services.monitor.letters.causes import CauseQueries
from services.ports import Store
from services.watch.known_issues import IssueKeeper
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room

PRINT, OTHER, THIRD = "9ac1" * 4, "0b2d" * 4, "77aa" * 4
TWO_HOURS = 7_200


class Acts:
    """Does it on the store, as the commands do, and remembers what was done."""

    def __init__(self, room: Room) -> None:
        self.room, self.done = room, list[tuple[str, str]]()
        self.again: list[str] = []
        self.refuses, self.refused = set[str](), list[str]()  #: shops that are none any more
        self.unheard = set[str]()  #: causes whose letters may not run again
        self.falls = False  #: after an act, before it is noted
        self.meanwhile: Callable[[], object] = lambda: None  #: what a person does between its look and its act

    def who(self, fingerprint: str) -> str:
        return f"known issue {fingerprint}"

    def pause(self, fingerprint: str, shop: str, reason: str, instead: str) -> None:
        self._check(shop)
        desk = self._desk(fingerprint)
        desk.fleet.pause(f"shop:{shop}", reason=reason, instead=instead)
        self.done.append(("pause", shop))
        if self.falls:
            raise StoreUnavailable("killed")

    def resume(self, fingerprint: str, shop: str, note: str) -> None:
        self._check(shop)
        self._desk(fingerprint).fleet.resume(f"shop:{shop}", by=self.who(fingerprint))
        self.done.append(("resume", shop))

    def republish(self, fingerprint: str, task_ids: Sequence[str], reason: str) -> int:
        if fingerprint in self.unheard:
            raise NotAllowed("no")
        self.again += task_ids
        return len(task_ids)

    def _desk(self, fingerprint: str) -> Desk:
        """Of the rule; a person does something once it has looked and written that it begins."""
        store = Meanwhile(self.room.store, "append_audit", self.between)
        return desk_of(dataclasses.replace(self.room, store=cast("Store", store)), name=self.who(fingerprint))

    def between(self) -> None:
        """What the person does, once."""
        todo, self.meanwhile = self.meanwhile, lambda: None
        todo()

    def _check(self, shop: str) -> None:
        if shop in self.refuses:
            self.refused.append(shop)
            raise UsageError("no such shop", field="scope")


def a_day_later(room: Room, acts: Acts) -> None:
    """The keeper looks each minute of a day, or until letters run again."""
    for _ in range(24 * 60):
        room.clock.advance(60)
        keeper(room, acts).tick()
        if acts.again:
            break


@pytest.fixture
def acts(room: Room) -> Acts:
    return Acts(room)


def keeper(room: Room, acts: Acts) -> IssueKeeper:
    return IssueKeeper(room.store, acts, room.clock, "k")


def die(room: Room, shop_id: str, fingerprint: str = PRINT) -> str:
    task = room.running(shop_id=shop_id)
    return room.finish(task, "dead", error="x", error_kind="captcha", fingerprint=fingerprint).task_id


def commands(room: Room, role: str = "operator") -> CauseCommands:
    return CauseCommands(room.store, room.steps, Audit(room.store, "ann"), Operator(who="ann@desk", role=role))


def let_go(room: Room, acts: Acts) -> None:
    """A person lets the shop go on, and it stays so."""
    room.store.clear_pause("shop:pdd:s1")
    for _ in range(3):
        room.clock.advance(60)
        keeper(room, acts).tick()
        assert paused(room) == []


def paused(room: Room) -> list[str]:
    return sorted(one.scope for one in room.store.pauses())


def test_the_shops_of_a_cause_are_parked_and_go_on_by_themselves(room: Room, acts: Acts) -> None:
    die(room, "s1")
    die(room, "s2", OTHER)
    commands(room).know(PRINT, owner="ann", park_s=TWO_HOURS)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s1"]
    room.clock.advance(3_600)
    die(room, "s3")
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s1", "shop:pdd:s3"]
    (cause, _other) = CauseQueries(room.store).causes().rows
    assert sorted(cause.issue.parked) == ["pdd:s1", "pdd:s3"]
    room.clock.advance(3_601)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s3"]
    room.clock.advance(3_600)
    keeper(room, acts).tick()
    assert (paused(room), room.store.documents(known_issue.STATE)) == ([], {})


def test_what_a_person_lets_go_on_waits_for_another_letter(room: Room, acts: Acts) -> None:
    die(room, "s1")
    commands(room).know(PRINT, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    let_go(room, acts)
    room.clock.advance(60)
    die(room, "s1")
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s1"]


class Meanwhile:
    """The store, of which a person makes use while the keeper reads one thing."""

    def __init__(self, store: Any, reading: str, act: Callable[[], None]) -> None:
        self._store, self._reading, self._act = store, reading, act

    def __getattr__(self, name: str) -> Any:
        known = getattr(self._store, name)
        if name != self._reading:
            return known

        def read(*given: Any) -> Any:
            found = known(*given)
            self._act()
            return found

        return read


@pytest.mark.parametrize("reading", ["query", "pauses"])
@pytest.mark.parametrize("other", ["", OTHER])
def test_who_pauses_a_shop_while_a_rule_is_about_to_park_it_keeps_the_pause(
    room: Room, acts: Acts, reading: str, other: str
) -> None:
    die(room, "s1")
    commands(room).know(PRINT, park_s=TWO_HOURS)
    if other:  # it is to take over what another rule lets go
        room.store.set_pause(Pause(scope="shop:pdd:s1", by=acts.who(other)))
    pause = partial(desk_of(room).fleet.pause, "shop:pdd:s1", reason="page broken")
    IssueKeeper(cast("Store", Meanwhile(room.store, reading, pause)), acts, room.clock, "k").tick()
    for seconds in (5, TWO_HOURS):
        room.clock.advance(seconds)
        keeper(room, acts).tick()
    assert [(one.by, one.reason) for one in room.store.pauses()] == [("ann@desk", "page broken")]


@pytest.mark.parametrize("reading", ["query", "pauses"])
def test_who_lets_a_shop_go_on_while_another_rule_is_about_to_take_it_over_has_it_go_on(
    room: Room, acts: Acts, reading: str
) -> None:
    die(room, "s1")
    die(room, "s1", OTHER)
    commands(room).know(OTHER, park_s=3_600)
    commands(room).know(PRINT, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    room.clock.advance(3_601)
    resume = partial(room.store.clear_pause, "shop:pdd:s1")
    IssueKeeper(cast("Store", Meanwhile(room.store, reading, resume)), acts, room.clock, "k").tick()
    keeper(room, acts).tick()
    assert paused(room) == []


def test_nothing_a_person_does_comes_between_the_look_and_the_act_of_a_rule(room: Room, acts: Acts) -> None:
    die(room, "s1")
    commands(room).know(PRINT, park_s=TWO_HOURS)
    ann = Pause(scope="shop:pdd:s1", by="ann@desk", reason="page broken")
    acts.meanwhile = partial(room.store.set_pause, ann)
    keeper(room, acts).tick()
    (found,) = room.store.pauses()
    assert (found.by, acts.done) == ("ann@desk", [])
    room.store.clear_pause("shop:pdd:s1")
    die(room, "s1")
    room.clock.advance(60)
    die(room, "s1")
    keeper(room, acts).tick()
    assert [one.by for one in room.store.pauses()] == [acts.who(PRINT)]
    acts.meanwhile = partial(room.store.set_pause, ann)
    room.clock.advance(TWO_HOURS + 1)
    keeper(room, acts).tick()
    (found,) = room.store.pauses()
    assert (found.by, acts.done) == ("ann@desk", [("pause", "pdd:s1")])


def test_a_pause_of_somebody_else_stays_theirs(room: Room, acts: Acts) -> None:
    die(room, "s1")
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="bob@desk"))
    commands(room).know(PRINT, park_s=60)
    keeper(room, acts).tick()
    room.clock.advance(120)
    keeper(room, acts).tick()
    assert (acts.done, [one.by for one in room.store.pauses()]) == ([], ["bob@desk"])


def test_forgetting_it_lets_parked_shops_go_on(room: Room, acts: Acts) -> None:
    die(room, "s1")
    commands(room).describe(PRINT, name="captcha", note="")
    commands(room).know(PRINT, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    assert commands(room).forget(PRINT)
    assert not commands(room).forget(PRINT)
    keeper(room, acts).tick()
    assert paused(room) == []
    assert CauseQueries(room.store).causes().rows[0].rule.name == "captcha"
    acted = [row.entry.action for row in room.store.audit_rows(9)]
    assert {"cause.know", "cause.forget", "cause.describe"} <= set(acted)


def test_its_letters_run_again_once_at_its_time(room: Room, acts: Acts) -> None:
    letter = die(room, "s1")
    other = die(room, "s2", OTHER)
    now = room.store.now_ms()
    minute = (now // 60_000 + 5) % 1_440
    commands(room).know(PRINT, retry_at=f"{minute // 60:02}:{minute % 60:02}")
    keeper(room, acts).tick()
    assert acts.again == []
    a_day_later(room, acts)
    assert (acts.again, other in acts.again) == ([letter], False)
    keeper(room, acts).tick()
    assert acts.again == [letter], "another leader does not do it again"


def test_a_letter_of_whose_work_nobody_can_read_whether_it_is_done_does_not_run_again(
    room: Room, acts: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert room.task(die(room, "s1")).work
    commands(room).know(PRINT, retry_at="06:00")
    keeper(room, acts).tick()
    monkeypatch.setattr(room.store, "last_done", lambda works: [ledger.UNREADABLE for _work in works])
    a_day_later(room, acts)
    assert acts.again == []


@pytest.mark.parametrize(("night", "hour"), [("2027-11-07T04:00:00", "01:30"), ("2027-03-14T05:00:00", "02:30")])
def test_its_letters_run_again_once_in_the_night_in_which_clocks_are_set(
    room: Room, acts: Acts, night: str, hour: str
) -> None:
    """Of an hour that comes twice in the first one, of one that is left out as much later; never before its time."""
    set_fleet_zone(room.store, "America/New_York")
    began = round(datetime.fromisoformat(f"{night}+00:00").timestamp() * 1000)
    room.clock.advance((began - room.clock.now_ms()) / 1000)
    letter = die(room, "s1")
    commands(room).know(PRINT, retry_at=hour)
    ran = []
    for minutes in range(0, 6 * 60, 10):
        keeper(room, acts).tick()
        if len(acts.again) > len(ran):
            ran.append(minutes)
        room.clock.advance(600)
    assert (acts.again, ran) == ([letter], [90 if hour == "01:30" else 150])


def test_letters_that_may_not_run_again_hold_up_those_of_no_other_cause(room: Room, acts: Acts) -> None:
    die(room, "s1", OTHER)
    letter = die(room, "s2")
    minute = (room.store.now_ms() // 60_000 + 5) % 1_440
    for print_ in (OTHER, PRINT):
        commands(room).know(print_, retry_at=f"{minute // 60:02}:{minute % 60:02}")
    acts.unheard = {OTHER}
    for _ in range(24 * 4):
        room.clock.advance(900)
        keeper(room, acts).tick()
    assert acts.again == [letter]


def test_causes_that_are_one_are_one_row_with_one_rule(room: Room, acts: Acts) -> None:
    for shop, print_ in (("s1", PRINT), ("s2", OTHER), ("s3", THIRD)):
        die(room, shop, print_)
    commands(room).merge([OTHER, THIRD], PRINT)
    (cause,) = CauseQueries(room.store).causes().rows
    assert (cause.fingerprint, cause.count, cause.parts) == (PRINT, 3, tuple(sorted((OTHER, THIRD))))
    commands(room).know(PRINT, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s1", "shop:pdd:s2", "shop:pdd:s3"]
    assert commands(room).split(THIRD)
    assert not commands(room).split(THIRD)
    assert {one.fingerprint: one.count for one in CauseQueries(room.store).causes().rows} == {PRINT: 2, THIRD: 1}


def test_a_cause_is_no_part_of_itself(room: Room) -> None:
    commands(room).merge([OTHER], PRINT)
    with pytest.raises(UsageError):
        commands(room).merge([PRINT], OTHER)
    with pytest.raises(UsageError):
        commands(room).merge([PRINT], PRINT)


def known_and_killed(room: Room, acts: Acts) -> None:
    """Whoever leads is killed after he parked the shop and before he noted it."""
    die(room, "s1")
    commands(room).know(PRINT, park_s=TWO_HOURS)
    acts.falls = True
    with pytest.raises(StoreUnavailable):
        keeper(room, acts).tick()
    acts.falls = False
    assert (paused(room), room.store.documents(known_issue.STATE)) == (["shop:pdd:s1"], {})


def test_who_leads_after_a_kill_knows_the_shop_that_was_parked(room: Room, acts: Acts) -> None:
    known_and_killed(room, acts)
    keeper(room, acts).tick()
    (cause,) = CauseQueries(room.store).causes().rows
    assert (list(cause.issue.parked), acts.done) == (["pdd:s1"], [("pause", "pdd:s1")])
    room.clock.advance(TWO_HOURS + 1)
    keeper(room, acts).tick()
    assert paused(room) == []


def test_a_shop_parked_before_a_kill_goes_on_when_the_rule_is_forgotten(room: Room, acts: Acts) -> None:
    known_and_killed(room, acts)
    commands(room).forget(PRINT)
    keeper(room, acts).tick()
    assert paused(room) == []


def test_a_shop_that_cannot_be_parked_holds_up_no_other(room: Room, acts: Acts) -> None:
    for shop in ("s1", "s2", "s3"):
        die(room, shop)
    commands(room).know(PRINT, park_s=TWO_HOURS)
    acts.refuses = {"pdd:s1"}
    for _ in range(2):
        keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s2", "shop:pdd:s3"]
    assert acts.refused == ["pdd:s1"], "it is not tried again before its next letter"
    acts.refuses = {"pdd:s2"}
    commands(room).forget(PRINT)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s2"]
    acts.refuses = set()
    keeper(room, acts).tick()
    assert paused(room) == []


@pytest.mark.parametrize(("first", "then"), [(PRINT, OTHER), (OTHER, PRINT)])
def test_what_a_person_lets_go_on_is_parked_for_no_other_cause(room: Room, acts: Acts, first: str, then: str) -> None:
    for print_ in (first, then):
        die(room, "s1", print_)
        commands(room).know(print_, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    let_go(room, acts)
    die(room, "s1", then)
    keeper(room, acts).tick()
    assert [one.by for one in room.store.pauses()] == [acts.who(then)]


@pytest.mark.parametrize(("first", "then"), [(PRINT, OTHER), (OTHER, PRINT)])
def test_a_shop_that_two_rules_park_is_never_let_go_between_them(room: Room, acts: Acts, first: str, then: str) -> None:
    die(room, "s1", PRINT)
    die(room, "s1", OTHER)
    commands(room).know(first, park_s=3_600)
    keeper(room, acts).tick()
    commands(room).know(then, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    assert [one.by for one in room.store.pauses()] == [acts.who(first)]
    room.clock.advance(3_601)
    keeper(room, acts).tick()
    assert [one.by for one in room.store.pauses()] == [acts.who(then)]
    room.clock.advance(3_600)
    keeper(room, acts).tick()
    assert paused(room) == []
    assert acts.done == [("pause", "pdd:s1")] * 2 + [("resume", "pdd:s1")]


def test_the_rule_of_what_was_merged_holds_no_more(room: Room, acts: Acts) -> None:
    die(room, "s1")
    die(room, "s2", OTHER)
    commands(room).know(PRINT, park_s=TWO_HOURS)
    commands(room).know(OTHER, park_s=2 * TWO_HOURS)
    keeper(room, acts).tick()
    commands(room).merge([OTHER], PRINT)
    keeper(room, acts).tick()
    assert {one.scope: one.by for one in room.store.pauses()} == dict.fromkeys(
        ("shop:pdd:s1", "shop:pdd:s2"), acts.who(PRINT)
    )
    (cause,) = CauseQueries(room.store).causes().rows
    assert sorted(cause.issue.parked) == ["pdd:s1", "pdd:s2"], "seen at the cause that people see"
    for decide in (lambda: commands(room).know(OTHER, owner="bo"), lambda: commands(room).ignore(OTHER)):
        with pytest.raises(UsageError, match=f"counts to {PRINT}"):
            decide()
    commands(room).forget(PRINT)
    keeper(room, acts).tick()
    assert paused(room) == []
    commands(room).split(OTHER)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s2"], "it stands by itself, and so does its rule"


def test_what_died_before_its_letters_ran_again_parks_nothing_more(room: Room, acts: Acts) -> None:
    minute = (room.store.now_ms() // 60_000 + 5) % 1_440
    commands(room).know(PRINT, park_s=TWO_HOURS, retry_at=f"{minute // 60:02}:{minute % 60:02}")
    for number in range(24 * 4):  # the zone of this fleet is not said here
        die(room, f"s{number}")
        room.clock.advance(900)
        keeper(room, acts).tick()
        if acts.again:
            break
        assert len(paused(room)) == min(number + 1, 7)
    for _ in range(3):  # the letters stay open here, as those whose work nobody may repeat
        keeper(room, acts).tick()
        assert paused(room) == []
    die(room, "s1")
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s1"]


def test_another_time_of_parking_holds_for_those_that_are_parked(room: Room, acts: Acts) -> None:
    die(room, "s1")
    commands(room).know(PRINT, park_s=TWO_HOURS)
    keeper(room, acts).tick()
    commands(room).know(PRINT, park_s=600)
    room.clock.advance(601)
    keeper(room, acts).tick()
    assert paused(room) == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"link": "file:///etc/passwd"}, "link"),
        ({"park_s": 10}, "park"),
        ({"park_s": 9_999_999}, "park"),
        ({"retry_at": "25:00"}, "retry_at"),
        ({"retry_at": "6"}, "retry_at"),
        ({"retry_at": "06:0x"}, "retry_at"),
        ({"owner": "x" * 99}, "owner"),
    ],
)
def test_what_cannot_be_is_refused(room: Room, wrong: dict[str, object], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        commands(room).know(PRINT, **wrong)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_note_comes_with_it_or_stays_as_it_was(room: Room) -> None:
    mine = commands(room)
    mine.describe(PRINT, name="captcha", note="asked the platform")
    mine.know(PRINT, owner="bo")
    assert _rule(room).note == "asked the platform"
    mine.know(PRINT, owner="bo", note=" they answer on Monday ")
    assert (_rule(room).note, _rule(room).name) == ("they answer on Monday", "captcha")
    mine.know(PRINT, owner="bo", note="")
    assert not _rule(room).note
    with pytest.raises(UsageError) as refused:
        mine.know(PRINT, owner="bo", note="x" * 2001)
    assert refused.value.field == "note"


def test_what_somebody_else_decided_meanwhile_stays_and_the_same_is_not_decided_over_it(room: Room) -> None:
    mine, seen = commands(room), CauseRule()
    mine.know(PRINT, owner="bo", park_s=TWO_HOURS, alert_once=True)
    mine.know(PRINT, link="https://tracker.example/7", seen=seen)
    now = _rule(room)
    assert (now.owner, now.park_s, now.alert_once) == ("bo", TWO_HOURS, True)
    assert now.link == "https://tracker.example/7"
    mine.know(PRINT, park_s=TWO_HOURS, seen=seen)  # both want the same
    with pytest.raises(UsageError) as refused:
        mine.know(PRINT, owner="cleo", retry_at="06:00", seen=seen)
    assert refused.value.field == "owner"
    assert str(refused.value).startswith("ann@desk decided otherwise about this cause meanwhile")
    assert (_rule(room).owner, _rule(room).retry_at) == ("bo", "")
    with pytest.raises(UsageError, match="decided otherwise about this cause meanwhile"):
        mine.forget(PRINT, seen=seen)
    assert _rule(room).park_s == TWO_HOURS
    assert mine.forget(PRINT, seen=_rule(room))


def _rule(room: Room) -> CauseRule:
    return cause_rule.parse(room.store.documents(cause_rule.KIND)[PRINT])


def test_a_viewer_decides_nothing(room: Room) -> None:
    viewer = commands(room, "viewer")
    for act in (
        lambda: viewer.know(PRINT, owner="x"),
        lambda: viewer.forget(PRINT),
        lambda: viewer.merge([OTHER], PRINT),
        lambda: viewer.split(PRINT),
    ):
        with pytest.raises(NotAllowed):
            act()


def test_it_is_said_what_is_done_about_it(room: Room) -> None:
    die(room, "s1")
    commands(room).describe(PRINT, name="captcha", note="")
    commands(room).know(
        PRINT, owner="ann", park_s=TWO_HOURS, retry_at="06:00", alert_once=True, route=("duty", "duty", "lead")
    )
    (cause,) = CauseQueries(room.store).causes().rows
    assert [english(one) for one in known_issue.told(cause.rule)] == [
        "Known issue captcha, ann is at it",
        "its shops are parked for 2 h after each letter",
        "its letters run again at 06:00",
        "alerts on it are told once",
        "alerts on it go to duty, lead",
    ]


@pytest.mark.parametrize(("once", "told"), [(False, 3), (True, 1)])
def test_an_alert_on_it_is_told_once_to_whom_it_names(once: bool, told: int) -> None:
    rule = Rule(name="letters", measure="dead_letters", again_s=600, escalate_s=0, channels=("duty",))
    words = Words(title=Message("alert.failing"))
    finding = Finding(rule="letters", key="k", words=words, once=once, to=("ann",))
    sent, known = [], list[Incident]()
    for minute in range(0, 25, 5):
        for _ in range(2):  # what needs no patience is raised in the same look
            changes = judge([finding], known, {"letters": rule}, minute * 60_000 + 1)
            sent += changes.notices
            kept = {one.key: one for one in (*known, *changes.opened, *changes.changed)}
            known = list(kept.values())
    assert (len(sent), {name for one in sent for name in one.told.to}) == (told, {"ann"})


def counted(room: Room) -> dict[str, int]:
    """Letters by cause, as people see them."""
    return {one.rule.where or one.fingerprint: one.count for one in CauseQueries(room.store).causes().rows}


def test_what_is_split_off_has_its_own_owner_and_rule(room: Room, acts: Acts) -> None:
    for shop in ("s1", "s1", "s2", "s3", "s3"):
        die(room, shop)
    causes = commands(room)
    causes.know(PRINT, owner="ann", park_s=TWO_HOURS)
    part = causes.split_off(PRINT, "shop:pdd:s1")
    assert counted(room) == {PRINT: 3, "shop:pdd:s1": 2}
    rows = {one.fingerprint: one for one in CauseQueries(room.store).causes().rows}
    assert (rows[PRINT].rule.owner, rows[part].rule.owner) == ("ann", "")
    assert (rows[PRINT].apart, rows[part].prints) == (("shop:pdd:s1",), (PRINT,))
    for one in rows.values():  # the filter of each finds its letters and no others
        found = room.store.query(Query(terms=(*one.terms, equals("status", "dead"))))
        assert (found.number.number, len(found.tasks)) == (one.count, one.count)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s2", "shop:pdd:s3"]
    causes.know(part, owner="bob", park_s=TWO_HOURS)
    keeper(room, acts).tick()
    assert paused(room) == ["shop:pdd:s1", "shop:pdd:s2", "shop:pdd:s3"]
    assert [done.action for done in room.store.audit(10) if done.action == "cause.split"] == ["cause.split"]
    assert causes.join(part) == PRINT
    assert counted(room) == {PRINT: 5}
    keeper(room, acts).tick()
    whose = {one.scope: one.by for one in room.store.pauses()}
    assert whose["shop:pdd:s1"] == acts.who(PRINT), "the rule of the part is over, that of the whole holds"


def test_a_letter_counts_to_the_narrowest_part(room: Room) -> None:
    die(room, "s1")
    die(room, "s2")
    other = room.running(shop_id="t1", platform="temu")
    room.finish(other, "dead", error="x", error_kind="captcha", fingerprint=PRINT)
    causes = commands(room)
    causes.split_off(PRINT, "platform:pdd")
    causes.split_off(PRINT, "shop:pdd:s1")
    assert counted(room) == {PRINT: 1, "platform:pdd": 1, "shop:pdd:s1": 1}
    rows = CauseQueries(room.store).causes().rows
    assert [room.store.query(Query(terms=(*one.terms, equals("status", "dead")))).number.number for one in rows] == [
        1
    ] * 3


def test_a_part_is_ignored_by_itself_and_its_letters_come_back_when_it_is_joined(room: Room) -> None:
    die(room, "s1")
    stays = die(room, "s2")
    causes = commands(room)
    part = causes.split_off(PRINT, "shop:pdd:s1")
    assert len(causes.ignore(part).done) == 1
    assert counted(room) == {PRINT: 1}
    assert causes.ignore(PRINT).done == (stays,)
    causes.lift(PRINT)
    causes.join(part)
    assert counted(room) == {PRINT: 2}


def test_what_cannot_be_split_is_refused_with_the_reason(room: Room) -> None:
    die(room, "s1")
    causes = commands(room)
    for where, words in (
        ("node:x", "by a shop, a platform or a worker"),
        ("shop:", "by a shop, a platform or a worker"),
        ("shop:pdd:nobody", "no open letter"),
    ):
        with pytest.raises(UsageError, match=words):
            causes.split_off(PRINT, where)
    part = causes.split_off(PRINT, "platform:pdd")
    with pytest.raises(UsageError, match="already"):
        causes.split_off(PRINT, "platform:pdd")
    with pytest.raises(UsageError, match=f"a part of {PRINT}"):
        causes.split_off(part, "shop:pdd:s1")
    with pytest.raises(UsageError, match="join it again"):
        causes.merge([part], OTHER)
    with pytest.raises(UsageError, match="join it again"):
        causes.merge([PRINT], OTHER)
    with pytest.raises(UsageError, match="not split off"):
        causes.join(PRINT)
    with pytest.raises(NotAllowed):
        commands(room, "viewer").split_off(PRINT, "shop:pdd:s1")
    assert counted(room) == {"platform:pdd": 1}
