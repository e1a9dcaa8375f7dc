"""Which shops a text means: ``platform:temu state:login dead>0 group:a* name``, all of which must hold. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from services.domain.fleet.shop import Shop
from services.domain.insight import shop as insight
from services.domain.task.search import filter, row_filter
from services.domain.task.search.query import GROUP, Term
from services.domain.task.search.row_filter import same

#: of a shop as the list tells it
WORDS = ("shop", "platform", "group", "tag", "name", "home", "state")
NUMBERS = ("active", "dead", "concurrency")
TRUTHS = ("paused", "dedicated", "enabled", "unregistered")
FIELDS = (*WORDS, *NUMBERS, *TRUTHS)
#: what states of shops are called where Chinese is read
CHINESE_STATES: Mapping[str, str] = {
    "待确认": "held", "需登录": "login", "登录": "login", "死信": "dead", "卡住": "stuck", "频繁失败": "breaker",
    "情况不明": "unknown", "重试中": "retrying", "执行中": "running", "等待中": "waiting", "类型已暂停": "paused_type",
    "正常": "healthy", "空闲": "idle", "静默时段": "quiet_hours", "已暂停": "paused",
}  # fmt: skip
_TRUE = {"是": "yes", "否": "no"}
#: names of tasks beside them are known and refused, not looked for as words
_NAMES = filter.Names({
    **filter.CHINESE, "状态": "state", "标签": "tag", "名称": "name", "归属": "home", "归属节点": "home",
    "进行中": "active", "死信": "dead", "上限": "concurrency", "并发": "concurrency", "暂停": "paused",
    "已暂停": "paused", "独立队列": "dedicated", "专用队列": "dedicated", "启用": "enabled",
}, {"state": CHINESE_STATES, **dict.fromkeys(TRUTHS, _TRUE)})  # fmt: skip


def _words(row: Mapping[str, Any], field: str) -> tuple[str, ...]:
    if field == "shop":
        return (str(row["shop_id"]), f"{row['platform']}:{row['shop_id']}")
    if field == "name":
        return (str(row["name"]), str(row["name_en"]))
    if field == "tag":
        return tuple(map(str, row.get("tags", ())))
    return (str(row[field]),)


_ROWS = row_filter.Fields(
    words={field: row_filter.words(partial(_words, field=field)) for field in WORDS},
    bare=("shop", "name", "group", "tag"),
    names=_NAMES,
    known={"state": insight.STATES},
    numbers={field: itemgetter(field) for field in NUMBERS},
    truths={field: itemgetter(field) for field in TRUTHS},
)


def parse(text: str) -> row_filter.Test:
    """What tells whether a shop is meant, as the list tells it; an empty text means all.

    Raises:
        UsageError: it is no such filter, and what there is instead.
    """
    return _ROWS.parse(text)


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
