"""The rpa executor with real child processes: what they get, how they end, and that nothing of them stays."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from services.domain.task import classify
from services.executors.base import Outcome
from services.executors.process_tree import END_EVENT, MARK
from services.executors.rpa import RpaExecutor
from services.executors.stdout import OutputLimits
from tests.support.stopped import stop
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

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, sessions and modes")
NO_SITE = [sys.executable, "-S", "-E", "-X", "utf8"]
FLOW = ["run", "--flow", "{platform}_{task_type}", "--param", "{param}", "--timeout", "{timeout}"]
#: prints its own pid and waits for ever
HANG = "import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(1000)"
DEAF = (
    "import signal\nfor name in ('SIGTERM', 'SIGBREAK'):\n"
    "    if hasattr(signal, name):\n        signal.signal(getattr(signal, name), signal.SIG_IGN)\n" + HANG
)
#: starts one child in its own group, one in another session, and waits
FAMILY = f"""
import subprocess, sys, os, time
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(1000)"
family = [subprocess.Popen([sys.executable, "-S", "-E", "-c", deaf], stdout=subprocess.PIPE, start_new_session=away)
          for away in (False, True)]
for child in family:
    child.stdout.readline()
print('family', *(child.pid for child in family), flush=True)
{HANG}
"""


def leaving(line: str) -> str:
    """A flow that prints a line and ends when it is asked to, and not before."""
    if sys.platform == "win32":  # as a program without a console hears it; wine sends no console signals
        return f"""
import ctypes, os
kernel = ctypes.WinDLL("kernel32")
kernel.WaitForSingleObject(kernel.OpenEventW(0x100000, False, os.environ[{END_EVENT!r}]), -1)
print({line!r}, flush=True)
"""
    return f"""
