"""What the recorder keeps of a real fleet, and what is told of it afterwards."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from services import assembly, workforce
from services.clock import SystemClock
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.past.frame import SHOP, SWITCH, UNTOLD, WORKER, Frame, Numbers
from services.messages import english
from services.monitor.letters.causes import CauseQueries, Causes
from services.monitor.past.queries import PastQueries, instant
from services.monitor.past.tape import Tape
from services.watch import recorder as keeper
from services.watch.alerts import rules
from services.watch.alerts.look import Eyes, Look
from services.watch.recorder import Recorder
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet

T0 = 1_795_000_000_000  #: 2026-11-18T11:06:40Z


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "recorder" / "fleet.sqlite"


@pytest.fixture
def recorder(fleet: Fleet, file: Path) -> Recorder:
    engine = fleet.engine
    return Recorder(engine.store, engine.broker, engine.registry, workforce.eyes(engine), SystemClock(), file)


@pytest.fixture
def past(fleet: Fleet, file: Path) -> PastQueries:
    asked = assembly.queries(fleet.engine)
    return PastQueries(file, asked.audit, lambda: [], fleet.engine.store.now_ms)


@pytest.fixture
def tape(file: Path) -> Iterator[Tape]:
    made = Tape(file)
    yield made
    made.close()


class Counted(CauseQueries):
    """Counts how often dead letters are grouped."""

    asked = 0

    def causes(self, *args: str) -> Causes:
        self.asked += 1
        return super().causes(*args)


def test_dead_letters_are_grouped_once_for_the_rules_and_for_the_record(fleet: Fleet, file: Path) -> None:
    engine = fleet.engine
    causes = Counted(engine.store, engine.registry)
    eyes = Eyes(engine.store, engine.broker, engine.registry, causes, engine.clock, production=False)
    record = Recorder(engine.store, engine.broker, engine.registry, eyes, engine.clock, file)
    fleet.worker()
    fleet.wait(fleet.create("s1", fail="bad_payload", max_retries=0), "dead")
    (told,) = eyes.look().causes
    assert (told.count, record.look().numbers.letters) == (1, 1)
    assert causes.asked == 1


def test_it_counts_what_happens_and_keeps_who_is_in_trouble(
    fleet: Fleet, recorder: Recorder, past: PastQueries, tape: Tape
) -> None:
    tape.add(recorder.look())
    fleet.worker()
    fleet.wait(fleet.create("s1"), "succeeded")
    fleet.wait(fleet.create("s2", fail="bad_payload", max_retries=0), "dead")
    second = recorder.look()
    tape.add(second)
    numbers, things = second.numbers, second.things
    assert (numbers.came, numbers.went, numbers.failed, numbers.dead) == (2, 2, 1, 1)
    assert (numbers.workers, numbers.waiting, numbers.running) == (1, 0, 0)
    # how shops do is asked in a share of the time only, so it may be some seconds older
    later = eventually(lambda: (found := recorder.look()).things.get((SHOP, "pdd:s2")) and found, 60)
    assert later.things[SHOP, "pdd:s2"] == "dead"
    assert (SHOP, "pdd:s1") not in later.things
    tape.add(later)
    assert [kind for kind, _name in things if kind == WORKER] == [WORKER]
    fleet.commands().fleet.pause("platform:pdd", reason="the page changed")
    last = recorder.look()
    tape.add(last)
    assert (SWITCH, "paused platform:pdd") in last.things
    found = past.at(numbers.at_ms)  # ten minutes before it and what has been since
    assert found.moment is not None
    assert found.moment.numbers.failed == 1
    told = [english(turn.message) for turn in found.turns]
    assert "pdd:s2 has dead letters" in told
    assert any(line.startswith("platform:pdd is paused by") for line in told)
    assert any("pause platform:pdd" in line for line in told), "who did it stands there too"
    hour = past.lanes(numbers.at_ms - 3_600_000, last.numbers.at_ms + 60_000, 60)
    assert sum(number for number in hour.failed if number > 0) == 1
    assert hour.failed[0] == UNTOLD, "nobody recorded an hour ago"
    assert len(hour.acts) >= 1
    assert hour.gaps[0].begin == hour.begin
    (gap,) = past.at(numbers.at_ms - 3_600_000).turns
    assert gap.kind == "gap"


def test_a_flood_is_reckoned_and_not_read(fleet: Fleet, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "MOST_EVENTS", 5)
    recorder.look()
    for number in range(4):
        fleet.create(f"s{number}")
    flood = recorder.look().numbers
    assert (flood.counted, flood.came, flood.went, flood.waiting) == (False, 4, 0, 4)
    calm = recorder.look().numbers
    assert (calm.counted, calm.came, calm.went) == (True, 0, 0)


def test_it_keeps_how_long_tasks_wait_in_each_lane_and_are_held(fleet: Fleet, recorder: Recorder) -> None:
    nobody = recorder.look().numbers
    assert (nobody.waits_high_s, nobody.waits_low_s, nobody.held_s, nobody.broken, nobody.tries) == (0, 0, 0, 0, 0)
    fleet.create("s1", priority="low")
    later = eventually(lambda: (found := recorder.look().numbers).waits_low_s >= 1 and found, 60)
    assert (later.waits_high_s, later.waits_normal_s) == (0, 0)
    fleet.worker()
    fleet.create("s2", sleep=8)
    eventually(lambda: recorder.look().numbers.held_s >= 1, 60)


@pytest.mark.parametrize("pair", ["embedded"], indirect=True)
def test_what_a_machine_slept_through_is_not_kept_as_held(
    fleet: Fleet, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a rule that is tried on it would have told of each night."""
    store = fleet.engine.store
    slot = SlotState(task_id="t1", task_type="work", shop="pdd:s1", since=store.now_ms())
    holder = WorkerInfo(worker="w9", host="h", pid=1, slots=(slot,))
    store.heartbeat(holder)
    recorder.look()
    later = SimpleNamespace(**{**vars(time), "time_ns": lambda: time.time_ns() + 7200 * 10**9})
    monkeypatch.setattr("services.clock.time", later)
    store.heartbeat(holder)
    woken = recorder.look().numbers
    assert woken.workers == 1
    assert woken.held_s < 600


