"""Foreign text cannot disguise itself, become markup, or flood a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.text import mask
from views.support import safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("柚子家纺旗舰店", "柚子家纺旗舰店"),
        ("a\tb", "a␉b"),
        ("\x1b[31mred", "␛[31mred"),
        ("\x7f", "␡"),
        ("a\u202egnp.exe", "a<U+202E>gnp.exe"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("\u0085", "<U+0085>"),
        ("\ud800", "<U+D800>"),
    ],
)
def test_tricks_are_made_visible(text: str, shown: str) -> None:
    assert safe.visible(text) == shown


def test_line_breaks_may_be_kept() -> None:
    assert safe.visible("a\n\tb\x00", keep_newlines=True) == "a\n\tb␀"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("one", 10, "one"),
        ("  one\r\ntwo", 10, "one …"),
        ("one\n\n", 10, "one"),
        ("x" * 50, 10, "x" * 9 + "…"),
        (None, 10, "None"),
    ],
)
def test_one_line_is_one_line(text: object, limit: int, shown: str) -> None:
    assert safe.one_line(text, limit) == shown


def test_a_tool_tip_is_never_markup() -> None:
    assert safe.tooltip("<b>x</b>\n&") == "<qt>&lt;b&gt;x&lt;/b&gt;<br>&amp;</qt>"
    assert safe.tooltip("") == ""
    assert len(safe.tooltip("x" * 100_000)) < 2_100


def test_cutting() -> None:
    assert safe.cut("abc", 3) == "abc"
    assert safe.cut("abcd", 3) == "ab…"
    assert safe.cut("abc", 0) == "…"


@given(st.text(max_size=300))
def test_nothing_invisible_is_left(text: str) -> None:
    shown = safe.one_line(text, 80)
    assert len(shown) <= 80 + 2
    assert "\n" not in shown
    assert not set(shown) & set("\u202e\u2066\u200b\x00\x1b")


def test_of_a_megabyte_no_more_is_looked_through_than_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    masked_text = mask.masked_text
    monkeypatch.setattr(mask, "masked_text", lambda text: lengths.append(len(text)) or masked_text(text))
    long = "token=abcdef123456 was refused\n" * 40_000
    shown = safe.beginning(long, 1200)
    assert (len(shown), shown[-1], shown.count("\n") > 10) == (1200, "…", True)
    assert "abcdef123456" not in shown
    assert max(lengths) <= safe.LOOKED_AT
    assert safe.beginning("short", 1200) == "short"
