"""The four parts of a new task and what they say together: one draft, one list of what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.called import PLATFORM_NAMES
from services.domain.fleet.shop import Shop
from services.domain.text import mask
from services.domain.types.task_type import TaskType, least_harm
from services.i18n import N_, _, language, ngettext
from views.dialogs.new_task.delivery import AT, Delivery
from views.dialogs.new_task.draft import ALL, REJECT, Draft, from_prefill, missing
from views.dialogs.new_task.lookup import Known
from views.dialogs.new_task.parameters import Parameters, Spot
from views.dialogs.new_task.section import FormSection
from views.dialogs.new_task.twins import Twins
from views.dialogs.shops.picker import FILE, GROUP, PASTE, PICK, ShopPicker
from views.support import instant, safe, shown, text
from views.support.language import say_in_language
from views.support.look import Label
from views.widgets.buttons import shortcut_text
from views.widgets.fields import ChoiceField
from views.widgets.layout import STRETCH, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.strip import Strip


class WhatSection(FormSection):
    """Signals:
    platform_chosen: a platform, or ``ALL``.
    type_chosen: another task type.
    """

    platform_chosen = Signal(str)
    type_chosen = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(number, N_("What"), divider=False)
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
        put(self._left, self._platform_title, self.platforms, STRETCH)
        right.addWidget(self._type_title)
        right.addWidget(self.types)
        self.body.addLayout(in_row((self._left, 1), (right, 1), spacing=14))
        self.body.addWidget(self._about)
        self.types.currentIndexChanged.connect(self._on_type)
        say_in_language(self._say_choices)

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
            self.types.setCurrentIndex(self.types.findData(chosen or least_harm(types)) if names else -1)
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
        QWidget.setTabOrder(old, self.platforms)  # else the keyboard came to it after all that was made before it
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
    return f"{title}  ·  {kind.name}" if title != kind.name else kind.name


SHOWN = 5  #: so many shops are named
MODES = ((PICK, N_("Pick")), (PASTE, N_("Paste a list")), (FILE, N_("From a file")), (GROUP, N_("Groups")))


class ShopsSection(FormSection):
    """Pick from the list, paste one, read a file, or tick groups."""

    def __init__(self, number: int) -> None:
        super().__init__(number, N_("Shops"))
        self.mode = Segmented(MODES, N_("How to choose shops"))
        self.add_action(self.mode)
        self.picker = ShopPicker()
        self.body.addWidget(self.picker)
        self.mode.chosen.connect(self._on_mode)
        self.picker.file_dropped.connect(lambda _note: self.set_mode(FILE))

    def set_mode(self, mode: str) -> None:
        """Choose shops in another way."""
        self.mode.set_current(mode)
        self.picker.set_mode(mode)

    def of_file(self) -> bool:
        """Whether a file says shop, type and the rest of each task."""
        return self.mode.current() == FILE

    def start_over(self) -> None:
        """Tick nothing, name nothing."""
        self.picker.model.untick_all()
        self.picker.paste.field.clear()
        self.picker.file.show_file("")
        self.set_mode(PICK)

    def spots(self) -> list[Spot]:
        """Lines of the list that name no shop."""
        lines = dict.fromkeys(entry.line for entry in self.picker.paste.lost())
        return [(f"shop line {line}", partial(self._go_to, line)) for line in lines]

    def say(self, known: int | None) -> None:
        """Say how many are ticked of how many; None: nobody has told yet which there are."""
        if self.of_file():
            self.set_note(_("as the file says; the other parts count where a row says nothing"))
            self.set_errors(0)
            return
        chosen = len(self.picker.chosen())
        offered = self.picker.offered()
        words = ngettext("{chosen} of {n} shop", "{chosen} of {n} shops", offered)
        none = _("no shop of this platform is known yet") if known else _("no shop is known yet")
        none = none if known is not None else ""
        self.set_note(words.format(chosen=text.count(chosen), n=text.count(offered)) if offered else none)
        lost = len(self.picker.paste.lost())
        self.set_errors(lost, ngettext("{n} not found", "{n} not found", lost).format(n=lost))

    def _on_mode(self, mode: str) -> None:
        self.picker.set_mode(mode)
        if not self.mode.stepping:
            self.picker.take_keys(mode)
        self.picker.changed.emit()

    def _go_to(self, line: int) -> QWidget:
        if self.mode.current() != PASTE:
            self.set_mode(PASTE)
        return self.picker.paste.go_to(line)


class NewTaskForm(ScrollPane):
    """Signals:
    changed: anything that the tasks depend on.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.what, self.shops = WhatSection(1), ShopsSection(2)
        self.parameters, self.delivery = Parameters(3), Delivery(4)
        self.twins, self.fate, self.reason = Twins(), REJECT, ""
        self.again, self.why = False, ""
        self._spot = ""
        self.left_out = Strip("warning", stacked=True)
        self.left_out.hide()
        self.what.body.insertWidget(0, self.left_out)
        for part in (self.what, self.shops, self.parameters, self.delivery):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.what.platform_chosen.connect(self.shops.picker.set_platform)
        self.what.type_chosen.connect(self.on_type)
        self.shops.picker.changed.connect(self.changed)
        self.shops.picker.mixed.connect(self._on_mixed)
        self.parameters.changed.connect(self.changed)
        self.delivery.changed.connect(self.changed)
        self.delivery.after.grown.connect(lambda: self.bring(self.delivery.after))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Nothing may be wider than the window has room for: the form scrolls up and down alone."""
        self.delivery.take_width(self.viewport().width())
        super().resizeEvent(event)

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
            deadline_ms=self.delivery.deadline.at_ms(),
            depends_on=self.delivery.depends_on(),
            attempts=self.delivery.chosen_attempts(),
            if_duplicate=self.fate,
            reason=self.reason,
            twins=frozenset(self.twins.among(shops).by_shop),
            asks=self.twins.among(shops).asks,
            again=self.again,
            why=self.why,
        )

    def fill(self, wish: Draft, known: Mapping[str, Shop]) -> None:
        """Show what another page filled in."""
        self.what.choose(wish.platform, wish.task_type)
        self.shops.picker.set_platform(self.what.platform())
        self.shops.picker.tick(tuple(shop for shop in wish.shops if shop in known))
        self.parameters.show_kind(self.what.kind(), wish.payload)
        self.delivery.set_priority(wish.priority)

    def fields(self) -> dict[str, Any]:
        """The form as it can be kept and filled in again; secrets are dots."""
        draft = self.draft()
        return {
            "platform": draft.platform,
            "task_type": draft.task_type,
            "shops": list(draft.shops),
            "payload": mask.masked(dict(draft.payload)),
            "priority": draft.priority,
            "delivery": self.delivery.fields(),
            "after": not {*draft.depends_on}.issubset(self.delivery.after.kinds()),
        }

    def begun(self) -> bool:
        """Whether somebody has filled in what they would miss."""
        draft, kind = self.draft(), self.what.kind()
        parts = kind.schema.get("properties") if kind is not None else None
        usual = {name: part.get("default") for name, part in (parts or {}).items() if isinstance(part, Mapping)}
        payload = any(value != usual.get(name) for name, value in draft.payload.items())
        ticked = self.shops.picker.chosen()
        return bool(ticked or payload or draft.depends_on or draft.at_ms or draft.deadline_ms)

    def draft_fields(self) -> dict[str, Any]:
        """The same with what means something today only, and what is ticked while a file says the shops."""
        return {
            **self.fields(),
            "shops": list(self.shops.picker.chosen()),
            "of_file": self.shops.of_file(),
            "at_ms": self.delivery.at_ms(),
            "depends_on": list(self.delivery.depends_on()),
        }

    def resume(self, fields: Mapping[str, Any], known: Known, lead: str) -> None:
        """Go on with ``draft_fields``; what of it is no more is told below ``lead``."""
        at, delivery = fields.get("at_ms"), fields.get("delivery")
        to_come = isinstance(at, int) and at > instant.now_ms()
        given = dict(delivery) if isinstance(delivery, Mapping) else {}
        given |= {"start": ""} if to_come else {}
        self.refill({**fields, "delivery": given, "after": False}, known, lead)
        self.delivery.after.add_all(str(one) for one in fields.get("depends_on") or ())
        if to_come and isinstance(at, int):
            self.delivery.set_at(at)
        if fields.get("of_file"):
            self.shops.set_mode(FILE)

    def refill(self, fields: Mapping[str, Any], known: Known, lead: str) -> None:
        """Fill in what was kept; what of it is no more, or was never kept, is told below ``lead``."""
        self.start_over()
        wish, delivery = from_prefill(fields), fields.get("delivery")
        self.fill(wish, known.shops)
        self.parameters.forget_secrets()
        self.delivery.fill(delivery if isinstance(delivery, Mapping) else {})
        self.on_type()
        gone = _left_out(wish, fields, known)
        self.left_out.show_text("\n".join(gone), lead if gone else "")

    def show_choices(self, known: Known) -> None:
        """Offer the shops and types there are."""
        self.what.show_choices(known.shops, known.types)
        self.delivery.after.set_types(known.types)
        self.shops.picker.set_shops(known.shops)
        self.shops.picker.set_states(known.states, known.at_ms)

    def start_over(self) -> None:
        """Throw everything away but platform and type."""
        self.twins, self.fate, self.reason = Twins(), REJECT, ""
        self.again, self.why = False, ""
        self.left_out.hide()
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
            if self.delivery.repeats() is not None:
                return _("Rows of a file do not repeat: choose another start")
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
        keys, listed = shortcut_text("parts.next_error"), text.listed(places)
        return _("{places}. {key} goes to the next.").format(places=listed, key=keys) if places and keys else listed

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


def _left_out(wish: Draft, fields: Mapping[str, Any], known: Known) -> list[str]:
    """What a template says and the form cannot take from it, a sentence each."""
    found = []
    gone = [shop for shop in wish.shops if shop not in known.shops]
    if gone:
        words = ngettext("{n} shop is no more: {names}", "{n} shops are no more: {names}", len(gone))
        names = [*gone[:SHOWN], *(["…"] if len(gone) > SHOWN else [])]
        found.append(words.format(n=text.count(len(gone)), names=text.listed(names)))
    if wish.task_type and wish.task_type not in known.types:
        found.append(_("There is no task type {name} any more").format(name=wish.task_type))
    if mask.is_masked(dict(wish.payload)):
        found.append(_("Its secrets were not kept: type them where the dots stand"))
    delivery = fields.get("delivery")
    if isinstance(delivery, Mapping) and delivery.get("start") == AT:
        found.append(_("Its time of start was not kept: choose one, else the tasks start at once"))
    if fields.get("after"):
        found.append(_("The tasks it came after were not kept: name them anew"))
    return found
