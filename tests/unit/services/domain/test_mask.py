"""Secrets do not leave the program in values or texts."""

from __future__ import annotations

import json

import pytest

from services import addresses
from services.broker import listed as brokers
from services.domain.text import mask
from services.domain.text.mask import DOTS, Masker, masked, masked_json, masked_text


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
        "login": {"session_token": "••••", "cookies": ["••••"], "list": [{"api_key": "••••", "n": 1}]},
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
        ('{"session_token":"abc","n":1}', '{"session_token": "••••", "n": 1}'),
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


M = "MARKER-s3cr3t"
HIDDEN = [
    f"password={M}", f"PASSWORD : {M}", f"passwd={M}&x=1", f"pwd={M}", f'"password": "{M}"', f"pass_word={M}",
    f'{{\\"password\\": \\"{M}\\"}}', f'{{\\\\\\"password\\\\\\":\\\\\\"{M}\\\\\\"}}', f"{{'token': '{M}'}}",
    f"token={M}",
    f"access_token={M};b", f"api_key={M}", f"apikey={M}", f"api-key: {M}", f"apiKey={M}", f"X-Api-Key: {M}",
    f"access_key={M}", f"accessKey={M}", f"AccessKeyId={M}", f"Authorization: Bearer {M}",
    f"Authorization: Basic dXNlcjpwYXNz{M}", f"authorization=Bearer%20{M}", f"Bearer {M}", f"bearer {M}",
    f"curl -H 'Authorization: Bearer {M}' x", f"Cookie: a={M}; b=c", f'Cookie: a="x"; b={M}', f"set-cookie: {M}",
    f"Set-Cookie: sid={M}; Path=/", f"amqp://user:{M}@host/v", f"amqp://user:{M}/x@host/v", f"redis://:{M}@host:6379/0",
    f"redis://u:p@{M}@host:6379/0", f"https://u:{M}@h:80/x?y=a@b", f"amqp%3A%2F%2Fuser%3A{M}%40host", f"password%3D{M}",
    f"%22password%22%3A%22{M}%22", f"%7B%22password%22%3A%20%22{M}%22%7D", f"client_secret={M}", f"密码：{M}",
    f"密码={M}", f"口令：{M}", f"密钥={M}", f"凭据: {M}",
    f"令牌: {M}", f'"password": "{M}', f"password='{M}", f"x?password={M}", f"private_key: {M}",
    f"https:\\/\\/u:{M}@h\\/x", f"rediss://h:1/0?password={M}&ssl=1", f"ssl_password={M}", f"password => {M}",
    f'Traceback\n  File "x"\nKeyError: password={M}', f"password:\t{M}", f'headers={{"Cookie": "a={M}", "x": 1}}',
    f'msg: "Cookie: a={M}", n', f"b'password={M}'", f"passphrase={M}", f"db.password = {M}", f"--password={M}",
    f"-p x token:{M}", f'["Authorization", "Bearer {M}"]', f"[('Cookie', 'a={M}')]", f"sessionToken={M}",
    f"csrf-token: {M}", f"Proxy-Authorization: Basic {M}QWxhZGRpbjpvcGVu", f'<input name="password" value="{M}">',
    f"--password {M}",
    f"payload   {json.dumps({'headers': [['Set-Cookie', M]], 'a': [{'name': 'Cookie', 'value': M}]})}",
    f"a {json.dumps({'t': json.dumps({'password': M})})} b {json.dumps({'cookies': [{'name': 'x', 'value': M}]})}",
]  # fmt: skip
SHOWN = [
    "nothing to hide: 7 secrets", "https://host:8080/x?mail=a@b.c", "see https://a.b/c, Basic information is here",
    "the token expired", "bearer token expired", "user@host", "password is wrong", "keyboard=x", "monkey: 3",
    "secret pdd:s1/login is missing", '{"a": [1, {"b": "c"}]}', '{"missing_secret": 3}', "amqp://host:5672/vhost",
    "Nothing listens at redis://127.0.0.1:6379: start Redis", "http://erp.local:80: refused",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_a_secret_is_found_wherever_it_stands(text: str) -> None:
    once = masked_text(text)
    assert "MARKER" not in once
    assert "s3cr3t" not in once
    assert DOTS in once
    if "%3A%2F%2F" not in text and "@MARKER" not in text:
        assert "MARKER" not in masked_text(text[: text.index(M) + 9]), "also where the text was cut within it"
    assert masked_text(once) == once or "[" in text


@pytest.mark.parametrize("text", SHOWN)
def test_what_is_none_stays(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"password": M}, {"a": [{"Token": M}]}, {"x": {"cookies": [{"name": "a", "value": M}]}}, {"h": [["Cookie", M]]},
        {"name": "Authorization", "value": M}, {"text": json.dumps({"t": json.dumps({"password": M})})},
        {"password": {"x": {"y": M}}}, {f"password={M}": 1}, {"secret": [M, [M]]}, {"apiKey": M}, {"API KEY": M},
        {"api.key": M}, {"密码": M}, {"口令": M}, {"密钥": M}, {"凭据": M},
        {"url": f"amqp://u:{M}@h"}, {"pin_token": 123456789}, {"a": f"x {{'pwd': '{M}'}}"},
    ],
)  # fmt: skip
def test_a_secret_is_found_at_any_depth(value: object) -> None:
    shown = json.dumps(masked(value), ensure_ascii=False)
    assert "MARKER" not in shown
    assert "123456789" not in shown


