"""What a doctor makes of what servers, workers and this machine say about themselves: pure judgements with remedies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import ability
from services.domain.insight import connection
from services.domain.insight import worker as insight
from services.domain.insight.connection import Reach
from services.domain.insight.forecast import flow
from services.domain.insight.worker import FleetNow, WorkerNow
from services.domain.task.order import Inspection
from services.domain.text.message import Message, Param
from services.domain.text.refusals import REFUSALS
from services.domain.text.said import Said
from services.domain.text.sentences import N_, NN_, Counted
from services.domain.upkeep.miscount import some

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"
LEVELS = (ERROR, WARNING, NOTE, OK)
REDIS_LEAST = (7, 0)
SILENT_EACH = 3  #: silent workers without tasks that are told one by one
GIB, MIB = 1 << 30, 1 << 20
SKEW_WARNING_MS, SKEW_ERROR_MS = 2_000, 60_000
#: of another machine, as a heartbeat tells it, which may have waited for the store
SKEW_THERE_MS = 5_000
OUTBOX_OLD_MS = 60_000
_WALLED_IN = N_(
    "Let its container make user namespaces (resources/deploy/kubernetes/nodes/chromium.json), or install"
    ' chromium-sandbox. Where the container is wall enough: executors.browser.arguments = ["--no-sandbox"]'
)
SENTENCES: dict[str, str | Counted] = {
    "doctor.store": N_("The store answers: {what} in {latency} ms"),
    "doctor.store_gone": N_("The store cannot be used: {error}"),
    "doctor.store_loading.remedy": N_("Wait: nothing has to be done. Ask again in a minute or two."),
    "doctor.store_gone.remedy": N_("Start Redis, and check the address, user and password of the store."),
    "doctor.file_gone": N_("The database of this machine cannot be used: {error}"),
    "doctor.file_gone.remedy": N_("Set that right; until then nothing is recorded and nothing is lost that was."),
    "doctor.frozen_writer": N_(
        "Process {pid} ({name}) writes to the local database and is frozen; nobody else can write"
    ),
    "doctor.frozen_writer.remedy": N_("Let it go on (kill -CONT and its number), or end it; nothing is lost by that."),
    "doctor.audit": NN_(
        "The audit is as it was written: {rows} entry", "The audit is as it was written: {rows} entries", by="rows"
    ),
    "doctor.audit_newest": N_("The newest {rows} entries of the audit are as they were written; --deep looks at all"),
    "doctor.audit_wrong": NN_(
        "The audit is not as it was written, in {n} place: {what}",
        "The audit is not as it was written, in {n} places; the first: {what}",
    ),
    "doctor.audit_wrong.remedy": N_(
        "`audit verify` names them all. Find out who can write to the store; where a backup was put back, `audit accept"
        " --note` says so."
    ),
    "doctor.audit_accepted": N_("Faults of the audit that an admin has accepted: {n}"),
    "doctor.audit_sight": N_("What this machine had seen of the audit was removed from its home, or cut short there"),
    "doctor.audit_sight.remedy": N_(
        "Ask who did it: what was taken away at the end of the audit, and was seen here alone, nobody misses any more."
        " `audit accept --note` says that it is known."
    ),
    "doctor.audit_unknown": N_("Acts of which nobody knows how they ended, for their program fell over: {n}"),
    "doctor.audit_unknown.remedy": N_("`audit list --filter 'state:unknown'` names them; look what was done."),
    "doctor.role_bad": N_("The role of {who} cannot be read, so they may only look"),
    "doctor.role_bad.remedy": N_("An admin gives it again: `role set`."),
    "doctor.no_admin": N_("Nobody of the fleet is admin, so nobody can give roles or change task types"),
    "doctor.no_admin.remedy": N_("The first person of the fleet gets the role back by a repair: fleetdeck repair"),
    "doctor.broker": N_("The broker answers: {what}; everything that is needed there stands as it should"),
    "doctor.broker_seen": N_("The broker answers: {what}"),
    "doctor.not_declared": N_("Not there yet at the broker: {what}"),
    "doctor.not_declared.remedy": N_(
        "The next worker that starts makes them; if one runs, see whether its account may configure."
    ),
    "doctor.unbound": N_("Nothing leads to these queues any more: {what}"),
    "doctor.unbound.remedy": N_(
        "What other programs send there comes back to them or is lost. The next program that starts binds it again: "
        "fleetdeck repair"
    ),
    "doctor.broker_gone": N_("The broker cannot be used: {error}"),
    "doctor.broker_gone.remedy": N_("Start the broker, and check its address, user and password."),
    "doctor.broker_rights": N_("The broker lets this program connect and not work: {error}"),
    "doctor.redis_commands": N_("Redis does not let this user use {commands}"),
    "doctor.redis_commands.remedy": N_("Permit them: ACL SETUSER USER {rights}"),
    "doctor.newer": N_("This program may only read here: {error}"),
    "doctor.newer.remedy": N_("Until then, act at a machine that has the newer program."),
    "doctor.redis_keys": N_("Redis does not let this user use the keys of Fleetdeck"),
    "doctor.redis_keys.remedy": N_("Permit them: ACL SETUSER USER ~{{rpa}}:* ~executed:*"),
    "doctor.unreachable": N_("Queues that cannot be reached now: {queues} ({error}); the others are used"),
    "doctor.unreachable.remedy": N_(
        "Start the broker's node that has them. What is meant for them waits in the store until they are back."
    ),
    "doctor.topology": N_("Something at the broker is not as it is needed: {error}"),
    "doctor.topology.remedy": N_(
        "Empty and delete what exists with other arguments, or give the fleet a place of its own at the broker."
    ),
    "doctor.redis_old": N_("Redis is {version}"),
    "doctor.redis_old.remedy": N_("Update it to 7.0 or newer; scripts and the event stream need that."),
    "doctor.replica": N_("This Redis is a replica ({role}) and cannot be written"),
    "doctor.replica.remedy": N_("Let the address of the store name the master."),
    "doctor.evicts": N_("Redis may throw records away when its memory is full (maxmemory-policy {policy})"),
    "doctor.evicts.remedy": N_("Set maxmemory-policy noeviction."),
    "doctor.not_kept": N_("Redis keeps nothing over a restart (appendonly no)"),
    "doctor.not_kept.remedy": N_("Set appendonly yes and appendfsync always."),
    "doctor.fsync": N_("Redis may forget the last two seconds after a crash (appendfsync {policy})"),
    "doctor.fsync.remedy": N_("Set appendfsync always; group commits make it affordable."),
    "doctor.fsync_rewrite": N_(
        "While Redis rewrites its file, it may forget all that was done in that time after a power cut"
        " (no-appendfsync-on-rewrite yes)"
    ),
    "doctor.fsync_rewrite.remedy": N_("Set no-appendfsync-on-rewrite no."),
    "doctor.fsync_unknown": N_("Redis does not tell its appendfsync setting"),
    "doctor.fsync_unknown.remedy": N_("Allow CONFIG GET to this user, or see that it is set to always."),
    "doctor.no_writes": N_("The store takes no writes, so nothing new starts and nothing can be changed: {error}"),
    "doctor.no_writes.remedy": N_("Set that right; workers and the leader go on by themselves then."),
    "doctor.not_looked": N_(
        "Without these rights the rest cannot be looked at, neither what waits nor how much of it is not sent yet"
    ),
    "doctor.unsent": NN_(
        "{tasks} task is recorded and not sent; it is sent as soon as this is put right",
        "{tasks} tasks are recorded and not sent; they are sent as soon as this is put right",
        by="tasks",
    ),
    "doctor.writes_fail": N_("Redis could not write its file the last time"),
    "doctor.writes_fail.remedy": N_("Look at its log and at the free disk of its machine."),
    "doctor.clock": N_("This machine's clock differs from the store's by {span}"),
    "doctor.clock.remedy": N_("Switch time synchronisation (NTP) on, here and there."),
    "doctor.clock_ok": N_("This machine's clock agrees with the store's"),
    "doctor.clock_there": N_("The clock of machine {machine} (worker {worker}) differs from the store's by {span}"),
    "doctor.clock_there.remedy": N_("Switch time synchronisation (NTP) on there."),
    "doctor.disk": N_("{free:,} MB are free in {folder}"),
    "doctor.disk.remedy": N_("Free some disk space, or let FLEETDECK_HOME name another folder."),
    "doctor.home_open": N_("Other users of this machine can read {where}"),
    "doctor.home_open.remedy": N_("Close it to them: chmod -R go= {folder}"),
    "doctor.leader": N_("{leader} reconciles the fleet"),
    "doctor.no_leader": NN_(
        "Nobody reconciles the fleet while {tasks} task is not done",
        "Nobody reconciles the fleet while {tasks} tasks are not done",
        by="tasks",
    ),
    "doctor.no_leader.remedy": N_("Start a worker; the first one leads."),
    "doctor.no_leader_idle": N_("Nobody reconciles the fleet; nothing waits for it"),
    "doctor.resigned": N_("{leader} has given the lead up, for it cannot work: {why}"),
    "doctor.resigned.remedy": N_(
        "Nobody leads until a worker reaches the broker, the store and its own disk; it does so by itself then."
    ),
    "doctor.workers": NN_(
        "Workers alive: {workers} on {machines} machine, slots busy: {busy} of {slots}",
        "Workers alive: {workers} on {machines} machines, slots busy: {busy} of {slots}",
        by="machines",
    ),
    "doctor.workers_together": N_("Workers alive: {workers} on 1 machine, slots busy: {busy} of {slots}"),
    "doctor.no_workers": NN_(
        "No worker is alive while {tasks} task waits", "No worker is alive while {tasks} tasks wait", by="tasks"
    ),
    "doctor.no_workers.remedy": N_("Start one: fleetdeck worker"),
    "doctor.no_workers_idle": N_("No worker is alive; nothing waits for one"),
    "doctor.flow": N_("Work: {what}"),
    "doctor.flow.remedy": N_("More slots or workers, a login, a resume or a decision: the Overview page names which."),
    "doctor.silent": NN_(
        "Worker {worker} is silent for {span}; {tasks} of its tasks is unconfirmed",
        "Worker {worker} is silent for {span}; {tasks} of its tasks are unconfirmed",
        by="tasks",
    ),
    "doctor.silent_free": N_("Worker {worker} is silent for {span}; it has no task in hand"),
    "doctor.silent_free.remedy": N_("Look at its machine, or start it again."),
    "doctor.silent.remedy": N_("Look at its machine; its tasks are given to others when their leases run out."),
    "doctor.cut_off": N_("Worker {worker} cannot reach the broker and takes no tasks: {why}"),
    "doctor.cut_off.remedy": N_("Look at the network between its machine and the broker; it connects again by itself."),
    "doctor.link": N_("Something at the broker is closed to worker {worker}: {why}"),
    "doctor.link.remedy": N_(
        "Where RabbitMQ refuses its user, that needs the right to read there (rabbitmqctl set_permissions); else look"
        " at the broker. What is not taken waits, and goes on by itself."
    ),
    "doctor.late": NN_(
        "Worker {worker} was not heard of for {span}; {tasks} of its tasks is unconfirmed",
        "Worker {worker} was not heard of for {span}; {tasks} of its tasks are unconfirmed",
        by="tasks",
    ),
    "doctor.late_free": N_("Worker {worker} was not heard of for {span}; it has no task in hand"),
    "doctor.late_free.remedy": N_("Look at its machine, or start it again."),
    "doctor.late.remedy": N_("Look at its machine; its tasks are given to others when their leases run out."),
    "doctor.gone": N_("Worker {worker} is gone for {span} without a farewell"),
    "doctor.gone.remedy": N_("Start it again, or take it off the list: fleetdeck worker forget {worker}"),
    "doctor.lost": N_("Of worker {worker}: {what}"),
    "doctor.long": NN_(
        "{n} task of {type} on {platform} runs past the 95th percentile ({nearly}): {task} for {span}",
        "{n} tasks of {type} on {platform} run past the 95th percentile ({nearly}): {task} for {span}",
    ),
    "doctor.slow": NN_(
        "{n} task of {type} on {platform} runs past the 95th percentile ({nearly}), too many for chance: {task} for"
        " {span}",
        "{n} tasks of {type} on {platform} run past the 95th percentile ({nearly}), too many for chance: {task} for"
        " {span}",
    ),
    "doctor.slow.remedy": N_("Open them: the step that they are at says what they wait for; stop one that hangs."),
    "doctor.publisher": NN_(
        "{what}; {tasks} task recorded, not sent; met for {span} by {who}",
        "{what}; {tasks} tasks recorded, not sent; met for {span} by {who}",
        by="tasks",
    ),
    "doctor.schedule_late": N_("The schedule {name} is {span} late"),
    "doctor.silent_idle": N_("Workers that went away with nothing in hand: {workers} ({names})"),
    "doctor.other_version": N_("Worker {worker} is version {version}, this is {own}"),
    "doctor.other_version.remedy": N_("Update the older one."),
    "doctor.home_silent": NN_(
        "{tasks} task waits for the node {node}, where no worker runs",
        "{tasks} tasks wait for the node {node}, where no worker runs",
        by="tasks",
    ),
    "doctor.home_silent.remedy": N_("Start a worker there, or move its shops: fleetdeck shop move SHOP --node NODE"),
    "doctor.lacks": N_("Worker {worker} cannot run {what}: {why}"),
    "doctor.lacks.remedy": N_("Install or correct it in that worker's configuration."),
    "doctor.lacks_many": N_("{n} workers cannot run {what}: {why} ({names})"),
    "doctor.lacks_many.remedy": N_("Install or correct it in the configuration of those workers."),
    "doctor.no_sandbox": N_("Chromium of worker {worker} does not start: its sandbox is forbidden there"),
    "doctor.no_sandbox.remedy": _WALLED_IN,
    "doctor.no_sandbox_many": N_("Chromium of {n} workers does not start: its sandbox is forbidden there ({names})"),
    "doctor.no_sandbox_many.remedy": _WALLED_IN,
    "doctor.orphans": NN_(
        "{tasks} task is recorded as running and nobody holds it",
        "{tasks} tasks are recorded as running and nobody holds them",
        by="tasks",
    ),
    "doctor.orphans.remedy": N_("The leader takes them up; if this stays, start a worker."),
    "doctor.outbox": NN_(
        "{tasks} message has waited for more than a minute to be sent",
        "{tasks} messages have waited for more than a minute to be sent",
        by="tasks",
    ),
    "doctor.outbox.remedy": N_("The leader sends them; if this stays, look at the broker and start a worker."),
    "doctor.shop_queue_missing": N_("The dedicated queue {queue} does not exist; what is sent there waits"),
    "doctor.shop_queue_missing.remedy": N_("The leader makes it again within seconds; without one: fleetdeck repair"),
    "doctor.work_queue_missing": N_("The work queue {queue} of [foreign_queues.{queue}] does not exist"),
    "doctor.work_queue_missing.remedy": N_("Start the program that sends to it, or correct the name in the settings."),
    "doctor.work_queue_waits": NN_(
        "{messages} message waits in the work queue {queue} and nobody reads it",
        "{messages} messages wait in the work queue {queue} and nobody reads it",
        by="messages",
    ),
    "doctor.work_queue_waits.remedy": N_(
        "Whoever leads reads it: start a worker or fleetdeck api with [foreign_queues.{queue}] in its settings."
    ),
    "doctor.shop_queue_waits": NN_(
        "{messages} message waits in {queue} and no worker takes it",
        "{messages} messages wait in {queue} and no worker takes them",
        by="messages",
    ),
    "doctor.shop_queue_waits.remedy": N_(
        "Start a worker that takes all lanes; one that leaves a lane out serves no such queue."
    ),
    "doctor.stray_queue": N_("Dedicated queues that no shop is known to have: {count} ({queues})"),
    "doctor.stray_queue.remedy": N_(
        "Dedicate the shop (fleetdeck shop dedicate), or empty and delete the queue; no worker serves it."
    ),
    "doctor.spool": NN_(
        "Outcomes that the store has not taken lie on this disk: {files} file in {folder}",
        "Outcomes that the store has not taken lie on this disk: {files} files in {folder}",
        by="files",
    ),
    "doctor.spool.remedy": N_("A worker that starts here with this profile records them."),
    "doctor.spool_other": NN_(
        "Outcomes of another profile's workers lie on this disk: {files} file in {folder}",
        "Outcomes of another profile's workers lie on this disk: {files} files in {folder}",
        by="files",
    ),
    "doctor.spool_other.remedy": N_("Start a worker here with the profile that they are of."),
    "doctor.spool_aside": N_("Files of outcomes that cannot be read: {files} in {folder}"),
    "doctor.spool_aside.remedy": N_(
        "Look at what they name, decide about those tasks if they are held, and delete the files."
    ),
    "doctor.unacked": NN_(
        "{messages} message is held by somebody while no worker is alive",
        "{messages} messages are held by somebody while no worker is alive",
        by="messages",
    ),
    "doctor.unacked.remedy": N_(
        "A worker may be frozen, or another program takes messages: look for it on its machine; the management page of"
        " RabbitMQ lists who holds them."
    ),
    "doctor.keys": N_("Passwords and secrets lie in the key store of this machine: {name}"),
    "doctor.no_keys": N_(
        "This machine has no key store: the window asks for passwords each time, secrets come from the environment"
        " alone"
    ),
    "doctor.plain_keys": N_(
        "The key store of this machine writes plain text ({name}): passwords are not kept there, and what lies there"
        " can be read by whoever reads its file"
    ),
    "doctor.plain_keys.remedy": N_(
        "Remove the package or the setting of keyring that names it; keep secrets in the environment, or in a key store"
        " that encrypts."
    ),
    "doctor.unverified": N_(
        "The certificate of {servers} is not checked (insecure_tls): whoever stands between can read and change"
        " everything."
    ),
    "doctor.unverified.remedy": N_(
        "Name the file of its authority in the address (?cacertfile=, ?ssl_ca_certs=) and take insecure_tls out."
    ),
    "doctor.bad_schema": N_("The task type {name} refuses every task, for its schema cannot be applied: {error}"),
    "doctor.bad_schema.remedy": N_("Correct its schema and import the type again: fleetdeck type import FILE"),
    "doctor.unreadable": N_("Cannot be read: {what} ({why}); everything else goes on without it"),
    "doctor.unreadable_more": N_("{count} entries cannot be read in all"),
    "doctor.unreadable_more.remedy": N_("They can be set aside beside working workers: fleetdeck repair"),
    "doctor.compared": NN_(
        "{tasks} record agrees with indexes, counters and dependencies",
        "{tasks} records agree with indexes, counters and dependencies",
        by="tasks",
    ),
    "doctor.counters_lost": N_(
        "Counters of tasks were lost, as by a Redis that threw them away: numbers on screens are too low"
    ),
    "doctor.not_compared": NN_(
        "{tasks} record was not compared with indexes and counters",
        "{tasks} records were not compared with indexes and counters",
        by="tasks",
    ),
    "doctor.not_compared.remedy": N_("It takes a while: fleetdeck doctor --deep"),
    "doctor.damage.remedy": N_("It can be mended beside working workers: fleetdeck repair"),
    "doctor.paused": N_("Paused by {who}: {scope}"),
    "doctor.session": NN_(
        "{shops} shop waits for a login: {shop}; parked tasks: {tasks}",
        "{shops} shops wait for a login, first {shop}; parked tasks in all: {tasks}",
        by="shops",
    ),
    "doctor.session.remedy": N_("Log in there: fleetdeck shop login SHOP; see fleetdeck shop session list"),
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. A remedy stands with everything but what is well."""

    level: str  #: ok | note | warning | error
    #: store | broker | queues | clock | disk | leader | workers | orphans | types | pauses | schedules | sessions |
    #: records
    check: str
    message: Message
    remedy: Message | None = None


