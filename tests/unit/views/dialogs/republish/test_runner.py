"""A run in a thread of its own: held, taken back, begun, stopped, ended with the window."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services.commands.bulk.republish import Options
from services.domain.task.status import Triage
from tests.unit.views.dialogs.republish.conftest import LETTERS
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.republish.runner import BulkRunner, RunRequest


def job_of(fleet: Fleet, letters: list[str], rate: int = 0) -> RunRequest:
    return RunRequest(plan=fleet.context.commands.bulk.plan(letters), options=Options(rate=rate, skip=frozenset()))


def open_letters(fleet: Fleet) -> int:
    found: int = fleet.store.counts().triage.get(Triage.OPEN, 0)
    return found


def test_one_run_at_a_time(qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner) -> None:
    job = job_of(fleet, letters, rate=6)
    assert runner.hold(job)
    assert not runner.hold(job)
    assert not runner.begin(job)
    with qtbot.waitSignal(runner.taken_back):
        runner.undo()
    assert runner.job is None
    assert open_letters(fleet) == LETTERS


def test_a_stopped_run_leaves_the_rest(qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner) -> None:
    with qtbot.waitSignal(runner.progressed):
        runner.begin(job_of(fleet, letters, rate=6))
    with qtbot.waitSignal(runner.ended) as heard:
        runner.stop()
    ended = heard.args[1]
    assert len(ended.left) == LETTERS - len(ended.outcome.done)
    assert open_letters(fleet) == len(ended.left)
    assert runner.job is None


def test_what_is_held_begins_before_the_window_closes(fleet: Fleet, letters: list[str], runner: BulkRunner) -> None:
    runner.hold(job_of(fleet, letters))
    runner.send_now()
    runner.finish(10.0)
    assert open_letters(fleet) == 0


def test_a_slow_run_ends_with_the_window(fleet: Fleet, letters: list[str], runner: BulkRunner) -> None:
    runner.begin(job_of(fleet, letters, rate=6))
    runner.finish()
    assert runner._thread is not None
    assert not runner._thread.is_alive()
    assert open_letters(fleet) >= LETTERS - 1


def test_a_refused_run_says_why(qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner) -> None:
    job = RunRequest(plan=fleet.context.commands.bulk.plan(letters), options=Options(rate=-1))
    with qtbot.waitSignal(runner.failed) as heard:
        runner.begin(job)
    assert "rate must be" in str(heard.args[1])
