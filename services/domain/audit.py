"""Entries of the audit and how they are chained: each writer seals what it writes, and names what others wrote last.

A *link* is one thing written: that an act begins (the entry), or how it ended. A *mark* names a link, with its seal:
``ENTRY/NUMBER/SEAL``. Each link names the one before of its writer and the *heads*, the links that no other one names
yet; so what somebody takes away or changes is still named by others, and what nobody names yet stands in the heads.
Several programs write at once without waiting for each other: then there are several heads, and the next link, whoever
writes it, names them all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from services.domain.fleet import token
from services.domain.upkeep.stored import Instant

#: heads that one link names; the others are left to the next one
HEADS = 32
#: an act without an end after that long is told as one whose outcome nobody knows
UNKNOWN_MS = 15 * 60_000
ACCEPT = "audit.accept"
#: so many of the objects of an act are named in its entry, which counts the others only
TARGETS_KEPT = 200
#: among the details of an act of a person: through what it was asked for
VIA = "via"
#: of an act that takes another one back: the name of that one's entry, of several a list; and what that one was
UNDOES, UNDONE = "undoes", "undone"
_ASIDE = frozenset({VIA, UNDOES, UNDONE})  #: what of the details is not about the act itself
#: that, as ``origin`` tells it; a rule and a worker say it by their names
WINDOW, CLI, REST, PYTHON, RULE, WORKER = "window", "cli", "rest", "python", "rule", "worker"
_PROGRAMS = (("rule ", RULE), ("known issue ", RULE), ("worker ", WORKER))
#: acts that keep a pause which stood there before; those that leave nothing; details that are all that was set
_PAUSES, _ENDS, _WHOLE = ("pause", "resume"), (".remove", "_remove", "_reset"), ("schedule", "rule", "channel")
_VERSION = "fleetdeck audit 1"
_ENTRY = re.compile(r"(\d{13})-([0-9a-f]{4,32})-(\d{6,12})\Z", re.ASCII)
_DONE = re.compile(r"partly: (\d{1,9}) done", re.ASCII)
_PLACES = re.compile(
    r"(.*); not done: ([a-z_]+(?:\.[a-z_]+)*(?: \d{1,3}(?:-\d{1,3})?)+"
    r"(?:, [a-z_]+(?:\.[a-z_]+)*(?: \d{1,3}(?:-\d{1,3})?)+)*)\Z",
    re.DOTALL | re.ASCII,
)
_MARK = re.compile(r"(\d{13}-[0-9a-f]{4,32}-\d{6,12})/(\d{1,12})/([0-9a-f]{64})\Z", re.ASCII)


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """The seal of something written."""

    number: int  #: its place among all that its writer wrote, from 1
    seen: tuple[str, ...] = ()  #: marks: the one before of its writer, then the heads
    unsure: tuple[str, ...] = ()  #: marks of its writer whose writing nobody confirmed: they may be there or not
    digest: str = ""  #: SHA-256 of all of it


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for: written before the act, closed after it."""

    entry_id: str
    at: Instant
    who: str  #: user@host
    action: str  #: e.g. task.cancel
    target: tuple[str, ...] = ()
    detail: str = ""  #: JSON
    outcome: str = ""  #: "" while open, then done | partly | refused | failed: ...
    closed_at: Instant = 0
    previous: str = ""  #: SHA-256 of what its writer wrote before
    digest: str = ""
    link: Link | None = None  #: None in what an older program wrote
    end: Link | None = None  #: of the outcome


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it lies in the store. ``entry`` is None where it cannot be read, ``missing`` where only its place in
    the order is left.
    """

    place: int  #: rises in the order of writing
    key: str  #: under which it is kept
    entry: AuditEntry | None = None
    missing: bool = False


class Mark(msgspec.Struct, frozen=True):
    """One link, as others name it."""

    entry_id: str
    number: int
    digest: str

    @property
    def writer(self) -> str:
        """Whose link it is."""
        return writer_of(self.entry_id)

    def __str__(self) -> str:
        return f"{self.entry_id}/{self.number}/{self.digest}"


def entry_id(at: int, writer: str, number: int) -> str:
    """The name of an entry; it says when, by whom, and as which of its writer's links it was written."""
    return f"{at:013d}-{writer}-{number:06d}"


def is_entry(name: str) -> bool:
    """Whether an entry can be called so."""
    return _ENTRY.match(name) is not None


def writer_of(name: str) -> str:
    """The writer that an entry's name tells, "" for what is none."""
    found = _ENTRY.match(name)
    return found[2] if found else ""


def instant_of(name: str) -> int:
    """When an entry of this name was written, UTC ms."""
    found = _ENTRY.match(name)
    return int(found[1]) if found else 0


def number_of(name: str) -> int:
    """As which of its writer's links an entry of this name was written."""
    found = _ENTRY.match(name)
    return int(found[3]) if found else 0


def parse(mark: str) -> Mark | None:
    """A mark, None for what is none."""
    found = _MARK.match(mark)
    return Mark(found[1], int(found[2]), found[3]) if found else None


def opening(entry: AuditEntry, link: Link) -> str:
    """The seal of an entry."""
    words = [entry.entry_id, entry.at, entry.who, entry.action, list(entry.target), entry.detail, entry.previous]
    return _sealed("begins", words, link)


def ending(entry: AuditEntry, outcome: str, closed_at: int, link: Link) -> str:
    """The seal of an outcome; it holds for this very entry."""
    return _sealed("ended", [entry.entry_id, entry.digest, outcome, closed_at], link)