def test_it_keeps_what_rules_of_alerts_look_at(fleet: Fleet, recorder: Recorder) -> None:
    calm = recorder.look().numbers
    assert (calm.letters, calm.hanging, calm.together, calm.unserved, calm.late_s) == (0, 0, 0, 0, 0)
    assert (calm.drifted, calm.broken_in, calm.at_risk_in) == (0, 0, 0)
    fleet.create("s1", fail="bad_payload", max_retries=0)
    fleet.create("s2", fail="bad_payload", max_retries=0)
    assert recorder.look().numbers.unserved == 2
    fleet.worker()
    eventually(lambda: recorder.look().numbers.letters == 2, 60)
    assert recorder.look().numbers.unserved == 0


@pytest.mark.parametrize(("error", "told"), [(UsageError("odd"), True), (StoreUnavailable("silent"), False)])
def test_what_one_rule_cannot_be_tried_on_stops_nothing_else(
    fleet: Fleet, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, error: Exception, told: bool
) -> None:
    def odd(_look: Look) -> Mapping[str, int]:
        raise error

    monkeypatch.setattr(
        keeper, "LISTED", [replace(one, keeps=odd) if one.name == "drift" else one for one in keeper.LISTED]
    )
    fleet.create("s1")
    if told:
        seen = recorder.look().numbers
        assert (seen.waiting, seen.drifted, seen.unserved) == (1, UNTOLD, 1)
    else:
        with pytest.raises(StoreUnavailable):
            recorder.look()


def test_it_counts_attempts_by_what_workers_say(fleet: Fleet, recorder: Recorder) -> None:
    recorder.look()
    fleet.worker()
    fleet.create("s1")
    fleet.create("s2", fail="bad_payload", max_retries=0)
    seen: list[Numbers] = []

    def counted() -> bool:
        seen.append(recorder.look().numbers)
        return (sum(one.tries for one in seen), sum(one.tries_failed for one in seen)) == (2, 1)

    eventually(counted, 60)


def test_a_leader_records_while_it_leads(fleet: Fleet) -> None:
    steward = fleet.steward()
    file = assembly.recorder_file(fleet.engine.settings)

    def seen() -> bool:
        try:
            tape = Tape(file, read_only=True)
        except FileNotFoundError:
            return False
        with contextlib.closing(tape):
            return tape.span() is not None

    eventually(seen, 60)
    steward.close()
    last = assembly.queries(fleet.engine).past.at(fleet.engine.store.now_ms())
    assert last.moment is not None
    assert last.moment.numbers.waiting == 0


def spoilt(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"a disk that wrote something else" * 1000)


def unlinked(file: Path) -> None:
    with contextlib.closing(Tape(file)):
        pass


