"""The step of the watch: when a person is told, how often, and when it is over."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from services.domain.alerts import incident as incidents
from services.domain.alerts.incident import (
    AGAIN,
    ANSWERED,
    CALMING,
    DOCUMENT,
    ESCALATED,
    MUTED,
    NAMES_KEPT,
    OPEN,
    RAISED,
    RESOLVED,
    WAITING,
    WORSE,
    Answer,
    Finding,
    Incident,
    Words,
    related,
)
from services.domain.alerts.judge import Notice, judge
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.text.message import Message

RULE = Rule(name="rate", measure="failure_rate", for_s=60, calm_s=30, again_s=600, escalate_s=900)
NOW = 1_700_000_000_000


def seen(key: str = "k", count: int = 1, rule: str = "rate", **fields: object) -> Finding:
    return Finding(rule=rule, key=key, words=Words(title=Message("alert.failing")), count=count, **fields)  # type: ignore[arg-type]


class Desk:
    """What a leader does with the answers, in memory."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = {one.name: one for one in rules or (RULE,)}
        self.open: dict[str, Incident] = {}
        self.over: list[Incident] = []
        self.sent: list[Notice] = []
        self.now = NOW
        self.given = 0

    def at(self, seconds: float, *findings: Finding, unknown: Sequence[str] = ()) -> list[str]:
        """A look so many seconds later; what was told."""
        self.now += round(seconds * 1000)
        before = len(self.sent)
        for _ in range(2):  # the keeper raises what needs no patience in the same look
            changes = judge(findings, self.open.values(), self.rules, self.now, unknown)
            for one in changes.opened:
                assert one.key not in self.open
                self.given += 1
                self.open[one.key] = replace(one, id=f"INC-{self.given}")
            for one in changes.changed:
                self.open[one.key] = one
            for one in changes.dropped:
                del self.open[one.key]
            for one in changes.resolved:
                self.over.append(self.open.pop(one.key))
                self.over[-1] = one
            self.sent += changes.notices
        return [one.told.what for one in self.sent[before:]]

    def answer(self, **fields: object) -> None:
        for key, one in self.open.items():
            self.open[key] = replace(one, answer=Answer(**fields))  # type: ignore[arg-type]

    @property
    def state(self) -> str:
        (one,) = self.open.values()
        return one.state(self.now)


def test_it_must_hold_before_anybody_is_told_and_is_told_once() -> None:
    desk = Desk()
    assert desk.at(0, seen()) == []
    assert desk.state == WAITING
    assert desk.at(59, seen()) == []
    assert desk.at(1, seen()) == [RAISED]
    assert desk.state == OPEN
    assert desk.at(5, seen()) == []


def test_what_is_gone_before_its_time_leaves_no_trace() -> None:
    desk = Desk()
    desk.at(0, seen())
    assert desk.at(30) == []
    assert not desk.open
    assert desk.at(40, seen()) == []


def test_what_holds_for_long_already_is_told_at_once() -> None:
    desk = Desk()
    assert desk.at(0, seen(since_ms=NOW - 61_000)) == [RAISED]


def test_it_is_calm_for_a_while_before_it_is_resolved_and_a_short_gap_is_none() -> None:
    desk = Desk(replace(RULE, for_s=0))
    assert desk.at(0, seen()) == [RAISED]
    assert desk.at(5) == []
    assert desk.state == CALMING
    assert desk.at(29, seen()) == []
    assert desk.state == OPEN
    desk.at(5)
    assert desk.at(29) == []
    assert desk.at(1) == [RESOLVED]
    assert desk.over[0].state(desk.now) == RESOLVED


def test_it_is_told_again_until_somebody_answers_and_escalates_once() -> None:
    desk = Desk(replace(RULE, for_s=0))
    told = [desk.at(300, seen()) for _ in range(6)]
    assert told == [[RAISED], [], [AGAIN], [ESCALATED], [], [AGAIN]]
    assert desk.sent[-1].told.to == ("duty", "lead")
    desk.answer(answered_by="ann")
    assert desk.state == ANSWERED
    assert [desk.at(900, seen()) for _ in range(4)] == [[], [], [], []]
    assert [desk.at(31), desk.at(31)] == [[], [RESOLVED]]


