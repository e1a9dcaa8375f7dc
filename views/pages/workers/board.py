"""All workers as cards, in an order that stays until somebody asks for another."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.domain.insight.worker import WorkerNow
from services.i18n import _
from views.pages.workers.node_card import NodeCard
from views.pages.workers.nodes import Names
from views.support.language import on_language_changed
from views.widgets.scroll_pane import ScrollPane


class Board(ScrollPane):
    """Signals:
    ordered: worker, order.
    stop_wanted: worker.
    lanes_wanted: worker.
    task_wanted: id of a task.
    tasks_wanted: filter of the tasks behind a fact.
    forget_wanted: worker.
    start_wanted: one shall run on this computer.
    """

    ordered = Signal(str, str)
    stop_wanted = Signal(str)
    lanes_wanted = Signal(str)
    task_wanted = Signal(str)
    tasks_wanted = Signal(str)
    forget_wanted = Signal(str)
    start_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: dict[str, NodeCard] = {}
        self._reason, self._wanted = "", ""
        self._column = self.body
        self._column.setSpacing(8)
        self._column.addStretch(1)
        on_language_changed(self._say)
        self._say()

    def card(self, worker: str) -> NodeCard | None:
        """The card of a worker."""
        return self._cards.get(worker)

    def select(self, worker: str) -> None:
        """Mark the card of a worker, and bring it into view; one that is not listed yet once it is."""
        self._wanted = worker
        for name, card in self._cards.items():
            card.set_selected(name == worker)
        if worker in self._cards:
            self.ensureWidgetVisible(self._cards[worker])

    def selected(self) -> str:
        """The worker that was asked for, "" for none."""
        return self._wanted

    def names(self) -> list[str]:
        """The workers that have a card, from top to bottom."""
        return sorted(self._cards, key=lambda name: self._column.indexOf(self._cards[name]))

    def show_workers(
        self, workers: Sequence[WorkerNow], names: Names, here: str, now_ms: int, *, can_start: bool = False
    ) -> None:
        """Show the newest heartbeats; cards come and go, those that stay keep their place. ``can_start``: a worker
        could run on this computer in the place of one that is missing.
        """
        known = {one.name for one in workers}
        for worker in [one for one in self._cards if one not in known]:
            card = self._cards.pop(worker)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        missing = [one.name for one in workers if one.missing]
        first = self._wanted if self._wanted in missing else next(iter(missing), "")
        for one in workers:
            if one.name not in self._cards:
                self._add(one)
            leads = can_start and one.name == first
            card = self._cards[one.name]
            card.show_worker(one, names, now_ms, here=one.name == here, can_start=can_start, leads=leads)

    def set_acting(self, reason: str) -> None:
        """Take no orders, for this reason; "" takes them again."""
        self._reason = reason
        for card in self._cards.values():
            card.set_acting(reason)

    def reorder(self) -> None:
        """Missing workers first, then by name; only when a person asked."""
        cards = sorted(self._cards.values(), key=lambda card: (not card.now.missing, card.now.name))
        for place, card in enumerate(cards):
            self._column.removeWidget(card)
            self._column.insertWidget(place, card)

    def _add(self, one: WorkerNow) -> None:
        card = NodeCard(one)
        card.set_acting(self._reason)
        card.ordered.connect(self.ordered)
        card.stop_wanted.connect(self.stop_wanted)
        card.lanes_wanted.connect(self.lanes_wanted)
        card.task_wanted.connect(self.task_wanted)
        card.tasks_wanted.connect(self.tasks_wanted)
        card.forget_wanted.connect(self.forget_wanted)
        card.start_wanted.connect(self.start_wanted)
        card.set_selected(one.name == self._wanted)
        after = sum(1 for name in self._cards if name < one.name)
        self._column.insertWidget(after, card)
        self._cards[one.name] = card

    def _say(self) -> None:
        self.setAccessibleName(_("Worker nodes"))
