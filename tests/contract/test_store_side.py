"""Shops, pauses, documents, workers, leader, logs, audit, letters and executed marks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from services.domain.change import Cancel
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import BrowserState, SlotState, WorkerInfo
from services.ports import AuditEntry, Letter, LogLine
from tests.contract.rig import Rig, changed


# -------------------------------------------------------------------------- shops
def test_shops_are_kept_whole_and_replaced_by_identity(rig: Rig) -> None:
    one = Shop(platform="pdd", shop_id="A", name="\u5e97\u94fa A", name_en="Shop A", group="g", concurrency=3)
    two = Shop(platform="temu", shop_id="A", dedicated=True, enabled=False)
    three = Shop(platform="pdd", shop_id="a")
    rig.store.put_shops([one, two, three])
    assert {shop.key: shop for shop in rig.store.shops()} == {"pdd:A": one, "temu:A": two, "pdd:a": three}
    new = Shop(platform="pdd", shop_id="A", name="new")
    rig.store.put_shops([new])
    rig.store.put_shops([])
    assert {shop.key: shop for shop in rig.store.shops()} == {"pdd:A": new, "temu:A": two, "pdd:a": three}


# --------------------------------------------------------------------------- facts
def test_a_store_tells_what_it_is(rig: Rig) -> None:
    facts = rig.store.facts()
    assert facts["kind"] in ("sqlite", "redis")
    assert facts["version"][0].isdigit()
    if facts["kind"] == "redis":
        assert facts["role"] == "master"
        assert facts["appendonly"] in ("yes", "no")
        assert facts["appendfsync"] in ("always", "everysec", "no")
        assert facts["no_appendfsync_on_rewrite"] in ("yes", "no")
        assert facts["maxmemory_policy"]


# ------------------------------------------------------------------------- pauses
def test_pauses(rig: Rig) -> None:
    assert rig.store.pauses() == []
    rig.store.set_pause(Pause(scope="all", by="ann", at=5, reason="stock-taking"))
    rig.store.set_pause(Pause(scope="shop:pdd:1", by="bob"))
    rig.store.set_pause(Pause(scope="all", by="bob", at=6))
    found = {pause.scope: pause for pause in rig.store.pauses()}
    assert found["all"] == Pause(scope="all", by="bob", at=6)
    assert found["shop:pdd:1"].at > 1_600_000_000_000
    assert rig.store.clear_pause("all") is True
    assert rig.store.clear_pause("all") is False
    assert [pause.scope for pause in rig.store.pauses()] == ["shop:pdd:1"]


def test_a_pause_is_put_in_the_place_of_the_one_that_was_seen(rig: Rig) -> None:
    scope = "shop:pdd:1"
    rule, ann = Pause(scope=scope, by="known issue 9ac1", at=5), Pause(scope=scope, by="ann", at=6)
    assert not rig.store.swap_pause(scope, "ann", None), "nobody has closed it"
    assert rig.store.swap_pause(scope, "", rule)
    assert not rig.store.swap_pause(scope, "", ann), "somebody was faster"
    assert not rig.store.swap_pause(scope, "ann", None), "it is somebody else's"
    assert rig.store.pauses() == [rule]
    assert rig.store.swap_pause(scope, rule.by, ann)
    assert rig.store.pauses() == [ann]
    assert rig.store.swap_pause(scope, "ann", None)
    assert rig.store.pauses() == []


def test_of_many_who_close_an_open_switch_at_once_one_does(rig: Rig) -> None:
    pauses = [Pause(scope="shop:pdd:1", by=f"p{number}") for number in range(4)]
    with ThreadPoolExecutor(len(pauses)) as pool:
        for _ in range(10):
            done = list(pool.map(lambda one: rig.store.swap_pause(one.scope, "", one), pauses))
            (left,) = rig.store.pauses()
            assert [one.by for one, closed in zip(pauses, done, strict=True) if closed] == [left.by]
            assert rig.store.swap_pause(left.scope, left.by, None)


# ---------------------------------------------------------------------- documents
def test_of_many_documents_and_shops_those_that_changed_are_seen(rig: Rig) -> None:
    bodies = {f"p{number:03d}": f'{{"n":{number}}}' for number in range(210)}
    for name, body in bodies.items():
        rig.store.put_document("promise", name, body)
    rig.store.put_shops([Shop(platform="pdd", shop_id=name) for name in bodies])
    assert rig.store.documents("promise") == bodies
    assert [shop.shop_id for shop in rig.store.shops()] == list(bodies)
    rig.store.put_document("promise", "p007", "{}")
    rig.store.put_shops([Shop(platform="pdd", shop_id="p009", name="Nine")])
    assert rig.store.documents("promise") == {**bodies, "p007": "{}"}
    assert [shop.shop_id for shop in rig.store.shops() if shop.name] == ["p009"]
    rig.store.put_document("promise", "a", "{}")
    rig.store.remove_document("promise", "p100")
    del bodies["p100"]
    assert list(rig.store.documents("promise")) == ["a", *bodies]


def test_of_many_shops_the_counters_that_changed_are_seen(rig: Rig) -> None:
    rig.store.put_shops([Shop(platform="pdd", shop_id=f"p{number:03d}") for number in range(210)])
    assert rig.store.counts().shops == {}
    first = rig.create(shop_id="p007", platform="pdd")
    rig.create(shop_id="p009", platform="pdd")
    assert rig.store.counts().shops == {"pdd:p007": {"pending": 1}, "pdd:p009": {"pending": 1}}
    rig.create(shop_id="p009", platform="pdd")
    rig.ask(Cancel(task_id=first.task_id, by="ann"))
    assert rig.store.counts().shops == {"pdd:p009": {"pending": 2}}


def test_documents(rig: Rig) -> None:
    rig.store.put_document("type", "sync_order", '{"v": 1}')
    rig.store.put_document("type", "sync_order", '{"v": 2}')
    rig.store.put_document("type", "\u622a\u56fe", "{}")
    rig.store.put_document("role", "sync_order", '"admin"')
    assert dict(rig.store.documents("type")) == {"sync_order": '{"v": 2}', "\u622a\u56fe": "{}"}
    assert dict(rig.store.documents("role")) == {"sync_order": '"admin"'}
    assert dict(rig.store.documents("fleet")) == {}


# ------------------------------------------------------------------------ workers
def info(name: str = "desk-01/1") -> WorkerInfo:
    slots = (SlotState(task_id="t", shop="pdd:1", lane="high", attempt=2, since=5), SlotState())
    browser = BrowserState(shop="pdd:1", profile="pdd_1", state="busy", since=9, uses=2, memory_mb=81.5, port=9222)
    return WorkerInfo(
        worker=name, host="desk-01", pid=7, pid_started=1.5, slots=slots, done=3, executors=("rpa",), pool=(browser,)
    )


def test_a_worker_describes_itself(rig: Rig) -> None:
    before = rig.store.now_ms()
    assert rig.store.heartbeat(info()).orders == ()
    (found,) = rig.store.workers()
    assert before <= found.seen_at <= rig.store.now_ms()
    assert changed(found, seen_at=0) == info()  # type: ignore[arg-type]
    rig.store.heartbeat(changed(info(), state="draining"))  # type: ignore[arg-type]
    assert [worker.state for worker in rig.store.workers()] == ["draining"]


def test_orders_are_handed_out_once_in_their_order(rig: Rig) -> None:
    rig.store.heartbeat(info("a"))
    rig.store.tell_worker("a", "slots=4")
    rig.store.tell_worker("a", "drain")
    rig.store.tell_worker("b", "stop")
    assert rig.store.heartbeat(info("a")).orders == ("slots=4", "drain")
    assert rig.store.heartbeat(info("a")).orders == ()
    assert rig.store.heartbeat(info("b")).orders == ("stop",)


def test_goodbye(rig: Rig) -> None:
    rig.store.heartbeat(info("a"))
    rig.store.heartbeat(info("b"))
    rig.store.tell_worker("a", "stop")
    rig.store.forget_worker("a")
    rig.store.forget_worker("nobody")
    assert [worker.worker for worker in rig.store.workers()] == ["b"]
    assert rig.store.heartbeat(info("a")).orders == ()


def test_who_was_heard_of_since_is_not_struck_off(rig: Rig) -> None:
    rig.store.heartbeat(info("a"))
    (judged,) = rig.store.workers()
    rig.pass_life(5)
    rig.store.heartbeat(info("a"))
    rig.store.tell_worker("a", "slots=4")
    assert not rig.store.strike_off("a", judged.seen_at)
    assert [worker.worker for worker in rig.store.workers()] == ["a"]
    assert rig.store.heartbeat(info("a")).orders == ("slots=4",)


def test_who_is_struck_off_hears_what_it_was_told_if_it_is_back(rig: Rig) -> None:
    rig.store.heartbeat(info("a"))
    rig.store.heartbeat(info("b"))
    rig.store.tell_worker("a", "drain")
    seen = {worker.worker: worker.seen_at for worker in rig.store.workers()}
    assert rig.store.strike_off("a", seen["a"])
    assert [worker.worker for worker in rig.store.workers()] == ["b"]
    assert rig.store.strike_off("a", seen["a"]), "it is off already"
    assert rig.store.heartbeat(info("a")).orders == ("drain",)


def test_orders_that_nobody_fetches_are_forgotten_a_day_after_the_last(rig: Rig) -> None:
    rig.store.tell_worker("a", "slots=4")
    rig.pass_life(80_000)
    rig.store.tell_worker("a", "drain")
    rig.store.tell_worker("b", "stop")
    rig.pass_life(80_000)
    assert rig.store.heartbeat(info("a")).orders == ("slots=4", "drain")
    rig.pass_life(6_500)
    assert rig.store.heartbeat(info("b")).orders == (), "a day later it would stop somebody who has just come"


def test_a_silent_worker_is_forgotten_after_a_day(rig: Rig) -> None:
    rig.store.heartbeat(info("a"))
    rig.pass_life(86_500)
    rig.store.heartbeat(info("b"))
    assert [worker.worker for worker in rig.store.workers()] == ["b"]


# ------------------------------------------------------------------------- leader
def test_one_leader_at_a_time(rig: Rig) -> None:
    assert rig.store.leader("engine") == ""
    assert rig.store.lead("engine", "a", 60_000)
    assert not rig.store.lead("engine", "b", 60_000)
    assert rig.store.lead("engine", "a", 60_000)
    assert rig.store.leader("engine") == "a"
    assert rig.store.lead("other", "b", 60_000)


def test_the_lease_of_a_leader_runs_out(rig: Rig) -> None:
    assert rig.store.lead("engine", "a", 200)
    rig.pass_time(0.5)
    assert rig.store.leader("engine") == ""
    assert rig.store.lead("engine", "b", 60_000)
    assert not rig.store.lead("engine", "a", 60_000)


def test_a_leader_that_asks_again_stays(rig: Rig) -> None:
    assert rig.store.lead("engine", "a", 300)
    assert rig.store.lead("engine", "a", 60_000)
    rig.pass_time(0.6)
    assert rig.store.leader("engine") == "a"


def test_resigning(rig: Rig) -> None:
    rig.store.lead("engine", "a", 60_000)
    rig.store.resign("engine", "b")
    assert rig.store.leader("engine") == "a"
    rig.store.resign("engine", "a")
    rig.store.resign("engine", "a")
    assert rig.store.leader("engine") == ""
    assert rig.store.lead("engine", "b", 60_000)


# --------------------------------------------------------------------------- logs
def line(number: int) -> LogLine:
    return LogLine(at=number, stream="out", text=f"line {number} \u884c")


def test_logs_by_attempt(rig: Rig) -> None:
    rig.store.append_log("t", 1, [line(0), line(1)])
    rig.store.append_log("t", 1, [line(2)])
    rig.store.append_log("t", 2, [LogLine(at=9, stream="err", text="boom")])
    rig.store.append_log("t", 2, [])
    assert rig.store.read_log("t", 1) == ([line(0), line(1), line(2)], 3)
    assert rig.store.read_log("t", 1, 2) == ([line(2)], 3)
    assert rig.store.read_log("t", 1, 3) == ([], 3)
    assert rig.store.read_log("t", 2)[0][0].stream == "err"
    assert rig.store.read_log("t", 3) == ([], 0)


def test_a_long_log_keeps_its_end_and_its_places(rig: Rig) -> None:
    for start in range(0, 6000, 500):
        rig.store.append_log("t", 1, [line(number) for number in range(start, start + 500)])
    lines, after = rig.store.read_log("t", 1)
    assert after == 6000
    assert lines == [line(number) for number in range(1000, 6000)]
    assert rig.store.read_log("t", 1, 5998) == ([line(5998), line(5999)], 6000)


# -------------------------------------------------------------------------- audit
def entry(number: int) -> AuditEntry:
    return AuditEntry(
        entry_id=f"e{number}", at=number, who="ann@desk", action="task.cancel", target=("t1", "t2"),
        detail='{"a": 1}', previous="p" * 64, digest="d" * 64,
    )  # fmt: skip


def test_the_audit_is_read_backwards(rig: Rig) -> None:
    assert rig.store.audit(10) == []
    for number in (3, 1, 2, 5, 4):  # the order of writing counts
        rig.store.append_audit(entry(number))
    assert rig.store.audit(10) == [entry(number) for number in (4, 5, 2, 1, 3)]
    assert [found.entry_id for found in rig.store.audit(2)] == ["e4", "e5"]
    assert [found.entry_id for found in rig.store.audit(2, before="e5")] == ["e2", "e1"]
    assert rig.store.audit(10, before="e3") == []


def test_an_entry_is_written_once_and_closed_once(rig: Rig) -> None:
    rig.store.append_audit(entry(1))
    rig.store.append_audit(AuditEntry(entry_id="e1", at=9, who="eve", action="x"))
    rig.store.close_audit("e1", "done", 77)
    rig.store.close_audit("e1", "failed: later", 99)
    rig.store.close_audit("nobody", "done", 1)
    (found,) = rig.store.audit(10)
    assert (found.who, found.outcome, found.closed_at) == ("ann@desk", "done", 77)
    assert changed(found, outcome="", closed_at=0) == entry(1)  # type: ignore[arg-type]


# ------------------------------------------------------------------------ letters
def test_letters_are_kept_whole(rig: Rig) -> None:
    letter = Letter(
        task_id="bad_01", body=b"\x00\xff not json", headers='{"x-death": 1}', routing_key="task.pdd.high",
        queue="rpa_dead_queue", content_type="text/plain", stored_at=5, error_kind="bad_message", error="not JSON",
    )  # fmt: skip
    assert rig.store.get_letter("bad_01") is None
    rig.store.put_letter(letter)
    assert rig.store.get_letter("bad_01") == letter
    rig.store.put_letter(Letter(task_id="bad_01", body=b""))
    found = rig.store.get_letter("bad_01")
    assert found is not None
    assert (found.body, found.error) == (b"", "")
    assert found.stored_at > 1_600_000_000_000


# ----------------------------------------------------------------------- executed
def test_executed_marks(rig: Rig) -> None:
    assert rig.store.executed(["a", "b"]) == [False, False]
    rig.store.mark_executed(["a", "c"])
    rig.store.mark_executed(["a"])
    rig.store.mark_executed([])
    assert rig.store.executed(["a", "b", "c", "a"]) == [True, False, True, True]
    assert rig.store.executed([]) == []


def test_executed_marks_last_an_hour(rig: Rig) -> None:
    rig.store.mark_executed(["a"])
    rig.pass_life(3500)
    assert rig.store.executed(["a"]) == [True]
    rig.pass_life(200)
    assert rig.store.executed(["a"]) == [False]


@pytest.mark.parametrize("text", ["\u5e97\u94fa", "a'b\"c", "%_*?", "\U0001f6d2"])
def test_texts_are_only_texts(rig: Rig, text: str) -> None:
    task = rig.create(shop_id="s1", error=text, reason=text, batch=text, uniq=text)
    assert rig.record(task).batch == text
    rig.store.put_document(text, text, text)
    assert dict(rig.store.documents(text)) == {text: text}
    rig.store.tell_worker(text, text)
    assert rig.store.heartbeat(info(text)).orders == (text,)


def test_a_document_that_is_there_is_not_replaced_by_an_added_one(rig: Rig) -> None:
    assert rig.store.add_document("type", "mail", "{}") is True
    assert rig.store.add_document("type", "mail", '{"v": 2}') is False
    assert rig.store.add_document("role", "mail", '"admin"') is True
    rig.store.put_document("type", "mail", '{"v": 3}')
    assert rig.store.add_document("type", "mail", "{}") is False
    assert dict(rig.store.documents("type")) == {"mail": '{"v": 3}'}
