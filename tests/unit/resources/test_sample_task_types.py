"""The task types that a new store is seeded with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from services.domain.types import task_type

FOLDER = Path(__file__).parents[3] / "resources" / "task_types"
FILES = sorted(FOLDER.glob("*.json"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
EXAMPLES: dict[str, dict[str, Any]] = {
    "sync_order": {"since": "2026-11-20", "until": "2026-11-21", "status": ["paid", "shipped"], "page_size": 50},
    "refresh_goods": {"only_on_sale": True, "low_stock": 3},
    "batch_reply": {"text": "{buyer}，今天发货", "limit": 20, "message_ids": ["M00001"]},
    "screenshot": {"url": "/pdd/pdd-10021/orders", "full_page": True, "wait_for": ".order-list__row"},
    "get_content": {"url": ""},
    "single_product": {"goods_id": "G0003"},
    "batch_products": {"goods_ids": ["G0001", "G0003"]},
    "search_keywords": {"keywords": ["mug", "茶"], "limit": 5},
    "full_sync": {"since": "2026-11-20", "page_size": 50},
    "shop_crawl": {"max_products": 10},
    "send_welcome_email": {"template": "coupon", "language": "zh_CN", "since": "2026-11-01"},
    "browser_flow": {"steps": [{"do": "goto", "url": "/"}, {"do": "extract", "as": "name", "selector": "h1"}]},
}
REFUSED: dict[str, list[dict[str, Any]]] = {
    "sync_order": [
        {"page_size": 0},
        {"page_size": 101},
        {"page_size": "50"},
        {"status": ["lost"]},
        {"since": 20261120},
    ],
    "refresh_goods": [{"low_stock": -1}, {"only_on_sale": "yes"}],
    "batch_reply": [{}, {"text": ""}, {"text": "  "}, {"text": "hi", "mesage_ids": ["M1"]}, {"text": "hi", "limit": 0}],
    "screenshot": [{"wait_for": "div > .row"}, {"full_page": 1}],
    "get_content": [{"url": 5}],
    "single_product": [{}, {"goods_id": "../G1"}],
    "batch_products": [{}, {"goods_ids": []}, {"goods_ids": ["../G1"]}, {"goods_ids": "G1"}],
    "search_keywords": [{}, {"keywords": [" "]}, {"keywords": ["a"], "limit": 0}],
    "full_sync": [{"page_size": 0}, {"since": 20261120}],
    "shop_crawl": [{"max_products": 0}],
    "send_welcome_email": [{"template": "spam"}, {"language": "fr"}],
    "browser_flow": [{}, {"steps": []}, {"steps": [{"do": "goto"}]}, {"steps": [{"do": "fly"}]}],
}


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_the_sample_types_are_there() -> None:
    assert {path.stem for path in FILES} == set(EXAMPLES)
    for path in FILES:
        assert task_type.parse(path.read_bytes()).name == path.stem


def test_schema_is_valid(document: dict[str, Any]) -> None:
    assert document["schema"]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(document["schema"])


def test_both_languages(document: dict[str, Any]) -> None:
    for key in ("title", "description"):
        assert document[key]["en"].isascii()
        assert CHINESE.search(document[key]["zh_CN"])
    for name, field in document["schema"]["properties"].items():
        for key in ("title", "description"):
            assert field[key].isascii(), name
            assert CHINESE.search(field[f"x-{key}-zh"]), name


def test_every_choice_is_named_in_both_languages(document: dict[str, Any]) -> None:
    for choice in _choices(document["schema"]["properties"]):
        assert len(choice["enum"]) == len(choice["x-enum-titles"]) == len(choice["x-enum-titles-zh"])
        assert all(CHINESE.search(text) for text in choice["x-enum-titles-zh"])


def test_defaults_are_valid(document: dict[str, Any]) -> None:
    for field in document["schema"]["properties"].values():
        if "default" in field:
            jsonschema.Draft202012Validator(field).validate(field["default"])


def test_payloads(document: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(document["schema"])
    validator.validate(EXAMPLES[document["name"]])
    for payload in REFUSED[document["name"]]:
        assert not validator.is_valid(payload), payload


def test_policy(document: dict[str, Any]) -> None:
    in_browser = document["name"] in ("browser_flow", "screenshot", "get_content")
    assert document["executor"] == ("browser" if in_browser else "rpa")
    assert document["max_retries"] == 3
    assert 0 < document["expected_s"] < document["timeout_s"]
    assert document["idempotent"] is (document["name"] != "batch_reply")
    assert (document["uniqueness"] == "shop_type") is (document["name"] in ("sync_order", "full_sync"))


def _choices(properties: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for field in properties.values():
        for part in (field, field.get("items", {})):
            if "enum" in part:
                yield part
