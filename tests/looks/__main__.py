"""``make looks``: every page in every look, as pictures, with what cannot be read in them.

Makes a fleet in which every page has something to show (or nothing, or very much), lets it work for a while, then opens
each page at each size, in each language and theme: a picture of each, and a line for each text that is cut off or lies
over another. Ends with 1 where there is any.

    python -m tests.looks [--out DIR] [--seconds N] [--sizes 1280x720,1600x1000] [--pages tasks,shops]
                          [--languages zh_CN] [--themes dark] [--no-pictures] [--empty | --many 10000] [--dialogs]
                          [--text 130] [--rows roomy] [--contrast high]

A scale is one of the surroundings: ``QT_SCALE_FACTOR=1.5``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import product
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from qasync import QEventLoop

from console.lifecycle import Console
from console.main_window import MainWindow
from services import i18n
from services import settings as config
from services.cli.context import ConsoleRequest
from services.cli.window import pages
from tests.looks.dialogs import dialogs_of
from tests.looks.fleet import Fleet
from tests.situations.stage import Stage
from tests.support.painted import faults
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.theme import CONTRASTS
from views.theme.tokens import ROW_HEIGHTS, TEXT_SIZES

LANGUAGES = ("en", "zh_CN")
THEMES = ("dark", "light")
SIZES = "1280x720,1366x768,1600x1000"
SETTLE_S = 0.7
WAIT_S = 60.0


def main() -> int:
    """Take the pictures, print the faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.looks")
    parser.add_argument("--out", type=Path, default=Path("build/looks"))
    parser.add_argument("--seconds", type=float, default=30.0, help="how long the sample fleet works before")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--themes", default=",".join(THEMES))
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--pages", default=",".join(pages()))
    parser.add_argument("--text", type=int, default=100, choices=TEXT_SIZES, help="size of the letters in percent")
    parser.add_argument("--rows", default="normal", choices=tuple(ROW_HEIGHTS))
    parser.add_argument("--contrast", default="normal", choices=CONTRASTS)
    parser.add_argument("--empty", action="store_true", help="a fleet on its first day")
    parser.add_argument("--many", type=int, default=0, help="so many tasks more")
    parser.add_argument("--dialogs", action="store_true", help="of the pages, and of the window, in place of the pages")
    parser.add_argument("--no-pictures", action="store_true", help="only of what has a fault")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    told = 0
    with tempfile.TemporaryDirectory(prefix="looks-") as folder, contextlib.ExitStack() as over:
        home = Path(folder)
        stage = Stage(home, out=args.out)
        over.callback(stage.close)
        fleet = None if args.empty else Fleet(stage, many=args.many)
        if fleet is not None:
            over.callback(fleet.close)
        (home / "console.json").write_text(json.dumps({"chosen": "local", "slots": 2}), encoding="utf-8")
        app = QApplication.instance() or QApplication(sys.argv[:1])
        assert isinstance(app, QApplication)

        async def scene(console: Console) -> None:
            nonlocal told
            window = await _opened(console)
            theme().set_text_size(args.text)
            theme().set_density(args.rows)
            theme().set_contrast(args.contrast)
            if fleet is not None:
                await asyncio.sleep(args.seconds)
                fleet.begin()
                await asyncio.sleep(args.seconds)
            if args.dialogs:
                async for name, dialog in _dialogs(window, args):
                    told += await _look(name, dialog, args)
                return
            for name, said in _looks(window, args):
                await said()
                told += await _look(name, window, args)

        _play(app, home, scene)
    sys.stdout.write(f"{told} texts that cannot be read whole\n")
    return 1 if told else 0


async def _look(name: str, widget: QWidget, args: argparse.Namespace) -> int:
    """A picture of it, and how many of its texts cannot be read."""
    first = faults(widget)
    if first:  # a number may just have grown: what holds is what a person sees
        await asyncio.sleep(SETTLE_S)
    kept = [fault for fault in faults(widget) if fault in first] if first else []
    for fault in dict.fromkeys(kept):
        sys.stdout.write(f"{name}: {fault}\n")
        sys.stdout.flush()
    if kept or not args.no_pictures:
        widget.grab().save(str(args.out / f"{name}.png"))
    return len(dict.fromkeys(kept))


async def _dialogs(window: MainWindow, args: argparse.Namespace) -> AsyncIterator[tuple[str, QWidget]]:
    """Each dialog in each look, while it is open."""
    for language, mode, size in product(args.languages.split(","), args.themes.split(","), args.sizes.split(",")):
        i18n.set_language(language)
        theme().set_mode(mode)
        window.resize(*(int(one) for one in size.split("x")))
        for page in ("window", *args.pages.split(",")):
            window.open_page("tasks" if page == "window" else page)
            await asyncio.sleep(SETTLE_S)
            async for name, dialog in dialogs_of(window, page):
                yield f"{page}-{name}-{language}-{mode}-{size}", dialog


async def _opened(console: Console) -> MainWindow:
    for _ in range(int(WAIT_S / 0.1)):
        if console.opened is not None and console.opened.window.isVisible() and console.connection is not None:
            break
        await asyncio.sleep(0.1)
    assert console.opened is not None
    return console.opened.window


def _looks(window: MainWindow, args: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Awaitable[None]]]]:
    """The name of each picture, and what makes the window look so."""
    for language, mode, size in product(args.languages.split(","), args.themes.split(","), args.sizes.split(",")):
        for page in args.pages.split(","):
            for panel in (False, True):

                async def dress(page: str = page, panel: bool = panel) -> None:
                    for one in window.findChildren(QDialog):
                        one.close()  # a row that opens a dialog did: what comes next would be seen through its veil
                    i18n.set_language(language)  # noqa: B023  called before the next turn
                    theme().set_mode(mode)  # noqa: B023
                    wanted = QSize(*(int(one) for one in size.split("x")))  # noqa: B023
                    window.setMinimumSize(window.minimumSize().boundedTo(wanted))  # as on a screen that is no larger
                    window.resize(wanted)
                    window.open_page(page)
                    await asyncio.sleep(SETTLE_S)
                    if panel:
                        _open_first(window, page)
                        await asyncio.sleep(SETTLE_S)

                yield f"{page}{'-panel' if panel else ''}-{language}-{mode}-{size}", dress


def _open_first(window: MainWindow, page: str) -> None:
    for view in window.page(page).findChildren(TableView):
        model = view.model()
        if view.isVisible() and model is not None and model.rowCount():
            view.setFocus()
            view.setCurrentIndex(model.index(0, 1))
            QTest.keyClick(view, Qt.Key.Key_Space)
            return


def _play(app: QApplication, home: Path, scene: Callable[[Console], Awaitable[None]]) -> None:
    async def both() -> None:
        console = Console(app, ConsoleRequest(settings=config.load(home=home), first_run=True))
        running = asyncio.ensure_future(console.main())
        try:
            await scene(console)
        finally:
            console.end()
            await asyncio.wait_for(running, 60)

    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(both())


if __name__ == "__main__":
    sys.exit(main())
