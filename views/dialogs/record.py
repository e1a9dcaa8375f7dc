"""A dialog that fills in a record by name, type and shops, and says meanwhile what would come of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QPlainTextEdit, QWidget

from services.domain.errors import OperatorError, UsageError
from services.domain.task.search import filter_time
from services.domain.types.task_type import TaskType, least_harm
from services.i18n import _
from services.messages import told
from views.context import PageContext
from views.dialogs.typed import KeepsTyped
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.support.words import type_names
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.fields import ChoiceField, Labelled, WordField
from views.widgets.segmented import Segmented

ALL, SOME, NAMED = "all", "some", "named"
_BETWEEN = re.compile(r"[\s,;，；、]+")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
R = TypeVar("R")


class RecordFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that each of these dialogs has, as they stand."""

    name: str = ""
    task_type: str = ""
    choice: str = ALL
    platforms: str = ""
    groups: str = ""
    shops: str = ""
    note: str = ""


class ForShops(Protocol):
    """A record that is for all shops, for those that fit, or for some by name."""

    @property
    def name(self) -> str: ...
    @property
    def task_type(self) -> str: ...
    @property
    def all_shops(self) -> bool: ...
    @property
    def platforms(self) -> tuple[str, ...]: ...
    @property
    def groups(self) -> tuple[str, ...]: ...
    @property
    def shops(self) -> tuple[str, ...]: ...
    @property
    def note(self) -> str: ...


def filled_from(record: ForShops) -> dict[str, str]:
    """What ``RecordFields`` hold of a record."""
    return {
        "name": record.name,
        "task_type": record.task_type,
        "choice": ALL if record.all_shops else NAMED if record.shops else SOME,
        "platforms": ", ".join(record.platforms),
        "groups": ", ".join(record.groups),
        "shops": "\n".join(record.shops),
        "note": record.note,
    }


def described(fields: RecordFields) -> dict[str, Any]:
    """What a record holds of ``RecordFields``; of the shops only what is chosen counts."""
    return {
        "name": fields.name.strip(),
        "task_type": fields.task_type.strip(),
        "all_shops": fields.choice == ALL,
        "platforms": _listed(fields.platforms) if fields.choice == SOME else (),
        "groups": _listed(fields.groups) if fields.choice == SOME else (),
        "shops": _listed(fields.shops) if fields.choice == NAMED else (),
        "note": fields.note.strip(),
    }


def _listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(text) if word))


def seconds(text: str, field: str) -> int:
    """Seconds of ``30m``.

    Raises:
        UsageError: it is no duration.
    """
    found = filter_time.duration_ms("".join(text.split()))
    if found is None or found % 1000:
        raise UsageError(_("Write a duration such as 90s, 30m or 2h."), field=field)
    return found // 1000


def short(number: int, least: int = 1) -> str:
    """Seconds as they are typed: ``20m``; in the largest unit of which they are at least so many."""
    size, unit = next(
        (size, unit) for size, unit in _UNITS if size == 1 or (number % size == 0 and number >= least * size)
    )
    return f"{number // size}{unit}"


Index = QModelIndex | QPersistentModelIndex


class TypeNames(QAbstractListModel):
    """Task types to choose from, what each is called made when it is first seen: of two thousand a person sees few."""

    def __init__(self, codes: Sequence[str]) -> None:
        super().__init__()
        self._codes, self._called = tuple(codes), dict[str, str]()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (as Qt declares it)
        """So many types."""
        return 0 if parent.isValid() else len(self._codes)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """What it is called, or its code."""
        if not index.isValid():
            return None
        code = self._codes[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return code
        return self.called(code) if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole) else None

    def called(self, code: str) -> str:
        """What stands in the list for a type."""
        if code not in self._called:
            name = type_names.name(code)
            self._called[code] = code if name == code else f"{name} · {code}"
        return self._called[code]

    def code(self, typed: str) -> str:
        """The type of which this is the code or what it is called, "" for none."""
        if typed in self._codes:
            return typed
        return next((code for code in self._codes if self.called(code) in (typed, f"{typed} · {code}")), "")

    def with_part(self, typed: str) -> list[int]:
        """The places of those in whose name or code that occurs."""
        part = typed.casefold()
        return [at for at, code in enumerate(self._codes) if part and part in self.called(code).casefold()]


#: of a field of several lines, around them
ROOM = 14


class NamesField(QPlainTextEdit):
    """Names one below the other: of a line nobody could read thousands, and it would keep 32,767 characters of them."""

    ROWS = 3

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        theme().changed.connect(self._fit)
        self._fit()

    def setText(self, text: str) -> None:
        """Show these names."""
        self.setPlainText(text)

    def text(self) -> str:
        """The names as they stand."""
        return self.toPlainText()

    def _fit(self) -> None:
        self.setFixedHeight(self.ROWS * self.fontMetrics().lineSpacing() + ROOM)


