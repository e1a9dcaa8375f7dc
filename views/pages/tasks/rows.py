"""What the task table shows of a record: one frozen row and its columns as data."""

from __future__ import annotations

import json
from functools import lru_cache

import msgspec

from services.domain.insight import attempts, gates
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.mask import masked_json
from services.domain.text.message import Message
from services.i18n import N_, _, pgettext
from services.monitor.waits.waiting import Wait
from views.pages.tasks import wait_words
from views.support import heard, instant, safe, shown, text
from views.support.words import kinds, type_names
from views.tables.column import Attempts, Column, Progress, dated
from views.tables.task_columns import lane_column, platform_column, shop_column, type_column

#: of a longer payload only its size is told: it would be read where the window paints
MOST_READ = 4_000


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """A record and the name of its shop."""

    task: Task
    shop_name: str = ""
    gate: str = ""  #: where it waits now, "" if it does not
    refusal: Message | None = None  #: of a dead one: why it cannot be republished as it is
    wait: Wait | None = None  #: more about that, for rows on screen

    @property
    def key(self) -> str:
        """The task id."""
        return self.task.task_id


def progress(row: TaskRow, now_ms: int) -> Progress:
    """A bar while running, else the reason why not."""
    task = row.task
    if row.gate:
        return wait_words.cell(task, row.gate, row.wait, now_ms)
    if task.status == Status.RUNNING:
        return _running(task, now_ms)
    if task.triage == "republished":
        return Progress(text=_("republished"), role="text3")
    if task.triage == "overtaken":
        return Progress(text=_("overtaken by a later success"), role="text3")
    if task.status == Status.HELD:
        return Progress(text=_("needs your decision"), role="retrying")
    return Progress()


def name(row: TaskRow) -> str:
    """What a task is called where one alone is spoken of: its type and its shop."""
    return f"{type_names.name(row.task.task_type)} · {row.shop_name or row.task.shop_id}"


def _running(task: Task, now_ms: int) -> Progress:
    if heard.unconfirmed(task, now_ms):
        return Progress(text=_("no signal"), role="retrying")
    if task.cancel:
        return Progress(text=_("stopping") if task.cancel == "stopping" else _("stop requested"), role="retrying")
    share = task.progress / 100 if task.progress >= 0 else None
    return Progress(share=share, text="" if share is not None else pgettext("task", "running"))


def _runs(row: TaskRow) -> bool:
    return row.task.status == Status.RUNNING


def _nears(row: TaskRow) -> bool:
    """Whether its progress tells of a time."""
    return _runs(row) or row.gate == gates.NOT_DUE or (row.wait is not None and row.wait.starts is not None)


def _age(row: TaskRow) -> str:
    return text.duration(shown.span(instant.now_ms() - row.task.created_at))


def _duration(row: TaskRow) -> str:
    ran = shown.duration_ms(row.task, instant.now_ms())
    return "" if ran < 0 else text.duration(shown.span(ran), precise=row.task.status != Status.RUNNING)


def _attempts(row: TaskRow) -> Attempts:
    task = row.task
    return Attempts(task.attempt, attempts.most(task), heard.glyph(task, instant.now_ms()))


def _last(row: TaskRow) -> str:
    said = attempts.last(row.task)
    return shown.say(said) if said is not None else ""


def _error(row: TaskRow) -> str:
    return kinds.telling(row.task.error)


def _payload(row: TaskRow) -> str:
    """Its first fields in a line, secrets as dots."""
    packed = row.task.payload
    if len(packed) > MOST_READ:
        return text.size(len(packed.encode()))
    return _in_line(packed)


@lru_cache(maxsize=2_000)
def _in_line(packed: str) -> str:
    try:
        fields = json.loads(masked_json(packed))
    except ValueError:
        return ""
    told = (
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in fields.items()
    )
    return safe.one_line(text.listed(told), 160)


def sentence(row: TaskRow) -> str:
    """The row for a screen reader."""
    task = row.task
    words = {
        "status": heard.word(task, instant.now_ms()),
        "type": type_names.name(task.task_type),
        "shop": row.shop_name or task.shop_id,
        "attempt": task.attempt,
        "limit": attempts.most(task),
    }
    told = _("{status}, {type}, shop {shop}, attempt {attempt} of {limit}").format(**words)
    return text.listed(part for part in (told, _last(row)) if part)


COLUMNS: tuple[Column[TaskRow], ...] = (
    Column(
        key="status",
        title="",
        value=lambda row: heard.glyph(row.task, instant.now_ms()),
        kind="glyph",
        width=26,
        live=True,
        moves=_runs,
        tooltip=lambda row: heard.word(row.task, instant.now_ms()),
        speech=sentence,
    ),
    type_column(),
    shop_column(width=136),
    platform_column(width=54, hide_rank=3),
    lane_column(width=92, hide_rank=6),
    Column(
        key="attempts", title=N_("Attempts"), value=_attempts, kind="attempts", width=76, hide_rank=5, tooltip=_last
    ),
    Column(
        key="created",
        title=N_("Age"),
        value=lambda row: row.task.created_at,
        text=_age,
        width=86,
        live=True,
        sortable=True,
        turned=True,
        tooltip=lambda row: shown.dated(row.task.created_at, instant.now_ms()),
    ),
    Column(
        key="duration",
        title=N_("Duration"),
        value=lambda row: (row.task.started_at, row.task.status),
        text=_duration,
        align="right",
        width=76,
        live=True,
        moves=_runs,
        hide_rank=2,
    ),
    Column(key="worker", title=N_("Worker"), value=lambda row: row.task.worker, names=True, width=100, hide_rank=1),
    Column(
        key="progress",
        title=N_("Progress"),
        value=lambda row: progress(row, instant.now_ms()),
        kind="progress",
        width=140,
        live=True,
        moves=_nears,
        tooltip=lambda row: wait_words.tip(row.wait),
    ),
    Column(key="error", title=N_("Last error"), value=_error, tone="text2", width=110, stretch=True, hide_rank=4),
    Column(
        key="priority",
        title=N_("Priority"),
        value=lambda row: row.task.priority,
        kind="number",
        width=70,
        sortable=True,
        hidden=True,
    ),
    dated("updated", N_("Updated"), lambda row: row.task.updated_at, width=96, sortable=True, hidden=True),
    Column(key="payload", title=N_("Payload"), value=_payload, tone="text2", width=200, hidden=True),
    Column(key="id", title=N_("Task id"), value=lambda row: row.key, mono=True, width=240, hidden=True),
)
