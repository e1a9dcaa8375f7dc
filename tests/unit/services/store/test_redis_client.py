"""Addresses without secrets, and errors in our own words."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import redis
from msgspec import structs

from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish
from services.domain.errors import StoreError, StoreUnavailable, UsageError
from services.domain.task.record import Attempt, Task
from services.store.redis import apply, keys
from services.store.redis import client as redis_client
from services.store.redis.store import RedisStore
from tests.support.services import Redis, free_port


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("redis://user:se/cr@et@h:6379/0", "redis://h:6379/0"),
        ("rediss://:secret@h", "rediss://h"),
        ("redis://h/0?password=secret&db=1", "redis://h/0?password=***&db=1"),
        ("unix://:secret@/tmp/x.sock", "unix:///tmp/x.sock"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, expected: str) -> None:
    assert redis_client.shown(url) == expected


@pytest.mark.parametrize("url", ["http://h", "nonsense", "redis://:secret@h:port/0"])
def test_what_is_no_address_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        RedisStore(url, SystemClock())
    assert "secret" not in str(caught.value)
    assert "write it like redis://host:6379/0" in str(caught.value)


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_the_factory(scheme: str) -> None:
    client = redis_client.make_client(f"{scheme}://h:1/0", 5.0)
    settings = client.connection_pool.connection_kwargs
    assert settings["protocol"] == 2
    assert settings["socket_timeout"] == 5.0
    assert settings["socket_connect_timeout"] == redis_client.CONNECT_S
    assert settings["health_check_interval"] == 0, "its PING is refused where the last snapshot failed"
    assert settings["retry"].get_retries() == 0
    connection = client.connection_pool.make_connection()
    if scheme == "rediss":
        assert connection.check_hostname is True
        assert connection.cert_reqs.name == "CERT_REQUIRED"


def test_nobody_listens() -> None:
    store = RedisStore(f"redis://:secret@127.0.0.1:{free_port()}/0", SystemClock())
    with pytest.raises(StoreUnavailable) as caught:
        store.get(["t"])
    assert "secret" not in str(caught.value)
    assert "start Redis or correct the address" in str(caught.value)
    answers, _, error = store.health()
    assert not answers
    assert "secret" not in error
    assert error
    store.close()


def test_a_socket_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    store = RedisStore(f"unix://:secret@{path}?db=0", SystemClock())
    with pytest.raises(StoreUnavailable) as caught:
        store.get(["t"])
    assert str(caught.value) == (
        f"There is no socket {path}: start Redis with `unixsocket {path}`, or correct the address of the store."
    )
    assert store.health()[2] == str(caught.value)
    store.close()


def test_an_unknown_host_is_called_so() -> None:
    store = RedisStore("redis://no-such-host.invalid:6379/0", SystemClock())
    with pytest.raises(StoreUnavailable, match=r"such-host.invalid:6379/0 is unknown"):
        store.get(["t"])
    store.close()


def test_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_client, "ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = RedisStore(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", SystemClock())
        with pytest.raises(StoreUnavailable):
            store.counts()
        store.close()


def test_after_close(redis_url: str) -> None:
    store = RedisStore(redis_url, SystemClock())
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable):
        store.get(["t"])


@pytest.fixture
def plain(redis_url: str) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(redis_url, protocol=2)
    yield client
    client.close()


@contextlib.contextmanager
def configured(plain: redis.Redis, name: str, value: str) -> Iterator[None]:
    before = plain.config_get(name)[name]
    plain.config_set(name, value)
    try:
        yield
    finally:
        plain.config_set(name, before)


def task(task_id: str = "t1") -> Task:
    return Task(task_id=task_id, shop_id="s", platform="pdd", task_type="x")


def test_out_of_memory_changes_nothing_and_says_what_to_do(redis_url: str, plain: redis.Redis) -> None:
    store = RedisStore(redis_url, SystemClock())
    store.apply([Create(task=task("t0"))])
    before = sorted(plain.keys())
    assert store.health()[::2] == (True, "")
    with configured(plain, "maxmemory", "1mb"), pytest.raises(StoreError, match="maxmemory"):
        store.apply([Create(task=task())])
    answers, _, why = store.health()
    assert answers, "what is there can be read"
    assert "refuses writes" in why
    with configured(plain, "maxmemory", "1mb"):
        assert store.counts().status == {"pending": 1}
        assert [found.task_id for found in store.get(["t0"]) if found is not None] == ["t0"]
        store.audit(10)
        assert store.events("", 10, 0.0).cursor
        reader = RedisStore(redis_url, SystemClock())
        assert reader.counts().status == {"pending": 1}
        assert "refuses writes" in reader.health()[2], "who only looks learns that no heartbeat can come"
        reader.close()
    assert sorted(plain.keys()) == before
    assert store.get(["t1"]) == [None]
    assert store.apply([Create(task=task())])[0].code == "created"
    store.close()


def test_a_redis_that_was_made_a_replica_is_read_and_says_so_to_who_only_looks(
    redis_url: str, plain: redis.Redis
) -> None:
    store = RedisStore(redis_url, SystemClock())
    store.apply([Create(task=task("t0"))])
    assert store.health()[::2] == (True, "")
    plain.execute_command("REPLICAOF", "127.0.0.1", str(free_port()))
    try:
        answers, _, why = store.health()
        assert answers, "what is there can be read"
        assert "is a replica and takes no writes" in why
        with pytest.raises(StoreUnavailable, match="is a replica"):
            store.apply([Create(task=task())])
        assert store.counts().status == {"pending": 1}
        assert "is a replica" in store.health()[2], "as long as it is one"
    finally:
        plain.execute_command("REPLICAOF", "NO", "ONE")
    assert store.health()[::2] == (True, ""), "at once"
    assert store.apply([Create(task=task())])[0].code == "created"
    store.close()


def test_who_only_looks_hears_of_writes_that_are_refused_for_want_of_replicas(
    redis_url: str, plain: redis.Redis
) -> None:
    store = RedisStore(redis_url, SystemClock())
    store.apply([Create(task=task("t0"))])
    with configured(plain, "min-replicas-to-write", "1"):
        answers, _, why = store.health()
        assert answers
        assert "refuses writes for now" in why
    assert store.health()[2] == ""
    assert sorted(plain.keys("*nothing*")) == []
    store.close()


def libraries(plain: redis.Redis) -> list[str]:
    """Names of the libraries of functions that lie there."""
    listed = plain.execute_command("FUNCTION", "LIST", "LIBRARYNAME", "fleetdeck_*")
    return [found[found.index(b"library_name") + 1].decode() for found in listed]


def test_operations_are_a_function_that_is_brought_again_when_it_is_gone(redis_url: str, plain: redis.Redis) -> None:
    plain.execute_command("FUNCTION", "FLUSH")
    store = RedisStore(redis_url, SystemClock())
    for name in ("t1", "t2"):
        assert store.apply([Create(task=task(name))])[0].code == "created"
        assert len(libraries(plain)) == 1
        plain.execute_command("FUNCTION", "FLUSH")
    store.close()


def test_libraries_of_other_versions_do_not_pile_up(redis_url: str, plain: redis.Redis) -> None:
    plain.execute_command("FUNCTION", "FLUSH")
    for number in range(redis_client.LIBRARIES_KEPT):
        other = f"#!lua name=fleetdeck_{number}\nredis.register_function('fleetdeck_f{number}', function() end)"
        plain.execute_command("FUNCTION", "LOAD", other)
    plain.execute_command("FUNCTION", "LOAD", "#!lua name=theirs\nredis.register_function('theirs', function() end)")
    store = RedisStore(redis_url, SystemClock())
    assert store.apply([Create(task=task())])[0].code == "created"
    assert len(libraries(plain)) == 1
    assert len(plain.execute_command("FUNCTION", "LIST")) == 2, "what others brought is theirs"
    store.close()


@pytest.mark.parametrize("denied", ["-fcall", "-function"])
def test_who_may_make_no_functions_works_by_scripts(redis_url: str, plain: redis.Redis, denied: str) -> None:
    plain.execute_command("FUNCTION", "FLUSH")
    plain.execute_command("ACL", "SETUSER", "ann", "reset", "on", ">secret", "~*", "&*", "+@all", denied)
    store = RedisStore(redis_url.replace("//", "//ann:secret@"), SystemClock())
    try:
        assert [store.apply([Create(task=task(name))])[0].code for name in ("t1", "t2")] == ["created"] * 2
        assert libraries(plain) == []
    finally:
        store.close()
        plain.execute_command("ACL", "DELUSER", "ann")


@pytest.mark.parametrize("rights", ["+@all", "-fcall"], ids=["a function", "a script"])
def test_one_that_meets_what_is_none_of_ours_says_so_and_holds_up_no_other(
    redis_url: str, plain: redis.Redis, rights: str
) -> None:
    plain.execute_command("ACL", "SETUSER", "ann", "reset", "on", ">secret", "~*", "&*", "+@all", rights)
    store = RedisStore(redis_url.replace("//", "//ann:secret@"), SystemClock())
    try:
        names = ("t1", "t2")
        store.apply([Create(task=structs.replace(task(name), shop_id=name, uniq=name)) for name in names])
        lease = {"worker": "w", "lease_ms": 60_000}
        store.apply([Claim(task_id=name, gen=0, attempt=0, owner=name, **lease) for name in names])
        plain.set(keys.WORK + "t1", msgspec.msgpack.encode(["", 0, "", "", [[1]]]))
        done = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="succeeded")
        answers = store.apply([Finish(task_id=name, owner=name, to="succeeded", attempt=done) for name in names])
        assert [answer.code for answer in answers] == ["unreadable", "ok"]
    finally:
        store.close()
        plain.execute_command("ACL", "DELUSER", "ann")


def test_a_replica_is_not_written(redis_url: str, plain: redis.Redis) -> None:
    store = RedisStore(redis_url, SystemClock())
    plain.replicaof("127.0.0.1", str(free_port()))
    try:
        with pytest.raises(StoreUnavailable):
            store.apply([Create(task=task())])
    finally:
        plain.replicaof("no", "one")
    store.close()


def test_a_wrong_password(redis_url: str, plain: redis.Redis) -> None:
    with configured(plain, "requirepass", "right"):
        store = RedisStore(redis_url.replace("//", "//:wrong@"), SystemClock())
        with pytest.raises(StoreUnavailable, match="password") as caught:
            store.get(["t"])
        assert "wrong" not in str(caught.value)
        store.close()
        with pytest.raises(StoreUnavailable):
            RedisStore(redis_url, SystemClock()).get(["t"])
        plain.execute_command("AUTH", "right")


def test_a_number_of_which_there_is_no_database(redis_url: str) -> None:
    """As a wrong password: whoever asks cannot connect, and what is to be recorded waits."""
    store = RedisStore(f"{redis_url.rpartition('/')[0]}/999", SystemClock())
    with pytest.raises(StoreUnavailable, match="no database of this number"):
        store.now_ms()
    store.close()


def test_a_restarted_server_is_found_again(redis_server: Redis) -> None:
    redis_server.flush()
    store = RedisStore(redis_server.url, SystemClock())
    assert store.apply([Create(task=task())])[0].code == "created"
    redis_server.stop()
    with pytest.raises(StoreUnavailable):
        store.apply([Create(task=task("t2"))])
    redis_server.start()
    assert store.apply([Create(task=task("t2"))])[0].code == "created"
    store.close()


def test_a_claim_whose_reply_was_lost_is_still_its_own(redis_server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_client, "ANSWER_S", 0.3)
    redis_server.flush()
    store, other = RedisStore(redis_server.url, SystemClock()), RedisStore(redis_server.url, SystemClock())
    store.apply([Create(task=task())])
    asked = Claim(task_id="t1", gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)
    store.executed(["t1"])
    redis_server.pause()
    try:
        with pytest.raises(StoreUnavailable):  # the frozen server has it in its socket and will do it
            store._link.run(apply._APPLY, (keys.META,), apply.ENCODER.encode([apply._claim(asked)]), "x")
    finally:
        redis_server.resume()
    assert store.apply([asked])[0].code == "run"
    assert other.apply([structs.replace(asked, owner="w2#1")])[0].code == "duplicate"
    (found,) = store.get(["t1"])
    assert found is not None
    assert [step.to for step in found.steps] == ["pending", "running"]
    store.close()
    other.close()


def test_a_socket_file_leads_to_the_same_store(redis_url: str, redis_server: Redis) -> None:
    if not Path(redis_server.directory / "redis.sock").exists():
        pytest.skip("a borrowed server has no socket file here")
    near, far = (RedisStore(url, SystemClock()) for url in (redis_server.socket_url, redis_url))
    try:
        near.apply([Create(task=Task(task_id="t1", shop_id="s1", platform="pdd", task_type="work"))])
        assert far.get(["t1"])[0] is not None
    finally:
        near.close()
        far.close()


def test_nothing_of_a_transaction_is_done_where_there_is_no_memory_for_all_of_it(
    redis_url: str, plain: redis.Redis
) -> None:
    """Redis takes what only removes without memory: read one by one, half of it would be done."""
    plain.set("{rpa}:here", "1")
    link = redis_client.Link(redis_url)
    with configured(plain, "maxmemory", "1mb"), pytest.raises(StoreUnavailable, match="memory"):
        link.many([("DEL", "{rpa}:here"), ("SET", "{rpa}:there", "1")], atomic=True)
    assert plain.exists("{rpa}:here") == 1
    link.close()


class Answers(threading.Thread):
    """A Redis of which every answer is known, also to who asks on a connection where one is still to come."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._door.getsockname()[1]}/0"
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._door.accept()[0],), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        late = b""
        with connection:
            while heard := connection.recv(65_536):
                words = heard.upper()
                if b"REFUSED" in words:  # of two commands the first is answered
                    connection.sendall(b"-ERR refused\r\n")
                    late = b"$4\r\nlate\r\n"
                elif words.endswith(b"PING\r\n"):
                    connection.sendall(b"+PONG\r\n")
                elif b"HELLO" in words:
                    connection.sendall(b"-ERR unknown command\r\n")
                elif b"\r\nGET\r\n" in words:
                    connection.sendall(late + b"$3\r\nown\r\n")
                else:
                    connection.sendall(b"+OK\r\n" * heard.count(b"*"))

    def close(self) -> None:
        self._door.close()


def test_the_answer_to_a_command_that_was_given_up_is_none_to_the_next_question() -> None:
    server = Answers()
    link = redis_client.Link(server.url)
    try:
        assert link.call("GET", "k") == b"own"
        with pytest.raises(StoreError, match="refused"):
            link.tell(b"*1\r\n$7\r\nREFUSED\r\n*1\r\n$4\r\nTIME\r\n", 2)
        assert link.call("GET", "k") == b"own"
    finally:
        link.close()
        server.close()
