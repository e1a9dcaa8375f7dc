"""Links to views: what is written is read again, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.text.view_link import MOST, ViewLink, read

MOMENTS = st.tuples(st.integers(10**12, 10**13), st.none() | st.text(max_size=40))


@given(st.text(max_size=40), st.text(max_size=200), MOMENTS | st.just((0, None)))
def test_what_is_written_is_read_again(profile: str, show: str, past: tuple[int, str | None]) -> None:
    link = ViewLink(profile, "dead_letters", show, *past)
    assert read(f"  {link}\n") == link


def test_a_moment_that_is_none_is_left_out() -> None:
    for at in ("", "0", "-1", "yesterday", "1" * 30):
        assert read(f"fleetdeck://local/tasks?show=was&at={at}&now=") == ViewLink("local", "tasks", "was")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tasks",
        "https://local/tasks",
        "fleetdeck://local",
        "fleetdeck://local/../tasks",
        "fleetdeck://[local/tasks",
        "fleetdeck://local/tasks?show=" + "x" * (MOST + 1),
        "fleetdeck://local/tasks?" + "a=1&" * 9,
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(text)
    assert refused.value.field == "link"
