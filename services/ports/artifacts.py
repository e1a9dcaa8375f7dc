"""Where the files of attempts lie: a folder or a bucket. Nothing of them goes through the store or the broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol

from services.domain.task.artifact import Artifact, Source


class ArtifactStore(Protocol):
    """Keeps files by task and attempt. Thread-safe."""

    def put(self, task_id: str, attempt: int, name: str, source: Source, kind: str = "", step: str = "") -> Artifact:
        """Keep a copy of a file or of these bytes. ``name`` is made safe and, where the attempt has it already,
        numbered; ``kind`` "" is told by the name.

        Raises:
            ArtifactError: there is no such file, a cap is reached, or the place does not take it; nothing is kept.
        """

    def list(self, task_id: str) -> list[Artifact]:
        """What lies here of a task, by attempt, then in the order it came.

        Raises:
            ArtifactError: the place does not answer.
        """

    def open(self, artifact: Artifact) -> BinaryIO:
        """The bytes, to read from the start; the caller closes.

        Raises:
            ArtifactError: it is not here, or its place is none of this store's.
        """

    def remove(self, task_id: str) -> None:
        """Remove everything of a task; nothing happens where there is nothing.

        Raises:
            ArtifactError: the place does not answer.
        """

    def tasks(self, before: int) -> Iterator[str]:
        """Tasks with files here to which nothing has been added since ``before`` (UTC ms).

        Raises:
            ArtifactError: the place does not answer.
        """

    def where(self) -> str:
        """The place, as people read it."""