def finding(
    level: str, check: str, code: str, sentences: Mapping[str, str] | None = None, /, **params: Param
) -> Finding:
    """A finding whose remedy, if there is one, is named like its code. ``sentences``: where it stands, if not here."""
    known = f"{code}.remedy" in (SENTENCES if sentences is None else sentences)
    remedy = Message(f"{code}.remedy", params) if known else None
    return Finding(level=level, check=check, message=Message(code, params), remedy=remedy)


def of_store(facts: Mapping[str, str], *, production: bool) -> list[Finding]:
    """What Redis may lose or refuse; a SQLite file is opened as it must be. Losing is an error in production."""
    if "frozen_writer" in facts:
        pid, _, name = facts["frozen_writer"].partition(" ")
        return [finding(ERROR, "store", "doctor.frozen_writer", pid=pid, name=name)]
    if facts.get("kind") != "redis":
        return []
    found: list[Finding] = []
    losing = ERROR if production else WARNING
    found += _of_rights(facts)
    if _version(facts.get("version", "")) < REDIS_LEAST:
        found.append(finding(ERROR, "store", "doctor.redis_old", version=facts.get("version", "?")))
    if facts.get("role", "master") != "master":
        found.append(finding(ERROR, "store", "doctor.replica", role=facts["role"]))
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        level = ERROR if facts.get("maxmemory", "0") != "0" else losing
        found.append(finding(level, "store", "doctor.evicts", policy=policy))
    if "err" in (facts.get("aof_last_write_status"), facts.get("rdb_last_bgsave_status")):
        found.append(finding(ERROR, "store", "doctor.writes_fail"))
    return found + _of_durability(facts, losing)


