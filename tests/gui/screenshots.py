"""``make screenshots``: runs the demo fleet once for each picture and saves it below resources/images."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "resources" / "images"
#: file name, page, language, theme
PICTURES = (
    ("overview", "overview", "en", "dark"),
    ("overview-light", "overview", "en", "light"),
    ("overview-zh", "overview", "zh_CN", "dark"),
    ("tasks", "tasks", "en", "dark"),
    ("tasks-light-zh", "tasks", "zh_CN", "light"),
    ("dead-letters", "dead_letters", "en", "dark"),
    ("workers", "workers", "en", "dark"),
)
#: file name, language, theme: the box that answers "Did it run?", by itself
BOXES = (("did-it-run", "en", "light"), ("did-it-run-zh", "zh_CN", "light"))


def main() -> int:
    """Take every picture, or those named on the command line; optionally ``--out DIR --size WxH --seconds N``."""
    words = sys.argv[1:]
    options = {"--out": str(IMAGES), "--size": "1600x1000", "--seconds": "25"}
    for name in list(options):
        if name in words:
            place = words.index(name)
            options[name] = words[place + 1]
            del words[place : place + 2]
    for name, page, language, theme in PICTURES:
        if words and name not in words:
            continue
        target = Path(options["--out"]) / f"{name}.png"
        command = [sys.executable, str(ROOT / "main.py"), "demo", "--page", page, "--screenshot", str(target)]
        _take([*command, "--size", options["--size"], "--seconds", options["--seconds"]], target, language, theme)
    for name, language, theme in BOXES:
        if not words or name in words:
            target = Path(options["--out"]) / f"{name}.png"
            _take([sys.executable, "-m", "tests.gui.work_picture", str(target)], target, language, theme)
    return 0


def _take(command: list[str], target: Path, language: str, theme: str) -> None:
    surroundings = {"FLEETDECK_LANGUAGE": language, "FLEETDECK_THEME": theme, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run(command, env={**os.environ, **surroundings}, cwd=ROOT, check=True)
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    sys.exit(main())
