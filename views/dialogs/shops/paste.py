"""A field for a pasted list of shops; lines that are not found are marked, with what may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QMouseEvent, QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from services.commands.sheet.shop_index import ShopIndex
from services.domain.fleet.shop import Shop
from services.i18n import N_, _, ngettext
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.throttle import Debounce
from views.theme import theme
from views.widgets.buttons import LinkLabel

_SEPARATORS = re.compile(r"[,;\t，；、|]+")
_QUOTES = "\"'“”‘’「」"
SUGGESTED = 200  #: unknown names for which that is done


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the list: where it stands, which shop it is ("" unknown), which one may be meant."""

    line: int
    text: str
    shop: str
    suggestion: str = ""
    several: int = 0  #: how many shops the name fits, where that is more than one


def read(text: str, index: ShopIndex) -> list[Entry]:
    """The entries of a pasted text, line by line."""
    entries: list[Entry] = []
    lost = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for part in _SEPARATORS.split(line):
            word = part.strip().strip(_QUOTES).strip()
            if word:
                fresh = _entries(number, word, index, suggest=lost < SUGGESTED)
                lost += sum(not entry.shop for entry in fresh)
                entries += fresh
    return entries


def found(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Shops of the list, each once."""
    return tuple(dict.fromkeys(entry.shop for entry in entries if entry.shop))


def unknown(entries: Iterable[Entry]) -> list[Entry]:
    """What was not found."""
    return [entry for entry in entries if not entry.shop]


def _entries(number: int, word: str, index: ShopIndex, *, suggest: bool) -> list[Entry]:
    keys = index.candidates(word)
    if len(keys) == 1:
        return [Entry(number, word, keys[0])]
    if keys:
        return [Entry(number, word, "", keys[0], len(keys))]
    # Names may hold spaces, ids never do: only when every part is known was the space a separator.
    parts = word.split()
    found_ = [index.find(part) for part in parts]
    if len(parts) > 1 and all(found_):
        return [Entry(number, part, key) for part, key in zip(parts, found_, strict=True)]
    return [Entry(number, word, "", index.suggest(word) if suggest else "")]


_VCENTRE = int(Qt.AlignmentFlag.AlignVCenter)
QUIET_MS = 150


class ShopPaste(QWidget):
    """Signals:
    changed: other shops are named.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shops: Mapping[str, Shop] = {}
        self._platform = ""
        self._index = ShopIndex({})
        self.field = _PasteField()
        self.state = Label("", "label", "text3")
        self._copy = LinkLabel(N_("Copy them"))
        self._copy.activated.connect(self._on_copy)
        self._read = Debounce(self._on_text, QUIET_MS, self)
        self.field.textChanged.connect(self._read)
        self.field.suggestion_taken.connect(self._take)
        foot = QHBoxLayout()
        foot.addWidget(self.state)
        foot.addStretch(1)
        foot.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addWidget(self.field, 1)
        column.addLayout(foot)
        on_language_changed(self._say)
        self._say()

    def set_shops(self, shops: Mapping[str, Shop], platform: str = "") -> None:
        """Take the shops that may be named; where a name fits several, those of the platform in view are meant."""
        if shops is not self._shops or platform != self._platform:
            self._shops, self._platform, self._index = shops, platform, ShopIndex(shops, platform)
            self._on_text()

    @property
    def index(self) -> ShopIndex:
        """Finds shops by what people call them."""
        return self._index

    def show_lines(self, lines: Iterable[str]) -> None:
        """Put a list into the field, one name a line."""
        self.field.setPlainText("\n".join(lines))
        self.flush()

    def lost(self) -> list[Entry]:
        """Names that are not found."""
        return unknown(self.field.entries)

    def go_to(self, line: int) -> QWidget:
        """Put the cursor on a line (1-based)."""
        self.field.setTextCursor(QTextCursor(self.field.document().findBlockByNumber(line - 1)))
        self.field.setFocus()
        return self.field

    def chosen(self) -> tuple[str, ...]:
        """Keys of the shops named."""
        return found(self.field.entries)

    def flush(self) -> None:
        """Read what was typed at once."""
        self._read.flush()

    def _on_text(self) -> None:
        self._read.cancel()
        before = self.chosen()
        entries = read(self.field.toPlainText(), self._index)
        wanted = {entry.suggestion for entry in entries if entry.suggestion}
        several = {entry.suggestion for entry in entries if entry.several}
        names = {key: key if key in several else self._shops[key].shop_id for key in wanted}
        self.field.show_entries(entries, names)
        self._say()
        if before != self.chosen():
            self.changed.emit()

    def _take(self, entry: Entry) -> None:
        shop = self._shops.get(entry.suggestion)
        if shop is None:
            return
        block = self.field.document().findBlockByNumber(entry.line - 1)
        at = block.text().find(entry.text)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + at)
        cursor.setPosition(block.position() + at + len(entry.text), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(shop.key if entry.several else shop.shop_id)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(entry.text for entry in self.lost()))

    def _say(self) -> None:
        lost = len(self.lost())
        self.field.setAccessibleName(_("List of shops"))
        self.field.setPlaceholderText(_("Paste ids or names, one a line or separated by commas"))
        if lost:
            self.state.setText(ngettext("{n} not found", "{n} not found", lost).format(n=lost))
        elif self.field.entries:
            number = len(self.chosen())
            self.state.setText(ngettext("{n} shop found", "{n} shops found", number).format(n=number))
        else:
            self.state.setText("")
        self.state.set_tone("dead" if lost else "text3")
        self._copy.setVisible(bool(lost))


