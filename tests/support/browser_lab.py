"""A site for the tests of the browser: the storefront, pages that misbehave, one that tells who uses a profile."""

from __future__ import annotations

import sys
import threading
import urllib.parse
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "sample"))

from sample_storefront.server import Storefront

PASSWORD = "open-sesame"
_PING_MS, _PINGS = 30, 5
#: pings with the browser's own clock and an id that the profile keeps; the title tells the flow that it has ended
_PROBE = f"""<title>probe</title><script>
const ask = new URLSearchParams(location.search);
localStorage.profile = localStorage.profile || Math.random().toString(36).slice(2);
// of this attempt: one whose browser was killed comes back later, when others had their turn
const turn = `${{ask.get('task')}}-${{Math.random().toString(36).slice(2)}}`;
let left = {_PINGS};
async function ping() {{
  const at = performance.timeOrigin + performance.now();
  await fetch(`/ping?shop=${{ask.get('shop')}}&task=${{turn}}&profile=${{localStorage.profile}}&at=${{at}}`);
  if (--left) setTimeout(ping, {_PING_MS}); else document.body.innerHTML = '<p id=done>done</p>';
}}
addEventListener('load', ping);
</script>"""
_PAGES = {
    "/dialog": "<script>alert('are you there?'); document.title = 'on'</script><p id=after>after</p>",
    "/login": "<script>document.cookie = 'desk=in'; setTimeout(() => location = '/second', 1200)</script>",
    "/popup": "<a id=open target=_blank href=/second>open</a>",
    "/tall": "<body style='margin:0'><script>document.write("
    "`<p style='margin:0;background:linear-gradient(red,blue);height:${location.search.slice(1)}px'>top</p>`)</script>",
    "/wide": "<body style='margin:0'><p style='margin:0;width:3000000px'>wide</p>",
    "/second": "<p id=second>second page</p>",
    "/echo": "<input id=field oninput='document.querySelector(\"p\").innerText = this.value'><p id=said></p>",
    "/upload": "<input id=file type=file onchange='document.querySelector(\"p\").innerText = this.files[0].name'>"
    "<p></p>",
    "/links": "<a id=big href=/big download>big</a><script>console.log('hello from the page')</script>",
    "/form": "<select id=one><option value=a>A</option><option value=b>B</option></select>"
    "<div style='height:4000px'></div><p id=low>low</p>",
}


@dataclass
class Lab:
    """The server, and what pages have told it."""

    big_mb: int = 100
    pings: dict[str, list[tuple[float, str, str]]] = field(default_factory=lambda: defaultdict(list))  #: by shop

    def __post_init__(self) -> None:
        self.front = Storefront(profile="healthy")
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where the misbehaving pages are."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        """Serve both."""
        self.front.start()
        self._thread.start()

    def stop(self) -> None:
        """End both."""
        self.front.stop()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def shared_profiles(self) -> list[str]:
        """Shops in whose profile two tasks have worked at once, or that share one, as the browsers tell it."""
        wrong = []
        owners: dict[str, set[str]] = defaultdict(set)
        for shop, pings in self.pings.items():
            order = [turn for _, turn, _ in sorted(pings)]
            turns = [turn for place, turn in enumerate(order) if not place or order[place - 1] != turn]
            if len(turns) != len(set(turns)):
                wrong.append(shop)
            for _, _, profile in pings:
                owners[profile].add(shop)
        return wrong + [",".join(sorted(shops)) for shops in owners.values() if len(shops) > 1]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], lab: Lab) -> None:
        super().__init__(address, _Handler)
        self.lab = lab

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that is killed hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""

    def do_GET(self) -> None:
        parts = urllib.parse.urlsplit(self.path)
        ask = dict(urllib.parse.parse_qsl(parts.query))
        path = parts.path
        if path == "/ping":
            ping = (float(ask["at"]), ask["task"], ask["profile"])
            self.server.lab.pings[ask["shop"]].append(ping)
            self._send(200, "")
        elif path == "/probe":
            self._send(200, _PROBE)
        elif path.startswith("/status/"):
            self._send(int(path.rpartition("/")[2]), "<p>service unavailable</p>")
        elif path == "/loop":
            self._send(302, "", Location=f"/loop?n={int(ask.get('n', 0)) + 1}")
        elif path == "/to-file":
            self._send(302, "", Location="file:///etc/passwd")
        elif path == "/big":
            self._big()
        elif path == "/hang":
            threading.Event().wait(30)
        else:
            self._send(200 if path in _PAGES else 404, _PAGES.get(path, "<p>nothing</p>"))

    def _send(self, status: int, body: str, **headers: Any) -> None:
        data = f"<!doctype html><meta charset=utf-8><body>{body}".encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": len(data), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def _big(self) -> None:
        count = self.server.lab.big_mb
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Disposition", 'attachment; filename="big.bin"')
        self.send_header("Content-Length", str(count * 2**20))
        self.end_headers()
        for _ in range(count):
            self.wfile.write(bytes(2**20))
