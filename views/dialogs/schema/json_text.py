"""JSON as people read it: indented, short lists and objects of plain values on one line. Pure."""

from __future__ import annotations

import json
from typing import Any

INLINE = 72


def pretty(value: Any, indent: int = 0) -> str:
    """``value`` as JSON text."""
    if isinstance(value, list | dict) and value:
        flat = _dump(value)
        plain = not any(
            isinstance(item, list | dict) for item in (value.values() if isinstance(value, dict) else value)
        )
        if plain and len(flat) + indent <= INLINE and (isinstance(value, list) or indent):
            return flat
        return _block(value, indent)
    return _dump(value)


def _block(value: list[Any] | dict[str, Any], indent: int) -> str:
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        lines = [f"{pad}{_dump(str(name))}: {pretty(item, indent + 2)}" for name, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(pad + pretty(item, indent + 2) for item in value) + "\n" + " " * indent + "]"


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")  # an editor would end a line there
