"""A module of handlers whose import does not come to an end."""

from __future__ import annotations

import sys
import time

print("hangs", file=sys.stderr, flush=True)
while True:
    time.sleep(1.0)
