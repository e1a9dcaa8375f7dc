"""A fleet that a situation is made in: a home of its own, real workers as processes, and the window as a program."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from services import assembly
from services import settings as config
from services.commands.tasks import TaskSpec
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import Query
from tests.support.services import RabbitMQ, Redis, start_rabbitmq, start_redis

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 90.0
NAMES = ("微光数码", "柚子数码", "晨雾家居", "南枝茶礼", "Lumo Home", "Nordic Pine", "Tiny Harbor", "Bluefin Toys")
PLATFORMS = ("pdd", "pdd", "pdd", "pdd", "temu", "temu", "tiktok", "tiktok")
#: what the shops of other variants are made of; each is so often among eight as in ``PLATFORMS``
OTHER_PLATFORMS = ("taobao", "jd", "douyin", "shopee", "amazon", "temu", "pdd", "kuaishou", "tiktok")
OTHER_NAMES = (
    "云杉户外旗舰店", "山茶花饰品", "老陈五金", "北岸咖啡", "小满童装专营店", "听雨书房",
    "Koala Garden", "Maple & Stone", "Orchid Daily", "Harbour Nine", "木棉家纺", "青禾母婴",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture: of a page, as another page or a person would open it."""

    name: str
    page: str = "overview"
    request: str = ""  #: a filter, a shop, a worker; what the page takes
    row: int = -1  #: the row whose panel is opened, -1 for none
    settle_s: float = 3.0


