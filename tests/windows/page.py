"""Remembers what was seen, check by check, and writes it into the page of the documentation in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.windows.checks import CHECKS

_PAGES = Path(__file__).resolve().parents[2] / "resources" / "docs"
_PLACE = re.compile(r"(?<=<!-- results -->\n).*?(?=<!-- /results -->)", re.DOTALL)


class Results:
    """The last result of each check, in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else {}

    def put(self, name: str, *, passed: bool, what: str, day: str) -> None:
        """Keep one."""
        self._last[name] = {"passed": passed, "what": what, "day": day}
        self._file.write_text(json.dumps(self._last, ensure_ascii=False, indent=1), encoding="utf-8")

    def write(self) -> None:
        """Replace the tables."""
        for name, chinese in (("windows.md", False), ("windows.zh-CN.md", True)):
            page = _PAGES / name
            table = self._table(chinese=chinese)
            text = page.read_text("utf-8")
            (place,) = _PLACE.finditer(text)
            page.write_text(text[: place.start()] + table + text[place.end() :], encoding="utf-8")

    def _table(self, *, chinese: bool) -> str:
        heads = ("内容", "通过", "结果", "日期") if chinese else ("what", "passed", "seen", "on")
        yes, no, never = ("是", "否", "未运行") if chinese else ("yes", "no", "not run")
        lines: list[Sequence[str]] = [heads, ("---",) * len(heads)]
        for check in CHECKS:
            last = self._last.get(check.name)
            told = (yes if last["passed"] else no, _line(last["what"]), last["day"]) if last else (never, "", "")
            lines.append((check.chinese if chinese else check.english, *told))
        return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _line(text: str) -> str:
    return " ".join(text.split())[:300].replace("|", "\\|")
