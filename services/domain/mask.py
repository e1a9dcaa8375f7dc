"""Secrets made unreadable before a value leaves the program: by the name of their key, and by their place in a text."""

from __future__ import annotations

import json
import re
from typing import Any

DOTS = "••••"
_SECRET_WORDS = ("password", "passwd", "secret", "token", "cookie", "authorization", "api_key", "apikey")
_USERINFO = re.compile(r"(\w{1,20}://)[^/@\s]{1,400}@")
#: headers hold several words: everything up to the end of the line or the quote
_HEADER = re.compile(r"((?:cookie|authorization)[\w-]{0,40}[\"']?\s{0,3}[:=]\s{0,3}[\"']?)[^\n\"']+", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"""((?:{"|".join(_SECRET_WORDS)})[\w-]{{0,40}}["']?\s{{0,3}}[:=]\s{{0,3}})("[^"]*"|'[^']*'|[^\s,;&}}\]"']+)""",
    re.IGNORECASE,
)


def masked(value: Any) -> Any:
    """The same JSON value with everything that is named like a secret replaced by dots."""
    if isinstance(value, dict):
        return {key: DOTS if is_secret(key) else masked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return value


def masked_text(text: str) -> str:
    """A text without the user and password of addresses and without what follows ``token=`` and the like."""
    without_users = _USERINFO.sub(rf"\1{DOTS}@", text)
    return _ASSIGNED.sub(rf"\1{DOTS}", _HEADER.sub(rf"\1{DOTS}", without_users))


def masked_json(text: str) -> str:
    """A JSON text masked by the names of its keys; what is no JSON is masked as text."""
    if not text:
        return ""
    try:
        return json.dumps(masked(json.loads(text)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return masked_text(text)


def is_secret(key: object) -> bool:
    """Whether a field of this name holds a secret."""
    return isinstance(key, str) and any(word in key.lower() for word in _SECRET_WORDS)
