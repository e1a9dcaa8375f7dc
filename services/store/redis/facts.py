"""What INFO and CONFIG of Redis say, as far as a doctor wants to know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PARTS = ("server", "memory", "persistence", "replication")
_KEPT = {
    "redis_version": "version",
    "role": "role",
    "connected_slaves": "replicas",
    "master_link_status": "primary_link",
    "used_memory": "used_memory",
    "maxmemory": "maxmemory",
    "maxmemory_policy": "maxmemory_policy",
    "aof_last_write_status": "aof_last_write_status",
    "rdb_last_bgsave_status": "rdb_last_bgsave_status",
}


def parsed(*replies: Any) -> dict[str, str]:
    """The fields of raw or read INFO replies."""
    found: dict[str, str] = {}
    for reply in replies:
        if isinstance(reply, Mapping):
            found |= {str(name): str(value) for name, value in reply.items()}
            continue
        for line in bytes(reply or b"").decode("utf-8", "replace").splitlines():
            name, mark, value = line.partition(":")
            if mark and not name.startswith("#"):
                found[name] = value.strip()
    return found


def chosen(info: Mapping[str, str], config: Any) -> dict[str, str]:
    """The facts of the port; ``config`` is the reply to CONFIG GET *appendfsync*, None where it was refused."""
    facts = {name: info[field] for field, name in _KEPT.items() if field in info}
    facts |= {"kind": "redis", "appendonly": "yes" if info.get("aof_enabled") == "1" else "no", "appendfsync": ""}
    if isinstance(config, Mapping):
        config = [word for pair in config.items() for word in pair]
    words = [word.decode() if isinstance(word, bytes) else str(word) for word in config or ()]
    given = dict(zip(words[::2], words[1::2], strict=False))
    facts["appendfsync"] = given.get("appendfsync", "")
    facts["no_appendfsync_on_rewrite"] = given.get("no-appendfsync-on-rewrite", "")
    return facts


def of_hello(server: Mapping[str, str]) -> dict[str, str]:
    """What is known where INFO is refused; nothing about what is kept on a disk."""
    facts = {"kind": "redis", "appendonly": "", "appendfsync": ""}
    return facts | {name: server[name] for name in ("version", "role") if name in server}
