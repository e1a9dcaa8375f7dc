"""What needs a person: cause, sentence, age and one or two verbs each, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from services.i18n import N_, _
from views.support import safe
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import LinkLabel
from views.widgets.empty_state import EmptyState

LEAVES_AFTER_MS = 10_000
_RANK = {"dead": 0, "stuck": 1, "blocked": 2, "warning": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionRow:
    """One item in the language of the moment."""

    key: str
    severity: str  #: name of a status
    title: str
    sentence: str = ""
    age: str = ""
    since_ms: int = 0
    verbs: tuple[tuple[str, str, str], ...] = ()  #: verb, what it is about, words of the link


@dataclass(slots=True)
class _Kept:
    """An item, and since when it has been over."""

    row: AttentionRow
    over_ms: int | None = None


class AttentionModel:
    """Which items are shown: worst first, then newest; one that is over stays ten seconds as resolved."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def update(self, rows: Sequence[AttentionRow], now_ms: int) -> list[tuple[AttentionRow, bool]]:
        """Take the present items; return all to show and whether each one is resolved."""
        fresh = {row.key: row for row in rows}
        for key, kept in list(self._kept.items()):
            if key in fresh:
                continue
            kept.over_ms = now_ms if kept.over_ms is None else kept.over_ms
            if now_ms - kept.over_ms >= LEAVES_AFTER_MS:
                del self._kept[key]
        self._kept |= {key: _Kept(row) for key, row in fresh.items()}
        ordered = sorted(self._kept.values(), key=lambda one: (_RANK.get(one.row.severity, 9), -one.row.since_ms))
        return [(one.row, one.over_ms is not None) for one in ordered]


def _widgets(layout: QLayout) -> list[QWidget]:
    found = [layout.itemAt(at) for at in range(layout.count())]
    return [widget for item in found if item is not None and (widget := item.widget()) is not None]


def _wrapped(kind: str, tone: str) -> Label:
    """A label that is as high as its words need at the width it gets."""
    label = Label("", kind, tone, wrap=True)
    policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


class AttentionItem(QFrame):
    """One item.

    Signals:
        verb: a verb and what it is about.
    """

    verb = Signal(str, str)

    def __init__(self, row: AttentionRow) -> None:
        super().__init__()
        self._row = row
        self._resolved = False
        self._glyph = QLabel()
        self._glyph.setFixedWidth(16)
        self._title, self._age = _wrapped("strong", "text"), Label("", "label", "text3")
        self._sentence = _wrapped("label", "text2")
        self._links = QHBoxLayout()
        self._links.setSpacing(14)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title, 1)
        head.addWidget(self._age, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(3)
        words.addLayout(head)
        words.addWidget(self._sentence)
        words.addLayout(self._links)
        row_box = QHBoxLayout()
        row_box.setContentsMargins(12, 11, 12, 9)
        row_box.setSpacing(10)
        row_box.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        row_box.addLayout(words, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(row_box)
        outer.addWidget(line())
        theme().changed.connect(self._restyle)
        self._fill()

    @property
    def row(self) -> AttentionRow:
        """What is shown."""
        return self._row

    @property
    def resolved(self) -> bool:
        """Whether it is over."""
        return self._resolved

    def links(self) -> list[LinkLabel]:
        """The verbs."""
        return [widget for widget in _widgets(self._links) if isinstance(widget, LinkLabel)]

    def show_row(self, row: AttentionRow, *, resolved: bool) -> None:
        """Show an item; links are made anew only when the verbs changed, so that the focus stays."""
        if (row, resolved) == (self._row, self._resolved):
            return
        verbs = self._row.verbs != row.verbs or self._resolved != resolved
        self._row, self._resolved = row, resolved
        self._fill(links=verbs)

    def _fill(self, *, links: bool = True) -> None:
        row = self._row
        age = _("resolved") if self._resolved else row.age
        self._title.setText(safe.one_line(row.title, 160))
        self._title.set_tone("text3" if self._resolved else "text")
        self._sentence.setText(safe.one_line(row.sentence, 240))
        self._sentence.setVisible(bool(row.sentence))
        self._age.setText(age)
        if links:
            self._make_links()
        word = _(status(row.severity).word)
        self.setAccessibleName(f"{word}: {row.title}. {row.sentence} {age}".strip())
        self._restyle()

    def _make_links(self) -> None:
        while (item := self._links.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for verb, target, words in () if self._resolved else self._row.verbs:
            link = LinkLabel()
            link.set_count_text(words)
            link.activated.connect(_Said(self, verb, target))
            self._links.addWidget(link)
        self._links.addStretch(1)

    def _restyle(self) -> None:
        token = status("healthy" if self._resolved else self._row.severity)
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_("Copy text"), self.copy_text)
        menu.popup(event.globalPos())

    def copy_text(self) -> None:
        """Put the item on the clipboard."""
        QGuiApplication.clipboard().setText(f"{self._row.title}\n{self._row.sentence}".strip())


class _Said:
    """One link; a lambda in a loop would name the last verb."""

    def __init__(self, item: AttentionItem, verb: str, target: str) -> None:
        self._item, self._verb, self._target = item, verb, target

    def __call__(self) -> None:
        self._item.verb.emit(self._verb, self._target)


class AttentionList(QWidget):
    """All items, scrolling inside; says so when there is nothing to do.

    Signals:
        verb: a verb and what it is about.
        count_changed: how many items need somebody.
    """

    verb = Signal(str, str)
    count_changed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._model = AttentionModel()
        self._items: dict[str, AttentionItem] = {}
        self._count = -1
        self._empty = EmptyState(N_("Nothing needs you"), icon="ph.check-circle")
        for label in self._empty.findChildren(QLabel):
            # Few words on one line; a wrapped label would ask for a column as narrow as its longest word.
            label.setWordWrap(False)
        self._inner = QWidget()
        self._inner.setProperty("scroll", True)
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self._inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.viewport().setAutoFillBackground(False)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)
        outer.addWidget(self._empty)
        self._show_empty()
        on_language_changed(self.retranslate)
        self.retranslate()

    def items(self) -> list[AttentionItem]:
        """The items in their order."""
        return [widget for widget in _widgets(self._column) if isinstance(widget, AttentionItem)]

    def set_rows(self, rows: Sequence[AttentionRow], now_ms: int) -> None:
        """Show these items; the widget of one that stays is kept."""
        shown = self._model.update(rows, now_ms)
        keys = [row.key for row, _resolved in shown]
        before = [item.row.key for item in self.items()]
        for key in [key for key in self._items if key not in keys]:
            self._items.pop(key).deleteLater()
        for place, (row, resolved) in enumerate(shown):
            item = self._items.get(row.key) or self._add(row)
            item.show_row(row, resolved=resolved)
            if self._column.indexOf(item) != place:
                self._column.removeWidget(item)
                self._column.insertWidget(place, item)
        if before != keys:
            self._order_tabs()
        self._show_empty()
        count = sum(1 for _row, resolved in shown if not resolved)
        if count != self._count:
            self._count = count
            self.count_changed.emit(count)

    def retranslate(self) -> None:
        """Say the name again."""
        self.setAccessibleName(_("Needs attention"))

    def _add(self, row: AttentionRow) -> AttentionItem:
        item = self._items[row.key] = AttentionItem(row)
        item.verb.connect(self.verb)
        return item

    def _order_tabs(self) -> None:
        links = [link for item in self.items() for link in item.links()]
        for first, second in pairwise(links):
            QWidget.setTabOrder(first, second)

    def _show_empty(self) -> None:
        self._empty.setVisible(not self._items)
        self._scroll.setVisible(bool(self._items))
