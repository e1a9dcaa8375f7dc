"""Every act that is written down has an answer to how it is taken back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from services import commands
from services.domain import take_back
from services.domain.take_back import HELD, KINDS, REVERSE

_ACT = re.compile(
    r"(?:batch|breaker|cause|dead|fleet|limit|platform|queue|schedule|session|shop|task|type|worker)\.[a-z_]+"
)
#: calls whose first words are sentences, not acts
_SENTENCES = frozenset({"said", "Message", "_fault", "_unknown", "Bad", "as_one"})


def acts() -> Iterator[str]:
    """The names under which commands are written down in the audit."""
    for path in sorted(Path(commands.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        spoken = {
            id(word)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in _SENTENCES
            for word in ast.walk(call)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken:
                if _ACT.fullmatch(node.value):
                    yield node.value
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "act" and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def test_every_act_has_an_answer() -> None:
    assert sorted(set(acts()) - set(take_back.TABLE)) == []


def test_every_answer_is_a_known_one_and_says_with_what() -> None:
    for act, answer in take_back.TABLE.items():
        assert answer.kind in KINDS, act
        assert answer.why, act
        if answer.kind == REVERSE:
            assert answer.by in take_back.TABLE, act


def test_acts_on_many_tasks_are_held_or_reversed() -> None:
    many = [act for act, answer in take_back.TABLE.items() if answer.many]
    assert {"task.create", "task.cancel", "task.retry", "task.run_now", "task.prioritize", "task.resolve"} <= set(many)
    assert {"dead.republish", "dead.archived", "dead.ignored", "dead.open", "cause.ignore"} <= set(many)
    assert {"pause", "resume", "schedule.enable", "schedule.disable"} <= set(many)
    assert all(take_back.TABLE[act].kind in (HELD, REVERSE) for act in many)
