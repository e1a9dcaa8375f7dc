"""Every dialog that a page opens: each of its commands is run, and what opens is shown and closed again.

What a page can do is what the palette offers of it, so a new verb is looked at without being named here. In the sample
fleet its acts harm nobody.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from console.appearance import Appearance
from console.connection.welcome import make_welcome
from console.main_window import MainWindow
from console.state import ConsoleState
from services import settings as config
from services.commands.back.ways import Way
from services.commands.fleet import ShopChanged
from services.sample.fleet import sample_shops
from views.dialogs.frame import Dimming
from views.dialogs.new_task.dialog import NewTaskDialog
from views.dialogs.sheet.step import SheetStep
from views.dialogs.shops.edit import ShopDialog
from views.dialogs.shops.picker import PASTE
from views.dialogs.work.dialog import WorkDialog
from views.pages.alerts.page import CHANNELS_VIEW, RULES_VIEW
from views.pages.audit.page import AuditPage
from views.pages.schedules.editor import ScheduleDialog
from views.pages.shops.page import ShopsPage
from views.support.operation import Operation
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView

OPENS_S, TRIES = 0.15, 8
CTRL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
#: dialogs of the window itself: name, key
KEYS = (
    ("new-task", Qt.Key.Key_N, CTRL),
    ("palette", Qt.Key.Key_K, CTRL),
    ("did-it-run", Qt.Key.Key_D, CTRL),
    ("handover", Qt.Key.Key_H, CTRL),
    ("keys-help", Qt.Key.Key_Question, NONE),
    ("guide", Qt.Key.Key_F1, NONE),
)
#: what a page is asked to show, one after the other, where its commands are of that
REQUESTS = {"alerts": ("", RULES_VIEW, CHANNELS_VIEW)}
#: rows of a file in New task: good ones, and of each kind of fault one
ROWS = """平台,店铺ID,任务类型,优先级,参数,截止
pdd,{pdd},sync_order,高,"{{""page_size"": 50}}",
拼多多,{pdd},商品刷新,,"{{""goods_ids"": [""G0001""]}}",明天 09:00
pdd,pdd-99999,sync_order,普通,,
temu,{temu},同步定单,,,
temu,{temu},sync_order,很急,,
拼夕夕,{pdd},sync_order,,"{{""page_size"": }}",
temu,{temu},sync_order,低,"{{""page_size"": 5000}}",昨天
"""
#: these open a dialog of the system, in which nothing of ours stands
FOREIGN = frozenset({"shops-import", "tasks-export", "batches-export", "dead_letters-export"})
#: buttons of pages that open dialogs and are no command
BUTTONS = {"settings": ("add_button", "edit_button", "change_keys_button")}


async def dialogs_of(window: MainWindow, page: str) -> AsyncIterator[tuple[str, QWidget]]:
    """Each dialog of a page once, with a name, open; of the window itself where ``page`` is "window"."""
    for scene, shown in SCENES.get(page, {}).items():
        found = await shown(window)
        if found is not None:
            await _answered(found)
            yield scene, found
        if (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for dialog in _open():
            dialog.done(0)  # to reject one in which something was typed opens a question
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    for request in REQUESTS.get(page, ("",)):
        if request:
            window.page(page).show_request(request)
            await asyncio.sleep(OPENS_S * 6)
        async for name, dialog in _commanded(window, page):
            yield name, dialog


async def _commanded(window: MainWindow, page: str) -> AsyncIterator[tuple[str, QWidget]]:
    """What the commands and buttons of a page open as it is now."""
    for name, go in list(_ways(window, page)):
        known = set(_open())
        window.activateWindow()
        await asyncio.sleep(OPENS_S)
        with suppress(RuntimeError):  # what stood on the page is no more
            go()
        for _turn in range(TRIES):
            await asyncio.sleep(OPENS_S)
            if found := [one for one in _open() if one not in known]:
                break
        else:
            continue
        for dialog in found:
            await _answered(dialog)
            if isinstance(dialog, Dimming) and dialog.isVisible():
                yield name, dialog
            dialog.done(0)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


async def _answered(shown: QWidget) -> None:
    """What it asked for when it opened stands there."""
    await asyncio.sleep(OPENS_S * 4)
    for _turn in range(TRIES):
        if not any(one.busy for one in shown.findChildren(Operation)):
            return
        await asyncio.sleep(OPENS_S)


def _ways(window: MainWindow, page: str) -> Iterator[tuple[str, Callable[[], object]]]:
    if page == "window":
        for name, key, modifier in KEYS:
            yield name, lambda key=key, modifier=modifier: QTest.keyClick(window, key, modifier)
        return
    shown = window.page(page)
    for view in shown.findChildren(TableView):
        model = view.model()
        if view.isVisible() and model is not None and model.rowCount() and not view.currentIndex().isValid():
            view.setCurrentIndex(model.index(0, 1))
    for command in shown.commands():
        name = command.key.replace(".", "-")
        if not command.reason and name not in FOREIGN:
            yield name, command.run
    for name in BUTTONS.get(page, ()):
        button = _found(shown, name)
        if button is not None:
            yield name.removesuffix("_button").replace("_", "-"), button.click


def _found(page: QWidget, name: str) -> QAbstractButton | None:
    button = _part(page, name)
    return button if isinstance(button, QAbstractButton) and button.isVisible() else None


async def _until(found: Callable[[], QWidget | None]) -> QWidget | None:
    for _turn in range(TRIES * 3):
        if (widget := found()) is not None:
            return widget
        await asyncio.sleep(OPENS_S)
    return None


async def _new_task(window: MainWindow) -> NewTaskDialog | None:
    window.activateWindow()
    await asyncio.sleep(OPENS_S)
    QTest.keyClick(window, Qt.Key.Key_N, CTRL)
    dialog = await _until(lambda: _of(NewTaskDialog))
    if not isinstance(dialog, NewTaskDialog):
        return None
    await asyncio.sleep(OPENS_S * 4)
    return dialog


async def _form(window: MainWindow) -> QWidget | None:
    """A pasted list of shops, two lines of which are none."""
    dialog = await _new_task(window)
    if dialog is None:
        return None
    dialog.what.platforms.set_current("pdd")
    dialog.what.types.setCurrentIndex(dialog.what.types.findData("sync_order"))
    dialog.shops.set_mode(PASTE)
    shops = [shop.shop_id for shop in sample_shops(20) if shop.platform == "pdd"]
    dialog.shops.picker.paste.field.setPlainText("\n".join([*shops[:6], shops[6][:-1], "小满百货旗舰"]))
    await asyncio.sleep(OPENS_S * 12)
    return dialog


async def _did(window: MainWindow) -> QWidget | None:
    """Several works at once."""
    window.activateWindow()
    await asyncio.sleep(OPENS_S)
    QTest.keyClick(window, Qt.Key.Key_D, CTRL)
    dialog = await _until(lambda: _of(WorkDialog))
    if isinstance(dialog, WorkDialog):
        await asyncio.sleep(OPENS_S * 4)
        dialog.field.setText("pdd-100 sync")
        await asyncio.sleep(OPENS_S * 12)
    return dialog


async def _template(window: MainWindow) -> QWidget | None:
    """The name under which a form is kept; kept, it stands in the menu of the dialog."""
    dialog = await _new_task(window)
    if dialog is None:
        return None
    dialog.templates.keep("双十一 orders, high", {"task_type": "sync_order", "priority": 9})
    dialog.verbs.keep.click()
    return await _until(lambda: next((one for one in _open() if one is not dialog), None))


async def _templates(window: MainWindow) -> QWidget | None:
    dialog = await _new_task(window)
    if dialog is None:
        return None
    dialog.from_template.click()
    return await _until(QApplication.activePopupWidget)


async def _file(window: MainWindow) -> QWidget | None:
    """The rows of a file, with their errors."""
    dialog = await _new_task(window)
    if dialog is None:
        return None
    known = {shop.platform: shop.shop_id for shop in sample_shops(20)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "订单补跑.csv")
        path.write_text(ROWS.format(pdd=known["pdd"], temu=known["temu"]), encoding="gbk")
        dialog.take_file(path)
        step = await _until(lambda: dialog.sheet if dialog.sheet.isVisible() else None)
    if isinstance(step, SheetStep):
        step.grid.next_error()
    return dialog


async def _load(window: MainWindow) -> QWidget | None:
    """A new schedule over every shop, with what it does to the line of the workers."""
    next(one for one in window.page("schedules").commands() if one.key == "schedules.new").run()
    dialog = await _until(lambda: _of(ScheduleDialog))
    if isinstance(dialog, ScheduleDialog):
        await asyncio.sleep(OPENS_S * 4)
        dialog.name.setText("all-orders")
        dialog.task_type.setCurrentText("sync_order")
        await _until(lambda: dialog.load if dialog.load.isVisible() else None)
    return dialog


async def _back(window: MainWindow) -> QWidget | None:
    """An act that shall be taken back."""
    page = window.page("audit")
    assert isinstance(page, AuditPage)
    model = page.table.model()
    assert isinstance(model, RecordModel)
    for row in model.records():
        if isinstance(row.back, Way):
            page.taking_back.ask(row)
            return await _until(lambda: _of(Dimming))
    return None


async def _refused(window: MainWindow) -> QWidget | None:
    """A shop that somebody else changed while it was edited."""
    page = window.page("shops")
    assert isinstance(page, ShopsPage)
    await _until(lambda: page.table if page.table.records.rowCount() else None)
    row = page.table.records.record(0)
    page.actions_of_page.edit(row)
    dialog = await _until(lambda: _of(ShopDialog))
    if isinstance(dialog, ShopDialog):
        dialog.name.setText(f"{row.shop.name} 2")
        dialog.tags.setText("vip")
        dialog.at_once.setValue(7)
        now = replace(row.shop, name=f"{row.shop.name}（总店）", tags=("双十一", "大促"), group="east")
        dialog.refused(ShopChanged("", "name", now))
    return dialog


async def _welcome(window: MainWindow) -> QWidget | None:
    """The first run."""
    with tempfile.TemporaryDirectory() as folder:
        first, _page = make_welcome(config.load(home=Path(folder)), Appearance(ConsoleState(Path(folder))))
    first.resize(window.size())
    first.show()
    await asyncio.sleep(OPENS_S * 4)
    window.destroyed.connect(first.deleteLater)
    return first


async def _about(window: MainWindow) -> QWidget | None:
    return _part(window.page("settings"), "about")


#: what is behind more than one step, by page
SCENES: Mapping[str, Mapping[str, Callable[[MainWindow], Awaitable[QWidget | None]]]] = {
    "window": {
        "new-task-form": _form,
        "did-it-run-answered": _did,
        "new-task-template": _template,
        "new-task-templates": _templates,
        "new-task-file": _file,
        "first-run": _welcome,
    },
    "schedules": {"load": _load},
    "shops": {"edit-refused": _refused},
    "audit": {"back": _back},
    "settings": {"about": _about},
}


def _of(kind: type[QDialog]) -> QDialog | None:
    return next((one for one in _open() if isinstance(one, kind)), None)


def _part(page: QWidget, name: str) -> QWidget | None:
    found = (getattr(part, name, None) for part in (page, *page.findChildren(QWidget)))
    return next((one for one in found if isinstance(one, QWidget)), None)


def _open() -> list[QDialog]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()]
