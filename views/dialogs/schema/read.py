"""What a form needs to know of a JSON schema: fields with titles, kinds and limits. Pure but for the language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from services.domain.types import formats
from services.i18n import _, is_chinese

TEXT, WHOLE, NUMBER, SWITCH, CHOICE, DATE, CHOICES, LIST, JSON = (
    "text", "whole", "number", "switch", "choice", "date", "choices", "list", "json",
)  # fmt: skip


class _Missing:
    """No value: the field is left out of the document."""

    def __bool__(self) -> bool:
        return False


MISSING = _Missing()


class FieldPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One property of the payload."""

    name: str
    kind: str
    schema: Mapping[str, Any] = msgspec.field(default_factory=dict)
    required: bool = False

    @property
    def title(self) -> str:
        """What people call it."""
        return _said(self.schema, "title") or self.name

    @property
    def help(self) -> str:
        """One sentence about it."""
        return _said(self.schema, "description")

    @property
    def default(self) -> Any:
        """What counts when it is left out; ``MISSING`` for nothing."""
        return self.schema.get("default", MISSING)

    @property
    def example(self) -> str:
        """A value of the right form, "" where every text will do."""
        given = self.schema.get("examples")
        if isinstance(given, list) and given and isinstance(given[0], str):
            return given[0]
        return formats.example(str(self.schema.get("format", "")))

    @property
    def limits(self) -> str:
        """The bounds or the form in a few words."""
        if self.kind in (TEXT, DATE) and self.example:
            form = _("such as {example}").format(example=self.example)
            return _("required, {form}").format(form=form) if self.required else form
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        if low is not None and high is not None:
            return _("{low} to {high}").format(low=low, high=high)
        if low is not None:
            return _("at least {low}").format(low=low)
        if high is not None:
            return _("at most {high}").format(high=high)
        return _("required") if self.required else ""

    def choices(self) -> list[tuple[Any, str]]:
        """Values of an enum and their names."""
        source = self.schema.get("items", {}) if self.kind == CHOICES else self.schema
        values = source.get("enum", [])
        key = "x-enum-titles-zh" if is_chinese() else "x-enum-titles"
        titles = source.get(key) or source.get("x-enum-titles") or []
        return [(value, str(titles[n]) if n < len(titles) else str(value)) for n, value in enumerate(values)]


def read(schema: Mapping[str, Any]) -> list[FieldPlan]:
    """The fields of an object schema, in its order."""
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    if not isinstance(properties, Mapping):
        return []
    return [
        FieldPlan(name=name, kind=_kind(part), schema=part, required=name in required)
        for name, part in properties.items()
        if isinstance(part, Mapping)
    ]


def _kind(part: Mapping[str, Any]) -> str:
    wanted = part.get("type")
    if "enum" in part:
        return CHOICE
    if wanted == "string":
        return DATE if part.get("format") == "date" else TEXT
    if wanted == "array":
        items = part.get("items", {})
        if isinstance(items, Mapping) and items.get("type") == "string":
            return CHOICES if "enum" in items else LIST
    return {"integer": WHOLE, "number": NUMBER, "boolean": SWITCH}.get(str(wanted), JSON)


def _said(part: Mapping[str, Any], key: str) -> str:
    text = part.get(f"x-{key}-zh") if is_chinese() else None
    return str(text or part.get(key) or "")
