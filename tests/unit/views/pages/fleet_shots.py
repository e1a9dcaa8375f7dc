"""Saves pictures of the pages over a real engine, to be looked at beside the design; run by hand.

QT_QPA_PLATFORM=offscreen .venv/bin/python -m tests.unit.views.pages.fleet_shots /tmp/shots dead_letters
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtWidgets import QApplication, QWidget

from services import i18n
from services.domain.insight import worker as insight
from services.domain.insight.connection import Answer
from services.domain.insight.worker import AGAIN, HELD, UNCONFIRMED, Fate
from services.settings import load
from tests.support.widgets import find
from tests.unit.views.pages.fleet_rig import Fleet, open_fleet
from views.page import Page
from views.support.language import language_relay
from views.theme import theme
from views.widgets.segmented import Segmented

SIZES = ((1430, 926), (1084, 726))  # the page beside the rail at 1600 x 1000, and at 1280 x 800 with the rail folded


def wait(until: Callable[[], bool], seconds: float = 8.0) -> None:
    """Run the loop until something holds."""
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        QApplication.processEvents()
        time.sleep(0.01)


def settle(seconds: float = 0.4) -> None:
    """Run the loop for a moment."""
    wait(lambda: False, seconds)


def shots(folder: Path, name: str, make: Callable[[], QWidget], prepare: Callable[[QWidget], None]) -> None:
    """One picture for each language, theme and size."""
    for code, mode, size in (
        ("en", "dark", SIZES[0]),
        ("en", "dark", SIZES[1]),
        ("en", "light", SIZES[0]),
        ("zh_CN", "dark", SIZES[1]),
        ("zh_CN", "light", SIZES[0]),
    ):
        i18n.set_language(code)
        theme().set_mode(mode)
        widget = make()
        widget.resize(*size)
        widget.show()
        if isinstance(widget, Page):
            widget.activate()
        prepare(widget)
        widget.grab().save(str(folder / f"{name}-{code}-{mode}-{size[0]}.png"))
        if isinstance(widget, Page):
            widget.deactivate()
        widget.close()
        widget.deleteLater()


def dead_letters(fleet: Fleet, folder: Path) -> None:
    """Three panes; some rows ticked, the message changed."""
    from views.pages.dead_letters.page import DeadLettersPage

    def prepare(page: QWidget) -> None:
        assert isinstance(page, DeadLettersPage)
        wait(lambda: bool(page.panel.editor.json.toPlainText()))
        page.panel.editor.json.setPlainText(page.panel.editor.json.toPlainText().replace("50", "20"))
        page.table.records.set_ticked([page.table.records.key_at(row) for row in range(3)])
        settle()

    shots(folder, "dead", lambda: DeadLettersPage(fleet.context), prepare)
    page = DeadLettersPage(fleet.context)
    page.resize(*SIZES[0])
    page.show()
    page.activate()
    wait(lambda: bool(page.table.records.rowCount()))
    page.table.records.tick_all()
    page.verbs.act("republish", page.ticked())
    settle()
    from views.dialogs.republish.dialog import RepublishDialog

    dialog = page.findChild(RepublishDialog)
    assert dialog is not None
    wait(lambda: dialog.looked is not None)
    settle(0.2)
    dialog.grab().save(str(folder / "dead-confirm.png"))
    page.grab().save(str(folder / "dead-behind.png"))
    dialog.reject()
    page.close()


def workers(fleet: Fleet, folder: Path) -> None:
    """Nodes of every state, none, and one on this computer."""
    from views.pages.workers.page import WorkersPage

    def prepare(page: QWidget) -> None:
        assert isinstance(page, WorkersPage)
        settle(0.6)
        now = fleet.store.now_ms()
        fleet.context.feed.looked.disconnect(page._on_looked)
        late = fleet.heartbeat("rpa-03", slots=16, busy=7, node="desk-2")
        gone = fleet.heartbeat("rpa-05-with-a-long-name", slots=5, busy=4)
        held = [slot.task_id for slot in late.slots if slot.task_id]
        lost = [slot.task_id for slot in gone.slots if slot.task_id]
        fates = {
            "rpa-03": tuple(
                Fate(task_id=one, what=UNCONFIRMED, until=now + 39_000, then=HELD if place < 2 else AGAIN)
                for place, one in enumerate(held)
            ),
            "rpa-05-with-a-long-name": (
                *(Fate(task_id=one, what=AGAIN, worker=f"rpa-0{place + 1}") for place, one in enumerate(lost[:2])),
                *(Fate(task_id=one, what=HELD) for one in lost[2:]),
            ),
        }
        workers = (
            fleet.heartbeat("rpa-01", slots=16, busy=15, node="desk-1"),
            fleet.heartbeat("rpa-02", slots=16, busy=14, cpu=97.0, memory_mb=1100.0, node="desk-1"),
            msgspec.structs.replace(late, seen_at=now - 22_000),
            fleet.heartbeat("rpa-04", slots=12, busy=3, state="draining", node="desk-1"),
            msgspec.structs.replace(gone, seen_at=now - 74_000),
            fleet.heartbeat("rpa-06", slots=4, busy=0, state="stopped"),
            fleet.heartbeat("rpa-07", slots=120, busy=90, node="desk-2"),
        )
        page.show_fleet(insight.look(workers, now, fates, leader="rpa-01"), now)
        page.board.reorder()
        settle(0.2)

    def empty(page: QWidget) -> None:
        settle(0.3)

    for name in [info.worker for info in fleet.store.workers()]:
        fleet.store.forget_worker(name)
    shots(folder, "workers-none", lambda: WorkersPage(fleet.context), empty)
    shots(folder, "workers", lambda: WorkersPage(fleet.context), prepare)
    page = WorkersPage(fleet.context)
    page.resize(*SIZES[0])
    page.show()
    page.activate()
    page.local.button.click()
    wait(lambda: page.local.state == "running")
    settle(2.5)
    find(page, Segmented, "View of the nodes").choose("table")
    settle(0.2)
    page.grab().save(str(folder / "workers-table.png"))
    find(page, Segmented, "View of the nodes").choose("slots")
    settle(0.2)
    page.grab().save(str(folder / "workers-local.png"))
    page.close()
    page.deleteLater()


def new_task(fleet: Fleet, folder: Path) -> None:
    """The form, a pasted list with errors, raw JSON with errors, the result."""
    from services.commands.tasks import TaskSpec
    from views.dialogs.new_task.dialog import NewTaskDialog

    shops = sorted(fleet.context.shops())
    twin = [TaskSpec(platform="pdd", shop_id=shop.partition(":")[2], task_type="sync_order") for shop in shops[:3]]
    fleet.context.commands.tasks.create(twin, origin="console")
    fleet.heartbeat("rpa-01", slots=16, busy=4)
    prefill = {
        "platform": "pdd",
        "task_type": "sync_order",
        "shops": shops[:12],
        "payload": {"since": "2026-11-21", "status": ["paid", "shipped"], "page_size": 50, "x-note": 1},
    }
    for code, mode, size in (
        ("en", "dark", (1600, 1000)),
        ("en", "light", (1280, 800)),
        ("zh_CN", "dark", (1280, 800)),
    ):
        i18n.set_language(code)
        theme().set_mode(mode)
        window = QWidget()
        window.setProperty("panel", "page")
        window.resize(*size)
        window.show()
        dialog = NewTaskDialog(fleet.context, prefill, window)
        dialog.open()
        wait(lambda d=dialog: bool(d.forecast.twins.lead()))
        settle(0.2)
        dialog.grab().save(str(folder / f"new-form-{code}-{mode}.png"))
        dialog.shops.mode.choose("paste")
        names = "pdd-10021\npdd-10025, pdd-1004\n晨雾家居旗舰店\n小满百货旗舰\nQuillmark"
        dialog.shops.picker.paste.field.setPlainText(names)
        dialog.shops.picker.paste.flush()
        dialog.parameters.set_mode("json")
        dialog.parameters.editor.setPlainText('{\n  "since": "soon",\n  "status": ["lost"],\n  "page_size": 500\n}')
        settle(0.8)
        dialog.grab().save(str(folder / f"new-json-{code}-{mode}.png"))
        dialog.parameters.set_mode("form")
        settle(0.2)
        dialog.grab().save(str(folder / f"new-invalid-{code}-{mode}.png"))
        window.grab().save(str(folder / f"new-behind-{code}-{mode}.png"))
        dialog.parameters.show_kind(dialog.what.kind(), {})
        dialog.shops.start_over()
        dialog.what.choose("all", "batch_reply")
        dialog._form.on_type()
        dialog.shops.mode.choose("file")
        table = folder / "list.csv"
        table.write_text("platform,店铺,note\npdd,pdd-10021,a\ntemu,Quillmark,b\npdd,nobody,c\n", encoding="utf-8")
        dialog.shops.picker.file.open(table)
        dialog.delivery.start.choose("at")
        settle(0.5)
        dialog.grab().save(str(folder / f"new-file-{code}-{mode}.png"))
        dialog.sheet.summary.change.activated.emit()
        dialog.shops.mode.choose("group")
        dialog.verbs.create.click()
        settle(0.2)
        dialog.grab().save(str(folder / f"new-group-{code}-{mode}.png"))
        dialog.start_over()
        dialog.what.choose("pdd", "sync_order")
        dialog.shops.picker.set_platform("pdd")
        dialog._form.on_type()
        dialog.shops.picker.tick(tuple(shops[:8]))
        dialog._form.twins = dialog._form.twins.__class__()
        dialog._creator._create(dialog.draft())
        wait(lambda d=dialog: d._pages.currentWidget() is d.outcome)
        settle(0.2)
        dialog.grab().save(str(folder / f"new-result-{code}-{mode}.png"))
        dialog.close()
        window.close()
        window.deleteLater()


def first_run(_fleet: Fleet, folder: Path) -> None:
    """Before and after a test."""
    from services.i18n import N_
    from views.pages.first_run.checks import Check
    from views.pages.first_run.page import FirstRunPage

    def prepare(page: QWidget) -> None:
        assert isinstance(page, FirstRunPage)
        page.show_checks(
            (
                Check(name=N_("Local engine"), text="ready"),
                Check(name=N_("Disk space"), text="48 GB free"),
                Check(name=N_("Memory"), text="11 GB free"),
                Check(name=N_("Sleep"), text="this computer sleeps after 15 min", state="warning"),
            )
        )
        broker, redis = "amqps://chen.yu:secret@mq.example.com:5671", "rediss://redis.example.com:6380/0"
        page.fleet.broker.setText(broker)
        page.fleet.redis.setText(redis)
        answers = (Answer(part="broker", latency_ms=3.0), Answer(part="store", words="Redis: wrong password"))
        page.show_test(answers, (broker, redis))
        settle(0.1)

    shots(folder, "first", FirstRunPage, prepare)


def settings(fleet: Fleet, folder: Path) -> None:
    """The page as it opens, with people of every role."""
    from services.commands.operator import current
    from views.pages.settings.page import SettingsPage

    roles = fleet.context.commands.roles
    roles.set("chen.yu@desk-01", "operator", note="night shift")
    roles.set("li.na@desk-02", "viewer")
    current(fleet.store, who="wang.wei@desk-03")

    def prepare(page: QWidget) -> None:
        assert isinstance(page, SettingsPage)
        page.people.refresh()
        settle(0.5)

    shots(
        folder,
        "settings",
        lambda: SettingsPage(fleet.context, data_folder="/home/chen/fleetdeck"),
        prepare,
    )


STORIES = {
    "dead_letters": dead_letters,
    "workers": workers,
    "new_task": new_task,
    "first_run": first_run,
    "settings": settings,
}


def main() -> None:
    """Make the pictures named on the command line, or all."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/shots")
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    theme().install(app)
    language_relay()
    with tempfile.TemporaryDirectory() as home, open_fleet(load(home=Path(home))) as fleet:
        fleet.seed_shops()
        fleet.seed_deaths()
        for name in sys.argv[2:] or STORIES:
            STORIES[name](fleet, folder)


if __name__ == "__main__":
    main()