class RecordDialog(KeepsTyped, Generic[R]):
    """Makes its widgets by itself; ``look_ms``: how long after the last change it is looked what would come of it.

    Signals:
        saved: name of the record that was kept.
    """

    saved = Signal(str)

    preview: Label
    save_button: Button
    _context: PageContext

    def __init__(
        self,
        title: str,
        choice: Segmented | WordField,
        *,
        icon: str,
        width: int,
        look_ms: int,
        parent: QWidget | None,
    ) -> None:
        """`title` is source text; ``choice``: between ``ALL``, ``SOME`` and ``NAMED`` shops."""
        super().__init__(title, icon=icon, parent=parent)
        self.set_width(width)
        self._looking, self._saving, self._asking = Operation(self, latest=True), Operation(self), Operation(self)
        self._look_later = Debounce(self._look, look_ms, self)
        on_language_changed(self._look_soon)
        self.fields: dict[str, Labelled] = {}
        self._untouched: object = None  #: what stood there before a person typed anything
        self.name, self.note = QLineEdit(), QLineEdit()
        self.platforms, self.groups, self.shops = QLineEdit(), QLineEdit(), NamesField()
        self.task_type = ChoiceField()
        self.task_type.setEditable(True)
        self.task_type.setInsertPolicy(ChoiceField.InsertPolicy.NoInsert)
        # Qt's own completes only what begins so, and a type is as often called by its code behind its title
        self._finder = QCompleter(self)
        self._finder.setFilterMode(Qt.MatchFlag.MatchContains)
        self._finder.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.task_type.setCompleter(self._finder)
        typed = self.task_type.lineEdit()
        assert typed is not None  # it is editable
        typed.returnPressed.connect(self._on_type_entered)
        self.task_type.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._offered = TypeNames(())
        self.choice = choice

    def _listen(self, *lines: QLineEdit) -> None:
        """Look again with each change of what all of them have, and of these."""
        for line in (self.name, self.platforms, self.groups, *lines):
            line.textChanged.connect(self._look_soon)
        self.shops.textChanged.connect(self._look_soon)
        self.task_type.currentTextChanged.connect(self._look_soon)
        self.choice.chosen.connect(self._on_segment)
        self._saving.busy_changed.connect(lambda busy: self.save_button.disable(_("It is being kept") if busy else ""))

    def _begin(self, fields: RecordFields, first: QWidget, *, named: bool) -> None:
        """Show what all of them have; the cursor goes to the name, or to ``first`` where that stands (``named``)."""
        for line, value in (
            (self.name, fields.name),
            (self.platforms, fields.platforms),
            (self.groups, fields.groups),
            (self.shops, fields.shops),
            (self.note, fields.note),
        ):
            line.setText(value)
        self.task_type.setCurrentText(fields.task_type)
        self.choice.set_current(fields.choice)
        self.name.setReadOnly(named)
        self._on_segment()
        (first if named else self.name).setFocus()

    def _common(self) -> dict[str, str]:
        """The fields of ``RecordFields`` as they stand."""
        return {
            "name": self.name.text(),
            "task_type": self._type_code(),
            "choice": self.choice.current(),
            "platforms": self.platforms.text(),
            "groups": self.groups.text(),
            "shops": self.shops.text(),
            "note": self.note.text(),
        }

    def _labelled(self, name: str, label: str, field: QWidget, hint: str = "", *, in_words: bool = False) -> Labelled:
        self.fields[name] = Labelled(label, field, hint=hint, in_words=in_words)
        return self.fields[name]

    def _show_types(self, types: Mapping[str, TaskType]) -> None:
        typed = self.is_typed()
        chosen = self._type_code() or (least_harm(types) if types else "")
        self._offered = TypeNames(sorted(types))
        self.task_type.setModel(self._offered)
        self._finder.setModel(self._offered)
        place = self.task_type.findData(chosen)
        self.task_type.setCurrentIndex(place)
        if place < 0:
            self.task_type.setEditText(chosen)
        if not typed:
            self._untouched = self.values()
        self._look_soon()

    def _on_type_entered(self) -> None:
        """Take the only type in whose name or code occurs what is typed."""
        meant = self._offered.with_part(self.task_type.currentText().strip())
        if len(meant) == 1:
            self.task_type.setCurrentIndex(meant[0])

    def _type_code(self) -> str:
        """The code of the type that is chosen, or whose code or title is typed."""
        typed = self.task_type.currentText().strip()
        return self._offered.code(typed) or typed

    def _on_segment(self, _key: str = "") -> None:
        self._look_soon()

    def values(self) -> object:
        """The fields as they stand, to be compared."""
        raise NotImplementedError

    def is_typed(self) -> bool:
        """Whether anything was chosen or written."""
        return self._untouched is not None and self.values() != self._untouched

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
