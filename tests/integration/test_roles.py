"""Roles are given, shown and taken back, on both pairs; a demotion holds at once, refusals are told once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from console.connection.open_connection import OpenConnection
from services import assembly, workforce
from services.assembly import Commands
from services.commands import operator
from services.commands.audit import REFUSED_MS, Audit
from services.commands.operator import Operator, current
from services.commands.roles import RoleCommands
from services.domain.errors import ConsoleError, NotAllowed, StoreError, StoreUnavailable, UsageError
from services.domain.fleet.worker import WorkerInfo
from services.engine import people
from tests.integration.fleet_rig import Fleet

ANN, BEN = "ann@desk-01", "ben@desk-02"


def roles_of(fleet: Fleet, who: str) -> RoleCommands:
    """What this person may do about roles."""
    store = fleet.engine.store
    return RoleCommands(store, Audit(store, who), current(store, who=who))


def acts(fleet: Fleet) -> list[tuple[str, str, str]]:
    """The whole trail, oldest first."""
    return [(one.who, one.action, one.outcome.partition(":")[0]) for one in reversed(fleet.engine.store.audit(100))]


def test_an_admin_gives_and_takes_roles(fleet: Fleet) -> None:
    ann = roles_of(fleet, ANN)
    assert ann.set(BEN, "viewer", note="only looks").of(BEN) == "operator"
    found = people.roles(fleet.engine.store)
    entry = found.entry(BEN)
    assert entry is not None
    assert (entry.role, entry.by, entry.note, entry.at > 0) == ("viewer", ANN, "only looks", True)
    assert current(fleet.engine.store, who=BEN).role == "viewer"
    with pytest.raises(NotAllowed):
        roles_of(fleet, BEN).set(BEN, "admin")
    ann.set_default("viewer")
    assert current(fleet.engine.store, who="cleo@desk-03").role == "viewer"
    ann.set(BEN, "operator")
    ann.remove(BEN)
    assert current(fleet.engine.store, who=BEN).role == "viewer"
    assert acts(fleet) == [
        (ANN, "role.set", "done"),
        (BEN, "role.set", "refused"),
        (ANN, "role.default", "done"),
        (ANN, "role.set", "done"),
        (ANN, "role.remove", "done"),
    ]


def test_one_admin_remains(fleet: Fleet) -> None:
    ann = roles_of(fleet, ANN)
    for word in ("viewer", "operator"):
        with pytest.raises(UsageError, match="only admin"):
            ann.set(ANN, word)
    with pytest.raises(UsageError, match="only admin"):
        ann.remove(ANN)
    ann.set(ANN, "admin")
    ann.set(BEN, "admin")
    roles_of(fleet, BEN).set(ANN, "viewer")
    with pytest.raises(NotAllowed):
        ann.set(ANN, "admin")
    assert people.roles(fleet.engine.store).admins() == (BEN,)


def test_two_admins_who_demote_each_other_at_once_leave_one(fleet: Fleet) -> None:
    store = fleet.engine.store
    ann = roles_of(fleet, ANN)
    for _ in range(5):
        ann.set(BEN, "admin")
        pair = [(roles_of(fleet, ANN), BEN), (roles_of(fleet, BEN), ANN)]

        def demote(one: tuple[RoleCommands, str]) -> bool:
            try:
                one[0].set(one[1], "viewer")
            except ConsoleError:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(demote, pair))
        (left,) = people.roles(store).admins()
        assert done.count(True) == 1
        roles_of(fleet, left).set(ANN, "admin")


def test_an_admin_cannot_be_removed_by_one_who_is_being_removed(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fleet.engine.store
    ann = roles_of(fleet, ANN)
    ann.set(BEN, "admin")
    ben, real = roles_of(fleet, BEN), store.remove_document

    def meanwhile(kind: str, name: str) -> None:
        monkeypatch.undo()
        with pytest.raises(StoreError):
            ben.remove(ANN)
        real(kind, name)

    monkeypatch.setattr(store, "remove_document", meanwhile)
    ann.remove(BEN)
    assert people.roles(store).admins() == (ANN,)


def test_who_is_demoted_at_this_moment_gives_no_role_any_more(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fleet.engine.store
    ann = roles_of(fleet, ANN)
    ann.set(BEN, "admin")
    ben, real = roles_of(fleet, BEN), store.lead

    def meanwhile(role: str, holder: str, ttl_ms: int) -> bool:
        monkeypatch.undo()
        ben.set(ANN, "viewer")
        return real(role, holder, ttl_ms)

    monkeypatch.setattr(store, "lead", meanwhile)
    with pytest.raises(NotAllowed):
        ann.set("cat@desk-03", "admin")
    assert people.roles(store).admins() == (BEN,)


def test_the_role_of_all_others_is_taken_back_only_where_it_is_still_that(fleet: Fleet) -> None:
    ann = roles_of(fleet, ANN)
    assert ann.set_default("viewer").default == "operator"
    with pytest.raises(UsageError):
        ann.set_default("operator", instead="operator")
    assert people.roles(fleet.engine.store).default == "viewer"
    ann.set_default("operator", instead="viewer")
    assert people.roles(fleet.engine.store).default == "operator"


def test_a_role_is_taken_back_only_where_it_is_still_that(fleet: Fleet) -> None:
    ann, store = roles_of(fleet, ANN), fleet.engine.store
    ann.set(BEN, "viewer")
    for back in (lambda: ann.set(BEN, "operator", instead="admin"), lambda: ann.remove(BEN, instead="admin")):
        with pytest.raises(UsageError):
            back()
        assert people.roles(store).of(BEN) == "viewer"
    ann.set(BEN, "operator", instead="viewer")
    assert ann.remove(BEN, instead="operator").of(BEN) == "operator"


def test_nobody_is_an_admin_by_default(fleet: Fleet) -> None:
    with pytest.raises(UsageError) as caught:
        roles_of(fleet, ANN).set_default("admin")
    assert caught.value.field == "role"
    assert people.roles(fleet.engine.store).default == "operator"


@pytest.mark.parametrize("who", ["ann", "@desk", "ann@", "a\nb@c", "x" * 200 + "@d", "‮ann@desk", " ann@desk", ""])
def test_nobody_is_called_so(fleet: Fleet, who: str) -> None:
    with pytest.raises(UsageError) as caught:
        roles_of(fleet, ANN).set(who, "viewer")
    assert caught.value.field == "who"
    assert fleet.engine.store.documents("role").keys() == {ANN}


def test_a_demotion_holds_in_programs_that_are_open(fleet: Fleet) -> None:
    roles_of(fleet, ANN)
    store = fleet.engine.store
    mine: Commands = assembly.commands(fleet.engine)
    assert mine.operator.role == "operator"
    mine.fleet.pause("all")
    roles_of(fleet, ANN).set(operator.person(), "viewer")
    with pytest.raises(NotAllowed, match="is viewer"):
        mine.fleet.resume("all")
    assert [pause.scope for pause in store.pauses()] == ["all"]
    roles_of(fleet, ANN).set(operator.person(), "operator")
    assert mine.fleet.resume("all")


def test_a_viewer_looks_at_the_log_of_a_worker_and_tells_it_nothing_else(fleet: Fleet) -> None:
    roles_of(fleet, ANN).set_default("viewer")
    store = fleet.engine.store
    worker = WorkerInfo(worker="w1", host="desk-01", pid=7)
    store.heartbeat(worker)
    mine = assembly.commands(fleet.engine)
    assert mine.operator.role == "viewer"
    mine.fleet.tell_worker("w1", "log=300")
    with pytest.raises(NotAllowed, match="is viewer"):
        mine.fleet.tell_worker("w1", "drain")
    assert store.heartbeat(worker).orders == ("log=300",)
    assert [act[1:] for act in acts(fleet)[-2:]] == [("worker.log", "done"), ("worker.drain", "refused")]


def test_a_viewer_starts_no_worker(fleet: Fleet) -> None:
    roles_of(fleet, ANN)
    workforce.refuse_viewer(fleet.engine)
    roles_of(fleet, ANN).set(operator.person(), "viewer")
    with pytest.raises(NotAllowed, match="is viewer"):
        workforce.refuse_viewer(fleet.engine)
    assert acts(fleet)[-1] == (operator.person(), "worker.start", "refused")


def test_the_window_of_a_viewer_starts_no_worker(fleet: Fleet) -> None:
    roles_of(fleet, ANN)
    roles_of(fleet, ANN).set(operator.person(), "viewer")
    session = OpenConnection(fleet.settings)
    try:
        with pytest.raises(NotAllowed, match="is viewer"):
            session.local.start(1)
        assert not session.local.name
    finally:
        session.close()
    assert acts(fleet)[-1] == (operator.person(), "worker.start", "refused")


def test_refusals_are_told_once_for_each_person_and_act(fleet: Fleet) -> None:
    roles_of(fleet, ANN).set_default("viewer")
    store = fleet.engine.store
    for _ in range(20):  # each with a writer of its own, as a shell loop has
        with pytest.raises(NotAllowed):
            roles_of(fleet, BEN).set(BEN, "admin")
        with pytest.raises(NotAllowed):
            roles_of(fleet, BEN).remove(ANN)
        with pytest.raises(NotAllowed):
            roles_of(fleet, "cleo@desk-03").remove(ANN)
    assert acts(fleet)[1:] == [
        (BEN, "role.set", "refused"),
        (BEN, "role.remove", "refused"),
        ("cleo@desk-03", "role.remove", "refused"),
    ]
    assert REFUSED_MS >= 600_000
    assert "needs the role admin" in store.audit(1)[0].outcome


def test_a_refusal_stands_also_where_the_audit_is_silent(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fleet.engine.store
    roles_of(fleet, ANN)
    roles_of(fleet, ANN).set_default("viewer")

    def silent(*_: object) -> None:
        raise StoreUnavailable("nobody answers")

    monkeypatch.setattr(store, "append_audit", silent)
    with pytest.raises(NotAllowed):
        roles_of(fleet, BEN).set(BEN, "admin")
    with pytest.raises(StoreUnavailable):
        roles_of(fleet, ANN).set(BEN, "admin")
    assert people.roles(store).admins() == (ANN,)


def test_what_is_tried_through_a_read_only_connection_is_told(fleet: Fleet) -> None:
    looking = fleet.open(read_only=True)
    mine = assembly.commands(looking)
    for _ in range(3):
        with pytest.raises(NotAllowed, match="read-only"):
            mine.fleet.pause("all")
    assert acts(fleet) == [(operator.person(), "pause", "refused")]
    assert mine.operator == Operator(who=operator.person(), role="viewer", read_only=looking.closed)
    assert fleet.engine.store.pauses() == []
