"""Part one of a new task: the platform and the type."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.domain.fleet.shop import Shop
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, language
from views.dialogs.new_task.draft import ALL
from views.dialogs.new_task.part import Part
from views.support import safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme.tokens import PLATFORM_NAMES
from views.widgets.fields import ChoiceField
from views.widgets.segmented import Segmented


class WhatPart(Part):
    """Signals:
    platform_chosen: a platform, or ``ALL``.
    type_chosen: another task type.
    """

    platform_chosen = Signal(str)
    type_chosen = Signal()

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(number, N_("What"), divider=False, parent=parent)
        self._types: Mapping[str, TaskType] = {}
        self._platforms: tuple[str, ...] = ()
        self._platform_title, self._type_title = Label("", "label", "text2"), Label("", "label", "text2")
        self.platforms = Segmented(((ALL, N_("All platforms")),), N_("Platform"), stretch=True)
        self.types = ChoiceField()
        self.types.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._about = Label("", "caption", "text3", wrap=True)
        self._left, right = QVBoxLayout(), QVBoxLayout()
        for column in (self._left, right):
            column.setSpacing(4)
        self._left.addWidget(self._platform_title)
        self._left.addWidget(self.platforms)
        self._left.addStretch(1)
        right.addWidget(self._type_title)
        right.addWidget(self.types)
        row = QHBoxLayout()
        row.setSpacing(14)
        row.addLayout(self._left, 1)
        row.addLayout(right, 1)
        self.body.addLayout(row)
        self.body.addWidget(self._about)
        self.types.currentIndexChanged.connect(self._on_type)
        on_language_changed(self._say_choices)
        self._say_choices()

    def show_choices(self, shops: Mapping[str, Shop], types: Mapping[str, TaskType]) -> None:
        """Offer the platforms of the shops and the types there are."""
        platforms = tuple(sorted({shop.platform for shop in shops.values()}))
        if platforms != self._platforms:
            self._platforms = platforms
            self._rebuild()
        names = sorted(types)
        if names != sorted(self._types) or types != self._types:
            chosen = self.type_name()
            self._types = types
            self.types.blockSignals(True)
            self.types.clear()
            for name in names:
                self.types.addItem("", name)
            self.types.setCurrentIndex(self.types.findData(chosen or _harmless(types)) if names else -1)
            self.types.blockSignals(False)
        self._say_choices()

    def choose(self, platform: str, type_name: str) -> None:
        """Choose without a signal; an unknown type is offered as it is."""
        if platform == ALL or platform in self._platforms:
            self.platforms.set_current(platform)
        if type_name:
            if self.types.findData(type_name) < 0:
                self.types.addItem(safe.one_line(type_name, 60), type_name)
            self.types.blockSignals(True)
            self.types.setCurrentIndex(self.types.findData(type_name))
            self.types.blockSignals(False)
        self._say_choices()

    def platform(self) -> str:
        """The platform chosen, or ``ALL``."""
        return self.platforms.current()

    def type_name(self) -> str:
        """The name of the type chosen, "" for none."""
        return str(self.types.currentData() or "")

    def kind(self) -> TaskType | None:
        """The type chosen, a default one where nobody described it."""
        name = self.type_name()
        return self._types.get(name) or (TaskType.default(name) if name else None)

    def _rebuild(self) -> None:
        before = self.platforms.current()
        choices = [(name, PLATFORM_NAMES.get(name, name)) for name in self._platforms]
        if len(choices) != 1:
            choices.append((ALL, N_("All platforms")))
        old, self.platforms = self.platforms, Segmented(choices, N_("Platform"), stretch=True)
        self.platforms.chosen.connect(self.platform_chosen)
        if before != ALL:
            self.platforms.set_current(before)
        self._left.replaceWidget(old, self.platforms)
        old.hide()
        old.deleteLater()

    def _on_type(self) -> None:
        self._say_choices()
        self.type_chosen.emit()

    def _say_choices(self) -> None:
        self._platform_title.setText(_("Platform"))
        self._type_title.setText(_("Task type"))
        self.types.setAccessibleName(_("Task type"))
        for place in range(self.types.count()):
            name = str(self.types.itemData(place))
            kind = self._types.get(name)
            if kind is not None:
                self.types.setItemText(place, _type_words(kind))
        kind = self.kind()
        about = shown.title_of(kind.description, "", language()) if kind is not None else ""
        self._about.setText(about)
        self._about.setVisible(bool(about))


def _type_words(kind: TaskType) -> str:
    title = shown.title_of(kind.title, kind.name, language())
    words = f"{title}  ·  {kind.name}" if title != kind.name else kind.name
    if kind.expected_s:
        usual = text.coarse(shown.span(kind.expected_s * 1000))
        return _("{type}, about {span} each").format(type=words, span=usual)
    return words


def _harmless(types: Mapping[str, TaskType]) -> str:
    """What to begin with: a type that may run twice and wants few parameters, so that a slip does no harm."""
    return min(types, key=lambda name: (not types[name].idempotent, len(types[name].schema.get("required", ())), name))
