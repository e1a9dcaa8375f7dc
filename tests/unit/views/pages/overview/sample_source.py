"""The fleet of the design's pictures as an ``OverviewSource``: the same numbers and curves each time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
from msgspec import structs
from msgspec.structs import replace

from services.domain.insight import shop
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.durations import Measured
from services.domain.insight.shop import ShopNow
from services.domain.past.marks import ALERT, DEPLOY, Mark
from services.domain.text.message import Message
from services.monitor.overview import Attention, LaneDepth, OverviewNow, Sample

#: 14:32:07 in UTC+8.
NOW_MS = round(datetime(2026, 11, 21, 6, 32, 7, tzinfo=UTC).timestamp() * 1000)
#: Shops of each platform and how many are in each state, as in the pictures.
FLEET = {
    "pdd": (168, {"dead": 22, "stuck": 2, "retrying": 12, "running": 32, "idle": 10, "paused": 3}),
    "temu": (96, {"dead": 6, "stuck": 1, "retrying": 8, "running": 20, "idle": 8, "paused": 2}),
    "tiktok": (48, {"dead": 3, "stuck": 1, "retrying": 2, "running": 12, "idle": 4, "paused": 1}),
}
_FIRST = (
    "悦己",
    "青柠",
    "微光",
    "柚子",
    "沐光",
    "星野",
    "清和",
    "橘猫",
    "海盐",
    "北屿",
    "麦田",
    "初见",
    "喜乐",
    "竹里",
    "山茶",
)
_TRADE = ("服饰", "母婴", "数码", "家纺", "箱包", "运动", "宠物", "美妆", "日用", "灯具")
_KIND = ("旗舰店", "专营店", "专卖店", "工厂店", "百货店")
_ENGLISH = (
    "Lumo Home",
    "Velia Beauty US",
    "Oak & Linen",
    "Nordlys",
    "Petit Coin",
    "Hikari Desk",
    "Tidewell",
    "Fern Lane",
)


def cells(total: int | None = None, seed: int = 7) -> tuple[ShopNow, ...]:
    """The shops of the pictures, or the same mixture at another size."""
    dice = random.Random(seed)
    rows: list[ShopNow] = []
    for platform, (count, states) in FLEET.items():
        share = 1.0 if total is None else total / 312
        number = count if total is None else round(count * share)
        drawn: list[str] = []
        for state, of_it in states.items():
            drawn += [state] * round(of_it * share)
        drawn = drawn[:number] + ["healthy"] * max(0, number - len(drawn))
        dice.shuffle(drawn)
        rows += [_cell(platform, at, state, dice) for at, state in enumerate(drawn)]
    return tuple(rows)


def _cell(platform: str, at: int, state: str, dice: random.Random) -> ShopNow:
    name = dice.choice(_FIRST) + dice.choice(_TRADE) + dice.choice(_KIND)
    if platform != "pdd" and dice.random() < 0.6:
        name = dice.choice(_ENGLISH)
    prefix = {"tiktok": "tts"}.get(platform, platform)
    return ShopNow(
        platform=platform,
        shop_id=f"{prefix}-{10000 + at * 7}",
        name=name,
        state=state,
        under="healthy" if state == "paused" else "",
        waiting=dice.randrange(20) if state not in ("healthy", "idle") else 0,
        running=dice.randrange(1, 3) if state == "running" else 0,
        dead=dice.randrange(1, 19) if state == "dead" else 0,
    )


def attention(at_ms: int = NOW_MS) -> tuple[Attention, ...]:
    """What needs a person in the pictures."""
    minute = 60_000
    return (
        Attention(
            key="dead:login_expired::",
            severity="dead",
            code="attention.dead_some",
            cause=Message("cause.login_expired"),
            params={"kind": "login_expired", "count": 58, "shops": 9, "platform": "pdd"},
            since_ms=at_ms - 34 * minute,
            verbs=(("triage", "f1"), ("open_tasks", "status:dead kind:login_expired")),
        ),
        Attention(
            key="dead:element_not_found:sync_order:",
            severity="dead",
            code="attention.dead_platform",
            cause=Message("cause.element_not_found.of", {"what": ".order-list"}),
            params={"kind": "element_not_found", "type": "sync_order", "count": 34, "shops": 14, "platform": "pdd"},
            since_ms=at_ms - 20 * minute,
            verbs=(
                ("triage", "f2"),
                ("open_tasks", "status:dead kind:element_not_found"),
                ("pause", "platform:pdd"),
            ),
        ),
        Attention(
            key="silent:rpa-06",
            severity="warning",
            code="attention.worker_silent",
            params={"worker": "rpa-06", "tasks": 7, "left_ms": 46_000},
            facts=(Message("worker.hold", {"n": 2, "seconds": 46}), Message("worker.back", {"n": 5, "seconds": 46})),
            since_ms=at_ms - 74_000,
            verbs=(("open_worker", "rpa-06"),),
        ),
        Attention(
            key="blocked",
            severity="blocked",
            code="attention.publisher_blocked",
            params={"tasks": 212},
            facts=(Message("publisher.disk"), Message("publisher.disk.remedy", {"where": "rabbit@mq-01"})),
            since_ms=at_ms - 108_000,
            verbs=(("open_tasks", "status:pending"),),
        ),
        Attention(
            key="stuck",
            severity="stuck",
            code="attention.shops_stuck_more",
            params={"shops": 4, "names": "悦己服饰旗舰店\n青柠母婴专营店", "more": 2},
            since_ms=at_ms - 31 * minute,
            verbs=(("open_tasks", "status:waiting"),),
        ),
    )


def working(*, dead: int = 0) -> flow.Flow:
    """The flow of the pictures: 1,284 waiting in 88 shops that run one task each."""
    took = Measured(count=30, mean_s=20.0, deviation_s=6.0)
    lines = tuple(flow.Line(shop=f"s{n}", waiting=15 - (n >= 52), running=1, took=took) for n in range(88))
    rates = flow.Rates(in_s=4.8, out_s=4.4, recent_in=4.2, recent_out=4.4, steady_in=0.0, window_s=60)
    facts = {"waiting": 1284, "running": 88, "retrying": 37, "workers": 10, "slots": 120, "busy": 88}
    return flow.judge(flow.Facts(dead=dead, rates=rates, lines=lines, **facts))


class SampleSource:
    """Answers at once, out of nothing but a seed."""

    def __init__(self, shops: int | None = None, *, empty: bool = False, calm: bool = False) -> None:
        self.at_ms = NOW_MS
        self.empty, self.calm = empty, calm
        self.shops = () if shops == 0 or empty else cells(shops)
        self.dead: int | None = None
        self.owed_s = 0.0
        self.lost = ""  #: broker or store
        self.asked_now = self.asked_fresh = 0
        self.asked_series: list[int] = []

    def now(self) -> OverviewNow:
        """The numbers of the pictures."""
        self.asked_now += 1
        if self.empty:
            return OverviewNow(
                at_ms=self.at_ms, flow=flow.judge(flow.Facts()), lanes=tuple(LaneDepth(lane=lane) for lane in _LANES)
            )
        return OverviewNow(
            at_ms=self.at_ms,
            flow=working(dead=12 if self.calm else 143),
            lanes=tuple(LaneDepth(lane=lane, ready=ready, unacked=held) for lane, (ready, held) in _LANES.items()),
            status_counts={"queued": 1284, "running": 88, "retrying": 37, "dead": 143},
            ahead=8,
            running=88,
            slots_total=120,
            slots_busy=88,
            dead_open=self.dead if self.dead is not None else 12 if self.calm else 143,
            succeeded_1h=15_378,
            failed_1h=282,
            oldest_waiting_ms=41_000 if self.calm else 1_982_000,
            oldest_waiting_shop="temu-20355",
            retry_levels=((30, 19), (60, 11), (120, 7)),
            shops=self.shops,
            attention=() if self.calm else attention(self.at_ms),
            owed_s=self.owed_s,
        )

    def fresh(self, now: OverviewNow) -> OverviewNow:
        """The same, with the server lost that a test says."""
        self.asked_fresh += 1
        if self.lost:
            facts = structs.replace(now.flow.facts, store=self.lost != "store", broker=self.lost != "broker")
            shops = tuple(shop.unknown(one, shop.NO_STORE) for one in now.shops) if self.lost == "store" else now.shops
            now = structs.replace(now, flow=structs.replace(now.flow, facts=facts), shops=shops)
        return now

    def marks(self, range_s: int) -> Sequence[Mark]:
        """A deploy and an alert, as far back as that."""
        every = (Mark(self.at_ms - 900_000, DEPLOY, "0.4.3"), Mark(self.at_ms - 7_200_000, ALERT, "success"))
        return [mark for mark in every if mark.at_ms >= self.at_ms - range_s * 1000]

    def series(self, range_s: int, max_points: int) -> Sequence[Sample]:
        """Curves like those of the pictures; the same instant has the same sample whatever the range."""
        self.asked_series.append(range_s)
        if self.empty:
            return ()
        step = max(1, range_s // 3600, -(-range_s // max_points))
        end = self.at_ms // 1000
        seconds = range(end - end % step - range_s + step, end + 1, step)
        return [replace(sample(second), since_ms=(second - step) * 1000) for second in seconds]


_LANES = {"high": (42, 10), "dedicated": (158, 12), "normal": (768, 52), "low": (316, 22)}


@lru_cache(maxsize=20_000)
def sample(second: int) -> Sample:
    """The sample of one second; ``-3600`` to ``0`` before the pictures' moment make the curves shown there."""
    t = (second - NOW_MS // 1000) / 60 + 60  # minutes since 13:32
    dead = float(np.interp(t, [0, 10, 30, 40, 50, 60], [45, 52, 84, 110, 128, 143]))
    burst = 3.6 * np.exp(-(((t - 28.5) / 1.3) ** 2)) + 3.0 * np.exp(-(((t - 43.5) / 0.8) ** 2))
    return Sample(
        at_ms=second * 1000,
        high=round(_curve(t, [0, 15, 25, 31, 34, 45, 60], [28, 34, 30, 85, 60, 38, 42], 5, 1)),
        dedicated=round(_curve(t, [0, 20, 31, 40, 60], [52, 60, 121, 118, 158], 8, 2)),
        normal=round(_curve(t, [0, 15, 25, 32, 37, 42, 52, 60], [410, 490, 540, 675, 920, 830, 780, 768], 14, 3)),
        low=round(_curve(t, [0, 15, 25, 32, 37, 50, 60], [190, 220, 215, 272, 320, 300, 316], 9, 4)),
        unacked=round(_curve(t, [0, 30, 60], [95, 96, 96], 2.5, 5)),
        running=round(_curve(t, [0, 30, 60], [84, 82, 88], 7, 6)),
        retrying=round(max(0.0, _curve(t, [0, 8, 14, 18, 60], [3, 6, 34, 32, 37], 6, 7))),
        dead=round(dead),
        publish=max(0.1, _curve(t, [0, 60], [4.5, 4.8], 0.7, 8) + float(burst)),
        deliver=max(0.1, _curve(t, [0, 60], [4.4, 4.5], 0.18, 9)),
        ack=max(0.1, _curve(t, [0, 60], [4.35, 4.4], 0.14, 10)),
        succeeded=round((second % 1_000_000) * 4.27 + 25 * np.sin(t / 2.3) + 12 * np.sin(t * 1.7)),
        failed=round((second % 1_000_000) * 0.078 + 4 * np.sin(t / 3.1) + 3 * np.sin(t / 1.3)),
        oldest_waiting_s=max(5.0, float(np.interp(t, [0, 5, 60], [40, 30, 1982]))),
    )


def _curve(t: float, at: list[float], values: list[float], noise: float, seed: int) -> float:
    base = float(np.interp(t, at, values))
    waves = sum(
        np.sin(t * speed * (1 + seed / 17) + seed * speed) / (n + 1) for n, speed in enumerate((0.9, 2.3, 5.1, 11.7))
    )
    fade = min(1.0, max(0.0, (60 - t) / 2)) if t > 55 else 1.0
    return base + noise * float(waves) * fade
