"""A dialog that fills in a record by name, type and shops, and says meanwhile what would come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QStackedWidget, QWidget

from services.domain.errors import OperatorError
from services.domain.types.task_type import TaskType, least_harm
from services.i18n import N_, _
from services.messages import told
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.frame import DialogFrame
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.support.words import type_names
from views.widgets.fields import ChoiceField, Labelled
from views.widgets.segmented import Segmented

ALL, SOME, NAMED = "all", "some", "named"
R = TypeVar("R")


class RecordDialog(DialogFrame, Generic[R]):
    """Makes its widgets by itself; ``look_ms``: how long after the last change it is looked what would come of it.

    Signals:
        saved: name of the record that was kept.
    """

    saved = Signal(str)

    name: QLineEdit
    task_type: ChoiceField
    choice: Segmented  #: which shops: ALL, SOME or NAMED
    preview: Label
    _when: QStackedWidget  #: by the other choice, that of ``_kinds``
    _whom: QStackedWidget  #: by ``choice``

    def __init__(self, title: str, *, icon: str, width: int, look_ms: int, parent: QWidget | None) -> None:
        """`title` is source text."""
        super().__init__(title, icon=icon, parent=parent)
        self.setFixedWidth(width)
        self._looking, self._saving, self._asking = Operation(self, latest=True), Operation(self), Operation(self)
        self._look_later = Debounce(self._look, look_ms, self)
        self.fields: dict[str, Labelled] = {}
        self._untouched: object = None  #: what stood there before a person typed anything

    def _labelled(self, name: str, label: str, field: QWidget, hint: str = "") -> Labelled:
        self.fields[name] = Labelled(label, field, hint=hint)
        return self.fields[name]

    def _show_types(self, types: Mapping[str, TaskType]) -> None:
        typed = self._is_typed()
        chosen = self._type_code() or (least_harm(types) if types else "")
        for code in sorted(types):
            called = type_names.name(code)
            self.task_type.addItem(code if called == code else f"{called} · {code}", code)
        place = self.task_type.findData(chosen)
        self.task_type.setCurrentIndex(place)
        if place < 0:
            self.task_type.setEditText(chosen)
        if not typed:
            self._untouched = self.values()
        self._look_soon()

    def _type_code(self) -> str:
        """The code of the type that is chosen, or whose code or title is typed."""
        typed = self.task_type.currentText().strip()
        for place in range(self.task_type.count()):
            code = str(self.task_type.itemData(place) or "")
            if code and typed in (self.task_type.itemText(place), type_names.name(code)):
                return code
        return typed

    def _kind(self) -> int:
        """The place of what is shown of ``_when``."""
        raise NotImplementedError

    def _on_segment(self, _key: str = "") -> None:
        self._when.setCurrentIndex(self._kind())
        self._whom.setCurrentIndex((ALL, SOME, NAMED).index(self.choice.current()))
        self._look_soon()

    def values(self) -> object:
        """The fields as they stand, to be compared."""
        raise NotImplementedError

    def _is_typed(self) -> bool:
        return self._untouched is not None and self.values() != self._untouched

    def reject(self) -> None:
        """Leave; what was typed is dropped after a question only."""
        if not self._is_typed():
            super().reject()
            return
        question = Question(
            title=N_("Discard what was typed?"),
            text=_("It was not saved."),
            verb=_("Discard"),
            danger=True,
            leave=N_("Go on editing"),
        )
        dialog = ConfirmDialog(question, self)
        dialog.confirmed.connect(partial(self.done, QDialog.DialogCode.Rejected))
        dialog.open()

    # looking and keeping

    def _look_soon(self, *_change: object) -> None:
        """Something is changed: what is being looked up is about what stood there before."""
        self._looking.drop()
        self._look_later()

    def _record(self) -> R:
        """The record of the fields. Raises ``OperatorError`` with the field that is wrong."""
        raise NotImplementedError

    def _try(self, wanted: R) -> Any:
        """What would come of it; in a thread."""
        raise NotImplementedError

    def _keep(self, wanted: R) -> str:
        """Keep it, and answer its name; in a thread."""
        raise NotImplementedError

    def _show_preview(self, found: Any) -> None:
        raise NotImplementedError

    def _look(self, *_change: object) -> None:
        self._looking.drop()
        if not self.name.text().strip():
            self._clear()
            return
        self._start(self._looking, self._try, self._show_preview)

    def _save(self) -> None:
        self._start(self._saving, self._keep, self._on_saved)

    def _start(self, how: Operation, call: Callable[[R], Any], then: Callable[[Any], None]) -> None:
        try:
            wanted = self._record()
        except OperatorError as exc:
            self._show_error(exc)
            return
        how.start(lambda: call(wanted), then, self._show_error)

    def _on_saved(self, name: str) -> None:
        self.accept()
        self.saved.emit(name)

    def _show_error(self, error: BaseException) -> None:
        self._clear()
        name = error.field if isinstance(error, OperatorError) else ""
        place = self.fields.get(name)
        if place is not None and place.isVisible():
            place.set_error(told(error))
            return
        self.preview.set_tone("dead")
        self.preview.setText(told(error))

    def _clear(self) -> None:
        self.preview.setText("")
        for field in self.fields.values():
            field.set_error("")
