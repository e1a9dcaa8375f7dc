"""Whether the program of a command line is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from services.executors.base import Outcome
from services.executors.rpa import Program, RpaExecutor
from tests.unit.services.executors.builders import Listener, job

posix = pytest.mark.skipif(sys.platform == "win32", reason="rights of files")


def put(path: Path, text: str = "#!/bin/sh\nexit 0\n", mode: int = 0o755) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_what_is_missing_has_a_name(tmp_path: Path) -> None:
    path = os.environ["PATH"]
    assert Program((sys.executable, "x"), path, None).missing() == ""
    assert Program((), path, None).missing() == "executors.rpa.command"
    assert Program(("no-such-program-here", "x"), path, None).missing() == "no-such-program-here"
    assert Program((sys.executable,), path, str(tmp_path / "no")).missing() == str(tmp_path / "no")
    assert Program((str(tmp_path),), path, None).missing() == str(tmp_path)


@posix
def test_it_is_looked_for_on_the_path_of_the_flow_and_in_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "flowrun")
    assert Program(("flowrun",), str(tmp_path), None).missing() == ""
    assert Program(("flowrun",), "/nowhere", None).missing() == "flowrun"
    assert Program(("./flowrun",), None, str(tmp_path)).missing() == ""
    assert Program(("./flowrun",), None, str(tmp_path)).file() == str(tmp_path / "flowrun")
    put(tmp_path / "plain", mode=0o644)
    assert Program(("plain",), str(tmp_path), None).missing() == "plain"


@posix
def test_what_could_not_be_started_is_missing_until_its_file_changes(tmp_path: Path) -> None:
    script = put(tmp_path / "flowrun", "#!/nowhere/interpreter\n")
    executor = RpaExecutor((str(script),), base_environment=dict(os.environ))
    assert executor.fitness().lacks == {}
    outcome = executor.run(job(), Listener().context)
    assert (outcome.ok, outcome.unable) == (False, True)
    assert executor.fitness().lacks == {"": str(script)}
    put(script, "#!/bin/sh\nexit 0 # now it works\n")
    assert executor.fitness().lacks == {}
    assert executor.run(job(), Listener().context) == Outcome(ok=True)


@posix
def test_a_type_with_a_command_of_its_own_uses_no_other(tmp_path: Path) -> None:
    own = put(tmp_path / "own", '#!/bin/sh\necho \'{"result": {"by": "own"}}\'\n')
    commands = {"mail": (str(own),), "broken": ("no-such-program-here",)}
    executor = RpaExecutor((sys.executable, "-c", "1"), commands=commands, base_environment=dict(os.environ))
    fitness = executor.fitness()
    assert (fitness.types, fitness.lacks) == ({"mail"}, {"broken": "no-such-program-here"})
    assert executor.run(job("mail"), Listener().context).result == '{"by":"own"}'
    assert executor.run(job("broken"), Listener().context).unable
    assert executor.run(job("other"), Listener().context).ok
