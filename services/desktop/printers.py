"""Whether who knows the printers answers: Qt asks it in the thread of the window, and waits as long as that takes."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

ANSWER_S = 3.0
PORT = 631
#: where a machine's own CUPS listens, and where it is named where it is another's; what a person says comes first
SOCKET = Path("/run/cups/cups.sock")
CONFIGURED = (Path.home() / ".cups/client.conf", Path("/etc/cups/client.conf"))


def silent(named: str = "", wait_s: float = ANSWER_S, configured: Iterable[Path] = CONFIGURED) -> bool:
    """Whether the server of the printers takes a question and does not answer it within ``wait_s``, or cannot even be
    reached in that time. Where it is not there at all, or closes the line, that is an answer. ``named``: where the
    environment says it is, ``CUPS_SERVER``. Blocking.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        with _connected(named or _server(configured), wait_s) as line:
            line.settimeout(wait_s)
            line.sendall(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")
            line.recv(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


def _server(configured: Iterable[Path]) -> str:
    """As CUPS names it: a path, or a host with or without its port."""
    for path in configured:
        with suppress(OSError, UnicodeDecodeError):
            for line in path.read_text("utf-8").splitlines():
                word, _space, value = line.strip().partition(" ")
                if word.lower() == "servername" and value.strip():
                    return value.strip()
    return str(SOCKET) if SOCKET.exists() else "localhost"


def _connected(server: str, wait_s: float) -> socket.socket:
    if sys.platform != "win32" and server.startswith("/"):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(wait_s)
        try:
            line.connect(server)
        except OSError:
            line.close()
            raise
        return line
    host, _colon, port = server.partition("/")[0].rpartition(":")
    if not host or server.endswith("]"):  # without a port, or an address of the sixth version alone
        host, port = server.partition("/")[0], ""
    return socket.create_connection((host.strip("[]"), int(port) if port.isdigit() else PORT), wait_s)
