"""Help reads in the language of the person, whole, and within the terminal, of every command there is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest

from services import i18n
from services.cli import helps, program
from services.domain.text.visible import columns
from tests.support.grammar import walk

#: what is the same in every language: addresses, lists of values, forms of a value
SAME = frozenset(
    {
        "account@host",
        "high,normal,low",
        "platform:PLATFORM",
        "redis://host:6379/0",
    }
)
#: commands, options, fields that a filter takes, what is filled in
NAMES = re.compile(r"`[^`]*`|--[\w-]+|\b[a-z]+:|%\(\w+\)s")
#: words of English sentences that name nothing
ENGLISH = re.compile(r"\b(the|of|and|or|to|is|are|in|on|by|for|with|what|which|who|it|its|not|no|an|default)\b", re.I)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "80")
    with i18n.speaking("zh_CN"):
        yield


@pytest.mark.usefixtures("chinese")
def test_every_text_of_the_grammar_is_said_in_chinese() -> None:
    said = {text: i18n.pgettext(helps.CONTEXT, text) for text in helps.texts(program.grammar()) if text}
    assert len(said) > 300
    assert {text for text, other in said.items() if text == other} == SAME
    assert not {text: other for text, other in said.items() if _left(other)}


@pytest.mark.usefixtures("chinese")
def test_no_line_of_help_is_wider_than_the_terminal_or_begins_with_what_closes() -> None:
    shown = {words: parser.format_help() for words, parser in walk()}
    for words, text in shown.items():
        usage, *rest = text.split("\n\n")
        assert usage.startswith("用法: fleetdeck")
        lines = "\n\n".join(rest).partition("示例:\n")[0].splitlines()
        assert all(columns(line) <= 80 for line in lines if _may_be_broken(line)), words
        assert not [line for line in lines if line.strip()[:1] in ("，", "。", "；", "、", "）")], words
    assert "一个任务及其尝试、关卡和事件" in shown[("task",)]
    assert "一个任务及其尝试、关卡和事件" not in shown[()]


@pytest.mark.usefixtures("chinese")
def test_what_goes_on_below_usage_stands_where_its_first_line_begins() -> None:
    """The word before it is wider than it has characters."""
    first, second, *_ = program.grammar().format_usage().splitlines()
    assert columns(first[: first.index("[")]) == columns(second[: second.index("[")])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("一二三，四五六", ["一二", "三，四", "五六"]),
        ("一二（三四）五", ["一二", "（三", "四）五"]),
        ("用 --filter 选", ["用", "--filter", "选"]),
        ("一 two", ["一 two"]),
    ],
)
def test_a_line_breaks_between_characters_but_in_no_word(text: str, lines: list[str]) -> None:
    places = [0, *helps.breaks(text, 6), len(text)]
    assert [text[start:end].strip() for start, end in itertools.pairwise(places)] == lines


def test_in_english_nothing_of_it_is_touched() -> None:
    shown = {words: parser.format_help() for words, parser in walk()}
    assert shown[()].startswith("usage: fleetdeck [-h]")
    assert "show this help message and exit" in shown[("task", "show")]


def _left(other: str) -> bool:
    """Whether words of a sentence are left in its translation, beside names that it gives in both."""
    return bool(ENGLISH.search(NAMES.sub("", other)))


def _may_be_broken(line: str) -> bool:
    """Not a value alone whose form is wider than a line."""
    return " " in line.strip()
