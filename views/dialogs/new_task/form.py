"""The four parts of a new task and what they say together: one draft, one list of what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.domain.fleet.shop import Shop
from services.i18n import _
from views.dialogs.new_task.delivery import Delivery
from views.dialogs.new_task.draft import ALL, REJECT, Draft, missing
from views.dialogs.new_task.lookup import Known
from views.dialogs.new_task.parameters import Parameters, Spot
from views.dialogs.new_task.shops_part import ShopsPart
from views.dialogs.new_task.twins import Twins
from views.dialogs.new_task.what_part import WhatPart
from views.support import text
from views.widgets.scroll_pane import ScrollPane


class NewTaskForm(ScrollPane):
    """Signals:
    changed: anything that the tasks depend on.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.what, self.shops = WhatPart(1), ShopsPart(2)
        self.parameters, self.delivery = Parameters(3), Delivery(4)
        self.twins, self.fate, self.reason = Twins(), REJECT, ""
        self._spot = ""
        for part in (self.what, self.shops, self.parameters, self.delivery):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.what.platform_chosen.connect(self.shops.picker.set_platform)
        self.what.type_chosen.connect(self.on_type)
        self.shops.picker.changed.connect(self.changed)
        self.shops.picker.mixed.connect(self._on_mixed)
        self.parameters.changed.connect(self.changed)
        self.delivery.changed.connect(self.changed)

    # the draft

    def draft(self) -> Draft:
        """Everything as it stands now."""
        shops = () if self.shops.of_file() else self.shops.picker.chosen()
        return Draft(
            platform=self.what.platform(),
            task_type=self.what.type_name(),
            shops=shops,
            payload=self.parameters.document(),
            priority=self.delivery.priority.value(),
            delay_min=self.delivery.delay_min(),
            at_ms=self.delivery.at_ms(),
            depends_on=self.delivery.depends_on(),
            attempts=self.delivery.chosen_attempts(),
            if_duplicate=self.fate,
            reason=self.reason,
            twins=frozenset(self.twins.among(shops).by_shop),
        )

    def fill(self, wish: Draft, known: Mapping[str, Shop]) -> None:
        """Show what another page filled in."""
        self.what.choose(wish.platform, wish.task_type)
        self.shops.picker.set_platform(self.what.platform())
        self.shops.picker.tick(tuple(shop for shop in wish.shops if shop in known))
        self.parameters.show_kind(self.what.kind(), wish.payload)
        self.delivery.set_priority(wish.priority)

    def show_choices(self, known: Known) -> None:
        """Offer the shops and types there are."""
        self.what.show_choices(known.shops, known.types)
        self.shops.picker.set_shops(known.shops)
        self.shops.picker.set_states(known.states, known.at_ms)

    def start_over(self) -> None:
        """Throw everything away but platform and type."""
        self.twins, self.fate, self.reason = Twins(), REJECT, ""
        self.shops.start_over()
        self.parameters.show_kind(self.what.kind(), {})
        self.delivery.start_over()

    def on_type(self) -> None:
        """Show the parameters and the policy of the type chosen."""
        kind = self.what.kind()
        self.parameters.show_kind(kind)
        if kind is not None:
            self.delivery.set_defaults(kind.max_retries + 1)
        self.changed.emit()

    def show_twins(self, twins: Twins) -> None:
        """Mark the shops that have the task already."""
        self.twins = twins
        self.shops.picker.set_active(frozenset(twins.by_shop))

    # what is wrong

    @property
    def wrong(self) -> bool:
        """Whether something was filled in wrongly, which is worse than not yet."""
        return bool(self.parameters.problems() or self.delivery.problem())

    def blocked(self) -> str:
        """What must be put right before anything can be tried, "" for nothing."""
        if self.shops.of_file():
            return self.delivery.problem() or (
                "" if not self.parameters.problems() else _("Correct the parameters first")
            )
        return missing(self.draft(), self.parameters.problems(), self.delivery.problem())

    def unfilled(self) -> str:
        """Which parameters are still to be filled in, "" for none; trying to create shows them."""
        fields = [] if self.shops.of_file() else self.parameters.missing()
        return _("Fill in {fields}").format(fields=text.listed(fields)) if fields else ""

    def tell_refusals(self, errors: Sequence[tuple[object, str, str]]) -> bool:
        """Put a refusal that all tasks share at its field; False where it has none here."""
        return self.parameters.tell_refusals(errors) or self.delivery.tell_refusals(errors)

    def hint(self) -> str:
        """Where the errors are."""
        places = [_("Parameters")] if self.parameters.problems() else []
        places += [_("Delivery")] if self.delivery.problem() else []
        return _("{places}. F8 goes to the next.").format(places=text.listed(places)) if places else ""

    def insist(self) -> None:
        """Somebody tried to create: show what is missing, and go there."""
        self.parameters.insist()
        self._go_on(self.parameters.spots())

    def next_problem(self) -> bool:
        """Go to the next thing that is wrong, from top to bottom and round again; False when there is none."""
        return self._go_on([*self.shops.spots(), *self.parameters.spots(), *self.delivery.spots()])

    def _go_on(self, spots: list[Spot]) -> bool:
        if not spots:
            return False
        names = [name for name, _go in spots]
        at = (names.index(self._spot) + 1) % len(names) if self._spot in names else 0
        self._spot, go = spots[at]
        widget = go()
        if widget is not None:
            self.ensureWidgetVisible(widget)
        return True

    def _on_mixed(self) -> None:
        self.what.choose(ALL, "")
        self.shops.picker.set_platform(self.what.platform())
