"""The kinds of trouble, each made on a stage and photographed; the list at the end names them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.commands.tasks import TaskSpec
from services.domain.fleet.shop import Pause, Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Schedule
from services.domain.task.search import filter
from services.domain.task.search.query import Query
from services.domain.task.status import Status
from services.ports.timetable import ScheduleEntry
from tests.situations.stage import Shot, Stage, replaced

LOGIN = "LoginExpired: redirected to https://mms.example/login"
PAGE = "ElementNotFound: selector '.order-list .row' not found within 20 s on https://seller.example/orders?page={}"
PAGES = (
    PAGE,
    "TimeoutError: Waiting for selector `#order-table tbody tr` failed: timeout 30000ms exceeded (page {})",
    'NoSuchElementException: no such element: {{"method":"css selector","selector":"[data-e2e=order-{}] .row"}}',
    "选择器 '.goods-table .ant-table-row' 未找到，已等待 30 秒（第 {} 页）",
)
NETWORK = "NetworkError: connect to api.example:443 timed out after 10000 ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What goes wrong, and who would notice."""

    name: str
    what: str  #: what is really so, for whoever judges the pictures
    click: str  #: what a person should do
    make: Callable[[Stage], None]
    pair: str = "embedded"
    other_pair: str = ""  #: of other variants, where that is another one
    retries: int = 1
    retry_s: int = 1


def login_expired(stage: Stage) -> None:
    shops = stage.shops(stage.pick(8, 16, 12))
    out = stage.pick([shops[1]], [shops[0], shops[2], shops[4]], [shops[3], shops[6]])
    error = stage.pick(
        LOGIN, "LoginExpired: 登录已过期，请重新登录", "LoginExpired: 302 -> https://passport.example/signin"
    )
    long = shops[5]
    stage.behave({**{shop.key: {"error": error} for shop in out}, long.key: {"seconds": 400}, "*": {"seconds": 0.5}})
    stage.worker(slots=stage.pick(4, 6))
    for shop in shops if not stage.variant else (one for one in shops if one != long):
        stage.create(shop)
    for number in range(stage.pick(13, 4, 27)):
        for shop in out:
            stage.create(shop, "refresh_goods", payload={"goods_ids": [f"G{number}"]})
    if stage.variant:
        stage.create(long, "shop_crawl")
    stage.until(lambda: len(stage.engine.store.sessions()) == len(out), "the logins are missed")
    well = len(shops) - len(out) - bool(stage.variant)
    stage.until(lambda: stage.count("status:succeeded") >= well, "the others are through")
    told = ", ".join(shop.name for shop in out)
    stage.tell(f"{told}: logged out, their tasks wait for that; nobody else is affected", "log them in")
    stage.shoot(
        Shot(name="01-login-overview"),
        Shot(name="01-login-tasks", page="tasks", request=f"shop:{out[0].key}", row=3),
        Shot(name="01-login-shops", page="shops", request=out[0].key),
    )


def page_changed(stage: Stage) -> None:
    shops = stage.shops(24)
    platform = stage.pick(stage.platforms[1], stage.platforms[0])
    kind, error = stage.pick("sync_order", "send_welcome_email"), stage.pick(*PAGES).format(3)
    stage.behave({f"{platform}/{kind}": {"error": error}, "*": {"seconds": 0.3}})
    stage.worker(slots=stage.pick(6, 4, 8))
    for shop in shops:
        stage.create(shop, kind)
    failing = sum(shop.platform == platform for shop in shops)
    stage.until(lambda: stage.count("status:dead") >= failing, "one platform's page fails")
    stage.until(lambda: stage.count("status:succeeded") >= 24 - failing, "the others are fine")
    stage.tell(
        f"{kind} fails in all {failing} shops of {platform}: an element of the page is missing; other platforms fine",
        f"look at the cause; pause {kind} on {platform}; no retry before the flow was mended",
    )
    stage.shoot(Shot(name="02-page-overview"), Shot(name="02-page-letters", page="dead_letters", row=0, settle_s=4))


