"""The frame of every dialog: head, body, foot; the window behind it is dimmed while it is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLayout, QWidget

from services.i18n import N_, _
from views.support.language import say_in_language
from views.support.look import Label, focus_chain, ruled
from views.support.offers import offer_what_is_said
from views.theme import theme
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button, IconButton
from views.widgets.layout import STRETCH, in_column, in_row, put

MARGIN = 20
GAP = 60  #: what is left of the window behind
SHADE = 140


class Dimming(QDialog):
    """A window without a frame of the system's; the window it belongs to is dimmed while it is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self._scrim: Scrim | None = None
        self.setProperty("panel", "dialog")
        self.setModal(True)

    @property
    def dims(self) -> bool:
        """Whether the window behind is dim."""
        return self._scrim is not None

    def behind(self) -> QWidget | None:
        """Return the window it belongs to."""
        owner: QWidget | None = self.parentWidget()
        return owner.window() if owner is not None else None

    def showEvent(self, event: QShowEvent) -> None:
        """Dim the window behind."""
        super().showEvent(event)
        behind = self.behind()
        if behind is not None and self._scrim is None:
            self._scrim = Scrim(behind)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with what nothing in it has a menu for."""
        offer_what_is_said(self, event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Give the window its light back."""
        super().hideEvent(event)
        if self._scrim is not None:
            self._scrim.leave()
            self._scrim = None


