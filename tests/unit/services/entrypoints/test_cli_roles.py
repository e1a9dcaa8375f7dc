"""``role``: who may do what, by words and as one document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.commands.operator import person

Run = Callable[..., tuple[int, Any]]
ANN = "ann@desk-01"


def test_a_person_of_a_fresh_fleet_is_its_admin_and_gives_roles(run: Run) -> None:
    code, found = run("role", "list")
    me = person()
    assert (code, found["default"], found["you"]) == (0, "operator", {"who": me, "role": "admin", "read_only": False})
    assert [(one["who"], one["role"], one["you"]) for one in found["roles"]] == [(me, "admin", True)]
    code, given = run("role", "set", ANN, "viewer", "--note", "only looks")
    assert (code, given["was"], len(given["warnings"])) == (0, "operator", 1)
    code, given = run("role", "set", ANN, "operator")
    assert (code, given["was"], given["warnings"]) == (0, "viewer", [])
    rows = {one["who"]: one for one in run("role", "list")[1]["roles"]}
    assert (rows[ANN]["role"], rows[ANN]["by"], rows[ANN]["own"], rows[ANN]["since"]) == ("operator", me, True, None)
    assert run("role", "default", "viewer") == (0, {"default": "viewer", "was": "operator"})
    assert run("role", "remove", ANN) == (0, {"who": ANN, "role": "viewer", "was": "operator"})
    shown = run("role", "list", people=True)[1]
    assert "(first of the fleet)" in shown
    assert f"you are {me}: admin" in shown
    trail = [one["action"] for one in run("audit", "list")[1]["entries"]]
    assert trail == ["role.remove", "role.default", "role.set", "role.set"]


@pytest.mark.parametrize(
    ("words", "code", "part", "field"),
    [
        (("set", "ME", "viewer"), 2, "is the only admin", "who"),
        (("remove", "ME"), 2, "is the only admin", "who"),
        (("set", "ann", "viewer"), 2, "account@host", "who"),
        (("set", ANN, "king"), 2, "there is no role", "ROLE"),
        (("default", "admin"), 2, "there is no role", "ROLE"),
        (("remove", ANN), 2, "no role of their own", "who"),
        (("set", ANN, "viewer", "--note", "x" * 501), 2, "500 characters", "note"),
        (("set", ANN, "viewer", "--read-only"), 1, "read-only", "role"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, words: tuple[str, ...], code: int, part: str, field: str) -> None:
    run("role", "list")
    before = run("role", "list")[1]["roles"]
    found, answer = run("role", *(person() if word == "ME" else word for word in words))
    assert (found, answer["field"]) == (code, field)
    assert part in answer["error"]
    assert run("role", "list")[1]["roles"] == before


def test_a_viewer_is_refused_until_an_admin_says_else(run: Run) -> None:
    run("role", "set", ANN, "admin")
    assert run("role", "set", person(), "viewer")[0] == 0
    for words in (("role", "set", person(), "admin"), ("queue", "pause", "all", "--yes")):
        code, answer = run(*words)
        assert (code, "is viewer" in answer["error"]) == (1, True), words
    assert run("type", "list")[0] == 0
