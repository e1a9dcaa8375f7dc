"""A shop's browser for a person who logs in: the shop's own profile, until the person closes the window."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from playwright.async_api import BrowserContext, Error, Page, async_playwright

from services.domain.task import classify, ids
from services.domain.types import linear
from services.executors.browser import installation
from services.executors.browser.actions import visible
from services.executors.browser.launch import Chromium, Launcher
from services.executors.browser.profile import Profile, ProfileInUse
from services.settings.browser import BrowserSettings

_LOOK_S, _RETRY_S = 0.5, 0.25


class NoWindow(Exception):
    """The browser could not be opened; the text says why."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """``logged_in``: the last look found pages, and none that asked for a login or showed a captcha."""

    logged_in: bool
    url: str = ""  #: of the page in front, without what stands behind "?"


class LoginWindow:
    """Opened once; belongs to the thread that calls ``show``."""

    def __init__(self, settings: BrowserSettings, profiles: Path, program: str, *, headless: bool = False) -> None:
        self._settings = msgspec.structs.replace(settings, headless=headless)
        self._profiles, self._program = profiles, program
        self._login = linear.compiled(settings.login_pages, ignore_case=True) if settings.login_pages else None
        self._seen = Seen(logged_in=False)

    def show(
        self, platform: str, shop_id: str, url: str, *, stop: threading.Event, told: Callable[[Seen], None]
    ) -> Seen:
        """Open it and wait until the person closes it, or ``stop``. ``told`` hears of each change of what is seen.

        Raises:
            NoWindow: another process works in the profile, or Chromium does not start.
        """
        folder = tempfile.mkdtemp(prefix="fleetdeck-login-")
        try:
            return asyncio.run(self._show(folder, platform, shop_id, url, stop, told))
        except (Error, OSError, TimeoutError) as exc:
            raise NoWindow(f"Chromium did not start: {str(exc).strip()[-1500:]}") from exc
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _show(
        self,
        folder: str,
        platform: str,
        shop_id: str,
        url: str,
        stop: threading.Event,
        told: Callable[[Seen], None],
    ) -> Seen:
        setup = installation.setup(self._settings, self._program, self._profiles, folder)
        async with async_playwright() as playwright:
            launcher = Launcher(playwright, setup)
            browser = await self._start(launcher, platform, shop_id)
            try:
                context = await browser.context()
                page = context.pages[0] if context.pages else await context.new_page()
                if url:
                    with contextlib.suppress(Error):  # the person sees what is wrong with it
                        await page.goto(url, wait_until="commit")
                    trouble = browser.guard.trouble(url) if browser.guard else None
                    if trouble and trouble.kind in classify.PERMANENT:  # Chromium's own page tells a number
                        raise NoWindow(trouble.text)
                while not browser.gone and not stop.is_set():
                    await self._look(context, told)
                    await browser.keep_cookies()
                    await asyncio.sleep(_LOOK_S)
            finally:
                await browser.close()
                launcher.close()
        return self._seen

    async def _start(self, launcher: Launcher, platform: str, shop_id: str) -> Chromium:
        """The browser, once nobody else works in the profile; an idle one of a worker gives way."""
        profile = Profile(self._profiles / ids.profile_id(platform, shop_id))
        until = time.monotonic() + self._settings.acquire_seconds
        with profile.wish():
            while True:
                try:
                    return await launcher.launch(platform, shop_id)
                except ProfileInUse:
                    if time.monotonic() > until:
                        why = (
                            f"a task of {platform}:{shop_id} works in its browser; wait for its end, or pause the shop"
                        )
                        raise NoWindow(why) from None
                    await asyncio.sleep(_RETRY_S)

    async def _look(self, context: BrowserContext, told: Callable[[Seen], None]) -> None:
        with contextlib.suppress(Error):  # a page that is just closing
            pages = [page for page in context.pages if page.url not in ("", "about:blank")]
            if not pages:
                return
            asks = [page for page in pages if await self._asks(page)]
            front = (asks or pages[::-1])[0]
            seen = Seen(logged_in=not asks, url=front.url.partition("?")[0][:200])
            if seen != self._seen:
                self._seen = seen
                told(seen)

    async def _asks(self, page: Page) -> bool:
        if self._login is not None and self._login.search(page.url.partition("?")[0]):
            return True
        return bool(self._settings.captchas) and await visible(page, self._settings.captchas)
