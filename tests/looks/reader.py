"""``make reader``: the window as the library of a screen reader sees it, over AT-SPI and its bus, as Orca does.

Runs in the Python of the system, which has ``pyatspi`` (Debian: at-spi2-core, python3-pyatspi, xvfb), beside a window
on an X server of its own. Counts what is shown by role, names what takes the focus without a name, presses *Settings*
and *Edit config.toml…*, finds a field of the dialog by its name and writes into it. Ends with 1 where any of it
is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
WAIT_S, LOOK_S = 60.0, 0.3


def main() -> int:
    """Start bus, window and look; tell what was found."""
    if "DBUS_SESSION_BUS_ADDRESS" not in os.environ or "--inside" not in sys.argv:
        screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24"]
        return subprocess.call([*screen, "dbus-run-session", "--", sys.executable, __file__, "--inside"])
    with tempfile.TemporaryDirectory(prefix="reader-") as home:
        (Path(home) / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")
        around = {**os.environ, "FLEETDECK_HOME": home, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
        bus = subprocess.Popen([LAUNCHER, "--launch-immediately"])
        window = subprocess.Popen([str(ROOT / ".venv/bin/python"), str(ROOT / "main.py")], env=around)
        try:
            return _look()
        finally:
            window.terminate()
            window.wait()
            bus.terminate()


def _look() -> int:
    import pyatspi  # type: ignore[import-not-found]  # the system has it, not the virtual environment

    desk = pyatspi.Registry.getDesktop(0)
    settings = _found(lambda: _named(desk, "Settings", "push button"))
    time.sleep(2)  # the pages come one after the other
    shown = [one for one in _all(desk) if one.getState().contains(pyatspi.STATE_SHOWING)]
    focus = [one for one in shown if one.getState().contains(pyatspi.STATE_FOCUSABLE)]
    mute = [one.getRoleName() for one in focus if not (one.name or "").strip()]
    roles = dict(Counter(one.getRoleName() for one in shown))
    sys.stdout.write(f"{len(shown)} parts: {roles}; {len(focus)} take the focus, without a name: {mute}\n")
    settings.queryAction().doAction(0)
    _found(lambda: _named(desk, "Edit config", "push button")).queryAction().doAction(0)
    field = _found(lambda: _named(desk, "worker.slots", "text"))
    field.queryEditableText().setTextContents("12")
    time.sleep(LOOK_S)
    typed = field.queryText().getText(0, -1)
    sys.stdout.write(f"{field.name} ({field.description}): {typed}\n")
    return 0 if not mute and typed == "12" else 1


def _all(part: Any) -> Iterator[Any]:
    for at in range(min(part.childCount, 100)):
        try:
            one = part[at]
        except IndexError:  # it is gone meanwhile
            return
        if one is not None:
            yield one
            yield from _all(one)


def _named(part: Any, name: str, role: str) -> Any:
    return next((one for one in _all(part) if (one.name or "").startswith(name) and one.getRoleName() == role), None)


def _found(look: Callable[[], Any]) -> Any:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(LOOK_S)
    raise SystemExit("not found within a minute")


if __name__ == "__main__":
    raise SystemExit(main())
