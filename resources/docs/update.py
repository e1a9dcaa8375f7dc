"""Writes the tables of the pages on settings from the program: names, defaults, and what each says in both languages.

    python resources/docs/update.py             write the tables anew; headings and prose stay as they are
    python resources/docs/update.py --check     change nothing, exit 1 when a page is not as the program says
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from services.i18n import _, speaking  # noqa: E402
from services.domain.task.mapping import QueueMapping  # noqa: E402
from services.settings.browser import BrowserShopSettings  # noqa: E402
from services.settings.http import HttpRequestSettings  # noqa: E402
from services.settings.values import ProfileSettings, Settings  # noqa: E402
from services.settings.words import WORDS  # noqa: E402

#: settings whose names a person chooses
NAMED = {
    "profiles.NAME": ProfileSettings,
    'executors.browser.shops."PLATFORM:SHOP"': BrowserShopSettings,
    "executors.http.requests.TYPE": HttpRequestSettings,
    "foreign_queues.NAME": QueueMapping,
}
#: neither is written into the file: one is its place, the others stand in tables of their own
ELSEWHERE = {"home", "profiles", "executors.browser.shops", "executors.http.requests", "foreign_queues"}
#: language -> its page, the heads of its tables, and what stands for no value, an empty text and none at all
PAGES = {
    "en": ("settings.md", "| setting | default | what it says |", ("must be set", "empty", "none")),
    "zh_CN": ("settings.zh-CN.md", "| 设置 | 默认值 | 含义 |", ("必填", "空", "无")),
}
_TABLE = re.compile(r"^## (?:`\[(.+)\]`|.*)$")


def everything() -> dict[str, Any]:
    """Each setting by its whole name, with its default; ``msgspec.UNSET`` where one must be given."""
    found = dict(_of(Settings, ""))
    for name, kind in NAMED.items():
        found |= _of(kind, f"{name}.")
    return {name: default for name, default in found.items() if name not in ELSEWHERE}


def page(language: str) -> str:
    """The page of a language as it should be.

    Raises:
        LookupError: a setting has no table on the page, or no words.
    """
    name, head, words = PAGES[language]
    left, lines, mine, inside = everything(), [], [], False
    with speaking(language):
        for line in (HERE / name).read_text(encoding="utf-8").splitlines():
            if heading := _TABLE.match(line):
                mine = [one for one in left if one.rpartition(".")[0] == (heading[1] or "")]
            row = line.startswith("| ")
            if row and not inside:
                lines += [head, "| --- | --- | --- |", *(_row(one, left.pop(one), words) for one in mine)]
            elif not row:
                lines.append(line)
            inside = row
    if left:
        raise LookupError(f"{name} has no table for {', '.join(sorted(left))}")
    return "\n".join(lines) + "\n"


def _row(name: str, default: Any, words: tuple[str, str, str]) -> str:
    if name not in WORDS:
        raise LookupError(f"{name} has no words in services/settings/words.py")
    cells = (f"`{name.rpartition('.')[2]}`", _written(default, words), _(WORDS[name]))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _of(kind: type[msgspec.Struct], above: str) -> Iterator[tuple[str, Any]]:
    for field in msgspec.structs.fields(kind):
        made = field.default_factory is not msgspec.NODEFAULT
        if field.required:
            yield above + field.name, msgspec.UNSET
            continue
        default = field.default_factory() if made else field.default
        if isinstance(default, msgspec.Struct):
            yield from _of(type(default), f"{above}{field.name}.")
        else:
            yield above + field.name, default


def _written(default: Any, words: tuple[str, str, str]) -> str:
    if default is msgspec.UNSET:
        return words[0]
    if default == "":
        return words[1]
    if default is None or default in ((), {}):
        return words[2]
    if isinstance(default, float) and default.is_integer():
        default = int(default)
    return f"`{msgspec.json.encode(default).decode()}`".replace('","', '", "')


def main() -> int:
    """Write, or look."""
    check, stale = "--check" in sys.argv[1:], []
    for language, (name, _head, _words) in PAGES.items():
        wanted, path = page(language), HERE / name
        if wanted == path.read_text(encoding="utf-8"):
            continue
        stale.append(name)
        if not check:
            path.write_text(wanted, encoding="utf-8")
    for name in stale:
        sys.stdout.write(f"{name}: {'is not as the program says' if check else 'written'}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
