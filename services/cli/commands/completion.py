"""``completion``: what a shell needs to finish the words of this command line at a Tab."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from services.cli import known_names, spoken
from services.cli.context import EXIT_OK, Context, examples
from services.domain.errors import UsageError

#: what a value is called whose place on the disk a shell can finish, and what that is
PLACES = {"FILE": "FILE", "tasks.xlsx|.csv|.jsonl": "FILE", "FOLDER": "DIRECTORY", "DIR": "DIRECTORY"}
SHELLS = ("bash", "zsh", "fish", "powershell")
#: what a shell asks at a Tab; where nobody answers it offers nothing
ASK = "fleetdeck completion --values {kind}"
#: behind it, except for PowerShell, whose script leaves errors out by itself
SILENT = " 2>/dev/null"
EXAMPLES = (
    "completion bash > ~/.local/share/bash-completion/completions/fleetdeck",
    'completion zsh > "${fpath[1]}/_fleetdeck"',
    "completion powershell >> $PROFILE",
)


def add(nouns: Any, program: Callable[[], argparse.ArgumentParser]) -> None:
    """Declare the verb; ``program`` makes the whole grammar."""
    text = "print a script that lets a shell finish commands, options and their values"
    parser = nouns.add_parser("completion", handler=partial(_print, program), help=text, **examples(EXAMPLES))
    parser.add_argument("shell", nargs="?", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    text = f"print the names that the script asks for instead: {', '.join(known_names.KINDS)}"
    parser.add_argument("--values", choices=[*known_names.KINDS], metavar="KIND", help=text)


def _print(whole: Callable[[], argparse.ArgumentParser], context: Context) -> int:
    args = context.args
    if bool(args.shell) == bool(args.values):
        raise UsageError(spoken.phrase("say for which shell: {names}", names=", ".join(SHELLS)), field="shell")
    if args.values:
        with context.engine(looking=True) as engine:
            found = known_names.names(engine, args.values)
        context.show({"values": found}, found)
        return EXIT_OK
    # here, because no other command should pay for loading it
    import shtab

    from services.cli import helps

    program, windows = whole(), args.shell == "powershell"
    if not windows:
        helps.say_all(program)
    for noun, action in _actions(program):
        if kind := PLACES.get(str(action.metavar)):
            action.complete = getattr(shtab, kind)  # type: ignore[attr-defined]  # what the library reads
        elif kind := known_names.kind_of(noun, action):
            asked = ASK.format(kind=kind) + ("" if windows else SILENT)
            action.complete = shtab.cmd(asked)  # type: ignore[attr-defined]
    script = shtab.complete(program, shell=args.shell)
    if windows:  # it is read in the code page of the machine, where half a letter takes the quote behind it along
        script = script.replace("…", "...").encode("ascii", "replace").decode("ascii")
    # as it is: nothing in it is anybody's secret, and a shell must read it
    sys.stdout.write(json.dumps({"shell": args.shell, "script": script}) if context.json else script)
    sys.stdout.write("\n")
    return EXIT_OK


def _actions(parser: argparse.ArgumentParser, noun: str = "") -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of them
        yield noun, action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, child in action.choices.items():
                yield from _actions(child, f"{noun} {name}".strip())
