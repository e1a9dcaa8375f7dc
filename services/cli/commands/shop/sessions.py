"""``shop session``: shops whose tasks wait for a login, and who says that somebody has logged in."""

from __future__ import annotations

import argparse
from typing import Any

from services import assembly
from services.cli import several, shapes
from services.cli.context import EXIT_OK, Context, examples, table
from services.cli.several import Told
from services.domain.fleet.shop import Shop
from services.domain.gates import session
from services.domain.gates.session import ClosedSession, Login
from services.domain.task import classify

EXAMPLES = (
    "shop session list",
    "shop session open pdd:s1 --note 'scanned the code'",
    "shop session close pdd:s1 --kind captcha --note 'the phone is away'",
)


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    parser = verbs.add_parser(
        "session",
        parents=[common],
        help="shops whose tasks wait for a login",
        description="An attempt that ends with login_expired or captcha closes the session gate of its shop: its tasks"
        " wait, uncounted, until somebody has logged in there and says so.",
        **examples(EXAMPLES),
    )
    which = parser.add_subparsers(required=True, metavar="VERB")
    listing = which.add_parser("list", parents=[common], help="who waits, since when, and what told so")
    listing.add_argument("--all", action="store_true", help="also shops that wait for nobody, with their last login")
    listing.set_defaults(handler=show_all)
    for name, handler, text in (
        ("open", open_, "the shop is logged in again: note it, and let its tasks go"),
        ("close", close, "start none of its tasks until somebody has logged in"),
    ):
        one = which.add_parser(name, parents=[common], help=text)
        several.add_shops(one)
        one.add_argument("--note", default="", help="why; kept in the audit")
        if name == "close":
            one.add_argument("--kind", choices=session.KINDS, default=classify.LOGIN_EXPIRED, help="what is asked for")
        one.set_defaults(handler=handler)


def show_all(context: Context) -> int:
    """Print the closed ones, with ``--all`` the others too."""
    with context.engine() as engine:
        closed = {one.shop: one for one in engine.store.sessions()}
        logins, successes, counts = engine.store.logins(), engine.store.successes(), engine.store.counts().shops
    shops = sorted({*closed, *logins, *successes} if context.args.all else closed)
    rows = [
        row(shop, closed.get(shop), logins.get(shop), successes.get(shop, 0))
        | {"waiting": counts.get(shop, {}).get("blocked", 0)}
        for shop in shops
    ]
    header = ("shop", "asks for", "since", "task", "waiting", "last login", "last success")
    fields = ("shop", "session", "since", "task", "waiting", "login_at", "success_at")
    lines = [tuple("" if one[field] is None else one[field] for field in fields) for one in rows]
    context.show({"sessions": rows}, table(header, lines) if lines else ["no shop waits for a login"])
    return EXIT_OK


def open_(context: Context) -> int:
    """Say that shops are logged in."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        was = assembly.commands(engine).sessions.open(shop.key, note=context.args.note)
        waited = f"{shop.key} did not wait for a login; that it has one is noted"
        text = f"{shop.key} is logged in; its tasks go on" if was else waited
        return Told(document={"opened": shop.key, "was_closed": was}, line=text)

    return several.each(context, "open", act, what="say that {shops} can be worked in")


def close(context: Context) -> int:
    """Say that shops must be logged in first."""
    args = context.args

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        done = assembly.commands(engine).sessions.close(shop.key, kind=args.kind, note=args.note)
        text = f"{shop.key} waits for a login{'; running tasks go on' if done else ' already'}"
        return Told(document={"closed": shop.key, "was_open": done}, line=text)

    return several.each(context, "close", act, what="let {shops} wait for a login")


def standing(engine: assembly.Engine, shop: str) -> dict[str, Any]:
    """As ``row``, asked for one shop, with the age of its login in seconds (None: not known)."""
    closed = next((one for one in engine.store.sessions() if one.shop == shop), None)
    login = engine.store.logins().get(shop)
    age = (engine.store.now_ms() - login.at) // 1000 if login else None
    found = row(shop, closed, login, engine.store.successes().get(shop, 0))
    del found["shop"]
    return found | {"login_age_s": age}


def row(shop: str, closed: ClosedSession | None, login: Login | None, success_at: int) -> dict[str, Any]:
    """How a shop stands: what it asks for (None: nothing), who logged in last, when a task succeeded last."""
    return {
        "shop": shop,
        "session": closed.kind if closed else None,
        "since": shapes.iso(closed.since) if closed else None,
        "task": closed.task_id if closed else None,
        "by": closed.by if closed else None,
        "note": closed.note if closed else None,
        "login_at": shapes.iso(login.at) if login else None,
        "login_by": login.by if login else None,
        "success_at": shapes.iso(success_at) if success_at else None,
    }
