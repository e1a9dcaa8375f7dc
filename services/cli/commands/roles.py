"""``role``: who may do what, and who said so."""

from __future__ import annotations

from typing import Any

from services import assembly
from services.cli import shapes, spoken
from services.cli.context import EXIT_OK, Context, examples, table
from services.domain.fleet.role import ADMIN, DEFAULTS, ROLES, Person, Roles
from services.i18n import N_

EXAMPLES = (
    "role list",
    "role set ann@desk-01 operator --note 'night shift'",
    "role set ben@desk-02 viewer",
    "role remove ben@desk-02",
    "role default viewer",
)


def add(nouns: Any) -> None:
    noun = nouns.add_parser(
        "role",
        help="who may do what",
        description="A viewer looks, an operator acts, an admin also changes task types, rules and roles. A person is"
        " the account of the operating system at a machine. The first one of a fleet is its admin; whoever has no role"
        " of their own has the fleet's default.",
        **examples(EXAMPLES),
    )
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("list", handler=list_roles, help="everybody, and who gave them their role")
    giving = verbs.add_parser("set", handler=set_role, help="give somebody a role; only an admin may")
    giving.add_argument("who", help="account@host, as the list shows it; also somebody who has not been here yet")
    giving.add_argument("role", choices=ROLES, metavar="ROLE", help=", ".join(ROLES))
    giving.add_argument("--note", default="", help="why; shown and kept in the audit")
    taking = verbs.add_parser("remove", handler=remove, help="take a role back: they have the default from then on")
    taking.add_argument("who", help="account@host")
    usual = verbs.add_parser("default", handler=set_default, help="what everybody is without a role of their own")
    usual.add_argument("role", choices=DEFAULTS, metavar="ROLE", help=" or ".join(DEFAULTS))


def list_roles(context: Context) -> int:
    """Print everybody."""
    with context.engine() as engine:
        you = assembly.commands(engine).operator
        known, zone = assembly.queries(engine).roles.look(), shapes.zone(engine)
    rows = [_row(one, you.who) for one in known.people]
    document = {
        "roles": rows,
        "default": known.default,
        "you": {"who": you.who, "role": you.role, "read_only": bool(you.read_only)},
    }
    lines = table(
        ("who", "role", "given by", "at", "note"),
        [
            (row["who"], row["role"], _given(row), shapes.clock(_at(one), zone), row["note"])
            for row, one in zip(rows, known.people, strict=True)
        ],
    )
    lines.append(spoken.phrase("everybody else: {default}", default=known.default))
    how = spoken.phrase("read-only here (as {of} elsewhere)", of=known.of(you.who)) if you.read_only else you.role
    lines.append(spoken.phrase("you are {who}: {how}", who=you.who, how=how))
    context.show(document, lines)
    return EXIT_OK


def set_role(context: Context) -> int:
    """Give a role."""
    args = context.args
    with context.engine() as engine:
        before = assembly.commands(engine).roles.set(args.who, args.role, note=args.note)
    was, known = before.of(args.who), any(one.who == args.who for one in before.people)
    warnings = (
        []
        if known
        else [spoken.phrase("nobody has been here as {who} yet; compare the spelling with `role list`", who=args.who)]
    )
    context.warn(warnings)
    told = N_("{who} is {role}, was {was}") if was != args.role else N_("{who} is {role} as before")
    line = spoken.phrase(told, who=args.who, role=args.role, was=was)
    document = {"who": args.who, "role": args.role, "was": was, "warnings": warnings}
    context.show(document, [line, *_alone(before, args.who, args.role)])
    return EXIT_OK


def remove(context: Context) -> int:
    """Take a role back."""
    who = context.args.who
    with context.engine() as engine:
        before = assembly.commands(engine).roles.remove(who)
    line = spoken.phrase(
        "{who} has no role of their own any more and is {default} like everybody else, was {of}",
        who=who,
        default=before.default,
        of=before.of(who),
    )
    context.show({"who": who, "role": before.default, "was": before.of(who)}, [line])
    return EXIT_OK


def set_default(context: Context) -> int:
    """Say what everybody else is."""
    role = context.args.role
    with context.engine() as engine:
        before = assembly.commands(engine).roles.set_default(role)
    line = spoken.phrase(
        "everybody without a role of their own is {role}, was {default}", role=role, default=before.default
    )
    context.show({"default": role, "was": before.default}, [line])
    return EXIT_OK


def _alone(before: Roles, who: str, role: str) -> list[str]:
    """Who is left, where that is one: nobody could give that one the role back."""
    left = set(before.admins()) - {who}
    return (
        [spoken.phrase("{who} is the only admin now", who=left.pop())]
        if role != ADMIN and who in before.admins() and len(left) == 1
        else []
    )


def _row(one: Person, you: str) -> dict[str, Any]:
    entry = one.entry
    return {
        "who": one.who,
        "role": one.role,
        "own": entry is not None,
        "readable": entry is None or entry.readable,
        "by": entry.by if entry is not None else "",
        "at": shapes.iso(entry.at) if entry is not None else None,
        "note": entry.note if entry is not None else "",
        "since": shapes.iso(one.since),
        "you": one.who == you,
    }


def _at(one: Person) -> int:
    """When the role was given, else since when the person is known; UTC ms."""
    given = one.entry.at if one.entry is not None else 0
    return given or one.since


def _given(row: dict[str, Any]) -> str:
    if not row["own"]:
        return spoken.phrase("(default)")
    if not row["readable"]:
        return spoken.phrase("(cannot be read: permits least)")
    return str(row["by"]) or (
        spoken.phrase("(first of the fleet)") if row["role"] == ADMIN else spoken.phrase("(noted by an older program)")
    )
