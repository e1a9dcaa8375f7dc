"""The validator of payloads: patterns in linear time and every step counted, so that no document holds a worker up.

The rules are those of ``jsonschema``; its own patterns go through Python's engine, its unique items through all pairs,
and what many references multiply it would follow for years. Here a check that takes too many steps ends as one.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from services.domain.types import formats, linear

if TYPE_CHECKING:
    import jsonschema

#: a few seconds of one processor at most; 512 KiB of usual payload take a tenth of it
MAX_STEPS = 300_000
#: of a schema against the rules of schemas, a few seconds for the largest ones that may be saved
SCHEMA_STEPS = 20_000_000
#: rules within rules: beyond them the interpreter's own end of the stack is met, in whatever library is at work then
MAX_NESTED = 200
#: characters of a text times instructions of a pattern that are one step
_MATCHED = 500
#: characters of a sentence that are one step
_WRITTEN = 64
_ErrorsOf = Callable[[Any, Any, Any, Any], Any]


class TooMuch(Exception):
    """The check takes more steps than any usual payload needs."""


class _Meter:
    """Steps of one check."""

    __slots__ = ("keys", "left", "nested")

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.nested = 0  #: rules within rules that are under way
        self.keys: dict[int, frozenset[object]] = {}  #: of the lists of ``enum``, by identity


_METER: ContextVar[_Meter] = ContextVar("steps of the check under way")


@contextlib.contextmanager
def metered(steps: int = MAX_STEPS) -> Iterator[None]:
    """Count the steps of the check made meanwhile; every rule here needs it.

    Raises:
        TooMuch: it cannot be told in reasonable time.
        RecursionError: rules lead into one another without end.
    """
    present = _METER.set(_Meter(steps))
    try:
        yield
    finally:
        _METER.reset(present)


@functools.lru_cache(maxsize=1)
def validator_class() -> Any:
    """Draft 2020-12 with these rules, also for what calls itself by another ``$schema`` somewhere inside."""
    import jsonschema

    base: Any = jsonschema.Draft202012Validator
    own: dict[str, _ErrorsOf] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": _unevaluated_properties,
        "uniqueItems": _unique_items,
        "enum": _enum,
        "const": _const,
        "multipleOf": _multiple_of,
    }
    rules = {name: _counted(rule) for name, rule in {**base.VALIDATORS, **own}.items()}
    extend: Any = jsonschema.validators.extend
    made = extend(base, validators=rules)
    made.evolve = _evolved
    return made


@functools.lru_cache(maxsize=1)
def format_checker() -> jsonschema.FormatChecker:
    """The formats that are known here."""
    import jsonschema

    # Of its own formats the library checks those whose packages happen to be installed: the same everywhere here.
    checker = jsonschema.FormatChecker(formats=())
    for name in formats.names():
        checker.checks(name)(functools.partial(formats.fits, name))
    return checker


def _spend(steps: int) -> None:
    meter = _METER.get()
    meter.left -= steps
    if meter.left < 0:
        raise TooMuch


def _evolved(self: Any, **changes: Any) -> Any:
    """The validator of a part; the library would take another class for a part that names a draft of its own."""
    document = changes.get("schema")
    _spend(1 + (len(document) if isinstance(document, dict) else 0))
    kept = {
        "schema": self.schema,
        "resolver": None,
        "format_checker": self.format_checker,
        "registry": self._registry,
        "_resolver": self._resolver,
    }
    return type(self)(**{**kept, **changes})


def _counted(rule: _ErrorsOf) -> _ErrorsOf:
    def run(validator: Any, value: Any, instance: Any, document: Any) -> Iterator[Any]:
        _spend(_weight(value))
        meter = _METER.get()
        if meter.nested >= MAX_NESTED:
            raise RecursionError("rules within rules")
        meter.nested += 1
        try:
            for error in rule(validator, value, instance, document) or ():
                _spend(1 + len(error.message) // _WRITTEN)
                yield error
        finally:
            meter.nested -= 1

    return run


def _weight(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + (len(part) if isinstance(part, list) else 0) for part in value.values())
    if isinstance(value, list):
        return 1 + len(value)
    if isinstance(value, str):  # a reference: an anchor is looked for in the whole document
        return 1 if value.startswith("#/") or value == "#" else 4
    return 1


def _matches(pattern: str, text: str) -> bool:
    made = linear.compiled(pattern)
    _spend(1 + made.size * len(text) // _MATCHED)
    return made.search(text)


def _pattern(validator: Any, pattern: str, instance: Any, document: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield _error(f"{instance[:200]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: dict[str, Any], instance: Any, document: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, part in patterns.items():
        for name, value in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, instance: Any, document: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    extras = additional(instance, document)
    if isinstance(wanted, dict):
        for name in extras:
            yield from validator.descend(instance[name], wanted, path=name)
    elif not wanted and extras:
        yield _error(f"Additional properties are not allowed ({', '.join(map(repr, extras[:20]))})")


def additional(instance: dict[str, Any], document: Any) -> list[str]:
    """Names that neither ``properties`` nor ``patternProperties`` beside it know. Within ``metered`` only."""
    known, patterns = document.get("properties", {}), document.get("patternProperties", {})
    _spend(len(instance))
    return [name for name in instance if name not in known and not any(_matches(each, name) for each in patterns)]


def _unevaluated_properties(validator: Any, wanted: Any, instance: Any, document: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    seen = set(_evaluated(validator, instance, document))
    _spend(len(instance))
    extras = [
        name
        for name in instance
        if name not in seen and next(validator.descend(instance[name], wanted, path=name), None) is not None
    ]
    if extras:
        yield _error(f"Unevaluated properties are not allowed ({', '.join(map(repr, extras[:20]))})")


def _evaluated(validator: Any, instance: dict[str, Any], document: Any) -> Iterator[str]:
    """Names that this schema, or a part of it that holds, has looked at."""
    _spend(4)
    if not isinstance(document, dict):
        return
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in document:
            found = validator._resolver.lookup(document[keyword])  # noqa: SLF001  # as the library's own rules do
            part = validator.evolve(schema=found.contents, _resolver=found.resolver)
            yield from _evaluated(part, instance, found.contents)
    yield from document.get("properties", {}).keys() & instance.keys()
    for pattern in document.get("patternProperties", {}):
        yield from (name for name in instance if _matches(pattern, name))
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in document:
            rest = document[keyword]
            yield from (name for name, value in instance.items() if _holds(validator, value, rest))
    for part in _holding(validator, instance, document):
        yield from _evaluated(validator, instance, part)


def _holding(validator: Any, instance: dict[str, Any], document: dict[str, Any]) -> Iterator[Any]:
    """The parts that are applied to the same instance, of those that hold."""
    for name, part in document.get("dependentSchemas", {}).items():
        if name in instance:
            yield part
    for keyword in ("allOf", "oneOf", "anyOf"):
        for part in document.get(keyword, ()):
            if _holds(validator, instance, part):
                yield part
    if "if" in document:
        met = _holds(validator, instance, document["if"])
        branches = ("if", "then") if met else ("else",)
        yield from (document[branch] for branch in branches if branch in document)


def _holds(validator: Any, instance: Any, part: Any) -> bool:
    return next(validator.descend(instance, part), None) is None


def _unique_items(validator: Any, wanted: Any, instance: Any, document: Any) -> Iterator[Any]:
    if not wanted or not isinstance(instance, list):
        return
    seen: set[object] = set()
    for each in instance:
        key = _key(each)
        if key in seen:
            yield _error("the array has non-unique elements")
            return
        seen.add(key)


def _enum(validator: Any, allowed: list[Any], instance: Any, document: Any) -> Iterator[Any]:
    keys = _METER.get().keys
    if id(allowed) not in keys:
        keys[id(allowed)] = frozenset(map(_key, allowed))
    if _key(instance) not in keys[id(allowed)]:
        yield _error(f"{str(instance)[:200]} is not one of {str(allowed)[:200]}")


def _const(validator: Any, wanted: Any, instance: Any, document: Any) -> Iterator[Any]:
    if _key(instance) != _key(wanted):
        yield _error(f"{str(wanted)[:200]} was expected")


def _key(value: Any) -> object:
    """Equal for what JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    _spend(1)
    if isinstance(value, bool) or value is None:
        return (value, "constant")
    if isinstance(value, int | float):
        # as a text: numbers can be chosen so that all of them have one hash
        return ("number", str(int(value)) if value == int(value) else repr(value))
    if isinstance(value, list):
        return ("list", *map(_key, value))
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(part)) for name, part in value.items()))
    return value


def _multiple_of(validator: Any, step: Any, instance: Any, document: Any) -> Iterator[Any]:
    if isinstance(instance, bool) or not isinstance(instance, int | float):
        return
    if Fraction(repr(instance)) % Fraction(repr(step)):
        yield _error(f"{instance!r} is not a multiple of {step!r}")


def _error(text: str) -> Any:
    import jsonschema

    return jsonschema.ValidationError(text)
