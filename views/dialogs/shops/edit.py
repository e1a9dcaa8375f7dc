"""A new shop, or what is known of one: names, group, tags, how many of its tasks run at once."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services import called
from services.commands.fleet import ShopChanged, both_edited, check_shop, platform_of
from services.domain.errors import UsageError
from services.domain.fleet import platforms
from services.domain.fleet.shop import MOST_AT_ONCE, Shop, tags_of
from services.i18n import N_, _
from services.messages import told
from views.dialogs.saving import SharedForm, stands_there
from views.dialogs.typed import KeepsTyped
from views.support.language import on_language_changed
from views.support.look import Label
from views.widgets.fields import ChoiceField, Labelled, NumberField
from views.widgets.layout import in_row
from views.widgets.toggle import Toggle

WIDTH = 520


class ShopDialog(KeepsTyped, SharedForm):
    """Signals:
    chosen: the shop as it was shown (None for a new one), and as the person wants it; ``start`` takes what saves it.
    """

    chosen = Signal(object, object)

    def __init__(
        self, shop: Shop | None, reason: str, parent: QWidget | None = None, *, platforms_known: Collection[str] = ()
    ) -> None:
        """``shop``: None for a new one; ``reason``: why nothing may be changed, already translated;
        ``platforms_known``: codes of those that have shops.
        """
        title = N_("Edit a shop") if shop is not None else N_("Add a shop")
        super().__init__(title, icon="ph.storefront", width=WIDTH, parent=parent)
        self._shop, self._barred, self._platforms = shop, reason, frozenset(platforms_known)
        self._theirs: dict[str, object] = {}  #: field -> what somebody else set meanwhile
        known = shop or Shop(platform="", shop_id="")
        self.platform = ChoiceField()
        self.platform.setEditable(True)
        for code in sorted({*platforms.NAMES, *self._platforms} - {known.platform}, key=self._place):
            self.platform.addItem(named(code), code)
        self.platform.setCurrentText(known.platform)
        self.shop_id, self.name = QLineEdit(known.shop_id), QLineEdit(known.name)
        self.name_en, self.group = QLineEdit(known.name_en), QLineEdit(known.group)
        self.tags = QLineEdit(", ".join(known.tags))
        self.at_once = NumberField(known.concurrency, 1, MOST_AT_ONCE)
        self.dedicated = Toggle(N_("Dedicated queue"), on=known.dedicated)
        self.enabled = Toggle(N_("Enabled"), on=known.enabled)
        self.fields = {
            "platform": Labelled(N_("Platform"), self.platform),
            "shop_id": Labelled(N_("Shop id"), self.shop_id),
            "name": Labelled(N_("Name"), self.name),
            "name_en": Labelled(N_("English name"), self.name_en),
            "group": Labelled(N_("Group"), self.group, hint=N_("picks many at once in New task")),
            "tags": Labelled(N_("Tags"), self.tags, hint=N_("any words, with commas between")),
            "concurrency": Labelled(N_("Tasks at once"), self.at_once),
        }
        self._arrange()
        if shop is not None:  # it is told from all others by these
            self.platform.setEnabled(False)
            self.shop_id.setEnabled(False)
        for field in (self.shop_id, self.name, self.name_en, self.group, self.tags):
            field.textChanged.connect(lambda _text: self._check())
        self.platform.currentTextChanged.connect(lambda _text: self._check())
        self.at_once.valueChanged.connect(lambda _number: self._check())
        for toggle in (self.dedicated, self.enabled):
            toggle.clicked.connect(lambda _on: self._check())
        self._check()
        on_language_changed(self._say)

    def _arrange(self) -> None:
        for pair in (("platform", "shop_id"), ("name", "name_en"), ("group", "tags")):
            row = in_row(spacing=12)
            for name in pair:
                row.addWidget(self.fields[name], 1, Qt.AlignmentFlag.AlignTop)
            self.body.addLayout(row)
        self.body.addWidget(self.fields["concurrency"])
        self._beside = {
            N_("A queue of its own"): Label("", "body"),
            N_("Enabled: schedules and promises take it"): Label("", "body"),
        }
        for toggle, label in zip((self.dedicated, self.enabled), self._beside.values(), strict=True):
            self.body.addLayout(in_row((label, 1), toggle))
        self._name_toggles()
        self.end_with_save(self._on_save)
        self.offer_to_take_over(("name", "name_en", "group", "tags", "concurrency"), self._take_theirs)

    def _name_toggles(self) -> None:
        for word, label in self._beside.items():
            label.setText(_(word))

    def _say(self) -> None:
        """In another language; what is typed stays."""
        self._name_toggles()
        word = self.platform.currentText()
        chosen = self.platform.findText(word.strip())
        with QSignalBlocker(self.platform):
            for place in range(self.platform.count()):  # Qt writes the one it has as current into the field
                if code := self.platform.itemData(place):
                    self.platform.setItemText(place, named(code))
            self.platform.setEditText(word if chosen < 0 else self.platform.itemText(chosen))
        self._check()

    def shop(self) -> Shop:
        """As the fields say.

        Raises:
            UsageError: there is no such platform.
        """
        base = self._shop or Shop(platform=self._platform(), shop_id=self.shop_id.text().strip())
        return replace(
            base,
            name=self.name.text().strip(),
            name_en=self.name_en.text().strip(),
            group=self.group.text().strip(),
            tags=tags_of(self.tags.text()),
            concurrency=self.at_once.value(),
            dedicated=self.dedicated.isChecked(),
            enabled=self.enabled.isChecked(),
            unregistered=False,
        )

    def _place(self, code: str) -> tuple[bool, str]:
        """Platforms that have shops stand first."""
        return code not in self._platforms, code

    def _platform(self) -> str:
        """The code of what is chosen or typed."""
        word = self.platform.currentText().strip()
        place = self.platform.findText(word)
        code = self.platform.itemData(place) if place >= 0 else None  # what was typed and kept has none
        return str(code) if code else platform_of(word, self._platforms)

    def _check(self) -> None:
        wrong: UsageError | None = None
        try:
            check_shop(self.shop())
        except UsageError as exc:
            wrong = exc
        begun = bool(self.shop_id.text().strip())
        over = [name for name, value in self._theirs.items() if wrong is None and getattr(self.shop(), name) != value]
        for name, field in self.fields.items():
            bad = told(wrong) if wrong is not None and begun and wrong.field == name else ""
            field.set_error(bad or (self._said(name) if name in over else ""))
        self.show_over(over)
        same = _("Nothing is changed") if self._shop is not None and self.shop() == self._shop else ""
        missing = "" if begun else _("Give the id of the shop")
        marked = _("Correct the marked fields first") if wrong is not None else ""
        self.forbid(self._barred or missing or marked or same)

    def _on_save(self) -> None:
        self.chosen.emit(self._shop, self.shop())

    def refused(self, error: BaseException) -> None:
        """Where somebody else changed the same, show what stands there now: from there on the person goes on."""
        if not isinstance(error, ShopChanged) or self._shop is None:
            super().refused(error)
            return
        mine, now = self.shop(), error.now
        both = both_edited(self._shop, mine, now)
        for name in self.take_over:
            if name not in both and getattr(mine, name) == getattr(self._shop, name):
                self._put(name, now)
        for toggle, name in ((self.dedicated, "dedicated"), (self.enabled, "enabled")):
            if getattr(mine, name) == getattr(self._shop, name):
                toggle.setChecked(getattr(now, name))
        self._shop, self._theirs = now, {name: getattr(now, name) for name in both}
        self._check()
        self.tell_changed(_("Somebody else changed this shop; nothing is saved."), both[0] if both else "")

    def _said(self, name: str) -> str:
        """What somebody else did to a field."""
        value = self._theirs[name]
        return stands_there(", ".join(value) if isinstance(value, tuple) else str(value))

    def _take_theirs(self, name: str) -> None:
        if self._shop is not None:
            self._put(name, self._shop)

    def _put(self, name: str, shop: Shop) -> None:
        """Let a field say what it says of this shop."""
        value, field = getattr(shop, name), self.fields[name].field
        if isinstance(field, NumberField):
            field.setValue(value)
        elif isinstance(field, QLineEdit):
            field.setText(", ".join(value) if isinstance(value, tuple) else value)


def named(code: str) -> str:
    """A platform as people call it, and its code."""
    name = called.platform(code) if called.platform(code) != code else platforms.NAMES.get(code, (code,))[0]
    return code if name == code else f"{name} · {code}"
