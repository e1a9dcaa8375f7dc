"""Values changed in the text of a TOML file: what a person wrote around them stays."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.settings.config_file import changed

FILE = """\
# of the office
language = "en"  # as we speak

[worker]
slots = 5   # see slots.md
lanes = [
  "high",  # first
  "normal",
]

[executors.rpa]
command = ["run", '''C:\\flows]#''', "{param}"]
"""


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({("worker", "slots"): 8}, "slots = 5   #", "slots = 8   #"),
        ({("worker", "slots"): None}, "slots = 5   # see slots.md\n", ""),
        ({("worker", "name"): "a\tb"}, '  "normal",\n]\n', '  "normal",\n]\nname = "a\\tb"\n'),
        ({("worker", "lanes"): ["low"]}, '[\n  "high",  # first\n  "normal",\n]', '["low"]'),
        ({("theme",): "dark"}, "# as we speak\n", '# as we speak\ntheme = "dark"\n'),
        ({("lease", "seconds"): 90.0}, '"{param}"]\n', '"{param}"]\n\n[lease]\nseconds = 90\n'),
        ({("lease", "seconds"): None}, "", ""),
        (
            {("executors", "rpa", "environment"): {"A B": "x", "C": "1"}},
            '"{param}"]\n',
            '"{param}"]\nenvironment = { "A B" = "x", C = "1" }\n',
        ),
    ],
)
def test_one_value_changes_and_the_rest_stays(changes: dict[tuple[str, ...], Any], old: str, new: str) -> None:
    assert changed(FILE, changes) == FILE.replace(old, new, 1)


@pytest.mark.parametrize("text", ["worker.slots = 5\n", "[worker]\n", "", "# mine\n\n[store]\nurl = ''\n", "[a]\nb=1"])
def test_a_value_finds_its_place_in_any_file(text: str) -> None:
    new = changed(text, {("worker", "name"): "w", ("theme",): "dark"})
    data = tomllib.loads(new)
    assert (data["worker"]["name"], data["theme"]) == ("w", "dark")
    assert all(line in new for line in text.splitlines())


def test_a_table_on_one_line_is_left_alone() -> None:
    with pytest.raises(ValueError, match=r"worker\.name"):
        changed("worker = { slots = 5 }\n", {("worker", "name"): "w"})


NAMES = st.sampled_from(["a", "b", "c d", "é", '"'])
VALUES = st.one_of(
    st.booleans(), st.integers(-5, 5), st.sampled_from([0.5, 3.0]), st.text(max_size=6), st.lists(st.text(max_size=3))
)
CHANGES = st.lists(
    st.tuples(st.sampled_from([(), ("t",), ("t", "u")]), NAMES, st.one_of(st.none(), VALUES)), max_size=8
)


@given(CHANGES)
def test_after_many_changes_it_says_the_last_of_each(steps: list[tuple[tuple[str, ...], str, Any]]) -> None:
    text, wanted = FILE, tomllib.loads(FILE)
    for table, name, value in steps:
        path = (*table, f"k{name}")
        text = changed(text, {path: value})
        place = wanted
        for part in table:
            place = place.setdefault(part, {})
        place.pop(path[-1], None)
        if value is not None:
            place[path[-1]] = value
    found = tomllib.loads(text)
    for table in ("t",):
        wanted.setdefault(table, {}).setdefault("u", {})
        found.setdefault(table, {}).setdefault("u", {})
    assert found == wanted
    assert "# see slots.md" in text
