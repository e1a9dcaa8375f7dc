"""The dialog for a new task type, or for the next version of one; tries it meanwhile on the newest payloads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.commands.types import UNCHANGED, Change
from services.domain.errors import UsageError
from services.domain.task import lane
from services.domain.types.task_type import ISOLATIONS, UNIQUENESS, TaskType
from services.i18n import N_, _
from services.messages import told
from services.monitor.types import DryRun
from views.context import PageContext
from views.dialogs.schema.form import SchemaForm
from views.dialogs.schema.json_text import pretty
from views.dialogs.typed import KeepsTyped
from views.pages.types import words
from views.support import shown
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.widgets.json.editor import JsonEditor
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

SIZE, LEAST, TRY_MS = (860, 660), (640, 420), 400
FORM, SCHEMA, JSON = "form", "schema", "json"
VIEWS = ((FORM, N_("Form")), (SCHEMA, N_("Payload schema")), (JSON, N_("JSON")))
#: texts by language stand in fields of their own
_SPOKEN = {
    "title_en": ("title", "en", N_("Title (English)")),
    "title_zh": ("title", "zh_CN", N_("Title (Chinese)")),
    "about_en": ("description", "en", N_("Description (English)")),
    "about_zh": ("description", "zh_CN", N_("Description (Chinese)")),
}
_BROWSERS = {"profile": N_("the shop's own profile"), "context": N_("a clean one each time")}


class Tried(NamedTuple):
    """What a document would change, and what its schema would refuse."""

    change: Change
    run: DryRun
    body: str


class TypeDialog(KeepsTyped):
    """Three views of one document.

    Signals:
        saved: the type as it was taken.
        tried: what it would change and refuse is shown.
    """

    saved = Signal(object)
    tried = Signal()

    def __init__(
        self,
        context: PageContext,
        kind: TaskType | None = None,
        parent: QWidget | None = None,
        *,
        start: TaskType | None = None,
    ) -> None:
        """``kind``: the one whose next version it is; None for a new one. ``start``: what stands in the fields at
        first, else ``kind``.
        """
        title = N_("New task type") if kind is None else N_("Edit a task type")
        super().__init__(title, icon="ph.puzzle-piece", parent=parent)
        self._context, self._base = context, kind
        self._document: dict[str, Any] = dict(msgspec.to_builtins(start or kind or TaskType(name="")))
        if kind is not None:
            self.set_note(kind.name)
        self._trying, self._saving = Operation(self, latest=True), Operation(self)
        self._try_soon = Debounce(self._try, TRY_MS, self)
        self._shown, self._problem, self._same = FORM, "", True
        self._first = self._text()
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
        head = in_row(self.views, STRETCH)
        self.change, self.run = Label("", "label", "text2", wrap=True), Label("", "strong", wrap=True)
        self.faults = KeyValues()
        below = in_column(self.change, self.run, self.faults, spacing=4)
        put(self.body, head, (self._stack, 1), line(), below)
        self.cancel_button, self.save_button = self.end_with_save(self._save)
        self.views.chosen.connect(self._on_view)
        self.form.edited.connect(self._on_form)
        self.schema.textChanged.connect(self._on_schema)
        self.json.textChanged.connect(self._on_json)
        self._saving.busy_changed.connect(lambda _busy: self._say_save())
        on_language_changed(self._retell)

    def document(self) -> dict[str, Any]:
        """The document as it stands."""
        return dict(self._document)

    def is_typed(self) -> bool:
        """Whether it is another document than at first."""
        return not self._saving.busy and (bool(self._problem) or self._text() != self._first)

    # three views

    def _load(self, view: str) -> None:
        """Fill a view from the document, without a signal."""
        self._shown = view
        if view == FORM:
            self.form.show_schema(schema(new=self._base is None), flat(self._document))
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
        self._document = whole(self.form.document(), self._document)
        self._try_soon()

    def _on_schema(self) -> None:
        if self._shown != SCHEMA:  # one that is not seen speaks up too, in another language
            return
        value = self._read(self.schema)
        if value is not None:
            self._document["schema"] = value
        self._try_soon()

    def _on_json(self) -> None:
        if self._shown != JSON:
            return
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
            self.form.show_schema(schema(new=self._base is None), flat(self._document))
        self._try_soon()

    # trying and keeping

    def _try(self) -> None:
        self._trying.drop()
        if self._problem:
            self._show_error(UsageError(self._problem))
            return
        if not self._document.get("name"):
            self._show_error(UsageError(_("Give it a name."), field="name"), tone="text2")  # nobody has done wrong yet
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

    def _show_error(self, error: BaseException, tone: str = "dead") -> None:
        self._same = True
        self.change.set_tone(tone)
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


def schema(*, new: bool) -> dict[str, Any]:
    """What the form shows, in the language of the moment; ``new``: the name can be chosen."""
    name = {"name": {"type": "string", "title": _("Name"), "description": _("letters, digits, _ and -")}} if new else {}
    spoken = {key: {"type": "string", "title": _(title)} for key, (_field, _code, title) in _SPOKEN.items()}
    return {
        "type": "object",
        "required": ["name"] if new else [],
        "properties": {
            **name,
            **spoken,
            "executor": {"type": "string", "title": words.field("executor")},
            "lane": {
                "enum": list(lane.LANES),
                "title": words.field("lane"),
                **_titles([shown.lane_word(one) for one in lane.LANES]),
            },
            "timeout_s": _whole("timeout_s", _("seconds")),
            "expected_s": {"type": "number", "title": words.field("expected_s"), "description": _("seconds")},
            "max_retries": _whole("max_retries"),
            "retry_base_s": _whole("retry_base_s", _("seconds; empty: the worker's setting")),
            "retry_cap_s": _whole("retry_cap_s", _("seconds; empty: the worker's setting")),
            "uniqueness": {
                "enum": list(UNIQUENESS),
                "title": words.field("uniqueness"),
                **_titles([_(words.UNIQUENESS[one]) for one in UNIQUENESS]),
            },
            "unique_for": {
                "type": "string",
                "title": words.field("unique_for"),
                "description": _("such as 2m, 1h or today; empty: always again"),
            },
            "concurrency": _whole("concurrency", _("in the whole fleet; empty: no limit")),
            "rate_per_minute": _whole("rate_per_minute", _("in the whole fleet; empty: no limit")),
            "isolation": {
                "enum": list(ISOLATIONS),
                "title": words.field("isolation"),
                **_titles([_(_BROWSERS[one]) for one in ISOLATIONS]),
            },
            "indexed": {
                "type": "string",
                "title": words.field("indexed"),
                "description": _("such as order_id, address.city; found at once among millions of tasks"),
            },
            "idempotent": {
                "type": "boolean",
                "title": words.field("idempotent"),
                "description": _("A task whose outcome nobody knows is run again by itself"),
            },
            "preemptible": {"type": "boolean", "title": words.field("preemptible")},
        },
    }


def flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a type as the form shows it; what is null or empty is left out."""
    found = {key: value for key, value in document.items() if value is not None and key not in ("title", "description")}
    for key, (field, code, _title) in _SPOKEN.items():
        spoken = document.get(field)
        if isinstance(spoken, dict) and spoken.get(code):
            found[key] = spoken[code]
    for name in ("unique_for", "indexed"):
        if not found.get(name):
            found.pop(name, None)
    if isinstance(found.get("indexed"), list | tuple):
        found["indexed"] = ", ".join(map(str, found["indexed"]))
    return found


def whole(shown_: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a type out of what the form shows; what it does not show stays as in ``base``."""
    fresh = dict(msgspec.to_builtins(TaskType(name="")))
    found = {**fresh, **base}
    properties = schema(new=True)["properties"]
    for key in properties:
        if key not in _SPOKEN:
            found[key] = shown_.get(key, "" if key == "name" else fresh.get(key))
    if isinstance(found["indexed"], str):
        found["indexed"] = [one for one in re.split(r"[\s,，、]+", found["indexed"]) if one]
    for field in ("title", "description"):
        spoken = dict(base.get(field) or {}) if isinstance(base.get(field), dict) else {}
        for key, (of, code, _title) in _SPOKEN.items():
            if of == field:
                spoken.pop(code, None)
                if shown_.get(key):
                    spoken[code] = shown_[key]
        found[field] = spoken
    return found


def _whole(name: str, help_: str = "") -> dict[str, Any]:
    return {"type": "integer", "title": words.field(name), **({"description": help_} if help_ else {})}


def _titles(names: list[str]) -> dict[str, Any]:
    return {"x-enum-titles": names, "x-enum-titles-zh": names}
