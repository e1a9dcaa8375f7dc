"""What may be promised, and when it holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services import messages
from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import promise as promises
from services.domain.promises.promise import AGE, BY, Promise

ZONE = "Europe/Berlin"


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(ZONE)).timestamp() * 1000)


def promise(**fields: Any) -> Promise:
    return Promise(**{"name": "orders", "task_type": "sync_order", "limit_s": 3600, "all_shops": True, **fields})


def by(**fields: Any) -> Promise:
    return promise(kind=BY, limit_s=0, **fields)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"task_type": "a b"}, "type"),
        ({"kind": "soon"}, "limit"),
        ({"limit_s": 59}, "limit"),
        ({"limit_s": 32 * 86_400}, "limit"),
        ({"kind": BY}, "limit"),
        ({"window": Weekly(days=(), start=0, end=60)}, "days"),
        ({"window": Weekly(days=(0,), start=60, end=60)}, "hours"),
        ({"kind": BY, "limit_s": 0, "window": Weekly(days=(0,), start=60, end=60)}, "by"),
        ({"all_shops": False}, "shop"),
        ({"shops": ("pdd:1",)}, "shop"),
        ({"owner": "x" * 500}, "owner"),
        ({"note": "\x00"}, "note"),
    ],
)
def test_what_cannot_be_promised_is_refused_by_the_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as refused:
        promises.check(promise(**fields))
    assert refused.value.field == field
    assert str(refused.value)


def test_a_stored_one_is_read_as_it_was_written() -> None:
    one = by(window=Weekly(days=(0, 4), start=60, end=480), groups=("vip",), all_shops=False, owner="ann", version=3)
    assert promises.DOCUMENT.load(promises.DOCUMENT.dump(one)) == one
    for body in ("", "[]", "{}", '{"name": "x", "task_type": "work"}'):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever is wrong with it
            promises.DOCUMENT.load(body)


@pytest.mark.parametrize(
    ("text", "found"), [("daily", (0, 1, 2, 3, 4, 5, 6)), ("mon-wed", (0, 1, 2)), ("sun,sat", (5, 6))]
)
def test_days_are_read(text: str, found: tuple[int, ...]) -> None:
    assert promises.days(text) == found


def test_the_sentence_says_it_all() -> None:
    def said(one: Promise) -> str:
        return ", ".join(messages.english(part) for part in promises.sentence(one))

    assert said(promise()) == "sync_order never older than 60 min, every shop"
    nightly = promise(window=Weekly(days=(5, 6), start=120, end=360), platforms=("pdd",), groups=("vip",))
    assert said(nightly) == (
        "sync_order never older than 60 min, every shop of pdd in vip, from 02:00 to 06:00, on sat,sun"
    )
    assert said(by(window=Weekly(days=(0, 1, 2, 3, 4), start=0, end=480), shops=("pdd:1", "pdd:2"))) == (
        "sync_order done by 08:00, 2 shops, on mon-fri"
    )
    assert said(by(window=Weekly(days=tuple(range(7)), start=60, end=480))).startswith(
        "sync_order done between 01:00 and 08:00"
    )


def test_the_days_of_an_hour_are_those_on_which_it_comes() -> None:
    """Also where the work begins on the evening before."""
    monday = by(window=Weekly(days=(0,), start=22 * 60, end=60))
    found = promises.windows(monday, ZONE, at("2026-11-20"), at("2026-11-25"))
    assert found == [(at("2026-11-22T22:00"), at("2026-11-23T01:00"))]
    nights = promise(kind=AGE, window=Weekly(days=(0,), start=22 * 60, end=60))
    assert promises.windows(nights, ZONE, at("2026-11-20"), at("2026-11-25")) == [
        (at("2026-11-23T22:00"), at("2026-11-24T01:00"))
    ]


def test_windows_follow_the_clocks_of_the_zone() -> None:
    morning = by(window=Weekly(days=tuple(range(7)), start=0, end=480))
    (day,) = promises.windows(morning, ZONE, at("2026-03-29T05:00"), at("2026-03-29T06:00"))
    assert day == (at("2026-03-29T00:00"), at("2026-03-29T08:00"))
    assert day[1] - day[0] == 7 * 3_600_000  # the clock has skipped an hour


def test_hours_are_read_as_chinese_keyboards_write_them() -> None:
    assert promises.hour("０８：３０", "by") == promises.hour("08:30", "by") == 510
    for dash in ("-", "－", "–", "—", "——", "~", "～", "至", " 至 "):
        assert promises.hours(f"08：00{dash}23:00") == promises.hours("08:00-23:00") == (480, 1380)
    for text in ("08:00", "08:00-12:00-23:00", "-", "08:00至"):
        with pytest.raises(UsageError, match="08:00"):
            promises.hours(text)
