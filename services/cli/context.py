"""What every command gets: the parsed words, the output, and the engine once it is needed."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from services import assembly, settings
from services.cli import output, spoken, tables
from services.domain import audit
from services.domain.errors import ConsoleError, UsageError
from services.domain.fleet.environment import is_production
from services.domain.task.search import filter_time
from services.domain.text import shell
from services.domain.text.words import between_commas
from services.i18n import ngettext

#: what a person answers who means it, in either language
YES = frozenset({"y", "yes", "是"})
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_CONNECT = 0, 1, 2, 3
MAX_ROWS = 10_000
#: ten years; what is too long for a use of its own is refused there
MAX_SECONDS = 315_360_000.0


class ConsoleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How the window was asked for."""

    settings: settings.Settings
    screenshot: str = ""
    first_run: bool = False
    read_only: bool = False  #: a word asked for it, whatever is opened later
    named: bool = False  #: words or variables say which connection; otherwise the last one that was chosen is opened
    led: bool = False  #: they also say where its servers are, which holds for a whole run
    seconds: float = 0.0
    page: str = ""
    show: str = ""  #: what the page is to show: a filter, or the name of one thing
    at: int = 0  #: the moment it is to tell of, UTC ms; 0 for now
    now: str | None = None  #: what it shows once somebody goes back to now; None where that is the same
    link: str = ""  #: that was clicked and leads nowhere, which the window says
    size: tuple[int, int] | None = None  #: None: the usual one, or as much of it as the screen has room for
    demo: bool = False
    on_close: Callable[[], None] = msgspec.field(default=lambda: None)


OpenConsole = Callable[[ConsoleRequest], int]


