"""Rows are asked for in order: the newest question counts, a person's settles, and nothing that changed is missed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.support.held import settled
from views.kit.list_source import FIRST, MORE, Ask, ListSource, behind_s
from views.support import operation
from views.support.feed import Feed

LONG_MS = 2_000_000_000  # longer than this machine has been up


class Shelf:
    """Answers with the question; holds answers back while it is closed."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.asked: list[Ask[str]] = []

    def call(self, ask: Ask[str]) -> Callable[[], Ask[str]] | None:
        if not ask.wanted:
            return None
        self.asked.append(ask)

        def answer() -> Ask[str]:
            self.open.wait(20)
            return ask

        return answer


@dataclass(frozen=True)
class Seen:
    """A snapshot, by what it says."""

    said: str

    def heard(self) -> object:
        return self.said


class Told(QObject):
    """What a source hears of the feed."""

    changed = Signal(object)
    looked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.latest = Seen("first")

    def as_feed(self) -> Feed:
        return cast("Feed", self)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    made = Shelf()
    yield made
    made.open.set()
    operation.shut_down()


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def listed() -> list[Ask[str]]:
    """What was shown."""
    return []


def source(shelf: Shelf, page: QWidget, listed: list[Ask[str]], **more: int) -> ListSource[str]:
    made: ListSource[str] = ListSource(shelf.call, "first", page, **{"soon_ms": 1, **more})
    made.listed.connect(listed.append)
    return made


def test_only_the_answer_to_the_newest_question_is_shown(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    shelf.open.clear()
    rows.ask("old")
    rows.ask("new")
    shelf.open.set()
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.wanted for ask in listed] == ["new"]


def test_a_live_question_in_between_does_not_take_the_order_from_a_person(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    shelf.open.clear()
    rows.ask("new")
    rows.again(settle=False)
    shelf.open.set()
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.settle for ask in listed] == [True]
    rows.again(settle=False)
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.settle for ask in listed] == [True, False], "the order was taken once"


def test_the_end_of_the_rows_before_loads_nothing_of_what_a_person_asks_for_now(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, most=10 * FIRST)
    shelf.open.clear()
    rows.ask("new")
    rows.more(FIRST)
    shelf.open.set()
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.limit for ask in shelf.asked] == [FIRST]
    rows.more(FIRST)
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.limit for ask in shelf.asked] == [FIRST, FIRST + MORE]


