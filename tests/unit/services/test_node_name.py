"""The name of a machine, kept with its profiles."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services import home_folder
from services.domain.gates import home


def test_it_is_made_once_and_kept_for_all_workers_of_the_folder(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: home_folder.node_name(tmp_path), range(8)))
    (name,) = names
    assert home.valid_node(name)
    assert home_folder.node_name(tmp_path) == name
    assert [path.name for path in tmp_path.iterdir()] == [home_folder.NODE_FILE]


def test_the_first_worker_of_a_new_folder_keeps_it_as_well(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "new" / "home"
    name = home_folder.node_name(folder)
    assert home_folder.node_name(folder) == name
    assert (folder / home_folder.NODE_FILE).read_text("ascii").strip() == name
    assert caplog.text == ""


@pytest.mark.parametrize("host", ["", "Büro PC 3", "x" * 200, "-.-"])
def test_any_host_makes_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: host)
    assert home.valid_node(home_folder.node_name(tmp_path))
    assert home.valid_node(home_folder.node_name(tmp_path / "nowhere"))


def test_what_is_no_name_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / home_folder.NODE_FILE).write_bytes(b"\xff two words")
    name = home_folder.node_name(tmp_path)
    assert home.valid_node(name)
    assert home_folder.node_name(tmp_path) == name
