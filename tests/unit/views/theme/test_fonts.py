"""The bundled fonts load and have the weights and figures of the design."""

from __future__ import annotations

import logging

import pytest
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

from views.theme import fonts
from views.theme.tokens import TYPE


def test_bundled_fonts_load(qapp: QApplication) -> None:
    families = fonts.load_fonts()
    assert {"Inter", "JetBrains Mono", "Noto Sans SC"} <= set(families)


def test_a_missing_package_is_a_warning_only(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fonts, "FONT_SOURCES", ((("no_such_package", "a.ttf"), ("json", "no-such-file.ttf")),))
    with caplog.at_level(logging.WARNING):
        assert fonts.load_fonts.__wrapped__() == ()
    assert "a.ttf" in caplog.text


@pytest.mark.parametrize("kind", list(TYPE))
def test_every_step_has_a_font(kind: str, qapp: QApplication) -> None:
    font = fonts.make_font(kind)
    assert font.pixelSize() == int(TYPE[kind].px + 0.5)
    assert font.families()[0] == ("JetBrains Mono" if kind.startswith("mono") else "Inter")


def test_figures_of_tables_have_one_width(qapp: QApplication) -> None:
    fonts.load_fonts()
    widths = {QFontMetricsF(fonts.make_font("table")).horizontalAdvance(digit) for digit in "0123456789"}
    assert len(widths) == 1
    assert fonts.make_font("body").featureTags() == []
    assert fonts.make_font("body", tabular=True).featureTags() == [QFont.Tag("tnum")]


def test_strong_text_is_wider_not_smeared(qapp: QApplication) -> None:
    fonts.load_fonts()
    plain, strong = fonts.make_font("page"), QFont(fonts.make_font("page"))
    strong.setVariableAxis(QFont.Tag("wght"), 400.0)
    assert QFontMetricsF(plain).horizontalAdvance("Overview") > QFontMetricsF(strong).horizontalAdvance("Overview")


@pytest.mark.parametrize(
    ("kind", "px", "weight"),
    [("kpi", 25, 600), ("number", 34, 600), ("page", 17, 600), ("panel", 15, 600), ("card", 13, 550)],
)
def test_steps_have_the_weights_of_the_design(kind: str, px: int, weight: float, qapp: QApplication) -> None:
    font = fonts.make_font(kind)
    assert (font.pixelSize(), font.variableAxisValue(QFont.Tag("wght"))) == (px, weight)
