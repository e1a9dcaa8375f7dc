"""What ways out are called: the verbs of attention items and of the panel of a task, in the language of the moment."""

from __future__ import annotations

from services.i18n import N_, _, fill
from views.support.words import type_names
from views.support.words.shop import platform_name

#: begins what Alerts is asked for where what concerns a measure is wanted
ALERTS_OF = "alerts of "

VERBS: dict[str, str] = {
    "triage": N_("See the cause"),
    "triage_now": N_("See and republish"),
    "triage_run": N_("See what was sent"),
    "decide": N_("Decide"),
    "republish": N_("Republish it"),
    "cancel_tasks": N_("Cancel what waits"),
    "stop_task": N_("Stop it"),
    "lower_tasks": N_("Lower its priority"),
    "open_tasks": N_("Show tasks"),
    "open_task": N_("Show that task"),
    "open_shop": N_("Open shop"),
    "open_shops": N_("Open shops"),
    "login_shops": N_("Log them in"),
    "open_worker": N_("Open worker"),
    "open_workers": N_("Open workers"),
    "open_session": N_("Logged in elsewhere: go on"),
    "login_shop": N_("Open this shop's browser"),
    "look_shop": N_("Look there first: open its browser"),
    "pause": N_("Pause {what}"),
    "resume": N_("Resume {what}"),
    "try_anyway": N_("Try this one anyway"),
    "start_worker": N_("Start a worker"),
    "more_slots": N_("Give {worker} {n} slots"),
    "forget_worker": N_("Forget"),
    "open_schedule": N_("Open schedules"),
    "open_promise": N_("Show that promise"),
    "copy_server": N_("Copy message for IT"),
    "copy_flow": N_("Copy report for the flow's maker"),
    "copy_creator": N_("Copy report for who creates these tasks"),
}


def label(verb: str, target: str) -> str:
    """The words of a verb; ``target`` is what it is about."""
    words = _(VERBS.get(verb, verb))
    if verb == "more_slots":
        worker, _sign, number = target.rpartition("=")
        return fill(words, {"worker": worker, "n": number})
    kind, _colon, what = target.partition(":")
    if verb in ("pause", "resume") and kind == "shop":
        return _("Pause shop") if verb == "pause" else _("Resume shop")
    if verb == "pause" and kind == "platform":  # of a cause that is one type's: it holds back the others too
        words = _("Pause all of {what}")
    what = {"platform": platform_name(what), "type": type_names.name(what), "all": _("everything")}.get(kind, what)
    return fill(words, {"what": what})
