"""Tasks by what stands in their logs."""

from __future__ import annotations

import pytest

from services.domain.errors import UsageError
from services.domain.task.record import Task
from services.domain.task.search import log_match
from services.domain.task.search.filter import parse
from services.domain.task.search.query import Page, Query
from services.ports import LogLine
from tests.contract.rig import Rig


def printed(rig: Rig, *lines: str, **fields: object) -> Task:
    task = rig.running(**fields)
    rig.store.append_log(task.task_id, 1, [LogLine(1, "out", line) for line in lines])
    return task


def ask(rig: Rig, text: str, cursor: str = "", limit: int = 100) -> Page:
    return rig.store.query(Query(terms=parse(text, now_ms=rig.store.now_ms()), limit=limit, cursor=cursor))


def test_words_of_a_line_are_found_in_any_case(rig: Rig) -> None:
    slow = printed(rig, "page.goto /orders", "Timeout WAITING for #buy", shop_id="s1")
    other = printed(rig, "timeout", "waiting", "登录 过期", shop_id="s2")
    rig.create(shop_id="s3")
    page = ask(rig, 'log:"timeout waiting"')
    assert [task.task_id for task in page.tasks] == [slow.task_id]
    assert (page.searched, page.among, page.looked, page.total, page.next) == (("log",), 3, 3, None, None)
    assert [task.task_id for task in ask(rig, "log:登录").tasks] == [other.task_id]
    assert [task.task_id for task in ask(rig, "status:running -log:waiting").tasks] == []
    assert {task.task_id for task in ask(rig, "status:running -log:goto").tasks} == {other.task_id}
    assert [task.task_id for task in ask(rig, "log:timeout log:goto").tasks] == [slow.task_id]
    assert ask(rig, f"id:{other.task_id} log:waiting").looked == 1
    assert [task.task_id for task in ask(rig, f"id:{other.task_id},{slow.task_id} log:goto").tasks] == [slow.task_id]


def test_what_is_masked_is_not_found(rig: Rig) -> None:
    printed(rig, "opened https://ann:hunter2@shop.example/x", shop_id="s1")
    assert len(ask(rig, "log:shop.example").tasks) == 1
    assert ask(rig, "log:hunter2").tasks == ()


def test_a_long_look_is_cut_and_goes_on(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_match, "AT_ONCE", 4)
    monkeypatch.setattr(log_match, "LOOK_MOST", 8)
    made = [printed(rig, f"line {n % 3}", shop_id=f"s{n}") for n in range(20)]
    found: list[str] = []
    looks = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask(rig, 'log:"line 0"', cursor)
        looks.append(page.looked)
        found += [task.task_id for task in page.tasks]
        cursor = page.next
    assert sorted(found) == sorted(task.task_id for task in made[::3])
    assert looks[:2] == [8, 8]
    pages = []
    cursor = ""
    while cursor is not None:
        page = ask(rig, 'log:"line"', cursor, limit=3)
        pages.append(len(page.tasks))
        cursor = page.next
    assert sum(pages) == 20
    assert max(pages) == 3


def test_groups_do_not_look_into_logs(rig: Rig) -> None:
    with pytest.raises(UsageError, match="logs"):
        rig.store.grouped(parse("log:x", now_ms=0), "shop", 10)