def broker_stopped(stage: Stage) -> None:
    shops = stage.shops(stage.pick(8, 24))
    stage.behave({"*": {"seconds": stage.pick(6, 20)}})
    stage.worker(slots=stage.pick(4, 3, 8))
    for shop in shops:
        stage.create(shop)
    assert stage.rabbitmq is not None
    broker = stage.rabbitmq

    def stop() -> None:
        if stage.variant:  # in the middle of a bulk
            words = ["--type", "refresh_goods", "--shop", ",".join(shop.key for shop in shops)]
            stage.processes["submit"] = stage.start(["task", "create", *words])
            time.sleep(3)
        broker.stop()
        time.sleep(stage.pick(14, 40))

    stage.tell("RabbitMQ is down; Redis answers; what runs goes on, nothing new starts", "have RabbitMQ started")
    stage.shoot(Shot(name="03-broker-overview"), Shot(name="03-broker-tasks", page="tasks"), meanwhile=stop)


def redis_stopped(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({f"{shops[4].key}": {"error": NETWORK}, "*": {"seconds": stage.pick(6, 30)}})
    if not stage.variant:
        stage.behave({"*": {"seconds": 6}})
    stage.worker(slots=stage.pick(4, 2))
    for shop in shops:
        stage.create(shop)
    assert stage.redis is not None
    redis = stage.redis

    def stop() -> None:
        redis.stop()
        time.sleep(stage.pick(14, 35))

    stage.tell(
        "Redis is down; numbers are old; workers finish what they have and record it on their own disks",
        "have Redis started, Try again; create no new engine",
    )
    stage.shoot(Shot(name="04-redis-overview"), Shot(name="04-redis-tasks", page="tasks"), meanwhile=stop)
    stage.shoot(Shot(name="04-redis-start"), after_s=12)


def no_workers(stage: Stage) -> None:
    shops = stage.shops(stage.pick(8, 11))
    stage.behave({"*": {"seconds": 0.5}})
    gone = stage.pick(False, True)
    if gone:  # one was there, did its work, and was ended
        stage.worker()
        for shop in shops:
            stage.create(shop, "single_product", payload={"goods_id": "A1"})
        stage.until(lambda: stage.count("status:succeeded") == len(shops), "they are through")
        stage.stop("w")
    for shop in shops:
        stage.create(shop)
    stage.create(shops[0], "batch_reply", payload={"text": "Your parcel is on its way"})
    stage.tell(
        f"{len(shops) + 1} tasks wait, no worker runs" + (", the last was stopped" if gone else ""), "start a worker"
    )
    stage.shoot(
        Shot(name="05-no-workers-overview"),
        Shot(name="05-no-workers-tasks", page="tasks", row=0),
        Shot(name="05-no-workers-workers", page="workers"),
    )


def silent_worker(stage: Stage) -> None:
    held = stage.pick(4, 0, 7)
    shops = stage.shops()
    stage.behave({"*": {"stall": True}})
    stage.worker("w1", max(held, 4))
    for shop in shops[: max(0, held - 1)]:
        stage.create(shop)
    if held:
        stage.create(shops[held - 1], "batch_reply", payload={"text": "您好，已发货"})
    stage.until(lambda: stage.count("status:running") == held, "they run")
    stage.behave({"*": {"seconds": 40}})
    stage.worker("w2", 4)
    if not held:
        stage.create(shops[6])
        stage.until(lambda: stage.count("status:running") == 1, "it runs")
    stage.kill("w1")
    if not held:
        for shop in shops[:2]:
            stage.create(shop)
    stage.tell(
        f"worker w1 was killed with {held} tasks; all but a batch reply go to others after the lease, that is held",
        "look at the worker; later decide the held task; forget the worker",
    )
    stage.shoot(
        Shot(name="06-silent-overview"),
        Shot(name="06-silent-tasks", page="tasks", row=0),
        Shot(name="06-silent-workers", page="workers"),
        after_s=20,
    )
    if held:
        stage.until(lambda: stage.count("status:held") == 1, "one is held", 180)
        stage.until(lambda: stage.count("status:running") >= min(4, held - 1), "they were started again", 180)
    else:
        time.sleep(50)
    stage.shoot(Shot(name="06-silent-after-overview"), Shot(name="06-silent-after-workers", page="workers"))


def publisher_blocked(stage: Stage) -> None:
    from tests.integration.rabbitmq_rig import evaluate

    shops = stage.shops(stage.pick(8, 20))
    stage.behave({"*": {"seconds": stage.pick(2, 45)}})
    stage.worker()
    assert stage.rabbitmq is not None
    for shop in shops[:4] if stage.variant else ():
        stage.create(shop, "refresh_goods")
    memory = stage.pick(False, True)
    block, free = ("vm_memory_monitor:set_vm_memory_high_watermark({{absolute, {}}}).", ("1000", "4000000000"))
    if not memory:
        block, free = ('rabbit_disk_monitor:set_disk_free_limit("{}").', ("1000000GB", "1MB"))
    evaluate(stage.rabbitmq, block.format(free[0]))
    time.sleep(3)
    words = ["task", "create", "--type", "sync_order", "--shop", ",".join(shop.key for shop in shops)]
    stage.processes["submit"] = stage.start(words)
    short = "memory" if memory else "disk"
    stage.tell(
        f"RabbitMQ is out of {short} and blocks publishers; {len(shops)} tasks are recorded, not sent",
        f"free {short} on the RabbitMQ server",
    )
    stage.shoot(Shot(name="07-blocked-overview"), Shot(name="07-blocked-tasks", page="tasks", row=0), after_s=16)
    (stage.out / "07-blocked-doctor.txt").write_text(stage.cli("doctor"), encoding="utf-8")
    evaluate(stage.rabbitmq, block.format(free[1]))


def shop_busy(stage: Stage) -> None:
    shops = stage.shops()
    hung = stage.pick(False, True)
    if hung:  # such crawls take seconds there
        stage.behave({"*": {"seconds": 2}})
        stage.worker()
        for number in range(6):
            stage.create(shops[0], "shop_crawl", payload={"max_products": number + 10})
        stage.until(lambda: stage.count("status:succeeded") == 6, "they are through")
        stage.behave({f"{shops[0].key}/shop_crawl": {"stall": True, "mute": True}, "*": {"seconds": 3}})
    else:
        stage.behave({f"{shops[0].key}/shop_crawl": {"seconds": 600}, "*": {"seconds": 3}})
        stage.worker()
    stage.create(shops[0], "shop_crawl", payload={})
    stage.until(lambda: stage.count("status:running") == 1, "the long one runs")
    stage.create(shops[0], "sync_order", priority="high")
    stage.create(shops[0], "refresh_goods", payload={"goods_ids": ["G1"]})
    for shop in shops[4:6] if hung else ():
        stage.create(shop)
    time.sleep(30 if hung else 2)
    stage.tell(
        f"two tasks of {shops[0].name} wait for a crawl there" + (" that hangs" if hung else " of 10 minutes"),
        "stop that crawl" + ("" if hung else ", or wait; run now cannot help"),
    )
    stage.shoot(
        Shot(name="08-busy-overview"),
        Shot(name="08-busy-tasks", page="tasks", request=f"shop:{shops[0].key} type:sync_order", row=0),
    )


def dead_dependency(stage: Stage) -> None:
    shops = stage.shops()
    cancelled = stage.pick(False, True)
    error = stage.pick("BadPayload: since is later than until", NETWORK)
    stage.behave({f"{shops[2].key}/sync_order": {"error": error}, "*": {}})
    if not cancelled:
        stage.worker()
    first = stage.create(shops[2])
    if not cancelled:
        stage.until(lambda: stage.get(first.task_id).status == Status.DEAD, "it died")
    for number in range(stage.pick(5, 3)):
        stage.create(shops[2], "refresh_goods", payload={"goods_ids": [f"G{number}"]}, depends_on=(first.task_id,))
    if cancelled:
        stage.cli("task", "cancel", first.task_id, "--yes")
        assert stage.get(first.task_id).status == Status.CANCELLED
        stage.worker()
    stage.tell(
        f"tasks wait for one that is {'cancelled' if cancelled else 'dead'}",
        "cancel those" if cancelled else "republish the dead one, or cancel those",
    )
    stage.shoot(
        Shot(name="09-dependency-overview"),
        Shot(name="09-dependency-tasks", page="tasks", request="status:blocked", row=0),
    )


def platform_paused(stage: Stage) -> None:
    shops = stage.shops()
    platform = stage.platforms[1]
    stage.behave({"*": {"seconds": 1}})
    stage.worker()
    scope = stage.pick(f"platform:{platform}", "type:sync_order", f"platform:{platform}")
    if stage.variant:
        reason = stage.pick("平台大促，人工处理", "", "prices are wrong, ask Chen")
        by_other = Pause(scope=scope, by="xiaoli@ops-02", at=stage.engine.store.now_ms(), reason=reason)
        stage.engine.store.set_pause(by_other)
        assert stage.engine.store.pauses()
    else:
        stage.commands.fleet.pause(scope, reason="TEMU maintenance until 18:00")
    for shop in shops:
        stage.create(shop)
        if stage.variant:
            stage.create(shop, "refresh_goods", payload={"goods_ids": ["G7"]})
    stage.until(lambda: stage.count("status:succeeded") >= 6, "the others are through")
    stage.tell(f"a person paused {scope}; its tasks wait", f"resume {scope}")
    stage.shoot(
        Shot(name="10-paused-overview"),
        Shot(name="10-paused-tasks", page="tasks", request=f"gate:paused {scope}", row=0),
        Shot(name="10-paused-shops", page="shops", request=shops[4].key),
    )


def shop_floods(stage: Stage) -> None:
    shops = stage.shops()
    floods = stage.pick(1, 2)
    stage.behave({"*": {"seconds": 4}})
    stage.worker(slots=stage.pick(4, 2))
    for number in range(stage.pick(150, 90)):
        for shop in shops[:floods]:
            stage.create(shop, "refresh_goods", payload={"goods_ids": [f"G{number}"]})
    for shop in shops[floods:]:
        stage.create(shop)
    time.sleep(15)
    stage.tell(
        f"{floods} shop(s) have very many tasks that go one by one; the others are hardly held up",
        "nothing urgent; raise its limit or cancel",
    )
    stage.shoot(Shot(name="11-flood-overview"), Shot(name="11-flood-shops", page="shops", request=shops[0].key))


def same_sync_twice(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"*": {"seconds": stage.pick(60, 150)}})
    stage.worker()
    stage.create(shops[0])
    stage.until(lambda: stage.count("status:running") == 1, "it runs")
    if stage.variant:  # once more by a file of somebody else, and by hand
        rows = [f"{shop.platform},{shop.shop_id},sync_order" for shop in shops[:3]]
        file = stage.home / "orders.csv"
        file.write_text("\n".join(["platform,shop_id,task_type", *rows]) + "\n", encoding="utf-8")
        filed = stage.cli("task", "create", "--file", str(file), "--if-duplicate", "queue", "--yes")
        (stage.out / "12-twice-file.txt").write_text(filed, encoding="utf-8")
    else:
        again = stage.commands.tasks.create([_spec(shops[0].platform, shops[0].shop_id, "queue")], origin="console")
        assert again.created
    refused = stage.cli("task", "create", "--shop", shops[0].key, "--type", "sync_order")
    (stage.out / "12-twice-command.txt").write_text(refused, encoding="utf-8")
    time.sleep(2)
    stage.tell(
        "a second order sync of the same shop waits for the first; a third was refused", "nothing; watch the first"
    )
    stage.shoot(
        Shot(name="12-twice-overview"),
        Shot(name="12-twice-tasks", page="tasks", request=f"shop:{shops[0].key} status:blocked,queued", row=0),
    )


