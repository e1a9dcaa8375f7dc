"""A login that expired or a captcha parks the tasks of its shop, uncounted, until a person has logged in."""

from __future__ import annotations

from services import assembly
from services.clock import SystemClock
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight.wait import GateView
from services.messages import english
from services.monitor.attention import AttentionFinder
from services.monitor.letters.causes import CauseQueries
from services.monitor.live import Snapshot
from services.monitor.overview import Attention
from tests.integration.fleet_rig import Fleet


def closed(fleet: Fleet, task_id: str) -> GateView:
    detail = assembly.queries(fleet.engine).tasks.detail(task_id)
    assert detail is not None
    return next(gate for gate in detail.gates if gate.state == "closed")


def test_its_tasks_wait_uncounted_and_go_on_after_the_login(fleet: Fleet) -> None:
    fleet.worker(name="w1")
    told = fleet.wait(fleet.create(fail="login_expired", fail_first=1, max_retries=0), "blocked")
    assert (told.gate, told.attempt, told.retries, told.error_kind) == ("session", 1, 0, "login_expired")
    others = [fleet.create(n=n) for n in range(2)]
    goes_on = fleet.create("s2")
    fleet.wait(goes_on, "succeeded")
    assert {fleet.wait(task_id, "blocked").gate for task_id in others} == {"session"}
    (gate,) = fleet.engine.store.sessions()
    assert (gate.shop, gate.kind, gate.task_id, gate.worker) == ("pdd:s1", "login_expired", told.task_id, "w1")
    said = english(closed(fleet, others[0]).message)
    assert "must be logged in again" in said
    assert f"({told.task_id} on w1)" in said
    assert fleet.reconciler().open_parked() == 0
    assert fleet.commands().sessions.open("pdd:s1", note="scanned the code") is True
    ended = fleet.wait_ended([told.task_id, *others])
    assert [(task.status, task.retries) for task in ended] == [("succeeded", 0)] * 3
    assert [one.outcome for one in fleet.task(told.task_id).attempts] == ["failed", "succeeded"]
    (entry,) = fleet.engine.store.audit(1)
    assert (entry.action, entry.target, entry.outcome) == ("session.open", ("pdd:s1",), "done")
    assert "scanned the code" in entry.detail
    assert told.task_id in entry.detail
    assert fleet.engine.store.logins()["pdd:s1"].by == entry.who
    assert fleet.engine.store.successes().keys() >= {"pdd:s1", "pdd:s2"}


def test_work_that_may_not_run_twice_and_a_republished_letter_wait_there_too(fleet: Fleet) -> None:
    fleet.worker()
    letter = fleet.wait(fleet.create(fail="missing_secret", fail_first=1), "dead")
    once = fleet.wait(fleet.create(kind="once", fail="captcha", fail_first=1), "blocked")
    outcome = fleet.commands().dead_letters.republish([letter.task_id], reason="again")
    again = outcome.made[letter.task_id]
    assert fleet.wait(again, "blocked").gate == "session"
    assert "shows a captcha" in english(closed(fleet, again).message)
    fleet.commands().sessions.open("pdd:s1")
    assert {task.status for task in fleet.wait_ended([once.task_id, again])} <= {"succeeded", "dead"}
    assert fleet.task(once.task_id).status == "succeeded"


def test_a_person_closes_it_and_is_named(fleet: Fleet) -> None:
    sessions = fleet.commands().sessions
    assert sessions.open("pdd:s1") is False
    assert sessions.close("pdd:s1", kind="captcha", note="the phone is away") is True
    assert sessions.close("pdd:s1") is False
    fleet.worker()
    waits = fleet.create()
    assert fleet.wait(waits, "blocked").gate == "session"
    assert "that somebody must log the shop in first: the phone is away" in english(closed(fleet, waits).message)
    acts = [(one.action, one.outcome) for one in fleet.engine.store.audit(9) if one.action.startswith("session")]
    assert acts == [
        ("session.close", "refused: it is closed already"), ("session.close", "done"), ("session.open", "done"),
    ]  # fmt: skip
    assert sessions.open("pdd:s1") is True
    fleet.wait(waits, "succeeded")


def test_it_needs_attention_once_however_many_wait(fleet: Fleet) -> None:
    fleet.worker()
    told = fleet.wait(fleet.create(fail="captcha"), "blocked")
    waiting = [fleet.create(n=n) for n in range(3)]
    for task_id in waiting:
        fleet.wait(task_id, "blocked")
    store = fleet.engine.store
    finder = AttentionFinder(store, CauseQueries(store), SystemClock(), lambda key: f"<{key}>", fleet.engine.registry)

    def items() -> list[Attention]:
        sessions = tuple(store.sessions())
        snapshot = Snapshot(taken=0.0, at_ms=store.now_ms(), counts=store.counts(), sessions=sessions)
        return [one for one in finder.find(snapshot, (), None) if "session" in one.code]

    (item,) = items()
    assert (item.key, item.code, item.state) == ("session:pdd:s1", "attention.session_captcha", "")
    assert (item.params["shop"], item.params["waiting"], item.params["task"]) == ("<pdd:s1>", 4, told.task_id)
    assert item.since_ms == store.sessions()[0].since
    assert item.verbs == (
        ("login_shop", "pdd:s1"), ("open_tasks", "shop:pdd:s1 gate:session"), ("open_session", "pdd:s1"),
    )  # fmt: skip
    fleet.commands().tasks.cancel([told.task_id])
    fleet.commands().sessions.open("pdd:s1")
    assert items() == []
    fleet.wait_ended(waiting)


def test_a_login_makes_a_home_where_there_is_none_and_moves_none(fleet: Fleet) -> None:
    """What the shop has at home would be left behind there: its profile, and whatever it is logged in to."""
    store, sessions = fleet.engine.store, fleet.commands().sessions
    for node in ("attic", "desk"):
        store.heartbeat(WorkerInfo(worker=f"w-{node}", host="h", pid=1, node=node))
    store.put_home("pdd:s1", "attic")
    before = store.homes(["pdd:s1"])
    for shop in ("pdd:s1", "pdd:s2"):
        assert sessions.login(shop, lambda: True, node="desk") is True
    assert store.homes(["pdd:s1"]) == before
    assert store.homes(["pdd:s2"])["pdd:s2"].node == "desk"
    second, first = store.audit(2)
    assert (first.target, first.outcome) == (("pdd:s1",), "done")
    assert (second.target, second.outcome) == (("pdd:s2",), "done: the shop is at home on desk now")
