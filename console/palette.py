"""What the command palette finds: commands of the page and the window, pages, views, shops, workers, queues and
tasks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from console.main_window import MainWindow
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.gates import limit
from services.domain.insight.shop import ShopNow
from services.domain.task import queues
from services.domain.task.record import Task
from services.domain.task.search.filter import format_terms
from services.domain.task.search.query import Term
from services.domain.task.status import Triage
from services.domain.text import view_link
from services.domain.text.said import said
from services.i18n import N_, SOURCE_LANGUAGE, _, is_chinese, speaking
from services.messages import render, told
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.work.asking import Directory, directory, question, readings
from views.kit.saved_views import SavedViews
from views.page import Page, asked_by
from views.pages.tasks.views import BUILT_IN, numbers
from views.shell.palette import Group
from views.shell.palette_rows import Entry
from views.support import fuzzy, heard, safe, text
from views.support.connections import Connections
from views.support.keymap import CONNECTION, GO, MOST_CONNECTIONS
from views.support.operation import Operation
from views.support.pinyin import initials
from views.support.words import shop as shop_words
from views.support.words import type_names
from views.tables.table_view import TableView
from views.theme.theme import HIGH, NORMAL, SYSTEM
from views.theme.tokens import DARK, LIGHT, TEXT_SIZES, platform_badge, status
from views.widgets.buttons import shortcut_text

MOST, MOST_TASKS, MOST_LOOKED_AT = 6, 8, 3000
MOST_RECENT, MOST_USED = 5, 5
LEAST_TYPED = 3
NOT_SO = -math.inf
#: states that nobody looks for a shop by
CALM = frozenset({"healthy", "idle"})
#: what the page Queues shows
_QUEUES = frozenset({queues.LANE, queues.SHOP, queues.DELAY, "dead"})
_RECENT, _USED = "palette.recent", "palette.used"
#: how people of other programs call what is found here, by the key of the entry or its last part; of a page also what
#: can be done there, for its verbs are offered on it alone
OTHER_WORDS: Mapping[str, str] = {
    "page.overview": "home dashboard start main status 首页 主页 仪表盘 看板 概览 大盘",
    "page.queues": "backlog rabbitmq messages 消息 积压 堆积 dedicated queue purge peek 专用队列 清空",
    "page.tasks": "jobs work list search 作业 工作 任务列表 查询",
    "page.shops": "stores merchants sellers accounts 商家 门店 商店 账号 账户"
    " quiet hours limits add shop 静默时段 限额 熔断规则 添加店铺",
    "page.dead_letters": "errors failed failures dlq exceptions broken 失败 错误 异常 出错 报错"
    " republish merge split known issue 重新发布 合并 拆分 已知问题",
    "page.workers": "nodes machines robots bots agents servers computers start a worker"
    " 机器 节点 机器人 服务器 电脑 启动执行节点"
    " drain 排空",
    "page.promises": "sla deadlines guarantees 时效 保障 时限",
    "page.schedules": "cron timers recurring plans calendar 定时 定时任务 计划任务 排期 日程"
    " backfill make up for missed runs 补做 补跑",
    "page.types": "flows scripts templates 流程 脚本 模板",
    "page.alerts": "alarms warnings incidents notifications mute silence 报警 警报 预警 警告 通知 提醒 静音 屏蔽"
    " escalate channels 升级 渠道",
    "page.audit": "history activity trail who did changes 操作日志 审计 历史 记录 谁",
    "page.logs": "journal output console debug 运行日志 调试 输出",
    "page.doctor": "health diagnose diagnostics check 健康 检查 体检 自检 repair mend 修复",
    "page.past": "history time machine replay rewind yesterday 历史 回放 时光",
    "page.batches": "groups bulk imports 批量 批次",
    "page.settings": "preferences options config configuration setup users roles 配置 选项 偏好 首选项 参数 用户 权限",
    "window.new": "create add submit 创建 添加 新增 提交 下发",
    "window.work": "did has done check 跑过 执行过 查询",
    "window.past": "history time machine replay rewind 历史 回放",
    "window.handover": "shift change report 换班 交班 接班 日报",
    "window.another": "second tab split 多窗口 标签页",
    "window.quit": "log out logout sign out signout exit close end 登出 注销 关闭 退出登录 结束",
    "window.save": "screenshot download export image png 截图 截屏 下载 导出 图片",
    "window.print": "paper pdf 纸",
    "window.refresh": "reload update reconnect f5 重新加载 更新 重连",
    "window.freeze": "stop hold pause live still 停止 暂停 定格 不动",
    "window.rail": "sidebar menu hide show fold 侧边栏 侧栏 菜单 收起",
    "window.link": "share url address bookmark 分享 网址 地址 收藏",
    "window.help": "manual docs documentation f1 手册 文档 说明 怎么用",
    "window.keys": "shortcuts hotkeys keyboard bindings 快捷键 热键 键盘",
    "window.guide": "manual docs documentation help handbook 文档 说明书 帮助",
    "window.connection": "profile environment fleet server log in login user account 环境 集群 服务器 登录 用户 账号",
    "all": "everything tick check mark 全选 全部 勾选",
    "shop.failed": "retry rerun redo again errors 重试 重跑 重做 错误",
    "tasks.export": "download save csv excel xlsx 下载 保存 表格",
    "retry": "rerun redo again resend repeat restart replay 重跑 重来 重做 再试 重发",
    "republish": "retry rerun resend replay requeue 重试 重跑 重发 重投",
    "republish_all": "retry rerun resend replay requeue 重试 重跑 重发 重投",
    "cancel": "stop kill abort terminate delete remove 停止 终止 中止 删除 撤销",
    "run_now": "start execute immediately force 马上 执行 开始 启动",
    "raise": "urgent faster first prioritise prioritize 加急 提前 优先 插队",
    "lower": "later slower deprioritise deprioritize 延后 降级",
    "pause": "stop hold suspend disable halt 停止 停用 挂起",
    "resume": "continue unpause start enable go on 继续 启用 恢复",
    "drain": "stop maintenance shut down 停止 维护 下线",
    "purge": "clear empty delete flush 清空 清除 删除",
    "mute": "silence snooze quiet ignore 屏蔽 免打扰 忽略",
    "take": "acknowledge ack claim mine 认领 接手 确认",
    Triage.ARCHIVED: "hide close remove 隐藏 关闭 移除",
    "archive_all": "hide close remove 隐藏 关闭 移除",
    "remove": "delete drop 删除 移除",
    "edit": "change modify rename 修改 更改 编辑",
    f"theme.{DARK}": "mode night black 模式 夜间 暗色 暗黑 黑色 外观",
    f"theme.{LIGHT}": "mode day white bright 模式 日间 亮色 白色 外观",
    f"theme.{SYSTEM}": "mode automatic default 模式 自动 默认 外观",
    "language.en": "英文 英语",
    "language.zh_CN": "chinese 汉语 简体",
    "rows": "density spacing height 行高 密度 间距",
    "text": "font zoom scale bigger smaller larger 字体 字号 缩放 放大 缩小",
}
#: what of the looks can be chosen: name, title, values and what they are called
LOOKS: tuple[tuple[str, str, tuple[tuple[str | int, str], ...]], ...] = (
    ("theme", N_("Theme"), ((DARK, N_("Dark")), (LIGHT, N_("Light")), (SYSTEM, N_("As the system")))),
    ("contrast", N_("Contrast"), ((NORMAL, N_("Normal")), (HIGH, N_("High")), (SYSTEM, N_("As the system")))),
    ("language", N_("Language"), (("en", "English"), ("zh_CN", "中文"))),
    ("rows", N_("Table rows"), (("compact", N_("Compact")), ("normal", N_("Normal")), ("roomy", N_("Roomy")))),
    ("text", N_("Text size"), tuple((percent, f"{percent} %") for percent in TEXT_SIZES)),
)


class PaletteFinder(QObject):
    """Answers from what the window knows; task ids are asked for off the GUI thread.

    Signals:
        found: what was looked up (query), and groups of entries.
        known: the shops are, for the first time: what is found now may be more.
    """

    found = Signal(str, object)
    known = Signal()

    def __init__(
        self,
        window: MainWindow,
        context: PageContext,
        commands: Callable[[], Sequence[Entry]],
        ask_of_work: Callable[[str, str], object],
        looks: Callable[[], Sequence[Entry]] = list,
        connections: Connections | None = None,
    ) -> None:
        """``commands`` are those of the window itself, ``looks`` how everything may look; ``ask_of_work`` opens *Did it
        run?* of a shop and a type.
        """
        super().__init__(window)
        self._window, self._context, self._own, self._ask_of_work = window, context, commands, ask_of_work
        self._looks, self._connections = looks, connections
        self._tasks = Operation(self, latest=True)
        self._shops = Operation(self, latest=True)
        self._shop_entries: tuple[Entry, ...] = ()
        self._called = Directory()  #: what the shops are called by
        self._platforms: tuple[str, ...] = ()
        self._states: Mapping[str, ShopNow] = {}

    def refresh(self) -> None:
        """Ask for the shops again; the palette was opened."""
        # without an answer those of before stay, and the next opening asks again
        self._shops.start(self._ask_shops, self._take_shops, lambda _error: None)

    # at once

    def find(self, query: str, scope: str) -> Sequence[Group]:
        """Groups of what fits."""
        if not query and scope == "all":
            return self._remembered()
        if view_link.is_link(query):
            return [(_("Go to"), [self._link(query)])]
        groups: list[Group] = []
        if scope in ("all", "shops"):
            groups.append((_("Did it run?"), self._works(query)))
        if scope in ("all", "commands"):
            commands = also_called(lambda: [*self._commands(), *self._limits(), *self._looks()])
            groups.append((_("Commands"), best(query, commands, 20 if scope == "commands" else MOST)))
        if scope in ("all", "shops"):
            shops = best(query, self._shop_entries, 50 if scope == "shops" else MOST)
            groups.append((_("Shops"), [self._stated(entry) for entry in shops]))
        if scope == "all":
            groups.append((_("Workers"), best(query, self._workers(), MOST)))
            groups.append((_("Queues"), best(query, self._queues(), MOST)))
            places = [*also_called(self._places), *connection_entries(self._connections)]
            groups.append((_("Go to"), best(query, places, MOST)))
            return _by_name(query, groups)
        return groups

    def used(self, entry: Entry) -> None:
        """Remember what was chosen, and on which page."""
        memory = self._context.memory
        if entry.kind == "task":
            return
        recent = [key for key in _texts(memory.get(_RECENT)) if key != entry.key]
        memory.put(_RECENT, [entry.key, *recent][:MOST_RECENT])
        used = memory.get(_USED, {})
        used = dict(used) if isinstance(used, dict) else {}
        here = Counter(used.get(self._window.current, {}))
        here[entry.key] += 1
        memory.put(_USED, {**used, self._window.current: dict(here.most_common(30))})

    def _remembered(self) -> Sequence[Group]:
        """Without a query: what was chosen lately, what is used most on this page, and where one can go."""
        commands, places = self._commands(), self._places()
        others = (
            *self._limits(), *self._looks(), *connection_entries(self._connections), *self._shop_entries,
            *self._workers(), *self._queues(),
        )  # fmt: skip
        known = {entry.key: entry for entry in (*commands, *places, *others)}
        used = self._context.memory.get(_USED, {})
        here = used.get(self._window.current, {}) if isinstance(used, dict) else {}
        often = Counter(here if isinstance(here, dict) else {})
        recent = [known[key] for key in _texts(self._context.memory.get(_RECENT)) if key in known]
        told = {entry.key for entry in recent}
        fresh = [entry for entry in commands if entry.key not in told]
        # sorted keeps the order of the design among equals
        rest = sorted(fresh, key=lambda entry: (-often[entry.key], bool(entry.reason)))
        return [
            (_("Recent"), recent),
            (_("Commands"), rest[:MOST_USED]),
            (_("Go to"), [entry for entry in places if entry.key not in told]),
        ]

    def _commands(self) -> list[Entry]:
        page = self._window.page(self._window.current) if self._window.current else None
        entries = [
            Entry(
                key=one.key,
                kind="command",
                words=one.words,
                note=one.note,
                icon=one.icon,
                keys=one.keys,
                reason=one.reason,
                run=one.run,
            )
            for one in (page.commands() if page is not None else ())
        ]
        failed = Entry(
            key="shop.failed",
            kind="command",
            words=_("Failed tasks of a shop"),
            note=_("choose a shop next"),
            icon="ph.arrow-clockwise",
            then=lambda: [self._failed_of(entry) for entry in self._shop_entries],
        )
        return [*entries, *(_all_rows(page) if page is not None else ()), *self._own(), failed]

    def _limits(self) -> list[Entry]:
        """Where a whole platform is paused, resumed and limited; found by typing alone, for there may be many."""
        return [
            Entry(
                key=f"limits.{platform}",
                kind="command",
                words=_("Pause or limit {name}").format(name=shop_words.platform_name(platform)),
                icon="ph.pause-circle",
                others=(platform,),
                run=partial(self._window.open_page, "shops", f"{shop_words.LIMITS_OF}{limit.PLATFORM}:{platform}"),
            )
            for platform in self._platforms
        ]

    def _works(self, query: str) -> list[Entry]:
        """``did SHOP TYPE``, or a shop by one of its names and more: the shops of which it can be asked; what follows
        their name is the type.
        """
        asks, rest = question(query)
        if not asks and not (len(rest) > 1 and self._called.is_shop(rest[0])):
            return []
        found = (self._works_of(words) for words in readings(rest, self._called.is_of_shop))
        return next(filter(None, found), [])

    def _works_of(self, rest: Sequence[str]) -> list[Entry]:
        for end in range(len(rest), 0, -1):
            if shops := best(" ".join(rest[:end]), self._shop_entries, MOST):
                kind = " ".join(rest[end:])
                every = Entry(
                    key="work",
                    kind="shop",
                    words=_("All works like this, an answer each"),
                    icon="ph.clock-counter-clockwise",
                    right=kind,
                    run=partial(self._ask_of_work, " ".join(rest[:end]), kind),
                )
                found = [
                    replace(
                        one,
                        key=f"work.{one.copy}",
                        icon="ph.clock-counter-clockwise",
                        right=kind,
                        run=partial(self._ask_of_work, one.copy, kind),
                    )
                    for one in shops
                ]
                return [*found, every] if len(shops) > 1 else found
        return []

    def _failed_of(self, entry: Entry) -> Entry:
        expression = f'status:dead triage:open shop:"{entry.copy}"'
        return replace(entry, run=partial(self._window.open_page, "tasks", expression))

    def _places(self) -> list[Entry]:
        places = [
            Entry(
                key=f"page.{spec.id}",
                kind="page",
                words=_(spec.title),
                icon=spec.icon,
                keys=shortcut_text(f"{GO}.{spec.id}") if spec.letter else "",
                run=partial(self._window.open_page, spec.id),
            )
            for spec in self._window.specs
        ]
        counts = numbers(self._context.feed.latest.counts)
        for view in SavedViews(self._context.memory, BUILT_IN, "tasks").all():
            number = counts.get(view.key)
            places.append(
                Entry(
                    key=f"view.{view.key}",
                    kind="page",
                    words=_("View {name}").format(name=view.shown),
                    note=_("Tasks, saved view"),
                    icon="ph.bookmark-simple",
                    right="" if number is None else text.compact(number),
                    run=partial(self._window.open_page, "tasks", view),
                )
            )
        return places

    def _link(self, query: str) -> Entry:
        """What a pasted link opens, or why it does not."""
        entry = Entry(key="link", kind="page", words=_("Open this link"), icon="ph.link")
        try:
            link = view_link.read(query)
        except UsageError as exc:
            return replace(entry, reason=told(exc))
        spec = next((one for one in self._window.specs if one.id == link.page), None)
        if spec is None:
            return replace(entry, reason=told(said("link.page", page=link.page)))
        note = text.listed(part for part in (_(spec.title), safe.one_line(link.show, 80)) if part)
        if link.profile.casefold() not in ("", self._context.profile.casefold()):
            return replace(entry, note=note, reason=told(said("link.elsewhere", name=safe.one_line(link.profile, 60))))
        return replace(entry, note=note, run=partial(self._window.open_page, link.page, asked_by(link)))

    def _workers(self) -> list[Entry]:
        return [
            Entry(
                key=f"worker.{one.name}",
                kind="worker",
                words=one.name,
                icon="ph.robot",
                right=_("{busy} of {slots} busy").format(busy=one.busy, slots=len(one.slots))
                if one.living
                else render(one.remark)
                if one.remark is not None
                else "",
                copy=one.name,
                run=partial(self._window.open_page, "workers", one.name),
            )
            for one in self._context.feed.latest.fleet().workers
        ]

    def _queues(self) -> list[Entry]:
        now = self._context.feed.latest
        return [
            Entry(
                key=f"queue.{one.name}",
                kind="queue",
                words=one.name,
                icon="ph.stack",
                # of dead letters the broker knows but the messages
                right="" if one.kind == "dead" or not now.told else _("{n} ready").format(n=text.count(one.ready)),
                copy=one.name,
                run=partial(self._window.open_page, "queues", one.name),
            )
            for one in now.depths
            if one.kind in _QUEUES
        ]

    # shops and tasks

    def _ask_shops(self) -> tuple[Directory, Sequence[ShopNow]]:
        return directory(self._context.shops(), {}), self._context.limits.states.look()

    def _take_shops(self, found: tuple[Directory, Sequence[ShopNow]]) -> None:
        self._called, states = found
        shops = self._called.shops
        first = not self._shop_entries
        self._states = {now.key: now for now in states}
        self._platforms = tuple(sorted({shop.platform for shop in shops.values()}))
        self._shop_entries = tuple(self._shop(key, shop) for key, shop in sorted(shops.items()))
        if first and shops:
            self.known.emit()

    def _shop(self, key: str, shop: Shop) -> Entry:
        name, now = shop.called, self._states.get(key)
        state = (now.state, shop_words.state(now)) if now is not None and now.state not in CALM else ()
        return Entry(
            key=f"shop.{key}",
            kind="shop",
            words=name,
            note=shop.shop_id if shop.name else "",
            icon="ph.storefront",
            others=(key, shop.shop_id, platform_badge(shop.platform), initials(name), *state),
            copy=key,
            run=partial(self._window.open_page, "shops", key),
        )

    def _stated(self, entry: Entry) -> Entry:
        """With what is true of the shop, as every screen says it."""
        now = self._states.get(entry.copy)
        if now is None:
            return entry
        glyph = status(now.state)
        why = shop_words.why(now, self._context.feed.latest.at_ms)
        return replace(
            entry,
            note=text.listed([part for part in (entry.note, why) if part]),
            right=text.listed([shop_words.state(now), platform_badge(now.platform)]),
            icon=glyph.glyph,
            role=glyph.role,
        )

    def look_up(self, query: str, scope: str) -> None:
        """Ask for tasks by a part of their id; ``found`` brings them."""
        if scope in ("all", "tasks") and len(query) >= LEAST_TYPED and " " not in query:
            self._tasks.start(partial(_tasks_of, self._context.tasks, query), partial(self._tell, query))

    def want_no_more(self) -> None:
        """What is looked up is about another query than the one that stands there now."""
        self._tasks.drop()

    def _tell(self, query: str, tasks: Sequence[Task]) -> None:
        self.found.emit(query, [(_("Tasks"), [self._task(query, task) for task in tasks])])

    def _task(self, query: str, task: Task) -> Entry:
        now = self._context.feed.latest.at_ms
        glyph = status(heard.glyph(task, now))
        name = text.listed((type_names.name(task.task_type), task.task_id))
        match = fuzzy.match(query, name)
        return Entry(
            key=f"task.{task.task_id}",
            kind="task",
            words=name,
            icon=glyph.glyph,
            role=glyph.role,
            right=heard.word(task, now),
            copy=task.task_id,
            spans=match.spans if match is not None else (),
            run=partial(self._open_task, task.task_id),
        )

    def _open_task(self, task_id: str) -> None:
        self._window.open_page("tasks")
        show = getattr(self._window.page("tasks"), "show_task", None)
        if show is not None:
            show(task_id)


def _all_rows(page: Page) -> list[Entry]:
    """Ticks every row of the table that is seen, where it can be ticked and the page has no wider verb for that."""
    table = next((one for one in page.findChildren(TableView) if one.records.tickable and one.isVisible()), None)
    if table is None or page.page_id == "tasks":
        return []
    reason = "" if table.records.rowCount() else _("There is no row here")
    return [
        Entry(
            key="rows.all",
            kind="command",
            words=_("Select all rows"),
            icon="ph.checks",
            keys="tables.tick_all",
            reason=reason,
            run=table.records.tick_all,
        )
    ]


def also_called(ask: Callable[[], Sequence[Entry]]) -> Sequence[Entry]:
    """Entries that are found by what other programs call the same, too, and in Chinese by their English words and by
    the first letters of their pinyin.
    """
    entries = [replace(entry, others=(*entry.others, _other_words(entry.key))) for entry in ask()]
    if not is_chinese():
        return entries
    with speaking(SOURCE_LANGUAGE):
        english = {entry.key: entry.words for entry in ask()}
    return [
        replace(entry, others=(*entry.others, english.get(entry.key, ""), initials(entry.words))) for entry in entries
    ]


def _other_words(key: str) -> str:
    return OTHER_WORDS.get(key) or OTHER_WORDS.get(key.rpartition(".")[2], "")


def look_entries(chosen: Mapping[str, Callable[..., object]]) -> list[Entry]:
    """How everything may look, a choice each: of all settings those that hold for every connection. ``chosen``: who
    shows and keeps a choice, by its name in ``LOOKS``; what nobody keeps is not offered.
    """
    return [
        Entry(
            key=f"{name}.{value}",
            kind="command",
            words=_(word),
            note=_(title),
            icon="ph.gear-six",
            others=(_(title), title, OTHER_WORDS.get(name, "")),
            run=partial(chosen[name], value),
        )
        for name, title, values in LOOKS
        if name in chosen
        for value, word in values
    ]


def connection_entries(connections: Connections | None) -> list[Entry]:
    """The connections that are not open here, with the keys of their places."""
    rows = connections.rows() if connections is not None else ()
    return [
        Entry(
            key=f"connection.{one.name}",
            kind="connection",
            words=one.title,
            note=one.address,
            right=one.tag,
            icon="ph.laptop" if one.local else "ph.globe-hemisphere-east",
            keys=f"{CONNECTION}.{number}" if number <= MOST_CONNECTIONS else "",
            others=(_("Connection"), "connection"),
            run=partial(connections.choose, one.name) if connections is not None else lambda: None,
        )
        for number, one in enumerate(rows, 1)
        if not one.opened
    ]


def best(query: str, entries: Sequence[Entry], most: int) -> list[Entry]:
    """The entries that fit best, their letters marked; without a query the first ones."""
    if not query:
        return list(islice(entries, most))
    scored = []
    for place, entry in enumerate(entries):
        match = fuzzy.match(query, entry.words, (*entry.others, entry.note))
        if match is not None:
            # what cannot be done now stands below what can
            scored.append((bool(entry.reason), -match.score, place, replace(entry, spans=match.spans)))
    scored.sort(key=lambda item: item[:3])
    return [entry for *_rank, entry in scored[:most]]


def _by_name(query: str, groups: list[Group]) -> list[Group]:
    """The groups with the pages, their last, before commands that are only about something called so; not where a
    shop, a worker or a queue is called so rather.
    """
    work, *_between, pages = groups
    _work, commands, *others, page = (_called_so(query, found) for _title, found in groups)
    if commands == NOT_SO and page > NOT_SO and page >= max(others):
        return [work, pages, *groups[1:-1]]
    return groups


def _called_so(query: str, found: Sequence[Entry]) -> float:
    """How well the first of what was found, which Enter would do, is called so and is not only about what is."""
    match = fuzzy.match(query, found[0].words, found[0].others) if found else None
    return match.score if match is not None else NOT_SO


def _tasks_of(queries: TaskQueries, query: str) -> list[Task]:
    exact = queries.get([query])
    contains = format_terms((Term(field="id", op="~", values=(query,)),))
    found = [*exact]
    cursor: str | None = ""
    looked = 0
    while cursor is not None and len(found) < MOST_TASKS and looked < MOST_LOOKED_AT:
        page = queries.page(contains, limit=MOST_TASKS, cursor=cursor)
        found += [task for task in page.tasks if task.task_id != query]
        cursor = page.next
        looked += 1000
    return found[:MOST_TASKS]


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


WINDOW_COMMANDS = (
    ("window.new", N_("New task"), "ph.plus"),
    ("window.work", N_("Did it run?"), "ph.clock-counter-clockwise"),
    ("window.past", N_("Look back in time"), "ph.rewind"),
    ("window.handover", N_("Handover"), "ph.handshake"),
    ("window.another", N_("New window"), "ph.app-window"),
    ("window.quit", N_("Quit Fleetdeck"), "ph.sign-out"),
    ("window.save", N_("Save this view as PDF or picture"), "ph.file-arrow-down"),
    ("window.print", N_("Print this view"), "ph.printer"),
    ("window.refresh", N_("Refresh"), "ph.arrows-clockwise"),
    ("window.freeze", N_("Freeze view"), "ph.pause"),
    ("window.rail", N_("Collapse navigation"), "ph.layout"),
    ("window.link", N_("Copy a link to this view"), "ph.link"),
    ("window.help", N_("Help on this page"), "ph.question"),
    ("window.keys", N_("All keys"), "ph.keyboard"),
    ("window.guide", N_("Operator's guide"), "ph.book-open"),
)