def test_a_muted_one_is_silent_and_goes_on_when_that_is_over() -> None:
    desk = Desk(replace(RULE, for_s=0, escalate_s=0))
    desk.at(0, seen())
    desk.answer(muted_until=NOW + 3_600_000)
    assert [desk.at(700, seen()) for _ in range(5)] == [[], [], [], [], []]
    assert desk.state == MUTED
    assert desk.at(200, seen()) == [AGAIN]


def test_a_muted_one_that_ends_says_nothing() -> None:
    desk = Desk(replace(RULE, for_s=0, calm_s=0))
    desk.at(0, seen())
    desk.answer(muted_until=NOW + 3_600_000)
    assert desk.at(5) == []
    assert len(desk.over) == 1


@pytest.mark.parametrize("again_s", [0, 300])
def test_one_that_is_muted_until_it_changes_is_silent_until_it_has_grown(again_s: int) -> None:
    desk = Desk(replace(RULE, for_s=0, again_s=again_s, escalate_s=0))
    desk.at(0, seen(count=10))
    desk.answer(muted_until=NOW + 10**9, muted_at=NOW, changes_from=10)
    assert [desk.at(700, seen(count=count)) for count in (10, 14, 3)] == [[], [], []]
    assert desk.state == MUTED
    (one,) = desk.open.values()
    assert one.again_at(desk.now) == 0, "nobody knows when"
    assert desk.at(5, seen(count=15)) == [WORSE]
    assert desk.state == OPEN
    assert desk.at(5, seen(count=9)) == [], "it is over for good, also where it shrinks again"
    assert desk.state == OPEN
    desk.answer(muted_until=NOW + 10**9, muted_at=desk.now, changes_from=9)
    assert desk.state == MUTED, "another mute is another one"


def test_one_that_is_muted_until_it_changes_is_told_of_when_it_is_worse_and_when_it_is_over() -> None:
    desk = Desk(replace(RULE, for_s=0, again_s=0, escalate_s=0), replace(RULE, name="broken", for_s=0))
    desk.at(0, seen())
    desk.answer(muted_until=NOW + 10**9, muted_at=NOW, changes_from=1)
    assert desk.at(30, seen(), seen(rule="broken", stage=1)) == [WORSE]
    assert desk.state == OPEN
    desk.answer(muted_until=NOW + 10**9, muted_at=desk.now, changes_from=1)
    assert desk.at(5) == []
    assert desk.at(31) == [RESOLVED]


def test_growth_brings_no_message_but_a_line() -> None:
    desk = Desk(replace(RULE, for_s=0))
    desk.at(0, seen(count=9))
    assert [desk.at(5, seen(count=count)) for count in (10, 14, 500)] == [[], [], []]
    (one,) = desk.open.values()
    assert (one.count, one.worst) == (500, 500)
    assert [line.message.code for line in one.lines] == ["alert.line_raised", "alert.line_grew", "alert.line_grew"]
    desk.at(5, seen(count=3))
    assert [(one.count, one.worst) for one in desk.open.values()] == [(3, 500)]


def test_what_becomes_worse_is_told_once_more_whoever_answered_it() -> None:
    desk = Desk(replace(RULE, for_s=0), replace(RULE, name="broken", for_s=20, severity="critical"))
    assert desk.at(0, seen()) == [RAISED]
    desk.answer(answered_by="ann")
    worse = seen(rule="broken", stage=1, since_ms=NOW + 5_000)
    assert [desk.at(10, worse, seen()), desk.at(10, worse, seen())] == [[], []]
    assert desk.at(5, worse, seen()) == [WORSE]
    assert desk.sent[-1].incident.rule.name == "broken"
    assert [desk.at(5, worse), desk.at(5, seen()), desk.at(5, worse)] == [[], [], []]
    assert [desk.at(31), desk.at(31)] == [[], [RESOLVED]]


def test_what_became_worse_in_a_mute_is_told_when_that_is_over() -> None:
    desk = Desk(replace(RULE, for_s=0, again_s=0, escalate_s=0), replace(RULE, name="broken", for_s=0))
    desk.at(0, seen())
    desk.answer(muted_until=NOW + 60_000)
    assert desk.at(30, seen(), seen(rule="broken", stage=1)) == []
    assert desk.at(30, seen(), seen(rule="broken", stage=1)) == [WORSE]


