"""From where on a number is no longer fine; a person may say otherwise, in a dialog."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import structs
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSpinBox, QWidget

from services.i18n import N_, _
from views.dialogs.typed import KeepsTyped
from views.support.look import Label
from views.support.memory import Memory
from views.widgets.buttons import Button
from views.widgets.layout import STRETCH, put

NAME = "overview.limits"
#: limit -> least and most that can be set, in the unit of ``UNITS``
BOUNDS: dict[str, tuple[int, int]] = {
    "waiting": (1, 10_000_000),
    "dead": (1, 1_000_000),
    "success": (1, 100),
    "oldest_s": (10, 7 * 86_400),
}
LOWER = frozenset({"success"})  #: limits that a number must not fall below


class TileLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of the tiles; UX.md 4.1 shows these. Success is a share, the oldest wait in seconds."""

    waiting: int = 2_000
    dead: int = 100
    success: float = 0.98
    oldest_s: int = 300

    def shown(self, name: str) -> int:
        """A limit as a person sets it: a whole number, success in per cent."""
        return round(self.success * 100) if name == "success" else int(getattr(self, name))

    def having(self, name: str, number: int) -> TileLimits:
        """The same with another limit, kept within its bounds."""
        least, most = BOUNDS[name]
        number = max(least, min(most, number))
        value: Any = number / 100 if name == "success" else number
        return structs.replace(self, **{name: value})


def recall(memory: Memory, profile: str = "") -> TileLimits:
    """The limits set here for this connection, else those that all had before each had its own, else the design's."""
    kept, limits = memory.get(_name(profile), memory.get(NAME, {})), TileLimits()
    for name, number in kept.items() if isinstance(kept, dict) else ():
        if name in BOUNDS and isinstance(number, int):
            limits = limits.having(name, number)
    return limits


def remember(memory: Memory, limits: TileLimits, profile: str = "") -> None:
    """Keep the limits of a connection for the next start."""
    memory.put(_name(profile), {name: limits.shown(name) for name in BOUNDS})


def _name(profile: str) -> str:
    return f"{NAME}.{profile}" if profile else NAME  # what is many for one fleet is few for another


#: limit -> what it means
WORDS = {
    "waiting": N_("Tasks that may wait before the tile warns"),
    "dead": N_("Open dead letters before the tile warns"),
    "success": N_("Share of tasks that should succeed, in per cent"),
    "oldest_s": N_("Seconds that a task may wait before the tile warns"),
}


class LimitDialog(KeepsTyped):
    """One number.

    Signals:
        chosen: the limit as ``TileLimits.having`` takes it.
    """

    chosen = Signal(int)

    def __init__(self, name: str, limits: TileLimits, parent: QWidget | None = None) -> None:
        verb = N_("Set lower limit") if name in LOWER else N_("Set limit")
        super().__init__(verb, icon="ph.gauge", parent=parent)
        self.set_width(380)
        self.field = QSpinBox()
        self.field.setRange(*BOUNDS[name])
        self.field.setGroupSeparatorShown(True)
        self.field.setValue(limits.shown(name))
        self.field.setAccessibleName(_(WORDS[name]))
        self.body.addWidget(Label(_(WORDS[name]), "body", "text2", wrap=True))
        apart = _(
            "Colours the tiles of this connection, on this computer alone; who is told of what is decided by the rules"
            " of Alerts."
        )
        self.body.addWidget(Label(apart, "label", "text3", wrap=True))
        self.body.addWidget(self.field)
        self._usual = TileLimits().shown(name)
        self.reset = Button(N_("Back to the usual"), kind="ghost")
        self.reset.clicked.connect(self._on_reset)
        cancel, self.accept_button = (
            Button(N_("Cancel")),
            Button(verb, kind="primary", shortcut="dialog.main"),
        )
        cancel.clicked.connect(self.reject)
        self.accept_button.clicked.connect(self._on_accept)
        put(self.foot, self.reset, STRETCH, cancel, self.accept_button)
        self.field.selectAll()
        self.field.setFocus()

    def _on_reset(self) -> None:
        self.field.setValue(self._usual)

    def _on_accept(self) -> None:
        self.chosen.emit(self.field.value())
        self.accept()
