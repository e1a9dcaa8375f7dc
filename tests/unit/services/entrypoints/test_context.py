"""What every command gets: output, questions, numbers within bounds."""

from __future__ import annotations

import argparse
import io
import json
import sys

import pytest

from services.cli.context import Context, plain, seconds, table, whole
from services.domain.errors import UsageError


class Terminal(io.StringIO):
    """A person sits at it."""

    def isatty(self) -> bool:
        return True


def context(**words: object) -> Context:
    return Context(argparse.Namespace(**words), lambda request: 0)


def test_one_document_or_lines(capsys: pytest.CaptureFixture[str]) -> None:
    context(json=True).show({"a": "你好"}, ["a line"])
    assert json.loads(capsys.readouterr().out) == {"a": "你好"}
    context(json=False).show({"a": 1}, ["a line", "another"])
    assert capsys.readouterr().out == "a line\nanother\n"


def test_a_bulk_act_is_asked_about(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answers = (
        ("y\n", True),
        ("yes\n", True),
        ("是\n", True),
        ("n\n", False),
        ("否\n", False),
        ("\n", False),
        ("", False),
    )
    for answer, goes_on in answers:
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        assert context(yes=False).confirm("cancel", 3) is goes_on
        out, err = capsys.readouterr()
        assert out == ""
        assert "cancel 3 tasks? [y/N]" in err
        assert ("nothing was done" in err) is not goes_on


def test_nobody_to_ask_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(UsageError, match="--yes"):
        context(yes=False).confirm("cancel", 3)
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    with pytest.raises(UsageError):
        context(yes=False, json=True).confirm("cancel", 3)
    monkeypatch.setattr(sys, "stdin", None)  # it was closed
    with pytest.raises(UsageError, match="--yes"):
        context(yes=False).confirm("cancel", 3)
    with pytest.raises(UsageError, match="add --confirm"):
        context().typed("type the name", "add --confirm", "--confirm")
    assert context(yes=True, json=True).confirm("cancel", 3)
    assert context(yes=False).confirm("cancel", 0), "nothing to do needs no question"


def test_a_truth_is_yes_or_no() -> None:
    assert table(("type", "again"), [("a", True), ("b", False)]) == ["type  again", "a     yes", "b     no"]
    assert [plain(one) for one in (True, None, 0, ["a", False], ("b",))] == ["yes", "", "0", "a, no", "b"]


def test_columns_are_as_wide_as_their_cells_and_show_no_control_characters() -> None:
    rows = table(("id", "error"), [("t1", "a\nb\x1b[31m"), ("a long id", None), ("x", "y" * 100)])
    assert rows[0] == "id         error"
    assert rows[1] == "t1         a␊b␛[31m"
    assert rows[2] == "a long id"
    assert rows[3].endswith("…")
    assert len(rows[3]) == len("a long id  ") + 60


def test_columns_stay_straight_under_chinese_names() -> None:
    rows = table(("name", "limit"), [("微光数码", 2), ("Lumo", 1)])
    assert rows == ["name      limit", "微光数码  2", "Lumo      1"]


def test_a_span_is_seconds_or_a_duration() -> None:
    assert [seconds(text) for text in ("90", "0.5", "90s", "10m", "1h30m")] == [90, 0.5, 90, 600, 5400]
    for text in ("soon", "", "10 minutes"):
        with pytest.raises(argparse.ArgumentTypeError, match="10m"):
            seconds(text)


def test_numbers_have_bounds() -> None:
    read = whole(1, 512)
    assert (read("1"), read("512"), read(" 7 ")) == (1, 512, 7)
    for text in ("0", "513", "-1", "1.5", "many", ""):
        with pytest.raises(argparse.ArgumentTypeError, match="from 1 to 512"):
            read(text)
