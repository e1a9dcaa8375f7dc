"""Artifacts in a folder of this machine (or one that all machines mount)."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from services import home_folder, whole_file
from services.artifacts import caps
from services.artifacts.caps import CARDS, Caps
from services.domain.errors import ArtifactError
from services.domain.task import artifact as names
from services.domain.task.artifact import Artifact, Source
from services.domain.text.said import said
from services.ports import Clock

_PART = ".part-"


class FolderArtifacts:
    """``root/ab/task/attempt/name``; the card of each file lies in ``.cards`` beside it."""

    def __init__(self, root: Path, clock: Clock, caps: Caps | None = None) -> None:
        """The folder is made with the first file."""
        self._root, self._clock, self._caps = root, clock, caps or Caps()
        self._lock = threading.Lock()

    def where(self) -> str:
        """The folder."""
        return str(self._root)

    def put(self, task_id: str, attempt: int, name: str, source: Source, kind: str = "", step: str = "") -> Artifact:
        """Keep a copy; see the port."""
        safe = names.safe_name(name)
        place = f"{names.folder_of(task_id)}/{attempt}"
        folder = self._root / place
        with caps.opened(source) as stream:
            try:
                final, cap, left = self._reserve(folder, safe)
                size, digest = self._fill(final, stream, cap, left)
                one = Artifact(
                    task_id=task_id,
                    attempt=attempt,
                    name=final.name,
                    kind=names.kind_of(final.name, kind),
                    size=size,
                    sha256=digest,
                    step=step,
                    at=self._clock.now_ms(),
                    place=f"{place}/{final.name}",
                )
                _write(folder / CARDS / f"{final.name}.json", caps.card(one))
            except OSError as exc:
                why = exc.strerror or str(exc)
                raise ArtifactError(said("artifact.not_kept_in", file=safe, place=str(self._root), why=why)) from exc
        return one

    def list(self, task_id: str) -> list[Artifact]:
        """What lies here; see the port."""
        folder = names.folder_of(task_id)
        try:
            found = [
                self._described(task_id, attempt, f"{folder}/{attempt}", entry)
                for attempt in caps.attempts_of(_names(self._root / folder))
                for entry in _files(self._root / folder / str(attempt))
            ]
        except OSError as exc:
            raise ArtifactError(said("artifact.unread", file=str(self._root), why=exc.strerror or str(exc))) from exc
        return caps.in_order(found)

    def open(self, artifact: Artifact) -> BinaryIO:
        """The bytes; see the port."""
        path = self._root / artifact.place
        try:
            inside = path.resolve().is_relative_to(self._root.resolve() / names.folder_of(artifact.task_id))
            if artifact.place and inside and path.is_file():
                return path.open("rb")
        except (OSError, ValueError) as exc:
            raise ArtifactError(said("artifact.unread", file=artifact.name, why=str(exc))) from exc
        raise ArtifactError(said("artifact.elsewhere", file=artifact.name, place=str(self._root)))

    def remove(self, task_id: str) -> None:
        """Everything of a task; see the port."""
        folder = self._root / names.folder_of(task_id)
        try:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(folder)
            with contextlib.suppress(OSError):  # others are in it
                folder.parent.rmdir()
        except OSError as exc:
            raise ArtifactError(said("artifact.not_removed", file=str(folder), why=exc.strerror or str(exc))) from exc

    def tasks(self, before: int) -> Iterator[str]:
        """Tasks that are left alone since then; see the port."""
        try:
            for shard in sorted(_names(self._root)):
                for name in _names(self._root / shard):
                    folder = self._root / shard / name
                    if _touched(folder) < before and (task_id := _owner(folder)):
                        yield task_id
        except OSError as exc:
            raise ArtifactError(said("artifact.unread", file=str(self._root), why=exc.strerror or str(exc))) from exc

    def _reserve(self, folder: Path, name: str) -> tuple[Path, int, int]:
        """An empty file under a name that is free, how many bytes it may have, and how many this disk has for it; 0 for
        any number.
        """
        with self._lock:
            home_folder.check_there(folder)
            (folder / CARDS).mkdir(parents=True, exist_ok=True)
            left = shutil.disk_usage(folder).free - self._caps.free_bytes if self._caps.free_bytes else 0
            if self._caps.free_bytes and left <= 0:
                raise ArtifactError(said("artifact.disk", file=name, place=str(self._root)))
            kept = sum(_size(file) for number in _names(folder.parent) for file in _files(folder.parent / number))
            files = _files(folder)
            cap = caps.room(self._caps, kept, len(files), name)
            taken = {file.name.lower() for file in files}
            final = folder / caps.free_name(name, lambda one: one.lower() in taken)
            final.touch(exist_ok=False)
        return final, cap, left

    def _fill(self, final: Path, source: BinaryIO, cap: int, left: int) -> tuple[int, str]:
        """Copy up to ``cap`` bytes, and no more than ``left``, for what else lies on this disk needs room to grow."""
        of_disk = bool(left) and (not cap or left < cap)
        part = final.parent / f"{_PART}{secrets.token_hex(6)}"
        try:
            with part.open("xb") as stream:
                told = caps.copied(source, stream.write, final.name, left if of_disk else cap)
            whole_file.put(part, final)
        except BaseException as exc:
            for path in (part, final):
                with contextlib.suppress(OSError):
                    path.unlink()
            if of_disk and isinstance(exc, ArtifactError):
                raise ArtifactError(said("artifact.disk_room", file=final.name, place=str(self._root))) from exc
            raise
        return told

    def _described(self, task_id: str, attempt: int, folder: str, file: Path) -> Artifact:
        place = f"{folder}/{file.name}"
        with contextlib.suppress(OSError):
            found = caps.read_card((file.parent / CARDS / f"{file.name}.json").read_bytes(), place)
            if found is not None and found.task_id == task_id:
                return found
        return caps.without_card(task_id, attempt, place, _size(file), round(file.stat().st_mtime * 1000))


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{_PART}{secrets.token_hex(6)}")
    part.write_bytes(data)
    whole_file.put(part, path)


def _names(folder: Path) -> list[str]:
    """Folders in a folder, none where there is none."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files(folder: Path) -> list[Path]:
    """Plain files of an attempt; what is still being written is none."""
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / entry.name for entry in found if not entry.name.startswith(".")]


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _touched(folder: Path) -> int:
    """UTC ms of the last thing that came into the folder of a task."""
    changed = [folder.stat().st_mtime]
    for name in _names(folder):
        with contextlib.suppress(FileNotFoundError):
            changed.append((folder / name).stat().st_mtime)
    return round(max(changed) * 1000)


def _owner(folder: Path) -> str:
    """The task whose folder it is, by any card in it; "" where there is none."""
    for name in _names(folder):
        for path in sorted((folder / name / CARDS).glob("*.json")):
            with contextlib.suppress(OSError):
                found = caps.read_card(path.read_bytes(), "")
                if found is not None:
                    return found.task_id
    return ""
