"""What the pretended platforms hold: orders, goods, messages and buyers of any shop, a pure function of the seed."""

from __future__ import annotations

import datetime
import hashlib
import random
from typing import TypedDict

CHINA = datetime.timezone(datetime.timedelta(hours=8))
STATUSES = ("unpaid", "paid", "shipped", "received", "closed")
CURRENCY = {"pdd": "CNY", "temu": "USD", "tiktok": "USD"}
NEW_ORDERS_PER_TICK = 3

_THINGS = {
    "pdd": (
        "棉麻四件套",
        "保温杯",
        "儿童雨衣",
        "猫抓板",
        "收纳箱",
        "护眼台灯",
        "运动毛巾",
        "手机支架",
        "拉杆箱",
        "坚果礼盒",
    ),
    "temu": ("Linen bedding set", "Steel flask", "Rain coat", "Cat scratcher", "Storage box", "Desk lamp", "Gym towel"),
    "tiktok": (
        "Lip balm trio",
        "Hair claw set",
        "Phone grip",
        "LED strip",
        "Travel pouch",
        "Yoga socks",
        "Mini blender",
    ),
}
_LOOKS = {
    "pdd": ("米白", "雾蓝", "加厚", "大号", "两件装", "升级款"),
    "temu": ("grey", "navy", "large", "2 pack", "thick", "new model"),
    "tiktok": ("rose", "black", "mini", "3 pack", "glossy", "soft"),
}
_QUESTIONS = {
    "pdd": ("什么时候发货？", "有没有大一号的？", "可以开发票吗？", "颜色发错了，怎么换？", "今天下单几天能到？"),
    "temu": ("When will it ship?", "Is a larger size coming?", "The colour is wrong, how do I swap it?"),
    "tiktok": ("Is this the one from the video?", "When will it ship?", "Do you have it in black?"),
}


class Item(TypedDict):
    """One line of an order."""

    goods_id: str
    title: str
    quantity: int
    price_cents: int


class Order(TypedDict):
    """An order as the open API serves it."""

    order_no: str
    status: str
    buyer: str
    amount_cents: int
    currency: str
    created_at: str
    updated_at: str
    items: list[Item]


class Goods(TypedDict):
    """A product as the open API serves it."""

    goods_id: str
    title: str
    price_cents: int
    currency: str
    stock: int
    sold: int
    on_sale: bool
    updated_at: str


class Message(TypedDict):
    """What a buyer asked and the shop has to answer."""

    message_id: str
    buyer: str
    text: str
    at: str


class Buyer(TypedDict):
    """A new customer who has not been greeted yet."""

    email: str
    name: str
    first_order_at: str


