"""The filter language of console, command line and REST: text to terms and back."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from services.domain.errors import UsageError
from services.domain.gates import home, listed
from services.domain.task import classify
from services.domain.task.lane import LANES
from services.domain.task.search import filter_time
from services.domain.task.search.query import GROUP, LETTER, LOG, PAYLOAD, WAS, Term
from services.domain.task.status import ACTIVE, IN_FLIGHT, TERMINAL, WAITING, Status, Triage
from services.domain.text import mask
from services.domain.text.message import Message, Param
from services.domain.text.sentences import SENTENCES

MAX_TEXT, MAX_TERMS, MAX_VALUES = 20_000, 50, 1_000
FINGERPRINT_LENGTH = 16
#: names that stand for several statuses
STATUS_GROUPS: Mapping[str, frozenset[Status]] = {
    "waiting": WAITING,
    "flight": IN_FLIGHT,
    "active": ACTIVE,
    "terminal": TERMINAL,
}

_WORDS: Mapping[str, tuple[str, ...]] = {
    "status": (*(status.value for status in Status), *STATUS_GROUPS),
    "lane": tuple(lane.value for lane in LANES),
    "triage": tuple(triage.value for triage in Triage),
    "kind": classify.KINDS,
}
_FREE = ("id", "shop", GROUP, "platform", "type", "worker", "batch", "fp", "error", "uniq", "gate", "text", LOG)
_NUMBERS, _TIMES = ("attempts", "priority"), ("created", "updated")
#: what a record can have been
_PAST = (*_WORDS["status"], LETTER)
FIELDS = (*_FREE, *_WORDS, *_NUMBERS, *_TIMES, "age", WAS)
_CONTAINS = frozenset({"id", "shop", GROUP, "type", "worker", "batch", "error", "text", LOG})
_ORDERED = frozenset({"<", "<=", ">", ">="})

#: what the columns of tasks are called where Chinese is read: who types that means the field
CHINESE: Mapping[str, str] = {
    "编号": "id", "店铺": "shop", "平台": "platform", "分组": GROUP, "类型": "type", "执行节点": "worker",
    "批次": "batch", "指纹": "fp", "错误": "error", "关卡": "gate", "日志": LOG, "状态": "status", "通道": "lane",
    "尝试": "attempts", "优先级": "priority", "创建": "created", "更新": "updated",
}  # fmt: skip
#: and what stands in these columns there
CHINESE_WORDS: Mapping[str, Mapping[str, str]] = {
    "status": {
        "未发送": "pending", "等待中": "queued", "被拦住": "blocked", "已计划": "scheduled", "执行中": "running",
        "重试中": "retrying", "待确认": "held", "成功": "succeeded", "死信": "dead", "已取消": "cancelled",
        "进行中": "flight",
    },
    "lane": {"高": "high", "专用": "dedicated", "普通": "normal", "低": "low"},
    "triage": {
        "未处理": "open", "已归档": "archived", "已忽略": "ignored", "已重新发布": "republished",
        "已被后来者完成": "overtaken",
    },
}  # fmt: skip


_HAN = r"[\u4e00-\u9fff]"
#: a colon and a value that is quoted, or has nothing Chinese in it
_NO_PROSE = r":(?:[\"“]|[^\s\u4e00-\u9fff]+(?:\s|\Z))"


class Names:
    """How the fields of one kind of list, and the words in them, may be written: as the program calls them, or as they
    are called where Chinese is read.
    """

    def __init__(self, chinese: Mapping[str, str], words: Mapping[str, Mapping[str, str]] = CHINESE_WORDS) -> None:
        self._chinese, self._words = chinese, words
        # Chinese input methods give full-width punctuation; it means the same. Behind ``payload.`` stands any name. A
        # name that nobody knows is one, too, so that it is refused and not searched for. Not so in prose, as errors
        # are: with a full-width colon, or with Chinese behind another one, as in 登录失败:需要扫码
        self.pattern = re.compile(
            r"(-?)((?i:payload)\.[^\s\"“”,，:=~<>：＝～＜＞]+|[A-Za-z_]+|"
            rf"{'|'.join(chinese)}|{_HAN}{{1,8}}(?=[=~<>])|{_HAN}{{1,4}}(?={_NO_PROSE}))(<=|>=|[:=~<>：＝～＜＞])"
        )
        self.begun = re.compile(rf"(?:^|\s){self.pattern.pattern}\S")

    def field(self, name: str) -> str:
        """In small letters but for what the payload calls it, and as the program calls it."""
        head, dot, rest = self._chinese.get(name, name).partition(".")
        return f"{head.lower()}{dot}{rest}"

    def fields(self, written: str) -> tuple[str, ...]:
        """What could stand in the place of a field that there is not: in Chinese where it was written so."""
        return FIELDS if written.isascii() else tuple(self._chinese)

    def word(self, field: str, value: str) -> str:
        """As the program calls it."""
        return self._words.get(field, {}).get(value, value)

    def instead(self, field: str, value: str, known: Collection[str]) -> tuple[str, ...]:
        """What could stand there: of ``known``, or in Chinese where it was written so."""
        return tuple(known if value.isascii() else self._words.get(field, ())) or tuple(known)


TASKS = Names(CHINESE)
_WIDE = str.maketrans("：＝～＜＞，", ":=~<>,")
_VALUE = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"|[“”]([^“”]*)[“”]|([^\s\"“”,，]+)", re.DOTALL)
_BARE = re.compile(r"(-?+)(?:\"((?:[^\"\\]|\\.)*+)\"|[“”]([^“”]*)[“”]|([^\s\"“”]+))", re.DOTALL)
_PLAIN = re.compile(r"[^\s\"“”,，\\]+\Z")
_VALUE_ALONE = re.compile(r"[^\s\"“”,，]+\Z")
_SPACE, _TO_SPACE = re.compile(r"\s*"), re.compile(r"\S+")
_QUOTES = ('"', "“", "”")


#: what other languages of filters join conditions by; here they would be searched for, and nothing would be found
_JOINERS = frozenset({"OR", "AND", "NOT"})

#: then each day and each age is another one
_LATER_MS = 400 * 86_400_000


class FilterError(UsageError):
    """A text that is no filter; ``position`` is where, ``message`` the sentence to be rendered."""

    def __init__(self, code: str, position: int, **params: Param) -> None:
        super().__init__(SENTENCES[code].format(**params), field="filter")
        self.position = position
        self.message = Message(code, params)


class Piece(msgspec.Struct, frozen=True):
    """One condition as it is written in ``text[at:end]``; one that cannot be read has no field and no values."""

    field: str  #: in small letters (but for ``payload.Name``), known or not; ``text`` for bare words
    op: str  #: one of ``= ~ < <= > >=``, whichever sign stands there for it
    values: tuple[tuple[str, bool], ...]  #: (text without its quotes, whether it was quoted)
    negated: bool
    at: int
    end: int


def is_fingerprint(name: str) -> bool:
    """Whether a cause is called by the fingerprint of its letters; those without one are called by their kind."""
    return len(name) == FINGERPRINT_LENGTH


def field_of_cause(name: str) -> str:
    """The field of a task that names its cause so."""
    return "fp" if is_fingerprint(name) else "kind"


def parse(text: str, *, now_ms: int, time_zone: str = "") -> tuple[Term, ...]:
    """Terms of a filter text, all of which must hold; () for an empty one.

    Args:
        now_ms: for ``age`` and ``today``.
        time_zone: in which dates are meant; "" is the machine's.

    Raises:
        FilterError: with the position and a remedy.
    """
    if len(text) > MAX_TEXT:
        raise FilterError("filter.too_long", MAX_TEXT, limit=MAX_TEXT)
    times = filter_time.Times(now_ms, time_zone)
    terms: list[Term] = []
    at = _skip(text, 0)
    while at < len(text):
        raw = _scan(text, at, FIELDS, TASKS)
        terms += _terms(raw, times)
        if len(terms) > MAX_TERMS:
            raise FilterError("filter.too_many", raw.at, limit=MAX_TERMS)
        at = _skip(text, raw.end)
    return tuple(terms)


def by_clock(text: str) -> bool:
    """Whether time alone lets tasks match or match no more (``age``, ``today``); False where the text is no filter."""
    try:
        return parse(text, now_ms=_LATER_MS) != parse(text, now_ms=2 * _LATER_MS)
    except FilterError:
        return False


def pieces(text: str, names: Names = TASKS) -> Iterator[Piece]:
    """The conditions of a text that may be half typed, of any field; never raises.

    Between two pieces is space or nothing. One that cannot be read ends where its word does, behind a quote that was
    never closed where the text does.
    """
    at = _skip(text, 0)
    while at < len(text):
        try:
            piece = _scan(text, at, None, names)
        except FilterError as error:
            word = _TO_SPACE.match(text, at)
            closed = word is not None and error.message.code != "filter.open_quote"
            piece = Piece("", "", (), False, at, word.end() if word is not None and closed else len(text))
        yield piece
        at = _skip(text, piece.end)


def has_conditions(typed: str, names: Names = TASKS) -> bool:
    """Whether a typed text means to be a filter: a name, a sign and a value in it, or a quote at its head."""
    return names.begun.search(typed) is not None or typed.startswith(_QUOTES)


def quoted(text: str) -> str:
    """A value, or a bare word, as it is written in a filter whatever is in it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def written(value: str) -> str:
    """A value as it is written behind a field: in quotes where it would end early or mean something else."""
    return value if _VALUE_ALONE.match(value) and "*" not in value[:-1] else quoted(value)


