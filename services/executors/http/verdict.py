"""What an answer means for the task: success with a result, or one of the known kinds of failure."""

from __future__ import annotations

import datetime as dt
import email.utils
import json
from collections.abc import Sequence
from dataclasses import replace

from services.domain.task import classify
from services.domain.text.mask import Masker
from services.executors.base import ArtifactSink, Outcome
from services.executors.http.fetch import Answer
from services.executors.stdout import bounded_json

#: an answer longer than this goes as a file, not into the record
IN_RECORD = 64 * 1024
_SHOWN = ("content-type", "location", "etag", "last-modified", "x-request-id")
_SUFFIXES = {
    "application/json": ".json",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/plain": ".txt",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
}
_BY_STATUS = {
    401: classify.LOGIN_EXPIRED,
    403: classify.LOGIN_EXPIRED,
    408: classify.TIMEOUT,
    425: classify.NETWORK,
    429: classify.RATE_LIMITED,
    **dict.fromkeys((400, 404, 405, 406, 410, 411, 413, 414, 415, 422), classify.BAD_PAYLOAD),
}


def judged(answer: Answer, expect: Sequence[int], files: ArtifactSink, now_ms: int) -> Outcome:
    """Success where the status is one of those expected, any of 200 to 299 where none is named."""
    text = _text(answer)
    if answer.status in expect or (not expect and 200 <= answer.status < 300):
        return Outcome(ok=True, result=_result(answer, text, files))
    said = " ".join((text or "")[:1_000].split())
    wanted = f", wanted {', '.join(map(str, expect))}" if expect else ""
    error = f"the server answered {answer.status}{wanted}" + (f": {said}" if said else "")
    return Outcome(
        ok=False,
        error=error,
        error_kind=_kind(answer.status, said),
        retry_after_s=_retry_after(answer, now_ms),
        of_shop=False,
    )


def _kind(status: int, said: str) -> str:
    if status >= 500:
        return classify.NETWORK
    known = _BY_STATUS.get(status, classify.UNKNOWN)
    if known == classify.LOGIN_EXPIRED and (told := classify.classify(said)) in (
        classify.CAPTCHA, classify.RISK_CONTROL, classify.RATE_LIMITED,
    ):  # fmt: skip
        return told
    return known


def _retry_after(answer: Answer, now_ms: int) -> float:
    """Seconds that the server asks to wait, 0 for none."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(min(int(said[:9]), 86_400))
    try:
        until = email.utils.parsedate_to_datetime(said) if said else None
    except ValueError:
        until = None
    if until is None:
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=dt.UTC)
    return min(max(0.0, until.timestamp() - now_ms / 1000), 86_400.0)


def without(answer: Answer, masker: Masker) -> Answer:
    """The answer with the secrets of its request made unreadable, before anything of it is cut, shown or kept: a server
    may repeat them anywhere, also in what it offers for download.
    """
    body, text = answer.body, _text(answer)
    if text is not None and (shown := masker.text(text)) != text:
        body = shown.encode(_charset(answer), "replace")
    headers = {name: masker.text(value) for name, value in answer.headers.items()}
    return replace(answer, headers=headers, body=masker.data(body))


def _charset(answer: Answer) -> str:
    kind = answer.headers.get("content-type", "")
    return kind.partition("charset=")[2].partition(";")[0].strip("\"' ") or "utf-8"


def _text(answer: Answer) -> str | None:
    """The body as text, None for what is none."""
    try:
        return answer.body.decode(_charset(answer))
    except (UnicodeDecodeError, LookupError):
        return None


def _result(answer: Answer, text: str | None, files: ArtifactSink) -> str:
    told: dict[str, object] = {
        "status": answer.status,
        "bytes": len(answer.body),
        "headers": {name: answer.headers[name][:500] for name in _SHOWN if name in answer.headers},
    }
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if text is None or len(answer.body) > IN_RECORD:
        kept = files.add(answer.body, name=f"response{_SUFFIXES.get(kind, '.bin')}", step="response")
        told["file"] = kept.name if kept is not None else None
    elif "json" in kind:
        try:
            told["json"] = json.loads(text)
        except (ValueError, RecursionError):
            told["text"] = text
    else:
        told["text"] = text
    return bounded_json(told)
