"""The sample fleet: 60 shops on three platforms."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from services.domain.fleet import shop

SHOPS = Path(__file__).parents[3] / "resources" / "sample" / "shops.csv"
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with SHOPS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_sixty_shops_on_three_platforms(rows: list[dict[str, str]]) -> None:
    assert Counter(row["platform"] for row in rows) == {"pdd": 30, "temu": 18, "tiktok": 12}


def test_every_field_is_usable(rows: list[dict[str, str]]) -> None:
    for row in rows:
        assert list(row) == ["platform", "shop_id", "name", "name_en", "group", "concurrency", "dedicated", "enabled"]
        assert shop.valid_word(row["platform"])
        assert shop.valid_shop_id(row["shop_id"])
        assert row["shop_id"].startswith({"pdd": "pdd-", "temu": "temu-", "tiktok": "tts-"}[row["platform"]])
        assert row["group"]
        assert 1 <= int(row["concurrency"]) <= 4
        assert row["dedicated"] in ("true", "false")
        assert row["enabled"] == "true"


def test_ids_and_names_are_unique(rows: list[dict[str, str]]) -> None:
    for column in ("shop_id", "name", "name_en"):
        assert len({row[column] for row in rows}) == 60


def test_names_in_both_languages(rows: list[dict[str, str]]) -> None:
    assert all(row["name_en"].isascii() for row in rows)
    assert all(CHINESE.search(row["name"]) for row in rows if row["platform"] == "pdd")
    others = [row["name"] for row in rows if row["platform"] != "pdd"]
    assert 0 < sum(bool(CHINESE.search(name)) for name in others) < len(others) / 2
