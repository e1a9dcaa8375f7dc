"""Payload schemas: JSON Schema Draft 2020-12, checked before use, compiled once, never fetched from anywhere."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from services.domain.text import kinds
from services.domain.text.mask import DOTS, is_secret, masked_text
from services.domain.text.refusals import REFUSALS
from services.domain.text.said import said
from services.domain.types import formats, linear, payload_rules

if TYPE_CHECKING:
    import jsonschema

MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_PROBLEMS = 64 * 1024, 32, 50
#: each has to be made before the first payload is looked at, and more of them would push one another out of the cache
MAX_PATTERNS = 200
#: findings that say the same in other words are looked at no further
_MAX_FOUND = 4 * MAX_PROBLEMS
_CACHED_PAYLOAD = 4096
_MAX_SHOWN = 60
#: keywords that point elsewhere; only ``#…`` (the schema itself) is followed
_REFERENCES = ("$ref", "$dynamicRef")
#: keywords that hold values, whatever these look like
_VALUES = frozenset({"enum", "const", "default", "examples"})
_PARTS = re.compile(r"[.\[\]]+")

Param = str | int | float


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing wrong with a payload. ``code`` is the schema's keyword, ``params`` what it asks for."""

    path: str  #: ``items[0].id``; "" for the payload itself
    message: str
    code: str
    params: Mapping[str, Param] = msgspec.field(default_factory=dict)


def problem_of_schema(document: Mapping[str, Any]) -> str:
    """Say why a schema cannot be used, "" if it can."""
    if not document:
        return ""
    try:
        compiled = msgspec.json.encode(document)
    except (TypeError, ValueError, RecursionError) as exc:
        return f"it is not JSON: {exc}"
    if len(compiled) > MAX_SCHEMA_BYTES:
        return f"it has {len(compiled)} bytes; the limit is {MAX_SCHEMA_BYTES}"
    if _depth(document) > MAX_SCHEMA_DEPTH:
        return f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels"
    for reference in _references(document):
        if not (isinstance(reference, str) and reference.startswith("#")):
            return f"the reference {reference!r:.80} leads outside; only '#…' within the schema is followed"
    return _problem_of_patterns(document) or _problem_of_keywords(compiled)


def problems(document: Mapping[str, Any], payload: Mapping[str, Any]) -> list[Problem]:
    """Everything wrong with ``payload``, at most 50, in the order of the paths."""
    if not document:
        return []
    try:
        compiled = msgspec.json.encode(document)
    except (TypeError, ValueError, RecursionError) as exc:
        return [_cannot(f"it is not JSON: {exc}")]
    if len(compiled) > MAX_SCHEMA_BYTES:  # stored by another way than as a checked type
        return [_cannot(f"it has {len(compiled)} bytes; the limit is {MAX_SCHEMA_BYTES}")]
    try:
        body = msgspec.json.encode(payload)
    except (TypeError, ValueError, RecursionError) as exc:
        return [Problem(path="", message=said("payload.not_json", error=str(exc)), code="json")]
    # One payload for hundreds of shops is the usual bulk.
    found = _cached(compiled, body) if len(body) <= _CACHED_PAYLOAD else _validate(compiled, body)
    return list(found)


@functools.lru_cache(maxsize=128)
def _problem_of_keywords(document: bytes) -> str:
    # 20 ms a schema, and one process reads the same types again for each of its engines.
    # Imported where it is used: 80 ms that a start without schemas does not pay.
    import jsonschema

    meta = jsonschema.Draft202012Validator.META_SCHEMA
    checker = payload_rules.validator_class()(meta, format_checker=payload_rules.format_checker())
    try:
        with payload_rules.metered(payload_rules.SCHEMA_STEPS):
            first = next(checker.iter_errors(msgspec.json.decode(document)), None)
    except (payload_rules.TooMuch, RecursionError):
        return "it is too large to be checked; make it smaller"
    if first is None:
        return ""
    return f"{_path(first.absolute_path) or 'its root'}: {first.message:.200}"


@functools.lru_cache(maxsize=512)
def _cached(document: bytes, body: bytes) -> tuple[Problem, ...]:
    return _validate(document, body)


@functools.lru_cache(maxsize=256)
def _validator(document: bytes) -> jsonschema.Draft202012Validator:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    contents = msgspec.json.decode(document)
    if why := _too_many_patterns(contents):
        raise linear.Unmatchable(why)
    for _, pattern in _patterns(contents, ""):
        linear.compiled(pattern)  # all of them: whether a payload is refused must not depend on what it leaves out
    resource = DRAFT202012.create_resource(contents)
    uri = resource.id() or ""
    # All anchors are looked up here: each reference to one would walk the whole schema again. And a registry of its
    # own: the default one would fetch unknown references from the network.
    registry: Registry[Any] = Registry().with_resource(uri, resource).crawl()
    made: jsonschema.Draft202012Validator = payload_rules.validator_class()(
        contents, format_checker=payload_rules.format_checker(), _resolver=registry.resolver(uri)
    )
    return made


