"""Number, time and choice fields that look like the text field and leave the wheel to the page.

Labelled(N_("Page size"), NumberField(50, 1, 100), hint=N_("1 to 100"))
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from PySide6.QtCore import QDate, QDateTime, QElapsedTimer, QSignalBlocker, Qt, QTime, QTimeZone, Signal
from PySide6.QtGui import QAction, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDateTimeEdit,
    QLineEdit,
    QListView,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from services.domain.task.search.filter_time import duration_ms
from services.i18n import _
from services.spans import exact
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label, set_look
from views.theme import theme
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, in_column, in_row

_TEXT_MARGIN = 6
TIME_FORMAT = "yyyy-MM-dd HH:mm"


class ClearAction(QAction):
    """The cross that empties a text field, while there is something in it; Qt's own is the picture of a key."""

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field)
        self._field = field
        field.addAction(self, QLineEdit.ActionPosition.TrailingPosition)
        self.triggered.connect(field.clear)
        field.textChanged.connect(self._follow)
        theme().changed.connect(self._dress)
        on_language_changed(self._say)
        self._dress()
        self._say()
        self._follow()

    def _dress(self) -> None:
        self.setIcon(theme().icon("ph.x"))

    def _say(self) -> None:
        self.setText(_("Clear"))
        self.setToolTip(_("Clear"))

    def _follow(self, _text: str = "") -> None:
        self.setVisible(bool(self._field.text()))


