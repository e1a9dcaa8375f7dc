"""The page for who takes over: on real stores, each number counted again by its own filter."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from services import assembly, messages, workforce
from services import settings as config
from services.domain.alerts.incident import ROLE
from services.domain.change import Claim
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.quiet_hours import WINDOWS, Once, QuietHours
from services.domain.insight import shop
from services.domain.insight.handover import ACTS, BROKE, NEXT, NOW, PROMISES, WAITS
from services.domain.past.frame import Frame, Numbers
from services.domain.plans.handover import DOCUMENT, KIND, PLAN, SENT, HandoverPlan
from services.domain.promises.promise import Promise
from services.domain.task.search import filter
from services.domain.task.search.query import Query
from services.engine.lead import leader
from services.engine.zone import set_fleet_zone
from services.monitor.handover import AUDIT, CAUSES, MOST_DRAINING, TASKS, WORKERS, Handover, Line, plain
from services.monitor.past.tape import Tape
from services.store.sqlite import query
from services.watch.handover import HandoverKeeper
from tests.integration import fleet_rig
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook
from tests.support.heartbeats import beat_ago

HOUR_MS = 3_600_000


def page(fleet: Fleet, language: str = "en", since: int = 0) -> Handover:
    """As it is written now."""
    asked = assembly.queries(fleet.engine).handover
    return asked.page(since or fleet.engine.store.now_ms() - HOUR_MS, language)


def part(found: Handover, key: str) -> tuple[Line, ...]:
    """The lines of one part."""
    return next((one.lines for one in found.parts if one.key == key), ())


def led(fleet: Fleet) -> None:
    """Somebody leads and watches."""
    for role in (leader.ROLE, ROLE):
        assert fleet.engine.store.lead(role, "desk-02/11", 60_000)


def again(fleet: Fleet, line: Line) -> int:
    """What its filter counts."""
    if line.page == AUDIT:
        return len(assembly.queries(fleet.engine).audit.entries(line.filter, limit=1_000).entries)
    terms = filter.parse(line.filter, now_ms=fleet.engine.store.now_ms())
    return fleet.engine.store.query(Query(terms=terms, limit=1)).number.number


@pytest.fixture
def shift(fleet: Fleet) -> Fleet:
    """A shift in which three died of one cause, two were done, one waits, and somebody did two things."""
    led(fleet)
    ended = [fleet.create(f"s{n}", fail="risk_control", max_retries=0) for n in range(3)] + [
        fleet.create("s7"),
        fleet.create("s8"),
    ]
    worker = fleet.worker()
    fleet.wait_ended(ended)
    worker.stop(0.0)
    commands = fleet.commands()
    commands.fleet.pause("shop:pdd:s9", reason="captcha")
    commands.fleet.pause("shop:pdd:s6", reason="stock-taking")
    fleet.create("s9")
    with pytest.raises(UsageError):  # what was refused was not done
        commands.roles.remove(commands.operator.who)
    with pytest.raises(TimeoutError), assembly.audit_of(fleet.engine, "eve@desk").act("fleet.pause", ["shop:pdd:s6"]):
        raise TimeoutError  # what failed neither
    return fleet


def test_it_tells_what_broke_who_acted_and_what_waits(shift: Fleet) -> None:
    commands = shift.commands()
    commands.fleet.import_shops([Shop(platform="pdd", shop_id="s6", name="Sixth Street")])
    (cause,) = assembly.queries(shift.engine).causes.causes().rows
    commands.causes.know(str(cause.fingerprint), owner="ann")
    found = page(shift)
    assert found.doubts == ()
    name = "Local" if shift.engine.settings.embedded else shift.engine.settings.profile
    assert found.title.startswith(f"Handover of {name}, "), "as people call it"
    now = {line.text: line.number for line in part(found, NOW) if line.number is not None}
    assert now == {"1 task waits": 1, "3 dead letters are open": 3, "2 tasks have succeeded in this time": 2}
    (broke,) = (line for line in part(found, BROKE) if line.page == CAUSES)
    assert broke.text.startswith("New: ")
    assert "3 dead letters, in 3 shops, since " in broke.text
    acted = [line.text for line in part(found, ACTS)]
    assert any(": Pause, 2 times: Sixth Street, " in line for line in acted), acted
    assert not any(str(cause.fingerprint) in line for line in acted), "a cause is told by its name"
    waits = [line.text for line in part(found, WAITS)]
    assert any(line.startswith("For an operator: ") and "3 dead letters" in line for line in waits), waits
    assert not any("role" in line for line in acted), "it was refused"
    assert not any("eve@desk" in line for line in acted), acted


def test_it_tells_what_lets_nothing_start_and_until_when(shift: Fleet) -> None:
    commands = shift.commands()
    commands.fleet.import_shops([Shop(platform="pdd", shop_id="s6", name="Sixth Street")])
    commands.fleet.pause("type:work")
    now = shift.engine.store.now_ms()
    once = Once(start=now - 1, end=now + HOUR_MS)
    commands.quiet.set(QuietHours(name="sale", scope="platform:pdd", once=(once,), reason="sale"))
    found, who = page(shift), commands.operator.who
    held = [line for line in part(found, NOW) if line.number is None]
    quiet, work, *shops = [line.text for line in held]
    assert (work[:12], work[-17:]) == ("work: paused", ", no reason given")
    assert quiet.startswith("Pinduoduo: nothing starts until ")
    assert quiet.endswith(f", quiet hours of {who}: sale")
    assert shops[0].startswith(f"Sixth Street: paused by {who} since ")
    assert shops[0].endswith(": stock-taking")
    assert [line.filter for line in held[:3]] == [
        "gate:quiet_hours platform:pdd",
        "gate:paused type:work",
        "gate:paused shop:pdd:s6",
    ]


def test_quiet_hours_that_nobody_can_read_are_told_so(shift: Fleet) -> None:
    store = shift.engine.store
    store.put_document(WINDOWS, "night", "{")
    told = [line.text for line in part(page(shift), NOW)]
    assert "Nothing starts: the quiet hours night cannot be read; set them again, or remove them" in told
    detail = assembly.queries(shift.engine).tasks.detail(shift.create("s11"))
    assert detail is not None
    assert [gate.params["name"] for gate in detail.gates if gate.code == "gate.quiet_hours_unread"] == ["night"]
    (switch,) = (one for one in store.switches() if one.unread)
    assert messages.english(shop.paused(switch, store.now_ms())) in told


def test_what_is_paused_for_many_is_told_before_shops_that_were_paused_since(shift: Fleet) -> None:
    commands = shift.commands()
    commands.fleet.pause("type:work")
    commands.fleet.pause("shop:pdd:s8")
    held = [line.filter for line in part(page(shift), NOW) if line.number is None]
    assert held[:2] == ["gate:paused type:work", "gate:paused shop:pdd:s8"]


def test_a_worker_that_takes_no_tasks_is_told(shift: Fleet) -> None:
    for name, state in (("desk-7", "draining"), ("desk-8", "running")):
        shift.engine.store.heartbeat(WorkerInfo(worker=name, host="h", pid=1, state=state))
    told = [line for line in part(page(shift), NOW) if "draining" in line.text]
    assert [(line.text, line.page, line.target) for line in told] == [
        ("Worker desk-7 is draining: it takes no new tasks until somebody resumes it", WORKERS, "desk-7")
    ]
    for number in range(MOST_DRAINING + 1):
        shift.engine.store.heartbeat(WorkerInfo(worker=f"edge-{number}", host="h", pid=1, state="draining"))
    told = [line for line in part(page(shift), NOW) if "draining" in line.text]
    assert (len(told), told[-1].text, told[-1].page) == (MOST_DRAINING + 1, "2 more workers are draining", WORKERS)


def test_it_names_the_connection_whatever_it_is_for(pair: str, place: config.Settings, tmp_path: Path) -> None:
    with fleet_rig.opened(pair, replace(place, environment="test"), tmp_path) as fleet:
        name = "Local" if pair == "embedded" else fleet.settings.profile
        assert page(fleet).title.startswith(f"Handover of {name}, ")


def test_what_runs_is_told_apart_from_what_nobody_knows_to_run(fleet: Fleet) -> None:
    slots = [SlotState(task_id=f"t-{n}", task_type="work", shop=f"pdd:s{n}", lane="normal") for n in (0, 1)]
    beat_ago(fleet.settings, WorkerInfo(worker="desk-7", host="h", pid=1, slots=tuple(slots)), 40_000)
    led(fleet)
    for number, worker in enumerate(("desk-7", "desk-7", "desk-8")):
        task = fleet.task(fleet.create(f"s{number}", task_id=f"t-{number}"))
        claim = Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner=f"{worker}#{number}", worker=worker,
            lease_ms=600_000,
        )  # fmt: skip
        assert fleet.apply(claim).code == "run"
    fleet.engine.store.heartbeat(WorkerInfo(worker="desk-8", host="h", pid=2))
    (line,) = (one for one in part(page(fleet), NOW) if "running" in one.text)
    assert line.text == ("3 tasks are running; of 2 nobody knows whether they still run: no word from their workers")
    assert (line.number, again(fleet, line)) == (3, 3)


def test_each_number_is_what_its_filter_counts(shift: Fleet) -> None:
    numbered = [line for one in page(shift).parts for line in one.lines if line.number is not None]
    assert {line.page for line in numbered} == {TASKS, CAUSES, AUDIT}
    assert {line.text: line.number for line in numbered} == {line.text: again(shift, line) for line in numbered}


def test_acts_that_are_about_nothing_are_told_without_it(fleet: Fleet) -> None:
    led(fleet)
    audit = assembly.audit_of(fleet.engine, "ann@desk")
    for _ in range(2):
        with audit.act("sample.load", []):
            pass
    with audit.act("sample.stop", []):
        pass
    acted = [line.text for line in part(page(fleet), ACTS)]
    assert "ann@desk: Load the sample fleet, 2 times" in acted, acted
    assert not any("–" in line for line in acted), acted


def test_what_happened_before_is_left_out(shift: Fleet) -> None:
    store = shift.engine.store
    store_now = store.now_ms()
    found = page(shift, since=store_now)
    assert [line.number for line in part(found, NOW) if line.number is not None][-1] == 0  # nothing has succeeded since
    assert not any(line.page == CAUSES for line in part(found, BROKE))
    assert part(found, ACTS) == ()
    assert part(found, WAITS)  # what waits for a person waits for who takes over


def test_it_speaks_the_language_that_is_asked_for(shift: Fleet) -> None:
    words = list(plain(page(shift, "zh_CN")))
    assert "现状" in words
    assert "- 3 条死信待处理" in words
    assert "【" in "".join(words)
    assert "现状" not in list(plain(page(shift)))


def test_on_what_nobody_keeps_it_advises_nothing(fleet: Fleet) -> None:
    found = page(fleet)
    assert [one.split(":")[0] for one in found.doubts] == [
        "Nobody leads the fleet",
        "Nobody watches for alerts now",
    ]
    (advice,) = (one for one in found.parts if one.key == NEXT)
    assert (advice.lines, advice.empty[:18]) == ((), "Nothing is advised")


def test_a_promise_that_nobody_judges_any_more_is_a_doubt(fleet: Fleet) -> None:
    led(fleet)
    fleet.shop("s1")
    promise = Promise(name="orders", task_type="work", all_shops=True, limit_s=3_600)
    fleet.commands().promises.set(promise)

    assert workforce.promise_keeper(fleet.engine).tick() == 1
    found = page(fleet)
    assert found.doubts == ()
    (promised,) = (one for one in found.parts if one.key == PROMISES)
    assert promised.lines or promised.empty


# ----------------------------------------------------------------------------------------------------- how it is sent
@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


@pytest.fixture
def watch(fleet: Fleet, hook: Hook) -> Iterator[Watch]:
    made = Watch(fleet, hook)
    made.only()
    made.channel(language="zh")
    yield made
    made.stop.set()
    made.keeper.stop()


def keeper(fleet: Fleet, name: str) -> HandoverKeeper:
    """As whoever leads has one."""
    engine = fleet.engine
    return HandoverKeeper(engine.store, assembly.queries(engine).handover.page, engine.clock, name)


def test_a_number_that_a_list_gives_up_is_counted_to_its_end_and_says_so_where_that_is_too_much(
    shift: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COUNT_STEPS", "STEPS_PER_LOOK"):
        monkeypatch.setattr(query, name, 1)
    for name in ("FEW", "BEGINNING"):
        monkeypatch.setattr(f"services.store.redis.query.{name}", 0)
    (line,) = [one for one in part(page(shift), "now") if "succeeded" in one.text]
    assert (line.number, line.exact) == (2, True)
    assert line.text == "2 tasks have succeeded in this time"
    monkeypatch.setattr(query, "GROUP_STEPS", 1)
    monkeypatch.setattr("services.monitor.handover.COUNTED", 1)
    (line,) = [one for one in part(page(shift), "now") if "succeeded" in one.text]
    assert not line.exact
    assert line.text.endswith(" in this time, or more: no further was counted")


def planned(fleet: Fleet, minutes_ago: int) -> None:
    """It was to be sent so long ago, and had been set before that."""
    now = fleet.engine.store.now_ms()
    due = datetime.fromtimestamp(now / 1000 - 60 * minutes_ago, UTC)
    plan = HandoverPlan(times=(f"{due:%H:%M}",), by="ann@desk", at=now - 6 * HOUR_MS)
    fleet.engine.store.put_document(KIND, PLAN, DOCUMENT.dump(plan))


def test_it_is_sent_once_at_its_time_whoever_leads(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    set_fleet_zone(fleet.engine.store, "UTC")
    fleet.create("s1")
    planned(fleet, 2)
    led(fleet)
    first, second = keeper(fleet, "w1"), keeper(fleet, "w2")
    assert first.tick() == 1
    assert second.tick() == 0  # the next leader knows that it was sent
    watch.store.resign(ROLE, "desk-02/11")
    watch.until(lambda _now: hook.told)
    assert first.tick() == 0
    watch.turn()
    (sent,) = hook.told
    assert "交接班" in sent["title"]
    assert "现状" in sent["message"]
    assert "1 个任务在等待" in sent["message"]


def test_a_leader_that_dies_in_the_middle_leaves_one_page(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    set_fleet_zone(fleet.engine.store, "UTC")
    planned(fleet, 2)
    assert keeper(fleet, "w1").tick() == 1
    fleet.engine.store.remove_document(KIND, SENT)  # it wrote the page and ended before it noted that
    assert keeper(fleet, "w2").tick() == 1
    watch.until(lambda _now: hook.told)
    watch.turn()
    assert len(hook.told) == 1, hook.titles


def test_what_is_hours_late_or_was_due_before_it_was_set_is_not_sent(fleet: Fleet) -> None:
    set_fleet_zone(fleet.engine.store, "UTC")
    planned(fleet, 3 * 60)
    assert keeper(fleet, "w1").tick() == 0
    planned(fleet, 1)
    plan = fleet.commands().handover.plan()
    assert plan is not None
    fleet.engine.store.put_document(KIND, PLAN, DOCUMENT.dump(replace(plan, at=fleet.engine.store.now_ms())))
    assert keeper(fleet, "w1").tick() == 0


def test_a_page_that_a_channel_refuses_is_not_lost(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    hook.refuses = True
    assert fleet.commands().handover.send(["ops"], HOUR_MS) == ["ops"]
    watch.until(lambda _now: hook.asked)
    assert hook.told == []
    (waits,) = watch.now().channels
    assert (waits.waiting, bool(waits.error)) == (1, True)
    hook.refuses = False
    watch.until(lambda _now: hook.told)  # the next try is after 10 s
    assert len(hook.told) == 1


def test_who_may_say_when_and_to_whom(fleet: Fleet, watch: Watch) -> None:
    commands = fleet.commands().handover
    with pytest.raises(UsageError, match="no channel nobody"):
        commands.set(HandoverPlan(times=("08:00",), to=("nobody",)))
    for times in ((), ("24:00",), ("8:00",), ("08:00", "08:00")):
        with pytest.raises(UsageError) as refused:
            commands.set(HandoverPlan(times=times))
        assert refused.value.field == "at"
    assert commands.set(HandoverPlan(times=("20:00", "08:00"))) is None
    made = commands.plan()
    assert made is not None
    assert (made.times, made.to) == (("08:00", "20:00"), ("duty",))
    assert commands.remove()
    assert not commands.remove()
    acts = [entry.action for entry in assembly.queries(fleet.engine).audit.entries("action:handover*").entries]
    assert acts == ["handover.remove", "handover.remove", "handover.set"]


@pytest.mark.parametrize("older", [False, True])
def test_of_hours_before_there_was_a_fleet_no_record_is_missed(fleet: Fleet, older: bool) -> None:
    led(fleet)
    if older:
        fleet.create("s1")
    begun = fleet.engine.store.now_ms()
    tape = Tape(assembly.recorder_file(fleet.engine.settings))
    for at in (begun, begun + 5_000):
        tape.add(Frame(Numbers(at_ms=at, since_ms=at), {}))
    tape.close()
    told = [line.text for line in part(page(fleet, since=begun - 6 * HOUR_MS), BROKE)]
    assert [one.partition(" since ")[0] for one in told] == ["Recorded on this computer"] * older
