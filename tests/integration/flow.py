"""A flow as the rpa executor starts it: ``flow.py TASK_TYPE PARAM``; what it does stands in PARAM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time


def main() -> None:
    param = json.loads(sys.argv[2])
    note(param, f"start {param['task_id']} {os.getpid()}")
    if param.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if param.get("child"):
        quiet = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-S", "-c", quiet])
        note(param, f"child {param['task_id']} {child.pid}")
    print(json.dumps({"progress": 10, "note": "started"}), flush=True)
    print("a line of the log", flush=True)
    time.sleep(float(param.get("sleep", 0)))
    if param.get("crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if "fail" in param:
        print(param["fail"], file=sys.stderr)
        sys.exit(1)
    note(param, f"end {param['task_id']} {os.getpid()}")
    print(json.dumps({"result": {"shop": param["shop_id"]}}), flush=True)


def note(param: dict, line: str) -> None:
    if "seen" in param:
        number = os.open(param["seen"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(number, f"{line}\n".encode())
        os.close(number)


main()
