"""How far a long act is: a bar on stderr, for a person at a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from services.cli import output
from services.engine import portions

#: columns of a bar within a line
BLOCKS = 20
#: fewer are done before anybody has read a bar
MANY = 50


@contextmanager
def bar(what: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Call what is given with how many are done; nothing is drawn where nobody would see it."""
    if quiet or total < MANY or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    # here, because it is for people at a terminal only
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, no_color=not output.coloured(sys.stderr))
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def busy(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """What is done, with the seconds that it has taken; call what is given with the step of an act that has some."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, of: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, no_color=not output.coloured(sys.stderr))
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, of: progress.update(task, description=f"{what} {done}/{of}")


@contextmanager
def of_portions(what: str, total: int, *, quiet: bool = False) -> Iterator[None]:
    """A bar over an act that goes portion by portion."""
    with bar(what, total, quiet=quiet) as show, portions.watched(show):
        yield


def drawn(done: int, total: int) -> str:
    """A bar within a line that says more than one could."""
    full = BLOCKS * done // total if total else 0
    return f"[{'#' * full}{'.' * (BLOCKS - full)}]"
