"""The formats of JSON Schema hold wherever a payload is checked."""

from __future__ import annotations

import pytest

from services.domain.types import formats, schema
from services.messages import english

GOOD = {
    "date": ["2026-11-22", "2024-02-29"],
    "time": ["08:30:00Z", "23:59:60+08:00", "08:30:00.125-05:30"],
    "date-time": ["2026-11-22T08:30:00+08:00", "2026-11-22t08:30:00z", "2026-11-22 08:30:00.5Z"],
    "duration": ["P1D", "PT30M", "P3W", "P1Y2M3DT4H5M6S"],
    "email": ["a@b.test", "客服@商店.测试"],
    "hostname": ["shop.example.com", "localhost"],
    "ipv4": ["10.0.0.1"],
    "ipv6": ["::1", "2001:db8::1"],
    "uri": ["https://example.com/a?b=c#d", "urn:isbn:1", "mailto:a@b.test", "https://example.com/商品"],
    "uri-reference": ["/orders?page=2", "../x", "https://example.com"],
    "uuid": ["0b8fa9c2-6a37-4a39-9d6c-1f5b3c1a7e10", "0B8FA9C2-6A37-4A39-9D6C-1F5B3C1A7E10"],
    "regex": ["^a+$"],
    "json-pointer": ["", "/a/0/b~1c"],
}
BAD = {
    "date": ["22.11.2026", "2026-11-31", "20261122", "2026-1-2", "", "２０２６-11-22", "2026-11-22\n"],
    "time": ["08:30", "25:00:00Z", "08:30:00", "08:30:00+25:00"],
    "date-time": ["2026-11-22", "2026-11-22T08:30:00", "2026-13-22T08:30:00Z", "yesterday"],
    "duration": ["30 minutes", "P", "PT", "1D"],
    "email": ["a.b.test", "a@", "@b", "a b@c.test"],
    "hostname": ["-x.test", "a..b", "x_y z"],
    "ipv4": ["10.0.0.256", "10.0.0", "::1"],
    "ipv6": ["10.0.0.1", "fe80::1%eth0"],
    "uri": ["example.com", "https://", "https://a b", "/orders", "https://[::1"],
    "uri-reference": ["a b"],
    "uuid": ["0b8fa9c26a374a399d6c1f5b3c1a7e10", "0b8fa9c2-6a37-4a39-9d6c-1f5b3c1a7e1z"],
    "regex": ["("],
    "json-pointer": ["a", "/~2"],
}


def of(name: str) -> dict[str, object]:
    return {"type": "object", "properties": {"since": {"type": "string", "format": name}}}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_what_has_the_form_passes(name: str, text: str) -> None:
    assert schema.problems(of(name), {"since": text}) == []


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_what_has_another_form_is_refused(name: str, text: str) -> None:
    (problem,) = schema.problems(of(name), {"since": text})
    assert (problem.path, problem.code) == ("since", "format")


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
def test_each_example_has_its_own_form_and_each_refusal_shows_it(name: str) -> None:
    example = formats.example(name)
    assert schema.problems(of(name), {"since": example}) == []
    bad = "\x7f ~2("
    for problem in schema.problems(of(name), {"since": bad}):
        assert example in problem.message
        assert "{" not in english(problem.message.message).replace(example, "")  # type: ignore[attr-defined]


def test_the_refusal_names_the_value_and_the_right_form() -> None:
    (problem,) = schema.problems(of("date"), {"since": "22.11.2026"})
    assert problem.message == "must be a day such as 2026-11-22, not 22.11.2026"


def test_a_secret_is_never_told() -> None:
    document = {"type": "object", "properties": {"api_token": {"type": "string", "format": "uuid"}}}
    (problem,) = schema.problems(document, {"api_token": "hunter2"})
    assert "hunter2" not in problem.message


def test_formats_that_nobody_knows_pass_as_does_what_is_no_text() -> None:
    assert schema.problems(of("lunar-date"), {"since": "八月十五"}) == []
    free = {"type": "object", "properties": {"since": {"format": "date"}}}
    assert schema.problems(free, {"since": 5}) == []


def test_formats_hold_inside_lists_and_objects() -> None:
    document = {
        "type": "object",
        "properties": {"days": {"type": "array", "items": {"type": "string", "format": "date"}}},
    }
    (problem,) = schema.problems(document, {"days": ["2026-11-22", "soon"]})
    assert problem.path == "days[1]"
