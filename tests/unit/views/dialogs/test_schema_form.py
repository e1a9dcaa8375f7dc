"""Forms made of schemas."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.types import schema
from views.dialogs.schema import read as plan
from views.dialogs.schema.form import ChoiceInput, ChoicesInput, LineInput, SchemaForm, SwitchInput

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "title": "Note", "x-title-zh": "备注"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean", "default": True},
        "color": {"type": "string", "enum": ["red", "blue"], "x-enum-titles": ["Red", "Blue"], "default": "red"},
        "day": {"type": "string", "format": "date"},
        "states": {"type": "array", "items": {"type": "string", "enum": ["paid", "sent"]}},
        "ids": {"type": "array", "items": {"type": "string"}},
        "login": {"type": "object"},
    },
    "required": ["note"],
}


@pytest.fixture
def form(qtbot: QtBot) -> SchemaForm:
    """The form with an empty document."""
    made = SchemaForm()
    qtbot.addWidget(made)
    made.show_schema(SCHEMA, {})
    made.show()
    return made


def line(form: SchemaForm, name: str) -> LineInput:
    found = form.input(name)
    assert isinstance(found, LineInput)
    return found


def type_text(qtbot: QtBot, form: SchemaForm, name: str, text: str) -> None:
    # QTest ends the process on a key that is not ASCII.
    edit = line(form, name).line
    edit.clear()
    if text.isascii():
        qtbot.keyClicks(edit, text)
    else:
        edit.setText(text)
        edit.textEdited.emit(text)


def test_each_kind_of_field_is_read_from_the_schema() -> None:
    kinds = {field.name: field.kind for field in plan.read(SCHEMA)}
    assert kinds == {
        "note": plan.TEXT,
        "size": plan.WHOLE,
        "ratio": plan.NUMBER,
        "deep": plan.SWITCH,
        "color": plan.CHOICE,
        "day": plan.DATE,
        "states": plan.CHOICES,
        "ids": plan.LIST,
        "login": plan.JSON,
    }


def test_limits_and_need_are_said() -> None:
    said = {field.name: field.limits for field in plan.read(SCHEMA)}
    assert said["size"] == "1 to 9"
    assert said["note"] == "required"


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("note", "hello, there", "hello, there"),
        ("size", "7", 7),
        ("size", "seven", "seven"),
        ("ratio", "0.5", 0.5),
        ("ids", "a, b，c", ["a", "b", "c"]),
        ("login", '{"mode": "qr"}', {"mode": "qr"}),
        ("day", " 2026-11-21 ", "2026-11-21"),
    ],
)
def test_what_is_typed_becomes_a_value(qtbot: QtBot, form: SchemaForm, name: str, typed: str, value: Any) -> None:
    with qtbot.waitSignal(form.edited):
        type_text(qtbot, form, name, typed)
    assert form.document() == {name: value}
    type_text(qtbot, form, name, "x")
    line(form, name).line.clear()
    line(form, name).line.textEdited.emit("")
    assert form.document() == {}, "an empty field is left out"


def test_a_switch_at_its_default_is_left_out(form: SchemaForm) -> None:
    switch = form.input("deep")
    assert isinstance(switch, SwitchInput)
    assert switch.toggle.isChecked()
    switch.toggle.click()
    assert form.document() == {"deep": False}
    switch.toggle.click()
    assert form.document() == {}


def test_choices(form: SchemaForm) -> None:
    color, states = form.input("color"), form.input("states")
    assert isinstance(color, ChoiceInput)
    assert isinstance(states, ChoicesInput)
    assert [color.combo.itemText(n) for n in range(3)] == ["Red (as usual)", "Red", "Blue"]
    color.combo.setCurrentIndex(2)
    color.combo.activated.emit(2)
    states.boxes["sent"].click()
    assert form.document() == {"color": "blue", "states": ["sent"]}


def test_unknown_fields_and_values_are_kept(qtbot: QtBot, form: SchemaForm) -> None:
    document = {"extra": [1], "states": ["lost", "paid"], "color": "green", "note": "a"}
    form.show_document(document)
    type_text(qtbot, form, "note", "b")
    assert form.document() == {"extra": [1], "states": ["paid", "lost"], "color": "green", "note": "b"}


def test_problems_stand_at_their_fields(form: SchemaForm) -> None:
    document = {"size": 99, "login": {"mode": 1}, "states": ["lost"]}
    form.show_document(document)
    left = form.show_problems([*schema.problems(SCHEMA, document), schema.Problem(path="other", message="x", code="y")])
    assert form.problem_of("size") == "must be at most 9"
    assert form.problem_of("note") == "is missing"
    assert form.problem_of("states") == "must be one of paid, sent"
    assert [problem.path for problem in left] == ["other"]
    assert set(form.problem_names()) == {"size", "states", "note"}
    assert form.focus_field("size") is not None
    assert form.focus_field("other") is None
    form.show_problems([])
    assert form.problem_of("size") == ""


def test_another_language_renames_the_fields(form: SchemaForm) -> None:
    i18n.set_language("zh_CN")
    assert form._rows["note"]._title.text() == "备注"
    assert form.input("note").widget.accessibleName() == "备注"  # type: ignore[union-attr]


def test_a_type_without_a_schema_says_so(qtbot: QtBot) -> None:
    form = SchemaForm()
    qtbot.addWidget(form)
    form.show_schema({}, {"a": 1})
    form.show()
    assert form._none.isVisible()
    assert form.document() == {"a": 1}