def _of_rights(facts: Mapping[str, str]) -> list[Finding]:
    found: list[Finding] = []
    if facts.get("refused_keys"):
        found.append(finding(ERROR, "store", "doctor.redis_keys"))
    if facts.get("refused"):
        rights = " ".join(f"+{name.casefold()}" for name in facts["refused"].split(", "))
        found.append(finding(ERROR, "store", "doctor.redis_commands", commands=facts["refused"], rights=rights))
    return found


def _of_durability(facts: Mapping[str, str], losing: str) -> list[Finding]:
    fsync = facts.get("appendfsync", "")
    if facts.get("appendonly") == "":
        return [finding(NOTE, "store", "doctor.fsync_unknown")]
    if facts.get("appendonly") != "yes":
        return [finding(losing, "store", "doctor.not_kept")]
    if not fsync:
        return [finding(NOTE, "store", "doctor.fsync_unknown")]
    found = [] if fsync == "always" else [finding(losing, "store", "doctor.fsync", policy=fsync)]
    if facts.get("no_appendfsync_on_rewrite") == "yes":
        found.append(finding(losing, "store", "doctor.fsync_rewrite"))
    return found


def of_broker(what: str, seen: Inspection) -> list[Finding]:
    """What stands there. ``what``: kind and version of the broker."""
    whole = seen.compared and not seen.missing and not seen.unreachable
    found = [finding(OK, "broker", "doctor.broker" if whole else "doctor.broker_seen", what=what)]
    if seen.missing:  # a broker that nobody has used yet lacks everything
        level = WARNING if seen.present else NOTE
        found.append(finding(level, "broker", "doctor.not_declared", what=", ".join(seen.missing)))
    if seen.unbound:
        found.append(finding(WARNING, "broker", "doctor.unbound", what=some(seen.unbound)))
    if seen.unreachable:
        queues, error = some([name for name, _ in seen.unreachable]), seen.unreachable[0][1]
        found.append(finding(ERROR, "broker", "doctor.unreachable", queues=queues, error=error))
    return found


