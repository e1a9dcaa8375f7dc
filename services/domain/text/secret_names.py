"""Which names are those of secrets, and which values under such a name say nothing: counts, switches, states."""

from __future__ import annotations

import enum
import re
from functools import lru_cache

from services.domain.text.readings import seen


class Kind(enum.Enum):
    """How sure a name is to be that of a secret."""

    NONE = enum.auto()
    #: a word that often means something else; its value decides
    MAYBE = enum.auto()
    #: a short word (``pin``, ``sign``): a secret unless the value is a count or a state
    LIKELY = enum.auto()
    SURE = enum.auto()


#: without separators: ``api-key``, ``Api_Key`` and ``apiKey`` are one
_SURE = (
    "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "cookie", "authorization", "credential",
    "apikey", "accesskey", "privatekey", "signingkey", "authkey", "sessionid", "sessionkey", "sessid",
    "密码", "密碼", "口令", "令牌", "权杖", "密钥", "密鑰", "秘钥", "私钥", "凭据", "凭证", "会话id",
)  # fmt: skip
_PLURAL = re.compile(r"(?:tokens|cookies|secrets|passwords|credentials|keys)\Z")
#: only as the last word of a name: ``db_pass`` is one, ``pass_rate``, ``compass`` and ``sign_time`` are none
_LIKELY = frozenset({"pass", "pin", "otp", "totp", "sign", "sig", "signature", "jwt", "cvv", "cvc", "pw", "pincode", "otpcode"})  # fmt: skip  # noqa: E501
_LIKELY_CHINESE = ("验证码", "校验码", "动态码", "驗證碼", "授权码", "签名")
_CODES = frozenset({"pin", "otp", "totp", "sms", "mfa", "2fa", "verify", "verification", "auth", "authorization", "security", "captcha"})  # fmt: skip  # noqa: E501
_MAYBE = frozenset({"sid", "sess", "session"})
#: before ``pass``: it is no word that opens something
_RUNS = frozenset({"by", "over", "under", "first", "second", "last", "full", "single", "low", "high", "band", "all", "test", "tests"})  # fmt: skip  # noqa: E501
#: as the last word of a name: something about a secret, not itself
_ABOUT = frozenset(
    """count counts total type types kind name names format version algorithm alg method mode policy rule rules
    length len size limit max min status state valid invalid required optional enabled disabled changed
    updated created missing empty exists present used usage error errors reason field fields selector
    selectors xpath css label locator button column placeholder page host domain path file dir folder
    provider issuer scope scopes strength attempts retries failures expires expire expiry expired expiration
    timeout ttl at in on by time date age days hours minutes seconds ms s stdin rotation consent headers
    needed verified checked supported interval index position""".split()  # noqa: SIM905
)
_ABOUT_CHINESE = re.compile(
    r"(?:次数|数量|个数|总数|状态|类型|长度|强度|时间|日期|名称|错误|有误|失败|有效期|有效|无效|失效|过期|字段|规则|位数|成功|正确|已改|修改)\Z"
)
_COUNTED = frozenset({"max", "min", "total", "num", "count", "remaining", "used", "prompt", "completion", "input", "output", "cached"})  # fmt: skip  # noqa: E501
_OTHERS = frozenset({"tokenizer", "tokenize", "tokenized", "tokenization", "passwordless", "cookieconsent", "pwdx"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+[a-z]?(?![a-z])|[0-9]+|[^\W0-9A-Za-z_]+")
_HEADS = frozenset({"cookie", "cookies", "authorization"})
#: what stands after a name in a sentence, a switch or a list, and is no secret
_STATES = frozenset(
    """true false null none nil undefined nan yes no on off ok is are was were be been being has have had wrong
    invalid incorrect missing required expired expires empty unknown rejected refused denied not must should
    cannot can may will failed failure fails passed mismatch mismatched changed unchanged valid correct
    accepted revoked absent unset error again and or for from with to of in at by as if the a an it its this
    that then too also does do did field fields input login page expiring md5 sha1 sha256 hmac rsa rsa2
    hs256 rs256 hmac-sha1 hmac-sha256 bearer basic digest success put""".split()  # noqa: SIM905
)
_STATES_CHINESE = re.compile(
    r"(?:错误|有误|不|未|无|为空|空|已|过期|失效|正确|必填|缺|请|需|超|太|校验|验证|登录|输入|重置|修改|失败|成功|通过|是否|暂)"
)
_SMALL = re.compile(r"[+\-]?\d{1,3}(?:\.\d+)?%?\Z")
_ORNAMENT = "\"'.!?,;:)]}。！？，；：）】"
_A_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d")
#: a sentence's word that no dictionary has
_SHORTEST = 7
#: of a longer name only both ends are looked at
_LONGEST = 400


def kind_of(name: str) -> Kind:
    """What a name says of the value below or after it."""
    return _kind(name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]} {name[-_LONGEST // 2 :]}")


@lru_cache(8_192)
def _kind(name: str) -> Kind:
    words = [word.lower() for word in _WORDS.findall(seen(name))]
    while len(words) > 1 and words[-1].isdigit():  # password1
        words.pop()
    if not words or words[-1] in _ABOUT or _ABOUT_CHINESE.search(words[-1]) or words[0].startswith("是否"):
        return Kind.NONE
    plain = "".join(words)
    if not _OTHERS.isdisjoint(words) or (words[0] in _COUNTED and words[-1] == "tokens"):
        return Kind.NONE
    if any(word in plain for word in _SURE):
        return Kind.SURE
    before = words[-2] if len(words) > 1 else ""
    if words[-1] in _LIKELY and not (words[-1] == "pass" and before in _RUNS):
        return Kind.LIKELY
    if (words[-1] == "code" and before in _CODES) or words[-1].endswith(_LIKELY_CHINESE):
        return Kind.LIKELY
    return Kind.MAYBE if words[-1] in _MAYBE else Kind.NONE


def is_header(name: str) -> bool:
    """Whether what follows is several words long, as after ``Cookie``."""
    words = [word.lower() for word in _WORDS.findall(seen(name)[-80:])]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    return bool(words) and words[-1] in _HEADS


def says_nothing(value: str, name: str, kind: Kind) -> bool:
    """Whether a text under a secret's name is a state, a switch or a count, and may be shown."""
    bare = value.strip(_ORNAMENT)
    if bare.lower() in _STATES or _STATES_CHINESE.match(bare):
        return True
    if kind is Kind.SURE:
        return bool(_PLURAL.search(name.lower()) and _SMALL.match(bare))
    if kind is Kind.MAYBE:
        bare = bare.partition("<")[0]
        return len(bare) < 12 or not _mixed(bare) or re.search(r"[:/]", bare) is not None
    return len(bare) < 2 or (bare[0] != "0" and _SMALL.match(bare) is not None)


def looks_secret(word: str) -> bool:
    """Whether a word that only stands beside a name is one of no language: letters and figures, or marks, in it."""
    bare = word.strip(_ORNAMENT)
    if len(bare) < _SHORTEST or _A_DAY.match(bare) or re.search(r"[:/\\\[\](){}<>=|••]", bare) or bare[0] in "#.*$":
        return False
    if re.fullmatch(r"[A-Za-z]+(?:[_\-.][A-Za-z]+)*[_\-.][0-9]{1,6}", bare):  # step-3
        return False
    return _mixed(bare) or re.search(r"\w[!@#$%^*~+]+\w|[!@$%^*~]\Z", bare) is not None


def is_state(word: str) -> bool:
    """Whether a word belongs to a sentence about a secret."""
    bare = word.strip(_ORNAMENT)
    return not bare or bare.lower() in _STATES or _STATES_CHINESE.match(bare) is not None


def _mixed(word: str) -> bool:
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in word)