def test_what_is_over_is_told_to_everybody_who_heard_of_it() -> None:
    first, second = replace(RULE, for_s=0, channels=("day",)), replace(RULE, name="broken", for_s=0, channels=("boss",))
    desk = Desk(first, second)
    desk.at(0, seen())
    assert desk.at(5, seen(rule="broken", stage=1)) == [WORSE]
    assert set(desk.sent[-1].told.to) == {"day", "boss"}
    desk.at(31)
    assert desk.at(31) == [RESOLVED]
    assert set(desk.sent[-1].told.to) == {"day", "boss"}


def test_what_is_bad_from_its_beginning_is_told_once() -> None:
    desk = Desk(replace(RULE, for_s=0), replace(RULE, name="broken", for_s=0))
    assert desk.at(0, seen(), seen(rule="broken", stage=1)) == [RAISED]
    assert desk.sent[0].incident.rule.name == "broken"


def test_a_person_escalates_at_once_also_what_somebody_answered() -> None:
    desk = Desk(replace(RULE, for_s=0))
    desk.at(0, seen())
    desk.answer(answered_by="ann", escalate_at=desk.now + 1)
    assert desk.at(5, seen()) == [ESCALATED]
    assert desk.at(5, seen()) == []


def test_a_rule_that_could_not_look_changes_nothing() -> None:
    desk = Desk(replace(RULE, for_s=0, calm_s=0))
    desk.at(0, seen())
    assert desk.at(500, unknown=("rate",)) == []
    assert desk.state == OPEN
    assert desk.at(5, unknown=("another",)) == [RESOLVED]


def test_a_rule_that_is_switched_off_sees_nothing() -> None:
    desk = Desk(replace(RULE, for_s=0, enabled=False))
    assert desk.at(0, seen()) == []
    assert not desk.open


def test_no_incident_names_more_than_one_of_its_rules_has_counted() -> None:
    first, second = replace(RULE, for_s=0), replace(RULE, name="dead", for_s=0)
    desk = Desk(first, second)
    desk.at(0, seen("cause:timeout", 2, names=("a", "b")), seen("cause:timeout", 2, rule="dead", names=("b", "c")))
    (one,) = desk.open.values()
    assert (one.count, one.names) == (2, ("a", "b")), "those of the title"
    desk.at(5, seen("cause:timeout", 2, names=("a", "b")), seen("cause:timeout", 3, rule="dead", names=("b", "c", "d")))
    (one,) = desk.open.values()
    assert (one.count, one.names) == (3, ("b", "c", "d")), "those of the further fact"


def test_an_incident_keeps_the_keys_of_more_shops_than_it_names() -> None:
    desk = Desk(replace(RULE, for_s=0))
    shops = tuple(f"pdd:s{number}" for number in range(NAMES_KEPT + 5))
    desk.at(0, seen("cause:timeout", len(shops), names=shops, shops=shops))
    (one,) = desk.open.values()
    assert (len(one.names), one.shops) == (NAMES_KEPT, shops)
    assert DOCUMENT.load(DOCUMENT.dump(one)) == one
    older = json.loads(DOCUMENT.dump(one))
    del older["shops"]
    assert DOCUMENT.load(json.dumps(older)) == replace(one, shops=())


def test_what_several_rules_see_of_one_cause_is_one_incident() -> None:
    first, second = replace(RULE, for_s=0), replace(RULE, name="dead", for_s=0)
    desk = Desk(first, second)
    assert desk.at(0, seen("cause:timeout", 4)) == [RAISED]
    assert desk.at(5, seen("cause:timeout", 4), seen("cause:timeout:sync", 400, rule="dead")) == []
    (one,) = desk.open.values()
    assert (one.rule.name, one.sources, one.count) == ("rate", ("dead", "rate"), 400)
    assert desk.at(5, seen("cause:timeout:sync", 400, rule="dead")) == []
    assert desk.state == OPEN
    assert desk.at(5, seen("cause:timeout_other", rule="dead")) == [RAISED]


