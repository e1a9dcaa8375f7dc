"""Starts Chromium for a shop's profile or for light contexts, and is the handle of what was started."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
import urllib.parse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser, BrowserContext, Error, Page, Playwright

from services.domain.task import ids
from services.executors.browser import guard
from services.executors.browser.guard import Guard
from services.executors.browser.orders import Setup
from services.executors.browser.profile import Profile, running_on
from services.executors.offspring import offspring
from services.settings.browser import BrowserShopSettings

log = logging.getLogger(__name__)
ARGUMENTS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-crash-restore-bubble",
    # what goes neither through a proxy nor by TCP would pass the guard by
    "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)  # fmt: skip
LAUNCH_S, PAGE_S, CLOSE_S = 60.0, 15.0, 8.0
#: characters of why it did not start
MOST = 500
#: what Chromium itself printed, in what the driver tells of a start: without its process, time and place in the source
_PRINTED = re.compile(r"\[err\] (?:\[[\d:/.]+:[A-Z]+:[^\]]*\] )?(.+)")
#: what it prints at every start on a machine without a desktop, and starts all the same
_HARMLESS = re.compile(r"connect to (?:the bus|socket \S*dbus)|org\.freedesktop\.DBus", re.IGNORECASE)


def complaint(told: str) -> str:
    """Why Chromium did not start, of all that the driver tells of that: its command line is longer than what is read of
    a message. What it printed last stands last.
    """
    printed = [one for one in dict.fromkeys(_PRINTED.findall(told)) if not _HARMLESS.search(one)]
    return " · ".join(printed)[-MOST:] if printed else told.strip().partition("\n")[0][:MOST]


class Chromium:
    """One running Chromium: with a shop's profile, or shared by light contexts where ``profile`` is None."""

    def __init__(
        self,
        key: str,
        owner: BrowserContext | Browser,
        profile: Profile | None,
        folder: Path,
        guard: Guard | None = None,
    ) -> None:
        self.guard = guard  #: what its network goes through
        self.key, self.profile, self.downloads = key, profile, folder / "downloads"
        self._owner = owner
        self._process: psutil.Process | None = None
        self.born, self.used = time.monotonic(), time.monotonic()
        self.uses = 0
        self.memory = -1.0  #: MB, when it was measured last
        self.gone = False
        self._folder = profile.folder if profile else folder
        if isinstance(owner, BrowserContext):
            owner.on("close", lambda _: self._has_gone())
        else:
            owner.on("disconnected", lambda _: self._has_gone())

    def _has_gone(self) -> None:
        self.gone = True

    def find_process(self, before: set[int]) -> None:
        """Remember which process it is; ``before`` are the children that were there earlier."""
        mine = f"--user-data-dir={self._folder}" if self.profile else "playwright_chromiumdev_profile"
        for child in offspring(psutil.Process()):
            with contextlib.suppress(psutil.Error, OSError):
                line = "\0".join(child.cmdline())
                if child.pid not in before and mine in line and "--type=" not in line:
                    self._process = child
                    return

    @property
    def pid(self) -> int:
        """Its process, 0 where it was not found."""
        return self._process.pid if self._process else 0

    @property
    def version(self) -> str:
        """Which Chromium it is, "" where it does not tell."""
        browser = self._owner.browser if isinstance(self._owner, BrowserContext) else self._owner
        return browser.version if browser is not None else ""

    async def context(self, **options: Any) -> BrowserContext:
        """The profile's context, or a new light one.

        Raises:
            Error: Chromium does not answer.
        """
        if isinstance(self._owner, BrowserContext):
            return self._owner
        return await asyncio.wait_for(self._owner.new_context(**options), PAGE_S)

    def memory_mb(self) -> float:
        """What its processes hold that nobody shares with them."""
        total = 0
        with contextlib.suppress(psutil.Error):
            if self._process is not None:
                for one in (self._process, *offspring(self._process)):
                    with contextlib.suppress(psutil.Error):
                        memory = one.memory_info()
                        total += memory.rss - getattr(memory, "shared", 0)
        return total / 2**20

    def debug_port(self) -> int:
        """Where other programs attach, 0 where it was started without."""
        try:
            return int((self._folder / "DevToolsActivePort").read_text(encoding="ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return 0

    async def keep_cookies(self) -> None:
        """Write its cookies beside the profile."""
        if self.profile is not None and not self.gone and isinstance(self._owner, BrowserContext):
            with contextlib.suppress(Error, TimeoutError):
                cookies = await asyncio.wait_for(self._owner.cookies(), 5)
                self.profile.keep_cookies([dict(cookie) for cookie in cookies])

    async def close(self) -> None:
        """End it, by force if it does not end when asked, and leave its profile."""
        try:
            if not self.gone:
                async with asyncio.timeout(CLOSE_S):
                    await self._owner.close()
        except (Error, TimeoutError) as exc:
            log.warning("%s did not close: %s", self.key or "the shared browser", exc)
        finally:
            await asyncio.to_thread(self.kill)
            if self.profile is not None:
                self.profile.leave()

    def kill(self, wait_s: float = 3.0) -> None:
        """End its processes now; nothing happens where they have ended."""
        process = self._process
        if process is None and self.profile is not None:
            process = next(iter(running_on(self.profile.folder)), None)
        if process is None:
            return
        with contextlib.suppress(psutil.Error):
            members = [process, *offspring(process)]
            for one in members:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            if wait_s:
                psutil.wait_procs(members, wait_s)


class Launcher:
    """Knows how Chromium is started on this machine."""

    def __init__(self, playwright: Playwright, setup: Setup) -> None:
        self._chromium = playwright.chromium
        self._setup, self._settings = setup, setup.settings
        self._number = 0
        self._rules = guard.rules_of(setup.settings)
        self._guards: dict[str, Guard] = {}  #: by the proxy that they go through

    async def launch(self, platform: str, shop_id: str) -> Chromium:
        """Chromium on the shop's profile.

        Raises:
            ProfileInUse: another process has the profile.
            Error, OSError: it does not start.
        """
        profile = Profile(Path(self._setup.profiles) / ids.profile_id(platform, shop_id))
        await asyncio.to_thread(profile.take)
        try:
            folder = self._new_folder()
            before = _children()
            (profile.folder / "DevToolsActivePort").unlink(missing_ok=True)
            context = await self._chromium.launch_persistent_context(
                str(profile.folder), **self._start_options(folder), **await self.context_options(platform, shop_id)
            )
        except BaseException:
            for stray in await asyncio.to_thread(running_on, profile.folder):
                with contextlib.suppress(psutil.Error):
                    stray.kill()
            profile.leave()
            raise
        made = Chromium(f"{platform}:{shop_id}", context, profile, folder, self._guard(platform, shop_id))
        await asyncio.to_thread(made.find_process, before)
        with contextlib.suppress(Error, TypeError, ValueError):  # a file of another version is no reason to fail
            await context.add_cookies(profile.cookies())
        return made

    async def launch_shared(self) -> Chromium:
        """Chromium for light contexts, whose profile is thrown away.

        Raises:
            Error, OSError: it does not start.
        """
        folder = self._new_folder()
        before = _children()
        browser = await self._chromium.launch(**self._start_options(folder))
        made = Chromium("", browser, None, folder, self._guard("", ""))
        await asyncio.to_thread(made.find_process, before)
        return made

    def close(self) -> None:
        """End what guards the browsers."""
        for one in self._guards.values():
            one.close()

    async def context_options(self, platform: str, shop_id: str) -> dict[str, Any]:
        """Proxy, user agent, screen and language of a shop.

        Raises:
            OSError: what guards it does not start.
        """
        common = self._settings
        own = self._own(platform, shop_id)
        width, _, height = (own.viewport or common.viewport).partition("x")
        options: dict[str, Any] = {"accept_downloads": True, "locale": own.locale or common.locale or None}
        if width and height:
            options["viewport"] = {"width": int(width), "height": int(height)}
        if zone := own.time_zone or common.time_zone:
            options["timezone_id"] = zone
        if agent := own.user_agent or common.user_agent:
            options["user_agent"] = agent
        if guarding := self._guard(platform, shop_id):
            options["proxy"] = {"server": await guarding.start()}
        elif proxy := own.proxy or common.proxy:
            options["proxy"] = _proxy(proxy)
        return options

    def _own(self, platform: str, shop_id: str) -> BrowserShopSettings:
        return self._settings.shops.get(f"{platform}:{shop_id}", BrowserShopSettings())

    def _guard(self, platform: str, shop_id: str) -> Guard | None:
        """What the browser of a shop goes through; None where any host may be reached."""
        if self._rules.private_hosts:
            return None
        proxy = self._own(platform, shop_id).proxy or self._settings.proxy
        if proxy not in self._guards:
            self._guards[proxy] = Guard(self._rules, proxy)
        return self._guards[proxy]

    def _start_options(self, folder: Path) -> dict[str, Any]:
        port = ("--remote-debugging-port=0",) if self._setup.debug_port else ()
        return {
            "executable_path": self._setup.program,
            "headless": self._settings.headless,
            "chromium_sandbox": not self._setup.as_root,
            "args": [*ARGUMENTS, *port, *self._settings.arguments],
            "downloads_path": str(folder / "downloads"),
            "timeout": LAUNCH_S * 1000,
            "handle_sigint": False,
            "handle_sigterm": False,
            "handle_sighup": False,
        }

    def _new_folder(self) -> Path:
        self._number += 1
        folder = Path(self._setup.folder) / f"browser-{self._number}"
        (folder / "downloads").mkdir(parents=True)
        return folder


def measure(browsers: Iterable[Chromium]) -> None:
    """Note how much memory each takes."""
    for one in browsers:
        one.memory = one.memory_mb()


async def new_page(context: BrowserContext) -> Page:
    """A tab, which also shows that Chromium is well.

    Raises:
        Error, TimeoutError: it is not.
    """
    return await asyncio.wait_for(context.new_page(), PAGE_S)


def _children() -> set[int]:
    return {child.pid for child in offspring(psutil.Process())}


def _proxy(address: str) -> dict[str, str]:
    parts = urllib.parse.urlsplit(address if "://" in address else f"http://{address}")
    host = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    proxy = {"server": host}
    if parts.username:
        proxy |= {
            "username": urllib.parse.unquote(parts.username),
            "password": urllib.parse.unquote(parts.password or ""),
        }
    return proxy
