"""In which language the command line speaks: a person's to people, English to programs."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from services import i18n, log
from services.cli import program, record_files, spoken
from services.domain.task.envelope import bad_record

Call = Callable[..., tuple[int, str, str]]
#: refusals with a code and without, of the command, of its words, of one of many
REFUSED = (
    ("task", "show", "nobody"),
    ("task", "list", "--limit", "many"),
    ("queue", "pause", "all"),
    ("task", "create", "--shop", "s1", "--type", "sync_order", "--platform", "拼夕夕"),
    ("role", "set", "nobody", "viewer"),
)
#: of nothing yet, and of what is there from the beginning
LOOKED = (
    ("alert", "rule", "list"),
    ("alert", "rule", "show", "oldest_wait"),
    ("task", "list"),
    ("queue", "list"),
    ("schedule", "list"),
    ("shop", "breaker"),
    ("worker", "nodes"),
    ("handover", "plan"),
)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """A command on an empty home in the language of a system: its code, what it printed, what it told beside."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    monkeypatch.setattr(log, "set_up", lambda *, verbose: None)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str, system: str = "zh_CN.UTF-8") -> tuple[int, str, str]:
        monkeypatch.setenv("LANG", system)
        capsys.readouterr()
        code = program.run(words, lambda request: 0)
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("text", "chinese", "english"),
    [
        ("", "为空", "it is empty"),
        ("\ufeff \n", "为空", "it is empty"),
        (
            '{"name": "a",',
            "不是 JSON：第 1 行第 14 个字符处缺少双引号中的名称",
            "a name in double quotes is missing in line 1",
        ),
        ('{"name": "a"\n"b": 1}', "第 2 行第 1 个字符处缺少 ,", "a , is missing in line 2, at character 1"),
        ('{"name" "a"}', "缺少 :", "a : is missing"),
        ('{"name": "a", "\\x": 1}', "有 JSON 不认识的反斜杠", "a backslash that JSON does not know"),
        ('{"name": "a}', "引号没有闭合", "is never closed"),
        ("{} {}", "结尾之后还有内容", "there is more behind its end"),
    ],
)
def test_what_is_wrong_with_json_is_told_to_people(
    text: str, chinese: str, english: str, call: Call, tmp_path: Path
) -> None:
    file = tmp_path / "types.json"
    file.write_text(text, "utf-8")
    for system, said in (("zh_CN.UTF-8", chinese), ("en_US.UTF-8", english)):
        code, out, told = call("type", "import", str(file), system=system)
        assert (code, out) == (2, "")
        assert said in told


@pytest.mark.parametrize(
    ("given", "said"), [(None, "standard input: it is empty"), (b"\xff\xfe{", "standard input is not UTF-8 text")]
)
def test_a_standard_input_that_cannot_be_read_is_told(
    given: bytes | None, said: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(given), "utf-8") if given is not None else None
    monkeypatch.setattr(sys, "stdin", stream)
    assert call("type", "import", "-", system="en_US.UTF-8") == (2, "", f"fleetdeck: {said}\n")


def test_a_file_that_is_not_there_is_told_in_the_language_of_the_person(call: Call, tmp_path: Path) -> None:
    for words in (("type", "import"), ("import",), ("task", "create", "--file")):
        code, _, told = call(*words, str(tmp_path / "none.json"))
        assert code == 2
        assert not re.search("[A-Z][a-z]+ [a-z]+ [a-z]+", told), told


