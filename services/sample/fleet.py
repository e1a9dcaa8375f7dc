"""The sample fleet at work: its shops, its storefront as a child process, its flows and a steady trickle of tasks."""

from __future__ import annotations

import json
import logging
import math
import random
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from services import assembly
from services import settings as config
from services.commands.sheet import shop_file
from services.domain.errors import ConsoleError, UsageError
from services.domain.fleet.shop import Shop
from services.domain.task import own_words
from services.domain.text.said import said
from services.engine.lead.duty import DutyThread
from services.engine.producer import Submitted, TaskSpec

log = logging.getLogger(__name__)
SAMPLE = assembly.RESOURCES / "sample"
START_S = 20.0
CREATOR = own_words.SAMPLE_FLEET
#: the type that a shop of the trickle runs once in this many seconds, and not again and again: its ``unique_for`` of
#: two minutes counts from the end, and a task ends some time after it was made
SYNC, SYNC_EVERY_S = "sync_order", 150.0
#: tasks of the trickle that are still told from others
REMEMBERED = 5_000
#: share of each task type in the trickle; order syncs are what a fleet does all day
MIX: Mapping[str, int] = {
    "sync_order": 40,
    "refresh_goods": 18,
    "single_product": 12,
    "batch_reply": 10,
    "get_content": 6,
    "screenshot": 2,
    "shop_crawl": 6,
    "batch_products": 4,
    "search_keywords": 3,
    "full_sync": 2,
    "send_welcome_email": 6,
}


class SampleFleet:
    """Storefront and flows in one folder; ``settings`` are those of a worker that can run the flows."""

    def __init__(self, home: Path, *, seed: int = 7, latency_s: float = 0.0, profile: str = "usual") -> None:
        self.home, self._seed = home, seed
        self._latency_s, self._profile = latency_s, profile
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    @property
    def database(self) -> Path:
        """Where the flows write orders."""
        return self.home / "sample-orders.sqlite"

    def start(self) -> None:
        """Start the storefront and wait until it serves.

        Raises:
            ConsoleError: it does not come up.
        """
        folder = self.home / "sample"
        folder.mkdir(parents=True, exist_ok=True)
        self.database.touch(mode=0o600)  # as all that stands in the home: the doctor would warn of it
        ready = folder / "storefront.json"
        ready.unlink(missing_ok=True)
        command = [sys.executable, str(SAMPLE / "storefront.py"), "--seed", str(self._seed), "--profile", self._profile]
        command += ["--latency", str(self._latency_s), "--ready-file", str(ready), "--until-stdin-ends"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + START_S
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > end:
                self.close()
                raise ConsoleError(said("sample.no_storefront"))
            time.sleep(0.05)
        self.url = str(json.loads(ready.read_text(encoding="utf-8"))["url"])

    def close(self) -> None:
        """End the storefront."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def page(self, shop: str) -> str:
        """Where a shop (``platform:shop_id``) logs in."""
        return f"{self.url}/{shop.replace(':', '/')}/"

    def equip(self, settings: config.Settings) -> config.Settings:
        """The settings with the sample flows as this machine's RPA command."""
        flows = ["run", "--flow", "{platform}_{task_type}", "--param", "{param}", "--timeout", "{timeout}"]
        command = (sys.executable, "-S", "-E", "-I", str(SAMPLE / "rpa_cli.py"), *flows)
        rpa = msgspec.structs.replace(
            settings.executors.rpa,
            command=command,
            cwd=str(self.home / "sample"),  # where its files lie: those of other folders are not taken over
            commands={"screenshot": command, "get_content": command},  # the sample needs no browser
            environment={
                "FLEETDECK_SAMPLE_URL": self.url,
                "FLEETDECK_SAMPLE_DB": str(self.database),
                "FLEETDECK_SAMPLE_OUT": str(self.home / "sample" / "files"),
            },
        )
        sites = {shop.platform: self.url for shop in sample_shops()} | settings.executors.browser.sites
        browser = msgspec.structs.replace(settings.executors.browser, sites=sites)
        executors = msgspec.structs.replace(settings.executors, rpa=rpa, browser=browser)
        return msgspec.structs.replace(settings, executors=executors)

    def ask(self, path: str) -> Any:
        """A JSON answer of the storefront.

        Raises:
            ConsoleError: it does not answer.
        """
        import http.client

        host = self.url.removeprefix("http://").rstrip("/")
        connection = http.client.HTTPConnection(host, timeout=10.0)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException) as exc:
            raise ConsoleError(f"the sample storefront does not answer: {exc}") from exc
        finally:
            connection.close()


