"""``api``: serve REST, events, metrics and the status page to other programs."""

from __future__ import annotations

import threading
from typing import Any

from services import log as logs
from services import workforce
from services.cli import output, signals, spoken
from services.cli.context import EXIT_OK, Context, examples, whole
from services.domain.errors import NotAllowed

EXAMPLES = (
    "api",
    "api --port 9000 --host-name fleet.example",
    "api --host 0.0.0.0 --cert fleet.pem --key fleet.key",
)
LOOPBACK, PORT = "127.0.0.1", 8765


def add(nouns: Any) -> None:
    parser = nouns.add_parser(
        "api",
        handler=serve,
        help="serve REST, events, metrics and a status page to other programs",
        description="Programs on this machine may look without a token; for everything else they show one (see token)."
        " On another address than the loopback one every request needs a token, and the connection TLS.",
        **examples(EXAMPLES),
    )
    parser.add_argument("--host", default=LOOPBACK, metavar="ADDRESS", help=f"where to listen (default: {LOOPBACK})")
    parser.add_argument("--port", type=whole(0, 65_535), default=PORT, help=f"0: any that is free (default: {PORT})")
    parser.add_argument("--cert", default="", metavar="FILE", help="certificate chain (PEM) for TLS")
    parser.add_argument("--key", default="", metavar="FILE", help="its private key (PEM), where not in the same file")
    text = "serve other machines without TLS: whoever stands between reads tokens along; behind a proxy with TLS"
    parser.add_argument("--plain-text", action="store_true", help=text)
    text = "whoever is on this machine acts without a token as the account of this process does"
    parser.add_argument("--open-loopback", action="store_true", help=text)
    text = "another name by which this server may be asked, as behind a proxy; repeatable"
    parser.add_argument("--host-name", action="append", default=[], metavar="NAME", help=text)


def serve(context: Context) -> int:
    """Serve until it is told to stop."""
    # here, because no other command should pay for loading it
    from services.api import server

    args, settings = context.args, context.settings()
    place = server.Place(
        host=args.host,
        port=args.port,
        cert=args.cert,
        key=args.key,
        plain_text=args.plain_text,
        open_loopback=args.open_loopback,
        names=tuple(args.host_name),
    )
    server.check(place)
    logs.keep(settings.home_path, "api")
    stop = threading.Event()
    with context.engine() as engine, signals.heard(stop.set):
        if engine.newer:
            raise NotAllowed(engine.newer, field="role")
        steward = None if settings.read_only else workforce.steward(engine)
        try:
            with server.serving(engine, place) as address:
                if steward is not None:
                    steward.start()
                output.err(
                    spoken.phrase("fleetdeck: REST and a status page at {address}; Ctrl-C ends it\n", address=address)
                )
                server.wait(stop)
        finally:
            if steward is not None:
                steward.close()
    context.show({"served": address}, [spoken.phrase("{address} is served no more", address=address)])
    return EXIT_OK
