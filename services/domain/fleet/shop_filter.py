"""Which shops a text means: ``platform:temu state:login dead>0 group:a* name``, all of which must hold. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from services.domain.fleet.shop import Shop
from services.domain.gates import breaker, listed, session
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.task.search import filter, row_filter
from services.domain.task.search.query import GROUP, Term
from services.domain.task.search.row_filter import same
from services.domain.text.shares import percent

#: the worker that ran its last task, which is asked of the records where a filter wants to know it
WORKER = "worker"
#: of a shop as the list tells it
WORDS = ("shop", "platform", "group", "tag", "name", "home", WORKER, "state", "gate")
NUMBERS = ("active", "dead", "concurrency", "success")
#: those that stand in how many tasks there are of it, and the percent of those that ended in a day
COUNTED, ENDS = ("active", "dead"), "success"
TRUTHS = ("paused", "dedicated", "enabled", "unregistered")
FIELDS = (*WORDS, *NUMBERS, *TRUTHS)
#: a state that stands for all in which a person must act
FLAGGED = "flagged"
#: what may keep the tasks of a shop waiting, as the filter of tasks calls it
GATES = (session.GATE, breaker.GATE, *listed.SWITCHES)
#: what states of shops are called where Chinese is read
CHINESE_STATES: Mapping[str, str] = {
    "待确认": "held", "需登录": "login", "登录": "login", "死信": "dead", "卡住": "stuck", "频繁失败": "breaker",
    "情况不明": "unknown", "重试中": "retrying", "执行中": "running", "等待中": "waiting", "类型已暂停": "paused_type",
    "正常": "healthy", "空闲": "idle", "静默时段": "quiet_hours", "已暂停": "paused", "需处理": FLAGGED,
}  # fmt: skip
_TRUE = {"是": "yes", "否": "no"}
CHINESE_GATES: Mapping[str, str] = {
    "需登录": session.GATE, "频繁失败": breaker.GATE, "已暂停": "paused", "静默时段": "quiet_hours",
}  # fmt: skip
#: names of tasks beside them are known and refused, not looked for as words
NAMES = filter.Names({
    **filter.CHINESE, "状态": "state", "标签": "tag", "名称": "name", "归属": "home", "归属节点": "home",
    "上次执行节点": WORKER, "进行中": "active", "成功率": "success", "死信": "dead", "上限": "concurrency",
    "并发": "concurrency", "暂停": "paused", "已暂停": "paused", "独立队列": "dedicated", "专用队列": "dedicated",
    "启用": "enabled",
}, {"state": CHINESE_STATES, "gate": CHINESE_GATES, **dict.fromkeys(TRUTHS, _TRUE)})  # fmt: skip


def _words(row: Mapping[str, Any], field: str) -> tuple[str, ...]:
    if field == "shop":
        return (str(row["shop_id"]), f"{row['platform']}:{row['shop_id']}")
    if field == "name":
        return (str(row["name"]), str(row["name_en"]))
    if field == "tag":
        return tuple(map(str, row.get("tags", ())))
    if field == "state":
        return (row["state"], FLAGGED) if row["state"] in insight.FLAGGED else (row["state"],)
    if field == "gate":
        return tuple(row.get("gates", ()))
    return (str(row[field]),)


_ROWS = row_filter.Fields(
    words={field: row_filter.words(partial(_words, field=field)) for field in WORDS},
    bare=("shop", "name", "group", "tag"),
    names=NAMES,
    known={"state": (*insight.STATES, FLAGGED), "gate": GATES},
    numbers={field: itemgetter(field) for field in NUMBERS},
    truths={field: itemgetter(field) for field in TRUTHS},
)


def parse(text: str, platforms: Collection[str] = ()) -> row_filter.Test:
    """What tells whether a shop is meant, as the list tells it; an empty text means all. ``platforms``: that of a key
    (``platform:shop_id``) is one of these.

    Raises:
        UsageError: it is no such filter, and what there is instead.
    """
    return _ROWS.parse(text, platforms)


class Row(Mapping[str, Any]):
    """A shop as the list tells it; only what is asked of it is made, for thousands are asked one thing each."""

    __slots__ = ("_counts", "_home", "_now", "_ran_by", "_shop")

    def __init__(self, shop: Shop, now: ShopNow, counts: Mapping[str, int], home: str, ran_by: str = "") -> None:
        """``counts``: its tasks by status; ``home``: the node that its profile lives on; ``ran_by``: the worker that
        ran its last task.
        """
        self._shop, self._now, self._counts, self._home, self._ran_by = shop, now, counts, home, ran_by

    def __getitem__(self, field: str) -> Any:
        if field in _OF_SHOP:
            return getattr(self._shop, field)
        if field == WORKER:
            return self._ran_by
        return _TOLD[field](self._shop, self._now, self._counts, self._home)

    def __iter__(self) -> Iterator[str]:
        return iter((*_OF_SHOP, *_TOLD, WORKER))

    def __len__(self) -> int:
        return len(_OF_SHOP) + len(_TOLD) + 1


_OF_SHOP = dict.fromkeys(Shop.__struct_fields__)
_TOLD: Mapping[str, Callable[[Shop, ShopNow, Mapping[str, int], str], Any]] = {
    "paused": lambda shop, now, _counts, _home: bool(now.pauses) and _paused(shop, now),
    "active": lambda _shop, _now, counts, _home: sum(counts.values()) - counts.get("dead", 0),
    "dead": lambda _shop, _now, counts, _home: counts.get("dead", 0),
    "home": lambda _shop, _now, _counts, home: home,
    "state": lambda _shop, now, _counts, _home: now.state,
    "gates": lambda _shop, now, _counts, _home: gates(now),
    "success": lambda _shop, now, _counts, _home: _percent(now),
}


def _percent(now: ShopNow) -> float:
    """One decimal, as it is shown: below 90 is what reads so. No number where nothing ended."""
    share = now.success_share
    return math.nan if share is None else percent(share)


def _paused(shop: Shop, now: ShopNow) -> bool:
    own = f"shop:{shop.key}"
    return any((one.gate, one.scope) == (insight.PAUSED, own) for one in now.pauses)


def asks_counts(text: str) -> bool:
    """Whether the tasks of a shop are counted for it."""
    return any(piece.field in COUNTED for piece in filter.pieces(text[: filter.MAX_TEXT], NAMES))


def asks_ends(text: str) -> bool:
    """Whether it is asked how the tasks of a shop ended."""
    return any(piece.field == ENDS for piece in filter.pieces(text[: filter.MAX_TEXT], NAMES))


def asks_worker(text: str) -> bool:
    """Whether it is asked who ran the last task of a shop."""
    return any(piece.field == WORKER for piece in filter.pieces(text[: filter.MAX_TEXT], NAMES))


def gates(now: ShopNow) -> tuple[str, ...]:
    """Which of ``GATES`` are closed for it, or for some of its tasks."""
    if not (now.pauses or now.session or now.breaker):  # most of thousands
        return ()
    closed = {pause.gate for pause in now.pauses}
    found = {session.GATE: now.session is not None, breaker.GATE: now.breaker is not None}
    return tuple(gate for gate in GATES if gate in closed or found.get(gate, False))


def of_groups(terms: Sequence[Term], shops: Callable[[], Mapping[str, Shop]]) -> tuple[Term, ...]:
    """Terms of tasks with those on ``group`` put into terms on the shops that are in such a group now.

    ``group:*`` are the shops of any group, ``-group:*`` those without one.
    """
    if all(term.field != GROUP for term in terms):
        return tuple(terms)
    known = shops()
    return tuple(_of_shops(term, known) if term.field == GROUP else term for term in terms)


def _of_shops(term: Term, shops: Mapping[str, Shop]) -> Term:
    grouped = ((key, shop.group) for key, shop in shops.items() if shop.group)
    found = (key for key, group in grouped if any(same(group, value, term.op) for value in term.values))
    return Term(field="shop", op="=", values=tuple(sorted(found)), negated=term.negated)
