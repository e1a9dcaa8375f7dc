"""The storefront as a server: sockets, threads and the control addresses around the site."""

from __future__ import annotations

import contextlib
import datetime
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from sample_storefront import pages
from sample_storefront.answers import BadRequest, Request, Response, Site, as_html, as_json, json_object, select_orders
from sample_storefront.catalogue import Catalogue, fraction
from sample_storefront.seller_site import SellerSite
from sample_storefront.ledger import Ledger
from sample_storefront.trouble import PROFILES, Trouble, TroubleBook

DEFAULT_DAY = datetime.date(2026, 11, 21)


class Storefront:
    """The sample platforms on one loopback port, from ``start`` to ``stop``."""

    def __init__(
        self,
        seed: int = 7,
        *,
        port: int = 0,
        profile: str = "usual",
        today: datetime.date = DEFAULT_DAY,
        latency_s: float = 0.0,
        slow_s: float = 1.5,
    ) -> None:
        self.seed = seed
        self.profile = profile
        self.latency_s = latency_s  #: what every page takes, on average
        self.slow_s = slow_s
        self.catalogue = Catalogue(seed, today)
        self.troubles = TroubleBook(seed, PROFILES[profile])
        self.ledger = Ledger()
        self.stopping = threading.Event()
        self._site = Site(self.catalogue, self.troubles, self.ledger)
        self._seller_site = SellerSite(self.catalogue, self.troubles, self.ledger)
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, name="storefront", args=(0.05,))

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve from a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Break off what is being served and leave no thread behind."""
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    def answer(self, request: Request) -> Response:
        """What to say to a request; addresses with ``_`` are for people and tests and are never in trouble."""
        try:
            match (request.method, request.path):
                case (_, "/"):
                    return as_html("Storefront", "<p>/{platform}/{shop}/ · /_control</p>")
                case (_, "/login" | "/captcha"):
                    return self._person(request)
                case ("GET", "/_control"):
                    return as_json(self.state())
                case ("POST", "/_control"):
                    self.control(json_object(request.body))
                    return as_json(self.state())
                case ("GET", "/_orders"):
                    return as_json(self._truth(request))
                case (_, path) if path.startswith("/desk/"):
                    return self._seller_site.answer(request)
                case _:
                    return self._site.answer(request)
        except BadRequest as exc:
            return as_json({"error": str(exc)}, 400)

    def state(self) -> dict[str, object]:
        """What has been served, answered and spoilt so far."""
        about = {"seed": self.seed, "profile": self.profile, "latency_s": self.latency_s}
        return {**about, **self.ledger.state(), "troubles": self.troubles.state()}

    def control(self, order: dict[str, object]) -> None:
        """``{"platform", "shop", "trouble"}`` heals or breaks, ``"advance": n`` lets a shop live on, ``"latency_s"``.

        ``shop`` may be ``platform:shop``; ``platform`` alone means all its shops, and ``"*"`` every platform.
        """
        platform, shop = str(order.get("platform") or ""), str(order.get("shop") or "")
        scope = f"{platform}:{shop}" if platform and shop and ":" not in shop else shop or platform
        try:
            trouble = Trouble(str(order["trouble"])) if "trouble" in order else None
            ticks, latency = int(str(order.get("advance", 0))), float(str(order.get("latency_s", self.latency_s)))
        except ValueError as exc:
            raise BadRequest(str(exc)) from exc
        if trouble is not None and not scope:
            raise BadRequest('platform is missing; "*" means all')
        if (ticks or shop) and ":" not in scope:
            raise BadRequest("name one shop as platform:shop, or by platform and shop")
        if trouble is not None:
            self.troubles.put(scope, trouble)
        if ticks:
            self.ledger.advance(scope, ticks)
        self.latency_s = max(0.0, latency)

    def delay(self, request: Request, response: Response) -> float:
        """Seconds until the answer leaves."""
        if response.wait is Trouble.HANG:
            return 3600.0
        spread = 0.5 + fraction(self.seed, "latency", request.path, request.task_id, request.query.get("page", ""))
        return self.latency_s * spread + (self.slow_s if response.wait is Trouble.SLOW else 0.0)

    def _truth(self, request: Request) -> list[object]:
        platform, shop = request.query.get("platform", ""), request.query.get("shop", "")
        if not platform or not shop:
            raise BadRequest("platform and shop are missing")
        orders = self.catalogue.orders(platform, shop, self.ledger.tick(f"{platform}:{shop}"))
        return list(select_orders(orders, request.query))

    def _person(self, request: Request) -> Response:
        """What a person does at the shop's screen: log in, or move the slider."""
        form = dict(parse_qsl(request.body.decode("utf-8", "replace"))) if request.method == "POST" else request.query
        platform, shop = form.get("platform", ""), form.get("shop", "")
        kind = Trouble.LOGIN_EXPIRED if request.path == "/login" else Trouble.CAPTCHA
        if request.method == "POST":
            if self.troubles.lasting(platform, shop) is kind:
                self.troubles.put(f"{platform}:{shop}", Trouble.NONE)
            return as_json({}, 302, location=f"/{platform}/{shop}/")
        body = pages.login(platform, shop) if kind is Trouble.LOGIN_EXPIRED else pages.captcha(platform, shop)
        return as_html("Log in 登录" if kind is Trouble.LOGIN_EXPIRED else "Verification 安全验证", body)


class _Server(ThreadingHTTPServer):
    """Threads that end with ``server_close``: connections are hung up first, then each thread is joined."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 256  #: the default of 5 refuses connections when a fleet starts at once

    def __init__(self, address: tuple[str, int], storefront: Storefront) -> None:
        super().__init__(address, _Handler)
        self.storefront = storefront
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def get_request(self) -> tuple[socket.socket, object]:
        """Remember the connection."""
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Wake every thread that waits for its client."""
        with self._lock:
            for connection in self._open:
                _break(connection)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves in the middle is the normal end of a killed flow, not worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, asks the storefront, waits as told, writes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  #: headers and body in one segment; apart, each answer costs a delayed ack of 40 ms
    timeout = 30
    server: _Server
    _first = True  #: no request has been read from this connection yet

    def do_GET(self) -> None:
        """Any GET."""
        self._serve()

    def do_POST(self) -> None:
        """Any POST."""
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Silence: hundreds of lines a minute would hide the one that matters."""

    def _serve(self) -> None:
        storefront = self.server.storefront
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): text for name, text in self.headers.items()}
        request = Request.parse(self.command, self.path, body=body, headers=headers, first=self._first)
        self._first = False
        response = storefront.answer(request)
        delay = storefront.delay(request, response)
        if delay and storefront.stopping.wait(delay):
            response = Response(reset=True)
        if response.reset:
            self.close_connection = True
            _break(self.connection)
            return
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)


def _break(connection: socket.socket) -> None:
    """End a connection without a word, as a dying proxy does."""
    with contextlib.suppress(OSError):  # the client may be gone already
        connection.shutdown(socket.SHUT_RDWR)
