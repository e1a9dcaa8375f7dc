"""``completion``: what a shell needs to finish the words of this command line at a Tab."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from services.cli.context import EXIT_OK, Context, examples

#: what a value is called whose place on the disk a shell can finish, and what that is
PLACES = {"FILE": "FILE", "tasks.xlsx|.csv|.jsonl": "FILE", "FOLDER": "DIRECTORY", "DIR": "DIRECTORY"}
SHELLS = ("bash", "zsh", "fish", "powershell")
EXAMPLES = (
    "completion bash > ~/.local/share/bash-completion/completions/fleetdeck",
    'completion zsh > "${fpath[1]}/_fleetdeck"',
    "completion powershell >> $PROFILE",
)


def add(nouns: Any, common: argparse.ArgumentParser, program: argparse.ArgumentParser) -> None:
    """Declare the verb; ``program`` is what will be complete once every noun is declared."""
    text = "print a script that lets a shell finish commands, options and their values"
    parser = nouns.add_parser("completion", parents=[common], help=text, **examples(EXAMPLES))
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(handler=partial(_print, program))


def _print(program: argparse.ArgumentParser, context: Context) -> int:
    # here, because no other command should pay for loading it
    import shtab

    for action in _actions(program):
        if kind := PLACES.get(str(action.metavar)):
            action.complete = getattr(shtab, kind)  # type: ignore[attr-defined]  # what the library reads
    script = shtab.complete(program, shell=context.args.shell)
    # as it is: nothing in it is anybody's secret, and a shell must read it
    sys.stdout.write(json.dumps({"shell": context.args.shell, "script": script}) if context.json else script)
    sys.stdout.write("\n")
    return EXIT_OK


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of them
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for child in action.choices.values():
                yield from _actions(child)
