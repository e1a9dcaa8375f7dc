"""How a flow can fail; the text of each is what an operator reads and what the task engine sorts by."""

from __future__ import annotations


class FlowError(Exception):
    """A flow could not do its work. ``str`` is the line for stderr."""

    def __str__(self) -> str:
        return f"{type(self).__name__}: {super().__str__()}"


class BadPayload(FlowError):
    """The parameters of the task cannot be used."""

    def __str__(self) -> str:
        return f"BadPayload: invalid parameter: {Exception.__str__(self)}"


class LoginExpired(FlowError):
    """The shop is logged out; a person has to log in."""


class Captcha(FlowError):
    """The platform wants to see a person."""


class RiskControl(FlowError):
    """The platform has restricted the account."""


class SelectorNotFound(FlowError):
    """The page has come, but without what the flow looks for."""

    def __init__(self, selector: str, where: str) -> None:
        super().__init__(f"{selector} (waiting for selector {where})")


class PageTimeout(FlowError):
    """A page or the whole flow took too long."""

    def __str__(self) -> str:
        return f"TimeoutError: {Exception.__str__(self)}"


class Disconnected(FlowError):
    """The platform cannot be reached, or broke off."""

    def __str__(self) -> str:
        return f"ConnectionError: {Exception.__str__(self)}"


class HttpError(FlowError):
    """An answer with an error status."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class Stopped(BaseException):
    """The process was told to end; not an ``Exception``, so that no flow takes it for a failure of its page."""


class NotConfigured(FlowError):
    """This worker lacks a setting that the flow needs."""


class Usage(Exception):
    """The command line is wrong (exit code 2)."""
