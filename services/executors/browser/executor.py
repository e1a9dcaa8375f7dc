"""Executor ``browser``: hands attempts to the browser host and watches over them."""

from __future__ import annotations

import logging
import queue
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from services.domain.gates import ability
from services.domain.task import classify, ids, own_words
from services.domain.types import flow
from services.executors import own_folder
from services.executors.base import Fitness, Job, JobContext, NoneToLend, NoProfile, Outcome, Shown, broken_off
from services.executors.browser import installation, orders
from services.executors.browser.host_process import PREFIX, BrowserHost
from services.executors.browser.profile import Profile, ProfileInUse, end_on
from services.executors.rpa import ALLOWED_ENVIRONMENT
from services.executors.stdout import BoundedLog, OutputLimits
from services.settings.browser import BrowserSettings

log = logging.getLogger(__name__)
NAMES = installation.NAMES
#: a host that has done so much is replaced when it has nothing to do: its driver grows
JOBS_PER_HOST = 500
_TICK_S, _FORCE_S, _CLOSE_S = 0.05, 8.0, 15.0
#: so long is waited for the end of a browser, and for others to let go of a profile
_LET_GO_S, _GIVE_WAY_S = 15.0, 4.0
#: so long is believed that Chromium may not make its sandbox here; then one task finds out whether it may now
_WALLS_S = 300.0

Secret = Callable[[str, str, str], str | None]


class _Watch(msgspec.Struct):
    """One attempt as its slot sees it."""

    context: JobContext
    output: BoundedLog
    files: list[orders.File] = msgspec.field(default_factory=list)
    end: orders.End | None = None
    port: int = -1
    ended: threading.Event = msgspec.field(default_factory=threading.Event)

    def hear(self, word: orders.Word | None) -> None:
        """A word of the host about it, in the host's thread."""
        if word is None:
            self.ended.set()
        elif isinstance(word, orders.Log):
            self.output.add(word.stream, word.text, len(word.text))
        elif isinstance(word, orders.Progress):
            self.context.progress(word.percent, word.note)
        elif isinstance(word, orders.File):
            self.files.append(word)
        elif isinstance(word, orders.Lent):
            self.port = word.port
            self.ended.set()
        elif isinstance(word, orders.End):
            self.end = word
            self.ended.set()


