"""The files of a task, as a person may look at them from here."""

from __future__ import annotations

from typing import BinaryIO

import msgspec

from services.domain.errors import ArtifactError
from services.domain.task.artifact import Artifact, marked
from services.domain.task.record import Task
from services.ports import ArtifactStore


class Found(msgspec.Struct, frozen=True):
    """One file, and whether its bytes can be had here; otherwise they lie on the machine of its worker."""

    artifact: Artifact
    here: bool


class ArtifactQueries:
    """Reads the place of this machine's settings. Every call may take long: ask off the window's thread."""

    def __init__(self, place: ArtifactStore | None) -> None:
        """None: no files are kept."""
        self._place = place

    def where(self) -> str:
        """The place, "" for none."""
        return self._place.where() if self._place is not None else ""

    def of(self, task_id: str, record: Task | None) -> tuple[Found, ...]:
        """By attempt, then as they came: what is here, and what only the record knows.

        Raises:
            ArtifactError: the place does not answer.
        """
        here = self._place.list(task_id) if self._place is not None else []
        known = {(one.attempt, one.name) for one in here}
        attempts = record.attempts if record is not None else ()
        named = [marked(task_id, attempt.number, one) for attempt in attempts for one in attempt.artifacts]
        away = [Found(one, here=False) for one in named if (one.attempt, one.name) not in known]
        every = [*(Found(one, here=True) for one in here), *away]
        return tuple(sorted(every, key=lambda one: (one.artifact.attempt, one.artifact.at, one.artifact.name)))

    def open(self, artifact: Artifact) -> BinaryIO:
        """The bytes, to read from the start; the caller closes.

        Raises:
            ArtifactError: they are not here.
        """
        if self._place is None:
            raise ArtifactError("no files are kept here: artifacts.place is off")
        return self._place.open(artifact)

    def read(self, artifact: Artifact, most: int) -> bytes:
        """All bytes of a file that has at most so many.

        Raises:
            ArtifactError: they are not here, or more.
        """
        with self.open(artifact) as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise ArtifactError(f"{artifact.name} is larger than {most:,} bytes")
        return data