def test_a_severe_rule_does_not_wait_for_one_that_saw_the_same_matter_before() -> None:
    soon = Rule(name="dead", measure="dead_letters", severity=CRITICAL, channels=("boss",))
    desk = Desk(RULE, soon)
    assert desk.at(0, seen()) == []
    assert desk.at(5, seen(), seen(key="k:flow", rule="dead")) == [RAISED]
    (notice,) = desk.sent
    assert (notice.incident.rule.name, notice.told.to) == ("dead", ("boss",))
    assert desk.at(60, seen(), seen(key="k:flow", rule="dead")) == [RAISED], "those of the other rule hear it, too"
    assert desk.sent[1].told.to == RULE.channels
    assert desk.at(5, seen(), seen(key="k:flow", rule="dead")) == []


def test_a_rule_that_comes_later_tells_only_whom_nobody_told() -> None:
    strict = Rule(name="dead", measure="dead_letters", severity=CRITICAL, channels=("duty", "boss"))
    desk = Desk(replace(RULE, for_s=0), strict)
    assert desk.at(0, seen()) == [RAISED]
    assert desk.at(5, seen(), seen(rule="dead")) == [RAISED]
    assert desk.sent[1].told.to == ("boss",)
    assert desk.sent[1].incident.rule.severity == CRITICAL
    assert desk.at(5, seen()) == [], "as severe as it was at its worst"
    assert next(iter(desk.open.values())).rule.severity == CRITICAL


@pytest.mark.parametrize("answer", [{"answered_by": "ann"}, {"muted_until": NOW + 60_000}])
def test_who_is_on_it_spares_those_of_a_rule_that_comes_later(answer: dict[str, object]) -> None:
    desk = Desk(replace(RULE, for_s=0), Rule(name="dead", measure="dead_letters", channels=("boss",)))
    desk.at(0, seen())
    desk.answer(**answer)
    assert desk.at(5, seen(), seen(rule="dead")) == []


def test_what_was_over_when_it_was_found_is_told_once() -> None:
    desk = Desk(replace(RULE, for_s=0, calm_s=0, again_s=1))
    assert desk.at(0, seen(passed=True)) == [RAISED]
    assert desk.at(5, seen(passed=True)) == []
    assert desk.at(5) == []
    assert len(desk.over) == 1


def test_an_open_incident_keeps_the_rule_it_began_with() -> None:
    desk = Desk(replace(RULE, for_s=0))
    desk.at(0, seen())
    desk.rules["rate"] = replace(RULE, version=2, calm_s=0)
    desk.at(5)
    assert desk.at(10) == []
    assert desk.at(20) == [RESOLVED]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("a", "a", True), ("a", "a:b", True), ("a:b", "a", True), ("a", "ab", False), ("a:b", "a:c", False)],
)
def test_keys_that_name_one_matter(one: str, other: str, same: bool) -> None:
    assert related(one, other) is same


KEYS = st.sampled_from(["lane:high", "cause:x", "cause:x:f", "cause:x:g", "cause:y"])
LOOKS = st.lists(
    st.tuples(
        st.integers(1, 400),
        st.lists(st.tuples(KEYS, st.integers(1, 600), st.sampled_from(["rate", "dead"])), max_size=4),
        st.sampled_from(["", "answer", "mute", "escalate"]),
        st.sampled_from([(), ("rate",)]),
    ),
    max_size=25,
)


@given(LOOKS)
def test_whatever_happens_no_matter_is_open_twice_and_no_step_is_told_twice(looks: list[tuple]) -> None:  # type: ignore[type-arg]
    desk = Desk(RULE, replace(RULE, name="dead", for_s=0, calm_s=0, again_s=50, escalate_s=100))
    for seconds, found, act, unknown in looks:
        desk.at(seconds, *(seen(key, count, rule) for key, count, rule in found), unknown=unknown)
        if act:
            desk.answer(
                answered_by="ann" if act == "answer" else "",
                muted_until=desk.now + 100_000 if act == "mute" else 0,
                escalate_at=desk.now if act == "escalate" else 0,
            )
        steps = [(one.incident.id, one.told.step) for one in desk.sent]
        assert len(steps) == len(set(steps))
        assert len({incidents.slot_of(one) for one in desk.open}) == len(desk.open)
    desk.answer()
    for _ in range(3):
        desk.at(200)
    assert not desk.open
    for ended in desk.over:
        kinds = [one.told.what for one in desk.sent if one.incident.id == ended.id]
        assert kinds[0] == RAISED
        assert kinds.count(RAISED) == 1
        assert kinds.count(RESOLVED) <= 1
