"""A window that is closed while its other pages are about to be made."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from console import desk, pages
from console.desk import Console
from tests.gui.test_appearance import opened
from tests.gui.test_console import play
from views.support import operation


def test_no_page_is_made_for_a_window_that_closes(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    asked, end = threading.Event(), operation.shut_down

    def modules() -> list[str]:
        asked.set()
        return []

    def slowly(**words: bool) -> None:
        asked.wait(6)
        end(**words)

    monkeypatch.setattr(desk, "AHEAD_S", 3.0)
    monkeypatch.setattr(pages, "modules", modules)

    async def close(_console: Console) -> None:
        await opened()
        monkeypatch.setattr(operation, "shut_down", slowly)

    play(qapp, tmp_path, close)
    assert not asked.is_set()
