"""How values are kept as documents: what nobody can read, or may be so, is passed over beside what can be."""

from __future__ import annotations

import pytest

from services.domain.alerts import channel, rule
from services.domain.alerts.channel import Channel
from services.domain.alerts.rule import Rule
from services.domain.upkeep import stored

GOOD = Channel(name="duty", kind="wecom")
#: of a newer program, spoiled, too deep to be read, and what its check refuses
BAD = ('{"name": 3}', "{", "[" * 5_000, channel.DOCUMENT.dump(Channel(name="duty", kind="pigeon")))


def test_a_value_is_read_as_it_was_written() -> None:
    assert channel.DOCUMENT.load(channel.DOCUMENT.dump(GOOD)) == GOOD


@pytest.mark.parametrize("body", BAD)
def test_what_cannot_be_read_hides_nothing_else(body: str) -> None:
    kept = {"duty": channel.DOCUMENT.dump(GOOD), "lead": body}
    assert channel.readable(kept) == {"duty": GOOD}
    assert channel.DOCUMENT.read(body, None) is None


def test_what_its_check_refuses_is_no_value_either() -> None:
    with pytest.raises(ValueError, match="pigeon"):
        channel.DOCUMENT.load(BAD[-1])


def test_a_default_rule_holds_where_the_changed_one_is_refused() -> None:
    default = Rule(name="held", measure="held")
    refused = rule.DOCUMENT.dump(Rule(name="held", measure="held", severity="loud"))
    assert rule.known([default], {"held": refused}) == {"held": default}


def test_versions_are_told_apart_by_whole_names() -> None:
    kept = [stored.version_name("held", number) for number in (10, 9)]
    assert stored.versions([*kept, "held@", "held@x", "withheld@3", "held@2@4"], "held") == [9, 10]


def test_under_the_name_of_each_version_that_is_told_something_stands() -> None:
    """Somebody else may write names that come near ours."""
    kept = [stored.version_name("held", 7), "held@007", "held@8 ", "held@\u0669", "held@" + "9" * 5_000, "held@"]
    assert stored.versions(kept, "held") == [7]
