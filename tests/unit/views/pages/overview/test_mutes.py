"""Items that nobody wants to see for a while."""

from __future__ import annotations

from views.pages.overview.cards import HOUR_MS, NAME, UNTIL_CHANGED, Mutes
from views.support.memory import ShortMemory
from views.widgets.attention.list import AttentionRow

NOW = 1_000_000


def row(key: str = "dead:captcha", state: str = "3") -> AttentionRow:
    return AttentionRow(key=key, severity="dead", title=key, state=state)


def test_for_an_hour_even_when_it_grows() -> None:
    mutes = Mutes(ShortMemory())
    mutes.mute(row(), NOW + HOUR_MS)
    assert mutes.sift([row(state="9"), row("other")], NOW) == ([row("other")], [row(state="9")])
    assert mutes.soonest([row()]) == NOW + HOUR_MS
    assert mutes.sift([row()], NOW + HOUR_MS) == ([row()], [])


def test_until_it_changes() -> None:
    mutes = Mutes(ShortMemory())
    mutes.mute(row(), UNTIL_CHANGED)
    assert mutes.sift([row()], NOW + 100 * HOUR_MS) == ([], [row()])
    assert mutes.soonest([row()]) == 0
    assert mutes.sift([row(state="4")], NOW) == ([row(state="4")], [])
    assert mutes.sift([row()], NOW) == ([row()], [])


def test_it_outlives_a_restart_and_what_is_over_is_forgotten() -> None:
    memory = ShortMemory()
    Mutes(memory).mute(row(), NOW + HOUR_MS)
    again = Mutes(memory)
    assert again.sift([row()], NOW)[1] == [row()]
    again.sift([], NOW + HOUR_MS)
    assert memory.get(NAME) == {}


def test_two_windows_know_what_the_other_muted() -> None:
    memory = ShortMemory()
    first, second = Mutes(memory), Mutes(memory)
    first.mute(row(), NOW + HOUR_MS)
    second.mute(row("other"), NOW + HOUR_MS)
    for window in (first, second):
        assert window.sift([row(), row("other")], NOW) == ([], [row(), row("other")])


def test_what_is_muted_of_one_fleet_is_told_of_another_and_stays_muted_there() -> None:
    memory = ShortMemory()
    Mutes(memory, "test").mute(row(), UNTIL_CHANGED)
    assert Mutes(memory, "prod").sift([row()], NOW) == ([row()], [])
    Mutes(memory, "prod").sift([], NOW)
    assert Mutes(memory, "test").sift([row()], NOW) == ([], [row()])


def test_rubbish_in_the_file_is_ignored() -> None:
    memory = ShortMemory()
    memory.put(NAME, {"a": 3, "b": ["x", 1], "dead:captcha": [NOW + 1, "3"]})
    assert Mutes(memory).sift([row("a"), row("b"), row()], NOW) == ([row("a"), row("b")], [row()])
    memory.put(NAME, "?")
    assert Mutes(memory).sift([row()], NOW)[1] == []
