"""A session is open whole or not at all."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import psutil
import pytest

import console.connection.open_connection
from console.connection.open_connection import OpenConnection
from console.local_slots import LocalSlots
from services import settings as config
from services.domain.errors import StoreClosed, UsageError
from services.domain.fleet.worker import WorkerInfo
from services.sample.fleet import Trickle
from services.settings.config_file import ConfigFile
from services.workers.host import LocalWorkers


def open_below(folder: Path) -> set[str]:
    """Files of this process below a folder."""
    found = set()
    for place in Path("/proc/self/fd").iterdir():
        try:
            target = str(place.readlink())
        except OSError:
            continue
        if target.startswith(str(folder)):
            found.add(target)
    return found


@pytest.mark.parametrize("part", ["SampleAtWork", "OverviewQueries"])
def test_what_cannot_be_opened_whole_leaves_no_file_and_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    seen: list[set[str]] = []

    def fail(*_parts: object) -> object:
        seen.append(open_below(tmp_path))
        raise OSError("no room")

    monkeypatch.setattr(console.connection.open_connection, part, fail)
    before = set(threading.enumerate())
    with pytest.raises(OSError, match="no room"):
        OpenConnection(config.load(home=tmp_path))
    assert any("history" in name for name in seen[0])
    assert open_below(tmp_path) == set()
    assert set(threading.enumerate()) <= before


def test_a_window_that_is_about_to_open_shares_the_processor_with_three_threads_that_look_and_none_that_leads(
    tmp_path: Path,
) -> None:
    session = OpenConnection(config.load(home=tmp_path))
    opened = set(threading.enumerate())
    session.watch()
    try:
        begun = {thread.name for thread in set(threading.enumerate()) - opened}
        assert begun == {"live-events", "live-snapshots", "live-depths"}
        session.lead()
        assert len(set(threading.enumerate()) - opened) > len(begun)
    finally:
        session.close()


def test_whoever_does_the_part_of_people_in_the_sample_leaves_before_its_store_is_closed(tmp_path: Path) -> None:
    session = OpenConnection(config.load(home=tmp_path))
    try:
        before = set(threading.enumerate())
        session.sample.load()
        people = {one for one in set(threading.enumerate()) - before if one.name.startswith("sample-")}
        assert "sample-care" in {one.name for one in people}
        session.sample.end()
        assert not [one.name for one in people if one.is_alive()]
    finally:
        session.close()


def test_a_sample_that_cannot_be_loaded_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = OpenConnection(config.load(home=tmp_path))
    try:

        def storefronts() -> list[psutil.Process]:
            return [one for one in psutil.Process().children() if any("storefront" in word for word in one.cmdline())]

        def full(*_words: object) -> None:
            assert storefronts()
            raise OSError("no room")

        monkeypatch.setattr(session.local, "start", full)
        with pytest.raises(OSError, match="no room"):
            session.sample.load()
        assert not session.sample.loaded
        assert not storefronts()
        monkeypatch.undo()
        session.sample.load()
        assert session.sample.loaded
    finally:
        session.close()


def test_a_sample_that_cannot_be_loaded_leaves_the_worker_of_a_person_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = OpenConnection(config.load(home=tmp_path))

    def full(*_words: object) -> None:
        raise OSError("no room")

    try:
        session.local.start(3, ("high", "normal"))
        monkeypatch.setattr(Trickle, "start", full)
        with pytest.raises(OSError, match="no room"):
            session.sample.load()
        assert session.local.works == (3, ("high", "normal"))
    finally:
        session.close()


def test_handlers_that_cannot_be_used_are_told_and_keep_nobody_from_looking(tmp_path: Path) -> None:
    settings = config.load(home=tmp_path)
    broken = msgspec.structs.replace(settings.worker, handlers=("handlers_that_are_nowhere",))
    session = OpenConnection(msgspec.structs.replace(settings, worker=broken))
    try:
        session.watch()
        assert session.shops() == {}
        with pytest.raises(UsageError, match="handlers_that_are_nowhere cannot be imported"):
            session.lead()
        with pytest.raises(UsageError, match="handlers_that_are_nowhere cannot be imported"):
            session.local.start(1)
        assert not session.local.name
    finally:
        session.close()


class Works(LocalWorkers):
    """Tells what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def start(self, slots: int, lanes: tuple[str, ...] = ()) -> None:  # type: ignore[override]
        self.asked.append("start")

    def stop(self, grace_s: float | None = None) -> bool:
        self.asked.append("stop")
        return True

    def close(self, grace_s: float | None = None) -> bool:
        self.asked.append("close")
        return True


def test_no_worker_starts_over_a_connection_that_is_closed() -> None:
    slots = LocalSlots(Works)
    assert slots.close()
    with pytest.raises(StoreClosed):
        slots.start(1)


class Sized(Works):
    """With a worker that works, whose slots somebody sets."""

    def __init__(self, auto: str = "") -> None:
        super().__init__()
        self._made = SimpleNamespace(
            state="running",
            info=lambda: WorkerInfo(worker="w", host="h", pid=1, auto=auto),
            set_slots=lambda slots: self.asked.append(f"slots {slots}"),
        )

    @property
    def worker(self) -> Any:
        return self._made


def test_a_worker_here_follows_the_settings_unless_it_sets_its_slots_itself(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[worker]\nslots = 9\n", encoding="utf-8")
    file = ConfigFile(tmp_path)
    for made, asked in ((Sized(), ["start", "slots 9"]), (Sized("auto:2-16"), ["start"])):
        slots = LocalSlots(lambda made=made: made, slots=5)  # type: ignore[misc]
        assert slots.slots == 5
        slots.follow(file)  # nothing works here yet
        assert slots.slots == 9, "whoever starts one later asks for so many"
        slots.start(5)
        slots.follow(file)
        assert made.asked == asked


def test_a_stop_stops_the_workers_that_are_being_started_too() -> None:
    made, begun, go_on, stops = Works(), threading.Event(), threading.Event(), threading.Event()

    def make() -> LocalWorkers:
        begun.set()
        go_on.wait(5)
        return made

    def stop() -> bool:
        stops.set()
        return slots.stop()

    slots = LocalSlots(make)
    with ThreadPoolExecutor(2) as pool:
        started = pool.submit(slots.start, 1)
        assert begun.wait(5)
        stopped = pool.submit(stop)
        assert stops.wait(5)
        go_on.set()
        started.result(5)
        assert stopped.result(5)
    assert made.asked == ["start", "stop"]


def test_a_close_waits_for_the_workers_that_are_being_made_and_other_executors_outlast_them() -> None:
    made, others = Works(), Works()
    begun, go_on, swaps = threading.Event(), threading.Event(), threading.Event()

    def make() -> LocalWorkers:
        begun.set()
        go_on.wait(5)
        return made

    def swap() -> None:
        swaps.set()
        slots.replace(others)

    slots = LocalSlots(make)
    with ThreadPoolExecutor(2) as pool:
        ahead = pool.submit(slots.prepare)
        assert begun.wait(5)
        replaced = pool.submit(swap)
        assert swaps.wait(5)
        go_on.set()
        ahead.result(5)
        replaced.result(5)
    slots.start(1)
    assert slots.close()
    assert made.asked == ["close"]
    assert others.asked == ["start", "close"]
