"""The pages that people read: their links lead somewhere, what they name exists, and nobody has to read too much."""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from types import ModuleType

import pytest

from services.settings.words import WORDS
from services.watch.alerts.rules import DEFAULTS
from tests.faults.promise import PROMISE
from tests.support.grammar import names, options
from tests.support.pages import OTHERS, PAGES, READMES, ROOT, text_of

ALL = (*PAGES, *OTHERS)
#: pages about the source: what they name in it must be there
HOUSE = (
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *(f"resources/docs/{name}.md" for name in ("engine", "gates", "workers", "decisions")),
)
PARTS = ("console", "views", "services", "resources", "tests")
_BASES = ("", "services/", "services/domain/", "views/")
_PATH = re.compile(r"[A-Za-z][\w.*-]*(/[\w.*-]+)+/?")
_FILE = re.compile(r"[\w.-]+\.(py|lua|md|json|toml)")
_NAME = re.compile(r"[A-Za-z_][\w]*(\.[A-Za-z_]\w*)*")
#: files that lie in somebody's home folder
_OF_PERSONS = {"config.toml"}
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
#: options of pip and of our benchmarks
_OTHER_PROGRAMS = {"--scale", "--events", "--soak", "--rows"}


def anchor(heading: str) -> str:
    """What a link calls a heading, as GitHub and most viewers do it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: str) -> set[str]:
    """Everything in a page that a link may lead to."""
    return {anchor(found) for found in _HEADING.findall(_FENCED.sub("", text_of(page)))}


def links(page: str) -> list[str]:
    """Where the links of a page lead, but for addresses in the network."""
    prose = _CODE.sub("", _FENCED.sub("", text_of(page)))
    return [link for link in _LINK.findall(prose) if "://" not in link]


def broken(page: str) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for link in links(page):
        path, _, name = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif name and name not in anchors(target.resolve().relative_to(ROOT).as_posix()):
            yield f"{link}: the page has no such heading"


@pytest.mark.parametrize("page", ALL)
def test_every_link_leads_somewhere(page: str) -> None:
    assert list(broken(page)) == []


def test_every_page_can_be_reached_from_the_first_one() -> None:
    reached, waiting = set(), ["README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or not page.endswith(".md"):
            continue
        reached.add(page)
        around = PurePosixPath(page).parent
        for link in links(page):
            path = link.partition("#")[0]
            if path:
                waiting.append((ROOT / around / path).resolve().relative_to(ROOT).as_posix())
    assert set(ALL) - reached == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_command_and_option_in_the_text_exists(page: str) -> None:
    known, known_options = names(), options() | _OTHER_PROGRAMS
    nouns = {name for name in known if " " not in name}
    strange = []
    for code in _CODE.findall(_FENCED.sub("", text_of(page))):
        words = code.strip("`").split()
        if words[0] in nouns and words[1:2] and re.fullmatch(r"[a-z-]+", words[1]) and words[1][0] != "-":
            verbs = {name for name in known if name.startswith(f"{words[0]} ")}
            strange += [code] if verbs and " ".join(words[:2]) not in known else []
        strange += [code for word in words if re.fullmatch(r"--[a-z-]+", word) and word not in known_options]
    assert strange == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in HOUSE])
def test_every_setting_in_the_text_exists(page: str) -> None:
    known = {*settings_writer().everything(), "executors.browser.shops", "executors.http.requests"}
    tables = {name.rpartition(".")[0] for name in known} - {""}
    named = {code.strip("`").partition(" ")[0] for code in _CODE.findall(_FENCED.sub("", text_of(page)))}
    settings = {name for name in named if _NAME.fullmatch(name) and name.rpartition(".")[0] in tables}
    assert settings - known == set()


@pytest.mark.parametrize("page", HOUSE)
def test_every_name_of_the_tree_exists(page: str) -> None:
    strange = []
    for code in sorted(set(_CODE.findall(_FENCED.sub("", text_of(page))))):
        name = code.strip("`")
        if _PATH.fullmatch(name):
            strange += [] if any(any(ROOT.glob(f"{base}{name.rstrip('/')}")) for base in _BASES) else [name]
        elif _FILE.fullmatch(name):
            found = (ROOT / name).exists() or any(any((ROOT / part).rglob(name)) for part in PARTS)
            strange += [] if found or name in _OF_PERSONS else [name]
        elif _NAME.fullmatch(name):
            strange += [] if set(name.split(".")) <= identifiers() else [name]
    assert strange == [], "no such file, or no such word in the source"


@cache
def identifiers() -> frozenset[str]:
    """Every word of the product's source that can be a name."""
    found: set[str] = set()
    for part in PARTS[:-1]:
        for path in (ROOT / part).rglob("*"):
            if path.suffix in (".py", ".lua", ".json", ".toml"):
                found |= set(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))
    return frozenset(found | set(re.findall(r"[A-Za-z_]\w*", text_of("pyproject.toml"))))


