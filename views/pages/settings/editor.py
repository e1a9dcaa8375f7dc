"""The dialog of config.toml: every setting of this machine with its words, its default, where its value comes from and
when another one takes effect; checked while it is typed as the next start would check it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QWidget,
)

from services.domain.errors import OperatorError
from services.domain.text.said import Said, words_of
from services.i18n import N_, _, ngettext
from services.messages import told
from services.settings.config_file import DEFAULT, Seen, Setting
from services.settings.declared import Kind
from services.settings.words import TITLES, WORDS, effect
from views.context import PageContext
from views.dialogs.typed import KeepsTyped
from views.support import safe, text
from views.support.language import say_in_language
from views.support.look import Label, line, set_look
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.widgets.buttons import IconButton
from views.widgets.empty_state import EmptyState
from views.widgets.fields import ChoiceField
from views.widgets.filter.search_field import SearchField
from views.widgets.layout import clear, in_column, in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (1040, 680), (760, 420)
LIST_WIDTH, CHECK_MS, LINES = 190, 300, 3
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
#: a comma or a space parts thousands only: "12,5" is no 125
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:[,，  ]\d{3})+")


class SettingRow(QWidget):
    """One setting. ``changed``: a person gave it another value."""

    changed = Signal()

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting, self.what = setting, setting.what
        self._reset = False
        self._field, self._read = self._make(setting.value)
        self.field = self._field
        self._title = Label(self.what.name, "mono")
        self._words = Label(_plain(_(WORDS[self.what.name])), "label", "text2", wrap=True)
        self._facts = Label("", "label", "text3", wrap=True)
        self._error = Label("", "label", "dead", wrap=True)
        self._error.hide()
        self.reset_button = IconButton("ph.arrow-counter-clockwise", N_("Back to the default"))
        self.reset_button.clicked.connect(self.reset)
        self._lay_out()
        self._shown = self._read()
        self.field.setAccessibleName(self.what.name)
        self.field.setAccessibleDescription(self._words.text())
        self.field.setEnabled(not setting.variable)
        self.show_facts()

    def _lay_out(self) -> None:
        beside = in_row((self.field, 1), (self.reset_button, 0, Qt.AlignmentFlag.AlignTop), spacing=6)
        in_column(
            self._title, self._words, beside, self._error, self._facts, owner=self, margins=(0, 10, 0, 10), spacing=4
        )

    @property
    def dirty(self) -> bool:
        """Whether it would be written."""
        return self._reset or self._read() != self._shown

    def value(self) -> Any:
        """What would be written; None for the default.

        Raises:
            ValueError: what was typed is no such value.
        """
        if self._reset:
            return None
        typed = self._read()
        return _value(self.what.kind, typed)

    def reset(self) -> None:
        """Take what the program comes with."""
        default = self.what.default
        self._fill(default)
        self._reset = self.setting.origin != DEFAULT
        self.show_facts()
        self.changed.emit()

    def keep(self, before: SettingRow) -> None:
        """Take what a person had made of a row in whose place this one comes."""
        if self.setting.variable or not before.dirty:
            return
        if before._reset:
            self.reset()
        else:
            typed, field = before._read(), self.field
            if isinstance(field, QLineEdit):
                field.setText(typed)  # as it was typed: a password that became dots would be lost
            elif isinstance(field, QPlainTextEdit):
                field.setPlainText(typed)
            else:
                self._fill(typed == "true" if self.what.kind is Kind.SWITCH else typed)

    def matches(self, words: str) -> bool:
        """Whether it is what somebody looks for."""
        known = f"{self.what.name} {_(TITLES[self.what.table])} {self._words.text()}".casefold()
        return all(part in known for part in words.casefold().split())

    def show_error(self, error: str) -> None:
        """Show what is wrong, "" for nothing."""
        self._error.setText(error)
        self._error.setVisible(bool(error))
        set_look(self.field, invalid=bool(error))

    def error(self) -> str:
        """What is shown as wrong."""
        return self._error.text()

    def facts(self) -> str:
        """What is told below the field."""
        return self._facts.text()

    def show_facts(self) -> None:
        """Say where the value comes from, what the default is, and when another one takes effect."""
        setting = self.setting
        origin = _("the default") if setting.origin == DEFAULT else _("from config.toml")
        if setting.variable:
            origin = _("from the variable {name}, which goes over the file").format(name=setting.variable)
        if self._reset:
            origin = _("back to the default")
        elif self.dirty:
            origin = _("changed")
        at_default = setting.origin == DEFAULT and not self.dirty
        default = _("default: {value}").format(value=_line(self.what.default) or _("empty"))
        when = _("takes effect {when}").format(when=_plain(_(effect(self.what.name))))
        self._facts.setText(" · ".join([origin, when] if at_default else [origin, default, when]))
        self.reset_button.disable(
            _("A variable goes over the file") if setting.variable else _("It is the default") if at_default else ""
        )

    # the field

    def _make(self, value: Any) -> tuple[QWidget, Callable[[], str]]:
        kind = self.what.kind
        if self.what.choices and kind is Kind.TEXT:
            choice = ChoiceField()
            for one in self.what.choices:
                choice.addItem(one or _("empty"), str(one))
            choice.setCurrentIndex(max(0, choice.findData(str(value))))
            choice.currentIndexChanged.connect(self._on_edited)
            return choice, lambda: str(choice.currentData())
        if kind is Kind.SWITCH:
            switch = QCheckBox(_("yes"))
            switch.setChecked(str(value).lower() in ("true", "1", "yes", "on"))
            switch.toggled.connect(self._on_edited)
            return switch, lambda: "true" if switch.isChecked() else "false"
        if kind in (Kind.WORDS, Kind.TABLE):
            lines = QPlainTextEdit(_said(value))
            lines.setFixedHeight(LINES * lines.fontMetrics().lineSpacing() + 20)
            lines.setTabChangesFocus(True)
            lines.setPlaceholderText(_("one a line") if kind is Kind.WORDS else _("NAME = value, one a line"))
            lines.textChanged.connect(self._on_edited)
            return lines, lines.toPlainText
        typed = QLineEdit(_said(value))
        typed.textChanged.connect(self._on_edited)
        return typed, typed.text

    def _fill(self, value: Any) -> None:
        field = self.field
        if isinstance(field, ChoiceField):
            field.setCurrentIndex(max(0, field.findData(str(value))))
        elif isinstance(field, QCheckBox):
            field.setChecked(bool(value))
        elif isinstance(field, QPlainTextEdit):
            field.setPlainText(_said(value))
        elif isinstance(field, QLineEdit):
            field.setText(_said(value))

    def _on_edited(self) -> None:
        self._reset = False
        self.show_facts()
        self.changed.emit()


class ConfigDialog(KeepsTyped):
    """Signals:
    saved: names of the settings that were written.
    """

    saved = Signal(object)

    def __init__(self, context: PageContext, reason: str = "", parent: QWidget | None = None) -> None:
        """``reason``: why nothing may be changed here, already translated."""
        super().__init__(N_("Settings of this machine"), icon="ph.gear-six", parent=parent)
        self._context, self._barred = context, reason
        self._looking, self._saving = Operation(self), Operation(self)
        self._checking = Operation(self, latest=True)
        self._check_soon = Debounce(self._check, CHECK_MS, self)
        self._seen: Seen | None = None
        self.rows: dict[str, SettingRow] = {}
        self._heads: dict[str, Label] = {}
        self._lines: dict[str, QWidget] = {}
        self._tables: list[str] = []
        self.search = SearchField()
        self.search.textChanged.connect(self._show_wanted)
        self.list, self._names = QListView(), QStringListModel(self)
        self.list.setModel(self._names)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setFixedWidth(LIST_WIDTH)
        set_look(self.list, panel="list")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.selectionModel().currentChanged.connect(lambda *_at: self._on_table())
        self.error = ErrorStrip()
        self.error.retry.connect(self._look)
        self.note = Label("", "label", "text3", wrap=True)
        self.nothing = EmptyState(N_("No setting matches."), action=N_("Clear the search"), icon="ph.magnifying-glass")
        self.nothing.action.connect(self.search.clear)
        self.nothing.hide()
        self.pane = ScrollPane()
        self.pane.body.setContentsMargins(4, 0, 16, 0)
        self._put_in()
        self._look()

    def _put_in(self) -> None:
        top = in_column(self.search, self.error, margins=(18, 12, 18, 8))
        below = in_row(self.list, (self.pane, 1), (self.nothing, 1), margins=(18, 0, 6, 0), spacing=14)
        self.fill(top, below, size=SIZE, least=LEAST)
        self.foot.addWidget(self.note, 1)
        self.cancel_button, self.save_button = self.end_with_save(self._save)
        say_in_language(self._say)

    def _say(self) -> None:
        self.search.setPlaceholderText(_("Find a setting"))
        self.search.setAccessibleName(_("Find a setting"))
        self.list.setAccessibleName(_("Tables of the file"))
        if self._seen is not None:
            self._show(self._seen)  # what was typed stays
        self._show_state()

    # what there is

    def _look(self) -> None:
        self.error.clear()
        self._looking.start(self._context.commands.settings.look, self._show, self._on_failed)

    def _show(self, seen: Seen) -> None:
        before, at, words = self._take_away(), self.list.currentIndex().row(), self.search.text()
        self._seen = seen
        for setting in seen.settings:
            table = setting.what.table
            if table not in self._heads:
                self._tables.append(table)
                self._heads[table] = Label(_(TITLES[table]), "card")
                self.pane.body.addWidget(self._heads[table])
            row = SettingRow(setting)
            if setting.what.name in before:
                row.keep(before[setting.what.name])
            row.changed.connect(self._on_changed)
            self.rows[setting.what.name] = row
            self.pane.body.addWidget(row)
            self._lines[setting.what.name] = under = line()
            self.pane.body.addWidget(under)
        self.pane.body.addStretch(1)
        self._names.setStringList([_(TITLES[table]) for table in self._tables])
        self.list.setCurrentIndex(self._names.index(max(at, 0)))
        self.search.setText(words)  # what was looked for stands there when the file is read anew
        self.search.setFocus()
        self._on_changed()

    def _take_away(self) -> dict[str, SettingRow]:
        """Show nothing: the file is read anew. Answers the rows that stood there."""
        clear(self.pane.body)
        before, self.rows = self.rows, {}
        self._heads, self._lines, self._tables = {}, {}, []
        return before

    def _on_table(self) -> None:
        if self.search.text():
            self.search.clear()
        else:
            self._show_wanted()

    def _show_wanted(self) -> None:
        """The settings that are looked for, else those of the chosen table."""
        at, words = self.list.currentIndex().row(), self.search.text().strip()
        table = self._tables[at] if 0 <= at < len(self._tables) else ""
        shown = set()
        for name, row in self.rows.items():
            wanted = row.matches(words) if words else row.what.table == table
            row.setVisible(wanted)
            self._lines[name].setVisible(wanted)
            if wanted:
                shown.add(row.what.table)
        for name, head in self._heads.items():
            head.setVisible(name in shown)
        self.pane.setVisible(bool(shown) or not words)
        self.nothing.setVisible(bool(words) and not shown)
        self.pane.verticalScrollBar().setValue(0)
        self._show_state()  # what is not right may not be among what is shown now

    # what a person makes of it

    def is_typed(self) -> bool:
        """Whether a setting is another one than the file has."""
        return not self._saving.busy and any(row.dirty for row in self.rows.values())

    def changes(self) -> dict[str, Any]:
        """New values by name, None for the default; what is no value is shown at its field and left out."""
        found: dict[str, Any] = {}
        for name, row in self.rows.items():
            if row.dirty:
                try:
                    found[name] = row.value()
                except ValueError as exc:
                    row.show_error(str(exc))
        return found

    def _on_changed(self) -> None:
        self._checking.drop()
        self._show_state()
        self._check_soon()

    def _check(self) -> None:
        for row in self.rows.values():
            row.show_error("")
        changes = self.changes()
        if changes and not self._wrong():
            self._checking.start(partial(self._context.commands.settings.check, changes), self._on_good, self._on_bad)
        self._show_state()

    def _on_good(self, _none: object) -> None:
        self._show_state()

    def _on_bad(self, error: BaseException) -> None:
        field, others = (error.field, error.others) if isinstance(error, OperatorError) else ("", ())
        names = sorted(self.rows, key=len, reverse=True)
        row = next((self.rows[name] for name in names if f"{field}.".startswith(f"{name}.")), None)
        if row is None:
            self._on_failed(error)
            return
        words = words_of(error)
        inner = words.message.params.get("why") if isinstance(words, Said) else None  # the file is named above
        sentence = told(inner) if isinstance(inner, Said) else told(error)
        row.show_error(sentence)
        for name in others:  # what was changed may stand in another table than what is wrong by that
            if self.rows[name].dirty:
                self.rows[name].show_error(sentence)
        self._show_state()

    def _wrong(self) -> list[SettingRow]:
        return [row for row in self.rows.values() if row.error()]

    def _show_state(self) -> None:
        number, wrong = sum(row.dirty for row in self.rows.values()), self._wrong()
        said = ngettext("{n} setting is changed", "{n} settings are changed", number).format(n=text.count(number))
        why = _("{name} is not right yet").format(name=wrong[0].what.name) if wrong else ""
        elsewhere = why if not any(row.isVisible() for row in wrong) else ""
        self.note.setText(self._barred or elsewhere or (said if number else _("Nothing is changed")))
        self.save_button.disable(self._barred or why or ("" if number else _("Nothing is changed")))

    def _save(self) -> None:
        if self._seen is None:
            return
        self.error.clear()
        changes = self.changes()
        if not self._wrong():
            change = partial(self._context.commands.settings.change, changes, self._seen.mark)
            self._saving.start(change, lambda _none: self._on_saved(changes), self._on_bad)

    def _on_saved(self, changes: Mapping[str, Any]) -> None:
        self.accept()
        self.saved.emit(tuple(changes))

    def _on_failed(self, error: BaseException) -> None:
        self.error.show_error(told(error))


def _plain(words: str) -> str:
    """What stands in the pages too, without their marks."""
    return _LINK.sub(r"\1", words).replace("`", "")


def _said(value: Any) -> str:
    """A value as a field has it: lists and tables a line each."""
    if isinstance(value, str):
        return safe.visible(value)
    if isinstance(value, Mapping):
        return "\n".join(f"{name} = {_part(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(map(_part, value))
    if isinstance(value, float):
        return f"{value:g}" if value.is_integer() else repr(value)
    return json.dumps(value)


def _line(value: Any) -> str:
    return ", ".join(_said(value).splitlines())


def _part(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=list)


def _value(kind: Kind, typed: str) -> Any:
    """What was typed as a value of its kind.

    Raises:
        ValueError: it is none; the text says what to write, translated.
    """
    typed = typed.strip()
    if kind is Kind.SWITCH:
        return typed == "true"
    if kind in (Kind.NUMBER, Kind.FRACTION):
        return _number(kind, typed)
    lines = [one.strip() for one in typed.splitlines() if one.strip()]
    if kind is Kind.WORDS:
        return lines
    if kind is Kind.TABLE:
        return dict(map(_pair, lines))
    if len(lines) > 1:
        raise ValueError(_("Write it in one line"))
    return typed


def _number(kind: Kind, typed: str) -> int | float:
    try:
        if kind is Kind.FRACTION:
            return float(typed)
        return int(re.sub(r"[,，\s]", "", typed) if _THOUSANDS.fullmatch(typed) else typed)
    except ValueError:
        raise ValueError(_("Write a whole number") if kind is Kind.NUMBER else _("Write a number")) from None


def _pair(written: str) -> tuple[str, Any]:
    name, sign, value = written.partition("=")
    name, value = name.strip().strip('"'), value.strip()
    if not sign or not name:
        raise ValueError(_("Write NAME = value, one a line"))
    if value[:1] in "[{":
        try:
            return name, json.loads(value)
        except ValueError:
            raise ValueError(_('What begins with a bracket is written as JSON: ["a", "b"]')) from None
    return name, value
