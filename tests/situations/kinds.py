"""The kinds of trouble, each made on a stage and photographed; the list at the end names them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from services.domain import schedule as schedules
from services.domain.schedule import Schedule
from services.domain.status import Status
from services.ports.timetable import ScheduleEntry
from tests.situations.stage import Shot, Stage, replaced

LOGIN = "LoginExpired: redirected to https://mms.example/login"
PAGE = "ElementNotFound: selector '.order-list .row' not found within 20 s on https://seller.example/orders?page={}"
NETWORK = "NetworkError: connect to api.example:443 timed out after 10000 ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What goes wrong, and who would notice."""

    name: str
    what: str  #: what is really so, for whoever judges the pictures
    click: str  #: what a person should do
    make: Callable[[Stage], None]
    pair: str = "embedded"
    retries: int = 1
    retry_s: int = 1


def login_expired(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({shops[1].key: {"error": LOGIN}, "*": {"seconds": 0.5}})
    stage.worker()
    for shop in shops:
        stage.create(shop)
    for number in range(13):
        stage.create(shops[1], "refresh_goods", payload={"goods_ids": [f"G{number}"]})
    stage.until(lambda: bool(stage.engine.store.sessions()), "the login is missed")
    stage.until(lambda: stage.count("status:succeeded") >= 7, "the others are through")
    stage.shoot(
        Shot(name="01-login-overview"),
        Shot(name="01-login-tasks", page="tasks", request=f"shop:{shops[1].key}", row=3),
        Shot(name="01-login-shops", page="shops", request=shops[1].key),
    )


def page_changed(stage: Stage) -> None:
    shops = stage.shops(24)
    told = {f"temu/{'sync_order'}": {"error": PAGE.format(3)}, "*": {"seconds": 0.3}}
    stage.behave(told)
    stage.worker(slots=6)
    for shop in shops:
        stage.create(shop)
    stage.until(lambda: stage.count("status:dead") >= 6, "one platform's page fails")
    stage.until(lambda: stage.count("status:succeeded") >= 18, "the others are fine")
    stage.shoot(Shot(name="02-page-overview"), Shot(name="02-page-letters", page="dead_letters", row=0, settle_s=4))


def broker_stopped(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"seconds": 6}})
    stage.worker()
    for shop in shops:
        stage.create(shop)
    assert stage.rabbitmq is not None
    broker = stage.rabbitmq

    def stop() -> None:
        broker.stop()
        time.sleep(14)

    stage.shoot(Shot(name="03-broker-overview"), Shot(name="03-broker-tasks", page="tasks"), meanwhile=stop)


def redis_stopped(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"seconds": 6}})
    stage.worker()
    for shop in shops:
        stage.create(shop)
    assert stage.redis is not None
    redis = stage.redis

    def stop() -> None:
        redis.stop()
        time.sleep(14)

    stage.shoot(Shot(name="04-redis-overview"), Shot(name="04-redis-tasks", page="tasks"), meanwhile=stop)
    stage.shoot(Shot(name="04-redis-start"), after_s=12)


def no_workers(stage: Stage) -> None:
    for shop in stage.shops():
        stage.create(shop)
    stage.shoot(
        Shot(name="05-no-workers-overview"),
        Shot(name="05-no-workers-tasks", page="tasks", row=0),
        Shot(name="05-no-workers-workers", page="workers"),
    )


def silent_worker(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"stall": True}})
    stage.worker("w1", 4)
    for shop in shops[:3]:
        stage.create(shop)
    stage.create(shops[3], "batch_reply", payload={"text": "您好，已发货"})
    stage.until(lambda: stage.count("status:running") == 4, "four run")
    stage.behave({"*": {"seconds": 40}})
    stage.worker("w2", 4)
    stage.kill("w1")
    stage.shoot(
        Shot(name="06-silent-overview"),
        Shot(name="06-silent-tasks", page="tasks", row=0),
        Shot(name="06-silent-workers", page="workers"),
        after_s=20,
    )
    stage.until(lambda: stage.count("status:held") == 1, "one is held", 180)
    stage.until(lambda: stage.count("status:running") == 3, "three were started again", 180)
    stage.shoot(Shot(name="06-silent-after-overview"), Shot(name="06-silent-after-workers", page="workers"))


