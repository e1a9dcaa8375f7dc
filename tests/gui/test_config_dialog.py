"""config.toml in the window: what is wrong is said at its field, what is right is written, who may not cannot."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.settings import SettingCommands
from services.domain.fleet.role import VIEWER
from services.settings import Settings, load
from tests.gui.desk import Desk
from tests.support.held import held, settled
from views.pages.settings.editor import ConfigDialog
from views.pages.settings.page import SettingsPage


@pytest.fixture
def page(desk: Desk, place: Settings, qtbot: QtBot) -> SettingsPage:
    shown = SettingsPage(desk.context, data_folder=str(place.home_path), settings=place)
    qtbot.addWidget(shown)
    shown.resize(1280, 760)
    shown.show()
    return shown


def opened(page: SettingsPage, qtbot: QtBot) -> ConfigDialog:
    dialog = page.edit()
    qtbot.waitUntil(lambda: bool(dialog.rows))
    return dialog


def test_what_is_wrong_is_told_at_its_field_and_what_is_right_is_written(
    page: SettingsPage, desk: Desk, place: Settings, qtbot: QtBot
) -> None:
    (place.home_path / "config.toml").write_text("# ours\n[worker]\nslots = 3  # few\n", encoding="utf-8")
    dialog = opened(page, qtbot)
    slots, lanes = dialog.rows["worker.slots"], dialog.rows["worker.lanes"]
    at_once = "at once for the worker in this window, when they start next for others"
    assert slots.facts() == f"from config.toml · default: 5 · takes effect {at_once}"
    assert not dialog.save_button.isEnabled()
    slots.field.setText("none")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: slots.error() == "Write a whole number")
    slots.field.setText("900")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: slots.error() == "worker.slots must be 1 to 512")
    assert not dialog.save_button.isEnabled()
    slots.field.setText("9")  # type: ignore[attr-defined]
    lanes.field.setPlainText("high\nlow")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not slots.error() and dialog.save_button.isEnabled())
    with qtbot.waitSignal(page.settings_written) as written:
        dialog.save_button.click()
    assert set(written.args[0]) == {"worker.slots", "worker.lanes"}
    assert load(home=place.home_path).worker.slots == 9
    text = (place.home_path / "config.toml").read_text(encoding="utf-8")
    assert text == '# ours\n[worker]\nslots = 9  # few\nlanes = ["high", "low"]\n'
    assert desk.toasts[-1].detail == f"Takes effect {at_once}; when a worker starts next"
    (entry,) = [one for one in desk.session.engine.store.audit(limit=20) if one.action == "settings.change"]
    assert '"from": "3"' in entry.detail
    assert '"to": "9"' in entry.detail


def test_what_opens_the_connection_anew_stays_until_a_person_has_read_it(
    desk: Desk, place: Settings, qtbot: QtBot
) -> None:
    """It left after six seconds, and nothing else opens the connection that is open."""
    opened_anew: list[bool] = []
    shown = SettingsPage(
        desk.context, data_folder=str(place.home_path), settings=place, reopen=lambda: opened_anew.append(True)
    )
    qtbot.addWidget(shown)
    dialog = opened(shown, qtbot)
    dialog.rows["worker.slots"].field.setText("9")  # type: ignore[attr-defined]
    dialog.rows["worker.lanes"].field.setPlainText("high\nlow")  # type: ignore[attr-defined]
    qtbot.waitUntil(dialog.save_button.isEnabled)
    with qtbot.waitSignal(shown.settings_written):
        dialog.save_button.click()
    told = desk.toasts[-1]
    assert told.stays
    assert told.key, "after the next change it stands once"
    i18n.set_language("zh_CN")
    try:
        assert told.again is not None
        assert told.again().actions[0].text == "重新打开连接"
    finally:
        i18n.set_language("en")
    told.actions[0].call()
    assert opened_anew == [True]


def test_slots_alone_need_no_connection_that_is_opened_anew(desk: Desk, place: Settings, qtbot: QtBot) -> None:
    shown = SettingsPage(desk.context, data_folder=str(place.home_path), settings=place, reopen=lambda: None)
    qtbot.addWidget(shown)
    dialog = opened(shown, qtbot)
    dialog.rows["worker.slots"].field.setText("9")  # type: ignore[attr-defined]
    qtbot.waitUntil(dialog.save_button.isEnabled)
    with qtbot.waitSignal(shown.settings_written):
        dialog.save_button.click()
    told = desk.toasts[-1]
    assert (told.actions, told.stays) == ((), False)


def test_a_profile_that_there_is_not_is_told_at_its_field(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    profile = dialog.rows["profile"]
    profile.field.setText("nowhere")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: profile.error() == "there is no profile 'nowhere'; known: local")
    assert not dialog.save_button.isEnabled()
    assert dialog.save_button.toolTip() == "profile is not right yet"


def test_why_a_value_was_refused_is_not_told_of_another(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    slots = dialog.rows["worker.slots"]
    was = slots.field.text()  # type: ignore[attr-defined]
    with held(SettingCommands, "check") as call:
        slots.field.setText("900")  # type: ignore[attr-defined]
        call.wait(qtbot)
        slots.field.setText(was)  # type: ignore[attr-defined]
        call.let_go()
        settled(qtbot, dialog)
    assert slots.error() == ""
    assert dialog.note.text() == "Nothing is changed"


def test_a_setting_goes_back_to_its_default_and_is_found_by_a_word(
    page: SettingsPage, place: Settings, qtbot: QtBot
) -> None:
    (place.home_path / "config.toml").write_text("[retention]\nfinished_days = 9\n", encoding="utf-8")
    dialog = opened(page, qtbot)
    dialog.search.setText("succeeded and cancelled")
    assert [name for name, row in dialog.rows.items() if row.isVisible()] == ["retention.finished_days"]
    dialog.search.setText("how long tasks dead letters put")
    assert [name for name, row in dialog.rows.items() if row.isVisible()] == ["retention.archived_days"]
    dialog.search.setText("placeholders in executors")
    assert dialog.rows["executors.rpa.command"].isVisible(), "a link of the pages is a word here"
    row = dialog.rows["retention.finished_days"]
    row.reset_button.click()
    assert row.facts().startswith("back to the default")
    qtbot.waitUntil(dialog.save_button.isEnabled)
    with qtbot.waitSignal(page.settings_written):
        dialog.save_button.click()
    assert load(home=place.home_path).retention.finished_days == 3.0


def test_every_table_is_told_by_what_it_is_about(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    names = [str(dialog.list.model().index(row, 0).data()) for row in range(dialog.list.model().rowCount())]
    assert names[:3] == ["General", "Message broker", "Store"]
    assert len(names) == len(set(names)) == len({row.what.table for row in dialog.rows.values()})


def test_what_is_nowhere_is_said_and_fields_come_before_the_buttons(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    dialog.search.setText("no such words")
    assert dialog.nothing.isVisible()
    assert not dialog.pane.isVisible()
    dialog.nothing.action.emit()
    assert not dialog.nothing.isVisible()
    assert dialog.pane.isVisible()
    dialog.list.setCurrentIndex(dialog.list.model().index(3, 0))
    dialog.activateWindow()
    dialog.list.setFocus()
    qtbot.waitUntil(dialog.list.hasFocus)
    seen = []
    for _press in range(6):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        seen.append(dialog.focusWidget())
    fields = [row.field for row in dialog.rows.values() if row.isVisible()]
    assert len(fields) == 3
    assert seen[: len(fields) + 1] == [*fields, dialog.cancel_button]


def test_where_the_file_changed_meanwhile_it_is_read_anew_and_what_was_typed_stays(
    page: SettingsPage, place: Settings, qtbot: QtBot
) -> None:
    dialog = opened(page, qtbot)
    dialog.search.setText("slots")
    dialog.rows["worker.slots"].field.setText("9")  # type: ignore[attr-defined]
    qtbot.waitUntil(dialog.save_button.isEnabled)
    (place.home_path / "config.toml").write_text("[retention]\nfinished_days = 9\n", encoding="utf-8")
    dialog.save_button.click()
    qtbot.waitUntil(dialog.error.isVisible)
    before = dialog.rows["worker.slots"]
    dialog.error.retry.emit()
    qtbot.waitUntil(lambda: dialog.rows["worker.slots"] is not before)
    assert dialog.rows["worker.slots"].isVisible(), "it is still looked for"
    assert not dialog.rows["retention.finished_days"].isVisible()
    assert dialog.rows["retention.finished_days"].facts().startswith("from config.toml")
    assert dialog.pane.body.count() == 1 + sum(2 for _row in dialog.rows) + len(
        {row.what.table for row in dialog.rows.values()}
    ), "each setting stands there once"
    qtbot.waitUntil(dialog.save_button.isEnabled)
    with qtbot.waitSignal(page.settings_written):
        dialog.save_button.click()
    assert load(home=place.home_path).worker.slots == 9


def test_who_may_not_sees_it_all_and_writes_nothing(page: SettingsPage, desk: Desk, qtbot: QtBot) -> None:
    page.set_acting("Your role may only look")
    dialog = opened(page, qtbot)
    dialog.rows["worker.slots"].field.setText("9")  # type: ignore[attr-defined]
    assert not dialog.save_button.isEnabled()
    assert dialog.note.text() == "Your role may only look"
    assert desk.context.role != VIEWER
    dialog.reject()


@pytest.mark.parametrize(("typed", "error"), [("12,5", "Write a whole number"), ("8, 12", "Write a whole number")])
def test_a_comma_that_parts_no_thousands_makes_no_larger_number(
    page: SettingsPage, qtbot: QtBot, typed: str, error: str
) -> None:
    row = opened(page, qtbot).rows["retention.finished_count"]
    row.field.setText(typed)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: row.error() == error)


def test_a_pasted_line_is_taken_without_what_surrounds_it_and_several_are_refused(
    page: SettingsPage, place: Settings, qtbot: QtBot
) -> None:
    dialog = opened(page, qtbot)
    count, zone = dialog.rows["retention.finished_count"], dialog.rows["time_zone"]
    zone.field.setText("Asia/Shanghai\nEurope/Berlin")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: zone.error() == "Write it in one line")
    zone.field.setText(" Asia/Shanghai\n")  # type: ignore[attr-defined]
    count.field.setText(" 2，000，000 ")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not zone.error() and dialog.save_button.isEnabled())
    with qtbot.waitSignal(page.settings_written):
        dialog.save_button.click()
    written = load(home=place.home_path)
    assert (written.time_zone, written.retention.finished_count) == ("Asia/Shanghai", 2_000_000)


def test_what_is_wrong_by_a_change_is_told_at_that_too_and_below_where_another_table_is_shown(
    page: SettingsPage, qtbot: QtBot
) -> None:
    dialog = opened(page, qtbot)
    store, broker = dialog.rows["store.url"], dialog.rows["broker.url"]
    store.field.setText("redis://:pw@localhost/0")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(store.error()))
    assert store.error() == broker.error()
    dialog.list.setCurrentIndex(dialog.list.model().index(0, 0))
    assert dialog.note.text() == "broker.url is not right yet"
    dialog.list.setCurrentIndex(dialog.list.model().index(2, 0))
    assert store.isVisible()
    assert dialog.note.text() == "1 setting is changed"


def test_a_setting_that_depends_on_another_is_told_at_that_too(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    base, cap = dialog.rows["retry.base_seconds"], dialog.rows["retry.cap_seconds"]
    cap.field.setText("5")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(cap.error()))
    assert (cap.error(), base.error()) == ("retry.base_seconds must be at least 1 and not above cap_seconds",) * 2
    cap.field.setText("600")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not base.error() and dialog.save_button.isEnabled())


def test_a_setting_whose_name_ends_the_name_of_a_wrong_one_is_not_wrong(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    fleet, browser = dialog.rows["time_zone"], dialog.rows["executors.browser.time_zone"]
    fleet.field.setText("Asia/Shanghai")  # type: ignore[attr-defined]
    browser.field.setText("Mars/Olympus")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(browser.error()))
    assert fleet.error() == ""


def test_another_language_is_spoken_at_once_and_what_was_typed_stays(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    dialog.rows["profile"].field.setText("nowhere")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(dialog.rows["profile"].error()))
    i18n.set_language("zh_CN")
    profile = dialog.rows["profile"]
    assert profile.field.text() == "nowhere"  # type: ignore[attr-defined]
    assert profile.facts().startswith("已修改")
    assert str(dialog.list.model().index(0, 0).data()) == "常规"
    assert dialog.search.placeholderText() == "查找设置"
    qtbot.waitUntil(lambda: "没有" in dialog.rows["profile"].error())


def test_an_address_stays_as_it_was_typed_in_another_language(page: SettingsPage, qtbot: QtBot) -> None:
    dialog = opened(page, qtbot)
    typed = "redis://:hunter22@localhost:6379/0"
    dialog.rows["store.url"].field.setText(typed)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(dialog.rows["store.url"].error()))
    i18n.set_language("zh_CN")
    now = dialog.rows["store.url"].field.text()  # type: ignore[attr-defined]
    assert now == typed, "dots would be no password"
