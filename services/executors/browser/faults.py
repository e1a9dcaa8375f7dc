"""What went wrong in a step, in words for people, with its kind."""

from __future__ import annotations

import re

from playwright.async_api import Error
from playwright.async_api import TimeoutError as TooLate

from services.domain.task import classify, own_words
from services.domain.types.flow_steps import AssertText, Download, Goto, Step
from services.executors.browser.guard import Trouble

_NET = re.compile(r"net::(ERR_\w+)")
_NEVER = re.compile(r"ERR_(?:UNSAFE_REDIRECT|UNKNOWN_URL_SCHEME|DISALLOWED_URL_SCHEME|INVALID_URL|BLOCKED_BY_CLIENT)")
_WORDS = {
    "ERR_TOO_MANY_REDIRECTS": "own.redirects_ever",
    "ERR_NAME_NOT_RESOLVED": "own.host_unknown_code",
    "ERR_CONNECTION_REFUSED": "own.refused_code",
    "ERR_UNSAFE_REDIRECT": "own.redirects_closed",
}
_SELECTOR = re.compile(r"is not a valid selector|while parsing (?:css )?selector|unknown engine|unexpected token", re.I)
_GONE = re.compile(r"has been closed|browser has disconnected|connection closed|target closed", re.IGNORECASE)


class Failed(Exception):
    """A step failed. ``final``: doing it again changes nothing; ``inner``: it is named and its evidence is kept."""

    def __init__(self, text: str, kind: str, *, inner: bool = False) -> None:
        super().__init__(text)
        self.kind, self.inner = kind, inner
        self.final = kind in classify.PERMANENT or kind == classify.CRASHED


def explained(exc: Error, step: Step, trouble: Trouble | None = None) -> Failed:
    """The failure that an error of the browser's driver stands for; ``trouble``: why its host was not reached."""
    text = classify.clean(str(exc)).strip()
    first = text.partition("\nCall log")[0].strip()
    selector = getattr(step, "selector", "")
    if _SELECTOR.search(text):
        return Failed(own_words.write("own.selector", selector=selector, said=first[:300]), classify.BAD_PAYLOAD)
    if isinstance(step, Goto) and "Download is starting" in first:
        return Failed(own_words.write("own.no_page", url=step.url), classify.BAD_PAYLOAD)
    if found := _NET.search(text):
        where = getattr(step, "url", "")
        if trouble is not None and "SOCKS" in found[1]:
            return Failed(own_words.write("own.not_opened", url=where, why=trouble.text), trouble.kind)
        kind = classify.BAD_PAYLOAD if _NEVER.match(found[1]) else classify.NETWORK
        code = f"net::{found[1]}"
        why = own_words.write(_WORDS[found[1]], code=code) if found[1] in _WORDS else f"({code})"
        return Failed(own_words.write("own.not_opened", url=where, why=why), kind)
    if "crashed" in text.lower():
        return Failed(own_words.write("own.page_crashed"), classify.CRASHED)
    if _GONE.search(text):
        return Failed(own_words.write("own.chromium_ended"), classify.CRASHED)
    if isinstance(exc, TooLate):
        return _too_late(step, selector)
    kind = classify.classify(text)
    return Failed(first[:1500], kind)


def _too_late(step: Step, selector: str) -> Failed:
    seconds = f"{step.timeout_s:g}"
    if isinstance(step, Goto):
        return Failed(own_words.write("own.not_loaded", url=step.url, seconds=seconds), classify.TIMEOUT)
    if isinstance(step, Download):
        return Failed(own_words.write("own.no_download", seconds=seconds), classify.TIMEOUT)
    if isinstance(step, AssertText):
        return not_said(step)
    if selector:
        text = own_words.write("own.nothing_fit", selector=selector, seconds=seconds)
        return Failed(text, classify.ELEMENT_NOT_FOUND)
    return Failed(own_words.write("own.no_end", seconds=seconds), classify.TIMEOUT)


def not_said(step: AssertText) -> Failed:
    """A text did not come to stand where it should."""
    text, seconds = repr(step.text[:200]), f"{step.timeout_s:g}"
    if step.selector:
        told = own_words.write("own.not_said", selector=step.selector, text=text, seconds=seconds)
    else:
        told = own_words.write("own.page_not_said", text=text, seconds=seconds)
    return Failed(told, classify.ELEMENT_NOT_FOUND)
