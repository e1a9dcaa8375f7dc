"""A private RabbitMQ cluster of three nodes on this machine, each of which may be killed and started again."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tests.support.services import RabbitMQ, Server, free_port

JOIN_SECONDS = 90.0
#: with several nodes every test that asks for a RabbitMQ gets a member of a cluster, and its fleet that profile
NODES = int(os.environ.get("FLEETDECK_TEST_NODES", "1"))
PROFILE = "cluster" if NODES > 1 else "single"


class Names(Server):
    """The service that finds the nodes by their names; it outlives each of them."""

    name = "epmd"

    def __init__(self) -> None:
        super().__init__()
        self.port = free_port()

    def _launch(self) -> None:
        self._spawn(["epmd", "-address", "127.0.0.1", "-port", str(self.port)])

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


class Node(RabbitMQ):
    """One node; those of a cluster share a cookie and a service of names."""

    def __init__(self, *, cookie: str, epmd_port: int, first: Node | None = None) -> None:
        super().__init__(cookie=cookie, epmd_port=epmd_port)
        self._first = first
        self._joined = first is None

    def join(self) -> None:
        """Become a member of the first node's cluster; once."""
        if self._joined or self._first is None:
            return
        for words in (("stop_app",), ("reset",), ("join_cluster", self._first.node_name), ("start_app",)):
            self.ctl(*words)
        self._joined = True
        self._wait_until(self._answers, JOIN_SECONDS)


class RabbitCluster:
    """Three nodes with one address; all of it ends with this process."""

    def __init__(self, size: int = 3) -> None:
        cookie = secrets.token_hex(16)
        self._names = Names()
        self.nodes: list[Node] = []
        for _ in range(size):
            first = self.nodes[0] if self.nodes else None
            self.nodes.append(Node(cookie=cookie, epmd_port=self._names.port, first=first))

    def start(self) -> RabbitCluster:
        """Start all nodes, the missing ones too."""
        self._names.start()
        self.nodes[0].start()
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda node: node.start(), self.nodes[1:]))
        for node in self.nodes[1:]:
            node.join()
        return self

    def close(self) -> None:
        """End all nodes and remove their data."""
        for node in reversed(self.nodes):
            node.close()
        self._names.close()

    def new_vhost(self) -> str:
        """An empty virtual host; its address names every node."""
        first = next(node for node in self.nodes if node.running)
        return self.url_of(first.new_vhost().rsplit("/", 1)[1])

    def url_of(self, vhost: str) -> str:
        """The address of a virtual host with all nodes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"amqp://{RabbitMQ.user}:{RabbitMQ.password}@{hosts}/{vhost}"

    @property
    def management_url(self) -> str:
        """The management API of every node, user included."""
        places = ",".join(f"127.0.0.1:{node.management_port}" for node in self.nodes)
        return f"http://{RabbitMQ.user}:{RabbitMQ.password}@{places}"

    @contextlib.contextmanager
    def without(self, node: Node) -> Iterator[None]:
        """A node killed for a while."""
        node.kill()
        try:
            yield
        finally:
            node.start()


def main() -> None:
    """Start a cluster, tell where it is, wait for Ctrl-C."""
    import signal

    cluster = RabbitCluster()
    try:
        cluster.start()
        for node in cluster.nodes:
            print(node.node_name, node.port, node.management_port, node.pid, node.directory)
        print(cluster.url_of("%2F"), flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
