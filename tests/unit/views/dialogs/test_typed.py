"""A dialog in which a person has typed something is left by no slip of Esc."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from services.commands.sheet.shop_file import ShopFile, Stranger
from services.domain.fleet.shop import Shop
from services.domain.gates.breaker import Rule
from services.domain.insight.cause_rule import CauseRule
from services.i18n import N_
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.connection import ConnectionDialog
from views.dialogs.frame import DialogFrame
from views.dialogs.name import NameDialog
from views.dialogs.saving import SavingDialog
from views.dialogs.shops.edit import ShopDialog
from views.dialogs.shops.importing import ShopImportDialog
from views.dialogs.typed import KeepsTyped
from views.pages.dead_letters.issue import KnownIssue, MergeInto, Other, SplitOff
from views.pages.overview.limits import LimitDialog, TileLimits
from views.pages.shops.verbs import RuleDialog
from views.widgets.fields import Labelled, NumberField
from views.widgets.segmented import Segmented
from views.widgets.toggle import Toggle


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    return window


def question(dialog: QWidget) -> ConfirmDialog | None:
    """What it asks now."""
    return next((one for one in dialog.findChildren(ConfirmDialog) if one.isVisible()), None)


FORMS: dict[str, Callable[[QWidget], tuple[DialogFrame, QLineEdit]]] = {
    "shop": lambda window: (form := ShopDialog(None, "", window), form.shop_id),
    "known shop": lambda window: (
        form := ShopDialog(Shop(platform="pdd", shop_id="a", name="b"), "", window),
        form.name,
    ),
    "connection": lambda window: (form := ConnectionDialog(None, (), window), form.name),
    "name": lambda window: (form := NameDialog(N_("Rename view"), "mine", parent=window), form.field),
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())
def test_esc_asks_where_something_would_be_lost(
    qtbot: QtBot, window: QWidget, make: Callable[[QWidget], tuple[DialogFrame, QLineEdit]]
) -> None:
    untouched, _line = make(window)
    untouched.open()
    qtbot.keyClick(untouched, Qt.Key.Key_Escape)
    assert not untouched.isVisible()
    form, line = make(window)
    form.open()
    qtbot.keyClicks(line, "17")
    qtbot.keyClick(form, Qt.Key.Key_Escape)
    asked = question(form)
    assert asked is not None
    assert form.isVisible()
    qtbot.keyClick(asked, Qt.Key.Key_Escape)
    assert form.isVisible()
    assert line.text().endswith("17"), "whoever goes on finds it as it was"
    qtbot.keyClick(form, Qt.Key.Key_Escape)
    asked = question(form)
    assert asked is not None
    asked.verb_button.click()
    assert not form.isVisible()


OTHERS = [Other(fingerprint=name, name=name, headline="", count=1) for name in "ab"]
STRANGE = ShopFile(strangers=(Stranger(code="pinduoduo", lines=(2,)),))
CHOICES: dict[str, Callable[[QWidget], tuple[DialogFrame, QWidget]]] = {
    "switch of a shop": lambda window: (form := ShopDialog(None, "", window), form.dedicated),
    "number of a shop": lambda window: (form := ShopDialog(None, "", window), form.at_once),
    "environment of a connection": lambda window: (form := ConnectionDialog(None, (), window), form.environment),
    "kind of a connection": lambda window: (form := ConnectionDialog(None, (), window), form.kind),
    "box of a known issue": lambda window: (form := KnownIssue("x", CauseRule(), 0, window), form.alert_once),
    "limit of a tile": lambda window: (form := LimitDialog("waiting", TileLimits(), window), form.field),
    "cause to merge into": lambda window: (form := MergeInto("x", "x", OTHERS, window), form.others),
    "place to split off": lambda window: (
        form := SplitOff("x", (("shop:a", "a"), ("shop:b", "b")), window),
        form.places,
    ),
    "platform of an import": lambda window: (
        form := ShopImportDialog(Path("gone.csv"), STRANGE, {"pdd:a": Shop(platform="pdd", shop_id="a")}, "", window),
        form.platforms["pinduoduo"],
    ),
    "rule for shops": lambda window: (form := RuleDialog(Rule(), "", window), form.of),
}


@pytest.mark.parametrize("make", CHOICES.values(), ids=CHOICES.keys())
def test_esc_asks_where_a_mere_choice_would_be_lost(
    qtbot: QtBot, window: QWidget, make: Callable[[QWidget], tuple[DialogFrame, QWidget]]
) -> None:
    form, field = make(window)
    form.open()
    there, back = {
        Toggle: (Qt.Key.Key_Space, Qt.Key.Key_Space),
        QCheckBox: (Qt.Key.Key_Space, Qt.Key.Key_Space),
        Segmented: (Qt.Key.Key_Right, Qt.Key.Key_Left),
    }.get(type(field), (Qt.Key.Key_Down, Qt.Key.Key_Up))
    if isinstance(field, NumberField):
        there, back = back, there
    qtbot.keyClick(field, there)
    qtbot.keyClick(form, Qt.Key.Key_Escape)
    asked = question(form)
    assert asked is not None
    qtbot.keyClick(asked, Qt.Key.Key_Escape)
    assert form.isVisible()
    qtbot.keyClick(field, back)
    qtbot.keyClick(form, Qt.Key.Key_Escape)
    assert not form.isVisible(), "as it was at first there is nothing to lose"


class Form(KeepsTyped, SavingDialog):
    """One field; what saves it waits for ``gate``."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(N_("Edit"), icon="ph.bell", width=400, parent=parent)
        self.name, self.gate = QLineEdit(), threading.Event()
        self.fields["name"] = Labelled(N_("Name"), self.name)
        self.body.addWidget(self.fields["name"])
        self.end_with_save(lambda: self.start(lambda: self.gate.wait(30)))


def test_what_is_being_saved_is_not_lost(qtbot: QtBot, window: QWidget) -> None:
    form = Form(window)
    form.open()
    qtbot.keyClicks(form.name, "17")
    form.save_button.click()
    qtbot.keyClick(form, Qt.Key.Key_Escape)
    assert not form.isVisible()
    form.gate.set()
    qtbot.waitUntil(lambda: not form.waiting, timeout=10_000)
