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

from services.domain.fleet.remote import PICTURE_BYTES
from services.domain.task import classify, ids, own_words
from services.domain.types import linear
from services.executors.browser import installation
from services.executors.browser.actions import visible
from services.executors.browser.launch import Chromium, Launcher, complaint
from services.executors.browser.profile import Profile, ProfileInUse
from services.settings.browser import BrowserSettings

_LOOK_S, _RETRY_S = 0.5, 0.25
#: what did not change is told again after so long; a picture that is not taken in time is left out
_STILL_S, _PICTURE_MS = 5.0, 4_000
#: a page that moves is pictured no more often than that: each picture goes through the store
_PICTURE_S = 2.0
#: what Chromium prints where nothing shows its window
_NO_SCREEN = "Missing X server or $DISPLAY"
_QUALITIES = (70, 35)


class NoWindow(Exception):
    """The browser could not be opened; the text says why."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """``logged_in``: the last look found pages, and none that asked for a login or showed a captcha."""

    logged_in: bool
    url: str = ""  #: of the page in front, without what stands behind "?"
    picture: bytes = b""  #: JPEG of that page, where pictures are wanted


class LoginWindow:
    """Opened once; belongs to the thread that calls ``show``."""

    def __init__(self, settings: BrowserSettings, profiles: Path, program: str, *, headless: bool = False) -> None:
        self._settings = msgspec.structs.replace(settings, headless=headless)
        self._profiles, self._program = profiles, program
        self._login = linear.compiled(settings.login_pages, ignore_case=True) if settings.login_pages else None
        self._seen = Seen(logged_in=False)
        self._pictures = False
        self._told = self._pictured = 0.0

    def show(
        self,
        platform: str,
        shop_id: str,
        url: str,
        *,
        stop: threading.Event,
        told: Callable[[Seen], None],
        pictures: bool = False,
        again: threading.Event | None = None,
    ) -> Seen:
        """Open it and wait until the person closes it, or ``stop``. ``told`` hears of each change of what is seen; with
        ``pictures`` also of each new look of the page, and every few seconds that it is still so. ``again`` loads the
        page anew, and is cleared by that.

        Raises:
            NoWindow: another process works in the profile, or Chromium does not start.
        """
        folder = tempfile.mkdtemp(prefix="fleetdeck-login-")
        self._pictures = pictures
        try:
            return asyncio.run(self._show(folder, platform, shop_id, url, stop, told, again or threading.Event()))
        except (Error, OSError, TimeoutError) as exc:
            words = str(exc)
            if _NO_SCREEN in words:
                raise NoWindow(own_words.write("own.no_screen")) from exc
            raise NoWindow(own_words.write("own.chromium_did_not", said=complaint(words))) from exc
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
        again: threading.Event,
    ) -> Seen:
        setup = installation.setup(self._settings, self._program, self._profiles, folder)
        async with async_playwright() as playwright:
            launcher = Launcher(playwright, setup)
            try:
                browser = await self._start(launcher, platform, shop_id)
                try:
                    await self._until_over(browser, url, stop, told, again)
                finally:
                    await browser.close()
            finally:
                launcher.close()
        return self._seen

    async def _until_over(
        self,
        browser: Chromium,
        url: str,
        stop: threading.Event,
        told: Callable[[Seen], None],
        again: threading.Event,
    ) -> None:
        context = await browser.context()
        page = context.pages[0] if context.pages else await context.new_page()
        if url:
            with contextlib.suppress(Error):  # the person sees what is wrong with it
                await page.goto(url, wait_until="commit")
            trouble = browser.guard.trouble(url) if browser.guard else None
            if trouble and trouble.kind in classify.PERMANENT:  # Chromium's own page tells a number
                raise NoWindow(trouble.text)
        while not browser.gone and not stop.is_set():
            if again.is_set():
                again.clear()
                await self._load_again(context)
                self._pictured = 0.0
            await self._look(context, told)
            await browser.keep_cookies()
            await asyncio.sleep(_LOOK_S)

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
                        raise NoWindow(own_words.write("own.task_in_profile", shop=f"{platform}:{shop_id}")) from None
                    await asyncio.sleep(_RETRY_S)

    async def _look(self, context: BrowserContext, told: Callable[[Seen], None]) -> None:
        with contextlib.suppress(Error):  # a page that is just closing
            pages = [page for page in context.pages if page.url not in ("", "about:blank")]
            if not pages:  # it is open all the same
                self._tell_still(told)
                return
            asks = [page for page in pages if await self._asks(page)]
            front = (asks or pages[::-1])[0]
            seen = Seen(logged_in=not asks, url=front.url.partition("?")[0][:200], picture=self._seen.picture)
            now = time.monotonic()
            if self._pictures and (seen != self._seen or now - self._pictured >= _PICTURE_S):
                self._pictured = now
                seen = msgspec.structs.replace(seen, picture=await self._picture(front))
            if seen != self._seen or (self._pictures and now - self._told > _STILL_S):
                self._seen, self._told = seen, now
                told(seen)

    def _tell_still(self, told: Callable[[Seen], None]) -> None:
        now = time.monotonic()
        if self._pictures and now - self._told > _STILL_S:
            self._told = now
            told(self._seen)

    async def _picture(self, page: Page) -> bytes:
        """The page as it looks now; the one of before where it does not hold still, nothing where it is too large."""
        for quality in _QUALITIES:
            try:
                found = await page.screenshot(type="jpeg", quality=quality, timeout=_PICTURE_MS)
            except Error:
                return self._seen.picture
            if len(found) <= PICTURE_BYTES:
                return found
        return b""

    async def _load_again(self, context: BrowserContext) -> None:
        with contextlib.suppress(Error, TimeoutError, IndexError):
            await context.pages[-1].reload(wait_until="commit", timeout=_PICTURE_MS)

    async def _asks(self, page: Page) -> bool:
        if self._login is not None and self._login.search(page.url.partition("?")[0]):
            return True
        return bool(self._settings.captchas) and await visible(page, self._settings.captchas)
