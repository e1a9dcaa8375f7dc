"""Where secrets stand in a text: after a name of theirs, or by a form that nothing else has.

Every search goes through a text once: a run of characters is entered at its beginning only, and what was found is left
behind, so that a text of twice the length takes twice the time whatever somebody wrote into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.domain.text.late import late
from services.domain.text.readings import readings
from services.domain.text.secret_names import Kind, is_header, is_state, kind_of, looks_secret, says_nothing

_DOTS = "••••"
#: without any of these a text is left alone
_TRIGGER = late(
    r"pass|pwd|pw\b|auth|docker|secret|token|cookie|authoriz|key|credential|bearer|basic|digest|sign|sig\b|pin|otp|sess|sid\b|jwt|cv[vc]|code"
    r"|eyj|akia|asia|gh[pousr]_|github_pat|glpat-|[rs]k[-_]|xox|aiza|ltai|akid|npm_|ya29|curl|mysql|maria|redis-cli|-user"
    r"|:\\*/|//|@|密|口令|令牌|权杖|凭据|凭证|验证码|校验码|动态码|驗證碼|授权码|钥|签名|会话",
    re.IGNORECASE,
)
#: a name with one of those words in it, entered at its beginning; letters of other scripts may stand before it
_NAME = late(
    r"(?<![A-Za-z0-9_.\-])(?=[A-Za-z0-9_.\-]*?(?:pass|pwd|secret|token|cookie|authoriz|credential|key|sign|sig|pin|otp|sess"
    r"|sid|jwt|cv[vc]|code|word|pw|id\b))"
    r"(?:[A-Za-z0-9_.]|-(?!>))++",
    re.IGNORECASE,
)
#: a search that finds nothing keeps all other threads waiting: what goes through long texts does so in pieces of about
#: so many characters, each of which ends behind one that stands in nothing of what it looks for
AT_ONCE = 8_192
_APART = late(r"[\s\"<>]")
#: names of two words
_FIRST_WORD = late(
    r"(?:\b|_)(api|access|private|secret|signing|session|pass|pin|otp|sms|auth|verify|verification"
    r"|security|captcha)[ ]\Z",
    re.IGNORECASE,
)
_SECOND_WORDS = ("key", "id", "word", "phrase", "code")
_QUOTE = r"\\{0,8}[\"']"
#: what introduces a value
_GIVES = late(
    rf"(?:{_QUOTE}\s{{0,3}}+,\s{{0,3}}+(?={_QUOTE})"
    rf"|(?:{_QUOTE}|[`*]){{0,3}}(?:\s{{0,3}}+\]\s{{0,3}}+=(?!>)|\s{{0,3}}+(?:是|为)[:=]?|\s{{0,3}}+(?:[=\-]>|:=|:(?!:|//)|={{1,3}}(?!>)))\s{{0,3}}+)"
    rf"(?!(?:{_QUOTE})?{_DOTS})"
)
#: before ``token:``: a selector (``#token: not visible``), and what is not there (``Missing password: RabbitMQ``)
_NO_VALUE = late(r"(?:#|\b(?:missing|without|no)[ ]|缺少|没有)\Z", re.IGNORECASE)
_OPENS = late(r"(?:[A-Za-z]{1,2}|\w{1,40}\()?(\\{0,8})([\"'])")
_RUNS = {mark: late(rf"\\*{mark}") for mark in "\"'"}
_UNQUOTED = late(r"(?:[^\s,;&}\]\"'\\]|[\"'}\]](?=[A-Za-z0-9])|\\(?=[^\\nrtuxbf\"'\s]))++")
#: whether something is a secret is decided by its beginning: what is looked at and left alone is looked at again
_JUDGED = 80
#: a quoted value within brackets begins where no word goes on; what stands in it closes no bracket
_QUOTED = r"(?:(?<![\w\\])|(?<=\\[nrt]))[BRUFbruf]{0,2}(\\{0,8})([\"'])"
_BRACKETS, _ROUND = late(rf"[\[\]{{}}]|{_QUOTED}"), late(rf"[()]|{_QUOTED}")
#: several values as programs print them, the bracket of a list perhaps taken for one around a word
_SEVERAL = late(
    r"[\[{]|\((?=(?:\s|\\{1,8}[nrt]){0,200}+(?:[BRUFbruf]{0,2}\\{0,8}[\"']|[\[({]|(?:-?\d[\w.]{0,40}+|None|True|False)\s{0,3}+,))"
)
_LINE = late(r"[^\n]*+")
#: several words: up to the end of the line, or of the text that they stand in
_HEADER = late(rf"(?:[^\n\"'\\]|\\(?!\\{{0,7}}[\"'n])|{_QUOTE}(?!\s{{0,3}}(?:[,}}\])]|\Z))|(?<=[;,])\n(?=[ \t]))++")
_PARAMETERS = (
    r"(?:digest|oauth|hawk|signature|aws4-hmac-sha256)[ \t]{1,3}"
    r"(?:[\w\-]{1,60}+[ \t]{0,3}+=[ \t]{0,3}+(?:\\{0,8}\"[^\"\n]*+\"?|[^\s,\"']*+)"
    r"(?:[ \t]{0,3}+,?\s{0,3}+(?=[\w\-]{1,60}+[ \t]{0,3}+=))?)++"
)
_PARAMETERS_AT = late(_PARAMETERS, re.IGNORECASE)
_BLOCK = late(r"(?:[&!][\w!]{0,40}[ ]{1,3}){0,2}[|>][+\-0-9]{0,2}[ \t]{0,20}+(?:#[^\n]*+)?(?=\n)")
_NESTED = late(r"[ \t]{0,20}+(?:#[^\n]*+)?(?=\n)")
#: below ``secrets:`` within a line, where a stack trace may stand as well
_ENTRY = late(r"\n[ \t]{1,40}+(?:- |[\w.\-]{1,60}+[\"']?:[ ])")
_BEFORE_KEY = late(r"[ \t]*+(?:-[ ]+)?[\"']?\Z")
_SPOKEN_QUOTED = late(r"\s{1,3}+(?:(?:is|was|:)\s{1,3}+)?(\\{0,8})([\"'])")
_SPOKEN = late(r"\s{1,3}+(is(?:\s{1,3}+|(?=:)):?\s{0,3}+|was\s{1,3}+)?[|(\[<`{*]{0,2}+\s{0,3}+([^\s,;\"'<>`()|]++)")
_SWITCHED = late(rf"[ \t]{{1,3}}(?!-|{_DOTS})(?=\S)")
_WORD, _LINE_ENDS = late(r"[^\s\"']++"), late(r"[ \t]*+(?:[\n<),;\"'\\]|\Z)")
_SPEAKS = late(
    r"password|passwd|passphrase|passcode|pwd|token|apikey|sessionid|pin|otp|code|jwt|authorization", re.IGNORECASE
)
_UNEXPECTED = late(r"\b(?:unexpected|illegal|near|unknown)\s{1,3}\Z", re.IGNORECASE)

#: 密码是 X, 口令为 X, 验证码 123456, 密码已改为 X
_CHINESE = late(
    r"(?P<name>密码|密碼|口令|令牌|权杖|密钥|密鑰|秘钥|私钥|凭据|凭证|验证码|校验码|动态码|驗證碼|授权码|签名|会话(?:id|标识))"
    r"(?P<mark>[ \t]{0,3}(?:已?(?:改|重置|设置|设|修改|更新|变更)(?:成|为)|是|为)?"
    r"(?:[\"'\])】》]{0,2}[ \t]{0,3}(?:[=\-]>|[:=]))?)"
    rf"(?P<gap>\s{{0,3}}+[(\[【]?)(?!(?:{_QUOTE})?{_DOTS})",
    re.IGNORECASE,
)
_CHINESE_VALUE = late(r"[^\s,;&}\]\"'\\，。；、！？）】》]++")
_ASCII_VALUE = late(r"(?:(?![<,;&}\]\"'\\])[!-~])++")
_NUMBER = late(r"[\d.\-~]+")
_UNITS = late(r"[ ]{0,2}(?:位|个|次|字|天|分|秒|小时|年|月|元|条|项|种|处|家|台)")

_JWT = late(r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]{8,}+(?:\.[A-Za-z0-9_\-]*+){0,4}")
_JWT_START = late(r"eyJ")
#: forms in which none of these stand
_ADDRESSES = (
    # user and password of an address, also one whose password holds an @ or a slash that nobody has escaped; not those
    # of our own examples of an address, which say where these stand
    late(
        r"[a-z][\w+.\-]{0,20}:\\{0,2}/\\{0,2}/(?P<s>(?!(?:user)?:(?:password|token)@host:\d{4}/)"
        r"(?!••••@)[^\s/?#\"'<>]+)@",
        re.IGNORECASE,
    ),
    late(
        r"[a-z][\w+.\-]{0,20}:\\{0,2}/\\{0,2}/(?!、|[^\s/?#\"'<>@]*+@)"
        r"(?P<s>[^\s/?#:@\[\]{}\"'<>]{0,200}+:(?!\d{1,5}(?:[/?#,;.\s\"')\]}。、》】…]|:\s|\Z))(?!••••@)[^\s\"'<>]++)",
        re.IGNORECASE,
    ),
    late(
        r"(?:(?<![:A-Za-z0-9_/\\])|(?<=[^\x00-\x7f]:))//(?P<s>(?!••••@)[^\s/?#\"'<>:@]{0,200}:[^\s/?#\"'<>]+)@(?=[\w\[])"
    ),
    late(r"(?<![\w/:.@\-+%•])[\w.\-+]{1,64}+:(?P<s>(?!••••@)[^\s:@/\"'<>,;]{1,200}+)@(?=[\w.\-]{1,100}:\d{2,5}\b)"),
)
_FORMS = (
    late(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?!••••)(?P<s>(?:[^-]|-(?!----))++)"),
    late(r"\bbearer(?:\s{1,3}|\+)(?!tokens?\b|auth)(?P<s>[\w.~+/=\-%]{4,}+)", re.IGNORECASE),
    late(r"\b(?i:basic)(?:\s{1,3}|\+)(?=[A-Za-z0-9+/]{0,400}(?:[0-9=+/]|[a-z][A-Z]))(?P<s>[A-Za-z0-9+/]{6,}+={0,2})"),
    late(r"(?<![A-Za-z0-9])(?P<s>(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])(?::[^\s\"',;]++)?)"),
    late(r"(?<![A-Za-z0-9])(?P<s>(?:LTAI|AKID)[A-Za-z0-9]{12,}+)"),
    late(
        r"(?<![A-Za-z0-9])(?P<s>(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|npm_|pypi-|hf_|AIza|ya29\.)[A-Za-z0-9_\-]{16,}+)"
    ),
    late(r"(?<![A-Za-z0-9])(?P<s>[sr]k[\-_](?=[A-Za-z0-9_\-]{0,200}[0-9])[A-Za-z0-9_\-]{16,}+)"),
    late(rf"\b(?P<s>(?=[dohas]){_PARAMETERS})", re.IGNORECASE),
    # words of command lines, also as lists of words
    late(
        r"\bcurl(?:\.exe)?\b[^\n]{0,400}?[\s\"'](?:-u|-U)(?:[\"'],)?\s{0,3}[\"']?[^\s:\"']{0,100}:(?P<s>(?!••••)[^\s\"']++)"
    ),
    late(
        r"(?<![\w\-])--(?:proxy-)?user(?:=|[\"'],|)\s{0,3}[\"']?[^\s:\"'=]{0,100}:(?!\d{1,6}(?:[\s\"'),;]|\Z))(?P<s>(?!••••)[^\s\"']++)"
    ),
    late(
        r"\b(?:mysql|maria)\w*+(?:-\w+)?\b[^\n]{0,400}?[\s\"']-p(?:(?P<q>[\"'])(?P<s>(?!••••)[^\n\"']++)|(?P<t>(?!••••)[^\s\"',\-][^\s\"',]*+))"
    ),
    late(r"\bsshpass\b[^\n]{0,100}?\s-p\s{0,3}[\"']?(?P<s>(?!••••)[^\s\"']++)"),
    late(r"\bdocker login\b[^\n]{0,100}?\s-p\s{0,3}[\"']?(?P<s>(?!••••)[^\s\"']++)"),
    late(r"\bauth\s?=\s?\(?[\"']?[^\s\"':,()]{1,80}[\"']?(?::|,\s{0,2}[\"'])(?P<s>(?!••••)[^\s\"'),]++)"),
    # 482113 是您的验证码
    late(r"(?<![\w.])(?P<s>\d{4,8})[ ]?(?:是|为)(?:您|你)?[^\s\d,。]{0,8}?(?:验证码|校验码|动态码)"),
    late(r"\bredis-cli\b[^\n]{0,200}?\s-a\s{1,3}[\"']?(?P<s>(?!••••)[^\s\"']++)"),
)
#: the place of a value that belongs to a name in the same piece
_ELEMENT = late(
    r"<(?:[\w.\-]{1,40}:)?([\w.\-]{1,60})(?:\s[^<>]{0,200})?>(?:\s{0,8}<!\[CDATA\[)?(?!••••)([^<>]+?)(?:\]\]>\s{0,8})?(?=</|\Z)"
)
_VALUE = r"(?:\\{0,8}\"([^\"<>]++)|\\{0,8}'([^'<>]++)|([^\s<>\"'\\]++))"
_NAMED_BY = r"(?:name|type|id|key)=(?:\\{0,8}[\"'])?([\w.\-\[\]]{1,60})"
#: groups: the name, then the value, in one of up to three
_FIELDS = (
    late(rf"{_NAMED_BY}(?:\\{{0,8}}[\"'])?[^<>]{{0,80}}?\s(?:value|content)={_VALUE}", re.IGNORECASE),
    late(rf"<([\w.\-]{{1,60}})\s[^<>]{{0,80}}?\bvalue={_VALUE}", re.IGNORECASE),
    late(
        rf"<(?:prop|property|entry|string|param|setting|item|header|field|arg)\s[^<>]{{0,40}}?{_NAMED_BY}[^<>]{{0,80}}>([^<>]++)(?=</)",
        re.IGNORECASE,
    ),
    # a cookie of a list, an entry of an environment
    late(
        r"\bname\\{0,8}[\"']?\s{0,2}[:=]\s{0,2}\\{0,8}[\"']?([\w.\-]{1,60})\\{0,8}[\"']?,?\s{0,20}\\{0,8}[\"']?value\\{0,8}[\"']?\s{0,2}[:=]\s{0,2}"
        + _VALUE,
        re.IGNORECASE,
    ),
)
_FIELD_BEFORE = late(
    r"\svalue=(?:\\{0,8}\"([^\"<>]++)\"|\\{0,8}'([^'<>]++)'|([^\s<>\"'\\]++))[^<>]{0,80}?\s" + _NAMED_BY, re.IGNORECASE
)
#: what a browser was told to type, and how far before it the place is named
_TYPED = late(
    r"\b(?:fill|type|send_keys|press_sequentially|set_value)\((?:[^()\n]{0,120}?,\s{0,3})?(?:\"([^\"\n]++)\"|'([^'\n]++)')\)"
)
_TYPED_INTO = 300


def may_hold_secrets(text: str) -> bool:
    """Whether anything in a text, however it is written, is worth a search."""
    return any(_triggered(reading.text) for reading in readings(text))


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Begin and end of each secret in a text, in characters, in order and apart from each other."""
    found = sorted(
        reading.span(start, end)
        for reading in readings(text)
        if _triggered(reading.text)
        for start, end in _found(reading.text)
        if end > start
    )
    apart: list[tuple[int, int]] = []
    for start, end in found:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _triggered(text: str) -> bool:
    return any(_TRIGGER.search(text, start, end) for start, end in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = _end_of_piece(text, start)
        yield start, end
        start = end


def _end_of_piece(text: str, start: int) -> int:
    apart = _APART.search(text, start + AT_ONCE)
    return len(text) if apart is None else apart.end()


def _found(text: str) -> Iterator[tuple[int, int]]:
    yield from _named(text)
    yield from _named_in_chinese(text)
    for piece in _pieces(text):
        yield from (found.span("s") for pattern in _ADDRESSES for found in pattern.finditer(text, *piece))
    for pattern in _FORMS:
        for found in pattern.finditer(text):
            group = "s" if found["s"] is not None else "t"
            yield found.span(group)
    for found in _JWT.finditer(text):
        start = _JWT_START.search(found[0])
        if start is not None and _is_jwt(found[0][start.start() :]):
            yield found.start() + start.start(), found.end()
    for found in _ELEMENT.finditer(text):
        if (kind := kind_of(found[1])) is not Kind.NONE and not says_nothing(found[2], found[1], kind):
            yield found.span(2)
    yield from _fields(text)


def _is_jwt(word: str) -> bool:
    """Three parts, or fewer where somebody cut it: its head says what it is."""
    parts = word.split(".")
    return (len(parts) > 2 and all(len(part) > 3 for part in parts[:2])) or word.startswith(
        ("eyJhbGciOi", "eyJ0eXAiOi")
    )


def _fields(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _FIELDS:
        for found in pattern.finditer(text):
            if _names_a_secret(found[1]) and not (value := _value(found, range(2, pattern.groups + 1)))[2]:
                yield value[:2]
    for found in _FIELD_BEFORE.finditer(text):
        if _names_a_secret(found[4]) and not (value := _value(found, range(1, 4)))[2]:
            yield value[:2]
    yield from _typed(text)


def _typed(text: str) -> Iterator[tuple[int, int]]:
    for found in _TYPED.finditer(text):
        before = text[max(0, found.start() - _TYPED_INTO) : found.start(found.lastindex or 0)]
        if any(_names_a_secret(name[0]) for name in _NAME.finditer(before)):
            start, end, shown = _value(found, range(1, 3))
            if not shown:
                yield start, end


def _names_a_secret(name: str) -> bool:
    return kind_of(name) in (Kind.SURE, Kind.LIKELY)


def _value(found: re.Match[str], groups: range) -> tuple[int, int, bool]:
    """Begin and end of the group that matched, and whether dots stand there already."""
    group = next(group for group in groups if found[group] is not None)
    return (*found.span(group), found[group].startswith(_DOTS))


def _named(text: str) -> Iterator[tuple[int, int]]:
    place = end = 0
    while place < len(text):
        end = end if place < end else _end_of_piece(text, place)
        found = _NAME.search(text, place, end)
        place = end if found is None else found.end()
        span = None if found is None else _of_name(text, found)
        if span is not None:
            yield span
            place = max(place, span[1])


def _of_name(text: str, found: re.Match[str]) -> tuple[int, int] | None:
    name = _whole_name(text, found)
    kind = kind_of(name)
    if kind is Kind.NONE:
        return None
    gives = _GIVES.match(text, found.end())
    return _spoken(text, found, name, kind) if gives is None else _given(text, found, name, kind, gives)


def _whole_name(text: str, found: re.Match[str]) -> str:
    """The name without the letter of an escape before it (``\\nsign=``), with the first of its two words."""
    start, name = found.start(), found[0]
    if start and text[start - 1] == "\\" and name[0] in "nrt":
        name = name[1:]
    if name.lower() in _SECOND_WORDS and (first := _FIRST_WORD.search(text[max(0, start - 14) : start])):
        return f"{first[1]}_{name}"
    return name


def _given(text: str, found: re.Match[str], name: str, kind: Kind, gives: re.Match[str]) -> tuple[int, int] | None:
    at = gives.end()
    if ":" in gives[0] and _NO_VALUE.search(text[max(0, found.start() - 14) : found.start()]):
        return None
    if (block := _block(text, found, gives)) is not None:
        return block
    opened = _OPENS.match(text, at)
    if opened is not None:
        end = _end_of_quoted(text, opened)
        value = text[opened.end() : end].strip("\\\"'")
        shown = not value or (kind is not Kind.SURE and says_nothing(value, name, kind))
        return None if shown else (at, end)
    if _SEVERAL.match(text, at):
        end = _end_of_brackets(text, at)
        return (at, end) if end - at > 2 else None
    if is_header(name):
        return _header(text, found, at, name, kind)
    return _plain(text, at, name, kind, gives[0])


def _plain(text: str, at: int, name: str, kind: Kind, mark: str) -> tuple[int, int] | None:
    head = _UNQUOTED.match(text, at, at + _JUDGED)
    if head is None or says_nothing(head[0], name, kind):
        return None
    if mark.strip("\"' :=")[:1] in ("是", "为") and not head[0].isascii():  # a sentence
        return None
    held = _UNQUOTED.match(text, at) or head
    return None if kind is not Kind.SURE and mark.endswith(" ") and _goes_on(text, held) else (at, held.end())


def _goes_on(text: str, held: re.Match[str]) -> bool:
    """Whether a word after ``pass: `` begins a sentence."""
    return held[0].isalpha() and late(r"[ \t]+\w").match(text, held.end()) is not None


def _block_opened(text: str, found: re.Match[str], gives: re.Match[str]) -> tuple[re.Match[str], int] | None:
    """What opens a block after a name, and how deep the name stands; the block is indented deeper."""
    if ":" not in gives[0]:
        return None
    begin = max(0, found.start() - 2 * _JUDGED)
    line = text.rfind("\n", begin, found.start()) + 1 or begin
    before = text[line : found.start()]
    lead = _BEFORE_KEY.match(before)
    after = text.index(":", gives.start()) + 1
    while text[after : after + 1] in (" ", "\t"):
        after += 1
    opened = _BLOCK.match(text, after) or _NESTED.match(text, after)
    if opened is None:
        return None
    if lead is None and opened[0].strip() == "" and not _ENTRY.match(text, opened.end()):
        return None  # the end of a sentence
    depth = len(
        (before[: len(before) - len(before.lstrip(" \t"))] if lead is None else lead[0].rstrip("\"'")).expandtabs(2)
    )
    return opened, depth


def _block(text: str, found: re.Match[str], gives: re.Match[str]) -> tuple[int, int] | None:
    """The lines below ``password: |`` and ``password:`` that are indented deeper than the name."""
    begun = _block_opened(text, found, gives)
    if begun is None:
        return None
    opened, depth = begun
    start = place = opened.end() + 1
    end = -1
    while place < len(text):
        one = _LINE.match(text, place)
        words = one[0] if one is not None else ""
        inner = words.lstrip(" \t")
        deep = len(words) - len(inner)
        if inner and deep <= depth and not (deep == depth and inner.startswith("- ") and opened[0].strip() == ""):
            break
        if inner:
            end = place + len(words)
        place += len(words) + 1
    if end < 0:
        return None
    first = text[start:end]
    indent = len(first) - len(first.lstrip())
    # an empty span where dots stand already: there is nothing else to look for
    return (end, end) if first.lstrip().startswith(_DOTS) else (start + indent, end)


def _end_of_quoted(text: str, opened: re.Match[str]) -> int:
    """The end of a quoted value, its last quote included; a quote that is escaped once more than the first is in it."""
    deep, mark = len(opened[1]), opened[2]
    at = opened.end()
    if not deep and text.startswith(mark, at):  # a quote written twice, or three times
        count = 3 if text.startswith(mark * 2, at) else 2
        if count == 2 and not late(r"[^\s,;:)\]}]").match(text, at + 1):
            return at + 1
        end = text.find(mark * count, at + count - 1)
        return len(text) if end < 0 else end + count
    for run in _RUNS[mark].finditer(text, at):
        slashes = len(run[0]) - 1
        if slashes <= deep or (slashes - deep) % (2 * (deep + 1)) == 0:
            return run.end()
    return len(text)


def _end_of_brackets(text: str, at: int) -> int:
    marks = _ROUND if text[at] == "(" else _BRACKETS
    deep, place = 0, at
    while (found := marks.search(text, place)) is not None:
        if found[2]:
            place = _end_of_quoted(text, found)
            continue
        place = found.end()
        deep += 1 if found[0] in "[{(" else -1
        if deep <= 0:
            return place
    return len(text)


def _header(text: str, found: re.Match[str], at: int, name: str, kind: Kind) -> tuple[int, int] | None:
    head = _HEADER.match(text, at, at + _JUDGED)
    if head is None or says_nothing(head[0], name, kind) or late(r"\d{1,3}(?![\w=.\-])").match(text, at):
        return None
    before = late(r"(\\{0,8})([\"'])\Z").search(text[max(0, found.start() - 9) : found.start()])
    parameters = _PARAMETERS_AT.match(text, at)
    if before is not None and text[found.end() : found.end() + 1] not in ("\\", '"', "'"):
        line = _LINE.match(text, at)
        stop = line.end() if line is not None else len(text)
        end = next(
            (run.start() for run in _RUNS[before[2]].finditer(text, at, stop) if len(run[0]) - 1 <= len(before[1])),
            stop,
        )
    elif parameters is not None:
        end = parameters.end()
    else:
        end = (_HEADER.match(text, at) or head).end()
    return (at, end) if text[at:end].strip() else None


def _spoken(text: str, found: re.Match[str], name: str, kind: Kind) -> tuple[int, int] | None:
    """``token "X"``, ``pwd X``, ``--password X``, ``the password is X``."""
    if name.startswith("--"):
        return _switch(text, found.end())
    if kind is Kind.MAYBE or not _SPEAKS.search(name.replace("_", "").replace("-", "")):
        return None
    quoted = _SPOKEN_QUOTED.match(text, found.end())
    if quoted is None:
        return _spoken_word(text, found, name, kind)
    end = _end_of_quoted(text, quoted)
    value = text[quoted.end() : end].strip("\\\"'")
    if len(value) < 3 or is_state(value.split(maxsplit=1)[0]) or value.startswith(_DOTS):
        return None
    if _UNEXPECTED.search(text[max(0, found.start() - 14) : found.start()]):  # of a parser
        return None
    return (quoted.end(), end) if kind is Kind.SURE or looks_secret(value) else None


def _switch(text: str, at: int) -> tuple[int, int] | None:
    word = _SWITCHED.match(text, at)
    if word is None:
        return None
    opened = _OPENS.match(text, word.end())
    return word.end(), _end_of_quoted(text, opened) if opened is not None else _end_of_word(text, word.end())


def _end_of_word(text: str, at: int) -> int:
    word = _WORD.match(text, at)
    return at if word is None else word.end()


def _spoken_word(text: str, found: re.Match[str], name: str, kind: Kind) -> tuple[int, int] | None:
    said = _SPOKEN.match(text, found.end())
    if said is None or said[2].startswith(_DOTS):
        return None
    word = said[2].rstrip(".!?:)")
    if kind is Kind.LIKELY:
        fits = re.fullmatch(r"\d{4,10}", word) is not None
    else:
        alone = name.lower() == "pwd" and _LINE_ENDS.match(text, said.end()) is not None
        fits = (
            looks_secret(word)
            or (":" in (said[1] or "") and not is_state(word))
            or (alone and not is_state(word) and word[0] not in "/~.#$")
        )
    return said.span(2) if fits else None


def _named_in_chinese(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    while (found := _CHINESE.search(text, place)) is not None:
        place = found.end()
        mark = found["mark"].strip()
        marked = mark.endswith((":", "=", ">"))
        several = _several_in_chinese(text, found) if marked else None
        span = several or _given_in_chinese(text, found, marked=marked, copula=bool(mark))
        if span is not None:
            yield span
            place = max(place, span[1])


def _given_in_chinese(text: str, found: re.Match[str], *, marked: bool, copula: bool) -> tuple[int, int] | None:
    at = found.end()
    opened = _OPENS.match(text, at)
    if opened is not None and (copula or found["gap"] or opened.start(1) == at):
        end = _end_of_quoted(text, opened)
        value = text[opened.end() : end].strip("\\\"'")
        words = len(value) < 2 or is_state(value)
        return None if words or not (copula or looks_secret(value)) else (at, end)
    if marked and _NO_VALUE.search(text[max(0, found.start() - 2) : found.start()]):
        return None
    held = _CHINESE_VALUE.match(text, at, at + _JUDGED)
    if held is None or is_state(held[0]) or not (marked or " " < held[0][0] <= "~"):
        return None
    value, is_code = held[0], found["name"].endswith("码") and not found["name"].startswith("密")
    number = _NUMBER.match(value)
    if number is not None and _UNITS.match(text, at + number.end()):
        return None
    if marked:
        short = is_code and re.fullmatch(r"\d{1,3}", value) is not None
        return None if short else (at, (_CHINESE_VALUE.match(text, at) or held).end())
    head = _ASCII_VALUE.match(value)
    if head is None:
        return None
    joint = "copula" if copula else "gap" if found["gap"] else ""
    alone = text[at + len(head[0]) : at + len(head[0]) + 1] in ("", "\n")
    if not _stands_after(head[0].rstrip(".!?:)"), joint, is_code=is_code, alone=alone):
        return None
    whole = _ASCII_VALUE.match(text, at) or head
    return at, at + len(whole[0].rstrip(".!?:)"))


def _several_in_chinese(text: str, found: re.Match[str]) -> tuple[int, int] | None:
    """``'密码': {'a': 'x'}``; the first bracket may stand in the gap."""
    at = found.end() - found["gap"].endswith(("(", "["))
    if _SEVERAL.match(text, at) is None or _NO_VALUE.search(text[max(0, found.start() - 2) : found.start()]):
        return None
    end = _end_of_brackets(text, at)
    return (at, end) if end - at > 2 else None


def _stands_after(word: str, joint: str, *, is_code: bool, alone: bool) -> bool:
    """Whether a word after 密码 is one: after 是 nearly always, else by what it is made of."""
    figures = re.search(r"\d", word) is not None
    if joint == "copula":
        return len(word) > 1 and (figures or not is_code)
    if joint == "gap":
        return looks_secret(word) or re.fullmatch(r"\d{4,12}", word) is not None or (alone and len(word) > 3)
    return len(word) > 3 and figures and re.fullmatch(r"[A-Za-z0-9!@#$%^*_\-]+", word) is not None
