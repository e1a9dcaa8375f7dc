"""Takes the files of one attempt for its executor, and tells its record about them."""

from __future__ import annotations

import logging
from pathlib import Path, PurePath

from services.domain.errors import ArtifactError
from services.domain.task.artifact import IN_RECORD, Artifact, ArtifactMark, Source, mark
from services.domain.text.mask import masked_text
from services.domain.text.said import said
from services.ports import ArtifactStore

log = logging.getLogger(__name__)
NOTE_LIMIT, SUFFIX_CHARS = 500, 6  #: characters


class AttemptArtifacts:
    """What one attempt handed over. Nothing here ever fails the task: what cannot be kept is a note in its record."""

    __slots__ = ("_attempt", "_marks", "_more", "_notes", "_store", "_task_id")

    def __init__(self, store: ArtifactStore | None, task_id: str, attempt: int) -> None:
        """``store`` None: this worker keeps no files."""
        self._store, self._task_id, self._attempt = store, task_id, attempt
        self._marks: list[ArtifactMark] = []
        self._notes: list[str] = []
        self._more = 0

    def add(self, source: Source, *, name: str = "", kind: str = "", step: str = "") -> Artifact | None:
        """Keep a copy; see ``ArtifactSink``."""
        called = _shown(name or (source.name if isinstance(source, Path) else "file"))
        if self._store is None:
            self.note(said("artifact.off"))
            return None
        try:
            one = self._store.put(self._task_id, self._attempt, called, source, kind, masked_text(step)[:100])
        except ArtifactError as exc:
            self.note(str(exc))
            return None
        except Exception as exc:  # the edge of a driver: the task did its work, whatever becomes of its files
            log.exception("a file of %s could not be kept", self._task_id)
            self.note(said("artifact.not_kept", file=called, why=f"{type(exc).__name__}: {exc}"))
            return None
        if len(self._marks) < IN_RECORD:
            self._marks.append(mark(one))
        else:
            self._more += 1
        return one

    def note(self, text: str) -> None:
        """Say in the record what could not be kept, and why."""
        text = masked_text(text)
        if text not in self._notes:
            self._notes.append(text)

    def told(self) -> tuple[tuple[ArtifactMark, ...], str]:
        """For the record of the attempt: its first files, and what is to be said about the others."""
        notes = [*self._notes]
        if self._more:
            notes.append(said("artifact.more", count=self._more))
        return tuple(self._marks), "; ".join(notes)[:NOTE_LIMIT]


def _shown(name: str) -> str:
    """The name without a secret in it; what kind of file it is stays to be seen."""
    shown = masked_text(name)
    suffix = PurePath(name).suffix
    return shown if shown == name or shown.endswith(suffix) or len(suffix) > SUFFIX_CHARS else shown + suffix