def _sealed(kind: str, words: Sequence[object], link: Link) -> str:
    said = [_VERSION, kind, *words, link.number, list(link.seen), list(link.unsure)]
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def before_chain(entry: AuditEntry) -> str:
    """The digest as older programs made it, which wrote nothing of others and nothing of outcomes."""
    words = [entry.previous, entry.entry_id, str(entry.at), entry.who, entry.action, *entry.target, entry.detail]
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def origin(entry: AuditEntry) -> str:
    """Through what somebody acted: one of the words above; "" where the entry does not say, as older ones do not."""
    name, at, place = entry.who.partition("@")
    if not at:
        return next((word for begins, word in _PROGRAMS if name.startswith(begins)), "")
    found = details(entry).get(VIA)
    if isinstance(found, str) and found:
        return found  # a machine may be called as the place of tokens is
    return REST if place == token.PLACE else ""


def told_of(entry: AuditEntry) -> dict[str, object]:
    """The details of the act itself; empty where they cannot be read."""
    return {name: value for name, value in details(entry).items() if name not in _ASIDE}


def undoing(entries: Sequence[AuditEntry]) -> dict[str, object]:
    """What an act says among its details that takes back the acts of these entries."""
    names = [entry.entry_id for entry in entries[:TARGETS_KEPT]]
    return {UNDOES: names if len(names) > 1 else names[0], UNDONE: entries[0].action} if names else {}


def undoes(entry: AuditEntry) -> tuple[str, ...]:
    """The names of the entries whose acts it took back."""
    found = details(entry).get(UNDOES)
    return tuple(one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str) and one)


def undone_act(entry: AuditEntry) -> str:
    """The act that it took back, "" where it took none back, or a program before wrote it, which did not say."""
    found = details(entry).get(UNDONE)
    return found if isinstance(found, str) else ""


def count_of(entry: AuditEntry) -> int:
    """Of how many objects its entry tells, which names the first of very many alone; one that names some again, as
    older ones of new tasks do, does not tell how many they are.
    """
    cut = len(entry.target) >= TARGETS_KEPT and len(set(entry.target)) == len(entry.target)
    count = told_of(entry).get("count") if cut else 0
    return max(len(entry.target), count if isinstance(count, int) else 0)


def unnamed(entries: Iterable[AuditEntry]) -> int:
    """How many objects these count and do not name; of those that begin alike it is the same objects again."""
    rest: dict[tuple[str, ...], int] = {}
    for entry in entries:
        rest[entry.target] = max(rest.get(entry.target, 0), count_of(entry) - len(entry.target))
    return sum(rest.values())


def detail_of(entry: AuditEntry) -> str:
    """The same as text; as it stands where it cannot be read, or says nothing of through what."""
    found = details(entry)
    if _ASIDE.isdisjoint(found):
        return entry.detail
    return json.dumps({name: found[name] for name in found if name not in _ASIDE}, ensure_ascii=False)


def places(found: Mapping[str, Sequence[int]]) -> str:
    """What an outcome ends with: by the code of why they were not done, the places of objects among all, from 0."""
    said = []
    for code, numbers in found.items():
        runs: list[list[int]] = []
        for number in sorted(numbers):
            if runs and number == runs[-1][-1] + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        said.append(f"{code} {' '.join(str(run[0]) if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}")
    return f"; not done: {', '.join(said)}"


def parted(outcome: str) -> tuple[str, dict[str, tuple[int, ...]]]:
    """An outcome without that end, and what the end tells; empty where there is none."""
    found = _PLACES.match(outcome)
    if found is None:
        return outcome, {}
    told: dict[str, tuple[int, ...]] = {}
    for one in found[2].split(", "):
        code, *runs = one.split(" ")
        ends = [run.partition("-") for run in runs]
        told[code] = tuple(at for low, _dash, high in ends for at in range(int(low), int(high or low) + 1))
    return found[1], told


def done_number(outcome: str) -> int:
    """How many were done of an act that was done in part, as its outcome counts them."""
    found = _DONE.match(outcome)
    return int(found[1]) if found is not None else 0


def before_after(entry: AuditEntry) -> tuple[object, object] | None:
    """What stood there before the act and what it left, as far as the entry keeps both; None for nothing is left."""
    told = told_of(entry)
    if "from" in told and "to" in told:
        return told["from"], told["to"]
    if entry.action in _PAUSES and isinstance(was := told.get("was"), dict):
        left = {"by": entry.who, "reason": told.get("reason", "")} if entry.action == "pause" else None
        return was or None, left
    if "before" not in told or entry.action.startswith("batch."):
        return None  # of a batch it counts tasks; what became of them is the outcome
    before = told.pop("before")
    if entry.action.endswith(_ENDS):
        return before, None
    if whole := next((told[name] for name in _WHOLE if name in told), None):
        return before, whole
    if isinstance(before, dict) and told:
        return before, told
    return (before, entry.target[0]) if isinstance(before, str) and entry.target else None


def details(entry: AuditEntry) -> dict[str, object]:
    """What it says of itself as JSON, where that is an object."""
    try:
        found = json.loads(entry.detail) if entry.detail else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


#: how an act ended; and with those of which nobody has written it
ENDS = ("done", "partly", "refused", "failed")
STATES = ("open", *ENDS, "unknown")


def state(entry: AuditEntry, now_ms: int) -> str:
    """One of ``STATES``; ``unknown`` follows ``open`` after a while."""
    if entry.outcome:
        word = entry.outcome.partition(":")[0]
        return word if word in ENDS else "done"
    return "open" if now_ms - entry.at < UNKNOWN_MS else "unknown"
