"""A payload with several faults is refused with all of them, each with its place."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.cli_rig import Cli, configure

BAD = {
    "steps": [
        {"do": "goto", "url": "javascript:alert(1)"},
        {"do": "if_visible", "selector": "#a", "then": [{"do": "fill", "selector": "#b", "value": "{{payload.gone}}"}]},
        {"do": "extract", "as": "rows"},
    ]
}
PLACES = ["steps[0].url", "steps[1].then[0].value", "steps[2].selector"]


def test_every_fault_of_a_flow_is_told_with_its_place(tmp_path: Path) -> None:
    configure(tmp_path / "home")
    cli = Cli(tmp_path / "home")
    words = ("task", "create", "--shop", "pdd:s1,pdd:s2", "--type", "browser_flow", "--payload", json.dumps(BAD))
    refused = cli.run(*words, "--yes", code=2)
    assert refused["created"] == []
    fields = [one["field"] for one in refused["errors"]]
    assert fields == [*PLACES, PLACES[0]], "all of them, once for what is the same in every shop"
    assert all(one["error"].startswith(f"{one['field']}: ") for one in refused["errors"])
    said = cli.call(*words, "--yes").stdout
    assert all(f"error: {place}: " in said for place in PLACES)
    # without an address it is the home page of the platform's site: which worker has one, only workers know
    assert cli.run("task", "create", "--shop", "pdd:s1", "--type", "screenshot", "--payload", "{}")["created"]


def test_a_payload_nested_too_deeply_and_a_shop_that_is_not_there_are_told(tmp_path: Path) -> None:
    configure(tmp_path / "home")
    cli = Cli(tmp_path / "home")
    shops = tmp_path / "shops.csv"
    shops.write_text("platform,shop_id\npdd,pdd-1001\n", encoding="utf-8")
    cli.call("shop", "import", str(shops))
    words = ("task", "create", "--type", "sync_order", "--shop")
    for levels in (100, 500, 2_000):
        payload = '{"a":' * levels + "1" + "}" * levels
        refused = cli.call(*words, "pdd-1001", "--payload", payload)
        assert refused.returncode == 2
        assert "nested" in refused.stdout + refused.stderr
        assert "Traceback" not in refused.stderr
    unknown = cli.call(*words, "pdd-1010").stderr
    assert "shop 'pdd-1010' is not registered; give --platform too" in unknown
    assert "did you mean pdd-1001?" in unknown
