"""Acts of the audit in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from services import messages
from services.called import ACT_WORDS, STATUS_WORDS
from services.domain import audit
from services.domain.text import mask, visible
from services.domain.text.message import Message
from services.i18n import N_, _, listed, ngettext
from services.messages import render

#: by the code that the trail keeps
ACTS: Mapping[str, str] = {
    "alert.answer": N_("Take an incident"),
    "alert.channel": N_("Set a channel of alerts"),
    "alert.channel_remove": N_("Remove a channel of alerts"),
    "alert.channel_test": N_("Test a channel of alerts"),
    "alert.escalate": N_("Escalate an incident"),
    "alert.mute": N_("Mute an incident"),
    "alert.rule": N_("Change a rule of alerts"),
    "alert.rule_reset": N_("Take a rule of alerts back"),
    "alert.run": N_("Run a command for an incident"),
    "alert.unanswer": N_("Give an incident back"),
    "alert.unmute": N_("Unmute an incident"),
    "audit.accept": N_("Accept faults of the audit"),
    "batch.cancel": N_("Cancel a batch"),
    "batch.raise": N_("Raise a batch"),
    "batch.retry": N_("Retry a batch"),
    "breaker.close": N_("Close a breaker"),
    "breaker.rule": N_("Change the rule of the breakers"),
    "cause.describe": N_("Describe a cause"),
    "cause.forget": N_("Take the rule of a known issue away"),
    "cause.ignore": N_("Ignore a cause"),
    "cause.join": N_("Join what was split off from a cause"),
    "cause.know": N_("Decide about a known issue"),
    "cause.lift": N_("Ignore a cause no more"),
    "cause.merge": N_("Merge causes"),
    "cause.split": N_("Split a cause"),
    "connection.unverified": N_("Work without checking certificates"),
    "dead.abort_run": N_("Break off a republishing"),
    "dead.archived": N_("Archive dead letters"),
    "dead.ignored": N_("Ignore dead letters"),
    "dead.note": N_("Write a note"),
    "dead.open": N_("Reopen dead letters"),
    "dead.republish": N_("Republish dead letters"),
    "fleet.time_zone": N_("Change the time zone"),
    "handover.remove": N_("Send the handover no more"),
    "handover.send": N_("Send the handover"),
    "handover.set": N_("Change when the handover is sent"),
    "limit": N_("Set a limit"),
    "pause": N_("Pause"),
    "promise.enable": N_("Switch a promise"),
    "promise.remove": N_("Take a promise away"),
    "promise.set": N_("Set a promise"),
    "queue.purge": N_("Purge a queue"),
    "quiet.remove": N_("Remove quiet hours"),
    "quiet.set": N_("Set quiet hours"),
    "repair": N_("Repair the records"),
    "resume": N_("Resume"),
    "reveal": N_("Show secrets"),
    "role.default": N_("Change everybody else's role"),
    "role.remove": N_("Take a role back"),
    "role.set": N_("Give a role"),
    "sample.load": N_("Load the sample fleet"),
    "sample.stop": N_("Stop the sample fleet"),
    "schedule.add": N_("Add a schedule"),
    "schedule.backfill": N_("Make missed runs of a schedule"),
    "schedule.change": N_("Change a schedule"),
    "schedule.disable": N_("Disable a schedule"),
    "schedule.enable": N_("Enable a schedule"),
    "schedule.remove": N_("Remove a schedule"),
    "schedule.run": N_("Run a schedule now"),
    "schedule.skip": N_("Skip the next run"),
    "session.close": N_("Ask for a login"),
    "session.login": N_("Log a shop in"),
    "session.open": N_("Say that a shop is logged in"),
    "settings.change": N_("Change settings of a machine"),
    "shop.concurrency": N_("Set tasks at a time"),
    "shop.dedicate": N_("Give a shop its own queue"),
    "shop.import": N_("Import shops"),
    "shop.move": N_("Move a shop's browser profile"),
    "shop.undedicate": N_("Take a shop's own queue back"),
    "task.cancel": N_("Cancel tasks"),
    "task.create": N_("Create tasks"),
    "task.create_again": N_("Create tasks again"),
    "task.import": N_("Import tasks"),
    "task.prioritize": N_("Change priorities"),
    "task.resolve": N_("Decide an unknown outcome"),
    "task.retry": N_("Retry tasks"),
    "task.run_now": N_("Run tasks now"),
    "task.try": N_("Try one task anyway"),
    "task.try_back": N_("Take a let-through back"),
    "token.create": N_("Create a token"),
    "token.revoke": N_("Revoke a token"),
    "type.import": N_("Change task types"),
    "type.introduce": N_("Introduce a task type"),
    "view.remove": N_("Share a view of tasks no more"),
    "view.share": N_("Share a view of tasks"),
    "worker.close_window": N_("Close a shop's browser window"),
    "worker.drain": N_("Drain a worker"),
    "worker.forget": N_("Forget a worker"),
    "worker.log": N_("Look at a worker's log"),
    "worker.open_window": N_("Open a shop's browser on a worker"),
    "worker.refuse": N_("Change what a worker refuses"),
    "worker.release_profile": N_("Release a browser profile"),
    "worker.reload_window": N_("Load the page of a window again"),
    "worker.restart_browser": N_("Restart a browser"),
    "worker.resume": N_("Let a worker go on"),
    "worker.slots": N_("Change a worker's slots"),
    "worker.start": N_("Start a worker"),
    "worker.stop": N_("Stop a worker"),
}


#: what was left alone and why, where an outcome names the reason by a code whose sentence needs more than is kept
_REASONS: Mapping[str, str] = {
    "bulk.probe_same": N_("the first ones failed again in the same way"),
    "bulk.probe_failed": N_("the first ones did not succeed"),
    "bulk.probe_late": N_("the first ones did not end in time"),
    "bulk.silent": N_("the store did not answer"),
    "task.duplicate": N_("the same task is active already"),
    "task.unknown": N_("there is no such task"),
    "task.unreadable": N_("its record cannot be read"),
    "task.set_aside": N_("its record could not be read and was set aside"),
    "task.refused": N_("not possible in its status"),
    "task.done": N_("the same work has succeeded already"),
    "task.not_cancelled": N_("it is not cancelled"),
    "task.created_again": N_("it was created again already"),
    "queue.left": N_("it has left that queue"),
    "dead.not_dead": N_("it is no dead letter any more"),
    "dead.already": N_("it was republished already"),
    "dead.schema": N_("its payload does not fit its type"),
    "dead.refused_field": N_("its payload does not fit its type"),
    "dead.same_before": N_("others of them do the same work"),
}
_CODE = re.compile(r"[a-z_]+\.[a-z_]+")
SEVERAL = re.compile(r"[a-z_]+\.[a-z_]+ \d+(?:, [a-z_]+\.[a-z_]+ \d+)+")


def reason(first: str) -> str:
    """Why they were refused, with how many each; "" for a code that has no words without what it was about."""
    if SEVERAL.fullmatch(first):
        by_words: Counter[str] = Counter()
        for one in first.split(", "):
            code, number = one.split(" ")
            by_words[reason(code) or _("other reasons")] += int(number)
        return listed(f"{said} {n:,}" for said, n in by_words.items())
    if not _CODE.fullmatch(first):
        return first
    if first in _REASONS:
        return _(_REASONS[first])
    return "" if "{" in messages.TEMPLATES.get(first, "{") else render(Message(first)).rstrip(".。")


#: as ``services.commands`` write down what was done in part, that nothing was, and what moved
COUNTED = re.compile(r"partly: (\d+) done(?:, (\d+) refused)?(?:, (\d+) left alone)?(?:: (.*))?$", re.DOTALL)
REFUSED = re.compile(r"refused: (\d+)(?:: (.*))?$", re.DOTALL)
_MOVED = re.compile(r"done: (\d+) tasks moved$")
_LETTERS = re.compile(r"done: (\d+) letters left$")
_REPAIRED = re.compile(r"done: ([a-z_, ]+); left: ([a-z_, ]+)$")
#: as they write down how many of a batch have which status after an act
_AFTER = re.compile(r"(.*); after: ([a-z_]+ \d+(?:, [a-z_]+ \d+)*)$", re.DOTALL)


def why(outcome: str) -> str:
    """What the outcome of an act says behind its first word, its counts in the present language."""
    parts, left = [], ""
    outcome, _places = audit.parted(outcome)
    if found := _AFTER.match(outcome):
        outcome, left = found.groups()
    if said := _counted(outcome) or _plain(outcome.partition(":")[2].strip()):
        parts.append(said)
    if left:
        parts.append(_after(left))
    return listed(parts, ";")


def _after(counts: str) -> str:
    """How many of a batch have which status after an act."""
    pairs = (one.split(" ") for one in counts.split(", "))
    told = listed(f"{_(STATUS_WORDS.get(status, status))} {int(n):,}" for status, n in pairs)
    return _("after it: {counts}").format(counts=told)


def _plain(said: str) -> str:
    """What the program wrote down in English, in the present language; what others said stays theirs."""
    return messages.own(_(said)) if said else ""


def ended(outcome: str) -> str:
    """How an act ended, within a sentence: what its counts say, else its word and why; "" while nobody has said."""
    outcome, _places = audit.parted(outcome)
    if found := _AFTER.match(outcome):
        return listed([ended(found[1]), _after(found[2])], ";")
    code = outcome.partition(":")[0]
    word, said = _(ACT_WORDS[code]).lower() if code in ACT_WORDS else code, why(outcome)
    return said if _counted(outcome) else _("{name}: {value}").format(name=word, value=said) if said else word


def _counted(outcome: str) -> str:
    """The counts of an outcome, "" where it has none."""
    first = ""
    if found := COUNTED.match(outcome):
        done, refused, left, first = found.groups()
        counts = {
            "done": f"{int(done):,}",
            "refused": f"{int(refused or 0):,}",
            "left": f"{int(left or 0):,}",
        }
        if not left:
            said = _("{done} done, {refused} refused").format(**counts)
        elif refused:
            said = _("{done} done, {refused} refused, {left} left alone").format(**counts)
        else:
            said = _("{done} done, {left} left alone").format(**counts)
    elif found := REFUSED.match(outcome):
        n, first = int(found[1]), found[2]
        said = ngettext("{n} object refused", "{n} objects refused", n).format(n=f"{n:,}")
    elif found := _MOVED.match(outcome):
        n = int(found[1])
        said = ngettext("{n} task moved", "{n} tasks moved", n).format(n=f"{n:,}")
    elif found := _LETTERS.match(outcome):
        n = int(found[1])
        said = ngettext("{n} letter left", "{n} letters left", n).format(n=f"{n:,}")
    elif found := _REPAIRED.match(outcome):
        done, left = (0 if codes == "nothing" else codes.count(",") + 1 for codes in found.groups())
        said = ngettext(
            "{done} kind of trouble mended, {left} left for a person",
            "{done} kinds of trouble mended, {left} left for a person",
            done,
        ).format(done=done, left=left)
    else:
        return ""
    first = reason(first or "")
    return _("{name}: {value}").format(name=said, value=first) if first else said


def act(code: str) -> str:
    """What was done, in the present language; an act that this program does not know is called as it was written."""
    return _(ACTS[code]) if code in ACTS else visible.visible(mask.masked_text(code))[:60]


_WORDS = {"action": act, "outcome": ended}


def in_words(message: Message) -> Message:
    """A sentence on an act with its name and its end in words, not as the trail keeps them."""
    said = {name: words(str(message.params[name])) for name, words in _WORDS.items() if message.params.get(name)}
    return Message(message.code, {**message.params, **said}) if said else message
