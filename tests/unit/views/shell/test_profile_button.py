"""The profile switcher."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services import i18n
from views.shell.profile_button import ProfileButton


def test_production_is_outlined(qtbot: QtBot) -> None:
    button = ProfileButton()
    qtbot.addWidget(button)
    button.show_profile("CN-East", "PROD")
    plain = button.grab().toImage()
    button.show_profile("CN-East", "PROD", production=True)
    assert button.grab().toImage() != plain
    assert button.accessibleName() == "Connection: CN-East PROD"


def test_long_names_are_cut(qtbot: QtBot) -> None:
    button = ProfileButton()
    qtbot.addWidget(button)
    button.show_profile("a name that is far too long for any top bar of any window", local=True)
    assert button.sizeHint().width() < 300
    button.resize(button.minimumSizeHint())
    button.setFocus()
    button.grab()
    i18n.set_language("zh_CN")
    button.rename()
    assert button.toolTip() == "切换连接"