def format_terms(terms: tuple[Term, ...], *, time_zone: str = "") -> str:
    """The text of terms, such that ``parse`` gives the same terms again."""
    return " ".join(_format(term, time_zone) for term in terms)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _scan(text: str, at: int, known: Collection[str] | None, names: Names) -> Piece:
    name = names.pattern.match(text, at)
    if name is None:
        return _scan_bare(text, at)
    field = names.field(name[2])
    if known is not None and field not in known and not field.startswith(PAYLOAD):
        raise FilterError(
            "filter.unknown_field",
            at,
            field=name[2],
            remedy=_nearest(field, names.fields(name[2])),
            text=text[at : at + 40],
        )
    written_, end = _scan_values(text, name.end(), field)
    values = tuple((names.word(field, value), in_quotes) for value, in_quotes in written_)
    op = name[3].translate(_WIDE).replace(":", "=")
    return Piece(field, op, values, bool(name[1]), at, end)


def _scan_bare(text: str, at: int) -> Piece:
    match = _BARE.match(text, at)
    if match is None or match.end() == match.end(1):
        code = "filter.open_quote" if text[at : at + 2].lstrip("-")[:1] in _QUOTES else "filter.empty"
        raise FilterError(code, at)
    word, in_quotes = _value(match[2], match[3], match[4])
    if not word:
        raise FilterError("filter.empty", at)
    if not in_quotes and not any(char.isalnum() for char in word):
        raise FilterError("filter.signs", at, text=word[:40])
    return Piece("text", "~", ((word, in_quotes),), bool(match[1]), at, match.end())


