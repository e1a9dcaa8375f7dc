"""What is tried on it: each a function that answers with what it saw, or fails."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.debian.system import Answer, Debian
from tests.support.listed import Check, Failed

#: what the marks of a chosen part are added to
_SOON = "not bench and not harsh and not soak"
_KINDS = ("test_redis_kinds", "test_tls", "test_rabbitmq_tls", "test_cluster")
#: what looks at queues of the other profile, at one node's ways, or at one connection's steps
_SINGLE = tuple(f"--ignore=tests/integration/test_rabbitmq_{name}.py" for name in ("topology", "recovery"))
#: the first test of each process waits until three nodes have become one cluster
_PATIENT = "--timeout=400"
_VALKEY = {"FLEETDECK_TEST_REDIS_PROGRAM": "valkey-server"}
_NODES = {"FLEETDECK_TEST_NODES": "3"}
_PICTURE = "window.png"
_ERLANG = "rabbitmq-server"
_MINUTES, _TASKS = 10, 2000
_COUNTED = ("submitted", "faults", "lost (aim 0)", "recorded twice (aim 0)", "begun meanwhile")


def _told(answer: Answer) -> str:
    """What a test run ended with, without its time."""
    ends = re.findall(  # the first: what failed may have been tried again alone, and said so
        r"^(?:=+ )?(\d+ (?:passed|failed).*?) in [\d.]+s", answer.text, flags=re.MULTILINE
    )
    if answer.code or not ends:
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", answer.text, flags=re.MULTILINE)
        raise Failed(f"{'; '.join(ends[:1] or [answer.text[-500:]])}: {', '.join(dict.fromkeys(failed))}")
    return re.sub(r", \d+ (deselected|warnings?)", "", ends[0])


def _servers(debian: Debian, *packages: str) -> str:
    names = {"python3": "Python", _ERLANG: "RabbitMQ", "redis-server": "Redis", "valkey-server": "Valkey"}
    return ", ".join(f"{names[package]} {debian.version(package)}" for package in packages)


def _window(debian: Debian, out: Path) -> str:
    debian.install("xvfb", "xauth")
    shutil.rmtree(debian.checkout / ".venv", ignore_errors=True)
    (debian.checkout / _PICTURE).unlink(missing_ok=True)
    words = f"ARGS=--profile local --page tasks --screenshot {_PICTURE}"
    screen = ("xvfb-run", "-a", "-s", "-screen 0 1600x1000x24")
    told = debian.run("window", *screen, "make", "run", words, environment={"FLEETDECK_HOME": "/tmp/window"})
    if told.code or not (debian.checkout / _PICTURE).exists():
        raise Failed(told.text[-2000:])
    shutil.copy(debian.checkout / _PICTURE, out)
    return f"{_servers(debian, 'python3')}: a window on an X server, with a picture"


def _tests(
    name: str, *paths: str, marks: str = "", packages: tuple[str, ...] = ("python3",), **environment: str
) -> Callable[[Debian, Path], str]:
    """``make test`` of these paths; ``marks``: only what has them."""

    def run(debian: Debian, _out: Path) -> str:
        debian.install(*packages)
        words = [*paths, *(["-m", f"({marks}) and {_SOON}"] if marks else [])]
        make = ("make", "test", f"JOBS={debian.jobs}", f"ARGS={shlex.join(words)}")
        return f"{_servers(debian, *packages)}: {_told(debian.run(name, *make, environment=environment))}"

    return run


def _killed(debian: Debian, _out: Path) -> str:
    told = debian.run("killed", "make", "faults", "ARGS=tests/faults/test_cluster_nodes.py")
    return f"{_servers(debian, _ERLANG)}: {_told(told)}"


def _chaos(debian: Debian, _out: Path) -> str:
    words = (f"MINUTES={_MINUTES}", f"TASKS={_TASKS}", "PAIR=cluster", "ARGS=--only-nodes")
    told = debian.run("chaos", "make", "chaos", *words)
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]*?) \|$", told.text, flags=re.MULTILINE))
    if told.code or not rows:
        raise Failed(told.text[-2000:])
    return f"{_servers(debian, _ERLANG, 'redis-server')}: {'; '.join(f'{name}: {rows[name]}' for name in _COUNTED)}"


_BOTH, _PAIR = ("tests/contract", "tests/integration"), (_ERLANG, "redis-server")
_FILES = tuple(f"tests/integration/{name}.py" for name in _KINDS)
CHECKS: tuple[Check[Debian], ...] = (
    Check("window", "`make run` from nothing", "`make run`，从零开始", _window),
    Check(
        "unit",
        "`make test`: units, the structure of the code",
        "`make test`：单元测试、代码结构",
        _tests("unit", "tests/unit", "tests/architecture"),
    ),
    Check("gui", "`make test`: the window", "`make test`：窗口", _tests("gui", "tests/gui")),
    Check(
        "contract",
        "`make test`: the contracts of stores and brokers",
        "`make test`：存储与消息中间件的契约",
        _tests("contract", "tests/contract", packages=_PAIR),
    ),
    Check(
        "integration",
        "`make test`: engine, workers, commands, API",
        "`make test`：引擎、执行节点、命令、接口",
        _tests("integration", "tests/integration", packages=_PAIR),
    ),
    Check(
        "programs",
        "`make test`: whole programs, faults, random histories, every block of the documentation",
        "`make test`：完整程序、故障、随机历史、文档中的每个代码块",
        _tests("programs", "tests/e2e", "tests/faults", "tests/stateful", packages=_PAIR),
    ),
    Check(
        "valkey",
        "contracts and integration on Valkey",
        "在 Valkey 上运行契约与集成测试",
        _tests("valkey", *_BOTH, marks="redis", packages=("valkey-server",), **_VALKEY),
    ),
    Check(
        "nodes",
        "contracts and integration on three nodes of RabbitMQ, every queue a quorum queue",
        "在三节点 RabbitMQ 上运行契约与集成测试，所有队列均为仲裁队列",
        _tests("nodes", *_BOTH, *_SINGLE, _PATIENT, marks="rabbitmq", packages=_PAIR, **_NODES),
    ),
    Check(
        "accounts",
        "Redis: ACL users, TLS with an own authority and client certificates, Sentinel, Cluster; RabbitMQ: TLS",
        "Redis：ACL 用户、自建 CA 与客户端证书的 TLS、Sentinel、Cluster；RabbitMQ：TLS",
        _tests("accounts", *_FILES, packages=_PAIR),
    ),
    Check(
        "accounts-valkey",
        "the same on Valkey",
        "在 Valkey 上同样测试",
        _tests("accounts-valkey", *_FILES, packages=("valkey-server",), **_VALKEY),
    ),
    Check(
        "killed",
        "every command while each of three nodes is away, in turn",
        "三个节点轮流离线时的每条命令",
        _killed,
    ),
    Check(
        "chaos",
        "ten minutes under load, a node of three killed every minute",
        "负载下运行十分钟，每分钟杀死三个节点之一",
        _chaos,
    ),
)
