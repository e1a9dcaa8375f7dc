"""Settings of the executor ``http``."""

from __future__ import annotations

from typing import Any

import msgspec


class HttpRequestSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a task type asks for; ``{{payload.x}}``, ``{{secret.name}}``, ``{{shop_id}}`` and the like are filled in."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    body: Any = None  #: a text, or a table that goes as JSON
    expect: tuple[int, ...] = ()  #: statuses of success, empty for 200 to 299


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What requests this worker makes; never taken from a message, but for addresses on the public network."""

    requests: dict[str, HttpRequestSettings] = {}  #: by task type
    hosts: tuple[str, ...] = ()  #: names that may be private: ``erp.local``, ``*.corp.example``
    private_hosts: bool = False  #: any host may be private
    payload_urls: bool = True  #: types without a request of their own take url, method, headers and body of the payload
    redirects: int = 5
    response_mb: float = 10.0