@dataclass
class Stage:
    """Made for one situation and taken down after it."""

    home: Path
    pair: str = "embedded"
    retry_s: int = 1
    retries: int = 1
    out: Path = field(default_factory=Path)
    looks: dict[str, str] = field(default_factory=dict)
    variant: int = 0  #: 0 makes a situation as it is described; others with other shops, numbers, errors, and twists
    name: str = ""  #: of the situation
    rabbitmq: RabbitMQ | None = None
    redis: Redis | None = None

    def __post_init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._random = random.Random(f"{self.name}:{self.variant}")
        self.platforms, self._names = ("pdd", "temu", "tiktok"), NAMES
        if self.variant:
            first, second, third = self._random.sample(OTHER_PLATFORMS, 3)
            self.platforms = (first, second, third)
            self._names = tuple(self._random.sample(OTHER_NAMES, 8))
        self.home.mkdir(parents=True, exist_ok=True)
        self.out.mkdir(parents=True, exist_ok=True)
        flow = [sys.executable, "-S", str(ROOT / "tests/situations/flow.py"), str(self.home)]
        command = json.dumps([*flow, "{platform}", "{task_type}", "{param}"])
        lines = [f"[retry]\nbase_seconds = {self.retry_s}\nmax_retries = {self.retries}\n"]
        lines.append(f"[executors.rpa]\ncommand = {command}\n")
        lines.append(f"[executors.rpa.commands]\nscreenshot = {command}\nget_content = {command}\n")
        if self.pair == "fleet":
            self.rabbitmq, self.redis = start_rabbitmq(), start_redis()
            broker = f'[profiles.shops]\nbroker = "{self.rabbitmq.amqp_url}"\nredis = "{self.redis.url}"\n'
            broker += f'management = "{self.rabbitmq.management_url}"\n'
            lines = ['profile = "shops"\n', *lines, broker]
        (self.home / "config.toml").write_text("\n".join(lines), encoding="utf-8")
        self.behave({})
        self.engine = assembly.open_engine(self.settings())
        self.commands = assembly.commands(self.engine)

    def pick(self, first: T, *others: T) -> T:
        """The first one in the situation as it is described, any of them in other variants."""
        return self._random.choice((first, *others)) if self.variant else first

    def tell(self, truth: str, click: str) -> None:
        """Write down what is really so, for whoever judges the pictures."""
        self.out.mkdir(parents=True, exist_ok=True)
        with (self.out / "truth.jsonl").open("a", encoding="utf-8") as file:
            told = {"situation": self.name, "variant": self.variant, "what": truth, "click": click}
            file.write(json.dumps(told, ensure_ascii=False) + "\n")

    def settings(self) -> config.Settings:
        """What ``config.toml`` of the home says."""
        return config.load(home=self.home)

    def behave(self, how: dict[str, dict[str, Any]]) -> None:
        """How flows that start from now on behave; see ``tests.situations.flow``."""
        fresh = self.home / "behaviour.new"
        fresh.write_text(json.dumps(how), encoding="utf-8")
        fresh.replace(self.home / "behaviour.json")  # a flow may read it at this moment

    # ------------------------------------------------------------------ fleet
    def shops(self, count: int = 8) -> list[Shop]:
        """So many shops of three platforms: of every eight four of the first, two of each other one."""
        of = [self.platforms[("pdd", "temu", "tiktok").index(name)] for name in PLATFORMS]
        rows = [
            Shop(
                platform=of[place % 8],
                shop_id=f"{of[place % 8]}-{10_021 + place}",
                name=self._names[place % 8] + ("" if place < 8 else f" {place // 8 + 1}"),
            )
            for place in range(count)
        ]
        self.commands.fleet.import_shops(rows)
        return rows

    def create(self, shop: Shop, task_type: str = "sync_order", **more: Any) -> Task:
        """One new task, as the window would create it."""
        payload = more.pop("payload", {})
        spec = TaskSpec(
            platform=shop.platform, shop_id=shop.shop_id, task_type=task_type, payload=payload,
            max_retries=more.pop("max_retries", None), **more,
        )  # fmt: skip
        made = self.commands.tasks.create([spec], origin="console")
        assert made.created, (made.errors, made.duplicates)
        return made.created[0]

    def get(self, task_id: str) -> Task:
        """The record as it stands."""
        task = self.engine.store.get([task_id])[0]
        assert task is not None
        return task

    def count(self, expression: str) -> int:
        """How many tasks match a filter."""

        found = self.engine.store.query(
            Query(terms=filter.parse(expression, now_ms=self.engine.store.now_ms()), limit=200)
        )
        return len(found.tasks)

    def until(self, check: Callable[[], bool], what: str, seconds: float = WAIT_S) -> None:
        """Wait for something to be so."""
        end = time.monotonic() + seconds
        while not check():
            assert time.monotonic() < end, f"never: {what}"
            time.sleep(0.1)

    # ------------------------------------------------------------------ processes
    def worker(self, name: str = "w", slots: int = 4, *words: str) -> subprocess.Popen[bytes]:
        """A worker as a process of its own, ready to work."""
        before = {info.worker for info in self.engine.store.workers()}
        process = self.start(["worker", "--slots", str(slots), *words])
        self.processes[name] = process
        self.until(lambda: bool({info.worker for info in self.engine.store.workers()} - before), "the worker is there")
        return process

    def start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        """A command that goes on."""
        with (self.home / "stderr.txt").open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, str(ROOT / "main.py"), *words],
                env=os.environ | {"FLEETDECK_HOME": str(self.home), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, cwd=ROOT, start_new_session=True,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        """End a worker as a power cut would."""
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait(30)

    def stop(self, name: str) -> None:
        """End a worker as its operator would."""
        process = self.processes.pop(name)
        process.terminate()
        process.wait(60)

    def cli(self, *words: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *words],
            env=os.environ | {"FLEETDECK_HOME": str(self.home)},
            capture_output=True, text=True, cwd=ROOT, timeout=120, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    # ------------------------------------------------------------------ pictures
    def shoot(self, *shots: Shot, meanwhile: Callable[[], None] | None = None, after_s: float = 4.0) -> None:
        """Open the window, call ``meanwhile`` when it has been there for ``after_s``, and take the pictures."""
        order = self.out / f"{shots[0].name}.json"
        order.parent.mkdir(parents=True, exist_ok=True)
        looks = {"width": 1280, "height": 800, "language": "en", "theme": "dark"} | self.looks
        order.write_text(
            json.dumps({"shots": [asdict(shot) for shot in shots], "out": str(self.out), "begin_s": after_s, **looks})
        )
        go = self.home / "go"
        go.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.situations.photograph", str(order), str(go)],
            env=os.environ | {"FLEETDECK_HOME": str(self.home), "QT_QPA_PLATFORM": "offscreen"},
            cwd=ROOT,
        )
        try:
            self.until((self.home / "opened").exists, "the window", 60)
            (self.home / "opened").unlink()
            time.sleep(after_s)
            if meanwhile is not None:
                meanwhile()
            go.touch()
            assert process.wait(240) == 0
        finally:
            process.kill()
            order.unlink(missing_ok=True)

    def close(self) -> None:
        """Take everything down."""
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        for server in (self.rabbitmq, self.redis):
            if server is not None:
                server.close()
        # the drivers may look for servers that are gone; what they hold ends with this process


def replaced(struct: Any, **fields: Any) -> Any:
    """The same value with other fields."""
    return msgspec.structs.replace(struct, **fields)
