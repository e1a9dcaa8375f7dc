"""What went wrong in a step, in words for people, with its kind."""

from __future__ import annotations

import re

from playwright.async_api import Error
from playwright.async_api import TimeoutError as TooLate

from services.domain.task import classify
from services.domain.types.flow_steps import AssertText, Download, Goto, Step
from services.executors.browser.guard import Trouble

_NET = re.compile(r"net::(ERR_\w+)")
_NEVER = re.compile(r"ERR_(?:UNSAFE_REDIRECT|UNKNOWN_URL_SCHEME|DISALLOWED_URL_SCHEME|INVALID_URL|BLOCKED_BY_CLIENT)")
_WORDS = {
    "ERR_TOO_MANY_REDIRECTS": "it redirects for ever",
    "ERR_NAME_NOT_RESOLVED": "the host name is unknown",
    "ERR_CONNECTION_REFUSED": "the connection was refused",
    "ERR_UNSAFE_REDIRECT": "it redirects to an address that is not opened",
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
        return Failed(f"the selector {selector} cannot be read: {first[:300]}", classify.BAD_PAYLOAD)
    if found := _NET.search(text):
        word = _WORDS.get(found[1], "")
        where = getattr(step, "url", "")
        if trouble is not None and "SOCKS" in found[1]:
            return Failed(f"{where} cannot be opened: {trouble.text}", trouble.kind)
        kind = classify.BAD_PAYLOAD if _NEVER.match(found[1]) else classify.NETWORK
        return Failed(f"{where} cannot be opened: {word + ' ' if word else ''}(net::{found[1]})", kind)
    if "crashed" in text.lower():
        return Failed("the page crashed", classify.CRASHED)
    if _GONE.search(text):
        return Failed("Chromium ended in the middle of the step", classify.CRASHED)
    if isinstance(exc, TooLate):
        return _too_late(step, selector)
    kind = classify.classify(text)
    return Failed(first[:1500], kind)


def _too_late(step: Step, selector: str) -> Failed:
    within = f"within {step.timeout_s:g} s"
    if isinstance(step, Goto):
        return Failed(f"{step.url} did not load {within}", classify.TIMEOUT)
    if isinstance(step, Download):
        return Failed(f"no download came {within}", classify.TIMEOUT)
    if isinstance(step, AssertText):
        return Failed(f"{selector or 'the page'} does not say {step.text[:200]!r} {within}", classify.ELEMENT_NOT_FOUND)
    if selector:
        return Failed(f"waiting for selector {selector}: nothing fit {within}", classify.ELEMENT_NOT_FOUND)
    return Failed(f"no end {within}", classify.TIMEOUT)
