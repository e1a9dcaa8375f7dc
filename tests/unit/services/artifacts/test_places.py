"""Both places of artifacts: what is put there comes back whole, by task and attempt, and nothing leaves the place."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from msgspec.structs import replace

from services.artifacts.bucket import BucketArtifacts
from services.artifacts.caps import Caps
from services.artifacts.folder import FolderArtifacts
from services.clock import ManualClock
from services.domain.errors import ArtifactError
from services.ports import ArtifactStore

Make = Callable[..., ArtifactStore]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["folder", "bucket"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Make:
    """A place with these caps; the bucket is one of fsspec's in memory."""
    objects = MemoryFileSystem(skip_instance_cache=True)
    objects.store, objects.pseudo_dirs = {}, [""]

    def made(**caps: int) -> ArtifactStore:
        limits = Caps(**({"free_bytes": 0} | caps))
        if request.param == "folder":
            return FolderArtifacts(tmp_path / "kept", clock, limits)
        return BucketArtifacts("memory://bucket/fleet", clock, limits, files=objects)

    return made


def read(place: ArtifactStore, one: object) -> bytes:
    with place.open(one) as stream:  # type: ignore[arg-type]
        return stream.read()


def test_files_and_bytes_come_back_with_their_checksums(make: Make, clock: ManualClock, tmp_path: Path) -> None:
    place, file = make(), tmp_path / "订单.csv"
    file.write_bytes(b"a,b\n" * 1000)
    table = place.put("t/1", 1, file.name, file, step="save")
    clock.advance(1)
    page = place.put("t/1", 2, "page.html", b"<p>")
    assert (table.name, table.kind, table.size, table.step, table.at) == (
        "订单.csv", "table", 4000, "save", clock.now_ms() - 1000,
    )  # fmt: skip
    assert table.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert place.list("t/1") == [table, page]
    assert (read(place, table), read(place, page)) == (file.read_bytes(), b"<p>")
    assert (place.list("t"), place.list("t/2")) == ([], [])


def test_a_name_that_is_taken_gets_a_number(make: Make) -> None:
    place = make()
    names = [place.put("t", 1, name, b"x").name for name in ("a.png", "a.png", "A.png", "../a.png")]
    assert len({name.lower() for name in names}) == 4
    assert names[:2] == ["a.png", "a-2.png"]
    assert place.put("t", 2, "a.png", b"x").name == "a.png"


def test_the_same_name_at_once(make: Make) -> None:
    place = make()
    threads = [threading.Thread(target=place.put, args=("t", 1, "a.txt", str(n).encode())) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = place.list("t")
    assert sorted(read(place, one) for one in found) == [str(n).encode() for n in range(8)]


@pytest.mark.parametrize(
    ("caps", "sizes", "says"),
    [
        ({"file_bytes": 10}, [10, 11], "larger than 10 B"),
        ({"task_bytes": 25}, [10, 10, 10], "larger than 5 B"),
        ({"task_bytes": 20}, [10, 10, 1], "have 20 B already"),
        ({"attempt_files": 2}, [1, 1, 1], "2 files already"),
    ],
)
def test_a_cap_keeps_what_came_before(make: Make, caps: dict[str, int], sizes: list[int], says: str) -> None:
    place = make(**caps)
    for size in sizes[:-1]:
        place.put("t", 1, "a.bin", b"x" * size)
    with pytest.raises(ArtifactError, match=says):
        place.put("t", 1, "b.bin", b"x" * sizes[-1])
    assert [one.size for one in place.list("t")] == sizes[:-1]


@pytest.mark.parametrize("what", ["missing", "folder", "pipe"])
def test_only_plain_files_are_taken(make: Make, tmp_path: Path, what: str) -> None:
    source = tmp_path / "source"
    if what == "folder":
        source.mkdir()
    elif what == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("there are no such files here")
    elif what == "pipe":
        os.mkfifo(source)
    with pytest.raises(ArtifactError, match="source"):
        make().put("t", 1, "x", source)
    assert make().list("t") == []


@pytest.mark.parametrize("path", ["", "..", "../../secret", "/etc/passwd", "ab/other/1/a.txt"])
def test_nothing_else_can_be_opened(make: Make, tmp_path: Path, path: str) -> None:
    place = make()
    one = place.put("t", 1, "a.txt", b"x")
    other = place.put("other", 1, "a.txt", b"y")
    (tmp_path / "secret").write_text("s")
    with pytest.raises(ArtifactError):
        place.open(replace(one, place=path))
    with pytest.raises(ArtifactError):
        place.open(replace(one, place=other.place))


def test_removal_takes_one_task_only(make: Make, clock: ManualClock) -> None:
    place = make()
    place.put("t", 1, "a.txt", b"x")
    other = place.put("u", 1, "a.txt", b"y")
    future = 4_000_000_000_000
    assert sorted(place.tasks(future)) == ["t", "u"]
    assert list(place.tasks(1)) == []
    place.remove("t")
    place.remove("t")
    assert (place.list("t"), place.list("u")) == ([], [other])
    assert list(place.tasks(future)) == ["u"]


def test_a_bucket_that_does_not_answer_is_told_by_its_address(clock: ManualClock) -> None:
    class Silent:
        def __getattr__(self, name: str) -> object:
            raise ConnectionError("no route")

    place = BucketArtifacts("s3://bucket/fleet", clock, files=Silent())
    for ask in (lambda: place.put("t", 1, "a", b"x"), lambda: place.list("t"), lambda: place.remove("t")):
        with pytest.raises(ArtifactError, match="s3://bucket/fleet: ConnectionError: no route"):
            ask()
