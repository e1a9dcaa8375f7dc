"""Large hashes are read into values again where they changed, and nothing is seen of it."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from services.store.redis import entries
from services.store.redis.entries import Entries
from services.store.unreadable import by_name

KEY = "fd:documents:promise"


def read(stored: bytes) -> list[str]:
    """A value of its own for each call, none of what is no text."""
    return [stored.decode()]


def changed(stored: Mapping[bytes, bytes], dice: random.Random) -> dict[bytes, bytes]:
    found = dict(stored)
    for _ in range(dice.randrange(3)):
        name = f"n{dice.randrange(12):02d}".encode()
        if dice.random() < 0.3:
            found.pop(name, None)
        else:
            found[name] = dice.choice((b"one", b"two", b"\xff\xfe"))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_it_reads_what_reading_all_of_it_tells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "FEW", 3)
    dice, kept = random.Random(seed), Entries()
    stored: Mapping[bytes, bytes] = {}
    for _ in range(60):
        stored = changed(stored, dice)
        found = kept.by_name(KEY, read, stored, "document")
        assert list(found.items()) == list(by_name(read, stored, "document").items())
        found.clear()


def test_what_is_as_it_was_is_not_read_again() -> None:
    kept, stored = Entries(), {f"n{number:03d}".encode(): b"one" for number in range(entries.FEW)}
    first = kept.by_name(KEY, read, stored, "document")
    second = kept.by_name(KEY, read, {**stored, b"n007": b"two"}, "document")
    assert second["n007"] == ["two"]
    assert [name for name in first if second[name] is not first[name]] == ["n007"]
