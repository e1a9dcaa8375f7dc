"""``cause``: what is decided about a cause of dead letters: who is at it, what is done by itself, what it counts to."""

from __future__ import annotations

from typing import Any

from services import assembly
from services.cli import shapes, spoken
from services.cli.context import EXIT_OK, Context, examples
from services.domain.errors import NotFound, UsageError
from services.domain.insight.cause_rule import PLACES
from services.domain.task.search import filter_time
from services.monitor.letters.causes import Cause

EXAMPLES = (
    "cause know 9ac1 --owner ann --park 2h --alert-once",
    "cause know 9ac1 --owner ann --retry-at 06:00 --to duty --note 'their page is slow until 05:00'",
    "cause name 9ac1 --name 'TEMU captcha' --note 'asked the platform'",
    "cause ignore 9ac1 --span 1d",
    "cause merge 0b2d 77aa --into 9ac1",
    "cause split 9ac1 --platform temu",
)


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "cause",
        help="what is decided about one cause of dead letters",
        description="A cause is named by its fingerprint or a beginning that only one has; see `causes`. Whoever leads"
        " does what is decided, in the audit as `known issue FINGERPRINT`; `cause forget` takes it back.",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    know = verbs.add_parser(
        "know",
        handler=know_it,
        help="who is at it, and what is done by itself; in the place of what was decided before",
        **examples(EXAMPLES),
    )
    know.add_argument("fingerprint", metavar="FINGERPRINT")
    know.add_argument("--owner", default="", metavar="NAME", help="who is at it")
    know.add_argument("--park", default="", metavar="SPAN", help="pause its shops for so long after each letter: 2h")
    know.add_argument("--retry-at", default="", metavar="HH:MM", help="run its letters again then, each day")
    know.add_argument("--alert-once", action="store_true", help="an alert on it is told once")
    know.add_argument("--to", action="append", default=[], metavar="NAME", help="channel or group that hears of it")
    know.add_argument("--link", default="", metavar="URL", help="where it is followed up: an issue of a tracker")
    know.add_argument(
        "--note", default=None, metavar="TEXT", help="what was found out, what helps; left out: as it was"
    )
    name = verbs.add_parser("name", handler=name_it, help="give it a name and a note; left out: none")
    name.add_argument("fingerprint", metavar="FINGERPRINT")
    name.add_argument("--name", default="", metavar="TEXT", help="what it is called")
    name.add_argument("--note", default="", metavar="TEXT", help="what was found out, what helps")
    ignore = verbs.add_parser("ignore", handler=ignore_it, help="ignore its letters, and those to come")
    ignore.add_argument("fingerprint", metavar="FINGERPRINT")
    ignore.add_argument("--span", default="", metavar="SPAN", help="1d; left out: until its text changes")
    merge = verbs.add_parser("merge", handler=merge_them, help="count causes to another one")
    merge.add_argument("fingerprints", nargs="+", metavar="FINGERPRINT")
    merge.add_argument("--into", required=True, metavar="FINGERPRINT", help="the one that they count to")
    for verb, told, handler in (
        ("forget", "do nothing about it by itself any more; parked shops go on", forget_it),
        ("lift", "ignore it no longer", lift_it),
        ("join", "let what was split off by a place count to its cause again", join_it),
    ):
        parser = verbs.add_parser(verb, handler=handler, help=told)
        parser.add_argument("fingerprint", metavar="FINGERPRINT")
    split = verbs.add_parser(
        "split",
        handler=split_it,
        help="let the letters of one shop, platform or worker be a cause of their own; of none of them: undo a merge",
        **examples(EXAMPLES),
    )
    split.add_argument("fingerprint", metavar="FINGERPRINT")
    places = split.add_mutually_exclusive_group()
    places.add_argument("--shop", default="", metavar="PLATFORM:SHOP", help="those that died in this shop")
    places.add_argument("--platform", default="", metavar="PLATFORM", help="those of this platform")
    places.add_argument("--worker", default="", metavar="NAME", help="those that died on this worker")


def know_it(context: Context) -> int:
    """Decide about it."""
    args = context.args
    if not (args.owner or args.park or args.retry_at or args.alert_once or args.to or args.link):
        raise UsageError(
            spoken.phrase(
                "say who is at it or what is done about it: --owner, --park, --retry-at …; a note alone: cause name"
            ),
            field="--owner",
        )
    with context.engine() as engine:
        one = _found(engine, args.fingerprint)
        assembly.commands(engine).causes.know(
            one,
            owner=args.owner,
            park_s=_seconds(args.park, "--park"),
            retry_at=args.retry_at,
            alert_once=args.alert_once,
            route=args.to,
            link=args.link,
            note=args.note,
        )
        _show(context, engine, one)
    return EXIT_OK


def name_it(context: Context) -> int:
    """Name it."""
    args = context.args
    with context.engine() as engine:
        one = _found(engine, args.fingerprint)
        assembly.commands(engine).causes.describe(one, name=args.name, note=args.note)
        _show(context, engine, one)
    return EXIT_OK


