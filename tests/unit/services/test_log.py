"""Logging: to stderr, one line a record, no password in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from services import log as logs


@pytest.fixture(autouse=True)
def root() -> Iterator[None]:
    """The root logger as it was."""
    logger = logging.getLogger()
    before, level = list(logger.handlers), logger.level
    yield
    for handler in logger.handlers:
        if handler not in before:
            handler.close()
    logger.handlers[:] = before
    logger.setLevel(level)


def test_warnings_go_to_stderr_and_details_only_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logging.getLogger("x").info("a detail")
    logging.getLogger("x").warning("a warning")
    logs.set_up(verbose=True)
    logging.getLogger("x").info("another detail")
    out, err = capsys.readouterr()
    assert out == ""
    assert "a detail" not in err.replace("another detail", "")
    assert "WARNING x a warning" in err
    assert "INFO x another detail" in err


def test_passwords_of_addresses_are_cut_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logging.getLogger("x").warning("lost %s", "amqp://user:secret@host/vhost")
    try:
        raise ValueError("redis://:hunter2@host refused")
    except ValueError:
        logging.getLogger("x").exception("failed")
    err = capsys.readouterr().err
    assert "amqp://••••@host/vhost" in err
    assert "secret" not in err
    assert "hunter2" not in err


def test_a_forged_line_stays_in_its_record(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logging.getLogger("x").warning("shop %s", "s1\r\n2026-01-01 WARNING x all is well \x1b[31m")
    err = capsys.readouterr().err
    assert "\r" not in err
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1


def test_everything_goes_to_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "logs" / "fleetdeck.log"
    logs.set_up(file=file)
    logging.getLogger("x").info("a detail")
    assert "a detail" in file.read_text(encoding="utf-8")
    assert capsys.readouterr().err == ""
