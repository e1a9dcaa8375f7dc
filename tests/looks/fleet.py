"""A fleet in which every page has something to show: failures of several causes, plans, batches, promises, people."""

from __future__ import annotations

import contextlib
import threading

import msgspec
from msgspec.structs import replace

from services import assembly
from services.commands.tasks import TaskSpec
from services.domain.alerts.channel import Channel
from services.domain.errors import ConsoleError
from services.domain.fleet.shop import Shop
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import QuietHours, Weekly
from services.domain.plans.schedule import Schedule
from services.domain.task.search.query import Query, equals
from services.sample.demo import promise_some
from services.sample.fleet import Trickle, by_itself, sample_shops
from tests.situations.kinds import LOGIN, NETWORK, PAGE
from tests.situations.stage import Stage

RATE = 2.0
#: names as people really give them
LONG = (
    "江南布衣官方旗舰店（杭州滨江仓直发·七天无理由退换货·假一赔十）",
    "Grandmother Hollingsworth's Hand-Poured Candles & Seasonal Gifts (EU warehouse)",
)
NOTE = "等新版页面上线后再开"
SLOW_S = 900.0
MANY_S = 120.0
_WAITING, _DEAD = (Query(terms=(equals("status", word),), limit=20) for word in ("queued", "dead"))


