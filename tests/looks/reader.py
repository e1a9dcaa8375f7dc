"""``make reader``: the window as the library of a screen reader sees it, over AT-SPI and its bus, as Orca does.

Runs in the Python of the system, which has ``pyatspi``, beside a window on an X server of its own. Goes through every
page of the rail: counts what is shown by role and names what takes the focus without a name. Then presses *Edit
config.toml…* in Settings, finds a field of the dialog by its name and writes into it. Ends with 1 where any of it
is missing, with 2 and a sentence where this machine lacks what it needs.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
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
WAIT_S, LOOK_S, PAGE_S = 60.0, 0.3, 1.5
MOST = 100  #: children of one part that are looked at
PAGES = (
    "Overview", "Queues", "Tasks", "Shops", "Dead letters", "Workers", "Promises", "Schedules", "Task types", "Alerts",
    "Audit", "Logs", "Doctor", "Settings",
)  # fmt: skip


def main() -> int:
    """Start bus, window and look; tell what was found."""
    if packages := _missing():
        sys.stderr.write(f"this machine cannot read the screen yet: apt-get install {' '.join(packages)}\n")
        return 2
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


def _missing() -> list[str]:
    """Debian's packages that are not there."""
    there = {
        "at-spi2-core": Path(LAUNCHER).exists(),
        "dbus-daemon": shutil.which("dbus-run-session"),
        "python3-pyatspi": importlib.util.find_spec("pyatspi"),
        "xvfb": shutil.which("xvfb-run"),
    }
    return [name for name, found in there.items() if not found]


def _look() -> int:
    import pyatspi  # type: ignore[import-not-found]  # the system has it, not the virtual environment

    desk = pyatspi.Registry.getDesktop(0)
    mute: list[str] = []
    for page in PAGES:
        _found(lambda page=page: _named(desk, page, "push button")).queryAction().doAction(0)
        time.sleep(PAGE_S)
        shown = list(_shown(desk, pyatspi.STATE_SHOWING))
        focus = [one for one in shown if one.getState().contains(pyatspi.STATE_FOCUSABLE)]
        nameless = [one.getRoleName() for one in focus if not (one.name or "").strip()]
        roles = dict(Counter(one.getRoleName() for one in shown))
        told = f"{page}: {len(shown)} parts: {roles}; {len(focus)} take the focus, without a name: {nameless}\n"
        sys.stdout.write(told)
        mute += nameless
    _found(lambda: _named(desk, "Edit config", "push button")).queryAction().doAction(0)
    field = _found(lambda: _named(desk, "worker.slots", "text"))
    field.queryEditableText().setTextContents("12")
    time.sleep(LOOK_S)
    typed = field.queryText().getText(0, -1)
    sys.stdout.write(f"{field.name} ({field.description}): {typed}\n")
    return 0 if not mute and typed == "12" else 1


def _all(part: Any) -> Iterator[Any]:
    for one in _children(part):
        yield one
        yield from _all(one)


def _children(part: Any) -> Iterator[Any]:
    for at in range(min(part.childCount, MOST)):
        try:
            one = part[at]
        except IndexError:  # it is gone meanwhile
            return
        if one is not None:
            yield one


def _shown(part: Any, showing: int) -> Iterator[Any]:
    """What is on the screen; cells of a hidden table say that they are."""
    for one in _children(part):
        if one.getState().contains(showing):
            yield one
            yield from _shown(one, showing)
        elif one.getRoleName() == "application":
            yield from _shown(one, showing)


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