def _spec(platform: str, shop_id: str, if_duplicate: str) -> TaskSpec:
    return TaskSpec(platform=platform, shop_id=shop_id, task_type="sync_order", if_duplicate=if_duplicate)


def held_task(stage: Stage) -> None:
    shops = stage.shops()
    stage.behave({"batch_reply": {"stall": True}, "single_product": {"error": NETWORK}, "*": {"seconds": 1}})
    stage.worker("w1", 3)
    held = stage.pick(1, 2)
    for shop in shops[1 : 1 + held]:
        stage.create(shop, "batch_reply", payload={"text": stage.pick("您好", "Thank you, it ships today")})
    if stage.variant:
        stage.create(shops[6], "single_product", payload={"goods_id": "A1"})
    stage.until(lambda: stage.count("status:running") == held, "it runs")
    stage.kill("w1")
    stage.worker("w2", 2)
    stage.until(lambda: stage.count("status:held") == held, "it is held", 180)
    if stage.variant:  # what waits behind it
        stage.commands.tasks.create([_twin(shops[1], "您好")], origin="console")
    stage.tell(f"{held} batch replies may have run: their worker was killed; nobody knows", "decide the held tasks")
    stage.shoot(Shot(name="13-held-overview"), Shot(name="13-held-tasks", page="tasks", request="status:held", row=0))


