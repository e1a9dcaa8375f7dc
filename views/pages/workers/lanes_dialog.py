"""What one worker takes: its slots or their bounds, how the lanes share them, and the types that it shall refuse."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from services.domain.fleet import autoscale
from services.domain.fleet.autoscale import Range
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import lane_share
from services.domain.gates.lane_share import MAX_SLOTS, Share
from services.domain.task import ids
from services.domain.task.lane import LANES
from services.domain.text.words import between_commas
from services.i18n import N_, _
from views.dialogs.saving import SavingDialog
from views.dialogs.typed import KeepsTyped
from views.support import safe, shown
from views.support.look import Label
from views.support.words import type_names
from views.widgets.fields import Labelled, NumberField
from views.widgets.layout import in_row, put
from views.widgets.segmented import Segmented

WIDTH = 460
FIXED, AUTO = "fixed", "auto"


class LanesDialog(KeepsTyped, SavingDialog):
    """Signals:
    chosen: orders for the worker, e.g. ``slots=8,high=0-8,low=1-3``, ``slots=auto:2-16`` or ``refuse=screenshot``;
        ``start`` takes what gives them.
    """

    chosen = Signal(object)

    def __init__(self, info: WorkerInfo, reason: str = "", parent: QWidget | None = None) -> None:
        """``reason``: why nothing can be changed, "" when it can."""
        super().__init__(N_("Slots and lanes"), icon="ph.sliders-horizontal", width=WIDTH, parent=parent)
        self.set_note(safe.one_line(info.worker, 40))
        self._barred = reason
        bounds = autoscale.parse(info.auto) if info.auto else None
        self.mode = Segmented(
            ((FIXED, N_("Fixed number")), (AUTO, N_("Automatic"))), N_("How many slots"), stretch=True
        )
        self.mode.set_current(AUTO if bounds is not None else FIXED)
        self.slots = NumberField(max(1, len(info.slots)), 1, MAX_SLOTS)
        bounds = bounds or Range(1, max(1, len(info.slots)))
        self.least, self.most = NumberField(bounds.least, 1, MAX_SLOTS), NumberField(bounds.most, 0, MAX_SLOTS)
        self.lanes: dict[str, tuple[NumberField, NumberField]] = {}
        for lane in (lane for lane in LANES if lane in info.lanes):
            least, most = info.shares.get(lane, (0, 0))
            # what is as many as there are slots is no bound: it follows the slots
            bound = 0 if most >= len(info.slots) else most
            self.lanes[str(lane)] = (NumberField(least, 0, MAX_SLOTS), NumberField(bound, 0, MAX_SLOTS))
        self.declines = QLineEdit(", ".join(map(type_names.name_in_list, info.declines)))
        self.declines.setPlaceholderText(_("none"))
        self.declines.setReadOnly(bool(reason))
        self._build()
        self._first = self.orders()
        self.declines.textChanged.connect(self._check)
        self.mode.chosen.connect(self._on_mode)
        for field in (self.slots, self.least, self.most, *(field for pair in self.lanes.values() for field in pair)):
            field.valueChanged.connect(self._check)
            field.setReadOnly(bool(reason))
        self._on_mode()

    def _build(self) -> None:
        words = _(
            "While fewer tasks of a lane run than are kept for it, that lane goes first. A lane never uses more than"
            " its most; what is kept for a lane keeps no slot empty."
        )
        self.body.addWidget(self.mode)
        self._number = Labelled(N_("Slots"), self.slots)
        put(self.body, self._number, self._build_bounds(), Label(words, "body", "text2", wrap=True))
        self._lanes = QWidget()
        grid = QGridLayout(self._lanes)
        grid.setContentsMargins(0, 0, 0, 0)
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
        self.body.addWidget(self._lanes)
        self._kept = Label(_("To change these, choose a fixed number first."), "label", "text3", wrap=True)
        self.body.addWidget(self._kept)
        self.body.addWidget(
            Labelled(N_("Refuse task types"), self.declines, hint=N_("names or codes, with commas or spaces"))
        )
        self.end_with_save(self._on_save)
        self.cancel_button.setFocus()

    def _build_bounds(self) -> QWidget:
        self._bounds = QWidget()
        in_row(
            (Labelled(N_("At least"), self.least), 1),
            (Labelled(N_("At most"), self.most, hint=N_("0: four for each processor")), 1),
            owner=self._bounds,
            spacing=12,
        )
        return self._bounds

    def order(self) -> str:
        """What the fields say, as the worker reads it."""
        if self._auto:
            return f"slots={Range(self.least.value(), self.most.value())}"
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

    @property
    def _auto(self) -> bool:
        return self.mode.current() == AUTO

    def _on_mode(self, _key: str = "") -> None:
        parts = ((self._number, not self._auto), (self._bounds, self._auto), (self._kept, self._auto))
        for widget, seen in sorted(parts, key=lambda part: part[1]):  # hidden first: the dialog does not grow meanwhile
            widget.setVisible(seen)
        self._lanes.setEnabled(not self._auto)
        self._check()
        self.adjustSize()

    def _types(self) -> list[str]:
        """With spaces between them too, as on the command line; a title may have such itself."""
        found: list[str] = []
        for name in between_commas(self.declines.text()):
            code, parts = type_names.code(name), [type_names.code(word) for word in name.split()]
            apart = not ids.valid_task_type(code) and all(map(ids.valid_task_type, parts))
            found += parts if apart else [code]
        return found

    def _check(self) -> None:
        wrong = self._wrong()
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong))
        same = _("Nothing was changed yet") if self.orders() == self._first else ""
        self.forbid(self._barred or wrong or same)

    def _wrong(self) -> str:
        return (self._wrong_bounds() if self._auto else self._wrong_lanes()) or self._wrong_types()

    def _wrong_bounds(self) -> str:
        least, most = self.least.value(), self.most.value()
        if most and least > most:
            return _("At least {least} is more than at most {most}.").format(least=least, most=most)
        if not most and least > 1:
            return _("Where a least is named, name a most too.")
        return ""

    def _wrong_lanes(self) -> str:
        kept = sum(least.value() for least, _most in self.lanes.values())
        if kept > self.slots.value():
            return _("{kept} slots are kept for lanes, and there are {slots}.").format(
                kept=kept, slots=self.slots.value()
            )
        for lane, (least, most) in self.lanes.items():
            if most.value() and least.value() > most.value():
                return _("{lane} keeps more than it may use.").format(lane=shown.lane_word(lane))
        return ""

    def _wrong_types(self) -> str:
        bad = [word for word in self._types() if not ids.valid_task_type(word)]
        return _("{word} is no code of a task type.").format(word=safe.one_line(bad[0], 40)) if bad else ""

    def _on_save(self) -> None:
        self.chosen.emit([now for now, before in zip(self.orders(), self._first, strict=True) if now != before])


def obeyed(info: WorkerInfo, value: str) -> bool:
    """Whether a worker has the slots and shares that it was told: ``8``, ``8,low=1-3`` or ``auto:2-16``."""
    if autoscale.parse(value) is not None or info.auto:
        return info.auto == value
    slots, shares = lane_share.parse_slots(value)
    if len(info.slots) != slots:
        return False
    told = {lane: (share.least, min(share.most or slots, slots)) for lane, share in shares.items()}
    return all(info.shares.get(lane) == share for lane, share in told.items() if lane in info.lanes)
