"""The command line: words to commands, errors to exit codes."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import logging
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NoReturn

from services import assembly, i18n
from services import log as logs
from services.cli import output, spoken, window
from services.cli.context import EXIT_CONNECT, EXIT_FAILED, EXIT_OK, EXIT_USAGE, ConsoleRequest, Context, OpenConsole
from services.domain.errors import BrokerUnavailable, ConsoleError, OperatorError, StoreUnavailable, UsageError
from services.domain.text import view_link
from services.i18n import N_
from services.version import VERSION

__all__ = ["ConsoleRequest", "run"]


def run(argv: Sequence[str], open_console: OpenConsole, tell: Callable[[str], object] | None = None) -> int:
    """Do what the words say; returns the exit code (0 done, 1 refused or failed, 2 wrong usage, 3 cannot connect).

    ``tell`` shows why a window does not open, where nobody sees what is written.
    """
    fail = _fail
    context = Context(argparse.Namespace(json="--json" in argv), open_console)
    output.COLOURLESS.set("--no-color" in argv)
    try:
        with _speaking(context):
            words, link = _opening(_readable(argv))
            args = _for_window(words) or grammar(said=words).parse_args(words)
        args.clicked = link
        logs.set_up(verbose=getattr(args, "verbose", False))
        context = Context(args, open_console)
        if args.handler is window.console or getattr(args, "shows_window", False):
            fail = partial(_fail, tell=tell)
            _reveal(context, argv)
            return int(args.handler(context))  # a window chooses its language itself
        with _speaking(context):
            window.refuse_without_window(args, spoken.phrase("this command opens none; leave it out"))
            _reveal(context, argv)
            return int(args.handler(context))
    except UsageError as exc:
        return fail(context, exc, EXIT_USAGE)
    except (BrokerUnavailable, StoreUnavailable) as exc:
        return fail(context, exc, EXIT_CONNECT)
    except ConsoleError as exc:
        return fail(context, exc, EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_FAILED
    except BrokenPipeError:
        return EXIT_OK
    except OSError as exc:  # a home folder that cannot be made or written, a full disk
        where = f"{exc.filename}: " if exc.filename else ""
        return fail(context, ConsoleError(f"{where}{spoken.told(exc)}"), EXIT_FAILED)
    finally:
        output.REVEALED.set(False)
        output.COLOURLESS.set(False)


def _speaking(context: Context) -> AbstractContextManager[None]:
    """Say everything in the language of this run, but for threads of a worker or server, which write for others."""
    return i18n.speaking(spoken.language(json=context.json))


def _reveal(context: Context, argv: Sequence[str]) -> None:
    """Show secrets in this run, if it asks for that, once it is in the audit who does so."""
    if not getattr(context.args, "reveal", False):
        return
    with context.engine() as engine:
        assembly.commands(engine).records.reveal(f"fleetdeck {shlex.join(argv)}"[:500])
    output.REVEALED.set(True)


#: texts of people and places to go on from; everything else means something by being there
MAY_BE_EMPTY = frozenset({"--reason", "--note", "--filter", "--cursor", "--before"})


#: argparse's words for a name that is none of those it knows
_CHOICE = re.compile(r"invalid choice: (?P<given>.*) \(choose from (?P<known>.*)\)")


#: what else argparse says, and the same in our words
_SAYINGS = tuple(
    (re.compile(pattern), template)
    for pattern, template in (
        (r"the following arguments are required: (?P<names>.*)", N_("the following arguments are required: {names}")),
        (r"one of the arguments (?P<names>.*) is required", N_("one of the arguments {names} is required")),
        (r"expected one argument", N_("expected one argument")),
        (r"expected at least one argument", N_("expected at least one argument")),
        (r"expected (?P<n>\d+) arguments", N_("expected {n} arguments")),
        (r"not allowed with argument (?P<name>.*)", N_("not allowed with argument {name}")),
        (r"invalid (?P<kind>\w+) value: (?P<given>.*)", N_("invalid {kind} value: {given}")),
    )
)


def _said(words: str) -> str:
    """What argparse says, in the language of the run."""
    found = ((pattern.fullmatch(words), template) for pattern, template in _SAYINGS)
    return next((spoken.phrase(template, **match.groupdict()) for match, template in found if match), words)


#: from here on one word is taken for another that was misspelt
ALIKE = 0.7
#: where a run keeps which options were said already
SAID = "said_options"


class _Once(argparse._StoreAction):  # noqa: SLF001 - argparse has no public name for it
    """Takes an option's value once: of two filters argparse would keep the last, and cancel what the first left out."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Keep the value."""
        said = vars(namespace).setdefault(SAID, set())
        if option_string is not None and self.dest in said:
            raise argparse.ArgumentError(self, spoken.phrase("it stands there twice; say once what is meant"))
        said.add(self.dest)
        super().__call__(parser, namespace, values, option_string)


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]  # noqa: SLF001
    """Declares nouns and verbs: each takes the options that may stand anywhere, and knows who does it."""

    common: argparse.ArgumentParser

    def add_parser(self, name: str, *, handler: Callable[[Context], int] | None = None, **options: Any) -> Any:
        """As argparse has it."""
        parser = super().add_parser(name, common=self.common, **options)
        if handler is not None:
            parser.set_defaults(handler=handler)
        return parser

    def add_name(self, name: str, **options: Any) -> None:
        """Only the name and its line of help."""
        super().add_parser(name, common=None, add_help=False, **options)


