"""Nothing that a person reads can be reordered, hidden or obeyed by a terminal."""

from __future__ import annotations

import json

import pytest

from services.cli.context import table
from services.domain.text.visible import columns, escaped, visible

#: what a text may hold, by name
HOSTILE = {
    "escape": "\x1b[31m", "bell": "\a", "backspace": "\b", "carriage return": "\r", "delete": "\x7f",
    "C1 escape": "\x9b31m", "C1 command": "\x9d", "next line": "\x85", "right to left": "\u202e",
    "embedding": "\u202a", "isolate": "\u2066", "end of isolate": "\u2069", "mark": "\u200f",
    "arabic mark": "\u061c", "zero width": "\u200b", "joiner": "\u200d", "non-joiner": "\u200c",
    "word joiner": "\u2060", "byte order mark": "\ufeff", "soft hyphen": "\u00ad", "line separator": "\u2028",
    "paragraph separator": "\u2029", "interlinear": "\ufff9", "tag": "\U000e0041", "filler": "\u3164",
    "half filler": "\uffa0", "braille blank": "\u2800", "mongolian": "\u180e", "surrogate": "\ud800",
    "invisible times": "\u2062", "grapheme joiner": "\u034f", "NUL": "\0",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_shown_as_its_code(name: str) -> None:
    char = HOSTILE[name]
    shown = visible(f"a{char}b")
    assert char[0] not in shown
    assert shown.startswith("a")
    assert shown.endswith("b")
    assert len(shown) > 2
    assert char[0] not in visible(f"a{char}b", keep_newlines=True)
    told = escaped(json.dumps({"a": f"x{char}y"}, ensure_ascii=False))
    assert char[0] not in told
    assert json.loads(told) == {"a": f"x{char}y"}, "nothing is lost"


def test_texts_of_every_script_stay() -> None:
    for text in ("柚子 商店", "Ünïté", "אב", "ไทย", "हिन्दी", "😀", "a\u3000b", "x\xa0y"):
        assert visible(text) == text
    assert visible("a\nb\tc", keep_newlines=True) == "a\nb\tc"
    assert visible("a\nb") == "a␊b"


def test_pictures_of_several_parts_are_no_hidden_text() -> None:
    for text in ("👩\u200d👧", "👩🏽\u200d🚀", "👩🏿\u200d🚀", "\u2764\ufe0f\u200d🔥", "🙂\u200d\u2194\ufe0f"):
        assert visible(f"店{text}铺") == f"店{text}铺"
    for text in ("👩\u200d", "\u200d👩", "👩\u200da", "a\u200d👩", "👩\u200d\u200d👩"):
        assert "\u200d" not in visible(text)
    assert columns("👩\u200d👧") == columns("👩👧")


@pytest.mark.parametrize(
    "text",
    [*HOSTILE.values(), "柚子", "ｗｉｄｅ", "हिन्दी", "e\u0301", "😀", "a\ufe0f", "\u3000", "👩\u200d👧"],
)
def test_a_table_stays_aligned(text: str) -> None:
    rows = table(("name", "n"), [(f"x{text}y", "1"), ("plain", "2")])
    ends = {columns(row.rpartition("  ")[0]) for row in rows[1:]}
    assert len(ends) == 1


def test_a_span_of_time_stays_with_its_thin_space_and_what_hides_beside_it_does_not() -> None:
    assert visible("3\u202fm 12\u202fs") == "3\u202fm 12\u202fs"
    assert visible("3\u202fm\u202e") == "3\u202fm<U+202E>"
    assert visible("3\u202fm\u3164") == "3\u202fm<U+3164>"
