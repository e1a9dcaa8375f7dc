"""Which column of a file says what: known headings in English and Chinese, fields of the task types, or a choice."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from services.commands.sheet.shop_index import ShopIndex
from services.commands.sheet.table import Table, blank, shown
from services.domain.errors import UsageError
from services.domain.text.message import Message
from services.domain.text.said import said
from services.domain.text.words import heading
from services.domain.types.task_type import TaskType
from services.domain.types.type_index import TypeIndex, titles_of

PLATFORM, SHOP, SHOP_NAME, TYPE = "platform", "shop", "shop_name", "type"
PRIORITY, LANE, PAYLOAD, PARAMETER = "priority", "lane", "payload", "payload."
NOT_BEFORE, DELAY, DEADLINE, RETRIES = "not_before", "delay", "deadline", "max_retries"
KEY, DEPENDS_ON, POLICY, IGNORED = "key", "depends_on", "on_dependency_failure", ""
#: what a column can say, in the order of a menu; ``payload.NAME`` is one parameter
TARGETS = (
    PLATFORM,
    SHOP,
    SHOP_NAME,
    TYPE,
    PRIORITY,
    LANE,
    PAYLOAD,
    NOT_BEFORE,
    DELAY,
    DEADLINE,
    RETRIES,
    KEY,
    DEPENDS_ON,
    POLICY,
)
_HEADINGS: Mapping[str, tuple[str, ...]] = {
    PLATFORM: (
        "platform",
        "平台",
        "渠道",
        "电商平台",
        "平台名称",
        "平台代码",
        "所属平台",
        "店铺平台",
        "site",
        "channel",
    ),
    SHOP: (
        "shop",
        "shop_id",
        "shop id",
        "shop_no",
        "store",
        "store_id",
        "shop code",
        "店铺",
        "店铺ID",
        "店铺编号",
        "店铺编码",
        "店铺号",
        "店铺代码",
        "门店",
        "门店ID",
        "门店编号",
        "商家ID",
        "商铺ID",
        "店号",
    ),
    SHOP_NAME: ("shop_name", "store_name", "name of shop", "店铺名称", "店铺名", "门店名称", "店名", "商铺名称"),
    TYPE: (
        "type",
        "task_type",
        "task",
        "task name",
        "job",
        "job type",
        "任务类型",
        "任务",
        "类型",
        "任务名称",
        "任务种类",
        "任务类别",
        "作业类型",
        "操作",
        "操作类型",
    ),
    PRIORITY: ("priority", "prio", "优先级", "优先", "优先级别", "紧急程度", "级别"),
    LANE: ("lane", "queue lane", "通道", "泳道", "车道"),
    PAYLOAD: (
        "payload",
        "params",
        "param",
        "parameters",
        "args",
        "arguments",
        "options",
        "参数",
        "任务参数",
        "参数JSON",
        "载荷",
        "入参",
        "参数设置",
    ),
    NOT_BEFORE: (
        "not_before",
        "start",
        "start_at",
        "start time",
        "run at",
        "scheduled at",
        "schedule",
        "定时",
        "定时时间",
        "开始时间",
        "开始",
        "执行时间",
        "计划时间",
        "计划开始",
        "最早开始",
    ),
    DELAY: ("delay", "delay_s", "延迟", "延迟秒数", "延时", "等待"),
    DEADLINE: ("deadline", "expires", "expires at", "截止", "截止时间", "最晚开始", "过期时间", "有效期至"),
    RETRIES: ("max_retries", "retries", "重试次数", "最大重试次数", "最多重试"),
    KEY: ("key", "row key", "行名", "标识"),
    DEPENDS_ON: ("depends_on", "after", "依赖", "前置任务", "依赖任务"),
    POLICY: ("on_dependency_failure", "依赖失败时"),
}
_NOTES = (
    "note",
    "notes",
    "remark",
    "remarks",
    "comment",
    "comments",
    "memo",
    "备注",
    "说明",
    "注释",
    "备忘",
    "批注",
    "序号",
    "no",
    "#",
    "reason",
    "原因",
)
_TARGET_OF = {heading(name): target for target, names in _HEADINGS.items() for name in names}
_NOTE_NAMES = frozenset(map(heading, _NOTES)) - {""}
_BEFORE_PARAMETER = ("payload.", "params.", "param.", "参数.", "载荷.", "payload:", "参数:", "参数：", "参数-", "参数_")
_SAMPLES, _TRIED = 3, 200
#: columns of an export that tell how a task fared, some of which are called like a parameter; and how one is known
_RECORD = frozenset(
    {
        *("task_id", "status", "attempt", "worker", "error_kind", "error", "triage", "result"),
        *("created_at", "due_at", "started_at", "ended_at", "updated_at"),
        *("created_by", "origin", "batch", "parent", "successor"),
    }
)
_EXPORT = frozenset({"task_id", "task_type", "attempt", "triage"})


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One column: what it is called, what stands in it, and what it says."""

    at: int
    title: str
    samples: tuple[str, ...] = ()  #: a few different values
    filled: int = 0  #: rows in which it holds something
    target: str = IGNORED  #: one of ``TARGETS``, ``payload.NAME``, or ``IGNORED``
    why: Message | None = None  #: of an ignored one
    implied: bool = False  #: a parameter found by its title: only types that have it take it
    doubt: bool = False  #: taken for the name of the shop, though it is headed as an id beside another one


