"""What a shell finishes at a Tab, asked of the shell itself, and colours that only a terminal gets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.cli import program

ROOT = Path(__file__).resolve().parents[4]
#: prints what it would offer after the words given
ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
function=$(complete -p fleetdeck | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert program.run(["completion", shell], lambda _request: 0) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="asks bash")
def test_bash_finishes_nouns_verbs_options_values_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "completion.bash"
    place.write_text(script("bash", capsys), encoding="utf-8")
    (tmp_path / "types.json").write_text("{}", encoding="utf-8")

    def offered(*words: str) -> list[str]:
        asked = ["bash", "-c", ASK, "bash", str(place), "fleetdeck", *words]
        return subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    assert offered("sche") == ["schedule"]
    assert offered("task", "cr") == ["create", "create-again"]
    assert offered("shop", "session", "o") == ["open"]
    assert offered("task", "list", "--fi") == ["--filter"]
    assert offered("--page", "dead") == ["dead_letters"]
    assert offered("type", "import", "ty") == ["types.json"]
    assert offered("completion", "") == ["bash", "zsh", "fish", "powershell"]


@pytest.mark.skipif(sys.platform == "win32", reason="asks bash")
def test_bash_offers_what_there_is_in_the_fleet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("FLEETDECK_HOME", str(home))
    sheet = tmp_path / "shops.csv"
    sheet.write_text("platform,shop_id\npdd,s1\ntemu,s1\ntemu,t9\n", encoding="utf-8")
    assert program.run(["shop", "import", str(sheet)], lambda _request: 0) == 0
    script_ = script("bash", capsys).rpartition("shops imported\n")[2]
    (tmp_path / "completion.bash").write_text(script_, encoding="utf-8")
    itself = tmp_path / "bin" / "fleetdeck"
    itself.parent.mkdir()
    itself.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "main.py"}" "$@"\n', encoding="utf-8")
    itself.chmod(0o755)
    monkeypatch.setenv("PATH", f"{itself.parent}{os.pathsep}{os.environ['PATH']}")

    def offered(*words: str) -> list[str]:
        asked = ["bash", "-c", ASK, "bash", str(tmp_path / "completion.bash"), "fleetdeck", *words]
        return subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    assert offered("shop", "pause", "t") == ["t9", "temu:s1"]
    assert offered("alert", "rule", "set", "old") == ["oldest_wait"]
    assert offered("task", "create", "--type", "sync_or") == ["sync_order"]
    assert offered("type", "show", "sync_or") == ["sync_order"]
    assert offered("task", "create", "--platform", "") == ["pdd", "temu"]
    monkeypatch.setenv("FLEETDECK_HOME", "/dev/null/nowhere")
    assert offered("shop", "pause", "t") == []


def test_a_name_that_a_shell_would_obey_is_not_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from services import assembly, settings

    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    engine = assembly.open_engine(settings.load())
    try:
        for name in ("$(reboot)", "good", "`id`", "a b", "-x"):
            engine.store.put_document("promise", name, "{}")
    finally:
        engine.close()
    assert program.run(["completion", "--values", "promises"], lambda _request: 0) == 0
    assert capsys.readouterr().out.split("\n") == ["good", ""]


@pytest.mark.parametrize(
    ("shell", "word"),
    [("zsh", "#compdef fleetdeck"), ("fish", "complete -c fleetdeck"), ("powershell", "Register-ArgumentCompleter")],
)
def test_every_shell_gets_its_own(shell: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert word in text
    assert "prioritize" in text


def test_hints_are_in_the_language_of_the_person_where_a_shell_can_read_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETDECK_LANGUAGE", "zh_CN")
    assert "创建、查看和修改任务" in script("zsh", capsys)
    text = script("powershell", capsys)
    assert text.isascii(), "a code page may take a quote for the end of a letter"
    assert "show this help message and exit" in text


def test_a_shell_that_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.run(["completion", "csh"], lambda _request: 0) == 2
    assert "there is no shell 'csh'; there are bash, zsh, fish, powershell" in capsys.readouterr().err


def shown(*words: str, **environment: str) -> str:
    """All that a terminal gets to see."""
    import pty

    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=plain | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment,
    ):
        os.close(theirs)
        found = b""
        try:
            while piece := os.read(ours, 65536):
                found += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return found.decode().replace("\r\n", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_colours_are_for_terminals_that_want_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.run(["worker", "--help"], lambda _request: 0)
    piped = capsys.readouterr().out
    assert "\x1b" not in piped

    coloured = shown("worker", "--help")
    assert "\x1b[36m--metrics\x1b[0m" in coloured
    assert "[HOST:]PORT" in coloured, "brackets are no markup"

    wrong = shown("task", "show")
    assert "\x1b[1;31mfleetdeck:\x1b[0m" in wrong
    assert "\x1b[1;31m" not in shown("task", "show", NO_COLOR="1")
