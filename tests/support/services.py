"""Private RabbitMQ, Redis and Pulsar servers for tests, benchmarks and runs by hand.

``python -m tests.support.services`` starts both, prints their addresses as shell exports and waits for Ctrl-C. Nothing
is shared with a server of the machine: own ports, own data directory, own Erlang cookie, own epmd; all of it is gone
with the process that asked for it (see ``guard``). With the exports set, test runs borrow these servers instead of
starting their own, which saves ten seconds a run at a desk; tests that end a server then fail and say so.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

START_SECONDS = 90.0
STOP_SECONDS = 20.0
CTL_SECONDS = 180.0
#: Below Linux's range for outgoing connections, so that no client socket can take a port while its server is down.
PORTS = range(20_000, 32_000)
#: for so long a port that was handed out is nobody else's
PORT_KEPT_S = 900

#: where a server's files cost no waiting for a disk, and how much room there has to be
MEMORY, MEMORY_ROOM = Path("/dev/shm"), 1 << 30

RABBITMQ_SERVERS = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "/opt/rabbitmq/sbin/rabbitmq-server")


class ServiceUnavailable(RuntimeError):
    """The server is not installed or did not come up."""


def free_port() -> int:
    """A port on which nobody listens, and that no test process was told of lately: its server may be yet to start."""
    for _ in range(200):
        port = random.SystemRandom().choice(PORTS)
        if not _is_ours(port):
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServiceUnavailable("no free port between 20000 and 32000")


def _is_ours(port: int) -> bool:
    folder = Path(tempfile.gettempdir()) / f"fleetdeck-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    mark = folder / str(port)
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        if time.time() - mark.stat().st_mtime < PORT_KEPT_S:
            return False
        mark.touch()
    return True


def in_memory(room: int = MEMORY_ROOM) -> Path | None:
    """A folder that lives in memory, if there is one with ``room`` bytes; a container may give it next to none."""
    try:
        roomy = shutil.disk_usage(MEMORY).free >= room
    except OSError:
        return None
    return MEMORY if roomy and os.access(MEMORY, os.W_OK) else None


def _port(url: str) -> int:
    port = urllib.parse.urlsplit(url).port
    assert port is not None, f"no port in {url}"
    return port


class Server:
    """A server process in its own group, its data in a directory of its own, both gone with this process."""

    name = "server"

    def __init__(self, folder: Path | None = None) -> None:
        """``folder``: where its own directory is made; None for where the system has such."""
        self.directory = Path(tempfile.mkdtemp(prefix=f"fleetdeck-{self.name}-", dir=folder))
        self._borrowed = False
        self._processes: list[subprocess.Popen[bytes]] = []
        self._guard: subprocess.Popen[bytes] | None = None

    # ---------------------------------------------------------------- life
    def start(self) -> Self:
        """Start, or start again with the same ports and data; returns when the server answers."""
        if self.running:
            return self
        self._ensure_guard()
        self._launch()
        self._wait_until(self._answers, START_SECONDS)
        return self

    def stop(self) -> None:
        """End in good order (SIGTERM); the data stay."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End at once (SIGKILL), as a power cut would; the data stay."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freeze the server: connections stay open, nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen server go on."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill and remove the data; give a borrowed server back as it is."""
        if not self._borrowed:
            self.kill()
        if self._guard is not None:
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait(timeout=10)
            self._guard = None
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def running(self) -> bool:
        """Whether its main process lives."""
        return self._borrowed or (bool(self._processes) and self._processes[-1].poll() is None)

    @property
    def pid(self) -> int:
        """Process id of the server (for its memory and CPU)."""
        return self._processes[-1].pid

    def log(self) -> str:
        """The end of what the server printed."""
        printed = self.directory / "output.log"
        return printed.read_text(encoding="utf-8", errors="replace")[-3000:] if printed.exists() else ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ for kinds
    def _launch(self) -> None:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError

    def _spawn(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        with (self.directory / "output.log").open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env=environment,
                start_new_session=True,
            )
        self._processes.append(process)
        with (self.directory / "groups").open("a", encoding="ascii") as noted:
            noted.write(f"{process.pid}\n")

    # -------------------------------------------------------------- private
    def _ensure_guard(self) -> None:
        if self._guard is not None:
            return
        guard = Path(__file__).with_name("guard.py")
        self._guard = subprocess.Popen(
            [sys.executable, "-S", str(guard), str(self.directory)], stdin=subprocess.PIPE, start_new_session=True
        )

    def _signal(self, number: int) -> None:
        self._refuse_if_borrowed()
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    def _refuse_if_borrowed(self) -> None:
        if self._borrowed:
            raise ServiceUnavailable(
                f"{self.name} is borrowed; unset FLEETDECK_TEST_* so that this test may end its own"
            )

    def _end(self, number: int) -> None:
        self._refuse_if_borrowed()
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
                os.killpg(process.pid, number)
            try:
                process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=STOP_SECONDS)
        self._processes.clear()
        (self.directory / "groups").unlink(missing_ok=True)

    def _wait_until(self, answers: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.running:
                break
            if answers():
                return
            time.sleep(0.05)
        printed = self.log()
        self.kill()
        raise ServiceUnavailable(f"{self.name} did not come up:\n{printed}")


class Redis(Server):
    """A private redis-server with an append-only file."""

    name = "redis"

    def __init__(self, *words: str, appendfsync: str = "everysec", cluster: bool = False) -> None:
        """``words``: further ones of its command line; ``cluster``: as a node that owns no slots yet."""
        self._binary = redis_program()
        if self._binary is None:
            raise ServiceUnavailable("redis-server is not installed")
        super().__init__(in_memory())
        self.port = free_port()
        self._words, self._appendfsync = words, appendfsync
        # by itself it would take its port plus 10,000, where the system gives ports to whoever connects to something
        self.bus_port = free_port() if cluster else 0

    @classmethod
    def borrow(cls, url: str) -> Redis:
        """Use a server that somebody else has started."""
        redis = cls()
        redis._borrowed = True
        redis.port = _port(url)
        return redis

    @property
    def url(self) -> str:
        """Address of database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def socket_url(self) -> str:
        """The same by its socket file."""
        return f"unix://{self.directory}/redis.sock?db=0"

    def flush(self) -> None:
        """Forget everything, scripts included; starts the server again if a test has ended it."""
        self.start()
        self.command("FLUSHALL")
        self.command("SCRIPT FLUSH")

    def command(self, line: str) -> bytes:
        """Send one inline command without a client library; returns the raw answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(line.encode() + b"\r\n")
            return connection.recv(65_536)

    def _launch(self) -> None:
        assert self._binary is not None
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self.directory),
            "appendonly": "yes",
            "appendfsync": self._appendfsync,
            "save": "",
            "daemonize": "no",
            "loglevel": "warning",
            "unixsocket": f"{self.directory}/redis.sock",
        }
        if self.bus_port:
            options |= {"cluster-enabled": "yes", "cluster-port": str(self.bus_port)}
        words = [part for key, value in options.items() for part in (f"--{key}", value)]
        self._spawn([self._binary, *words, *self._words])

    def _answers(self) -> bool:
        try:
            return self.command("PING").startswith(b"+PONG")
        except OSError:
            return False