def is_heading(title: str) -> bool:
    """Whether a cell reads like the name of a column of tasks."""
    name = heading(title)
    return name in _TARGET_OF or name in _NOTE_NAMES or bool(_parameter(title))


def guess(table: Table, types: Mapping[str, TaskType], shops: ShopIndex, default_type: str = "") -> tuple[Column, ...]:
    """What each column probably says. Two columns never say the same; the second is ignored, with the reason."""
    exported = set(table.columns) >= _EXPORT
    columns = [_known(_column(table, at), exported=exported) for at in range(len(table.columns))]
    columns = _without_twice(columns)
    used = _types_used(table, columns, types, default_type)
    columns = [one if one.target or one.why else _of_types(one, used) for one in columns]
    if not any(one.target in (SHOP, SHOP_NAME) for one in columns):
        columns = _by_content(columns, SHOP, table, shops.candidates)
    if not default_type and not any(one.target == TYPE for one in columns):
        columns = _by_content(columns, TYPE, table, TypeIndex(types).find)
    return tuple(_explained(one) for one in _without_twice(columns))


def choose(columns: Sequence[Column], at: int, target: str) -> tuple[Column, ...]:
    """Let a column say something else; who said that before is ignored now."""
    chosen = Message("sheet.ignored_choice")
    if target in (SHOP, SHOP_NAME):  # who says what one of both is has looked at the other
        columns = [replace(one, doubt=False) for one in columns]
    return tuple(
        replace(one, target=target, why=None if target else chosen, implied=False, doubt=False)
        if one.at == at
        else replace(one, target=IGNORED, why=_said_by(columns[at], one))
        if target and one.target == target
        else one
        for one in columns
    )


def headings(titles: Sequence[str]) -> str:
    """A short name of a set of columns, whatever their order: a choice for one such file is meant for the next."""
    return sha256("\0".join(sorted(map(heading, titles))).encode()).hexdigest()[:16]


def choices(columns: Sequence[Column]) -> dict[str, str]:
    """What each column says, by its title."""
    return {one.title: one.target for one in columns}


