"""``shop``: list, show, import, pause, resume, dedicate, undedicate, limit, move, login, session, breaker."""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from services import assembly, workforce
from services.cli import known_shops, output, several, shapes, spoken, tables
from services.cli.commands import work
from services.cli.context import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Context, examples, seconds, table, whole
from services.cli.several import Told
from services.commands.sheet import shop_file
from services.domain.errors import OperatorError, UsageError
from services.domain.fleet import platforms, shop_filter
from services.domain.fleet.shop import MOST_AT_ONCE, Shop, stranger
from services.domain.gates import breaker, session
from services.domain.gates.breaker import Breaker, Rule
from services.domain.gates.home import Home
from services.domain.gates.session import ClosedSession, Login
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.task import classify, ledger
from services.domain.task.lane import shop_queue
from services.executors.browser import installation
from services.i18n import N_
from services.monitor.shops.states import ShopStates

MOVE_EXAMPLES = ("shop move pdd:s1 --node desk-01-3f2a",)
LOGIN_EXAMPLES = ("shop login pdd:s1", "shop login pdd:s1 --url https://mms.example.com/login")
SESSION_EXAMPLES = (
    "shop session list",
    "shop session open pdd:s1 --note 'scanned the code'",
    "shop session close pdd:s1 --kind captcha --note 'the phone is away'",
)
BREAKER_EXAMPLES = (
    "shop breaker",
    "shop breaker pdd:s1 --close --note 'logged in again'",
    "shop breaker --failures 5 --of 10 --cooldown 60 --max-cooldown 30m",
)
EXAMPLES = (
    "shop list",
    "shop list --filter 'platform:temu state:login,dead group:a*'",
    "shop list --filter 'success<90'",
    "shop list --filter 'worker:desk-02'",
    "shop import shops.csv --skip-bad",
    "shop pause pdd:s1 --note 'stock-taking'",
    "shop pause pdd:s1 pdd:s2 temu:9 --note 'risk control' --yes",
    "shop resume pdd:s1",
    "shop dedicate pdd:s1",
    "shop limit pdd:s1 --concurrency 3",
    *MOVE_EXAMPLES,
    *BREAKER_EXAMPLES,
    *LOGIN_EXAMPLES,
    *SESSION_EXAMPLES,
)
#: of the list, by their heading
COLUMNS = {
    "platform": "platform",
    "shop": "shop_id",
    "name": "name",
    "limit": "concurrency",
    "own queue": "dedicated",
    "active": "active",
    "dead": "dead",
    "state": "state_word",
    "why": "reason",
}
#: how a person does here what a verb of the window does
COMMANDS = {
    "open_tasks": "task list --filter '{what}'",
    "login_shop": "shop login {what}",
    "open_session": "shop session open {what}",
    "close_breaker": "shop breaker {what} --close",
    "start_worker": "worker",
}


