"""Answers as values: what each address of the pretended platforms returns, in good and in bad times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from sample_storefront import pages
from sample_storefront.catalogue import Catalogue, Order
from sample_storefront.ledger import Ledger
from sample_storefront.trouble import Trouble, TroubleBook

RETRY_AFTER_S = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, already read."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    task_id: str = ""
    flow: str = ""
    cookie: str = ""
    first: bool = True  #: the first on its connection

    @classmethod
    def parse(cls, method: str, target: str, *, body: bytes, headers: Mapping[str, str], first: bool) -> Request:
        """From what stands on the wire; the names of ``headers`` are in lower case."""
        parts = urlsplit(target)
        return cls(
            method=method,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            body=body,
            task_id=headers.get("x-task-id") or "",
            flow=headers.get("x-flow") or "",
            cookie=headers.get("cookie") or "",
            first=first,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer; ``wait`` is asked of the connection before it is sent, ``reset`` breaks it instead."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: Trouble = Trouble.NONE
    reset: bool = False


def as_json(value: object, status: int = 200, **headers: str) -> Response:
    """A JSON answer."""
    named = {name.replace("_", "-").title(): text for name, text in headers.items()}
    return Response(status=status, body=json.dumps(value, ensure_ascii=False).encode(), headers=named)


def as_html(title: str, body: str, *, nav: str = "", status: int = 200) -> Response:
    """An HTML answer."""
    text = pages.page(title, body, nav=nav)
    return Response(status=status, body=text.encode(), content_type="text/html; charset=utf-8")


class BadRequest(Exception):
    """The request cannot be understood; the text is sent back with 400."""


class Site:
    """The pages and the open API of every shop."""

    def __init__(self, catalogue: Catalogue, troubles: TroubleBook, ledger: Ledger) -> None:
        self._catalogue = catalogue
        self._troubles = troubles
        self._ledger = ledger

    def answer(self, request: Request) -> Response:
        """The answer to a request of ``/{platform}/{shop}/…`` or ``/api/{platform}/{shop}/…``."""
        parts = request.path.strip("/").split("/")
        api = parts[0] == "api"
        parts = parts[1:] if api else parts
        if len(parts) < 2:
            return as_json({"error": "not found"}, 404)
        platform, shop, *rest = parts
        self._ledger.request(f"{platform}:{shop}", request.flow, first=request.first)
        trouble = self._troubles.decide(platform, shop, request.task_id, page=not api)
        spoilt = self._spoilt(trouble, platform, shop)
        if spoilt is not None:
            return spoilt
        if api:
            response = self._api(request, platform, shop, rest, poisoned=trouble is Trouble.POISON_PAGE)
            if trouble is Trouble.EMPTY and rest == ["orders"]:
                response = as_json({"orders": [], "page": 1, "pages": 1, "total": 0})
        else:
            response = self._page(platform, shop, rest, broken=trouble is Trouble.SELECTOR)
        if trouble is Trouble.SLOW:
            return Response(
                status=response.status, body=response.body, content_type=response.content_type, wait=Trouble.SLOW
            )
        return response

    @staticmethod
    def _spoilt(trouble: Trouble, platform: str, shop: str) -> Response | None:
        """The answer when what was asked for is not given at all."""
        match trouble:
            case Trouble.RATE_LIMITED:
                return as_json({"error": "too many requests"}, 429, retry_after=str(RETRY_AFTER_S))
            case Trouble.UNAVAILABLE:
                return as_json({"error": "service unavailable"}, 503)
            case Trouble.RISK_CONTROL:
                return as_json({"error": "risk_control", "message": "account restricted 账号存在风险"}, 403)
            case Trouble.LOGIN_EXPIRED:
                return as_json({}, 302, location=f"/login?{urlencode({'platform': platform, 'shop': shop})}")
            case Trouble.CAPTCHA:
                return as_html("Verification 安全验证", pages.captcha(platform, shop))
            case Trouble.HANG:
                return Response(wait=Trouble.HANG, reset=True)
            case Trouble.RESET:
                return Response(reset=True)
            case _:
                return None

    def _page(self, platform: str, shop: str, rest: list[str], *, broken: bool) -> Response:
        tick = self._ledger.tick(f"{platform}:{shop}")
        nav, base = pages.navigation(platform, shop), f"/{platform}/{shop}"
        orders, goods = self._catalogue.orders(platform, shop, tick), self._catalogue.goods(platform, shop, tick)
        match rest:
            case [] | [""]:
                body = pages.home(shop, len(orders), len(goods))
            case ["orders"]:
                body = pages.order_list(orders[:-21:-1])
            case ["goods"]:
                body = pages.goods_list(base, goods)
            case ["goods", goods_id]:
                body = "".join(pages.product(product) for product in goods if product["goods_id"] == goods_id)
            case ["messages"]:
                body = pages.message_list(self._catalogue.messages(platform, shop, tick))
            case _:
                body = ""
        if not body:
            return as_html("Not found", pages.blank(), status=404)
        return as_html("…" if broken else shop, pages.blank() if broken else body, nav=nav)

    def _api(self, request: Request, platform: str, shop: str, rest: list[str], *, poisoned: bool) -> Response:
        tick = self._ledger.tick(f"{platform}:{shop}")
        match (request.method, rest):
            case ("GET", ["orders"]):
                return self._orders(request, platform, shop, poisoned=poisoned)
            case ("GET", ["goods"]):
                return as_json(_paged(self._catalogue.goods(platform, shop, tick), request.query, "goods"))
            case ("GET", ["goods", goods_id]):
                found = [p for p in self._catalogue.goods(platform, shop, tick) if p["goods_id"] == goods_id]
                return as_json(found[0]) if found else as_json({"error": "no such product"}, 404)
            case ("GET", ["messages"]):
                return as_json({"messages": self._catalogue.messages(platform, shop, tick)})
            case ("GET", ["buyers"]):
                return as_json({"buyers": self._catalogue.buyers(platform, shop, tick)})
            case ("POST", ["messages", message_id, "reply"]):
                text = str(json_object(request.body).get("text", ""))
                return as_json({"replies": self._ledger.reply(f"{platform}:{shop}", message_id, text)})
            case _:
                return as_json({"error": "not found"}, 404)

    def _orders(self, request: Request, platform: str, shop: str, *, poisoned: bool) -> Response:
        key = f"{platform}:{shop}"
        wanted = select_orders(self._catalogue.orders(platform, shop, self._ledger.tick(key)), request.query)
        answer = _paged(wanted, request.query, "orders")
        rows = answer["orders"]
        if poisoned:
            bad = self._catalogue.poisoned_order(platform, shop)
            answer["orders"] = [{**row, "order_no": None} if row["order_no"] == bad else row for row in rows]
        self._ledger.orders_served(key, len(rows))
        return as_json(answer)


def select_orders(orders: list[Order], query: Mapping[str, str]) -> list[Order]:
    """The orders that match ``since``, ``until`` (both inclusive, a day or a day and time) and ``status``."""
    since, until = query.get("since", "")[:19], query.get("until", "")[:19]
    statuses = query.get("status", "").split(",") if query.get("status") else []
    return [
        order
        for order in orders
        if order["updated_at"][: len(since)] >= since
        and (not until or order["updated_at"][: len(until)] <= until)
        and (not statuses or order["status"] in statuses)
    ]


def json_object(body: bytes) -> dict[str, object]:
    """The body as a JSON object."""
    try:
        value = json.loads(body or b"{}")
    except ValueError as exc:
        raise BadRequest(f"body is not JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise BadRequest("body is not a JSON object")
    return value


def _paged(rows: Sequence[Mapping[str, object]], query: Mapping[str, str], name: str) -> dict[str, Any]:
    """One page of ``rows`` under ``name``, with where it stands."""
    try:
        number, size = int(query.get("page", "1")), int(query.get("page_size", "20"))
    except ValueError as exc:
        raise BadRequest("page and page_size are numbers") from exc
    if number < 1 or not 1 <= size <= 100:
        raise BadRequest("page starts at 1, page_size is 1 to 100")
    start = (number - 1) * size
    return {name: rows[start : start + size], "page": number, "pages": -(-len(rows) // size), "total": len(rows)}
