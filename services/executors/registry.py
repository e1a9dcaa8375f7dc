"""Python task handlers: how they are registered, found and called.

@task_handler("send_welcome_email")
def send(payload: dict, job: HandlerContext) -> dict:
    job.progress(10, "connecting")
    ...
    return {"sent": 3}
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import os
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from services.domain.errors import UsageError
from services.domain.task import classify, ids
from services.domain.task.record import ERROR_LIMIT
from services.domain.text.said import said
from services.executors.stdout import bounded_json

ISOLATIONS = ("process", "thread")
ENTRY_POINTS = "fleetdeck.handlers"
_ATTRIBUTE = "__task_handlers__"


class HandlerError(Exception):
    """Raise this in a handler to name the kind of its failure, e.g. ``login_expired``."""

    def __init__(self, text: str, kind: str = "") -> None:
        super().__init__(text)
        self.error_kind = kind


_OURS = f"{HandlerError.__module__}.{HandlerError.__qualname__}: "


class HandlerContext:
    """What a handler knows of its job and may say about it."""

    def __init__(
        self,
        *,
        task_id: str,
        shop_id: str,
        platform: str,
        attempt: int,
        progress: Callable[[int, str], object],
        log: Callable[[str], object],
        cancelled: Callable[[], bool],
        artifact: Callable[[Path | bytes, dict[str, str]], object] = lambda source, words: None,
    ) -> None:
        self.task_id, self.shop_id, self.platform, self.attempt = task_id, shop_id, platform, attempt
        self._progress, self._log, self._cancelled, self._artifact = progress, log, cancelled, artifact
        self.noticed = False  #: the handler was told to stop

    def progress(self, percent: float, note: str = "") -> None:
        """Move the progress bar, 0 to 100."""
        self._progress(round(min(100.0, max(0.0, percent))), str(note)[:200])

    def log(self, text: object) -> None:
        """Add to the task's log."""
        for line in str(text).splitlines():
            self._log(line)

    def keep(self, source: Path | str | bytes, name: str = "", *, kind: str = "", step: str = "") -> None:
        """Keep a file (by its path) or these bytes with the task; ``name`` may be left out for a file.

        Leave the file where it is until the handler returns. One that cannot be kept fails nothing; the task's record
        says so. ``kind``: image, html, text, table, download or other; told by the name where it is left out.
        """
        words = {"name": str(name), "kind": str(kind), "step": str(step)}
        self._artifact(source if isinstance(source, bytes) else Path(source), words)

    def cancelled(self) -> bool:
        """Whether somebody asked to stop, or the time is up: clean up and return."""
        self.noticed = self._cancelled() or self.noticed
        return self.noticed


Function = Callable[[dict[str, Any], HandlerContext], Any]
F = TypeVar("F", bound=Callable[..., Any])


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One registered function."""

    name: str
    function: Function
    module: str
    isolate: str = "process"  #: process: its own, killed at the time-out; thread: cooperative only
    idempotent: bool | None = None  #: what its author says; the policy of the type is in the store


class Ended(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a call of a handler ended."""

    ok: bool
    result: str = ""
    error: str = ""
    error_kind: str = ""
    gave_up: bool = False  #: it returned nothing after it had been told to stop


def task_handler(name: str, *, isolate: str = "process", idempotent: bool | None = None) -> Callable[[F], F]:
    """Register the decorated function for a task type; decorate twice for two types."""
    if callable(name):
        raise UsageError('the task type is missing: write @task_handler("name_of_the_type")', field="name")
    if not ids.valid_task_type(name):
        raise UsageError(f"a task type must be 1-64 of A-Z a-z 0-9 _ -, not {name!r:.60}", field="name")
    if isolate not in ISOLATIONS:
        raise UsageError(f"isolate must be process or thread, not {isolate!r:.60}", field="isolate")

    def register(function: F) -> F:
        if not _fits(function):
            told = f"the handler of {name} must take two arguments, the payload and the job: def work(payload, job)"
            raise UsageError(told, field="function")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            # calling one runs nothing of it, and each of its tasks would be told as done
            told = f"the handler of {name} yields; it must return its result, and tell of steps by job.progress"
            raise UsageError(told, field="function")
        handler = Handler(
            name=name, function=function, module=function.__module__, isolate=isolate, idempotent=idempotent
        )
        setattr(function, _ATTRIBUTE, (*getattr(function, _ATTRIBUTE, ()), handler))
        return function

    return register