def test_what_changes_while_an_answer_is_under_way_is_asked_for_after_it(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    rows.soon()
    assert shelf.asked == [], "nobody looks"
    shelf.open.clear()
    rows.set_active(True)
    for _ in range(5):
        rows.soon()
    qtbot.wait(20)
    assert len(shelf.asked) == 1
    shelf.open.set()
    qtbot.waitUntil(lambda: len(listed) == 2)
    assert [ask.settle for ask in listed] == [True, False]
    rows.set_active(False)
    rows.soon()
    qtbot.wait(20)
    assert len(shelf.asked) == 2


def test_what_changes_after_a_rest_is_asked_for_at_once_and_what_goes_on_changing_at_a_pace(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    calls = iter([None])
    rows: ListSource[str] = ListSource(
        lambda ask: next(calls, shelf.call(ask)), "first", page, soon_ms=LONG_MS, follows=(feed := Told()).as_feed()
    )
    rows.listed.connect(listed.append)
    rows.set_active(True)
    assert not rows.busy, "there was nothing to ask yet"
    feed.changed.emit(None)
    qtbot.waitUntil(lambda: len(listed) == 1)
    for _ in range(20):
        feed.changed.emit(None)
        qtbot.wait(5)
    assert len(listed) == 1


def test_what_changes_during_a_regular_question_is_asked_for_after_it(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, every_ms=600_000)
    shelf.open.clear()
    rows.set_active(True)
    rows.soon()
    qtbot.wait(50)
    shelf.open.set()
    qtbot.waitUntil(lambda: len(listed) == 2)


def test_a_slow_answer_is_waited_for_and_not_looked_after(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    woken: list[int] = []
    for timer in rows.findChildren(QTimer):
        timer.timeout.connect(lambda: woken.append(1))
    shelf.open.clear()
    rows.set_active(True)
    rows.soon()
    qtbot.wait(150)
    assert len(woken) == 1
    shelf.open.set()
    qtbot.waitUntil(lambda: len(listed) == 2)


def test_a_server_that_fails_slowly_is_asked_no_more_often_than_one_that_answers(
    qtbot: QtBot, shelf: Shelf, page: QWidget
) -> None:
    asked: list[float] = []
    failed: list[float] = []

    def lost() -> None:
        shelf.open.wait(20)
        raise OSError

    def call(_ask: Ask[str]) -> Callable[[], None]:
        asked.append(time.monotonic())
        return lost

    rows: ListSource[str] = ListSource(call, "first", page, soon_ms=1)
    rows.failed.connect(lambda _error: failed.append(time.monotonic()))
    shelf.open.clear()
    rows.set_active(True)
    rows.soon()
    qtbot.wait(50)
    shelf.open.set()
    qtbot.waitUntil(lambda: len(asked) == 2)
    assert asked[1] - asked[0] > 4 * (failed[0] - asked[0])


def test_what_changes_is_asked_for_at_the_pace_it_is_told(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, every_ms=LONG_MS)
    rows.set_active(True)
    rows.ask_every(LONG_MS, LONG_MS)
    qtbot.waitUntil(lambda: len(listed) == 1)
    rows.soon()
    qtbot.wait(60)
    assert len(shelf.asked) == 1


def test_a_sooner_wish_comes_before_a_later_one(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    rows.set_active(True)
    qtbot.waitUntil(lambda: len(listed) == 1)
    rows.soon(600_000)
    rows.soon()
    qtbot.waitUntil(lambda: len(listed) == 2)


def test_more_rows_are_loaded_where_there_may_be_more(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, most=FIRST + MORE)
    rows.ask("all")
    qtbot.waitUntil(lambda: not rows.busy)
    rows.more(FIRST - 1)
    rows.more(FIRST)
    qtbot.waitUntil(lambda: not rows.busy)
    rows.more(FIRST + MORE)
    rows.ask("others")
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.limit for ask in shelf.asked] == [FIRST, FIRST + MORE, FIRST]


def test_a_look_for_news_does_not_hold_up_the_next_rows(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, most=FIRST + MORE)
    rows.ask("all")
    qtbot.waitUntil(lambda: not rows.busy)
    shelf.open.clear()
    rows.again(settle=False)
    rows.more(FIRST)
    rows.more(FIRST)
    shelf.open.set()
    qtbot.waitUntil(lambda: not rows.busy)
    assert [ask.limit for ask in shelf.asked] == [FIRST, FIRST, FIRST + MORE]
    assert [ask.limit for ask in listed] == [FIRST, FIRST + MORE]


def test_asked_regularly_only_while_it_is_seen(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, every_ms=5)
    rows.set_active(True)
    qtbot.waitUntil(lambda: len(listed) > 3)
    page.hide()
    qtbot.waitUntil(lambda: not rows.busy)
    number = len(shelf.asked)
    qtbot.wait(30)
    assert len(shelf.asked) == number
    page.show()
    assert len(shelf.asked) == number + 1, "at once, not with the next turn"
    rows.set_active(False)


def test_where_there_is_nothing_to_ask_nothing_is(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    rows.ask("")
    assert not rows.busy
    assert rows.wanted == ""


def test_an_answer_comes_no_more_where_there_is_nothing_to_ask_by_now(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    shelf.open.clear()
    rows.ask("one")
    rows.ask("")
    assert not rows.busy
    shelf.open.set()
    settled(qtbot, rows)
    assert listed == []
    rows.ask("two")
    qtbot.waitUntil(lambda: [ask.wanted for ask in listed] == ["two"])


def test_what_is_shown_is_followed_while_a_question_that_is_wanted_no_more_takes_its_time(
    qtbot: QtBot, page: QWidget
) -> None:
    go_on, asked = threading.Event(), list[str]()

    def call(ask: Ask[str]) -> Callable[[], str]:
        asked.append(ask.wanted)
        return lambda: ask.wanted if ask.wanted == "quick" or go_on.wait(60) else ""

    rows: ListSource[str] = ListSource(call, "slow", page, every_ms=5)
    rows.set_active(True)
    try:
        rows.ask("quick")
        qtbot.waitUntil(lambda: len(asked) >= 4)
        assert set(asked[1:]) == {"quick"}
    finally:
        go_on.set()
        rows.set_active(False)
        operation.shut_down()


@pytest.mark.parametrize("fails", [False, True])
def test_in_turn_too_nothing_is_told_of_what_is_wanted_no_more(qtbot: QtBot, page: QWidget, fails: bool) -> None:
    go_on, told = threading.Event(), list[object]()

    def call(ask: Ask[str]) -> Callable[[], str]:
        def answer() -> str:
            assert go_on.wait(20)
            if fails and ask.wanted == "one":
                raise ValueError(ask.wanted)
            return ask.wanted

        return answer

    rows: ListSource[str] = ListSource(call, "one", page, in_turn=True)
    rows.listed.connect(told.append)
    rows.failed.connect(told.append)
    rows.again()
    rows.ask("two")
    go_on.set()
    qtbot.waitUntil(lambda: bool(told) and not rows.busy)
    assert told == ["two"]


def test_an_answer_that_may_take_minutes_gets_a_thread_of_its_own(qtbot: QtBot, page: QWidget) -> None:
    lasting: ListSource[str] = ListSource(lambda _ask: lambda: threading.current_thread().name, "", page, lasting=True)
    with qtbot.waitSignal(lasting.listed) as told:
        lasting.again()
    assert told.args == ["lasting"]


def test_questions_in_turn_are_asked_once_more_after_the_answer(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows: ListSource[str] = ListSource(shelf.call, "all", page, in_turn=True)
    rows.listed.connect(listed.append)
    shelf.open.clear()
    rows.again(settle=False)
    rows.again()
    rows.again(settle=False)
    assert len(shelf.asked) == 1
    shelf.open.set()
    qtbot.waitUntil(lambda: len(listed) == 2 and not rows.busy)
    assert [ask.settle for ask in listed] == [False, True], "of what a person asked"


def test_a_hidden_page_is_asked_for_once_it_is_shown_and_at_the_pace_it_is_told(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed, every_ms=600_000)
    page.hide()
    rows.set_active(True)
    assert (shelf.asked, rows.active) == ([], False)
    page.show()
    qtbot.waitUntil(lambda: len(listed) == 1)
    assert listed[0].settle
    rows.ask_every(5)
    qtbot.waitUntil(lambda: len(listed) >= 3)
    assert rows.every_ms == 5


def test_a_failure_is_told_and_the_next_answer_too(qtbot: QtBot, page: QWidget) -> None:
    answers = iter([ValueError("lost"), 5])

    def answer() -> int:
        found = next(answers)
        if isinstance(found, ValueError):
            raise found
        return found

    rows: ListSource[str] = ListSource(lambda _ask: answer, "", page, in_turn=True)
    with qtbot.waitSignal(rows.failed) as lost:
        rows.again()
    with qtbot.waitSignal(rows.listed) as back:
        rows.again()
    assert (str(lost.args[0]), back.args) == ("lost", [5])


def test_a_window_is_behind_until_what_changed_is_answered(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    rows.set_active(True)
    qtbot.waitUntil(lambda: len(listed) == 1)
    assert behind_s(page) == 0
    shelf.open.clear()
    rows.soon()
    qtbot.waitUntil(lambda: len(shelf.asked) == 2)
    first = behind_s(page)
    assert first > 0
    rows.soon()  # the answer under way may not tell it
    shelf.open.set()
    qtbot.waitUntil(lambda: behind_s(page) == 0)
    assert len(listed) == 3
    other = QWidget()
    qtbot.addWidget(other)
    shelf.open.clear()
    rows.soon()
    assert (behind_s(other), behind_s(page) > 0) == (0, True)
    page.hide()
    assert behind_s(page) == 0


def test_who_does_not_look_or_has_nothing_to_ask_is_not_behind(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    rows = source(shelf, page, listed)
    rows.soon()
    assert behind_s(page) == 0
    rows.set_active(True)
    shelf.open.clear()
    rows.note_news()
    assert behind_s(page) > 0
    rows.ask("")
    assert behind_s(page) == 0
    rows.note_news()
    rows.set_active(False)
    assert behind_s(page) == 0


def test_a_page_that_says_what_failed_is_not_behind(qtbot: QtBot, page: QWidget) -> None:
    def lost() -> None:
        raise OSError

    rows: ListSource[str] = ListSource(lambda _ask: lost, "first", page, soon_ms=LONG_MS)
    rows.set_active(True)
    with qtbot.waitSignal(rows.failed):
        rows.note_news()
        rows.again()
        assert behind_s(page) > 0
    assert behind_s(page) == 0


def test_where_nothing_is_heard_it_asks_seldom_and_at_once_where_something_is(
    qtbot: QtBot, shelf: Shelf, page: QWidget, listed: list[Ask[str]]
) -> None:
    told = Told()
    rows: ListSource[str] = ListSource(
        shelf.call, "first", page, every_ms=20, soon_ms=1, rest_ms=LONG_MS, follows=told.as_feed()
    )
    rows.listed.connect(listed.append)
    rows.set_active(True)
    qtbot.waitUntil(lambda: rows.every_ms == LONG_MS)
    told.looked.emit(Seen("first"))  # the same a moment later
    assert (rows.every_ms, behind_s(page)) == (LONG_MS, 0)
    for hear in (lambda: told.looked.emit(Seen("other")), lambda: told.changed.emit(None), lambda: rows.ask("second")):
        with qtbot.waitSignal(rows.listed):
            hear()
            assert rows.every_ms == 20
        qtbot.waitUntil(lambda: rows.every_ms == LONG_MS)
    rows.ask_every(30)
    assert rows.every_ms == LONG_MS
    rows.set_active(False)
    rows.set_active(True)
    assert rows.every_ms == 30
