"""The dialog of a promise: how it would stand while it is typed, errors at their field, kept by a command."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import promise as promises
from services.domain.promises.promise import Promise
from services.domain.promises.standing import Standing
from tests.support.held import settled
from tests.unit.views.pages.fleet_rig import Fleet
from views.pages.promises import editor
from views.pages.promises.editor import PromiseDialog
from views.support.look import focus_chain

pytestmark = pytest.mark.one_pair

Open = Callable[..., PromiseDialog]
WAIT_MS = 10_000
WEEK = tuple(range(7))


@pytest.fixture
def open_dialog(qtbot: QtBot, fleet: Fleet) -> Open:
    """Opens the dialog as the page does, its list of types filled."""

    def make(promise: Promise | None = None) -> PromiseDialog:
        dialog = PromiseDialog(fleet.context, promise)
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: dialog.task_type.count() > 0, timeout=WAIT_MS)
        return dialog

    return make


def kept(fleet: Fleet, name: str) -> Promise:
    """What is stored."""
    return promises.DOCUMENT.load(fleet.store.documents(promises.KIND)[name])


def keep(qtbot: QtBot, dialog: PromiseDialog) -> str:
    """Press Save; returns the name that was kept."""
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS) as told:
        dialog.save_button.click()
    return str(told.args[0])


def test_how_it_would_stand_is_said_before_it_is_kept(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    fleet.context.commands.fleet.pause("platform:pdd", reason="a sale")
    dialog = open_dialog()
    dialog.name.setText("goods")
    dialog.task_type.setCurrentText("refresh_goods")
    dialog.kind.choose("by")
    dialog.begins.setText("00:00")
    dialog.by.setText("24:00")
    dialog.choice.choose("some")
    dialog.platforms.setText("pdd")
    qtbot.waitUntil(lambda: "it would stand now: At risk: " in dialog.preview.text(), timeout=WAIT_MS)
    assert dialog.accessibleDescription() == "refresh_goods done by 24:00, every shop of Pinduoduo"
    assert "The first break would be at " in dialog.preview.text()
    assert re.search(r"\nOf \d+ shops it is not known how they stood before\.$", dialog.preview.text())
    assert fleet.store.documents(promises.KIND) == {}
    assert fleet.store.documents(promises.STATE) == {}
    assert keep(qtbot, dialog) == "goods"
    made = kept(fleet, "goods")
    assert (made.kind, made.platforms, made.window) == ("by", ("pdd",), Weekly(days=WEEK, start=0, end=1440))


def test_what_comes_of_it_and_what_is_wrong_are_said_in_the_language_of_the_moment(
    request: pytest.FixtureRequest, qtbot: QtBot, open_dialog: Open
) -> None:
    dialog = open_dialog()
    dialog.name.setText("goods")
    dialog.task_type.setCurrentText("refresh_goods")
    qtbot.waitUntil(lambda: "it would stand now" in dialog.preview.text(), timeout=WAIT_MS)
    request.addfinalizer(lambda: i18n.set_language("en"))
    i18n.set_language("zh_CN")
    qtbot.waitUntil(lambda: "如果保存" in dialog.preview.text(), timeout=WAIT_MS)
    dialog.limit.setText("soon")
    qtbot.waitUntil(lambda: bool(dialog.fields["limit"].error()), timeout=WAIT_MS)
    said = dialog.fields["limit"].error()
    i18n.set_language("en")
    qtbot.waitUntil(lambda: dialog.fields["limit"].error() not in ("", said), timeout=WAIT_MS)


def test_how_something_else_would_stand_is_not_told_of_what_is_typed_by_now(qtbot: QtBot, fleet: Fleet) -> None:
    begun, go = threading.Event(), threading.Event()

    def tried(promise: Promise) -> Standing:
        if begun.is_set():
            return fleet.context.promise_tried(promise)
        begun.set()
        go.wait(WAIT_MS / 1000)
        raise UsageError("an answer of before")

    dialog = PromiseDialog(structs.replace(fleet.context, promise_tried=tried))
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.task_type.count() > 0, timeout=WAIT_MS)
    dialog.name.setText("goods")
    qtbot.waitUntil(begun.is_set, timeout=WAIT_MS)
    dialog.limit.setText("30")
    go.set()
    settled(qtbot, dialog)
    assert "an answer of before" not in dialog.preview.text()
    dialog.reject()


def test_a_promise_is_changed_and_what_is_not_shown_stays(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    window = Weekly(days=(0, 1, 2, 3, 4), start=8 * 60, end=23 * 60)
    fleet.context.commands.promises.set(
        Promise(name="orders", task_type="sync_order", limit_s=3600, all_shops=True, window=window, owner="Lin Mei")
    )
    dialog = open_dialog(kept(fleet, "orders"))
    assert dialog.name.isReadOnly()
    assert (dialog.limit.text(), dialog.hours.text(), dialog.owner.text()) == ("60m", "08:00-23:00", "Lin Mei")
    assert [box.isChecked() for box in dialog.days] == [True] * 5 + [False] * 2
    dialog.limit.setText("90m")
    dialog.days[5].setChecked(True)
    keep(qtbot, dialog)
    made = kept(fleet, "orders")
    assert (made.limit_s, made.version, made.owner) == (5400, 2, "Lin Mei")
    assert made.window == Weekly(days=(0, 1, 2, 3, 4, 5), start=8 * 60, end=23 * 60)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("limit", "soon", "Write a duration such as 90s, 30m or 2h."),
        ("limit", "5s", "a promise is never older than 60 seconds to 31 days, not 5 seconds"),
        ("hours", "8 to 9", "an hour is written 08:00, hours are written 08:00-23:00, not "),
        ("name", "two words", "a name has 1 to 64 letters, digits, _ and -, not "),
    ],
)
def test_what_is_wrong_stands_at_its_field(qtbot: QtBot, open_dialog: Open, field: str, text: str, said: str) -> None:
    dialog = open_dialog()
    dialog.name.setText("orders")
    getattr(dialog, field).setText(text)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: dialog.fields[field].error() != "", timeout=WAIT_MS)
    assert dialog.fields[field].error().startswith(said)
    assert dialog.isVisible()


def test_its_parts_are_fields_of_a_sentence_in_the_order_of_the_language(
    request: pytest.FixtureRequest, qtbot: QtBot, open_dialog: Open
) -> None:
    dialog = open_dialog()
    assert dialog.limit.isVisible()
    assert not any(one.isVisible() for one in (dialog.by, dialog.begins, dialog.platforms, dialog.shops))
    dialog.kind.choose("by")
    dialog.choice.choose("some")
    assert dialog.by.isVisible()
    assert dialog.platforms.isVisible()
    assert not any(one.isVisible() for one in (dialog.limit, dialog.hours))
    assert reached(dialog, dialog.kind) < reached(dialog, dialog.by)
    request.addfinalizer(lambda: i18n.set_language("en"))
    i18n.set_language("zh_CN")
    assert reached(dialog, dialog.choice) < reached(dialog, dialog.platforms) < reached(dialog, dialog.by)
    assert reached(dialog, dialog.by) < reached(dialog, dialog.kind) < reached(dialog, dialog.days[0])
    assert dialog.kind.currentText() == "完成"
    assert all(one.field.accessibleName() for one in dialog.fields.values())


def reached(dialog: PromiseDialog, field: QWidget) -> int:
    """After how many steps of Tab a field is reached."""
    return list(focus_chain(dialog)).index(field)


def test_what_is_wrong_is_read_below_its_sentence(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog()
    dialog.name.setText("orders")
    dialog.limit.setText("soon")
    dialog.save_button.click()
    wrong = dialog.fields["limit"].error()
    assert wrong in [one.text() for one in dialog.findChildren(QLabel) if one.isVisible()]
    assert dialog.limit.accessibleDescription() == wrong
    dialog.limit.setText("60m")
    qtbot.waitUntil(lambda: not dialog.fields["limit"].error(), timeout=WAIT_MS)
    assert wrong not in [one.text() for one in dialog.findChildren(QLabel) if one.isVisible()]


def test_no_day_at_all_is_refused(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog()
    dialog.name.setText("orders")
    for box in dialog.days:
        box.setChecked(False)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: dialog.fields["days"].error() != "", timeout=WAIT_MS)


@pytest.mark.parametrize(
    "fields",
    [
        {"limit_s": 3600, "all_shops": True},
        {"limit_s": 7200, "platforms": ("pdd", "temu"), "groups": ("vip",)},
        {"limit_s": 90, "shops": ("pdd:s1",), "window": Weekly(days=(5, 6), start=22 * 60, end=6 * 60)},
        {"kind": "by", "all_shops": True, "window": Weekly(days=WEEK, start=0, end=480)},
        {"kind": "by", "all_shops": True, "window": Weekly(days=(0,), start=360, end=720), "note": "x", "owner": "y"},
    ],
)
def test_what_the_fields_show_is_what_they_keep(fields: dict[str, Any]) -> None:
    made = Promise(name="one", task_type="sync_order", **fields)
    assert editor.promise_of(editor.filled(made), made) == made


def test_hours_may_be_typed_as_in_chinese() -> None:
    found = editor.promise_of(editor.Filled(name="one", task_type="sync_order", hours="08：00 至 23：00"))
    assert (found.window.start, found.window.end) == (480, 1380)
    with pytest.raises(UsageError):
        editor.promise_of(editor.Filled(name="one", task_type="sync_order", limit=""))
