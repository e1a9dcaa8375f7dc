"""A page that is too high for one picture where Chromium has no memory for the largest: a driver in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from playwright.async_api import Error, Page, async_playwright

from services.executors.browser import orders
from services.executors.browser.attempt import Attempt
from services.executors.browser.installation import program
from services.executors.browser.launch import Chromium
from services.executors.browser.pool import Lease
from services.settings.browser import BrowserSettings

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
HIGH = 70_000


async def pictured(folder: Path, told: list[orders.Word]) -> None:
    """Take a picture of a high page, as a step of a flow does."""
    settings = BrowserSettings()
    order = orders.RunAttempt(
        token="t", task_id="t", task_type="browser_flow", platform="pdd", shop_id="s1",
        payload=msgspec.Raw(b'{"steps": []}'), folder=str(folder),
    )  # fmt: skip
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=program(settings, None), args=["--no-sandbox"])
        page = await browser.new_page()
        await page.set_content(f"<body style='margin:0'><p style='margin:0;height:{HIGH}px'>top</p>")
        lease = Lease(cast(Chromium, None), page.context, page)
        await Attempt(order, lease, settings, told.append).picture("all.png", "all", full_page=True)
        await browser.close()


@pytest.mark.usefixtures("_chromium")
def test_where_there_is_no_memory_for_the_largest_picture_it_is_cut_further_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, asked, told = Page.screenshot, list[float](), list[orders.Word]()

    async def of_little(page: Page, **words: Any) -> bytes:
        asked.append(words["clip"]["height"])
        if asked[-1] > 16_384:
            raise Error("Page.screenshot: Protocol error (Page.captureScreenshot): Unable to capture screenshot")
        return await take(page, **words)

    monkeypatch.setattr(Page, "screenshot", of_little)
    asyncio.run(pictured(tmp_path, told))
    assert asked == [60_000, 16_384]
    (file,) = (one for one in told if isinstance(one, orders.File))
    assert int.from_bytes(Path(file.path).read_bytes()[20:24]) == 16_384
    (line,) = (one.text for one in told if isinstance(one, orders.Log))
    assert "16384" in line
    assert "60000" not in line
