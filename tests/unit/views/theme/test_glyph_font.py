"""Icons drawn from the font look as QtAwesome draws them."""

from __future__ import annotations

import pytest
import qtawesome
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon
from pytestqt.qtbot import QtBot

from views.theme.icons import make_icon, phosphor_icon


@pytest.mark.parametrize("name", ["ph.clock", "ph.x", "ph.check-bold", "ph.gauge-fill"])
@pytest.mark.parametrize("mode", [QIcon.Mode.Normal, QIcon.Mode.Disabled])
def test_a_glyph_is_the_same_picture(qtbot: QtBot, name: str, mode: QIcon.Mode) -> None:
    size = QSize(24, 24)
    ours = phosphor_icon(name, "#3366cc", "#888888")
    theirs = qtawesome.icon(name, color=QColor("#3366cc"), color_disabled=QColor("#888888"))
    assert ours is not None
    assert ours.pixmap(size, mode).toImage() == theirs.pixmap(size, mode).toImage()


def test_what_the_font_lacks_is_drawn_by_another(qtbot: QtBot) -> None:
    assert phosphor_icon("ph.no-such-glyph", "#000000", "#000000") is None
    assert phosphor_icon("mdi6.square-outline", "#000000", "#000000") is None
    assert not make_icon("ph.no-such-glyph", "#000000").pixmap(16, 16).isNull()
