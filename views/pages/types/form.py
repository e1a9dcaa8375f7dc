"""The policy of a type as a flat document that a form shows, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from services.domain.task import lane
from services.domain.types.task_type import ISOLATIONS, UNIQUENESS, TaskType
from services.i18n import N_, _
from views.pages.types import words
from views.support import shown

#: texts by language stand in fields of their own
_SPOKEN = {
    "title_en": ("title", "en", N_("Title (English)")),
    "title_zh": ("title", "zh_CN", N_("Title (Chinese)")),
    "about_en": ("description", "en", N_("Description (English)")),
    "about_zh": ("description", "zh_CN", N_("Description (Chinese)")),
}
_BROWSERS = {"profile": N_("the shop's own profile"), "context": N_("a clean one each time")}


def schema(*, new: bool) -> dict[str, Any]:
    """What the form shows, in the language of the moment; ``new``: the name can be chosen."""
    name = {"name": {"type": "string", "title": _("Name"), "description": _("letters, digits, _ and -")}} if new else {}
    spoken = {key: {"type": "string", "title": _(title)} for key, (_field, _code, title) in _SPOKEN.items()}
    return {
        "type": "object",
        "required": ["name"] if new else [],
        "properties": {
            **name,
            **spoken,
            "executor": {"type": "string", "title": words.field("executor")},
            "lane": {
                "enum": list(lane.LANES),
                "title": words.field("lane"),
                **_titles([shown.lane_word(one) for one in lane.LANES]),
            },
            "timeout_s": _whole("timeout_s", _("seconds")),
            "expected_s": {"type": "number", "title": words.field("expected_s"), "description": _("seconds")},
            "max_retries": _whole("max_retries"),
            "retry_base_s": _whole("retry_base_s", _("seconds; empty: the worker's setting")),
            "retry_cap_s": _whole("retry_cap_s", _("seconds; empty: the worker's setting")),
            "uniqueness": {
                "enum": list(UNIQUENESS),
                "title": words.field("uniqueness"),
                **_titles([_(words.UNIQUENESS[one]) for one in UNIQUENESS]),
            },
            "unique_for": {
                "type": "string",
                "title": words.field("unique_for"),
                "description": _("such as 2m, 1h or today; empty: always again"),
            },
            "concurrency": _whole("concurrency", _("in the whole fleet; empty: no limit")),
            "rate_per_minute": _whole("rate_per_minute", _("in the whole fleet; empty: no limit")),
            "isolation": {
                "enum": list(ISOLATIONS),
                "title": words.field("isolation"),
                **_titles([_(_BROWSERS[one]) for one in ISOLATIONS]),
            },
            "indexed": {
                "type": "string",
                "title": words.field("indexed"),
                "description": _("such as order_id, address.city; found at once among millions of tasks"),
            },
            "idempotent": {
                "type": "boolean",
                "title": words.field("idempotent"),
                "description": _("A task whose outcome nobody knows is run again by itself"),
            },
            "preemptible": {"type": "boolean", "title": words.field("preemptible")},
        },
    }


def flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a type as the form shows it; what is null or empty is left out."""
    found = {key: value for key, value in document.items() if value is not None and key not in ("title", "description")}
    for key, (field, code, _title) in _SPOKEN.items():
        spoken = document.get(field)
        if isinstance(spoken, dict) and spoken.get(code):
            found[key] = spoken[code]
    for name in ("unique_for", "indexed"):
        if not found.get(name):
            found.pop(name, None)
    if isinstance(found.get("indexed"), list | tuple):
        found["indexed"] = ", ".join(map(str, found["indexed"]))
    return found


def whole(shown_: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a type out of what the form shows; what it does not show stays as in ``base``."""
    fresh = dict(msgspec.to_builtins(TaskType(name="")))
    found = {**fresh, **base}
    properties = schema(new=True)["properties"]
    for key in properties:
        if key not in _SPOKEN:
            found[key] = shown_.get(key, "" if key == "name" else fresh.get(key))
    if isinstance(found["indexed"], str):
        found["indexed"] = [one for one in re.split(r"[\s,，、]+", found["indexed"]) if one]
    for field in ("title", "description"):
        spoken = dict(base.get(field) or {}) if isinstance(base.get(field), dict) else {}
        for key, (of, code, _title) in _SPOKEN.items():
            if of == field:
                spoken.pop(code, None)
                if shown_.get(key):
                    spoken[code] = shown_[key]
        found[field] = spoken
    return found


def _whole(name: str, help_: str = "") -> dict[str, Any]:
    return {"type": "integer", "title": words.field(name), **({"description": help_} if help_ else {})}


def _titles(names: list[str]) -> dict[str, Any]:
    return {"x-enum-titles": names, "x-enum-titles-zh": names}
