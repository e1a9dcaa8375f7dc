"""The flows of the sample, one function a task type; each returns its result."""

from __future__ import annotations

from sample_rpa.errors import BadPayload, SelectorNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sample_rpa.run import FlowContext

GREETINGS = {
    "welcome": ("Welcome, {name}!", "{name}，欢迎光临！"),
    "coupon": ("{name}, a coupon is waiting for you.", "{name}，您有一张优惠券待使用。"),
}


def sync_order(run: FlowContext) -> dict[str, object]:
    """Fetch the orders page by page and upsert each page; safe to run again, alone or twice at the same time."""
    run.client.page(f"{run.page_base}/orders", ".order-list__row")
    size = run.integer("page_size", 50, 1, 100)
    wanted = {"since": run.day("since"), "until": run.day("until"), "status": ",".join(run.texts("status"))}
    seen = new = changed = 0
    page = pages = 1
    while page <= pages:
        answer = run.client.data(f"{run.api_base}/orders", page=page, page_size=size, **wanted)
        orders, pages = answer["orders"], answer["pages"]
        for row, order in enumerate(orders, 1):
            if not order["order_no"]:
                raise SelectorNotFound(".order-list__row .order-no", f"in row {row} of page {page}")
        if orders:
            added, moved = run.database.put_orders(run.platform, run.shop, orders)
            new, changed, seen = new + added, changed + moved, seen + len(orders)
        run.progress(100 * page // max(pages, 1), f"page {page} of {pages}")
        page += 1
    run.log(f"{seen} orders, {new} new, {changed} changed")
    return {"orders": seen, "new": new, "changed": changed, "pages": pages}


def refresh_goods(run: FlowContext) -> dict[str, object]:
    """Bring prices and stock of all products up to date."""
    run.client.page(f"{run.page_base}/goods", ".goods-card")
    only_on_sale = run.param.get("only_on_sale", False) is True
    seen = low = 0
    for goods in _goods_pages(run, run.integer("page_size", 20, 1, 100)):
        kept = [product for product in goods if product["on_sale"] or not only_on_sale]
        run.database.put_goods(run.platform, run.shop, kept)
        seen += len(kept)
        low += sum(product["stock"] <= run.integer("low_stock", 5, 0, 10000) for product in kept)
    run.log(f"{seen} products, {low} low on stock")
    return {"goods": seen, "low_stock": low}


def single_product(run: FlowContext) -> dict[str, object]:
    """Fetch one product."""
    product = _product(run, run.text("goods_id"))
    return {"goods_id": product["goods_id"], "title": product["title"], "stock": product["stock"]}


def batch_products(run: FlowContext) -> dict[str, object]:
    """Fetch the named products, one after the other; each is kept as soon as it is there."""
    wanted = run.texts("goods_ids")
    if not wanted:
        raise BadPayload("goods_ids is required")
    stock: dict[str, int] = {}
    for number, goods_id in enumerate(wanted, 1):
        stock[goods_id] = _product(run, goods_id)["stock"]
        run.progress(100 * number // len(wanted), f"product {number} of {len(wanted)}")
    return {"goods": len(stock), "sold_out": sorted(one for one, left in stock.items() if not left)}


def search_keywords(run: FlowContext) -> dict[str, object]:
    """Look every keyword up in the titles of what the shop shows; the places count from 1 in the shop's own order."""
    words, limit = run.texts("keywords"), run.integer("limit", 20, 1, 100)
    if not words:
        raise BadPayload("keywords is required")
    run.client.page(f"{run.page_base}/goods", ".goods-card")
    goods = [product for page in _goods_pages(run, 50) for product in page]
    found: dict[str, list[dict[str, object]]] = {}
    for word in words:
        hits = [(place, one) for place, one in enumerate(goods, 1) if word.casefold() in one["title"].casefold()]
        found[word] = [{"goods_id": one["goods_id"], "place": place} for place, one in hits[:limit]]
        run.log(f"{word}: {len(hits)} of {len(goods)} products")
    return {"keywords": len(found), "found": found}


def full_sync(run: FlowContext) -> dict[str, object]:
    """Orders, then products; safe to run again, as its two halves are."""
    orders = sync_order(run)
    goods = refresh_goods(run)
    return {"orders": orders["orders"], "new": orders["new"], "changed": orders["changed"], "goods": goods["goods"]}


def shop_crawl(run: FlowContext) -> dict[str, object]:
    """Walk through the shop as a visitor does: home, list, then product after product."""
    run.client.page(f"{run.page_base}/", ".shop-name")
    run.client.page(f"{run.page_base}/goods", ".goods-card")
    limit = run.integer("max_products", 30, 1, 500)
    goods = [product for page in _goods_pages(run, 50) for product in page][:limit]
    for number, product in enumerate(goods, 1):
        run.client.page(f"{run.page_base}/goods/{product['goods_id']}", ".product-title")
        run.database.put_goods(run.platform, run.shop, [product])
        run.progress(100 * number // len(goods), f"product {number} of {len(goods)}")
    return {"pages": 2 + len(goods), "goods": len(goods)}


def batch_reply(run: FlowContext) -> dict[str, object]:
    """Answer the buyers who wait. Not idempotent: each run answers again whoever is listed."""
    text = run.text("text").strip()
    if not text:
        raise BadPayload("text is required")
    run.client.page(f"{run.page_base}/messages", ".chat-row")
    messages = run.client.data(f"{run.api_base}/messages")["messages"]
    only, keyword = run.texts("message_ids"), run.text("keyword")
    chosen = [m for m in messages if (not only or m["message_id"] in only) and keyword in m["text"]]
    chosen = chosen[: run.integer("limit", 50, 1, 200)]
    for number, message in enumerate(chosen, 1):
        answer = text.replace("{buyer}", message["buyer"])
        run.client.post(f"{run.api_base}/messages/{message['message_id']}/reply", {"text": answer})
        run.progress(100 * number // len(chosen), f"reply {number} of {len(chosen)}")
    run.log(f"{len(chosen)} replies sent")
    return {"replied": len(chosen), "messages": [message["message_id"] for message in chosen]}


def screenshot(run: FlowContext) -> dict[str, object]:
    """Keep what a page looks like; the sample draws a sketch of it, a real product takes a picture."""
    return _keep(run, "screenshot")


def get_content(run: FlowContext) -> dict[str, object]:
    """Keep what a page says."""
    return _keep(run, "content")


def send_welcome_email(run: FlowContext) -> dict[str, object]:
    """Greet the new buyers, each address once for good: the outbox remembers whom earlier runs have greeted."""
    run.client.page(f"{run.page_base}/", ".shop-name")
    buyers = run.client.data(f"{run.api_base}/buyers")["buyers"]
    template = run.text("template", "welcome")
    if template not in GREETINGS:
        raise BadPayload(f"template is none of {', '.join(GREETINGS)}: {template}")
    greeting = GREETINGS[template][run.text("language", "en") == "zh_CN"]
    since, sent = run.day("since"), 0
    chosen = [b for b in buyers if b["first_order_at"][: len(since)] >= since][: run.integer("limit", 100, 1, 1000)]
    for number, buyer in enumerate(chosen, 1):
        body = greeting.format(name=buyer["name"])
        sent += run.database.send_once(
            run.platform, run.shop, buyer["email"], template=template, body=body, task_id=run.task_id
        )
        run.progress(100 * number // len(chosen), f"buyer {number} of {len(chosen)}")
    run.log(f"{sent} sent, {len(chosen) - sent} had theirs already")
    return {"sent": sent, "already_sent": len(chosen) - sent}


def _product(run: FlowContext, goods_id: str) -> dict[str, Any]:
    if not goods_id.isalnum():
        raise BadPayload("goods_id is required")
    run.client.page(f"{run.page_base}/goods/{goods_id}", ".product-title")
    product: dict[str, Any] = run.client.data(f"{run.api_base}/goods/{goods_id}")
    run.database.put_goods(run.platform, run.shop, [product])
    return product


def _goods_pages(run: FlowContext, size: int) -> Iterator[list[dict[str, Any]]]:
    page = pages = 1
    while page <= pages:
        answer = run.client.data(f"{run.api_base}/goods", page=page, page_size=size)
        pages = answer["pages"]
        yield answer["goods"]
        run.progress(100 * page // max(pages, 1), f"goods page {page} of {pages}")
        page += 1


def _keep(run: FlowContext, suffix: str) -> dict[str, object]:
    url = run.text("url") or f"{run.page_base}/"
    body = run.client.page(run.client.local(url), run.text("wait_for"))
    size = run.keep_page(body, suffix)
    run.log(f"kept {size} bytes of {url}")
    return {"url": url, "bytes": size}


FLOWS: dict[str, Callable[[FlowContext], dict[str, object]]] = {
    flow.__name__: flow
    for flow in (
        sync_order,
        refresh_goods,
        batch_reply,
        screenshot,
        get_content,
        single_product,
        batch_products,
        search_keywords,
        shop_crawl,
        full_sync,
        send_welcome_email,
    )
}
