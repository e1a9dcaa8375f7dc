"""What needs a person and what is true of a shop, by the same answers on both pairs of drivers."""

from __future__ import annotations

from msgspec.structs import replace

from services import assembly, diagnosis
from services.cli import shapes
from services.domain.insight import shop as insight
from services.domain.upkeep import health
from services.messages import english
from services.monitor import attention
from tests.integration.fleet_rig import Fleet
from tests.support.counting import CountingStore


def test_what_only_a_person_can_do_stands_first_and_leaves_when_it_is_done(fleet: Fleet) -> None:
    fleet.worker()
    first = fleet.wait(fleet.create("s1", fail="bad_payload", max_retries=0), "dead")
    behind = [fleet.create("s1", n=number, depends_on=(first.task_id,)) for number in range(2)]
    for task_id in behind:
        assert fleet.wait(task_id, "blocked").gate == "dependency"
    commands = fleet.commands()
    commands.sessions.close("pdd:s2")
    commands.sessions.close("pdd:s3", kind="captcha")
    commands.fleet.pause("platform:pdd", reason="new page")
    items = {item.key.partition(":")[0]: item for item in assembly.standing(fleet.engine).attention}
    assert [name for name in items if name != "no_leader"] == ["sessions", "dependency", "dead", "paused"]
    assert items["sessions"].since_ms == min(one.since for one in fleet.engine.store.sessions())
    told = items["dependency"]
    assert (told.code, told.params["tasks"]) == ("attention.dependency_hopeless", 2)
    assert set(dict(told.verbs)["cancel_tasks"].split(",")) == set(behind)
    assert "2 tasks waiting for a task that died" in attention.english(told)
    commands.fleet.resume("platform:pdd")
    commands.tasks.cancel(behind)
    for shop in ("pdd:s2", "pdd:s3"):
        commands.sessions.open(shop)
    left = {item.key.partition(":")[0] for item in assembly.standing(fleet.engine).attention}
    assert left - {"no_leader"} == {"dead"}


def test_numbers_words_and_items_are_told_of_one_moment(fleet: Fleet) -> None:
    """What each part asks of its own accord may have changed between two of them, and is a way to the server each."""
    store = CountingStore(fleet.engine.store)
    told = assembly.standing(replace(fleet.engine, store=store.port))
    assert told.flow.facts.waiting == 0
    assert "no_workers" not in {item.key for item in told.attention}
    asked = store.spent()
    once = ("workers", "leader", "sessions", "switches", "health", "newer", "counts")
    # a gate that a filter names is asked for by itself, and letters are counted by who groups them
    assert {name: number for name in once if (number := asked[name]) > 2} == {}


def test_one_for_several_names_those_for_which_it_stands(fleet: Fleet) -> None:
    commands = fleet.commands()
    commands.sessions.close("pdd:s1")
    (alone,) = (item for item in assembly.standing(fleet.engine).attention if item.severity == "login")
    commands.sessions.close("pdd:s2")
    (both,) = (item for item in assembly.standing(fleet.engine).attention if item.severity == "login")
    assert (alone.covers, both.covers) == ("", "session:")
    assert alone.key.startswith(both.covers)


def test_one_answer_about_each_shop(fleet: Fleet) -> None:
    worker = fleet.worker()
    fleet.wait(fleet.create("s1"), "succeeded")
    fleet.wait(fleet.create("s2", fail="bad_payload", max_retries=0), "dead")
    commands = fleet.commands()
    commands.sessions.close("pdd:s3")
    waits = fleet.create("s3")
    fleet.wait(waits, "blocked")
    commands.fleet.pause("platform:pdd", reason="new page")
    commands.fleet.pause("shop:pdd:s1")
    shops = assembly.queries(fleet.engine).shops
    found = {row.now.shop_id: row.now for row in shops.shops().rows}
    assert {name: (now.state, now.under) for name, now in found.items()} == {
        "s1": ("paused", "healthy"), "s2": ("paused", "dead"), "s3": ("login", ""),
    }  # fmt: skip
    told = [english(one) for one in insight.reasons(found["s1"], fleet.engine.store.now_ms())]
    assert [one.partition(" is paused by ")[0] for one in told] == ["All of pdd", "The shop"]
    assert told[0].endswith(": new page")
    assert insight.acts(found["s1"]) == (("resume", "platform:pdd"), ("resume", "shop:pdd:s1"))
    commands.fleet.resume("platform:pdd")
    commands.fleet.resume("shop:pdd:s1")
    worker.stop()
    fleet.create("s1")
    found = {row.now.shop_id: row.now for row in shops.shops().rows}
    assert {name: now.state for name, now in found.items()} == {"s1": "waiting", "s2": "dead", "s3": "login"}


