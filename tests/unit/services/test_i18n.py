"""Languages: switching, plurals, contexts, catalogues read without a build step."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from services import i18n
from services.i18n import N_, NP_, _, fill, ngettext, pgettext, render

PO = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "Retry"
msgstr "重试"

msgctxt "lane"
msgid "High"
msgstr "高"

msgid "{n} task"
msgid_plural "{n} tasks"
msgstr[0] "{n} 个任务"
"""


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    i18n.set_language("en")
    yield
    i18n.set_language("en")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "zh_CN" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "fleetdeck.po").write_text(PO, encoding="utf-8")
    return tmp_path


def test_english_is_the_source() -> None:
    assert i18n.language() == "en"
    assert _("Retry") == "Retry"
    assert ngettext("{n} task", "{n} tasks", 2) == "{n} tasks"
    assert pgettext("lane", "High") == "High"
    assert N_("Retry") == NP_("x", "Retry") == "Retry"


def test_an_empty_text_stays_empty() -> None:
    i18n.set_language("zh_CN")
    assert _("") == ""


def test_switching_translates_at_once() -> None:
    i18n.set_language("zh_CN")
    assert i18n.is_chinese()
    assert _("Retry") == "重试"
    assert pgettext("lane", "High") == "高"


def test_an_unknown_language_is_english() -> None:
    i18n.set_language("tlh")
    assert i18n.language() == "en"


def test_a_catalogue_is_read_without_being_compiled(folder: Path) -> None:
    catalogue = i18n.load("zh_CN", folder)
    assert catalogue.gettext("Retry") == "重试"
    assert catalogue.pgettext("lane", "High") == "高"
    assert catalogue.ngettext("{n} task", "{n} tasks", 5) == "{n} 个任务"
    assert not list(folder.rglob("*.mo"))


def test_a_missing_catalogue_is_english(tmp_path: Path) -> None:
    assert i18n.load("zh_CN", tmp_path).gettext("Retry") == "Retry"


def test_a_compiled_catalogue_is_used_only_while_it_is_newer(folder: Path) -> None:
    source = folder / "zh_CN" / "LC_MESSAGES" / "fleetdeck.po"
    compiled = source.with_suffix(".mo")
    compiled.write_bytes(i18n.compile_catalogue(source, "zh_CN"))
    source.write_text(PO.replace("重试", "再来"), encoding="utf-8")
    os.utime(source, (1, 1))
    assert i18n.load("zh_CN", folder).gettext("Retry") == "重试"
    os.utime(compiled, (0, 0))
    assert i18n.load("zh_CN", folder).gettext("Retry") == "再来"


def test_listeners_hear_a_change_once() -> None:
    heard: list[str] = []
    forget = i18n.on_language_changed(lambda: heard.append(i18n.language()))
    i18n.set_language("zh_CN")
    i18n.set_language("zh_CN")
    forget()
    i18n.set_language("en")
    forget()
    assert heard == ["zh_CN"]


def test_a_dead_listener_is_forgotten() -> None:
    class Listener:
        heard = 0

        def hear(self) -> None:
            Listener.heard += 1

    listener = Listener()
    i18n.on_language_changed(listener.hear)
    i18n.set_language("zh_CN")
    del listener
    gc.collect()
    i18n.set_language("en")
    assert Listener.heard == 1


@pytest.mark.parametrize(
    ("template", "params", "text"),
    [
        ("{n} of {total}", {"n": 1, "total": 2}, "1 of 2"),
        ("{n} of {total}", {"n": 1}, "1 of {total}"),
        ("{n:,}", {"n": 1234}, "1,234"),
        ("{broken", {}, "{broken"),
        ("{0}", {}, "{0}"),
        ("{n.x}", {"n": 1}, "{n.x}"),
        ("no parameter", {"n": 1}, "no parameter"),
        ("{n}", {"n": "{evil}"}, "{evil}"),
    ],
)
def test_filling_never_fails(template: str, params: dict[str, object], text: str) -> None:
    assert fill(template, params) == text


def test_rendering_translates_then_fills() -> None:
    assert render("Line {line}: {text}", {"line": 3, "text": "x"}) == "Line 3: x"
    i18n.set_language("zh_CN")
    assert render("Line {line}: {text}", {"line": 3, "text": "x"}) == "第 3 行：x"


@pytest.mark.parametrize(
    ("template", "params", "text"),
    [
        ("约 {spread} 清空", {"spread": "10–15\u202f分钟"}, "约 10–15\u202f分钟清空"),
        ("约 {spread} 清空", {"spread": "3\u202fs"}, "约 3\u202fs 清空"),
        ("空 {n} 个，但 {shop} 同时只跑 {n} 个", {"n": 2, "shop": "云杉户外"}, "空 2 个，但云杉户外同时只跑 2 个"),
        ("但 {shop} 同时", {"shop": "Orchid Daily"}, "但 Orchid Daily 同时"),
        ("店铺另有{tasks}在等待", {"tasks": "2 个任务"}, "店铺另有 2 个任务在等待"),
        ("{names}等，另有 {more:,} 家", {"names": "听雨书房 2", "more": 1200}, "听雨书房 2 等，另有 1,200 家"),
        ("“{note}”", {"note": "先问 小李"}, "“先问 小李”"),
        ("{{x}} 共{missing}", {}, "{x} 共{missing}"),
        ("{broken", {}, "{broken"),
    ],
)
def test_in_chinese_what_is_filled_in_has_the_right_space_beside_it(
    template: str, params: dict[str, object], text: str
) -> None:
    i18n.set_language("zh_CN")
    assert fill(template, params) == text
