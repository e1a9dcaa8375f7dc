"""A flow from the window to a real Chromium and back: created under New task, worked off, looked at in the panel."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from console.lifecycle import Console
from console.main_window import MainWindow
from services.domain.fleet.shop import Shop
from services.domain.task.status import Status
from services.domain.types.flow_trace import StepState
from services.executors.browser.executor import NAMES
from tests.gui.test_console import play, until
from tests.support.browser_lab import PASSWORD, Lab
from views.dialogs.artifact import ArtifactDialog
from views.dialogs.new_task.dialog import NewTaskDialog
from views.pages.tasks.page import TasksPage

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not any(shutil.which(name) for name in NAMES), reason="there is no Chromium here"),
]
ORDERS = "/desk/pdd/s1/orders"
#: a Chromium that starts beside many others takes its time
BROWSER_S = 100.0
TABLE = {"do": "extract", "as": "orders", "selector": "table.orders", "what": "table", "append": True}
LOGIN = (
    {"do": "fill", "selector": "[name=user]", "value": "{{payload.user}}"},
    {"do": "fill", "selector": "[name=password]", "value": "{{secret.password}}"},
    {"do": "click", "name": "log in", "selector": "button"},
)
GOOD = [
    {"do": "goto", "name": "open the orders", "url": ORDERS},
    *LOGIN,
    TABLE,
    {"do": "if_visible", "selector": "a.next", "repeat": 2, "then": [{"do": "click", "selector": "a.next"}, TABLE]},
    {"do": "download", "name": "export", "selector": "a.export"},
    {"do": "screenshot", "name": "last page"},
]
PRINT = {"do": "click", "name": "press print", "selector": "#print", "timeout_s": 0.5, "fails_as": "bad_payload"}
BAD = [GOOD[0], {"do": "screenshot", "name": "before"}, PRINT, {"do": "sleep", "seconds": 0}]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose worker knows the sample desk and the password of its shop."""
    lab = Lab()
    lab.start()
    monkeypatch.setenv("FLEETDECK_EXECUTORS__BROWSER__SITES", json.dumps({"pdd": lab.front.url}))
    monkeypatch.setenv("FLEETDECK_SECRET__PDD__S1__PASSWORD", PASSWORD)
    (tmp_path / "console.json").write_text('{"chosen": "local", "slots": 1}', encoding="utf-8")
    yield tmp_path
    lab.stop()


async def create(window: MainWindow, payload: dict[str, object]) -> None:
    """Fill in New task as a person does, with the flow pasted as JSON."""
    window.top_bar.create_requested.emit()
    await until(lambda: bool(window.findChildren(NewTaskDialog)), "the dialog")
    (dialog,) = window.findChildren(NewTaskDialog)
    await until(lambda: dialog.shops.picker.model.rowCount() > 0, "the shops are known")
    dialog.what.types.setCurrentIndex(dialog.what.types.findData("browser_flow"))
    dialog.shops.picker.tick(("pdd:s1",))
    assert dialog.parameters.mode.current() == "json", "a list of steps is pasted"
    dialog.parameters.editor.setPlainText(json.dumps(payload))
    await until(dialog.verbs.create.isEnabled, "it can be created")
    dialog.verbs.create.click()
    await until(lambda: not dialog.isVisible(), "it is created")


async def ended(console: Console, number: int) -> str:
    """The newest task, once so many have ended."""
    assert console.connection is not None
    queries = console.connection.queries.tasks
    done = [True] * number
    await until(lambda: [one.ended for one in queries.page("").tasks] == done, f"{number} tasks ended", BROWSER_S)
    return queries.page("").tasks[0].task_id


def test_a_flow_is_created_runs_in_chromium_and_its_panel_tells(qapp: QApplication, home: Path) -> None:
    async def scene(console: Console) -> None:
        await until(lambda: console.opened is not None and console.opened.window.isVisible(), "the window")
        assert console.connection is not None
        assert console.opened is not None
        session, window = console.connection, console.opened.window
        session.commands.fleet.import_shops([Shop(platform="pdd", shop_id="s1", name="微光数码专卖店")])
        await until(lambda: bool(session.local.name), "a local worker")
        window.open_page("tasks")
        page = window.page("tasks")
        assert isinstance(page, TasksPage)
        panel = page.panel
        await create(window, {"user": "me", "steps": GOOD})
        task_id = await ended(console, 1)
        page.show_task(task_id)
        await until(lambda: panel.files.names() != [], "its files are listed")
        task = session.queries.tasks.get([task_id])[0]
        assert task.status == Status.SUCCEEDED, task.error
        assert panel.steps.note() == "all done"
        assert len(json.loads(panel.result.toPlainText())["orders"]) == 30
        assert {"orders-s1.csv", "orders.csv", "last page.png"} <= set(panel.files.names())
        await until(lambda: panel.files.picture.isVisibleTo(window), "the screenshot is shown")

        await create(window, {"steps": BAD})
        task_id = await ended(console, 2)
        page.show_task(task_id)
        failure = panel.steps.failure
        await until(lambda: failure.picture.isVisibleTo(window), "the step stands with its picture")
        assert panel.steps.note() == "failed at step 3 of 4"
        states = [one.state for one in panel.steps._trace.steps]  # type: ignore[union-attr]
        assert states == [StepState.DONE, StepState.DONE, StepState.FAILED, StepState.AHEAD]
        assert panel.steps.before.entries()[-1].text == "3  click"
        assert failure.said.text().endswith(" within 0.5 s")
        assert failure.picture.shown is not None
        assert failure.picture.shown.name == "press print.png", "not the picture that was taken before"
        assert not panel.files.picture.isVisibleTo(window), "the same picture stands once"
        assert [link.text() for link in failure.links] == ["Page as HTML"]
        failure.links[0].click()
        (dialog,) = window.findChildren(ArtifactDialog)
        await until(lambda: '<table class="orders">' in dialog.text.toPlainText(), "the page can be read")
        dialog.reject()

    play(qapp, home, scene, seconds=250)
