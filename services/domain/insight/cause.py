"""What is true of a cause of dead letters: what it is called, and whether its letters would pass if they ran now. Pure.

A cause is titled by its pattern: the kind of failure with the element, field, secret or host that its errors name.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from services.domain.task import classify
from services.domain.text.late import late
from services.domain.text.message import Message, Param

#: whether letters would pass if they ran now: yes; nobody knows; others of them are about to show it; once somebody has
#: logged in; no
NOW, UNKNOWN, WAIT, LOGIN, AGAIN = "now", "unknown", "wait", "login", "again"
#: what is worth a person's click first
LEVELS = (NOW, UNKNOWN, WAIT, LOGIN, AGAIN)
_OF_LOGIN = frozenset({classify.LOGIN_EXPIRED, classify.CAPTCHA})
#: messages that no task came of, and the sentence that says why
_MESSAGE = {classify.BAD_MESSAGE: "worth.unreadable", classify.ID_CONFLICT: "worth.id_conflict"}
#: kinds that stay until somebody has put something right elsewhere, and the sentence that says what
_STAYS: dict[str, str] = {
    classify.ELEMENT_NOT_FOUND: "worth.page",
    classify.BAD_PAYLOAD: "worth.flow_refused",
    classify.MISSING_SECRET: "worth.secret",
    classify.NO_COMMAND: "worth.program",
    classify.RISK_CONTROL: "worth.account",
}
#: an account in danger: each further run makes it worse, and only a person in the shop can end it
_OF_ACCOUNT = (classify.RISK_CONTROL, classify.CAPTCHA, classify.LOGIN_EXPIRED)
#: what whoever makes the flows has to put right, for the page or the program is another than they thought
OF_MAKER = frozenset({classify.ELEMENT_NOT_FOUND, classify.CRASHED})
#: what whoever creates the tasks has to put right: the same field is wrong in each, and comes wrong again
OF_CREATOR = frozenset({classify.BAD_PAYLOAD})
#: Kinds whose reason lies with a flow, so equal ones of two task types are two matters; the others lie with a shop.
OF_A_FLOW = frozenset(
    {
        classify.ELEMENT_NOT_FOUND,
        classify.TIMEOUT,
        classify.CRASHED,
        classify.BAD_PAYLOAD,
        classify.UNKNOWN_TYPE,
        classify.NO_COMMAND,
        classify.UNKNOWN,
    }
)
#: kinds that a change of the task type may have put right
_OF_TYPE = frozenset({classify.ELEMENT_NOT_FOUND, classify.BAD_PAYLOAD})
#: the pattern of a title is cut here; so many different ones are named before "+2"
PATTERN_LIMIT, NAMED = 60, 2
_TAIL = 4_000
#: says nothing of what failed; what follows it does
_TRACEBACK = late(r"^traceback(?: \(most recent call last\))?[:：]\s*(?=\S)", re.IGNORECASE)
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
        late(r"SelectorNotFound: (?P<what>[^\s(][^\n(]{0,199}?)(?= ?\(|\s*$|\n)"),
        late(r"\"(?:selector|using)\":\s*\"(?P<what>[^\"\n]{1,200})\"\}?\s*$", re.MULTILINE),
        late(r"\"selector\":\s*\"(?P<what>[^\"\n]{1,200})\""),
        late(r"locator\((?P<what>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}')\)", re.IGNORECASE),
        late(r"waiting for (?:selector|locator|element) " + _SELECTOR + _END, re.IGNORECASE),
        late(r"(?:selector|locator|xpath)[ :=]+" + _SELECTOR + _END, re.IGNORECASE),
        late(r"\belement[ :]+(?P<what>[.#\[/\"'][^\n]{0,199}?)" + _END, re.IGNORECASE),
        late(
            r"(?:元素|控件|按钮|选择器|输入框)[ :：]*"
            r"(?P<what>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|“[^”\n]{1,200}”|「[^」\n]{1,200}」)"
        ),
        late(r"(?:元素|控件|按钮|选择器|输入框)[ :：]*(?P<what>[^\s:：，。；未找不没]{1,200})", re.IGNORECASE),
        late(r"(?:未找到|找不到|没有找到|无法定位)[ :：]*(?P<what>[^\s:：，。；]{1,200})", re.IGNORECASE),
        late(r"(?P<what>[.#][\w-][^\n]{0,199}?) does not say "),
    ),
    classify.BAD_PAYLOAD: (
        late(r"invalid parameter: (?P<what>[A-Za-z_][\w.\[\]-]{0,80})(?=[\s:：]|$)"),
        late(r"'(?P<what>[\w.-]{1,80})' is a required property"),
        late(r"missing \d* ?required [^\n']{0,40}'(?P<what>\w{1,80})'"),
        late(r"\bpayload\.(?P<what>[\w.\[\]-]{1,80}?)(?=[\s:：,，。]|$)"),
        late(r"\bparam(?:eter)? [\"'“「]?(?P<what>[A-Za-z_][\w.\[\]-]{0,80}?)[\"'”」]? (?:is|must|has)\b"),
        late(r"参数[ :：]*[\"'“「]?(?P<what>[A-Za-z_][\w.\[\]-]{0,80})"),
        late(_COMPLAINT, re.MULTILINE),
    ),
    classify.MISSING_SECRET: (
        late(r"no secret (?P<what>[\w./:-]{1,80})"),
        late(r"secret[ :]+[\"']?(?P<what>[\w./:-]{1,80}?)[\"']? (?:not|is)\b", re.IGNORECASE),
        late(r"(?:missing[ _]secret|缺少(?:密钥|凭据))[ :：]+[\"']?(?P<what>[\w./:-]{1,80})", re.IGNORECASE),
    ),
    classify.UNKNOWN_TYPE: (
        late(r"(?:task[ _]?type|flow|handler for|任务类型|流程)[ :：]*[\"'“「]?(?P<what>[A-Za-z0-9_-]{2,64})"),
    ),
    classify.NETWORK: (
        late(r"\b(?:net::)?(?P<what>ERR_[A-Z_]{3,40})\b"),
        late(r"\b(?P<what>E(?:CONN|NOTFOUND|TIMEDOUT|HOSTUNREACH|PIPE)[A-Z]{0,10})\b"),
        late(r"\bhttps?://(?P<what>[\w.-]{1,80})"),
    ),
}
_QUOTES = "\"'“”「」"


def pattern(kind: str, error: str) -> str:
    """What the error of this kind names as missed or wrong: a selector, a field, a host …; "" for nothing."""
    return _cut(_pattern(kind, error[-_TAIL:]))


def refused_field(error: str) -> str:
    """The field that a refusal of the message complains of, with its whole path; "" where it names none."""
    return _pattern(classify.BAD_PAYLOAD, error[-_TAIL:])


@functools.lru_cache(maxsize=4096)
def _pattern(kind: str, error: str) -> str:
    if kind in ("", classify.UNKNOWN):
        return _TRACEBACK.sub("", classify.headline(error)).partition(":")[0].strip()
    text = classify.clean(error)
    for place in (classify.telling_line(error), text):
        for each in _PATTERNS.get(kind, ()):
            if found := each.search(place):
                return found["what"].strip().strip(_QUOTES).strip()
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


def urgency(kind: str) -> int:
    """What a person must do first, 0 before all others: accounts in danger, then everything else by its number."""
    return _OF_ACCOUNT.index(kind) if kind in _OF_ACCOUNT else len(_OF_ACCOUNT)


def rank(kind: str, level: str, count: int) -> tuple[bool, int, int]:
    """Sorts causes for whoever works through them: what would pass now, which one click ends; then accounts in danger,
    however few their letters; then most letters. ``level``: one of ``LEVELS``.
    """
    return level != NOW, urgency(kind), -count


def pause_scope(
    kind: str, flow: str, scope: str, shops: Sequence[str], platforms: Sequence[str], *, elsewhere: bool
) -> str:
    """The pause that keeps more from dying of a cause, no wider than it reaches: of its shop, its platform, or its type
    everywhere; "" where none fits. ``flow``: its task type, where the reason lies with that; ``scope``: as far as it
    reaches (``shop``, ``platform``, ``all``, ``some``); ``elsewhere``: there are shops of other platforms.

    There is no pause of one type on one platform (``resources/docs/gates.md`` says why), so the nearest is that of the
    platform: a pause of the type would hold back shops that are well.
    """
    if len(shops) == 1:
        return f"shop:{shops[0]}"
    if kind not in OF_A_FLOW or not flow or scope == "some":
        return ""
    return f"platform:{platforms[0]}" if scope == "platform" and elsewhere else f"type:{flow}"


#: what tells how many of those that were republished did so, and how its code ends where not all of them were looked at
_OF_REPUBLISHED = frozenset({"worth.failed_again", "worth.edited_again", "worth.failing", "worth.passed"})
_LAST = "_last"


def told_again(found: Worth) -> bool:
    """Whether it says of letters of the whole cause that they were republished and died of it again."""
    return found.code.removesuffix(_LAST) in ("worth.failed_again", "worth.edited_again")


def _cut(text: str) -> str:
    return text if len(text) <= PATTERN_LIMIT else text[: PATTERN_LIMIT - 1] + "…"


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of letters of one cause, or of one of them; instants in UTC ms, 0 for never."""

    kind: str
    letters: int = 1
    unread: bool = False  #: no task was ever made of their messages
    shops: int = 1
    closed: int = 0  #: of the shops, those that wait for a login
    opened: int = 0  #: of the shops, those in which somebody logged in since
    type_known: bool = True
    type_before: bool = False  #: the task type was defined already when they were made
    type_changed: bool = False  #: the task type is another version than the one they died under
    refused: int = 0  #: letters whose payload the type refuses now
    refused_field: str = ""  #: the first that it refuses
    died_at: int = 0  #: when the newest of them died
    failed_again: int = 0  #: tasks made of such letters that died of the same again
    failed_at: int = 0
    edited: int = 0  #: of those, the ones whose message was changed before they were sent
    failing: int = 0  #: tasks made of such letters that have not ended and whose last attempt failed of the same
    passed: int = 0  #: tasks made of such letters that succeeded
    passed_at: int = 0
    otherwise: int = 0  #: tasks made of such letters that ended in another way
    older: bool = False  #: others were republished before these
    success_at: int = 0  #: newest success of the same type there
    tries: int = 0  #: of one letter: how often its work was republished before and died of the same
    letter_edited: bool = False  #: its message was changed before one of these

    @property
    def ended(self) -> int:
        """Tasks made of such letters that have ended."""
        return self.failed_again + self.passed + self.otherwise


