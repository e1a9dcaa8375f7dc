"""Texts of a flow: templates ``{{payload.x}}`` and ``{{secret.name}}``, and which addresses may be opened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from services.domain.text.said import said, words_of
from services.domain.types import dotted
from services.domain.types.schema import Problem

#: fields of steps in which templates are filled
FILLED = frozenset({"url", "selector", "value", "text", "key", "file"})
#: and of these, where a secret may go
WITH_SECRETS = frozenset({"url", "value", "text"})
SAFE_SCHEMES = ("http", "https")
_TEMPLATE = re.compile(r"\{\{\s*(payload|secret)\.([A-Za-z0-9_.-]{1,200})\s*\}\}")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")


class BadTemplate(ValueError):
    """A template cannot be filled; the text says which."""


class MissingSecret(BadTemplate):
    """Nobody knows a secret of this name."""


def fill(text: str, payload: Mapping[str, Any], secrets: Mapping[str, str]) -> str:
    """The text with its templates filled in; what is filled in is not looked through for templates again.

    Raises:
        BadTemplate: a template is malformed or its value is absent from the payload.
        MissingSecret: a secret has no value.
    """
    strange = next(_malformed(text), None)
    if strange is not None:
        raise BadTemplate(strange)

    def value(match: re.Match[str]) -> str:
        root, name = match[1], match[2]
        if root == "secret":
            if name not in secrets:
                raise MissingSecret(name)
            return secrets[name]
        found = dotted.at(payload, name)
        if found is dotted.ABSENT:
            raise BadTemplate(said("flow.not_in_payload", name=f"payload.{name}"))
        if isinstance(found, dict | list):
            raise BadTemplate(said("flow.no_text", name=f"payload.{name}"))
        return _shown(found)

    return _TEMPLATE.sub(value, text)


def secrets_in(text: str) -> list[str]:
    """Names of the secrets that a text asks for."""
    return [match[2] for match in _TEMPLATE.finditer(text) if match[1] == "secret"]


def problems_of_text(payload: Mapping[str, Any], path: str, text: str, *, address: bool = False) -> Iterator[Problem]:
    """What is wrong with one text of a payload, as far as it is known before it runs."""
    field = path.rpartition(".")[2]
    if field not in WITH_SECRETS and secrets_in(text):
        yield Problem(path=path, message=said("flow.secret_here"), code="template")
        return
    try:
        filled = fill(text, payload, dict.fromkeys(secrets_in(text), "secret"))
    except BadTemplate as exc:
        yield Problem(path=path, message=words_of(exc), code="template")
        return
    if address and (scheme := scheme_of(filled)) in ALWAYS_UNSAFE:
        yield Problem(path=path, message=said("flow.scheme", scheme=scheme), code="scheme")


#: refused at creation already; a worker decides about the others by its own setting
ALWAYS_UNSAFE = frozenset({"javascript", "vbscript", "view-source"})


def scheme_of(url: str) -> str:
    """The scheme of an address in lower case, "" for a path; control characters do not hide it, as in a browser."""
    bare = re.sub(r"[\x00-\x20]", "", url)
    match = _SCHEME.match(bare)
    return match[1].lower() if match else ""


def refused(url: str, allowed: Sequence[str] = SAFE_SCHEMES) -> str:
    """Why an address is not opened, "" if it may be. ``about:blank`` is where every page begins."""
    if url in ("", "about:blank", "about:srcdoc"):
        return ""
    scheme = scheme_of(url)
    return "" if scheme in allowed else said("flow.scheme", scheme=scheme or url[:40])


def is_inside(file: str) -> bool:
    """Whether a name stays within the folder it is looked for in."""
    path = PurePosixPath(file.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in file and "\x00" not in file


def _malformed(text: str) -> Iterator[str]:
    start = text.find("{{")
    while start >= 0:
        match = _TEMPLATE.match(text, start)
        if match is None:
            yield said("flow.template", text=text[start : start + 40])
            return
        start = text.find("{{", match.end())


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()
