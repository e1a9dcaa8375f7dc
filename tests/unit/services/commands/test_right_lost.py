"""A long act ends where its person's role is taken away: what was done is told, what was not is left alone."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from services.commands import tasks as tasks_
from services.commands.audit import Audit
from services.commands.bulk.options import Options, Progress
from services.commands.operator import Operator
from services.commands.outcome import Outcome
from services.commands.roles import RoleCommands
from services.domain import audit
from services.domain.errors import NotAllowed
from services.domain.fleet import role as roles
from services.domain.task.record import Task
from services.engine import people
from services.engine.spec import TaskSpec
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room

MANY, FEW = 45, 20
ANN = "ann@desk"


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks_, "BATCH", FEW)


def is_now(room: Room, role: str, who: str = ANN) -> None:
    room.store.put_document(roles.KIND, who, roles.dump(role))


def demoted_after(room: Room, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Ann is a viewer from this change of records on."""
    real, left = room.store.apply, [calls]

    def apply(*args: object, **more: object) -> object:
        answer = real(*args, **more)  # type: ignore[arg-type]
        left[0] -= 1
        if left[0] == 0:
            is_now(room, "viewer")
        return answer

    monkeypatch.setattr(room.store, "apply", apply)


def waiting(room: Room, desk: Desk) -> list[str]:
    specs = [TaskSpec(platform="temu", shop_id="s1", task_type="t", payload={"n": n}) for n in range(MANY)]
    return [task.task_id for task in desk.tasks.create(specs, origin="test").created]


def dead(room: Room, count: int = MANY) -> list[str]:
    return [room.dead(shop_id=f"s{number}").task_id for number in range(count)]


def told(outcome: Outcome, done: int) -> None:
    assert len(outcome.done) == done
    assert {one.why.code for one in outcome.skipped} == {"role.needed"}
    assert len(outcome.done) + len(outcome.skipped) == MANY, "none of them is forgotten"


ACTS: dict[str, tuple[Callable[[Room, Desk], list[str]], Callable[[Desk, list[str]], Outcome]]] = {
    "cancel": (waiting, lambda desk, ids: desk.tasks.cancel(ids)),
    "triage": (lambda room, _desk: dead(room), lambda desk, ids: desk.dead_letters.set_triage(ids, "ignored")),
    "republish": (lambda room, _desk: dead(room), lambda desk, ids: desk.dead_letters.republish(ids)),
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ACTS)
def test_the_right_is_looked_at_anew_before_each_portion(
    room: Room, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make, act = ACTS[name]
    is_now(room, "operator")
    desk = desk_of(room, known=True)
    ids = make(room, desk)
    demoted_after(room, monkeypatch, 1)
    outcome = act(desk, ids)
    told(outcome, FEW)
    counts, _places = audit.parted(room.store.audit(1)[0].outcome)
    assert counts == f"partly: {FEW} done, {MANY - FEW} refused: role.needed"
    with pytest.raises(NotAllowed):
        act(desk, ids)


@pytest.mark.timeout(120)
def test_an_import_ends_where_its_admin_is_none_any_more(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    is_now(room, "admin")
    desk = desk_of(room, known=True)
    at = room.store.now_ms()
    one = Task(task_id="", platform="temu", shop_id="s1", task_type="t", status="pending", created_at=at)
    tasks = [msgspec.structs.replace(one, task_id=f"i{n}", payload=f'{{"n":{n}}}') for n in range(MANY)]
    demoted_after(room, monkeypatch, 1)
    outcome = desk.records.import_records(tasks, {})
    told(outcome, FEW)


def test_a_run_that_takes_hours_ends_with_its_persons_right(room: Room) -> None:
    is_now(room, "operator")
    desk = desk_of(room, known=True)
    ids = dead(room, 5)

    def watch(progress: Progress) -> None:
        if progress.done == 2:
            is_now(room, "viewer")

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(rate=60), on_progress=watch)
    assert (ended.outcome.done, ended.left) == (tuple(ids[:2]), tuple(ids[2:]))
    assert ended.why is not None
    assert "operator" in str(ended.why.params["error"])
    assert [room.task(task_id).triage for task_id in ids[2:]] == ["open"] * 3


def test_who_was_demoted_while_they_waited_gives_no_role(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    ben, cleo = "ben@desk", "cleo@desk"
    for who in (ANN, ben, cleo):
        is_now(room, "admin", who)
    commands = RoleCommands(room.store, Audit(room.store, ANN), Operator(who=ANN, role="admin", known=True))
    real = room.store.lead

    def meanwhile(*args: object) -> bool:
        got = real(*args)  # type: ignore[arg-type]
        if args[0] == "roles":
            is_now(room, "viewer")
        return got

    monkeypatch.setattr(room.store, "lead", meanwhile)
    with pytest.raises(NotAllowed):
        commands.set(cleo, "viewer")
    with pytest.raises(NotAllowed):
        commands.remove(ben)
    assert set(people.roles(room.store).admins()) == {ben, cleo}
