"""What kind of failure an error text tells of, in English and Chinese."""

from __future__ import annotations

import re
from functools import cache

from services.domain.text.mask import masked_text

TIMEOUT, LOGIN_EXPIRED, CAPTCHA, RISK_CONTROL = "timeout", "login_expired", "captcha", "risk_control"
ELEMENT_NOT_FOUND, NETWORK, RATE_LIMITED, BAD_PAYLOAD = "element_not_found", "network", "rate_limited", "bad_payload"
CRASHED, NO_BROWSER, WORKER_LOST, BAD_MESSAGE = "crashed", "no_browser", "worker_lost", "bad_message"
UNKNOWN_TYPE, MISSING_SECRET, ID_CONFLICT = "unknown_type", "missing_secret", "id_conflict"
NO_COMMAND, CANCELLED, UNKNOWN, EXPIRED = "no_command", "cancelled", "unknown", "expired"
ALREADY_DONE = "already_done"  #: held instead of started: another task has done the same work

KINDS = (
    TIMEOUT, LOGIN_EXPIRED, CAPTCHA, RISK_CONTROL, ELEMENT_NOT_FOUND, NETWORK, RATE_LIMITED, BAD_PAYLOAD, CRASHED,
    NO_BROWSER, WORKER_LOST, BAD_MESSAGE, UNKNOWN_TYPE, MISSING_SECRET, ID_CONFLICT, NO_COMMAND, CANCELLED, UNKNOWN,
    EXPIRED, ALREADY_DONE,
)  # fmt: skip
#: trying again changes nothing until a person acts, so these burn no retries
PERMANENT = frozenset(
    {BAD_PAYLOAD, UNKNOWN_TYPE, LOGIN_EXPIRED, CAPTCHA, MISSING_SECRET, BAD_MESSAGE, ID_CONFLICT, NO_COMMAND, EXPIRED}
)

HEADLINE_LIMIT = 200
_WAITED_FOR = re.compile(r"waiting for (?:selector|locator|element|getby)", re.IGNORECASE)
_TAIL = 8_000  #: characters of an error that are looked at; the cause stands at its end