class NumberField(QSpinBox):
    """A whole number that is typed; the wheel scrolls the page, not the number."""

    def __init__(self, value: int = 0, minimum: int = 0, maximum: int = 99) -> None:
        super().__init__()
        self.setRange(minimum, maximum)
        self.setValue(value)
        self.setGroupSeparatorShown(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # A style sheet cannot move the text of a spin box.
        self.lineEdit().setTextMargins(_TEXT_MARGIN, 0, 0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()


class DateTimeField(QDateTimeEdit):
    """A day and minute in the form of the design. Its numbers are those of the zone that ``show_moment`` and ``moment``
    get: Qt has them bare, whatever zone this machine is in.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTimeZone(QTimeZone.utc())  # which has each hour of each day
        now = QDateTime.currentDateTime()
        self.setDateTime(QDateTime(now.date(), now.time(), QTimeZone.utc()))
        self.setDisplayFormat(TIME_FORMAT)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setTextMargins(_TEXT_MARGIN, 0, 0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()

    def show_moment(self, moment: datetime) -> None:
        """Show day and time as this has them."""
        day, clock = QDate(moment.year, moment.month, moment.day), QTime(moment.hour, moment.minute, moment.second)
        self.setDateTime(QDateTime(day, clock, QTimeZone.utc()))

    def moment(self, zone: tzinfo) -> datetime:
        """What stands there, on the clock of this zone."""
        typed = self.dateTime()
        day, clock = typed.date(), typed.time()
        return datetime(day.year(), day.month(), day.day(), clock.hour(), clock.minute(), clock.second(), tzinfo=zone)


class _Names(QListView):
    """Finds what is typed at the beginning of a name, else within one: of two thousand types most begin alike."""

    def __init__(self) -> None:
        super().__init__()
        self._typed, self._last = "", QElapsedTimer()

    def keyboardSearch(self, search: str) -> None:
        """Go to the first name with all that was typed without a pause."""
        goes_on = self._last.isValid() and self._last.elapsed() < QApplication.keyboardInputInterval()
        self._typed = self._typed + search if goes_on else search
        self._last.restart()
        names, typed = self.model(), self._typed
        again = len(set(typed)) == 1  # the same letter goes on from name to name
        for how in (Qt.MatchFlag.MatchStartsWith, Qt.MatchFlag.MatchContains):
            found = names.match(names.index(0, 0), Qt.ItemDataRole.DisplayRole, typed[:1] if again else typed, 1, how)
            if found and again and how == Qt.MatchFlag.MatchStartsWith:
                super().keyboardSearch(search)
            elif found:
                self.setCurrentIndex(found[0])
            if found:
                return


#: edge and padding of the list of a ``ChoiceField``, on each side
_ROUND_NAMES = 8


class ChoiceField(QComboBox):
    """One of a list; the wheel scrolls the page, not the choice."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setView(_Names())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaxVisibleItems(14)

    def showPopup(self) -> None:
        """Show the names whole, however narrow the field is: cut, several of a list read the same."""
        names, screen = self.view(), self.screen().availableGeometry()
        beside = names.verticalScrollBar().sizeHint().width() + 2 * _ROUND_NAMES
        names.setMinimumWidth(min(names.sizeHintForColumn(0) + beside, screen.width() * 2 // 3))
        super().showPopup()
        popup = names.window()
        if (over := popup.geometry().right() - screen.right()) > 0:
            popup.move(max(screen.left(), popup.x() - over), popup.y())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()


class WordField(ChoiceField):
    """One of a few words of a sentence, in the language of the moment.

    Signals:
        chosen: the key of the choice, unless ``set_current`` made it.
    """

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]]) -> None:
        """Take ``(key, source text)``."""
        super().__init__()
        self._choices = tuple(choices)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for key, word in self._choices:
            self.addItem(_(word), key)
        self.currentIndexChanged.connect(lambda _place: self.chosen.emit(self.current()))
        on_language_changed(self._say)

    def current(self) -> str:
        """Return the key of the choice."""
        return str(self.currentData())

    def choose(self, key: str) -> None:
        """Choose it."""
        self.setCurrentIndex(self.findData(key))

    def set_current(self, key: str) -> None:
        """Choose without a signal."""
        with QSignalBlocker(self):
            self.choose(key)

    def _say(self) -> None:
        for place, (_key, word) in enumerate(self._choices):
            self.setItemText(place, _(word))


class SpanField(NumberField):
    """Seconds that are read and typed as people say them: ``2 min``, ``1 h 30 min``; a bare number is minutes."""

    def __init__(self, seconds: int, longest: int, zero: str) -> None:
        """``zero``: what none is called, source text; "" for no seconds."""
        self._zero = zero
        super().__init__(seconds, 0, longest)

    def textFromValue(self, value: int) -> str:
        """Say it."""
        return _(self._zero) if self._zero and not value else exact(timedelta(seconds=value))

    def valueFromText(self, text: str) -> int:
        """Read it; the value stays where that cannot be read."""
        seconds = self._read(text)
        return self.value() if seconds is None else seconds

    def validate(self, text: str, pos: int) -> tuple[QValidator.State, str, int]:
        """Take what can be read; what is on its way to that is put right when the field is left."""
        read = self._read(text)
        whole = read is not None and read <= self.maximum()
        return QValidator.State.Acceptable if whole else QValidator.State.Intermediate, text, pos

    def stepBy(self, steps: int) -> None:
        """By minutes, of less than two by ten seconds."""
        size = 60 if self.value() + steps > 120 else 10
        self.setValue(self.value() + steps * size)

    def say_again(self) -> None:
        """Say it in the language of the moment."""
        self.lineEdit().setText(self.textFromValue(self.value()))

    def _read(self, typed: str) -> int | None:
        words = "".join(typed.split()).replace(",", "")
        if self._zero and words == "".join(_(self._zero).split()):
            return 0
        found = duration_ms(f"{words}min" if words.isdecimal() else words)
        return None if found is None else found // 1000


class Labelled(QWidget):
    """A field below its label, with a hint beside the label and an error below the field.

    Signals:
        error_changed: other things are wrong with the value, or nothing is any more.
    """

    error_changed = Signal()

    def __init__(self, label: str, field: QWidget, *, hint: str = "", in_words: bool = False) -> None:
        """Take source texts; the label also names the field. ``in_words``: it stands in a sentence that says what it
        is, and shows below it what is wrong.
        """
        super().__init__()
        self._in_words = in_words
        self._sources = (label, hint)
        self.field = field
        # with large letters a hint has no room beside its label: the whole of it is its tool tip then
        self._label, self._hint = Label("", "label", "text2"), Elided("", "label", "text3")
        self._error = Label("", "label", "dead", wrap=True)
        self._error.hide()
        self._before = Label("", "label", "accent")
        self._before.hide()
        if in_words:
            for unseen in (self._label, self._hint, self._error):
                unseen.setParent(self)
                unseen.hide()
            in_row(field, self._before, owner=self, spacing=6)
        else:
            head = in_row(self._label, self._before, self._hint, STRETCH, spacing=8)
            in_column(head, field, self._error, owner=self, spacing=5)
        self._label.setBuddy(field)
        say_in_language(self.retranslate)

    def add_below(self, widget: QWidget) -> None:
        """Put what can be done about an error below it."""
        column = self.layout()
        if isinstance(column, QVBoxLayout):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)

    def set_error(self, error: str) -> None:
        """Show what is wrong with the value, already translated; empty when it is right."""
        self._error.setText(error)
        self._error.setVisible(bool(error) and not self._in_words)
        set_look(self.field, invalid=bool(error))
        self.field.setAccessibleDescription(error or (self._hint.text() if self._in_words else ""))
        self.error_changed.emit()

    def show_before(self, words: str) -> None:
        """Mark the value as changed, and say what it was, already translated; empty when it is not changed."""
        self._before.setText(words)
        self._before.setVisible(bool(words))
        self._hint.setVisible(not words and not self._in_words)
        set_look(self.field, changed=bool(words))

    def before(self) -> str:
        """Return what is said of the value before."""
        return self._before.text()

    def error(self) -> str:
        """Return what is shown as wrong."""
        return self._error.text()

    def retranslate(self) -> None:
        label, hint = (_(source) if source else "" for source in self._sources)
        self._label.setText(label)
        self._hint.show_text(hint)
        self.field.setAccessibleName(label)
        if self._in_words and hint:  # there is no room for it
            self.field.setToolTip(hint)
            self.field.setAccessibleDescription(self.error() or hint)
