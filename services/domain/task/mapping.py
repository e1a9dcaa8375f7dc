"""Plain messages of other programs' work queues, mapped to a task by configuration: a JSON body of any shape."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from services.domain.errors import BadMessage
from services.domain.fleet import shop
from services.domain.task import ids, lane, own_words, wire
from services.domain.text.message import Param
from services.domain.text.said import said
from services.domain.types import dotted, strict_json

#: a field of the body in braces, by its path: ``{shop}``, ``{order.shop.id}``, ``{items.0}``
_FIELD = re.compile(r"\{([^{}\s]+)\}")
#: under this name stands a body that is no object
WHOLE = "body"
_MOST_SHOWN = 60


class QueueMapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a queue's messages mean. Each is a text with fields of the body in braces, such as ``{shop}``."""

    task_type: str
    platform: str
    shop_id: str
    payload: str = ""  #: one field that is an object; "" for the whole body
    priority: str = ""  #: "" for that of the type
    task_id: str = ""  #: "" for one made of the message's id, or a new one where it has none

    @property
    def fields(self) -> Mapping[str, str]:
        """Its settings by name."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Mapped(msgspec.Struct, frozen=True, kw_only=True):
    """The task that a message asks for."""

    task_type: str
    platform: str
    shop_id: str
    payload: dict[str, Any]
    priority: str = ""
    task_id: str = ""


def problem(mapping: QueueMapping) -> tuple[str, str]:
    """The field of a mapping that cannot be, and what it must be; "" twice where it can: what stands there as it is
    must be a name already.
    """
    checks = (("task_type", ids.valid_task_type), ("platform", shop.valid_word), ("shop_id", shop.valid_shop_id))
    for name, good in checks:
        text = mapping.fields[name]
        if not text or (not _FIELD.search(text) and not good(text)):
            return name, said("mapping.name", shop="{shop}")
    if mapping.payload and not _FIELD.fullmatch(mapping.payload):
        return "payload", said("mapping.payload", args="{args}")
    if mapping.priority and not _FIELD.search(mapping.priority) and not _is_priority(mapping.priority):
        return "priority", said("mapping.priority")
    return "", ""


def read(queue: str, mapping: QueueMapping, body: bytes, message_id: str = "") -> Mapped:
    """The task that a message asks for.

    Raises:
        BadMessage: the sentence names the field, and what to change.
    """
    document = _document(queue, body)
    _check_all_there(queue, mapping, document)
    found = {
        name: _text(queue, name, mapping.fields[name], document)
        for name in ("task_type", "platform", "shop_id", "priority", "task_id")
    }
    checks = (("task_type", ids.valid_task_type), ("platform", shop.valid_word), ("shop_id", shop.valid_shop_id))
    for name, good in checks:
        if not good(found[name]):
            raise _bad(queue, name, mapping, "queue_name", value=f"{found[name]!r:.{_MOST_SHOWN}}")
    if found["priority"] and not _is_priority(found["priority"]):
        raise _bad(queue, "priority", mapping, "queue_priority", value=f"{found['priority']!r:.{_MOST_SHOWN}}")
    if mapping.task_id and not ids.valid_foreign_id(found["task_id"]):
        raise _bad(queue, "task_id", mapping, "queue_id")
    if not mapping.task_id and message_id:
        found["task_id"] = _made_of(queue, message_id, found)
    return Mapped(payload=_payload(queue, mapping, document), **found)


def _document(queue: str, body: bytes) -> Any:
    try:
        return strict_json.loads(wire.plain(body, wire.MAX_BODY).decode())
    except (ValueError, RecursionError) as exc:
        raise wire.bad("queue_json", queue=queue, why=str(exc)[:300]) from exc


def _payload(queue: str, mapping: QueueMapping, document: Any) -> dict[str, Any]:
    if not mapping.payload:
        return document if isinstance(document, dict) else {WHOLE: document}
    found = dotted.at(document, mapping.payload[1:-1])
    if not isinstance(found, dict):
        raise _bad(queue, "payload", mapping, "queue_object", given=_kind(found))
    return found


def _text(queue: str, name: str, template: str, document: Any) -> str:
    def one(match: re.Match[str]) -> str:
        value = dotted.at(document, match[1])
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise _remedy(queue, name, template, "queue_kind", path=match[1], given=_kind(value))
        return str(value)

    return _FIELD.sub(one, template).strip()


def _check_all_there(queue: str, mapping: QueueMapping, document: Any) -> None:
    """Name all that is missing at once, so that who sends it need not find out one by one."""
    asked = [(name, path) for name, template in mapping.fields.items() for path in _FIELD.findall(template)]
    missing = [(name, path) for name, path in asked if dotted.at(document, path) is dotted.ABSENT]
    if len(missing) == 1:
        ((name, path),) = missing
        raise _remedy(queue, name, mapping.fields[name], "queue_no_field", path=path)
    if missing:
        words = ", ".join(f'"{path}" ({name})' for name, path in missing)
        place = f"[foreign_queues.{queue}]"
        raise wire.bad("queue_fields", fields=words, place=place)


def _bad(queue: str, name: str, mapping: QueueMapping, code: str, **params: Param) -> BadMessage:
    return _remedy(queue, name, mapping.fields[name], code, **params)


def _remedy(queue: str, name: str, template: str, code: str, **params: Param) -> BadMessage:
    place = f"[foreign_queues.{queue}] {name} = {template!r:.{_MOST_SHOWN}}"
    return wire.bad("queue_bad", field=name, why=own_words.write(f"own.{code}", **params), place=place)


def _made_of(queue: str, message_id: str, found: Mapping[str, str]) -> str:
    """The same for the same message: one that comes twice after a crash is one task."""
    digest = hashlib.sha256(f"{queue}\n{message_id}".encode()).hexdigest()[:16]
    return f"{found['platform']}_{found['task_type']}_{found['shop_id']}_{digest}"


def _is_priority(text: str) -> bool:
    try:
        lane.parse_priority(text)
    except ValueError:
        return False
    return True


def _kind(value: object) -> str:
    return own_words.write("own.a_text") if isinstance(value, str) else wire.json_word(value)
