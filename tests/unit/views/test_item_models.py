"""Whatever becomes of their rows, Qt's own tester finds every kind of item model of the window sound."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QAbstractItemModel
from PySide6.QtTest import QAbstractItemModelTester

from services.commands.sheet.orders import Fault, Orders
from services.commands.sheet.table import BadRow, Row, Table
from services.domain.alerts import incident as states
from services.domain.alerts.incident import Incident, Words
from services.domain.text.message import Message
from services.monitor.alerts.queries import IncidentNow
from services.watch.alerts.rules import DEFAULTS
from tests.architecture.source import ROOT
from views.dialogs.record import TypeNames
from views.dialogs.sheet.model import ALL, ERRORS, SheetModel
from views.pages.alerts import words
from views.pages.alerts.table import GROUPS, INCIDENTS, grouped, headings, key_of
from views.shell.palette_rows import Entry, Rows
from views.tables.record_model import RecordModel
from views.widgets.find_field import FindField

pytestmark = pytest.mark.usefixtures("qapp")
quick = settings(max_examples=15, suppress_health_check=[*HealthCheck])
#: that of the tables is put under the tester by ``tables/test_record_model.py``, on the pages by
#: ``tests/gui/test_live_models.py``; the others here
KINDS = {"_Rows", "KeyedRows", "RecordModel", "Rows", "SheetModel", "TypeNames"}
#: how a class begins: its name, its bases
HEAD = re.compile(r"^ *class (\w+)\(([^)]*)\)", re.MULTILINE)


@contextmanager
def watched(model: QAbstractItemModel) -> Iterator[Callable[[], bool]]:
    """A complaint of the tester is a warning of Qt, which fails the test. Gives: whether who hears of rows that come
    and go knows how many there are.
    """
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    known = [model.rowCount()]
    for told in (model.modelReset, model.rowsInserted, model.rowsRemoved):
        told.connect(lambda *_what: known.append(model.rowCount()))
    yield lambda: known[-1] == model.rowCount()
    assert tester.model() is model
    tester.deleteLater()


def test_no_kind_of_model_is_without_its_test() -> None:
    """One more kind needs its line here, and a test under the tester."""
    texts = [path.read_text(encoding="utf-8") for room in ("views", "console") for path in (ROOT / room).rglob("*.py")]
    kinds = [(name, re.findall(r"\w+", bases)) for text in texts for name, bases in HEAD.findall(text)]
    found: set[str] = set()
    while more := {name for name, bases in kinds if name not in found and made_of(bases, found)}:
        found |= more
    assert found == KINDS


def made_of(bases: list[str], known: set[str]) -> bool:
    """Whether one of the bases is an item model, or a proxy of one."""
    return any(base in known or (base.startswith("Q") and base.endswith("Model")) for base in bases)


ENTRIES = st.lists(
    st.one_of(
        st.sampled_from(["Commands", "Tasks"]),
        st.builds(Entry, key=st.sampled_from("abcdef"), kind=st.just("command"), words=st.text(max_size=3)),
    ),
    max_size=6,
)


@quick
@given(st.lists(ENTRIES, max_size=5))
def test_the_palette(answers: list[list[Entry | str]]) -> None:
    rows = Rows()
    with watched(rows) as told:
        for answer in answers:
            rows.show(answer)
            assert rows.rows() == tuple(answer)
            assert told()


CHOICES = st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=3)), max_size=6, unique_by=lambda one: one[0])


@quick
@given(st.lists(st.tuples(CHOICES, st.sampled_from("abcdefg")), max_size=8))
def test_the_field_of_one_of_many(steps: list[tuple[list[tuple[str, str]], str]]) -> None:
    field = FindField()
    with watched(field.model()) as told:
        for choices, chosen in steps:
            field.show_choices(choices)
            field.choose(chosen)
            assert field.model().rowCount() == len({key for key, _words in choices} | {chosen})
            assert told()
    field.deleteLater()


def orders(names: tuple[str, ...], numbers: list[int], lost: list[int], wrong: list[int], cell: str) -> Orders:
    rows = tuple(Row(number=number, cells=(cell,) * len(names)) for number in numbers if number not in lost)
    bad = tuple(BadRow(number=number, reason=Message("sheet.row")) for number in numbers if number in lost)
    faults = tuple(
        Fault(row=number, column=names[0], field="shop", value=cell, reason=Message("sheet.row")) for number in wrong
    )
    return Orders(table=Table(name="t", columns=names, rows=rows, bad=bad), columns=(), faults=faults)


NUMBERS = st.lists(st.integers(1, 6), max_size=5, unique=True).map(sorted)
#: often the same rows with other cells and other faults
SHEETS = st.builds(
    orders,
    st.sampled_from([("a", "b"), ("a", "b"), ("c",)]),
    st.sampled_from([[1, 2, 3, 4], [1, 2, 3, 4], [2, 3], []]),
    st.sampled_from([[], [], [2]]),
    NUMBERS,
    st.text(max_size=2),
)


@quick
@given(st.lists(st.one_of(SHEETS, st.booleans(), NUMBERS.map(frozenset)), max_size=10))
def test_the_rows_of_a_file(steps: list[Orders | bool | frozenset[int]]) -> None:
    model = SheetModel()
    with watched(model) as told:
        for step in steps:
            if isinstance(step, Orders):
                model.show_orders(step)
            elif isinstance(step, bool):
                model.set_only(ERRORS if step else ALL)
            else:
                model.set_looking(step)
            assert told()


STATES = (states.WAITING, states.OPEN, states.ANSWERED, states.MUTED, states.CALMING, states.RESOLVED)
NOWS = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(STATES)), max_size=6, unique_by=lambda one: one[0])


@quick
@given(st.lists(st.tuples(NOWS, st.booleans()), max_size=8))
def test_the_incidents(steps: list[tuple[list[tuple[str, str]], bool]]) -> None:
    model = RecordModel(INCIDENTS, key=key_of, hold_new=False, sentence=words.sentence)
    stands: dict[str, str] = {}
    with watched(model) as told:
        for step, again in steps:
            nows = {f"INC-{key}": IncidentNow(incident=incident(key), state=state) for key, state in step}
            stands = grouped(list(nows.values()), {} if again else stands)
            model.apply([nows[key] for key in stands], settle=True)
            model.set_headings(headings(stands, model.records()))
            groups = [stands[str(model.key_at(row))] for row in range(model.rowCount())]
            begins = [row for row, group in enumerate(groups) if group not in groups[:row]]
            assert set(stands) == set(nows)
            assert sorted(groups, key=[name for name, _said in GROUPS].index) == groups, "each group stands together"
            assert [model.key_at(row) for row in begins] == list(model.headings)
            assert told()


def incident(key: str) -> Incident:
    return Incident(id=f"INC-{key}", key=key, rule=DEFAULTS[0], words=Words(title=Message("alert.line_raised")))


@quick
@given(codes=st.lists(st.text("abc_", min_size=1, max_size=4), unique=True, max_size=6))
def test_names_of_task_types(codes: list[str]) -> None:
    model = TypeNames(sorted(codes))
    with watched(model) as agrees:
        assert agrees()
        assert [model.data(model.index(row, 0)) for row in range(model.rowCount())] == sorted(codes)
        assert all(model.code(code) == code for code in codes)
        assert model.code("none of them") == ""
