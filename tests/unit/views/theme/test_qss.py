"""The style sheet is complete in both themes and names glyphs that exist."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QFile
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from views.theme import theme
from views.theme.qss import TONES, make_qss
from views.theme.theme import draw_glyphs
from views.theme.tokens import tokens


@pytest.mark.parametrize("name", ["dark", "light"])
def test_braces_match_and_images_exist(name: str, qapp: QApplication) -> None:
    sheet = make_qss(tokens(name), draw_glyphs(tokens(name)))
    assert sheet.count("{") == sheet.count("}")
    images = re.findall(r'url\("([^"]+)"\)', sheet)
    assert images
    assert all(QFile.exists(image) for image in images)


def test_every_tone_has_a_rule(qapp: QApplication) -> None:
    sheet = make_qss(tokens("dark"), draw_glyphs(tokens("dark")))
    assert all(f'tone="{tone}"' in sheet for tone in TONES)


def test_colours_come_from_tokens_only(qapp: QApplication) -> None:
    dark = tokens("dark")
    sheet = make_qss(dark, draw_glyphs(dark))
    known = {dark.role(role) for role in dark.roles()}
    assert set(re.findall(r"#[0-9A-Fa-f]{6}", sheet)) <= known


def test_fonts_are_not_set_here(qapp: QApplication) -> None:
    assert "font" not in make_qss(tokens("dark"), draw_glyphs(tokens("dark")))


@pytest.mark.parametrize(("read_only", "role"), [(True, "line2"), (False, "ctl")])
def test_only_what_takes_text_has_the_edge_of_a_field(qtbot: QtBot, read_only: bool, role: str) -> None:
    box = QPlainTextEdit()
    qtbot.addWidget(box)
    box.setReadOnly(read_only)
    box.resize(120, 60)
    box.show()
    assert box.grab().toImage().pixelColor(60, 0) == theme().color(role)