def _scan_values(text: str, at: int, field: str) -> tuple[tuple[tuple[str, bool], ...], int]:
    values: list[tuple[str, bool]] = []
    while True:
        match = _VALUE.match(text, at)
        if match is None:
            code = "filter.open_quote" if text[at : at + 1] in _QUOTES else "filter.no_value"
            raise FilterError(code, at, field=field) if code == "filter.no_value" else FilterError(code, at)
        values.append(_value(match[1], match[2], match[3]))
        at = match.end()
        if text[at : at + 1] not in (",", "，") or at >= len(text):
            return tuple(values), at
        at += 1
        if len(values) >= MAX_VALUES:
            raise FilterError("filter.too_many", at, limit=MAX_VALUES)


def _value(escaped: str | None, wide: str | None, plain: str | None) -> tuple[str, bool]:
    if escaped is not None:
        return re.sub(r"\\(.)", r"\1", escaped, flags=re.DOTALL), True
    return (wide, True) if wide is not None else (plain or "", False)


def _terms(raw: Piece, times: filter_time.Times) -> list[Term]:
    if any(not value for value, _ in raw.values):
        raise FilterError("filter.no_value", raw.at, field=raw.field)
    make: Callable[[Piece, filter_time.Times], list[Term]] = _free
    if raw.field in _WORDS:
        make = _words
    elif raw.field in _NUMBERS:
        make = _number
    elif raw.field in (*_TIMES, "age"):
        make = _time
    elif raw.field == WAS:
        make = _was
    elif raw.field.startswith(PAYLOAD):
        make = _payload
    return make(raw, times)


