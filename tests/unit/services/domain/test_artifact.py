"""Names of files that come from flows and pages: safe everywhere, and still recognisable."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.task import artifact
from services.domain.task.artifact import Artifact, folder_of, kind_of, mark, marked, numbered, safe_name


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("order page.png", "order page.png"),
        ("截图 1.png", "截图 1.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\a.html", "a.html"),
        ("..", "file"),
        ("", "file"),
        ("a/b/", "b"),
        (".cards", "cards"),
        ("nul.txt", "_nul.txt"),
        ("COM1", "_COM1"),
        ('a<b>:"|?*.csv', "a_b______.csv"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("a\x00\nb.txt", "ab.txt"),
        ("page.html. . ", "page.html"),
    ],
)
def test_a_name_is_the_last_part_and_safe(said: str, kept: str) -> None:
    assert safe_name(said) == kept


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=120))
def test_whatever_is_said_becomes_one_name_in_the_folder(said: str) -> None:
    name = safe_name(said)
    assert name == safe_name(name)
    assert name
    assert len(name.encode()) <= 100
    assert not name.startswith((".", " "))
    assert not name.endswith((".", " "))
    assert not set(name) & set('/\\<>:"|?*')
    assert all(unicodedata.category(char)[0] != "C" for char in name)


def test_a_long_name_keeps_its_end() -> None:
    assert safe_name("图" * 200 + ".png").endswith("图.png")
    assert numbered(safe_name("x" * 200 + ".png"), 12).endswith("x-12.png")
    assert len(numbered(safe_name("x" * 200 + ".png"), 12)) == 100


def test_kinds() -> None:
    assert [kind_of(name) for name in ("a.PNG", "b.htm", "c.log", "d.xlsx", "e.zip", "f", "g.exe")] == [
        "image", "html", "text", "table", "download", "other", "other",
    ]  # fmt: skip
    assert (kind_of("a.png", "download"), kind_of("a.png", "strange")) == ("download", "image")


def test_no_two_tasks_share_a_folder() -> None:
    ids = ["a", "A", "a ", "+a", "a/../b", "a/b", "..", "...", "", "con", "x" * 200, "x" * 199, "X" * 200, "=61=", "é"]
    folders = [folder_of(task_id) for task_id in ids]
    assert len({folder.lower() for folder in folders}) == len(ids)
    for folder in folders:
        shard, _, name = folder.partition("/")
        assert len(shard) == 2
        assert len(name) <= 100
        assert "/" not in name
        assert name.strip(".") == name


def test_what_a_record_keeps_tells_the_file_again() -> None:
    one = Artifact(task_id="t", attempt=2, name="a.png", kind="image", size=3, sha256="ab", step="s", at=5, place="x/y")
    assert marked("t", 2, mark(one)) == one
    assert set(artifact.KINDS) >= {"image", "html", "text", "table", "download", "other"}
