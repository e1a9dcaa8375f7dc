"""The steps of a browser flow as typed values; the JSON Schema of each field stands in its annotation."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

MAX_TIMEOUT_S, MAX_RETRIES, MAX_SLEEP_S, MAX_REPEAT = 600, 10, 300, 200
#: kinds of failure that a step may name as what its own failure means
MEANINGS = ("login_expired", "captcha", "risk_control", "rate_limited", "element_not_found", "bad_payload", "network")


def _text(most: int, **more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": most, **more}


def _given(most: int, **more: Any) -> dict[str, Any]:
    return _text(most, minLength=1, **{"pattern": "\\S", **more})


_SELECTOR, _URL, _WORD = _given(1000), _given(4000), _given(64, pattern="^[A-Za-z_][A-Za-z0-9_]*$")
_FILE_NAME = _text(120, pattern='^([^/\\\\:*?"<>|\\x00-\\x1f.][^/\\\\:*?"<>|\\x00-\\x1f]*)?$')
_YES_NO: dict[str, Any] = {"type": "boolean"}
_STEPS: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1, "maxItems": 200}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What every step has. ``place`` is where it stands, such as ``2`` or ``4.then.1``, counted from 1."""

    place: str = ""
    name: Annotated[str, _text(80)] = ""
    timeout_s: Annotated[float, {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_TIMEOUT_S}] = 0.0
    retries: Annotated[int, {"type": "integer", "minimum": 0, "maximum": MAX_RETRIES}] = 0
    retry_wait_s: Annotated[float, {"type": "number", "minimum": 0, "maximum": 60}] = 1.0
    fails_as: Annotated[str, {"enum": list(MEANINGS)}] = ""

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


class Goto(Step, frozen=True, kw_only=True):
    """Open an address; a path is taken on the site that the worker has for the platform."""

    url: Annotated[str, _URL]
    wait_until: Annotated[str, {"enum": ["load", "domcontentloaded", "networkidle", "commit"]}] = "load"


class Click(Step, frozen=True, kw_only=True):
    """Click what the selector finds first."""

    selector: Annotated[str, _SELECTOR]
    count: Annotated[int, {"type": "integer", "minimum": 1, "maximum": 3}] = 1


class Fill(Step, frozen=True, kw_only=True):
    """Put a text into a field."""

    selector: Annotated[str, _SELECTOR]
    value: Annotated[str, _text(50_000)]


class Select(Step, frozen=True, kw_only=True):
    """Choose an entry by its value or its label."""

    selector: Annotated[str, _SELECTOR]
    value: Annotated[str, _text(1000)]


class Press(Step, frozen=True, kw_only=True):
    """Press a key such as ``Enter`` or ``Control+A``, in an element where one is named."""

    key: Annotated[str, _given(40)]
    selector: Annotated[str, _text(1000)] = ""


class WaitFor(Step, frozen=True, kw_only=True):
    """Wait for an element, an address (``*`` stands for anything), or both."""

    selector: Annotated[str, _text(1000)] = ""
    url: Annotated[str, _text(4000)] = ""
    state: Annotated[str, {"enum": ["visible", "hidden", "attached", "detached"]}] = "visible"


class Extract(Step, frozen=True, kw_only=True, rename={"into": "as"}):
    """Take a value from the page into the result, under ``as``.

    ``all`` takes every match, ``append`` adds to the list of an earlier page. A table becomes objects by its header.
    """

    into: Annotated[str, _WORD]
    selector: Annotated[str, _text(1000)] = ""
    what: Annotated[str, {"enum": ["text", "html", "value", "attribute", "table", "count", "url", "title"]}] = "text"
    attribute: Annotated[str, _text(100)] = ""
    all: Annotated[bool, _YES_NO] = False
    append: Annotated[bool, _YES_NO] = False


class Screenshot(Step, frozen=True, kw_only=True):
    """Keep a picture of the page, or of one element."""

    selector: Annotated[str, _text(1000)] = ""
    full_page: Annotated[bool, _YES_NO] = False


class AssertText(Step, frozen=True, kw_only=True):
    """Fail unless the text stands there within the time-out."""

    text: Annotated[str, _given(5000)]
    selector: Annotated[str, _text(1000)] = ""
    match: Annotated[str, {"enum": ["contains", "equals"]}] = "contains"


class Upload(Step, frozen=True, kw_only=True):
    """Give a file to a file field: one of the worker's upload folder, or one made of ``text``."""

    selector: Annotated[str, _SELECTOR]
    file: Annotated[str, _given(400)]
    text: Annotated[str | None, _text(200_000)] = None


class Download(Step, frozen=True, kw_only=True):
    """Click something and keep the file that comes."""

    selector: Annotated[str, _text(1000)] = ""
    url: Annotated[str, _text(4000)] = ""
    file: Annotated[str, _FILE_NAME] = ""


class Scroll(Step, frozen=True, kw_only=True):
    """Scroll an element into view, to an end of the page, or by pixels."""

    selector: Annotated[str, _text(1000)] = ""
    to: Annotated[str, {"enum": ["top", "bottom"]}] = ""
    by: Annotated[int, {"type": "integer", "minimum": -100_000, "maximum": 100_000}] = 0


class Sleep(Step, frozen=True, kw_only=True):
    """Do nothing for a while."""

    seconds: Annotated[float, {"type": "number", "minimum": 0, "maximum": MAX_SLEEP_S}]


class IfVisible(Step, frozen=True, kw_only=True, rename={"otherwise": "else"}):
    """Do ``then`` where the element is visible within ``wait_s``, else ``else``; up to ``repeat`` times while it is."""

    selector: Annotated[str, _SELECTOR]
    then: Annotated[tuple[Step, ...], _STEPS]
    otherwise: Annotated[tuple[Step, ...], _STEPS] = ()
    wait_s: Annotated[float, {"type": "number", "minimum": 0, "maximum": 60}] = 0.0
    repeat: Annotated[int, {"type": "integer", "minimum": 1, "maximum": MAX_REPEAT}] = 1


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
