"""What each setting says, for the page of settings; ``NAME`` and the like stand for what a person chooses."""

from __future__ import annotations

from collections.abc import Mapping

from services.i18n import N_

#: what the settings of each table are about, "" for the head of the file
TITLES: Mapping[str, str] = {
    "": N_("General"),
    "broker": N_("Message broker"),
    "store": N_("Store"),
    "retry": N_("Retries"),
    "lease": N_("Silent workers"),
    "confirm": N_("Acts on many tasks"),
    "retention": N_("How long tasks are kept"),
    "worker": N_("Workers"),
    "executors.rpa": N_("RPA flows"),
    "executors.http": N_("HTTP requests"),
    "executors.browser": N_("Browsers"),
    "artifacts": N_("Files and pictures"),
    "api": N_("REST interface"),
    "alerts": N_("Alerts"),
}

#: who reads a setting, and so when another value takes effect; a table stands for all that is in it
EFFECTS: Mapping[str, str] = {
    "profile": N_("when the window starts next"),
    "environment": N_("when the connection is opened next"),
    "read_only": N_("when the connection is opened next"),
    "language": N_("when the window starts next; what was chosen in the window goes before it"),
    "theme": N_("when the window starts next; what was chosen in the window goes before it"),
    "confirm": N_("when the window starts next"),
    "broker": N_("when the connection is opened next; a running worker keeps the one it has"),
    "store": N_("when the connection is opened next; a running worker keeps the one it has"),
    "worker": N_("when a worker starts next"),
    "worker.slots": N_("at once for the worker in this window, when they start next for others"),
    "executors": N_("when a worker starts next"),
    "artifacts": N_("when workers and the window start next"),
    "api": N_("when `api` starts next"),
    "alerts": N_("when the worker that leads starts next"),
    "retention": N_("when the worker that leads starts next"),
}
#: of all others
EFFECT = N_("when workers, the window and `api` start next")


#: what an open window goes by as soon as it is written
FOLLOWED = frozenset({"worker.slots"})


def effect(name: str) -> str:
    """When another value of a setting takes effect, source text."""
    return EFFECTS.get(name, EFFECTS.get(name.partition(".")[0], EFFECT))


