"""How a shop stands now in words, glyph and colour: whether trying again makes sense. Pure but for the language."""

from __future__ import annotations

from services.domain import shop_now
from services.domain.shop_now import ShopNow
from services.i18n import N_, _
from views.support import kinds, shown, text

#: state -> (word, glyph, colour role)
_LOOKS: dict[str, tuple[str, str, str]] = {
    shop_now.LOGGED_IN: (N_("logged in"), "ph.check", "succeeded"),
    shop_now.LOGGED_OUT: (N_("logged out"), "ph.lock-simple-fill", "retrying"),
    shop_now.CAPTCHA: (N_("captcha waits"), "ph.puzzle-piece-fill", "retrying"),
    shop_now.PAUSED: (N_("paused"), "ph.pause-circle", "text3"),
    shop_now.OFF: (N_("switched off"), "ph.prohibit", "text3"),
    shop_now.RUNNING: (N_("trying now"), "ph.play-circle-fill", "running"),
    shop_now.NOT_KNOWN: (N_("not known"), "ph.question", "text3"),
}


def look(now: ShopNow) -> tuple[str, str, str]:
    """Word, glyph and colour role."""
    word, glyph, role = _LOOKS.get(now.state, _LOOKS[shop_now.NOT_KNOWN])
    return _(word), glyph, role


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
    if now.state == shop_now.PAUSED:
        return _("A new task would wait until the pause ends.")
    if now.state == shop_now.OFF:
        return _("The shop is switched off.")
    if now.state == shop_now.LOGGED_IN:
        return _("Something succeeded there since; trying again makes sense.")
    return _("Nothing succeeded there lately; try one first.")


def since(now: ShopNow, now_ms: int) -> str:
    """The state with the time of the last task that proved it: ``logged in, last seen 14:31``."""
    word = look(now)[0]
    at = now.success_at if now.state == shop_now.LOGGED_IN else now.failure_at if now.closed else 0
    if not at:
        return word
    return _("{state}, last seen {time}").format(
        state=word, time=text.minute(shown.moment(at), shown.moment(now_ms), shown.zone())
    )
