"""``at``: what the fleet was at a moment, and what changed around it."""

from __future__ import annotations

from typing import Any

from services import act_words, assembly, i18n
from services.cli import lexicon, shapes, spoken
from services.cli.context import EXIT_OK, Context, examples
from services.domain.errors import UsageError
from services.domain.insight import shop
from services.domain.past import turns
from services.domain.past.frame import BROKER, LEADER, SWITCH, UNTOLD, WORKER, Numbers
from services.domain.past.turns import Turn
from services.domain.task.search import filter_time
from services.engine.zone import DEFAULT_ZONE
from services.i18n import N_
from services.monitor.alerts import wording
from services.monitor.past import queries as past
from services.monitor.past.queries import PastNow

EXAMPLES = ("at 03:12", "at 2026-11-20T03:12 --around 30m", "at 90m", "at 03:12 --json")
#: names that one line says
NAMED = 8
MOST_AROUND_MS = 86_400_000


def add(nouns: Any) -> None:
    parser = nouns.add_parser(
        "at",
        handler=show,
        help="what the fleet was at a moment of the last 30 days, and what changed around it",
        description="Whoever leads records the fleet on its machine every 5 s, for a day as finely, for a week by"
        " minutes, for 30 days by quarters of an hour. While nobody led, nothing was recorded: gaps stay gaps.",
        **examples(EXAMPLES),
    )
    parser.add_argument("when", help="such as 03:12, yesterday 18:00, 2026-11-20T03:12, or how long ago: 90m")
    parser.add_argument("--around", default="10m", metavar="SPAN", help="how long before and after it is told: 10m")


def show(context: Context) -> int:
    """Print what is known of it."""
    args = context.args
    with context.engine() as engine:
        zone, now = assembly.commands(engine).quiet.zone(), engine.store.now_ms()
        when = past.instant(args.when, now, zone)
        if when is None:
            text = spoken.phrase(
                "when takes a past time such as 03:12, yesterday 18:00, 2026-11-20T03:12 or 90m, not {text}",
                text=f"{args.when!r:.40}",
            )
            raise UsageError(text, field="when")
        around = filter_time.duration_ms(args.around.strip())
        if around is None or not 0 < around <= MOST_AROUND_MS:
            raise UsageError(
                spoken.phrase(
                    "--around takes a span of up to a day such as 10m, not {around}", around=f"{args.around!r:.40}"
                ),
                "--around",
            )
        found = assembly.queries(engine).past.at(when, around)
    context.show(document(found), lines(found, zone))
    return EXIT_OK


def document(found: PastNow) -> dict[str, Any]:
    """The answer for programs; instants in UTC."""
    moment = found.moment
    return {
        "at": shapes.iso(found.asked_ms),
        "recorded": moment is not None,
        "precision_s": moment.step_ms / 1000 if moment is not None else None,
        "numbers": _numbers(moment.numbers) if moment is not None else None,
        "shops": {state: list(names) for state, names in turns.by_state(moment.things).items()}
        if moment is not None and moment.told
        else None,
        "things": [
            {"kind": kind, "name": name, "state": state}
            for (kind, name), state in sorted(moment.things.items())
            if kind in (WORKER, SWITCH, LEADER, BROKER)
        ]
        if moment is not None and moment.told
        else None,
        "gap": {"from": shapes.iso(found.gap.begin), "to": shapes.iso(found.gap.end)} if found.gap else None,
        "known_from": shapes.iso(found.first_ms) if found.first_ms else None,
        "known_to": shapes.iso(found.last_ms) if found.last_ms else None,
        "changes": [_turn(turn) for turn in found.turns],
        "complete": found.complete,
    }


