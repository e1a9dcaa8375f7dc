"""The command line of the sample RPA product, as the task engine calls it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from sample_rpa.client import Client
from sample_rpa.errors import FlowError, Stopped, Usage
from sample_rpa.flows import FLOWS
from sample_rpa.run import FlowContext, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

USAGE = "usage: rpa_cli.py run --flow {platform}_{task_type} --param '{\"shop_id\": …}' [--timeout SECONDS]"
FAILED, WRONG_USAGE = 1, 2


def main(argv: Sequence[str]) -> int:
    """Run one flow; the exit code says how it went and the end of stderr why."""
    for stream in (sys.stdout, sys.stderr):  # a pipe on Windows would speak the desk's code page
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    code = FAILED
    try:
        _listen_for_the_end()
        platform, task_type, param, timeout = _parse(argv)
        _execute(platform, task_type, param, timeout, os.environ)  # noqa: TID251 - a program of its own
        return 0
    except Usage as exc:
        _complain(f"{USAGE}\n{exc}")  # the end of stderr is what the engine keeps: the reason stands last
        code = WRONG_USAGE
    except FlowError as exc:
        _complain(str(exc))
    except Stopped as exc:
        _complain(f"Stopped: signal {exc.args[0]}")
        code = 128 + int(exc.args[0])
    return code


def _execute(platform: str, task_type: str, param: dict[str, Any], timeout: float, env: Mapping[str, str]) -> None:
    url = env.get("FLEETDECK_SAMPLE_URL", "")
    if not url:
        raise Usage("FLEETDECK_SAMPLE_URL is not set")
    client = Client(
        url,
        headers={"X-Task-Id": str(param.get("task_id") or ""), "X-Flow": f"{platform}_{task_type}"},
        page_timeout=float(env.get("FLEETDECK_SAMPLE_PAGE_TIMEOUT") or 8),
        deadline=time.monotonic() + timeout,
    )
    run = FlowContext(platform, param, client, {name: env.get(name, "") for name in _PLACES})
    port = f", port {param['debug_port']}" if param.get("debug_port") else ""  # only where a browser is lent
    run.log(f"{task_type} as profile {param.get('profile_id') or '-'}{port}")
    try:
        result = FLOWS[task_type](run)
    except FlowError:
        if param.get("screenshot_on_failure", True) is True and client.last_page and run.can_save():
            run.keep_page(client.last_page, "failed")
        raise
    finally:
        run.close()
    say(json.dumps({"result": result}, ensure_ascii=False))


_PLACES = ("FLEETDECK_SAMPLE_DB", "FLEETDECK_SAMPLE_OUT")


def _parse(argv: Sequence[str]) -> tuple[str, str, dict[str, Any], float]:
    if not argv or argv[0] != "run" or len(argv) % 2 == 0:
        raise Usage("wrong command")
    options = dict(zip(argv[1::2], argv[2::2], strict=True))
    strange = options.keys() - {"--flow", "--param", "--timeout"}
    if strange:
        raise Usage(f"unknown option {sorted(strange)[0]}")
    platform, _, task_type = options.get("--flow", "").partition("_")
    if not platform or task_type not in FLOWS:
        raise Usage(f"unknown flow {options.get('--flow', '')!r}; known task types: {', '.join(FLOWS)}")
    try:
        param, timeout = json.loads(options.get("--param", "{}")), float(options.get("--timeout", "600"))
    except ValueError as exc:
        raise Usage(f"invalid parameter: --param is not JSON or --timeout is not a number: {exc}") from None
    if not isinstance(param, dict) or not _is_word(param.get("shop_id")):
        raise Usage("invalid parameter: --param is not a JSON object with a shop_id of letters, digits, - and _")
    return platform, task_type, param, timeout


def _is_word(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and text.replace("-", "a").replace("_", "a").isalnum()


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _listen_for_the_end() -> None:
    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not break the clean end
        raise Stopped(number)

    for name in ("SIGTERM", "SIGINT", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
