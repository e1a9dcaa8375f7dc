"""The seller's desk of the pretended platforms, for browsers: a login, orders page by page, a file, a table."""

from __future__ import annotations

import csv
import html
import io
import secrets
import threading
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from sample_storefront import pages
from sample_storefront.answers import BadRequest, Request, Response, as_html, as_json
from sample_storefront.catalogue import Catalogue, Order
from sample_storefront.ledger import Ledger
from sample_storefront.trouble import Trouble, TroubleBook

PASSWORD = "open-sesame"
PAGE_SIZE = 10
_HEAD = ("No.", "Status", "Buyer", "Amount", "Created")


class SellerSite:
    """``/desk/{platform}/{shop}/…``; everything but the login asks for the cookie that the login gives."""

    def __init__(self, catalogue: Catalogue, troubles: TroubleBook, ledger: Ledger) -> None:
        self._catalogue, self._troubles, self._ledger = catalogue, troubles, ledger
        self._lock = threading.Lock()
        self._tokens: dict[str, set[str]] = {}

    def answer(self, request: Request) -> Response:
        """The answer to one request."""
        parts = request.path.strip("/").split("/")
        if len(parts) < 3:
            return as_json({"error": "not found"}, 404)
        _, platform, shop, *rest = parts
        lasting = self._troubles.lasting(platform, shop)
        if rest == ["login"]:
            return self._login(request, platform, shop)
        if lasting is Trouble.CAPTCHA:
            return as_html("Verification 安全验证", pages.captcha(platform, shop))
        if lasting is Trouble.LOGIN_EXPIRED or not self._knows(platform, shop, request.cookie):
            return _to(f"/desk/{platform}/{shop}/login")
        orders = self._catalogue.orders(platform, shop, self._ledger.tick(f"{platform}:{shop}"))[::-1]
        match rest:
            case [] | ["orders"]:
                return self._orders(request, platform, shop, orders)
            case ["orders.csv"]:
                return _file(shop, orders)
            case ["stats"]:
                return as_html(shop, _stats(orders), nav=_nav(platform, shop))
            case _:
                return as_html("Not found", pages.blank(), status=404)

    def forget(self, platform: str, shop: str) -> None:
        """Log the shop out everywhere."""
        with self._lock:
            self._tokens.pop(f"{platform}:{shop}", None)

    def _knows(self, platform: str, shop: str, cookie: str) -> bool:
        try:
            token = SimpleCookie(cookie).get("desk")
        except CookieError:
            return False
        with self._lock:
            return token is not None and token.value in self._tokens.get(f"{platform}:{shop}", ())

    def _login(self, request: Request, platform: str, shop: str) -> Response:
        base = f"/desk/{platform}/{shop}"
        if request.method != "POST":
            return as_html("Seller login 商家登录", _form(base, ""))
        form = dict(parse_qsl(request.body.decode("utf-8", "replace")))
        if form.get("password") != PASSWORD:
            return as_html("Seller login 商家登录", _form(base, "Wrong user or password 用户名或密码错误"))
        if self._troubles.lasting(platform, shop) is Trouble.LOGIN_EXPIRED:
            self._troubles.put(f"{platform}:{shop}", Trouble.NONE)
        token = secrets.token_hex(8)
        with self._lock:
            self._tokens.setdefault(f"{platform}:{shop}", set()).add(token)
        return _to(f"{base}/orders", cookie=f"desk={token}; Path={base}; HttpOnly")

    def _orders(self, request: Request, platform: str, shop: str, orders: list[Order]) -> Response:
        try:
            number = int(request.query.get("page", "1"))
        except ValueError as exc:
            raise BadRequest("page is a number") from exc
        start, last = (number - 1) * PAGE_SIZE, -(-len(orders) // PAGE_SIZE)
        here = f"/desk/{platform}/{shop}/orders"
        more = f'<a class="next" href="{here}?page={number + 1}">Next 下一页</a>' if number < last else ""
        body = (
            f'<h1 class="shop-name">{html.escape(shop)}</h1>{_table("orders", _HEAD, map(_row, orders[start:][:PAGE_SIZE]))}'
            f'<p class="pager"><span class="page">{number} / {last}</span> {more}</p>'
            f'<p><a class="export" href="{here}.csv" download>Export 导出</a></p>'
        )
        return as_html(shop, body, nav=_nav(platform, shop))


def _row(order: Order) -> tuple[str, ...]:
    amount = f"{order['amount_cents'] / 100:.2f} {order['currency']}"
    return order["order_no"], order["status"], order["buyer"], amount, order["created_at"]


def _table(name: str, head: tuple[str, ...], rows: object) -> str:
    top = "".join(f"<th>{text}</th>" for text in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows  # type: ignore[attr-defined]
    )
    return f'<table class="{name}"><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>'


def _stats(orders: list[Order]) -> str:
    statuses = sorted({order["status"] for order in orders})
    rows = [(status, str(sum(1 for order in orders if order["status"] == status))) for status in statuses]
    return _table("stats", ("Status", "Orders"), rows)


def _file(shop: str, orders: list[Order]) -> Response:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_HEAD)
    writer.writerows(map(_row, orders))
    named = {"Content-Disposition": f'attachment; filename="orders-{shop}.csv"'}
    return Response(body=out.getvalue().encode(), content_type="text/csv; charset=utf-8", headers=named)


def _form(base: str, error: str) -> str:
    told = f'<p class="login-error">{error}</p>' if error else ""
    return (
        f'<h1>Seller login 商家登录</h1>{told}<form class="login-form" method="post" action="{base}/login">'
        f'<input name="user" placeholder="User 用户名"><input name="password" type="password">'
        f'<button type="submit">Log in 登录</button></form>'
    )


def _nav(platform: str, shop: str) -> str:
    base = f"/desk/{platform}/{shop}"
    return f'<a href="{base}/orders">Orders 订单</a><a href="{base}/stats">Figures 数据</a>'


def _to(path: str, *, cookie: str = "") -> Response:
    return Response(status=302, headers={"Location": path} | ({"Set-Cookie": cookie} if cookie else {}))
