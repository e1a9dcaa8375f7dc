"""TLS that does not come up is a sentence with its remedy; over real handshakes, for the store and the broker."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services import assembly, diagnosis, settings, tls
from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.timing import Timing
from services.clock import SystemClock
from services.domain.errors import ConsoleError
from services.messages import english
from services.store.redis.client import Link
from tests.support.services import Redis, free_port, redis_program

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
STRICT_CA = "[req]\ndistinguished_name=d\nx509_extensions=e\n[d]\n[e]\nbasicConstraints=critical,CA:TRUE\n"


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def authority(folder: Path, name: str, *more: str) -> None:
    words = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl(folder, *words, "-days", "2", "-subj", f"/CN={name}", *more)


def leaf(folder: Path, name: str, ca: str, names: str, days: str = "2") -> None:
    asked = ("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(folder, *asked, "-subj", f"/CN={name}")
    (folder / f"{name}.ext").write_text(f"subjectAltName={names}\n", encoding="ascii")
    signed = ("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial")
    openssl(folder, *signed, "-out", f"{name}.pem", "-days", days, "-extfile", f"{name}.ext")


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Authorities and certificates of every kind."""
    folder = tmp_path_factory.mktemp("tls")
    authority(folder, "ca", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    authority(folder, "other")
    authority(folder, "self", "-addext", "subjectAltName=DNS:localhost")
    (folder / "weak.cnf").write_text(STRICT_CA, encoding="ascii")
    authority(folder, "weak", "-config", "weak.cnf")
    leaf(folder, "good", "ca", "DNS:localhost")
    leaf(folder, "named", "ca", "DNS:redis.example.com")
    leaf(folder, "expired", "ca", "DNS:localhost", days="0")
    leaf(folder, "weakly", "weak", "DNS:localhost")
    leaf(folder, "client", "ca", "DNS:client")
    openssl(folder, "rsa", "-aes256", "-passout", "pass:x", "-in", "client.key", "-out", "locked.key")
    (folder / "text.pem").write_text("no certificate\n", encoding="ascii")
    (folder / "empty.pem").write_bytes(b"")
    (folder / "half.pem").write_bytes((folder / "ca.pem").read_bytes()[:200])
    return folder


@contextlib.contextmanager
def server(certs: Path, cert: str, *, wants: str = "", plain: bool = False, lost: int = 0) -> Iterator[int]:
    """Listens, shakes hands as it is told to, and answers nothing that a client could use.

    ``lost``: of so many of the first connections the end arrives before the reason, as where a client was quick.
    """
    cut = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    cut.load_cert_chain(certs / f"{cert}.pem", certs / f"{cert}.key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certs / f"{cert}.pem", certs / f"{cert}.key")
    if wants:
        context.load_verify_locations(certs / f"{wants}.pem")
        context.verify_mode = ssl.CERT_REQUIRED
    listening = socket.create_server(("127.0.0.1", 0))

    def reset(stream: socket.socket) -> None:
        with contextlib.suppress(OSError), cut.wrap_socket(stream, server_side=True) as wrapped:
            wrapped.recv(100)
            wrapped.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def talk(stream: socket.socket) -> None:
        nonlocal lost
        stream.settimeout(5)
        if lost:
            lost -= 1
            reset(stream)
            return
        with contextlib.suppress(OSError), stream:
            wrapped = stream if plain else context.wrap_socket(stream, server_side=True)
            with wrapped:
                wrapped.recv(100)
                wrapped.sendall(b"-ERR what\r\n")
                wrapped.recv(100)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def query(certs: Path, words: tls.Words, options: dict[str, str]) -> str:
    return "&".join(f"{getattr(words, name)}={certs / value}" for name, value in options.items())


def store_says(port: int, scheme: str, options: str) -> str:
    with pytest.raises(ConsoleError) as caught:
        Link(f"{scheme}://ann:hunter2@localhost:{port}/0?{options}").call("PING")
    return str(caught.value)


def broker_says(port: int, scheme: str, options: str) -> str:
    broker = RabbitBroker(
        f"{scheme}://ann:hunter2@localhost:{port}/?{options}", SystemClock(), timing=Timing(connect=3.0)
    )
    try:
        with pytest.raises(ConsoleError) as caught:
            broker.ensure()
    finally:
        broker.close()
    return str(caught.value)


#: certificate of the server, whose clients it wants, options of the address, what both say
HANDSHAKES = {
    "no authority": ("good", "", {}, ("not trusted", "{ca}=FILE")),
    "self-signed": ("self", "", {}, ("not trusted", "self-signed", "{ca}=FILE")),
    "another authority": ("good", "", {"ca": "other.pem"}, ("not from the authority in", "other.pem", "{ca}=FILE")),
    "another name": ("named", "", {"ca": "ca.pem"}, ("for another name", "localhost", "into the address")),
    "expired": ("expired", "", {"ca": "ca.pem"}, ("expired", "renew it", "clocks")),
    "wants a client": (
        "good",
        "ca",
        {"ca": "ca.pem"},
        ("wants a certificate from this side", "{cert}=FILE&{key}=FILE"),
    ),
    "another client": (
        "good",
        "other",
        {"ca": "ca.pem", "cert": "client.pem", "key": "client.key"},
        ("wants a certificate from this side", "{cert}=FILE"),
    ),
}
#: options of the address, what both say; no server is asked
FILES = {
    "missing": ({"ca": "none.pem"}, ("{ca} names", "none.pem", "No such file")),
    "a folder": ({"ca": "."}, ("{ca} names", "Is a directory")),
    "no certificate": ({"ca": "text.pem"}, ("{ca} names", "text.pem", "PEM form")),
    "empty": ({"ca": "empty.pem"}, ("{ca} names", "PEM form")),
    "half a certificate": ({"ca": "half.pem"}, ("{ca} names", "PEM form")),
    "a key": ({"ca": "ca.key"}, ("{ca} names", "PEM form")),
    "certificate missing": ({"cert": "none.pem", "key": "client.key"}, ("{cert} names", "No such file")),
    "key missing": ({"cert": "client.pem", "key": "none.key"}, ("{key} names", "No such file")),
    "key alone": ({"key": "client.key"}, ("without {cert}",)),
    "no key": ({"cert": "client.pem"}, ("the key be named", "{key}")),
    "key of another": ({"cert": "client.pem", "key": "good.key"}, ("does not belong", "good.key")),
    "key with a password": ({"cert": "client.pem", "key": "locked.key"}, ("has a password", "openssl pkey")),
    "text for a certificate": ({"cert": "text.pem", "key": "client.key"}, ("PEM form",)),
}


def check(said: str, wanted: tuple[str, ...], words: tls.Words) -> None:
    for each in wanted:
        assert each.format(ca=words.ca, cert=words.cert, key=words.key) in said, said
    assert "hunter2" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", HANDSHAKES)
def test_a_handshake_that_fails_names_its_remedy(certs: Path, name: str) -> None:
    cert, wants, options, wanted = HANDSHAKES[name]
    with server(certs, cert, wants=wants) as port:
        check(store_says(port, "rediss", query(certs, tls.REDIS, options)), wanted, tls.REDIS)
        check(broker_says(port, "amqps", query(certs, tls.AMQP, options)), wanted, tls.AMQP)


@pytest.mark.parametrize("name", ["wants a client", "another client"])
def test_a_refusal_that_is_lost_on_the_way_is_asked_for_again(certs: Path, name: str) -> None:
    """It comes after the hands are shaken: what the client has said by then may take it away."""
    cert, wants, options, wanted = HANDSHAKES[name]
    with server(certs, cert, wants=wants, lost=1) as port:
        check(store_says(port, "rediss", query(certs, tls.REDIS, options)), wanted, tls.REDIS)
    with server(certs, cert, wants=wants, lost=1) as port:
        check(broker_says(port, "amqps", query(certs, tls.AMQP, options)), wanted, tls.AMQP)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used_is_named(certs: Path, name: str) -> None:
    options, wanted = FILES[name]
    port = free_port()
    check(store_says(port, "rediss", query(certs, tls.REDIS, options)), wanted, tls.REDIS)
    check(broker_says(port, "amqps", query(certs, tls.AMQP, options)), wanted, tls.AMQP)


def test_a_management_interface_asks_no_terminal_for_the_password_of_a_key(certs: Path) -> None:
    pty = pytest.importorskip("pty")
    code = (
        "from services.broker.rabbitmq import management, url; from services.clock import SystemClock;"
        f" at = 'https://localhost:{free_port()}/?{query(certs, tls.AMQP, FILES['key with a password'][0])}';"
        " asked = management.Management(url.parse('amqp://guest:guest@localhost/'), at, SystemClock());"
        " print(asked.totals(), asked.problem())"
    )
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert "locked.key has a password" in done.stdout, (done.stdout, done.stderr)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_rights_is_named(certs: Path) -> None:
    (certs / "closed.pem").touch(mode=0)
    said = store_says(free_port(), "rediss", query(certs, tls.REDIS, {"ca": "closed.pem"}))
    assert "Permission denied" in said


def test_a_server_without_tls_and_a_client_without(certs: Path) -> None:
    with server(certs, "good", plain=True) as port:
        for said, plain in ((store_says(port, "rediss", ""), "redis://"), (broker_says(port, "amqps", ""), "amqp://")):
            assert "does not speak TLS" in said
            assert f"write {plain} in place" in said
    with server(certs, "good") as port:
        assert "write rediss:// in place of redis://" in store_says(port, "redis", "")
        assert "amqps://" in broker_says(port, "amqp", "")


def test_a_redis_without_tls_hangs_up_and_the_way_is_told(certs: Path, redis_server: Redis) -> None:
    """It waits for a line and ends the connection without a word."""
    assert "write redis:// in place of rediss://" in store_says(redis_server.start().port, "rediss", "")


def test_only_a_setting_takes_the_check_away_and_that_is_told(certs: Path, tmp_path: Path) -> None:
    """The server is believed, so it is asked on: what it answers is no broker and no store."""
    with server(certs, "self") as port:
        text = f'[profiles.shops]\nbroker = "amqps://localhost:{port}/"\nredis = "rediss://localhost:{port}/0"\n'
        (tmp_path / "config.toml").write_text(text, encoding="utf-8")
        checked = settings.load(profile="shops", home=tmp_path)
        assert checked.unverified == ()
        assert "tls" not in {one.check for one in diagnosis.examine(checked).findings}
        (tmp_path / "config.toml").write_text(f"{text}insecure_tls = true\n", encoding="utf-8")
        believed = settings.load(profile="shops", home=tmp_path)
        assert believed.unverified == ("RabbitMQ", "Redis")
        told = [english(one.message) for one in diagnosis.examine(believed).findings if one.check == "tls"]
        assert told == [
            "The certificate of RabbitMQ and Redis is not checked (insecure_tls): whoever stands between can read and"
            " change everything."
        ]
        said = {one.part: str(one.words) for one in assembly.probe(believed)}
        assert all("not trusted" not in words for words in said.values()), said
        said = {one.part: str(one.words) for one in assembly.probe(checked)}
        assert "not trusted" in said["broker"]
        assert "not trusted" in said["store"]


def test_the_strict_rules_of_new_pythons_are_named(certs: Path) -> None:
    """Python 3.13 asks more of an authority; versions before can be told to."""
    context = ssl.create_default_context(cafile=str(certs / "weak.pem"))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    with (
        server(certs, "weakly") as port,
        socket.create_connection(("127.0.0.1", port), 5) as stream,
        pytest.raises(ssl.SSLCertVerificationError) as caught,
    ):
        context.wrap_socket(stream, server_hostname="localhost")
    said = tls.sentence([caught.value], "mq:5671", {"cacertfile": "weak.pem"}, tls.AMQP)
    assert said is not None
    assert "Python 3.13" in said
    assert "keyUsage=critical,keyCertSign,cRLSign" in said


@pytest.mark.skipif(redis_program() is None, reason="no redis-server")
def test_a_real_server_that_wants_certificates(certs: Path) -> None:
    port = free_port()
    words = [str(redis_program()), "--port", "0", "--tls-port", str(port), "--save", "", "--dir", str(certs)]
    words += ["--tls-cert-file", "good.pem", "--tls-key-file", "good.key", "--tls-ca-cert-file", "ca.pem"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=certs)
    try:
        full = query(certs, tls.REDIS, {"ca": "ca.pem", "cert": "client.pem", "key": "client.key"})
        link = Link(f"rediss://localhost:{port}/0?{full}")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(ConsoleError):
                assert link.call("PING") in (b"PONG", "PONG", True)
                break
            if process.poll() is not None:
                pytest.skip("this redis-server has no TLS")
        else:
            pytest.fail("no answer over TLS")
        wanted = ("wants a certificate from this side", "{cert}=FILE")
        check(store_says(port, "rediss", query(certs, tls.REDIS, {"ca": "ca.pem"})), wanted, tls.REDIS)
        assert "write rediss://" in store_says(port, "redis", "")
        own = query(certs, tls.REDIS, {"cert": "client.pem", "key": "client.key"})
        assert "not trusted" in store_says(port, "rediss", own)
        assert Link(f"rediss://127.0.0.1:{port}/0?{own}", insecure=True).call("PING"), "neither name nor authority"
    finally:
        process.kill()
        process.wait(30)
