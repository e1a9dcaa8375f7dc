"""The flow that every task of a situation runs; a file beside it says how each shop's flow of each type behaves.

``behaviour.json`` maps ``platform:shop/type``, ``platform:shop``, ``platform/type``, ``type`` or ``*`` to
``{"seconds": s, "error": text, "exit": code, "stall": true, "mute": true}``; the first that is there counts.
``stall`` waits until the process is ended, ``mute`` tells nothing meanwhile.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> int:
    """Behave as told."""
    folder, platform, task_type, raw = sys.argv[1:5]
    param = json.loads(raw)
    told = json.loads((Path(folder) / "behaviour.json").read_text(encoding="utf-8"))
    shop = f"{platform}:{param['shop_id']}"
    keys = (f"{shop}/{task_type}", shop, f"{platform}/{task_type}", task_type, "*")
    how = next((told[key] for key in keys if key in told), {})
    ends = time.monotonic() + float(how.get("seconds", 0.5))
    began = time.monotonic()
    while time.monotonic() < ends or how.get("stall"):
        time.sleep(0.2)
        if ends > began and not how.get("mute"):
            share = min(99, round(100 * (time.monotonic() - began) / (ends - began)))
            sys.stdout.write(json.dumps({"progress": share}) + "\n")
            sys.stdout.flush()
    if how.get("error"):
        sys.stderr.write(str(how["error"]) + "\n")
        return int(how.get("exit", 1))
    sys.stdout.write(json.dumps({"result": {"rows": 12}}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
