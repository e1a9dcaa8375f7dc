"""The browsers of one host: a shop gets its warm one back, never two tasks work in one profile, none is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, Error, Page

from services.clock import SystemClock
from services.domain.fleet.worker import POOL_SHOWN, BrowserState
from services.domain.task import ids, own_words
from services.executors.browser.launch import Chromium, Launcher, complaint, measure, new_page
from services.executors.browser.orders import Pulse
from services.executors.browser.profile import ProfileInUse
from services.settings.browser import BrowserSettings

#: key of the place, its browser, how many work in it, whether it is lent, whether one is being started
Seen = tuple[str, Chromium | None, int, bool, bool]
_ORDER = ("busy", "lent", "starting", "closing", "idle")


class Census:
    """Taken about once a second: a state lasts since the first time that it was seen."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[tuple[str, int], int]] = {}
        self._clock = SystemClock()

    def take(self, seen: Iterable[Seen]) -> tuple[BrowserState, ...]:
        """Those at work first; those of one state by shop."""
        now = self._clock.now_ms()
        known, self._since = self._since, {}
        found = [self._one(one, known, now) for one in seen]
        return tuple(sorted(found, key=lambda state: (_ORDER.index(state.state), state.shop)))

    def _one(self, one: Seen, known: dict[str, tuple[tuple[str, int], int]], now: int) -> BrowserState:
        key, browser, users, lent, starting = one
        word = _state(browser, users, lent=lent, starting=starting)
        uses = browser.uses if browser is not None else 0
        before = known.get(key)
        since = before[1] if before is not None and before[0] == (word, uses) else now
        self._since[key] = (word, uses), since
        platform, _, shop_id = key.partition(":")
        return BrowserState(
            shop=key,
            profile=ids.profile_id(platform, shop_id) if key else "",
            state=word,
            since=since,
            uses=uses,
            memory_mb=round(browser.memory, 1) if browser is not None else -1.0,
            port=browser.debug_port() if browser is not None else 0,
        )


def _state(browser: Chromium | None, users: int, *, lent: bool, starting: bool) -> str:
    if browser is None:
        return "starting" if starting else "closing"
    if users:
        return "lent" if lent else "busy"
    return "idle"


log = logging.getLogger(__name__)
SHARED = ""  #: key of the browser of light contexts
_POLL_S, _MEMORY_EVERY_S = 0.25, 10.0
_ABSENT = ("executable doesn't exist", "enoent", "eacces", "failed to launch: spawn")
#: what Chromium says where neither user namespaces nor its setuid helper may wall its pages in
_UNWALLED = ("no usable sandbox", "suid sandbox helper binary", "failed to move to new namespace")


class NoBrowser(Exception):
    """There is no browser for the task. ``unable``: others may have one, and nothing was tried in the shop's name."""

    def __init__(self, text: str, *, unable: bool) -> None:
        super().__init__(text)
        self.unable = unable


@dataclass(eq=False)
class Lease:
    """A context of a browser, for one task."""

    browser: Chromium
    context: BrowserContext
    page: Page

    def spoil(self) -> None:
        """End the browser now: whoever works in it fails at once."""
        self.browser.gone = True
        self.browser.kill(wait_s=0.0)


@dataclass(eq=False)
class _Place:
    """Room for one Chromium; ``users`` is 1 at most, but for the shared one."""

    browser: Chromium | None = None
    users: int = 0
    lent: bool = False  #: to a program that attaches
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  #: while it is started