def skew(skew_ms: int, round_trip_ms: int) -> int:
    """By how much two clocks surely differ; ``skew_ms``: by how much they seem to, asked within ``round_trip_ms``."""
    return max(0, abs(skew_ms) - max(0, round_trip_ms))


def of_clock(skew_ms: int, round_trip_ms: int) -> Finding:
    """``skew_ms``: this machine's time minus the store's, asked within ``round_trip_ms``."""
    surely = skew(skew_ms, round_trip_ms)
    if surely < SKEW_WARNING_MS:
        return finding(OK, "clock", "doctor.clock_ok")
    level = ERROR if surely >= SKEW_ERROR_MS else WARNING
    return finding(level, "clock", "doctor.clock", seconds=round(skew_ms / 1000, 1))


def of_clocks_there(fleet: FleetNow, here: str) -> list[Finding]:
    """Machines of workers whose clock is off, each by the worker that is furthest off; ``here``: this one is told
    apart. A heartbeat takes its time, so a little is no difference.
    """
    worst: dict[str, WorkerInfo] = {}
    for info in (one.info for one in fleet.workers if one.living):
        known = worst.get(info.host)
        if info.host != here and (known is None or abs(info.skew_ms) > abs(known.skew_ms)):
            worst[info.host] = info
    return [
        finding(
            ERROR if abs(info.skew_ms) >= SKEW_ERROR_MS else WARNING, "clock", "doctor.clock_there",
            machine=machine, worker=info.worker, seconds=round(info.skew_ms / 1000, 1),
        )
        for machine, info in sorted(worst.items())
        if abs(info.skew_ms) >= SKEW_THERE_MS
    ]  # fmt: skip


