"""Small helpers for the look of a widget: properties of the style sheet, lines, labels."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QSizePolicy, QVBoxLayout, QWidget

from views.theme import theme
from views.widgets.layout import in_column


def set_look(widget: QWidget, **properties: object) -> None:
    """Set properties that the style sheet asks for (panel, kind, tone …) and polish again."""
    changed = False
    for name, value in properties.items():
        if widget.property(name) != value:
            widget.setProperty(name, value)
            changed = True
    if changed:
        style = widget.style()
        style.unpolish(widget)
        style.polish(widget)


def focus_chain(first: QWidget) -> Iterator[QWidget]:
    """What Tab reaches after a widget, once round; what it passes by as well.

    PySide takes what ``nextInFocusChain`` returns for a child of what was asked. A dialog that is held by its parent
    alone was a child of its own last button from then on, and so collected as a cycle while it was open: it was gone,
    and the window behind it stayed dim and dead. Giving each the parent that it has tells PySide alone.
    """
    one: QWidget | None = first
    while one is not None and (one := one.nextInFocusChain()) is not None:
        one.setParent(one.parentWidget())
        if one is first:
            return
        yield one


def panel(name: str, parent: QWidget | None = None) -> QFrame:
    """Return a frame painted as ``card``, ``surface``, ``footer`` … (see ``theme.qss``)."""
    frame = QFrame(parent)
    frame.setProperty("panel", name)
    return frame


def paint_ground(widget: QWidget, name: str) -> None:
    """Let the style sheet paint the ground of a widget as that of such a panel."""
    widget.setProperty("panel", name)
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


def line(direction: str = "h") -> QFrame:
    """Return a divider, ``h`` or ``v``."""
    frame = QFrame()
    frame.setProperty("line", direction)
    frame.setFrameShape(QFrame.Shape.NoFrame)
    return frame


def ruled(owner: QWidget, *parts: QWidget | QLayout, tall: int) -> QVBoxLayout:
    """Put parts one below the other with lines between them, inside the edge of `owner`; the one at `tall` grows."""
    column = in_column(owner=owner, margins=(1, 1, 1, 1), spacing=0)
    for place, part in enumerate(parts):
        if place:
            column.addWidget(line())
        if isinstance(part, QLayout):
            column.addLayout(part, int(place == tall))
        else:
            column.addWidget(part, int(place == tall))
    return column


class Label(QLabel):
    """A label of one step of the type scale and one tone; plain text, never guessed as HTML."""

    def __init__(
        self, text: str = "", kind: str = "body", tone: str = "text", *, wrap: bool = False, tabular: bool | None = None
    ) -> None:
        """`tabular` asks for figures of one width: for counters that change in place."""
        super().__init__(text)
        self._kind, self._tabular = kind, tabular
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("tone", tone)
        self.setWordWrap(wrap)
        if wrap:
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._restyle()
        theme().changed.connect(self._restyle)

    def set_tone(self, tone: str) -> None:
        """Change the colour role."""
        set_look(self, tone=tone)

    def set_kind(self, kind: str) -> None:
        """Change the step of the type scale."""
        self._kind = kind
        self._restyle()

    def _restyle(self) -> None:
        self.setFont(theme().font(self._kind, tabular=self._tabular))