def sample_shops(count: int = 60) -> list[Shop]:
    """The first ``count`` shops of the sample, spread over the platforms.

    Raises:
        UsageError: more than there are.
    """
    shops = shop_file.read(SAMPLE / "shops.csv").shops
    if not 1 <= count <= len(shops):
        raise UsageError(said("sample.shops", most=len(shops)), field="--shops")
    step = len(shops) / count
    return [shops[int(place * step)] for place in range(count)]


def by_itself(submit: Callable[[list[TaskSpec]], Submitted]) -> Callable[[list[TaskSpec]], Submitted]:
    """``submit`` in the name of the sample: nobody asked for these tasks, so nobody's audit trail tells of them."""
    return lambda specs: submit([replace(spec, origin="demo", created_by=CREATOR) for spec in specs])


class Trickle:
    """Creates tasks of the sample mix at a steady rate, in its own thread, until it is closed."""

    def __init__(
        self,
        create: Callable[[list[TaskSpec]], Submitted],
        shops: list[Shop],
        *,
        per_second: float,
        seed: int = 7,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._create, self._shops, self._per_second = create, shops, per_second
        self._clock, self._synced = clock, dict[str, float]()
        self._random = random.Random(seed)
        self._duty = DutyThread(self._loop, "sample-trickle")
        self._number = 0
        self._recent: deque[str] = deque(maxlen=REMEMBERED)
        self.created = 0
        self.duplicates = 0
        self.too_soon = 0  #: left out because the same work had just succeeded (``unique_for``)

    def start(self) -> None:
        self._duty.start()

    def close(self) -> None:
        """Stop and wait for the last creation."""
        self._duty.stop()

    def made(self, task_id: str) -> bool:
        """Whether a task is one of the newest of this trickle; any thread may ask."""
        return task_id in self._recent.copy()

    def burst(self, count: int) -> None:
        """Create ``count`` tasks at once."""
        self._submit([self._spec() for _ in range(count)])

    def _loop(self, stop: threading.Event) -> None:
        owed = 0.0
        while not stop.wait(0.5):
            owed += self._per_second / 2
            if owed >= 1:
                self._submit([self._spec() for _ in range(int(owed))])
                owed -= int(owed)

    def _submit(self, specs: list[TaskSpec]) -> None:
        try:
            done = self._create(specs)
        except ConsoleError as exc:
            log.warning("sample tasks not created: %s", exc)
            return
        self.created += len(done.created)
        self._recent.extend(task.task_id for task in done.created)
        self.duplicates += len(done.duplicates)
        self.too_soon += len(done.done)

    def _spec(self) -> TaskSpec:
        self._number += 1
        kind, shop = self._kind_and_shop()
        return TaskSpec(
            platform=shop.platform,
            shop_id=shop.shop_id,
            task_type=kind,
            payload=_payload(kind, self._number),
            priority=self._random.choices(["high", "normal", "low"], weights=[2, 6, 2])[0],
            origin="demo",
        )

    def _kind_and_shop(self) -> tuple[str, Shop]:
        """A type, and a shop where it is due: another type where all were synced lately."""
        now = self._clock()
        kind = self._of(MIX)
        if kind != SYNC:
            return kind, self._random.choice(self._shops)
        due = [shop for shop in self._shops if now - self._synced.get(shop.key, -math.inf) >= SYNC_EVERY_S]
        if not due:
            return self._of({**MIX, SYNC: 0}), self._random.choice(self._shops)
        shop = self._random.choice(due)
        self._synced[shop.key] = now
        return kind, shop

    def _of(self, mix: Mapping[str, int]) -> str:
        return self._random.choices(list(mix), weights=list(mix.values()))[0]


def _payload(kind: str, number: int) -> dict[str, Any]:
    if kind == SYNC:
        return {"page_size": 50}
    if kind == "batch_reply":
        return {"text": "Thank you for your message; we answer within the hour."}
    if kind == "single_product":
        return {"goods_id": f"G{number % 5 + 1:04d}"}
    if kind == "batch_products":
        return {"goods_ids": [f"G{(number + one) % 5 + 1:04d}" for one in range(3)]}
    if kind == "search_keywords":
        return {"keywords": ["手机", "case"]}
    return {}