def publisher_blocked(stage: Stage) -> None:
    from tests.integration.rabbitmq_rig import evaluate

    shops = stage.shops()
    stage.behave({"*": {"seconds": 2}})
    stage.worker()
    assert stage.rabbitmq is not None
    evaluate(stage.rabbitmq, 'rabbit_disk_monitor:set_disk_free_limit("1000000GB").')
    time.sleep(3)
    words = ["task", "create", "--type", "sync_order", "--shop", ",".join(shop.key for shop in shops)]
    stage.processes["submit"] = stage.start(words)
    stage.shoot(Shot(name="07-blocked-overview"), Shot(name="07-blocked-tasks", page="tasks", row=0), after_s=16)
    (stage.out / "07-blocked-doctor.txt").write_text(stage.cli("doctor"), encoding="utf-8")
    evaluate(stage.rabbitmq, 'rabbit_disk_monitor:set_disk_free_limit("1MB").')


def shop_busy(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({f"{shops[0].key}/shop_crawl": {"seconds": 600}, "*": {"seconds": 3}})
    stage.worker()
    stage.create(shops[0], "shop_crawl", payload={})
    stage.until(lambda: stage.count("status:running") == 1, "the long one runs")
    stage.create(shops[0], "sync_order", priority="high")
    stage.create(shops[0], "refresh_goods", payload={"goods_ids": ["G1"]})
    time.sleep(2)
    stage.shoot(
        Shot(name="08-busy-overview"),
        Shot(name="08-busy-tasks", page="tasks", request=f"shop:{shops[0].key} type:sync_order", row=0),
    )


def dead_dependency(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({f"{shops[2].key}/sync_order": {"error": "BadPayload: since is later than until"}, "*": {}})
    stage.worker()
    first = stage.create(shops[2])
    stage.until(lambda: stage.get(first.task_id).status == Status.DEAD, "it died")
    for number in range(5):
        stage.create(shops[2], "refresh_goods", payload={"goods_ids": [f"G{number}"]}, depends_on=(first.task_id,))
    stage.shoot(
        Shot(name="09-dependency-overview"),
        Shot(name="09-dependency-tasks", page="tasks", request="status:blocked", row=0),
    )


def platform_paused(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"seconds": 1}})
    stage.worker()
    stage.commands.fleet.pause("platform:temu", reason="TEMU maintenance until 18:00")
    for shop in shops:
        stage.create(shop)
    stage.until(lambda: stage.count("status:succeeded") == 6, "the others are through")
    stage.shoot(
        Shot(name="10-paused-overview"),
        Shot(name="10-paused-tasks", page="tasks", request="platform:temu", row=0),
        Shot(name="10-paused-shops", page="shops", request=shops[4].key),
    )


def shop_floods(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"seconds": 4}})
    stage.worker()
    for number in range(150):
        stage.create(shops[0], "refresh_goods", payload={"goods_ids": [f"G{number}"]})
    for shop in shops[1:]:
        stage.create(shop)
    time.sleep(15)
    stage.shoot(Shot(name="11-flood-overview"), Shot(name="11-flood-shops", page="shops", request=shops[0].key))


def same_sync_twice(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"seconds": 60}})
    stage.worker()
    stage.create(shops[0])
    stage.until(lambda: stage.count("status:running") == 1, "it runs")
    again = stage.commands.tasks.create([_spec(shops[0].platform, shops[0].shop_id, "queue")], origin="console")
    assert again.created
    refused = stage.cli("task", "create", "--shop", shops[0].key, "--type", "sync_order")
    (stage.out / "12-twice-command.txt").write_text(refused, encoding="utf-8")
    time.sleep(2)
    stage.shoot(
        Shot(name="12-twice-overview"),
        Shot(name="12-twice-tasks", page="tasks", request=f"shop:{shops[0].key} status:blocked,queued", row=0),
    )


def _spec(platform: str, shop_id: str, if_duplicate: str) -> object:
    from services.commands.tasks import TaskSpec

    return TaskSpec(platform=platform, shop_id=shop_id, task_type="sync_order", if_duplicate=if_duplicate)


def held_task(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"batch_reply": {"stall": True}, "*": {"seconds": 1}})
    stage.worker("w1", 2)
    stage.create(shops[1], "batch_reply", payload={"text": "您好"})
    stage.until(lambda: stage.count("status:running") == 1, "it runs")
    stage.kill("w1")
    stage.worker("w2", 2)
    stage.until(lambda: stage.count("status:held") == 1, "it is held", 180)
    stage.shoot(Shot(name="13-held-overview"), Shot(name="13-held-tasks", page="tasks", request="status:held", row=0))


