"""One attempt of a flow in a leased browser: its steps with retries and time-outs, what failed, and the evidence."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
from playwright.async_api import ConsoleMessage, Dialog, Download, Error, FloatRect, Locator, Page, Request, Response

from services.domain.task import classify, own_words
from services.domain.task.artifact import safe_name
from services.domain.text.mask import Masker, masked_text
from services.domain.types import flow, flow_text, linear
from services.domain.types.flow_steps import Fill, Goto, IfVisible, Step
from services.executors.browser import orders
from services.executors.browser.actions import ACTIONS, sheet, visible
from services.executors.browser.faults import Failed, explained
from services.executors.browser.guard import Trouble
from services.executors.browser.pool import Lease
from services.settings.browser import BrowserSettings

LINES, LINE_CHARS, HTML_CHARS = 300, 1_000, 300_000
#: a picture of a whole page is cut there, which is a quarter of a gigabyte for Chromium; and where that is too much for
#: it, at what its smallest surface holds
TALLEST, SURE = 60_000, 16_384
_NOT_TAKEN = "unable to capture"
_SIZE = """() => ['Width', 'Height'].map(of => Math.max(
    document.documentElement['scroll' + of], document.body ? document.body['scroll' + of] : 0))"""


class Evidence:
    """Collects for one attempt and hands files over as they come."""

    def __init__(self, token: str, folder: Path, masker: Masker, say: Callable[[orders.Word], None]) -> None:
        self.folder, self.masker = folder, masker
        self._token, self._say = token, say
        self._console: list[str] = []
        self._network: list[str] = []
        self._number = 0

    def log(self, text: str, stream: str = "out") -> None:
        """A line of the task's log; whatever stands there of a flow, Fleetdeck says it."""
        own = own_words.OWN_STREAMS[stream]
        self._say(orders.Log(token=self._token, text=self.masker.text(text)[:LINE_CHARS], stream=own))

    def progress(self, percent: int, note: str) -> None:
        """Move the progress bar."""
        self._say(orders.Progress(token=self._token, percent=percent, note=self.masker.text(note)[:200]))

    def place(self, name: str) -> Path:
        """A path for a new file of this name."""
        self._number += 1
        folder = self.folder / str(self._number)
        folder.mkdir(parents=True)
        return folder / safe_name(name)

    def keep(self, path: Path, name: str, kind: str, step: str) -> None:
        """Hand a file over."""
        shown = self.masker.text(name)
        self._say(orders.File(token=self._token, path=str(path), name=shown, kind=kind, step=self.masker.text(step)))

    def keep_text(self, text: str, name: str, kind: str, step: str) -> None:
        """Hand a text over as a file."""
        path = self.place(name)
        path.write_text(self.masker.text(text), encoding="utf-8", errors="replace")
        self.keep(path, name, kind, step)

    def watch(self, page: Page) -> None:
        """Note what this page says on its console, what it fails to load, and the dialogs that it opens."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note(self._console, f"error: {error}"))
        page.on("requestfailed", self._request_failed)
        page.on("response", self._responded)
        page.on("dialog", self._dialog)

    def close(self, step: str) -> None:
        """Hand over what was collected, after a failure."""
        for name, lines in (("console.txt", self._console), ("network.txt", self._network)):
            if lines:
                self.keep_text("\n".join(lines) + "\n", name, "text", step)

    def _said(self, message: ConsoleMessage) -> None:
        self._note(self._console, f"{message.type}: {message.text}")

    def _request_failed(self, request: Request) -> None:
        self._note(self._network, f"{request.method} {request.url}: {request.failure or 'failed'}")

    def _responded(self, response: Response) -> None:
        if response.status >= 400:
            self._note(self._network, f"{response.request.method} {response.url}: {response.status}")

    async def _dialog(self, dialog: Dialog) -> None:
        """Nobody is there to answer; a page that asks before it is left is left."""
        text = own_words.write("line.dialog", kind=dialog.type, words=dialog.message)
        self.log(text)
        self._note(self._console, text)
        try:
            await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())
        except Error:  # the page has gone meanwhile
            return

    def _note(self, lines: list[str], text: str) -> None:
        if len(lines) < LINES:
            lines.append(masked_text(text)[:LINE_CHARS])
        elif len(lines) == LINES:
            lines.append("… and more")


__all__ = ["Attempt", "Failed"]
EVIDENCE_S, HARD_S, CRASH_S = 8.0, 2.0, 2.0
REFUSALS_TOLD = 20


class Attempt:
    """Runs once."""

    def __init__(
        self, order: orders.RunAttempt, lease: Lease, settings: BrowserSettings, say: Callable[[orders.Word], None]
    ) -> None:
        self.settings, self.lease = settings, lease
        self.page: Page = lease.page
        self.evidence = Evidence(order.token, Path(order.folder), Masker(order.secrets.values()), say)
        self.values: dict[str, Any] = {}
        self.tables: dict[str, str] = {}  #: names of values that are tables, with the step that took them last
        self.secret_fields: list[str] = []  #: selectors that pictures must hide
        self.expects_download = False
        self._order = order
        self._payload: dict[str, Any] = msgspec.json.decode(order.payload)
        self._steps = flow.steps_of(order.task_type, self._payload)
        self._handles_login = any(isinstance(step, Fill) for step in flow.walk(self._steps))
        self._login = linear.compiled(settings.login_pages, ignore_case=True) if settings.login_pages else None
        self._crashed = asyncio.Event()
        self._closed_to: Trouble | None = None  #: why the page's own address was not reached in this step
        self._told: set[str] = set()  #: of which refusals

    async def run(self) -> dict[str, Any]:
        """Do the steps; returns what they extracted.

        Raises:
            Failed: a step did; its evidence has been handed over.
        """
        context = self.lease.context
        context.on("page", self._follow)
        self._watch(self.page)
        try:
            for number, step in enumerate(self._steps):
                self.evidence.progress(round(100 * number / len(self._steps)), step.title)
                await self.step(step)
            if self._order.task_type in (flow.SCREENSHOT, flow.GET_CONTENT) and "steps" not in self._payload:
                await self._describe()
        finally:
            if self._crashed.is_set():
                self.lease.spoil()  # such a page can hardly be closed
            context.remove_listener("page", self._follow)
            for name, taken_by in self.tables.items():
                self.evidence.keep_text(sheet(self.values[name]), f"{name}.csv", "table", taken_by)
        values = self.evidence.masker.value(self.values)
        assert isinstance(values, dict)
        return values

    async def steps(self, steps: Sequence[Step]) -> None:
        """Do steps inside a step."""
        for step in steps:
            await self.step(step)

    async def step(self, raw: Step) -> None:
        """Do one step, again where it says so; a failure leaves a picture and the page under the step's name."""
        for left in range(raw.retries, -1, -1):
            try:
                step, self._closed_to = self._filled(raw), None
                await self._limited(step)
                await self._check_address(step)
                return
            except Failed as exc:
                told = own_words.write("own.step", step=raw.label, why=str(exc))
                failed = Failed(told, raw.fails_as or await self._meaning(exc.kind))
                if exc.inner or exc.final or not left:
                    raise await self._with_evidence(raw, exc if exc.inner else failed) from exc
                again = own_words.write("line.again", why=str(failed), seconds=f"{raw.retry_wait_s:g}")
                self.evidence.log(again, "err")
                await asyncio.sleep(raw.retry_wait_s)

    def address(self, url: str) -> str:
        """Where an address leads: paths are taken on the page's own site, or on that of the platform.

        Raises:
            Failed: it is none that this worker opens.
        """
        if not flow_text.scheme_of(url):
            here = self.page.url if flow_text.scheme_of(self.page.url) in flow_text.SAFE_SCHEMES else ""
            base = self.settings.sites.get(self._order.platform, "") if url.startswith("/") or not here else ""
            if not (base or here):
                text = own_words.write("own.no_site", url=url, platform=self._order.platform)
                raise Failed(text, classify.BAD_PAYLOAD)
            url = urljoin(base.rstrip("/") + "/", url.lstrip("/")) if base else urljoin(here, url)
        if why := flow_text.refused(url, self.settings.allowed_schemes):
            raise Failed(why, classify.BAD_PAYLOAD)
        return url

    # ------------------------------------------------------------------------------------------------------- steps
    def _filled(self, step: Step) -> Step:
        changes: dict[str, Any] = {}
        try:
            for name, text in flow.texts_of(step).items():
                filled = flow_text.fill(text, self._payload, self._order.secrets)
                if filled != text:
                    changes[name] = filled
        except flow_text.MissingSecret as exc:
            raise Failed(own_words.write("own.no_secret", name=str(exc)), classify.MISSING_SECRET) from exc
        except flow_text.BadTemplate as exc:
            raise Failed(str(exc), classify.BAD_PAYLOAD) from exc
        if isinstance(step, Fill) and flow_text.secrets_in(step.value):
            self.secret_fields.append(step.selector)
        own = step.timeout_s or self.settings.step_seconds
        return msgspec.structs.replace(step, timeout_s=own, **changes)

    async def _limited(self, step: Step) -> None:
        """Do it, unless the page crashes or the time is up; steps that hold others leave the time to those."""
        work = asyncio.ensure_future(ACTIONS[step.do](self, step))
        crash = asyncio.ensure_future(self._crashed.wait())
        extra = getattr(step, "seconds", 0.0)
        limit = None if isinstance(step, IfVisible) else step.timeout_s + extra + HARD_S
        try:
            done, _ = await asyncio.wait({work, crash}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if crash in done:
                raise Failed(own_words.write("own.page_crashed"), classify.CRASHED)
            if work not in done:
                raise Failed(own_words.write("own.no_end", seconds=f"{step.timeout_s:g}"), classify.TIMEOUT)
            await work
        except Error as exc:
            if "ERR_ABORTED" in str(exc):  # the news that the page crashed may come a little later
                await asyncio.wait({crash}, timeout=CRASH_S)
            if self._crashed.is_set():
                raise Failed(own_words.write("own.page_crashed"), classify.CRASHED) from exc
            raise explained(exc, step, self._closed_to) from exc
        finally:
            for one in (work, crash):
                one.cancel()
            await asyncio.gather(work, crash, return_exceptions=True)

    async def _check_address(self, step: Step) -> None:
        """What the step led to: nothing unsafe, and no login page where the flow cannot log in."""
        url = self.page.url
        if url.startswith("chrome-error:") and self._closed_to and self._closed_to.kind in classify.PERMANENT:
            raise Failed(own_words.write("own.led_to_closed", why=self._closed_to.text), self._closed_to.kind)
        if why := flow_text.refused(url, (*self.settings.allowed_schemes, "blob", "chrome-error")):
            raise Failed(own_words.write("own.led_to", url=url[:200], why=why), classify.BAD_PAYLOAD)
        if isinstance(step, Goto) and not self._handles_login:
            if self._asks_to_log_in() and not (self._login and self._login.search(step.url)):
                raise Failed(own_words.write("own.to_login", url=url[:200]), classify.LOGIN_EXPIRED)
            if self.settings.captchas and await visible(self.page, self.settings.captchas):
                raise Failed(own_words.write("own.captcha", url=url[:200]), classify.CAPTCHA)

    async def _meaning(self, kind: str) -> str:
        """An element that is missing on a page that asks for a person means that."""
        if kind not in (classify.ELEMENT_NOT_FOUND, classify.TIMEOUT):
            return kind
        if self.settings.captchas and await visible(self.page, self.settings.captchas):
            return classify.CAPTCHA
        return classify.LOGIN_EXPIRED if self._asks_to_log_in() and not self._handles_login else kind

    def _asks_to_log_in(self) -> bool:
        return bool(self._login and self._login.search(self.page.url.partition("?")[0]))

    async def _describe(self) -> None:
        """What the short types tell of their page."""
        self.values |= {"url": self.page.url, "title": await self.page.title()}
        if self._order.task_type == flow.GET_CONTENT:
            text = await self.page.content()
            self.values["characters"] = len(text)
            self.evidence.keep_text(text, "page.html", "html", "content")

    # ---------------------------------------------------------------------------------------------------- evidence
    async def _with_evidence(self, step: Step, failed: Failed) -> Failed:
        if failed.inner:  # an inner step has left it already
            return failed
        try:
            if self.page.url.startswith("chrome-error:"):  # Chromium's own page about it, which tells nothing more
                raise Error(own_words.write("own.no_picture_there"))
            if self._crashed.is_set():
                raise Error(own_words.write("own.page_crashed"))
            async with asyncio.timeout(EVIDENCE_S):
                await self._stop_loading()
                await self.picture(f"{step.title}.png", step.title, full_page=False)
                text = f"<!-- {self.page.url} -->\n{await self.page.content()}"
                self.evidence.keep_text(text[:HTML_CHARS], f"{step.title}.html", "html", step.title)
        except (Error, TimeoutError, OSError) as exc:
            why = (str(exc) or own_words.write("own.no_picture_late")).splitlines()[0][:200]
            self.evidence.log(own_words.write("line.no_picture", why=why), "err")
        self.evidence.close(step.title)
        return Failed(self.evidence.masker.text(str(failed)), failed.kind, inner=True)

    async def _stop_loading(self) -> None:
        """Of a page that is still on its way no picture can be taken, nor can it be closed."""
        session = await self.lease.context.new_cdp_session(self.page)
        await session.send("Page.stopLoading")
        await session.detach()

    async def picture(self, name: str, step: str, *, full_page: bool, selector: str = "") -> None:
        """Keep a picture of the page, with the fields hidden into which secrets were put.

        Raises:
            Error, Failed: it cannot be taken.
        """
        path, limit = self.evidence.place(name), self.settings.step_seconds * 1000
        hidden = [self.page.locator(each) for each in self.secret_fields]
        if selector:
            await self.page.locator(selector).first.screenshot(path=path, mask=hidden, timeout=limit)
        elif full_page:
            await self._whole_page(path, hidden, limit)
        else:
            await self.page.screenshot(path=path, mask=hidden, timeout=limit)
        self.evidence.keep(path, name, "image", step)

    async def _whole_page(self, path: Path, hidden: Sequence[Locator], limit: float) -> None:
        """A page that is too high for one picture is kept as far as one goes."""
        wide, high = await self.page.evaluate(_SIZE)
        for most in (TALLEST, SURE):
            clip = FloatRect(x=0, y=0, width=wide, height=most) if high > most else None
            try:
                await self.page.screenshot(path=path, full_page=True, clip=clip, mask=hidden, timeout=limit)
            except Error as exc:
                if _NOT_TAKEN not in str(exc).lower():
                    raise
                continue
            if clip is not None:
                self.evidence.log(own_words.write("line.picture_cut", high=str(high), kept=str(most)))
            return
        raise Failed(own_words.write("own.picture_too_large", wide=str(wide), high=str(high)), classify.UNKNOWN)

    # ------------------------------------------------------------------------------------------------------- pages
    def _watch(self, page: Page) -> None:
        self.evidence.watch(page)
        page.on("requestfailed", self._not_reached)
        page.on("crash", lambda _: self._crashed.set())
        page.on("close", self._left)
        page.on("download", self._unasked)

    def _not_reached(self, request: Request) -> None:
        """The guard did not connect: the failure tells the driver's number only, what it means stands there."""
        guard = self.lease.browser.guard
        trouble = guard.trouble(request.url) if guard and "SOCKS" in (request.failure or "") else None
        if trouble is None:
            return
        with contextlib.suppress(Error):  # of a page that has gone
            if request.is_navigation_request() and request.frame == self.page.main_frame:
                self._closed_to = trouble
        if trouble.kind in classify.PERMANENT and trouble.text not in self._told and len(self._told) < REFUSALS_TOLD:
            self._told.add(trouble.text)
            self.evidence.log(own_words.write("line.not_asked", why=trouble.text), "err")

    def _follow(self, page: Page) -> None:
        """A tab that the page opened is where the flow goes on."""
        self._watch(page)
        self.evidence.log(own_words.write("line.new_tab"))
        self.page = page

    def _left(self, page: Page) -> None:
        if page is self.page and page is not self.lease.page:
            self.page = self.lease.page
        elif page is self.lease.page:
            self._crashed.set()

    async def _unasked(self, download: Download) -> None:
        if not self.expects_download:
            self.evidence.log(own_words.write("line.unasked", file=download.suggested_filename), "err")
            await download.cancel()