@pytest.mark.one_pair
@pytest.mark.parametrize("before", [spoilt, unlinked])
def test_it_begins_anew_where_its_file_is_damaged_or_taken_away(
    fleet: Fleet, recorder: Recorder, file: Path, before: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    before(file)

    def recorded() -> bool:
        with contextlib.suppress(OSError, sqlite3.Error), contextlib.closing(Tape(file, read_only=True)) as tape:
            return tape.newest() is not None
        return False

    recorder.start()
    try:
        eventually(recorded, 60)
        if before is unlinked:
            for one in file.parent.iterdir():
                one.unlink()
            eventually(recorded, 60)
    finally:
        recorder.stop()
    told = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(told) == (2 if before is spoilt else 0), told
    assert file.with_name("fleet.sqlite.damaged").exists() == (before is spoilt)
    caplog.clear()


@pytest.mark.one_pair
def test_a_command_tells_a_moment(cli: Cli) -> None:
    cli.run("task", "create", "--shop", "pdd:s1", "--type", "sync_order")
    nothing = cli.run("at", "1m")
    assert (nothing["recorded"], nothing["numbers"], nothing["known_from"]) == (False, None, None)
    assert "nothing was ever recorded on this machine" in cli.call("at", "1m").stdout
    assert cli.run("at", "tomorrow", code=2)["field"] == "when"
    assert cli.run("at", "2099-01-01T00:00", code=2)["field"] == "when"
    assert cli.run("at", "1m", "--around", "3d", code=2)["field"] == "--around"
    with cli.start("worker", "--slots", "1"):
        eventually(lambda: cli.run("at", "1s")["recorded"], 90)
    now = cli.run("at", "1s")
    assert now["numbers"]["workers"] == 1
    assert [one["kind"] for one in now["things"]] == ["leader", "worker"]
    told = cli.call("at", "now").stdout
    assert "Create tasks " in told
    assert "task.create" not in told, "a code of the trail"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("03:12", "2026-11-18T03:12:00+00:00"),
        ("11:06:40", "2026-11-18T11:06:40+00:00"),
        ("12:00", "2026-11-17T12:00:00+00:00"),
        ("2026-11-17T12:00", "2026-11-17T12:00:00+00:00"),
        ("90m", "2026-11-18T09:36:40+00:00"),
    ],
)
def test_times_are_those_that_have_been(words: str, found: str) -> None:
    assert instant(words, T0, "UTC") == round(datetime.fromisoformat(found).timestamp() * 1000)


@pytest.mark.parametrize(
    ("now", "words", "found"),
    [
        ("2026-10-25T00:40", "02:30", "2026-10-25T00:30"),  # 02:40, for the first time
        ("2026-10-25T01:40", "02:30", "2026-10-25T01:30"),  # 02:40, for the second
        ("2026-10-25T01:40", "02:50", "2026-10-25T00:50"),
        ("2026-10-25T07:00", "02:30", "2026-10-25T01:30"),
        ("2026-10-25T07:00", "03:00", "2026-10-25T02:00"),
        ("2026-03-29T06:00", "02:30", "2026-03-29T01:30"),  # there was no such hour
        ("2026-03-29T06:00", "01:59", "2026-03-29T00:59"),
    ],
)
def test_of_an_hour_that_came_twice_the_last_is_meant(now: str, words: str, found: str) -> None:
    at, wanted = (round(datetime.fromisoformat(f"{one}+00:00").timestamp() * 1000) for one in (now, found))
    assert instant(words, at, "Europe/Berlin") == wanted


@pytest.mark.parametrize("words", ["", "noon", "25:00", "2026-11-19T00:00", "today", "12:0a"])
def test_what_is_no_past_time_is_none(words: str) -> None:
    assert instant(words, T0, "UTC") is None


def test_rules_are_tried_on_the_states_that_were_recorded(fleet: Fleet, file: Path, tape: Tape) -> None:
    asked = assembly.queries(fleet.engine)
    past = PastQueries(file, asked.audit, lambda: [], fleet.engine.store.now_ms, rules.PAST)
    now = fleet.engine.store.now_ms()
    begin = now - 10 * 60_000
    login, silent = {(SHOP, "pdd:s1"): "login"}, {(WORKER, "w1"): "silent 1.0 4"}
    for second in range(0, 600, 5):
        if 120 <= second < 180:
            continue  # nobody recorded
        things: dict[tuple[str, str], str] = {}
        if 220 <= second < 300 or second < 100:
            things |= login
        if second >= 400:
            things |= silent
        tape.add(Frame(Numbers(at_ms=begin + second * 1000, since_ms=0), things))
    tried = [rules.BY_NAME[name].default for name in ("needs_login", "silent_worker", "publisher_blocked", "no_leader")]
    logins, workers, broker, leader = past.dry_run(*tried)
    assert leader is None
    assert logins is not None
    assert [(one.begin - begin) // 1000 for one in logins.told] == [30, 250]
    assert any(gap.begin - begin == 115_000 for gap in logins.gaps)
    assert workers is not None
    assert [((one.begin - begin) // 1000, one.name) for one in workers.told] == [(445, "w1")]
    assert broker is not None
    assert broker.told == ()


def test_what_ended_before_the_days_that_a_rule_is_tried_on_is_over_in_their_first_row(
    fleet: Fleet, file: Path, tape: Tape
) -> None:
    begin = T0 - T0 % 60_000 + 30_000  # of that time a row a minute is kept
    now = begin + 7 * 86_400_000
    past = PastQueries(file, assembly.queries(fleet.engine).audit, lambda: [], lambda: now, rules.PAST)
    for second in range(-120, 125, 5):
        things = {(SHOP, "pdd:s1"): "login"} if second < -10 else {}
        tape.add(Frame(Numbers(at_ms=begin + second * 1000, since_ms=0), things))
    for minute in range(-180, 1, 15):  # long enough for a clock to be believed that has gone on so far
        tape.add(Frame(Numbers(at_ms=now + minute * 60_000, since_ms=0), {}))
    assert tape.series(begin, now)[0].since_ms < begin - 10_000, "it reaches back behind what ended"
    (found,) = past.dry_run(rules.BY_NAME["needs_login"].default)
    assert found is not None
    assert found.told == ()
