"""The form of a shop while the language is changed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.fleet.shop import Shop
from views.dialogs.shops.edit import ShopDialog, named


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    i18n.set_language("en")
    yield
    i18n.set_language("en")


def labels(dialog: ShopDialog) -> set[str]:
    return {one.text() for one in dialog.findChildren(QLabel)}


def test_it_speaks_the_new_language_and_keeps_what_is_chosen(qtbot: QtBot) -> None:
    dialog = ShopDialog(None, "", platforms_known=("temu",))
    qtbot.addWidget(dialog)
    dialog.platform.setCurrentText(named("pdd"))
    dialog.shop_id.setText("a-1")
    assert "A queue of its own" in labels(dialog)
    i18n.set_language("zh_CN")
    assert "A queue of its own" not in labels(dialog)
    assert dialog.platform.currentText() == named("pdd") == "拼多多 · pdd"
    assert dialog.platform.itemText(0) == named("temu")
    assert (dialog.shop().platform, dialog.shop().shop_id) == ("pdd", "a-1")


def test_a_platform_that_is_typed_stays_as_it_is(qtbot: QtBot) -> None:
    dialog = ShopDialog(None, "")
    qtbot.addWidget(dialog)
    for typed in ("", "lo-cal", "pd"):
        dialog.platform.setEditText(typed)
        i18n.set_language("zh_CN")
        assert dialog.platform.currentText() == typed
        i18n.set_language("en")
        assert dialog.platform.currentText() == typed


def test_why_nothing_can_be_saved_is_said_in_the_new_language(qtbot: QtBot) -> None:
    dialog = ShopDialog(Shop(platform="pdd", shop_id="a", name="b"), "")
    qtbot.addWidget(dialog)
    why = dialog.save_button.accessibleDescription() or dialog.save_button.toolTip()
    assert "Nothing is changed" in why
    i18n.set_language("zh_CN")
    why = dialog.save_button.accessibleDescription() or dialog.save_button.toolTip()
    assert why
    assert "Nothing" not in why