def _words(raw: Piece, _: filter_time.Times) -> list[Term]:
    _need_op(raw, {"="})
    found: list[str] = []
    for value, _quoted in raw.values:
        word = value.lower()
        if word not in _WORDS[raw.field]:
            raise _unknown_word(raw, value)
        group = STATUS_GROUPS.get(word) if raw.field == "status" else None
        found += [status.value for status in Status if status in group] if group else [word]
    return [Term(field=raw.field, op="=", values=tuple(dict.fromkeys(found)), negated=raw.negated)]


def _free(raw: Piece, _: filter_time.Times) -> list[Term]:
    _need_op(raw, {"=", "~"} if raw.field in _CONTAINS or raw.field.startswith(PAYLOAD) else {"="})
    if raw.field == "text" and not raw.values[0][1] and _joins(raw.values[0][0]):
        raise FilterError("filter.joined", raw.at, text=quoted(raw.values[0][0][:40]))
    if raw.field in ("error", "text", LOG) or raw.op == "~":
        if len(raw.values) > 1:
            raise FilterError("filter.one_value", raw.at, field=raw.field)
        return [Term(field=raw.field, op="~", values=(raw.values[0][0],), negated=raw.negated)]
    values = tuple(dict.fromkeys(_pattern(raw, *value) for value in raw.values))
    return [Term(field=raw.field, op="=", values=values, negated=raw.negated)]


def _joins(word: str) -> bool:
    """Whether a bare word is meant to join or to bracket conditions: ``OR``, ``(status:dead``."""
    name = TASKS.pattern.match(word, 1) if word[:1] in ("(", "（") else None
    field = TASKS.field(name[2]) if name is not None else ""
    return word in _JOINERS or field in FIELDS or field.startswith(PAYLOAD)


def _gate(raw: Piece, value: str) -> str:
    if value == home.GATE:
        return f"{home.gate_of('')}*"
    name = home.name_of(value)
    begun = name.removesuffix("*")
    if not any(gate == begun or (name != begun and gate.startswith(begun)) for gate in listed.BY_NAME):
        remedy = _nearest(name, tuple(listed.BY_NAME))
        raise FilterError("filter.unknown_word", raw.at, field=raw.field, value=value[:40], remedy=remedy)
    return value


def _pattern(raw: Piece, value: str, in_quotes: bool) -> str:
    if raw.field == "gate":
        value = _gate(raw, value)
    if raw.field == "fp" and not re.fullmatch(r"[0-9a-fA-F]{1,16}\*?", value):
        raise FilterError("filter.not_hex", raw.at, value=value[:40])
    if raw.field == "fp":
        value = value.lower()
        return value if len(value) >= FINGERPRINT_LENGTH or value.endswith("*") else f"{value}*"
    if "*" in value[:-1] and not in_quotes:
        raise FilterError("filter.star", raw.at, value=value[:40])
    return value


def _number(raw: Piece, _: filter_time.Times) -> list[Term]:
    _need_op(raw, {"=", *_ORDERED})
    value = _single(raw)
    if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
        remedy = f"lane:{value.lower()}" if value.lower() in _WORDS["lane"] else f"{raw.field}>=2"
        raise FilterError("filter.not_number", raw.at, field=raw.field, value=value[:40], remedy=remedy)
    values = (str(int(value)),) if raw.op == "=" else ()
    return [Term(field=raw.field, op=raw.op, values=values, number=float(int(value)), negated=raw.negated)]


def _was(raw: Piece, times: filter_time.Times) -> list[Term]:
    """``was:running,held@2026-11-20T03:12``: each of the states, all at that moment."""
    _need_op(raw, {"="})
    words, _at, when = ",".join(value for value, _quoted in raw.values).rpartition("@")
    span = times.span(when) if words else None
    if span is None or span[0] != span[1]:
        value = when if words else ",".join(value for value, _quoted in raw.values)
        remedy = "was:running@2026-11-20T03:12"
        raise FilterError("filter.not_time", raw.at, field=raw.field, value=value[:40], remedy=remedy)
    found: list[str] = []
    for word in words.lower().split(","):
        if word not in _PAST:
            raise FilterError(
                "filter.unknown_word", raw.at, field=raw.field, value=word[:40], remedy=_nearest(word, _PAST)
            )
        found += [status.value for status in Status if status in STATUS_GROUPS.get(word, ())] or [word]
    values = tuple(dict.fromkeys(found))
    return [Term(field=WAS, op="=", values=values, number=float(span[0]), negated=raw.negated)]