class BrowserExecutor:
    """One instance serves all slots; the host is started by the first attempt."""

    name = flow.EXECUTOR

    def __init__(
        self,
        settings: BrowserSettings,
        *,
        profiles: Path,
        secret: Secret,
        light: Callable[[str], bool] = lambda _: False,
        base_environment: Mapping[str, str] | None = None,
        debug_port: bool = False,
    ) -> None:
        """Args:
        profiles: folder of the shops' profiles.
        secret: value of (platform, shop_id, name), None where there is none.
        light: whether a task type asks for a light context instead of the shop's profile.
        debug_port: browsers may be lent to programs that attach.
        """
        self._settings, self._profiles = settings, profiles
        self._secret, self._light, self._debug_port = secret, light, debug_port
        environment = base_environment or {}
        self._environment = {name: text for name, text in environment.items() if ALLOWED_ENVIRONMENT.fullmatch(name)}
        self._host: BrowserHost | None = None
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._quiet = threading.Condition()
        self._running = 0
        self._chromium = ""  #: its version, once one was started
        self._unwalled_until = float("-inf")  #: its sandbox is forbidden here, as far as is known
        own_folder.clean_up(PREFIX)

    @staticmethod
    def installed() -> bool:
        """Whether Playwright is there, the optional part ``browser`` of the installation."""
        return installation.has_playwright()

    def fitness(self) -> Fitness:
        """Whether Playwright and a Chromium are there."""
        if not self.installed():
            return Fitness(lacks={"": "playwright"})
        if not self.program():
            return Fitness(lacks={"": self._settings.path or "chromium"})
        if time.monotonic() < self._unwalled_until:
            return Fitness(lacks={"": ability.SANDBOX})
        pulse = self.pulse
        self._chromium = pulse.version or self._chromium
        named = {"playwright": installation.playwright_version(), "chromium": self._chromium}
        versions = {name: version for name, version in named.items() if version}
        return Fitness(browsers=pulse.total, pool=pulse.places, versions=versions)

    def program(self) -> str:
        """Where Chromium is, "" for nowhere."""
        return installation.program(self._settings, self._environment.get("PATH"))

    @property
    def pulse(self) -> orders.Pulse:
        """What the pool looks like."""
        host = self._host
        return host.pulse if host is not None and host.alive else orders.Pulse()

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Run the flow of the job to its end, its time-out or its cancellation."""
        if self._closing.is_set() or context.cancelled.is_set():
            return broken_off("own.not_begun")
        payload = msgspec.json.decode(job.task.payload)
        if problems := flow.problems(job.task.task_type, payload):  # what a foreign producer sent, nobody has checked
            text = "\n".join(f"{one.path}: {one.message}" for one in problems)
            return Outcome(ok=False, error=text, error_kind=classify.BAD_PAYLOAD)
        known, missing = self._secrets_of(job)
        if missing:
            text = own_words.write("own.no_secret_of", name=missing, shop=f"{job.task.platform}:{job.task.shop_id}")
            return Outcome(ok=False, error=text, error_kind=classify.MISSING_SECRET)
        with self._counted():
            try:
                return self._run(job, context, known)
            except OSError as exc:
                log.warning("no browser host: %s", exc)
                return Outcome(ok=False, error=str(exc), error_kind=classify.NO_BROWSER)

    @contextmanager
    def lend(self, job: Job, context: JobContext) -> Iterator[int]:
        """The debug port of the shop's browser, which nobody else uses meanwhile.

        Raises:
            NoneToLend: see there.
        """
        with self._counted():
            try:
                host = self._running_host()
            except OSError as exc:
                raise NoneToLend(str(exc), unable=False) from exc
            watch = _Watch(context, BoundedLog(context.log, OutputLimits()))
            token = secrets.token_hex(8)
            host.order(orders.Lend(token=token, platform=job.task.platform, shop_id=job.task.shop_id), watch.hear)
            try:
                while not watch.ended.wait(_TICK_S) and not context.cancelled.is_set():
                    pass
                if watch.port <= 0:
                    end = self._told_of_walls(watch.end)
                    why = end.error if end else own_words.write("own.host_over")
                    unable = end is not None and end.unable
                    raise NoneToLend(why or own_words.write("own.no_debug_port"), unable=unable)
                yield watch.port
            finally:
                host.cancel(token)
                host.forget(token)

    def restart_browser(self, platform: str, shop_id: str) -> None:
        """End the shop's browser, also while a task works in it."""
        if not self._let_go(platform, shop_id, force=True):
            raise NoProfile(own_words.write("own.no_browser_of", shop=f"{platform}:{shop_id}"))

    def release_profile(self, platform: str, shop_id: str) -> None:
        """Close the shop's idle browser, and whatever else has its profile open: a forgotten window, a stray."""
        self._let_go(platform, shop_id, force=False)
        profile = Profile(self._profiles / ids.profile_id(platform, shop_id))
        if not profile.folder.is_dir():
            return
        with profile.wish():
            until = time.monotonic() + _GIVE_WAY_S
            for forced in (False, True):
                while time.monotonic() < until:
                    try:
                        profile.take()
                    except ProfileInUse:
                        self._closing.wait(_TICK_S)
                        continue
                    profile.leave()
                    return
                if not forced:  # nobody gives way: the browsers themselves end, and who held them hears of it
                    end_on(profile.folder)
                    until = time.monotonic() + _GIVE_WAY_S
        raise NoProfile(own_words.write("own.profile_held", shop=f"{platform}:{shop_id}"))

    def open_window(
        self,
        platform: str,
        shop_id: str,
        *,
        stop: threading.Event,
        again: threading.Event,
        told: Callable[[Shown], None],
    ) -> None:
        """Open the shop's browser for a person: with a window where this machine has a screen."""
        program = self.program()
        if not program or not self.installed():
            raise NoProfile(own_words.write("own.browser_missing"))
        from services.executors.browser.login import LoginWindow, NoWindow, Seen

        visible = installation.has_display()

        def show(seen: Seen) -> None:
            told(Shown(url=seen.url, logged_in=seen.logged_in, visible=visible, picture=seen.picture))

        window = LoginWindow(self._settings, self._profiles, program, headless=not visible)
        url = self._settings.sites.get(platform, "")
        try:
            window.show(platform, shop_id, url, stop=stop, told=show, pictures=True, again=again)
        except NoWindow as exc:
            raise NoProfile(str(exc)) from exc

    def _let_go(self, platform: str, shop_id: str, *, force: bool) -> bool:
        """Let the host end the browser of a shop; whether there is a host at all.

        Raises:
            NoProfile: it stays.
        """
        host = self._host
        if host is None or not host.alive:
            return False
        token, answers = secrets.token_hex(8), queue.Queue[orders.Word | None]()
        host.order(orders.LetGo(token=token, platform=platform, shop_id=shop_id, force=force), answers.put)
        try:
            end = answers.get(timeout=_LET_GO_S)
        except queue.Empty:
            raise NoProfile(own_words.write("own.host_silent", seconds=f"{_LET_GO_S:g}")) from None
        finally:
            host.forget(token)
        if isinstance(end, orders.End) and not end.ok:
            raise NoProfile(end.error)
        return True

    def close(self) -> None:
        """End what is still running, which returns as cancelled, and the browsers."""
        self._closing.set()
        with self._quiet:
            self._quiet.wait_for(lambda: not self._running, _CLOSE_S)
        with self._lock:
            host, self._host = self._host, None
        if host is not None:
            host.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._quiet:
            self._running += 1
        try:
            yield
        finally:
            with self._quiet:
                self._running -= 1
                self._quiet.notify_all()

    def _secrets_of(self, job: Job) -> tuple[dict[str, str], str]:
        """The secrets that the flow asks for, and the name of the first that nobody knows."""
        task, known = job.task, {}
        for name in flow.secrets_of(flow.steps_of(task.task_type, msgspec.json.decode(task.payload))):
            value = self._secret(task.platform, task.shop_id, name)
            if value is None:
                return {}, name
            known[name] = value
        return known, ""

    def _running_host(self) -> BrowserHost:
        with self._lock:
            host = self._host
            if host is not None and (not host.alive or (host.jobs >= JOBS_PER_HOST and not host.busy)):
                self._host = None
                host.close()
            if self._host is None:
                self._host = BrowserHost(self._setup, self._environment)
            return self._host

    def _setup(self, folder: str) -> orders.Setup:
        return installation.setup(self._settings, self.program(), self._profiles, folder, debug_port=self._debug_port)

    def _run(self, job: Job, context: JobContext, known: dict[str, str]) -> Outcome:
        host = self._running_host()
        token = secrets.token_hex(8)
        folder = host.folder / f"attempt-{token}"
        folder.mkdir()
        watch = _Watch(context, BoundedLog(context.log, OutputLimits()))
        task = job.task
        order = orders.RunAttempt(
            token=token,
            task_id=task.task_id,
            task_type=task.task_type,
            platform=task.platform,
            shop_id=task.shop_id,
            payload=msgspec.Raw(task.payload.encode()),
            folder=str(folder),
            light=self._light(task.task_type),
            secrets=known,
        )
        try:
            host.order(order, watch.hear)
            reason = self._attend(host, token, job, watch)
            for file in watch.files:
                context.artifacts.add(Path(file.path), name=file.name, kind=file.kind, step=file.step)
        finally:
            host.forget(token)
            watch.output.close()
            shutil.rmtree(folder, ignore_errors=True)
        self._told_of_walls(watch.end)
        return _outcome(watch, reason, job)

    def _told_of_walls(self, end: orders.End | None) -> orders.End | None:
        """Note where a sandbox is forbidden, before anybody asks again what this worker can run."""
        if end is not None and end.unable and end.error == own_words.write("own.no_sandbox"):
            self._unwalled_until = time.monotonic() + _WALLS_S
        return end

    def _attend(self, host: BrowserHost, token: str, job: Job, watch: _Watch) -> str:
        """Until it has ended; returns why it was asked to end, "" if it was not."""
        began, reason, force_at = time.monotonic(), "", 0.0
        forced = False
        while not watch.ended.wait(_TICK_S):
            now = time.monotonic()
            if not reason:
                reason = self._why_end(watch.context, now - began >= job.timeout_s)
                if reason:
                    if reason == "cancel":
                        watch.context.stopping()
                    host.cancel(token)
                    force_at = now + self._settings.cancel_grace_seconds
            elif now >= force_at and not forced:
                host.cancel(token, force=True)
                forced, force_at = True, now + _FORCE_S
            elif forced and now >= force_at:
                host.kill()  # it does not listen any more: nothing else can end what it does
                force_at = now + _FORCE_S
            if not host.alive:
                host.kill()
        return reason

    def _why_end(self, context: JobContext, late: bool) -> str:
        if self._closing.is_set():
            return "close"
        if context.cancelled.is_set():
            return "cancel"
        return "timeout" if late else ""


def _outcome(watch: _Watch, reason: str, job: Job) -> Outcome:
    end = watch.end
    if end is not None and end.ok:
        return Outcome(ok=True, result=end.result)
    if reason == "timeout":
        said = end.error if end is not None and end.error_kind != classify.CANCELLED else ""
        ended = own_words.write("own.no_end", seconds=f"{job.timeout_s:g}")
        text = f"{said}\n{ended}".strip()
        return Outcome(ok=False, timed_out=True, error=text, error_kind=classify.TIMEOUT)
    if reason:
        return broken_off("own.stopped_closing" if reason == "close" else "own.stopped")
    if end is None:
        return Outcome(ok=False, error=own_words.write("own.host_ended"), error_kind=classify.CRASHED)
    return Outcome(ok=False, error=end.error, error_kind=end.error_kind, unable=end.unable)