def test_a_schema_has_names_and_no_values() -> None:
    properties = {
        "password": {"type": "string", "title": "Password", "default": M, "enum": [M]},
        "token": {"$ref": "#/x"},
    }
    schema = {"required": ["password", "user"], "properties": properties, "examples": [{"password": M, "n": 1}]}
    shown = masked({"name": "t", "executor": "rpa", "uniqueness": "none", "schema": schema})["schema"]
    assert shown["required"] == ["password", "user"]
    kept = {"type": "string", "title": "Password", "default": DOTS, "enum": [DOTS]}
    assert shown["properties"] == {"password": kept, "token": {"$ref": "#/x"}}
    assert shown["examples"] == [{"password": DOTS, "n": 1}]


def test_a_secret_that_is_known_is_found_by_its_value() -> None:
    value = 'Vault "value" é/7'
    mask.know([value, "guest", "abc"])
    mask.know_addresses(["amqp://user:Of%2FAn-address@host/v", "redis://host/0", ""])
    for form in (
        value,
        json.dumps(value)[1:-1],
        "Vault%20%22value%22%20%C3%A9%2F7",
        "Of/An-address",
        "Of%2FAn-address",
    ):
        assert masked_text(f"it says {form} here") == f"it says {DOTS} here"
        assert mask.known(form) == DOTS
    assert masked_text("guest abc") == "guest abc", "such words stand in many sentences"
    assert masked({"a": [value]}) == {"a": [DOTS]}
    assert Masker([""]).text("x") == "x"


def test_a_name_and_password_of_http_is_found_without_its_header() -> None:
    assert masked_text("sent Basic dXNlcjpwYXNzd29yZA== to it") == f"sent Basic {DOTS} to it"


@pytest.mark.parametrize(
    "text", ["ghp_Hunter2Marker{}", "password={}Hunter2Marker", "a {} then password=Hunter2Marker{}, token={}"]
)
@pytest.mark.parametrize("value", ["91ce40d2b7f3a865", 'b7f3{a8}x"91ce'])
def test_a_known_secret_within_a_longer_one_takes_that_along(text: str, value: str) -> None:
    """Dots in its place would leave a text that nothing tells to be a secret."""
    mask.know([value])
    shown = masked_text(text.replace("{}", value))
    assert value not in shown
    assert "Hunter2" not in shown


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ('"token": "7f3a86591ce40d2b"', '"token": "••••"'),
        ('"said": "ghp_Hunter2Marker7f3a86591ce40d2b"', '"said": "••••"'),
        ('"number": 918273645546', '"number": ••••'),
        ('"jar": [{"name": "a", "value": "7f3a"}]', '"jar": "••••"'),
        ('"jar": "[{\\"name\\": \\"a\\", \\"value\\": \\"7f3a\\"}]"', '"jar": "••••"'),
    ],
)
def test_a_known_secret_in_a_document_leaves_it_one_that_is_masked_by_its_keys(part: str, shown: str) -> None:
    """Dots over its quotes would leave no JSON, and what stands below the other key could be read."""
    mask.know(["7f3a86591ce40d2b", "918273645546", '[{"name": "a", "value": "7f3a"}]'])
    text, dotted = f'{{{part}, "密码": {{"a": "hunterA22"}}}}', f'{{{shown}, "密码": {{"a": "••••"}}}}'
    assert masked_text(text) == dotted


