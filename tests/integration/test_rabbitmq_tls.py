"""amqps: the certificate is verified against its authority and the host's name."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from services.broker import listed as brokers
from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.rabbitmq.management import Management
from services.broker.rabbitmq.timing import Timing
from services.broker.rabbitmq.url import parse
from services.clock import SystemClock
from services.domain.errors import BrokerUnavailable
from services.domain.insight.connection import MANAGEMENT
from tests.integration.rabbitmq_rig import collect, order
from tests.support.services import RabbitMQ, ServiceUnavailable, free_port

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


@dataclass
class Secure:
    port: int
    authority: Path
    server: RabbitMQ

    def url(self, host: str = "localhost", **options: str) -> str:
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"amqps://guest:guest@{host}:{self.port}/?{query}"


def make(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """A broker with a certificate for ``localhost`` from an authority of its own."""
    folder, port = tmp_path_factory.mktemp("tls"), free_port()
    subject = ["-subj", "/CN=Fleetdeck test"]
    make(
        folder,
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-days",
        "2",
        *subject,
        "-addext",
        "keyUsage=critical,keyCertSign,cRLSign",
    )
    make(
        folder,
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "key.pem",
        "-out",
        "ask.csr",
        "-subj",
        "/CN=localhost",
    )
    (folder / "names").write_text("subjectAltName=DNS:localhost\n", encoding="ascii")
    sign = ["x509", "-req", "-in", "ask.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
    make(folder, *sign, "-out", "cert.pem", "-extfile", "names")
    conf = (
        f"listeners.ssl.1 = 127.0.0.1:{port}\n"
        f"ssl_options.cacertfile = {folder}/ca.pem\n"
        f"ssl_options.certfile = {folder}/cert.pem\n"
        f"ssl_options.keyfile = {folder}/key.pem\n"
    )
    try:
        server = RabbitMQ(extra_conf=conf).start()
    except ServiceUnavailable as error:
        pytest.skip(str(error))
    yield Secure(port, folder / "ca.pem", server)
    server.close()


def test_messages_travel_over_tls(secure: Secure) -> None:
    broker = RabbitBroker(secure.url(cacertfile=str(secure.authority)), SystemClock())
    try:
        broker.ensure(platforms=["pdd"])
        assert all(
            answer.ok for answer in broker.publish([order(f"m{number}", body=bytes(3000)) for number in range(2000)])
        )
        consumer = broker.consumer(["high"], window=500, name="w")
        got = 0
        while got < 2000:
            taken = collect(consumer, 200)
            assert taken
            got += len(taken)
            consumer.ack(taken)
    finally:
        broker.close()


@pytest.mark.parametrize(
    ("host", "options", "why"),
    [
        ("localhost", {}, "not trusted"),
        ("127.0.0.1", {"cacertfile": "{authority}"}, "for another name"),
    ],
)
def test_an_unknown_authority_and_a_wrong_name_are_refused(
    secure: Secure, host: str, options: dict[str, str], why: str
) -> None:
    told = {name: value.format(authority=secure.authority) for name, value in options.items()}
    broker = RabbitBroker(secure.url(host, **told), SystemClock(), timing=Timing(connect=3.0))
    try:
        with pytest.raises(BrokerUnavailable, match=why):
            broker.ensure()
    finally:
        broker.close()


def test_a_name_may_be_given_for_an_address(secure: Secure) -> None:
    url = secure.url("127.0.0.1", cacertfile=str(secure.authority), server_name_indication="localhost")
    broker = RabbitBroker(url, SystemClock())
    try:
        broker.ensure()
        assert broker.health().connected
    finally:
        broker.close()


def test_a_management_address_that_does_not_answer_names_its_remedy(secure: Secure) -> None:
    server, authority = secure.server, str(secure.authority)
    server.ctl("add_user", "plain", "pw")
    server.ctl("set_permissions", "-p", "/", "plain", ".*", ".*", ".*")
    nobody = free_port()

    def tried(management: str) -> str:
        settings = config.Settings(
            broker=config.BrokerSettings(url=server.amqp_url, management_url=management),
            store=config.StoreSettings(url=f"redis://127.0.0.1:{nobody}/0"),
        )
        return next(str(answer.words) for answer in assembly.probe(settings) if answer.part == MANAGEMENT)

    with_user = server.management_url
    host = with_user.rpartition("@")[2]
    assert not tried(with_user)
    assert "refuses this user: give it the tag monitoring" in tried(f"http://plain:pw@{host}")
    assert "refuses this user" in tried(f"http://guest:hunter2@{host}")
    assert "write http:// in place of https://" in tried(f"https://guest:guest@{host}")
    assert "switch the plug-in rabbitmq_management on" in tried(f"http://guest:guest@127.0.0.1:{nobody}")
    assert "write https:// in place of http://" in tried(f"http://guest:guest@localhost:{secure.port}")
    # its certificate is looked at before anybody finds that it speaks another language
    tls = f"https://guest:guest@localhost:{secure.port}"
    assert "name the file of its authority by ?cacertfile=FILE" in tried(tls)
    assert "not trusted" not in tried(f"{tls}/?cacertfile={authority}")
    assert "/nowhere.pem, which cannot be read" in tried(f"{tls}/?cacertfile=/nowhere.pem")


def test_a_management_interface_that_wants_a_certificate_gets_the_one_of_its_address(secure: Secure) -> None:
    folder, address = secure.authority.parent, parse("amqp://guest:guest@localhost/")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.load_verify_locations(secure.authority)
    context.verify_mode = ssl.CERT_REQUIRED
    with ThreadingHTTPServer(("127.0.0.1", 0), Queues) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"https://localhost:{server.server_port}/?cacertfile={secure.authority}"
        asked = Management(address, url, SystemClock())
        assert asked.totals() is None
        assert "by ?certfile=FILE&keyfile=FILE" in asked.problem()
        asked.close()
        asked = Management(address, f"{url}&certfile={folder}/cert.pem&keyfile={folder}/key.pem", SystemClock())
        assert asked.totals() == {}, asked.problem()
        asked.close()
        server.shutdown()


def test_whom_the_certificate_of_the_broker_is_believed_is_believed_for_its_management_interface(
    secure: Secure,
) -> None:
    folder, address = secure.authority.parent, parse("amqp://guest:guest@localhost/")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with ThreadingHTTPServer(("127.0.0.1", 0), Queues) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for insecure, told in ((False, None), (True, {})):
            place = config.BrokerSettings(
                url="amqp://guest:guest@localhost/",
                management_url=f"https://localhost:{server.server_port}",
                insecure_tls=insecure,
            )
            asked = Management(replace(address, insecure=insecure), place.management_url, SystemClock())
            assert asked.totals() == told
            asked.close()
            assert bool(brokers.of(place.url).ask_management(place, SystemClock())) is not insecure
            assert config.Settings(broker=place).unverified == (("RabbitMQ",) if insecure else ())
        server.shutdown()


class Queues(BaseHTTPRequestHandler):
    """Tells that there are none."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_words: object) -> None:
        pass
