"""Handlers that behave, and handlers that do not."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from services.executors.registry import HandlerContext, HandlerError, task_handler

Payload = dict[str, Any]


@task_handler("echo", idempotent=True)
def echo(payload: Payload, job: HandlerContext) -> Payload:
    return {"payload": payload, "pid": os.getpid(), "job": [job.task_id, job.shop_id, job.platform, job.attempt]}


@task_handler("talk")
def talk(payload: Payload, job: HandlerContext) -> None:
    print("一行 on stdout")
    print("one on stderr", file=sys.stderr)
    os.system("echo from a shell")
    job.log("two\nlines")
    job.progress(40, "half way")
    job.progress(250)


@task_handler("keep")
@task_handler("keep_here", isolate="thread")
def keep(payload: Payload, job: HandlerContext) -> None:
    job.keep(b"png", "shot.png", kind="image", step="login")
    job.keep(payload["file"])


@task_handler("fail")
def fail(payload: Payload, job: HandlerContext) -> None:
    raise ValueError(payload["text"])


@task_handler("fail_kind")
def fail_kind(payload: Payload, job: HandlerContext) -> None:
    raise HandlerError("the shop asks who we are", kind=payload["kind"])


class Rude(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@task_handler("rude")
def rude(payload: Payload, job: HandlerContext) -> None:
    raise Rude


@task_handler("leave")
def leave(payload: Payload, job: HandlerContext) -> None:
    sys.exit(payload.get("code"))


@task_handler("interrupt")
def interrupt(payload: Payload, job: HandlerContext) -> None:
    raise KeyboardInterrupt


@task_handler("vanish")
def vanish(payload: Payload, job: HandlerContext) -> None:
    print("last words", flush=True)
    os._exit(payload["code"])


@task_handler("answer_and_vanish")
def answer_and_vanish(payload: Payload, job: HandlerContext) -> int:
    """The child dies as soon as it has answered; it leaves a process behind whose number it prints and shows."""

    def vanish_after(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and frame.f_code.co_name == "_run":
            os._exit(3)

    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    left = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(1000)"], **quiet)
    print(left.pid, flush=True)
    job.progress(1, str(left.pid))
    sys.setprofile(vanish_after)
    return 7


@task_handler("crash")
def crash(payload: Payload, job: HandlerContext) -> None:
    if payload.get("by") == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    ctypes.string_at(0)


@task_handler("spin")
def spin(payload: Payload, job: HandlerContext) -> None:
    job.log(f"pid {os.getpid()}")
    while True:
        pass


@task_handler("hold_the_lock")
def hold_the_lock(payload: Payload, job: HandlerContext) -> None:
    """Stays inside one C call that never releases the interpreter lock."""
    job.log(f"pid {os.getpid()}")
    ctypes.PyDLL(None).pause()


@task_handler("listen")
def listen(payload: Payload, job: HandlerContext) -> Payload | None:
    job.log(f"pid {os.getpid()}")
    while not job.cancelled():
        time.sleep(0.005)
    if payload.get("raise"):
        raise RuntimeError("interrupted in the middle")
    return payload.get("bring")


@task_handler("family")
def family(payload: Payload, job: HandlerContext) -> None:
    code = "import time; time.sleep(1000)"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    near = subprocess.Popen([sys.executable, "-S", "-E", "-c", code], **quiet)
    far = subprocess.Popen([sys.executable, "-S", "-E", "-c", code], start_new_session=True, **quiet)
    job.log(f"family {os.getpid()} {near.pid} {far.pid}")
    while True:
        time.sleep(1)


@task_handler("flood")
def flood(payload: Payload, job: HandlerContext) -> int:
    for number in range(50_000):
        print(f"line {number}")
        if number % 10 == 0:
            job.log(f"note {number}")
            job.progress(number // 500)
    sys.stdout.write("x" * 10_000_000)
    return 1


@task_handler("odd")
def odd(payload: Payload, job: HandlerContext) -> object:
    return {"object": object(), "path": Path("/tmp"), "set": {1}, "nan": float("nan"), "bytes": b"ab"}


@task_handler("close_output")
def close_output(payload: Payload, job: HandlerContext) -> int:
    os.close(1)
    os.close(2)
    return 5


@task_handler("read_input")
def read_input(payload: Payload, job: HandlerContext) -> str:
    return sys.stdin.read()


@task_handler("later")
async def later(payload: Payload, job: HandlerContext) -> str:
    await asyncio.sleep(0)
    return "awaited"


@task_handler("here", isolate="thread")
def here(payload: Payload, job: HandlerContext) -> int:
    return os.getpid()


@task_handler("here_fail", isolate="thread")
def here_fail(payload: Payload, job: HandlerContext) -> None:
    raise HandlerError("登录已过期")


@task_handler("here_leave", isolate="thread")
def here_leave(payload: Payload, job: HandlerContext) -> None:
    sys.exit(2)


@task_handler("here_listen", isolate="thread")
def here_listen(payload: Payload, job: HandlerContext) -> Any:
    job.log("listening")
    job.progress(5)
    while not job.cancelled():
        time.sleep(0.005)
    return payload.get("bring")


@task_handler("split")
@task_handler("split_here", isolate="thread")
def split(payload: Payload, job: HandlerContext) -> str:
    """A copy of the process comes back too, and before the one that was called."""
    copy = os.fork()
    if not copy:
        raise RuntimeError("of the copy")
    os.waitpid(copy, 0)
    return "of the first"


@task_handler("leave_thread")
def leave_thread(payload: Payload, job: HandlerContext) -> None:
    def talk_on() -> None:
        while not Path(payload["until"]).exists():
            job.log("late")
            job.progress(99, "late")
            job.keep(b"late", "late.txt")
            time.sleep(0.001)

    threading.Thread(target=talk_on, daemon=True).start()
