"""``shop login``: the shop's browser with a window on this machine, for a person who logs in."""

from __future__ import annotations

import argparse
from typing import Any
from urllib.parse import urlsplit

from services import assembly, workforce
from services.cli import known_shops, output
from services.cli.context import EXIT_FAILED, EXIT_OK, Context
from services.domain.errors import OperatorError, UsageError
from services.executors.browser import installation

EXAMPLES = ("shop login pdd:s1", "shop login pdd:s1 --url https://mms.example.com/login")


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser = verbs.add_parser(
        "login",
        parents=[common],
        help="open the shop's browser here for a person to log in; then its tasks go on",
        description="Opens the browser profile of the shop on this machine, where its worker runs. Log in, or move the"
        " slider, and close the window: if the page that was seen last asked for nothing, the shop counts as logged in"
        " and its parked tasks go on.",
    )
    parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
    parser.add_argument(
        "--url", default="", help="page to begin with (default: executors.browser.sites of its platform)"
    )
    parser.add_argument("--here", action="store_true", help="also where the shop is at home on another node")
    parser.add_argument("--note", default="", help="kept in the audit")
    parser.set_defaults(handler=login)


def login(context: Context) -> int:
    """Open the browser and wait until it is closed.

    Raises:
        OperatorError: there is no browser or no display here, or a task works in the profile.
        UsageError: ``--url`` is no address.
    """
    args = context.args
    if args.url and not _names_a_site(args.url):
        told = f"--url must begin with http:// or https:// and name a site, not {args.url!r:.80}"
        raise UsageError(told, field="--url")
    with context.engine() as engine:
        shop = known_shops.find(engine, args.shop)
        _check_home(engine, shop.key, anyway=args.here)
        window = workforce.login_window(engine.settings)
        if window is None:
            raise OperatorError("there is no browser here: install fleetdeck[browser] and Chromium, or log in where the"
                                f" shop's worker runs and say: shop session open {shop.key}")  # fmt: skip
        if not installation.has_display():
            raise OperatorError(
                "there is no display here: run this at the screen of the machine, or log in by other means and say:"
                f" shop session open {shop.key}"
            )
        url = args.url or engine.settings.executors.browser.sites.get(shop.platform, "")

        def browse() -> bool:
            return workforce.browse(window, shop.platform, shop.shop_id, url, told=_tell)

        sessions, node = assembly.commands(engine).sessions, workforce.node_of(engine.settings)
        done = sessions.login(shop.key, browse, note=args.note, node=node)
        waits = any(one.shop == shop.key for one in engine.store.sessions())
    follows = "its tasks wait" if waits else "its tasks go on"
    text = f"{shop.key} is {'' if done else 'not '}logged in; {follows}"
    context.show({"shop": shop.key, "logged_in": done}, [text])
    return EXIT_OK if done else EXIT_FAILED


def _check_home(engine: assembly.Engine, shop: str, *, anyway: bool) -> None:
    """A login in a profile that no task uses would help nobody."""
    home = engine.store.homes([shop]).get(shop)
    if home is not None and home.node != workforce.node_of(engine.settings) and not anyway:
        raise OperatorError(
            f"the browser profile of {shop} lives on the node {home.node}: run this there, move it with shop move, or"
            " log in here all the same with --here"
        )


def _names_a_site(url: str) -> bool:
    try:
        return url.startswith(("http://", "https://")) and bool(urlsplit(url).hostname)
    except ValueError:  # brackets that are no IPv6 address
        return False


def _tell(url: str, logged_in: bool) -> None:
    state = "close the window when you are done" if logged_in else "it asks for a login or shows a captcha"
    output.err(f"fleetdeck: {url}: {state}\n")
