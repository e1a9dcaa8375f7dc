"""Buttons: primary, plain, ghost, danger, link; with glyph, shortcut chip and drop-down caret.

    Button(N_("New task"), kind="primary", icon="ph.plus", shortcut="window.new")
    Button(N_("Cancel"), kind="danger", icon="ph.prohibit")
    IconButton("ph.copy", N_("Copy id"))
    button.set_count_text(_("Republish {n} tasks").format(n=51))   # a text of its own

At most one primary button per view. `shortcut` is shown and also works; `hint` is shown only, for a
key that somebody else handles (that of a verb in a table, Esc of a dialog); `keys` are told in the tool tip alone. All
name a command of ``keymap``, whose key of the moment is meant, or a key that is always the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractButton, QDialog, QMenu, QSizePolicy, QToolTip, QWidget

from services.i18n import _
from views.support.keymap import keymap
from views.support.keys import Shortcut, beside, refuse
from views.support.language import on_language_changed
from views.support.paint import cut, draw_box, draw_focus, width_of, write
from views.theme import theme
from views.theme.tokens import BUTTON, BUTTON_SMALL, RADIUS_BUTTON

_PAD, _GAP, _CHIP_PAD = 11, 7, 6
_CARET = 12
KINDS = ("plain", "primary", "danger", "dangerfill", "ghost", "ghostdanger", "link", "warning")


def focus_first(panel: QWidget, acts: Iterable[QWidget], close: QWidget) -> None:
    """Bring the keyboard to the first of these that can be pressed in a panel, to what closes it where none can."""
    ready = (one for one in acts if one.isEnabled() and one.isVisibleTo(panel))
    next(ready, close).setFocus(Qt.FocusReason.TabFocusReason)


def shortcut_text(name: str) -> str:
    """Return the key of a command, or a fixed one, as it is shown everywhere, in menus too: ``Ctrl+N``, ``Ctrl+Enter``,
    ``G T``, on a Mac its signs; "" for none.
    """
    parts = keymap().now(name).replace(", ", " ").split(" ")
    if sys.platform == "darwin":
        form = QKeySequence.SequenceFormat.NativeText
        parts = [QKeySequence(part).toString(form) or part for part in parts]
    return " ".join(parts).replace("Return", "Enter")


def paint_chip(painter: QPainter, right: int, rect: QRect, text: str, *, on_fill: bool, enabled: bool) -> int:
    """Draw a shortcut chip that ends at `right`; return where it begins."""
    width = width_of(text, "caption") + 2 * _CHIP_PAD
    box = QRect(right - width, rect.center().y() - 8, width, 18)
    edge, ink = theme().color("line2"), theme().color("text3" if enabled else "dis")
    if on_fill:
        edge, ink = QColor(theme().color("white")), QColor(theme().color("white"))
        edge.setAlpha(110 if enabled else 60)
        ink.setAlpha(255 if enabled else 120)
    draw_box(painter, box, 4, edge, None)
    write(painter, box, text, "caption", ink, at=0.5)
    return right - width


class Button(QAbstractButton):
    """A push button of the design.

    Signals:
        clicked: as in Qt; also by Space, Enter and its shortcut.
    """

    def __init__(
        self,
        text: str = "",
        *,
        kind: str = "plain",
        icon: str = "",
        shortcut: str = "",
        hint: str = "",
        small: bool = False,
        tip: str = "",
        keys: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._source, self._tip_source = text, tip
        self._kind, self._icon, self._shortcut, self._keys = kind, icon, shortcut or hint, keys or shortcut or hint
        self._small = small
        self._menu: QMenu | None = None
        self._reason, self._focus_waits = "", False
        self._focus_at: QWidget | None = None  #: where the keyboard waits, None for nowhere
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor if kind == "link" else Qt.CursorShape.ArrowCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._own = shortcut  #: the key that presses it
        self._refusing: Shortcut | None = None  #: hears the key while it is disabled, which Qt keeps from itself then
        if shortcut:
            Shortcut(shortcut, self, self.click).setAutoRepeat(False)  # what a held key opens it must not confirm
        if self._keys:
            keymap().changed.connect(self.retranslate)
        self.retranslate()
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)

    @property
    def kind(self) -> str:
        """The look: one of ``KINDS``."""
        return self._kind

    def set_kind(self, kind: str) -> None:
        """Change the look."""
        self._kind = kind
        self._restyle()

    def set_glyph(self, name: str) -> None:
        """Change the icon."""
        self._icon = name
        self._restyle()

    def set_source(self, text: str) -> None:
        """Change the text; `text` is source text and follows the language."""
        self._source = text
        self.retranslate()

    def set_tip(self, tip: str) -> None:
        """Change the explanation, the name of a button without text; `tip` is source text and follows the language."""
        self._tip_source = tip
        self._name()

    def set_count_text(self, text: str) -> None:
        """Show an already translated text, such as a verb with its number."""
        self._source = ""
        self.setText(text)
        self.setShortcut(QKeySequence())  # a name with & in it would become one
        self._name()
        self._restyle()

    def set_menu(self, menu: QMenu) -> None:
        """Open `menu` on click and show a caret."""
        self._menu = menu
        self.clicked.connect(self._open_menu)
        self._restyle()

    def disable(self, reason: str) -> None:
        """Disable with a reason people can read; an empty reason enables again.

        In a dialog the keyboard waits for it: else it would go on to the next button, often the one that leaves.
        """
        self._reason = reason
        window = self.window()
        if reason and isinstance(window, QDialog) and window.focusWidget() is self:
            self._focus_waits, self._focus_at = True, None
            self.clearFocus()
        self.setEnabled(not reason)
        self._hear()
        if self._focus_waits and not reason:
            self._focus_waits = False
            if self.isVisible() and window.focusWidget() is self._focus_at:
                self.setFocus()
        self._name()

    def click(self) -> None:
        """Press it, or say why it cannot be."""
        if self.isEnabled():
            super().click()
        elif self.isVisible():
            refuse(self._reason, self)

    def _hear(self) -> None:
        around = self.parentWidget()
        if self._own and self._refusing is None and self._reason and around is not None:
            self._refusing = Shortcut(self._own, around, self.click)
            self._refusing.setAutoRepeat(False)
        if self._refusing is not None:
            self._refusing.setEnabled(bool(self._reason) and self.isVisible())

    def showEvent(self, event: QShowEvent) -> None:
        """Answer to its key, also where it cannot be pressed."""
        super().showEvent(event)
        self._hear()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave its key to others."""
        super().hideEvent(event)
        self._hear()

    def wait(self, reason: str) -> None:
        """Disable until an answer comes, on a page: the keyboard waits beside it, where the keys of the page work and
        nothing is pressed, and is back with the answer.
        """
        around = self.parentWidget()
        if reason and around is not None and self.window().focusWidget() is self:
            self._focus_waits, self._focus_at = True, around
            around.setFocus()
        self.disable(reason)

    def retranslate(self) -> None:
        if self._source:
            self.setText(_(self._source))
        self._name()
        self._restyle()

    def _name(self) -> None:
        tip = self._reason or (_(self._tip_source) if self._tip_source else "")
        keys = shortcut_text(self._keys)
        if keys and not self._reason:
            tip = f"{tip or self.text()}  ({keys})"
        self.setToolTip(tip)
        self.setAccessibleName(self.text() or (_(self._tip_source) if self._tip_source else ""))
        self.setAccessibleDescription(self._reason)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def _open_menu(self) -> None:
        if self._menu is not None:
            self._menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    # geometry and paint

    def sizeHint(self) -> QSize:
        """Return the room for icon, text, chip and caret."""
        if self._kind == "link":
            return QSize(self._text_width() + (self._icon_room() if self._icon else 0) + 1, BUTTON_SMALL)
        width = 2 * (_PAD - (3 if self._small else 0))
        width += self._text_width()
        width += self._icon_room() if self._icon else 0
        width += _CARET + _GAP - 1 if self._menu is not None else 0
        width += self._chip_width()
        return QSize(max(width, BUTTON_SMALL if self._small else BUTTON), BUTTON)

    def minimumSizeHint(self) -> QSize:
        """Return the room without the chip: where it is narrow the key is left to the tool tip."""
        full = self.sizeHint()
        return QSize(full.width() - self._chip_width(), full.height())

    def _text_font(self) -> str:
        return "label" if self._small else ("body" if self._kind == "link" else "strong")

    def _text_width(self) -> int:
        return width_of(self.text(), self._text_font()) + 1 if self.text() else 0

    def _icon_room(self) -> int:
        return 15 + (_GAP if self.text() else 0)

    def _chip_width(self) -> int:
        text = shortcut_text(self._shortcut)
        if not text:
            return 0
        return width_of(text, "caption") + 2 * _CHIP_PAD + _GAP - 3

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self._paint_ground(painter)
        self._paint_content(painter, ink)
        if self.hasFocus():
            draw_focus(painter, self._box(), RADIUS_BUTTON)

    def _box(self) -> QRect:
        """What is drawn of it: a small one looks lower than the mouse finds it."""
        spare = max(0, self.height() - BUTTON_SMALL) if self._small else 0
        return self.rect().adjusted(0, spare // 2, 0, spare // 2 - spare)

    def _paint_ground(self, painter: QPainter) -> str:
        fill, edge, ink = _look(self._kind, self.isEnabled(), self.underMouse() or self.isDown(), self.isChecked())
        if fill is not None or edge is not None:
            draw_box(painter, self._box(), RADIUS_BUTTON, edge, fill)
        return ink

    def _paint_content(self, painter: QPainter, ink: str) -> None:
        rect = self.rect()
        filled = self._kind in ("primary", "dangerfill")
        needed = self.sizeHint().width()
        chip = shortcut_text(self._shortcut) if rect.width() >= needed else ""
        needed -= 0 if chip else self._chip_width()
        left = max(0, (rect.width() - needed) // 2) + (0 if self._kind == "link" else _PAD - (3 if self._small else 0))
        if self._icon and not self.text():
            left = (rect.width() - 15) // 2 - ((_CARET - 2) // 2 if self._menu is not None else 0)
        if not self.isEnabled() and filled:
            painter.setOpacity(0.55)
        if self._icon:
            painter.drawPixmap(left, (rect.height() - 15) // 2, theme().pixmap(self._icon, ink, 15))
            left += self._icon_room()
        room = max(0, rect.width() - left - (0 if self._kind == "link" else _CHIP_PAD))
        words = self.text()
        if self._cut():
            words = cut(words, self._text_font(), room)
        write(painter, QRect(left, 0, room, rect.height() - 1), words, self._text_font(), ink)
        right = rect.width() - _PAD + 3
        if self._menu is not None:
            caret = theme().pixmap("ph.caret-down", "text3" if self.isEnabled() else "dis", _CARET)
            painter.drawPixmap(rect.width() - _PAD - _CARET + 3, (rect.height() - _CARET) // 2, caret)
        elif chip:
            paint_chip(painter, right, rect, chip, on_fill=filled, enabled=self.isEnabled() or filled)
        painter.setOpacity(1.0)

    def _cut(self) -> bool:
        """Whether it is narrower than its words (``FlowRow``)."""
        return self.width() < self.minimumSizeHint().width()

    def event(self, event: QEvent) -> bool:
        """Tell words that are cut where nothing else is told; leave a right click to the window where it cannot be
        pressed, which Qt would swallow.
        """
        if event.type() == QEvent.Type.ContextMenu and not self.isEnabled():
            event.ignore()
            return False
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._cut() and not self.toolTip():
            QToolTip.showText(event.globalPos(), self.text(), self)
            return True
        return super().event(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show the hover colour."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Drop the hover colour."""
        super().leaveEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter press the button too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
            return
        super().keyPressEvent(event)


def _look(kind: str, enabled: bool, lit: bool, checked: bool) -> tuple[QColor | None, QColor | None, str]:
    """Return fill, edge and ink role of a button."""
    colour = theme().color
    if kind in ("primary", "dangerfill"):
        base = "accent" if kind == "primary" else "danger"
        if not enabled:
            return theme().tint("accentbg" if kind == "primary" else "dangerbg", 45), None, "white"
        return colour(f"{base}hover" if lit else f"{base}bg"), None, "white"
    if kind == "link":
        return None, None, "accent" if enabled else "dis"
    ink = {"danger": "dead", "ghostdanger": "dead", "warning": "retrying"}.get(kind, "text")
    ghost = kind.startswith("ghost")
    if not enabled:
        return None, (None if ghost else colour("line")), "dis"
    if ghost:
        return (colour("hover") if lit or checked else None), None, ink
    fill = colour("hover") if lit or checked else colour("raised")
    return fill, colour("line2"), ink


class IconButton(Button):
    """A square button with a glyph; its name is the tool tip. One that has a ``word`` shows that instead of the glyph
    where its owner has room for words.
    """

    def __init__(self, icon: str, name: str, *, kind: str = "ghost", keys: str = "", word: str = "") -> None:
        self._glyph_name, self._word = icon, word
        super().__init__("", kind=kind, icon=icon, tip=name, keys=keys)

    def _name(self) -> None:
        name = _(self._tip_source)
        self.setAccessibleName(name)
        self.setAccessibleDescription(self._reason)
        keys = shortcut_text(self._keys)
        if not self._reason:
            self.setToolTip(f"{name}  ({keys})" if keys else name)
        else:  # whoever sees but a glyph has to be told as well what it is that cannot be done
            self.setToolTip(self._reason if self.text() else f"{name}\n{self._reason}")

    def set_look(self, icon: str, name: str) -> None:
        """Stand for something else; `name` is source text."""
        self._tip_source = name
        self.set_glyph(icon)
        self._name()

    def set_worded(self, worded: bool) -> None:
        """Show the word, or the glyph again."""
        if not self._word or worded == bool(self._source):
            return
        self._source, self._icon = (self._word, "") if worded else ("", self._glyph_name)
        if not worded:
            self.setText("")
        self.retranslate()

    def worded_width(self) -> int:
        """How wide it is with its word."""
        return width_of(_(self._word), self._text_font()) + 1 + 2 * _PAD

    def sizeHint(self) -> QSize:
        """Return a square, wider with a word or a menu."""
        if self.text():
            return super().sizeHint()
        return QSize(BUTTON + (_CARET if self._menu is not None else 0), BUTTON)


class LinkLabel(Button):
    """A verb in the accent colour inside a text or card; ``filled``: the one to click, as a small primary button.

    Signals:
        activated: clicked, for those who do not want the ``checked`` flag.
    """

    activated = Signal()

    def __init__(self, text: str = "", parent: QWidget | None = None, *, filled: bool = False) -> None:
        super().__init__(text, kind="primary" if filled else "link", small=filled, parent=parent)
        self.clicked.connect(self.activated)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Lead to a window of its own with Ctrl."""
        with beside(event):
            super().mouseReleaseEvent(event)
