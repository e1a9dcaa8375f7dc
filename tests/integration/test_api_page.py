"""Every line for curl of the page on other programs is typed as it stands there, against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.e2e.readme.blocks import all_commands
from tests.integration.api_rig import Api, serving
from tests.integration.fleet_rig import Fleet, define

PAGES = ("resources/docs/api.md", "resources/docs/api.zh-CN.md")
LINES = sorted({one.text for one in all_commands() if one.page in PAGES and one.text.startswith("curl ")})


@pytest.fixture
def api(fleet: Fleet) -> Iterator[Api]:
    fleet.shop("s1")
    define(fleet, "sync_order")
    with serving(fleet) as found:
        yield found


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="no curl on this machine")
def test_every_line_for_curl_is_answered(api: Api) -> None:
    environment = {**os.environ, "TOKEN": api.token("operator"), "no_proxy": "127.0.0.1"}
    assert len(LINES) > 5
    for line in LINES:
        assert "http://127.0.0.1:8765/" in line
        typed = line.replace("http://127.0.0.1:8765", api.address).replace("curl -s ", "curl -s --fail-with-body ")
        said = subprocess.run(
            ["bash", "-c", typed], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert said.returncode == 0, (line, said.stdout, said.stderr)
        assert said.stdout, line
