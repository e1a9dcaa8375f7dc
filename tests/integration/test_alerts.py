"""What goes wrong reaches a person: once, with its extent, and again when it is over; real servers, a real webhook."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from services import assembly
from services.domain.alerts import channel as channels
from services.domain.alerts import outbox
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import MUTED, OPEN, Words
from services.domain.errors import UsageError
from services.domain.gates.breaker import Rule as BreakerRule
from services.domain.text.message import Message
from services.engine.producer import TaskSpec
from services.monitor.alerts.wording import Text
from services.watch.alerts.channels import carrier
from tests.contract.waiting import eventually
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


@pytest.fixture
def watch(fleet: Fleet, hook: Hook) -> Iterator[Watch]:
    made = Watch(fleet, hook)
    made.channel()
    yield made
    made.stop.set()
    made.keeper.stop()


def once_and_over(hook: Hook, what: str) -> None:
    """Exactly one message when it began, one when it ended."""
    assert len(hook.told) == 2, hook.titles
    assert hook.titles[0].startswith("INC-1 "), hook.titles
    assert what in hook.titles[0]
    assert hook.titles[1].startswith("INC-1 resolved: ")
    assert [one["type"] for one in hook.told][1] == "success"


@pytest.mark.deep
def test_500_shops_with_one_cause_are_one_message(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("dead_letters", "shop_failing", "failure_rate", limits={})
    fleet.commands().breakers.set_rule(BreakerRule(failures=1, of=1, cooldown_s=600, max_cooldown_s=600))
    watch.turn()
    fleet.archiver()
    fleet.worker(slots=16)
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{n}", task_type="work", payload={"fail": "risk_control"}, max_retries=0)
        for n in range(500)
    ]
    ids = [task.task_id for start in range(0, 500, 100) for task in fleet.submit(*specs[start : start + 100]).created]
    watch.until(lambda _now: hook.told)
    fleet.wait_ended(ids, 120)
    now = watch.until(lambda now: [one.incident.count for one in now.incidents] == [500])
    assert len(hook.told) == 1, hook.titles
    (one,) = now.incidents
    assert set(one.incident.sources) >= {"dead_letters", "shop_failing"}
    letters = fleet.commands().dead_letters
    for start in range(0, 500, 100):
        letters.set_triage(ids[start : start + 100], "archived")
    for n in range(500):
        fleet.commands().breakers.close(f"pdd:s{n}")
    watch.only("dead_letters", "shop_failing")  # the rate is of the last ten minutes
    watch.resolved()
    assert len(hook.told) == 2
    assert hook.titles[1].startswith("INC-1 resolved: ")


def test_a_shop_that_needs_a_login_is_told_and_resolved_by_the_login(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("needs_login")
    fleet.worker()
    waits = fleet.create(fail="login_expired", fail_first=1)
    fleet.wait(waits, "blocked")
    watch.raised()
    fleet.commands().sessions.open("pdd:s1", note="logged in")
    watch.resolved()
    once_and_over(hook, "1 shop must be logged in again")
    assert "Where: pdd:s1" in hook.told[0]["message"]
    assert "Next step: Log the shops in" in hook.told[0]["message"]
    assert "login_expired" not in str(hook.told)  # what the attempt said stays here


def test_a_dead_channel_loses_nothing_and_holds_up_no_other(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("lane_depth", limits={"tasks": 0})
    watch.channel("mail", language="zh")
    with hooks.listening() as other:
        watch.secrets["mail"] = other.url
        other.refuses = True
        fleet.create()
        watch.until(lambda _now: hook.told and other.asked)
        now = watch.now()
        (waits,) = [one for one in now.channels if one.waiting]
        assert (waits.channel.name, waits.waiting) == ("mail", 1)
        assert waits.error
        assert "secret-of-the-hook" not in waits.error
        assert waits.next_ms > now.at_ms
        other.refuses = False
        watch.until(lambda _now: other.told, 60)
        assert "任务" in other.told[0]["title"]
        assert len(hook.told) == 1
        assert not any(one.waiting for one in watch.now().channels)


@pytest.mark.parametrize("pair", ["embedded"], indirect=True)
def test_a_channel_takes_no_more_in_a_minute_than_it_wants(
    watch: Watch, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.channel(rate=1)
    real, later = watch.store.now_ms, [0]
    for number in range(2):
        letter = outbox.Letter(
            incident=f"INC-{number}", step=1, what="raised", channel="ops", severity="note", rule="handover", at=real(),
            words=Words(title=Message("handover.sent", {"title": f"page {number}", "text": ""})),
        )  # fmt: skip
        watch.store.add_document(outbox.KIND, letter.name, outbox.DOCUMENT.dump(letter))
    monkeypatch.setattr(watch.store, "now_ms", lambda: real() + later[-1])
    for ms, taken in ((0, 1), (0, 1), (40_000, 1), (70_000, 2)):
        later.append(ms)
        watch.sender.turn(watch.stop)
        watch.sender.wait(60.0)
        assert len(hook.told) == taken


def test_what_nobody_could_be_told_is_told_once_there_is_a_channel(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("lane_depth", limits={"tasks": 0})
    watch.store.remove_document(channels.KIND, "ops")
    fleet.create()
    (one,) = watch.until(lambda now: now.incidents and now.incidents[0].incident.raised_at).incidents
    assert (one.deliveries, one.incident.reached_nobody) == ((), True)
    for _ in range(3):
        assert len(watch.turn().incidents[0].incident.told) == 1, "there is nobody to be told it again"
    watch.channel()
    now = watch.raised()
    assert hook.titles[0].startswith("INC-1 ")
    assert not now.incidents[0].incident.reached_nobody
    for _ in range(3):
        watch.turn()
    assert len(hook.told) == 1


def test_a_channel_without_an_address_keeps_what_it_should_send(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("lane_depth", limits={"tasks": 0})
    del watch.secrets["ops"]
    fleet.create()
    watch.until(lambda now: now.channels[0].error)
    assert "FLEETDECK_SECRET__OPS" in watch.now().channels[0].error
    watch.secrets["ops"] = hook.url
    watch.raised()


def test_a_leader_that_dies_leaves_its_incidents_to_the_next(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("lane_depth", limits={"tasks": 0})
    fleet.create()
    watch.raised()
    assert watch.store.leader("watch") == "w1"
    watch.store.resign("watch", "w1")  # as its lease runs out after a kill
    after = Watch(fleet, hook, holder="w2")
    for _ in range(3):
        after.turn()
    assert not watch.keeper.tick()
    assert len(hook.told) == 1
    fleet.worker()
    after.resolved()
    once_and_over(hook, "1 task in the lane normal")


def test_people_answer_mute_and_escalate(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("lane_depth", limits={"tasks": 0}, again_s=1)
    watch.channel("boss", group="lead")
    with hooks.listening() as boss:
        watch.secrets["boss"] = boss.url
        fleet.create()
        watch.raised()
        watch.until(lambda _now: len(hook.told) > 1)
        assert hook.titles[1].startswith("INC-1 again: ")
        mine = watch.commands().alerts
        mine.mute("INC-1", watch.store.now_ms() + 60_000, "we know")
        told = len(hook.told)
        assert watch.until(lambda now: now.incidents[0].state == MUTED).number(OPEN) == 0
        assert len(hook.told) == told
        mine.unmute("INC-1")
        mine.escalate("INC-1")
        watch.until(lambda _now: boss.told)
        assert boss.titles[0].startswith("INC-1 escalated: ")
        assert mine.answer("INC-1", "on it").answer.note == "on it"
        actions = [(one.action, one.target) for one in fleet.engine.store.audit(10)]
        assert actions[:4] == [(f"alert.{name}", ("INC-1",)) for name in ("answer", "escalate", "unmute", "mute")]


def test_a_rule_that_is_added_takes_the_place_of_none(fleet: Fleet) -> None:
    mine = fleet.commands().alerts
    rule = replace(mine.rules()["lane_depth"], name="nights", limits={"tasks": 9.0})
    assert mine.add_rule(rule).version == 1
    for name in ("nights", "lane_depth"):
        with pytest.raises(UsageError, match=f"there is a rule {name} already"):
            mine.add_rule(replace(rule, name=name, limits={"tasks": 1.0}))
    known = mine.rules()
    assert (known["nights"].limits, known["lane_depth"].by) == ({"tasks": 9}, "")
    entry = fleet.engine.store.audit(1)[0]
    assert (entry.action, entry.target) == ("alert.rule", ("nights",))
    assert mine.reset_rule("nights", instead=known["nights"]) is None
    assert "nights" not in mine.rules()
    assert mine.add_rule(rule).version == 2, "what it was stays a version of its own"


def test_each_channel_hears_once_of_what_several_rules_see(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("shop_failing", "dead_letters")
    watch.only_channels("dead_letters", ("duty", "ops", "boss"))
    watch.channel("boss", group="lead")
    commands = fleet.commands()
    commands.breakers.set_rule(BreakerRule(failures=1, of=1, cooldown_s=600, max_cooldown_s=600))
    fleet.archiver()
    fleet.worker()
    with hooks.listening() as boss:
        watch.secrets["boss"] = boss.url
        fleet.wait_ended([fleet.create("s0", fail="risk_control", max_retries=0)])
        watch.raised()
        assert "fails too often" in hook.titles[0]
        fleet.wait_ended([fleet.create(f"s{n}", fail="risk_control", max_retries=0) for n in range(1, 6)])
        now = watch.until(lambda _now: boss.told)
        assert "6 dead letters" in boss.titles[0]
        assert [one.incident.rule.severity for one in now.incidents] == ["critical"]
        assert len(hook.told) == 1, hook.titles


def test_a_rule_may_pause_what_fails_in_its_own_name(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("dead_letters", limits={"letters": 1}, action="pause:type:work")
    fleet.archiver()
    fleet.worker()
    fleet.wait_ended([fleet.create(fail="risk_control", max_retries=0)])
    watch.raised()
    (pause,) = eventually(lambda: fleet.engine.store.pauses())
    assert (pause.scope, pause.by, pause.reason) == ("type:work", "rule dead_letters", "INC-1")
    (entry,) = fleet.engine.store.audit(1)
    assert (entry.who, entry.action) == ("rule dead_letters", "pause")
    (one,) = watch.turn().incidents
    assert one.incident.lines[-1].message.code == "alert.line_action"
    assert [one.who for one in fleet.engine.store.audit(10)].count("rule dead_letters") == 1


def test_the_rate_of_failures_counts_shops_as_its_names_do(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    """Each letter needed several attempts: their number is no number of shops."""
    watch.only("dead_letters", "failure_rate", limits={})
    watch.limits("failure_rate", attempts=5)
    watch.limits("dead_letters", letters=3)
    worker = fleet.worker()
    fleet.archiver()
    eventually(lambda: any(one.worker == worker.name for one in fleet.engine.store.workers()))
    watch.turn()
    fleet.wait_ended(
        [fleet.create(f"s{shop}", fail="risk_control", max_retries=0, n=n) for shop in range(7) for n in (1, 2)]
    )
    now = watch.until(lambda now: [len(one.incident.sources) for one in now.incidents] == [2])
    assert [(one.incident.count, one.incident.of) for one in now.incidents] == [(7, 0)]
    watch.commands().alerts.escalate("INC-1")
    watch.turn()
    assert "pdd:s0, pdd:s1, pdd:s2, pdd:s3, pdd:s4 and 2 more" in hook.told[-1]["message"]
    assert "14 of the last 14 attempts failed" in hook.told[-1]["message"]


def test_a_cause_keeps_what_people_call_it_when_a_rule_marks_it(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("dead_letters", limits={"letters": 1}, action="mark")
    fleet.archiver()
    fleet.worker()
    fleet.wait_ended([fleet.create(fail="risk_control", max_retries=0)])
    causes = assembly.queries(fleet.engine).causes
    (cause,) = eventually(lambda: causes.causes().rows)
    watch.commands().causes.describe(cause.fingerprint, name="risk control", note="asked the platform")
    watch.raised()
    (cause,) = causes.causes().rows
    assert (cause.rule.name, cause.rule.note) == ("risk control", "asked the platform\nINC-1")


def test_a_cause_that_goes_to_somebody_hides_no_other_of_its_kind(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.only("dead_letters", limits={"letters": 1})
    watch.only_channels("dead_letters", ("ops",))
    watch.channel("boss", group="lead")
    fleet.archiver()
    fleet.worker()
    fleet.wait_ended([fleet.create("s1", fail="risk_control", max_retries=0, text="page A")])
    (known,) = eventually(lambda: assembly.queries(fleet.engine).causes.causes().rows)
    fleet.commands().causes.know(known.fingerprint, route=["boss"])
    with hooks.listening() as boss:
        watch.secrets["boss"] = boss.url
        fleet.wait_ended([fleet.create("s2", fail="risk_control", max_retries=0, text="another page B")])
        watch.until(lambda _now: boss.told and hook.told)
        assert (len(boss.told), len(hook.told)) == (1, 1)


def test_a_webhook_is_asked_with_the_words_of_its_address(fleet: Fleet, watch: Watch, hook: Hook) -> None:
    watch.secrets["ops"] = hook.url.replace("json:", "http:") + "?token=a%26b&verify=no"
    assert watch.sender.hand_over(Channel(name="ops"), Text("t", "b"), "note") == ""
    assert hook.paths == ["/secret-of-the-hook?token=a%26b&verify=no"]


def test_a_mail_server_is_none_that_the_store_names() -> None:
    mail = Channel(name="boss", kind="mail", options={"to": "a@b.example&smtp=evil.example"})
    found = carrier.address(mail, "mailtos://user:password@smtp.example")
    assert parse_qs(urlsplit(found).query) == {"to": ["a@b.example&smtp=evil.example"]}
