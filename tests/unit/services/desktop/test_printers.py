"""Printers whose server answers, is not there, or takes the question and says nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.desktop.printers import silent


@contextmanager
def listening(answer: bytes | None, at: Path | None = None) -> Iterator[str]:
    """A server that says this to whoever asks and closes the line, or takes every question and says nothing."""
    ended = threading.Event()
    with socket.socket(socket.AF_UNIX) if at is not None else socket.socket() as server:
        server.bind(str(at) if at is not None else ("127.0.0.1", 0))
        server.listen()

        def serve() -> None:
            line, _who = server.accept()
            with line:
                line.recv(100)
                if answer is None:
                    ended.wait(60.0)
                else:
                    line.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield str(at) if at is not None else f"127.0.0.1:{server.getsockname()[1]}"
        ended.set()
        thread.join(10.0)


def test_one_that_answers_or_closes_the_line_is_not_silent() -> None:
    for answer in (b"HTTP/1.1 200 OK\r\n\r\n", b""):
        with listening(answer) as server:
            assert not silent(server, 20.0)


def test_one_that_says_nothing_is_silent(tmp_path: Path) -> None:
    for at in (None, tmp_path / "cups.sock"):
        with listening(None, at) as server:
            assert silent(server, 0.3)


def test_one_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        free = gone.getsockname()[1]
    for server in (f"127.0.0.1:{free}/version=1.1", str(tmp_path / "nowhere.sock"), f"[::1]:{free}"):
        assert not silent(server, 20.0)


def test_it_is_asked_where_the_configuration_says(tmp_path: Path) -> None:
    with listening(None) as server:
        (tmp_path / "client.conf").write_text(f"# ours\nEncryption Never\nServerName {server}\n")
        assert silent("", 0.3, (tmp_path / "none.conf", tmp_path / "client.conf"))
