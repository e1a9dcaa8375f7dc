"""What a kind of task is: its policy, the schema of its payload, and when two tasks of it are the same work."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet import shop
from services.domain.gates import limit
from services.domain.gates.limit import Limit
from services.domain.task import ids, lane
from services.domain.task.search import filter_time
from services.domain.text import kinds, mask
from services.domain.text.said import said
from services.domain.text.visible import visible
from services.domain.types import flow, schema
from services.domain.types.schema import Problem

UNIQUENESS = ("shop_type_payload", "shop_type", "none")
ISOLATIONS = ("profile", "context")
MAX_TIMEOUT_S, MAX_RETRIES, MAX_DELAY_S = 86_400, 20, 86_400
#: fields of the payload that one type may have indexed, and characters of such a name
MAX_INDEXED, MAX_FIELD = 8, 64
TODAY = "today"
#: kind of the documents that keep what was replaced, named ``NAME@VERSION``
HISTORY = "type_version"
#: of what may not run twice, where the type names no other: longer than it takes to look and ask again
JUST_NOW = "2m"
MAX_UNIQUE_MS = 30 * 86_400_000  #: as long as a success is known for sure
_EMPTY_PAYLOAD = "{}"
#: what may be a whole number in the form of a fraction, and up to where such a form is exact
_FRACTION, _EXACT = re.compile(r"\d(?:\.0|[eE][-+\d])"), 2**53
#: what a filter takes for the name of a field, but for what stands for something else in an index
_FIELD = re.compile(r"[^\s\"“”,，:=~<>：＝～＜＞|*\\]+\Z")
#: what the decoder says most often
_STRANGE = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_LACKS = re.compile(r"Object missing required field `(?P<name>.*)`")
_KIND = re.compile(r"Expected `(?P<wanted>.*)`, got `(?P<given>.*)`")
_AT = re.compile(r"(.*?)(?: - at `\$\.?(.*)`)?\Z", re.DOTALL)
#: executors that this version brings; a worker may have others
EXECUTORS = ("rpa", "python", "http", "batch", "browser")


class TaskType(msgspec.Struct, frozen=True, kw_only=True):
    """Policy of a task type, kept in the store. How it is executed is only in the workers' own configuration."""

    name: str
    title: dict[str, str] = {}  #: by language: en, zh_CN
    description: dict[str, str] = {}
    executor: str = "rpa"
    schema: dict[str, Any] = {}  #: JSON Schema (Draft 2020-12) of the payload; {} accepts every object
    timeout_s: int = 600
    max_retries: int = 3
    retry_base_s: int | None = None  #: None: the worker's setting
    retry_cap_s: int | None = None
    idempotent: bool = True
    uniqueness: str = "shop_type_payload"  #: what may be active only once; see UNIQUENESS
    #: how long after a success the same work asks for a reason: a duration such as ``1h``, or ``today``; see ``window``
    unique_for: str = ""
    preemptible: bool = False
    expected_s: float = 0.0  #: usual duration, 0 unknown
    lane: str = lane.Lane.NORMAL
    concurrency: int | None = None  #: tasks of it that may run at once in the whole fleet, None: no limit
    rate_per_minute: int | None = None  #: starts within any minute, None: no limit
    isolation: str = "profile"  #: browser: profile (the shop's own) | context (a clean one in a shared browser)
    #: fields of the payload whose whole values an index answers, such as ``order_id``, ``address.city``
    indexed: tuple[str, ...] = ()
    version: int = 0  #: rises with every change; 0 for a type nobody has defined

    @classmethod
    def default(cls, name: str) -> TaskType:
        """A type that nobody has defined: every payload, the rpa executor, the default policy."""
        return cls(name=name)

    @property
    def window(self) -> str:
        """How long after a success the same work asks for a reason, "" for never."""
        if self.unique_for or self.idempotent or self.uniqueness == "none":
            return self.unique_for
        return JUST_NOW

    @property
    def limit(self) -> Limit:
        """Its limits as the store keeps them."""
        return Limit(
            scope=f"{limit.TYPE}:{self.name}",
            concurrency=self.concurrency or 0,
            per_minute=self.rate_per_minute or 0,
        )


def least_harm(types: Mapping[str, TaskType]) -> str:
    """What to begin with: a type that may run twice and wants few parameters, so that a slip does no harm.

    Raises:
        ValueError: there is no type.
    """
    return min(types, key=lambda name: (not types[name].idempotent, len(types[name].schema.get("required", ())), name))


def renamed(defaults: TaskType, name: str) -> TaskType:
    """``defaults`` under another name."""
    return msgspec.structs.replace(defaults, name=name)


