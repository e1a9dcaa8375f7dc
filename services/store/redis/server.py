"""What kind of server answers at a Redis address, and what the account may do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PROBE, OTHERS = "{rpa}:probe", "executed:probe"
#: every command that the store needs beside MULTI and its like, with arguments that are enough to be let in
NEEDED: tuple[tuple[str, ...], ...] = (
    ("DEL", PROBE), ("EVAL", "return 1", "0"), ("EVALSHA", "0" * 40, "0"), ("EXISTS", PROBE), ("GET", PROBE),
    ("HDEL", PROBE, "f"), ("HEXISTS", PROBE, "f"), ("HGET", PROBE, "f"), ("HGETALL", PROBE),
    ("HINCRBY", PROBE, "f", "1"), ("HKEYS", PROBE), ("HLEN", PROBE), ("HMGET", PROBE, "f"),
    ("HSET", PROBE, "f", "v"), ("HSETNX", PROBE, "f", "v"),
    ("INCRBY", PROBE, "1"), ("LLEN", PROBE), ("LRANGE", PROBE, "0", "0"), ("LTRIM", PROBE, "0", "0"), ("MGET", PROBE),
    ("MSET", PROBE, "v"), ("PEXPIRE", PROBE, "1"), ("PING",), ("RENAME", PROBE, PROBE), ("RPUSH", PROBE, "v"),
    ("SADD", PROBE, "m"), ("SCAN", "0"), ("SCARD", PROBE), ("SET", PROBE, "v"), ("SETRANGE", PROBE, "0", "v"),
    ("SISMEMBER", PROBE, "m"), ("SMEMBERS", PROBE), ("SRANDMEMBER", PROBE), ("SREM", PROBE, "m"), ("STRLEN", PROBE),
    ("TIME",), ("UNLINK", PROBE), ("XADD", PROBE, "*", "f", "v"), ("XLEN", PROBE), ("XRANGE", PROBE, "-", "+"),
    ("XREAD", "STREAMS", PROBE, "0"), ("XREVRANGE", PROBE, "+", "-"), ("ZADD", PROBE, "1", "m"), ("ZCARD", PROBE),
    ("ZCOUNT", PROBE, "0", "1"), ("ZINTERCARD", "1", PROBE), ("ZPOPMIN", PROBE), ("ZRANDMEMBER", PROBE),
    ("ZRANGE", PROBE, "0", "0"), ("ZRANGEBYLEX", PROBE, "-", "+"), ("ZRANGEBYSCORE", PROBE, "0", "1"),
    ("ZRANK", PROBE, "m"), ("ZREM", PROBE, "m"), ("ZREMRANGEBYSCORE", PROBE, "0", "1"), ("ZREVRANGE", PROBE, "0", "0"),
    ("HSCAN", PROBE, "0"), ("SSCAN", PROBE, "0"), ("LREM", PROBE, "0", "v"),
    ("TYPE", PROBE), ("SET", OTHERS, "1"), ("MGET", OTHERS),
    ("ZREVRANGEBYSCORE", PROBE, "1", "0"), ("ZREVRANK", PROBE, "m"), ("ZSCAN", PROBE, "0"), ("ZSCORE", PROBE, "m"),
)  # fmt: skip


_CHANGING = frozenset({
    "DEL", "HDEL", "HINCRBY", "HSET", "HSETNX", "INCRBY", "LREM", "LTRIM", "MSET", "PEXPIRE", "RENAME", "RPUSH", "SADD",
    "SET", "SETRANGE", "SREM", "UNLINK", "XADD", "ZADD", "ZPOPMIN", "ZREM", "ZREMRANGEBYSCORE",
})  # fmt: skip
#: of them what a connection needs that only looks; its scripts run as such that change nothing
READING = tuple(
    (f"{name}_RO" if name.startswith("EVAL") else name, *words) for name, *words in NEEDED if name not in _CHANGING
)


def fields(reply: Any) -> dict[str, str]:
    """The answer to HELLO by name, whichever form it came in."""
    pairs = reply.items() if isinstance(reply, Mapping) else zip(reply[::2], reply[1::2], strict=False)
    return {_text(name): _text(value) for name, value in pairs if not isinstance(value, list)}


def shards(reply: Any) -> int:
    """Of the answer to CLUSTER INFO: how many masters share the keys."""
    if isinstance(reply, Mapping):
        return int(reply.get("cluster_size", 0))
    found = dict(line.partition(":")[::2] for line in _text(reply).splitlines())
    return int(found.get("cluster_size", "0"))


def refused(needed: Sequence[Sequence[str]], replies: Sequence[str]) -> tuple[list[str], bool]:
    """From what was said to each of ``needed``, "" for nothing: commands that are not permitted, and whether the keys
    are not.
    """
    said = [(command[0], reply) for command, reply in zip(needed, replies, strict=True) if reply.startswith("NOPERM")]
    of_keys = {name for name, reply in said if "key" in reply.casefold() and "command" not in reply.casefold()}
    return list(dict.fromkeys(name for name, _ in said if name not in of_keys)), bool(of_keys)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
