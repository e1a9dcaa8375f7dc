"""What needs a person: cause, sentence, age and its verbs each, in the order of what a person must do."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QApplication, QLabel, QSizePolicy, QWidget

from services.i18n import N_, _
from views.support.language import say_in_language
from views.theme import theme
from views.widgets.attention.item import DENSITIES, widgets_in
from views.widgets.attention.item import AttentionItem as AttentionItem
from views.widgets.attention.item import AttentionRow as AttentionRow
from views.widgets.empty_state import EmptyState
from views.widgets.layout import in_column, tab_through
from views.widgets.scroll_pane import ScrollPane

LEAVES_AFTER_MS = 10_000
#: for so long after the mouse moved over it nothing of the list moves away from it
AIMS_MS = 10_000
#: more is said of each item only where so much height is left over: an age that takes another line would else switch
#: the words of all of them to and fro
SLACK = 28


class _Kept(msgspec.Struct):
    """An item, and since when it has been over."""

    row: AttentionRow
    over_ms: int | None = None


class AttentionModel:
    """Which items are shown, in the order given; one that is over stays in its place for ten seconds, as resolved,
    unless it may have ended badly, or is told among others now.
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def update(
        self, rows: Sequence[AttentionRow], now_ms: int, muted: Collection[str] = (), *, held: bool = False
    ) -> list[tuple[AttentionRow, bool]]:
        """Take the present items; return all to show and whether each one is resolved. Muted ones leave at once.

        ``held``: what is shown keeps its place, and what is new comes below.
        """
        fresh = {row.key: row for row in rows}
        for key, kept in list(self._kept.items()):
            if key in muted or (key not in fresh and (kept.row.end_open or _is_told_by(kept.row, rows))):
                del self._kept[key]
                continue
            if key in fresh:
                continue
            kept.over_ms = now_ms if kept.over_ms is None else kept.over_ms
            if now_ms - kept.over_ms >= LEAVES_AFTER_MS and not held:
                del self._kept[key]
        order = [*self._kept, *(key for key in fresh if key not in self._kept)] if held else self._in_order(fresh)
        self._kept = {key: _Kept(fresh[key]) if key in fresh else self._kept[key] for key in order}
        return [(one.row, one.over_ms is not None) for one in self._kept.values()]

    def _in_order(self, fresh: Collection[str]) -> list[str]:
        order = list(fresh)
        for place, key in enumerate(self._kept):
            if key not in fresh:
                order.insert(min(place, len(order)), key)
        return order


def _is_told_by(gone: AttentionRow, present: Collection[AttentionRow]) -> bool:
    """Whether one for several says now what an item said, or items for each what one for several said: then what it
    told of is not over.
    """
    pairs = (pair for one in present for pair in ((one, gone), (gone, one)))
    return any(several.covers and single.key.startswith(several.covers) for several, single in pairs)


CALM = (N_("Nothing needs you"), "ph.check-circle")


