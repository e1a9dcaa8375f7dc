"""The name of a person is that of the system's account, whatever the environment says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services import account

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="asks the list of users of POSIX")


def test_it_is_the_account_of_the_real_user() -> None:
    import pwd

    assert account.name() == pwd.getpwuid(os.getuid()).pw_name


def test_no_variable_picks_the_name() -> None:
    lie = {"LOGNAME": "eve", "USER": "eve", "LNAME": "eve", "USERNAME": "eve", "SUDO_USER": "eve"}
    words = [sys.executable, "-c", "from services import account; print(account.name())"]
    done = subprocess.run(words, env={**os.environ, **lie}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == account.name() != "eve"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root may become somebody else")
def test_an_id_without_a_name_has_a_name_of_its_own() -> None:
    become = "import os; os.setuid(54321); from services import account; print(account.name())"
    done = subprocess.run([sys.executable, "-c", become], capture_output=True, text=True, cwd=Path.cwd(), check=False)
    if done.returncode:
        pytest.skip("nobody else may read this folder")
    assert done.stdout.strip() == "uid-54321"
