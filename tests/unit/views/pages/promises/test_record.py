"""How a promise was kept, in columns over a day, a week and a month."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from services.domain.promises.course import Course
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT
from services.domain.promises.promise import Promise
from services.domain.promises.standing import HALF_HOUR_MS, Break, SharedCause, Standing
from tests.support.widgets import words
from views.pages.promises import words as words_
from views.pages.promises.record import (
    AHEAD,
    AXIS,
    DAY,
    HOUR_MS,
    MONTH,
    UNBROKEN,
    UNKNOWN,
    WEEK,
    KeptCard,
    KeptChart,
    columns,
)
from views.support import instant

NOW = 1_795_000_000_000 // (12 * HOUR_MS) * 12 * HOUR_MS + HOUR_MS


def test_of_a_day_each_half_hour_is_told_and_what_nobody_judged_stays_empty() -> None:
    last = NOW - NOW % HALF_HOUR_MS
    strip = ((last - 2 * HALF_HOUR_MS, KEPT), (last, AT_RISK))
    found = columns(Standing(name="p", strip=strip), 0, DAY, NOW)
    assert len(found) == 48
    assert [one.state for one in found[-3:]] == [KEPT, UNKNOWN, AT_RISK]
    assert {one.state for one in found[:-3]} == {UNKNOWN}
    assert found[-1].until - HALF_HOUR_MS == last


def test_of_more_only_breaks_are_told_with_their_shops_and_nothing_before_it_was_promised() -> None:
    breaks = (
        Break(at=NOW - 50 * HOUR_MS, until=NOW - 49 * HOUR_MS, shops=3),
        Break(at=NOW - 2 * HOUR_MS, shops=7),
    )
    standing, since = Standing(name="p", breaks=breaks), NOW - 100 * HOUR_MS
    week = columns(standing, since, WEEK, NOW)
    assert len(week) == 56
    assert [one.shops for one in week if one.state == BROKEN] == [3, 7, 7], "the last one lasts"
    assert week[-1].state == BROKEN
    known = [one for one in week if one.until > since]
    assert {one.state for one in week[: len(week) - len(known)]} == {UNKNOWN}
    assert {one.state for one in known} == {UNBROKEN, BROKEN}
    month = columns(standing, since, MONTH, NOW)
    assert len(month) == 60
    assert sum(one.state == BROKEN for one in month) == 3
    assert month[0].state == UNKNOWN


def test_a_bar_is_as_high_as_the_chart_that_has_more_room(qtbot: QtBot) -> None:
    chart = KeptChart()
    qtbot.addWidget(chart)
    chart.resize(280, 300)
    chart.show_columns(columns(Standing(name="p", breaks=(Break(at=NOW - HOUR_MS, shops=7),)), 1, WEEK, NOW), "")
    picture = chart.grab().toImage()
    axis = 300 - AXIS
    bar, lowest, below = (picture.pixelColor(277, y) for y in (8, axis - 2, axis + 3))
    assert bar == lowest != below


def test_the_card_says_what_the_time_comes_to_and_follows_the_choice(qtbot: QtBot) -> None:
    now = instant.now_ms()
    breaks = (
        Break(at=now - 50 * HOUR_MS, until=now - 49 * HOUR_MS, shops=3),
        Break(at=now - 3 * HOUR_MS, until=now - 2 * HOUR_MS, shops=7),
    )
    card = KeptCard()
    qtbot.addWidget(card)
    card.resize(400, 160)
    card.show_standing(Standing(name="p", breaks=breaks), Promise(name="p", task_type="work"))
    card.show()
    assert "1 break, " in words(card)
    assert "at most 7 shops at once" in words(card)
    card.span.set_current(WEEK)
    card.span.chosen.emit(WEEK)
    assert "2 breaks, " in words(card)
    assert card.chart.accessibleName() == card.said.text()
    assert len(card.chart.columns) == 56
    broken = next(place for place, one in enumerate(card.chart.columns) if one.shops == 3)
    x = (broken + 0.5) * card.chart.width() / len(card.chart.columns)
    assert card.chart.said_at(x).endswith("broken in 3 shops")
    assert card.chart.said_at(0).endswith("no break is recorded")
    place = QPoint(round(x), 10)
    QApplication.sendEvent(card.chart, QHelpEvent(QEvent.Type.ToolTip, place, card.chart.mapToGlobal(place)))
    assert "broken in 3 shops" in QToolTip.text()


def test_what_is_at_risk_opens_with_its_forecast_until_another_time_is_chosen(qtbot: QtBot) -> None:
    now = instant.now_ms()
    rising = tuple((n, n, n) for n in range(2400, 2400 + 49 * 60, 60))
    course = Course(begins=now, ends=now + HOUR_MS, stays=rising, helped=((60, 90, 120),) * 49, kept_at=now + 60_000)
    found = Standing(name="p", at_risk=2, first_break=now + HOUR_MS // 3, first_shops=2, course=course)
    card = KeptCard()
    qtbot.addWidget(card)
    card.resize(300, 260)
    card.show_standing(found, Promise(name="p", task_type="work", limit_s=3600))
    card.show()
    assert card.span.current() == AHEAD
    assert card.ahead.isVisible()
    assert card.said.text().startswith("with these done it is kept in all shops by ")
    assert card.ahead.accessibleDescription() == card.said.text()
    card.span.set_current(DAY)
    card.span.chosen.emit(DAY)
    card.show_standing(found, Promise(name="p", task_type="work", limit_s=3600))
    assert card.span.current() == DAY, "the choice of a person stays"
    assert card.chart.isVisible()
    card.show_standing(Standing(name="q", kept=3), Promise(name="q", task_type="work", limit_s=3600))
    assert card.span.current() == DAY, "nothing is forecast of one that is kept"


def test_who_breaks_even_so_is_said_and_where_nothing_helps_too() -> None:
    now = instant.now_ms()
    span = {"begins": now, "ends": now + HOUR_MS, "stays": ((1, 1, 1),)}
    late = Course(**span, helped=((0, 0, 0),), breaks=3, breaks_at=now + HOUR_MS // 2)
    assert words_.ahead(Standing(name="p", course=late), now).startswith(
        "with these done 3 shops still break, the first"
    )
    none = Course(**span, breaks=1, breaks_at=now)
    assert words_.ahead(Standing(name="p", course=none), now) == "nothing that can be done at once brings it sooner"
    drawn = replace(none, beyond=True, every_s=600)
    said = words_.ahead(Standing(name="p", course=drawn), now)
    assert said.endswith("sooner; after that one comes every 10\u202fmin, as it did so far"), "as it is drawn"
    lacks = SharedCause(check="worker", code="promise.no_worker", shops=1)
    said = words_.ahead(Standing(name="p", course=none, causes=(lacks,)), now)
    assert said == "a worker brings it sooner, by how much nobody can tell"
    again = Course(**span, helped=((0, 0, 0),), kept_at=now, beyond=True, every_s=600)
    said = words_.ahead(Standing(name="p", course=again), now)
    assert said.endswith("; after that one comes every 10\u202fmin, as it did so far")
    blind = Course(**span, helped=((0, 0, 0),), kept_at=now, beyond=True)
    said = words_.ahead(Standing(name="p", course=blind), now)
    assert said.endswith("; how soon one comes after that nobody can tell yet")
    worker = Course(**span, untold=2)
    assert words_.ahead(Standing(name="p", course=worker), now) == ("how soon 2 shops are done nobody can tell")


def test_what_was_measured_stands_before_what_is_forecast(qtbot: QtBot) -> None:
    now = instant.now_ms()
    course = Course(begins=now, ends=now + HOUR_MS, stays=((60, 60, 60),) * 49)
    minutes = (-90, -25, -20, -10, -5)  # nobody judged between -20 and -10, and -90 is too long ago
    past = tuple((now + minute * 60_000, 60 * (40 + minute)) for minute in minutes)
    found = Standing(name="p", at_risk=1, course=course, past=past)
    promise = Promise(name="p", task_type="work", limit_s=3600)
    card = KeptCard()
    qtbot.addWidget(card)
    card.resize(400, 260)
    card.show()
    card.show_standing(found, promise)
    assert card.ahead.past == (*past[1:], (now, 60))
    assert not card.ahead.grab().isNull()
    card.show_standing(replace(found, past=()), promise)
    assert card.ahead.past == ()


def test_nothing_is_forecast_of_what_nobody_judges_any_more(qtbot: QtBot) -> None:
    now = instant.now_ms()
    span = ((1, 1, 1),) * 49
    course = Course(begins=now, ends=now + HOUR_MS, stays=span, helped=span, kept_at=now + 60_000)
    found = Standing(name="p", at_risk=2, judged_at=now - HOUR_MS, course=course)
    promise = Promise(name="p", task_type="work", limit_s=3600)
    card = KeptCard()
    qtbot.addWidget(card)
    card.show_standing(found, promise)
    assert card.ahead.course == course
    assert [len(point.said) for point in card.ahead.points()] == [4] * len(course.stays)
    card.show_standing(found, promise, stale=True)
    assert card.span.current() == DAY
    card.span.set_current(AHEAD)
    card.span.chosen.emit(AHEAD)
    assert card.ahead.course is None
    assert card.said.text().startswith("Nobody has judged it since ")


def test_a_column_opens_what_ran_in_it_by_a_click_and_by_keys(qtbot: QtBot) -> None:
    card = KeptCard()
    qtbot.addWidget(card)
    card.resize(400, 300)
    card.show()
    card.show_standing(Standing(name="p"), Promise(name="p", task_type="sync_order"))
    chart, opened = card.chart, []
    card.opened.connect(lambda column, past: opened.append((column, past)))
    for span in (DAY, MONTH):
        card.span.choose(span)
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(chart.width() // 2 + 1, 20))
    day, month = opened
    assert (day[0].until - day[0].at, day[1]) == (HALF_HOUR_MS, False)
    assert (month[0], month[1]) == (chart.columns[30], True)
    chart.setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Right):
        qtbot.keyClick(chart, key)
    told = chart.accessibleDescription()
    qtbot.keyClick(chart, Qt.Key.Key_Return)
    assert opened[-1] == (chart.columns[1], True)
    assert told
    assert chart.said_at(1.5 * chart.width() / 60).startswith(told)
