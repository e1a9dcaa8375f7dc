"""Registering and finding handlers."""

from __future__ import annotations

import sys
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.domain.errors import UsageError
from services.executors import registry
from services.executors.registry import HandlerContext, load_handlers, task_handler

SAMPLES = "tests.unit.services.executors.sample_handlers"


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    """An empty importable module."""
    made = types.ModuleType("made_for_this_test")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def test_handlers_are_found_by_task_type() -> None:
    found = load_handlers(SAMPLES)
    assert found == load_handlers([SAMPLES, SAMPLES])
    assert (found["echo"].isolate, found["echo"].idempotent, found["echo"].module) == ("process", True, SAMPLES)
    assert found["here"].isolate == "thread"
    assert load_handlers(()) == {}


def test_a_function_may_serve_several_types_and_stays_itself(module: types.ModuleType) -> None:
    def work(payload: dict[str, Any], job: HandlerContext) -> int:
        return 1

    module.work = task_handler("a")(task_handler("b")(work))  # type: ignore[attr-defined]
    assert module.work is work
    assert set(load_handlers(module.__name__)) == {"a", "b"}


@pytest.mark.parametrize("name", ["os.system", "", "x" * 65])
def test_a_handler_needs_a_proper_name(name: str) -> None:
    with pytest.raises(UsageError):
        task_handler(name)
    with pytest.raises(UsageError):
        task_handler("a", isolate="fork")


def test_a_decorator_without_the_type_says_how_it_is_written() -> None:
    with pytest.raises(UsageError, match=r'write @task_handler\("'):
        task_handler(lambda payload, job: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["my_handlers.py", "flows/my_handlers", "my_handlers:send", "my-handlers", "", "a b"])
def test_what_names_no_module_is_refused_before_anything_is_run(name: str) -> None:
    with pytest.raises(UsageError, match=r"as `import` does: my_handlers, without \.py") as caught:
        load_handlers(name)
    assert caught.value.field == "worker.handlers"


def test_a_function_that_cannot_take_payload_and_job_is_refused_at_once() -> None:
    for function in (lambda payload: 1, lambda: 1, lambda a, b, c: 1):
        with pytest.raises(UsageError, match="payload and the job"):
            task_handler("a")(function)
    for function in (lambda payload, job, more=1: 1, lambda *words: 1):
        assert task_handler("a")(function) is function


def test_a_function_of_which_a_call_runs_nothing_is_refused_at_once() -> None:
    def steps(payload: dict[str, Any], job: HandlerContext) -> Iterator[int]:
        yield 1

    async def later(payload: dict[str, Any], job: HandlerContext) -> AsyncIterator[int]:
        yield 1

    for function in (steps, later):
        with pytest.raises(UsageError, match="must return its result"):
            task_handler("a")(function)


@pytest.mark.parametrize("line", ["raise SystemExit(0)", "raise type('Rude', (BaseException,), {'__str__': None})"])
def test_a_module_that_ends_the_program_when_it_is_imported_is_named(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends_at_import.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="ends_at_import cannot be imported"):
        load_handlers("ends_at_import")


def test_a_missing_module_is_named() -> None:
    with pytest.raises(UsageError, match=r"no_such_module_here.*PYTHONPATH") as caught:
        load_handlers("no_such_module_here")
    assert caught.value.field == "worker.handlers"


def test_a_module_without_handlers_is_refused(module: types.ModuleType) -> None:
    with pytest.raises(UsageError, match="@task_handler"):
        load_handlers(module.__name__)


def test_two_handlers_of_one_type_are_refused(module: types.ModuleType) -> None:
    module.other = task_handler("echo")(lambda payload, job: None)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="two handlers"):
        load_handlers([SAMPLES, module.__name__])


def test_an_object_that_answers_to_every_name_is_no_handler(module: types.ModuleType) -> None:
    class Anything:
        def __call__(self) -> None: ...

        def __getattr__(self, name: str) -> Any:
            return (self,)

    module.anything = Anything()  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="@task_handler"):
        load_handlers(module.__name__)


def context(**fields: Any) -> HandlerContext:
    base: dict[str, Any] = {
        "task_id": "t",
        "shop_id": "s",
        "platform": "pdd",
        "attempt": 1,
        "progress": lambda percent, note: None,
        "log": lambda line: None,
        "cancelled": lambda: False,
    }
    return HandlerContext(**(base | fields))


def test_a_context_bounds_what_a_handler_says() -> None:
    shown: list[tuple[int, str]] = []
    lines: list[str] = []
    job = context(progress=lambda *step: shown.append(step), log=lines.append)
    job.progress(-3)
    job.progress(33.4, "x" * 1000)
    job.progress(1000)
    job.log("a\nb\r\nc")
    job.log(7)
    assert shown == [(0, ""), (33, "x" * 200), (100, "")]
    assert lines == ["a", "b", "c", "7"]


def test_the_error_of_a_call_begins_in_the_handler() -> None:
    handler = load_handlers(SAMPLES)["fail"]
    ended = registry.call(handler, {"text": "登录已过期"}, context())
    assert not ended.ok
    assert ended.error.endswith("ValueError: 登录已过期")
    assert "registry.py" not in ended.error
    assert ended.error_kind == "login_expired"
