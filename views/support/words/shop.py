"""What is true of a shop in words, glyph and colour: its state and why, and whether trying again makes sense. Pure but
for the language."""

from __future__ import annotations

from collections.abc import Mapping

from services import called, messages
from services.domain.fleet.shop import Shop
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.text.message import Message
from services.i18n import N_, _, pgettext
from views.support import safe, shown, text
from views.support.words import kinds, type_names

#: how a page asks that of shops for the limit of the scope behind it; no platform has a space in its name
LIMITS_OF = "limits of "
#: and where many shops are wanted, ticked: their keys, with a space between them
SHOPS_OF = "shops of "

#: whether somebody is logged in -> (word, glyph, colour role)
_LOOKS: dict[str, tuple[str, str, str]] = {
    insight.LOGGED_IN: (N_("logged in"), "ph.check", "succeeded"),
    insight.LOGGED_OUT: (N_("logged out"), "ph.lock-simple-fill", "retrying"),
    insight.CAPTCHA: (N_("captcha waits"), "ph.puzzle-piece-fill", "retrying"),
    insight.PAUSED: (N_("paused"), "ph.pause-circle", "text3"),
    insight.OFF: (N_("switched off"), "ph.prohibit", "text3"),
    insight.TRYING: (N_("trying now"), "ph.play-circle-fill", "running"),
    insight.NOT_KNOWN: (N_("not known"), "ph.question", "text3"),
}


def platform_name(platform: str) -> str:
    """The name of a platform; an unknown one is its own."""
    return called.platform(platform)


def name_of(key: str, shops: Mapping[str, Shop]) -> str:
    """What a shop of ``platform:shop_id`` is called, else its id."""
    found = shops.get(key)
    if found is not None and found.name:
        return found.name
    told = safe.masked(key)  # what gives a secret away may stand before the colon
    return told.partition(":")[2] or told


def word(state: str) -> str:
    """One of ``insight.STATES``."""
    return pgettext("shop", insight.WORDS[state])


def state(now: ShopNow) -> str:
    """The state in a word, and what goes on beneath it; of a paused type which."""
    if now.state == insight.PAUSED_TYPE:
        types = (pause.scope.partition(":")[2] for pause in now.pauses if pause.gate == insight.PAUSED)
        return _("Paused: {what}").format(what=text.listed(type_names.name(name) for name in types))
    if now.under and now.under != now.state:
        return _("{state}, beneath: {under}").format(state=word(now.state), under=word(now.under))
    return word(now.state)


def remark(now: ShopNow) -> str:
    """A word for who is about to give it work: the state that keeps a shop from working as usual, else ""."""
    return state(now) if now.state in insight.FLAGGED or now.state in insight.COVERS else ""


def named(message: Message, shops: Mapping[str, Shop], *, with_id: bool = False) -> Message:
    """The same with shops, which programs name by ``platform:shop_id``, as people call them; ``with_id``: and by that,
    for whoever looks them up elsewhere.
    """
    said: dict[str, str] = {}
    for param, value in message.params.items():
        found = shops.get(str(value).removeprefix("shop:"))
        if found is not None and found.name:
            name = safe.one_line(found.name, 60)
            said[param] = _("{shop} ({id})").format(shop=name, id=found.key) if with_id else name
    return Message(message.code, {**message.params, **said}) if said else message


def why(now: ShopNow, now_ms: int) -> str:
    """Why it is in this state: every sentence that is true, the decisive one first."""
    return text.listed(messages.in_one(insight.reasons(now, now_ms), said), ";")


def said(message: Message) -> str:
    """One sentence about a shop; names of platforms and types as people call them."""
    params = dict(message.params)
    if "platform" in params:
        params["platform"] = platform_name(str(params["platform"]))
    if "type" in params:
        params["type"] = type_names.name(str(params["type"]))
    for name in ("who", "why"):
        if name in params:
            params[name] = safe.one_line(messages.noted(str(params[name])), 120)
    return shown.told(Message(message.code, params))


def resume(scope: str) -> str:
    """The verb that ends a pause: *Resume TEMU*."""
    head, _colon, name = scope.partition(":")
    if head == "all":
        return _("Resume everything")
    if head == "shop":
        return _("Resume shop")
    return _("Resume {what}").format(what=platform_name(name) if head == "platform" else type_names.name(name))


def look(now: ShopNow) -> tuple[str, str, str]:
    """Word, glyph and colour role."""
    word, glyph, role = _LOOKS.get(now.access, _LOOKS[insight.NOT_KNOWN])
    return _(word), glyph, role


def look_beside(now: ShopNow, task: Task) -> tuple[str, str, str]:
    """The same beside a letter of its: an open session is no good news where the platform has restricted the account,
    until something succeeded there since."""
    if restricted(now, task):
        return _("session open"), "ph.question", "text2"
    return look(now)


def restricted(now: ShopNow, task: Task) -> bool:
    """Whether the account was restricted though somebody is logged in, as far as is known."""
    of_platform = task.error_kind in (classify.RISK_CONTROL, classify.CAPTCHA)
    return of_platform and now.access == insight.LOGGED_IN and now.success_at <= task.ended_at


def evidence(now: ShopNow, now_ms: int) -> str:
    """What the state rests on, one fact a line, and what follows from it."""
    lines = []
    if now.success_at:
        lines.append(_("Last success {time}").format(time=shown.clock(now.success_at, now_ms)))
    if now.failure_at:
        failure = kinds.title(now.failure_kind) or now.failure_kind
        time = shown.clock(now.failure_at, now_ms)
        lines.append(_("Last failure {time}: {kind}").format(time=time, kind=failure))
    lines.append(advice(now))
    return "\n".join(lines)


def advice(now: ShopNow) -> str:
    """Whether trying again makes sense."""
    if now.closed:
        return _("Trying again would fail until somebody has logged in there.")
    if now.access == insight.PAUSED:
        return _("A new task would wait until the pause ends.")
    if now.access == insight.OFF:
        return _("The shop is switched off.")
    if now.access == insight.LOGGED_IN:
        return _("Something succeeded there since; trying again makes sense.")
    return _("Nothing succeeded there lately; try one first.")


def since(now: ShopNow, now_ms: int) -> str:
    """The state with the time of the last task that proved it: ``logged in, last seen 14:31``."""
    word = look(now)[0]
    at = now.success_at if now.access == insight.LOGGED_IN else now.failure_at if now.closed else 0
    if not at:
        return word
    return _("{state}, last seen {time}").format(state=word, time=shown.minute(at, now_ms))
