"""Heads, facts and states of what the command line prints: all of them in Chinese, as the window says them, aligned."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from services import cli, i18n
from services.broker.rabbitmq import topology
from services.cli import lexicon, tables
from services.domain.alerts.rule import Rule
from services.domain.fleet.shop import Shop
from services.domain.insight import machines
from services.domain.insight import shop as insight_shop
from services.domain.insight.worker import STATES
from services.domain.plans.schedule import Schedule, Tally
from services.domain.promises.judge import CHECKS
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.text.visible import columns
from services.domain.upkeep.health import LEVELS
from services.monitor.promises import ORDER
from views.support import shown

COMMANDS = Path(cli.__file__).parent
#: programs, forms and codes that have no other name
SAME = frozenset({"chromium", "cron", "fleetdeck", "key", "playwright", "python", "uid"})


@pytest.fixture
def chinese() -> Iterator[None]:
    with i18n.speaking("zh_CN"):
        yield


def declared() -> set[str]:
    """Every word that stands as a head in a call of ``table``, where it is written or where its name is given it."""
    found: set[str] = set()
    for path in sorted(COMMANDS.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        given = {
            target.id: each.value
            for each in ast.walk(tree)
            if isinstance(each, ast.Assign)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "table":
                head = call.args[0]
                # of a name that several tables of a module give, each is looked at
                several = [
                    each.value
                    for each in ast.walk(tree)
                    if isinstance(each, ast.Assign)
                    and isinstance(head, ast.Name)
                    and any(isinstance(one, ast.Name) and one.id == head.id for one in each.targets)
                ]
                if isinstance(head, ast.Call) and isinstance(head.args[0], ast.Name):  # tuple(COLUMNS)
                    columns_ = given[head.args[0].id]
                    assert isinstance(columns_, ast.Dict)
                    several = [ast.Tuple(elts=[key for key in columns_.keys if key is not None])]
                for tuple_ in several or [head]:
                    assert isinstance(tuple_, ast.Tuple), (path.name, call.lineno)
                    words = [one.value for one in tuple_.elts if isinstance(one, ast.Constant)]
                    found |= {word for word in words if isinstance(word, str) and word}
    return found


@pytest.mark.usefixtures("chinese")
def test_every_head_of_every_table_has_a_chinese_word() -> None:
    heads = declared() | set(machines.PARTS) | set(CHECKS)
    assert len(heads) > 100
    assert {name for name in heads if lexicon.head(name) == name} <= SAME
    assert not [name for name in (*lexicon.HEADS, *lexicon.FACTS) if _english(lexicon.head(name), name)]


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("record", [Task, Rule, Schedule, Tally, Shop])
def test_every_fact_of_what_is_shown_alone_has_a_chinese_word(record: type[Task]) -> None:
    told = set(record.__struct_fields__) - {"steps"}
    assert {name for name in told if lexicon.head(name) == name} <= SAME


@pytest.mark.usefixtures("chinese")
def test_a_state_is_called_as_in_the_window() -> None:
    assert all(lexicon.called("status", status) == shown.status_word(status) for status in Status)
    for state, word in insight_shop.WORDS.items():
        assert lexicon.called("state", state) == lexicon.called("state", word) == i18n.pgettext("shop", word)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("column", "codes"),
    [("triage", Triage), ("state", set(STATES) - {"fine"}), ("state", ORDER), ("level", LEVELS)],
)
def test_every_code_of_a_state_has_a_chinese_word(column: str, codes: tuple[str, ...]) -> None:
    assert not [code for code in codes if _english(lexicon.called(column, code), "")]


def test_english_output_keeps_its_words() -> None:
    assert lexicon.head("because of") == "because of"
    assert lexicon.called("status", "held") == "held"
    assert tables.table(("id", "status"), [("a", "held")]) == ["id  status", "a   held"]
    assert tables.fact("waits for", "b", 14) == "waits for      b"


@pytest.mark.usefixtures("chinese")
def test_every_kind_of_queue_has_a_chinese_word() -> None:
    for queue in ("rpa_tasks_high", "single_shop_pdd-1", "rpa_delay_30s", "rpa_dead_queue", "rpa_notice_queue"):
        kind = topology.kind_of(queue)
        assert lexicon.called("kind", kind) not in ("", kind), queue
    assert lexicon.called("kind", "other") != "other"


@pytest.mark.usefixtures("chinese")
def test_columns_stand_below_each_other_by_the_width_of_their_characters() -> None:
    lines = tables.table(("id", "status", "outcome"), [("a", "held", "failed: x"), ("任务二", "retrying", "done")])
    assert lines == ["编号    状态    结果", "a       待确认  失败: x", "任务二  重试中  已完成"]
    facts = [tables.fact(name, "x", 14) for name in ("waits for", "on_dependency_failure", "id")]
    assert {columns(line) for line in facts} == {16}
    assert tables.fact("task_type", "x") == "任务类型: x"


def test_every_sentence_of_the_command_line_is_in_the_catalogue() -> None:
    """Also one inside an f-string, where the extractor does not look."""
    known = i18n.load("zh_CN")
    said = {
        call.args[0].value
        for path in COMMANDS.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
        if (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", ""))
        in ("phrase", "N_")
        if isinstance(call.args[0].value, str)
    }
    assert len(said) > 400
    assert {text for text in said if known.gettext(text) == text} <= {"REST"}


def _english(word: str, name: str) -> bool:
    """Whether it is no Chinese word, nor a name in both."""
    return name not in SAME and not re.search(r"[\u4e00-\u9fff]", word) and not word.isupper() and word != "SHA-256"
