"""Loads the Lua scripts and puts positions, keys and numbers of the Python side into them."""

from __future__ import annotations

import functools
import hashlib
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from services.domain import change
from services.domain.gates import breaker, dependency, home, limit, passing
from services.domain.step.transitions import (
    AHEAD_MS,
    BELIEVED_MS,
    HANDOVER_MS,
    HELD_TWIN,
    LOOK_AHEAD,
    RESERVATION_MS,
    ROLLED_BACK,
    WATERMARK_MS,
)
from services.domain.task import classify, notes, own_words, tombstone
from services.domain.task.lane import DEFAULT_PRIORITY, MAX_PRIORITY, Lane
from services.domain.task.ledger import KEPT_MS
from services.domain.task.record import FORCED, HISTORY_LIMIT, Attempt, Step, Task
from services.domain.upkeep.stored import LARGEST
from services.store.redis import keys
from services.version import VERSION

_FOLDER = Path(__file__).parent / "scripts"
_APPLY = (
    "prelude", "record", "tombs", "ledger", "limits", "way", "index", "breaker", "session", "pass", "gates", "twins",
    "waiting", "dependencies", "ops_create", "ops_run", "ops_operator", "ops_forget", "main",
)  # fmt: skip
_NAME = re.compile(r"\b([A-Z][A-Za-z]*)\.([a-z_]+)\b")

OPERATIONS: tuple[type[change.Op], ...] = (
    change.Create,
    change.Published,
    change.Claim,
    change.Finish,
    change.Renew,
    change.Progress,
    change.Cancel,
    change.Move,
    change.Republish,
    change.SetTriage,
    change.Resolve,
    change.Nudge,
    change.GiveUp,
    change.Postpone,
    change.OpenShop,
    change.OpenLimit,
    change.CloseBreaker,
    change.CloseSession,
    change.OpenSession,
    change.TellDependants,
    change.Relink,
    change.Route,
    change.Rehome,
    change.Forget,
    change.Annotate,
    change.Try,
    change.TakeBackTry,
)
_RULE = breaker.Rule()
_FRONT = ("task_id", "shop_id", "platform", "task_type", "payload")
_IDENTITY = len(_FRONT)
#: what stands before the array of a stored record: five lengths of four bytes, two counts, the outbox mark
PREFIX = 23
#: libraries of functions of ours begin so, behind it what their text amounts to: programs of two versions have two
LIBRARY = "fleetdeck_"
#: nothing of Lua's own is there while a library is taken, so what is to be kept is made at the first call
_LIBRARY = """#!lua name=fleetdeck_{name}
local made
local function make()
{text}
return apply
end
redis.register_function('{function}', function(names, args)
  made = made or make()
  return made(names, args)
end)"""


class Script:
    """A script, put together when it is first run: most of them are not before a window shows something."""

    def __init__(self, make: Callable[[], tuple[str, str, str]]) -> None:
        self._make = make

    @functools.cached_property
    def _made(self) -> tuple[str, str, str]:
        return self._make()

    @property
    def text(self) -> str:
        return self._made[0]

    @functools.cached_property
    def sha(self) -> str:
        """The name Redis gives it."""
        return hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    @property
    def library(self) -> str:
        """The same as a library with one function, "" where it is only ever a script."""
        return self._made[1]

    @property
    def function(self) -> str:
        """The name of that."""
        return self._made[2]


def load(*names: str, reads: bool = False) -> Script:
    """The files of a script joined, behind the guard of their commands, with what they name filled in; a KeyError once
    it is run where Python does not have that.

    ``reads``: it changes nothing, also not what it finds spoilt.
    """
    return Script(lambda: (_joined(names, reads=reads), "", ""))


def _joined(names: Sequence[str], *, reads: bool = False) -> str:
    text = "\n".join(_part(name) for name in ("guard", *names))
    return f"local guard = {{ reads = {str(reads).lower()}, spoilt = {{}} }}\n{text}"


@functools.cache
def _part(name: str) -> str:
    words = _words()
    text = (_FOLDER / f"{name}.lua").read_text(encoding="utf-8")
    return _NAME.sub(lambda found: words[found[1]][found[2]] if found[1] in words else found[0], text)


def load_apply() -> Script:
    """The script that applies a batch of operations.

    As a function its two thousand lines are run through once, when Redis takes it, and not again for every batch.
    """
    return Script(_made_apply)


def _made_apply() -> tuple[str, str, str]:
    lengths = ", ".join(f"{op.__name__} = {len(op.__struct_fields__) + 1}" for op in OPERATIONS)
    counted = ", ".join(f"{status} = {place}" for place, status in enumerate(keys.COUNTED, 2))
    kinds = ", ".join(f"{kind} = true" for kind in breaker.KINDS)
    tables = f"local OF_A_SHOP = {{ {kinds} }}\n"
    tables += f"local LENGTH = {{ {lengths} }}\nlocal COUNTED = {{ {counted} }}"
    text = f"{tables}\n{_joined(_APPLY)}"
    name = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]
    function = f"{LIBRARY}apply_{name}"
    return f"{text}\nreturn apply(KEYS, ARGV)", _LIBRARY.format(name=name, text=text, function=function), function