class Parser(argparse.ArgumentParser):
    """Raises where argparse would print and leave, so that ``--json`` answers wrong words in JSON too."""

    _words: Sequence[str] = ()

    def __init__(self, common: argparse.ArgumentParser | None, *, parents: Sequence[Any] = (), **options: Any) -> None:
        """``common``: the options that may stand anywhere, None where nobody reads what there is."""
        super().__init__(parents=[*parents, common] if common is not None else [], **options)
        self.common = common
        self.register("action", "parsers", _Commands)
        # what may stand anywhere comes from a parser of argparse's own: there the last word counts, as over an alias
        for name in (None, "store"):
            self.register("action", name, _Once)

    def add_subparsers(self, **options: Any) -> Any:
        """As argparse has it."""
        commands: Any = super().add_subparsers(**options)
        commands.common = self.common
        return commands

    def format_help(self) -> str:
        """As ever, in the language of the run, in colour on a terminal that wants it."""
        with self._spoken(coloured=output.coloured(sys.stdout)):
            return super().format_help()

    def format_usage(self) -> str:
        """The same of the usage alone, which stands above an error and is plain."""
        with self._spoken(coloured=False):
            return super().format_usage()

    @contextlib.contextmanager
    def _spoken(self, *, coloured: bool) -> Iterator[None]:
        # here, because only help needs it
        from services.cli import helps

        plain = self.formatter_class
        helps.say(self)
        self.formatter_class = helps.formatter(plain, coloured=coloured)
        try:
            yield
        finally:
            self.formatter_class = plain

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse has it, but what no option takes is told by the command that was meant, with its own usage."""
        self._words = tuple(args or ())
        known, left = super().parse_known_args(args, namespace)
        if left:
            self._strange(left)
        return known, left

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """As argparse has it, which takes ``--`` for the end of the options also where it is what one of them is given
        (``--note=--``), or a word behind that end, and makes an empty list of it.
        """
        if arg_strings != ["--"] or not (action.option_strings or action.nargs is None):
            return super()._get_values(action, arg_strings)
        value = self._get_value(action, "--")
        self._check_value(action, value)
        return value if action.nargs in (None, argparse.OPTIONAL) else [value]

    def _strange(self, left: Sequence[str]) -> NoReturn:
        word = next((word for word in left if word.startswith("-")), left[0])
        name = word.partition("=")[0]
        options = [name for action in self._actions for name in action.option_strings]
        near = difflib.get_close_matches(name, options, 1, ALIKE)
        if word.startswith("-"):
            what = spoken.phrase("there is no option {name}", name=name)
        else:
            what = spoken.phrase("nothing takes the word '{word}'", word=word)
        if near:
            what = spoken.meant(what, near[0])
        else:
            what = spoken.phrase("{what}; `{command} --help` tells what it takes", what=what, command=self.prog)
        self.print_usage(sys.stderr)
        command = self.prog.removeprefix("fleetdeck").strip()
        raise UsageError(f"{command}: {what}" if command else what, field=name)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        head, _, tail = message.partition(": ")
        named = head.removeprefix("argument ") if head.startswith("argument ") else tail
        field = named.split(", ")[0].split("/")[-1]
        if wrong := _CHOICE.fullmatch(tail):
            known = wrong["known"].replace("'", "")
            what, given = field.lower(), wrong["given"]
            if what.startswith("--"):
                message = spoken.phrase("{name} takes {known}, not {given}", name=what, known=known, given=given)
            else:
                message = spoken.phrase(
                    "there is no {what} {given}; there are {known}", what=what, given=given, known=known
                )
            given = given.strip("'")
            near = difflib.get_close_matches(given, known.split(", "), 1, ALIKE)
            message = spoken.meant(message, near[0] if near else "")
            before = self._words[self._words.index(given) - 1] if given in self._words[1:] else ""
            if what == "verb" and before.startswith("-"):  # ``handover --since 12h`` leaves out which of them
                message = spoken.phrase(
                    "{option} stands behind the verb: say first which of {known}", option=before, known=known
                )
        elif head.startswith("argument "):
            message = spoken.phrase("argument {name}: {why}", name=named, why=_said(tail))
        else:
            message = _said(message)
        raise UsageError(message, field=field)


def _readable(argv: Sequence[str]) -> list[str]:
    """The words as given.

    Raises:
        UsageError: one is not text: it could neither be stored nor shown. Or an option has an empty value, as a script
            gives it whose variable is not set: to take that for "left out" would run at once what was to run later.
    """
    for word, following in itertools.zip_longest(argv, argv[1:]):
        if any("\ud800" <= char <= "\udfff" or char == "\0" for char in word):
            raise UsageError(
                spoken.phrase("{word} is not text in this system's encoding", word=f"{word!r:.80}"), field=""
            )
        name, equals, value = word.partition("=")
        if name.startswith("--") and name not in MAY_BE_EMPTY and ((equals and not value) or following == ""):
            raise UsageError(spoken.phrase("{name} is empty; give it a value, or leave it out", name=name), field=name)
    return _negations(argv)


def _negations(argv: Sequence[str]) -> list[str]:
    """With a filter that begins with what it excludes as the value that it is: argparse takes ``-status:dead`` for an
    option, unless a blank stands in it.
    """
    words: list[str] = []
    for word in argv:
        if words and words[-1] == "--filter" and word.startswith("-") and not word.startswith("--") and word != "-h":
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _opening(words: list[str]) -> tuple[list[str], str]:
    """A link as the only word, as the desktop hands it over, is one to open. Beside other words it is none: whoever
    made the link may have put them there. Second: that link; one that leads nowhere opens the window, which says so,
    for whoever clicked on it sees no terminal.
    """
    if len(words) != 1 or not view_link.is_link(words[0]):
        return words, ""
    return (["--open", *words] if window.leads(words[0]) else []), words[0]


class _Unsaid:
    """Takes what a noun declares below it, and keeps nothing."""

    def __getattr__(self, name: str) -> Callable[..., _Unsaid]:
        return lambda *words, **options: self


class _Nouns:
    """Where the nouns are declared: of those that no word names only the name and its line of help are kept.

    Of what a command costs until it does something, two fifths went into the other nouns' verbs and options.
    """

    def __init__(self, kept: Any, said: Collection[str]) -> None:
        self._kept = kept
        self._said = frozenset(said)

    def add_parser(self, name: str, *, help: str, aliases: Sequence[str] = (), **options: Any) -> Any:
        """As argparse has it."""
        if not self._said.isdisjoint((name, *aliases)):
            return self._kept.add_parser(name, help=help, aliases=aliases, **options)
        self._kept.add_name(name, help=help, aliases=aliases)
        return _Unsaid()


class _NotForWindow(Exception):
    """These words are for somebody else."""


class _WindowParser(argparse.ArgumentParser):
    """Leaves to the whole grammar to say what is wrong with words."""

    def error(self, message: str) -> NoReturn:
        raise _NotForWindow(message)


def _for_window(words: Sequence[str]) -> argparse.Namespace | None:
    """What the words say where they only open the window, else None: it must not wait for modules of all commands."""
    parser = _WindowParser(parents=[window.options(), common_options()], add_help=False, allow_abbrev=False)
    parser.set_defaults(handler=window.console)
    try:
        args, rest = parser.parse_known_args(words)
    except _NotForWindow:
        return None
    return None if rest else args


def grammar(parser_class: type[Parser] = Parser, *, said: Collection[str] | None = None) -> argparse.ArgumentParser:
    """What may be written: nouns, verbs and their options; with ``said`` below the nouns among those words alone."""
    # here, because the window needs none of them: a quarter of a second of its start
    from services.cli import run as cli_run
    from services.cli.commands import (
        alerts,
        at,
        batches,
        completion,
        doctor,
        drain,
        drift,
        fleet,
        handover,
        logged,
        promises,
        quiet,
        records,
        repair,
        roles,
        schedules,
        types,
        views,
        work,
    )
    from services.cli.commands.letters import cause, causes, dead
    from services.cli.commands.queue import queues
    from services.cli.commands.rest import api, tokens
    from services.cli.commands.shop import shops
    from services.cli.commands.task import tasks

    parser = parser_class(
        common_options(),
        prog="fleetdeck",
        description="Operations console for a fleet of shops, and the task engine under it. No command: the window.",
        parents=[window.options()],
    )
    parser.add_argument("--version", action="version", version=f"fleetdeck {VERSION}")
    parser.set_defaults(handler=window.console)
    declared = parser.add_subparsers(metavar="COMMAND")
    nouns = declared if said is None else _Nouns(declared, said)
    for module in (
        cli_run,
        tasks,
        views,
        batches,
        dead,
        cause,
        causes,
        drain,
        drift,
        shops,
        work,
        at,
        handover,
        types,
        schedules,
        queues,
        promises,
        quiet,
        alerts,
        fleet,
        roles,
        tokens,
        api,
        doctor,
        repair,
        logged,
        records,
    ):
        module.add(nouns)
    completion.add(nouns, partial(grammar, parser_class))
    return parser


def common_options() -> argparse.ArgumentParser:
    """Options that may stand anywhere: suppressed defaults, so that a later parser does not undo an earlier one."""
    parent = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = parent.add_argument_group("everywhere")
    group.add_argument(
        "--profile", metavar="NAME",
        help="connection profile (default: local, the embedded engine); "
        "--broker with --redis beats its addresses, not what it permits",
    )  # fmt: skip
    group.add_argument("--broker", metavar="URL", help="amqp://user:password@host:5672/vhost, or pulsar://host:6650")
    group.add_argument("--redis", metavar="URL", help="redis://host:6379/0")
    group.add_argument(
        "--read-only", action="store_true", help="change nothing, whatever the role and the profile permit"
    )
    group.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    group.add_argument("--no-color", action="store_true", help="no colours, as where NO_COLOR is set or a pipe reads")
    group.add_argument("--reveal", action="store_true", help="show secrets instead of dots; goes into the audit")
    group.add_argument("--verbose", action="store_true", help="more on stderr")
    return parent


def _fail(context: Context, exc: ConsoleError, code: int, tell: Callable[[str], object] | None = None) -> int:
    field = exc.field if isinstance(exc, OperatorError) else ""
    logging.getLogger(__name__).debug("failed", exc_info=exc)
    if context.json:
        with contextlib.suppress(OSError):  # where the answer could not be written, this cannot either
            sys.stdout.write(output.document({"error": str(exc), "field": field}) + "\n")
    with _speaking(context):
        output.err(f"{spoken.told(exc)}\n", lead="fleetdeck:", style="bold red")
        if tell is not None:
            tell(spoken.told(exc))
    return code