class _PasteField(QPlainTextEdit):
    """Lines with the suggestion at their right end.

    Signals:
        suggestion_taken: the ``Entry`` whose suggestion was clicked.
    """

    suggestion_taken = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self._names: Mapping[str, str] = {}
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.viewport().setMouseTracking(True)
        self.document().setDocumentMargin(7)
        theme().changed.connect(self._restyle)
        self._restyle()

    def show_entries(self, entries: list[Entry], names: Mapping[str, str]) -> None:
        """Mark what was not found."""
        self.entries, self._names = entries, names
        self.viewport().update()

    def _restyle(self) -> None:
        self.setFont(theme().font("mono"))
        self.viewport().update()

    def _marks(self) -> list[tuple[Entry, QRect]]:
        marks = []
        seen: set[int] = set()
        for entry in unknown(self.entries):
            block = self.document().findBlockByNumber(entry.line - 1)
            if entry.line in seen or not block.isVisible():
                continue
            seen.add(entry.line)
            box = self.blockBoundingGeometry(block).translated(self.contentOffset()).toRect()
            marks.append((entry, QRect(0, box.top(), self.viewport().width(), box.height())))
        return marks

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the marks below and the suggestions beside the text."""
        painter = QPainter(self.viewport())
        for _entry, room in self._marks():
            painter.fillRect(room, theme().tint("dead", 16, "input"))
        painter.end()
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(theme().font("label"))
        for entry, room in self._marks():
            name = self._names.get(entry.suggestion, "")
            painter.setPen(theme().color("accent" if name else "dead"))
            painter.drawText(self._word_room(room, name), _VCENTRE, f"{name}?" if name else _("no match"))

    def _word_room(self, room: QRect, name: str) -> QRect:
        words = f"{name}?" if name else _("no match")
        width = QFontMetrics(theme().font("label")).horizontalAdvance(words) + 8
        return QRect(room.right() - width, room.top(), width, room.height())

    def _suggestion_at(self, event: QMouseEvent) -> Entry | None:
        point = event.position().toPoint()
        for entry, room in self._marks():
            name = self._names.get(entry.suggestion, "")
            if name and self._word_room(room, name).contains(point):
                return entry
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show that a suggestion can be taken."""
        over = self._suggestion_at(event) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take a suggestion."""
        entry = self._suggestion_at(event)
        if entry is not None:
            self.suggestion_taken.emit(entry)
            return
        super().mousePressEvent(event)
