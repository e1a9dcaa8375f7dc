"""JSON that people type: what cannot be meant exactly is refused."""

from __future__ import annotations

import pytest

from services.cli.json_text import read_object
from services.domain.errors import UsageError


def test_an_object_is_read() -> None:
    assert read_object('{"a": [1, 2.5, null, "你好"], "b": {}}', "--payload") == {"a": [1, 2.5, None, "你好"], "b": {}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ('"text"', "must be a JSON object"),
        ('{"n": NaN}', "NaN"),
        ('{"n": -Infinity}', "Infinity"),
        ('{"n": 1e400}', "too large"),
        ('{"a": 1, "b": 2, "a": 3}', "'a' stands twice"),
        ('{"x": {"a": 1, "a": 1}}', "twice"),
        ("[" * 100_000, "nested"),
    ],
)
def test_anything_else_is_named(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        read_object(text, "--payload")
    assert str(caught.value).startswith("--payload")
    assert caught.value.field == "payload"
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"password": "••••"}', "password"),
        ('{"login": {"steps": [1, "Bearer ••••"]}}', "login.steps[1]"),
        ('{"url": "https://••••@shop.example/"}', "url"),
        ('{"password": "\\u2022\\u2022\\u2022\\u2022"}', "password"),
    ],
)
def test_dots_in_place_of_a_secret_are_refused_by_their_path(text: str, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_object(text, "--payload")
    assert caught.value.field == path
    assert str(caught.value).startswith(f"{path}: dots stand there")


def test_dots_are_left_to_who_has_the_original() -> None:
    assert read_object('{"password": "••••"}', "--payload", dots=True) == {"password": "••••"}


def test_a_text_longer_than_any_payload_is_not_taken_apart() -> None:
    text = "{" + ",".join(f'"a{number}":1' for number in range(300_000)) + "}"
    with pytest.raises(UsageError, match=r"--payload is not JSON: it has \d+ characters; up to \d+ are read"):
        read_object(text, "--payload")
