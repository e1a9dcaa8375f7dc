"""The HTML of the pretended platforms; flows look for the class names that are used here."""

from __future__ import annotations

import html
from collections.abc import Iterable

from sample_storefront.catalogue import Goods, Message, Order

_STYLE = """
body{margin:0;font:14px/1.5 system-ui,"Noto Sans CJK SC",sans-serif;color:#1b2029;background:#f4f6f9}
header{background:#c8401f;color:#fff;padding:14px 28px;font-size:17px}header a{color:#fff;margin-left:20px}
main{max-width:960px;margin:24px auto;background:#fff;padding:20px 28px;border:1px solid #e2e6ec}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:7px 9px;border-bottom:1px solid #e2e6ec}
.goods{display:grid;grid-template-columns:repeat(4,1fr);gap:14px}.goods-card{border:1px solid #e2e6ec;padding:12px}
.empty{border:2px dashed #c8401f;padding:60px;text-align:center}.price{color:#c8401f}
"""


def page(title: str, body: str, *, nav: str = "") -> str:
    """A whole document; ``title`` is text, ``body`` and ``nav`` are HTML."""
    safe = html.escape(title)
    return (
        f'<!doctype html><html lang="zh-CN"><head><meta charset="utf-8"><title>{safe}</title>'
        f'<style>{_STYLE}</style></head><body><header><span class="shop-title">{safe}</span>{nav}</header>'
        f"<main>{body}</main></body></html>"
    )


def navigation(platform: str, shop: str) -> str:
    """Links between the pages of one shop."""
    base = f"/{platform}/{shop}"
    links = (("/", "Home 首页"), ("/orders", "Orders 订单"), ("/goods", "Goods 商品"), ("/messages", "Messages 消息"))
    return "".join(f'<a href="{base}{path}">{label}</a>' for path, label in links)


def home(shop: str, orders: int, goods: int) -> str:
    """The first page of a shop."""
    return f'<h1 class="shop-name">{shop}</h1><p class="shop-stats">{orders} orders 订单 · {goods} products 商品</p>'


def order_list(orders: Iterable[Order]) -> str:
    """The latest orders as a table."""
    rows = "".join(
        f'<tr class="order-list__row"><td class="order-no">{order["order_no"]}</td><td>{order["status"]}</td>'
        f"<td>{order['buyer']}</td><td>{_money(order['amount_cents'], order['currency'])}</td>"
        f"<td>{order['created_at']}</td></tr>"
        for order in orders
    )
    return f'<table class="order-list"><tr><th>No.<th>Status<th>Buyer<th>Amount<th>Created</tr>{rows}</table>'


def goods_list(base: str, goods: Iterable[Goods]) -> str:
    """The products as cards."""
    cards = "".join(
        f'<div class="goods-card"><a href="{base}/goods/{product["goods_id"]}">{html.escape(product["title"])}</a>'
        f'<div class="price">{_money(product["price_cents"], product["currency"])}</div></div>'
        for product in goods
    )
    return f'<div class="goods">{cards}</div>'


def product(goods: Goods) -> str:
    """One product."""
    return (
        f'<h1 class="product-title">{html.escape(goods["title"])}</h1><p class="price">'
        f'{_money(goods["price_cents"], goods["currency"])}</p><p class="stock">{goods["stock"]}</p>'
    )


def message_list(messages: Iterable[Message]) -> str:
    """The questions that wait for an answer."""
    rows = "".join(
        f'<tr class="chat-row"><td>{message["message_id"]}</td><td>{message["buyer"]}</td>'
        f"<td>{html.escape(message['text'])}</td></tr>"
        for message in messages
    )
    return f"<table>{rows}</table>"


def blank() -> str:
    """A page whose content did not come: nothing that a flow looks for is on it."""
    return '<div class="empty">…</div>'


def login(platform: str, shop: str) -> str:
    """The login form; posting it logs the shop in again."""
    return (
        f'<h1>Seller login 商家登录</h1><form class="login-form" method="post" action="/login">'
        f'<input name="platform" value="{html.escape(platform)}"><input name="shop" value="{html.escape(shop)}">'
        f'<input name="password" type="password"><button>Log in 登录</button></form>'
    )


def captcha(platform: str, shop: str) -> str:
    """The slider; posting it proves that a person is there."""
    return (
        '<h1>Drag the slider 拖动滑块完成验证</h1><form class="captcha-slider" method="post" action="/captcha">'
        f'<input type="hidden" name="platform" value="{html.escape(platform)}">'
        f'<input type="hidden" name="shop" value="{html.escape(shop)}"><button>▷ slide</button></form>'
    )


def _money(cents: int, currency: str) -> str:
    return f"{'¥' if currency == 'CNY' else '$'}{cents / 100:.2f}"
