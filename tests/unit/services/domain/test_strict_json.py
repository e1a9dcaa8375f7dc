"""JSON that does not say exactly one thing is refused with a sentence that stands by itself."""

from __future__ import annotations

import pytest

from services.domain.types import strict_json


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": {"b": 1, "b": 2}}', "the key 'b' stands twice in one object"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("-1e999", "the number -1e999 is too large"),
        ("-" + "9" * 400, "a number of 400 digits is too large; write it as a text"),
        ("9" * 5000, "a number of 5000 digits is too large; write it as a text"),
    ],
)
def test_what_is_not_exact_is_refused(text: str, why: str) -> None:
    with pytest.raises(strict_json.Inexact) as told:
        strict_json.loads(text)
    assert str(told.value) == why


def test_exact_values_and_plain_mistakes_are_those_of_json() -> None:
    assert strict_json.loads('{"a": [1, 2.5, null, "ß"]}') == {"a": [1, 2.5, None, "ß"]}
    with pytest.raises(ValueError, match=r"Expecting value|Illegal trailing comma") as told:
        strict_json.loads("[1, ]")
    assert not isinstance(told.value, strict_json.Inexact)