def mixed_dead_letters(stage: Stage) -> None:
    shops = stage.shops(16)
    stage.behave(
        {
            "temu/sync_order": {"error": PAGE.format(1)}, shops[0].key: {"error": NETWORK},
            shops[9].key: {"error": NETWORK}, f"{shops[3].key}/sync_order": {"error": "BadPayload: unknown goods_id"},
            "tiktok/refresh_goods": {"error": NETWORK}, "*": {"seconds": 0.2},
        }
    )  # fmt: skip
    stage.worker(slots=6)
    for shop in shops:
        stage.create(shop)
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G1"]})
    stage.until(lambda: stage.count("status:running,queued,retrying,pending") == 0, "all ended", 120)
    stage.behave({"temu/sync_order": {"error": PAGE.format(1)}, "*": {"seconds": 0.2}})  # the network is back
    for shop in shops[6:8]:
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G2"]})
    time.sleep(4)
    stage.shoot(Shot(name="14-mixed-overview"), Shot(name="14-mixed-letters", page="dead_letters", row=0, settle_s=4))


def late_schedule(stage: Stage) -> None:
    stage.shops()
    stage.behave({"*": {"seconds": 1}})
    made = Schedule(name="nightly-orders", task_type="sync_order", every_s=3600, all_shops=True)
    stage.commands.schedules.add(made)
    store = stage.engine.store
    entry = next(one for one in store.schedules() if one.name == "nightly-orders")
    planned = schedules.load(entry.body)
    late = store.now_ms() - 2 * 3_600_000
    old = replaced(planned, schedule=replaced(planned.schedule, first_at=late))
    store.put_schedule(ScheduleEntry(name=entry.name, version=0, next_at=late, body=schedules.dump(old)), entry.version)
    stage.shoot(
        Shot(name="15-schedule-overview", settle_s=5), Shot(name="15-schedule-schedules", page="schedules", row=0)
    )


def last_attempt(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({shops[5].key: {"error": NETWORK}, "*": {"seconds": 1}})
    stage.worker()
    task = stage.create(shops[5])
    stage.until(lambda: stage.get(task.task_id).status == Status.RETRYING, "it waits for its last attempt")
    stage.shoot(
        Shot(name="16-last-overview"), Shot(name="16-last-tasks", page="tasks", request="status:retrying", row=0)
    )


def growing_queue(stage: Stage) -> None:
    shops = stage.shops(40)
    stage.behave({"*": {"seconds": 4}})
    stage.worker(slots=3)
    for number in range(4):
        for shop in shops[:10]:
            stage.create(shop, "refresh_goods", payload={"goods_ids": [f"G{number}"]})
    enough = threading.Event()
    feeding = threading.Thread(target=_feed, args=(stage, enough), daemon=True)
    feeding.start()
    stage.shoot(Shot(name="17-growing-overview", settle_s=5), after_s=45)
    enough.set()
    feeding.join(30)


def _feed(stage: Stage, enough: threading.Event) -> None:
    """Nearly three new tasks a second, until it is enough."""
    lines = [
        json.dumps({"shop_id": f"pdd-{10_021 + place}", "platform": "pdd", "task_type": "refresh_goods",
                    "payload": {"goods_ids": [f"H{turn}"]}})
        for turn in range(30) for place in (0, 1, 2, 3, 8, 9, 10, 11)
    ]  # fmt: skip
    for begin in range(0, len(lines), 16):
        file = stage.home / f"feed-{begin}.jsonl"
        file.write_text("\n".join(lines[begin : begin + 16]) + "\n", encoding="utf-8")
        stage.cli("task", "create", "--file", str(file))
        if enough.wait(5.0):
            return


def broken_field(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"error": "BadPayload: payload.since: '2026-13-40' is not a date"}})
    stage.worker()
    for shop in shops[:5]:
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G1"]})
    stage.until(lambda: stage.count("status:dead") == 5, "all died of one field")
    stage.shoot(Shot(name="18-field-overview"), Shot(name="18-field-letters", page="dead_letters", row=0, settle_s=4))


