"""Addresses as people write them."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from services.broker.rabbitmq.timing import Timing
from services.broker.rabbitmq.url import parameters, parse
from services.domain.errors import UsageError


@pytest.mark.parametrize(
    ("url", "host", "port", "vhost", "user", "password"),
    [
        ("amqp://h", "h", 5672, "/", "guest", "guest"),
        ("amqps://h", "h", 5671, "/", "guest", "guest"),
        ("amqp://h/", "h", 5672, "/", "guest", "guest"),
        ("amqp://h//", "h", 5672, "/", "guest", "guest"),
        ("amqp://h/%2F", "h", 5672, "/", "guest", "guest"),
        ("amqp://h/%2f", "h", 5672, "/", "guest", "guest"),
        ("amqp://h/a%2Fb", "h", 5672, "a/b", "guest", "guest"),
        ("amqp://h/a/b", "h", 5672, "a/b", "guest", "guest"),
        ("amqp://u:p@h:1/fleet", "h", 1, "fleet", "u", "p"),
        ("amqp://u@h/fleet", "h", 5672, "fleet", "u", ""),
        ("amqp://u%40x:p%3A%2F%25%23@h", "h", 5672, "/", "u@x", "p:/%#"),
        ("amqp://u:100%@h", "h", 5672, "/", "u", "100%"),
        ("amqp://[::1]:5673/v", "::1", 5673, "v", "guest", "guest"),
        ("  amqp://h/v \n", "h", 5672, "v", "guest", "guest"),
        ("amqp://h/%E5%BA%97", "h", 5672, "店", "guest", "guest"),
    ],
)
def test_an_address_is_read(url: str, host: str, port: int, vhost: str, user: str, password: str) -> None:
    address = parse(url)
    assert (address.host, address.port, address.vhost) == (host, port, vhost)
    assert (address.user, address.password) == (user, password)


def test_several_hosts_are_nodes_of_one_broker() -> None:
    address = parse("amqps://u:a,b%40@a:1,b,[::1]:3/v?heartbeat=5")
    assert [(one.host, one.port) for one in address.nodes] == [("a", 1), ("b", 5671), ("::1", 3)]
    assert {(one.user, one.password, one.vhost, one.options["heartbeat"]) for one in address.nodes} == {
        ("u", "a,b@", "v", "5")
    }
    assert address.place == "a:1, b:5671, [::1]:3"
    assert address.shown == "amqps://a:1,b:5671,[::1]:3/v"
    assert "a,b" not in repr(address)


@pytest.mark.parametrize("url", ["amqp://a,/v", "amqp://,a/v", "amqp://a,,b", "amqp://a:x,b", "amqp://a,b:p"])
def test_hosts_that_cannot_be_read_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        parse(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "must begin with amqp://"),
        ("redis://h", "must begin with amqp://"),
        ("h:5672", "must begin with amqp://"),
        ("amqp://", "no readable host"),
        ("amqp://u:p#w@h/", "cannot be read"),
        ("amqp://u:p/w@h/", "cannot be read"),
        ("amqp://h:port/", "cannot be read"),
        ("amqp://[::1/", "cannot be read"),
        ("amqp://h/?color=red", "unknown options"),
        ("amqp://h/?heartbeat=soon", "whole number of seconds"),
    ],
)
def test_what_is_not_an_address_is_refused_without_repeating_it(url: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        parse(url)
    assert "p#w" not in str(caught.value)
    assert "p/w" not in str(caught.value)


def test_the_password_is_in_nothing_that_is_shown() -> None:
    address = parse("amqps://ann:hush@[fe80::1]:5671/a%2Fb")
    assert address.shown == "amqps://[fe80::1]:5671/a/b"
    assert "hush" not in repr(address)
    assert "ann" not in address.shown


@pytest.mark.parametrize(
    ("url", "management"),
    [
        ("amqp://h:5672/", "http://h:15672"),
        ("amqps://h/", "https://h:15671"),
        ("amqp://[::1]/", "http://[::1]:15672"),
    ],
)
def test_the_management_api_is_looked_for_beside_the_broker(url: str, management: str) -> None:
    assert parse(url).management_url == management


def test_parameters_bound_every_wait() -> None:
    made = parameters(parse("amqp://u:p@h/v"), Timing(connect=4, heartbeat=30, blocked=99), name="publish")
    assert (made.heartbeat, made.blocked_connection_timeout, made.connection_attempts) == (30, 99, 1)
    assert (made.socket_timeout, made.stack_timeout) == (4, 5)
    assert made.virtual_host == "v"
    assert made.client_properties["connection_name"] == "publish"
    assert made.ssl_options is None
    assert parameters(parse("amqp://h/?heartbeat=7"), Timing(), name="x").heartbeat == 7


def test_tls_is_verified_against_the_name_of_the_host() -> None:
    made = parameters(parse("amqps://rabbit.example/"), Timing(), name="x")
    assert made.ssl_options.server_hostname == "rabbit.example"
    assert made.ssl_options.context.verify_mode is ssl.CERT_REQUIRED
    assert made.ssl_options.context.check_hostname
    named = parameters(parse("amqps://10.0.0.1/?server_name_indication=rabbit.example"), Timing(), name="x")
    assert named.ssl_options.server_hostname == "rabbit.example"


def test_a_certificate_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cacertfile names"):
        parameters(parse(f"amqps://h/?cacertfile={tmp_path}/none.pem"), Timing(), name="x")