class Context(msgspec.Struct):
    """One run of the command line."""

    args: argparse.Namespace
    open_console: OpenConsole
    origin: str = "cli"  #: where tasks come from that are created by it
    once: str = ""  #: under which they are created once, however often they are asked for; "" each time anew
    told: bool = False  #: that was answered before: those that are there are told again, and none is created

    @property
    def json(self) -> bool:
        """Whether to print one JSON document and nothing else."""
        return bool(getattr(self.args, "json", False))

    @property
    def named(self) -> bool:
        """Whether words or variables of this run say where to connect."""
        words = (getattr(self.args, name, "") for name in ("profile", "broker"))
        return any(words) or settings.names_connection()

    @property
    def led(self) -> bool:
        """Whether they say where the servers are, and no name of what stands in a file does."""
        return bool(getattr(self.args, "broker", "")) or settings.names_servers()

    def settings(self) -> settings.Settings:
        """Settings with the command line's words over them."""
        args = self.args
        return settings.load(
            profile=getattr(args, "profile", ""),
            broker=getattr(args, "broker", ""),
            redis=getattr(args, "redis", ""),
            read_only=getattr(args, "read_only", False),
        )

    @contextmanager
    def engine(self, *, looking: bool = False) -> Iterator[assembly.Engine]:
        """The engine, closed afterwards. ``looking``: records are read and nothing is sent, so a broker that does not
        answer is a warning and no refusal.
        """
        own = self.settings()
        made = own.embedded and not own.database.exists()  # where all of the folder was lost nothing else tells of it
        engine = assembly.open_engine(own, looking=looking, via=audit.CLI)
        try:
            if made:
                self.warn([spoken.phrase("there was no database, so an empty one was made: {path}", path=own.database)])
            self.warn([*([spoken.told(engine.newer)] if engine.newer else []), *map(spoken.say, engine.doubts)])
            self._take_notice(engine)
            yield engine
        finally:
            engine.close()

    def _take_notice(self, engine: assembly.Engine) -> None:
        """Record what other programs have sent, for whoever leads may be away, and the answer must be true of it."""
        try:
            assembly.take_notice(engine)
        except ConsoleError as exc:
            self.warn(
                [spoken.phrase("what other programs have sent since may be missing: {error}", error=spoken.told(exc))]
            )

    def show(self, document: Any, lines: Sequence[str]) -> None:
        """Print the document with ``--json``, else the lines."""
        if self.json:
            sys.stdout.write(output.document(document) + "\n")
            sys.stdout.flush()
        else:
            output.out(lines)

    def warn(self, sentences: Sequence[str]) -> None:
        """Tell on stderr what is worth a look; not with ``--json``, where the document has them as ``warnings``."""
        word = spoken.phrase("warning:")
        for sentence in [] if self.json else sentences:
            output.err(f"{sentence}\n", lead=f"fleetdeck: {word}", style="bold yellow")

    @property
    def person(self) -> bool:
        """Whether somebody sits at a terminal and can be asked."""
        return self._hears and sys.stderr.isatty()

    @property
    def _hears(self) -> bool:
        """Whether an answer can be typed; a standard input that was closed is none at all."""
        return not self.json and sys.stdin is not None and sys.stdin.isatty()

    def confirm(self, what: str, count: int | None = None, preview: Sequence[str] = ()) -> bool:
        """Whether a command may go on: ``--yes``, or the person says so after reading ``preview``.

        Raises:
            UsageError: nobody can be asked.
        """
        if getattr(self.args, "yes", False) or count == 0:
            return True
        asked = what
        if count is not None:
            asked = ngettext("{what} {count} task", "{what} {count} tasks", count).format(what=what, count=count)
        if not self._hears:
            if hasattr(self.args, "dry_run"):
                told = spoken.phrase("{asked}: add --yes to do it or --dry-run to look first", asked=asked)
            else:
                told = spoken.phrase("{asked}: add --yes to do it", asked=asked)
            raise UsageError(told, field="--yes")
        output.err("".join(f"{line}\n" for line in preview))
        output.err(spoken.phrase("{asked}? [y/N] ", asked=asked))
        if sys.stdin.readline().strip().lower() in YES:
            return True
        output.err(spoken.phrase("nothing was done") + "\n")
        return False

    def sure(self, engine: assembly.Engine, what: str) -> bool:
        """In production a person is asked."""
        return not is_production(engine.settings.environment) or self.confirm(what)

    def typed(self, question: str, otherwise: str, field: str, preview: Sequence[str] = ()) -> str:
        """What a person types after reading ``preview``; ``--yes`` does not answer this.

        Raises:
            UsageError: nobody can be asked; ``otherwise`` says how to go on, with the option ``field``.
        """
        if not self._hears:
            raise UsageError(otherwise, field=field)
        output.err("".join(f"{line}\n" for line in preview))
        output.err(f"{question}: ")
        return sys.stdin.readline().strip()


def examples(commands: Sequence[str]) -> dict[str, Any]:
    """What a noun's help ends with, for ``add_parser``."""
    lines = "".join(f"  fleetdeck {shell.written(command)}\n" for command in commands)
    return {"epilog": f"examples:\n{lines}", "formatter_class": argparse.RawDescriptionHelpFormatter}


#: under the names by which every command knows them
table, plain = tables.table, tables.plain


def whole(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number within bounds, for argparse."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(
                spoken.phrase(
                    "must be a whole number from {least} to {most}, not {text}",
                    least=least,
                    most=most,
                    text=f"{text!r:.40}",
                )
            )
        return number

    return read


def several(words: Iterable[str]) -> tuple[str, ...]:
    """The names of an option that may stand again and holds several with commas, each once."""
    return tuple(dict.fromkeys(name for word in words for name in between_commas(word)))


def seconds(text: str) -> float:
    """Reads seconds, for argparse: a bare number of them, or a duration such as ``10m``."""
    span = filter_time.duration_ms(text)
    if span is not None:
        return span / 1000
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            spoken.phrase("takes seconds or a duration such as 90s, 10m or 2h, not {text}", text=f"{text!r:.40}")
        )
    return number
