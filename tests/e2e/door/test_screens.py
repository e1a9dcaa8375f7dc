"""The first window on the small screens that people have: all of it is to be seen, its title bar and its last line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from services.cli.context import EXIT_USAGE
from tests.support.front_door import OPEN_S, ROOT, Window, open_by, open_window, remember_choice
from tests.support.screen import Screen, Shown

pytestmark = pytest.mark.deep

#: the most usual one as it is, and the least of all with large letters: 853 by 480 points
SIZES = (((1366, 768), "1"), ((1280, 720), "1.5"))
#: a window manager has put its frame around the window by then, and the window has made room for it
SETTLED_S = 2.0


def settled(window: Window) -> Shown:
    """The window as it stands when nothing moves any more."""
    assert window.shown(), window.errors[-3000:]
    window.stays(SETTLED_S)
    (found,) = window.shown()
    return found


@pytest.mark.parametrize("kind", ["first run", "main window"])
@pytest.mark.parametrize(("size", "scale"), SIZES)
def test_the_window_fits_the_screen_with_its_frame(
    screen: Callable[..., Screen], tmp_path: Path, size: tuple[int, int], scale: str, kind: str
) -> None:
    if kind == "main window":
        remember_choice(tmp_path)
    with open_window(screen(*size, framed=True), tmp_path, QT_SCALE_FACTOR=scale) as window:
        shown = settled(window)
        assert shown.within(*size), shown
        assert shown.width > 0.9 * size[0], "of a small screen it takes all there is"
        assert shown.height > 0.9 * size[1]
        assert window.close() == 0, window.errors
    assert "Traceback" not in window.errors


@pytest.mark.parametrize(
    "place",
    [(0, 0, 2400, 1500), (2600, 300, 1600, 1000), (-900, -700, 1200, 800)],
    ids=["larger than the screen", "on a screen that is gone", "beyond the corner"],
)
def test_a_remembered_place_is_brought_back_to_the_screen(
    qapp: QApplication, screen: Callable[..., Screen], tmp_path: Path, place: tuple[int, int, int, int]
) -> None:
    elsewhere = QWidget()
    elsewhere.setGeometry(*place)
    geometry = bytes(elsewhere.saveGeometry().toBase64().data()).decode()
    elsewhere.deleteLater()
    remember_choice(tmp_path, window={"geometry": geometry, "page": "overview", "rail_collapsed": False})
    with open_window(screen(1366, 768, framed=True), tmp_path) as window:
        shown = settled(window)
        assert shown.within(1366, 768), shown
        assert window.close() == 0, window.errors


def test_on_a_large_screen_it_has_its_usual_size_in_the_middle(screen: Callable[..., Screen], tmp_path: Path) -> None:
    remember_choice(tmp_path)
    with open_window(screen(1920, 1200), tmp_path) as window:
        shown = settled(window)
        assert (shown.width, shown.height) == (1600, 1000)
        assert (shown.x, shown.y) == (160, 100)
        assert window.close() == 0, window.errors


def test_an_icon_that_opens_no_window_says_why(screen: Callable[..., Screen], tmp_path: Path) -> None:
    """Whoever clicked on it sees nothing of what is written."""
    (tmp_path / "config.toml").write_text("[rpa]\n")
    desktop = 'export GIO_LAUNCHED_DESKTOP_FILE_PID=$$; exec "$@"'
    command = ["sh", "-c", desktop, "desktop", sys.executable, str(ROOT / "main.py")]
    with open_by(command, screen(1366, 768), tmp_path) as window:
        assert settled(window).within(1366, 768)
        assert window.close() == EXIT_USAGE
        assert "there is no setting rpa" in window.errors


def test_what_a_terminal_runs_that_was_opened_by_an_icon_waits_for_nobody(
    screen: Callable[..., Screen], tmp_path: Path
) -> None:
    """It has inherited the marks of that icon, and whoever runs it reads what it says where it was told to write."""
    (tmp_path / "config.toml").write_text("[rpa]\n")
    marks = {"GIO_LAUNCHED_DESKTOP_FILE": "terminal.desktop", "GIO_LAUNCHED_DESKTOP_FILE_PID": "1"}
    for around in (marks, {"DESKTOP_STARTUP_ID": "clicked", "XDG_ACTIVATION_TOKEN": "clicked"}):
        with open_window(screen(1366, 768), tmp_path, **around) as window:
            assert window.process.wait(OPEN_S) == EXIT_USAGE
            assert "there is no setting rpa" in window.errors