class DialogFrame(Dimming):
    """A dialog of the design. Add content to ``body`` and buttons to ``foot``; open it with ``open()``."""

    def __init__(self, title: str, *, icon: str = "", parent: QWidget | None = None) -> None:
        """`title` is source text."""
        super().__init__(parent)
        self._source, self._icon = title, icon
        self._wanted: tuple[int, int] | None = None
        self._least = (0, 0)  #: what ``_wanted`` does not go below, as far as the screen has it
        self._width = 0  #: px for letters of the usual size, where it is always the same
        self._by_hand = False  #: a person has put it elsewhere
        self._put_again = False  #: once is enough: a window manager may have a mind of its own
        self._glyph = QLabel()
        self._title, self._note = Label("", "page"), Label("", "label", "text3")
        self._head = QWidget()
        self._head.setFixedHeight(48)
        self._head.installEventFilter(self)
        self._close = IconButton("ph.x", N_("Close"))
        self._close.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._close.clicked.connect(self.reject)
        self.body = in_column(margins=(MARGIN, PAGE_MARGIN, MARGIN, PAGE_MARGIN), spacing=10)
        self.foot = in_row(margins=(MARGIN - 2, 12, MARGIN - 2, 12), spacing=8)
        self._put_together()
        theme().changed.connect(self._restyle)
        # once the texts themselves have their new size
        theme().changed.connect(self._follow_letters, Qt.ConnectionType.QueuedConnection)
        say_in_language(self.retranslate)

    def _put_together(self) -> None:
        in_row(
            self._glyph,
            self._title,
            self._note,
            STRETCH,
            self._close,
            owner=self._head,
            margins=(MARGIN - 2, 0, 12, 0),
            spacing=10,
        )
        ruled(self, self._head, self.body, self.foot, tall=1)

    def set_note(self, note: str) -> None:
        """Show a short note beside the title, already translated."""
        self._note.setText(note)

    def add_to_head(self, widget: QWidget, stretch: int = 0) -> None:
        """Put something before the cross that closes the dialog; ``stretch``: its share of the room that is left."""
        row = self._head.layout()
        if isinstance(row, QHBoxLayout):
            row.insertWidget(row.count() - 1, widget, stretch)

    def fill(self, *parts: QWidget | QLayout, size: tuple[int, int], least: tuple[int, int]) -> None:
        """Give the whole body to parts, the second of which grows; `size` shrinks to what the window behind leaves."""
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        for place, part in enumerate(parts):
            if isinstance(part, QLayout):
                self.body.addLayout(part, int(place == 1))
            else:
                self.body.addWidget(part, int(place == 1))
        self._least = least
        self.setMinimumSize(*least)
        self.ask_size(size)
        self.resize(*size)

    def set_width(self, width: int) -> None:
        """Be so wide for letters of the usual size, whatever stands here."""
        self._width = width
        self._widen()

    def _widen(self) -> None:
        """Larger letters need more room, as far as the window behind has it."""
        if self._width:
            behind = self.behind()
            room = behind.width() if behind is not None else self.screen().availableGeometry().width()
            self.setFixedWidth(max(self._width, min(round(self._width * theme().growth), room - GAP)))

    def ask_size(self, size: tuple[int, int]) -> None:
        """Be so large for letters of the usual size, or as large as the window behind leaves; at once where it is
        seen.
        """
        self._wanted = size
        if self.isVisible():
            self._take_room()

    def end_with_save(self, on_save: Callable[[], None]) -> tuple[Button, Button]:
        """Put Cancel and Save, which counts and which Ctrl+Enter presses, at the end of the foot; returns both."""
        cancel = Button(N_("Cancel"), hint="Esc")
        save = Button(N_("Save"), kind="primary", shortcut="dialog.main")
        cancel.clicked.connect(self.reject)
        save.clicked.connect(on_save)
        put(self.foot, STRETCH, cancel, save)
        return cancel, save

    def retranslate(self) -> None:
        self._title.setText(_(self._source))
        self.setWindowTitle(_(self._source))
        self.setAccessibleName(_(self._source))
        self._restyle()

    def _restyle(self) -> None:
        self._glyph.setVisible(bool(self._icon))
        if self._icon:
            self._glyph.setPixmap(theme().pixmap(self._icon, "accent", 18))

    @Slot()
    def _follow_letters(self) -> None:
        """Letters may have grown, or become smaller, while it is open."""
        if self.isVisible():
            self._widen()
            self._grow()
            self._take_room()

    def showEvent(self, event: QShowEvent) -> None:
        """Stand in the middle of the window behind."""
        self._widen()
        self._grow(fit=not self.testAttribute(Qt.WidgetAttribute.WA_Resized))
        self._take_room()
        self._put_again = False
        super().showEvent(event)
        if self.focusWidget() is None and (first := self._first_reached()) is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def moveEvent(self, event: QMoveEvent) -> None:
        """Stay where it was put: some window managers of X11 say of a dialog that they put into a frame that it is in
        the corner of the screen, though it is seen elsewhere. Lists would drop down there, and it would jump there once
        it grows.
        """
        super().moveEvent(event)
        corner = event.pos() == self.screen().geometry().topLeft()
        if corner and event.spontaneous() and not self._put_again and not self._by_hand:
            self._put_again = True
            self._take_room()

    def event(self, event: QEvent) -> bool:
        """Make room for words that came, or became longer."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._grow()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Grown, by its words or by its layout, it keeps its buttons on the screen."""
        super().resizeEvent(event)
        if self.isVisible() and self.isWindow() and not event.spontaneous():
            room = self.screen().availableGeometry()
            if (below := self.frameGeometry().bottom() - room.bottom()) > 0:
                self.move(self.x(), max(room.top(), self.y() - below))

    def _grow(self, *, fit: bool = False) -> None:
        """A dialog of one width is as tall as its words are in that width: Qt asks how tall they are in another, in
        which they may be taller, too. ``fit``: nobody has said yet how tall it is.
        """
        layout = self.layout()
        if layout is None or self.minimumWidth() != self.maximumWidth() or not layout.hasHeightForWidth():
            return
        # else it would never be lower than in that other width, with room above some words that stand in none
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        room = self.screen().availableGeometry()
        needed = min(layout.totalHeightForWidth(self.minimumWidth()), room.height() - GAP)
        self.setMinimumHeight(needed)
        if fit or needed > self.height():
            self.resize(self.minimumWidth(), needed)

    def _take_room(self) -> None:
        """Seen and grown, it goes on standing in the middle; by itself it would grow to the right, off the screen."""
        behind = self.behind()
        if behind is None:
            return
        middle = self.geometry().center() if self._by_hand else behind.geometry().center()
        screen = self.screen().availableGeometry()
        if self._wanted is not None:
            room = behind.size()
            width, height = (round(one * theme().growth) for one in self._wanted)
            least = QSize(*self._least).boundedTo(screen.size())
            self.setMinimumSize(least)
            self.resize(QSize(min(width, room.width() - GAP), min(height, room.height() - GAP)).expandedTo(least))
        place = middle - self.rect().center()
        if self._by_hand or self.width() <= screen.width():
            place.setX(max(screen.left(), min(place.x(), screen.right() + 1 - self.width())))
        if self._by_hand or self.height() <= screen.height():
            place.setY(max(screen.top(), min(place.y(), screen.bottom() + 1 - self.height())))
        self.move(place)

    def _first_reached(self) -> QWidget | None:
        """What a person does first here; else the keyboard would begin on the cross that closes the dialog."""
        for one in self._chain():
            reached = one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.isEnabled() and one.isVisibleTo(self)
            if reached and one is not self._close:
                return one
        return None

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Reach the buttons of the foot after all that stands above them, also what was put there later."""
        items = [self.foot.itemAt(place) for place in range(self.foot.count())]
        feet = [one for item in items if item is not None and (one := item.widget()) is not None and _takes_keys(one)]
        chain = list(self._chain())
        if chain[-len(feet) :] != feet:
            last = next(one for one in reversed(chain) if one not in feet)
            for one in feet:
                QWidget.setTabOrder(last, one)
                last = one
        return super().focusNextPrevChild(forward)

    def _chain(self) -> Iterator[QWidget]:
        """What takes the keyboard, in the order of Tab, hidden or not."""
        return filter(_takes_keys, focus_chain(self))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave by Esc; Enter belongs to the control that has the focus."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the dialog by its head, once the mouse is drawn: a click alone would leave it at the mouse until the
        next one where the window manager hears of the press after the release.
        """
        if watched is self._head and isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            handle = self.windowHandle()
            if event.buttons() & Qt.MouseButton.LeftButton and handle is not None:
                self._by_hand = True
                handle.startSystemMove()
        return super().eventFilter(watched, event)


def _takes_keys(widget: QWidget) -> bool:
    return widget.focusPolicy() != Qt.FocusPolicy.NoFocus


class Scrim(QWidget):
    """A shade over a window."""

    def __init__(self, behind: QWidget) -> None:
        super().__init__(behind)
        self.setGeometry(behind.rect())
        behind.installEventFilter(self)
        self.raise_()
        self.show()

    def leave(self) -> None:
        """Go away for good."""
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cover the window when its size changes."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Shade."""
        shade = QColor(theme().color("shadow"))
        shade.setAlpha(SHADE)
        QPainter(self).fillRect(self.rect(), shade)