def test_the_map_of_the_house_is_short() -> None:
    assert len(text_of("ARCHITECTURE.md").split()) <= 1_500, "what is cut goes into resources/docs"


@pytest.mark.parametrize("page", READMES)
def test_the_first_page_is_short(page: str) -> None:
    assert len(text_of(page).split()) <= 1_200, "what is cut goes into resources/docs"


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(".zh-CN.md")])
def test_a_page_in_chinese_has_the_sections_of_the_english_one(page: str) -> None:
    english = page.replace(".zh-CN.md", ".md")
    depths = [
        [len(mark) for mark in re.findall(r"^(#+) ", _FENCED.sub("", text_of(one)), re.MULTILINE)]
        for one in (page, english)
    ]
    assert depths[0] == depths[1]


@pytest.mark.parametrize("page", ["servers", "windows"])
def test_a_page_in_chinese_tells_results_in_chinese(page: str) -> None:
    """What a run writes there is read by people too; names of programs and tests stay as they are."""
    table = (
        text_of(f"resources/docs/{page}.zh-CN.md").partition("<!-- results -->")[2].partition("<!-- /results -->")[0]
    )
    seen = [line.split(" | ")[2] for line in table.splitlines() if line.count(" | ") == 3]
    assert seen
    assert not re.findall(r"[a-z]{3,}[,:;]? [a-z]{3,}|[0-9] [a-z]{3,}", "\n".join(seen))


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_page_of_settings_is_as_the_program_says(language: str) -> None:
    update = settings_writer()
    name = update.PAGES[language][0]
    assert text_of(f"resources/docs/{name}") == update.page(language), "write it: python resources/docs/update.py"


def test_every_word_about_a_setting_is_about_one_that_exists() -> None:
    assert set(WORDS) == set(settings_writer().everything())


def test_the_pages_of_recovery_have_a_row_for_each_fault_that_is_tried() -> None:
    english, chinese = (faults_of(f"resources/docs/recovery{tail}.md") for tail in ("", ".zh-CN"))
    assert [name for name in PROMISE if name not in {row[0] for row in english}] == []
    assert len(chinese) == len(english)
    assert [row for row in (*english, *chinese) if len(row) != 5 or not all(row)] == []


def faults_of(page: str) -> list[list[str]]:
    """The cells of all rows of the tables of a page, without their heads."""
    lines = text_of(page).splitlines()
    heads = {line for line, below in itertools.pairwise(lines) if below.startswith("| ---")}
    rows = [line for line in lines if line.startswith("| ") and line not in heads and not line.startswith("| ---")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def settings_writer() -> ModuleType:
    """``resources/docs/update.py``."""
    path = ROOT / "resources" / "docs" / "update.py"
    spec = importlib.util.spec_from_file_location("docs_update", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["alerts.md", "alerts.zh-CN.md"])
def test_the_page_of_alerts_has_a_row_for_each_rule(page: str) -> None:
    table = text_of(f"resources/docs/{page}").split("| --- | --- | --- | --- |")[1].split("\n\n")[0]
    assert [row.split("`")[1] for row in table.strip().splitlines()] == [one.name for one in DEFAULTS]
