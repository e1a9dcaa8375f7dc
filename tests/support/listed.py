"""A list of checks gone through one after the other; what each has seen is kept, and written as a table into a page of
the documentation in both languages.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

_PAGES = Path(__file__).resolve().parents[2] / "resources" / "docs"
_PLACE = re.compile(r"(?<=<!-- results -->\n).*?(?=<!-- /results -->)", re.DOTALL)
Place = TypeVar("Place")
MOST = 300  #: characters of a cell
#: what checks say, in Chinese: every piece of a result that is found whole in one; numbers are what they are
_IN_CHINESE = (
    (r"a window on an X server, with a picture", "X 服务器上的窗口，附截图"),
    (r"(\d+) tasks succeeded; the name of a shop came back as it went", r"\1 个任务成功；店铺名原样返回"),
    (r"(\d+) tasks, (\d+) processes; records, events and orders agree", r"\1 个任务、\2 个进程；记录、事件与订单一致"),
    (r"two pictures", "两张截图"),
    (r"the contracts, accounts and TLS alone", "仅契约、账号与 TLS"),
    (
        r"a second start found the window, and a new one came after it was killed",
        "第二次启动找到了窗口；窗口被强行结束后能重新打开",
    ),
    (
        r"installed twice, a task run, the window painted, removed; its data stayed",
        "安装两次，运行了任务，绘制了窗口，已卸载；数据保留",
    ),
    (r"setup and removal signed, both signatures hold", "安装程序和卸载程序均已签名，两个签名有效"),
    (r"written, read and taken back", "已写入、读取并撤回"),
    (r"(\d+) passed", r"\1 项通过"),
    (r"(\d+) failed", r"\1 项失败"),
    (r"(\d+) errors?\b", r"\1 项出错"),
    (r"(\d+) skipped", r"\1 项跳过"),
    (r"(\d+) deselected", r"\1 项未选"),
    (
        r"submitted: (\d+) recorded \(with what was republished\), (\d+) answered",
        r"提交：记录 \1（含重新发布的），应答 \2",
    ),
    (r"faults: (\d+): (\d+) node of the broker killed", r"故障 \1 次：\2 次杀死一个节点"),
    (r"lost \(aim 0\)", "丢失（目标 0）"),
    (r"recorded twice \(aim 0\)", "重复记录（目标 0）"),
    (
        r"begun meanwhile: (\d+) commands, (\d+) in vain, p50 ([\d.]+) s, longest ([\d.]+) s",
        r"期间启动命令 \1 条，\2 条未成，中位 \3 秒，最长 \4 秒",
    ),
)


class Failed(Exception):
    """What was expected did not happen."""


@dataclass(frozen=True, slots=True)
class Check(Generic[Place]):
    """One line of the list, in the two languages of the page."""

    name: str
    english: str
    chinese: str
    do: Callable[[Place, Path], str]  #: takes the folder for what it leaves, tells what was seen, or fails


def asked(checks: Sequence[Check[Any]], description: str | None, out: str) -> argparse.Namespace:
    """What the command line says: ``names``, ``out`` and ``write``."""
    words = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("names", nargs="*", choices=[*(check.name for check in checks), []])
    words.add_argument(
        "--out", type=Path, default=Path(out), help="folder of what is made for it, and of what it leaves"
    )
    words.add_argument("--write", action="store_true", help="put the last results into resources/docs")
    return words.parse_args()


def go(checks: Sequence[Check[Place]], place: Place, args: argparse.Namespace, page: str) -> int:
    """Go through the list, or what of it is named; 1 where something failed."""
    results = Results(checks, args.out / "results.json")
    failed = done = 0
    for check in checks:
        if args.names and check.name not in args.names:
            continue
        began = time.monotonic()
        try:
            passed, what = True, check.do(place, args.out)
        except (Failed, KeyError) as exc:
            passed, what = False, str(exc)
        done, failed = done + passed, failed + (not passed)
        results.put(check.name, passed=passed, what=what, day=datetime.now(UTC).date().isoformat())
        print(f"{'passed' if passed else 'FAILED'}  {check.name}  {time.monotonic() - began:.0f} s  {what}", flush=True)
    if args.write:
        results.write(page)
    print(f"{done} passed, {failed} failed")
    return 1 if failed else 0


class Results:
    """The last result of each check, in a file."""

    def __init__(self, checks: Sequence[Check[Any]], file: Path) -> None:
        self._checks, self._file = checks, file
        self._last: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else {}

    def put(self, name: str, *, passed: bool, what: str, day: str) -> None:
        """Keep one."""
        self._last[name] = {"passed": passed, "what": what, "day": day}
        self._file.write_text(json.dumps(self._last, ensure_ascii=False, indent=1), encoding="utf-8")

    def write(self, page: str) -> None:
        """Replace the tables of a page, named without its ending."""
        for ending, chinese in ((".md", False), (".zh-CN.md", True)):
            file = _PAGES / f"{page}{ending}"
            table = self._table(chinese=chinese)
            text = file.read_text("utf-8")
            (place,) = _PLACE.finditer(text)
            file.write_text(text[: place.start()] + table + text[place.end() :], encoding="utf-8")

    def _table(self, *, chinese: bool) -> str:
        heads = ("内容", "通过", "结果", "日期") if chinese else ("what", "passed", "seen", "on")
        yes, no, never = ("是", "否", "未运行") if chinese else ("yes", "no", "not run")
        lines: list[Sequence[str]] = [heads, ("---",) * len(heads)]
        for check in self._checks:
            last = self._last.get(check.name)
            what = _line(last["what"]) if last else ""
            seen = _in_chinese(what) if chinese else what
            told = (yes if last["passed"] else no, seen, last["day"]) if last else (never, "", "")
            lines.append((check.chinese if chinese else check.english, *told))
        return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _in_chinese(what: str) -> str:
    """A result as the page in Chinese tells it; the names of tests and programs stay."""
    for english, chinese in _IN_CHINESE:
        what = re.sub(english, chinese, what)
    return what.replace(", ", "，").replace("; ", "；").replace(": ", "：")


def _line(text: str) -> str:
    """As much as fits into a cell, in whole parts or else in whole words."""
    line = " ".join(text.split())
    if len(line) > MOST:
        whole = line[: MOST + 1]
        line = next((whole.rpartition(mark)[0] for mark in ("; ", " ") if mark in whole), line[:MOST])
    return line.replace("|", "\\|")
