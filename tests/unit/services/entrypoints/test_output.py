"""What the command line prints is UTF-8, whatever code page the machine has."""

from __future__ import annotations

import io
import sys

import pytest

from services.cli import output


def test_a_pipe_in_a_code_page_gets_utf8_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding="cp1252", newline="\n"))
    output.speak_utf8()
    output.out(["旗舰店 ✓"])
    assert pipe.getvalue().decode("utf-8") == "旗舰店 ✓\n"


def test_a_window_without_outputs_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    output.speak_utf8()
