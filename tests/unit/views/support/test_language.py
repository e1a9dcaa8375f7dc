"""Widgets hear of a new language until they die."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.support.language import language_relay, on_language_changed
from views.support.offers import offer
from views.theme import theme
from views.widgets.buttons import shortcut_text

ROOT = Path(i18n.__file__).parents[1]


#: a thread that translates in Qt all the while the window changes its language, which must come to an end
SWITCHED = """
import faulthandler, functools, threading
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication
from services import i18n
from views.support.language import language_relay

app = QApplication([])
language_relay()
i18n.load = functools.cache(i18n.load)
words = ("QWidgetTextControl", "&Undo")
said, over, begun = set(), threading.Event(), threading.Event()

def ask():
    while not over.is_set():
        said.add(QCoreApplication.translate(*words))
        begun.set()

for code in ("zh_CN", "en"):
    i18n.set_language(code)
other = threading.Thread(target=ask, daemon=True)
other.start()
begun.wait()
faulthandler.dump_traceback_later(45, exit=True)
for number in range(20):
    over.wait(0.001)
    i18n.set_language(("zh_CN", "en")[number % 2])
over.set()
other.join()
faulthandler.cancel_dump_traceback_later()
assert QCoreApplication.translate(*words) == "&Undo", said
i18n.set_language("zh_CN")
assert "\N{CJK UNIFIED IDEOGRAPH-64A4}" in QCoreApplication.translate(*words)
"""


#: two threads that load their first pictures at once, for which Qt holds a lock and translates
LOADED = """
import faulthandler, sys, threading
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from views.support.language import language_relay
from views.support.thumbnails import thumbnail

app = QApplication([])
language_relay()
image, buffer = QImage(64, 40, QImage.Format.Format_RGB32), QBuffer()
image.fill(QColor("red"))
buffer.open(QIODevice.OpenModeFlag.WriteOnly)
image.save(buffer, "PNG")
data = bytes(buffer.data().data())
seen = []

def load():
    for _ in range(300):
        seen.append(thumbnail(data, 188).width())

faulthandler.dump_traceback_later(45, exit=True)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=load, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
load()
for thread in threads:
    thread.join()
faulthandler.cancel_dump_traceback_later()
assert seen == [64] * 1200
"""


class Listener(QObject):
    heard: ClassVar[list[tuple[str, int]]] = []

    def hear(self) -> None:
        Listener.heard.append((i18n.language(), theme().font("caption").pixelSize()))


def test_fonts_change_before_words(qtbot: QtBot) -> None:
    Listener.heard = []
    listener = Listener()
    on_language_changed(listener.hear)
    i18n.set_language("zh_CN")
    assert Listener.heard == [("zh_CN", 12)]
    listener.deleteLater()
    del listener
    qtbot.wait(1)
    i18n.set_language("en")
    assert len(Listener.heard) == 1


@pytest.mark.parametrize("script", [SWITCHED, LOADED], ids=["a change of the language", "another picture"])
def test_a_thread_that_translates_does_not_hold_up(script: str) -> None:
    around = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env=around, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr


def test_widgets_of_qt_are_told_of_a_new_language(qtbot: QtBot) -> None:
    told: list[str] = []

    class Told(QWidget):
        def changeEvent(self, event: QEvent) -> None:
            if event.type() == QEvent.Type.LanguageChange:
                told.append(QCoreApplication.translate("QWidgetTextControl", "&Undo"))

    window = Told()
    qtbot.addWidget(window)
    for code in ("zh_CN", "en"):
        i18n.set_language(code)
        QCoreApplication.processEvents()
    assert [("撤" in words) for words in told] == [True, False]


@pytest.mark.parametrize("speaks", ["en", "zh_CN"])
def test_a_menu_names_a_key_as_its_button_does(qtbot: QtBot, speaks: str) -> None:
    i18n.set_language(speaks)
    menu = QMenu()
    qtbot.addWidget(menu)
    for keys in ("tasks.run_now", "window.refresh", "Alt+Left", "Del"):
        shown = offer(menu, "Do it", menu.close, keys=keys).shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        assert shown == shortcut_text(keys)
    assert shortcut_text("tasks.run_now") in ("Ctrl+Enter", "⌘Enter", "⌘↩")
    undo = QCoreApplication.translate("QWidgetTextControl", "&Undo")
    assert ("撤" in undo) == (speaks == "zh_CN"), "Qt's other words are still there"


def test_a_dialog_for_files_has_no_word_left_in_english(qtbot: QtBot) -> None:
    language_relay()
    i18n.set_language("zh_CN")
    dialog = QFileDialog()
    qtbot.addWidget(dialog)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    labels = [label.text() for label in dialog.findChildren(QLabel) if label.text().strip()]
    assert len(labels) >= 3
    assert not [words for words in labels if words.replace("&", "").replace(":", "").strip().isascii()]
