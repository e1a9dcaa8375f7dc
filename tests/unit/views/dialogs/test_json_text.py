"""JSON as people read it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from views.dialogs.schema.json_text import pretty

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_it_reads_back_as_the_same(value: object) -> None:
    assert json.loads(pretty(value)) == value


def test_short_lists_and_inner_objects_stay_on_one_line() -> None:
    document = {"status": ["paid", "shipped"], "login": {"mode": "qr"}, "long": list(range(40))}
    lines = pretty(document).splitlines()
    assert '  "status": ["paid", "shipped"],' in lines
    assert '  "login": {"mode": "qr"},' in lines
    assert len(lines) > 40
