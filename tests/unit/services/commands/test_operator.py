"""Who acts: the first person a store sees is its admin, others have the fleet's default until an admin says else."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from services import account
from services.commands.operator import Operator, current, person
from services.domain.errors import NotAllowed
from services.domain.fleet import role
from services.engine import people
from tests.unit.services.engine.room import Room


def test_the_first_is_admin_and_stays_it(room: Room) -> None:
    assert current(room.store, who="ann@desk") == Operator(who="ann@desk", role="admin")
    assert current(room.store, who="ben@desk").role == "operator"
    assert current(room.store, who="ann@desk").role == "admin"


def test_of_many_who_come_first_at_once_one_is_admin(room: Room) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: current(room.store, who=f"p{number}@desk").role, range(8)))
    assert sorted(found) == ["admin"] + ["operator"] * 7


def test_a_first_person_who_fell_over_meanwhile_is_admin_later(room: Room) -> None:
    room.store.add_document(role.FLEET, role.FIRST, json.dumps("ann@desk"))
    assert current(room.store, who="ben@desk").role == "operator"
    assert current(room.store, who="ann@desk").role == "admin"


def test_whoever_has_no_role_of_their_own_has_the_default(room: Room) -> None:
    current(room.store, who="ann@desk")
    ben = current(room.store, who="ben@desk")
    assert room.store.documents("role").keys() == {"ann@desk"}
    room.store.put_document("fleet", "default_role", '{"role": "viewer"}')
    assert current(room.store, who="ben@desk").role == "viewer"
    assert ben.now(room.store).role == "viewer", "also in a program that was open already"


def test_an_older_programs_entry_goes_on(room: Room) -> None:
    room.store.put_document("role", "ann@desk", '{"role": "operator"}')
    assert current(room.store, who="ann@desk").role == "operator"
    assert current(room.store, who="ben@desk").role == "operator"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"role": "viewer"}', "viewer"),
        ('{"role": "king"}', "viewer"),
        ('{"role": 7}', "viewer"),
        ("no json", "viewer"),
        ("[]", "viewer"),
        ("null", "viewer"),
        ("[" * 9000, "viewer"),
    ],
)
def test_what_is_not_understood_permits_least(room: Room, body: str, expected: str) -> None:
    room.store.put_document("role", "ann@desk", body)
    assert current(room.store, who="ann@desk").role == expected
    assert current(room.store, who="ben@desk").role == "operator", "nobody becomes admin by it"
    found = people.roles(room.store)
    assert found.of("ann@desk") == expected


@pytest.mark.parametrize("body", ['{"role": "admin"}', '{"role": "king"}', "no json", "[]"])
def test_a_default_that_cannot_be_one_permits_least(room: Room, body: str) -> None:
    current(room.store, who="ann@desk")
    room.store.put_document("fleet", "default_role", body)
    assert current(room.store, who="ben@desk").role == "viewer"


@pytest.mark.parametrize("body", ['{"since": 99999999999999999999}', '{"since": -1}', "no", "[]", '{"since": true}'])
def test_a_note_of_who_was_here_may_be_nonsense(room: Room, body: str) -> None:
    room.store.put_document("people", "ann@desk", body)
    assert people.roles(room.store).people[0].since == 0


def test_it_is_the_systems_account_that_acts(room: Room) -> None:
    assert current(room.store).who == person()
    assert person().partition("@")[0] == account.name()


def test_a_role_includes_those_below_it() -> None:
    Operator(who="a", role="admin").need("operator")
    Operator(who="a", role="operator").need("operator")
    with pytest.raises(NotAllowed, match="needs the role admin"):
        Operator(who="a", role="operator").need("admin")
