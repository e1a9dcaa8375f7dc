"""A row over a text that is only read, a log: finds words in it, marks each and goes from one to the next.

bar = FindBar(self.text)        # hidden until it is wanted
bar.open()                      # Ctrl+F; Enter goes on, Shift+Enter back, Esc closes
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from services.i18n import N_, _
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import IconButton
from views.widgets.fields import ClearAction
from views.widgets.layout import in_row

#: hits that are marked and counted; a letter that stands everywhere in 5,000 lines must not hold the window up
MOST = 999


class FindBar(QWidget):
    """Lines may come and go while it is open: the hit that a person is at stays."""

    def __init__(self, shown: QPlainTextEdit) -> None:
        """``shown``: where it looks; only read."""
        super().__init__()
        self._shown, self._hits, self._more = shown, list[QTextCursor](), False
        self._at, self._place = -1, 0  #: number of the hit a person is at, and where it was found
        self.field = QLineEdit()
        ClearAction(self.field)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._typed)
        self.count = Label("", "label", "text3", tabular=True)
        self.previous = IconButton("ph.caret-up", N_("The one before (Shift+Enter)"))
        self.previous.clicked.connect(lambda: self._step(-1))
        self.next = IconButton("ph.caret-down", N_("The next one (Enter)"))
        self.next.clicked.connect(lambda: self._step(1))
        self._leave = IconButton("ph.x", N_("Close the search (Esc)"))
        self._leave.clicked.connect(self.close_bar)
        in_row((self.field, 1), self.count, self.previous, self.next, self._leave, owner=self, spacing=6)
        shown.textChanged.connect(self._follow)
        theme().changed.connect(self._mark)
        on_language_changed(self._say)
        self.hide()
        self._say()

    def open(self) -> None:
        """Show it, with the cursor in it; what was looked for last stands there, to be typed over."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        self._typed()

    def close_bar(self) -> None:
        """Take it and the marks away."""
        self.hide()
        self._hits, self._more, self._at = [], False, -1
        self._mark()
        self._shown.setFocus()

    def eventFilter(self, _watched: object, event: QEvent) -> bool:
        """Enter and Esc belong to the search, not to the page or the dialog around it."""
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return False
        assert isinstance(event, QKeyEvent)
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            return False
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
            else:
                self._step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        return True

    def _typed(self) -> None:
        """Go to the first hit from the first line in sight on."""
        self._look()
        top = self._shown.cursorForPosition(QPoint(0, 0)).block().position()
        below = (place for place, hit in enumerate(self._hits) if hit.selectionStart() >= top)
        self._at = next(below, 0 if self._hits else -1)
        self._show()

    def _follow(self) -> None:
        """The text is another one: lines came, or went at its beginning; cursors of Qt move with them. In a text
        that was set anew they lie at its end and hold nothing.
        """
        if self.isHidden() or not self.field.text():
            return
        if 0 <= self._at < len(self._hits):
            hit = self._hits[self._at]
            self._place = hit.selectionStart() if hit.hasSelection() or hit.atStart() else self._place
        self._look()
        later = (place for place, hit in enumerate(self._hits) if hit.selectionStart() >= self._place)
        self._at = next(later, len(self._hits) - 1)
        self._mark()
        self._say()

    def _look(self) -> None:
        wanted, found = self.field.text(), list[QTextCursor]()
        document = self._shown.document()
        hit = document.find(wanted) if wanted else QTextCursor()
        while not hit.isNull() and len(found) <= MOST:
            found.append(hit)
            hit = document.find(wanted, hit)
        self._hits, self._more = found[:MOST], len(found) > MOST

    def _step(self, by: int) -> None:
        if self._hits:
            self._at = (self._at + by) % len(self._hits)
            self._show()

    def _show(self) -> None:
        if 0 <= self._at < len(self._hits):
            # without its selection, which would hide the mark
            place = QTextCursor(self._hits[self._at])
            self._place = place.selectionStart()
            place.setPosition(self._place)
            self._shown.setTextCursor(place)
            self._shown.ensureCursorVisible()
        self._mark()
        self._say()

    def _mark(self) -> None:
        marks = []
        for place, hit in enumerate(self._hits):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = hit
            here = place == self._at
            ground = theme().color("accentbg") if here else theme().tint("retrying", 28, "input")
            mark.format.setBackground(ground)
            if here:
                mark.format.setForeground(theme().color("white"))
            marks.append(mark)
        self._shown.setExtraSelections(marks)

    def _say(self) -> None:
        self.field.setPlaceholderText(_("Find in the log"))
        self.field.setAccessibleName(_("Find in the log"))
        total = f"{text.count(len(self._hits))}+" if self._more else text.count(len(self._hits))
        if not self.field.text():
            words = ""
        elif self._hits:
            words = _("{n} of {total}").format(n=text.count(self._at + 1), total=total)
        else:
            words = _("not found")
        self.count.setText(words)
        for button in (self.previous, self.next):
            button.disable("" if self._hits else words or _("Type what to look for first"))
