"""The moves between states, walked at random through every operation that the store knows."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.domain.task import classify
from services.domain.task.retry import RetryPolicy, decide
from services.domain.task.status import (
    ACTIVE,
    CANCELLABLE,
    CLAIMABLE,
    MOVABLE,
    TERMINAL,
    WAITING,
    Status,
)
from tests.support.moves import ALLOWED, may_become
from tests.unit.services.domain.builders import NOW, task

#: what each operation may make of each state, as services/domain/change describes it
OPERATIONS: dict[str, dict[Status, set[Status]]] = {
    "published": {Status.PENDING: {Status.QUEUED}},
    "claim": {
        status: {Status.RUNNING, Status.BLOCKED, Status.SUCCEEDED, Status.HELD} - {status} for status in CLAIMABLE
    },
    "cancel": {status: {Status.CANCELLED} for status in CANCELLABLE},
    "move": {status: {Status.PENDING} - {status} for status in MOVABLE},
    "resolve": {Status.HELD: {Status.PENDING, Status.SUCCEEDED, Status.DEAD}},
    "nudge": {Status.SCHEDULED: {Status.PENDING}, Status.RETRYING: {Status.PENDING}},
    "open_shop": {Status.BLOCKED: {Status.PENDING}},
    "recover": {Status.PENDING: {Status.HELD}, Status.QUEUED: {Status.HELD}},
}


def test_the_groups_of_states_cover_all_of_them() -> None:
    assert set(Status) == ACTIVE | TERMINAL == set(ALLOWED)
    assert not ACTIVE & TERMINAL
    assert WAITING < ACTIVE
    assert all(not ALLOWED[status] for status in TERMINAL)
    assert all(ALLOWED[status] for status in ACTIVE)


def test_every_operation_makes_only_allowed_moves() -> None:
    for name, moves in OPERATIONS.items():
        for current, targets in moves.items():
            assert {target for target in targets if not may_become(current, target)} == set(), (name, current)


def test_every_allowed_move_belongs_to_an_operation() -> None:
    finish = {
        Status.SUCCEEDED, Status.RETRYING, Status.DEAD, Status.HELD, Status.CANCELLED, Status.PENDING, Status.BLOCKED,
    }  # fmt: skip
    made = {(Status.RUNNING, target) for target in finish}
    made |= {(current, target) for moves in OPERATIONS.values() for current in moves for target in moves[current]}
    # The archiver buries what the broker gave up, by claim and finish in one batch; planned tasks park when due.
    buried = {(status, Status.DEAD) for status in CLAIMABLE}
    assert {(a, b) for a in ALLOWED for b in ALLOWED[a]} - made - buried == {(Status.SCHEDULED, Status.BLOCKED)}


class Life(RuleBasedStateMachine):
    """One task from creation on; every step must be an allowed move, and a terminal state is final."""

    @initialize(first=st.sampled_from([Status.PENDING, Status.SCHEDULED]), idempotent=st.booleans())
    def create(self, first: Status, idempotent: bool) -> None:
        self.path = [first]
        self.idempotent = idempotent
        self.retries, self.losses = 0, 0

    @property
    def status(self) -> Status:
        return self.path[-1]

    @precondition(lambda self: self.status not in TERMINAL and self.status != Status.RUNNING)
    @rule(name=st.sampled_from(sorted(OPERATIONS)), data=st.data())
    def operate(self, name: str, data: st.DataObject) -> None:
        targets = OPERATIONS[name].get(self.status)
        if targets:
            self.path.append(data.draw(st.sampled_from(sorted(targets))))

    @precondition(lambda self: self.status == Status.RUNNING)
    @rule()
    def succeed(self) -> None:
        self.path.append(Status.SUCCEEDED)

    @precondition(lambda self: self.status == Status.RUNNING)
    @rule(kind=st.sampled_from(classify.KINDS))
    def fail(self, kind: str) -> None:
        record = task(retries=self.retries, idempotent=self.idempotent, losses=(NOW,) * self.losses)
        made = decide(record, kind, RetryPolicy(), NOW)
        self.retries += made.counted
        self.losses += made.lost
        self.path.append(made.to)

    @precondition(lambda self: self.status in TERMINAL)
    @rule(wish=st.sampled_from(Status))
    def rest(self, wish: Status) -> None:
        assert not may_become(self.status, wish)

    @invariant()
    def moves_are_allowed(self) -> None:
        if hasattr(self, "path"):
            for current, target in zip(self.path, self.path[1:], strict=False):
                assert may_become(current, target)
            assert self.retries <= 3
            assert self.losses <= 3


TestLife = Life.TestCase
