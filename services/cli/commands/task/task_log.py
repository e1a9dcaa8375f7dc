"""``task log``: what the attempts of a task have printed, also while they run."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from typing import Any

from services import assembly
from services.cli import output, shapes
from services.cli.context import EXIT_OK, Context, whole
from services.domain.errors import NotFound, UsageError
from services.domain.task.record import Task
from services.domain.task.status import TERMINAL, Status
from services.ports import LogLine

#: seconds between two looks at a task that is followed
PACE_S = 0.5
#: nothing more is printed while a task is in one of these, and nobody knows for how long
OVER = TERMINAL | {Status.HELD}
HIGHEST = 2**31 - 1


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser = verbs.add_parser(
        "log",
        parents=[common],
        help="what an attempt has printed",
        description="The lines of the last attempt, or of --attempt. With --follow it goes on until the task has ended,"
        " attempt after attempt; with --json the document comes at the end then.",
    )
    parser.add_argument("id")
    parser.add_argument("--attempt", type=whole(0, 1000), default=0, metavar="N", help="0: the last one")
    parser.add_argument(
        "--start", type=whole(0, HIGHEST), default=0, metavar="PLACE", help="`next` of the lines before"
    )
    parser.add_argument("--follow", action="store_true", help="go on until the task, or that attempt, has ended")
    parser.set_defaults(handler=log)


def log(context: Context) -> int:
    """Print lines."""
    args = context.args
    with context.engine(looking=True) as engine:
        task = _task(engine, args.id)
        if args.attempt > task.attempt and not args.follow:
            raise UsageError(f"{args.id} has had {task.attempt} attempts", field="--attempt")
        reader = _Reader(engine, task, args.attempt, args.start)
        if not args.follow:
            found = list(reader.new())
            context.show(reader.document(found), [_line(one) for one in found])
            return EXIT_OK
        kept: list[LogLine] = []
        for lines in reader.follow():
            if context.json:
                kept += lines
            else:
                output.out(map(_line, lines))
    if context.json:
        context.show(reader.document(kept), [])
    return EXIT_OK


class _Reader:
    """Reads on from where it was."""

    def __init__(self, engine: assembly.Engine, task: Task, attempt: int, start: int) -> None:
        self._engine, self._task, self._only = engine, task, attempt
        self._number, self._place = attempt or task.attempt, start

    def new(self) -> Iterator[LogLine]:
        """Lines of the attempt since the last look."""
        while True:
            tail = assembly.queries(self._engine).tasks.log(self._task.task_id, self._number, self._place)
            yield from tail.lines
            if tail.place == self._place or not tail.lines:
                return
            self._place = tail.place

    def follow(self) -> Iterator[list[LogLine]]:
        """What comes, until nothing more can come."""
        pause = threading.Event()
        while True:
            task = _task(self._engine, self._task.task_id)
            # looked at before its lines are: what an attempt printed is stored before its end is
            over = task.status in OVER if not self._only else task.attempt > self._only or task.status in OVER
            if lines := list(self.new()):
                yield lines
            if not self._only and task.attempt > self._number:
                self._number, self._place = self._number + 1, 0
            elif over:
                return
            else:
                pause.wait(PACE_S)

    def document(self, lines: list[LogLine]) -> dict[str, Any]:
        """As it is told to programs."""
        told = [{"at": shapes.iso(one.at), "stream": one.stream, "text": one.text} for one in lines]
        return {"task_id": self._task.task_id, "attempt": self._number, "lines": told, "next": self._place}


def _task(engine: assembly.Engine, task_id: str) -> Task:
    record = engine.store.get([task_id])[0]
    if record is None:
        raise NotFound(f"there is no task {task_id!r:.220}; see `task list`", field="task_id")
    return record


def _line(one: LogLine) -> output.Line:
    at = (shapes.iso(one.at) or "")[11:23]
    text = f"{at}  {one.text}"
    return output.Line(text, [(0, len(at), "dim"), *([(len(at), len(text), "red")] if one.stream == "err" else [])])
