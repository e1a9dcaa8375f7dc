"""Glyphs for the style sheet are resources in three sizes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from views.theme.theme import draw_glyphs
from views.theme.tokens import tokens


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("high_contrast", [False, True])
def test_glyphs_are_drawn_for_every_scale(qapp: QApplication, name: str, high_contrast: bool) -> None:
    paths = draw_glyphs(tokens(name, high_contrast=high_contrast))
    for path in paths.values():
        plain = QImage(path).width()
        assert plain in (10, 12)
        for ratio in (2, 3):
            assert QImage(path.replace(".png", f"@{ratio}x.png")).width() == ratio * plain
    assert draw_glyphs(tokens(name, high_contrast=high_contrast)) == paths


def test_a_glyph_has_the_colours_of_its_theme(qapp: QApplication) -> None:
    dark, light = (QImage(draw_glyphs(tokens(name))["down"]) for name in ("dark", "light"))
    assert dark != light


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_they_leave_nothing_behind_when_the_window_is_killed(tmp_path: Path) -> None:
    words = (
        "import os, signal; from PySide6.QtWidgets import QApplication; app = QApplication([]);"
        "from views.theme.theme import theme; theme().install(app); os.kill(os.getpid(), signal.SIGKILL)"
    )
    around = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", words], env=around, check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []
