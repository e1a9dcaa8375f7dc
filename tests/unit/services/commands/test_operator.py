"""Who acts: the first person a store sees is its admin, the others are operators until somebody says otherwise."""

from __future__ import annotations

import getpass

import pytest

from services.commands import operator
from services.commands.operator import Operator, current
from services.domain.errors import NotAllowed
from tests.unit.services.engine.room import Room


def as_user(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: name)
    monkeypatch.setattr(operator.socket, "gethostname", lambda: "desk")


def test_the_first_is_admin_and_stays_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, "ann")
    assert current(room.store) == Operator(who="ann@desk", role="admin")
    as_user(monkeypatch, "ben")
    assert current(room.store).role == "operator"
    as_user(monkeypatch, "ann")
    assert current(room.store).role == "admin"


@pytest.mark.parametrize(
    ("body", "role"),
    [('{"role": "viewer"}', "viewer"), ('{"role": "king"}', "viewer"), ("no json", "viewer"), ("[]", "viewer")],
)
def test_what_is_not_understood_permits_least(
    room: Room, monkeypatch: pytest.MonkeyPatch, body: str, role: str
) -> None:
    as_user(monkeypatch, "ann")
    room.store.put_document("role", "ann@desk", body)
    assert current(room.store).role == role


def test_a_machine_without_users_has_a_name_too(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid 1000 is unknown")

    as_user(monkeypatch, "x")
    monkeypatch.setattr(getpass, "getuser", nobody)
    assert current(room.store).who == "unknown@desk"


def test_a_role_includes_those_below_it() -> None:
    Operator(who="a", role="admin").need("operator")
    Operator(who="a", role="operator").need("operator")
    with pytest.raises(NotAllowed, match="needs the role admin"):
        Operator(who="a", role="operator").need("admin")