@functools.cache
def _words() -> Mapping[str, Mapping[str, str]]:
    words: dict[str, Mapping[str, str]] = {
        "T": {name: str(place) for name, place in _fields().items()},
        "Step": _positions(Step, 1),
        "Attempt": _positions(Attempt, 1),
        "K": {word: f"'{key}'" for word, key in keys.IN_SCRIPTS.items()},
        "V": _values(),
        "C": {word: str(number) for word, number in _numbers().items()},
    }
    for op in OPERATIONS:
        words[op.__name__] = _positions(op, 2)
    return words


def _positions(kind: type[change.Op] | type[Task] | type[Step] | type[Attempt], first: int) -> Mapping[str, str]:
    return {name: str(place) for place, name in enumerate(kind.__struct_fields__, first)}


def _fields() -> Mapping[str, int]:
    """Where scripts find a field of a record they have read: behind the offset that cmsgpack answers first."""
    names = Task.__struct_fields__
    return {name: place for place, name in enumerate(names[_IDENTITY : names.index("marks")], 2)}


def _values() -> Mapping[str, str]:
    """How they are called before they stand in a table."""
    return {name: f"v{place}" for name, place in _fields().items()}


def _sound() -> str:
    """Whether the values of a record are of their kinds, and its numbers are some: without a loop or a call, for
    every record of every batch is asked.
    """
    hints = typing.get_type_hints(Task)
    return " and ".join(
        # most are empty, and to be the same is asked faster than to be more or less
        f"({value} == 0 or ({value} <= {LARGEST} and {value} >= -{LARGEST}))"
        if hints[name] in (int, float)
        else f"({value} == '' or {value} >= '')"
        for name, value in _values().items()
    )


def _numbers() -> Mapping[str, int | str]:
    names = Task.__struct_fields__
    moment, named, flat = names.index("batch"), names.index("marks"), names.index("steps")
    if names[:_IDENTITY] != _FRONT or names.index("losses") != named + 1 or names.index("attempts") != flat + 1:
        raise AssertionError("the order of the record's fields has changed; see scripts/record.lua")
    places = _fields()
    return {
        "schema": keys.SCHEMA,
        "base_schema": keys.BASE_SCHEMA,
        "program": f"'{VERSION}'",
        "ledger_ms": KEPT_MS,
        "most_schema": keys.MOST_SCHEMA,
        "prefix": PREFIX,
        "identity": _IDENTITY,
        "moment": moment - _IDENTITY,
        "rest": flat - moment,
        "rest_named": named - moment,
        "fields": len(places),
        "moment_first": places[names[_IDENTITY]],
        "moment_last": places["batch"] - 1,
        "rest_first": places["batch"],
        "rest_last": places["uniq"],
        "history": HISTORY_LIMIT,
        "events_kept": keys.EVENTS_KEPT,
        "reserve_ms": RESERVATION_MS,
        "handover_ms": HANDOVER_MS,
        "believed_ms": BELIEVED_MS,
        "look_ahead": LOOK_AHEAD,
        "usual": DEFAULT_PRIORITY[Lane.NORMAL],
        "max_priority": MAX_PRIORITY,
        "ahead": AHEAD_MS,
        "class": 2**43,
        "largest": LARGEST,
        "values": ", ".join(["behind", *_values().values()]),
        "sound": _sound(),
        "watermark_ms": WATERMARK_MS,
        "limit_seconds": limit.SECONDS,
        "breaker_failures": _RULE.failures,
        "breaker_of": _RULE.of,
        "breaker_cooldown": _RULE.cooldown_s,
        "breaker_most": _RULE.max_cooldown_s,
        "slice": 2000,
        "many": 8,
        "tell": dependency.AT_ONCE,
        "tail": names.index("deadline") - names.index("attempts"),
        "depends_on": names.index("depends_on") - names.index("attempts") + 1,
        "look": 20,
        "look_far": 400,
        "day_ms": 86_400_000,
        "digest": tombstone.DIGEST_HEX,
        "notes_kept": notes.NOTES_KEPT,
        "suppressed_kept": notes.SUPPRESSED_KEPT,
        "rolled_back": f"'{ROLLED_BACK}'",
        "forced": f"'{FORCED}'",
        "done_kind": f"'{classify.ALREADY_DONE}'",
        "already_done": f"'{own_words.write('own.already_done', id='%s', by='%s')}'",
        "work_unreadable": f"'{own_words.write('own.work_unreadable', work='%s')}'",
        "unsure_kind": f"'{classify.UNKNOWN}'",
        "held_twin": f"'{HELD_TWIN}'",
        "most_passes": passing.MOST,
        "noted": f"'{passing.NOTED}'",
        "noted_back": f"'{passing.NOTED_BACK}'",
        "home_at": f"'{home.gate_of('')}'",
    }
