"""A card: a panel with a title, a note beside it, room for actions and a body; small ones in a row, a value each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import _
from views.support import elide, safe, text
from views.support.language import say_in_language
from views.support.look import Label, line, paint_ground
from views.theme import theme
from views.theme.tokens import CARD_PADDING, status
from views.widgets.buttons import LinkLabel
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, in_column, in_row

#: so wide may a name be in a title, beside what else the head has
NAME_COLUMNS = 32
#: pixels between the tiles of a row, and the width below which they go on in a second one
GAP, LEAST_TILE = 8, 84


class Card(QFrame):
    """A card; add content to ``body``, actions with ``add_action``."""

    def __init__(self, title: str = "", *, divided: bool = False, padding: int = CARD_PADDING) -> None:
        super().__init__()
        self._source, self._tip = title, ""
        paint_ground(self, "card")
        column = in_column(owner=self, margins=(1, 1, 1, 1), spacing=0)
        self._head = QWidget()
        self._head.setFixedHeight(36)
        self._row = in_row(owner=self._head, margins=(CARD_PADDING, 0, CARD_PADDING, 0), spacing=8)
        self._title, self._head_note = Label("", "card"), Elided("", "label", "text3")
        self._row.addWidget(self._title)
        self._row.addWidget(self._head_note)
        self._head_note.hide()
        self._row.addStretch(1)
        column.addWidget(self._head)
        if divided:
            column.addWidget(line())
        self.body = QVBoxLayout()
        top = padding if divided or not title else 0
        self.body.setContentsMargins(padding, top, padding, padding)
        self.body.setSpacing(8)
        column.addLayout(self.body, 1)
        self._head.setVisible(bool(title))
        say_in_language(self.retranslate)

    def set_title(self, title: str) -> None:
        """Change the title; `title` is source text."""
        self._source = title
        self._head.setVisible(bool(title))
        self.retranslate()

    def show_name(self, name: str) -> None:
        """Show the name of what the card is about, which is the same in every language."""
        self._source = ""
        self._head.show()
        shown = safe.one_line(name, 80)
        self._title.setText(elide.middle(shown, NAME_COLUMNS))
        self._title.setToolTip(safe.tooltip(name) if self._title.text() != shown else "")

    def set_tip(self, tip: str) -> None:
        """Say more about the title in its tooltip; source text."""
        self._tip = tip
        self.retranslate()

    def set_note(self, note: str) -> None:
        """Show a short note beside the title, already translated."""
        self._head_note.show_text(note)
        self._head_note.setVisible(bool(note))  # without words it would take room for a few letters

    def add_beside_title(self, widget: QWidget) -> None:
        """Put a glyph or count right after the title."""
        self._row.insertWidget(1, widget)

    def add_before_title(self, widget: QWidget) -> None:
        """Put a glyph before the title."""
        self._row.insertWidget(0, widget)

    def add_action(self, widget: QWidget) -> None:
        """Put a button or legend at the right end of the head."""
        self._row.addWidget(widget)

    def retranslate(self) -> None:
        self._title.setText(_(self._source) if self._source else "")
        self._title.setToolTip(_(self._tip) if self._tip else "")
        self.setAccessibleName(self._title.text())


class Told(msgspec.Struct, frozen=True):
    """One tile: what it is about (source text), its value, a line beside it, and the tone of the value."""

    key: str
    title: str
    value: str
    beside: str = ""
    tone: str = "text"
    glyph: str = ""  #: status name whose glyph stands before the title, "" for none
    door: str = ""  #: words of a link behind the line beside, "" for none
    below: str = ""  #: a line of its own, for what the line beside would cut; "" for none


class TileRow(QWidget):
    """Small cards side by side, a value each.

    Signals:
        opened: the link of a tile was pressed: its key.
    """

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._columns = 0
        self.tiles: dict[str, Tile] = {}

    def show_tiles(self, told: Sequence[Told]) -> None:
        """Show these, in this order."""
        for one in told:
            if one.key not in self.tiles:
                self.tiles[one.key] = tile = Tile()
                tile.door.activated.connect(partial(self.opened.emit, one.key))
                self._columns = 0
            self.tiles[one.key].show_told(one)
        self._stand()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Go on in a second row where side by side no title could be read."""
        super().resizeEvent(event)
        self._stand()

    def _stand(self) -> None:
        count = len(self.tiles)
        fitting = max(1, (self.width() + GAP) // (round(LEAST_TILE * theme().growth) + GAP))
        rows = -(-count // fitting)
        columns = -(-count // max(1, rows))
        if columns == self._columns:
            return
        self._columns = columns
        for place, tile in enumerate(self.tiles.values()):
            self._grid.addWidget(tile, place // columns, place % columns)
        for column in range(count):
            self._grid.setColumnStretch(column, int(column < columns))


class Tile(QFrame):
    """One of them."""

    def __init__(self) -> None:
        super().__init__()
        paint_ground(self, "card")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._glyph, self._glyph_name = QLabel(), ""
        self.title, self.value, self.beside = Elided("", "label", "text2"), Elided("", "panel"), Elided("", "caption")
        self.below = Elided("", "caption")
        for label in (self.beside, self.below):
            label.set_tone("text3")
        self.door = LinkLabel()
        head, foot = QHBoxLayout(), QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self._glyph)
        head.addWidget(self.title, 1)
        foot.setSpacing(8)
        foot.addWidget(self.beside, 1)
        foot.addWidget(self.door)
        in_column(head, self.value, foot, self.below, STRETCH, owner=self, margins=(10, 6, 8, 6), spacing=1)
        theme().changed.connect(self._restyle)

    def show_told(self, told: Told) -> None:
        """Say this."""
        self.title.show_text(_(told.title))
        self.value.show_text(told.value)
        self.value.set_tone(told.tone)
        self.beside.show_text(told.beside)
        self.below.show_text(told.below)
        self.below.setVisible(bool(told.below))
        self.door.set_count_text(told.door)
        self.door.setVisible(bool(told.door))
        self._glyph_name = told.glyph
        self._restyle()
        said = (_(told.title), told.value, told.beside, told.below)
        self.setAccessibleName(text.listed(part for part in said if part))

    def _restyle(self) -> None:
        self._glyph.setVisible(bool(self._glyph_name))
        if self._glyph_name:
            token = status(self._glyph_name)
            self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 14))
