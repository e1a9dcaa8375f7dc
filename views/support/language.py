"""The language change as a Qt signal, so that widgets forget it when they die.

on_language_changed(self.retranslate)     # a bound method of a QObject
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QObject, Qt, QTranslator, Signal
from PySide6.QtGui import QKeySequence

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
#: parts of the name of a key that no key has alone
_WITH_KEYS = ("Ctrl", "Shift", "Alt", "Meta", "Num", "+", "F%1")


class QtWords:
    """Qt's own words in the language in use, but for the names of keys: menus write those as everything else does.

    None of it is asked in Python. Any thread may ask for a word, and does so with locks of Qt held: one that loads a
    picture waited for the lock of the interpreter to translate, another held that and waited for the lock of the
    pictures, and the window stood still for ever. PySide looks for an override of each object at its first word, so
    each is asked once before there are threads.
    """

    def __init__(self, parent: QObject) -> None:
        #: Qt's own and ours by language, and never given up: what goes away waits for every thread that translates
        self._by_language = {code: (QTranslator(parent), QTranslator(parent)) for code in i18n.LANGUAGES}
        self._loaded: dict[str, bytes] = {}  #: what is ours; Qt reads it where it lies
        self._now: tuple[QTranslator, ...] = ()
        every = [one for pair in self._by_language.values() for one in pair]
        for one in every:
            QCoreApplication.installTranslator(one)
        QCoreApplication.translate("Fleetdeck", "A word that nobody has, so that all are asked")
        for one in every:
            QCoreApplication.removeTranslator(one)

    def speak(self, language: str) -> None:
        """Answer in this language from now on, whichever thread asks."""
        for one in self._now:
            QCoreApplication.removeTranslator(one)
        self._now = of_qt, ours = self._by_language[language]
        if language not in self._loaded:
            of_qt.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
            self._loaded[language] = b"" if language == i18n.SOURCE_LANGUAGE else compiled(_ours())
            ours.load(self._loaded[language])
        for one in self._now:  # the one that was put in place last is asked first
            QCoreApplication.installTranslator(one)


def _ours() -> list[tuple[str, str, str]]:
    """What is said otherwise than Qt does, in the language in use: context, word, translation."""
    plain = QKeySequence.SequenceFormat.PortableText
    keys = {*_WITH_KEYS, *(QKeySequence(key).toString(plain) for key in Qt.Key)} - {""}
    return [
        *(("QShortcut", key, key) for key in sorted(keys)),
        *((context, word, _(ours)) for (context, word), ours in MISSING_IN_QT.items()),
    ]


def compiled(words: Iterable[tuple[str, str, str]]) -> bytes:
    """Words (context, source, translation) as Qt reads them from a ``.qm`` file.

    The form is that of Qt's ``qtranslator.cpp``: a magic number; the hashes of the sources in their order, each with
    the place of its message; the messages in tagged parts.
    """
    hashes, messages = [], b""
    for context, source, translation in words:
        hashes.append((_elf_hash(source.encode()), len(messages)))
        for tag, part in ((3, translation.encode("utf-16-be")), (6, source.encode()), (7, context.encode())):
            messages += struct.pack(">BI", tag, len(part)) + part
        messages += b"\x01"
    table = b"".join(struct.pack(">II", *one) for one in sorted(hashes))
    magic = bytes.fromhex("3cb86418caef9c95cd211cbf60a1bddd")
    return magic + b"".join(
        struct.pack(">BI", tag, len(part)) + part for tag, part in ((0x42, table), (0x69, messages))
    )


def _elf_hash(word: bytes) -> int:
    """The hash of the ELF format, by which Qt finds a source; never 0."""
    found = 0
    for sign in word:
        found = (found << 4) + sign
        high = found & 0xF0000000
        found = (found ^ (high >> 24)) & ~high
    return found or 1


class LanguageRelay(QObject):
    """Turns the callback of ``services.i18n`` into a signal.

    Signals:
        changed: another language is in use; fonts have been set for it.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._of_qt: QtWords | None = None
        self._speak_in_qt()
        i18n.on_language_changed(self._relay)

    def _speak_in_qt(self) -> None:
        """Qt's own words as well: menus of text fields, and its dialogs where the system has none."""
        if QCoreApplication.instance() is None:
            return
        if self._of_qt is None:
            self._of_qt = QtWords(self)
        self._of_qt.speak(i18n.language())

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


def say_in_language(say: Callable[[], None]) -> None:
    """Call it now as well."""
    on_language_changed(say)
    say()
