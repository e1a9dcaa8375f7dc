"""Every sentence of the program has a Chinese one; placeholders agree."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog

from services import i18n


def _load_tool() -> ModuleType:
    path = i18n.CATALOGUES / "update.py"
    spec = importlib.util.spec_from_file_location("translations_update", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = _load_tool()


@pytest.fixture(scope="module")
def found() -> Catalog:
    catalogue: Catalog = tool.extract()
    return catalogue


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_nothing_is_missing(language: str, found: Catalog) -> None:
    lacking = tool.missing(tool.merged(language, found))
    assert not lacking, "add them with: python resources/translations/update.py --add FILE.json"


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_nothing_is_fuzzy(language: str) -> None:
    assert not [message.id for message in tool.load(language) if message.id and message.fuzzy]


#: words for which another is used everywhere: slot 工位, broker 消息代理, worker 执行节点, leader 主节点,
#: fleet 集群, you 您
OTHER_WORDS = ("槽位", "消息服务器", "执行机", "协调者", "负责协调", "主持调度", "车队", "机群", "你")


def test_one_thing_is_called_by_one_word() -> None:
    texts = [
        text
        for message in tool.load("zh_CN")
        if message.id
        for text in (message.string if isinstance(message.string, (tuple, list)) else (message.string,))
    ]
    assert len(texts) > 1_000
    assert not [text for text in texts if any(word in text for word in OTHER_WORDS)]


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_placeholders_agree(language: str, found: Catalog) -> None:
    wrong = []
    for message in tool.merged(language, found):
        if not message.id:
            continue
        sources = message.id if message.pluralizable else (message.id,)
        texts = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
        wanted = set().union(*(_names(source) for source in sources))
        wrong += [f"{sources[0]} -> {text}" for text in texts if text and _names(text) - wanted]
        wrong += [f"{sources[0]} -> {text}" for text in texts if text and not _names(sources[-1]) <= _names(text)]
    assert not wrong


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_the_compiler_takes_every_sentence(language: str, found: Catalog) -> None:
    assert not tool.refused(tool.merged(language, found)), "write the sentence so that no letter follows '% '"


def test_a_sentence_the_compiler_would_refuse_is_named() -> None:
    catalogue = Catalog(locale="zh_CN")
    catalogue.add("{work} is {progress} % done", "{work} 已完成 {progress}%")
    assert tool.refused(catalogue) == ["{work} is {progress} % done: placeholders are incompatible"]


def test_adding_takes_contexts_and_plurals() -> None:
    catalogue = Catalog(locale="zh_CN")
    catalogue.add(("{n} task", "{n} tasks"), ("",))
    catalogue.add("High", "", context="lane")
    unknown = tool.add(catalogue, {"{n} task": "{n} 个任务", "lane|High": "高", "nobody": "x"})
    assert unknown == ["nobody"]
    assert not tool.missing(catalogue)


def test_merging_keeps_known_texts_and_drops_old_strings(found: Catalog) -> None:
    merged = tool.merged("zh_CN", found)
    assert merged.get("Retry").string == "重试"
    assert {m.id for m in merged if m.id} == {m.id for m in found if m.id}


def _names(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", text))