def add(nouns: Any) -> None:
    noun = nouns.add_parser("shop", help="shops of the fleet", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    listing = verbs.add_parser("list", handler=list_shops, help="shops, and what is true of each")
    listing.add_argument("--filter", metavar="EXPR", default="", help=f"words, or by {', '.join(shop_filter.FIELDS)}")
    for name, handler, text in (
        ("show", show, "one shop"),
        ("pause", pause, "start none of its tasks; running ones go on, waiting ones stay"),
        ("resume", resume, "start its tasks again"),
        ("dedicate", dedicate, "give it a queue of its own, single_shop_ID; its waiting tasks move there"),
        ("undedicate", undedicate, "let its tasks go through the lanes again; the queue ends when nothing can come"),
    ):
        parser = verbs.add_parser(name, handler=handler, help=text)
        if name == "show":
            parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
        else:
            several.add_shops(parser)
        if name in ("pause", "resume"):
            parser.add_argument("--note", "--reason", dest="note", default="", help="why; shown and kept in the audit")
    limiting = verbs.add_parser("limit", handler=limit, help="how many of its tasks may run at once")
    several.add_shops(limiting)
    limiting.add_argument("--concurrency", type=whole(1, MOST_AT_ONCE), metavar="N", required=True, help="at once")
    importing = verbs.add_parser(
        "import",
        handler=import_shops,
        help="insert shops, or change known ones, from a CSV, TSV or XLSX file",
        description="Columns: platform, shop_id, name, name_en, group, tags, concurrency, dedicated, enabled. What the"
        " file has no column for stays as it is. With a bad line nothing is imported and every fault is listed.",
    )
    importing.add_argument("file")
    importing.add_argument("--skip-bad", action="store_true", help="import the good lines all the same; exit code 2")
    add_move(verbs)
    add_breaker(verbs)
    add_login(verbs)
    add_session(verbs)


def list_shops(context: Context) -> int:
    """Print shops with what is true of them, those that are known from tasks alone among them."""
    shop_filter.parse(context.args.filter, platforms.NAMES)  # what is no filter is told before anything is read
    with context.engine(looking=True) as engine:
        keeps_ms = round(engine.settings.retention.finished_days * ledger.DAY_MS)
        states = ShopStates(engine.store, engine.registry, engine.broker.health, keeps_ms)
        ends = shop_filter.asks_ends(context.args.filter)
        if ends:
            states.learn_day()
        found = states.look()
        asked = [now.key for now in found] if shop_filter.asks_worker(context.args.filter) else []
        ran_by = states.ran_by(asked)
        counts, known = engine.store.counts().shops, engine.registry.shops()
        homes, at_ms = engine.store.homes(), engine.store.now_ms()
    rows = [
        _row(
            known.get(now.key) or stranger(now.key),
            counts.get(now.key, {}),
            homes.get(now.key),
            now,
            at_ms,
            ran_by.get(now.key, ""),
        )
        for now in found
    ]
    there = {row["platform"] for row in rows}
    wanted = shop_filter.parse(context.args.filter, there | platforms.NAMES.keys())
    rows = [_asked(row, ends=ends, worker=bool(asked)) for row in rows if wanted(row)]
    lines = [tuple(row[field] for field in COLUMNS.values()) for row in rows]
    context.show({"shops": rows}, table(tuple(COLUMNS), lines))
    return EXIT_OK


def show(context: Context) -> int:
    """Print one shop, what is true of it, and what a person can do."""
    with context.engine(looking=True) as engine:
        shop = known_shops.find(engine, context.args.shop)
        now = next(
            one
            for one in ShopStates(engine.store, engine.registry, engine.broker.health).look([shop.key])
            if one.key == shop.key
        )
        counts, at_ms = engine.store.counts().shops.get(shop.key, {}), engine.store.now_ms()
        row = _asked(_row(shop, counts, engine.store.homes([shop.key]).get(shop.key), now, at_ms))
        row |= standing(engine, shop.key)
        works, zone = assembly.queries(engine).works.of_shop(shop.key), shapes.zone(engine)
    here = shapes.local(row, zone, "state_since", "since", "login_at", "success_at")
    told = {name: value for name, value in here.items() if name not in ("state", "reasons", "held_by", "can")}
    lines = [tables.fact("state" if name == "state_word" else name, value, 14) for name, value in told.items()]
    lines += [tables.fact("can", _command(verb, what), 14) for verb, what in insight.acts(now)]
    row["types"] = [work.of_type(one) for one in works]
    header = ("type", "last_success", "last_failure", "next")
    lines += ["", *table(header, [work.cells(one, zone) for one in works])] if works else []
    context.show({"shop": row}, lines)
    return EXIT_OK


def pause(context: Context) -> int:
    """Stop starting tasks of shops."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        was = assembly.commands(engine).fleet.pause(f"shop:{shop.key}", reason=context.args.note)
        text = (
            spoken.phrase("{key} is paused; running tasks go on, waiting ones stay", key=shop.key)
            if was is None
            else shapes.paused_before(shop.key, was, context.args.note)
        )
        return Told(document={"paused": shop.key, "was_paused": was is not None}, line=text)

    return several.each(context, "pause", act)


def resume(context: Context) -> int:
    """Start tasks of shops again."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        was = assembly.commands(engine).fleet.resume(f"shop:{shop.key}", note=context.args.note)
        text = (
            spoken.phrase("{key} runs again", key=shop.key)
            if was
            else spoken.phrase("{key} was not paused", key=shop.key)
        )
        return Told(document={"resumed": shop.key, "was_paused": was}, line=text)

    return several.each(context, "resume", act)


def dedicate(context: Context) -> int:
    """Give shops queues of their own."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        queue = shop_queue(shop.shop_id)
        had, moved = assembly.commands(engine).fleet.dedicate(shop.key)
        document = {"dedicated": shop.key, "queue": queue, "moved": moved, "was_dedicated": had}
        if had and not moved:
            text = spoken.phrase("{key} has the queue {queue} already", key=shop.key, queue=queue)
            return Told(document=document, line=text)
        text = spoken.plural(
            "{key} has the queue {queue}; {count} waiting task moved there",
            "{key} has the queue {queue}; {count} waiting tasks moved there",
            moved,
            key=shop.key,
            queue=queue,
        )
        return Told(document=document, line=spoken.phrase("{text}; running workers take it up in seconds", text=text))

    return several.each(context, "dedicate", act, what=N_("give {shops} a queue of its own"))


def undedicate(context: Context) -> int:
    """Let shops share the lanes."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        had, moved = assembly.commands(engine).fleet.undedicate(shop.key)
        document = {"undedicated": shop.key, "moved": moved, "was_dedicated": had}
        if not had and not moved:
            return Told(document=document, line=spoken.phrase("{key} has no queue of its own", key=shop.key))
        text = spoken.plural(
            "{key} shares the lanes; {count} waiting task moved there; the leader deletes {queue} when"
            " nothing can come there any more",
            "{key} shares the lanes; {count} waiting tasks moved there; the leader deletes {queue} when"
            " nothing can come there any more",
            moved,
            key=shop.key,
            queue=shop_queue(shop.shop_id),
        )
        return Told(document=document, line=text)

    return several.each(context, "undedicate", act, what=N_("let {shops} share the lanes"))


def import_shops(context: Context) -> int:
    """Import a file: all of it, or with ``--skip-bad`` its good lines."""
    args = context.args
    with context.engine() as engine:
        known = {shop.key: shop for shop in engine.store.shops()}
        file = shop_file.read(Path(args.file), known)
        wanted = file.shops if args.skip_bad or not file.faults else ()
        count = assembly.commands(engine).fleet.import_shops(wanted) if wanted else 0
    errors = [{"line": fault.line, "field": fault.field, "error": spoken.told(fault.error)} for fault in file.faults]
    document: dict[str, Any] = {"imported": count, "errors": errors, "warnings": list(file.warnings)}
    lines = [
        spoken.phrase(
            "line {line}: {field}: {error}", line=fault.line, field=fault.field, error=spoken.told(fault.error)
        )
        for fault in file.faults
    ]
    if file.faults:
        first = file.faults[0]
        text = spoken.plural(
            "{count} bad line, line {line}: {error}",
            "{count} bad lines, the first is line {line}: {error}",
            len(file.faults),
            line=first.line,
            error=spoken.told(first.error),
        )
        document |= {"error": text, "field": first.field}
        lines.append(spoken.phrase("mend them, or import the others with --skip-bad") if not args.skip_bad else "")
    context.warn([*map(spoken.told, file.warnings)])
    context.show(
        document, [*filter(None, lines), spoken.plural("{count} shop imported", "{count} shops imported", count)]
    )
    return EXIT_USAGE if file.faults else EXIT_OK


def _command(verb: str, what: str) -> str:
    """What to type to do that."""
    if verb == "resume":
        head, _colon, name = what.partition(":")
        return f"shop resume {name}" if head == "shop" else f"queue resume {what}"
    return COMMANDS[verb].format(what=what)


def _row(
    shop: Shop, counts: dict[str, int], home: Home | None, now: ShopNow, at_ms: int, ran_by: str = ""
) -> dict[str, Any]:
    told = shop_filter.Row(shop, now, counts, home.node if home is not None else "", ran_by)
    return dict(told) | shapes.shop_now(now, at_ms)


def _asked(row: dict[str, Any], *, ends: bool = False, worker: bool = False) -> dict[str, Any]:
    """Its share of good ends and who ran it last only where that was asked for; no share where nothing ended."""
    share, ran_by = row.pop("success"), row.pop(shop_filter.WORKER)
    told = {"success": None if math.isnan(share) else share} if ends else {}
    return row | told | ({shop_filter.WORKER: ran_by} if worker else {})


def limit(context: Context) -> int:
    """Let so many tasks of shops run at once."""
    wanted = context.args.concurrency

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        before = assembly.commands(engine).fleet.set_concurrency(shop.key, wanted)
        document = {"shop": shop.key, "concurrency": wanted, "was": before}
        words = {"key": shop.key, "before": before}
        if before == wanted:
            text = spoken.phrase("{key} was limited to {before} at once already", **words)
        else:
            text = spoken.phrase("{key}: {count} at once from now on; before: {before}", count=wanted, **words)
        return Told(document=document, line=text)

    return several.each(context, "limit", act, what=N_("change how many tasks of {shops} may run at once"))


def add_move(verbs: Any) -> None:
    text = "let it be at home on another node: tasks that need its browser profile start only there"
    parser = verbs.add_parser(
        "move",
        handler=move,
        help=text,
        description="Tasks that waited for the old node go to the new one. The profile itself is not copied: copy its"
        " folder before, or the shop has to log in again there.",
    )
    several.add_shops(parser)
    parser.add_argument("--node", required=True, metavar="NODE", help="its name; see `worker list`")
    parser.add_argument("--force", action="store_true", help="also where no worker has told of such a node")


def move(context: Context) -> int:
    """Move shops."""
    args = context.args

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        done = assembly.commands(engine).homes.move(shop.key, args.node, force=args.force)
        warnings = (
            [spoken.phrase("{running} of its tasks still run where it was at home", running=done.running)]
            if done.running
            else []
        )
        context.warn(warnings)
        text = spoken.plural(
            "{shop} is at home on {node}; {count} waiting task goes there",
            "{shop} is at home on {node}; {count} waiting tasks go there",
            done.tasks,
            shop=done.shop,
            node=done.node,
        )
        return Told(document={"moved": msgspec.to_builtins(done), "warnings": warnings}, line=text)

    return several.each(
        context, "move", act, what=spoken.phrase("move {shops} to {node}", shops="{shops}", node=args.node)
    )


def add_login(verbs: Any) -> None:
    parser = verbs.add_parser(
        "login",
        handler=login,
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


def login(context: Context) -> int:
    """Open the browser and wait until it is closed.

    Raises:
        OperatorError: there is no browser or no display here, or a task works in the profile.
        UsageError: ``--url`` is no address.
    """
    args = context.args
    if args.url and not _names_a_site(args.url):
        told = spoken.phrase(
            "--url must begin with http:// or https:// and name a site, not {text}", text=f"{args.url!r:.80}"
        )
        raise UsageError(told, field="--url")
    with context.engine() as engine:
        shop = known_shops.find(engine, args.shop)
        _check_home(engine, shop.key, anyway=args.here)
        window = workforce.login_window(engine.settings)
        if window is None:
            raise OperatorError(
                spoken.phrase(
                    "there is no browser here: install fleetdeck[browser] and Chromium, or log in where the shop's"
                    " worker runs and say: shop session open {shop}",
                    shop=shop.key,
                )
            )
        if not installation.has_display():
            raise OperatorError(
                spoken.phrase(
                    "there is no display here: run this at the screen of the machine, or log in by other means and"
                    " say: shop session open {shop}",
                    shop=shop.key,
                )
            )
        url = args.url or engine.settings.executors.browser.sites.get(shop.platform, "")

        def browse() -> bool:
            return workforce.browse(window, shop.platform, shop.shop_id, url, told=_tell)

        sessions, node = assembly.commands(engine).sessions, assembly.node_of(engine.settings)
        done = sessions.login(shop.key, browse, note=args.note, node=node)
        waits = any(one.shop == shop.key for one in engine.store.sessions())
    follows = spoken.phrase("its tasks wait") if waits else spoken.phrase("its tasks go on")
    told = N_("{key} is logged in; {follows}") if done else N_("{key} is not logged in; {follows}")
    text = spoken.phrase(told, key=shop.key, follows=follows)
    context.show({"shop": shop.key, "logged_in": done}, [text])
    return EXIT_OK if done else EXIT_FAILED


def _check_home(engine: assembly.Engine, shop: str, *, anyway: bool) -> None:
    """A login in a profile that no task uses would help nobody."""
    home = engine.store.homes([shop]).get(shop)
    if home is not None and home.node != assembly.node_of(engine.settings) and not anyway:
        raise OperatorError(
            spoken.phrase(
                "the browser profile of {shop} lives on the node {node}: run this there, move it with shop move, or"
                " log in here all the same with --here",
                shop=shop,
                node=home.node,
            )
        )


def _names_a_site(url: str) -> bool:
    try:
        return url.startswith(("http://", "https://")) and bool(urlsplit(url).hostname)
    except ValueError:  # brackets that are no IPv6 address
        return False


def _tell(url: str, logged_in: bool) -> None:
    state = (
        spoken.phrase("close the window when you are done")
        if logged_in
        else spoken.phrase("it asks for a login or shows a captcha")
    )
    output.err(spoken.phrase("fleetdeck: {url}: {state}\n", url=url, state=state))


def add_session(verbs: Any) -> None:
    parser = verbs.add_parser(
        "session",
        help="shops whose tasks wait for a login",
        description="An attempt that ends with login_expired or captcha closes the session gate of its shop: its tasks"
        " wait, uncounted, until somebody has logged in there and says so.",
        **examples(SESSION_EXAMPLES),
    )
    which = parser.add_subparsers(required=True, metavar="VERB")
    listing = which.add_parser("list", handler=show_sessions, help="who waits, since when, and what told so")
    listing.add_argument("--all", action="store_true", help="also shops that wait for nobody, with their last login")
    for name, handler, text in (
        ("open", open_session, "the shop is logged in again: note it, and let its tasks go"),
        ("close", close_session, "start none of its tasks until somebody has logged in"),
    ):
        one = which.add_parser(name, handler=handler, help=text)
        several.add_shops(one)
        one.add_argument("--note", default="", help="why; kept in the audit")
        if name == "close":
            one.add_argument("--kind", choices=session.KINDS, default=classify.LOGIN_EXPIRED, help="what is asked for")


def show_sessions(context: Context) -> int:
    """Print the closed ones, with ``--all`` the others too."""
    with context.engine() as engine:
        closed = {one.shop: one for one in engine.store.sessions()}
        logins, successes, counts = engine.store.logins(), engine.store.successes(), engine.store.counts().shops
        zone = shapes.zone(engine)
    shops = sorted({*closed, *logins, *successes} if context.args.all else closed)
    rows = [
        session_row(shop, closed.get(shop), logins.get(shop), successes.get(shop, 0))
        | {"waiting": counts.get(shop, {}).get("blocked", 0)}
        for shop in shops
    ]
    header = ("shop", "asks for", "since", "task", "waiting", "last login", "last success")
    fields = ("shop", "session", "since", "task", "waiting", "login_at", "success_at")
    here = [shapes.local(one, zone, "since", "login_at", "success_at") for one in rows]
    lines = [tuple("" if one[field] is None else one[field] for field in fields) for one in here]
    context.show({"sessions": rows}, table(header, lines) if lines else [spoken.phrase("no shop waits for a login")])
    return EXIT_OK


def open_session(context: Context) -> int:
    """Say that shops are logged in."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        was = assembly.commands(engine).sessions.open(shop.key, note=context.args.note)
        waited = spoken.phrase("{key} did not wait for a login; that it has one is noted", key=shop.key)
        text = spoken.phrase("{key} is logged in; its tasks go on", key=shop.key) if was else waited
        return Told(document={"opened": shop.key, "was_closed": was}, line=text)

    return several.each(context, "open", act, what=N_("say that {shops} can be worked in"))


def close_session(context: Context) -> int:
    """Say that shops must be logged in first."""
    args = context.args

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        done = assembly.commands(engine).sessions.close(shop.key, kind=args.kind, note=args.note)
        told = N_("{key} waits for a login; running tasks go on") if done else N_("{key} waits for a login already")
        text = spoken.phrase(told, key=shop.key)
        return Told(document={"closed": shop.key, "was_open": done}, line=text)

    return several.each(context, "close", act, what=N_("let {shops} wait for a login"))


def standing(engine: assembly.Engine, shop: str) -> dict[str, Any]:
    """As ``row``, asked for one shop, with the age of its login in seconds (None: not known)."""
    closed = next((one for one in engine.store.sessions() if one.shop == shop), None)
    login = engine.store.logins().get(shop)
    age = (engine.store.now_ms() - login.at) // 1000 if login else None
    found = session_row(shop, closed, login, engine.store.successes().get(shop, 0))
    del found["shop"]
    return found | {"login_age_s": age}


def session_row(shop: str, closed: ClosedSession | None, login: Login | None, success_at: int) -> dict[str, Any]:
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


def add_breaker(verbs: Any) -> None:
    parser = verbs.add_parser(
        "breaker",
        handler=breaker_verb,
        help="shops whose tasks wait after too many failures",
        description="When enough of the last attempts of a shop failed for a reason that lies with the shop, its"
        " breaker opens and its tasks wait. After the cool-down one of them tries; if it fails, the cool-down doubles,"
        " if it succeeds, the others follow. Without options: what is open, and the rule.",
    )
    several.add_shops(parser, least="*")
    parser.add_argument("--close", action="store_true", help="the shop works again: forget its failures")
    parser.add_argument("--note", default="", help="why; kept in the audit")
    parser.add_argument("--failures", type=_failures, metavar="N|off", help="so many failed attempts open it")
    parser.add_argument("--of", type=whole(1, breaker.MAX_WINDOW), metavar="N", help="of the last so many")
    parser.add_argument("--cooldown", type=seconds, metavar="TIME", help="until the first try, such as 60 or 5m")
    parser.add_argument("--max-cooldown", type=seconds, metavar="TIME", help="however often it fails")


def breaker_verb(context: Context) -> int:
    """Show breakers, close one, or change the rule.

    Raises:
        UsageError: the options do not go together, or no such rule can be.
    """
    args = context.args
    changes = _changes(args)
    if args.close and not args.shops:
        raise UsageError(spoken.phrase("say of which shop: shop breaker SHOP --close"), field="shop")
    if changes and args.shops:
        raise UsageError(spoken.phrase("the rule is one for all shops: leave the shop away"), field="shop")
    if args.close:
        return several.each(
            context, "close", partial(_close_breaker, args.note), what=N_("close the breaker of {shops}")
        )
    with context.engine() as engine:
        commands = assembly.commands(engine).breakers
        if changes:
            commands.set_rule(msgspec.structs.replace(commands.rule(), **changes))
        keys = {known_shops.find(engine, one).key for one in args.shops}
        zone = shapes.zone(engine)
        rule, found = commands.rule(), [one for one in engine.store.breakers() if not keys or one.shop in keys]
    document = {"breakers": [_breaker_row(one) for one in found], "rule": msgspec.to_builtins(rule)}
    header = ("shop", "failed", "last", "since", "next try")
    rows = [
        (
            one.shop,
            spoken.phrase("{failed} of {count}", failed=one.failed, count=len(one.outcomes)),
            one.kind,
            shapes.clock(one.since, zone),
            shapes.clock(one.until, zone),
        )
        for one in found
    ]
    context.show(document, [*(table(header, rows) if rows else [spoken.phrase("no breaker is open")]), _words(rule)])
    return EXIT_OK


def _close_breaker(note: str, engine: assembly.Engine, shop: Shop) -> Told:
    was = assembly.commands(engine).breakers.close(shop.key, note=note)
    text = (
        spoken.phrase("the breaker of {key} is closed", key=shop.key)
        if was
        else spoken.phrase("the breaker of {key} was not open", key=shop.key)
    )
    return Told(document={"closed": shop.key, "was_open": was}, line=text)


def _changes(args: argparse.Namespace) -> dict[str, int]:
    named = {
        "failures": args.failures,
        "of": args.of,
        "cooldown_s": args.cooldown,
        "max_cooldown_s": args.max_cooldown,
    }
    return {name: round(value) for name, value in named.items() if value is not None}


def _failures(text: str) -> int:
    return 0 if text == "off" else whole(1, breaker.MAX_WINDOW)(text)


def _breaker_row(one: Breaker) -> dict[str, Any]:
    return {
        "shop": one.shop,
        "failed": one.failed,
        "attempts": len(one.outcomes),
        "kind": one.kind,
        "since": shapes.iso(one.since),
        "next_try": shapes.iso(one.until),
        "times": one.times,
    }


def _words(rule: Rule) -> str:
    if not rule.failures:
        return spoken.phrase("rule: off")
    return spoken.phrase(
        "rule: opens when {failures} of the last {of} attempts failed, tries after {cooldown_s} s, at the"
        " latest after {max_cooldown_s} s",
        failures=rule.failures,
        of=rule.of,
        cooldown_s=rule.cooldown_s,
        max_cooldown_s=rule.max_cooldown_s,
    )