def lines(found: PastNow, zone: str) -> list[str]:
    """The answer for people; instants in the zone of the fleet."""
    told = [spoken.phrase("at {at} ({zone})", at=_at(found.asked_ms, zone), zone=zone)]
    moment = found.moment
    if moment is not None:
        told += _moment_lines(moment.numbers, moment.step_ms)
    if moment is not None and not moment.told:
        told.append(spoken.phrase("what shops and workers did then is not kept any more"))
    elif moment is not None:
        told += [
            spoken.phrase("shops {state}: {names}", state=_shop_state(state), names=_names(names))
            for state, names in turns.by_state(moment.things).items()
        ]
        told += [
            f"{lexicon.head(kind)} {name}: {_called(state)}"
            for (kind, name), state in sorted(moment.things.items())
            if kind in (WORKER, SWITCH)
        ]
        leads = next((state for (kind, _name), state in moment.things.items() if kind == LEADER), "")
        told.append(spoken.phrase("leader: {name}", name=leads or spoken.phrase("nobody")))
    elif not found.first_ms:
        told.append(
            spoken.phrase("nothing was ever recorded on this machine: ask where the leader runs (see `worker list`)")
        )
    elif found.gap is not None:
        told.append(
            spoken.phrase(
                "no record from {begin} to {end}: nobody led here",
                begin=_at(found.gap.begin, zone),
                end=_at(found.gap.end, zone),
            )
        )
    else:
        told.append(
            spoken.phrase(
                "no record: this machine knows {begin} to {end}",
                begin=_at(found.first_ms, zone),
                end=_at(found.last_ms, zone),
            )
        )
    told += [
        "",
        spoken.phrase("what changed from {begin} to {end}:", begin=_at(found.begin, zone), end=_at(found.end, zone)),
    ]
    told += [f"{_at(turn.at_ms, zone)[11:]}  {_said(turn, zone)}" for turn in found.turns]
    if not found.turns:
        told.append(spoken.phrase("nothing"))
    if not found.complete:
        told.append(spoken.phrase("… and more; ask for a shorter time with --around"))
    return told


def _moment_lines(numbers: Numbers, step_ms: int) -> list[str]:
    waits = spoken.phrase(", the oldest for {oldest_s} s", oldest_s=numbers.oldest_s) if numbers.waiting else ""
    ends = spoken.phrase(
        N_("in {span} s: {came} came, {went} ended")
        if numbers.counted
        else N_("in {span} s: about {came} came, about {went} ended"),
        span=f"{(numbers.at_ms - numbers.since_ms) / 1000:.0f}",
        came=numbers.came,
        went=numbers.went,
    )
    held = "" if numbers.high == UNTOLD else (
        spoken.phrase(
            "lanes: high {high}, dedicated {dedicated}, normal {normal}, low {low}",
            **{name: getattr(numbers, name) for name in _LANES},
        )
    )  # fmt: skip
    told = [
        spoken.phrase(
            "{waiting} waiting{waits}; {running} running, {retrying} retrying, {held} held, {letters}",
            waiting=numbers.waiting,
            waits=waits,
            running=numbers.running,
            retrying=numbers.retrying,
            held=numbers.held,
            letters=spoken.plural("{count} dead letter", "{count} dead letters", numbers.dead),
        ),
        held or spoken.phrase("lanes: the broker did not answer"),
        spoken.phrase(
            "{workers} with {slots}, {busy} at work; {ends}, {failed} died",
            workers=spoken.plural("{count} worker", "{count} workers", numbers.workers),
            slots=spoken.plural("{count} slot", "{count} slots", numbers.slots),
            busy=numbers.busy,
            ends=ends,
            failed=numbers.failed,
        ),
    ]
    return (
        [*told, spoken.phrase("recorded every {seconds} s then", seconds=step_ms // 1000)] if step_ms > 5_000 else told
    )


def _numbers(numbers: Numbers) -> dict[str, Any]:
    found = {name: getattr(numbers, name) for name in numbers.__struct_fields__}
    lanes = {name: None if found.pop(name) == UNTOLD else getattr(numbers, name) for name in _LANES}
    found["unacked"] = None if numbers.unacked == UNTOLD else numbers.unacked
    at, since = found.pop("at_ms"), found.pop("since_ms")
    return {"from": shapes.iso(since), "to": shapes.iso(at), **found, "lanes": lanes}


_LANES = ("high", "dedicated", "normal", "low")


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "at": shapes.iso(turn.at_ms),
        "kind": turn.kind,
        "code": turn.message.code,
        "params": dict(turn.message.params),
        "text": spoken.say(wording.of_turn(turn, DEFAULT_ZONE)),
        "names": list(turn.names),
    }


def _said(turn: Turn, zone: str) -> str:
    return spoken.say(act_words.in_words(wording.of_turn(turn, zone)))


def _called(state: str) -> str:
    """A state, which may have figures behind it."""
    code, blank, rest = state.partition(" ")
    return lexicon.called("state", code) + blank + rest


def _shop_state(state: str) -> str:
    word = shop.WORDS.get(state, state)
    return lexicon.called("state", word) if i18n.is_chinese() else word.lower()


def _names(names: tuple[str, ...]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (spoken.phrase(" and {rest} more", rest=rest) if rest > 0 else "")


def _at(at_ms: int, zone: str) -> str:
    return filter_time.iso(at_ms, zone)[:19].replace("T", " ")