def recalled(columns: Sequence[Column], said: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns as somebody chose them for a file with the same ones."""
    for one in columns:
        target = said.get(one.title)
        if target is not None and target != one.target and (target in (IGNORED, *TARGETS) or _parameter(target)):
            columns = choose(columns, one.at, target)
    return tuple(columns)


def chosen(columns: Sequence[Column], words: Iterable[str]) -> tuple[Column, ...]:
    """The columns with choices such as ``店号=shop`` or ``C=payload.page_size``; ``备注=-`` ignores one.

    Raises:
        UsageError: there is no such column or no such field.
    """
    for word in words:
        title, sign, target = word.rpartition("=")
        at = next((one.at for one in columns if one.title == title.strip()), None)
        if at is None:
            at = next((one.at for one in columns if title.strip() and heading(one.title) == heading(title)), None)
        if not sign or at is None:
            names = ", ".join(one.title for one in columns)
            raise UsageError(said("sheet.map_column", word=word[:80], names=names[:300]), field="--map")
        columns = choose(columns, at, _target(target.strip()))
    return tuple(columns)


def _target(word: str) -> str:
    if word in ("-", "ignore", "忽略"):
        return IGNORED
    name = _parameter(word)
    target = f"{PARAMETER}{name}" if name else _TARGET_OF.get(heading(word), "")
    if not target:
        known = ", ".join((*TARGETS, "payload.NAME", "-"))
        raise UsageError(said("sheet.map_field", field=word[:60], known=known), field="--map")
    return target


def _column(table: Table, at: int) -> Column:
    samples: dict[str, None] = {}
    filled = 0
    for row in table.rows:
        if not blank(row.cells[at]):
            filled += 1
            if len(samples) < _SAMPLES:
                samples[shown(row.cells[at])] = None
    return Column(at=at, title=table.columns[at], samples=tuple(samples), filled=filled)


def _known(one: Column, *, exported: bool) -> Column:
    name = heading(one.title)
    if exported and one.title in _RECORD:
        return replace(one, why=Message("sheet.ignored_record"))
    parameter = _parameter(one.title)
    if parameter:
        return replace(one, target=f"{PARAMETER}{parameter}")
    if name in _NOTE_NAMES:
        return replace(one, why=Message("sheet.ignored_note"))
    return replace(one, target=_TARGET_OF.get(name, IGNORED))


def _parameter(title: str) -> str:
    """``NAME`` of ``payload.NAME``."""
    for lead in _BEFORE_PARAMETER:
        if title.strip().casefold().startswith(lead):
            return title.strip()[len(lead) :].strip()
    return ""


def _said_by(used: Column, other: Column) -> Message:
    """Why a column is ignored beside the one that is used; where both are called the same, which one that is."""
    if used.title.strip() != other.title.strip():
        return Message("sheet.ignored_again", {"column": used.title})
    return Message("sheet.ignored_heading", {"n": used.at + 1})


def _headed_as_id(one: Column) -> bool:
    return heading(one.title).endswith(("id", "no", "code", "号", "编码", "代码"))


def _without_twice(columns: Sequence[Column]) -> list[Column]:
    first: dict[str, Column] = {}
    found: list[Column] = []
    for one in columns:
        before = first.get(one.target)
        if one.target and before is not None:
            # 店铺ID beside 店铺: the second is what people call the shop
            if one.target == SHOP and SHOP_NAME not in {each.target for each in (*columns, *found)}:
                doubt = _headed_as_id(one) and _headed_as_id(before)
                one = replace(one, target=SHOP_NAME, doubt=doubt)
                if heading(one.title).endswith(("id", "no")):
                    found[found.index(before)] = replace(before, target=SHOP_NAME, doubt=doubt)
                    one = replace(one, target=SHOP, doubt=False)
            else:
                one = replace(one, target=IGNORED, why=_said_by(before, one))
        first.setdefault(one.target, one)
        found.append(one)
    return found


def _types_used(
    table: Table, columns: Sequence[Column], types: Mapping[str, TaskType], default_type: str
) -> list[TaskType]:
    at = next((one.at for one in columns if one.target == TYPE), -1)
    index = TypeIndex(types)
    words = dict.fromkeys(table.column(at))
    names = dict.fromkeys(name for word in words for name in index.find(word)) if at >= 0 else {}
    names |= {default_type: None} if default_type in types else {}
    return [types[name] for name in names]


def _of_types(one: Column, used: Sequence[TaskType]) -> Column:
    """A column that is called like a parameter of a type in the file."""
    wanted = heading(one.title)
    for kind in used:
        for name, titles in titles_of(kind).items():
            if wanted and wanted in map(heading, titles):
                return replace(one, target=f"{PARAMETER}{name}", implied=True)
    return one


def _by_content(columns: list[Column], target: str, table: Table, find: Callable[[str], Sequence[str]]) -> list[Column]:
    """No heading says which column names the shops, or the types: the one in which most cells do."""
    free = [one for one in columns if not one.target and one.filled]
    hits = {one.at: sum(bool(find(word)) for word in table.column(one.at)[:_TRIED] if word) for one in free}
    best = max(free, key=lambda one: hits[one.at], default=None)
    if best is None or not hits[best.at]:
        return columns
    return [replace(one, target=target, why=None) if one.at == best.at else one for one in columns]


def _explained(one: Column) -> Column:
    if one.target or one.why is not None:
        return one
    names = {heading(name): name for names in _HEADINGS.values() for name in names}
    close = difflib.get_close_matches(heading(one.title)[:40], list(names), n=1, cutoff=0.75)
    if close:
        return replace(one, why=Message("sheet.ignored_near", {"near": names[close[0]]}))
    return replace(one, why=Message("sheet.ignored_unknown"))
