"""Task types by the name that people know, where the language has one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services import called
from services.domain.types.task_type import TaskType
from services.i18n import language, set_language
from views.support.words import type_names


@pytest.fixture(autouse=True)
def back() -> Iterator[None]:
    before = language()
    yield
    set_language(before)
    type_names.know({})


def test_another_language_shows_the_title_and_english_the_code() -> None:
    kind = TaskType(name="sync_order", title={"en": "Order sync", "zh_CN": "同步订单"})
    assert type_names.know({"sync_order": kind}) == {"sync_order": kind}
    set_language("zh_CN")
    assert type_names.name("sync_order") == "同步订单"
    set_language("en")
    assert type_names.name("sync_order") == "sync_order"


def test_a_type_without_a_title_shows_its_code_and_nothing_that_paints() -> None:
    type_names.know({"evil": TaskType(name="evil", title={"zh_CN": "a\u202eb\nc"})})
    set_language("zh_CN")
    assert type_names.name("unknown_type") == "unknown_type"
    shown = type_names.name("evil")
    assert "\n" not in shown
    assert "\u202e" not in shown


def test_a_title_in_any_language_leads_to_the_code() -> None:
    type_names.know({"sync_order": TaskType(name="sync_order", title={"en": "Order sync", "zh_CN": "同步订单"})})
    for words in ("sync_order", "Order sync", "order SYNC", "同步订单"):
        assert type_names.code(words) == "sync_order"
    assert type_names.code("nobody_defined_this") == "nobody_defined_this"


def test_a_title_that_two_types_share_is_read_as_neither() -> None:
    kinds = {name: TaskType(name=name, title={"zh_CN": "同步"}) for name in ("sync_order", "sync_stock")}
    type_names.know(kinds)
    assert type_names.code("同步") == "同步"
    type_names.know({"sync_order": kinds["sync_order"]})
    assert type_names.code("同步") == "sync_order"


def test_a_name_stands_in_a_list_only_where_it_can_be_read_back() -> None:
    titles = {"plain": "同步", "comma": "订单，退款", "pause": "订单、退款", "long": "长" * 80}
    type_names.know({name: TaskType(name=name, title={"zh_CN": title}) for name, title in titles.items()})
    set_language("zh_CN")
    assert [type_names.name_in_list(name) for name in titles] == ["同步", "comma", "pause", "long"]


def test_services_say_a_type_as_the_window_does() -> None:
    type_names.know({"sync_order": TaskType(name="sync_order", title={"zh_CN": "同步订单"})})
    assert called.scope("type:sync_order") == "sync_order"
    set_language("zh_CN")
    assert called.scope("type:sync_order") == "同步订单"
    assert called.named({"types": "sync_order, other"}) == {"types": "同步订单、other"}