import signal, sys, time
def leave(*_):
    print({line!r}, flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
time.sleep(1000)
"""


def executor(code: str, *arguments: str, **fields: Any) -> RpaExecutor:
    base: dict[str, Any] = {"kill_grace_s": 0.0, "cancel_grace_s": 20.0, "base_environment": dict(os.environ)}
    return RpaExecutor([*NO_SITE, "-c", code, *arguments], **(base | fields))


def run(code: str, *arguments: str, listener: Listener | None = None, **fields: Any) -> Outcome:
    work = job(**{name: fields.pop(name) for name in ("payload", "timeout_s", "task_type") if name in fields})
    return executor(code, *arguments, **fields).run(work, (listener or Listener()).context)


# --------------------------------------------------------------------------------------------------- what it gets
def arguments_of(*template: str, **fields: Any) -> list[str]:
    listener = Listener()
    assert run("import sys, json\nprint(json.dumps(sys.argv[1:]))", *template, listener=listener, **fields).ok
    return json.loads(listener.out()[0])  # type: ignore[no-any-return]


def test_the_command_line_of_the_contract() -> None:
    seen = arguments_of(*FLOW, payload={"since": "2026-11-20", "店": "旗舰店 'x' \"y\" $(z) `w` %PATH%"}, timeout_s=600)
    assert seen[:4] == ["run", "--flow", "pdd_sync_order", "--param"]
    assert seen[5:] == ["--timeout", "600"]
    assert json.loads(seen[4]) == {
        "shop_id": "shop017",
        "profile_id": "pdd_shop017",
        "debug_port": None,
        "task_id": "t-1",
        "since": "2026-11-20",
        "店": "旗舰店 'x' \"y\" $(z) `w` %PATH%",
    }


def test_braces_in_a_payload_are_not_filled_in_again() -> None:
    (seen,) = arguments_of("--param={param}", payload={"a": "{timeout} {param} {platform}", "b": "{0} {x!r}"})
    told = json.loads(seen.removeprefix("--param="))
    assert (told["a"], told["b"]) == ("{timeout} {param} {platform}", "{0} {x!r}")


def test_unknown_places_stay_as_they_are() -> None:
    assert arguments_of("{nothing}", "{}", "{{param}")[:2] == ["{nothing}", "{}"]


def test_a_payload_cannot_name_another_shop() -> None:
    (seen,) = arguments_of("{param}", payload={"shop_id": "other", "profile_id": "x", "task_id": "y", "debug_port": 1})
    told = json.loads(seen)
    assert (told["shop_id"], told["profile_id"], told["task_id"], told["debug_port"]) == (
        "shop017", "pdd_shop017", "t-1", None,
    )  # fmt: skip


def test_a_word_cannot_become_an_option() -> None:
    outcome = run("print(1)", "{task_type}", task_type="--help")
    assert (outcome.ok, outcome.error_kind) == (False, classify.BAD_PAYLOAD)


def test_only_allowed_and_given_variables_reach_a_flow() -> None:
    listener = Listener()
    code = "import os, json\nprint(json.dumps(dict(os.environ)))"
    base = {
        "PATH": os.environ["PATH"],
        **({} if sys.platform == "win32" else {"Path": "x"}),  # there the two are one
        "LC_ALL": "C.UTF-8",
        "FLEETDECK_BROKER__URL": "amqp://u:secret@h",
        "AWS_SECRET": "s",
        # they begin like names that may pass
        "USER_TOKEN": "s",
        "OS_PASSWORD": "s",
        "PATH_SECRET": "s",
    }
    assert run(code, listener=listener, base_environment=base, environment={"FLOW_HOME": "/flows"}).ok
    seen = json.loads(listener.out()[0])
    assert seen.pop(MARK)
    assert {"FLOW_HOME": "/flows", "PATH": os.environ["PATH"], "PYTHONUTF8": "1"}.items() <= seen.items()
    assert "secret" not in json.dumps(seen)
    assert not seen.keys() & {"AWS_SECRET", "USER_TOKEN", "OS_PASSWORD", "PATH_SECRET"}


def test_standard_input_is_empty_and_the_folder_is_the_configured_one(tmp_path: Any) -> None:
    listener = Listener()
    code = "import sys, os\nprint(repr(sys.stdin.read()), os.getcwd())"
    assert run(code, listener=listener, cwd=str(tmp_path)).ok
    assert listener.out() == [f"'' {tmp_path}"]


# ---------------------------------------------------------------------------------------------------- what it says
def test_log_progress_and_result() -> None:
    listener = Listener()
    code = """
import sys
print("步骤一")
print('{"progress": 40, "note": "下载"}')
print("warning: slow", file=sys.stderr)
print('{"result": {"orders": 12}}')
"""
    outcome = run(code, listener=listener)
    assert outcome == Outcome(ok=True, result='{"orders":12}')
    assert sorted(listener.lines) == [("err", "warning: slow"), ("out", "步骤一")]
    assert listener.shown == [(40, "下载")]


def test_a_large_result_passes_although_log_lines_are_cut() -> None:
    outcome = run("import json\nprint(json.dumps({'result': {'x': 'y' * 100_000}}))")
    assert len(json.loads(outcome.result)["x"]) == 100_000


@pytest.mark.parametrize("cwd", [True, False])
def test_files_of_the_attempt_are_handed_over_and_no_others(tmp_path: Any, cwd: bool) -> None:
    listener = Listener()
    flow, shared = tmp_path / "flow", tmp_path / "shared"
    for folder in (flow, shared):
        folder.mkdir()
        (folder / "secret.txt").write_text("s")
    code = f"""
import json, os, tempfile
own = os.environ["FLEETDECK_FILES"]
assert tempfile.gettempdir() == own and os.listdir(own) == [".fleetdeck-owner"], os.listdir(own)
assert {cwd} or os.getcwd() == own
open(own + "/page.html", "w").write("<p>")
os.symlink({str(flow / "secret.txt")!r}, own + "/link.txt")
for said in ({{"artifact": "page.html", "step": "open"}}, {{"artifact": own + "/page.html", "name": "二.html",
             "kind": "other"}}, {{"artifact": "/etc/hostname"}}, {{"artifact": "/proc/self/environ"}},
             {{"artifact": "link.txt"}}, {{"artifact": {str(flow / "secret.txt")!r}, "name": "flow"}},
             {{"artifact": ".", "name": "folder"}},
             {{"artifact": {str(shared / "secret.txt")!r}, "name": "shared"}}, {{"artifact": 7}}, {{"result": own}}):
    print(json.dumps(said))
"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(shared))
        patch.chdir(flow)
        outcome = run(code, listener=listener, cwd=str(flow) if cwd else None)
    assert outcome.ok, outcome.error
    assert listener.files.kept == {"page.html": (b"<p>", "", "open"), "二.html": (b"<p>", "other", "")}
    left = ["hostname", "environ", "link.txt", "flow", "folder", "shared"]
    assert [note.partition(" is left out")[0] for note in listener.files.notes] == left
    assert listener.out() == ['{"artifact": 7}']
    assert not Path(json.loads(outcome.result)).exists(), "the folder ends with the attempt"


@posix
def test_each_attempt_has_a_folder_of_its_own_that_nobody_else_may_open() -> None:
    code = "import json, os\nown = os.environ['FLEETDECK_FILES']\n"
    code += "print(json.dumps({'result': [own, os.stat(own).st_mode]}))"
    first, second = (json.loads(run(code).result) for _ in range(2))
    assert first[0] != second[0]
    assert first[1] & 0o777 == 0o700


def test_a_script_named_beside_the_worker_is_found_from_the_folder_of_the_attempt(tmp_path: Any) -> None:
    (tmp_path / "flow.py").write_text("print('{\"result\": 1}')")
    (tmp_path / "run").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        made = RpaExecutor([*NO_SITE, "flow.py", "run"], base_environment=dict(os.environ))
        listener = Listener()
        assert made.run(job(), listener.context) == Outcome(ok=True, result="1")


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_a_flow_that_prints_gbk_is_understood(encoding: str) -> None:
    listener = Listener()
    code = """
import sys
for line in ("订单已同步", '{"progress": 30, "note": "下载中"}', '{"result": {"店": "旗舰店"}}'):
    sys.stdout.buffer.write(line.encode("gbk") + b"\\r\\n")
sys.stderr.buffer.write("登录已过期".encode("gbk"))
sys.exit(1)
"""
    outcome = run(code, listener=listener, encoding=encoding)
    assert (listener.out(), listener.shown) == (["订单已同步"], [(30, "下载中")])
    assert (outcome.error, outcome.error_kind) == ("登录已过期", classify.LOGIN_EXPIRED)
    done = run(code.replace("sys.exit(1)", ""), encoding=encoding)
    assert json.loads(done.result) == {"店": "旗舰店"}


@pytest.mark.parametrize(("code", "kind"), [(10, "captcha"), (11, "rate_limited"), (12, "unknown")])
def test_exit_codes_name_kinds_whatever_was_printed(code: int, kind: str) -> None:
    said = "" if code == 11 else "sys.stderr.write('it did not work')"
    outcome = run(f"import sys\n{said}\nsys.exit({code})", exit_codes={10: "captcha", 11: "rate_limited"})
    assert (outcome.ok, outcome.error_kind) == (False, kind)


def test_more_variables_pass_when_they_are_named() -> None:
    listener = Listener()
    mine = {"ERP_HOST": "h", "ERP_PORT": "1", "OTHER": "x", "FLEETDECK_STORE__URL": "redis://:secret@h"}
    code = f"import os, json\nprint(json.dumps(sorted({set(mine)} & set(os.environ))))"
    base = {"PATH": os.environ["PATH"], **mine}
    for masks in (["ERP_*"], ["E*", "FLEETDECK_*"]):
        assert run(code, listener=listener, base_environment=base, pass_environment=masks).ok
    assert [json.loads(line) for line in listener.out()] == [["ERP_HOST", "ERP_PORT"]] * 2


def test_a_failure_carries_the_end_of_stderr_and_its_kind() -> None:
    code = "import sys\nsys.stderr.write('noise\\n' * 3000 + 'Traceback:\\nLoginError: 登录已过期\\n')\nsys.exit(3)"
    outcome = run(code)
    assert not outcome.ok
    assert outcome.error.endswith("LoginError: 登录已过期")
    assert len(outcome.error) <= 4000
    assert outcome.error_kind == classify.LOGIN_EXPIRED


@pytest.mark.parametrize(
    ("code", "words", "kind"),
    [
        ("import sys\nsys.exit(7)", "exit code 7", "unknown"),
        ("import sys\nprint('网络异常')\nsys.exit(7)", "its last line was: 网络异常", "network"),
        ("import sys\nprint('{\"result\": 1}')\nsys.exit(1)", "exit code 1", "unknown"),
    ],
)
def test_a_silent_failure_is_described(code: str, words: str, kind: str) -> None:
    outcome = run(code)
    assert not outcome.ok
    assert words in outcome.error
    assert outcome.error_kind == kind


@posix
def test_a_crash_names_its_signal() -> None:
    outcome = run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert (outcome.error_kind, outcome.ok) == (classify.CRASHED, False)
    assert "SIGSEGV" in outcome.error


def test_a_flood_neither_blocks_nor_eats_memory() -> None:
    listener = Listener()
    code = """
import sys
sys.stdout.write("x" * 30_000_000 + "\\n")
for number in range(100_000):
    sys.stdout.write(f"line {number}\\n")
sys.stderr.write("e" * 5_000_000)
print('{"progress": 99}')
print('{"result": "done"}')
"""
    outcome = run(code, listener=listener, limits=OutputLimits(lines=1000, tail_lines=10))
    assert outcome == Outcome(ok=True, result='"done"')
    assert len(listener.lines) <= 1001
    assert max(len(text) for _, text in listener.lines) <= 10_001
    assert ("out", "line 99999") in listener.lines
    assert listener.shown == [(99, "")]


def test_binary_output_is_shown_somehow() -> None:
    listener = Listener()
    assert run("import sys\nsys.stdout.buffer.write(bytes(range(256)) * 100)", listener=listener).ok
    assert listener.lines


# ------------------------------------------------------------------------------------------------------ how it ends
def test_a_time_out_asks_first() -> None:
    listener = Listener()
    outcome = run(leaving("cleaning up"), listener=listener, timeout_s=SOON_S, kill_grace_s=20.0)
    assert (outcome.ok, outcome.timed_out, outcome.error_kind) == (False, True, classify.TIMEOUT)
    assert "it ended when asked" in outcome.error
    assert listener.out() == ["cleaning up"]


def test_a_time_out_kills_what_does_not_listen() -> None:
    listener = Listener()
    outcome = run(DEAF, listener=listener, timeout_s=SOON_S)
    assert (outcome.timed_out, outcome.error_kind) == (True, classify.TIMEOUT)
    assert "it was killed" in outcome.error
    assert is_gone(int(listener.wait_for("pid ")))


def test_a_flow_that_brings_its_result_home_late_has_done_its_work() -> None:
    code = leaving('{"result": {"orders": 3}}')
    assert run(code, timeout_s=SOON_S, kill_grace_s=20.0) == Outcome(ok=True, result='{"orders":3}')


@posix
def test_a_cancellation_ends_the_tree_and_says_so() -> None:
    running = start(executor(HANG), job())
    pid = int(running.listener.wait_for("pid "))
    running.listener.context.cancelled.set()
    outcome = running.outcome()
    assert (outcome.ok, outcome.cancelled, outcome.error_kind) == (False, True, classify.CANCELLED)
    assert outcome.error == "stopped on request"
    assert running.listener.stops == 1
    assert is_gone(pid)


@pytest.mark.parametrize("how", ["timeout", "cancel", "close"])
def test_the_whole_family_is_gone_afterwards(how: str) -> None:
    made = executor(FAMILY, cancel_grace_s=0.0)
    running = start(made, job(timeout_s=5 * SOON_S if how == "timeout" else 60.0))
    family = [int(pid) for pid in running.listener.wait_for("family ").split()]
    family.append(int(running.listener.wait_for("pid ")))
    if how == "cancel":
        running.listener.context.cancelled.set()
    elif how == "close":
        made.close()
    outcome = running.outcome()
    assert (outcome.timed_out, outcome.cancelled) == (how == "timeout", how != "timeout")
    assert all(is_gone(pid) for pid in family)


def test_what_a_flow_leaves_behind_in_its_group_is_ended() -> None:
    listener = Listener()
    code = """
import subprocess, sys
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("left", subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(1000)"], **quiet).pid)
"""
    assert run(code, listener=listener).ok
    left = int(listener.wait_for("left "))
    eventually(lambda: is_gone(left))


def test_a_child_that_holds_the_pipes_does_not_hold_the_slot() -> None:
    listener = Listener()
    code = """
import subprocess, sys
print("left", subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(1000)"]).pid, flush=True)
"""
    assert run(code, listener=listener, timeout_s=60.0).ok
    assert is_gone(int(listener.wait_for("left ")))


def test_a_flow_that_closes_its_output_is_still_waited_for() -> None:
    code = "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(0.2)\nos._exit(5)"
    outcome = run(code)
    assert "exit code 5" in outcome.error


def test_closing_ends_everything_and_refuses_more() -> None:
    made = executor(DEAF)
    all_running = [start(made, job(task_id=f"t-{number}")) for number in range(3)]
    pids = [int(running.listener.wait_for("pid ")) for running in all_running]
    made.close()
    assert all(is_gone(pid) for pid in pids)
    assert all(running.outcome().cancelled for running in all_running)
    assert made.run(job(), Listener().context).cancelled


def test_a_job_that_was_cancelled_before_is_not_started(tmp_path: Any) -> None:
    listener = Listener()
    listener.context.cancelled.set()
    trace = tmp_path / "trace"
    assert run(f"open({str(trace)!r}, 'w')", listener=listener).cancelled
    assert not trace.exists()


# -------------------------------------------------------------------------------------------------- what is missing
@pytest.mark.parametrize(
    ("command", "fields"),
    [
        ((), {}),
        (("no-such-program-here",), {}),
        (("/no/such/folder/cli",), {}),
        ((os.devnull,), {}),
        ((sys.executable, "-c", "1"), {"cwd": "/no/such/folder"}),
    ],
)
def test_a_missing_command_is_a_permanent_error_with_a_remedy(command: tuple[str, ...], fields: dict[str, Any]) -> None:
    outcome = RpaExecutor(command, base_environment=dict(os.environ), **fields).run(job(), Listener().context)
    assert (outcome.ok, outcome.error_kind) == (False, classify.NO_COMMAND)
    assert classify.NO_COMMAND in classify.PERMANENT
    assert "executors.rpa.c" in outcome.error


@posix
def test_a_payload_too_long_for_a_command_line_is_a_bad_payload() -> None:
    outcome = run("print(1)", "{param}", payload={"x": "y" * 400_000})
    assert (outcome.ok, outcome.error_kind) == (False, classify.BAD_PAYLOAD)
    assert "too long" in outcome.error


def test_a_corrupt_payload_is_a_bad_payload() -> None:
    work = job()
    broken = type(work)(
        task=type(work.task)(task_id="t", shop_id="s", platform="p", task_type="x", payload="{"),
        attempt=1, worker="w", slot=0, timeout_s=5.0,
    )  # fmt: skip
    assert executor("print(1)", "{param}").run(broken, Listener().context).error_kind == classify.BAD_PAYLOAD


# ------------------------------------------------------------------------------------------------------ many at once
@posix
def test_eight_slots_leave_no_thread_no_pipe_and_no_zombie() -> None:
    made = executor("import sys\nprint(sys.argv[1])\nprint('{\"result\": ' + sys.argv[1][-1] + '}')", "{task_id}")
    made.run(job(), Listener().context)
    before, threads, others = descriptors(), threading.active_count(), set(unreaped())
    for _ in range(3):
        all_running = [start(made, job(task_id=f"t-{number}")) for number in range(8)]
        for number, running in enumerate(all_running):
            assert running.outcome() == Outcome(ok=True, result=str(number))
            assert running.listener.out() == [f"t-{number}"]
    eventually(lambda: threading.active_count() <= threads)
    assert descriptors() == before
    assert set(unreaped()) <= others


@posix
def test_a_stopped_process_is_killed_too() -> None:
    running = start(executor(HANG, cancel_grace_s=0.0), job())
    pid = int(running.listener.wait_for("pid "))
    stop(pid)
    running.listener.context.cancelled.set()
    assert running.outcome().cancelled
    assert is_gone(pid)
