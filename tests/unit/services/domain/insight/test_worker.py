"""What is true of a worker that is heard of, late, silent or gone, and of all of them together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from services import messages
from services.domain.fleet.worker import Farewell, LinkState, SlotState, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.worker import AGAIN, DEAD, HELD, UNCONFIRMED, WAITS, Fate, FleetNow, WorkerNow
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status

NOW = 10_000_000


def beat(name: str = "w1", silence_s: float = 0, busy: int = 0, slots: int = 4, **fields: Any) -> WorkerInfo:
    states = tuple(SlotState(task_id=f"{name}-{n}", attempt=1) if n < busy else SlotState() for n in range(slots))
    usual: dict[str, Any] = {"host": "h", "pid": 1, "seen_at": NOW - round(silence_s * 1000), "slots": states}
    return WorkerInfo(worker=name, **(usual | fields))


def look(*workers: WorkerInfo, leader: str | None = "lead", **fates: tuple[Fate, ...]) -> FleetNow:
    return insight.look(workers, NOW, fates, leader=leader)


def one(info: WorkerInfo, *fates: Fate, others: tuple[WorkerInfo, ...] = (), leader: str | None = "lead") -> WorkerNow:
    """What is true of a worker of whose tasks somebody knows this."""
    found = look(info, *others, leader=leader, **{info.worker: fates}).find(info.worker)
    assert found is not None
    return found


def words(worker: WorkerNow) -> list[str]:
    return [messages.english(fact.message) for fact in worker.facts]


@pytest.mark.parametrize(
    ("silence_s", "busy", "state"),
    [(0, 2, "fine"), (14.9, 2, "fine"), (15, 2, "late"), (59.9, 0, "late"), (60, 2, "silent"), (60, 0, "gone")],
)
def test_a_worker_is_late_from_15_s_and_silent_when_its_claims_run_out(silence_s: float, busy: int, state: str) -> None:
    (found,) = look(beat(silence_s=silence_s, busy=busy)).workers
    assert found.state == state
    assert found.missing == (silence_s >= 15)


@pytest.mark.parametrize("state", ["draining", "stopping", "stopped"])
def test_what_a_worker_says_of_itself_counts_while_it_is_heard_of(state: str) -> None:
    (found,) = look(beat(state=state, busy=1)).workers
    assert (found.state, found.takes_work, found.missing) == (state, False, False)


def test_who_stopped_cleanly_is_never_missed() -> None:
    (found,) = look(beat(state="stopped", silence_s=3600)).workers
    assert (found.state, words(found)) == ("stopped", ["stopped; it holds no task"])
    (killed,) = look(beat(state="stopping", silence_s=3600)).workers
    assert killed.state == "gone"


def test_a_late_worker_says_what_its_claims_become_and_when() -> None:
    open_ = [Fate(task_id=f"w1-{n}", what=UNCONFIRMED, until=NOW + 39_000, then=AGAIN) for n in range(3)]
    held = [Fate(task_id=f"w1-{n}", what=UNCONFIRMED, until=NOW + 30_000, then=HELD) for n in (3, 4)]
    found = one(beat(silence_s=20, busy=5, slots=5), *open_, *held, others=(beat("w2"),))
    assert words(found) == ["2 tasks will be held in 40 s: a person decides", "3 tasks go to others in 40 s"]
    assert found.facts[0].tasks == ("w1-3", "w1-4")
    assert found.remark is not None
    assert messages.english(found.remark) == "5 tasks unconfirmed"
    assert set(found.unconfirmed) == {f"w1-{n}" for n in range(5)}


def test_where_nobody_else_works_they_go_back_and_wait() -> None:
    fate = Fate(task_id="w1-0", what=UNCONFIRMED, until=NOW + 9_000, then=AGAIN)
    assert words(one(beat(silence_s=50, busy=1), fate)) == ["1 task goes back in 10 s and waits for a worker"]


def test_where_nobody_leads_nobody_decides() -> None:
    fate = Fate(task_id="w1-0", what=UNCONFIRMED, until=NOW - 9_000, then=AGAIN)
    found = one(beat(silence_s=600, busy=1), fate, leader="")
    assert (found.state, words(found)) == ("silent", ["1 task is unconfirmed until somebody leads"])


def test_a_claim_that_has_run_out_is_judged_any_moment() -> None:
    fate = Fate(task_id="w1-0", what=UNCONFIRMED, until=NOW - 9_000, then=AGAIN)
    assert words(one(beat(silence_s=70, busy=1), fate, others=(beat("w2"),))) == ["1 task goes to another worker now"]


def test_later_it_is_told_what_became_of_each_and_its_slots_are_empty() -> None:
    fates = (
        Fate(task_id="w1-0", what=AGAIN, worker="w2"),
        Fate(task_id="w1-1", what=AGAIN, worker="w4"),
        Fate(task_id="w1-2", what=HELD),
        Fate(task_id="w1-3", what=WAITS),
    )
    found = one(beat(silence_s=90, busy=4), *fates)
    assert words(found) == [
        "1 task is held: a person decides",
        "1 task waits to be started again",
        "2 tasks were started again (on w2, w4)",
    ]
    assert (found.state, found.busy, len(found.slots)) == ("gone", 0, 4)
    assert found.facts[-1].tasks == ("w1-0", "w1-1")


@pytest.mark.parametrize(
    ("fates", "told"),
    [
        ((), "late; it held no task"),
        ((Fate(task_id="w1-0", what=WAITS),), "late; it holds no task any more"),
        ((Fate(task_id="w1-0", what=UNCONFIRMED), Fate(task_id="w1-1", what=WAITS)), "1 task unconfirmed"),
    ],
)
def test_a_late_worker_whose_tasks_were_taken_back_is_not_said_to_have_held_none(
    fates: tuple[Fate, ...], told: str
) -> None:
    remark = one(beat(silence_s=20, busy=len(fates)), *fates).remark
    assert remark is not None
    assert messages.english(remark) == told


def test_slots_keep_what_is_unconfirmed_only() -> None:
    fates = (Fate(task_id="w1-0", what=UNCONFIRMED, until=NOW + 1), Fate(task_id="w1-1", what=AGAIN, worker="w2"))
    found = one(beat(silence_s=58, busy=2), *fates)
    assert [slot.task_id for slot in found.slots] == ["w1-0", "", "", ""]


def test_what_it_claimed_after_its_last_heartbeat_may_run_in_one_of_its_slots() -> None:
    claimed = Task(
        task_id="late", platform="pdd", shop_id="s1", task_type="work", status=Status.RUNNING, worker="w1", attempt=1,
        lease_until=NOW + 9_000,
    )  # fmt: skip
    fate = insight.fate_of(claimed, "w1", 1, NOW)
    assert fate is not None
    listed = Fate(task_id="w1-0", what=UNCONFIRMED, until=NOW + 1)
    found = one(beat(silence_s=20, busy=1), listed, fate)
    assert [(slot.task_id, slot.shop) for slot in found.slots] == [("w1-0", ""), ("late", "pdd:s1"), ("", ""), ("", "")]
    assert found.busy == 2


def test_before_anybody_looked_everything_it_held_is_unconfirmed() -> None:
    (found,) = look(beat(silence_s=20, busy=2)).workers
    assert found.unconfirmed == ("w1-0", "w1-1")
    assert found.left_ms == 41_000


def test_sums_are_of_those_that_take_work() -> None:
    fleet = look(
        beat("full", busy=8, slots=8),
        beat("leaves", state="draining", busy=1, slots=2),
        beat("late", silence_s=20, busy=3, slots=3),
        beat("dead", silence_s=600, slots=7),
        dead=(),
    )
    assert (fleet.busy, fleet.slots, fleet.free, fleet.apart) == (8, 8, 0, 5)
    assert [messages.english(part) for part in insight.summary(fleet)] == [
        "2 of 4 workers in touch, on 1 machine", "8 of 8 slots busy", "5 more slots take no work",
        "1 draining", "1 late", "1 gone",
    ]  # fmt: skip


def test_machines_are_not_workers() -> None:
    fleet = look(
        beat("a", node="desk"), beat("b", node="desk"), beat("c", node="hall"), beat("d", node="attic", silence_s=20)
    )
    assert (fleet.living, fleet.machines, fleet.known) == (3, 2, 4)
    assert fleet.by_machine == {"desk": 2, "hall": 1}
    assert messages.english(insight.summary(fleet)[0]) == "3 of 4 workers in touch, on 2 machines"
    assert look(beat("a"), beat("b")).machines == 1, "without a node the host names the machine"


def test_free_slots_of_a_lane_are_of_those_that_serve_it() -> None:
    fleet = look(beat("a", busy=1), beat("b", lanes=("high",)), beat("c", silence_s=15))
    assert (fleet.free_for("high"), fleet.free_for("normal")) == (7, 3)
    assert look(beat("a", closed=("low",))).free_for("low") == 0, "the broker does not let it read that one"


def task(status: str, *attempts: Attempt, attempt: int = 1, **fields: Any) -> Task:
    usual: dict[str, Any] = {"task_id": "t", "shop_id": "s", "platform": "pdd", "task_type": "work", "worker": "w1"}
    return Task(status=status, attempt=attempt, attempts=attempts, **(usual | fields))


LOST = Attempt(1, "w1", 0, 1, "lost")


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (task(Status.RUNNING, lease_until=NOW + 5), (UNCONFIRMED, AGAIN)),
        (task(Status.RUNNING, idempotent=False), (UNCONFIRMED, HELD)),
        (task(Status.RUNNING, losses=(NOW - 2, NOW - 1)), (UNCONFIRMED, DEAD)),
        (task(Status.RUNNING, LOST, attempt=2, worker="w2"), (AGAIN, "")),
        (task(Status.SUCCEEDED, LOST, attempt=2, worker="w2"), (AGAIN, "")),
        (task(Status.QUEUED, LOST), (WAITS, "")),
        (task(Status.HELD, LOST), (HELD, "")),
        (task(Status.DEAD, LOST), (DEAD, "")),
        (task(Status.SUCCEEDED, LOST), ("decided", "")),
        (task(Status.SUCCEEDED, Attempt(1, "w1", 0, 1, "succeeded")), None),
        (task(Status.RUNNING, Attempt(1, "w1", 0, 1, "failed"), attempt=2, worker="w2"), None),
    ],
)
def test_the_record_tells_what_became_of_a_task(found: Task, what: tuple[str, str] | None) -> None:
    fate = insight.fate_of(found, "w1", 1, NOW)
    assert (None if fate is None else (fate.what, fate.then)) == what
    if fate is not None and fate.what == AGAIN:
        assert fate.worker == "w2"


def test_a_running_task_is_unconfirmed_while_its_worker_is_not_heard_of() -> None:
    running = task(Status.RUNNING, lease_until=NOW + 5)
    assert insight.unconfirmed(running, NOW, {"w1"})
    assert not insight.unconfirmed(running, NOW, set())
    assert insight.unconfirmed(running, NOW + 5, set()), "nor when nobody renewed its claim"
    assert not insight.unconfirmed(task(Status.HELD), NOW, {"w1"})


def test_who_lives_or_may_hold_a_task_is_not_forgotten() -> None:
    fate = Fate(task_id="w1-0", what=UNCONFIRMED, until=NOW + 5_000)
    for living in (beat(), beat(state="draining"), beat(silence_s=20)):
        reason = insight.kept(one(living), NOW)
        assert reason is not None
        assert reason.code == "worker.lives"
    reason = insight.kept(one(beat(silence_s=90, busy=1), fate), NOW)
    assert reason is not None
    assert (reason.code, reason.params["seconds"]) == ("worker.holds", 5)
    assert insight.kept(one(beat(silence_s=90, busy=1), fate), NOW + 5_000) is None
    assert insight.kept(one(beat(silence_s=90)), NOW) is None
    assert insight.kept(one(beat(state="stopped")), NOW) is None


def told(silence_s: float, left_s: float, *others: WorkerInfo, leader: str | None = "lead", **fields: Any) -> list[str]:
    """What is said of a running task whose worker is silent for so long and whose claim has so much left."""
    fleet = look(*(() if silence_s < 0 else (beat(silence_s=silence_s, busy=1),)), *others, leader=leader)
    task = running(lease_until=NOW + round(left_s * 1000), **fields)
    return [messages.english(one) for one in insight.unheard(task, fleet, NOW, leader)]


def running(**fields: Any) -> Task:
    usual: dict[str, Any] = {"task_id": "t1", "shop_id": "s1", "platform": "pdd", "task_type": "work", "worker": "w1"}
    more: dict[str, Any] = {"status": Status.RUNNING, "attempt": 1, "max_retries": 3, "started_at": NOW - 90_000}
    return Task(**(usual | more | fields))


def test_of_an_unconfirmed_task_is_said_why_and_what_becomes_of_it_when() -> None:
    silent = "w1 has given no sign of life for 32 s: nobody knows whether the task still runs there."
    other = beat("w2")
    assert told(5, 55, other) == []
    assert told(32, 27, other) == [silent, "If it stays silent, the task goes to another worker in 28 s."]
    assert told(32, 27) == [
        silent, "If it stays silent, the task goes back in 28 s and waits for a worker; none is there.",
    ]  # fmt: skip
    assert told(32, 27, other, idempotent=False)[1].startswith("If it stays silent, the task is held in 28 s")
    assert told(32, -5, other)[1] == "It goes to another worker now."
    assert told(32, 27, other, leader="")[1] == "It stays so until somebody leads: start a worker."
    assert told(5, -5, other)[0].startswith("w1 has not renewed its claim")
    assert told(-1, 27, other)[0].startswith("w1 is not listed any more")


CUT = LinkState(error="Connection to RabbitMQ at mq:5672 lost.", lost_at=NOW - 60_000)


def test_who_cannot_reach_the_broker_is_heard_of_and_takes_no_work() -> None:
    fleet = look(beat("here", busy=1), beat("apart", busy=1, link=CUT))
    (here, apart) = fleet.workers
    assert (here.takes_work, apart.takes_work, apart.living, apart.missing) == (True, False, True, False)
    assert [insight.takes_work(one.info, NOW) for one in fleet.workers] == [True, False]
    assert words(apart) == ["it cannot reach the broker and takes no tasks"]
    assert (fleet.slots, fleet.free, fleet.free_for("normal"), fleet.apart) == (4, 3, 3, 4)
    assert messages.english(insight.summary(fleet)[-1]) == "1 cannot reach the broker"


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"silence_s": 20}, "late"),
        ({"state": "draining"}, "draining"),
        ({"link": LinkState(error="RabbitMQ at mq holds publishers back (disk).", blocked_at=NOW)}, "fine"),
    ],
)
def test_what_says_more_of_a_worker_than_its_lost_broker(fields: dict[str, Any], state: str) -> None:
    (found,) = look(beat(**({"link": CUT} | fields))).workers
    assert found.state == state
    assert insight.takes_work(found.info, NOW) == found.takes_work == (state == "fine")


def test_the_last_worker_is_the_one_that_was_there_longest_silent_or_left() -> None:
    left = Farewell(worker="w1", machine="desk-01", by="ann", at=NOW - 90_000)
    silent = WorkerInfo(worker="w2", host="desk-02", pid=1, seen_at=NOW - 120_000)

    def said(*workers: WorkerInfo, farewell: Farewell = left) -> str:
        found = insight.last(insight.look(workers, NOW, farewell=farewell), NOW)
        return messages.english(found) if found is not None else ""

    assert said() == "The last one, w1 on machine desk-01, was stopped by ann 1 m 30 s ago"
    assert said(silent) == said()
    later = msgspec.structs.replace(silent, seen_at=NOW - 60_000)
    assert said(later).startswith("The last one, w2 on machine desk-02, has not been heard of for 1 min")
    assert (
        said(farewell=msgspec.structs.replace(left, by=""))
        == "The last one, w1 on machine desk-01, ended normally 1 m 30 s ago"
    )
    assert said(msgspec.structs.replace(silent, seen_at=NOW)) == "", "one works"
    assert said(farewell=Farewell()) == "", "nobody knows of any"
