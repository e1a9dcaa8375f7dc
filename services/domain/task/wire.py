"""Bytes of a wire message to its fields and back: typed and fast for ours, strict for everybody else's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any

import msgspec

from services.domain.errors import BadMessage
from services.domain.fleet import shop
from services.domain.task import ids, own_words
from services.domain.text.message import Param
from services.domain.types import strict_json

MAX_BODY, MAX_DEPTH = 1024 * 1024, 64
#: of what we publish of a message of that size: fields that it left out, its error, numbers written at full length
MAX_OWN = 8 * MAX_BODY
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_WORDS = re.compile(r"[A-Za-z0-9_-]{1,64}\n[A-Za-z0-9_-]{1,64}\n[A-Za-z0-9_-]{1,64}\Z")
_EARLIEST, _LATEST = (round(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000) for year in (2000, 2100))
_SHOWN = 80  #: characters of a field's path in a sentence
_BOM = b"\xef\xbb\xbf"


class Fields(msgspec.Struct):
    """The nine fields of the contract and what a dead letter adds."""

    task_id: str
    shop_id: str
    platform: str
    task_type: str
    payload: dict[str, Any] | None = {}
    priority: str | int | None = "normal"
    created_at: str | None = ""
    retry_count: int | None = 0
    max_retries: int | None = 3
    error: str = ""
    error_kind: str = ""
    fingerprint: str = ""
    failed_at: str = ""
    worker: str = ""


class _Exact(Fields, forbid_unknown_fields=True):
    """A message with these fields only."""


_DECODER = msgspec.json.Decoder(_Exact)
_ENCODER = msgspec.json.Encoder()
_NEEDED = ("task_id", "shop_id", "platform", "task_type")
_OF_DEAD = ("error", "error_kind", "fingerprint", "failed_at", "worker")
_DEFAULTS: dict[str, Any] = {"payload": {}, "priority": "normal", "retry_count": 0, "max_retries": 3}


def check_properties(content_type: str, content_encoding: str) -> None:
    """Refuse what is not plain JSON by its own account; nothing is unpacked, nothing unpickled.

    Raises:
        BadMessage: the properties name another content.
    """
    if content_type and content_type.partition(";")[0].strip().lower() not in ("application/json", "text/json"):
        raise bad("msg_type", value=f"{content_type!r:.60}")
    if content_encoding and content_encoding.strip().lower() not in ("utf-8", "utf8", "identity"):
        raise bad("msg_encoding", value=f"{content_encoding!r:.60}")


def read(body: bytes, *, strict: bool) -> tuple[Fields, str]:
    """Fields of a message, and its unknown ones as a JSON object ("" for none).

    ``strict`` looks for repeated keys too, for messages that we did not write.

    Raises:
        BadMessage: the sentence names what is wrong.
    """
    body = plain(body, MAX_BODY if strict else MAX_OWN)
    if not strict:
        try:
            return _checked(_DECODER.decode(body)), ""
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # the slow way finds the right words
    return _slow(body)


def _check_identity(fields: Fields) -> None:
    words = f"{fields.platform}\n{fields.shop_id}\n{fields.task_type}"
    if _WORDS.match(words) and fields.shop_id not in shop.RESERVED and ids.valid_foreign_id(fields.task_id):
        return
    if not ids.valid_foreign_id(fields.task_id):
        raise bad("msg_id", value=f"{fields.task_id!r:.60}")
    if not shop.valid_word(fields.platform):
        raise bad("msg_name", field="platform", value=f"{fields.platform!r:.60}")
    if not shop.valid_shop_id(fields.shop_id):
        raise bad("msg_shop", value=f"{fields.shop_id!r:.60}")
    raise bad("msg_name", field="task_type", value=f"{fields.task_type!r:.60}")


def instant(text: str, local_tz: tzinfo | None) -> int:
    """UTC milliseconds of an ISO 8601 text; without zone it is meant in ``local_tz``, None being the machine's.

    Raises:
        BadMessage: it is no time, or one that cannot be meant.
    """
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None and local_tz is not None:
            read = read.replace(tzinfo=local_tz)
        instant = round(read.timestamp() * 1000)
    except (ValueError, OverflowError, OSError) as exc:
        raise bad("msg_time", value=f"{text!r:.60}") from exc
    if not _EARLIEST <= instant < _LATEST:
        raise bad("msg_years", value=f"{text!r:.60}")
    return instant


def write(fields: dict[str, Any], extra: str) -> bytes:
    """Body of a message; ``extra`` is a JSON object whose fields travel on and never replace ours."""
    if extra and extra != "{}":
        try:
            more = msgspec.json.decode(extra, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, RecursionError):
            more = {}
        fields = {**{name: value for name, value in more.items() if name not in fields}, **fields}
    return _ENCODER.encode(fields)


def payload_text(payload: dict[str, Any] | None) -> str:
    """The payload as compact JSON text."""
    return _ENCODER.encode(payload).decode() if payload else "{}"


def salvage(body: bytes) -> dict[str, Any]:
    """Whatever can be read of a message that is none, for display; {} mostly."""
    try:
        found = msgspec.json.decode(plain(body, MAX_OWN))
    except (BadMessage, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def plain(body: bytes, most: int) -> bytes:
    """The bytes of a JSON text of at most so many bytes and an acceptable depth, without a byte order mark.

    Raises:
        BadMessage: they are none.
    """
    if not body or body.isspace():
        raise bad("msg_empty")
    if len(body) > most:
        raise bad("msg_bytes", size=len(body), most=most)
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and _depth(body) > MAX_DEPTH:
        raise bad("msg_deep", most=MAX_DEPTH)
    return body.removeprefix(_BOM)


def _depth(body: bytes) -> int:
    """Nesting outside of strings, as far as the limit."""
    depth = deepest = 0
    for byte in _STRING.sub(b"", body).translate(None, _NOT_BRACKETS):
        depth += 1 if byte in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            break
    return deepest


def _slow(body: bytes) -> tuple[Fields, str]:
    found = _load(body)
    if not isinstance(found, dict):
        raise bad("msg_object", given=json_word(found))
    # Without an error it is no dead letter, and a field of that name belongs to its producer.
    dead = isinstance(found.get("error"), str)
    ours = [name for name in Fields.__struct_fields__ if name not in _OF_DEAD or (dead and _is_text(found.get(name)))]
    known = {name: found[name] for name in ours if found.get(name) is not None}
    if lacking := [name for name in _NEEDED if known.get(name, "") == ""]:
        raise bad("msg_lacks" if len(lacking) == 1 else "msg_lack", lacking=", ".join(lacking))
    for name in _NEEDED:
        if not isinstance(known[name], str):
            raise bad("msg_text", field=name, given=json_word(known[name]))
    _check_types(known)
    extra = {name: value for name, value in found.items() if name not in ours}
    return _checked(Fields(**known)), _encode(extra) if extra else ""


def _check_types(known: dict[str, Any]) -> None:
    if not isinstance(known.get("payload", {}), dict):
        raise bad("msg_payload", "bad_payload", given=json_word(known["payload"]))
    if not isinstance(known.get("created_at", ""), str):
        raise bad("msg_time_text", given=json_word(known["created_at"]))
    if isinstance(known.get("priority", ""), bool) or not isinstance(known.get("priority", ""), str | int):
        raise bad("msg_priority", given=json_word(known["priority"]))
    _encode(known)


def _checked(fields: Fields) -> Fields:
    _check_identity(fields)
    if None in (fields.payload, fields.priority, fields.retry_count, fields.max_retries):
        for name, value in _DEFAULTS.items():  # a null stands for a field left out
            if getattr(fields, name) is None:
                setattr(fields, name, value)
    return fields


def _encode(value: dict[str, Any]) -> str:
    """JSON text; refuses what Python reads and JSON cannot carry (lone surrogates)."""
    try:
        return _ENCODER.encode(value).decode()
    except UnicodeEncodeError as exc:
        field, half = next(_halves(value), ("", "\\ud800"))
        raise bad("msg_half", field=field or half, half=half) from exc
    except (ValueError, OverflowError, RecursionError, TypeError) as exc:
        raise bad("msg_carry", why=str(exc)[:150]) from exc


def _halves(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    """Where halves of characters stand, and which they are; of one in a name, in what that stands."""
    if isinstance(value, str):
        shown = field[:_SHOWN] if field.isprintable() else ascii(field)[:_SHOWN]
        yield from ((shown, f"\\u{ord(char):04x}") for char in value if "\ud800" <= char <= "\udfff")
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _halves(name, field)
            yield from _halves(one, f"{field}.{name}" if field else name)
    elif isinstance(value, list):
        for one in value:
            yield from _halves(one, field)


def _load(body: bytes) -> object:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise bad("msg_utf8", at=exc.start) from exc
    try:
        return strict_json.loads(text)
    except RecursionError as exc:
        raise bad("msg_deep", most=MAX_DEPTH) from exc
    except strict_json.Inexact as exc:
        raise BadMessage(str(exc)) from exc
    except ValueError as exc:
        raise bad("msg_json", why=str(exc)[:170]) from exc


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def bad(code: str, kind: str = "bad_message", **params: Param) -> BadMessage:
    """What is wrong with a message, by a code of ``own_words``: it comes to stand in a letter."""
    return BadMessage(own_words.write(f"own.{code}", **params), kind)


def json_word(value: object) -> str:
    """What kind of value it is, for a sentence."""
    words: dict[type, str] = {dict: "an_object", list: "a_list", str: "text", bool: "true_or_false", type(None): "null"}
    return own_words.write(f"own.{words.get(type(value), 'a_number')}")
