"""What went wrong as ``application/problem+json`` (RFC 9457): a code, its parameters, a sentence, and what helps."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from typing import Any

from services import messages
from services.cli import output
from services.domain.errors import (
    BrokerUnavailable,
    ConsoleError,
    NotAllowed,
    NotFound,
    OperatorError,
    StoreUnavailable,
    UsageError,
)
from services.domain.task import own_words
from services.domain.text.said import Said, said, words_of

MEDIA = "application/problem+json"
#: seconds after which a lost store or broker is worth another try
AGAIN_S = 5
TITLES = {
    400: "Bad request",
    401: "No valid token",
    403: "Not permitted",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Refused",
    413: "Too large",
    415: "Not JSON",
    421: "Wrong host",
    422: "Not acceptable",
    429: "Too many requests",
    500: "A fault of this program",
    503: "Unavailable",
}
REMEDIES = {
    400: "Correct the request; /api/v1/openapi.json says what it may be.",
    401: "Show a token as bearer (header Authorization); an admin makes one with `fleetdeck token create`.",
    403: "Ask an admin for a token with the role that is wanted.",
    404: "List what there is; names are case-sensitive.",
    405: "See /api/v1/openapi.json for the methods of this path.",
    408: "Send the whole request at once.",
    409: "Look at it as it is now; what was refused changed nothing.",
    413: "Send less at once.",
    415: "Send the header `Content-Type: application/json` and a JSON body.",
    421: "Use the name or address on which this server listens, or name it with --host-name.",
    422: "Correct the field that is named.",
    429: "Wait as long as Retry-After says.",
    500: "Tell who runs this program, with the request id; its log has the rest.",
    503: "Try again after as many seconds as Retry-After says; nothing is lost.",
}
#: where what helps others of that status would not help
REMEDIES_OF = {
    "foreign_origin": "Open a page of this server itself, or ask from a program; browsers send Origin for other pages.",
    "task.unreadable": "Do what the detail says; asking again changes nothing.",
    "task.set_aside": "Do what the detail says; asking again changes nothing.",
    "role.read_only": "Ask a server that was not started read-only; no token changes that.",
}


@dataclasses.dataclass(eq=False, kw_only=True)
class Problem(Exception):
    """An answer that says why not."""

    status: int
    detail: str
    code: str = ""
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    field: str = ""
    remedy: str = ""
    again_s: float = 0.0  #: seconds after which to try again, 0: that would not help
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: what else is known, for programs

    def document(self, request_id: str = "") -> dict[str, Any]:
        """As it goes out."""
        code = self.code or f"http.{self.status}"
        return {
            "type": f"urn:fleetdeck:problem:{code}",
            "title": TITLES.get(self.status, "Problem"),
            "status": self.status,
            "detail": self.detail,
            "code": code,
            "params": dict(self.params),
            "field": self.field,
            "remedy": self.remedy or REMEDIES_OF.get(code) or REMEDIES.get(self.status, ""),
            "request_id": request_id,
            **self.more,
        }

    def body(self, request_id: str = "") -> bytes:
        """The document as bytes, secrets as dots."""
        return output.document(self.document(request_id)).encode()

    def headers(self) -> dict[str, str]:
        """Those that belong to it."""
        found = {"cache-control": "no-store"}
        if self.again_s:
            found["retry-after"] = str(max(1, round(self.again_s)))
        if self.status == 401:
            found["www-authenticate"] = 'Bearer realm="fleetdeck"'
        return found


def of_json(exc: ValueError | RecursionError) -> str:
    """What is wrong with a text that is no JSON, and where: Python's reader says it to programmers."""
    if isinstance(exc, RecursionError):
        return said("json.deep")
    found = own_words.find(str(exc))
    return messages.within(found) if found is not None else words_of(exc)


def of_error(exc: ConsoleError) -> Problem:
    """What an error of the program is to another program."""
    words = words_of(exc)
    code, params = (words.message.code, dict(words.message.params)) if isinstance(words, Said) else ("", {})
    named = exc.field if isinstance(exc, OperatorError) else ""
    status, again = (404, 0.0) if code in _NO_SUCH else _status(exc)
    return Problem(
        status=status, detail=str(words), code=code or CODES[status], params=params, field=plain(named), again_s=again
    )


#: wrong words to the command line; here they stand in an address
_NO_SUCH = frozenset({"promise.unknown", "alert.no_incident", "alert.no_rule", "alert.no_channel"})
#: where an error has no code of its own
CODES = {401: "token.over", 403: "not_allowed", 404: "not_found", 409: "refused", 422: "usage", 503: "unavailable"}


def plain(name: str) -> str:
    """The name of a field as it is written here; the command line writes dashes before it."""
    return name.lstrip("-").replace("-", "_")


def _status(exc: ConsoleError) -> tuple[int, float]:
    if isinstance(exc, BrokerUnavailable | StoreUnavailable):
        return 503, AGAIN_S
    if isinstance(exc, NotAllowed):
        return (401 if exc.field == "token" else 403), 0.0
    if isinstance(exc, NotFound):
        return 404, 0.0
    return (422 if isinstance(exc, UsageError) else 409), 0.0


#: an option of the command line in a sentence, and what its parser says of a word that has no option
_OPTION, _ARGUMENT = re.compile(r"(?<![\w'\"-])--([a-z][a-z-]*)"), re.compile(r"^argument ([A-Z_]+): ")


def in_words_of(words: Collection[str], problem: Problem) -> Problem:
    """The same of a request that takes these ``words``: commands say what to correct in words of their own."""
    field, detail = problem.field, problem.detail
    if field and field not in words and problem.code.startswith("payload.") and "payload" in words:
        field = f"payload.{field}"
    else:
        field = _called(field, words)
    detail = _ARGUMENT.sub(lambda found: f"{_called(found[1], words)}: ", detail)
    detail = _OPTION.sub(lambda found: _quoted(found, words), detail)
    return dataclasses.replace(problem, field=field, detail=detail)


def _called(name: str, words: Collection[str]) -> str:
    """As a request calls what the command line calls ``name``: several of it, or its seconds."""
    small = plain(name).lower()
    return next((one for one in (small, f"{small}s", f"{small}_s", _ELSE.get(small, "")) if one in words), name)


def _quoted(found: re.Match[str], words: Collection[str]) -> str:
    name = _called(found[1], words)
    return f"`{name}`" if name in words else found[0]


#: what is called otherwise in a request
_ELSE = {"as": "decision", "options": "to", "type": "types"}
