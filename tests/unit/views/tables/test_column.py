"""What a column says about a cell."""

from __future__ import annotations

from views.tables.column import TICK, Attempts, Column, Progress, tick_column


def test_no_value_is_blank() -> None:
    column = Column[dict[str, object]](key="a", title="A", value=lambda row: row.get("a"))
    assert column.display({}) == ""
    assert column.display({"a": 0}) == "0"


def test_text_and_tone_may_depend_on_the_record() -> None:
    column = Column[int](
        key="n", title="N", value=lambda n: n, text=lambda n: f"{n} s", tone=lambda n: "dead" if n > 1 else "text"
    )
    assert column.display(2) == "2 s"
    assert column.role_of(2) == "dead"
    assert column.fingerprint(2) != column.fingerprint(1)


def test_what_is_compared_is_worked_out_once() -> None:
    asked: list[int] = []

    def value(n: int) -> Progress:
        asked.append(n)
        return Progress(text="waits" if n < 3 else "runs", role="text2" if n < 2 else "retrying")

    column = Column[int](key="p", title="P", value=value, kind="progress")
    assert len({column.fingerprint(n) for n in (1, 2, 3)}) == 3
    assert asked == [1, 2, 3]
    asked.clear()
    assert column.differs(1, 2)
    assert not column.differs(2, 2)
    assert asked == [1, 2, 2, 2]


def test_numbers_stand_at_the_right() -> None:
    assert Column[int](key="n", title="N", value=lambda n: n, kind="number").to_right
    assert Column[int](key="n", title="N", value=lambda n: n, align="right").to_right
    assert not Column[int](key="n", title="N", value=lambda n: n, kind="number", align="left").to_right


def test_values_read_as_text() -> None:
    assert str(Attempts(2, 3)) == "2/3"
    assert str(Progress(0.5, "50 %")) == "50 %"
    assert tick_column().key == TICK