def _validate(document: bytes, body: bytes) -> tuple[Problem, ...]:
    try:
        found = _found(document, body)
    except payload_rules.TooMuch:
        return (Problem(path="", message=said("schema.too_much"), code="schema"),)
    except RecursionError:
        return (Problem(path="", message=said("schema.too_deep"), code="schema"),)
    # what was stored by another way than as a checked type may be anything: it is refused, and nobody's loop ends
    except Exception as exc:  # noqa: BLE001
        return (_cannot(str(exc)),)
    except BaseException as exc:
        # the registry is written in Rust: where the stack ends within it, it panics, which is no Exception
        if type(exc).__module__ != "pyo3_runtime":
            raise
        return (Problem(path="", message=said("schema.too_deep"), code="schema"),)
    return tuple(sorted(found, key=lambda problem: (problem.path, problem.code)))


def _found(document: bytes, body: bytes) -> list[Problem]:
    found: dict[tuple[str, str, str], Problem] = {}
    with payload_rules.metered():
        errors = _validator(document).iter_errors(msgspec.json.decode(body))
        for error in itertools.islice(errors, _MAX_FOUND):
            for problem in _problems_of(error):
                found.setdefault((problem.path, problem.code, problem.message), problem)
            if len(found) >= MAX_PROBLEMS:
                break
    return list(found.values())


def _cannot(why: str) -> Problem:
    return Problem(path="", message=said("schema.cannot", error=why[:260]), code="schema")


def _problems_of(error: jsonschema.ValidationError) -> Iterator[Problem]:
    path, code, instance = _path(error.absolute_path), str(error.validator), error.instance
    wanted: Any = error.validator_value
    if code == "required" and isinstance(instance, dict):
        for name in wanted:
            if name not in instance:
                yield Problem(path=_join(path, str(name)), message=said("schema.missing"), code=code)
    elif code == "additionalProperties" and wanted is False and isinstance(instance, dict):
        for name in sorted(payload_rules.additional(instance, error.schema)):
            yield Problem(path=_join(path, name), message=said("schema.unknown"), code=code)
    elif code == "format":
        params = {"expected": str(wanted), "example": formats.example(str(wanted)), "value": _value(path, instance)}
        yield Problem(path=path, message=said(f"schema.format.{wanted}", **params), code=code, params=params)
    else:
        yield Problem(path=path, message=_sentence(code, wanted, error.message), code=code, params=_params(wanted))


def _value(path: str, instance: object) -> str:
    """What stands there, unless its name says that it is a secret."""
    return DOTS if any(is_secret(part) for part in _PARTS.split(path)) else _shown(masked_text(str(instance)))


def _sentence(code: str, wanted: object, fallback: str) -> str:
    """What is asked for, without repeating the value: it may be a secret."""
    shown = kinds.of_schema(wanted) if code == "type" else _shown(wanted)
    if f"schema.{code}" in REFUSALS:
        return said(f"schema.{code}", expected=shown)
    return said("schema.other", rule=code, why=fallback[:_MAX_SHOWN])


def _params(wanted: object) -> dict[str, Param]:
    return {"expected": wanted if isinstance(wanted, int | float) else _shown(wanted)}


def _shown(wanted: object) -> str:
    text = ", ".join(str(each) for each in wanted[:_MAX_SHOWN]) if isinstance(wanted, list) else str(wanted)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def _path(parts: Iterable[str | int]) -> str:
    text = ""
    for part in parts:
        text = f"{text}[{part}]" if isinstance(part, int) else _join(text, part)
    return text


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _depth(value: object, level: int = 1) -> int:
    if level > MAX_SCHEMA_DEPTH:
        return level
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((_depth(child, level + 1) for child in children), default=level)


def _too_many_patterns(document: Mapping[str, Any]) -> str:
    first = {pattern for _, pattern in itertools.islice(_patterns(document, ""), 10 * MAX_PATTERNS)}
    return "" if len(first) <= MAX_PATTERNS else f"it has more than {MAX_PATTERNS} patterns; make do with fewer"


def _problem_of_patterns(document: Mapping[str, Any]) -> str:
    if why := _too_many_patterns(document):
        return why
    for path, pattern in _patterns(document, ""):
        problem = linear.problem_of(pattern)
        if problem:
            return f"{path}: {problem}"
    return ""


def _patterns(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every pattern of a schema and where it stands."""
    if isinstance(value, list):
        for place, child in enumerate(value):
            yield from _patterns(child, f"{path}[{place}]")
    if not isinstance(value, dict):
        return
    for key, child in value.items():
        at = _join(path, key)
        if key == "pattern" and isinstance(child, str):
            yield at, child
        elif key == "patternProperties" and isinstance(child, dict):
            yield from ((at, pattern) for pattern in child)
        if key not in _VALUES:
            yield from _patterns(child, at)


def _references(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for key, child in value.items():
            if key in _REFERENCES:
                yield child
            yield from _references(child)
    elif isinstance(value, list):
        for child in value:
            yield from _references(child)
