"""What the desktop starts: written as it wants it, and told as it is, whoever wrote it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from services.desktop import registration
from services.desktop.registration import NOTHING, OTHER, WINDOW, WORKER, Registration, WindowsEntries
from services.domain.errors import OperatorError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of freedesktop.org")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own folders, with a tool that remembers what opens links."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FLEETDECK_HOME", raising=False)
    tool = tmp_path / "bin" / "xdg-mime"
    tool.parent.mkdir()
    kept = tmp_path / "kept"
    tool.write_text(
        f'#!/bin/sh\ncase $1 in query) cat {kept} 2>/dev/null || :;; *) echo "$2" >{kept};; esac\n', encoding="ascii"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    return tmp_path


def test_the_log_in_starts_what_was_chosen_and_nothing_afterwards(folders: Path) -> None:
    home = folders / "a home of $mine"
    desktop, entry = Registration(home, "Ost"), folders / "config" / "autostart" / "fleetdeck.desktop"
    assert desktop.look().login == NOTHING
    for kind in (WINDOW, WORKER):
        desktop.start_at_login(kind)
        assert desktop.look().login == kind
    text = entry.read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith("Exec="))
    assert line.endswith("main.py worker --profile Ost")
    assert '"FLEETDECK_HOME=' in line
    assert r"\\$mine" in line, "escaped once for the quotes and once for the file"
    entry.write_text(text + "Hidden=true\n", encoding="utf-8")
    assert desktop.look().login == NOTHING, "switched off in the settings of the desktop"
    entry.write_text("[Desktop Entry]\nExec=/opt/old/fleetdeck\n", encoding="utf-8")
    assert (desktop.look().login, desktop.look().others) == (OTHER, "/opt/old/fleetdeck")
    desktop.start_at_login(NOTHING)
    assert not entry.exists()


def test_links_are_opened_as_long_as_that_is_wanted(folders: Path) -> None:
    desktop = Registration(folders / "home", "local")
    desktop.open_links(True)
    assert desktop.look().links
    entry = folders / "data" / "applications" / "fleetdeck-links.desktop"
    assert "MimeType=x-scheme-handler/fleetdeck;" in entry.read_text(encoding="utf-8")
    assert " %u\n" in entry.read_text(encoding="utf-8")
    desktop.open_links(False)
    assert not desktop.look().links


def test_an_entry_that_a_package_put_there_is_named_since_it_is_not_taken_away(folders: Path) -> None:
    desktop = Registration(folders / "home", "local")
    desktop.open_links(True)
    assert not desktop.look().kept, "it is our own"
    own = folders / "data" / "applications" / "fleetdeck-links.desktop"
    installed = own.with_name("fleetdeck.desktop")
    own.rename(installed)
    (folders / "kept").write_text(installed.name, encoding="ascii")
    desktop.open_links(False)
    assert (desktop.look().links, desktop.look().kept) == (True, str(installed))


def test_a_desktop_without_the_tool_says_what_to_install(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folders))
    with pytest.raises(OperatorError, match="xdg-utils"):
        Registration(folders / "home", "local").open_links(True)
    assert not Registration(folders / "home", "local").look().links


def test_a_home_that_windows_cannot_name_is_looked_at_and_only_not_started(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop, entry = Registration(folders / "home", "local"), folders / "config" / "autostart" / "fleetdeck.desktop"
    monkeypatch.setattr("services.desktop.registration.sys", SimpleNamespace(platform="win32", executable="python"))
    assert desktop.look().login == NOTHING
    entry.parent.mkdir(parents=True)
    entry.write_text("[Desktop Entry]\nExec=/opt/old/fleetdeck\n", encoding="utf-8")
    assert (desktop.look().login, desktop.look().links) == (OTHER, False)
    for call in (lambda: desktop.start_at_login(WINDOW), lambda: desktop.open_links(True)):
        with pytest.raises(OperatorError, match="FLEETDECK_HOME"):
            call()
    desktop.open_links(False)
    desktop.start_at_login(NOTHING)
    assert not entry.exists()


def test_a_desktop_that_is_silent_is_not_taken_for_one_that_agrees(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders / "bin" / "xdg-mime").write_text("#!/bin/sh\nexec sleep 5\n", encoding="ascii")
    monkeypatch.setattr(registration, "_ASK_S", 0.1)
    with pytest.raises(OperatorError, match=r"not answered within 0\.1 s"):
        Registration(folders / "home", "local").open_links(True)


def test_an_action_of_an_entry_is_not_what_it_starts(folders: Path) -> None:
    entry = folders / "config" / "autostart" / "fleetdeck.desktop"
    entry.parent.mkdir(parents=True)
    text = "[Desktop Entry]\nExec=/opt/a\n[Desktop Action new]\nExec=/opt/b\n"
    entry.write_text(text, encoding="utf-8")
    assert Registration(folders / "home", "local").look().others == "/opt/a"


def test_a_home_with_a_line_break_writes_no_other_line(folders: Path) -> None:
    desktop = Registration(folders / "a\nHidden=true", "local")
    with pytest.raises(OperatorError, match="control character"):
        desktop.start_at_login(WINDOW)
    assert not (folders / "config").exists()


def test_windows_quotes_the_link_whatever_stands_in_it() -> None:
    words = (r"C:\Program Files\python\pythonw.exe", r"C:\app\main.py", "%1")
    assert WindowsEntries().written(words) == r'"C:\Program Files\python\pythonw.exe" C:\app\main.py "%1"'


def test_words_behind_a_link_are_not_obeyed(tmp_path: Path) -> None:
    main = Path(__file__).resolve().parents[4] / "main.py"
    words = ["fleetdeck://local/tasks", "task", "list"]
    done = subprocess.run(
        [sys.executable, str(main), *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert "fleetdeck://local/tasks" in done.stderr
