"""``worker nodes|log|browser|window``: the machines of workers, what they log, and the browsers of shops on them."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from services import assembly, spans, whole_file
from services.cli import known_shops, output, shapes, spoken
from services.cli.commands import workers
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, seconds, table, whole
from services.domain.errors import NotAllowed, NotFound, OperatorError, UsageError
from services.domain.fleet import remote, worker_order
from services.domain.fleet.remote import WorkerLog
from services.domain.insight import machines
from services.domain.insight.machines import MachineNow
from services.engine import fates
from services.monitor.remote import answered

#: what can be done to a browser: the order for it, "" where it takes more than one
ACTIONS = {
    "restart": worker_order.RESTART_BROWSER,
    "release": worker_order.RELEASE_PROFILE,
    "open": worker_order.OPEN_WINDOW,
    "reload": worker_order.RELOAD_WINDOW,
    "close": worker_order.CLOSE_WINDOW,
    "done": "",
}
_PACE_S, _WAIT_S = 0.5, 20.0


def add(verbs: Any) -> None:
    """Declare the verbs beside those of a worker."""
    text = "the machines: their load and versions, and which differ from the others"
    verbs.add_parser("nodes", handler=nodes, help=text)
    parser = verbs.add_parser("log", handler=log, help="the last lines that a worker has logged on its machine")
    parser.add_argument("workers", nargs=1, metavar="WORKER", help="its name, or a beginning that only one has")
    text = f"the newest so many (default: 50, at most {remote.LOG_LINES})"
    parser.add_argument("--limit", type=whole(1, remote.LOG_LINES), default=50, help=text)
    parser.add_argument("--follow", action="store_true", help="go on with what comes, until Ctrl-C; not with --json")
    parser = verbs.add_parser(
        "browser",
        handler=browser,
        help="restart, release or open the browser of a shop on the machine of a worker",
        description="restart ends a stuck browser, with the task in it; release lets nobody hold the profile any more;"
        " open opens it for a person: worker window shows what it shows; reload loads its page again; done says that"
        " the shop is logged in, lets its tasks go on and closes it; close only closes it.",
    )
    parser.add_argument("action", choices=tuple(ACTIONS))
    parser.add_argument("workers", nargs=1, metavar="WORKER", help="its name, or a beginning that only one has")
    parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
    parser.add_argument("--yes", action="store_true", help="do not ask, where a task works in the browser")
    text = "how long to wait for the worker to do it (default: 20s)"
    parser.add_argument("--wait", type=seconds, default=_WAIT_S, metavar="SPAN", help=text)
    text = "what the open browser of a shop shows"
    parser = verbs.add_parser("window", handler=window, help=text)
    parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
    parser.add_argument("--save", type=Path, default=None, metavar="FILE", help="keep the picture (JPEG)")


def nodes(context: Context) -> int:
    """Print the machines."""
    with context.engine(looking=True) as engine:
        found = machines.look(fates.look(engine.store).workers)
    rows = [
        (
            one.name,
            len(one.workers),
            f"{one.busy}/{one.slots}",
            _percent(one.cpu),
            _percent(one.memory),
            *(one.version(part) for part in machines.PARTS),
            one.system,
        )
        for one in found
    ]
    header = ("node", "workers", "busy", "cpu", "memory", *machines.PARTS, "system")
    context.show({"nodes": msgspec.to_builtins(found)}, [*table(header, rows), *_drift(found)])
    return EXIT_OK


def _percent(share: float) -> str:
    return spans.percent(share / 100) if share >= 0 else ""


def _drift(found: Sequence[MachineNow]) -> list[str]:
    return [
        spoken.phrase(
            "{name}: {part} {names}, most others {others}",
            name=one.name,
            part=gap.part,
            names=", ".join(gap.own),
            others=gap.others,
        )
        for one in found
        for gap in one.differs
    ]


def log(context: Context) -> int:
    """Ask a worker for its log and print it, the newest last.

    Raises:
        OperatorError: it does not answer.
    """
    args = context.args
    with context.engine() as engine:
        name = workers.only(engine.store.workers(), args.workers[0]).worker
        told = assembly.queries(engine).remote
        known, live, line = told.log(name), told.is_heard(name), partial(_line, zone=shapes.zone(engine))
        ask = partial(assembly.commands(engine).fleet.tell_worker, name, f"{worker_order.LOG}={remote.LOG_S}")
        follow = args.follow and live and not context.json
        try:
            ask()
        except NotAllowed:
            if known is None:
                raise
            follow = False  # what somebody else had asked for can be read; it is not asked for more
        found = known or answered(lambda: told.log(name), _WAIT_S)
        if found is None:
            raise OperatorError(
                spoken.phrase(
                    "{name} has not shown its log within {wait_s} s; is it alive? see worker list",
                    name=name,
                    wait_s=f"{_WAIT_S:g}",
                )
            )
        shown = found.lines[-args.limit :]
        lines = [{"at": one.at, "level": one.level, "text": one.text} for one in shown]
        silent = (
            []
            if live
            else [
                spoken.phrase(
                    "{name} is silent; these are the last lines that it has shown, no new ones come", name=name
                )
            ]
        )
        context.show({"worker": name, "live": live, "lines": lines}, [*map(line, shown), *silent])
        if follow:
            with suppress(KeyboardInterrupt):  # it has no other end
                for fresh in _new(lambda: told.log(name), found, ask):
                    output.out(map(line, fresh))
    return EXIT_OK


def _new(
    ask: Callable[[], WorkerLog | None], found: WorkerLog, again: Callable[[], None]
) -> Iterator[tuple[remote.LogLine, ...]]:
    pause, last = threading.Event(), found
    while not pause.wait(_PACE_S):
        now = ask()
        if now is None:  # the time that was asked for is over
            again()
            answered(ask, _WAIT_S)
            continue
        yield new_lines(last, now)
        last = now


def new_lines(before: WorkerLog, now: WorkerLog) -> tuple[remote.LogLine, ...]:
    """What came since: lines of one millisecond may be alike, so they are counted from the end."""
    known = before.lines
    for place in range(len(now.lines), 0, -1):
        end = now.lines[:place]
        if known[-len(end) :] == end:
            return now.lines[place:]
    return now.lines


def _line(one: remote.LogLine, zone: str) -> str:
    return f"{shapes.clock(one.at, zone, 'milliseconds')}  {one.level:<8} {one.text}"


def browser(context: Context) -> int:
    """Give an order about the browser of a shop, and wait for what becomes of it.

    Raises:
        OperatorError: the worker could not do it.
    """
    args = context.args
    with context.engine() as engine:
        shop = known_shops.find(engine, args.shop).key
        info = workers.only(engine.store.workers(), args.workers[0])
        commands, told = assembly.commands(engine), assembly.queries(engine).remote
        works = any(one.shop == shop and one.state in ("busy", "lent") for one in info.pool)
        asked = spoken.phrase("end the browser of {shop} with the task that works in it", shop=shop)
        if args.action == "restart" and works and not context.confirm(asked):
            return EXIT_FAILED
        if args.action == "done":
            commands.sessions.login(shop, lambda: True, node=info.node)
        order = f"{ACTIONS[args.action] or worker_order.CLOSE_WINDOW}={shop}"
        began = engine.store.now_ms()
        commands.fleet.tell_worker(info.worker, order)

        def answer() -> str | None:
            opened = args.action == "open" and (found := told.window(shop)) is not None and found.opened >= began
            return "" if opened else told.answer(info.worker, order, began)

        error = answered(answer, args.wait)
    if error:
        raise OperatorError(f"{info.worker}: {error}")
    done = error is not None
    words = spoken.phrase("done") if done else spoken.phrase("asked for; it obeys at its next heartbeat")
    document = {"worker": info.worker, "shop": shop, "action": args.action, "done": done}
    context.show(
        document,
        [
            spoken.phrase(
                "{worker}: {action} the browser of {shop}: {words}",
                worker=info.worker,
                action=args.action,
                shop=shop,
                words=words,
            )
        ],
    )
    return EXIT_OK


def window(context: Context) -> int:
    """Print what an open browser shows, and keep its picture.

    Raises:
        NotFound: none is open.
    """
    args = context.args
    with context.engine(looking=True) as engine:
        shop = known_shops.find(engine, args.shop).key
        found = assembly.queries(engine).remote.window(shop)
        age = engine.store.now_ms() - found.at if found is not None else 0
    if found is None:
        raise NotFound(
            spoken.phrase("no browser of {shop} is open for a person; open it with worker browser open", shop=shop),
            field="shop",
        )
    if args.save is not None:
        if not found.picture:
            raise UsageError(
                spoken.phrase("there is no picture of the browser of {shop} yet; ask again", shop=shop), field="--save"
            )
        draft = args.save.with_name(f"{args.save.name}.part")
        draft.write_bytes(found.picture)
        whole_file.put(draft, args.save)
    document = {
        "shop": found.shop,
        "worker": found.worker,
        "opened": found.opened,
        "at": found.at,
        "url": found.url,
        "logged_in": found.logged_in,
        "visible": found.visible,
        "picture": base64.b64encode(found.picture).decode(),
    }
    state = (
        spoken.phrase("asks for nothing") if found.logged_in else spoken.phrase("asks for a login or shows a captcha")
    )
    seen = f"{age / 1000:.0f}"
    lines = [
        spoken.phrase(
            "{worker}: {page} {state}, seen {seen} s ago", worker=found.worker, page=found.url, state=state, seen=seen
        )
        if found.url
        else spoken.phrase("{worker}: no page yet, seen {seen} s ago", worker=found.worker, seen=seen)
    ]
    context.show(
        document, [*lines, *([spoken.phrase("picture: {save}", save=args.save)] if args.save is not None else [])]
    )
    return EXIT_OK
