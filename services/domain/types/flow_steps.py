"""The steps of a browser flow as typed values; the JSON Schema of each field stands beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_TIMEOUT_S, MAX_RETRIES, MAX_SLEEP_S, MAX_REPEAT = 600, 10, 300, 200
#: kinds of failure that a step may name as what its own failure means
MEANINGS = ("login_expired", "captcha", "risk_control", "rate_limited", "element_not_found", "bad_payload", "network")
SCHEMA = "schema"


def _field(schema: dict[str, Any], default: Any = ..., *, name: str = "") -> Any:
    """A field with its schema, required where it has no default; ``name``: its JSON name where Python has the word."""
    more = {SCHEMA: schema, "name": name}
    return field(metadata=more) if default is ... else field(default=default, metadata=more)


def _text(most: int, **more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": most, **more}


def _given(most: int, **more: Any) -> dict[str, Any]:
    return _text(most, minLength=1, **{"pattern": "\\S", **more})


_SELECTOR, _URL, _WORD = _given(1000), _given(4000), _given(64, pattern="^[A-Za-z_][A-Za-z0-9_]*$")
_FILE_NAME = _text(120, pattern='^([^/\\\\:*?"<>|\\x00-\\x1f.][^/\\\\:*?"<>|\\x00-\\x1f]*)?$')
_YES_NO: dict[str, Any] = {"type": "boolean"}
_STEPS: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1, "maxItems": 200}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What every step has. ``place`` is where it stands, such as ``2`` or ``4.then.1``, counted from 1."""

    place: str = ""
    name: str = _field(_text(80), "")
    timeout_s: float = _field({"type": "number", "exclusiveMinimum": 0, "maximum": MAX_TIMEOUT_S}, 0.0)
    retries: int = _field({"type": "integer", "minimum": 0, "maximum": MAX_RETRIES}, 0)
    retry_wait_s: float = _field({"type": "number", "minimum": 0, "maximum": 60}, 1.0)
    fails_as: str = _field({"enum": list(MEANINGS)}, "")

    @property
    def do(self) -> str:
        """The word of the step."""
        return next(word for word, kind in STEPS.items() if type(self) is kind)

    @property
    def title(self) -> str:
        """Its name, or its word and place."""
        return self.name or f"{self.place} {self.do}"

    @property
    def label(self) -> str:
        """Its place, and its name or its word: no other step of the flow has the same."""
        return f"{self.place} {self.name or self.do}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goto(Step):
    """Open an address; a path is taken on the site that the worker has for the platform."""

    url: str = _field(_URL)
    wait_until: str = _field({"enum": ["load", "domcontentloaded", "networkidle", "commit"]}, "load")


@dataclass(frozen=True, slots=True, kw_only=True)
class Click(Step):
    """Click what the selector finds first."""

    selector: str = _field(_SELECTOR)
    count: int = _field({"type": "integer", "minimum": 1, "maximum": 3}, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill(Step):
    """Put a text into a field."""

    selector: str = _field(_SELECTOR)
    value: str = _field(_text(50_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Step):
    """Choose an entry by its value or its label."""

    selector: str = _field(_SELECTOR)
    value: str = _field(_text(1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Press(Step):
    """Press a key such as ``Enter`` or ``Control+A``, in an element where one is named."""

    key: str = _field(_given(40))
    selector: str = _field(_text(1000), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Step):
    """Wait for an element, an address (``*`` stands for anything), or both."""

    selector: str = _field(_text(1000), "")
    url: str = _field(_text(4000), "")
    state: str = _field({"enum": ["visible", "hidden", "attached", "detached"]}, "visible")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract(Step):
    """Take a value from the page into the result, under ``as``.

    ``all`` takes every match, ``append`` adds to the list of an earlier page. A table becomes objects by its header.
    """

    into: str = _field(_WORD, name="as")
    selector: str = _field(_text(1000), "")
    what: str = _field(
        {"enum": ["text", "html", "value", "attribute", "table", "count", "url", "title"]},
        "text",
    )
    attribute: str = _field(_text(100), "")
    all: bool = _field(_YES_NO, False)
    append: bool = _field(_YES_NO, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot(Step):
    """Keep a picture of the page, or of one element."""

    selector: str = _field(_text(1000), "")
    full_page: bool = _field(_YES_NO, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertText(Step):
    """Fail unless the text stands there within the time-out."""

    text: str = _field(_given(5000))
    selector: str = _field(_text(1000), "")
    match: str = _field({"enum": ["contains", "equals"]}, "contains")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(Step):
    """Give a file to a file field: one of the worker's upload folder, or one made of ``text``."""

    selector: str = _field(_SELECTOR)
    file: str = _field(_given(400))
    text: str | None = _field(_text(200_000), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Download(Step):
    """Click something and keep the file that comes."""

    selector: str = _field(_text(1000), "")
    url: str = _field(_text(4000), "")
    file: str = _field(_FILE_NAME, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scroll(Step):
    """Scroll an element into view, to an end of the page, or by pixels."""

    selector: str = _field(_text(1000), "")
    to: str = _field({"enum": ["top", "bottom"]}, "")
    by: int = _field({"type": "integer", "minimum": -100_000, "maximum": 100_000}, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep(Step):
    """Do nothing for a while."""

    seconds: float = _field({"type": "number", "minimum": 0, "maximum": MAX_SLEEP_S})


@dataclass(frozen=True, slots=True, kw_only=True)
class IfVisible(Step):
    """Do ``then`` where the element is visible within ``wait_s``, else ``else``; up to ``repeat`` times while it is."""

    selector: str = _field(_SELECTOR)
    then: tuple[Step, ...] = _field(_STEPS)
    otherwise: tuple[Step, ...] = _field(_STEPS, (), name="else")
    wait_s: float = _field({"type": "number", "minimum": 0, "maximum": 60}, 0.0)
    repeat: int = _field({"type": "integer", "minimum": 1, "maximum": MAX_REPEAT}, 1)


STEPS: dict[str, type[Step]] = {
    "goto": Goto,
    "click": Click,
    "fill": Fill,
    "select": Select,
    "press": Press,
    "wait_for": WaitFor,
    "extract": Extract,
    "screenshot": Screenshot,
    "assert_text": AssertText,
    "upload": Upload,
    "download": Download,
    "scroll": Scroll,
    "sleep": Sleep,
    "if_visible": IfVisible,
}
