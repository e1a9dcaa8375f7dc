"""``token``: what other programs show the server of ``api``, made and taken back by an admin."""

from __future__ import annotations

from typing import Any

from services import assembly
from services.cli import output, shapes, spoken
from services.cli.context import EXIT_FAILED, EXIT_OK, Context, examples, table
from services.domain.errors import UsageError
from services.domain.fleet import token
from services.domain.fleet.role import ROLES, VIEWER
from services.domain.fleet.token import Token
from services.domain.task.search import filter_time

EXAMPLES = (
    "token create dashboard --role viewer",
    "token create nightly-import --role operator --expires 30d",
    "token list",
    "token revoke nightly-import",
)
NEVER = "never"


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "token",
        help="tokens for programs that use the server of `api`",
        description="A token has a role as people have. Its text is shown once and kept nowhere; what is done with it"
        " stands in the audit under its name, as NAME@rest.",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    making = verbs.add_parser("create", handler=create, help="make one and print it; only an admin may")
    making.add_argument("name", help="letters, digits, . _ and -")
    making.add_argument("--role", choices=ROLES, default=VIEWER, metavar="ROLE", help=f"{', '.join(ROLES)}")
    making.add_argument(
        "--expires", default="90d", metavar="DURATION", help="after 12h, 30d …, or never (default: 90d)"
    )
    verbs.add_parser("list", handler=list_tokens, help="all, and when each was last used")
    taking = verbs.add_parser("revoke", handler=revoke, help="take one back; its next request is refused")
    taking.add_argument("name")
    taking.add_argument("--yes", action="store_true", help="do not ask")


def create(context: Context) -> int:
    """Make one."""
    args = context.args
    lasts = 0 if args.expires == NEVER else filter_time.duration_ms(args.expires)
    if lasts is None or (not lasts and args.expires != NEVER):
        text = spoken.phrase(
            "--expires takes a duration such as 12h or 30d, or never, not {text}", text=f"{args.expires!r:.40}"
        )
        raise UsageError(text, field="--expires")
    with context.engine() as engine:
        text, made = assembly.commands(engine).tokens.create(args.name, args.role, lasts_ms=lasts)
        zone = shapes.zone(engine)
    shown = output.REVEALED.set(True)  # this once
    try:
        context.show({**_row(made), "token": text}, [text])
    finally:
        output.REVEALED.reset(shown)
    context.warn([spoken.phrase("it is shown this once; {told}", told=_told(made, zone))])
    return EXIT_OK


def list_tokens(context: Context) -> int:
    """Print all."""
    with context.engine() as engine:
        found, now = assembly.commands(engine).tokens.known(), engine.store.now_ms()
        zone = shapes.zone(engine)
    rows = [_row(one) | {"ended": token.over(one.until, now)} for one in found]
    header = ("name", "role", "by", "created", "expires", "last_used", "ended")
    cells = [[(row | _times(one, zone))[name] for name in header] for row, one in zip(rows, found, strict=True)]
    lines = table(header, cells) if rows else [spoken.phrase("there are no tokens")]
    context.show({"tokens": rows}, lines)
    return EXIT_OK


def revoke(context: Context) -> int:
    """Take one back."""
    name = context.args.name
    if not context.confirm(spoken.phrase("revoke the token {name}", name=name)):
        return EXIT_FAILED
    with context.engine() as engine:
        assembly.commands(engine).tokens.revoke(name)
    context.show({"revoked": name}, [spoken.phrase("the token {name} is none any more", name=name)])
    return EXIT_OK


def _row(one: Token) -> dict[str, Any]:
    return {
        "name": one.name,
        "role": one.role,
        "by": one.by,
        "created": shapes.iso(one.at),
        "expires": shapes.iso(one.until),
        "last_used": shapes.iso(one.used),
    }


def _times(one: Token, zone: str) -> dict[str, str]:
    instants = {"created": one.at, "expires": one.until, "last_used": one.used}
    return {name: shapes.clock(at, zone) for name, at in instants.items()}


def _told(one: Token, zone: str) -> str:
    if not one.until:
        return spoken.phrase("{name} is {role} for ever", name=one.name, role=one.role)
    return spoken.phrase("{name} is {role} until {at}", name=one.name, role=one.role, at=shapes.clock(one.until, zone))
