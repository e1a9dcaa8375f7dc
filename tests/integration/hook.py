"""A webhook on this machine, as a chat service would be: it keeps what it was told, and can refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.contract.waiting import eventually

SECONDS = 60.0


@dataclass
class Hook:
    """``told``: titles and bodies of what was taken, in order."""

    url: str = ""
    refuses: bool = False
    says: str = ""  #: the body of its answers
    hangs: threading.Event | None = None  #: it answers nobody before this is set
    asked: int = 0
    told: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)  #: of all that was asked, with its words behind ``?``

    @property
    def titles(self) -> list[str]:
        return [one["title"] for one in self.told]

    def wait(self, number: int, seconds: float = SECONDS) -> list[str]:
        """The titles once there are so many."""
        eventually(lambda: len(self.told) >= number or None, seconds)
        return self.titles


@contextmanager
def listening() -> Iterator[Hook]:
    """A webhook while it is needed."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.asked += 1
            hook.paths.append(self.path)
            if hook.hangs is not None:
                hook.hangs.wait(SECONDS)
            if not hook.refuses:
                hook.told.append(json.loads(body))
            self.send_response(503 if hook.refuses else 200)
            self.end_headers()
            self.wfile.write(hook.says.encode())

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hook.url = f"json://127.0.0.1:{server.server_port}/secret-of-the-hook"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