class Fleet:
    """Made in the home of a stage; close it before the stage."""

    def __init__(self, stage: Stage, *, shops: int = 60, many: int = 0) -> None:
        """``many``: so many tasks more, which wait because a type is paused."""
        self._stage = stage
        found = sample_shops(shops)
        for place, name in enumerate(LONG):
            found[3 + place] = msgspec.structs.replace(found[3 + place], name=name)
        self._shops = [
            msgspec.structs.replace(one, tags=("重点",) if number % 9 == 0 else ()) for number, one in enumerate(found)
        ]
        self._of = {name: [one for one in self._shops if one.platform == name] for name in ("pdd", "temu", "tiktok")}
        stage.commands.fleet.import_shops(self._shops)
        self._rules()
        stage.behave(self._flows())
        stage.worker("rpa-01", 6, "--node", "rpa-01")
        stage.worker("rpa-02", 4, "--node", "rpa-02")
        self._work()
        if many:
            self._many(many)
        self._trickle = Trickle(by_itself(stage.engine.producer.submit), self._shops, per_second=RATE)
        self._trickle.start()
        self._told = threading.Thread(target=self._later, daemon=True)

    def begin(self) -> None:
        """Go on while the window is open: one worker falls silent, somebody cancels and retries."""
        self._told.start()

    def close(self) -> None:
        """Make no more tasks."""
        self._trickle.close()
        if self._told.is_alive():
            self._told.join(MANY_S)

    # ------------------------------------------------------------------ what it is made of
    def _flows(self) -> dict[str, dict[str, object]]:
        pdd, temu = self._of["pdd"], self._of["temu"]
        return {
            **{f"{one.key}/sync_order": {"error": PAGE.format(3), "seconds": 1} for one in temu[:9]},
            **{one.key: {"error": LOGIN} for one in pdd[1:4]},
            **{f"{one.key}/refresh_goods": {"error": NETWORK, "seconds": 0.4} for one in pdd[6:12]},
            f"{pdd[5].key}/batch_reply": {"error": "BadPayload: 回复内容不能为空，也不能超过 500 个字符"},
            f"{pdd[0].key}/shop_crawl": {"seconds": SLOW_S},
            f"{temu[-1].key}/screenshot": {"seconds": SLOW_S},
            "sync_order": {"seconds": 2.0}, "shop_crawl": {"seconds": 5.0}, "*": {"seconds": 1.0},
        }  # fmt: skip

    def _rules(self) -> None:
        commands, pdd, temu = self._stage.commands, self._of["pdd"], self._of["temu"]
        promise_some(commands.promises, {"pdd", "temu", "tiktok"})
        commands.fleet.set_limit(Limit(scope="platform:temu", concurrency=4, per_minute=60))
        commands.fleet.dedicate(pdd[0].key)
        commands.fleet.dedicate(temu[0].key)
        commands.fleet.pause(f"shop:{temu[10].key}", reason="大促期间由运营手动处理，周一恢复")
        commands.quiet.set(
            QuietHours(
                name="night",
                scope="platform:tiktok",
                weekly=(Weekly(days=tuple(range(7)), start=60, end=360),),
                reason="buyers sleep",
            )
        )
        for channel in (
            Channel(name="duty-group", kind="wecom", language="zh"),
            Channel(name="ops-leads", kind="mail", group="lead", options={"to": "ops-leads@example.com"}),
        ):
            commands.alerts.set_channel(channel)
        for plan in (
            Schedule(name="nightly-orders", task_type="sync_order", cron="0 2 * * *", all_shops=True, spread_s=1800),
            Schedule(name="orders-10min", task_type="sync_order", every_s=600, platforms=("pdd",), spread_s=300),
            Schedule(name="goods-morning", task_type="refresh_goods", cron="30 7 * * 1-5", groups=("数码",)),
            Schedule(name="shop-fronts", task_type="screenshot", every_s=3600, shops=tuple(shop.key for shop in temu)),
            Schedule(name="周报抓取", task_type="shop_crawl", cron="0 9 * * 1", platforms=("temu",), enabled=False),
        ):
            commands.schedules.add(msgspec.structs.replace(plan, note=NOTE if not plan.enabled else ""))

    def _work(self) -> None:
        pdd, temu, tiktok = self._of["pdd"], self._of["temu"], self._of["tiktok"]
        for one in (*pdd[:14], *temu[:12], *tiktok[:6]):
            self._create(one, "sync_order", {"page_size": 50})
        for one in pdd[4:14]:
            self._create(one, "refresh_goods", {"goods_ids": ["G0001", "G0002"]})
        self._create(pdd[0], "shop_crawl", {"max_products": 500})
        self._create(temu[-1], "screenshot", {})
        self._create(pdd[5], "batch_reply", {"text": "您好，包裹今天发出"})
        for number in range(12):
            self._create(pdd[1], "single_product", {"goods_id": f"G{number + 1:04d}"})
        for number, one in enumerate(pdd[:20]):
            first = self._create(one, "refresh_goods", {"goods_ids": [f"N{number}"]}, batch="nightly-2026")
            self._create(
                one, "batch_products", {"goods_ids": [f"N{number}"]}, batch="nightly-2026", depends_on=(first,)
            )
        for one in temu[:10]:
            self._create(one, "get_content", {}, batch="文案更新-双十二预热-第三批", priority="low")
        for one in tiktok[:8]:
            self._create(one, "search_keywords", {"keywords": ["case"]}, delay_s=3600)

    def _create(self, shop: Shop, kind: str, payload: dict[str, object], **more: object) -> str:
        spec = TaskSpec(platform=shop.platform, shop_id=shop.shop_id, task_type=kind, payload=payload)
        done = self._stage.commands.tasks.create([replace(spec, **more)], origin="console")  # type: ignore[arg-type]
        return done.created[0].task_id if done.created else ""

    def _many(self, count: int) -> None:
        self._stage.commands.fleet.pause("type:full_sync", reason="the file server is moved")
        specs = [
            TaskSpec(
                platform=shop.platform,
                shop_id=shop.shop_id,
                task_type="full_sync",
                payload={"since": f"{2000 + number}-01-01"},
                if_duplicate="queue",
            )
            for number in range(count // len(self._shops) + 1)
            for shop in self._shops
        ]
        for place in range(0, count, 500):
            done = self._stage.commands.tasks.create(specs[place : min(place + 500, count)], origin="file")
            assert done.created, done.errors[:1]  # else every page would be looked at without them

    def _later(self) -> None:
        """What people do, and a machine that loses its power."""
        engine = self._stage.engine
        lin, chen = (assembly.commands(engine, name=name) for name in ("林梅@ops-01", "chen.yu@ops-04"))
        for who in ("林梅@ops-01", "chen.yu@ops-04"):
            self._stage.commands.roles.set(who, "operator", note="shift")
        first, second, third = self._of["tiktok"][:3]
        lin.fleet.pause(f"shop:{first.key}", reason="风控提醒，先停一小时")
        chen.fleet.set_concurrency(second.key, 3)
        lin.fleet.resume(f"shop:{first.key}", note="客服确认没有问题")
        waiting = [task.task_id for task in engine.store.query(_WAITING).tasks]
        chen.tasks.cancel(waiting[:4], reason="asked for twice")
        lin.tasks.prioritize(waiting[4:7], "high")
        with contextlib.suppress(ConsoleError):
            assembly.commands(engine, name="zhou.min@ops-02").fleet.pause(f"shop:{third.key}")
        dead = engine.store.query(_DEAD).tasks
        if dead:
            chen.dead_letters.set_triage([dead[0].task_id], "archived", note="一次性的，不用再跑")
            lin.causes.describe(dead[-1].fingerprint, name="TEMU order page changed", note="ann looks at the new page")
        self._stage.kill("rpa-02")
