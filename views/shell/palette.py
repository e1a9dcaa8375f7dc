"""The command palette: one field that finds commands, pages, shops, workers and tasks.

palette = Palette(finder, window)       # finder: see ``Finder``
palette.ask()                           # Ctrl+K
palette.show_later("#", tasks)          # answers of the server follow below
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QWidget

from services.i18n import N_, _
from views.dialogs.frame import GAP, Dimming
from views.shell.palette_rows import Entry, RowPainter, Rows
from views.support.keys import pressed, refuse, speak
from views.support.language import say_in_language
from views.support.look import Label, ruled, set_look
from views.support.throttle import Debounce
from views.theme import theme
from views.widgets.buttons import shortcut_text
from views.widgets.empty_state import EmptyState
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.segmented import Segmented

WIDTH, HEIGHT, TOP = 720, 520, 104
TYPING_MS = 180
#: by then the server has answered to most of what was typed; until then nobody is told that nothing was found
TELL_MS = 600
#: what a first character narrows to, also as a Chinese keyboard writes it
SCOPES = {"》": "commands", "＞": "commands", "＠": "shops", "＃": "tasks", ">": "commands", "@": "shops", "#": "tasks"}
_MARKS = {scope: mark for mark, scope in SCOPES.items()}
Group = tuple[str, Sequence[Entry]]


class Finder(Protocol):
    """Where entries come from; ``find`` answers at once from what the window knows."""

    def find(self, query: str, scope: str) -> Sequence[Group]: ...
    def look_up(self, query: str, scope: str) -> None: ...
    def want_no_more(self) -> None: ...
    def used(self, entry: Entry) -> None: ...


class Palette(Dimming):
    """Signals:
    asked: it was opened.
    """

    asked = Signal()

    def __init__(self, finder: Finder, window: QWidget, *, commands_only: bool = False) -> None:
        """``commands_only``: there is nothing else to be found, as where no connection is open."""
        super().__init__(window)
        self._finder, self._window, self._commands_only = finder, window, commands_only
        self._argument: Sequence[Entry] | None = None
        self.field = QLineEdit()
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._on_typed)
        self.scope = Segmented(
            (("all", N_("All")), ("tasks", N_("Tasks")), ("shops", N_("Shops")), ("commands", N_("Commands")))
        )
        self.scope.setHidden(commands_only)
        self.scope.chosen.connect(self._on_scope)
        self.rows = Rows()
        self.list = QListView()
        self.list.setModel(self.rows)
        self.list.setItemDelegate(RowPainter(self.list))
        self.list.setFrameShape(QListView.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.clicked.connect(lambda index: self._run(index.row()))
        self.nothing = EmptyState(
            N_("Nothing is called so"),
            N_("Commands, pages, shops and workers are found by their names, tasks by their ids."),
            icon="ph.magnifying-glass",
        )
        self._glass = QLabel()
        set_look(self.list, panel="clear")
        self._note, self._keys = Label("", "label", "text3"), Label("", "label", "text3")
        self._ask_server = Debounce(self._look_up, TYPING_MS, self)
        self._told = ""  #: the keyboard is in the field, so a screen reader hears of a row only what it is told
        self._tell_soon = Debounce(self._tell, TELL_MS, self)
        self._put_together()
        say_in_language(self.retranslate)

    def _put_together(self) -> None:
        head = in_row(self._glass, (self.field, 1), self.scope, margins=(18, 10, 14, 10), spacing=10)
        foot = in_row(self._note, STRETCH, self._keys, margins=(18, 8, 18, 8))
        body = in_column(self.list, self.nothing, margins=(8, 6, 8, 6))
        ruled(self, head, body, foot, tall=1)

    # opening

    def ask(self) -> None:
        """Open with an empty field."""
        self._argument, self._told = None, ""
        self.retranslate()
        self.field.clear()
        self.scope.set_current("all")
        self.field.setFont(theme().font("panel"))
        self._glass.setPixmap(theme().pixmap("ph.magnifying-glass", "text2", 18))
        self._find()
        self.resize(min(WIDTH, self._window.width() - GAP), min(HEIGHT, self._window.height() - 2 * GAP))
        self.open()
        self.field.setFocus()
        self.asked.emit()

    def ask_next(self, entry: Entry) -> None:
        """Open with the entries that ``entry`` gives for a next argument."""
        self.ask()
        self._go_on(entry)

    def showEvent(self, event: QShowEvent) -> None:
        """Stand in the upper middle of the window, which goes dim."""
        super().showEvent(event)
        place = self._window.geometry().topLeft()
        self.move(
            place.x() + (self._window.width() - self.width()) // 2, place.y() + min(TOP, self._window.height() // 8)
        )

    def retranslate(self) -> None:
        words = _("Search commands") if self._commands_only else _("Search tasks, shops, commands")
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self.setAccessibleName(_("Command palette"))
        self.setWindowTitle(_("Command palette"))
        self.list.setAccessibleName(_("Results"))
        copies = "" if self._commands_only else shortcut_text("tables.copy")  # a command has no id
        note = _("Up, Down: move   Enter: open   {key}: copy id").format(key=copies)
        self._note.setText(note if copies else _("Up, Down: move   Enter: open"))
        self._keys.setText("" if self._commands_only else _("> commands   @ shops   # tasks"))

    # finding

    def _query(self) -> tuple[str, str]:
        text = self.field.text()
        if text[:1] in SCOPES:
            return text[1:].strip(), SCOPES[text[0]]
        return text.strip(), self.scope.current()

    def _on_typed(self, text: str) -> None:
        if text[:1] in SCOPES:
            self.scope.set_current(SCOPES[text[0]])
        self._find()

    def _on_scope(self, scope: str) -> None:
        text = self.field.text()
        if text[:1] in SCOPES and SCOPES[text[0]] != scope:
            self.field.setText(_MARKS.get(scope, "") + text[1:])
        self._find()
        self.field.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """What is still looked up is asked for by nobody: neither it nor its error is to come."""
        super().hideEvent(event)
        self._finder.want_no_more()

    def _find(self) -> None:
        self._finder.want_no_more()
        query, scope = self._query()
        if self._argument is not None:
            wanted = query.casefold()
            found = [one for one in self._argument if wanted in " ".join((one.words, *one.others)).casefold()]
            self._show([("", found)], keep=False)
            return
        self._show(self._finder.find(query, scope), keep=False)
        self._ask_server()

    def _look_up(self) -> None:
        query, scope = self._query()
        if self.isVisible() and self._argument is None:
            self._finder.look_up(query, scope)

    def find_again(self) -> None:
        """More can be found than when it was opened; the cursor stays where it is."""
        if self.isVisible() and self._argument is None:
            self._show(self._finder.find(*self._query()), keep=True)
            self._ask_server()

    def show_later(self, query: str, groups: Sequence[Group]) -> None:
        """Show what the server found for `query` below the rest; the cursor stays where it is."""
        now, scope = self._query()
        if now == query and self._argument is None and self.isVisible():
            self._show([*self._finder.find(now, scope), *groups], keep=True)

    def _show(self, groups: Sequence[Group], *, keep: bool) -> None:
        kept = self.current() if keep else None
        rows: list[Entry | str] = []
        for title, entries in groups:
            if entries:
                rows += [title, *entries] if title else list(entries)
        self.rows.show(rows)
        self.list.setVisible(bool(rows))
        self.nothing.setVisible(not rows)
        row = self.rows.row_of(kept.key) if kept is not None else -1
        self._select(row if row >= 0 else self._first())
        self._tell_soon()

    def _tell(self) -> None:
        """Tell a screen reader where the cursor is now, or that there is nothing."""
        found = self.list.currentIndex()
        words = str(found.data() or "") if self.rows.rowCount() else self.nothing.accessibleName()
        if self.isVisible() and words != self._told:
            speak(words, self.field)
            self._told = words

    # moving and running

    def current(self) -> Entry | None:
        """Return the entry under the cursor."""
        return self.rows.entry(self.list.currentIndex().row())

    def _step(self, row: int, by: int) -> int:
        """Return the next row that is an entry; beyond the end it begins again."""
        count = self.rows.rowCount()
        for _n in range(count):
            row = (row + by) % count
            if self.rows.entry(row) is not None:
                return row
        return -1

    def _first(self) -> int:
        """Return the first row that can be run, else the first entry: Enter must not meet a wall."""
        entries = ((row, self.rows.entry(row)) for row in range(self.rows.rowCount()))
        found = next((row for row, entry in entries if entry is not None and not entry.reason), -1)
        return found if found >= 0 else self._step(-1, 1)

    def _select(self, row: int) -> None:
        if row >= 0:
            self.list.setCurrentIndex(self.rows.index(row))
            if row == 1 and self.rows.entry(0) is None:
                self.list.scrollToTop()

    def _run(self, row: int) -> None:
        entry = self.rows.entry(row)
        if entry is None or entry.reason:
            refuse(entry.reason if entry is not None else "", self.field)
            return
        if entry.then is not None:
            self._go_on(entry)
            return
        self.hide()
        self._finder.used(entry)
        entry.run()

    def _go_on(self, entry: Entry) -> None:
        self._argument = entry.then() if entry.then is not None else ()
        self.field.clear()
        self.field.setPlaceholderText(entry.words)
        self._find()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move the list while the field keeps the focus."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        row, key = self.list.currentIndex().row(), event.key()
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if key in steps:
            self._select(self._step(row, steps[Qt.Key(key)]))
            self._tell()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(row)
        elif pressed(event, "tables.copy", writing=True):
            return self._copy()
        elif key == Qt.Key.Key_Backspace and not self.field.text() and self._argument is not None:
            self._argument = None
            self.retranslate()
            self._find()
        else:
            return False
        return True

    def _copy(self) -> bool:
        entry = self.current()
        if self.field.hasSelectedText() or entry is None or not entry.copy:
            return False
        QGuiApplication.clipboard().setText(entry.copy)
        return True
