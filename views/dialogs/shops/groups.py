"""Shops by group: each group of a platform, and each platform as a whole, ticks its shops at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.domain.fleet.shop import Shop
from services.i18n import N_, _
from views.support import text
from views.support.look import panel
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PLATFORM_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Shops that belong together. ``name`` "" stands for a whole platform."""

    platform: str
    name: str
    shops: tuple[str, ...]

    @property
    def key(self) -> str:
        """``platform/name``."""
        return f"{self.platform}/{self.name}"

    def title(self) -> str:
        """What people call it."""
        return self.name or _("All of {platform}").format(platform=_(PLATFORM_NAMES.get(self.platform, self.platform)))


COLUMNS: tuple[Column[Group], ...] = (
    Column(key="name", title=N_("Group"), value=lambda group: group.name, text=Group.title, width=120, stretch=True),
    Column(key="platform", title=N_("Plat."), value=lambda group: group.platform, kind="badge", width=56),
    Column(
        key="shops",
        title=N_("Shops"),
        value=lambda group: len(group.shops),
        text=lambda group: text.count(len(group.shops)),
        kind="number",
        tone="text3",
        width=52,
    ),
)


def groups_of(shops: Mapping[str, Shop]) -> list[Group]:
    """Platform by platform: the whole of it, then its groups by name."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, shop in shops.items():
        members[shop.platform, ""].append(key)
        if shop.group:
            members[shop.platform, shop.group].append(key)
    return [
        Group(platform=platform, name=name, shops=tuple(keys)) for (platform, name), keys in sorted(members.items())
    ]


class ShopGroups(QWidget):
    """Signals:
    ticked: keys of the shops of a group, and whether they shall be ticked.
    """

    ticked = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._following = False
        self._shown: frozenset[object] = frozenset()
        self.model: RecordModel[Group] = RecordModel(COLUMNS, key=lambda group: group.key, tickable=True)
        self.table = TableView(self.model, name=N_("Groups of shops"), ground="input")
        self.table.header.hide()
        box = panel("code")
        inner = QVBoxLayout(box)
        inner.setContentsMargins(1, 1, 1, 1)
        inner.addWidget(self.table)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(box)
        self.model.ticked_changed.connect(self._on_ticked)
        self.table.peek_requested.connect(self._toggle)
        self.table.open_requested.connect(self._toggle)

    def set_shops(self, shops: Mapping[str, Shop]) -> None:
        """Take the shops there are."""
        self.model.apply(groups_of(shops), settle=True)

    def follow(self, ticked: frozenset[object]) -> None:
        """Tick the groups whose shops are all ticked."""
        whole = {group.key for group in self.model.records() if all(shop in ticked for shop in group.shops)}
        self._following = True
        self.model.set_ticked(self.model.ticked() - whole, on=False)
        self.model.set_ticked(whole)
        self._shown = self.model.ticked()
        self._following = False

    def _toggle(self, key: object) -> None:
        row = self.model.row_of(str(key))
        if row >= 0:
            self.model.toggle(row)

    def _on_ticked(self) -> None:
        if self._following:
            return
        before, after = self._shown, self.model.ticked()
        self._shown = after
        for group in self.model.records():
            if (group.key in before) != (group.key in after):
                self.ticked.emit(group.shops, group.key in after)