def republish_half_done(stage: Stage) -> None:
    shops = stage.shops(16)
    stage.behave({"*": {"error": NETWORK}})
    stage.worker(slots=6)
    for shop in shops:
        stage.create(shop)
    stage.until(lambda: stage.count("status:dead") == 16, "all died", 120)
    # half of the shops are well again, the others fail as before
    stage.behave({"pdd/sync_order": {"seconds": 0.3}, "*": {"error": NETWORK}})
    (stage.home / "run.txt").write_text(stage.cli("dead", "republish", "--filter", "kind:network", "--yes"))
    stage.until(lambda: stage.count("status:running,queued,retrying,pending") == 0, "all ended", 120)
    stage.shoot(
        Shot(name="19-republish-overview"), Shot(name="19-republish-letters", page="dead_letters", row=0, settle_s=4)
    )


def all_fine(stage: Stage) -> None:
    shops = stage.shops(24)
    stage.behave({"*": {"seconds": 1}})
    stage.worker(slots=6)
    for shop in shops:
        stage.create(shop)
    stage.until(lambda: stage.count("status:succeeded") == 24, "all are through", 120)
    for shop in shops[:3]:
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G1"]})
    stage.shoot(Shot(name="20-fine-overview"))


SITUATIONS = (
    Situation(name="login_expired", make=login_expired,
              what="one shop (柚子数码) is logged out; its 14 tasks wait for a login, nobody else is affected",
              click="log that shop in (Open browser / Logged in)"),
    Situation(name="page_changed", make=page_changed,
              what="order sync fails on all TEMU shops: an element is missing on the page; other platforms fine",
              click="look at the cause; pause order sync on TEMU; do not retry until the flow is mended"),
    Situation(name="broker_stopped", make=broker_stopped, pair="fleet",
              what="RabbitMQ is down; Redis answers; nothing new starts",
              click="have RabbitMQ started; nothing to retry"),
    Situation(name="redis_stopped", make=redis_stopped, pair="fleet",
              what="Redis is down; numbers are old; workers record on their own disks",
              click="have Redis started / Try again; do not create a new engine"),
    Situation(name="no_workers", make=no_workers, what="8 tasks wait, no worker runs", click="start a worker"),
    Situation(name="silent_worker", make=silent_worker,
              what="worker w1 was killed with 4 tasks; 3 go to others after the lease, 1 (batch reply) will be held",
              click="look at the worker; later decide the held task; forget the worker"),
    Situation(name="publisher_blocked", make=publisher_blocked, pair="fleet",
              what="RabbitMQ is out of disk and blocks publishers; 8 tasks are recorded, not sent",
              click="free disk on the RabbitMQ server"),
    Situation(name="shop_busy", make=shop_busy, retries=1,
              what="a high sync waits for its shop, where a crawl of 10 minutes runs",
              click="wait, or stop that crawl; run now cannot help"),
    Situation(name="dead_dependency", make=dead_dependency,
              what="5 tasks wait for a task that is dead", click="republish the dead one (edited), or cancel those"),
    Situation(name="platform_paused", make=platform_paused, what="a person paused TEMU; 2 tasks wait",
              click="Resume TEMU"),
    Situation(name="shop_floods", make=shop_floods,
              what="one shop has 150 tasks that go one by one; the others are not held up",
              click="nothing urgent; raise its limit or cancel"),
    Situation(name="same_sync_twice", make=same_sync_twice,
              what="a second order sync of the same shop waits for the first; a third was refused",
              click="nothing; watch the first"),
    Situation(name="held_task", make=held_task,
              what="a batch reply may have run: its worker was killed; nobody knows", click="decide the held task"),
    Situation(name="mixed_dead_letters", make=mixed_dead_letters,
              what="three causes: page of TEMU (fails again), network (well again: retry), one bad payload (edit)",
              click="republish the network cause only"),
    Situation(name="late_schedule", make=late_schedule,
              what="a schedule is 2 h late (or was, until this window began to lead)", click="look at why; run it"),
    Situation(name="last_attempt", make=last_attempt, retry_s=120, retries=1,
              what="one task failed and waits for its last attempt", click="nothing, or look at the error before it"),
    Situation(name="growing_queue", make=growing_queue,
              what="more comes in than three slots do", click="more slots or another worker"),
    Situation(name="broken_field", make=broken_field,
              what="5 tasks died of one bad field", click="edit the field and republish"),
    Situation(name="republish_half_done", make=republish_half_done,
              what="16 were republished; those of PDD succeeded, the others died again",
              click="do not republish the rest blindly; look at the cause"),
    Situation(name="all_fine", make=all_fine, what="all is well", click="nothing"),
)  # fmt: skip
