"""Every glyph of the design exists in the icon font."""

from __future__ import annotations

import logging

import pytest
from PySide6.QtWidgets import QApplication

from views.theme import icons
from views.theme.tokens import LANES, STATUSES

GLYPHS = [*(token.glyph for token in STATUSES.values()), *(token.glyph for token in LANES.values())]
FALLBACKS = [*(token.fallback for token in STATUSES.values()), *(token.fallback for token in LANES.values())]


@pytest.mark.parametrize("name", [*GLYPHS, *FALLBACKS])
def test_glyphs_exist(name: str, qapp: QApplication, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert not icons.make_icon(name, "#123456").isNull()
    assert not caplog.records


def test_an_unknown_glyph_becomes_a_square(qapp: QApplication, caplog: pytest.LogCaptureFixture) -> None:
    assert not icons.make_icon("ph.no-such-thing", "#123456").isNull()
    assert "ph.no-such-thing" in caplog.text


def test_the_mark_has_all_sizes(qapp: QApplication) -> None:
    sizes = {size.width() for size in icons.app_icon().availableSizes()}
    assert {16, 32, 256} <= sizes
    assert icons.app_pixmap(18, 2.0).width() == 36