def _fits(function: Callable[..., Any]) -> bool:
    """Whether it can be called as ``call`` does; told at the start: else each of its tasks would fail."""
    try:
        inspect.signature(function).bind({}, None)
    except TypeError:
        return False
    except ValueError:  # one written in C does not say
        return True
    return True


def installed_modules() -> tuple[str, ...]:
    """Modules that installed packages name under the entry points ``fleetdeck.handlers``, sorted."""
    return tuple(sorted({found.module for found in importlib.metadata.entry_points(group=ENTRY_POINTS)}))


def load_handlers(modules: str | Iterable[str]) -> dict[str, Handler]:
    """Import modules and collect their handlers by task type.

    Raises:
        UsageError: a module cannot be imported, has no handler, or two serve the same type.
    """
    found: dict[str, Handler] = {}
    for name in (modules,) if isinstance(modules, str) else tuple(modules):
        for handler in _handlers_of(name):
            other = found.setdefault(handler.name, handler)
            if other.function is not handler.function:
                raise UsageError(
                    f"task type {handler.name} has two handlers: {other.module} and {handler.module}; keep one",
                    field="worker.handlers",
                )
    return found


def call(handler: Handler, payload: dict[str, Any], job: HandlerContext) -> Ended:
    """Call a handler; whatever it raises becomes the error of the attempt."""
    called_in = os.getpid()
    try:
        return _called(handler, payload, job)
    finally:
        if os.getpid() != called_in:
            os._exit(0)  # a copy that the handler made of its process: only the first speaks for the attempt


def _called(handler: Handler, payload: dict[str, Any], job: HandlerContext) -> Ended:
    try:
        value = handler.function(payload, job)
        if inspect.iscoroutine(value):
            # Imported here: 30 ms that most children do not pay.
            import asyncio

            value = asyncio.run(value)
        result = "" if value is None else bounded_json(value)
    except BaseException as exc:  # noqa: BLE001 - the edge of foreign code, which may even call sys.exit
        return _failed(exc)
    return Ended(ok=True, result=result, gave_up=job.noticed and not result)


def _handlers_of(name: str) -> list[Handler]:
    if name.endswith(".py") or not all(part.isidentifier() for part in name.split(".")):
        # asked before the import: that of my_handlers.py runs my_handlers, and then looks for a module py in it
        raise UsageError(said("handlers.name", module=name), field="worker.handlers")
    try:
        module = importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # importing runs foreign code, which may even call sys.exit
        # of one that is not there it helps to say where it is looked for
        lost = isinstance(exc, ModuleNotFoundError) and exc.name == name.partition(".")[0]
        told = said("handlers.lost" if lost else "handlers.broken", module=name, error=_short(exc))
        raise UsageError(told, field="worker.handlers") from exc
    members = [value for _, value in sorted(vars(module).items()) if callable(value)]
    found = [handler for member in members for handler in getattr(member, _ATTRIBUTE, ()) if _is_handler(handler)]
    if not found:
        raise UsageError(said("handlers.none", module=name), field="worker.handlers")
    return found


def _is_handler(value: object) -> bool:
    return isinstance(value, Handler)


def _failed(exc: BaseException) -> Ended:
    error = _text(exc)
    named = getattr(exc, "error_kind", "")
    code = exc.code if isinstance(exc, SystemExit) and isinstance(exc.code, int) else None
    kind = named if named in classify.KINDS else classify.classify(error, code)
    return Ended(ok=False, error=error, error_kind=kind)


def _short(exc: BaseException) -> str:
    try:
        return f"{type(exc).__name__}: {exc}"
    except Exception:  # noqa: BLE001 - as in ``_text``
        return type(exc).__name__


def _text(exc: BaseException) -> str:
    """The traceback without our own frame; its end is kept, where the exception stands."""
    try:
        inner = exc.__traceback__.tb_next if exc.__traceback__ else None
        lines = traceback.format_exception(type(exc), exc, inner)
        if type(exc) is HandlerError:  # its words are what the flow says; the class is ours and tells people nothing
            lines = [line.removeprefix(_OURS) for line in lines]
    except Exception:  # noqa: BLE001 - an exception whose own text fails
        lines = [f"{type(exc).__name__}: (its text cannot be shown)"]
    return "".join(lines).strip()[-ERROR_LIMIT:]
