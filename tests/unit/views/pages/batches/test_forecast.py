"""What the forecast of a batch draws and says."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from services.domain.insight.batch import CANCELLED, DEAD, DONE, HELD, WAITING, Foretold, Hold, Story
from services.domain.insight.forecast.flow import Spread
from services.monitor.batches import BatchView
from tests.support.painted import painted
from views.pages.batches.forecast import POINTS, BatchForecast, Course, course_of, note
from views.pages.batches.words import BatchNow, headline

BEGUN = 1_700_000_000_000
LEFT = Spread(low_s=60, mid_s=120, high_s=300)


def batch(*, done: int = 6, dead: int = 1, left: Spread | None = LEFT, deadline: int = 0) -> BatchNow:
    """Ten tasks, one done each minute."""
    counts = {"succeeded": done, "dead": dead, "queued": 10 - done - dead}
    held = Hold(key="dead", ids=("d",) * dead, types=(), shops=1, oldest_at=0, behind=0, person=True)
    story = Story(
        counts={DONE: done, DEAD: dead, WAITING: 10 - done - dead}, holds=(held,) if dead else (), deadline=deadline
    )
    view = BatchView("b1", {name: n for name, n in counts.items() if n}, begun_at=BEGUN, left=left)
    ends = tuple(BEGUN + 60_000 * n for n in range(1, done + 1))
    return BatchNow(view=view, story=story, ends=ends, at_ms=BEGUN + 60_000 * (done + 1))


def shown(qtbot: QtBot, one: BatchNow) -> BatchForecast:
    chart = BatchForecast()
    qtbot.addWidget(chart)
    chart.resize(320, chart.height())
    chart.show_batch(one)
    chart.show()
    return chart


def along(chart: BatchForecast, course: Course, instant: float) -> float:
    """Where the upright line of an instant stands."""
    room = chart.room()
    return room.left() + (instant - course.begun) / (course.end - course.begun) * room.width()


def test_it_ends_where_nobody_is_needed_with_what_it_may_be_off_by(qtbot: QtBot) -> None:
    one = batch(deadline=BEGUN + 3_600_000)
    found = course_of(one)
    assert found is not None
    assert (found.done, found.total, found.likely) == (6, 10, 9)
    assert [round(at - found.now) for at in (found.early, found.middle, found.late)] == [60, 120, 300]
    assert found.end > found.deadline
    chart = shown(qtbot, one)
    assert not chart.grab().isNull()
    assert chart.accessibleDescription().startswith("6 of 10 done, ")


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (batch(left=None), "too early to say"),
        (batch(done=9), "ended "),  # what is left needs a person
        (batch(done=10, dead=0), "ended "),
        (batch(), " to "),
    ],
)
def test_it_says_what_it_knows(one: BatchNow, says: str) -> None:
    assert says in note(one)


@pytest.mark.parametrize("left", [None, LEFT])
def test_where_all_that_is_open_waits_for_a_person_it_says_how_many_stay(qtbot: QtBot, left: Spread | None) -> None:
    one = batch(done=6, dead=0, left=left)
    held = Hold(key="held", ids=("h",) * 3, types=(), shops=1, oldest_at=0, behind=1, person=True)
    counts = {"succeeded": 6, "held": 3, "blocked": 1}
    story = Story(counts={DONE: 6, HELD: 4}, holds=(held,), behind_person=1)
    one = replace(one, view=replace(one.view, counts=counts), story=story)
    found = course_of(one)
    assert found is not None
    assert (found.likely, found.stays, found.middle) == (6, 4, 0), "level, and no end"
    assert (note(one), headline(one)) == ("4 stay open", "6 of 10 done, 4 stay open")
    chart = shown(qtbot, one)
    drawn = chart.grab().toImage()
    chart.show_batch(replace(one, view=replace(one.view, left=None), story=replace(story, holds=(), behind_person=0)))
    ahead = QRect(305, 0, 15, chart.height())
    assert drawn.copy(ahead) != chart.grab().toImage().copy(ahead), "the level goes on behind now, dashed"
    going = replace(one, story=replace(story, counts={DONE: 6, HELD: 4, WAITING: 1}))
    assert note(going) == ("too early to say" if left is None else note(batch(left=left)))


@pytest.mark.parametrize("one", [batch(), batch(left=None), batch(done=10, dead=0)])
def test_a_batch_of_which_only_some_tasks_are_looked_at_is_not_drawn(qtbot: QtBot, one: BatchNow) -> None:
    counts = {**one.view.counts, "queued": 5_000}
    part = replace(one, complete=False, view=replace(one.view, counts=counts))
    chart = BatchForecast()
    qtbot.addWidget(chart)
    chart.show_batch(part)
    assert course_of(part) is None
    assert note(part) == chart.accessibleDescription() == "Only its newest 5,000 tasks are looked at."
    done = one.view.counts["succeeded"]
    assert headline(part) == f"{done} of {part.view.total:,} done", "of all of them, not of the first"


def test_many_ends_are_thinned() -> None:
    many = tuple(BEGUN + n for n in range(5_000))
    one = BatchNow(view=batch().view, story=batch().story, ends=many, at_ms=BEGUN + 9_000)
    found = course_of(one)
    assert found is not None
    assert len(found.curve) <= POINTS
    assert course_of(BatchNow(view=batch().view)) is None


def test_of_what_has_ended_it_draws_what_was_foretold_half_way(qtbot: QtBot) -> None:
    foretold = Foretold(BEGUN + 300_000, LEFT)
    one = replace(batch(done=10, dead=0, left=None), foretold=foretold)
    found = course_of(one)
    assert found is not None
    assert (found.told, found.done_by(found.told), found.likely) == (foretold.at_ms / 1000, 5, 10)
    assert found.middle == foretold.end_ms / 1000
    chart = shown(qtbot, one)
    drawn = chart.grab().toImage()
    chart.show_batch(replace(one, foretold=None))
    assert drawn != chart.grab().toImage()


@pytest.mark.parametrize(
    "one",
    [
        batch(done=1, deadline=BEGUN + 3_600_000),  # it has hardly begun: what is done stands behind now
        batch(deadline=BEGUN + 1_800_000),
        batch(done=9),
        replace(batch(done=10, dead=0, left=None), foretold=Foretold(BEGUN + 300_000, LEFT)),
    ],
)
def test_its_words_stand_on_no_line_that_goes_down(qtbot: QtBot, one: BatchNow) -> None:
    chart = shown(qtbot, one)
    course, room = course_of(one), chart.room()
    assert course is not None
    lines = [along(chart, course, at) for at in (course.now, course.deadline, course.told and course.middle) if at]
    said = [
        piece for piece in painted(chart) if piece.box.bottom() <= room.bottom() and piece.box.left() >= room.left()
    ]
    assert any(piece.text.endswith("done") for piece in said)
    below = [piece for piece in said if piece.box.center().y() > room.top()]
    crossed = [piece.text for piece in below for x in lines if piece.box.left() < x < piece.box.right()]
    assert crossed == []


def test_its_words_make_way_for_no_line_that_nobody_sees(qtbot: QtBot) -> None:
    """The one that goes down from the end that was foretold begins there: nothing is drawn above it."""
    counts = {"succeeded": 6, "cancelled": 4}
    story = Story(counts={DONE: 6, CANCELLED: 4}, due=BEGUN + 540_000)
    ends = tuple(BEGUN + 60_000 * n for n in range(1, 7))
    foretold = Foretold(BEGUN + 180_000, Spread(low_s=140, mid_s=150, high_s=160))
    view = BatchView("b1", counts, begun_at=BEGUN)
    one = BatchNow(view=view, story=story, ends=ends, at_ms=ends[-1], foretold=foretold)
    chart = shown(qtbot, one)
    course = course_of(one)
    assert course is not None
    (box,) = [piece.box for piece in painted(chart) if piece.text == "6 done"]
    assert box.right() < along(chart, course, course.now), "before it, over the curve"


def test_its_words_find_their_place_anew_in_another_size(qtbot: QtBot) -> None:
    chart = shown(qtbot, batch())

    def place() -> float:
        (box,) = [piece.box for piece in painted(chart) if piece.text == "6 done"]
        return box.center().x()

    narrow = place()
    chart.resize(640, chart.height())
    assert place() > narrow + 100