def _twin(shop: Shop, text: str) -> TaskSpec:
    return TaskSpec(
        platform=shop.platform, shop_id=shop.shop_id, task_type="batch_reply", payload={"text": text},
        if_duplicate="queue",
    )  # fmt: skip


def mixed_dead_letters(stage: Stage) -> None:
    shops = stage.shops(16)
    second, third = stage.platforms[1:]
    how = {
        f"{second}/sync_order": {"error": stage.pick(*PAGES).format(1)}, shops[0].key: {"error": NETWORK},
        shops[9].key: {"error": NETWORK}, f"{shops[3].key}/sync_order": {"error": "BadPayload: unknown goods_id"},
        f"{third}/refresh_goods": {"error": NETWORK}, "*": {"seconds": 0.2},
    }  # fmt: skip
    if stage.variant:
        how[f"{shops[2].key}/refresh_goods"] = {"error": "RiskControl: 账号被限制，请完成安全验证"}
        how[f"{shops[10].key}/refresh_goods"] = {"error": "Traceback: ZeroDivisionError: division by zero"}
    stage.behave(how)
    stage.worker(slots=6)
    for shop in shops:
        stage.create(shop)
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G1"]})
    stage.until(lambda: stage.count("status:running,queued,retrying,pending") == 0, "all ended", 120)
    # the network is back
    stage.behave({key: told for key, told in how.items() if NETWORK not in str(told)})
    for shop in shops[6:8]:
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G2"]})
    time.sleep(4)
    stage.tell(
        f"causes: page of {second} (fails again), network (well again: retry), one bad payload (edit)"
        + (", an account under risk control, a crash" if stage.variant else ""),
        "republish the network cause only",
    )
    stage.shoot(Shot(name="14-mixed-overview"), Shot(name="14-mixed-letters", page="dead_letters", row=0, settle_s=4))