def fraction(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone, the same on every machine and in every process."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


class Catalogue:
    """Every shop's goods and orders at a tick; a tick is one step of the shop's life, moved by ``/_control`` only.

    Nothing here reads a clock: the same seed, day and tick give the same bytes, so a database that was filled by the
    flows can be compared with what the platform holds.
    """

    def __init__(self, seed: int, today: datetime.date) -> None:
        self._seed = seed
        self._noon = datetime.datetime.combine(today, datetime.time(12), tzinfo=CHINA)
        self._orders: dict[tuple[str, str, int], list[Order]] = {}

    def orders(self, platform: str, shop: str, tick: int = 0) -> list[Order]:
        """All orders of a shop, oldest first; a later tick moves some on and adds new ones at the end."""
        key = (platform, shop, tick)
        found = self._orders.get(key)
        if found is None:
            count = self._initial_count(platform, shop) + NEW_ORDERS_PER_TICK * tick
            made = [self._order(platform, shop, number, tick) for number in range(count)]
            found = sorted(made, key=lambda order: (order["created_at"], order["order_no"]))
            self._orders[key] = found
        return found

    def goods(self, platform: str, shop: str, tick: int = 0) -> list[Goods]:
        """All products of a shop, by id."""
        count = 12 + int(28 * fraction(self._seed, platform, shop, "goods"))
        return [self._product(platform, shop, number, tick) for number in range(1, count + 1)]

    def messages(self, platform: str, shop: str, tick: int = 0) -> list[Message]:
        """The questions that wait for an answer since the last tick.

        Answered ones stay listed until the next tick: platforms serve this list from a cache, which is what makes a
        second run of the reply flow answer every buyer twice.
        """
        dice = random.Random(f"{self._seed}:{platform}:{shop}:messages:{tick}")
        asked = _QUESTIONS.get(platform, _QUESTIONS["temu"])
        return [
            Message(
                message_id=f"M{tick:02d}{number:03d}",
                buyer=f"buyer_{dice.randrange(10**6):06d}",
                text=dice.choice(asked),
                at=self._stamp(minutes=tick - dice.randrange(1, 600)),
            )
            for number in range(1, dice.randrange(4, 12))
        ]

    def buyers(self, platform: str, shop: str, tick: int = 0) -> list[Buyer]:
        """New customers, one for each fifth order or so."""
        return [
            Buyer(
                email=f"{order['buyer']}@mail.example",
                name=order["buyer"].replace("_", " "),
                first_order_at=order["created_at"],
            )
            for order in self.orders(platform, shop, tick)
            if fraction(self._seed, order["order_no"], "new buyer") < 0.2
        ]

    def poisoned_order(self, platform: str, shop: str) -> str:
        """The order whose row cannot be read on a poison page; beyond the first twenty, so that some pages pass."""
        orders = self.orders(platform, shop)
        return orders[len(orders) * 2 // 3]["order_no"]

    def _initial_count(self, platform: str, shop: str) -> int:
        return 32 + int(40 * fraction(self._seed, platform, shop, "orders"))

    def _order(self, platform: str, shop: str, number: int, tick: int) -> Order:
        dice = random.Random(f"{self._seed}:{platform}:{shop}:order:{number}")
        initial = self._initial_count(platform, shop)
        born = 0 if number < initial else 1 + (number - initial) // NEW_ORDERS_PER_TICK
        created = self._created(dice, number, born)
        changed = created if born else created + dice.randrange(60)
        stage = 0 if born else dice.randrange(len(STATUSES))
        for step in range(born + 1, tick + 1):
            # not by the dice: how long a shop has lived must not change who bought what
            if stage < len(STATUSES) - 1 and fraction(self._seed, platform, shop, number, step) < 0.3:
                stage, changed = stage + 1, step * 60
        items = self._items(dice, platform, shop)
        return Order(
            order_no=_order_no(platform, self._noon, number, dice),
            status=STATUSES[stage],
            buyer=f"buyer_{dice.randrange(10**6):06d}",
            amount_cents=sum(item["price_cents"] * item["quantity"] for item in items),
            currency=CURRENCY.get(platform, "USD"),
            created_at=self._stamp(minutes=created),
            updated_at=self._stamp(minutes=changed),
            items=items,
        )

    @staticmethod
    def _created(dice: random.Random, number: int, born: int) -> int:
        """Minutes from noon; what a tick adds comes after all else, so pages that were read stay as they were."""
        return born * 60 + number % NEW_ORDERS_PER_TICK if born else -dice.randrange(120, 7 * 24 * 60)

    def _items(self, dice: random.Random, platform: str, shop: str) -> list[Item]:
        return [
            Item(
                goods_id=product["goods_id"],
                title=product["title"],
                quantity=dice.randrange(1, 4),
                price_cents=product["price_cents"],
            )
            for product in (
                self._product(platform, shop, dice.randrange(1, 13), 0) for _ in range(dice.randrange(1, 4))
            )
        ]

    def _product(self, platform: str, shop: str, number: int, tick: int) -> Goods:
        dice = random.Random(f"{self._seed}:{platform}:{shop}:goods:{number}")
        thing = dice.choice(_THINGS.get(platform, _THINGS["temu"]))
        look = dice.choice(_LOOKS.get(platform, _LOOKS["temu"]))
        return Goods(
            goods_id=f"G{number:04d}",
            title=f"{thing} {look}",
            price_cents=dice.randrange(490, 29900, 10),
            currency=CURRENCY.get(platform, "USD"),
            stock=max(0, dice.randrange(-20, 500) - 7 * tick),
            sold=dice.randrange(0, 9000) + 7 * tick,
            on_sale=dice.random() < 0.9,
            updated_at=self._stamp(minutes=tick * 60 if tick else -dice.randrange(1, 2000)),
        )

    def _stamp(self, *, minutes: int) -> str:
        return (self._noon + datetime.timedelta(minutes=minutes)).isoformat()


def _order_no(platform: str, noon: datetime.datetime, number: int, dice: random.Random) -> str:
    """An order number in the platform's own look; the running number keeps it unique within the shop."""
    if platform == "pdd":
        return f"{noon:%y%m%d}-{dice.randrange(10**9):09d}{number:06d}"
    if platform == "tiktok":
        return f"57{dice.randrange(10**10):010d}{number:06d}"
    return f"PO-{dice.randrange(100, 1000)}-{dice.randrange(10**9):09d}{number:06d}"
