"""Shops, and limits of platforms and types, as rows of tables."""

from __future__ import annotations

from services.domain.gates import quiet_hours
from services.domain.insight import shop as insight
from services.domain.text.ordering import Order
from services.i18n import N_, _
from services.monitor.shops.queries import ScopeRow, ShopRow
from views.pages.shops import words
from views.support import instant, text
from views.support.words import shop
from views.tables.column import Column, measured


def _busy_tone(row: ShopRow) -> str:
    return "retrying" if row.now.waiting and row.now.running >= row.shop.concurrency else "text"


def _share_tone(row: ShopRow) -> str:
    share = row.now.success_share
    return "text" if share is None or share >= insight.GOOD else "dead"


def _full_tone(row: ScopeRow) -> str:
    found = row.now
    return "retrying" if 0 < found.limit.concurrency <= found.running + found.promised else "text"


def _spent_tone(row: ScopeRow) -> str:
    found = row.now
    return "retrying" if 0 < found.limit.per_minute <= found.started + found.promised else "text"


def _scope_state(row: ScopeRow) -> str:
    if row.pause is not None:
        return "paused"
    if row.quiet is not None:
        return quiet_hours.GATE
    if row.now.full and row.now.waiting:
        return "blocked"
    return "healthy" if row.now.limit.limits else "idle"


def _started(row: ScopeRow) -> str:
    most = row.now.limit.per_minute
    return words.used(row.now.started, most) if most else ""


def _rank(row: ShopRow) -> tuple[int, int, int, Order]:
    """The worst first."""
    return insight.rank(row.now)


SHOPS: tuple[Column[ShopRow], ...] = (
    Column(
        key="state",
        title=N_("State"),
        value=lambda row: row.now.state,
        text=lambda row: shop.word(row.now.state),
        kind="status",
        width=124,
        speech=words.sentence,
        tooltip=lambda row: shop.state(row.now),
    ),
    Column(key="shop", title=N_("Shop"), value=words.name, kind="strong", names=True, width=150, sortable=True),
    Column(
        key="platform",
        title=N_("Platform"),
        value=lambda row: row.shop.platform,
        kind="badge",
        width=80,
        hide_rank=5,
    ),
    Column(key="id", title=N_("Id"), value=lambda row: row.shop.shop_id, mono=True, width=110, hide_rank=2),
    measured(
        "waiting",
        N_("Waiting"),
        lambda row: row.now.waiting,
        lambda row: text.count(row.now.waiting),
        tone=lambda row: "text" if row.now.waiting else "text3",
        width=80,
        hide_rank=7,
    ),
    measured(
        "running",
        N_("Running"),
        lambda row: row.now.running,
        lambda row: words.used(row.now.running, row.shop.concurrency),
        tone=_busy_tone,
        width=84,
        hide_rank=6,
        title_tip=N_("Tasks that run now, and how many of this shop may run at once"),
    ),
    measured(
        "dead",
        N_("Dead"),
        lambda row: row.now.dead,
        lambda row: text.count(row.now.dead),
        tone=lambda row: "dead" if row.now.dead else "text3",
        width=66,
    ),
    Column(key="group", title=N_("Group"), value=lambda row: row.shop.group, width=100, sortable=True, hidden=True),
    Column(
        key="tags",
        title=N_("Tags"),
        value=lambda row: row.shop.tags,
        text=lambda row: ", ".join(row.shop.tags),
        width=120,
        sortable=True,
        hidden=True,
    ),
    Column(
        key="home",
        title=N_("Home node"),
        value=lambda row: row.home,
        tone="text2",
        width=130,
        names=True,
        sortable=True,
        hidden=True,
    ),
    Column(
        key="queue",
        title=N_("Queue"),
        value=lambda row: row.shop.dedicated,
        text=lambda row: _("Dedicated") if row.shop.dedicated else _("Shared"),
        tone=lambda row: "text" if row.shop.dedicated else "text3",
        width=96,
        sortable=True,
        hide_rank=1,
    ),
    Column(
        key="login",
        title=N_("Login"),
        value=lambda row: row.login.at if row.login is not None else 0,
        text=lambda row: words.login_age(row, instant.now_ms()),
        tone=lambda row: "retrying" if row.now.session is not None else "text2",
        width=86,
        sortable=True,
        live=True,
        hide_rank=3,
        title_tip=N_("How long ago somebody logged the shop in, as far as that is known"),
    ),
    Column(
        key="share",
        title=N_("Success 24 h"),
        value=lambda row: row.now.success_share,
        text=words.share,
        tone=_share_tone,
        kind="number",
        width=96,
        sortable=True,
        hidden=True,
        tooltip=words.ends,
        title_tip=N_(
            "The part of the tasks that ended in the last 24 h which succeeded; of a fleet in which more than 60,000"
            " ended, of the newest of them"
        ),
    ),
    Column(
        key="next",
        title=N_("Next scheduled"),
        value=lambda row: row.next.at if row.next is not None else None,
        text=lambda row: words.next_run(row, instant.now_ms()),
        tone="text2",
        width=110,
        sortable=True,
        live=True,
        hidden=True,
        tooltip=lambda row: words.next_told(row, instant.now_ms()),
        title_tip=N_("When the next task that is planned for the shop comes, by a schedule or at its time"),
    ),
    Column(
        key="ran_by",
        title=N_("Last worker"),
        value=lambda row: row.ran_by,
        tone="text2",
        width=130,
        names=True,
        sortable=True,
        hidden=True,
        title_tip=N_("The worker that ran the last task of the shop"),
    ),
    Column(
        key="success",
        title=N_("Last success"),
        value=lambda row: row.now.success_at,
        text=lambda row: words.since(row.now.success_at, instant.now_ms()),
        tone="text2",
        width=86,
        sortable=True,
        live=True,
        hide_rank=4,
        title_tip=N_("How long ago a task of the shop succeeded last"),
    ),
    Column(
        key="reason",
        title=N_("Reason"),
        value=_rank,
        text=lambda row: words.reason(row, instant.now_ms()),
        tone="text2",  # the state says it in its colour
        width=200,
        parts=True,
        stretch=True,
        live=True,
        tooltip=lambda row: words.reason(row, instant.now_ms()),
    ),
)