def late_schedule(stage: Stage) -> None:
    stage.shops()
    stage.behave({"*": {"seconds": 1}})
    names = stage.pick(("nightly-orders",), ("夜间订单", "goods-refresh"), ("morning-orders",))
    store, hours = stage.engine.store, stage.pick(2, 5, 0.4)
    for name in names:
        stage.commands.schedules.add(Schedule(name=name, task_type="sync_order", every_s=3600, all_shops=True))
        entry = next(one for one in store.schedules() if one.name == name)
        planned = schedules.load(entry.body)
        late = store.now_ms() - round(hours * 3_600_000)
        old = replaced(planned, schedule=replaced(planned.schedule, first_at=late))
        body = schedules.dump(old)
        store.put_schedule(ScheduleEntry(name=name, version=0, next_at=late, body=body), entry.version)
    stage.tell(
        f"{len(names)} schedules are {hours} h late"
        + ("; nobody is there to fire them" if stage.pair == "fleet" else " (or were, until this window led)"),
        "start a worker" if stage.pair == "fleet" else "look at why; run it",
    )
    stage.shoot(
        Shot(name="15-schedule-overview", settle_s=5), Shot(name="15-schedule-schedules", page="schedules", row=0)
    )


def last_attempt(stage: Stage) -> None:
    shops = stage.shops()
    many = stage.pick(1, 3)
    stage.behave(
        {**{shop.key: {"error": NETWORK} for shop in shops[5 : 5 + many]}, "*": {"seconds": stage.pick(1, 90)}}
    )
    stage.worker()
    for shop in (*shops[5 : 5 + many], *(shops[:2] if stage.variant else ())):
        stage.create(shop, max_retries=1)
    stage.until(lambda: stage.count("status:retrying") == many, "they wait for their last attempt")
    stage.tell(f"{many} failed and wait for their last attempt", "nothing, or look at the error before it")
    stage.shoot(
        Shot(name="16-last-overview"), Shot(name="16-last-tasks", page="tasks", request="status:retrying", row=0)
    )