#: by table and name; ``resources/docs/update.py`` writes the page of it
WORDS: Mapping[str, str] = {
    "profile": N_("which profile is opened when none is named; `local` is this machine's own engine"),
    "environment": N_(
        "of what is opened, where its profile says none: `production` asks earlier, any other word is a tag"
    ),
    "read_only": N_("nothing is changed; a profile or `--read-only` may set it, nothing takes it back"),
    "language": N_("`en` or `zh_CN`; empty follows the system"),
    "theme": N_("`system`, `dark` or `light`"),
    "time_zone": N_("of a fleet that has none yet (`schedule zone`); empty: this machine's"),
    "strict_shops": N_("refuse shops that nobody registered, instead of registering them with a warning"),
    "foreign_consumers": N_("others take tasks and record nothing: what vanished is held for a person"),
    "foreign_duplicates": N_(
        "a message of another program whose work waits or runs already: `run` in its turn (where its type may run"
        " twice), or `hold` it for a person; set it wherever workers run"
    ),
    "broker.url": N_("RabbitMQ; empty for this machine's own engine. Belongs together with `store.url`"),
    "broker.management_url": N_("of the management API, where it is not port 15672 of the broker's host"),
    "broker.insecure_tls": N_("`amqps://` without a check of the server's certificate: who stands between reads along"),
    "broker.lifo_lanes": N_("the youngest task of a priority goes first; embedded engine only"),
    "broker.profile": N_("`single`: classic queues with priorities; `cluster`: every queue is replicated"),
    "store.url": N_("Redis; empty for this machine's own engine. Belongs together with `broker.url`"),
    "store.insecure_tls": N_("`rediss://` without a check of the server's certificate"),
    "retry.base_seconds": N_("delay before the first retry; doubled for each further one"),
    "retry.cap_seconds": N_("longest delay"),
    "retry.max_retries": N_("of a type that says nothing itself"),
    "lease.seconds": N_("how long a silent worker keeps its claim"),
    "confirm.production": N_("in production: above so many tasks at once the window has their number typed"),
    "confirm.other": N_("the same elsewhere"),
    "retention.finished_days": N_("succeeded and cancelled tasks"),
    "retention.finished_count": N_("and at most so many of each; 0 for no limit"),
    "retention.tombstone_days": N_("how long a removed task is still known by its id"),
    "retention.open_days": N_("dead letters that nobody has decided about"),
    "retention.republished_days": N_("dead letters that were republished"),
    "retention.archived_days": N_("dead letters put away"),
    "retention.ignored_days": N_("dead letters hidden"),
    "worker.slots": N_("tasks at once"),
    "worker.auto_slots": N_(
        "`auto` or `auto:2-16`: the number of slots follows what waits and what the machine has left"
    ),
    "worker.refuse_types": N_("task types that this worker does not start"),
    "worker.lanes": N_("lanes that it takes"),
    "worker.strict_types": N_("a task of a type that nobody has defined is a dead letter at once"),
    "worker.name": N_("empty: made of host and process"),
    "worker.node": N_(
        "name of this machine, where the profiles of its shops live; empty: made once and kept beside `config.toml`"
    ),
    "worker.handlers": N_("Python modules with handlers"),
    "worker.installed_handlers": N_("also those of packages that have entry points `fleetdeck.handlers`"),
    "worker.grace_seconds": N_("how long running tasks may go on when it is told to end"),
    "worker.lane_slots": N_(
        'by lane: slots kept for it, and how many it may use: `"1"`, `"1-3"`, `"-3"`; see [slots](slots.md)'
    ),
    "worker.preemptions": N_("how often a task of a preemptible type may be stopped for an urgent one; 0 never"),
    "executors.rpa.command": N_("what starts a flow; placeholders in [executors](executors.md)"),
    "executors.rpa.commands": N_("of task types that have one of their own"),
    "executors.rpa.environment": N_("more variables of a flow"),
    "executors.rpa.pass_environment": N_("more names of this process's own that a flow gets, with `*`"),
    "executors.rpa.cwd": N_("where it starts; empty: in the attempt's own folder"),
    "executors.rpa.encoding": N_("of what flows print; what is not in it is tried as GB18030"),
    "executors.rpa.browser_types": N_("task types whose flows attach to the shop's browser at `debug_port`"),
    "executors.rpa.exit_codes": N_('kind of failure by exit code: `{ 10 = "login_expired" }`'),
    "executors.rpa.log_lines": N_("of one attempt that are kept: the first ones, and the newest 500"),
    "executors.rpa.log_kb": N_("of one attempt that are kept"),
    "executors.rpa.kill_grace_seconds": N_("at the time-out: between asking the process tree to end and ending it"),
    "executors.rpa.cancel_grace_seconds": N_("the same when it is cancelled"),
    "api.requests_per_minute": N_("of each token, and of all who ask without one together"),
    "api.streams": N_("streams of events at once"),
    "alerts.commands": N_(
        'what rules of alerts may run on this machine, by name: `{ scale_out = ["/opt/scale.sh", "2"] }`'
    ),
    "alerts.command_seconds": N_("a command that takes longer is ended"),
    "executors.http.hosts": N_("names that may be private: `erp.local`, `*.corp.example`"),
    "executors.http.private_hosts": N_("any host may be private"),
    "executors.http.payload_urls": N_(
        "types without a request of their own take url, method, headers and body of the payload"
    ),
    "executors.http.redirects": N_("how many are followed"),
    "executors.http.response_mb": N_("a larger answer is refused"),
    "executors.browser.path": N_("of Chromium; empty: looks for one"),
    "executors.browser.headless": N_("without a window"),
    "executors.browser.arguments": N_("more words for Chromium's command line"),
    "executors.browser.profiles": N_("folder of the shops' profiles; empty: beside `config.toml`"),
    "executors.browser.max_total": N_("Chromium processes at once"),
    "executors.browser.min_idle": N_("so many stay open however long nothing needs them"),
    "executors.browser.idle_seconds": N_("a browser that nothing needs is closed after it"),
    "executors.browser.acquire_seconds": N_(
        "a task waits so long for a browser before it goes back to the queue, uncounted"
    ),
    "executors.browser.max_age_seconds": N_("an older browser is replaced after its task"),
    "executors.browser.max_uses": N_("so is one after so many tasks"),
    "executors.browser.max_memory_mb": N_("and one that takes more"),
    "executors.browser.max_contexts": N_("light contexts at once in the shared browser"),
    "executors.browser.step_seconds": N_("time-out of a step that names none"),
    "executors.browser.cancel_grace_seconds": N_("how long a cancelled step may take to end"),
    "executors.browser.download_mb": N_("largest download"),
    "executors.browser.upload_folder": N_("files that `upload` may take; empty: none"),
    "executors.browser.allowed_schemes": N_("of addresses"),
    "executors.browser.login_pages": N_("regular expression of addresses that ask to log in"),
    "executors.browser.captchas": N_("selector of what asks for a person"),
    "executors.browser.hosts": N_("names that may be private, beside those of `sites`: `erp.local`, `*.corp`"),
    "executors.browser.private_hosts": N_("any host may be private"),
    "executors.browser.sites": N_("by platform: what paths such as `/orders` are taken on"),
    "executors.browser.proxy": N_("of all shops: http, https or socks5"),
    "executors.browser.user_agent": N_("empty: Chromium's own"),
    "executors.browser.viewport": N_("width and height of the page"),
    "executors.browser.locale": N_("language that pages are asked for"),
    "executors.browser.time_zone": N_("empty: this machine's"),
    "artifacts.place": N_("a folder, `s3://bucket/folder`, or `off`; empty: a folder beside `config.toml`"),
    "artifacts.file_mb": N_("largest file"),
    "artifacts.task_mb": N_("all files of a task"),
    "artifacts.attempt_files": N_("files of an attempt"),
    "artifacts.free_mb": N_("so much of the disk is left to others"),
    "profiles.NAME.broker": N_(
        "RabbitMQ: `amqp://` or `amqps://`, see [servers](servers.md); Pulsar: `pulsar://`, see [Pulsar](pulsar.md)"
    ),
    "profiles.NAME.redis": N_("`redis://` or `rediss://`"),
    "profiles.NAME.management": N_("of the management API, where it is not port 15672 of the broker's host"),
    "profiles.NAME.broker_profile": N_("`single` or `cluster`; empty: as `broker.profile` says"),
    "profiles.NAME.insecure_tls": N_("of its broker and store, as their settings of this name"),
    "profiles.NAME.environment": N_("`production` is outlined and asks from 50 tasks on; any other word is a tag"),
    "profiles.NAME.read_only": N_("nothing is changed through it"),
    'executors.browser.shops."PLATFORM:SHOP".proxy': N_("address as that of the broker, for `http` or `socks5`"),
    'executors.browser.shops."PLATFORM:SHOP".user_agent': N_("empty: as for all shops; so with the following"),
    'executors.browser.shops."PLATFORM:SHOP".viewport': N_("width and height of the page"),
    'executors.browser.shops."PLATFORM:SHOP".locale': N_("language that pages are asked for"),
    'executors.browser.shops."PLATFORM:SHOP".time_zone': N_("of its pages"),
    "foreign_queues.NAME.task_type": N_("which task type its messages are"),
    "foreign_queues.NAME.platform": N_("of which platform, such as `pdd` or `{shop.platform}`"),
    "foreign_queues.NAME.shop_id": N_("such as `{shop}` or `{store.id}`"),
    "foreign_queues.NAME.payload": N_("one field that is an object; empty: the whole message"),
    "foreign_queues.NAME.priority": N_("empty: that of the type"),
    "foreign_queues.NAME.task_id": N_("empty: made of the message's id, or a new one where it has none"),
    "executors.http.requests.TYPE.url": N_(
        "with `{{payload.x}}`, `{{secret.name}}`, `{{shop_id}}` and the like filled in"
    ),
    "executors.http.requests.TYPE.method": N_("`GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`"),
    "executors.http.requests.TYPE.headers": N_("filled in like the address"),
    "executors.http.requests.TYPE.body": N_("a text, or a table that goes as JSON"),
    "executors.http.requests.TYPE.expect": N_("statuses of success, empty for 200 to 299"),
}