def of_lost_broker(error: str) -> Finding:
    """That it cannot be used, with the remedy of its very cause where that is known."""
    return Finding(
        level=ERROR,
        check="broker",
        message=Message("doctor.broker_gone", {"error": error}),
        remedy=_broker_remedy(error),
    )


def of_lost_store(error: str) -> Finding:
    """That it cannot be used. Nobody starts a Redis that is there and refuses, or is the wrong one."""
    code = error.message.code if isinstance(error, Said) else ""
    remedy = "doctor.store_gone.remedy"
    if code in ("store.replica", "store.sentinel"):
        remedy = "doctor.replica.remedy"
    elif code == "store.loading":
        remedy = "doctor.store_loading.remedy"
    elif code not in ("", "store.nobody", "store.unknown_host", "store.silent"):
        remedy = "doctor.no_writes.remedy"
    message = Message("doctor.store_gone", {"error": error})
    return Finding(level=ERROR, check="store", message=message, remedy=Message(remedy))


def of_rights(error: str) -> list[Finding]:
    """``error``: what this user may not do at a broker that lets it connect; "" for nothing."""
    if not error:
        return []
    message = Message("doctor.broker_rights", {"error": error})
    return [Finding(level=ERROR, check="broker", message=message, remedy=_broker_remedy(error))]