def test_the_paused_shops_are_those_whose_tasks_a_pause_holds_be_it_of_a_type(fleet: Fleet) -> None:
    fleet.worker()
    commands, kind = fleet.commands(), "work"
    shops = assembly.queries(fleet.engine).shops
    fleet.wait(fleet.create("s4"), "succeeded")
    commands.fleet.pause(f"type:{kind}", reason="prices are wrong")
    for shop in ("s1", "s2"):
        assert fleet.wait(fleet.create(shop), "blocked").task_type == kind
    held = shops.shops("gate:paused")
    assert {row.now.shop_id: row.now.state for row in held.rows} == {"s1": "paused_type", "s2": "paused_type"}
    assert (held.numbers["paused"], held.paused) == (2, 0)
    commands.fleet.pause("all")
    commands.fleet.resume(f"type:{kind}")
    held = shops.shops("gate:paused")
    assert {row.now.state for row in held.rows} == {"paused"}
    assert held.numbers["paused"] == held.numbers["all"] == len(held.rows) == held.paused


def test_a_heartbeat_tells_the_clock_of_its_machine(fleet: Fleet) -> None:
    fleet.worker()
    (told,) = fleet.engine.store.workers()
    assert told.wall_at > 0
    assert abs(told.skew_ms) < health.SKEW_THERE_MS


def test_the_command_line_and_the_doctor_say_the_same(fleet: Fleet) -> None:
    commands = fleet.commands()
    commands.sessions.close("pdd:s3", kind="captcha")
    fleet.create("s3")
    commands.fleet.pause("platform:pdd", reason="new page")
    (seen,) = [one for one in assembly.queries(fleet.engine).shops.shops().rows if one.key == "pdd:s3"]
    at_ms = fleet.engine.store.now_ms()
    told = shapes.shop_now(seen.now, at_ms)
    assert (told["state"], told["state_word"]) == ("login", "Needs login")
    assert [one["scope"] for one in told["held_by"]] == ["platform:pdd"]
    assert [one["code"] for one in told["reasons"]] == ["shop.captcha", "shop.paused_platform_why"]
    assert {"verb": "resume", "target": "platform:pdd"} in told["can"]
    fleet.engine.registry.forget()  # the shop was registered with its first task, a moment ago
    items = [shapes.attention(item) for item in assembly.standing(fleet.engine).attention]
    findings = diagnosis.examine(fleet.settings)
    assert [shapes.attention(item)["text"] for item in findings.attention] == [item["text"] for item in items]
    assert {"session", "paused"} <= {item["key"].partition(":")[0] for item in items}


def test_while_no_worker_runs_it_is_said_which_was_the_last_and_who_ended_it(fleet: Fleet) -> None:
    def told() -> list[str]:
        (item,) = [one for one in assembly.standing(fleet.engine).attention if one.key == "no_workers"]
        return [english(fact) for fact in item.facts]

    fleet.create("s1")
    assert told() == [], "there was none yet"
    worker = fleet.worker()
    commands = fleet.commands()
    commands.fleet.tell_worker(worker.name, "stop")
    worker.wait_stop_ordered(30)
    worker.stop()
    fleet.create("s2")
    (said,) = told()
    assert said.startswith(f"The last one, {worker.name} on machine ")
    assert f" was stopped by {commands.operator.who} " in said
    second = fleet.worker()
    assert not [one for one in assembly.standing(fleet.engine).attention if one.key == "no_workers"]
    second.stop()
    fleet.create("s3")
    (said,) = told()
    assert f"{second.name} on machine " in said
    assert " ended normally " in said
    found = diagnosis.examine(fleet.settings).findings
    assert [english(one.message) for one in found if one.message.code == "fleet.last_ended"] != []
