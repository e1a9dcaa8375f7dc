"""Links to views: what is written is read again, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.text.view_link import MOST, ViewLink, read


@given(st.text(max_size=40), st.text(max_size=200))
def test_what_is_written_is_read_again(profile: str, show: str) -> None:
    link = ViewLink(profile, "dead_letters", show)
    assert read(f"  {link}\n") == link


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
