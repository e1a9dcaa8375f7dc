"""Fills ``{{payload.x}}`` and the like into a configured request; where a value stands decides how it is written."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

from services.domain.task import classify
from services.domain.task.record import Task

_PLACE = re.compile(r"\{\{\s*([\w.-]{1,200})\s*\}\}")
_WORDS = ("shop_id", "platform", "task_type", "task_id")


class Unfillable(Exception):
    """A place has no value; ``kind`` is of services.domain.task.classify."""

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        self.kind = kind


class Filler:
    """The values of one task."""

    def __init__(self, task: Task, payload: Mapping[str, Any], secret: Callable[[str], str | None]) -> None:
        self._words = {name: getattr(task, name) for name in _WORDS}
        self._payload, self._secret = payload, secret
        self.secrets: set[str] = set()  #: values that were filled in and must not be shown

    def url(self, text: str) -> str:
        """Values are escaped, so that none becomes a host, a path or a second parameter.

        Raises:
            Unfillable: see there.
        """
        return _PLACE.sub(lambda found: urllib.parse.quote(_word(self._value(found[1])), safe=""), text)

    def header(self, text: str) -> str:
        """Values hold no line end, which would begin a header of their own.

        Raises:
            Unfillable: see there.
        """

        def write(found: re.Match[str]) -> str:
            value = _word(self._value(found[1]))
            if any(ord(char) < 32 or ord(char) == 127 for char in value):
                raise Unfillable(f"{found[1]} has control characters, which no header may have", classify.BAD_PAYLOAD)
            return value

        return _PLACE.sub(write, text)

    def body(self, template: Any, content_type: str) -> bytes:
        """A table becomes JSON; a text stays one, with its values written as its content type wants them.

        Raises:
            Unfillable: see there.
        """
        if not isinstance(template, str):
            return json.dumps(self._tree(template), ensure_ascii=False).encode()
        if "x-www-form-urlencoded" in content_type:
            return _PLACE.sub(lambda found: urllib.parse.quote_plus(_word(self._value(found[1]))), template).encode()
        if "json" in content_type or (not content_type and template.lstrip()[:1] in ("{", "[")):
            return _PLACE.sub(lambda found: _in_json(self._value(found[1])), template).encode()
        return _PLACE.sub(lambda found: _word(self._value(found[1])), template).encode()

    def _tree(self, node: Any) -> Any:
        if isinstance(node, dict):
            return {str(key): self._tree(value) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [self._tree(value) for value in node]
        if not isinstance(node, str):
            return node
        whole = _PLACE.fullmatch(node)
        return self._value(whole[1]) if whole else _PLACE.sub(lambda found: _word(self._value(found[1])), node)

    def _value(self, name: str) -> Any:
        if name in self._words:
            return self._words[name]
        first, _, rest = name.partition(".")
        if first == "secret" and rest:
            value = self._secret(rest)
            if value is None:
                raise Unfillable(
                    f"the secret {rest} is missing on this worker; set FLEETDECK_SECRET__{rest.upper()}",
                    classify.MISSING_SECRET,
                )
            self.secrets.add(value)
            return value
        if first == "payload" and rest:
            return self._of_payload(rest)
        raise Unfillable(f"{{{{{name}}}}} in the request of this worker is no known place", classify.NO_COMMAND)

    def _of_payload(self, path: str) -> Any:
        node: Any = self._payload
        for key in path.split("."):
            if not isinstance(node, dict) or key not in node:
                raise Unfillable(f"payload.{path} is missing and the request needs it", classify.BAD_PAYLOAD)
            node = node[key]
        return node


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _in_json(value: Any) -> str:
    """Inside quotes of the template a text is escaped; anything else is written as JSON."""
    return json.dumps(value, ensure_ascii=False)[1:-1] if isinstance(value, str) else json.dumps(value)
