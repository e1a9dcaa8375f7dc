"""The pages for operators as the window shows them: their text and pictures, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import msgspec

from services.domain.errors import NotFound
from services.domain.text.said import said

ROOT = Path(__file__).resolve().parents[2]
#: folders whose pages may be read; "" is the top
_FOLDERS = ("", "resources/docs", "resources/deploy")
_FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
_HAN = r"\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”‘’"
_SIGN = r"\u4e00-\u9fff"
#: the end of a line in the midst of Chinese sentences; what is there in bold, or a link, may end or begin at it. Beside
#: the bold of a mark (``**“so”**``) the blank has to stay: Markdown would show the asterisks
_BROKEN = re.compile(
    rf"(?:(?<=[{_HAN}])|(?<=[{_SIGN}]\*)|(?<=[{_SIGN}]\*\*))\n[ ]*(?=[{_HAN}]|\*{{1,2}}[{_SIGN}]|\[[{_HAN}])"
)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+\.png)\)")


class GuidePage(msgspec.Struct, frozen=True, kw_only=True):
    """One page. ``pictures``: their bytes, by how the page names them."""

    name: str  #: below the top: resources/docs/guide.md
    text: str  #: Markdown
    pictures: Mapping[str, bytes]


def first(language: str) -> str:
    """The page to begin with."""
    return _in(language, "guide")


def of_pages(language: str) -> str:
    """The page that has a heading for each page of the window, which is that page's title."""
    return _in(language, "pages")


def _in(language: str, name: str) -> str:
    return f"resources/docs/{name}{'.zh-CN' if language.startswith('zh') else ''}.md"


def part(link: str) -> str:
    """The heading that a link means, as it stands behind its ``#``; "" for none."""
    return unquote(link.partition("#")[2])


def mark(heading: str) -> str:
    """How a link names a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def target(page: str, link: str) -> str:
    """The page that a link of a page leads to, "" for what is no page of ours."""
    path = link.partition("#")[0]
    if not path or ":" in path:
        return ""
    place = ((ROOT / page).parent / path).resolve()
    return place.relative_to(ROOT).as_posix() if _is_page(place) else ""


def read(name: str) -> GuidePage:
    """A page with its pictures; blocks.

    Raises:
        NotFound: there is no such page.
        OSError: it cannot be read.
    """
    place = (ROOT / name).resolve()
    if not _is_page(place):
        raise NotFound(said("guide.none", name=f"{name!r:.80}"), field="page")
    text = place.read_text(encoding="utf-8")
    found = {one: (place.parent / one).resolve() for one in _PICTURE.findall(text)}
    inside = {one: path for one, path in found.items() if path.is_relative_to(ROOT / "resources") and path.is_file()}
    return GuidePage(name=name, text=flowing(text), pictures={one: path.read_bytes() for one, path in inside.items()})


def flowing(text: str) -> str:
    """Markdown in which no Chinese sentence goes over the end of a line: a blank would be seen there."""
    parts = _FENCED.split(text)
    return "".join(one if place % 2 else _BROKEN.sub("", one) for place, one in enumerate(parts))


def _is_page(place: Path) -> bool:
    return place.suffix == ".md" and place.parent in [ROOT / one for one in _FOLDERS] and place.is_file()
