"""Glyphs for the style sheet are files in three sizes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from views.theme.theme import write_glyphs
from views.theme.tokens import tokens


def test_glyphs_are_drawn_for_every_scale(qapp: QApplication) -> None:
    paths = write_glyphs(tokens("light"))
    check = Path(paths["check"])
    assert QImage(str(check)).width() == 12
    assert QImage(str(check.with_stem(f"{check.stem}@2x"))).width() == 24
    assert write_glyphs(tokens("light")) == paths
