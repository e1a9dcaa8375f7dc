"""Every act that is written down has an answer to how it is taken back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import services
from services import commands
from services.domain.fleet import worker_order
from services.domain.task import take_back
from services.domain.task.status import Triage
from services.domain.task.take_back import HELD, KINDS, REVERSE

_ACT = re.compile(
    r"(?:alert|batch|breaker|cause|dead|fleet|limit|platform|promise|queue|schedule|session|shop|task|token|type|view|worker)\.[a-z_]+"
)
#: calls whose first words are sentences, not acts
_SENTENCES = frozenset({"said", "Message", "_fault", "_unknown", "Bad", "as_one", "refusal"})


#: what stands in names that are built at run time, by what they begin with
BUILT = {
    "dead.": (Triage.OPEN, Triage.ARCHIVED, Triage.IGNORED),
    "worker.": worker_order.VERBS,
}


def _built(tree: ast.AST) -> Iterator[str]:
    """Names that calls of ``act`` and ``as_one`` put together: each must be of a family that is known here."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in ("act", "as_one") or not node.args:
            continue
        first = node.args[0]
        if isinstance(first, ast.JoinedStr):
            begins = first.values[0].value if isinstance(first.values[0], ast.Constant) else ""
            yield from (f"{begins}{one}" for one in BUILT[str(begins)])
        elif isinstance(first, ast.Constant) and " " not in str(first.value):  # the server of REST calls commands so
            yield str(first.value)


def acts() -> Iterator[str]:
    """The names under which acts are written down in the audit."""
    for path in sorted(Path(services.__file__).parent.rglob("*.py")):
        yield from _built(ast.parse(path.read_text(encoding="utf-8")))
    for path in sorted(Path(commands.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        spoken = {
            id(word)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in _SENTENCES
            for word in ast.walk(call)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in spoken and _ACT.fullmatch(str(node.value)):
                yield str(node.value)


def test_names_built_at_run_time_are_seen() -> None:
    assert {"worker.drain", "worker.slots", "dead.archived", "type.introduce", "task.create_again"} <= set(acts())


def test_every_act_has_an_answer() -> None:
    assert sorted(set(acts()) - set(take_back.TABLE)) == []


def test_every_answer_is_a_known_one_and_says_with_what() -> None:
    for act, answer in take_back.TABLE.items():
        assert answer.kind in KINDS, act
        assert answer.why, act
        if answer.kind == REVERSE or answer.by:
            assert answer.by in take_back.TABLE, act


def test_acts_on_many_tasks_are_held_or_reversed() -> None:
    many = [act for act, answer in take_back.TABLE.items() if answer.many]
    assert {
        "task.create",
        "task.cancel",
        "task.create_again",
        "task.retry",
        "task.run_now",
        "task.prioritize",
        "task.resolve",
    } <= set(many)
    assert {"dead.republish", "dead.archived", "dead.ignored", "dead.open", "cause.ignore"} <= set(many)
    assert {"pause", "resume", "schedule.enable", "schedule.disable"} <= set(many)
    assert all(take_back.TABLE[act].kind in (HELD, REVERSE) for act in many)
