"""Names of tasks and profiles."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.domain.task import ids

WORDS = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)


@given(WORDS, WORDS, WORDS)
@example("p" * 64, "t" * 64, "s" * 64)
def test_our_ids_carry_what_they_are_for(platform: str, task_type: str, shop_id: str) -> None:
    made = ids.new_task_id(platform, task_type, shop_id)
    prefix, _, random = made.rpartition("_")
    assert prefix == f"{platform}_{task_type}_{shop_id}"[: 200 - 13]
    assert re.fullmatch(r"[0-9a-f]{12}", random)
    assert ids.valid_foreign_id(made)


def test_our_ids_differ() -> None:
    assert len({ids.new_task_id("pdd", "sync", "s") for _ in range(5000)}) == 5000


@pytest.mark.parametrize("text", ["a", "x" * 200, "a b", "{}*/../", "pdd_sync_order_s1_00"])
def test_foreign_ids_may_be_any_printable_text(text: str) -> None:
    assert ids.valid_foreign_id(text)


@pytest.mark.parametrize(
    "text", ["", " ", "x" * 201, "a\n", "a\nb", "a\x00", "店", "a\x7f", "\u202ea", None, 7, b"a", ["a"]]
)
def test_other_foreign_ids_are_refused(text: object) -> None:
    assert not ids.valid_foreign_id(text)


@pytest.mark.parametrize("text", ["os.system", "a b", "", "x" * 65, "a\n", "../x", "类型", None, 3])
def test_a_task_type_is_a_word(text: object) -> None:
    assert not ids.valid_task_type(text)
    assert ids.valid_task_type("sync_order-2")


@given(WORDS, WORDS, WORDS, WORDS)
def test_profiles_of_two_shops_differ_even_without_case(a: str, b: str, c: str, d: str) -> None:
    one, other = ids.profile_id(a, b), ids.profile_id(c, d)
    assert ((a, b) == (c, d)) == (one == other)
    assert one == one.lower()


def test_profiles_are_readable_for_plain_names() -> None:
    assert ids.profile_id("pdd", "shop_01") == "pdd_shop_01"
    assert ids.profile_id("a_b", "C") == "a+_b_+c"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_gives_other_names() -> None:
    ids.new_task_id("pdd", "sync", "s1")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, ids.new_task_id("pdd", "sync", "s1").encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reader, 100).decode()
    assert theirs not in {ids.new_task_id("pdd", "sync", "s1") for _ in range(1000)}