@pytest.mark.parametrize(
    ("around", "configured", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "", "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "", "en"),
        ({"LANG": "C"}, "", "en"),
        ({"LANG": "en_US.UTF-8"}, "", "en"),
        ({"LANG": "C"}, 'language = "zh_CN"', "zh_CN"),
        ({"LANG": "zh_CN.UTF-8"}, 'language = "en"', "en"),
        ({"LANG": "zh_CN.UTF-8"}, "language = 3", "zh_CN"),
        ({"LANG": "zh_CN.UTF-8"}, "no table", "zh_CN"),
        ({"LANG": "C", "FLEETDECK_LANGUAGE": "zh_CN"}, 'language = "en"', "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "FLEETDECK_LANGUAGE": "en"}, 'language = "zh_CN"', "en"),
    ],
)
def test_the_variable_goes_before_the_file_and_that_before_the_system(
    around: dict[str, str], configured: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "FLEETDECK_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in around.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "config.toml").write_text(configured, encoding="utf-8")
    assert (spoken.language(json=False), spoken.language(json=True)) == (language, "en")


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_a_program_reads_english_whatever_the_system_speaks(call: Call, words: tuple[str, ...]) -> None:
    assert call(*words, "--json") == call(*words, "--json", system="C.UTF-8")
    assert call(*words) != call(*words, system="C.UTF-8")


@pytest.mark.parametrize("words", LOOKED, ids=" ".join)
def test_what_a_program_reads_of_a_table_is_english_too(call: Call, words: tuple[str, ...]) -> None:
    assert call(*words, "--json") == call(*words, "--json", system="C.UTF-8")
    chinese, english = call(*words)[1], call(*words, system="C.UTF-8")[1]
    assert chinese != english
    assert not re.search(r"[\u4e00-\u9fff]", english)


def test_refusals_findings_and_what_nobody_can_be_asked_are_in_the_language_of_the_person(call: Call) -> None:
    assert call("stats")[2].startswith("fleetdeck: 警告: 此处没有数据库，已新建空的数据库：")
    assert call("task", "show", "nobody")[2] == "fleetdeck: 没有任务 'nobody'；见 `task list`\n"
    assert call("task", "show", "nobody", system="C")[2] == "fleetdeck: there is no task 'nobody'; see `task list`\n"
    assert "没有在线的执行节点；目前也无任务等待" in call("doctor")[1]
    assert "No worker is alive; nothing waits for one" in call("doctor", system="C")[1]
    assert call("queue", "pause", "all")[2] == "fleetdeck: 暂停 all（0 个任务在等待）：加 --yes 执行\n"
    told = call("task", "create", "--shop", "s1", "--type", "sync_order", "--platform", "拼夕夕")[1]
    assert "pdd (Pinduoduo, 拼多多), " in told, "codes and names of the platforms that there are"
    assert json.loads(call("task", "show", "nobody", "--json")[1])["error"].startswith("there is no task")


@pytest.mark.parametrize(
    ("words", "chinese", "english"),
    [
        (("task", "list", "--filter", "("), "请加引号", "quote it"),
        (
            ("quiet", "set", "x", "all", "--once", "now"),
            "参数 --once：需要 2 个值",
            "argument --once: expected 2 arguments",
        ),
        (("view", "show", "x"), "现有：无", "there are none"),
        (("quiet", "show", "x"), "现有：无", "there are none"),
        (
            ("worker", "--handlers", "nosuch", "--drain"),
            "无法导入处理函数模块 nosuch",
            "the handler module nosuch cannot be imported",
        ),
        (("worker", "slots", "w", "9999"), "工位数须为 1 到 512 的整数", "slots must be a whole number, 1 to 512"),
        (
            ("schedule", "add", "n", "--type", "t", "--all", "--cron", "61 * * * *"),
            "中的分钟无法识别",
            "the minute of '61 * * * *' is not readable",
        ),
        (
            ("schedule", "add", "n", "--type", "t", "--all", "--every", "0s"),
            "--every 须为整数秒的时长",
            "--every takes whole seconds",
        ),
        (("handover", "send", "--to", "x"), "没有通知渠道 x；现有：无", "no channel x; there are none yet"),
        (("cause", "know", "xyz", "--owner", "a"), "没有原因 'xyz'", "no cause 'xyz' of open letters; see"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_a_refusal_is_told_whole_in_either_language(
    call: Call, words: tuple[str, ...], chinese: str, english: str
) -> None:
    told = call(*words)[2]
    assert chinese in told
    assert "none" not in told
    assert english in call(*words, system="C")[2]


def test_a_rule_of_alerts_is_shown_in_words(call: Call) -> None:
    told = call("alert", "rule", "show", "dead_letters", system="C")[1].splitlines()
    assert {"limits: letters=5", "enabled: yes", "changed: no"} <= set(told)
    refused = call("alert", "history", "--limit", "-1", system="C")[2]
    assert "argument --limit: must be a whole number from 1 to 10000, not '-1'" in refused


def test_a_file_that_is_no_export_is_refused_without_hundreds_of_lines(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "picture.jsonl"
    file.write_bytes(b"\xff\xfe\n" * 500)
    told = call("import", str(file), system="C")[1].splitlines()
    assert told[0] == "line 1: not UTF-8 text"
    assert told[20] == "and 480 more such lines; --json names them all"
    assert len(told) == 22
    assert len(json.loads(call("import", str(file), "--json")[1])["errors"]) == 500


def test_why_a_letter_is_one_is_told_in_the_language_of_the_person(call: Call, tmp_path: Path) -> None:
    letter = bad_record(b"[]", kind="bad_message", error="the message must be a JSON object, not a list", now_ms=1)
    flow = msgspec.structs.replace(letter, task_id="bad_flow", error="the page is empty")
    file = tmp_path / "letters.jsonl"
    file.write_text("\n".join(record_files.write(one, None).strip() for one in (letter, flow)) + "\n", "utf-8")
    assert call("import", str(file), "--yes")[0] == 0
    for words in (
        ("task", "list"),
        ("task", "show", letter.task_id),
        ("dead", "list"),
        ("dead", "show", letter.task_id),
    ):
        _code, chinese, _beside = call(*words)
        assert ("消息必须是 JSON 对象，而不是列表" in chinese, "the message must" in chinese) == (True, False), words
        for system, more in (("en_US.UTF-8", ()), ("zh_CN.UTF-8", ("--json",))):
            assert "the message must be a JSON object, not a list" in call(*words, *more, system=system)[1], words
    assert "the page is empty" in call("dead", "list")[1], "what a flow said is its own"


def test_a_question_is_asked_in_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    call("stats")
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert call("queue", "pause", "all") == (1, "", "暂停 all（0 个任务在等待）？[y/N] 未做任何更改\n")


def test_a_window_still_chooses_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    monkeypatch.setenv("FLEETDECK_LANGUAGE", "zh_CN")
    spoke: list[str] = []

    def opened(request: program.ConsoleRequest) -> int:
        spoke.append(i18n.language())
        return 0

    assert program.run([], opened) == 0
    assert spoke == [i18n.language()]


def test_what_is_wrong_with_a_file_of_shops_is_told_in_the_language_of_the_person(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "shops.csv"
    file.write_text("platform,shop_id,colour\npdd,店1,red\n", encoding="utf-8")
    _code, lines, warnings = call("shop", "import", str(file))
    assert "店铺编号" in lines
    assert "不采用 'colour' 这一列" in warnings
    assert "is passed over" in call("shop", "import", str(file), system="C")[2]
