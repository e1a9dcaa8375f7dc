"""What an edit changed."""

from __future__ import annotations

from views.pages.dead_letters.editor import changes, line_diff


def test_each_field_that_differs_is_named_with_what_stood_there() -> None:
    before = {"page_size": 50, "login": {"mode": "qr", "wait_s": 180}, "gone": True}
    after = {"page_size": 20, "login": {"mode": "qr", "wait_s": 60}, "fresh": "x"}
    said = [change.words() for change in changes(before, after)]
    assert said == ["page_size was 50", "login.wait_s was 180", "gone is gone", "fresh is new"]


def test_equal_documents_have_no_change() -> None:
    assert changes({"a": [1, 2]}, {"a": [1, 2]}) == []


def test_a_number_and_a_switch_differ_even_where_python_thinks_otherwise() -> None:
    assert [change.words() for change in changes({"a": 1}, {"a": True})] == ["a was 1"]


def test_lines_are_marked() -> None:
    assert line_diff("a\nb", "a\nc") == [("", "a"), ("-", "b"), ("+", "c")]
