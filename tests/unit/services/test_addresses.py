"""What can be an address, and how the others are refused."""

from __future__ import annotations

import pytest

from services import addresses
from services.broker import listed as brokers
from services.domain.errors import UsageError


@pytest.mark.parametrize(
    "url",
    [
        "amqp://localhost",
        "amqps://ann:p%40ss@mq.example.com:5671/fleet",
        "amqp://[::1]:5672/%2F?heartbeat=30",
        " amqp://localhost ",
        "amqp://ann:p,w@a:5672,b,[::1]:5673/fleet?heartbeat=30",
        "pulsar://localhost",
        "pulsar://:token@a:6650,[::1]/shops/fleet?delay=broker&ids=50",
        "pulsar+ssl://:token@a/shops/fleet/?cacertfile=/x.pem",
    ],
)
def test_addresses_of_brokers(url: str) -> None:
    brokers.check(url, "--broker")


@pytest.mark.parametrize(
    "url",
    ["redis://localhost", "rediss://:secret@host:6380/0", "redis://h:1/12", "redis://h/", "unix:///run/r.sock?db=1"],
)
def test_addresses_of_stores(url: str) -> None:
    addresses.check_store(url, "--redis")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("foo", "must begin with amqp://"),
        ("", "must begin with"),
        ("localhost:5672", "must begin with"),
        ("http://localhost", "must begin with"),
        ("amqp://", "no readable host"),
        ("amqp://ann:hunter2@", "no readable host"),
        ("amqp://host:many", "no readable host or port"),
        ("amqp://host:99999", "1 to 65535"),
        ("amqp://ann:hunter2/x@host", "no readable host or port"),
        ("amqp://[::1", "no readable host or port"),
        ("amqp://ann:hunter2@a,,b", "no readable host or port"),
        ("amqp://ann:hunter2@a,b:many", "no readable host or port"),
        ("kafka://localhost", "pulsar://"),
    ],
)
def test_what_is_no_broker_is_refused_with_its_place_and_a_remedy(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        brokers.check(url, "profiles.shops.broker")
    assert caught.value.field == "profiles.shops.broker"
    assert "profiles.shops.broker" in str(caught.value)
    assert brokers.KINDS[0].like in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["foo", "amqp://localhost", "redis://", "redis://h:x/0", "redis://h/first", "redis://h/1/2"]
)
def test_what_is_no_store_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="redis://") as caught:
        addresses.check_store(url, "store.url")
    assert caught.value.field == "store.url"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("rediss://h/0?ssl_cert_reqs=none", "ssl_cert_reqs may not switch"),
        ("rediss://h/0?ssl_cert_reqs=optional", "ssl_ca_certs=FILE"),
        ("rediss://h/0?ssl_check_hostname=False", "ssl_check_hostname may not switch"),
        ("rediss://h/0?ssl_password=x", "unknown option ssl_password; known are db, ssl_ca_certs"),
        ("redis://h/0?decode_responses=true", "unknown option decode_responses"),
        ("redis://h/0?ssl_ca_certs=/x.pem", "unknown option ssl_ca_certs; known are db"),
        ("redis://h/0?db=first", "number of the database"),
        ("unix:///run/r.sock?socket_keepalive=1", "unknown option socket_keepalive"),
    ],
)
def test_options_that_are_unknown_or_weaken_the_connection_are_refused(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        addresses.check_store(url, "store.url")
    assert caught.value.field == "store.url"


@pytest.mark.parametrize(
    "url", ["rediss://h/0?ssl_ca_certs=/x.pem&ssl_cert_reqs=required&ssl_check_hostname=true", "redis://h?db=3"]
)
def test_options_that_are_known_are_taken(url: str) -> None:
    addresses.check_store(url, "store.url")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("amqp://u:secret@mq.example.com:5671/fleet", "mq.example.com:5671/fleet"),
        ("redis://:secret@10.0.0.2:6379/0", "10.0.0.2:6379/0"),
        ("amqps://mq.example.com/", "mq.example.com"),
        ("redis://host:notaport", ""),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, words: str) -> None:
    assert addresses.shown(url) == words


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        ("a..b", "between two dots"), (".a:1", "between two dots"), (f"{'a' * 64}.com", "longer than 63"),
        (".".join(["a" * 60] * 5), "longer than 253"), ("h:0", "1 to 65535"), ("h:65536", "1 to 65535"),
        ("h:80a", "1 to 65535"), ("h:5672a/v", "1 to 65535"), ("a%20b", "blanks"),
        ("a\u202eb", "blanks"), ("..", "empty"),
        (f"{'é' * 60}", "longer than 63"), ("中..国", "between two dots"), ("[::zz]", "host"), ("h:-1", "host or port"),
    ],
)  # fmt: skip
def test_a_host_or_port_that_cannot_be_is_a_sentence(rest: str, says: str) -> None:
    for scheme, check in (("amqp", brokers.check), ("amqps", brokers.check)):
        for who in ("", "ann:hunter2@"):
            with pytest.raises(UsageError, match=says) as caught:
                check(f"{scheme}://{who}{rest}", "broker.url")
            assert "hunter2" not in str(caught.value)
    if "/v" not in rest:
        with pytest.raises(UsageError, match=says):
            addresses.check_store(f"redis://{rest}/0", "store.url")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("amqp://ann:p%40ss@mq.example.com:5672/%2Fshops", "mq.example.com:5672//shops"),
        ("amqps://ann:s3cret@mq:5671/shops%20east", "mq:5671/shops east"),
        ("amqp://mq/%2F", "mq"),
        ("amqp://mq:5672/", "mq:5672"),
        ("amqp://mq/%E5%8D%8E%E4%B8%9C", "mq/华东"),
        ("amqp://mq/a%0Ab%E2%80%AEc", "mq/a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"),
        ("amqp://[::1]:5672/shops", "[::1]:5672/shops"),
        ("redis://:s3cret@redis:6380/12", "redis:6380/12"),
        ("redis://redis:6380/0?password=s3cret", "redis:6380/0"),
        ("unix:///run/r.sock?db=1", "/run/r.sock"),
        ("amqp://ann:12/34@mq/shops", ""),
        ("amqp://ann:pa/ss@mq/shops", ""),
    ],
)
def test_an_address_is_shown_decoded_and_without_its_password(url: str, words: str) -> None:
    assert addresses.shown(url) == words


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis+sentinel://ann:hunter2@host:26379/fleet", "Sentinel is not supported"),
        ("rediss+sentinel://host", "Sentinel is not supported"),
        ("redis://ann:hunter2@a:1,b:2/0", "several hosts"),
    ],
)
def test_kinds_of_redis_that_are_not_supported_are_refused_by_name(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        addresses.check_store(url, "--redis")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["verify", "fail_if_no_peer_cert", "ssl_options"])
def test_an_option_that_weakens_the_connection_to_a_broker_is_told_its_remedy(name: str) -> None:
    with pytest.raises(UsageError, match=r"\?cacertfile=FILE.*insecure_tls"):
        brokers.check(f"amqps://h/v?{name}=verify_none", "broker.url")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis://h\tx/0", "no readable host"),
        ("redis://h\n.example/0", "no readable host"),
        ("redis://h\x7f/0", "no readable host"),
        ("redis://[::1]x/0", "no readable host"),
        ("redis://[::1]x:6379/0", "no readable host"),
        ("redis://[v1.x]/0", "no readable host"),
        ("redis://h/99999999999999999999", "number of the database"),
        ("redis://h?db=99999999999999999999", "number of the database"),
        ("redis://h?db=٣", "number of the database"),
        ("unix://", "no readable host"),
        ("unix://\0", "no readable host"),
        ("unix:///a%00b", "no readable host"),
    ],
)
def test_a_store_that_would_be_read_otherwise_than_it_is_written_is_refused(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        addresses.check_store(url, "--redis")
    assert caught.value.field == "--redis"
    assert str(caught.value).startswith("--redis")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("amqp://h\tx/v", "no readable host"),
        ("amqp://a,b\nc/v", "no readable host"),
        ("amqp://[::1]x/v", "no readable host"),
        ("amqp://a,[::1]x:5672/v", "no readable host"),
        ("amqp://[v1.x]/v", "no readable host"),
        ("amqp://h/" + "v" * 256, "no readable host"),
        ("amqp://h?heartbeat=65536", "heartbeat"),
        ("amqps://h?server_name_indication=%00", "server_name_indication"),
        ("amqps://h?server_name_indication=a..b", "server_name_indication"),
        ("pulsar://h/only", "no readable host"),
        ("pulsar://h/a/b/c", "no readable host"),
        ("pulsar://h?heartbeat=5", "known are delay, ids"),
        ("pulsar://h?cacertfile=/x.pem", "unknown option cacertfile"),
        ("pulsar://h?delay=both", "one of store, broker"),
        ("pulsar://h?ids=many", "0-999"),
    ],
)
def test_a_broker_that_would_be_read_otherwise_than_it_is_written_is_refused(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        brokers.check(url, "--broker")
    assert caught.value.field == "--broker"
    assert str(caught.value).startswith("--broker")


@pytest.mark.parametrize("url", ["amqp://[::1]/v", "amqp://[fe80::1%25eth0]:1/v", "amqp://u:p@[::1]:,[::2]:5"])
def test_brackets_of_ipv6_stay_good(url: str) -> None:
    brokers.check(url, "--broker")
