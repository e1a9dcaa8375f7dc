"""Kinds of failures in words: what a cause is called, and why a task died. Pure but for the language."""

from __future__ import annotations

from functools import lru_cache

from services.domain.insight import cause
from services.domain.task import classify
from services.i18n import N_, _
from services.messages import own, render
from views.support import safe

#: kind -> why it died in one sentence
_REASONS: dict[str, str] = {
    classify.TIMEOUT: N_("It took longer than it may."),
    classify.LOGIN_EXPIRED: N_("The shop was logged out; somebody must log in again."),
    classify.CAPTCHA: N_("The platform asked for a captcha that only a person can solve."),
    classify.RISK_CONTROL: N_("The platform holds the account back; look into the shop."),
    classify.ELEMENT_NOT_FOUND: N_("The page did not show what the flow looked for."),
    classify.NETWORK: N_("The platform could not be reached."),
    classify.RATE_LIMITED: N_("The platform asked for fewer requests."),
    classify.BAD_PAYLOAD: N_("The parameters do not suit the task; correct them below."),
    classify.CRASHED: N_("The program of the flow ended by itself."),
    classify.NO_BROWSER: N_("The browser of the shop did not start or went away."),
    classify.WORKER_LOST: N_("Its worker went silent while it ran."),
    classify.BAD_MESSAGE: N_("The message was not a task."),
    classify.UNKNOWN_TYPE: N_("No worker knows this task type."),
    classify.MISSING_SECRET: N_("A password or key that the flow needs is not set."),
    classify.ID_CONFLICT: N_("Another task has the same id."),
    classify.NO_COMMAND: N_("The worker has no program to run flows with."),
    classify.EXPIRED: N_("It was to start by a certain time and could not; nothing was run."),
    classify.ALREADY_DONE: N_("The same work had succeeded already; nothing was run."),
    classify.CANCELLED: N_("It was cancelled from outside."),
}


def title(kind: str) -> str:
    """What a kind is called; "" for one that nobody named."""
    return render(cause.title(kind)) if kind in _REASONS else ""


def reason(kind: str) -> str:
    """Why a task died, in one sentence; "" for a kind that nobody named."""
    return _(_REASONS[kind]) if kind in _REASONS else ""


def telling(error: str, limit: int = 160) -> str:
    """The line of an error that says what went wrong, in a line: of a traceback that is not the first one."""
    return safe.one_line(own(_telling_line(error)), limit) if error else ""


@lru_cache(maxsize=1024)
def _telling_line(error: str) -> str:
    """Remembered: cells are asked for at every painting."""
    return classify.telling_line(error)
