"""The files of a task in its panel: a picture of where it failed, the list, and one file as image or plain text."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.task.record import Task
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from tests.support import widgets
from tests.support.held import held, settled
from views.dialogs import artifact
from views.dialogs.artifact import ArtifactDialog
from views.pages.tasks.page import TasksPage

EVIL = "<script>alert(1)</script><img src='http://example.invalid/x.png'>\n<b>orders</b>"


def png(colour: str) -> bytes:
    """A picture of one colour, larger than its place."""
    image = QImage(640, 400, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


@pytest.fixture
def failed(desk: Desk) -> Task:
    """A dead task of one attempt that left a picture, a page and a table."""
    task = desk.fail(desk.create(0))
    place = desk.session.engine.artifacts
    assert place is not None
    place.put(task.task_id, 1, "before.png", png("#00ff00"), step="open")
    place.put(task.task_id, 1, "page.html", EVIL.encode())
    place.put(task.task_id, 1, "failed.png", png("#ff0000"), step="read orders")
    return task


def opened(page: TasksPage, qtbot: QtBot, task: Task) -> ArtifactDialog:
    """The dialog over the newest picture."""
    section = page.panel.files
    page.show_task(task.task_id)
    wait(qtbot, lambda: section.picture.isVisibleTo(page))
    qtbot.mouseClick(section.picture, Qt.MouseButton.LeftButton)
    (dialog,) = page.window().findChildren(ArtifactDialog)
    wait(qtbot, lambda: not dialog.image.pixmap().isNull())
    return dialog


def test_the_panel_shows_where_it_failed_and_lists_the_files(
    desk: Desk, page: TasksPage, qtbot: QtBot, failed: Task
) -> None:
    section = page.panel.files
    page.show_task(failed.task_id)
    wait(qtbot, lambda: section.picture.isVisibleTo(page))
    assert section.names() == ["before.png", "page.html", "failed.png"]
    assert section.caption.text() == "attempt 1, step read orders"
    assert section.picture.pixmap().toImage().pixelColor(5, 5) == QColor("#ff0000")
    assert max(section.picture.pixmap().width(), section.picture.pixmap().height()) <= 132 * page.devicePixelRatioF()
    i18n.set_language("zh_CN")
    wait(qtbot, lambda: section.note() == "3 个文件")
    assert section.caption.text().startswith("第 1 次")
    i18n.set_language("en")
    other = desk.succeed(desk.create(1))
    page.show_task(other.task_id)
    wait(qtbot, lambda: page.panel.task is not None and page.panel.task.task_id == other.task_id)
    assert not section.isVisibleTo(page)


def test_files_of_the_last_task_do_not_come_late_to_one_that_never_ran(
    desk: Desk, page: TasksPage, qtbot: QtBot, failed: Task
) -> None:
    section = page.panel.files
    page.show_task(failed.task_id)
    wait(qtbot, lambda: section.picture.isVisibleTo(page))
    waiting, answers = desk.create(1), list[object]()
    section.answered.connect(answers.append)
    i18n.set_language("zh_CN")
    section.follow(failed)  # asks again, for what is said in another language
    page.show_task(waiting.task_id)
    wait(qtbot, lambda: page.panel.task is not None and page.panel.task.task_id == waiting.task_id)
    assert not section.isVisibleTo(page)
    i18n.set_language("en")
    page.show_task(failed.task_id)
    wait(qtbot, lambda: section.picture.isVisibleTo(page))
    assert len(answers) == 1, "that of the task which is shown now"


def test_a_page_is_an_excerpt_in_plain_text_and_arrows_step_through(
    page: TasksPage, qtbot: QtBot, failed: Task
) -> None:
    dialog = opened(page, qtbot, failed)
    assert dialog.file.name == "failed.png"
    assert dialog.image.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Left)
    wait(qtbot, lambda: dialog.text.isVisible())
    assert dialog.text.toPlainText() == EVIL, "it stands there as it is, and nothing in it is run"
    assert dialog.before_button.isEnabled()
    i18n.set_language("zh_CN")
    assert dialog.save_button.text() == "另存为"
    i18n.set_language("en")


def test_a_file_is_never_shown_under_the_name_of_another(
    desk: Desk, page: TasksPage, qtbot: QtBot, failed: Task
) -> None:
    place = desk.session.engine.artifacts
    assert place is not None
    place.put(failed.task_id, 1, "all.zip", b"PK")
    dialog = opened(page, qtbot, failed)
    assert dialog.file.name == "failed.png"
    dialog.step(-2)
    with held(artifact, "pictures") as call:
        dialog.step(2)
        call.wait(qtbot)
        dialog.step(1)
        assert dialog.file.name == "all.zip"
        call.let_go()
        settled(qtbot, dialog)
    assert dialog.none.text().startswith("There is no preview")
    assert not dialog.image.isVisible()
    dialog.step(-1)
    wait(qtbot, dialog.image.isVisible)
    with held(artifact, "excerpt") as call:
        dialog.step(-1)
        call.wait(qtbot)
        call.let_go(OSError("it is gone"))
        wait(qtbot, dialog.error.isVisible)
    assert dialog.file.name == "page.html"
    assert not dialog.image.isVisible()


def test_a_copy_is_saved(page: TasksPage, qtbot: QtBot, failed: Task, tmp_path: Path) -> None:
    dialog = opened(page, qtbot, failed)
    dialog.save(tmp_path / "copy.png")
    wait(qtbot, (tmp_path / "copy.png").exists)
    assert (tmp_path / "copy.png").read_bytes() == png("#ff0000")
    assert dialog.folder() is not None
    assert (dialog.folder() / "failed.png").is_file()  # type: ignore[operator]
    dialog.save(tmp_path / "no such folder" / "copy.png")
    wait(qtbot, dialog.error.isVisible)


def test_two_pictures_of_a_task_are_compared_side_by_side(desk: Desk, failed: Task, qtbot: QtBot) -> None:
    place, queries = desk.session.engine.artifacts, desk.context.artifacts
    assert place is not None
    files = [
        place.put(failed.task_id, number, name, png(colour), step=step)
        for number, name, step, colour in (
            (1, "open.png", "open", "#00ff00"),
            (1, "rows.png", "read orders", "#0000ff"),
            (2, "start.png", "open", "#ffff00"),
            (2, "rows.png", "read orders", "#ff0000"),
        )
    ]
    page = place.put(failed.task_id, 2, "page.html", b"<p>")
    dialog = ArtifactDialog(queries, [*files, page], 3)
    qtbot.addWidget(dialog)
    dialog.show()

    def colours() -> list[str]:
        seen = [one for one in (dialog.image, dialog.second) if one.isVisible() and not one.pixmap().isNull()]
        return [one.pixmap().toImage().pixelColor(5, 5).name() for one in seen]

    wait(qtbot, lambda: colours() == ["#ff0000"])
    qtbot.mouseClick(dialog.compare_button, Qt.MouseButton.LeftButton)
    wait(qtbot, lambda: colours() == ["#0000ff", "#ff0000"])
    assert [one.text() for one in dialog.captions] == ["attempt 1, read orders", "attempt 2, read orders"]
    wait(qtbot, lambda: abs(dialog.image.width() - dialog.second.width()) <= 1)
    assert dialog.image.pixmap().size() == dialog.second.pixmap().size()
    assert dialog.image.pixmap().width() <= dialog.image.width() * dialog.devicePixelRatioF() + 1
    qtbot.keyClick(dialog, Qt.Key.Key_Left)
    wait(qtbot, lambda: colours() == ["#00ff00", "#ffff00"])
    qtbot.keyClick(dialog, Qt.Key.Key_C)
    wait(qtbot, lambda: colours() == ["#ffff00"])
    assert not dialog.captions[0].isVisible()
    for _step in range(2):
        qtbot.keyClick(dialog, Qt.Key.Key_Right)
    wait(qtbot, dialog.text.isVisible)
    assert not dialog.compare_button.isEnabled()


def test_a_file_that_is_gone_does_not_lead_to_saving_it(desk: Desk, failed: Task, qtbot: QtBot) -> None:
    place, queries = desk.session.engine.artifacts, desk.context.artifacts
    assert place is not None
    there = place.put(failed.task_id, 1, "there.html", b"<p>")
    gone = place.put(failed.task_id, 1, "gone.html", b"<p>")
    dialog = artifact.ArtifactDialog(queries, [there, gone])
    qtbot.addWidget(dialog)
    folder = dialog.folder()
    assert folder is not None
    (folder / "gone.html").unlink()
    dialog.show()
    wait(qtbot, dialog.text.isVisible)
    assert dialog.save_button.kind == "primary"
    dialog.step(1)
    wait(qtbot, dialog.error.isVisible)
    assert dialog.save_button.kind == "plain"
    dialog.step(-1)
    wait(qtbot, lambda: dialog.save_button.kind == "primary" and dialog.text.isVisible())


def test_long_lines_are_folded_and_long_files_cut_and_that_is_said(desk: Desk, failed: Task, qtbot: QtBot) -> None:
    place, queries = desk.session.engine.artifacts, desk.context.artifacts
    assert place is not None
    long = place.put(failed.task_id, 1, "long.html", b"x" * (artifact.EXCERPT + 10))
    lines = artifact.excerpt(queries, long).split("\n")
    assert lines[-1] == "…"
    assert max(map(len, lines)) == artifact.LINE
    dialog = artifact.ArtifactDialog(queries, [long])
    qtbot.addWidget(dialog)
    assert "only its first 33 kB are shown" in widgets.words(dialog).replace("\u202f", " ")


def test_of_a_long_log_the_end_is_shown(desk: Desk, failed: Task, qtbot: QtBot) -> None:
    place, queries = desk.session.engine.artifacts, desk.context.artifacts
    assert place is not None
    steps = "".join(f"step {number} 好\n" for number in range(5_000))
    log = place.put(failed.task_id, 1, "flow.log", f"{steps}it failed here".encode())
    dialog = artifact.ArtifactDialog(queries, [log])
    qtbot.addWidget(dialog)
    wait(qtbot, lambda: dialog.text.toPlainText().endswith("step 4999 好\nit failed here"))
    first, second = dialog.text.toPlainText().split("\n")[:2]
    assert first == "…"
    assert second.startswith("step "), "a line that is cut is left out"
    assert dialog.text.textCursor().atEnd()
    assert "only its last 33 kB are shown" in widgets.words(dialog).replace("\u202f", " ")