class AttentionList(QWidget):
    """All items, scrolling inside; says so when there is nothing to do. The first verb of the first item is filled:
    one thing to do next.

    Signals:
        verb: a verb and what it is about.
        mute: an ``AttentionRow`` and a key of ``attention_item.SPANS``.
        count_changed: how many items need somebody.
        below_changed: how many items that need somebody begin or go on below what is seen.
    """

    verb = Signal(str, str)
    mute = Signal(object, str)
    count_changed = Signal(int)
    below_changed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._model = AttentionModel()
        self._items: dict[str, AttentionItem] = {}
        self._count, self._reason = -1, ""
        self._told: object = None  #: the items shown and whether each is over, if held, and how large their letters are
        self._blind: bool | None = None  # nobody has told yet what there is
        self._pointer, self._moved_ms, self._held = QCursor.pos(), -AIMS_MS, False
        self.empty = EmptyState(N_("Loading…"), icon="ph.circle-dashed")
        for label in self.empty.findChildren(QLabel):
            # Few words on one line; a wrapped label would ask for a column as narrow as its longest word.
            label.setWordWrap(False)
        self._scroll = ScrollPane()
        self._column = self._scroll.body
        self._column.addStretch(1)
        self._below = 0
        self._needs: object = None  #: what the density was chosen for
        self._dense = 0  #: its place
        bar = self._scroll.verticalScrollBar()
        bar.valueChanged.connect(self._count_below)
        bar.rangeChanged.connect(self._count_later)
        self._counting = QTimer(self, singleShot=True, interval=0)
        self._counting.timeout.connect(self._count_below)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._outer = in_column(self._scroll, self.empty, owner=self)
        self._show_empty()
        say_in_language(self.retranslate)

    def items(self) -> list[AttentionItem]:
        """The items in their order."""
        return [widget for widget in widgets_in(self._column) if isinstance(widget, AttentionItem)]

    def set_rows(
        self, rows: Sequence[AttentionRow], now_ms: int, muted: Collection[str] = (), *, blind: bool = False
    ) -> None:
        """Show these items; the widget of one that stays is kept. Of the keys in ``muted`` nothing is shown.

        ``blind``: a server does not answer, so that nobody knows what else there is.
        """
        if self._blind != blind:
            self._blind = blind
            calm = (N_("Not known while a server is lost"), "ph.wifi-slash") if blind else CALM
            self.empty.set_texts(calm[0], icon=calm[1])
        focused = self._has_keyboard()
        self._hold(now_ms)
        shown = self._model.update(rows, now_ms, muted, held=self._held)
        told = theme().growth, self._held, [(row.key, resolved) for row, resolved in shown]
        if told == self._told:
            changed = [self._items[row.key].show_row(row, resolved=over) for row, over in shown]
            if not any(changed):
                return  # most seconds
        self._told = told
        moved = self._put_in_order(shown)
        first = next((row.key for row, resolved in shown if row.verbs and not resolved), "")
        for key, item in self._items.items():
            item.set_leading(key == first)
        self._choose_density()
        if moved:
            self._order_tabs()
        if focused and QApplication.focusWidget() not in self._stops():
            self.setFocus(Qt.FocusReason.OtherFocusReason)  # Qt would go on to anywhere in the window
        self._show_empty()
        count = sum(1 for _row, resolved in shown if not resolved)
        if count != self._count:
            self._count = count
            self.count_changed.emit(count)
            self._count_later()

    def _hold(self, now_ms: int) -> None:
        """Let everything stay where it is while somebody aims at it."""
        pointer = QCursor.pos()
        if pointer != self._pointer:
            self._pointer, self._moved_ms = pointer, now_ms
        over = self.isVisible() and self.rect().contains(self.mapFromGlobal(pointer))
        before, self._held = self._held, over and now_ms - self._moved_ms < AIMS_MS
        if before or self._held:
            for item in self._items.values():
                item.hold(self._held)

    def _stops(self) -> list[QWidget]:
        return [stop for item in self.items() for stop in item.stops()]

    def _has_keyboard(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def _put_in_order(self, shown: Sequence[tuple[AttentionRow, bool]]) -> bool:
        """Whether others stand there, or in another order."""
        keys = [row.key for row, _resolved in shown]
        before = [item.row.key for item in self.items()]
        for key in [key for key in self._items if key not in keys]:
            gone = self._items.pop(key)
            self._column.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for place, (row, resolved) in enumerate(shown):
            item = self._items.get(row.key) or self._add(row)
            item.show_row(row, resolved=resolved)
            if self._column.indexOf(item) != place:
                self._column.removeWidget(item)
                self._column.insertWidget(place, item)
        return before != keys

    def load_failed(self) -> None:
        """It was never told what there is, and it is not on its way any more."""
        if self._blind is None:
            self.empty.set_texts(N_("What needs attention could not be loaded"), icon="ph.warning")

    def set_acting(self, reason: str) -> None:
        """Disable what changes something, with a reason; "" enables it again."""
        self._reason = reason
        for item in self._items.values():
            item.set_acting(reason)

    def retranslate(self) -> None:
        self.setAccessibleName(_("Needs attention"))

    def show_below(self) -> None:
        """Scroll to the items that are not seen yet."""
        bar = self._scroll.verticalScrollBar()
        bar.setValue(bar.value() + bar.pageStep())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """End between two items in any height."""
        super().resizeEvent(event)
        self._choose_density()
        self._fit()

    def _choose_density(self) -> None:
        """Say the less of each item the more of them there are, so that all are seen; no more than now while somebody
        aims at them.
        """
        items, width = self.items(), self.width() - self._scroll.verticalScrollBar().sizeHint().width()
        needs = width, self.height(), theme().growth, self._held, [item.needs for item in items]
        if needs == self._needs:
            return
        self._needs = needs
        slack = round(SLACK * theme().growth)
        least = self._dense if self._held else 0
        for place, density in enumerate(DENSITIES[least:], least):
            room = self.height() - (slack if place < self._dense else 0)
            if density is DENSITIES[-1] or sum(item.height_at(width, density) for item in items) <= room:
                self._dense = place
                break
        for item in items:
            item.set_density(DENSITIES[self._dense], width)

    def _fit(self) -> None:
        """Show only whole items while nobody has scrolled: half a sentence says something else than the whole one.

        One that is higher than the list is cut all the same.
        """
        height = self.height()
        ends = [item.geometry().bottom() + 1 for item in self.items()]
        whole = max((end for end in ends if end <= height), default=0)
        cut = whole and ends[-1] > height and not self._scroll.verticalScrollBar().value()
        rest = height - whole if cut else 0
        if rest != self._outer.contentsMargins().bottom():
            self._outer.setContentsMargins(0, 0, 0, rest)

    def _count_later(self, *_range: int) -> None:
        """Once the items have the places that they will have."""
        self._counting.start()

    def _count_below(self, *_range: int) -> None:
        self._fit()
        end = self._scroll.verticalScrollBar().value() + self._scroll.viewport().height()
        below = sum(not item.resolved and item.geometry().bottom() > end for item in self.items())
        if below != self._below:
            self._below = below
            self.below_changed.emit(below)

    def _add(self, row: AttentionRow) -> AttentionItem:
        item = self._items[row.key] = AttentionItem(row)
        item.set_acting(self._reason)
        item.hold(self._held)
        item.verb.connect(self.verb)
        item.mute.connect(self.mute)
        return item

    def _order_tabs(self) -> None:
        tab_through(self, self._stops())

    def _show_empty(self) -> None:
        self.empty.setVisible(not self._items)
        self._scroll.setVisible(bool(self._items))
