"""A command declares only what its words can reach; nobody sees the difference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from services.cli import program
from services.domain.errors import UsageError
from tests.support.grammar import arguments, below, walk

LOADED = """
import sys
from services.cli import program
from services.domain.errors import UsageError
program.run(sys.argv[1:], lambda request: print(request.page, request.settings.profile) or 0)
print(sum(name.startswith("services.cli.commands.task") for name in sys.modules))
"""


def test_what_is_declared_for_one_noun_reads_as_in_the_whole() -> None:
    whole = program.grammar()
    for noun, known in below(whole).items():
        named = program.grammar(said=["--json", noun, "list"])
        assert named.format_help() == whole.format_help()
        found = below(named)[noun]
        assert found.format_help() == known.format_help()
        for verb, under in below(known).items():
            assert below(found)[verb].format_help() == under.format_help(), (noun, verb)


def test_what_may_stand_anywhere_stands_at_every_noun_and_verb() -> None:
    for words, parser in walk():
        known = {option for each in arguments(parser) for option in each.option_strings}
        assert {"--profile", "--read-only", "--json"} <= known, words


def test_below_the_others_nothing_is_declared() -> None:
    found = below(program.grammar(said=["task", "list"]))
    assert below(found["task"])
    assert not below(found["shop"])


@pytest.mark.parametrize(
    ("words", "opened"), [(["--page", "tasks", "--read-only"], "tasks local"), ([], " local"), (["--pa", "tasks"], "")]
)
def test_the_window_waits_for_no_module_of_a_command(words: list[str], opened: str, tmp_path: Path) -> None:
    """What is no word of the window is left to the whole grammar to read, or to refuse."""
    around = {"FLEETDECK_HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(Path(program.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], env=around, capture_output=True, text=True, check=True
    )
    told, loaded = done.stdout.splitlines()[:-1], int(done.stdout.splitlines()[-1])
    if opened:
        assert (told, loaded) == ([opened], 0)
    else:
        assert loaded


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("shop pause --note=-- -- pdd:s1", "note", "--"),
        ("task list --filter=--", "filter", "--"),
        ("dead note -- t1 --", "text", "--"),
        ("task cancel --reason=why -- t1", "ids", ["t1"]),
        ("task cancel --reason=-- -- t1", "ids", ["t1"]),
    ],
)
def test_two_dashes_that_something_is_given_are_a_word(line: str, field: str, value: object) -> None:
    assert getattr(program.grammar().parse_args(line.split()), field) == value


def test_two_dashes_are_refused_where_a_number_is_wanted() -> None:
    with pytest.raises(UsageError, match="limit"):
        program.grammar().parse_args(["task", "list", "--limit=--"])
