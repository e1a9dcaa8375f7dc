"""Which language the window begins with."""

from __future__ import annotations

import pytest

from console.appearance import chosen_language


def test_the_environment_beats_the_window_and_that_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, "C")
    monkeypatch.setenv("FLEETDECK_LANGUAGE", "zh_CN")
    assert chosen_language("en", "en") == "zh_CN"
    monkeypatch.setenv("FLEETDECK_LANGUAGE", "klingon")
    assert chosen_language("zh_CN", "en") == "zh_CN"
    monkeypatch.delenv("FLEETDECK_LANGUAGE")
    assert chosen_language("zh_CN", "en") == "zh_CN"
    assert chosen_language("", "zh_CN") == "zh_CN"
    assert chosen_language("klingon", "zh_CN") == "en"
