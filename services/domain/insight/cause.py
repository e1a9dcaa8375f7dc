"""What is true of a cause of dead letters: what it is called, and whether its letters would pass if they ran now. Pure.

A cause is titled by its pattern: the kind of failure with the element, field, secret or host that its errors name.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable

from services.domain import classify
from services.domain.message import Message

#: the pattern of a title is cut here; so many different ones are named before "+2"
PATTERN_LIMIT, NAMED = 60, 2
_TAIL = 4_000
_SELECTOR = (
    r"(?P<what>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|「[^」\n]{1,200}」|“[^”\n]{1,200}”"
    r"|[^\s\"'，。；：()][^\n]{0,199}?)"
)
_AFTER = "not|to|was|did|within|matched|nothing|no|in|on|is|state|未|不|没"
_END = rf"(?=\)? *(?:$|\n|[:：(（，。；]|,\s| \(|\s+(?:{_AFTER})\b))"
_COMPLAINT = r"^(?:[\w.]+(?:Error|Payload)?: )?(?P<what>[a-z_][\w.\[\]-]{0,80}): (?:must|is|does)\b"

#: kind -> where its errors name what was missed; the first that fits wins
_PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    classify.ELEMENT_NOT_FOUND: (
        re.compile(r"SelectorNotFound: (?P<what>[^\s(][^\n(]{0,199}?)(?= ?\(|\s*$|\n)"),
        re.compile(r"\"(?:selector|using)\":\s*\"(?P<what>[^\"\n]{1,200})\"\}?\s*$", re.MULTILINE),
        re.compile(r"\"selector\":\s*\"(?P<what>[^\"\n]{1,200})\""),
        re.compile(r"locator\((?P<what>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}')\)", re.IGNORECASE),
        re.compile(r"waiting for (?:selector|locator|element) " + _SELECTOR + _END, re.IGNORECASE),
        re.compile(r"(?:selector|locator|xpath)[ :=]+" + _SELECTOR + _END, re.IGNORECASE),
        re.compile(r"\belement[ :]+(?P<what>[.#\[/\"'][^\n]{0,199}?)" + _END, re.IGNORECASE),
        re.compile(r"(?:元素|控件|按钮|选择器|输入框)[ :：]*(?P<what>[^\s:：，。；未找不没]{1,200})", re.IGNORECASE),
        re.compile(r"(?:未找到|找不到|没有找到|无法定位)[ :：]*(?P<what>[^\s:：，。；]{1,200})", re.IGNORECASE),
        re.compile(r"(?P<what>[.#][\w-][^\n]{0,199}?) does not say "),
    ),
    classify.BAD_PAYLOAD: (
        re.compile(r"invalid parameter: (?P<what>[A-Za-z_][\w.\[\]-]{0,80})(?=[\s:：]|$)"),
        re.compile(r"'(?P<what>[\w.-]{1,80})' is a required property"),
        re.compile(r"missing \d* ?required [^\n']{0,40}'(?P<what>\w{1,80})'"),
        re.compile(r"\bpayload\.(?P<what>[\w.\[\]-]{1,80}?)(?=[\s:：,，。]|$)"),
        re.compile(r"\bparam(?:eter)? [\"'“「]?(?P<what>[A-Za-z_][\w.\[\]-]{0,80}?)[\"'”」]? (?:is|must|has)\b"),
        re.compile(r"参数[ :：]*[\"'“「]?(?P<what>[A-Za-z_][\w.\[\]-]{0,80})"),
        re.compile(_COMPLAINT, re.MULTILINE),
    ),
    classify.MISSING_SECRET: (
        re.compile(r"no secret (?P<what>[\w./:-]{1,80})"),
        re.compile(r"secret[ :]+[\"']?(?P<what>[\w./:-]{1,80}?)[\"']? (?:not|is)\b", re.IGNORECASE),
        re.compile(r"(?:missing[ _]secret|缺少(?:密钥|凭据))[ :：]+[\"']?(?P<what>[\w./:-]{1,80})", re.IGNORECASE),
    ),
    classify.UNKNOWN_TYPE: (
        re.compile(r"(?:task[ _]?type|flow|handler for|任务类型|流程)[ :：]*[\"'“「]?(?P<what>[A-Za-z0-9_-]{2,64})"),
    ),
    classify.NETWORK: (
        re.compile(r"\b(?:net::)?(?P<what>ERR_[A-Z_]{3,40})\b"),
        re.compile(r"\b(?P<what>E(?:CONN|NOTFOUND|TIMEDOUT|HOSTUNREACH|PIPE)[A-Z]{0,10})\b"),
        re.compile(r"\bhttps?://(?P<what>[\w.-]{1,80})"),
    ),
}
_QUOTES = "\"'“”「」"


def pattern(kind: str, error: str) -> str:
    """What the error of this kind names as missed or wrong: a selector, a field, a host …; "" for nothing."""
    return _pattern(kind, error[-_TAIL:])


@functools.lru_cache(maxsize=4096)
def _pattern(kind: str, error: str) -> str:
    if kind in ("", classify.UNKNOWN):
        return _cut(classify.headline(error).partition(":")[0].strip())
    text = classify.clean(error)
    for place in (classify.telling_line(error), text):
        for each in _PATTERNS.get(kind, ()):
            if found := each.search(place):
                return _cut(found["what"].strip().strip(_QUOTES).strip())
    return ""


def patterns(letters: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The patterns of many letters given as ``(kind, error)``, the most frequent first."""
    found = Counter(pattern(kind, error) for kind, error in letters)
    found.pop("", None)
    return tuple(name for name, _number in found.most_common())


def title(kind: str, names: Iterable[str] = ()) -> Message:
    """What a cause is called: ``Page element missing: .order-list__row``; ``names`` are its patterns.

    An error of no known kind is called by its own first words.
    """
    known = list(names)
    what = ", ".join(known[:NAMED]) + (f" +{len(known) - NAMED}" if len(known) > NAMED else "")
    if kind not in classify.KINDS or kind == classify.UNKNOWN:
        return Message("cause.other", {"what": what}) if what else Message("cause.unknown")
    if what and kind in _PATTERNS:
        return Message(f"cause.{kind}.of", {"what": what})
    return Message(f"cause.{kind}")


def _cut(text: str) -> str:
    return text if len(text) <= PATTERN_LIMIT else text[: PATTERN_LIMIT - 1] + "…"
