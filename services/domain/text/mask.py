"""Secrets made unreadable before a value leaves the program: by the name of their key, by their place in a text, and by
their value where this process knows it.
"""

from __future__ import annotations

import html
import json
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from typing import Any

from services.domain.text.secret_names import Kind, kind_of, says_nothing
from services.domain.text.secret_places import may_hold_secrets, secret_spans

DOTS = "••••"
_DECODER, _OPENING = json.JSONDecoder(), re.compile(r"[{\[]")
#: the same, but a key that stands twice is an error: of its values only the last one was looked at
_ONCE = json.JSONDecoder(object_pairs_hook=lambda pairs: _each_once(pairs))
#: so many places of a text are tried for a document
_DOCUMENTS = 20
#: how far before a value of a document its comma or colon is looked for
_GAP = 40
#: numbers below are counts and switches, whatever they are called
_A_NUMBER = 1000
#: a key up to this is judged once, whatever stands below it
_A_NAME = 64
#: a value as short as these, or one of these, stands in many sentences without being the secret
SHORTEST = 4
_COMMON = frozenset(
    {"guest", "admin", "redis", "rabbitmq", "fleetdeck", "password", "secret", "token", "true", "false", "null", "none"}
)
#: what of a schema is words about a value, not one
_ABOUT = frozenset(
    {"type", "title", "description", "format", "pattern", "$ref", "$comment", "$anchor", "contentEncoding"}
)
_VALUES = frozenset({"default", "const", "enum", "examples", "example"})
_NAMES_OF_PARTS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"}
)


def _any_of(texts: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, texts))) if texts else None


class Masker:
    """Takes the values of secrets out of texts, in every form in which a page, an address or a document shows them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for value in secrets if value for form in _forms(value)}
        longest = sorted(forms, key=len, reverse=True)
        self._pattern = _any_of(longest)
        octets = [re.escape(form.encode("utf-8", "surrogatepass")) for form in longest]
        self._octets = re.compile(b"|".join(octets)) if octets else None

    def text(self, text: str) -> str:
        """The text with dots in their place."""
        return self._pattern.sub(DOTS, text) if self._pattern else text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Begin and end of each of them, in order."""
        return [found.span() for found in self._pattern.finditer(text)] if self._pattern else []

    def data(self, data: bytes) -> bytes:
        """The same for what may be no text: as many stars in their place, so that nothing else of it moves."""
        return self._octets.sub(lambda found: b"*" * len(found[0]), data) if self._octets else data

    def value(self, value: Any) -> Any:
        """The same for a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return value


class _Known:
    """The secrets that this process has met: of its environment, its addresses, the key store of its machine."""

    def __init__(self) -> None:
        self.values: frozenset[str] = frozenset()
        self.masker = Masker(())
        #: those with JSON in them, as they stand in other JSON
        self.documents: re.Pattern[str] | None = None


_KNOWN = _Known()
_ALIKE: ContextVar[bool] = ContextVar("masked as every process does it", default=False)


@contextmanager
def alike() -> Iterator[None]:
    """Mask within the block as every process does it, without the secrets that only this one knows: for what is kept
    and compared by others.
    """
    before = _ALIKE.set(True)
    try:
        yield
    finally:
        _ALIKE.reset(before)


def know(values: Iterable[str]) -> None:
    """From now on these values are dots in everything that is masked here; too short or common ones are left alone."""
    fresh = {value for value in values if len(value) >= SHORTEST and value.casefold() not in _COMMON}
    if fresh - _KNOWN.values:
        _KNOWN.values |= fresh
        _KNOWN.masker = Masker(_KNOWN.values)
        _KNOWN.documents = _any_of(sorted(filter(_holds_document, _KNOWN.values), key=len, reverse=True))


def met() -> int:
    """How many secrets this process knows: another number where a text masked before may have to be masked anew."""
    return len(_KNOWN.values)


def know_addresses(addresses: Iterable[str]) -> None:
    """The same for the passwords in addresses."""
    found = []
    for address in addresses:
        password = address.partition("://")[2].rpartition("@")[0].partition(":")[2]
        found += [password, urllib.parse.unquote(password)]
    know(found)


def known(text: str) -> str:
    """A text without the secrets that this process knows; all else stays as it is."""
    return text if _ALIKE.get() else _KNOWN.masker.text(text)


def masked(value: Any) -> Any:
    """The same JSON value with dots for what is named like a secret, or stands like one in a text."""
    if isinstance(value, dict):
        if value.keys() >= {"schema", "executor", "uniqueness"}:  # a task type: its properties only have the names
            return {key: _schema(part) if key == "schema" else masked(part) for key, part in value.items()}
        named = _names_a_secret(value)
        return {
            _key(key): _dotted(part) if _hides(key, part) or (named and key == "value") else masked(part)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        if len(value) == 2 and isinstance(value[0], str) and len(value[0]) <= 40 and kind_of(value[0]) is Kind.SURE:
            return [value[0], _dotted(value[1])]  # a header as a pair
        return [masked(part) for part in value]
    return masked_text(value) if isinstance(value, str) else value


def masked_text(text: str) -> str:
    """A text without the user and password of addresses, without what follows ``token=`` and the like, and without the
    secrets that this process knows; a longer one around such a piece goes with it, as nothing would tell by what is
    left that it is one.
    """
    if not may_hold_secrets(text):
        return known(text)
    text, whole = _documents_masked(_without_known_documents(text))
    return known(text) if whole else _with_dots(text, secret_spans(text) + _known_spans(text))


def _holds_document(text: str) -> bool:
    for opening in islice(_OPENING.finditer(text), _DOCUMENTS):
        with suppress(ValueError, RecursionError):
            end = _DECODER.raw_decode(text, opening.start())[1]
            if '"' in text[opening.start() : end]:
                return True
    return False


def _without_known_documents(text: str) -> str:
    """Without known secrets that hold JSON themselves: written anew with its parts masked, one would not be found. Dots
    for a value of a document are one as well, so that the rest of it is masked by its keys.
    """

    def dots(found: re.Match[str]) -> str:
        before = text[max(0, found.start() - _GAP) : found.start()].rstrip()
        return f'"{DOTS}"' if before.endswith((":", ",", "[")) else DOTS

    documents = None if _ALIKE.get() else _KNOWN.documents
    return documents.sub(dots, text) if documents else text


def _known_spans(text: str) -> list[tuple[int, int]]:
    return [] if _ALIKE.get() else _KNOWN.masker.spans(text)


def _with_dots(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Dots once for those that overlap."""
    parts: list[str] = []
    place = 0
    for start, end in sorted(spans):
        if start >= place:
            parts += [text[place:start], DOTS]
        place = max(place, end)
    return "".join(parts) + text[place:]


