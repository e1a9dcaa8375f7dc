"""The profile switcher."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services import i18n
from views.shell.top_bar import ProfileButton
from views.theme import theme


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


def test_a_server_that_nobody_checks_is_red_and_said(qtbot: QtBot) -> None:
    button = ProfileButton()
    qtbot.addWidget(button)
    button.show_profile("shops", "staging")
    assert ("unchecked" in button.accessibleName(), "certificate" in button.toolTip()) == (False, False)
    narrow = button.sizeHint().width()
    button.show_profile("shops", "staging", unverified=True)
    assert "staging · TLS unchecked" in button.accessibleName()
    assert "certificate" in button.toolTip()
    assert button.sizeHint().width() > narrow, "it has room"
    button.resize(button.sizeHint())
    image = button.grab().toImage()
    red = theme().color("dead")
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert red.name() in colours