class RabbitMQ(Server):
    """A private RabbitMQ node with the management plugin."""

    name = "rabbitmq"
    user = "guest"
    password = "guest"

    def __init__(self, *, extra_conf: str = "", cookie: str = "", epmd_port: int = 0) -> None:
        """``cookie``, ``epmd_port``: what the nodes of one cluster share."""
        self._binary = next((path for path in RABBITMQ_SERVERS if Path(path).exists()), None)
        if self._binary is None:
            raise ServiceUnavailable("rabbitmq-server is not installed")
        # each queue is a folder that it makes, syncs and removes, some nine of them for each test
        super().__init__(in_memory())
        self.port = free_port()
        self.management_port = free_port()
        self._dist_port = free_port()
        self.epmd_port = epmd_port or free_port()
        self._names = not epmd_port  #: whether this node brings the service that finds nodes by their names
        self._cookie = cookie or secrets.token_hex(16)
        self._extra_conf = extra_conf
        self._made = 0

    @classmethod
    def borrow(cls, amqp_url: str, management_url: str) -> RabbitMQ:
        """Use a node that somebody else has started."""
        rabbitmq = cls()
        rabbitmq._borrowed = True
        rabbitmq.port, rabbitmq.management_port = _port(amqp_url), _port(management_url)
        return rabbitmq

    # ------------------------------------------------------------- addresses
    @property
    def amqp_url(self) -> str:
        """Address of the default virtual host."""
        return self.amqp_url_of("/")

    def amqp_url_of(self, vhost: str) -> str:
        """Address of a virtual host."""
        return f"amqp://{self.user}:{self.password}@127.0.0.1:{self.port}/{vhost.replace('/', '%2F')}"

    @property
    def management_url(self) -> str:
        """Address of the management API, user included."""
        return f"http://{self.user}:{self.password}@127.0.0.1:{self.management_port}"

    @property
    def node_name(self) -> str:
        """What the node is called within Erlang."""
        return f"fleetdeck{self.port}@localhost"

    def ctl(self, *words: str) -> str:
        """Run rabbitmqctl on this node; returns what it printed."""
        assert self._binary is not None
        program = str(Path(self._binary).with_name("rabbitmqctl"))
        command = [program, "-q", "-n", self.node_name, *words]
        done = subprocess.run(
            command, env=self.environment(), cwd=self.directory, capture_output=True, text=True, timeout=CTL_SECONDS
        )
        if done.returncode:
            raise ServiceUnavailable(f"rabbitmqctl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    # ----------------------------------------------------------- virtual hosts
    def new_vhost(self) -> str:
        """Make an empty virtual host and return its address; starts the node again if a test has ended it."""
        self.start()
        self._made += 1
        name = f"t{os.getpid()}-{self._made}"
        self.api("PUT", f"/api/vhosts/{name}")
        return self.amqp_url_of(name)

    def drop_vhost(self, amqp_url: str) -> None:
        """Remove a virtual host with all that is in it; a node that is down is left alone."""
        if self.running:
            self.api("DELETE", f"/api/vhosts/{amqp_url.rsplit('/', 1)[1]}")

    def api(self, method: str, path: str, body: object = None) -> Any:
        """One call of the management API."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.management_port}{path}", method=method)
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        request.add_header("Authorization", f"Basic {token}")
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body or {}).encode() if method in ("PUT", "POST") else None
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    # ----------------------------------------------------------------- private
    def _launch(self) -> None:
        assert self._binary is not None
        self._write_files()
        environment = self.environment()
        if self._names:
            # In the foreground, so that it ends with us: the node would start it as a daemon that outlives everybody.
            self._spawn(["epmd", "-address", "127.0.0.1", "-port", str(self.epmd_port)], environment)
        self._spawn([self._binary], environment)

    def _write_files(self) -> None:
        cookie = self.directory / ".erlang.cookie"
        if cookie.exists():
            return
        cookie.write_text(self._cookie, encoding="ascii")
        cookie.chmod(0o400)
        (self.directory / "enabled_plugins").write_text("[rabbitmq_management].\n", encoding="ascii")
        (self.directory / "rabbitmq-env.conf").write_text("", encoding="ascii")
        # A bare container may have no /etc/hosts, and the node must find itself.
        (self.directory / "inetrc").write_text(
            '{host, {127,0,0,1}, ["localhost"]}.\n{lookup, [file, native]}.\n', encoding="ascii"
        )
        (self.directory / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\n"
            "management.tcp.ip = 127.0.0.1\n"
            f"management.tcp.port = {self.management_port}\n"
            "disk_free_limit.absolute = 1MB\n"
            "log.file.level = warning\n"
            "log.console = false\n"
            f"{self._extra_conf}\n",
            encoding="ascii",
        )

    def environment(self) -> dict[str, str]:
        """What its programs are started with."""
        here = self.directory
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "HOME": str(here),
            "ERL_INETRC": str(here / "inetrc"),
            "ERL_EPMD_PORT": str(self.epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": self.node_name,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._dist_port),
            "RABBITMQ_MNESIA_BASE": str(here / "mnesia"),
            "RABBITMQ_LOG_BASE": str(here / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(here / "enabled_plugins"),
            "RABBITMQ_CONFIG_FILE": str(here / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": str(here / "rabbitmq-env.conf"),
            "RABBITMQ_PID_FILE": str(here / "rabbitmq.pid"),
            # One scheduler that sleeps when idle: on a small machine the default spins and starves the tests.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
        }

    def _answers(self) -> bool:
        try:
            self.api("GET", "/api/whoami")
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(b"AMQP\x00\x00\x09\x01")
                return connection.recv(1) == b"\x01"
        except (OSError, urllib.error.URLError, ValueError):
            return False


class Pulsar(Server):
    """A private pulsar-lite: Pulsar's protocol in one process, without delays and without the admin API."""

    name = "pulsar"

    def __init__(self) -> None:
        found = importlib.util.find_spec("pulsar_lite")
        if found is None or found.origin is None or importlib.util.find_spec("pulsar") is None:
            raise ServiceUnavailable("pulsar-client and pulsar-lite are not installed")
        self._binary = Path(found.origin).parent / "bin" / "pulsar-lite"
        super().__init__()
        self.port = free_port()

    def url(self, space: str = "public/default") -> str:
        """The address of a tenant and namespace, which need not be there."""
        return f"pulsar://127.0.0.1:{self.port}/{space}"

    def _launch(self) -> None:
        data = ["--db-path", str(self.directory / "data"), "--log-level", "warn"]
        self._spawn([str(self._binary), "--addr", f"127.0.0.1:{self.port}", *data])

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except OSError:
            return False
        return True


def redis_program() -> str | None:
    """The one named by the environment, or what is installed: Redis, Valkey."""
    named = os.environ.get("FLEETDECK_TEST_REDIS_PROGRAM")
    return next(filter(None, map(shutil.which, [named] if named else ["redis-server", "valkey-server"])), None)


def start_rabbitmq() -> RabbitMQ:
    """The node named by the environment, or a new one."""
    amqp, management = (os.environ.get(f"FLEETDECK_TEST_{name}_URL") for name in ("AMQP", "MANAGEMENT"))
    return RabbitMQ.borrow(amqp, management) if amqp and management else RabbitMQ().start()


def start_redis(*, appendfsync: str = "everysec") -> Redis:
    """The server named by the environment, or a new one."""
    url = os.environ.get("FLEETDECK_TEST_REDIS_URL")
    return Redis.borrow(url) if url else Redis(appendfsync=appendfsync).start()


def main() -> None:
    """Start both servers, tell where they are, wait for Ctrl-C."""
    with RabbitMQ() as rabbitmq, Redis() as redis:
        print(f"export FLEETDECK_TEST_AMQP_URL={rabbitmq.amqp_url}")
        print(f"export FLEETDECK_TEST_MANAGEMENT_URL={rabbitmq.management_url}")
        print(f"export FLEETDECK_TEST_REDIS_URL={redis.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
