"""The language change as a Qt signal, so that widgets forget it when they die.

on_language_changed(self.retranslate)     # a bound method of a QObject
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QCoreApplication, QEvent, QLibraryInfo, QObject, QTranslator, Signal

from services import i18n
from services.domain.text.sentences import N_
from services.i18n import _
from views.theme import theme

#: what a dialog of Qt for files says that the Chinese words of Qt lack, by context and word
MISSING_IN_QT = {
    ("QFileDialog", "&Look in:"): N_("&Look in:"),
    ("QFileDialog", "Files of &type:"): N_("Files of &type:"),
    ("QFileSystemModel", "Folder"): N_("Folder"),
}


class QtWords(QTranslator):
    """Qt's own words, but for the names of keys: menus write those as everything else does.

    It is put in place once and stays there: what is put in or taken away waits for every thread that translates, and
    one of those waits for the lock of the interpreter by then, since this is asked in Python.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        #: by language, and never given up: Qt would take away what it never had, and wait just so
        self._spoken: dict[str, QTranslator] = {}
        self._now: QTranslator | None = None

    def speak(self, language: str) -> None:
        """Answer in this language from now on, whichever thread asks."""
        found = self._spoken.get(language)
        if found is None:
            found = self._spoken[language] = QTranslator(self)
            found.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
        self._now = found

    def isEmpty(self) -> bool:
        """It is not, also where Qt has no words of a language."""
        return False

    def translate(self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """What Qt has for it; keys have the same name in every language."""
        if context == "QShortcut":
            return sourceText
        now = self._now
        if now is None:
            return None
        found = now.translate(context, sourceText, disambiguation, n)
        if not found and (ours := MISSING_IN_QT.get((context, sourceText))):
            found = _(ours)
        return found or None


class LanguageRelay(QObject):
    """Turns the callback of ``services.i18n`` into a signal.

    Signals:
        changed: another language is in use; fonts have been set for it.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._of_qt, self._in_place = QtWords(self), False
        self._speak_in_qt()
        i18n.on_language_changed(self._relay)

    def _speak_in_qt(self) -> None:
        """Qt's own words as well: menus of text fields, and its dialogs where the system has none."""
        app = QCoreApplication.instance()
        if app is None:
            return
        self._of_qt.speak(i18n.language())
        if self._in_place:
            app.sendEvent(app, QEvent(QEvent.Type.LanguageChange))
        else:
            self._in_place = True
            app.installTranslator(self._of_qt)

    def _relay(self) -> None:
        self._speak_in_qt()
        # First the fonts (Chinese is never below 12 px), then the words.
        theme().refresh()
        self.changed.emit()


@lru_cache(maxsize=1)
def language_relay() -> LanguageRelay:
    """Return the relay of this process."""
    return LanguageRelay()


def on_language_changed(retranslate: Callable[[], None]) -> None:
    """Call a method of a QObject after each switch, until the object is gone."""
    language_relay().changed.connect(retranslate)
