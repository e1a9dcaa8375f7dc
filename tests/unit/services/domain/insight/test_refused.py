from __future__ import annotations

from typing import Any

import pytest

from services.domain.insight.cause import pattern, refused_field
from services.domain.insight.refused import Place, places
from services.domain.task import classify

DEEP: dict[str, Any] = {"shops": [{"id": 1}, {"id": 2, "range": {"since": "2026-13-40"}}], "page_size": 50}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("page_size", ["page_size"]),
        ("payload.page_size", ["page_size"]),
        ("shops[1].range.since", ["shops[1].range.since"]),
        ("payload.shops.1.range.since", ["shops[1].range.since"]),
        ("since", ["shops[1].range.since"]),
        ("range.since", ["shops[1].range.since"]),
        ("id", ["shops[0].id", "shops[1].id"]),
        ("", []),
    ],
)
def test_a_field_is_found_at_every_depth(name: str, found: list[str]) -> None:
    assert [one.name for one in places(DEEP, name)] == found
    assert not any(one.missing for one in places(DEEP, name))


def test_a_field_that_is_nowhere_has_the_place_that_it_would_have() -> None:
    assert places(DEEP, "payload.until") == (Place(path=("until",), missing=True),)
    assert places(DEEP, "shops[0].range.since") == (Place(path=("shops", 0, "range", "since"), missing=True),)
    form = {"properties": {"shops": {}, "window": {"type": "object", "properties": {"until": {"type": "string"}}}}}
    assert places(DEEP, "until", form) == (Place(path=("window", "until"), missing=True),)
    assert places("no object", "until", {"properties": True}) == (Place(path=("until",), missing=True),)


def test_a_field_that_is_called_payload_is_taken_for_itself() -> None:
    assert places({"data": {"a": 1}}, "data.a") == (Place(path=("data", "a")),)


def test_the_field_of_an_error_is_whole_where_its_title_is_cut() -> None:
    deep = ".".join(["platform_settings", "warehouses[12]", "replenishment", "thresholds", "low_stock"])
    error = f"BadPayload: payload.{deep}: 'x' is not a number"
    assert refused_field(error) == deep
    assert pattern(classify.BAD_PAYLOAD, error).endswith("…")
    assert refused_field("BadPayload: no") == ""