def ignore_it(context: Context) -> int:
    """Ignore it."""
    with context.engine() as engine:
        one = _found(engine, context.args.fingerprint)
        seconds = _seconds(context.args.span, "--span")
        done = assembly.commands(engine).causes.ignore(one, seconds=seconds).done
        context.show(
            {"cause": one, "done": list(done)},
            [
                spoken.plural(
                    "{one}: {count} letter is ignored", "{one}: {count} letters are ignored", len(done), one=one
                )
            ],
        )
    return EXIT_OK


def lift_it(context: Context) -> int:
    """Ignore it no longer."""
    with context.engine() as engine:
        one = _found(engine, context.args.fingerprint)
        done = assembly.commands(engine).causes.lift(one).done
        context.show(
            {"cause": one, "done": list(done)},
            [
                spoken.plural(
                    "{one}: {count} letter is open again", "{one}: {count} letters are open again", len(done), one=one
                )
            ],
        )
    return EXIT_OK


def forget_it(context: Context) -> int:
    """Take back what was decided."""
    with context.engine() as engine:
        one = _found(engine, context.args.fingerprint)
        was = assembly.commands(engine).causes.forget(one)
        text = (
            spoken.phrase("{one}: nothing is done about it by itself", one=one)
            if was
            else spoken.phrase("{one}: nothing was decided about it", one=one)
        )
        context.show({"cause": one, "was_known": was}, [text])
    return EXIT_OK


def merge_them(context: Context) -> int:
    """Merge them."""
    args = context.args
    with context.engine() as engine:
        into = _found(engine, args.into, "--into")
        ones = [_found(engine, word) for word in args.fingerprints]
        assembly.commands(engine).causes.merge(ones, into)
        context.show(
            {"merged": ones, "into": into}, [spoken.phrase("{names} count to {into}", names=", ".join(ones), into=into)]
        )
    return EXIT_OK


def split_it(context: Context) -> int:
    """Split a part of it off, or undo its merge."""
    args = context.args
    where = next((f"{name}:{word}" for name in PLACES if (word := str(getattr(args, name)).strip())), "")
    with context.engine() as engine:
        one = _found(engine, args.fingerprint)
        if where:
            part = assembly.commands(engine).causes.split_off(one, where)
            context.show(
                {"cause": one, "where": where, "part": part},
                [spoken.phrase("{where} of {one} is a cause of its own: {part}", where=where, one=one, part=part)],
            )
            return EXIT_OK
        was = assembly.commands(engine).causes.split(one)
        text = (
            spoken.phrase("{one} stands by itself again", one=one)
            if was
            else spoken.phrase("{one} stands by itself", one=one)
        )
        context.show({"cause": one, "was_merged": was}, [text])
    return EXIT_OK


def join_it(context: Context) -> int:
    """Join it again."""
    with context.engine() as engine:
        one = _found(engine, context.args.fingerprint)
        into = assembly.commands(engine).causes.join(one)
        context.show({"cause": one, "into": into}, [spoken.phrase("{one} counts to {into} again", one=one, into=into)])
    return EXIT_OK


def _show(context: Context, engine: assembly.Engine, fingerprint: str) -> None:
    found = next((one for one in _causes(engine) if one.fingerprint == fingerprint), None)
    told: dict[str, Any] = shapes.cause(found) if found is not None else {"fingerprint": fingerprint}
    text = told["known"]["text"] or told["name"] if found is not None else ""
    text = text or spoken.phrase("it has no open letters now")
    context.show({"cause": told}, [f"{fingerprint}: {text}"])


def _found(engine: assembly.Engine, word: str, field: str = "fingerprint") -> str:
    """The fingerprint that begins so, of open letters or of what is decided; a whole one is taken as it is."""
    if len(word) == 16:
        return word
    known = {one for cause in _causes(engine) for one in (cause.fingerprint, *cause.parts)}
    found = sorted(one for one in known if one.startswith(word))
    if len(found) > 1:
        names = ", ".join(found)
        raise UsageError(
            spoken.phrase(
                "{word} is the beginning of several causes: {names}", word=f"{word!r:.40}", names=f"{names:.300}"
            ),
            field=field,
        )
    if not found:
        told = spoken.phrase("there is no cause {word} of open letters; see `causes`", word=f"{word!r:.40}")
        raise NotFound(f"{field}: {told}" if field.startswith("--") else told, field=field)
    return found[0]


def _causes(engine: assembly.Engine) -> tuple[Cause, ...]:
    return assembly.queries(engine).causes.causes().rows


def _seconds(text: str, option: str) -> int:
    if not text:
        return 0
    span = filter_time.duration_ms(text.strip())
    if span is None or span < 1000:
        raise UsageError(
            spoken.phrase(
                "{option} takes a span such as 90m, 2h or 1d, not {text}", option=option, text=f"{text!r:.40}"
            ),
            field=option,
        )
    return span // 1000
