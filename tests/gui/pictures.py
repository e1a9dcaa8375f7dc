"""``make pictures``: runs the demo fleet once for each picture and saves it below resources/images."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

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
#: those of the operator's guide, smaller and light; file name, page, language, seconds of the demo before it is taken
GUIDE = tuple(
    (f"guide-{page.replace('_', '-')}{tail}", page, language, seconds)
    for language, tail in (("en", ""), ("zh_CN", "-zh"))
    for page, seconds in (("tasks", "22"), ("dead_letters", "48"), ("shops", "26"), ("alerts", "50"))
)
GUIDE_SIZE, GUIDE_RATE = "1200x720", "9"
#: colours of a picture: what is drawn in few looks the same and is a third as large
COLOURS = 256
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
    for name, page, language, seconds in GUIDE:
        if words and name not in words:
            continue
        target = Path(options["--out"]) / f"{name}.png"
        command = [sys.executable, str(ROOT / "main.py"), "demo", "--page", page, "--screenshot", str(target)]
        more = ["--size", GUIDE_SIZE, "--seconds", seconds, "--rate", GUIDE_RATE]
        _take([*command, *more], target, language, "light")
    for name, language, theme in BOXES:
        if not words or name in words:
            target = Path(options["--out"]) / f"{name}.png"
            _take([sys.executable, "-m", "tests.gui.work_picture", str(target)], target, language, theme)
    return 0


def _take(command: list[str], target: Path, language: str, theme: str) -> None:
    surroundings = {"FLEETDECK_LANGUAGE": language, "FLEETDECK_THEME": theme, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run(command, env={**os.environ, **surroundings}, cwd=ROOT, check=True)
    shrink(target)
    sys.stdout.write(f"{target}: {target.stat().st_size // 1000} kB\n")


def shrink(target: Path) -> None:
    """Keep the colours that are used most, and put the nearest of these in place of the others."""
    picture = QImage(str(target)).convertToFormat(QImage.Format.Format_RGB32)
    width, height = picture.width(), picture.height()
    pixels = np.frombuffer(picture.constBits(), np.uint32).reshape(height, picture.bytesPerLine() // 4)[:, :width]
    colours, places, times = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = colours[np.sort(np.argsort(-times)[:COLOURS])]
    parts = [np.stack([(one >> shift) & 255 for shift in (0, 8, 16)], -1).astype(np.int32) for one in (colours, kept)]
    nearest = np.array([np.argmin(((parts[1] - one) ** 2).sum(-1)) for one in parts[0]], np.uint8)
    few = np.ascontiguousarray(nearest[places].reshape(height, width))
    small = QImage(few.data, width, height, width, QImage.Format.Format_Indexed8)
    small.setColorTable([int(one) for one in kept])
    small.save(str(target), "PNG", 0)


if __name__ == "__main__":
    sys.exit(main())
