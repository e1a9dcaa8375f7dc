"""One browser host for all tests of this folder, and a site that behaves and misbehaves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.executors.base import Outcome
from services.executors.browser.executor import NAMES, BrowserExecutor
from services.settings.browser import BrowserSettings
from tests.support.browser_lab import PASSWORD, Lab
from tests.unit.services.executors.builders import Listener, job

SECRETS = {"password": PASSWORD, "pin": 'a"b<c&d 9'}


class Desk:
    """Runs flows and keeps what the last one said."""

    def __init__(self, folder: Path, lab: Lab, **settings: Any) -> None:
        self.folder, self.lab = folder, lab
        (folder / "uploads").mkdir(parents=True, exist_ok=True)
        (folder / "uploads" / "prices.csv").write_text("a,b", encoding="utf-8")
        chosen: dict[str, Any] = {
            "sites": {"pdd": lab.front.url, "lab": lab.url},
            "max_total": 2,
            "step_seconds": 20.0,
            "download_mb": 1.0,
            "upload_folder": str(folder / "uploads"),
        }
        self.executor = BrowserExecutor(
            BrowserSettings(**(chosen | settings)),
            profiles=folder / "profiles",
            secret=lambda platform, shop_id, name: SECRETS.get(name),
            light=lambda task_type: task_type == "light",
            base_environment=os.environ,
            debug_port=True,
        )
        self.listener = Listener()

    def run(self, *steps: dict[str, Any], kind: str = "browser_flow", shop: str = "s1", **payload: Any) -> Outcome:
        """One flow against the lab; a first path is opened there."""
        platform = payload.pop("platform", "lab")
        timeout = payload.pop("timeout_s", 120.0)
        body = {"steps": list(steps), **payload} if steps else payload
        self.listener = Listener()
        work = job(kind, platform=platform, shop_id=shop, payload=body, timeout_s=timeout)
        return self.executor.run(work, self.listener.context)

    @property
    def files(self) -> dict[str, tuple[bytes, str, str]]:
        """Content, kind and step of what the last flow left, by name."""
        return self.listener.files.kept

    def close(self) -> None:
        """End the browsers."""
        self.executor.close()


@pytest.fixture(scope="session")
def _chromium() -> None:
    if not any(shutil.which(name) for name in NAMES):
        if os.environ.get("CI"):
            raise AssertionError("there is no Chromium; install the package chromium")
        pytest.skip("there is no Chromium here")


@pytest.fixture(scope="module")
def lab(_chromium: None) -> Iterator[Lab]:
    """The site."""
    lab = Lab()
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def desk(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An executor at work."""
    desk = Desk(tmp_path_factory.mktemp("browser"), lab)
    yield desk
    desk.close()
