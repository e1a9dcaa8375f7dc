"""One sample fleet for tests and the gallery of views."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from services.i18n import N_
from views.tables.column import Attempts, Column, Progress
from views.theme.tokens import status
from views.widgets.filter.bar import FilterField, FilterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    id: int
    status: str = "queued"
    type: str = "sync_order"
    shop: str = "Lumo Home"
    platform: str = "pdd"
    lane: str = "normal"
    attempts: Attempts = field(default=Attempts(0, 3))
    age: str = "33 m 02 s"
    duration: str = ""
    worker: str = ""
    progress: Progress = field(default=Progress())
    error: str = ""


COLUMNS: tuple[Column[Row], ...] = (
    Column(key="status", title="", value=lambda r: r.status, kind="glyph", width=24),
    Column(key="type", title=N_("Type"), value=lambda r: r.type, strong=True, width=106, sortable=True),
    Column(key="shop", title=N_("Shop"), value=lambda r: r.shop, width=136),
    Column(key="platform", title=N_("Plat."), value=lambda r: r.platform, kind="badge", width=54, hide_rank=3),
    Column(key="lane", title=N_("Lane"), value=lambda r: r.lane, kind="lane", width=94),
    Column(key="attempts", title=N_("Attempts"), value=lambda r: r.attempts, kind="attempts", width=76),
    Column(key="age", title=N_("Age"), value=lambda r: r.age, sortable=True, width=86, live=True),
    Column(
        key="duration",
        title=N_("Duration"),
        value=lambda r: r.duration,
        kind="number",
        width=80,
        tone="text2",
        hide_rank=2,
    ),
    Column(key="worker", title=N_("Worker"), value=lambda r: r.worker, width=72, tone="text2", hide_rank=1),
    Column(key="progress", title=N_("Progress"), value=lambda r: r.progress, kind="progress", width=100),
    Column(key="error", title=N_("Last error"), value=lambda r: r.error, width=110, tone="text2", stretch=True),
)

_STATES = ("waiting", "running", "retrying", "dead", "stuck", "held")
FIELDS = (
    FilterField(
        "status",
        N_("Status"),
        tuple(FilterValue(name, status(name).word, (status(name).glyph, status(name).role)) for name in _STATES),
    ),
    FilterField("platform", N_("Platform"), (FilterValue("pdd", "Pinduoduo"), FilterValue("temu", "TEMU"))),
    FilterField("type", N_("Type")),
    FilterField("lane", N_("Lane"), (FilterValue("high", N_("High")), FilterValue("low", N_("Low")))),
    FilterField("shop", N_("Shop"), free=True),
)


def sample_rows(number: int, seed: int = 3) -> list[Row]:
    """Return rows of every kind, the same each time."""
    dice = random.Random(seed)
    rows = []
    for at in range(number):
        state = dice.choice(("queued", "running", "retrying", "stuck", "unconfirmed", "held", "scheduled", "dead"))
        running = state == "running"
        rows.append(
            Row(
                id=at,
                status=state,
                type=dice.choice(("sync_order", "refresh_goods", "get_content", "batch_reply")),
                shop=dice.choice(("微光数码专卖店", "Lumo Home", "悦己服饰旗舰店", "Velia Beauty", "柚子家纺旗舰店")),
                platform=dice.choice(("pdd", "temu", "tiktok")),
                lane=dice.choice(("high", "normal", "low", "dedicated")),
                attempts=Attempts(dice.randint(0, 3), 3, "running" if running else "retrying"),
                duration="19.2\u202fs" if state not in ("queued", "scheduled") else "",
                worker="rpa-03" if running else "",
                progress=Progress(0.64, "64\u202f%") if running else Progress(None, "in 41\u202fs", "retrying"),
                error="SelectorNotFound: .order-list__row in page" if state == "retrying" else "",
            )
        )
    return rows
