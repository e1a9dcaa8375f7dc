"""Switching dark, light, contrast, rows and language without a restart."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.theme import theme
from views.theme.theme import HIGH, SYSTEM, Theme


def test_switching_changes_palette_and_tells(qtbot: QtBot, qapp: QApplication) -> None:
    dark = qapp.palette().color(QPalette.ColorRole.Window)
    with qtbot.waitSignal(theme().changed):
        theme().set_mode("light")
    assert not theme().is_dark
    assert qapp.palette().color(QPalette.ColorRole.Window) != dark
    assert theme().color("bg").name().upper() == theme().hex("bg")


def test_choosing_the_same_again_is_silent(qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(theme().changed):
        theme().set_mode("dark")
        theme().set_contrast(SYSTEM)
        theme().set_density("normal")
        theme().set_density("nonsense")


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown theme"):
        theme().set_mode("sepia")


def test_system_follows_the_system(qapp: QApplication) -> None:
    theme().set_mode("system")
    assert theme().mode == "system"
    assert theme().tokens.name in ("dark", "light")


def test_density_sets_the_row_height(qapp: QApplication) -> None:
    theme().set_density("compact")
    assert theme().row_height == 24
    theme().set_density("normal")
    assert theme().row_height == 28


def test_text_grows_and_rows_with_it(qapp: QApplication) -> None:
    try:
        theme().set_text_size(130)
        assert (theme().font("body").pixelSize(), qapp.font().pixelSize(), theme().row_height) == (17, 17, 36)
        theme().set_text_size(90)
        assert (theme().font("body").pixelSize(), theme().row_height) == (12, 28)
        theme().set_text_size(500)
        assert theme().text_size == 90
    finally:
        theme().set_text_size(100)


def test_what_stands_in_the_window_has_the_new_size_at_once(qtbot: QtBot, qapp: QApplication) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    parts = (QLineEdit("shop"), QComboBox(), QLabel("shop"))
    for part in parts:
        column.addWidget(part)
    window.show()
    try:
        for percent in (130, 90, 100):
            theme().set_text_size(percent)
            size = theme().font("body").pixelSize()
            assert [part.font().pixelSize() for part in parts] == [size] * len(parts), percent
    finally:
        theme().set_text_size(100)


def test_high_contrast_strengthens_lines_and_captions(qtbot: QtBot) -> None:
    weak = theme().hex("line2"), theme().hex("text3")
    with qtbot.waitSignal(theme().changed):
        theme().set_contrast(HIGH)
    assert (theme().hex("line2"), theme().hex("text3")) == (theme().hex("ctl"), theme().hex("text2"))
    theme().set_contrast(SYSTEM)
    assert (theme().hex("line2"), theme().hex("text3")) == weak


def test_chinese_is_never_below_twelve(qapp: QApplication) -> None:
    i18n.set_language("zh_CN")
    assert theme().font("caption").pixelSize() == 12
    assert theme().font("table").pixelSize() == 13


def test_colours_are_kept_and_renewed(qapp: QApplication) -> None:
    assert theme().color("dead") is theme().color("dead")
    assert theme().tint("dead", 12) is theme().tint("dead", 12)
    before = theme().color("dead")
    theme().set_mode("light")
    assert theme().color("dead") != before


def test_a_theme_without_application_answers_too() -> None:
    own = Theme()
    own.set_mode("light")
    own.set_mode("system")
    assert own.is_dark
    assert own.color("accent").isValid()


def test_icons_and_pixmaps_are_tinted_and_kept(qapp: QApplication) -> None:
    assert not theme().icon("ph.clock").isNull()
    assert theme().pixmap("ph.clock", "text2", 16, 1.0) is theme().pixmap("ph.clock", "text2", 16, 1.0)
    assert theme().pixmap("ph.clock", "text2", 16, 2.0).width() == 32
