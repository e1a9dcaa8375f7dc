"""What a person can do right there about the gate that a task waits at, a button each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from views.support.words import way
from views.widgets.buttons import Button
from views.widgets.flow_row import FlowRow


class WaysRow(QWidget):
    """Signals:
    wanted: a verb and what it is about.
    """

    wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._row = FlowRow(self, across=8, down=6)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._ways: tuple[tuple[str, str], ...] = ()
        self.buttons: tuple[Button, ...] = ()
        self.hide()

    def offer(self, ways: Sequence[tuple[str, str]], barred: str, *, leads: bool = False) -> None:
        """Offer these; ``barred`` says why nothing may be changed now. What only shows something always works.
        ``leads``: nothing goes on before a person has acted, so the first is filled.
        """
        if tuple(ways) != self._ways:
            self._ways = tuple(ways)
            for button in self.buttons:
                self._row.removeWidget(button)
                button.deleteLater()
            self.buttons = tuple(self._button(verb, target) for verb, target in ways)
        for (verb, target), button in zip(self._ways, self.buttons, strict=True):
            button.set_count_text(way.label(verb, target))
            button.disable("" if verb.startswith(("open_task", "copy_")) else barred)
        for place, button in enumerate(self.buttons):
            button.set_kind("primary" if leads and not place else "plain")
        self.setVisible(bool(ways))

    def _button(self, verb: str, target: str) -> Button:
        button = Button("", small=True)
        button.clicked.connect(partial(self.wanted.emit, verb, target))
        self._row.addWidget(button)
        return button