class Pool:
    """Belongs to one event loop."""

    def __init__(self, launcher: Launcher, settings: BrowserSettings) -> None:
        self._launcher, self._settings = launcher, settings
        self._places: dict[str, _Place] = {}
        self._changed = asyncio.Condition()
        self._launches = self._reused = 0
        self._version = ""
        self._measured = 0.0
        self._census = Census()
        self._closing = False
        self._adopting: set[asyncio.Task[None]] = set()

    async def acquire(self, platform: str, shop_id: str, *, lent: bool = False) -> Lease:
        """The shop's browser, for this caller alone; ``lent``: a program will attach to it.

        Raises:
            NoBrowser: none became free in time, or it does not start.
        """
        key, until = f"{platform}:{shop_id}", time.monotonic() + self._settings.acquire_seconds
        while True:
            place = await self._take_place(key, 1, until)
            place.lent = lent
            try:
                return await self._lease(place, platform, shop_id, until)
            except ProfileInUse:
                await self._give_place(key, place)
                if time.monotonic() + _POLL_S > until:
                    raise self._too_long(own_words.write("own.profile_worked_in", shop=key)) from None
                await asyncio.sleep(_POLL_S)
            except BaseException:
                await self._give_place(key, place)
                raise

    async def acquire_light(self) -> Lease:
        """A context of its own in the shared browser: nothing of it is kept.

        Raises:
            NoBrowser: none became free in time, or it does not start.
        """
        until = time.monotonic() + self._settings.acquire_seconds
        place = await self._take_place(SHARED, self._settings.max_contexts, until)
        try:
            return await self._lease(place, "", "", until)
        except BaseException:
            await self._give_place(SHARED, place)
            raise

    async def release(self, lease: Lease) -> None:
        """Take a browser back: close its pages, keep its cookies, and end it where it has served long enough."""
        browser = lease.browser
        try:
            await self._tidy(lease)
        finally:
            browser.used = time.monotonic()
            place = self._places.get(browser.key)
            if place is not None:
                await self._give_place(browser.key, place)

    async def let_go(self, key: str, *, force: bool = False) -> str:
        """End the browser of a shop now; "" or why it stays. ``force``: whoever works in it fails at once."""
        place = self._places.get(key)
        if place is None:
            return own_words.write("own.no_browser_of", shop=key) if force else ""
        if not place.users:
            await self._evict(key)
            return ""
        if not force:
            return own_words.write("own.works_in_it", shop=key)
        if place.browser is None:
            return own_words.write("own.browser_between", shop=key)
        place.browser.gone = True
        await asyncio.to_thread(place.browser.kill)
        return ""

    async def tend(self) -> None:
        """End what has been idle or open too long."""
        now, keep = time.monotonic(), self._settings
        idle = sorted(self._idle(), key=lambda item: item[1].used)
        spare = len(idle) - keep.min_idle
        for number, (key, browser) in enumerate(idle):
            stale = browser.gone or now - browser.born > keep.max_age_seconds
            stale = stale or (browser.profile is not None and browser.profile.wanted)
            if stale or (number < spare and now - browser.used > keep.idle_seconds):
                await self._evict(key)
        if now - self._measured > _MEMORY_EVERY_S:
            self._measured = now
            browsers = [place.browser for place in self._places.values() if place.browser]
            await asyncio.to_thread(measure, browsers)

    def state(self) -> Pulse:
        """What it looks like now."""
        places = self._census.take(
            (key, place.browser, place.users, place.lent, place.lock.locked()) for key, place in self._places.items()
        )
        return Pulse(
            total=sum(1 for place in self._places.values() if place.browser),
            busy=sum(1 for place in self._places.values() if place.users),
            launches=self._launches,
            reused=self._reused,
            memory_mb=round(sum(max(0.0, place.memory_mb) for place in places), 1),
            version=self._version,
            places=places[:POOL_SHOWN],
        )

    async def close(self) -> None:
        """End all browsers."""
        self._closing = True
        if self._adopting:
            await asyncio.wait(self._adopting, timeout=10)
        browsers = [place.browser for place in self._places.values() if place.browser]
        await asyncio.gather(*(browser.close() for browser in browsers), return_exceptions=True)
        self._launcher.close()

    # ------------------------------------------------------------------------------------------------------ places
    async def _take_place(self, key: str, most: int, until: float) -> _Place:
        """A place for the key, counted as used: its own, a free one, or that of the longest idle."""
        while True:
            async with self._changed:
                place = self._places.get(key)
                if place is None and len(self._places) < self._settings.max_total:
                    place = self._places[key] = _Place()
                if place is not None and place.users < most:
                    place.users += 1
                    return place
                victim = self._longest_idle() if place is None else None
                if victim is None:
                    await self._wait(key, until)
                    continue
            await self._evict(victim)

    async def _wait(self, key: str, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0:
            raise self._too_long(self._all_at_work())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), left)

    def _all_at_work(self) -> str:
        names = ", ".join(sorted(one for one in self._places if one != SHARED))
        if SHARED not in self._places:
            return own_words.write("own.all_at_work", most=self._settings.max_total, names=names)
        code = "own.all_at_work_shared" if names else "own.all_at_work_light"
        return own_words.write(code, most=self._settings.max_total, names=names)

    def _too_long(self, why: str) -> NoBrowser:
        seconds = f"{self._settings.acquire_seconds:g}"
        return NoBrowser(own_words.write("own.no_free_browser", seconds=seconds, why=why), unable=True)

    async def _give_place(self, key: str, place: _Place) -> None:
        async with self._changed:
            place.users -= 1
            browser = place.browser
            useless = browser is None or browser.gone
            if useless and not place.users and self._places.get(key) is place:
                del self._places[key]
            self._changed.notify_all()
        if useless and not place.users and browser is not None:
            await self._end(browser)

    def _idle(self) -> list[tuple[str, Chromium]]:
        return [(key, place.browser) for key, place in self._places.items() if place.browser and not place.users]

    def _longest_idle(self) -> str | None:
        return min(self._idle(), key=lambda item: item[1].used, default=(None,))[0]

    async def _evict(self, key: str) -> None:
        """End an idle browser; its place is kept until it is gone, so that there are never more than allowed."""
        place = self._places.get(key)
        if place is None or place.users or place.browser is None:
            return
        place.users += 1
        try:
            browser, place.browser = place.browser, None
            await self._end(browser)
        finally:
            await self._give_place(key, place)

    async def _end(self, browser: Chromium) -> None:
        await browser.close()
        shutil.rmtree(browser.downloads.parent, ignore_errors=True)

    # ---------------------------------------------------------------------------------------------------- browsers
    async def _lease(self, place: _Place, platform: str, shop_id: str, until: float) -> Lease:
        for fresh in (False, True):
            browser, warm = await self._browser(place, platform, shop_id, until)
            try:
                options = await self._launcher.context_options(platform, shop_id)
                context = await browser.context(**options)
                page = await new_page(context)
            except (Error, TimeoutError) as exc:
                log.warning("%s does not answer: %s", browser.key or "the shared browser", exc)
                place.browser = None
                await self._end(browser)
                if fresh:
                    raise NoBrowser(own_words.write("own.opens_no_page", said=str(exc)), unable=False) from exc
                continue
            browser.uses += 1
            self._reused += warm
            self._version = browser.version or self._version
            return Lease(browser, context, page)
        raise AssertionError("unreachable")

    async def _browser(self, place: _Place, platform: str, shop_id: str, until: float) -> tuple[Chromium, bool]:
        async with place.lock:
            if place.browser is not None and not place.browser.gone:
                return place.browser, True
            if place.browser is not None:
                gone, place.browser = place.browser, None
                await self._end(gone)
            for again in (True, False):
                try:
                    place.browser = await self._start(place, platform, shop_id)
                    return place.browser, False
                except (Error, OSError) as exc:
                    text = str(exc).strip()
                    if any(word in text.lower() for word in _UNWALLED):
                        raise NoBrowser(own_words.write("own.no_sandbox"), unable=True) from exc
                    if absent := any(word in text.lower() for word in _ABSENT):
                        why = own_words.write("own.chromium_cannot", said=text[:500])
                        raise NoBrowser(why, unable=absent) from exc
                    if not again or time.monotonic() > until:
                        why = own_words.write("own.chromium_did_not", said=complaint(text))
                        raise NoBrowser(why, unable=False) from exc
        raise AssertionError("unreachable")

    async def _start(self, place: _Place, platform: str, shop_id: str) -> Chromium:
        """A start is never broken off, the driver would go on without us: a cancelled one is left to ``_adopt``."""
        shared = self._places.get(SHARED) is place
        start = self._launcher.launch_shared() if shared else self._launcher.launch(platform, shop_id)
        task = asyncio.create_task(start)
        self._launches += 1
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            place.users += 1
            key = SHARED if shared else f"{platform}:{shop_id}"
            adopting = asyncio.create_task(self._adopt(key, place, task))
            self._adopting.add(adopting)
            adopting.add_done_callback(self._adopting.discard)
            raise

    async def _adopt(self, key: str, place: _Place, task: asyncio.Task[Chromium]) -> None:
        try:
            browser = await task
            if place.browser is None and not self._closing:
                place.browser = browser
            else:
                await self._end(browser)
        except (Error, OSError, ProfileInUse) as exc:
            log.warning("%s did not start: %s", key, exc)
        finally:
            await self._give_place(key, place)

    async def _tidy(self, lease: Lease) -> None:
        browser, keep = lease.browser, self._settings
        if browser.gone:
            return
        try:
            async with asyncio.timeout(5):
                await browser.keep_cookies()
                if browser.profile is None:
                    await lease.context.close()
                else:
                    blank, *others = lease.context.pages  # one has to stay, or Chromium ends
                    for page in others:
                        await page.close()
                    if blank.url != "about:blank":
                        await blank.goto("about:blank")
        except (Error, TimeoutError) as exc:
            log.warning("%s is ended, for its pages do not close: %s", browser.key or "the shared browser", exc)
            browser.gone = True
            return
        old = time.monotonic() - browser.born > keep.max_age_seconds or browser.uses >= keep.max_uses
        if old or await asyncio.to_thread(browser.memory_mb) > keep.max_memory_mb:
            await self._retire(browser)

    async def _retire(self, browser: Chromium) -> None:
        place = self._places.get(browser.key)
        if place is not None and place.users == 1:
            place.browser = None
            await self._end(browser)
