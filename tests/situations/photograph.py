"""Opens the window as its user would, off screen, and takes the pictures that an order file asks for."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from console.lifecycle import Console
from services import settings as config
from services.cli.context import ConsoleRequest
from views.tables.table_view import TableView


async def _take(console: Console, order: dict[str, Any], home: Path, go: Path) -> None:
    end = time.monotonic() + 40
    while not _windows() and time.monotonic() < end:
        await asyncio.sleep(0.1)
    (home / "opened").touch()
    while not go.exists():
        await asyncio.sleep(0.1)
    for shot in order["shots"]:
        desk = console.opened
        if desk is not None:
            desk.window.open_page(shot["page"], shot["request"] or None)
        await asyncio.sleep(float(shot["settle_s"]))
        if desk is not None and shot["row"] >= 0:
            _open_row(desk.window.page(shot["page"]), int(shot["row"]))
            await asyncio.sleep(2.0)
        target = Path(order["out"]) / f"{shot['name']}.png"
        _windows()[-1].grab().save(str(target))
        sys.stdout.write(f"{target}\n")
        sys.stdout.flush()


def _windows() -> list[QWidget]:
    return [one for one in QApplication.topLevelWidgets() if one.isVisible() and one.width() > 600]


def _open_row(page: QWidget, row: int) -> None:
    for view in page.findChildren(TableView):
        model = view.model()
        if view.isVisible() and model is not None and model.rowCount() > row:
            view.setFocus()
            view.setCurrentIndex(model.index(row, 1))
            QTest.keyClick(view, Qt.Key.Key_Space)
            return


def main() -> int:
    """Take the pictures."""
    order = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    home, go = Path(os.environ["FLEETDECK_HOME"]), Path(sys.argv[2])
    (home / "console.json").write_text(json.dumps({"language": order["language"], "theme": order["theme"]}))
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)

    async def both() -> None:
        request = ConsoleRequest(
            settings=config.load(home=home), first_run=True, size=(order["width"], order["height"])
        )
        console = Console(app, request)
        running = asyncio.ensure_future(console.main())
        try:
            await _take(console, order, home, go)
        finally:
            console.end()
            await asyncio.wait_for(running, 60)

    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(both())
    return 0


if __name__ == "__main__":
    # servers that were stopped on purpose may hold up the threads of their drivers
    code = main()
    sys.stdout.flush()
    os._exit(code)
