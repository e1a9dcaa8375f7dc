"""No secret in anything that the window shows, says, copies or writes: one stands in every text field of every kind of
object, and every page, row, panel, menu, dialog and file is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QObject, QPoint, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import assembly
from services.cli.window import pages
from services.domain.change import Annotate
from services.domain.fleet.shop import Shop
from services.domain.text import mask
from services.ports.journals import LogLine
from services.settings import Settings
from tests.integration.test_cli_masking import MARK, fill
from views.pages.audit.page import AuditPage
from views.pages.tasks.listing import Wanted
from views.pages.tasks.page import TasksPage
from views.pages.tasks.sharing import FORMS
from views.support.operation import Operation
from views.tables.copying import to_tsv
from views.tables.table_view import TableView
from views.widgets.attention.item import AttentionItem

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]
#: a secret that nothing but its value gives away
KNOWN = "Registered7Marker"
#: how a tool tip begins that was made one twice: people read its tags
TWICE = "&lt;qt"
ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.EditRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
ROOT = QModelIndex()
SAYINGS = ("windowTitle", "toolTip", "statusTip", "whatsThis", "accessibleName", "accessibleDescription")


class Eye:
    """Sees every text that is painted, shown, spoken or copied."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: dict[str, str] = {}
        self.dots = 0
        self._watch(monkeypatch, QPainter, "drawText")
        self._watch(monkeypatch, QFontMetrics, "elidedText")

    def _watch(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        real = getattr(owner, name)

        def seen(this: object, *args: Any) -> Any:
            for word in args:
                if isinstance(word, str):
                    self.see(word, f"painted by {owner.__name__}.{name}")
            return real(this, *args)

        monkeypatch.setattr(owner, name, seen)

    def see(self, text: str, where: str) -> None:
        """Look at a text."""
        self.dots += mask.DOTS in text
        if MARK in text or KNOWN in text or TWICE in text:
            self.found.setdefault(where, text[:400])

    def look(self, root: QWidget, where: str) -> None:
        """Look at everything below a widget."""
        root.grab()
        for widget in (root, *root.findChildren(QWidget)):
            name = f"{where}: {type(widget).__name__}"
            for saying in SAYINGS:
                self.see(str(getattr(widget, saying)()), f"{name}.{saying}")
            if isinstance(widget, QLabel | QAbstractButton):
                self.see(widget.text(), name)
            elif isinstance(widget, QLineEdit):
                self.see(f"{widget.text()}\n{widget.placeholderText()}", name)
            elif isinstance(widget, QPlainTextEdit | QTextEdit) and widget.isReadOnly():  # what is edited will be sent
                self.see(widget.toPlainText(), name)
            elif isinstance(widget, QComboBox):
                for at in range(widget.count()):
                    self.see(widget.itemText(at), name)
            if isinstance(widget, QAbstractItemView) and widget.model() is not None:
                self._model(widget, name)

    def _model(self, view: QAbstractItemView, name: str) -> None:
        model = view.model()
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(ROOT)
        for row in range(model.rowCount(ROOT)):
            for column in range(columns):
                for role in ROLES:
                    self.see(
                        str(model.data(model.index(row, column), role) or ""), f"{name} column {column} {role.name}"
                    )

    def menu(self, menu: QMenu, where: str) -> None:
        """Look at a menu and those below it."""
        for action in menu.actions():
            self.see(f"{action.text()}\n{action.toolTip()}", f"{where}: menu")
            if action.menu() is not None:
                self.menu(action.menu(), where)


@pytest.fixture
def secrets(place: Settings) -> None:
    """One of everything, with a secret wherever a text can stand."""
    mask.know([KNOWN])
    engine = assembly.open_engine(place)
    fill(engine)
    said = f"the word is {KNOWN}"
    engine.store.put_shops([Shop(platform="pdd", shop_id="s3", name=said)])
    engine.store.append_log("dead1", 1, [LogLine(2, "out", said)])
    engine.store.apply([Annotate(task_id="dead1", note_id="n2", by="a@b", text=said)])
    engine.registry.forget()
    engine.close()


@pytest.fixture
def eye(monkeypatch: pytest.MonkeyPatch) -> Eye:
    """Open from before the window is made."""
    return Eye(monkeypatch)


def settle(qtbot: QtBot, root: QObject) -> None:
    """Until every question under way has its answer."""

    def idle() -> bool:
        QCoreApplication.sendPostedEvents()
        return not any(one.busy for one in root.findChildren(Operation))

    for _ in range(3):  # an answer may ask again
        qtbot.wait(60)
        qtbot.waitUntil(idle, timeout=20_000)


def dialogs(window: QWidget) -> Iterator[QDialog]:
    """Those that are open."""
    yield from [one for one in window.findChildren(QDialog) if one.isVisible()]


@pytest.mark.timeout(300)
def test_no_page_panel_menu_or_copy_shows_a_secret(secrets: None, eye: Eye, qtbot: QtBot, console: Console) -> None:
    window = console.window
    for name in pages():
        window.open_page(name)
        page = window.page(name)
        settle(qtbot, page)
        if isinstance(page, AuditPage):
            page.verify()
            settle(qtbot, page)
        for table in page.findChildren(TableView):
            records = table.records
            eye.see(to_tsv(records.columns, records.records()), f"{name}: rows copied")
            for row in range(min(records.rowCount(), 12)):
                key = records.key_at(row)
                table.set_current_key(key)
                table.peek_requested.emit(key)
                settle(qtbot, page)
                eye.look(page, f"{name} {key}")
                for asked in (table.menu_requested, table.menu_ending):
                    menu = QMenu()
                    asked.emit(menu, key)
                    eye.menu(menu, f"{name} {key}")
                    menu.deleteLater()
        for item in page.findChildren(AttentionItem):
            item.copy_text()
            eye.see(QGuiApplication.clipboard().text(), f"{name}: attention copied")
        eye.look(window, name)
    for part in ("broker", "store", "workers", "freshness"):
        window.top_bar.health_requested.emit(part, QPoint(0, 0))
        popover = console.wiring.doors.popover
        assert popover is not None
        eye.look(popover, f"popover {part}")
        popover.close()
    console.keys.palette.ask()
    settle(qtbot, window)
    eye.look(console.keys.palette, "palette")
    console.keys.palette.hide()
    assert "\n".join(f"{where} → {text!r:.160}" for where, text in eye.found.items()) == ""
    assert eye.dots > 50, "the secrets stood where they were looked for"


def test_no_copy_and_no_file_has_a_secret(
    secrets: None, eye: Eye, qtbot: QtBot, console: Console, tmp_path: Path
) -> None:
    window = console.window
    tasks, audit = window.page("tasks"), window.page("audit")
    assert isinstance(tasks, TasksPage)
    assert isinstance(audit, AuditPage)
    window.open_page("tasks")
    settle(qtbot, tasks)
    ids = [str(tasks.table.records.key_at(row)) for row in range(tasks.table.records.rowCount())]
    assert len(ids) > 5
    for form, _words in FORMS:
        tasks.sharing.copy(form, ids)
        settle(qtbot, tasks)
        eye.see(QGuiApplication.clipboard().text(), f"copied as {form}")
    for ending in ("csv", "json"):
        file = tmp_path / f"tasks.{ending}"
        with qtbot.waitSignal(tasks.sharing.exported):
            tasks.sharing.write(file, (), Wanted())
        eye.see(file.read_text(encoding="utf-8-sig"), f"file {ending}")
    window.open_page("audit")
    settle(qtbot, audit)
    with qtbot.waitSignal(audit.sharing.exported):
        audit.sharing.write(tmp_path / "audit.csv", "")
    eye.see((tmp_path / "audit.csv").read_text(encoding="utf-8-sig"), "audit file")
    assert "\n".join(f"{where} → {text!r:.160}" for where, text in eye.found.items()) == ""
    assert eye.dots > 5
