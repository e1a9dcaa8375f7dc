"""The python executor with real children: reuse, and every way in which a handler can go wrong."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.domain.errors import UsageError
from services.domain.task import classify
from services.executors.base import JobContext, Outcome
from services.executors.python import HandlerProcess, PythonExecutor
from services.executors.registry import Handler, load_handlers
from services.executors.stdout import OutputLimits
from tests.unit.services.executors import slow_handlers
from tests.unit.services.executors.builders import (
    SOON_S,
    Listener,
    descriptors,
    eventually,
    is_gone,
    job,
    start,
    unreaped,
)

SAMPLES = "tests.unit.services.executors.sample_handlers"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and sessions")


def make(**fields: Any) -> PythonExecutor:
    base: dict[str, Any] = {"kill_grace_s": 0.0, "cancel_grace_s": 20.0, "base_environment": dict(os.environ)}
    return PythonExecutor(load_handlers(SAMPLES), **(base | fields))


@pytest.fixture
def executor() -> Iterator[PythonExecutor]:
    made = make()
    yield made
    made.close()


def run(executor: PythonExecutor, name: str, listener: Listener | None = None, **fields: Any) -> Outcome:
    return executor.run(job(name, **fields), (listener or Listener()).context)


def pid_of(executor: PythonExecutor) -> int:
    return int(json.loads(run(executor, "echo").result)["pid"])


# ------------------------------------------------------------------------------------------------------ ordinary jobs
@pytest.mark.parametrize("name", ["keep", "keep_here"])
def test_a_handler_keeps_files_and_bytes(executor: PythonExecutor, tmp_path: Path, name: str) -> None:
    (tmp_path / "orders.csv").write_text("a,b")
    listener = Listener()
    assert run(executor, name, listener, payload={"file": str(tmp_path / "orders.csv")}).ok
    assert listener.files.kept == {"shot.png": (b"png", "image", "login"), "orders.csv": (b"a,b", "", "")}
    assert (tmp_path / "orders.csv").exists()


def test_a_handler_gets_its_job_and_gives_a_result(executor: PythonExecutor) -> None:
    outcome = run(executor, "echo", payload={"店": ["一", 2.5, None]}, attempt=3)
    assert outcome.ok
    told = json.loads(outcome.result)
    assert told["payload"] == {"店": ["一", 2.5, None]}
    assert told["job"] == ["t-1", "shop017", "pdd", 3]
    assert told["pid"] != os.getpid()


def test_what_it_prints_and_says_is_the_log(executor: PythonExecutor) -> None:
    listener = Listener()
    assert run(executor, "talk", listener) == Outcome(ok=True)
    expected = [
        ("err", "one on stderr"),
        ("out", "from a shell"),
        ("out", "lines"),
        ("out", "two"),
        ("out", "一行 on stdout"),
    ]
    assert sorted(listener.lines) == expected
    assert listener.shown == [(40, "half way"), (100, "")]


def test_a_child_is_used_again_and_its_jobs_do_not_mix(executor: PythonExecutor) -> None:
    assert pid_of(executor) == pid_of(executor)
    for number in range(20):
        listener = Listener()
        assert run(executor, "talk", listener, task_id=f"t-{number}").ok
        assert len(listener.lines) == 5
        assert listener.shown == [(40, "half way"), (100, "")]


def test_a_thread_that_a_job_leaves_behind_tells_nothing_of_the_next(tmp_path: Path) -> None:
    until, listener, files = tmp_path / "until", Listener(), tmp_path / "files"
    files.mkdir()
    executor = make(base_environment=os.environ | dict.fromkeys(("TMPDIR", "TEMP"), str(files)))
    try:
        assert run(executor, "leave_thread", payload={"until": str(until)}).ok
        assert run(executor, "talk", listener).ok
        until.touch()
        assert run(executor, "talk").ok
        assert "late" not in {line for _, line in listener.lines}
        assert listener.shown == [(40, "half way"), (100, "")]
        eventually(lambda: not list(files.iterdir()))  # what it would keep is kept nowhere
    finally:
        executor.close()


@posix
@pytest.mark.parametrize("name", ["split", "split_here"])
def test_a_copy_that_a_handler_makes_of_its_process_does_not_speak_for_it(executor: PythonExecutor, name: str) -> None:
    assert run(executor, name) == Outcome(ok=True, result='"of the first"')


def test_an_async_handler_is_awaited(executor: PythonExecutor) -> None:
    assert run(executor, "later") == Outcome(ok=True, result='"awaited"')


def test_standard_input_is_empty(executor: PythonExecutor) -> None:
    assert run(executor, "read_input") == Outcome(ok=True, result='""')


def test_a_result_that_is_no_json_is_kept_as_text(executor: PythonExecutor) -> None:
    outcome = run(executor, "odd")
    assert outcome.ok
    assert json.loads(outcome.result)["object"].startswith("<object object")


def test_a_large_payload_passes(executor: PythonExecutor) -> None:
    text = "店" * 200_000
    outcome = run(executor, "fail", payload={"text": text})
    assert outcome.error.endswith("店")
    assert len(outcome.error) == 4000


def test_a_flood_is_kept_within_limits() -> None:
    made, listener = make(limits=OutputLimits(lines=1000, tail_lines=10)), Listener()
    try:
        assert run(made, "flood", listener, timeout_s=60.0) == Outcome(ok=True, result="1")
        assert len(listener.lines) <= 1001
        assert pid_of(made)
    finally:
        made.close()


# ----------------------------------------------------------------------------------------------------------- failures
def test_an_exception_is_told_with_its_traceback(executor: PythonExecutor) -> None:
    outcome = run(executor, "fail", payload={"text": "登录已过期"})
    assert outcome.error.endswith("ValueError: 登录已过期")
    assert outcome.error_kind == classify.LOGIN_EXPIRED
    assert "in fail" in outcome.error


@pytest.mark.parametrize(("named", "kind"), [("captcha", "captcha"), ("nonsense", "unknown"), ("", "unknown")])
def test_a_handler_may_name_the_kind(executor: PythonExecutor, named: str, kind: str) -> None:
    assert run(executor, "fail_kind", payload={"kind": named}).error_kind == kind


@pytest.mark.parametrize(
    ("name", "payload", "words"),
    [
        ("rude", {}, "Rude"),
        ("leave", {"code": 3}, "SystemExit: 3"),
        ("leave", {"code": 0}, "SystemExit: 0"),
        ("leave", {"code": "go away"}, "SystemExit: go away"),
        ("interrupt", {}, "KeyboardInterrupt"),
        ("fail", {}, "KeyError: 'text'"),
    ],
)
def test_whatever_is_raised_is_a_failure_of_this_job_only(
    executor: PythonExecutor, name: str, payload: dict[str, Any], words: str
) -> None:
    before = pid_of(executor)
    outcome = run(executor, name, payload=payload)
    assert not outcome.ok
    assert words in outcome.error
    assert pid_of(executor) == before


@posix
@pytest.mark.parametrize("payload", [{"by": "signal"}, {"by": "pointer"}])
def test_a_crash_ends_the_child_and_not_the_worker(executor: PythonExecutor, payload: dict[str, Any]) -> None:
    before = pid_of(executor)
    outcome = run(executor, "crash", payload=payload)
    assert (outcome.ok, outcome.error_kind) == (False, classify.CRASHED)
    assert "SIGSEGV" in outcome.error
    assert "in crash" in outcome.error
    assert is_gone(before)
    assert pid_of(executor) != before


@pytest.mark.parametrize("code", [0, 1])
def test_a_child_that_vanishes_is_a_crash_whatever_its_code(executor: PythonExecutor, code: int) -> None:
    listener = Listener()
    outcome = run(executor, "vanish", listener, payload={"code": code})
    assert (outcome.ok, outcome.error_kind) == (False, classify.CRASHED)
    assert f"exit code {code} before the handler returned" in outcome.error
    assert listener.out() == ["last words"]


def test_a_child_that_lost_its_output_still_answers_and_is_replaced(executor: PythonExecutor) -> None:
    before = pid_of(executor)
    assert run(executor, "close_output") == Outcome(ok=True, result="5")
    assert pid_of(executor) != before
    assert is_gone(before)


def test_an_unknown_type_says_what_to_do(executor: PythonExecutor) -> None:
    outcome = run(executor, "nobody")
    assert outcome.error_kind == classify.UNKNOWN_TYPE
    assert "worker.handlers" in outcome.error


def test_a_child_that_died_while_idle_is_replaced(executor: PythonExecutor) -> None:
    before = pid_of(executor)
    psutil.Process(before).kill()
    eventually(lambda: is_gone(before))
    assert pid_of(executor) != before


def test_a_child_that_dies_as_it_is_chosen_is_replaced(
    executor: PythonExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pid_of(executor)
    psutil.Process(before).kill()
    eventually(lambda: is_gone(before))
    real, first = HandlerProcess.usable.fget, iter([True])
    assert real is not None
    monkeypatch.setattr(HandlerProcess, "usable", property(lambda child: next(first, None) or real(child)))
    assert pid_of(executor) != before


def test_a_module_that_fails_in_the_child_only_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
import os
from services.executors.registry import task_handler
if "FLEETDECK_RUN" in os.environ:
    raise RuntimeError("no licence in this process")
@task_handler("moody")
def moody(payload, job): ...
"""
    (tmp_path / "moody_handlers.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = PythonExecutor(load_handlers("moody_handlers"), base_environment=dict(os.environ))
    try:
        outcome = run(made, "moody")
        assert (outcome.ok, outcome.error_kind) == (False, classify.CRASHED)
        assert "no licence in this process" in outcome.error
    finally:
        made.close()


def take_slowly(_: object, pid: str) -> None:
    """Until the child is ended with the process that it left, and longer than who does not wait for its words stays."""
    eventually(lambda: is_gone(int(pid)))
    threading.Event().wait(0.5)


@posix
@pytest.mark.parametrize(
    "at_import",
    [
        "print(subprocess.Popen(['sleep', '1000'], stdout=-3, stderr=-3).pid, flush=True)",
        "os.write(int(sys.argv[2]), b'no message\\n')",
    ],
    ids=["late", "unreadable"],
)
def test_a_job_is_not_begun_again_where_its_beginning_was_not_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_import: str
) -> None:
    text = f"""
import os, subprocess, sys
from pathlib import Path
from services.executors.registry import task_handler
if "FLEETDECK_RUN" in os.environ:
    with Path(__file__).with_name("children").open("a") as stream:
        stream.write("x")
    {at_import}
@task_handler("brief")
def brief(payload, job):
    os._exit(3)
"""
    (tmp_path / "brief_handlers.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = PythonExecutor(load_handlers("brief_handlers"), base_environment=dict(os.environ))
    try:
        outcome = made.run(job("brief"), JobContext(log=take_slowly, progress=lambda *_: None))
        assert (outcome.ok, outcome.error_kind) == (False, classify.CRASHED)
        assert (tmp_path / "children").read_text() == "x"
    finally:
        made.close()


@pytest.mark.parametrize("slow", ["log", "progress"])
def test_an_answer_counts_though_the_child_died_and_what_came_before_is_taken_slowly(
    executor: PythonExecutor, slow: str
) -> None:
    takers: dict[str, Any] = {"log": lambda *_: None, "progress": lambda *_: None, slow: take_slowly}
    assert executor.run(job("answer_and_vanish"), JobContext(**takers)) == Outcome(ok=True, result="7")


# ----------------------------------------------------------------------------------------------- time-out and cancel
@posix
@pytest.mark.parametrize("name", ["spin", "hold_the_lock"])
def test_a_time_out_kills_what_does_not_listen(executor: PythonExecutor, name: str) -> None:
    child = pid_of(executor)  # on a busy machine a new one might not come so far in its time
    outcome = run(executor, name, timeout_s=1.0)
    assert (outcome.ok, outcome.timed_out, outcome.error_kind) == (False, True, classify.TIMEOUT)
    assert "it was killed" in outcome.error
    assert is_gone(child)
    assert pid_of(executor) != child


def test_a_time_out_tells_the_handler_first() -> None:
    made = make(kill_grace_s=20.0)
    try:
        before = pid_of(made)
        outcome = run(made, "listen", timeout_s=0.2)
        assert (outcome.timed_out, outcome.error) == (True, "no end within 0.2 s; it ended when asked")
        outcome = run(made, "listen", timeout_s=0.2, payload={"raise": True})
        assert outcome.timed_out
        assert "interrupted in the middle" in outcome.error
        assert run(made, "listen", timeout_s=0.2, payload={"bring": {"n": 1}}) == Outcome(ok=True, result='{"n":1}')
        assert pid_of(made) == before
    finally:
        made.close()


def test_a_cancellation_is_heard(executor: PythonExecutor) -> None:
    running = start(executor, job("listen"))
    pid = int(running.listener.wait_for("pid "))
    running.listener.context.cancelled.set()
    outcome = running.outcome()
    assert (outcome.ok, outcome.cancelled, outcome.error) == (False, True, "stopped on request")
    assert running.listener.stops == 1
    assert pid_of(executor) == pid


@posix
def test_a_cancellation_that_comes_before_the_handler_begins_is_not_lost(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    made = PythonExecutor(
        load_handlers([slow_handlers.__name__]),
        cancel_grace_s=20.0,
        base_environment={**os.environ, slow_handlers.GATE: str(gate)},
    )
    try:
        running = start(made, job("slow_listen"))
        eventually((tmp_path / "gate.asked").exists)
        running.listener.context.cancelled.set()
        eventually(lambda: running.listener.stops == 1 or not running.thread.is_alive())
        gate.touch()
        outcome = running.outcome()
        assert (outcome.cancelled, "killed" in outcome.error) == (True, False)
    finally:
        made.close()


@pytest.mark.parametrize("how", ["timeout", "cancel", "close"])
def test_the_whole_family_is_gone_afterwards(how: str) -> None:
    made = make(cancel_grace_s=0.0)
    running = start(made, job("family", timeout_s=6 * SOON_S if how == "timeout" else 60.0))
    family = [int(pid) for pid in running.listener.wait_for("family ").split()]
    if how == "cancel":
        running.listener.context.cancelled.set()
    elif how == "close":
        made.close()
    outcome = running.outcome()
    assert (outcome.timed_out, outcome.cancelled) == (how == "timeout", how != "timeout")
    assert all(is_gone(pid) for pid in family)
    made.close()


def test_closing_ends_all_children_and_refuses_more() -> None:
    made = make()
    idle = pid_of(made)
    busy = [start(made, job("spin", task_id=f"t-{number}")) for number in range(2)]
    pids = [int(running.listener.wait_for("pid ")) for running in busy]
    made.close()
    assert all(running.outcome().cancelled for running in busy)
    assert all(is_gone(pid) for pid in [idle, *pids])
    assert run(made, "echo").cancelled
    made.close()


@posix
def test_children_do_not_outlive_a_killed_worker() -> None:
    code = f"""
import sys
sys.path[:] = {sys.path!r}
from services.executors.python import HandlerProcess
from services.executors.python import PythonExecutor
from services.executors.registry import load_handlers
from tests.unit.services.executors import slow_handlers
from tests.unit.services.executors.builders import job, start
made = PythonExecutor(load_handlers({SAMPLES!r}))
running = start(made, job("family"))
print(running.listener.wait_for("family "), flush=True)
running.outcome()
"""
    worker = psutil.Popen([sys.executable, "-c", code], stdout=-1, env=dict(os.environ))
    with worker.stdout:
        family = [int(pid) for pid in worker.stdout.readline().split()]
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    eventually(lambda: all(is_gone(pid) for pid in family[:2]))
    psutil.Process(family[2]).kill()  # it left the session on purpose, and nobody is there to look for it


# ------------------------------------------------------------------------------------------------------------ threads
def test_a_thread_handler_runs_here(executor: PythonExecutor) -> None:
    assert run(executor, "here") == Outcome(ok=True, result=str(os.getpid()))


def test_inside_a_window_it_runs_in_a_child_all_the_same() -> None:
    made = make(process_only=True)
    try:
        assert run(made, "here").result != str(os.getpid())
    finally:
        made.close()


@pytest.mark.parametrize(("name", "kind"), [("here_fail", "login_expired"), ("here_leave", "unknown")])
def test_a_thread_handler_that_fails(executor: PythonExecutor, name: str, kind: str) -> None:
    outcome = run(executor, name)
    assert (outcome.ok, outcome.error_kind) == (False, kind)


def test_a_thread_handler_hears_the_time_out_and_the_cancellation(executor: PythonExecutor) -> None:
    outcome = run(executor, "here_listen", timeout_s=0.1)
    assert (outcome.timed_out, outcome.error) == (True, "no end within 0.1 s; it ended by itself")
    assert run(executor, "here_listen", timeout_s=0.1, payload={"bring": 1}) == Outcome(ok=True, result="1")
    running = start(executor, job("here_listen"))
    running.listener.wait_for("listening")
    running.listener.context.cancelled.set()
    assert running.outcome().cancelled
    assert running.listener.stops == 1
    assert running.listener.shown == [(5, "")]


# --------------------------------------------------------------------------------------------------------------- more
def test_a_handler_in_the_main_script_is_refused() -> None:
    handler = Handler(name="x", function=lambda payload, job: None, module="__main__")
    with pytest.raises(UsageError, match="main script"):
        PythonExecutor({"x": handler})


@posix
def test_eight_slots_leave_no_thread_no_pipe_and_no_zombie() -> None:
    run_once = make()
    run(run_once, "echo")
    run_once.close()
    threads = threading.active_count()
    eventually(lambda: threading.active_count() <= threads)
    before, others = descriptors(), set(unreaped())
    made = make()
    for _ in range(3):
        all_running = [start(made, job("echo", task_id=f"t-{number}")) for number in range(8)]
        told = [json.loads(running.outcome().result) for running in all_running]
        assert [each["job"][0] for each in told] == [f"t-{number}" for number in range(8)]
    made.close()
    eventually(lambda: descriptors() <= before)  # what earlier tests held may go meanwhile
    assert set(unreaped()) <= others
