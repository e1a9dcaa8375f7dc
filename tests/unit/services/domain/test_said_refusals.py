"""Refusals that a window shows are said in its language; in a log and by a command they stay English."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from services import home_folder, i18n
from services.broker.rabbitmq import url
from services.domain.errors import UsageError
from services.domain.insight import known_issue
from services.domain.insight.cause_rule import CauseRule
from services.domain.task import lane
from services.domain.task.search import match
from services.domain.task.search.query import Term
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.engine import producer
from services.engine.spec import TaskSpec
from services.messages import told
from services.monitor.files import types
from services.settings import reading


def no_text(folder: Path) -> None:
    (folder / "t.json").write_bytes(b"\xff\xfe\xff")
    types.read(folder / "t.json")


def file(folder: Path) -> Path:
    (folder / "file").write_text("")
    return folder / "file"


def config(folder: Path, text: str) -> Path:
    (folder / "config.toml").write_text(text)
    return folder / "config.toml"


def setting(folder: Path, text: str) -> None:
    reading.settled(tomllib.loads(text), folder)


CASES: list[tuple[Callable[[Path], object], str, str]] = [
    (
        lambda _: task_type.parse('{"name": "a", "timeout_s": 0}'),
        "timeout_s must be 1 second to 1 day, not 0",
        "timeout_s 必须是 1 秒到 1 天，而不是 0",
    ),
    (
        lambda folder: setting(folder, 'theme = "pink"'),
        "config.toml or FLEETDECK_… variables: theme must be system, dark or light",
        "config.toml 或 FLEETDECK_… 变量：theme 必须是 system、dark 或 light",
    ),
    (
        lambda folder: setting(folder, "retention.open_days = -1"),
        "config.toml or FLEETDECK_… variables: retention.open_days must be 0 (for ever) or 0.1 to 3650",
        "config.toml 或 FLEETDECK_… 变量：retention.open_days 必须是 0（永久）或 0.1 到 3650",
    ),
    (
        lambda folder: setting(folder, "executors.browser.step_seconds = 0"),
        "config.toml or FLEETDECK_… variables: executors.browser.step_seconds must be 0.1 to 600",
        "config.toml 或 FLEETDECK_… 变量：executors.browser.step_seconds 必须是 0.1 到 600",
    ),
    (
        lambda folder: setting(folder, 'worker.slots = 2\nworker.lane_slots = {high = "3"}'),
        "config.toml or FLEETDECK_… variables: worker.lane_slots must be less: 3 slots are kept for lanes, and there"
        " are 2",
        "config.toml 或 FLEETDECK_… 变量：worker.lane_slots 必须是更小的值：为通道保留了 3 个工位，而总共只有 2 个",
    ),
    (
        lambda folder: setting(folder, 'foreign_queues.q = {task_type = "a b", platform = "pdd", shop_id = "{s}"}'),
        "config.toml or FLEETDECK_… variables: foreign_queues.q.task_type must be a name, or a field of the body such"
        " as {shop}",
        "config.toml 或 FLEETDECK_… 变量：foreign_queues.q.task_type 必须是名称，或消息体中的字段，例如 {shop}",
    ),
    (
        lambda _: url.parse("http://host"),
        "the broker address must begin with amqp:// or amqps://",
        "消息代理地址必须以 amqp:// 或 amqps:// 开头",
    ),
    (
        lambda _: task_type.parse('{"name": "a", "concurrency": 0}'),
        "concurrency must be 1 to 10,000, or null for no limit, not 0",
        "concurrency 必须是 1 到 10,000，或为 null（不限），而不是 0",
    ),
    (
        lambda _: task_type.parse('{"name": "a", "timeout_s": "x"}'),
        "timeout_s must be a whole number such as 3, not a text",
        "timeout_s 必须是整数，例如 3，而不是文本",
    ),
    (
        lambda _: task_type.parse('{"name": "a", "tiemout_s": 1}'),
        "a task type has no field tiemout_s; did you mean timeout_s?",
        "任务类型没有字段 tiemout_s；是不是想写 timeout_s？",
    ),
    (
        lambda _: task_type.parse('{"name": "a", "colour": 1}'),
        f"a task type has no field colour; it has {', '.join(TaskType.__struct_fields__)}",
        f"任务类型没有字段 colour；现有字段：{', '.join(TaskType.__struct_fields__)}",
    ),
    (lambda _: task_type.parse("{}"), "name is missing; a task type needs it", "缺少 name；任务类型必须有它"),
    (
        lambda _: task_type.parse('{"name": "a", "concurrency": "x"}'),
        "concurrency must be a whole number such as 3 or null, not a text",
        "concurrency 必须是整数，例如 3 或 null，而不是文本",
    ),
    (
        lambda _: task_type.parse("[]"),
        "the document must be names with values, not a list",
        "文档必须是名称和值的集合，而不是列表",
    ),
    (
        lambda folder: setting(folder, 'worker.slots = "many"'),
        "config.toml or FLEETDECK_… variables: worker.slots must be a whole number such as 3, not a text",
        "config.toml 或 FLEETDECK_… 变量：worker.slots 必须是整数，例如 3，而不是文本",
    ),
    (
        lambda folder: setting(folder, 'executors.rpa.command = "run"'),
        'config.toml or FLEETDECK_… variables: executors.rpa.command must be a list such as ["a", "b"], not a text',
        'config.toml 或 FLEETDECK_… 变量：executors.rpa.command 必须是列表，例如 ["a", "b"]，而不是文本',
    ),
    (
        lambda _: known_issue.check(CauseRule(link="ftp://x")),
        "a link begins with http:// or https:// and has at most 500 characters, not 'ftp://x'",
        "链接以 http:// 或 https:// 开头，最多 500 个字符，而不是 'ftp://x'",
    ),
    (
        lambda _: match.condition(Term(field="colour", op="=", values=("red",))),
        "'colour' is not a field of tasks",
        "'colour' 不是任务的字段",
    ),
    (
        lambda _: producer.check(
            TaskSpec(platform="p", shop_id="s", task_type="a", depends_on=tuple(map(str, range(1_000))))
        ),
        "depends_on takes up to 100 tasks, not 1000; let one task collect them",
        "depends_on 最多可有 100 个任务，而不是 1000 个；请用一个任务汇总它们",
    ),
    (
        lambda _: lane.parse_priority("soon"),
        "priority must be high, normal, low or a whole number 1-10, not 'soon'",
        "优先级必须是 high、normal、low 或 1-10 的整数，而不是 'soon'",
    ),
    (
        lambda folder: home_folder.check(folder / "file" / "home") if file(folder) else None,
        "{folder}/file is not a folder; let FLEETDECK_HOME name a folder that can be written",
        "{folder}/file 不是文件夹；请让 FLEETDECK_HOME 指向一个可写的文件夹",
    ),
    (
        lambda folder: reading.load(home=folder) if config(folder, "[worker]\nslots = 900\n") else None,
        "config.toml or FLEETDECK_… variables: worker.slots must be 1 to 512",
        "config.toml 或 FLEETDECK_… 变量：worker.slots 必须是 1 到 512",
    ),
    (
        lambda folder: reading.load(home=folder) if config(folder, "[worker]\nslost = 9\n") else None,
        "config.toml or FLEETDECK_… variables: there is no setting worker.slost; did you mean slots?",
        "config.toml 或 FLEETDECK_… 变量：没有 worker.slost 这项设置；是不是 slots？",
    ),
    (
        lambda folder: reading.load(home=folder) if config(folder, "slots = \n") else None,
        "{folder}/config.toml is not valid TOML: Invalid value (at line 1, column 9)",
        "{folder}/config.toml 不是有效的 TOML：Invalid value (at line 1, column 9)",
    ),
    (no_text, "t.json is not UTF-8 text", "t.json 不是 UTF-8 文本"),
]


@pytest.mark.parametrize(("act", "english", "chinese"), CASES)
def test_a_refusal_is_english_and_said_in_chinese(
    tmp_path: Path, act: Callable[[Path], object], english: str, chinese: str
) -> None:
    with pytest.raises((UsageError, ValueError)) as refused:
        act(tmp_path)
    assert str(refused.value) == english.replace("{folder}", str(tmp_path))
    with i18n.speaking("zh_CN"):
        assert told(refused.value) == chinese.replace("{folder}", str(tmp_path))
