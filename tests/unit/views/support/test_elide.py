"""Whole parts leave before anything is cut."""

from __future__ import annotations

import pytest

from views.support.elide import middle, shorter


@pytest.mark.parametrize(
    ("words", "room", "left"),
    [
        ("target 98 % · 1,131 done", 30, "target 98 % · 1,131 done"),
        ("target 98 % · 1,131 done", 20, "target 98 %"),
        ("Success rate, 1 h", 15, "Success rate"),
        ("30 s 4 · 60 s 1 · 120 s 2", 18, "30 s 4 · 60 s 1"),
        ("峰值 2，02:18", 5, "峰值 2"),
        ("nothing to leave out", 5, "nothing to leave out"),
        ("", 0, ""),
    ],
)
def test_parts_leave_from_the_end(words: str, room: int, left: str) -> None:
    assert shorter(words, lambda some: len(some) <= room) == left


def test_a_long_name_keeps_its_begin_and_what_tells_it_apart() -> None:
    assert middle("rpa-06", 14) == "rpa-06"
    assert middle("warehouse-hangzhou-rpa-07", 14) == "warehou…rpa-07"
    assert middle("云杉户外用品专营旗舰店二号仓", 14) == "云杉户…二号仓"
    assert middle("", 5) == ""
