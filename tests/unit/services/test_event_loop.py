"""What the engine loads leaves asyncio alone: a browser or a flow is a child process of an event loop (FAULTS 8.50)."""

from __future__ import annotations

import subprocess
import sys

#: as a driver of browsers does after the program has loaded its engine with all drivers
CHILD = """
import asyncio, sys
import services.assembly, services.workforce
import services.broker.rabbitmq.broker, services.broker.pulsar.broker
import services.store.redis.client, services.executors.browser.installation

async def begin():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('began')", stdout=-1)
    return await child.stdout.read()

print(type(asyncio.get_event_loop_policy()) is asyncio.DefaultEventLoopPolicy, asyncio.run(begin()).decode().strip())
"""


def test_a_child_process_of_an_event_loop_begins_after_the_engine_was_loaded() -> None:
    """On Windows a library that chooses another loop for everybody would end it with NotImplementedError."""
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["True", "began"], done.stderr[-2000:]
