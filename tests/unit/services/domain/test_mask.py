"""Secrets do not leave the program in values or texts."""

from __future__ import annotations

import json

import pytest

from services.domain.mask import masked, masked_json, masked_text


def test_what_is_named_like_a_secret_is_masked_at_any_depth() -> None:
    value = {
        "Password": "hunter2",
        "user": "ann",
        "login": {"session_token": "abc", "cookies": ["a=1"], "list": [{"api_key": "k", "n": 1}]},
        "tuple": ({"AUTHORIZATION": "Bearer x"},),
        "secretary": "somebody",
        3: "a number as a key",
    }
    assert masked(value) == {
        "Password": "••••",
        "user": "ann",
        "login": {"session_token": "••••", "cookies": "••••", "list": [{"api_key": "••••", "n": 1}]},
        "tuple": [{"AUTHORIZATION": "••••"}],
        "secretary": "••••",
        3: "a number as a key",
    }
    assert value["Password"] == "hunter2", "the value itself is left alone"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot reach http://ann:hunter2@proxy:8080/x", "cannot reach http://••••@proxy:8080/x"),
        ("login failed: password=hunter2, try again", "login failed: password=••••, try again"),
        ("token: 'a b'; page 3", "token: ••••; page 3"),
        ("Cookie: a=1; b=2\nnext", "Cookie: ••••\nnext"),
        ("Authorization: Bearer abc.def", "Authorization: ••••"),
        ('{"session_token":"abc","n":1}', '{"session_token":••••,"n":1}'),
        ("nothing to hide: 7 secrets", "nothing to hide: 7 secrets"),
        ("", ""),
    ],
)
def test_texts(text: str, shown: str) -> None:
    assert masked_text(text) == shown


def test_json_is_masked_by_key_and_other_text_as_text() -> None:
    assert json.loads(masked_json('{"cookie": "x", "shop": "柚子"}')) == {"cookie": "••••", "shop": "柚子"}
    assert masked_json("password=x {") == "password=•••• {"
    assert masked_json("") == ""
