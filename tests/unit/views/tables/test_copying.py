"""Copied rows are one line each and harmless in a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from services import i18n
from views.support import instant, shown
from views.tables.column import Column, dated, tick_column
from views.tables.copying import cell_text, copied, to_tsv


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("plain", "plain"),
        ("a\tb\r\nc", "a b  c"),
        ("=1+1", "'=1+1"),
        ("@cmd", "'@cmd"),
        ("＝1", "'＝1"),
        ("\t=1", "' =1"),
        ("-cmd|x", "'-cmd|x"),
        ("-12", "-12"),
        ("+1,284.5", "+1,284.5"),
        ("", ""),
    ],
)
def test_cells(text: str, copied: str) -> None:
    assert cell_text(text) == copied


def test_titles_come_first_and_boxes_are_left_out() -> None:
    columns = (
        tick_column(),
        Column[str](key="status", title="", value=str),
        Column[str](key="n", title="Name", value=str),
    )
    assert to_tsv(columns, ["x"]) == "status\tName\nx\tx\n"


def test_a_glyph_is_copied_as_its_word_in_the_language_of_who_reads() -> None:
    word = Column[str](key="status", title="", value=str, kind="glyph", tooltip=lambda _row: "已成功")
    none = Column[str](key="glyph", title="", value=str, kind="glyph", speech=lambda _row: "a whole sentence")
    i18n.set_language("zh_CN")
    try:
        head, row = to_tsv((word, none, Column[str](key="n", title="Name", value=str)), ["succeeded"]).splitlines()
    finally:
        i18n.set_language("en")
    assert (head, row) == ("状态\t名称", "已成功\tsucceeded")
    assert copied(none, "dead") == "a whole sentence"


def test_a_time_is_copied_with_its_day_and_offset_and_told_in_full() -> None:
    long_ago = dated("at", "Time", lambda at: at, width=96)
    died = dated("died", "Died", lambda at: at, say=shown.minute, width=96)
    at = round(datetime(2020, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC).timestamp() * 1000)
    now = instant.now_ms()
    shown.set_zone("Asia/Shanghai")
    try:
        assert long_ago.display(at) == "2020-02-03"
        assert (copied(long_ago, at), copied(died, now)) == ("2020-02-03T12:05:06.789+08:00", shown.iso(now))
        assert died.display(now) == shown.minute(now, now)
        assert to_tsv((long_ago, died), [at]).splitlines()[1].split("\t")[0] == "2020-02-03T12:05:06.789+08:00"
        local, utc, distance = long_ago.tip(at).splitlines()
        assert (local, utc) == ("2020-02-03 12:05:06 UTC+8", "2020-02-03 04:05:06 UTC")
        assert "d" in distance
        assert [long_ago.display(0), copied(long_ago, 0), long_ago.tip(0)] == ["", "", ""], "nothing happened yet"
    finally:
        shown.set_zone("")


def test_what_is_seen_copied_said_and_told_of_a_code_are_one() -> None:
    codes = {"lane": "high", "badge": "xiaohongshu", "status": "dead"}
    columns = [Column[str](key=kind, title=kind, value=str, kind=kind) for kind in codes]

    def found(of: Callable[[Column[str], str], str]) -> list[str]:
        return [of(column, codes[column.kind]) for column in columns]

    i18n.set_language("zh_CN")
    try:
        seen = found(lambda column, code: column.display(code))
        assert seen == found(copied) == ["高", "XHS", "死信"]
        assert found(lambda column, code: column.spoken(code)) == ["高", "小红书", "死信"]
        assert found(lambda column, code: column.tip(code)) == ["", "小红书", ""], "what is seen already is not told"
    finally:
        i18n.set_language("en")


def test_of_a_lane_and_a_platform_is_copied_what_is_seen_in_place_of_the_code() -> None:
    lane = Column[str](key="lane", title="Lane", value=lambda _row: "high", kind="lane")
    unknown = Column[str](key="other", title="Other", value=lambda _row: "express", kind="lane")
    platform = Column[str](key="platform", title="Plat.", value=lambda _row: "xiaohongshu", kind="badge")
    none = Column[str](key="none", title="None", value=lambda _row: None, kind="badge")
    assert [copied(one, "") for one in (lane, unknown, platform, none)] == ["High", "express", "XHS", ""]
    i18n.set_language("zh_CN")
    try:
        assert to_tsv((lane, platform), [""]).splitlines()[1] == "高\tXHS"
    finally:
        i18n.set_language("en")