def _documents_masked(text: str) -> tuple[str, bool]:
    """The text with the JSON in it masked by its keys, and whether it was one document and nothing else."""
    out: list[str] = []
    place, whole = 0, False
    for _ in range(_DOCUMENTS):
        found = _OPENING.search(text, place)
        if found is None:
            break
        start = end = found.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
            shown = masked(value)
        except (ValueError, RecursionError):
            out.append(text[place : start + 1])
            place = start + 1
            continue
        words = text[start:end]
        if shown != value or _says_twice(text, start):
            words = json.dumps(shown, ensure_ascii=False, indent=2 if "\n" in words else None)
        out += [text[place:start], words]
        place, whole = end, start == 0 and not text[end:].strip()
    return "".join(out) + text[place:], whole


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _says_twice(text: str, start: int) -> bool:
    """Whether a key stands twice in the document that begins there: what is kept of it is only its last value."""
    try:
        _ONCE.raw_decode(text, start)
    except ValueError:
        return True
    return False


def masked_json(text: str) -> str:
    """A JSON text masked by the names of its keys; what is no JSON is masked as text."""
    if not text:
        return ""
    try:
        return json.dumps(masked(json.loads(text)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return masked_text(text)


def is_masked(value: object) -> bool:
    """Whether dots stand where a secret was."""
    if isinstance(value, dict):
        return any(map(is_masked, value.values()))
    if isinstance(value, list | tuple):
        return any(map(is_masked, value))
    return isinstance(value, str) and DOTS in value


def put_back(edited: Any, original: Any) -> Any:
    """A JSON value that was edited with its secrets hidden, with each of them where its dots were left as they stood.

    What was typed over dots stays as it was typed. Entries of a list are known by their place, or, where there are more
    or fewer than before, by what they look like.
    """
    return Original(original).put_back(edited)


class Original:
    """A JSON value as it was before it was edited, for who asks again and again: it is masked once."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.shown = masked(value)

    def put_back(self, edited: Any) -> Any:
        """See ``put_back``."""
        return _put_back(edited, self.shown, self.value)

    def still_masked(self, edited: Any) -> str:
        """See ``still_masked``."""
        back = self.put_back(edited)
        return "" if back == self.value or is_masked(self.value) else _first_masked(back, "")


def _put_back(edited: Any, shown: Any, original: Any) -> Any:
    if edited == shown:
        return original
    if isinstance(edited, dict) and isinstance(shown, dict) and len(shown) == len(original):
        names = dict(zip(shown, original, strict=True))
        return {
            names.get(key, key): _put_back(part, shown[key], original[names[key]]) if key in names else part
            for key, part in edited.items()
        }
    if isinstance(edited, list) and isinstance(shown, list):
        if len(edited) == len(shown):
            return [_put_back(*parts) for parts in zip(edited, shown, original, strict=True)]
        left = list(zip(shown, original, strict=True))
        return [_taken(part, left) for part in edited]
    return edited


def _taken(part: Any, left: list[tuple[Any, Any]]) -> Any:
    place = next((place for place, (shown, _) in enumerate(left) if shown == part), None)
    return part if place is None else left.pop(place)[1]


def still_masked(edited: Any, original: Any) -> str:
    """Path of the first value that nothing can be put back for, such as ``login.password``; "" for none."""
    return Original(original).still_masked(edited)


def _first_masked(value: Any, path: str) -> str:
    left = [(value, path)]  # a text may be nested deeper than a function can call itself
    while left:
        part, name = left.pop()
        if isinstance(part, dict):
            left += [(one, f"{name}.{key}" if name else str(key)) for key, one in reversed(part.items())]
        elif isinstance(part, list | tuple):
            left += [(one, f"{name}[{place}]") for place, one in reversed([*enumerate(part)])]
        elif isinstance(part, str) and DOTS in part:
            return name or "payload"
    return ""


def is_secret(key: object) -> bool:
    """Whether a field of this name holds a secret."""
    return isinstance(key, str) and kind_of(key) in (Kind.SURE, Kind.LIKELY)


def _hides(key: object, part: object) -> bool:
    """Whether what stands under a name is a secret: below ``pin`` or ``sign`` a state or a count is none."""
    kind = kind_of(key) if isinstance(key, str) else Kind.NONE
    if kind in (Kind.NONE, Kind.SURE):
        return kind is Kind.SURE
    return not says_nothing(part, str(key), kind) if isinstance(part, str) else kind is Kind.LIKELY


def _key(key: Any) -> Any:
    if isinstance(key, str) and len(key) <= _A_NAME and _is_plain(key):
        return known(key)
    return masked_text(key) if isinstance(key, str) else key


@lru_cache(4_096)  # the payloads of a fleet have few names, which come with each of its tasks
def _is_plain(name: str) -> bool:
    return not may_hold_secrets(name)


def _names_a_secret(value: dict[Any, Any]) -> bool:
    """``{"name": "Cookie", "value": …}``, as headers and forms are listed."""
    return "value" in value and any(is_secret(value.get(name)) for name in ("name", "key", "header", "field"))


def _dotted(value: Any) -> Any:
    """Dots for every value below a secret's name; switches and small numbers say nothing."""
    if isinstance(value, dict):
        return {_key(key): _dotted(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_dotted(part) for part in value]
    if isinstance(value, bool) or value is None or value == "":
        return value
    if isinstance(value, int | float) and -_A_NUMBER < value < _A_NUMBER:
        return value
    return DOTS


def _schema(value: Any, *, secret: bool = False) -> Any:
    """A JSON Schema: names of properties are no values, but their defaults and examples are."""
    if isinstance(value, list):
        return [_schema(part, secret=secret) for part in value]
    if not isinstance(value, dict):
        return _dotted(value) if secret else masked(value)
    out: dict[Any, Any] = {}
    for key, part in value.items():
        if key in _NAMES_OF_PARTS and isinstance(part, dict):
            out[key] = {name: _schema(one, secret=secret or is_secret(name)) for name, one in part.items()}
        elif key in _VALUES:
            each = part if isinstance(part, list) else [part]
            shown = [_dotted(one) if secret else masked(one) for one in each]
            out[key] = shown if isinstance(part, list) else shown[0]
        elif key == "required" and isinstance(part, list):
            out[key] = [masked(one) for one in part]
        elif key in _ABOUT:
            out[key] = masked(part)
        else:
            out[_key(key)] = _schema(part, secret=secret or (is_secret(key) and not isinstance(part, dict)))
    return out


def _forms(value: str) -> set[str]:
    quoted = {urllib.parse.quote(value, safe=""), urllib.parse.quote(value), urllib.parse.quote_plus(value)}
    as_in_addresses = {_quoted(value, marks) for marks in ('"<>#', "\"<>#'", '"<>#?`{}')}
    escaped = {html.escape(value), html.escape(value, quote=False), json.dumps(value)[1:-1]}
    escaped.add(json.dumps(value, ensure_ascii=False)[1:-1])
    return {value} | quoted | as_in_addresses | escaped


def _quoted(value: str, marks: str) -> str:
    """As browsers write it into the parts of an address."""
    return "".join(
        f"%{byte:02X}" if not 32 < byte < 127 or chr(byte) in marks else chr(byte)
        for byte in value.encode("utf-8", "replace")
    )