def growing_queue(stage: Stage) -> None:
    shops = stage.shops(40)
    stage.behave({"*": {"seconds": 4}})
    one_lane = stage.pick(False, True)
    if one_lane:  # a slot for the low lane, the others do the rest, and easily
        stage.worker("low", 1, "--lanes", "low")
        stage.worker("w", 5, "--lanes", "high,normal")
    else:
        stage.worker(slots=3)
    for number in range(4):
        for shop in shops[:10]:
            stage.create(shop, "refresh_goods", payload={"goods_ids": [f"G{number}"]})
    enough = threading.Event()
    feeding = threading.Thread(target=_feed, args=(stage, shops, enough), daemon=True)
    feeding.start()
    stage.tell(
        "more comes in than goes out" + (" on the low lane only: its one slot is busy" if one_lane else ""),
        "more slots or another worker" + (" for the low lane" if one_lane else ""),
    )
    stage.shoot(
        Shot(name="17-growing-overview", settle_s=5), Shot(name="17-growing-workers", page="workers"), after_s=45
    )
    enough.set()
    feeding.join(30)


def _feed(stage: Stage, shops: Sequence[Shop], enough: threading.Event) -> None:
    """Nearly three new tasks a second, until it is enough."""
    lines = [
        json.dumps({"shop_id": shops[place].shop_id, "platform": shops[place].platform, "task_type": "refresh_goods",
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
    # what the flow complains of stands in the messages, as its type lets it through
    error, wrong = stage.pick(
        ("BadPayload: payload.since: '2026-13-40' is not a date", {"since": "2026-13-40"}),
        ("invalid parameter: page_size must be at most 50", {"page_size": 80}),
        ("ValueError: 参数 low_stock 必须小于 100", {"low_stock": 500}),
    )
    stage.behave({"*": {"error": error}})
    stage.worker()
    for shop in shops[:5]:
        stage.create(shop, "refresh_goods", payload={"goods_ids": ["G1"], **wrong})
    stage.until(lambda: stage.count("status:dead") == 5, "all died of one field")
    if stage.variant:  # one was edited, and died of it again
        letters = stage.engine.store.query(Query(terms=filter.parse("status:dead", now_ms=stage.engine.store.now_ms())))
        edited = json.dumps({"goods_ids": ["G1", "G2"], **wrong})
        done = stage.cli("dead", "republish", letters.tasks[0].task_id, "--payload", edited, "--yes")
        (stage.out / "18-field-edited.txt").write_text(done, encoding="utf-8")
        stage.until(lambda: stage.count("status:running,queued,retrying,pending") == 0, "it ended", 120)
    stage.tell("5 tasks died of one bad field" + (", one also after it was edited" if stage.variant else ""),
               "have whoever creates them put the field right, then republish; single ones: edit")  # fmt: skip
    stage.shoot(Shot(name="18-field-overview"), Shot(name="18-field-letters", page="dead_letters", row=0, settle_s=4))


def republish_half_done(stage: Stage) -> None:
    shops = stage.shops(16)
    stage.behave({"*": {"error": NETWORK}})
    stage.worker(slots=6)
    for shop in shops:
        stage.create(shop)
    stage.until(lambda: stage.count("status:dead") == 16, "all died", 120)
    # half of the shops are well again, the others fail as before
    stage.behave({f"{stage.platforms[0]}/sync_order": {"seconds": 0.3}, "*": {"error": NETWORK}})
    if stage.pick(False, True):  # slowly, and whoever did it stopped in the middle
        words = ["dead", "republish", "--filter", "kind:network", "--rate", "30", "--yes"]
        stage.processes["run"] = stage.start(words)
        stage.until(lambda: stage.count("status:dead triage:republished") >= 7, "half was sent", 60)
        stage.kill("run")
        truth = "a run of 16 was broken off: some were republished, those of other platforms died again"
    else:
        (stage.home / "run.txt").write_text(stage.cli("dead", "republish", "--filter", "kind:network", "--yes"))
        truth = f"16 were republished; those of {stage.platforms[0]} succeeded, the others died again"
    stage.until(lambda: stage.count("status:running,queued,retrying,pending") == 0, "all ended", 120)
    stage.tell(truth, "do not republish the rest blindly; look at the cause")
    stage.shoot(
        Shot(name="19-republish-overview"), Shot(name="19-republish-letters", page="dead_letters", row=0, settle_s=4)
    )


def all_fine(stage: Stage) -> None:
    shops = stage.shops(24)
    state = stage.pick("fine", "busy", "empty")
    if state == "empty":
        stage.tell("all is well, and there is nothing to do", "nothing")
        stage.worker(slots=4)
    else:
        stage.behave({"*": {"seconds": 1}})
        stage.worker(slots=6)
        for shop in shops:
            stage.create(shop)
        stage.until(lambda: stage.count("status:succeeded") == 24, "all are through", 120)
        if state == "busy":
            stage.behave({"*": {"seconds": 9}})
        stage.tell("all is well" + (", and busy" if state == "busy" else ""), "nothing")
        for shop in shops[: 24 if state == "busy" else 3]:
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
    Situation(name="late_schedule", make=late_schedule, other_pair="fleet",
              what="a schedule is 2 h late (or was, until this window began to lead)", click="look at why; run it"),
    Situation(name="last_attempt", make=last_attempt, retry_s=120, retries=1,
              what="one task failed and waits for its last attempt", click="nothing, or look at the error before it"),
    Situation(name="growing_queue", make=growing_queue,
              what="more comes in than three slots do", click="more slots or another worker"),
    Situation(name="broken_field", make=broken_field,
              what="5 tasks died of one bad field", click="copy the report for who creates them; edit and republish"),
    Situation(name="republish_half_done", make=republish_half_done,
              what="16 were republished; those of PDD succeeded, the others died again",
              click="do not republish the rest blindly; look at the cause"),
    Situation(name="all_fine", make=all_fine, what="all is well", click="nothing"),
)  # fmt: skip
