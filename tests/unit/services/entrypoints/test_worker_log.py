"""What `worker log --follow` prints of the lines that a worker shows again and again."""

from __future__ import annotations

from services.cli.commands.machines import new_lines
from services.domain.fleet.remote import LogLine, WorkerLog


def shown(*texts: str) -> WorkerLog:
    return WorkerLog(worker="w", lines=tuple(LogLine(1, "info", text) for text in texts))


def test_only_what_came_since_is_new_also_where_lines_are_alike_or_have_gone() -> None:
    assert [one.text for one in new_lines(shown("a", "b"), shown("a", "b", "c"))] == ["c"]
    assert [one.text for one in new_lines(shown("a", "b", "c"), shown("b", "c", "d", "e"))] == ["d", "e"]
    assert [one.text for one in new_lines(shown("a", "a"), shown("a", "a", "a"))] == ["a"]
    assert new_lines(shown("a", "b"), shown("a", "b")) == ()
    assert [one.text for one in new_lines(shown("a"), shown("x", "y"))] == ["x", "y"]
    assert new_lines(shown("a"), shown()) == ()
