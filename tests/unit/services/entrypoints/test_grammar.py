"""A command declares only what its words can reach; nobody sees the difference."""

from __future__ import annotations

from services.cli import program
from tests.support.grammar import below


def test_what_is_declared_for_one_noun_reads_as_in_the_whole() -> None:
    whole = program.grammar()
    for noun, known in below(whole).items():
        named = program.grammar(said=["--json", noun, "list"])
        assert named.format_help() == whole.format_help()
        found = below(named)[noun]
        assert found.format_help() == known.format_help()
        for verb, under in below(known).items():
            assert below(found)[verb].format_help() == under.format_help(), (noun, verb)


def test_below_the_others_nothing_is_declared() -> None:
    found = below(program.grammar(said=["task", "list"]))
    assert below(found["task"])
    assert not below(found["shop"])
