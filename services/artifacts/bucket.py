"""Artifacts in a bucket, or in whatever else fsspec reaches by an address."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, cast

from services.artifacts import caps
from services.artifacts.caps import CARDS, CHUNK, Caps
from services.domain.errors import ArtifactError
from services.domain.task import artifact as names
from services.domain.task.artifact import Artifact, Source
from services.domain.text.said import said
from services.ports import Clock


class BucketArtifacts:
    """Objects ``root/ab/task/attempt/name``; the card of each lies under ``.cards`` beside it.

    A bucket has no free disk to look at, and no two workers write the same attempt, so a lock of this process is enough
    for its names.
    """

    def __init__(self, address: str, clock: Clock, caps: Caps | None = None, *, files: Any = None) -> None:
        """``address``: ``s3://bucket/folder``; ``files``: the file system instead of the one that it names.

        Nothing is asked yet; s3fs takes keys, region and endpoint from the usual AWS variables and files.
        """
        scheme, _, root = address.partition("://")
        self._address, self._root = address, root.strip("/")
        self._scheme, self._made, self._clock, self._caps = scheme, files, clock, caps or Caps()
        self._lock = threading.Lock()
        self._reserved: set[str] = set()

    def where(self) -> str:
        """The address."""
        return self._address

    def put(self, task_id: str, attempt: int, name: str, source: Source, kind: str = "", step: str = "") -> Artifact:
        """Keep a copy; see the port."""
        safe = names.safe_name(name)
        place = f"{names.folder_of(task_id)}/{attempt}"
        with caps.opened(source) as stream, self._asked("artifact.not_kept_in", file=safe):
            final, cap = self._reserve(place, safe)
            try:
                size, digest = self._send(f"{place}/{final}", stream, cap)
                one = Artifact(
                    task_id=task_id,
                    attempt=attempt,
                    name=final,
                    kind=names.kind_of(final, kind),
                    size=size,
                    sha256=digest,
                    step=step,
                    at=self._clock.now_ms(),
                    place=f"{place}/{final}",
                )
                self._files.pipe_file(self._path(f"{place}/{CARDS}/{final}.json"), caps.card(one))
            finally:
                with self._lock:
                    self._reserved.discard(f"{place}/{final}")
        return one

    def list(self, task_id: str) -> list[Artifact]:
        """What lies here; see the port."""
        folder = names.folder_of(task_id)
        with self._asked("artifact.unlisted"):
            found = self._found(folder)
            cards = {name: entry for name, entry in found.items() if f"/{CARDS}/" in name}
            texts = self._files.cat([self._path(name) for name in cards]) if cards else {}
        told = {
            name: caps.read_card(texts.get(self._path(name), b""), name.replace(f"{CARDS}/", "").removesuffix(".json"))
            for name in cards
        }
        known = {one.place: one for one in told.values() if one is not None and one.task_id == task_id}
        return caps.in_order(
            known.get(name) or caps.without_card(task_id, int(name.split("/")[2]), name, int(entry["size"] or 0), 0)
            for name, entry in found.items()
            if name not in cards and name.split("/")[2].isdigit()
        )

    def open(self, artifact: Artifact) -> BinaryIO:
        """The bytes; see the port."""
        parts = artifact.place.split("/")
        inside = artifact.place.startswith(names.folder_of(artifact.task_id) + "/")
        if not inside or len(parts) != 4 or {"", ".", ".."} & set(parts):
            raise ArtifactError(said("artifact.no_place", file=artifact.name, place=self._address))
        with self._asked("artifact.unread_there", file=artifact.name):
            return cast("BinaryIO", self._files.open(self._path(artifact.place), "rb"))

    def remove(self, task_id: str) -> None:
        """Everything of a task; see the port."""
        with self._asked("artifact.unremoved"), contextlib.suppress(FileNotFoundError):
            self._files.rm(self._path(names.folder_of(task_id)), recursive=True)

    def tasks(self, before: int) -> Iterator[str]:
        """Tasks that are left alone since then; see the port. An object's card tells its task and when it came."""
        with self._asked("artifact.unlisted"):
            shards = [entry["name"] for entry in self._entries(self._root) if entry["type"] == "directory"]
        for shard in sorted(shards):
            with self._asked("artifact.unlisted"):
                found = [path for path in self._files.find(shard) if f"/{CARDS}/" in path]
                texts = self._files.cat(found) if found else {}
            newest: dict[str, int] = {}
            for text in texts.values():
                one = caps.read_card(text, "")
                if one is not None:
                    newest[one.task_id] = max(newest.get(one.task_id, 0), one.at)
            yield from sorted(task_id for task_id, at in newest.items() if at < before)

    def _reserve(self, place: str, name: str) -> tuple[str, int]:
        with self._lock:
            found = self._found(place.rpartition("/")[0])
            files = {path: entry for path, entry in found.items() if f"/{CARDS}/" not in path}
            own = {path for path in (*files, *self._reserved) if path.rpartition("/")[0] == place}
            cap = caps.room(self._caps, sum(int(entry["size"] or 0) for entry in files.values()), len(own), name)
            taken = {path.rpartition("/")[2].lower() for path in own}
            final = caps.free_name(name, lambda one: one.lower() in taken)
            self._reserved.add(f"{place}/{final}")
        return final, cap

    def _send(self, place: str, source: BinaryIO, cap: int) -> tuple[int, str]:
        """Look at all of it first: an upload that must be taken back may stay as a half one for ever."""
        size, digest = caps.copied(source, lambda chunk: None, place.rpartition("/")[2], cap)
        source.seek(0)
        sent = hashlib.sha256()
        with self._files.open(self._path(place), "wb") as target:
            left = size
            while left and (chunk := source.read(min(CHUNK, left))):
                sent.update(chunk)
                target.write(chunk)
                left -= len(chunk)
        if sent.hexdigest() != digest:
            raise ArtifactError(said("artifact.changed", file=place.rpartition("/")[2]))
        return size, digest

    def _found(self, folder: str) -> dict[str, dict[str, Any]]:
        """Objects below a folder, by their places."""
        try:
            found = self._files.find(self._path(folder), detail=True)
        except FileNotFoundError:
            return {}
        return {path.lstrip("/").removeprefix(f"{self._root}/"): entry for path, entry in found.items()}

    def _entries(self, path: str) -> Sequence[dict[str, Any]]:
        try:
            return [*self._files.ls(path, detail=True)]
        except FileNotFoundError:
            return []

    def _path(self, place: str) -> str:
        return self._files._strip_protocol(f"{self._scheme}://{self._root}/{place}")  # type: ignore[no-any-return]  # noqa: SLF001

    @property
    def _files(self) -> Any:
        if self._made is None:
            try:
                import fsspec

                self._made = fsspec.filesystem(self._scheme, use_listings_cache=False)
            except ImportError as exc:
                raise ArtifactError(said("artifact.packages", place=self._address, why=str(exc))) from exc
        return self._made

    @contextlib.contextmanager
    def _asked(self, code: str, **what: str) -> Iterator[None]:
        try:
            yield
        except ArtifactError:
            raise
        except Exception as exc:  # the drivers of fsspec raise whatever their clients raise
            why = f"{type(exc).__name__}: {exc}"
            raise ArtifactError(said(code, **what, place=self._address, why=why)) from exc
