"""Every dialog that a page opens: each of its commands is run, and what opens is shown and closed again.

What a page can do is what the palette offers of it, so a new verb is looked at without being named here. In the sample
fleet its acts harm nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from console.main_window import MainWindow
from views.dialogs.frame import Dimming
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
)
#: these open a dialog of the system, in which nothing of ours stands
FOREIGN = frozenset({"shops-import", "tasks-export", "batches-export"})
#: buttons of pages that open dialogs and are no command
BUTTONS = {"settings": ("add_button", "edit_button", "change_keys_button")}


async def dialogs_of(window: MainWindow, page: str) -> AsyncIterator[tuple[str, QWidget]]:
    """Each dialog of a page once, with a name, open; of the window itself where ``page`` is "window"."""
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
        await asyncio.sleep(OPENS_S * 4)
        for dialog in found:
            if isinstance(dialog, Dimming) and dialog.isVisible():
                yield name, dialog
            dialog.reject()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


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
    for part in (page, *page.findChildren(QWidget)):
        button = getattr(part, name, None)
        if isinstance(button, QAbstractButton) and button.isVisible():
            return button
    return None


def _open() -> list[QDialog]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()]