SCOPES: tuple[Column[ScopeRow], ...] = (
    Column(
        key="state",
        title="",
        value=_scope_state,
        kind="glyph",
        width=30,
        speech=words.scope_sentence,
    ),
    Column(
        key="scope",
        title=N_("Limit of"),
        value=words.scope_name,
        kind="strong",
        width=170,
        sortable=True,
        tooltip=lambda row: row.key,
    ),
    Column(key="kind", title=N_("Kind"), value=words.scope_kind, tone="text2", width=100, sortable=True),
    measured(
        "running",
        N_("Running"),
        lambda row: row.now.running,
        lambda row: words.used(row.now.running, row.now.limit.concurrency),
        tone=_full_tone,
        width=100,
        title_tip=N_("Tasks that run now, of how many that may run at once in the whole fleet"),
    ),
    measured(
        "started",
        N_("This minute"),
        lambda row: row.now.started,
        _started,
        tone=_spent_tone,
        width=110,
        title_tip=N_("Tasks that started within the last minute, of how many that may"),
    ),
    Column(
        key="resets",
        title=N_("Next start free"),
        value=lambda row: row.now.resets_at,
        text=lambda row: words.resets(row, instant.now_ms()),
        tone="text2",
        width=130,
        live=True,
    ),
    Column(
        key="waiting",
        title=N_("Held up by it"),
        value=lambda row: row.now.waiting,
        text=lambda row: words.at_gate(row.now),
        tone=lambda row: "retrying" if row.now.waiting else "text3",
        width=140,
        sortable=True,
        descending_first=True,
        stretch=True,
        title_tip=N_("Shops whose tasks could start but for this limit"),
    ),
)
