"""What one worker takes: its slots, how the lanes share them, and the task types that it shall refuse."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from services.domain import ids, lane_share
from services.domain.lane import LANES
from services.domain.lane_share import MAX_SLOTS, Share
from services.domain.worker import WorkerInfo
from services.i18n import N_, _
from views.dialogs.frame import DialogFrame
from views.support import safe, shown
from views.support.look import Label
from views.widgets.fields import Labelled, NumberField

WIDTH = 460


class LanesDialog(DialogFrame):
    """Signals:
    chosen: an order for the worker, e.g. ``slots=8,high=0-8,low=1-3`` or ``refuse=screenshot``.
    """

    chosen = Signal(str)

    def __init__(self, info: WorkerInfo, reason: str = "", parent: QWidget | None = None) -> None:
        """``reason``: why nothing can be changed, "" when it can."""
        super().__init__(N_("Slots and lanes"), icon="ph.sliders-horizontal", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(WIDTH)
        self.set_note(safe.one_line(info.worker, 40))
        self._reason = reason
        self.slots = NumberField(max(1, len(info.slots)), 1, MAX_SLOTS)
        self.lanes: dict[str, tuple[NumberField, NumberField]] = {}
        for lane in (lane for lane in LANES if lane in info.lanes):
            least, most = info.shares.get(lane, (0, 0))
            # what is as many as there are slots is no bound: it follows the slots
            bound = 0 if most >= len(info.slots) else most
            self.lanes[str(lane)] = (NumberField(least, 0, MAX_SLOTS), NumberField(bound, 0, MAX_SLOTS))
        self.refused = QLineEdit(", ".join(info.declines))
        self.refused.setPlaceholderText(_("none"))
        self.refused.setReadOnly(bool(reason))
        self._problem = Label("", "label", "dead", wrap=True)
        self._build()
        self._first = self.orders()
        self.refused.textChanged.connect(self._check)
        for field in (self.slots, *(field for pair in self.lanes.values() for field in pair)):
            field.valueChanged.connect(self._check)
            field.setReadOnly(bool(reason))
        self._check()

    def _build(self) -> None:
        words = _(
            "While fewer tasks of a lane run than are kept for it, that lane goes first. A lane never uses more than"
            " its most; what is kept for a lane keeps no slot empty."
        )
        self.body.addWidget(Label(words, "body", "text2", wrap=True))
        self.body.addWidget(Labelled(N_("Slots"), self.slots))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        titles = (_("Lane"), _("Kept at least"), _("At most, 0: all"))
        for column, title in enumerate(titles):
            grid.addWidget(Label(title, "label", "text2"), 0, column)
        for row, (lane, fields) in enumerate(self.lanes.items(), start=1):
            grid.addWidget(Label(shown.lane_word(lane), "body"), row, 0)
            for column, field in enumerate(fields, start=1):
                field.setAccessibleName(f"{shown.lane_word(lane)}, {titles[column]}")
                grid.addWidget(field, row, column)
        self.body.addLayout(grid)
        self.body.addWidget(Labelled(N_("Refuse task types"), self.refused, hint=N_("codes, with commas")))
        self.body.addWidget(self._problem)
        self.cancel_button, self.save_button = self.end_with_save(self._on_save)
        self.cancel_button.setFocus()

    def order(self) -> str:
        """What the fields say, as the worker reads it."""
        parts = [str(self.slots.value())]
        for lane, (least, most) in self.lanes.items():
            parts.append(f"{lane}={Share(least.value(), most.value())}")
        return f"slots={','.join(parts)}"

    def refusal(self) -> str:
        """The types to be refused, as the worker reads them."""
        return f"refuse={','.join(dict.fromkeys(self._types()))}"

    def orders(self) -> tuple[str, str]:
        """Both."""
        return self.order(), self.refusal()

    def _types(self) -> list[str]:
        words = self.refused.text().replace("，", ",").split(",")
        return [word.strip() for word in words if word.strip()]

    def _check(self) -> None:
        wrong = self._wrong()
        self._problem.setText(wrong)
        self._problem.setVisible(bool(wrong))
        same = _("Nothing was changed yet") if self.orders() == self._first else ""
        self.save_button.disable(self._reason or wrong or same)

    def _wrong(self) -> str:
        kept = sum(least.value() for least, _most in self.lanes.values())
        if kept > self.slots.value():
            return _("{kept} slots are kept for lanes, and there are {slots}.").format(
                kept=kept, slots=self.slots.value()
            )
        for lane, (least, most) in self.lanes.items():
            if most.value() and least.value() > most.value():
                return _("{lane} keeps more than it may use.").format(lane=shown.lane_word(lane))
        bad = [word for word in self._types() if not ids.valid_task_type(word)]
        return _("{word} is no code of a task type.").format(word=safe.one_line(bad[0], 40)) if bad else ""

    def _on_save(self) -> None:
        orders = [now for now, before in zip(self.orders(), self._first, strict=True) if now != before]
        self.accept()
        for order in orders:
            self.chosen.emit(order)


def obeyed(info: WorkerInfo, value: str) -> bool:
    """Whether a worker has the slots and shares that it was told: ``8`` or ``8,low=1-3``."""
    slots, shares = lane_share.parse_slots(value)
    if len(info.slots) != slots:
        return False
    told = {lane: (share.least, min(share.most or slots, slots)) for lane, share in shares.items()}
    return all(info.shares.get(lane) == share for lane, share in told.items() if lane in info.lanes)
