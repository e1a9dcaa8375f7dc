"""What holds the work of a shop back, in words: the check at which it stands, who can act, and the verb that helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.fleet.shop import Pause
from services.domain.gates import quiet_hours
from services.domain.gates.ability import Supply
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession
from services.domain.insight.forecast.durations import Runs
from services.domain.promises.judge import CREATED, GATES, LOGIN, PAGE, WORKER, Hold
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_, Counted

OPERATOR, LEADER, OF_LOGIN, OF_WORKERS, OF_FLOW, OF_SOURCE = (
    "promise.an_operator",
    "promise.of_leader",
    "promise.of_login",
    "promise.of_workers",
    "promise.of_flow",
    "promise.of_source",
)


def unfired(schedule: str, clock: str, late_ms: int) -> Hold:
    """A schedule whose time has passed and that made nothing."""
    params: dict[str, Param] = {"schedule": schedule, "at": clock, "seconds": late_ms // 1000}
    return Hold(CREATED, "promise.unfired", params, role=LEADER, verb="open_schedule", target=schedule)


def silent(clock: str, gap_s: float) -> Hold:
    """Runs came regularly, and now none did."""
    return Hold(CREATED, "promise.silent", {"at": clock, "usual_s": round(gap_s)}, role=OF_SOURCE, verb="copy_creator")


def unplanned() -> Hold:
    """Nothing is there, and nothing is planned."""
    return Hold(CREATED, "promise.unplanned", role=OF_SOURCE, verb="copy_creator")


def planned(schedule: str, clock: str) -> Hold:
    """The next run comes too late."""
    return Hold(
        CREATED, "promise.planned", {"schedule": schedule, "at": clock}, role=OPERATOR, verb="open_schedule",
        target=schedule,
    )  # fmt: skip


def switched(pause: Pause) -> Hold:
    """A pause, or quiet hours."""
    if pause.gate == quiet_hours.GATE:
        name = pause.told.get("name", "")
        told: dict[str, Param] = {"ends": pause.told.get("ends", ""), "name": name, "by": pause.by}
        return Hold(
            GATES,
            "promise.quiet",
            told,
            who=pause.by,
            role=OPERATOR,
            verb="open_tasks",
            target=f"gate:{quiet_hours.GATE}",
        )
    code = "promise.paused_why" if pause.reason else "promise.paused"
    params: dict[str, Param] = {"scope": pause.scope, "by": pause.by, "reason": pause.reason}
    return Hold(GATES, code, params, who=pause.by, role=OPERATOR, verb="resume", target=pause.scope)


def breaking(found: Breaker) -> Hold:
    """Too many of its attempts failed."""
    params: dict[str, Param] = {"n": found.failed, "kind": found.kind}
    return Hold(GATES, "promise.breaker", params, role=OPERATOR, verb="open_shop", target=found.shop)


def gate(task: Task, name: str) -> Hold:
    """Any other gate."""
    code = f"promise.gate_{name}"
    return Hold(
        GATES, code if code in SENTENCES else "promise.gate", {"gate": name}, role=OPERATOR, verb="open_task",
        target=f"id:{task.task_id}",
    )  # fmt: skip


def held(task: Task) -> Hold:
    """A person decides what becomes of it."""
    return Hold(
        GATES, "promise.held", {"kind": task.error_kind}, role=OPERATOR, verb="open_task", target=f"id:{task.task_id}"
    )


def in_line(task: Task) -> Hold:
    """Nothing but what goes first."""
    return Hold(
        WORKER,
        "promise.in_line",
        {"lane": str(task.lane)},
        role=OF_WORKERS,
        verb="open_task",
        target=f"id:{task.task_id}",
    )


def behind(lane: str) -> Hold:
    """Its next run is planned in time, and so much else goes first that it may not be through."""
    return Hold(WORKER, "promise.behind", {"lane": lane}, role=OF_WORKERS, verb="open_workers")


def login(closed: ClosedSession) -> Hold:
    """Somebody has to log the shop in."""
    code = "promise.captcha" if closed.kind == classify.CAPTCHA else "promise.login"
    return Hold(LOGIN, code, {"since": closed.since}, role=OF_LOGIN, verb="login_shop", target=closed.shop)


def worker(task_type: str, supply: Supply) -> Hold:
    """Nobody there can run it."""
    code = "promise.no_worker" if not supply.seen else "promise.unable"
    return Hold(WORKER, code, {"type": task_type}, role=OF_WORKERS, verb="start_worker")


def away(node: str) -> Hold:
    """It runs on one machine only, and no worker is there."""
    return Hold(WORKER, "promise.away", {"node": node}, who="", role=OF_WORKERS, verb="open_workers")


def failing(kind: str, times: int, mark: str) -> Hold:
    """Its runs fail; ``mark``: the fingerprint of the cause."""
    params: dict[str, Param] = {"kind": kind or "?", "n": times}
    return Hold(PAGE, "promise.failing", params, role=OF_FLOW, verb="triage", target=mark)


def hangs(task: Task, lasts: Runs, ran_s: float) -> Hold:
    """It runs far longer than such tasks do."""
    params: dict[str, Param] = {"seconds": int(ran_s), "usual_s": lasts.usual_s}
    return Hold(PAGE, "promise.hangs", params, who="", role=OPERATOR, verb="open_task", target=f"id:{task.task_id}")


def runs(task: Task, ran_s: float) -> Hold:
    """It runs, and is not through in time."""
    return Hold(
        PAGE, "promise.runs", {"seconds": int(ran_s)}, role=OF_FLOW, verb="open_task", target=f"id:{task.task_id}"
    )


#: said only where nothing else holds it
SOFT = frozenset({"promise.in_line", "promise.runs"})
#: what nobody can do away with at once
_LASTS = frozenset({
    *SOFT, "promise.behind", "promise.quiet", "promise.gate", "promise.gate_dependency", "promise.gate_shop_busy",
    "promise.gate_quota", "promise.gate_twin", "promise.gate_message", "promise.gate_broker",
})  # fmt: skip
#: how much a worker that is started, or comes back, would do nobody knows
_WORKERS = frozenset({"promise.no_worker", "promise.unable", "promise.away"})


def lasts(found: Iterable[Hold]) -> bool:
    """Whether nothing that an operator does at once would help."""
    return all(one.code in _LASTS for one in found)


def needs_worker(found: Iterable[Hold]) -> bool:
    """Whether a worker has to come first."""
    return any(one.code in _WORKERS for one in found)


def short(message: Message) -> Message:
    """The same in a few words, where there are such."""
    code = f"{message.code}_short"
    return Message(code, message.params) if code in SENTENCES else message


SENTENCES: Mapping[str, str | Counted] = {
    "promise.unfired": N_("its run was never created, due {at}: schedule {schedule} did not fire"),
    "promise.silent": N_("no run was created since {at}; one usually comes every {usual}"),
    "promise.unplanned": N_("no run waits and none is planned"),
    "promise.planned": N_("its next run is planned for {at}, by {schedule}"),
    "promise.quiet": N_("quiet hours until {ends}, set by {by}"),
    "promise.paused": N_("{scope} paused by {by}"),
    "promise.paused_why": N_("{scope} paused by {by}: {reason}"),
    "promise.breaker": NN_("breaker: {n} failure", "breaker: {n} failures"),
    "promise.gate": N_("waits at {gate}"),
    "promise.gate_not_due": N_("is planned for later"),
    "promise.gate_dependency": N_("waits for another task"),
    "promise.gate_shop_busy": N_("its shop is busy"),
    "promise.gate_quota": N_("the limit of its platform or type is reached"),
    "promise.gate_twin": N_("the same work goes first"),
    "promise.gate_message": N_("its message is not sent yet"),
    "promise.gate_broker": N_("the broker does not answer"),
    "promise.held": N_("held: a person decides what becomes of it"),
    "promise.in_line": N_("waits behind others in lane {lane}"),
    "promise.behind": N_("its next run will wait behind others in lane {lane}"),
    "promise.login": N_("logged out"),
    "promise.captcha": N_("a captcha is asked for"),
    "promise.no_worker": N_("no worker is heard of"),
    "promise.unable": N_("no worker can run {type}"),
    "promise.away": N_("no worker runs on {node}"),
    "promise.failing": NN_("its last run failed ({kind})", "its last {n} runs failed ({kind})"),
    "promise.hangs": N_("seems to hang: runs for {span}, usually {usual}"),
    "promise.runs": N_("runs for {span} and is not through"),
    # how one that is not kept yet would have stood
    "promise.before_untold": N_(
        "How it would have stood before is not known: no two tasks of this type are the same work"
    ),
    "promise.before_broken": NN_(
        "In the last 30 days it would have been broken at least {n:,} time, shops: {shops:,}",
        "In the last 30 days it would have been broken at least {n:,} times, shops: {shops:,}",
    ),
    "promise.before_kept": N_(
        "In the last 30 days nothing is known to have broken it; of each day the first and the last run are kept"
    ),
    "promise.before_works": N_("Runs with the parameters of its schedules are counted"),
    "promise.before_unknown": NN_(
        "Of {n:,} shop it is not known how it stood before", "Of {n:,} shops it is not known how they stood before"
    ),
    # where several stand in one line
    "promise.unfired_short": N_("never created, due {at}"),
    "promise.silent_short": N_("none since {at}"),
    "promise.unplanned_short": N_("none planned"),
    "promise.planned_short": N_("planned {at}"),
    "promise.quiet_short": N_("quiet hours"),
    "promise.paused_short": N_("paused"),
    "promise.paused_why_short": N_("paused"),
    "promise.breaker_short": N_("breaker"),
    "promise.gate_not_due_short": N_("planned for later"),
    "promise.gate_dependency_short": N_("after another task"),
    "promise.gate_shop_busy_short": N_("shop busy"),
    "promise.gate_quota_short": N_("at limit"),
    "promise.gate_twin_short": N_("same work first"),
    "promise.gate_message_short": N_("not sent yet"),
    "promise.gate_broker_short": N_("broker silent"),
    "promise.held_short": N_("held"),
    "promise.in_line_short": N_("in line"),
    "promise.behind_short": N_("in line"),
    "promise.login_short": N_("logged out"),
    "promise.captcha_short": N_("captcha"),
    "promise.no_worker_short": N_("no worker"),
    "promise.unable_short": N_("no able worker"),
    "promise.away_short": N_("{node} away"),
    "promise.failing_short": N_("fails ({kind})"),
    "promise.hangs_short": N_("seems to hang"),
    "promise.runs_short": N_("still runs"),
    OPERATOR: N_("an operator"),
    LEADER: N_("who runs the leader"),
    OF_LOGIN: N_("who can log the shop in"),
    OF_WORKERS: N_("who runs the workers"),
    OF_FLOW: N_("who looks after the flow"),
    OF_SOURCE: N_("who creates these tasks"),
}