def _payload(raw: Piece, times: filter_time.Times) -> list[Term]:
    path = raw.field.removeprefix(PAYLOAD)
    if any(map(mask.is_secret, (path, *path.split(".")))):
        raise FilterError("filter.secret", raw.at, field=raw.field)
    if raw.op in _ORDERED:
        value = _single(raw)
        if not re.fullmatch(r"-?\d{1,15}(\.\d{1,9})?", value, re.ASCII):
            raise FilterError("filter.not_number", raw.at, field=raw.field, value=value[:40], remedy=f"{raw.field}>=2")
        return [Term(field=raw.field, op=raw.op, number=float(value), negated=raw.negated)]
    return _free(raw, times)


def _time(raw: Piece, times: filter_time.Times) -> list[Term]:
    value = _single(raw)
    if raw.field == "age":
        _need_op(raw, _ORDERED)
        duration = filter_time.duration_ms(value)
        if duration is None:
            raise FilterError("filter.not_duration", raw.at, value=value[:40])
        op = raw.op.translate(str.maketrans("<>", "><"))
        return [Term(field="created", op=op, number=float(times.now_ms - duration), negated=raw.negated)]
    _need_op(raw, {"=", *_ORDERED})
    span = times.span(value)
    if span is None:
        aged = filter_time.duration_ms(value) is not None
        remedy = f"age{'<' if '>' in raw.op else '>'}{value}" if aged else f"{raw.field}>=2026-11-20"
        raise FilterError("filter.not_time", raw.at, field=raw.field, value=value[:40], remedy=remedy)
    return _within(raw, *span)


def _within(raw: Piece, start: int, end: int) -> list[Term]:
    """A date is its whole day: ``<`` and ``>=`` look at its start, ``<=`` and ``>`` at its end."""

    def term(op: str, number: int) -> Term:
        return Term(field=raw.field, op=op, number=float(number), negated=raw.negated)

    exact = end == start
    if raw.op == "=":
        if raw.negated:
            raise FilterError("filter.negated_day", raw.at, field=raw.field)
        return [term(">=", start), term("<=" if exact else "<", end)]
    by_op = {
        "<": ("<", start),
        ">=": (">=", start),
        "<=": ("<=", start) if exact else ("<", end),
        ">": (">", start) if exact else (">=", end),
    }
    return [term(*by_op[raw.op])]


def _single(raw: Piece) -> str:
    if len(raw.values) > 1:
        raise FilterError("filter.one_value", raw.at, field=raw.field)
    return raw.values[0][0]


def _need_op(raw: Piece, allowed: set[str] | frozenset[str]) -> None:
    if raw.op not in allowed:
        shown = " ".join(sorted(allowed)).replace("=", ":", 1) if "=" in allowed else " ".join(sorted(allowed))
        raise FilterError("filter.operator", raw.at, field=raw.field, op=raw.op, allowed=shown)


def _unknown_word(raw: Piece, value: str) -> FilterError:
    remedy = _nearest(value.lower(), TASKS.instead(raw.field, value, _WORDS[raw.field]))
    return FilterError("filter.unknown_word", raw.at, field=raw.field, value=value[:40], remedy=remedy)


def _nearest(word: str, choices: tuple[str, ...]) -> str:
    """The most similar choice, else all of them."""
    close = difflib.get_close_matches(word[:64], choices, n=1, cutoff=0.5)
    return close[0] if close else ", ".join(choices)


def _format(term: Term, time_zone: str) -> str:
    sign = "-" if term.negated else ""
    if term.field == "text":
        word = term.values[0]
        plain = (
            _PLAIN.match(word)
            and any(map(str.isalnum, word))
            and not word.startswith("-")
            and not TASKS.pattern.match(word)
            and not _joins(word)
        )
        return sign + (word if plain else quoted(word))
    if term.field in _TIMES:
        return f"{sign}{term.field}{term.op}{filter_time.iso(round(term.number), time_zone)}"
    if term.field == WAS:
        return f"{sign}{WAS}:{','.join(term.values)}@{filter_time.iso(round(term.number), time_zone)}"
    if term.field in _NUMBERS:
        return f"{sign}{term.field}{':' if term.op == '=' else term.op}{round(term.number)}"
    if term.op in _ORDERED:
        return f"{sign}{term.field}{term.op}{term.number:.9f}".rstrip("0").rstrip(".")
    op = ":" if term.op == "=" else term.op
    return sign + term.field + op + ",".join(map(written, term.values))
