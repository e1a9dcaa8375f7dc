"""Patterns that are compiled when they are first used, or ahead of that."""

from __future__ import annotations

import re

import pytest

from services.domain.text import late


def test_a_pattern_is_compiled_at_its_first_use_or_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_ = re.compile

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    asked, ahead = late.late("b+x", re.IGNORECASE), late.late("c+x")
    assert not compiled
    assert asked.findall("aBBx") == ["BBx"]
    assert compiled == ["b+x"]
    late.compile_all()
    assert "c+x" in compiled
    assert compiled.count("b+x") == 1
    compiled.clear()
    assert ahead.search("cx") is not None
    assert ahead.fullmatch("cx") is not None
    assert not compiled, "whoever looks for something does not wait for it"