def _broker_remedy(error: str) -> Message:
    """What stands beside the refusal, or beside those of its kind."""
    told = error.message if isinstance(error, Said) else Message("")
    for name in (told.code, told.code.partition(".")[0]):
        if f"{name}.remedy" in REFUSALS:
            return Message(f"{name}.remedy", told.params)
    return Message("doctor.broker_gone.remedy")


def of_loss(reach: Reach) -> list[Finding]:
    """What is true of the work while a part does not answer; nothing while all do."""
    if reach.whole:
        return []
    told = (connection.meanwhile(reach), connection.perhaps(reach))
    return [Finding(level=NOTE, check="work", message=message) for message in told if message is not None]


def of_disk(free: int, folder: str) -> Finding:
    """``free``: bytes."""
    level = ERROR if free < 200 * MIB else WARNING if free < GIB else OK
    made = finding(level, "disk", "doctor.disk", free=free // MIB, folder=folder)
    return made if level != OK else Finding(level=OK, check="disk", message=made.message)


def of_keys(name: str, *, plain: bool) -> Finding:
    """``name``: as the key store of this machine calls itself, "" for none; ``plain``: it does not encrypt."""
    if plain:
        return finding(WARNING, "keys", "doctor.plain_keys", name=name)
    return finding(OK, "keys", "doctor.keys", name=name) if name else finding(OK, "keys", "doctor.no_keys")


def of_leader(leader: str, unfinished: int, resigned: tuple[str, str] = ("", "")) -> Finding:
    """``unfinished``: tasks that a leader may have to look after; ``resigned``: who has just given the lead up, why."""
    if leader:
        return finding(OK, "leader", "doctor.leader", leader=leader)
    if resigned[0]:
        return finding(ERROR, "leader", "doctor.resigned", leader=resigned[0], why=resigned[1])
    if unfinished:
        return finding(ERROR, "leader", "doctor.no_leader", tasks=unfinished)
    return finding(NOTE, "leader", "doctor.no_leader_idle")


def of_flow(state: str, words: str, waiting: int) -> Finding:
    """Is work flowing: growth and what only a person can let go are warnings; what a server keeps back is mended where
    that server is told of.
    """
    if state in (flow.BLOCKED, flow.LOST):
        return Finding(level=WARNING, check="flow", message=Message("doctor.flow", {"what": words}))
    warn = state == flow.GROWING or (state in (flow.PERSON, flow.NO_WORKER) and waiting > 0)
    return finding(WARNING, "flow", "doctor.flow", what=words) if warn else _fine("flow", "doctor.flow", what=words)


def _fine(check: str, code: str, **params: Param) -> Finding:
    """As it should be, so without the remedy that its sentence has."""
    return Finding(level=OK, check=check, message=Message(code, params))


def of_workers(fleet: FleetNow, waiting: int, version: str) -> list[Finding]:
    """Who is alive, late, silent or gone, of another version, or lacks what it is configured to run."""
    found: list[Finding] = []
    if fleet.living:
        params: dict[str, Param] = {"workers": fleet.living, "machines": fleet.machines}
        code = "doctor.workers_together" if fleet.machines == 1 else "doctor.workers"
        found.append(finding(OK, "workers", code, busy=fleet.busy, slots=fleet.slots, **params))
    elif waiting:
        found.append(finding(ERROR, "workers", "doctor.no_workers", tasks=waiting))
    else:
        found.append(finding(NOTE, "workers", "doctor.no_workers_idle"))
    found += _of_missing([one for one in fleet.workers if one.missing])
    for one in fleet.workers:
        info = one.info
        if not one.living:
            continue
        if one.state == insight.CUT_OFF:
            why = info.link.error or "?"
            found.append(finding(WARNING, "workers", "doctor.cut_off", worker=info.worker, why=why))
        elif info.link.error and not info.link.lost_at:
            found.append(finding(WARNING, "workers", "doctor.link", worker=info.worker, why=info.link.error))
        if info.version != version:
            found.append(
                finding(
                    WARNING, "workers", "doctor.other_version", worker=info.worker, version=info.version, own=version
                )
            )
    return found + _of_lacks([one.info for one in fleet.workers if one.living])


def _of_lacks(workers: Sequence[WorkerInfo]) -> list[Finding]:
    """What they are configured to run and cannot, once for all who lack the same."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for info in workers:
        for what, why in sorted(info.lacks.items()):
            lacking.setdefault((what, why), []).append(info.worker)
    found: list[Finding] = []
    for (what, why), names in lacking.items():
        code = "doctor.no_sandbox" if why == ability.SANDBOX else "doctor.lacks"
        params: dict[str, Param] = {} if why == ability.SANDBOX else {"what": what, "why": why}
        params |= {"worker": names[0]} if len(names) == 1 else {"n": len(names), "names": _first(names)}
        found.append(finding(WARNING, "workers", code if len(names) == 1 else f"{code}_many", **params))
    return found


def _of_missing(missing: Sequence[WorkerNow]) -> list[Finding]:
    """One for each that held tasks; of those that are gone with nothing in hand, where there are many, one for all."""
    idle = [one.name for one in missing if not one.fates]
    found: list[Finding] = []
    for one in missing:
        if not one.fates and len(idle) > SILENT_EACH:
            continue
        code = {insight.LATE: "late", insight.SILENT: "silent"}.get(one.state, "gone")
        held = len(one.unconfirmed)
        free = "_free" if code != "gone" and not held else ""
        params: dict[str, Param] = {"worker": one.name, "seconds": one.silence_ms // 1000, "tasks": held}
        level = NOTE if code == "gone" and not one.fates else WARNING
        found.append(finding(level, "workers", f"doctor.{code}{free}", **params))
    if len(idle) > SILENT_EACH:
        found.append(finding(NOTE, "workers", "doctor.silent_idle", workers=len(idle), names=_first(idle)))
    return found


def _first(names: Sequence[str]) -> str:
    return ", ".join([*names[:SILENT_EACH], "…"] if len(names) > SILENT_EACH else names)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])
