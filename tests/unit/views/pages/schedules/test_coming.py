"""What the list of the next runs leaves out and says."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services.domain.insight import schedule as insight
from services.domain.plans.schedule import Planned, Schedule
from services.monitor.schedules import ScheduleRow
from tests.support.widgets import words
from views.pages.schedules.coming import MOST_RUNS, ComingRuns, coming
from views.support import instant

MINUTE_MS = 60_000


def row(name: str, now: int, *minutes: int) -> ScheduleRow:
    """One that runs so many minutes from now, and a few seconds: the test may take those."""
    upcoming = tuple(now + minute * MINUTE_MS + 20_000 for minute in minutes)
    planned = Planned(schedule=Schedule(name=name, task_type="work", cron="@hourly", all_shops=True))
    found = insight.look(planned, upcoming[0], now, leader="")
    return ScheduleRow(planned=planned, zone="UTC", upcoming=upcoming, now=found)


def test_of_what_is_overdue_the_first_is_told_as_late_and_the_others_not_at_all(qtbot: QtBot) -> None:
    now = instant.now_ms()
    card = ComingRuns()
    qtbot.addWidget(card)
    card.show_runs(coming([row("late", now, -150, -90, -30, 90, 150), row("timely", now, 70, 130)], now))
    columns = {column.key: column for column in card.model.columns}
    runs = [
        (run.row.schedule.name, " ".join(columns["until"].display(run).split()), columns["until"].role_of(run))
        for run in card.model.records()
    ]
    assert runs == [
        ("late", "2 h 29 m late", "dead"),
        ("timely", "in 1 h 10 m", "text"),
        ("late", "in 1 h 30 m", "text"),
        ("timely", "in 2 h 10 m", "text"),
        ("late", "in 2 h 30 m", "text"),
    ]
    card.show_runs(coming([row("late", now, -150, -90, -30)], now))
    assert len(card.model.records()) == 1


def test_of_many_runs_the_first_are_shown_and_it_says_of_how_many(qtbot: QtBot) -> None:
    now = instant.now_ms()
    card = ComingRuns()
    qtbot.addWidget(card)
    rows = [row(f"plan-{place:03d}", now, 300 - place, 600 - place) for place in range(MOST_RUNS)]
    card.show_runs(coming(rows, now))
    shown = [run.row.schedule.name for run in card.model.records()]
    assert shown == [f"plan-{MOST_RUNS - 1 - place:03d}" for place in range(MOST_RUNS)]
    assert "the first 200 of 400 runs" in words(card)
    card.show_runs(coming(rows[: MOST_RUNS // 2], now))
    assert card.model.rowCount() == MOST_RUNS
    assert "the next 2 of each" in words(card)