@pytest.mark.parametrize(("number", "stays"), [(0, True), (999, True), (-999, True), (1000, False), (123456.5, False)])
def test_a_small_number_is_a_count_whatever_it_is_called(number: float, stays: bool) -> None:
    assert masked({"tokens": number}) == {"tokens": number if stays else DOTS}


@pytest.mark.parametrize(("value", "found"), [("x9q", False), ("x9qz", True)])
def test_how_short_a_secret_may_be_to_be_found_by_its_value(value: str, found: bool) -> None:
    mask.know([value])
    assert mask.known(f"<{value}>") == f"<{DOTS if found else value}>"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "part", ["a://", "https://", "token", "password=", '"', "\\", "cookie:", "{", "[1,", "://b:", "%3A%2F%2F"]
)
def test_no_text_takes_long(part: str) -> None:
    text = part * (100_000 // len(part))
    assert masked_text(text) is not None
    assert masked_json(text) is not None


ORIGINAL = {
    "user": "ann",
    "password": "hunter2",
    "url": "https://ann:geheim@shop.example/x",
    "logins": [{"name": "a", "token": "t-1234"}, {"name": "b", "token": "t-5678"}],
}


def test_dots_that_were_left_alone_stand_for_the_secret_and_what_was_typed_over_them_stays() -> None:
    shown = masked(ORIGINAL)
    assert mask.put_back(shown, ORIGINAL) == ORIGINAL
    assert mask.put_back({**shown, "user": "bob"}, ORIGINAL) == {**ORIGINAL, "user": "bob"}
    assert mask.put_back({**shown, "password": "new"}, ORIGINAL) == {**ORIGINAL, "password": "new"}
    assert mask.still_masked({**shown, "password": "new"}, ORIGINAL) == ""


def test_an_entry_that_was_taken_out_takes_no_secret_of_another() -> None:
    shown = masked(ORIGINAL)
    fewer = {**shown, "logins": shown["logins"][1:]}
    assert mask.put_back(fewer, ORIGINAL)["logins"] == [{"name": "b", "token": "t-5678"}]


def test_dots_without_a_secret_behind_them_are_named_by_their_path() -> None:
    shown = masked(ORIGINAL)
    assert mask.still_masked({**shown, "pin_token": DOTS}, ORIGINAL) == "pin_token"
    assert mask.still_masked({"a": [{"password": f"{DOTS}x"}]}, None) == "a[0].password"
    assert mask.still_masked(shown, shown) == "", "they stood there before"
    first: object = {"password": DOTS, "pin": DOTS}
    assert mask.still_masked(first, None) == "password", "the first in the order of the text"
    deep: object = DOTS
    for _ in range(5_000):
        deep = {"a": [deep]}
    assert mask.still_masked(deep, None).startswith("a[0].a[0]."), "nested deeper than a function calls itself"


@pytest.mark.parametrize(
    "text",
    [
        "<password>s3cr et</password>",
        '<ns:apiKey type="x">s3cr\net</ns:apiKey>',
        "-----BEGIN PRIVATE KEY-----\ns3cr\net\n-----END PRIVATE KEY-----",
        "private_key: -----BEGIN RSA PRIVATE KEY-----\ns3cr\net\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\ns3cr",
    ],
)
def test_elements_and_private_keys_are_dots_and_stay_so(text: str) -> None:
    once = mask.masked_text(text)
    assert "s3cr" not in once
    assert mask.masked_text(once) == once


@pytest.mark.parametrize("like", [addresses.STORE, *(one.like for one in brokers.KINDS)])
def test_an_example_of_an_address_shows_where_the_password_stands(like: str) -> None:
    assert mask.masked_text(f"write it like {like}, with what is yours") == f"write it like {like}, with what is yours"
    assert mask.DOTS in mask.masked_text(like.replace("@host:", "@host-1:"))
    assert mask.DOTS in mask.masked_text(like.replace(":password@", ":passw0rd@").replace(":token@", ":t0ken@"))