class Worth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether running again would help. ``level``: one of ``LEVELS``; ``but`` says for how many that does not hold."""

    level: str = UNKNOWN
    code: str = "worth.unknown"
    params: Mapping[str, Param] = {}
    but: Message | None = None

    @property
    def message(self) -> Message:
        """The sentence to be rendered."""
        return Message(self.code, self.params)

    @property
    def probe_first(self) -> bool:
        """Whether a few should be tried before the rest goes."""
        return self.level != NOW


#: nobody has looked into it yet
NOT_ASKED = Worth(code="worth.not_asked")


def worth(seen: Evidence) -> Worth:
    """Whether they would pass if they ran now."""
    found = _worth(seen)
    but: Message | None = None
    if 0 < seen.closed < seen.shops:
        but = Message("worth.but_login", {"count": seen.closed, "of": seen.shops})
    elif 0 < seen.refused < seen.letters:
        but = Message("worth.but_refused", {"count": seen.refused, "of": seen.letters})
    code = found.code + _LAST if seen.older and found.code in _OF_REPUBLISHED else found.code
    return Worth(level=found.level, code=code, params=found.params, but=but)


def _worth(seen: Evidence) -> Worth:
    return _barred(seen) or _shown(seen) or _by_kind(seen)


def _barred(seen: Evidence) -> Worth | None:
    """What is known to stand in the way."""
    if seen.kind in _MESSAGE or seen.unread:
        return _say(AGAIN, _MESSAGE.get(seen.kind, "worth.unreadable"))
    if seen.kind == classify.UNKNOWN_TYPE and not seen.type_known:
        return _say(AGAIN, "worth.no_type")
    if seen.refused and seen.refused >= seen.letters:
        return _say(AGAIN, "worth.refused", field=seen.refused_field or "payload")
    if seen.closed and seen.closed >= seen.shops:
        return _say(LOGIN, "worth.captcha" if seen.kind == classify.CAPTCHA else "worth.login")
    return None


def _shown(seen: Evidence) -> Worth | None:
    """What others that ran since have shown; the newest counts."""
    healed_at = max(seen.success_at, seen.passed_at)
    if seen.tries and healed_at <= seen.died_at:
        return _say(AGAIN, "worth.letter_edited" if seen.letter_edited else "worth.letter_again", count=seen.tries)
    if seen.failed_again and healed_at <= seen.failed_at:
        numbers: dict[str, Param] = {"count": seen.failed_again, "of": seen.ended}
        if seen.edited:
            return _say(AGAIN, "worth.edited_again", **numbers, edited=seen.edited)
        return _say(AGAIN, "worth.failed_again", **numbers)
    if seen.failing:
        tried = seen.ended + seen.failing
        level = AGAIN if seen.kind in _STAYS and not seen.passed else WAIT
        return _say(level, "worth.failing", count=seen.failing, of=tried, passed=seen.passed)
    if seen.passed and seen.passed_at > seen.died_at:
        return _say(NOW, "worth.passed", count=seen.passed, of=seen.ended)
    return _say(NOW, "worth.succeeded_since") if seen.success_at > seen.died_at else None


def _by_kind(seen: Evidence) -> Worth:
    if seen.kind in _OF_LOGIN:
        return _say(NOW, "worth.logged_in") if seen.opened else _say(UNKNOWN, "worth.login_unknown")
    if seen.kind == classify.UNKNOWN_TYPE:
        return _say(UNKNOWN, "worth.no_flow") if seen.type_before else _say(NOW, "worth.type_known")
    if seen.kind == classify.EXPIRED:
        return _say(UNKNOWN, "worth.expired")
    if seen.type_changed and seen.kind in _OF_TYPE:
        return _say(UNKNOWN, "worth.type_changed")
    if seen.kind in _STAYS:
        return _say(AGAIN, _STAYS[seen.kind])
    return _say(UNKNOWN, "worth.unknown")


def _say(level: str, code: str, **params: Param) -> Worth:
    return Worth(level=level, code=code, params=params)
