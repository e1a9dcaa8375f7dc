"""Tables on a terminal: no wider than it, states in colour, plain wherever somebody asked for that."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

import pytest

from services.cli import output, program, progress
from services.cli.tables import COLOURS, cut, table
from services.domain.insight import shop as insight_shop
from services.domain.task.status import Status
from services.domain.text.visible import columns

HEADER = ("id", "status", "error")
ROWS = [
    ("pdd_sync_order_s1_1f3a9c20", "dead", "订单页面没有出现，等待了三十秒，可能是验证码" * 5),
    ("temu_refresh_goods_s2_77aa0b11", "succeeded", "no such element " * 10),
]


class Terminal(io.StringIO):
    """Somebody reads it there."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Terminal]:
    def sized(wide: int) -> Terminal:
        monkeypatch.setattr(sys, "stdout", made := Terminal())
        monkeypatch.setenv("COLUMNS", str(wide))
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        return made

    return sized


@pytest.mark.parametrize("wide", [60, 80, 100, 200])
def test_a_table_is_no_wider_than_the_terminal(terminal: Callable[[int], Terminal], wide: int) -> None:
    """Chinese characters take two columns; the name of a row is the last that is cut."""
    terminal(wide)
    lines = table(HEADER, ROWS)
    assert max(map(columns, lines)) <= wide
    assert "temu_refresh_goods_s2_77aa0b11" in lines[2]
    begins = {columns(line[: line.index(word)]) for line, word in zip(lines, ("status", "dead", "succ"), strict=True)}
    assert len(begins) == 1, "columns stand below each other"


def test_a_wide_terminal_shows_all_of_it(terminal: Callable[[int], Terminal]) -> None:
    terminal(400)
    assert "…" not in "".join(table(HEADER, ROWS))


@pytest.mark.parametrize("wide", [24, 30, 40])
def test_a_narrow_one_gives_each_row_lines_of_its_own(terminal: Callable[[int], Terminal], wide: int) -> None:
    """Nothing of a row is cut, least of all its name, which somebody wants to type."""
    shown = terminal(wide)
    output.out(lines := table(HEADER, ROWS))
    assert max(map(columns, lines)) <= wide
    whole = "".join(line.strip() for line in lines)
    for name, status, error in ROWS:
        assert name in whole
        assert f"status {status}" in whole
        assert error.strip().replace(" ", "") in whole.replace(" ", "")
    assert "\x1b[1;31mdead\x1b[0m" in shown.getvalue()


def test_where_nobody_says_how_wide_a_line_may_be_a_cell_has_60_columns() -> None:
    assert max(map(columns, table(("error",), [("宽" * 100,)]))) <= 60


@pytest.mark.parametrize(("width", "shown"), [(6, "宽宽…"), (5, "宽宽…"), (4, "宽…"), (1, "…"), (8, "宽宽宽宽")])
def test_half_a_character_is_never_shown(width: int, shown: str) -> None:
    assert cut("宽" * (4 if width == 8 else 9), width) == shown


def test_states_are_coloured_on_a_terminal(terminal: Callable[[int], Terminal]) -> None:
    shown = terminal(120)
    output.out(table(HEADER, ROWS))
    assert "\x1b[1;31mdead\x1b[0m" in shown.getvalue()
    assert "\x1b[32msucceeded\x1b[0m" in shown.getvalue()


@pytest.mark.parametrize("word", [*Status, *insight_shop.WORDS.values()])
def test_every_state_has_its_colour(word: str) -> None:
    assert word.casefold() in COLOURS or word == Status.SCHEDULED


@pytest.mark.parametrize("how", ["NO_COLOR", "TERM", "--no-color", "piped"])
def test_it_is_plain_where_that_is_wanted(
    terminal: Callable[[int], Terminal], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = terminal(120)
    if how == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
    elif how == "TERM":
        monkeypatch.setenv("TERM", "dumb")
    elif how == "piped":
        monkeypatch.setattr(sys, "stdout", shown := io.StringIO())  # type: ignore[assignment]
    token = output.COLOURLESS.set(how == "--no-color")
    try:
        output.out(table(HEADER, ROWS))
    finally:
        output.COLOURLESS.reset(token)
    assert "\x1b" not in shown.getvalue()
    assert "succeeded" in shown.getvalue()


@pytest.mark.parametrize(("done", "shown"), [(0, "." * 20), (5, "#" * 10 + "." * 10), (10, "#" * 20)])
def test_a_bar_within_a_line(done: int, shown: str) -> None:
    assert progress.drawn(done, 10) == f"[{shown}]"
    assert progress.drawn(0, 0) == f"[{'.' * 20}]"


def test_a_cell_cannot_colour_itself(terminal: Callable[[int], Terminal]) -> None:
    shown = terminal(120)
    output.out(table(("id", "status"), [("a\x1b[31mb[red]c[/red]", "dead")]))
    assert "\x1b[31mb" not in shown.getvalue()
    assert "[red]c[/red]" in shown.getvalue()


def test_the_word_itself_asks_for_it(
    terminal: Callable[[int], Terminal], monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    for more, coloured in (((), True), (("--no-color",), False)):
        shown = terminal(120)
        assert program.run(("shop", "list", *more), lambda _: 0) == 0
        assert ("\x1b" in shown.getvalue()) is coloured