#: first match wins, so the more specific stands first; a wrong permanent kind costs the retries, so those are narrow
_PATTERNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        MISSING_SECRET,
        (r"missing[ _]secret", r"secret\b.{0,60}\b(?:not found|is missing|not set)", "(?:缺少|未配置)(?:密钥|凭据)"),
    ),
    (
        CAPTCHA,
        (
            "captcha",
            "slider verification",
            "verification code (?:is )?required",
            "滑块",
            "验证码",
            "人机验证",
            "拼图验证",
        ),
    ),
    (
        LOGIN_EXPIRED,
        (
            "(?:login|session|cookies?|credentials?) (?:has |have |is |are |was )?(?:expired|invalid|timed out)",
            "log(?:in|ged out)[ _]?(?:required|expired|again)|not logged in|please log ?in",
            "redirected to (?:the )?login",
            "登[录陆](?:态|状态|信息)?(?:已|已经)?(?:过期|失效|超时)|未登[录陆]|(?:请|需要|需)(?:重新|先)?登[录陆]",
            "(?:会话|cookies?) ?(?:已|已经)?(?:过期|失效)|账号已(?:退出|掉线)",
        ),
    ),
    (
        RISK_CONTROL,
        (
            "risk[ _-]?control|unusual (?:activity|traffic)",
            "account (?:has been |is |was )?(?:blocked|suspended|restricted|frozen|limited)",
            "风控|安全验证|操作异常|异常操作|(?:账号|店铺)(?:异常|被封|被冻结|被限制)",
        ),
    ),
    (
        RATE_LIMITED,
        (
            r"\b429\b|too many requests|rate[ _-]?limit|throttl|quota exceeded",
            "过于频繁|频繁操作|(?:操作|请求|访问)频繁|限流|频率限制",
        ),
    ),
    (
        NO_BROWSER,
        (
            "executable doesn'?t exist|failed to launch|chrome not reachable|session not created",
            "cannot connect to (?:chrome|browser)|no (?:available |free )?browser|debug(?:ging)? port",
            "browser (?:was )?not found|browser (?:has been closed|closed unexpectedly|disconnected)",
            "target (?:page, context or browser has been )?closed",
            "浏览器.{0,12}(?:未启动|启动失败|不存在|未安装|无法启动|已关闭|连接失败|打不开)",
            "(?:无法|没有)(?:启动|连接|可用的?)浏览器",
        ),
    ),
    (
        ELEMENT_NOT_FOUND,
        (
            "no ?such ?element|stale element|element[ _-]?not[ _-]?found",
            "waiting for (?:selector|locator|element|getby)",
            r"element (?:\S+ ){0,3}(?:not (?:found|visible|attached|interactable)|missing)",
            r"(?:selector|locator|xpath)\b.{0,120}\b(?:not found|did not match|no match)",
            "(?:元素|控件|按钮|选择器|输入框).{0,120}?(?:未找到|不存在|找不到|未出现|不可见)|定位(?:元素)?失败",
            r"(?:未找到|找不到|没有找到|无法定位)\S{0,20}(?:元素|控件|按钮|页面|输入框|选择器)",
        ),
    ),
    (
        NETWORK,
        (
            r"\b(?:network|connection) ?error\b|\bconnect(?:ion|ing)? to\b.{0,80}\btim(?:ed?|ing)[ -]?out",
            "connection (?:was |has been |is )?(?:refused|reset|aborted|closed|timed out|error)|connect timeout",
            "err_(?:connection|name|internet|network|proxy|ssl|timed_out|address|tunnel|empty_response)",
            "getaddrinfo|name resolution|name or service not known|no route to host",
            "(?:network|host) (?:is )?unreachable",
            r"\be(?:connrefused|connreset|connaborted|notfound|timedout|hostunreach|pipe)\b|broken pipe",
            "remote end closed|max retries exceeded|ssl.{0,20}error|proxy error",
            "bad gateway|service unavailable|gateway time-?out|http(?: status| error)?[ :]+50[234]",
            "网络(?:异常|错误|超时|不可用|不可达|断开|连接|中断|请求失败)|域名解析|代理(?:错误|失败|异常)",
            "连接(?:被拒绝|被重置|失败|超时|中断|断开)",
        ),
    ),
    (
        UNKNOWN_TYPE,
        (
            r"unknown[ _](?:task[ _])?type|unknown flow|no such flow|flow\b.{0,80}\b(?:not found|does not exist)",
            "no handler (?:for|is registered)|未知(?:的)?任务类型|流程.{0,80}不存在|(?:未找到|找不到)流程",
        ),
    ),
    (
        BAD_PAYLOAD,
        (
            "bad[ _]?payload|validationerror",
            r"(?:missing|invalid|unexpected|bad) (?:required )?(?:payload|param(?:eter)?s?)\b",
            r"(?:payload|param(?:eter)?)\b.{0,60}\b(?:is missing|is required|is invalid|must be)",
            r"missing \d* ?required .{0,40}argument",
            "参数(?:错误|缺失|无效|不正确|不合法|格式错误)|缺少(?:必填|必要)?(?:的)?参数",
            r"参数[ :：\"'“「]{0,3}[A-Za-z_][\w.\[\]-]{0,80}[\"'”」]?[ :：]{0,2}"
            "(?:必须|应为|不能|不可|缺失|缺少|无效|错误|不合法)",
        ),
    ),
    (TIMEOUT, ("tim(?:ed?|ing)[ -]?out|deadline exceeded|超时",)),
    (
        CRASHED,
        (
            "segmentation fault|core dumped|access violation|0xc0000005|stack overflow|fatal python error",
            "memoryerror|out of memory|oom-?kill|killed|崩溃|异常退出|内存不足",
        ),
    ),
    (CANCELLED, (r"\bcancell?ed\b|keyboardinterrupt|已取消|被取消",)),
)


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Made when the first failure is told: 25 ms that no start of a program needs."""
    return tuple((kind, re.compile("|".join(parts), re.IGNORECASE)) for kind, parts in _PATTERNS)


_NOISE = re.compile(
    r"traceback \(most recent call last\)|file \"|at \S+ ?\(|at \S+:\d|[\^~\-=*_#\s]+$|during handling of"
    r"|the above exception|call log:|caused by:\s*$|\.\.\. \d+ more|stack trace:?$",
    re.IGNORECASE,
)
#: a line that names an exception ("TypeError: x", "pkg.LoginExpired: x")
_EXCEPTION = re.compile(
    r"(?:[\w$]+\.)*[A-Z_][\w$]*(?:Error|Exception|Timeout|Expired|Failure|Fault|Interrupt|Exit)\b(?:: |:?$| \[)"
)
_TELLING = re.compile(r"\b(?:error|fatal|failed|failure|exception)\b|错误|失败|异常|超时|过期", re.IGNORECASE)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def classify(error_text: str, exit_code: int | None = None) -> str:
    """Name the kind of a failure: by its headline, else by the whole end of the text, else by the exit code."""
    whole = clean(error_text[-_TAIL:])
    kind = _kind_of(telling_line(error_text)) or _kind_of(whole) or _by_exit_code(exit_code)
    # Browsers report a missing element as a time-out and name it in the lines below.
    return ELEMENT_NOT_FOUND if kind == TIMEOUT and _WAITED_FOR.search(whole) else kind


def headline(error: str) -> str:
    """The line that says what went wrong, at most 200 characters, without control characters and secrets."""
    line = masked_text(telling_line(error))
    return line if len(line) <= HEADLINE_LIMIT else line[: HEADLINE_LIMIT - 1] + "…"


def telling_line(error: str) -> str:
    """The last line that names an exception, else the last that speaks of an error, else the last meaningful one."""
    lines = [line for line in clean(error[-_TAIL:]).splitlines() if line.strip()]
    spoken = [line.strip() for line in lines if not _NOISE.match(line.strip())]
    if not spoken:
        return lines[-1].strip() if lines else ""
    # Source lines of a traceback are indented: the exceptions themselves stand at the margin.
    for pattern in (_EXCEPTION.match, _TELLING.search):
        for line in reversed(lines):
            if not line[0].isspace() and not _NOISE.match(line) and pattern(line):
                return line.strip()
    return spoken[-1]


def clean(text: str) -> str:
    """Without terminal sequences, control, zero-width and direction characters; line ends become newlines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", _ANSI.sub("", text))


def _kind_of(text: str) -> str:
    return next((kind for kind, pattern in _compiled() if pattern.search(text)), "")


def _by_exit_code(code: int | None) -> str:
    if code is None or code == 0:
        return UNKNOWN
    if code == 124:  # what timeout(1) answers
        return TIMEOUT
    by_signal = code < 0 or 128 < code <= 128 + 64
    windows_fault = code >= 0xC0000000
    return CRASHED if by_signal or windows_fault else UNKNOWN
