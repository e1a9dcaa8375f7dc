"""Files of an attempt: kept and named in its record, and never a reason to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.artifacts.caps import Caps
from services.artifacts.folder import FolderArtifacts
from services.clock import ManualClock
from services.domain.task.artifact import IN_RECORD
from services.executors.base import Job, JobContext, Outcome
from services.workers.abilities import Abilities
from services.workers.artifact_sink import AttemptArtifacts
from services.workers.runner import Runner
from services.workers.slots import ClaimedTask
from tests.unit.services.engine.room import POLICY, Room
from tests.unit.services.workers.test_runner import Made


def folder(path: Path, **caps: int) -> FolderArtifacts:
    return FolderArtifacts(path / "kept", ManualClock(), Caps(**({"free_bytes": 0} | caps)))


def test_the_record_names_the_first_files_and_says_that_there_are_more(tmp_path: Path) -> None:
    place = folder(tmp_path)
    sink = AttemptArtifacts(place, "t", 1)
    for n in range(IN_RECORD + 2):
        assert sink.add(b"x", name=f"{n}.txt") is not None
    marks, note = sink.told()
    assert [one.name for one in marks] == [f"{n}.txt" for n in range(IN_RECORD)]
    assert note == "2 more files are kept than are named here"
    assert len(place.list("t")) == IN_RECORD + 2


def test_what_cannot_be_kept_is_a_note_once(tmp_path: Path) -> None:
    sink = AttemptArtifacts(folder(tmp_path, file_bytes=1), "t", 1)
    assert [sink.add(b"xy", name="a.txt"), sink.add(b"xy", name="a.txt"), sink.add(tmp_path / "no.png")] == [None] * 3
    marks, note = sink.told()
    assert marks == ()
    assert note == "a.txt is larger than 1 B; no.png cannot be read: No such file or directory"


def test_a_worker_that_keeps_none_says_so() -> None:
    sink = AttemptArtifacts(None, "t", 1)
    assert sink.add(b"x", name="a") is None
    assert sink.told() == ((), "this worker keeps no files: artifacts.place is off")


def test_a_note_holds_no_secret() -> None:
    sink = AttemptArtifacts(None, "t", 1)
    sink.note("https://ann:hunter22@files.example.com/a.png did not answer")
    assert sink.told() == ((), "https://••••@files.example.com/a.png did not answer")


@pytest.mark.parametrize("ok", [True, False])
def test_the_end_of_an_attempt_carries_its_files(room: Room, tmp_path: Path, ok: bool) -> None:
    place = folder(tmp_path)

    def run(job: Job, context: JobContext) -> Outcome:
        context.artifacts.add(b"<p>", name="page.html", step="open")
        return Outcome(ok=ok, error="" if ok else "it broke")

    executors = {"rpa": Made(run)}
    abilities = Abilities(executors, room.registry)
    work = Runner(
        room.store,
        room.clock,
        room.registry,
        executors,
        worker="w1",
        policy=POLICY,
        abilities=abilities,
        artifacts=place,
    )
    task = room.running()
    op = work.run(ClaimedTask(task=task, owner=task.owner, delivery=None), 0)
    room.ask(op)
    (attempt,) = room.task(task.task_id).attempts
    assert [(one.name, one.kind, one.step) for one in attempt.artifacts] == [("page.html", "html", "open")]
    assert place.list(task.task_id)[0].sha256 == attempt.artifacts[0].sha256
