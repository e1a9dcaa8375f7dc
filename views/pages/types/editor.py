"""The dialog for a new task type, or for the next version of one; tries it meanwhile on the newest payloads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.commands.types import UNCHANGED, Change
from services.domain.errors import UsageError
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.messages import told
from services.monitor.types import DryRun
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.dialogs.schema.form import SchemaForm
from views.dialogs.schema.json_text import pretty
from views.pages.types import form, words
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.widgets.json.editor import JsonEditor
from views.widgets.key_values import KeyValues
from views.widgets.panes import stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

SIZE, LEAST, TRY_MS = (860, 660), (640, 420), 400
FORM, SCHEMA, JSON = "form", "schema", "json"
VIEWS = ((FORM, N_("Form")), (SCHEMA, N_("Payload schema")), (JSON, N_("JSON")))


class Tried(NamedTuple):
    """What a document would change, and what its schema would refuse."""

    change: Change
    run: DryRun
    body: str


class TypeDialog(DialogFrame):
    """Three views of one document.

    Signals:
        saved: the type as it was taken.
        tried: what it would change and refuse is shown.
    """

    saved = Signal(object)
    tried = Signal()

    def __init__(self, context: PageContext, kind: TaskType | None = None, parent: QWidget | None = None) -> None:
        """``kind``: the one whose next version it is; None for a new one."""
        title = N_("New task type") if kind is None else N_("Edit a task type")
        super().__init__(title, icon="ph.puzzle-piece", parent=parent)
        self._context, self._base = context, kind
        self._document: dict[str, Any] = dict(msgspec.to_builtins(kind or TaskType(name="")))
        if kind is not None:
            self.set_note(kind.name)
        self._trying, self._saving = Operation(self, latest=True), Operation(self)
        self._try_soon = Debounce(self._try, TRY_MS, self)
        self._shown, self._problem, self._same = FORM, "", True
        self._build()
        self._load(FORM)
        self._try()

    def _build(self) -> None:
        self.resize(*SIZE)
        self.setMinimumSize(*LEAST)
        self.views = Segmented(VIEWS, N_("How to edit it"))
        self.form = SchemaForm(narrow=True)
        pane = ScrollPane()
        pane.body.setContentsMargins(0, 0, 14, 0)
        pane.body.addWidget(self.form)
        pane.body.addStretch(1)
        self.schema, self.json = JsonEditor(N_("Payload schema")), JsonEditor(N_("JSON"))
        self._stack = stacked(pane, self.schema, self.json)
        head = QHBoxLayout()
        head.addWidget(self.views)
        head.addStretch(1)
        self.change, self.run = Label("", "label", "text2", wrap=True), Label("", "strong", wrap=True)
        self.faults = KeyValues()
        below = QVBoxLayout()
        below.setSpacing(4)
        for part in (self.change, self.run, self.faults):
            below.addWidget(part)
        self.body.addLayout(head)
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(line())
        self.body.addLayout(below)
        self.cancel_button, self.save_button = self.end_with_save(self._save, shortcut="Ctrl+Return")
        self.views.chosen.connect(self._on_view)
        self.form.edited.connect(self._on_form)
        self.schema.textChanged.connect(self._on_schema)
        self.json.textChanged.connect(self._on_json)
        self._saving.busy_changed.connect(lambda _busy: self._say_save())
        on_language_changed(self._retell)

    def document(self) -> dict[str, Any]:
        """The document as it stands."""
        return dict(self._document)

    # three views

    def _load(self, view: str) -> None:
        """Fill a view from the document, without a signal."""
        self._shown = view
        if view == FORM:
            self.form.show_schema(form.schema(new=self._base is None), form.flat(self._document))
            self._stack.setCurrentIndex(0)
            return
        field = self.schema if view == SCHEMA else self.json
        value = self._document.get("schema", {}) if view == SCHEMA else self._document
        field.blockSignals(True)
        field.load_text(pretty(value))
        field.blockSignals(False)
        self._stack.setCurrentWidget(field)

    def _on_view(self, view: str) -> None:
        if self._problem:  # what cannot be read would be lost
            self.views.set_current(self._shown)
            return
        self._load(view)

    def _on_form(self) -> None:
        self._document = form.whole(self.form.document(), self._document)
        self._try_soon()

    def _on_schema(self) -> None:
        value = self._read(self.schema)
        if value is not None:
            self._document["schema"] = value
        self._try_soon()

    def _on_json(self) -> None:
        value = self._read(self.json)
        if value is not None:
            self._document = value
        self._try_soon()

    def _read(self, editor: JsonEditor) -> dict[str, Any] | None:
        editor.validate()
        value = editor.document_value()
        if isinstance(value, dict) and editor.is_valid:
            self._problem = ""
            return dict(value)
        told_ = next((one.text for one in editor.problems()), "")
        self._problem = told_ or _("It must be a JSON object: { … }")
        return None

    def _retell(self) -> None:
        if self._shown == FORM:
            self.form.show_schema(form.schema(new=self._base is None), form.flat(self._document))
        self._try_soon()

    # trying and keeping

    def _try(self) -> None:
        if self._problem:
            self._show_error(UsageError(self._problem))
            return
        if not self._document.get("name"):
            self._show_error(UsageError(_("Give it a name."), field="name"))
            return
        self._trying.start(partial(_tried, self._context, self._text()), self._show_tried, self._show_error)

    def _text(self) -> str:
        document: Mapping[str, Any] = self._document
        if self._base is not None:  # made from this version: whoever changed it meanwhile is not overwritten
            document = {**document, "name": self._base.name, "version": self._base.version}
        return json.dumps(document, ensure_ascii=False)

    def _show_tried(self, found: Tried) -> None:
        if self._problem or found.body != self._text():
            return  # somebody has typed on meanwhile
        self._same = found.change.what == UNCHANGED
        self.change.set_tone("text2")
        self.change.setText(words.would(found.change))
        run = found.run
        self.run.setText(words.tried(run))
        self.run.set_tone("dead" if run.refused > run.before else "text2")
        self.faults.set_rows(words.refusals(run))
        self.faults.setVisible(bool(run.faults))
        self.form.show_problems([])
        self._say_save()
        self.tried.emit()

    def _show_error(self, error: BaseException) -> None:
        self._same = True
        self.change.set_tone("dead")
        self.change.setText(told(error))
        self.run.setText("")
        self.faults.hide()
        self.save_button.disable(told(error))
        self.tried.emit()

    def _say_save(self) -> None:
        busy = _("It is being kept") if self._saving.busy else ""
        self.save_button.disable(busy or (_("Nothing was changed yet") if self._same else ""))

    def _save(self) -> None:
        if self._problem or self._same:
            return
        call = partial(self._context.commands.fleet.import_types, [self._text()])
        self._saving.start(call, self._on_saved, self._show_error)

    def _on_saved(self, changes: tuple[Change, ...]) -> None:
        self.accept()
        self.saved.emit(changes[0])


def _tried(context: PageContext, body: str) -> Tried:
    changes, faults = context.commands.fleet.plan_types([body])
    if faults:
        raise UsageError(faults[0].error, field=faults[0].field)
    return Tried(changes[0], context.policies.dry_run(changes[0].kind), body)