class _Strict(TaskType, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same document with a misspelled key refused: a lost ``idempotent: false`` would repeat work."""


_STRICT, _LENIENT = msgspec.json.Decoder(_Strict), msgspec.json.Decoder(TaskType)


def parse(text: str | bytes, *, known_only: bool = True) -> TaskType:
    """Read a task type from JSON. ``known_only=False`` passes over keys of a newer program.

    Raises:
        UsageError: the text is not a task type; ``field`` names what to change.
    """
    result = _decoded(text, _STRICT if known_only else _LENIENT)
    check(result)
    return result


def stored(text: str | bytes) -> TaskType:
    """Read a type that was saved once. Its schema may be one that cannot be used any more: it then refuses every
    payload, and all else of the type still holds.

    Raises:
        UsageError: the text is not a task type.
    """
    result = _decoded(text, _LENIENT)
    _check_policy(result)
    return result


def dump(kind: TaskType) -> str:
    """The JSON document of a task type, as ``parse`` reads it."""
    return msgspec.json.encode(kind).decode()


def check(kind: TaskType) -> None:
    """Refuse values that no worker could honour.

    Raises:
        UsageError: ``field`` names what to change.
    """
    _check_policy(kind)
    problem = schema.problem_of_schema(kind.schema)
    if problem:
        raise UsageError(said("policy.schema", problem=problem), field="schema")
    _check_declared(kind)
    base, cap = kind.retry_base_s, kind.retry_cap_s
    if base is not None and cap is not None and base > cap:
        raise UsageError(said("policy.retry_base", base=base, cap=cap), field="retry_base_s")


def _check_policy(kind: TaskType) -> None:
    _check_words(kind)
    _check_numbers(kind)


def _decoded(text: str | bytes, decoder: msgspec.json.Decoder[Any]) -> TaskType:
    try:
        found = decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise _readable(exc) from exc
    return TaskType(**{name: getattr(found, name) for name in TaskType.__struct_fields__})


def uniqueness_key(kind: TaskType, platform: str, shop_id: str, payload_json: str) -> str:
    """24 hex that equal active tasks share, "" where the type allows them side by side."""
    if kind.uniqueness == "none":
        return ""
    parts = [kind.name, platform, shop_id]
    if kind.uniqueness == "shop_type_payload":
        parts.append(canonical_json(payload_json))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def done_since(kind: TaskType, now_ms: int, time_zone: str = "") -> int:
    """The instant since which its work must not have succeeded to be done again without a reason; 0 for none."""
    span = kind.window
    if not span or kind.uniqueness == "none":
        return 0
    if span == TODAY:
        day = filter_time.Times(now_ms, time_zone).span(TODAY)
        return day[0] if day is not None else 0
    return max(1, now_ms - (filter_time.duration_ms(span) or 0))


def canonical_json(text: str) -> str:
    """The same text for the same object: sorted keys, no blanks, a whole number always as such; a text that is not JSON
    stands for itself.
    """
    if text == _EMPTY_PAYLOAD:
        return text
    try:
        found = msgspec.json.decode(text)
        if _FRACTION.search(text):  # looked for first: this is done for every task
            found = _whole(found)
        return msgspec.json.encode(found, order="sorted").decode()
    except (msgspec.DecodeError, RecursionError):
        return text


def _whole(value: Any) -> Any:
    """What another program writes as 1.0 or 1e3 is the number that a person types as 1 or 1000."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value


def validate_payload(kind: TaskType, payload: object) -> list[Problem]:
    """What is wrong with a payload for this type, nothing when it may run."""
    if not isinstance(payload, dict):
        return [
            Problem(path="", message="the payload must be a JSON object", code="type", params={"expected": "object"})
        ]
    found = schema.problems(kind.schema, payload)
    return found if found or kind.executor != flow.EXECUTOR else flow.problems(kind.name, payload)


def _check_words(kind: TaskType) -> None:
    if not ids.valid_task_type(kind.name):
        raise UsageError(said("policy.name", name=f"{kind.name!r:.60}"), field="name")
    if not shop.valid_word(kind.executor):
        raise UsageError(said("policy.executor", executor=f"{kind.executor!r:.60}"), field="executor")
    if kind.uniqueness not in UNIQUENESS:
        raise UsageError(
            said("policy.uniqueness", known=", ".join(UNIQUENESS), uniqueness=f"{kind.uniqueness!r:.60}"),
            field="uniqueness",
        )
    span = filter_time.duration_ms(kind.unique_for)
    if kind.unique_for not in ("", TODAY) and (span is None or not 1_000 <= span <= MAX_UNIQUE_MS):
        raise UsageError(
            said("policy.unique_for", unique_for=f"{kind.unique_for!r:.60}"),
            field="unique_for",
        )
    if kind.unique_for and kind.uniqueness == "none":
        raise UsageError(said("policy.unique_for_what"), field="unique_for")
    if kind.isolation not in ISOLATIONS:
        raise UsageError(said("policy.isolation", isolation=f"{kind.isolation!r:.60}"), field="isolation")
    if kind.lane not in lane.LANES:
        raise UsageError(said("policy.lane", lane=f"{kind.lane!r:.60}"), field="lane")
    _check_indexed(kind.indexed)


def _check_indexed(names: tuple[str, ...]) -> None:
    if len(names) > MAX_INDEXED:
        raise UsageError(said("policy.indexed_many", most=MAX_INDEXED, count=len(names)), field="indexed")
    if len(set(names)) < len(names):
        raise UsageError(said("policy.indexed_twice"), field="indexed")
    for name in names:
        if len(name) > MAX_FIELD or not _FIELD.match(name) or "" in name.split("."):
            raise UsageError(
                said("policy.indexed_name", name=f"{name!r:.80}"),
                field="indexed",
            )
        if any(map(mask.is_secret, (name, *name.split(".")))):
            raise UsageError(said("policy.indexed_secret", name=name), field="indexed")


def _check_declared(kind: TaskType) -> None:
    """Refuse an index of a field that no payload of the type can have: it would be a slip of the pen."""
    known = kind.schema.get("properties")
    if not isinstance(known, dict) or kind.schema.get("additionalProperties") is not False:
        return
    if "patternProperties" in kind.schema or "$ref" in kind.schema:
        return
    for name in kind.indexed:
        if name not in known and name.partition(".")[0] not in known:
            there = ", ".join(list(known)[:12])
            raise UsageError(said("policy.indexed_unknown", name=f"{name:.64}", there=there), field="indexed")


def _check_numbers(kind: TaskType) -> None:
    limits: tuple[tuple[str, float | None, int, int, str], ...] = (
        ("timeout_s", kind.timeout_s, 1, MAX_TIMEOUT_S, "policy.span"),
        ("max_retries", kind.max_retries, 0, MAX_RETRIES, "policy.range"),
        ("retry_base_s", kind.retry_base_s, 1, MAX_DELAY_S, "policy.span"),
        ("retry_cap_s", kind.retry_cap_s, 1, MAX_DELAY_S, "policy.span"),
        ("expected_s", kind.expected_s, 0, MAX_TIMEOUT_S, "policy.span_or_unknown"),
        ("concurrency", kind.concurrency, 1, limit.MAX_CONCURRENCY, "policy.range_or_null"),
        ("rate_per_minute", kind.rate_per_minute, 1, limit.MAX_PER_MINUTE, "policy.range_or_null"),
        ("version", kind.version, 0, 2**31 - 1, "policy.least"),
    )
    for name, value, low, high, code in limits:
        if value is not None and not low <= value <= high:
            raise UsageError(said(code, name=name, low=low, high=f"{high:,}", value=value), field=name)


def _readable(exc: Exception) -> UsageError:
    """Turn ``Expected `int`, got `str` - at `$.timeout_s``` into a sentence that begins with the field."""
    if not isinstance(exc, msgspec.ValidationError):
        return UsageError(said("policy.not_json", error=str(exc)), field="")
    match = _AT.match(str(exc))
    what, field = (match[1], (match[2] or "").replace("[...]", "")) if match else (str(exc), "")
    named_key = re.search(r"(?:unknown|required) field `(\w+)`", what)
    if named_key:
        field = ".".join(part for part in (field, named_key[1]) if part)
    where = field or said("policy.document")
    if fault := _KIND.fullmatch(what):
        wanted, given = kinds.wanted(fault["wanted"]), kinds.given(fault["given"])
        return UsageError(said("policy.kind", where=where, wanted=wanted, given=given), field=field)
    if fault := _LACKS.fullmatch(what):
        return UsageError(said("policy.lacks", name=fault["name"]), field=field)
    if fault := _STRANGE.fullmatch(what):
        name, known = f"{fault['name']:.{MAX_FIELD}}", TaskType.__struct_fields__
        near = difflib.get_close_matches(name, known, n=1)
        code = "policy.no_field_near" if near else "policy.no_field"
        told = said(code, name=visible(name), near=near[0] if near else "", known=", ".join(known))
        return UsageError(told, field=field)
    return UsageError(said("policy.fault", where=where, what=what.replace("`", "")), field=field)
