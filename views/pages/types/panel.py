"""The panel of one task type: its policy, its document, and what each version changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from services.domain.text.message import Message
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.monitor.types import TypeVersion
from views.kit.verb import Place, Verbs, button_of, show
from views.pages.types import words
from views.pages.types.verbs import USUAL, TypeVerb
from views.pages.types.words import TypeRow
from views.support import instant, safe, shown
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.fields import ChoiceField, Labelled
from views.widgets.json.diff import DiffText
from views.widgets.json.editor import JsonEditor
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, put, stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

POLICY, DOCUMENT, VERSIONS = "policy", "json", "versions"
VIEWS = ((POLICY, N_("Policy")), (DOCUMENT, N_("JSON")), (VERSIONS, N_("Versions")))


class TypePanel(QWidget):
    """Signals:
    closed: the person wants the panel away.
    back_wanted: the type, and the older version that it shall be again.
    """

    closed = Signal()
    back_wanted = Signal(object, object)

    def __init__(self, verbs: Callable[[TaskType], Verbs[TypeVerb, TaskType]]) -> None:
        """``verbs``: what can be done to a type."""
        super().__init__()
        self._verbs = verbs
        self._kind: TaskType | None = None
        self._versions: Sequence[TypeVersion] = ()
        paint_ground(self, "surface")
        self.title, self._note = Elided("", "panel"), Label("", "label", "text3")
        self.close_button = IconButton("ph.x", N_("Close panel"))
        self.close_button.clicked.connect(self.closed)
        self.buttons = {
            verb.key: button_of(verb, self._act, small=True) for verb in USUAL if Place.PANEL in verb.places
        }
        self.views = Segmented(VIEWS, N_("What to show of it"), stretch=True)
        self.drift_title = Label("", "strong", "retrying")
        self.drift = KeyValues()
        self._row: TypeRow | None = None
        self.drift_next = Label("", "label", "text2", wrap=True)
        self.about, self.facts = Label("", "body", "text2", wrap=True), KeyValues()
        self.document = JsonEditor(N_("JSON"))
        self.document.setReadOnly(True)
        self.older, self.newer = ChoiceField(), ChoiceField()
        self.differs, self.diff = Label("", "label", "text2", wrap=True), DiffText(N_("What changed"))
        self.back_button = Button(N_("Go back to the older version…"), icon="ph.arrow-counter-clockwise", small=True)
        self.back_button.clicked.connect(self._on_back)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        whole = in_column(owner=self, spacing=0)
        head = QHBoxLayout()
        whole.addLayout(head)
        head.setContentsMargins(16, 10, 12, 6)
        head.setSpacing(8)
        put(head, self.title, self._note, STRETCH, self.close_button)
        yield
        verbs = QHBoxLayout()
        whole.addLayout(verbs)
        verbs.setContentsMargins(16, 0, 16, 10)
        verbs.setSpacing(8)
        for button in self.buttons.values():
            verbs.addWidget(button)
        verbs.addStretch(1)
        tabs = QHBoxLayout()
        whole.addLayout(tabs)
        tabs.setContentsMargins(16, 0, 16, 10)
        tabs.addWidget(self.views)
        yield
        policy, document, versions = ScrollPane(name=N_("Details")), QWidget(), QWidget()
        self._stack = stacked(policy, document, versions)
        whole.addWidget(self._stack, 1)
        policy.body.setContentsMargins(16, 2, 16, 12)
        policy.body.setSpacing(10)
        put(policy.body, self.drift_title, self.drift, self.drift_next, self.about, self.facts, STRETCH)
        yield
        in_column(
            Labelled(N_("Older version"), self.older),
            Labelled(N_("Newer version"), self.newer),
            self.differs,
            (self.diff, 1),
            (self.back_button, 0, Qt.AlignmentFlag.AlignLeft),
            owner=versions,
            margins=(16, 0, 16, 12),
            spacing=8,
        )
        yield
        in_column(self.document, owner=document, margins=(16, 0, 16, 12))
        self.views.chosen.connect(lambda _key: self._show_view())
        for field in (self.older, self.newer):
            field.currentIndexChanged.connect(lambda _at: self._show_diff())
        on_language_changed(self._say)

    @property
    def shown(self) -> TaskType | None:
        """The type shown."""
        return self._kind

    @property
    def versions(self) -> Sequence[TypeVersion]:
        """Those that can be compared, the newest first."""
        return self._versions

    def show_kind(self, kind: TaskType | None) -> None:
        """Show a type; None keeps what stands there."""
        if kind is None:
            return
        other = self._kind is None or self._kind.name != kind.name
        changed = self._kind != kind
        self._kind = kind
        if other:
            self._versions = ()
            self._fill()
        if changed:
            self._say()

    def show_drift(self, row: TypeRow | None) -> None:
        """Show what of the type is not as it was."""
        if row is not None and row != self._row:
            self._row = row
            self._say_drift()

    def _say_drift(self) -> None:
        found = words.drift_facts(self._row) if self._row is not None else []
        self.drift_title.setText(_("Not as it was"))
        self.drift.set_rows(found)
        self.drift_next.setText(shown.say(Message("drift.next")))
        for widget in (self.drift_title, self.drift, self.drift_next):
            widget.setVisible(bool(found))

    def show_versions(self, name: str, versions: Sequence[TypeVersion]) -> None:
        """Show what is kept of the type shown; the choice of a person stays."""
        if self._kind is None or self._kind.name != name or versions == self._versions:
            return
        self._versions = versions
        self._fill()

    def compare(self, older: int, newer: int) -> None:
        """Show what leads from one version to another."""
        self.views.set_current(VERSIONS)
        self._show_view()
        for field, number in ((self.older, older), (self.newer, newer)):
            field.setCurrentIndex(field.findData(number))

    def follow(self) -> None:
        """Say again what may be done."""
        kind = self._kind
        if kind is None:
            return
        for offer in self._verbs(kind).offers(Place.PANEL, kind):
            if offer.verb.key in self.buttons:
                show(self.buttons[offer.verb.key], offer)
            if offer.verb.key == "edit":
                self._show_back(kind, offer.reason)

    def _show_back(self, kind: TaskType, barred: str) -> None:
        older = self._older()
        same = _("The type is as it was in this version")
        is_same = older is not None and replace(older, version=kind.version) == kind
        unread = "" if older is not None else _("Nobody can read this version any more.")
        self.back_button.disable(barred or unread or (same if is_same else ""))

    def _older(self) -> TaskType | None:
        return next((one.kind for one in self._versions if one.number == self.older.currentData()), None)

    def _on_back(self) -> None:
        older = self._older()
        if self._kind is not None and older is not None:
            self.back_wanted.emit(self._kind, older)

    def _say(self) -> None:
        kind = self._kind
        if kind is None:
            return
        self.title.show_text(kind.name)
        self._note.setText(words.version(kind.version))
        self.about.setText(words.description(kind) or words.title(kind))
        self.about.setVisible(bool(self.about.text()))
        self.facts.set_rows(words.facts(kind))
        self.document.load_text(safe.masked(words.document(kind)))
        self._say_drift()
        self._name_versions()
        self._show_diff()
        self.follow()

    def _show_view(self) -> None:
        self._stack.setCurrentIndex((POLICY, DOCUMENT, VERSIONS).index(self.views.current()))

    def _fill(self) -> None:
        numbers = [one.number for one in self._versions]
        for field, place in ((self.older, 1), (self.newer, 0)):
            before = field.currentData()
            field.blockSignals(True)
            field.clear()
            for number in numbers:
                field.addItem("", number)
            kept = field.findData(before) if place else 0  # what is new is what was changed last
            field.setCurrentIndex(kept if kept >= 0 and before is not None else min(place, len(numbers) - 1))
            field.blockSignals(False)
        self._name_versions()
        self._show_diff()

    def _name_versions(self) -> None:
        now = instant.now_ms()
        for field in (self.older, self.newer):
            for at, one in enumerate(self._versions[: field.count()]):
                field.setItemText(at, words.known(one, now))

    def _show_diff(self) -> None:
        by_number = {one.number: one for one in self._versions}
        old, new = (by_number.get(field.currentData()) for field in (self.older, self.newer))
        if old is None or new is None:
            self.differs.setText("")
            self.diff.show_texts("", "")
            return
        if old is new:
            self.differs.setText(_("Only one version is known.") if len(by_number) == 1 else _("The same version."))
        elif old.kind is None or new.kind is None:
            self.differs.setText(_("Nobody can read this version any more."))
        else:
            self.differs.setText(safe.masked(words.between(old.kind, new.kind)))
        self.follow()
        texts = [safe.masked(words.policy(one.kind)) if one.kind is not None else "" for one in (old, new)]
        self.diff.show_texts(*texts)

    def _act(self, key: str) -> None:
        if self._kind is not None:
            self._verbs(self._kind).act(key, self._kind)
