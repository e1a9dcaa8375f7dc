"""The keys of all commands, to be changed: press the new one into its row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QStackedWidget, QWidget

from services.i18n import N_, _, ngettext
from views.dialogs.frame import DialogFrame
from views.support import text
from views.support.keymap import GO, Command, Fixed, keymap
from views.support.language import say_in_language
from views.support.look import Label
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button, LinkLabel, shortcut_text
from views.widgets.empty_state import EmptyState
from views.widgets.filter.search_field import SearchField
from views.widgets.layout import STRETCH, in_row, put

SIZE, LEAST = (820, 600), (640, 420)
KEY = "now"
_LOCKS = (Qt.Key.Key_CapsLock, Qt.Key.Key_NumLock, Qt.Key.Key_ScrollLock)
#: from here on keys stand for no character; one that Qt has no name for reads as a foreign letter (AltGr, dead accents)
_UNPRINTED = 0x01000000


class KeyRow(msgspec.Struct, frozen=True):
    """A command as the table shows it; all texts are translated."""

    name: str
    words: str
    page: str
    now: str
    default: str

    def holds(self, query: str) -> bool:
        """Whether all words of what was typed occur in it."""
        whole = f"{self.words} {self.page} {self.now} {self.default} {self.name}".casefold()
        return all(part in whole for part in query.casefold().split())


COLUMNS: tuple[Column[KeyRow], ...] = (
    Column(key="words", title=N_("Command"), value=lambda row: row.words, strong=True, width=280, stretch=True),
    Column(key="page", title=N_("Page"), value=lambda row: row.page, tone="text2", width=130),
    Column(key=KEY, title=N_("Key"), value=lambda row: row.now or _("none"), kind="mono", width=150),
    Column(key="default", title=N_("Default"), value=lambda row: row.default, kind="mono", tone="text3", width=130),
)


def row_of(command: Command) -> KeyRow:
    """A command as it is now."""
    words = command.said()
    if command.place == GO:
        words = _("open {page}").format(page=words)
    return KeyRow(
        name=command.name,
        words=words,
        page=_(keymap().title(command.place)),
        now=shortcut_text(command.name),
        default=shortcut_text(command.default),
    )


class KeyField(QKeySequenceEdit):
    """Takes the keys that are pressed, as many one after the other as the command may have; Esc leaves all as it is.

    Signals:
        given: what was pressed, as files write it.
        left: nothing was pressed.
    """

    given = Signal(str)
    left = Signal()

    def __init__(self, most_chords: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._over = False
        self.setMaximumSequenceLength(most_chords)
        self.setAccessibleName(_("Press the new key"))
        for line in self.findChildren(QLineEdit):  # Qt's own words are not translated
            line.setPlaceholderText(_("Press the new key"))
        self.editingFinished.connect(self._on_finished)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc is never a key of a command; what is only held or switched on while others are pressed, and what has no
        name, is none that could be shown.
        """
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape and not event.modifiers():
            self._end("")
        elif key not in _LOCKS and (key < _UNPRINTED or len(QKeySequence(key).toString()) > 1):
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Who goes elsewhere is done."""
        super().focusOutEvent(event)
        self._on_finished()

    def _on_finished(self) -> None:
        self._end(self.keySequence().toString(QKeySequence.SequenceFormat.PortableText))

    def _end(self, keys: str) -> None:
        if self._over:
            return
        self._over = True
        if keys:
            self.given.emit(keys)
        else:
            self.left.emit()


class KeysDialog(DialogFrame):
    """What is pressed holds at once, in all windows; what another command has already is refused by its name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(N_("Keys"), icon="ph.keyboard", parent=parent)
        self._before: Mapping[str, str] = {}
        self.search = SearchField()
        self.model: RecordModel[KeyRow] = RecordModel(COLUMNS, key=lambda row: row.name, hold_new=False)
        self.table = TableView(self.model, name=N_("Keys"), ground="input")
        self.nothing = EmptyState(N_("No command matches."), action=N_("Clear the search"), icon="ph.magnifying-glass")
        self.nothing.action.connect(self.search.clear)
        self.stack = QStackedWidget()
        for part in (self.table, self.nothing):
            self.stack.addWidget(part)
        self.field: KeyField | None = None
        self.said = Label("", "label", "text2", wrap=True)
        self.undo_link = LinkLabel(N_("Undo"))
        self.undo_link.hide()
        self.press_button = Button(N_("Press a new key"), icon="ph.keyboard", hint="tables.open")
        self.default_button, self.none_button = Button(N_("Default")), Button(N_("No key"))
        self.all_button = Button(N_("All defaults"), icon="ph.arrow-counter-clockwise")
        self.close_button = Button(N_("Close"), hint="Esc")
        self._lay_out()
        self.search.textChanged.connect(self._show)
        self.table.open_requested.connect(self.press)
        self.table.current_changed.connect(lambda _key: self._on_chosen())
        self.table.verticalScrollBar().valueChanged.connect(lambda _at: self._drop_field())
        self.press_button.clicked.connect(lambda: self.press(self.table.current_key()))
        self.default_button.clicked.connect(lambda: self._take(self._current(), self._default()))
        self.none_button.clicked.connect(lambda: self._take(self._current(), ""))
        self.all_button.clicked.connect(self._all_defaults)
        self.undo_link.activated.connect(self._take_back)
        self.close_button.clicked.connect(self.reject)
        keymap().changed.connect(self._show)
        say_in_language(self._retell)
        self.table.setFocus()

    def _lay_out(self) -> None:
        top = in_row((self.search, 1))
        self.fill(top, self.stack, size=SIZE, least=LEAST)
        below = in_row((self.said, 1), (self.undo_link, 0, Qt.AlignmentFlag.AlignTop))
        self.said.setMinimumHeight(36)
        self.body.addLayout(below)
        self.body.setContentsMargins(20, 14, 20, 10)
        self.body.setSpacing(10)
        for button in (self.press_button, self.default_button, self.none_button):
            self.foot.addWidget(button)
        put(self.foot, STRETCH, self.all_button, self.close_button)

    # looking

    def _retell(self) -> None:
        self.search.setPlaceholderText(_("Command, page or key"))
        self.search.setAccessibleName(_("Command, page or key"))
        self._show()
        if not self.undo_link.isVisible():  # what can be taken back stays to be seen
            self._on_chosen()

    def _show(self) -> None:
        rows = [row_of(command) for command in keymap().commands()]
        self.model.apply([row for row in rows if row.holds(self.search.text())], settle=True)
        self.stack.setCurrentWidget(self.table if self.model.rowCount() else self.nothing)
        changed = len(keymap().chosen())
        self.set_note(ngettext("{n} changed", "{n} changed", changed).format(n=text.count(changed)) if changed else "")
        self.all_button.disable("" if changed else _("All keys have their defaults"))
        self._follow()

    def _current(self) -> str:
        key = self.table.current_key()
        return str(key) if key is not None else ""

    def _default(self) -> str:
        name = self._current()
        return next((one.default for one in keymap().commands() if one.name == name), "")

    def _on_chosen(self) -> None:
        keys = shortcut_text("tables.open")
        how = _("{key} or a double click, then the new key.").format(key=keys)
        how = how if keys else _("A double click, then the new key.")
        self._say(text.sentences([how, _("It holds at once; in text fields letters stay letters.")]))
        self._follow()

    def _follow(self) -> None:
        name = self._current()
        choose = "" if name else _("Choose a command first")
        self.press_button.disable(choose)
        same = "" if keymap().now(name) != self._default() else _("It has its default")
        self.default_button.disable(choose or same)
        self.none_button.disable(choose or ("" if keymap().now(name) else _("It has no key")))

    def _say(self, words: str, tone: str = "text2", *, undo: bool = False) -> None:
        self.said.set_tone(tone)
        self.said.setText(words)
        self.undo_link.setVisible(undo)

    # changing

    def press(self, key: object) -> None:
        """Wait for the new key of a command, in its row."""
        row = self.model.row_of(str(key)) if key is not None else -1
        if row < 0:
            return
        self._drop_field()
        section = next(place for place, column in enumerate(COLUMNS) if column.key == KEY)
        index = self.model.index(row, section)
        self.table.scrollTo(index)
        most = next((one.most_chords for one in keymap().commands() if one.name == key), 1)
        self.field = field = KeyField(most, self.table.viewport())
        field.given.connect(partial(self._on_given, str(key)))
        field.left.connect(self._on_left)
        field.setGeometry(self.table.visualRect(index))
        field.show()
        field.setFocus()
        two = _("Press the new key; two one after the other are one key, too. Esc leaves it as it is.")
        self._say(two if most > 1 else _("Press the new key. Esc leaves it as it is."))

    def _on_given(self, name: str, keys: str) -> None:
        self._on_left()
        self._take(name, keys)

    def _on_left(self) -> None:
        self.table.setFocus()
        self._drop_field()
        self._on_chosen()

    def _drop_field(self) -> None:
        field, self.field = self.field, None
        if field is not None:
            field.hide()
            field.deleteLater()

    def _take(self, name: str, keys: str) -> None:
        known = keymap()
        if not name:
            return
        usable = known.usable(name, keys)
        if keys and not usable:
            self._say(_("{key} cannot be a key.").format(key=shortcut_text(keys)), "dead")
            return
        rival = known.rival(name, usable) if usable else None
        if rival is not None:
            self._say(taken(usable, rival), "dead")
            return
        known.choose(name, usable)
        self._say(_("It holds in all windows now."))

    def _all_defaults(self) -> None:
        self._before = keymap().chosen()
        keymap().restore({})
        self._say(_("All keys have their defaults again."), undo=True)

    def _take_back(self) -> None:
        keymap().restore(self._before)
        self._say(_("The keys are as they were."))


def open_keys(window: QWidget | None) -> KeysDialog:
    """Show the keys over a window; the dialog is gone once it is closed."""
    dialog = KeysDialog(window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def taken(keys: str, rival: Command | Fixed) -> str:
    """Whose key it is, and what helps."""
    if isinstance(rival, Command):
        row = row_of(rival)
        command, page, remedy = row.words, row.page, _("Give that one another key first.")
    else:
        command, page, remedy = _(rival.words), _(rival.group), _("It is always the same.")
    whose = _("{key} belongs to: {command} ({page}).")
    return text.sentences([whose.format(key=shortcut_text(keys), command=command, page=page), remedy])
