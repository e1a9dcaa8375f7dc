"""Why something cannot be done, by code: the sentences of errors that reach a window."""

from __future__ import annotations

from services.domain.text.sentences import N_, NN_

#: that nobody knows whether a work was done, so that it asks for a reason
UNSURE = "create.unsure"
_LOGIN = N_("Correct user and password in broker.url; where nobody knows it: rabbitmqctl change_password USER")
_SLOW = N_("Look whether the server is frozen or overloaded, and at firewalls on the way.")
_RIGHTS = N_("Grant them: rabbitmqctl set_permissions -p {vhost} {user} '.*' '.*' '.*'")
REFUSALS: dict[str, str] = {
    "handover.bad_time": N_("at takes a time of day HH:MM between 00:00 and 23:59, not {value}"),
    "handover.bad_times": N_("at takes 1 to {most} times of day, each once"),
    "handover.bad_to": N_("the name of a channel or of a group of channels, not {value}"),
    "window.no_qt": N_("the window needs Qt, which cannot be loaded here ({error}); everything else works without"),
    "serve.plain": N_("other machines reach {host}: give --cert and --key, or --plain-text behind a proxy with TLS"),
    "serve.open_loopback": N_("--open-loopback is for the loopback address only"),
    "serve.host_name": N_("--host-name takes a name such as fleet.example, not {value}"),
    "serve.host": N_("--host takes an address such as 127.0.0.1, not {value}"),
    "serve.key": N_("--key goes with --cert"),
    "serve.cert": N_("--cert or --key cannot be used: {error}"),
    "serve.in_use": N_("another program listens at {host} on port {port}: end that, or take another --port"),
    "serve.taken": N_("--host {host} --port {port} cannot be listened on: {error}"),
    "path.not_written": N_("{path} cannot be written: {error}"),
    "audit.before": N_("--before takes `next` of the page before, not {value}"),
    "sample.no_storefront": N_("the sample storefront did not start; see whether a firewall forbids loopback"),
    "sample.shops": N_("--shops must be 1 to {most}"),
    "sample.rate": N_("--rate must be a number above 0 and at most 1000"),
    "sample.seconds": N_("--seconds must be above 0 and at most a day; leave it out to go on until you end it"),
    "sample.size": N_("--size must be between 960x540 and 8000x5000, not {value}"),
    "sample.no_events": N_("the event stream does not answer"),
    "serve.not_begun": N_("the server did not begin; --verbose says why"),
    "role.read_only": N_(
        "The connection {profile} is read-only: nothing is changed through it. To act, open it without --read-only, and"
        " without read-only in its profile."
    ),
    "work.read_only": N_(
        "The connection {profile} is read-only: no worker runs through it. To work, open it without --read-only, and"
        " without read-only in its profile."
    ),
    "role.needed": N_("{who} is {role}; this needs the role {needed}. Ask an admin to change it."),
    "role.unknown": N_("there is no role {role}; there are {known}"),
    "role.name": N_("a person is written account@host, as `role list` shows them, not {who}"),
    "role.note": N_("a note may have {most} characters, not {count}"),
    "role.no_entry": N_("{who} has no role of their own; everybody without one is {default}"),
    "role.default": N_("everybody without a role of their own can be {known}, not {role}"),
    "role.last_admin": N_("{who} is the only admin; make somebody else admin first"),
    "audit.note": N_("say why in 1 to {most} characters, not {count}"),
    "audit.nothing_wrong": N_("nothing is wrong with the audit that nobody has accepted"),
    "token.name": N_("a token is called by 1 to 64 of A-Z a-z 0-9 . _ -, not {name}"),
    "token.taken": N_("{name} is the name of another token already; revoke that first, or choose another name"),
    "token.unknown": N_("{name} is no name of a token; see `token list`"),
    "token.lasts": N_("a token lasts up to {days} days, or for ever"),
    "token.many": N_("there are {most} tokens already; revoke those that nobody uses"),
    "token.over": N_("{name} was revoked as a token or has ended. Ask an admin for another one."),
    "settings.pair": N_("--broker and --redis belong together: add {missing}"),
    "settings.both": N_("broker.url and store.url belong together: set both, or neither to run on this machine"),
    "settings.lifo": N_(
        "broker.lifo_lanes: {broker} hands out the oldest message of a priority first and cannot do otherwise; last in,"
        " first out is there on this machine's own engine only. Take the setting out, or use the profile local"
    ),
    "settings.refused": N_("{file} or FLEETDECK_… variables: {why}"),
    "settings.must": N_("{field} must be {wanted}"),
    "settings.range": N_("{low} to {high}"),
    "must.printed": N_("at most {most} characters that can be printed, or empty"),
    "must.seen": N_("up to {most} characters that can be seen"),
    "must.plain": N_("up to {most} characters that can be seen, without / and \\"),
    "must.plain_name": N_("a name of 1 to {most} characters that can be seen"),
    "must.slots": N_("auto or auto:LEAST-MOST, such as auto:2-16"),
    "must.types": N_("names of task types"),
    "must.node": N_("1 to 64 of A-Z a-z 0-9 . _ -"),
    "must.lanes": N_("some of high, normal and low"),
    "must.base": N_("at least 1 and not above cap_seconds"),
    "must.command": N_("the words of a command, the program first"),
    "must.places": N_("words in which only {known} are filled in; {wrong} is none of these"),
    "must.one_of": N_("one of {known}"),
    "must.queue": N_("the name of another program's queue, none of Fleetdeck's own"),
    "must.language": N_("en, zh_CN or empty"),
    "must.theme": N_("system, dark or light"),
    "must.zone": N_("a name such as Asia/Shanghai"),
    "must.days": N_("0 (for ever) or 0.1 to 3650"),
    "must.count": N_("0 (any) or 1000 to {most}"),
    "must.up_to": N_("0 (for no limit) to {most}"),
    "must.encoding": N_("a name such as utf-8 or gbk"),
    "must.exit_codes": N_("of exit codes other than 0"),
    "must.url": N_("an address that begins with http:// or https://"),
    "must.place": N_("a folder, s3://bucket/folder, off, or empty"),
    "must.place_near": N_("a folder, s3://bucket/folder, off, or empty; {near} is probably meant"),
    "must.screen": N_("WIDTHxHEIGHT, such as 1366x768"),
    "must.proxy": N_("http://, https:// or socks5:// with host and port"),
    "must.pattern": N_("a regular expression"),
    "must.lane_names": N_("of one of the lanes high, normal and low"),
    "must.share": N_("LEAST, LEAST-MOST or -MOST, such as 1, 1-3 or -3"),
    "must.fewer": N_("less: {why}"),
    "lanes.share": N_("must be LEAST, LEAST-MOST or -MOST (1, 1-3, -3), at most {most}, not {text}"),
    "lanes.least": N_("keeps {least} slots for a lane that may use {most}"),
    "lanes.slots": N_("slots must be a whole number, 1 to {most}, not {text}"),
    "lanes.word": N_("{text} is not LANE=LEAST-MOST with a lane of high, normal and low"),
    "lanes.of": N_("{lane} {why}"),
    "lanes.kept": N_("{kept} slots are kept for lanes, and there are {slots}"),
    "mapping.name": N_("a name, or a field of the body such as {shop}"),
    "mapping.payload": N_("one field of the body such as {args}, or nothing for the whole body"),
    "mapping.priority": N_("high, normal, low, 1 to 10, or a field of the body"),
    "settings.control": N_("{field} holds a control character; write it without"),
    "settings.kind": N_("{field} must be {wanted}, not {given}"),
    "settings.lacks": N_("{field} is missing"),
    "settings.home": N_(
        "{field} is not set here: the variable FLEETDECK_HOME names the folder, in which this file lies"
    ),
    "settings.fault": N_("{field}: {what}"),
    "settings.unknown": N_("there is no setting {field}; known there: {known}"),
    "settings.unknown_near": N_("there is no setting {field}; did you mean {near}?"),
    "settings.profile": N_("there is no profile {name}; known: {known}"),
    "settings.levels": N_("{name}… has {count} levels; no setting lies so deep: unset it"),
    "settings.exclude": N_("{one} and {other} exclude each other: unset one of them"),
    "home.unseen": N_("{folder} cannot be looked at: {why}; let FLEETDECK_HOME name a folder that can be written"),
    "home.unusable": N_("{folder} cannot be used: {why}; let FLEETDECK_HOME name a folder that can be written"),
    "home.no_right": N_("{folder}: no right to write there; let FLEETDECK_HOME name a folder that can be written"),
    "home.no_folder": N_("{folder} is not a folder; let FLEETDECK_HOME name a folder that can be written"),
    "config.large": N_("{path} has more than {most} bytes, which no configuration needs. Look what it is"),
    "config.not_text": N_("{path}, line {line}: not UTF-8 text; save it again as UTF-8"),
    "config.long_key": N_("{path}, line {line}: a key of more than {most} parts; correct it"),
    "config.not_toml": N_("{path} is not valid TOML: {why}"),
    "config.deep": N_("its values are nested too deep"),
    "config.unreadable": N_("{path} cannot be read: {why}; correct or remove it"),
    "handlers.broken": N_("the handler module {module} cannot be imported: {error}"),
    "handlers.lost": N_(
        "the handler module {module} cannot be imported: {error}; put it beside main.py, or its folder on PYTHONPATH"
    ),
    "handlers.name": N_(
        "{module} does not name a module; write it as `import` does: my_handlers, without .py, folder or function"
    ),
    "handlers.none": N_("the module {module} has no function with @task_handler"),
    "settings.changed": N_(
        "{file} was changed meanwhile by somebody else; Retry reads it again and keeps what was typed here"
    ),
    "settings.by_hand": N_("{field} is written in {file} in a way that only a person can change; open the file"),
    "settings.dots": N_("{field} holds dots in place of a secret; write the secret itself"),
    "settings.protected": N_(
        "{file} is read-only, so nothing was changed in it; allow writing to it (its permissions), then save again"
    ),
    "settings.unwritable": N_("{file} cannot be written: {why}"),
    "role.contested": N_("somebody else changes roles at this moment; try again"),
    "store.closed": N_("the store {address} is closed"),
    "store.refuses_user": N_("{address} refuses user or password; check the address of the store"),
    "store.nobody": N_("Nothing listens at {address}: start Redis or correct the address of the store."),
    "store.no_socket": N_(
        "There is no socket {path}: start Redis with `unixsocket {path}`, or correct the address of the store."
    ),
    "store.socket_barred": N_(
        "This account may not use the socket {path}: add it to the group of Redis and set `unixsocketperm 770` there."
    ),
    "store.unknown_host": N_("The host name of {address} is unknown: check the address of the store and the network."),
    "store.silent": N_("{address} does not answer: {error}"),
    "store.loading": N_("{address} has just started and still reads its data; it answers by itself when it has them"),
    "store.full": N_(
        "{address} is out of memory and refuses writes; nothing was changed. Raise maxmemory (policy"
        " noeviction) or remove old records"
    ),
    "store.sentinel": N_(
        "{address} is a Sentinel, which keeps no data; give the address of the Redis master that it watches"
    ),
    "store.cluster": N_(
        "{address} is a Redis Cluster of several shards, and all of Fleetdeck's data belong together;"
        " give the address of a Redis without shards, or of a cluster with one"
    ),
    "store.replica": N_("{address} is a replica and takes no writes; give the address of its master"),
    "store.not_permitted": N_(
        "{address} does not let this user do what is needed ({error}); fleetdeck doctor names the commands"
    ),
    "address.sentinel": N_(
        "{field}: Sentinel is not supported; give the address of the Redis master itself, such as {like}"
    ),
    "address.one_host": N_("{field} names several hosts; Redis is one server here, such as {like}"),
    "store.newer": N_(
        "The data in {place} were written by a newer program (version {found} of them, this one writes {known}): here"
        " everything can be looked at and nothing changed. To act, update Fleetdeck on this machine."
    ),
    "store.newer_named": N_(
        "The data in {place} were written by a newer program (version {found} of them, this one writes {known}): here"
        " everything can be looked at and nothing changed. To act, update Fleetdeck on this machine to at least"
        " {program}."
    ),
    "store.other_fleet": N_(
        "{address} leads to the data of another fleet: nothing is recorded there, and work goes on when it leads back."
        " If those data are meant, start this program again"
    ),
    "store.no_writes": N_("{address} refuses writes for now: {error}"),
    "store.read_only": N_("{address} was opened read-only; nothing is written to it"),
    "store.unreadable": N_(
        "{address}: {place} cannot be read and stands in the way; `doctor` says what is wrong, `repair` sets it aside"
    ),
    "store.no_database": N_("{address} has no database of this number: end the address of the store with a lower one"),
    "store.no_rights": N_("{address} does not let this user use {what}: permit it by ACL SETUSER USER {rights}"),
    "store.refuses": N_("{address} refuses: {error}"),
    "zone.unreadable": N_(
        "the time zone of the fleet cannot be read, so nobody can say what its days and hours mean; set it again:"
        " `schedule zone ZONE`"
    ),
    "past.unreadable": N_("the record of the past in {path} cannot be read: {why}"),
    "file.silent": N_("the local database does not answer: {error}"),
    "file.held": N_(
        "the local database does not answer: process {pid} ({name}) has been writing to it for half a minute; wait,"
        " or look at that process and end it"
    ),
    "file.held_frozen": N_(
        "the local database does not answer: process {pid} ({name}) writes to it and is frozen; let it go on"
        " (kill -CONT {pid}), or end it"
    ),
    "file.held_unknown": N_(
        "the local database does not answer: another process has been writing to it for half a minute; look which"
        " Fleetdeck programs run on this machine, and end the frozen one"
    ),
    "file.waits": N_(
        "process {pid} ({name}) keeps the local database for itself; wait, or look at that process and end it"
    ),
    "file.waits_frozen": N_(
        "process {pid} ({name}) keeps the local database for itself and is frozen; let it go on (kill -CONT {pid}), or"
        " end it"
    ),
    "file.waits_unknown": N_(
        "another process keeps the local database for itself; look which Fleetdeck programs run on this machine, and"
        " end the frozen one"
    ),
    "file.full": N_("the disk of the local database is full; make room there, and it goes on by itself"),
    "file.unwritten": N_(
        "the disk of the local database takes no writes ({error}): it may have errors or be read-only; look at it, and"
        " everything goes on by itself once it takes them"
    ),
    "file.moved": N_(
        "{path} was moved or removed while it is in use, so nothing more is written; put it back and it goes on, or"
        " end every Fleetdeck program on this machine and put a backup there"
    ),
    "file.replaced": N_(
        "another file was put in the place of {path} while it is in use, so nothing more is written; put the first one"
        " back and it goes on, or end every Fleetdeck program on this machine before the other is used"
    ),
    "file.damaged": N_(
        "{path} is damaged or no database ({error}); put it back from a backup, or move both it and {mark} away to"
        " begin with an empty one"
    ),
    "file.no_place": N_(
        "{path} cannot be looked at where nothing can be written beside it; give the right to write in its folder, or"
        " let FLEETDECK_HOME name a copy of it"
    ),
    "file.folder": N_("{path} is a folder, where the local database should be; move it away"),
    "file.no_file": N_("{path} is a pipe or a device, where the local database should be; move it away"),
    "file.gone": N_(
        "{path} is gone, though a database was there; put it back from a backup, or remove {mark} to begin with an"
        " empty one"
    ),
    "file.emptied": N_(
        "{path} is empty, though a database was there; put it back from a backup, or remove both it and {mark} to begin"
        " with an empty one"
    ),
    "file.no_right": N_("{path} may not be read and written by this user; give the right back, or log in as its owner"),
    "file.bad_meta": N_("{path} is damaged: it does not say what it is ({what}); restore a backup"),
    "file.lacks": N_("{path} is damaged: something is missing ({what}); restore a backup"),
    "file.cannot_keep": N_("the store cannot keep this: {error}"),
    "file.cannot_open": N_("{path} cannot be opened: {error}"),
    "file.not_there": N_(
        "there is no {path} yet, and a read-only connection makes none; open it once with a connection that may change"
        " things"
    ),
    "file.too_old": N_(
        "{path} was written by an older program, and a read-only connection does not change it; open it once with a"
        " connection that may change things"
    ),
    "file.read_only": N_("{path} was opened read-only; nothing is written to it"),
    "file.long": N_(
        "the path of the local database is {n} bytes long, and SQLite opens none above {most}; choose a folder with"
        " a shorter path (FLEETDECK_HOME): {path}"
    ),
    "file.share": N_("{path} is a network share; choose a folder on this machine (FLEETDECK_HOME)"),
    "file.network": N_("{path} is on a network folder ({kind}); choose one on this machine (FLEETDECK_HOME)"),
    "file.too_new": N_(
        "{path} was written by a newer program (schema {found}, this one knows {known}), and this one cannot even"
        " read it; update Fleetdeck on this machine"
    ),
    "broker.lacks": N_(
        "the broker lacks {what}, and a read-only connection makes nothing; open it once with a connection that may"
        " change things, or look whether the virtual host is the right one"
    ),
    "broker.url_unread": N_(
        "the broker address cannot be read; write special characters in the user name, password or vhost as %XX"
        " (a slash is %2F, an @ is %40)"
    ),
    "broker.url_scheme": N_("the broker address must begin with amqp:// or amqps://"),
    "broker.url_host": N_(
        "the broker address has no readable host; write special characters in the user name, password or vhost as %XX"
        " (a slash is %2F, an @ is %40)"
    ),
    "broker.url_options": N_("the broker address has unknown options {names}; known are {known}"),
    "broker.url_heartbeat": N_("the broker address must give heartbeat as a whole number of seconds"),
    "broker.management_url": N_("the management address must look like http://host:15672"),
    "broker.not_looked": N_("RabbitMQ refused to look at {name}: {error}"),
    "broker.not_deleted": N_("RabbitMQ refused to delete {name}: {error}"),
    "broker.not_ended": N_("RabbitMQ refused to end the notices of {name}: {error}"),
    "broker.not_declared": N_("RabbitMQ refused to declare {name}: {error}"),
    "broker.may_not_make": N_(
        "Queues {names} are missing and user {user} may not create them: that takes the permissions configure, write"
        " and read there, so grant them or start Fleetdeck once with an account that has them ({error})."
    ),
    "broker.other_shop": N_("Queue {name} takes {other}, not {key}: another platform has a shop of this id"),
    "broker.exchange_differs": N_(
        "Exchange {name} exists with another type than {kind}; nothing was changed. Broker: {error}"
    ),
    "broker.not_bound": N_("Queue {name} cannot be bound to {exchange}; nothing was changed. Broker: {error}"),
    "broker.queue_differs": N_(
        "Queue {name} exists with other arguments; nothing was changed. Fleetdeck needs {needed}, the broker has"
        " {theirs}. Broker: {error}. Delete or rename the queue when it is empty, or use another vhost."
    ),
    "broker.queue_profile": N_(
        "Queue {name} exists with other arguments; nothing was changed. Fleetdeck needs {needed}, the broker has"
        " {theirs}. Broker: {error}. It was made with broker.profile = {found}, here it is {wanted}. Delete or rename"
        " the queue when it is empty, or use another vhost."
    ),
    "broker.queue_unread": N_(
        "Queue {name} exists with other arguments; nothing was changed. Fleetdeck needs {needed}; what the broker has"
        " is not readable without the management API. Broker: {error}. Delete or rename the queue when it is empty, or"
        " use another vhost."
    ),
    "broker.results": NN_(
        "the broker has not confirmed {count} result: {error}",
        "the broker has not confirmed {count} results: {error}",
        by="count",
    ),
    "artifact.off": N_("this worker keeps no files: artifacts.place is off"),
    "artifact.not_kept": N_("{file} could not be kept: {why}"),
    "artifact.late": N_("some files were not kept: the place did not take them within {seconds} s"),
    "artifact.looked": N_("only the first {most} files were looked at"),
    "artifact.outside": N_(
        "{file} is left out: it is no file of its own in the folder of the attempt, which FLEETDECK_FILES names"
    ),
    "artifact.more": NN_(
        "{count} more file is kept than are named here", "{count} more files are kept than are named here", by="count"
    ),
    "artifact.no_place": N_("{file} has no place in {place}"),
    "artifact.changed": N_("{file} changed while it was being kept"),
    "artifact.packages": N_('{place} needs more packages: pip install "fleetdeck[s3]" ({why})'),
    "artifact.unread": N_("{file} cannot be read: {why}"),
    "artifact.unread_there": N_("{file} cannot be read in {place}: {why}"),
    "artifact.unlisted": N_("the files cannot be listed in {place}: {why}"),
    "artifact.unremoved": N_("the files of a task cannot be removed in {place}: {why}"),
    "artifact.larger": N_("{file} is larger than {size}"),
    "artifact.many": N_("{file} is left out: the attempt has {count} files already"),
    "artifact.full": N_("{file} is left out: the files of the task have {size} already"),
    "artifact.same_name": N_("{file} is left out: there are too many of that name"),
    "artifact.not_kept_in": N_("{file} could not be kept in {place}: {why}"),
    "artifact.elsewhere": N_("{file} is not in {place}: it lies where its worker keeps its files"),
    "artifact.not_removed": N_("{file} cannot be removed: {why}"),
    "artifact.disk": N_("{file} is left out: the disk of {place} is nearly full"),
    "artifact.disk_room": N_("{file} is left out: it would fill the disk of {place}"),
    "batch.items": N_("must be a list of 1 to {most} objects"),
    "batch.item": N_("must be an object with {known} and nothing else"),
    "batch.missing": N_("is missing, here and beside items"),
    "batch.payload": N_("must be an object"),
    "batch.batch": N_("a batch cannot make batches"),
    "json.long": N_("it has {size} characters; up to {most} are read"),
    "json.bom": N_("it begins with a byte order mark (BOM); leave that out"),
    "json.deep": N_("it is nested too deeply"),
    "json.twice": N_("the key {name} stands twice in one object"),
    "json.constant": N_("{word} is not a JSON number"),
    "json.digits": N_("a number of {digits} digits is too large; write it as a text"),
    "json.large": N_("the number {number} is too large"),
    "api.twice": N_("{key} stands twice"),
    "api.rule": N_("say failures, of, cooldown_s or max_cooldown_s"),
    "api.limits": N_("say concurrency, per_minute or both"),
    "api.comma": N_("a shop has no comma; name each by itself"),
    "api.try": N_("give a reason, or say undo (not both)"),
    "api.limit_name": N_("the name of a limit has no equals sign"),
    "api.not_json": N_("payload is not JSON: {error}"),
    "broker.silent": N_("RabbitMQ at {place} does not answer ({error})."),
    "broker.late": N_("RabbitMQ at {place} did not answer within {seconds} s: check the address and the server."),
    "broker.user": N_(
        "RabbitMQ at {place} refused user {user}: check the user name and password in the broker address."
    ),
    "broker.no_password": N_(
        "RabbitMQ at {place} wants a password of user {user} and was given none: enter it in the broker address,"
        " behind the user name and a colon."
    ),
    # what helps: doctor says it of a broker that cannot be used
    "broker.nobody.remedy": N_("Start RabbitMQ on that machine, or correct host and port in broker.url."),
    "broker.unknown_host.remedy": N_("Correct the host in broker.url, or what tells this machine its address (DNS)."),
    "broker.slow.remedy": _SLOW,
    "broker.late.remedy": _SLOW,
    "broker.user.remedy": _LOGIN,
    "broker.no_password.remedy": _LOGIN,
    "broker.no_vhost.remedy": N_(
        "Correct the end of broker.url, or make it anew (its messages are gone; who leads sends them again):"
        " rabbitmqctl add_vhost {vhost}, then rabbitmqctl set_permissions -p {vhost} USER '.*' '.*' '.*'"
    ),
    "broker.vhost_refused.remedy": _RIGHTS,
    "broker.no_rights.remedy": _RIGHTS,
    "broker.not_amqp.remedy": N_("Correct scheme and port in broker.url: amqp:// 5672, amqps:// 5671."),
    "tls.remedy": N_("Correct the scheme, the name or the certificates (?cacertfile=) in broker.url."),
    "broker.no_vhost": N_("RabbitMQ at {place} has no vhost {vhost}: create it or correct the broker address."),
    "broker.vhost_refused": N_("User {user} may not use vhost {vhost} of RabbitMQ at {place}: grant the permission."),
    "broker.no_rights": N_(
        "User {user} may connect to vhost {vhost} of RabbitMQ at {place} and not work there: grant it the rights, as by"
        " rabbitmqctl set_permissions -p {vhost} {user} '.*' '.*' '.*'"
    ),
    "broker.not_amqp": N_(
        "What listens at {place} does not speak AMQP 0-9-1: check the port (5672, with TLS 5671, then amqps://)."
    ),
    "tls.name": N_(
        "The certificate at {place} is for another name ({why}): write the name that stands in it into the address."
    ),
    "tls.name_given": N_(
        "The certificate at {place} is for another name ({why}): write the name that stands in it into the address, or"
        " give it as ?{option}=NAME."
    ),
    "tls.expired": N_(
        "The certificate at {place} does not hold today ({why}): renew it on the server, and check the clocks of both"
        " machines."
    ),
    "tls.strict": N_(
        "The authority behind the certificate at {place} is not made as Python 3.13 asks ({why}): make its certificate"
        " again with keyUsage=critical,keyCertSign,cRLSign and the identifiers of its keys."
    ),
    "tls.unknown": N_(
        "The certificate at {place} is not trusted ({why}): name the file of its authority by ?{ca}=FILE."
    ),
    "tls.other": N_(
        "The certificate at {place} is not from the authority in {file} ({why}): name the right file by ?{ca}=FILE."
    ),
    "tls.client": N_(
        "{place} wants a certificate from this side and refuses what it got ({why}): name one that its authority has"
        " signed by ?{cert}=FILE&{key}=FILE."
    ),
    "tls.plain": N_(
        "What listens at {place} does not speak TLS ({why}): take the server's port for TLS, or write {plain} in place"
        " of {secure}."
    ),
    "tls.secure": N_(
        "{place} closed the connection before it answered: if it speaks TLS, write {secure} in place of {plain}; else"
        " look at its log."
    ),
    "tls.versions": N_(
        "{place} and this machine have no version of TLS in common ({why}): let the server offer TLS 1.2 or newer."
    ),
    "tls.broken": N_(
        "TLS with {place} failed ({why}): look at the server's log; if it speaks no TLS there, write {plain} in place"
        " of {secure}; if it wants a certificate from this side, name one by ?{cert}=FILE&{key}=FILE."
    ),
    "tls.hung_up": N_("the connection was closed"),
    "tls.file": N_("{option} names {file}, which cannot be read ({why}); correct the path, or its rights"),
    "tls.no_authority": N_("{option} names {file}, which holds no certificate in PEM form; name the authority's file"),
    "tls.cert_missing": N_("{key} is given without {cert}; name the file of the certificate too"),
    "tls.locked": N_("{option}: the key in {file} has a password; name one without (openssl pkey -in FILE -out NEW)"),
    "tls.no_pair": N_("the key in {key} does not belong to the certificate in {cert}; name the two that do"),
    "tls.no_key": N_("{file} cannot be used by {cert} and {key}; both must be in PEM form, and the key be named"),
    "broker.unknown_host": N_("The host name {host} is unknown: check the broker address and the network."),
    "broker.unanswered": N_("The broker at {place} does not answer ({error}): start it, or correct its address."),
    "broker.needs_package": N_(
        "Addresses with {scheme}:// need the package {package}, which is not installed here: {command}"
    ),
    "broker.nobody": N_("Nothing listens at {place}: start RabbitMQ or correct the broker address."),
    "broker.slow": N_(
        "RabbitMQ at {place} did not answer in time: check the address, the firewall and the server's load."
    ),
    "broker.closed": N_("The connection to the broker has been closed by this program."),
    "broker.lost": N_("Connection to RabbitMQ at {place} lost: {error}."),
    "broker.management_proxy": N_(
        "{place} answers {answer}: the proxy there does not reach RabbitMQ. Start RabbitMQ with its plug-in"
        " rabbitmq_management, correct the proxy, or write RabbitMQ's own address."
    ),
    "broker.management_fails": N_(
        "The management interface at {place} fails (it answers {answer}): look into the log of what runs there; left"
        " empty, only unacknowledged messages of our own workers are known."
    ),
    "broker.management_other": N_(
        "What answers at {place} is no management interface of RabbitMQ (it answers {answer}): correct the management"
        " address, or leave it empty; then only unacknowledged messages of our own workers are known."
    ),
    "broker.management_broken": N_(
        "What {place} answers breaks off, or is longer than {most} MB: look at the proxy before it, or write RabbitMQ's"
        " own address."
    ),
    "broker.admin_silent": N_(
        "The admin interface at {place} tells no numbers ({error}): correct the address, or the token in it, or leave"
        " it empty; then nobody sees how many tasks wait in Pulsar."
    ),
    "broker.management_user": N_(
        "The management interface at {place} refuses this user: give it the tag monitoring and the vhost, or write"
        " another user into the management address."
    ),
    "broker.management_silent": N_(
        "Nobody answers at {place} ({error}): switch the plug-in rabbitmq_management on, or correct the management"
        " address."
    ),
    "broker.down": N_("Connection to RabbitMQ at {place} is not up."),
    "profile.no_name": N_("Give the connection a name."),
    "profile.bad_name": N_(
        "A name has at most {most} letters, figures, spaces, dots, hyphens and underscores, and begins and ends with a"
        " letter or figure."
    ),
    "profile.taken": N_("There is a connection {name} already; take another name."),
    "profile.no_broker": N_("Enter the address of the broker, or choose this machine."),
    "profile.no_redis": N_("Enter the address of Redis, or choose this machine."),
    "profile.bad_management": N_("It must begin with http:// or https://, such as http://mq.example.com:15672."),
    "profile.field_broker": N_("The address of the broker"),
    "profile.field_redis": N_("The address of Redis"),
    "address.database": N_("{field} must end with the number of the database, such as {like}"),
    "address.insecure": N_(
        "{field}: {name} may not switch the check of the server's certificate off; name its authority by ?{ca}=FILE."
        " Where that cannot be, insecure_tls = true beside the address in config.toml does it, and is told everywhere"
    ),
    "address.option": N_("{field} has an unknown option {name}; known are {known}"),
    "address.one_of": N_("{field}: the option {name} is one of {known}"),
    "address.heartbeat": N_("{field} must give heartbeat as a whole number of seconds"),
    "address.scheme": N_("{field} must begin with {wanted}, such as {like}"),
    "address.unreadable": N_(
        "{field} has no readable host or port; write it like {like}, special characters in user name and"
        " password as %XX (a slash is %2F, an @ is %40)"
    ),
    "pattern.look": N_(
        "the pattern {pattern} looks ahead or behind, which can take for ever; write it without (?= (?! (?<= (?<!, for"
        " example as two rules under allOf"
    ),
    "pattern.back": N_(
        "the pattern {pattern} refers back to what it found, which can take for ever; write it without \\1 and (?P=…)"
    ),
    "pattern.large": N_(
        "the pattern {pattern} is too large; use smaller numbers of repetitions, or minLength and maxLength"
    ),
    "pattern.wrong": N_("the pattern {pattern} cannot be run ({why}); correct it, or leave it out"),
    "schema.too_much": N_(
        "checking this payload takes too many steps; make the payload smaller, or the schema of its type simpler"
    ),
    "schema.too_deep": N_(
        "the payload is nested too deep, or the schema of its type refers to itself in a circle; correct the schema"
    ),
    "address.host": N_("{field}: its host cannot be the name of a machine ({why}); write it like {like}"),
    "address.port": N_("{field}: its port must be a number from 1 to 65535; write it like {like}"),
    "host.v6": N_("it is no IPv6 address"),
    "host.empty": N_("it is empty"),
    "host.marks": N_("it has blanks or marks that no name has"),
    "host.dots": N_("a part between two dots is empty"),
    "host.long": N_("it is longer than {most} characters"),
    "host.label": N_("it is no name, or a part of it is longer than {most} characters"),
    "schedule.every": N_("every must be {least} seconds to 366 days, not {value} seconds"),
    "schedule.zone_near": N_("there is no time zone {name}; did you mean {near}"),
    "schedule.zone": N_("there is no time zone {name}; a name is Asia/Shanghai or Europe/Berlin"),
    "cron.alias": N_("cron knows {known}, not {text}"),
    "cron.fields": N_(
        "cron takes five fields, minute hour day month weekday (for example '30 8 * * 1-5'), or days with an hour "
        "(weekdays 9:00), not {text}"
    ),
    "cron.part": N_("cron: the {what} of {text} is not readable"),
    "cron.part.minute": N_("minute"),
    "cron.part.hour": N_("hour"),
    "cron.part.day-of-month": N_("day of the month"),
    "cron.part.month": N_("month"),
    "cron.part.day-of-week": N_("day of the week"),
    "cron.part.expression": N_("expression"),
    "cron.never": N_("cron: {text} never comes"),
    "schedule.unreadable": N_("the schedule is not readable: {error}"),
    "backfill.empty": N_("the span ends before it begins; give a later end"),
    "backfill.old": N_("the ledger tells runs of the last {days} days; begin later"),
    "backfill.many": N_("more than {most} runs lie in this span; make it shorter"),
    "backfill.much": N_("{runs} runs of {shops} shops are too many to look up at once; make the span shorter"),
    "schedule.secret": N_("a secret that {name} had then is not known any more; edit it instead"),
    "schedule.repeats": N_(
        "not clear how often: {words}; write 30m, daily 02:30, weekdays 9:00, mon,wed 8:00, monthly 1 8:00, or a cron"
        " expression"
    ),
    "schedule.one_rule": N_("give either cron or every"),
    "schedule.name": N_(
        "name must be 1-64 characters without blanks, quotes or any of , : ; | / \\ @ * ~ < > =, not {name}"
    ),
    "type.unreadable": N_(
        "what is kept of task type {name} cannot be read: {error}; import it again, or let `repair` set it aside"
    ),
    "type.name": N_("type must be 1-64 of A-Z a-z 0-9 _ -, not {name}"),
    "schedule.one_choice": N_("choose the shops one way: by name, by platform and group, or all of them"),
    "schedule.many_shops": N_("a schedule can name up to {most} shops; choose them by group or platform"),
    "schedule.spread": N_(
        "spread must be 0 or more and shorter than the time between two runs ({gap} s), not {value} s"
    ),
    "payload.masked": N_(
        "{path}: dots stand there in place of a secret that the original does not have; write the secret itself"
    ),
    "type.masked": N_("schema: a value is hidden by dots, as in an export; write it there, or export with --reveal"),
    "type.unknown_near": N_("there is no task type {name}; did you mean {near}?"),
    "work.not_apart": N_("works of {type} are not told apart by their parameters; leave --payload out"),
    "type.unknown": N_("there is no task type {name}; see `type list`"),
    "shop.unknown_near": N_("there is no shop {name}; did you mean {near}?"),
    "shop.unknown": N_("there is no shop {name}; import it first"),
    "shop.several": N_("{name} is on several platforms: {keys}"),
    "shop.no_platform_near": N_("no shop has the platform {name}; did you mean {near}?"),
    "shop.no_platform": N_("no shop has the platform {name}; see `shop list`"),
    "shop.no_group_near": N_("no shop has the group {name}; did you mean {near}?"),
    "shop.no_group": N_("no shop has the group {name}; see `shop list`"),
    "payload.bad": N_("{field}: {problem}"),
    "schedule.there": N_("there is a schedule {name}; use --replace to change it"),
    "schedule.changed": N_("{name} was changed by somebody else at this moment; look at it and try again"),
    "schedule.no_next": N_("{name} has no next run; enable it first"),
    "schedule.begun": N_("the run of {name} that was to be left out has begun, or was moved; look at its next run"),
    "schedule.starting": N_("{name} is starting a run just now; skip the next one when that is done"),
    "document.contested": N_("{name} is changed by somebody else again and again; try again"),
    "schedule.unknown": N_("there is no schedule {name}; see `schedule list`"),
    "link.none": N_("{text} is no link to a view; one looks like fleetdeck://local/tasks?show=status%3Adead"),
    "link.long": N_("the link is longer than {most} characters; copy it again with a shorter filter"),
    "link.elsewhere": N_("the link is for the connection {name}; switch to that first"),
    "desktop.xdg": N_("the desktop's tool for links is missing: install xdg-utils"),
    "desktop.late": N_("the desktop has not answered within {seconds} s; try again"),
    "desktop.control": N_("{word} holds a line break or another control character, which no desktop starts; rename it"),
    "desktop.home": N_(
        "Windows would start it without FLEETDECK_HOME, in the usual home; leave the variable out, or start it with the"
        " variable by the Task Scheduler"
    ),
    "link.page": N_("the link names a page that this version does not have: {page}"),
    "task.unreadable": N_(
        "the record of task {id} cannot be read, so nobody knows what became of it: look in the shop whether its work"
        " was done. `fleetdeck repair` sets the record aside; then create the task again if it is still wanted"
    ),
    "task.set_aside": N_(
        "the record of task {id} could not be read and was set aside, so nobody knows what became of it: look in the"
        " shop whether its work was done, and create the task again if it is still wanted"
    ),
    "task.too_far": N_("a task can be scheduled up to 366 days ahead"),
    "platform.name": N_("platform must be 1-64 of A-Z a-z 0-9 _ -, not {name}"),
    "shop.unregistered": N_("shop {name} is not registered; import it first"),
    "task.delay": N_("delay must be between 0 seconds and 366 days"),
    "task.delay_or_time": N_("give a delay or a time, not both"),
    "task.max_retries": N_("max_retries must be 0 to 20"),
    "payload.not_json": N_("payload is not JSON: {error}"),
    "payload.half": N_("payload holds {half}, which is half of a character; write the character itself"),
    "payload.large": N_("payload is {size} bytes; the limit is {most}"),
    "worker.slots": N_("slots must be 1 to 512"),
    "worker.lives": N_("{worker} is alive or was until a moment ago; stop it first"),
    "worker.holds": NN_(
        "{worker} may still hold {tasks} task; it can be forgotten in {seconds} s",
        "{worker} may still hold {tasks} tasks; it can be forgotten in {seconds} s",
        by="tasks",
    ),
    "profile.no_browser": N_("{worker} has no browsers; choose the worker on the machine where the profile lives"),
    "profile.elsewhere": N_("the browser profile of {shop} lives on {node}; choose a worker there, or move the shop"),
    "profile.at_work": N_(
        "a task works in the browser of {shop} on {worker}; wait for its end, or restart the browser"
    ),
    "worker.twin": N_(
        "a worker called {worker} works already: process {pid} on {host}. Give this one another name, or none"
        " (worker.name), or stop the other first"
    ),
    "worker.unknown": N_("there is no worker {name}; see `worker list`"),
    "shop.bad_id": N_("shop id {name} must be 1-64 of A-Z a-z 0-9 _ - and not a lane's name"),
    "shop.tags": N_("a shop has at most {most} tags of {length} characters each"),
    "shop.platform": N_("no platform is called {name}; write one of {codes}, or a code of A-Z a-z 0-9 _ -"),
    "shop.needs_both": N_("platform and shop_id must not be empty"),
    "shop.twice": N_("{shop} stands twice"),
    "shop.file_empty": N_("{name} holds no shop; the header must name platform and shop_id"),
    "shop.file_number": N_("concurrency must be a whole number from 1 to 64, not {text}"),
    "shop.file_truth": N_("{column} must be yes or no, not {text}"),
    "shop.file_header": N_(
        "{file}: the header must name platform and shop_id; {missing} must not be missing, it names {names}"
    ),
    "shop.file_platform": N_(
        "line {lines}: no shop is on the platform {name} so far, it becomes a new one; those there are: {codes}"
    ),
    "shop.file_column": N_("column {name} is passed over; known are {columns}"),
    "shop.file_column_again": N_("column {name} is passed over; {column} stands in another one"),
    "shop.file_column_near": N_("column {name} is passed over; did you mean {column}?"),
    "shop.concurrency": N_("concurrency must be 1 to 64"),
    "shop.profiles": N_(
        "{key} has one browser profile, on {node}, and never two tasks work in it: of more than 1 at once the next"
        " would only keep a slot waiting; leave it at 1"
    ),
    "shop.edited": N_(
        "{column} of the shop was set to {value} meanwhile by somebody else, so nothing is saved; edit the shop again"
    ),
    "shop.edited_empty": N_(
        "{column} of the shop was emptied meanwhile by somebody else, so nothing is saved; edit the shop again"
    ),
    "shop.edited_on": N_(
        "{column} of the shop was turned on meanwhile by somebody else, so nothing is saved; edit the shop again"
    ),
    "shop.edited_off": N_(
        "{column} of the shop was turned off meanwhile by somebody else, so nothing is saved; edit the shop again"
    ),
    "file.in_use": N_("{name} is open in another program, or may not be replaced; close it there and try again"),
    "export.ending": N_("{name}: end the name with .csv, .xlsx, .json or .jsonl"),
    "export.rows": N_("a sheet holds {most} tasks; export as .csv, or filter"),
    "table.rows": N_("{name} has more than {most} rows; split it"),
    "table.columns": N_("{name} has more than {most} columns; delete those that are not needed"),
    "table.unpacked": N_("{name} unpacks to {size} MiB; up to {most} MiB are read: split it, or save it as .csv"),
    "table.parts": N_(
        "{name} has more rows, longer texts or more cells in one row than a workbook of tasks can have; delete what is"
        " not needed, or save its sheet as .csv"
    ),
    "table.no_sheet": N_("{name} has no sheet {sheet}; it has {sheets}"),
    "table.sheetless": N_("{name} has no sheets, so there is no {sheet} in it: leave --sheet out, or give a workbook"),
    "table.old_workbook": N_("{name} is an old workbook (.xls); save it as .xlsx"),
    "table.other_encoding": N_("{name} is not in {encoding}; choose another encoding"),
    "table.no_encoding": N_("there is no encoding {encoding}; choose one of {known}"),
    "table.unreadable": N_("{path} cannot be read: {error}"),
    "sheet.map_column": N_("{word}: write COLUMN=FIELD; the columns are {names}"),
    "sheet.map_field": N_("there is no field {field}; there are {known}"),
    "table.empty": N_("{name} holds no rows below its header"),
    "table.no_file": N_("{path} is not a file"),
    "table.large": N_("{path} is larger than {most} MiB; split it"),
    "table.ending": N_("{name}: known endings are {endings}"),
    "table.encoding": N_("{name} is neither UTF-8 nor GB18030 text; save it as UTF-8"),
    "table.workbook": N_("{name} is not a readable workbook: {error}; open it in Excel and save it again as .xlsx"),
    "table.no_workbook": N_(
        "{name} is not a readable workbook, whatever its name ends with; open it in Excel and save it again as .xlsx"
    ),
    "table.workbook_row": N_(
        "{name} cannot be read from row {row} on: {error}; open it in Excel and save it again as .xlsx"
    ),
    "table.locked": N_(
        "{name} is locked with a password, or an old workbook (.xls); open it in Excel and save it as .xlsx without a"
        " password"
    ),
    "force.reason": N_("force needs a reason; say why it has to run twice"),
    "dead.note_length": N_("a note has 1 to {most} characters, not {count}"),
    "bulk.unknown": N_("there is no run {id}; `dead runs` lists them"),
    "bulk.unreadable": N_("the letters of run {id} cannot be read: {error}; `repair` sets them aside"),
    "bulk.is_done": N_("run {id} is done: {done} of {total} were republished"),
    "bulk.was_aborted": N_("run {id} was aborted; choose its letters again to republish them"),
    "bulk.under_way": N_("run {id} is under way, {who} is at it; look at `dead runs`"),
    "queue.unknown": N_("there is no queue {name}; fleetdeck queue list names those that there are"),
    "queue.dead": N_("what is there are dead letters, no waiting tasks: fleetdeck dead list shows them"),
    "queue.not_typed": N_("to empty {name}, type its name exactly"),
    "batch.unknown": N_("there is no batch {name}; fleetdeck batch list names those that there are"),
    "dead.one_payload": N_("an edited payload goes to exactly one dead letter"),
    "payload.no_object": N_("the payload of {id} is not a JSON object"),
    "schema.type": N_("must be of type {expected}"),
    "schema.enum": N_("must be one of {expected}"),
    "schema.const": N_("must be {expected}"),
    "schema.minimum": N_("must be at least {expected}"),
    "schema.maximum": N_("must be at most {expected}"),
    "schema.exclusiveMinimum": N_("must be more than {expected}"),
    "schema.exclusiveMaximum": N_("must be less than {expected}"),
    "schema.multipleOf": N_("must be a multiple of {expected}"),
    "schema.minLength": N_("must have at least {expected} characters"),
    "schema.maxLength": N_("must have at most {expected} characters"),
    "schema.pattern": N_("must match {expected}"),
    "schema.format.date": N_("must be a day such as {example}, not {value}"),
    "schema.format.time": N_("must be a time of day with its zone, such as {example}, not {value}"),
    "schema.format.date-time": N_("must be a day and time with their zone, such as {example}, not {value}"),
    "schema.format.duration": N_("must be a duration such as {example} (30 minutes), not {value}"),
    "schema.format.email": N_("must be an e-mail address such as {example}, not {value}"),
    "schema.format.idn-email": N_("must be an e-mail address such as {example}, not {value}"),
    "schema.format.hostname": N_("must be a host name such as {example}, not {value}"),
    "schema.format.ipv4": N_("must be an IPv4 address such as {example}, not {value}"),
    "schema.format.ipv6": N_("must be an IPv6 address such as {example}, not {value}"),
    "schema.format.uri": N_("must be a whole web address such as {example}, not {value}"),
    "schema.format.iri": N_("must be a whole web address such as {example}, not {value}"),
    "schema.format.uri-reference": N_("must be a web address or a path such as {example}, not {value}"),
    "schema.format.iri-reference": N_("must be a web address or a path such as {example}, not {value}"),
    "schema.format.uuid": N_("must be a UUID such as {example}, not {value}"),
    "schema.format.regex": N_("must be a regular expression such as {example}, not {value}"),
    "schema.format.json-pointer": N_("must be a JSON pointer such as {example}, not {value}"),
    "schema.minItems": N_("must have at least {expected} entries"),
    "schema.maxItems": N_("must have at most {expected} entries"),
    "schema.uniqueItems": N_("must not repeat an entry"),
    "schema.missing": N_("is missing"),
    "schema.refused": N_("refused by the flow"),
    "schema.unknown": N_("is not known to this task type"),
    "schema.other": N_("does not satisfy {rule} ({why})"),
    "flow.many": N_("{count} steps are too many; the limit is {most}"),
    "flow.deep": N_("steps stand inside each other more than {most} deep"),
    "flow.one_of": N_("one of these must be given: {names}"),
    "flow.not_both": N_("give this or {name}, not both"),
    "flow.file": N_("must be a name within the upload folder of the worker"),
    "flow.template": N_("{text} is no template; write {{{{payload.name}}}} or {{{{secret.name}}}}"),
    "flow.not_in_payload": N_("{name} is not in the payload"),
    "flow.no_text": N_("{name} is not a single value"),
    "flow.secret_here": N_("a secret goes only into url, value or text"),
    "flow.scheme": N_("addresses with {scheme}: are not opened; use http or https"),
    "schema.cannot": N_("the type's schema cannot be applied: {error}"),
    "shop.written": N_("a shop is written platform:shop_id, not {shop}"),
    "options.range": N_("{name} must be 0 to {most}, not {value}"),
    "options.duplicate": N_("if_duplicate is reject, queue or force"),
    "options.skip": N_("only paused and schema can be skipped"),
    "options.lane": N_("lane is high, normal or low"),
    "options.attempts": N_("attempts must be 0 to {most}, not {attempts}"),
    "cause_rule.ignored_for": N_("a cause can be ignored for 0 to {longest_s} seconds, not {seconds}"),
    "cause_rule.is_split": N_("{one} is split by place; join it again before it is merged"),
    "cause_rule.itself": N_("{one} cannot count to itself, directly or by others; see --into"),
    "cause_rule.is_merged": N_("{cause} counts to {into}: decide about that one, or split it first"),
    "cause_rule.is_part": N_("{cause} is a part of {what}: split that one"),
    "cause_rule.split_already": N_("{where} is split off from {cause} already, as {part}"),
    "cause_rule.none_there": N_("no open letter of {cause} died at {where}"),
    "cause_rule.not_split": N_("{part} was not split off by a shop, a platform or a worker"),
    "options.triage": N_("triage is open, archived or ignored"),
    "shop.none": N_("there is no shop {key}; see `shop list`"),
    "queue.same_id": N_(
        "{key} cannot have a queue of its own: {value} has the same id, and the queue is named by it; rename one of the"
        " two shops"
    ),
    "limit.of_type": N_(
        "the limits of a type stand in its document: type export {name}, set concurrency or rate_per_minute, type"
        " import"
    ),
    "pause.scope": N_("a pause is all, platform:P, shop:P:ID or type:T, not {scope}"),
    "node.name": N_("a node is 1 to 64 of A-Z a-z 0-9 . _ -, not {node}"),
    "resolve.to": N_("a held task can be resolved as succeeded, pending or dead"),
    "resolve.say_why": N_("say why it is to run again: its work may be done already"),
    "policy.twice": N_("{name} is given twice"),
    "policy.changed": N_(
        "{name} was made from version {version}, the stored one is version {stored}; export it"
        " again and repeat the change, or use --force"
    ),
    "back.nothing": N_("nothing was changed, so there is nothing to take back"),
    "back.none": N_("it is not taken back from its entry; what it left is changed where it was done"),
    "back.open": N_("it is still under way"),
    "back.partly": N_("its entry does not say which of them were done; take them back where they were done"),
    "back.unsaid": N_("its entry does not say how it was before; it is changed back where it was done"),
    "back.secret": N_("its entry hides a secret that would be needed; it is changed back where it was done"),
    "back.many": N_("its entry names only the first {n} objects; take it back where it was done"),
    "back.differs": N_("it is not as this act left it any more"),
    "back.shops": N_("changed again since, so left as it is: {names}"),
    "back.some_shops": N_("changed again since, so left as it is: {names}; what else was changed is taken back"),
    "back.changed": N_("{who} changed it again since"),
    "back.long": N_("so much was done since that nobody can say whether it was changed again"),
    "view.changed": N_("{by} changed the view {title} meanwhile; look at it again"),
    "view.title_taken": N_("there is a shared view named {title} already; choose another name"),
    "view.many": N_("{most} views are shared already; remove one that nobody needs"),
    "query.length": N_("a filter may have {most} characters"),
    "row_filter.field": N_("this list is not filtered by {where}; there are {known}, and words"),
    "row_filter.op": N_("{field} is compared by `:` or `~`, not {op}"),
    "row_filter.yes_no": N_("{field} is yes or no, not {value}"),
    "row_filter.never": N_("{field} is never {value}; there are {known}"),
    "row_filter.number": N_("{field} is compared with a number, such as {field}>0"),
    "breaker.range": N_("{field} must be {least} to {most}, not {value}"),
    "limit.scope": N_("a limit is set for platform:P or type:T, not {scope}"),
    "limit.range": N_("{name} must be 1 to {most}, or none for no limit, not {number}"),
    "session.kind": N_("kind must be one of {known}, not {kind}"),
    "session.note": N_("a note has at most {most} characters, not {count}"),
    "cause_rule.split_by": N_("a cause is split by a shop, a platform or a worker, not by {where}"),
    "cause_rule.print": N_("a cause is named by its fingerprint of 16 hex letters; see `dead list --causes`"),
    "alert.muted_meanwhile": N_("{who} muted it meanwhile, so nothing is saved; look at it again"),
    "alert.rule_meanwhile": N_("{who} changed this alert rule meanwhile, so nothing is saved; look at it again"),
    "alert.rule_back_meanwhile": N_(
        "somebody set this alert rule back meanwhile, so nothing is saved; look at it again"
    ),
    "cause_rule.named_meanwhile": N_(
        "somebody wrote another name or note of this cause meanwhile, so nothing is saved; look at it again"
    ),
    "cause_rule.meanwhile": N_(
        "{who} decided otherwise about this cause meanwhile, so nothing is saved; look at it again"
    ),
    "cause_rule.park": N_("shops are parked for a minute to 7 days, not {park_s} s"),
    "cause_rule.to": N_("{name} is no name of a channel or a group of them"),
    "cause_rule.retry_at": N_("retry_at is a time of day such as 06:00, not {retry_at}"),
    "schedule.one_of": N_("{name} must be {known}, not {value}"),
    "query.op_words": N_("{field} cannot be compared with {op}; use : or ~"),
    "query.op": N_("{field} cannot be compared with {op}"),
    "query.op_number": N_("{field} is a number; {op} does not fit"),
    "query.number": N_("{field} needs a number, not {known}"),
    "query.op_payload": N_("{field} cannot be compared with {op}; use : ~ < or >"),
    "view.title": N_("the name of a view is 1-{most} printable characters, not {title}"),
    "view.columns": N_("the columns of this view are more than can be kept; hide some"),
    "query.no_value": N_("{name} needs a value, without a space before it"),
    "query.unread": N_("the filter cannot be read from {value} on"),
    "policy.name": N_("name must be 1-64 of A-Z a-z 0-9 _ -, not {name}"),
    "policy.executor": N_("executor must be a word such as rpa or python, not {executor}"),
    "policy.uniqueness": N_("uniqueness must be one of {known}, not {uniqueness}"),
    "policy.unique_for": N_("unique_for must be a duration of 1s to 30d such as 1h, or today, not {unique_for}"),
    "policy.unique_for_what": N_("unique_for needs a uniqueness other than none"),
    "policy.isolation": N_("isolation must be profile or context, not {isolation}"),
    "policy.lane": N_("lane must be high, normal or low, not {lane}"),
    "policy.indexed_many": N_("indexed may name {most} fields at most, not {count}"),
    "policy.indexed_twice": N_("indexed names a field twice"),
    "policy.indexed_name": N_("indexed names fields of the payload such as order_id or address.city, not {name}"),
    "policy.indexed_secret": N_("{name} is a secret, which nobody can look for; take it out of indexed"),
    "policy.indexed_unknown": N_("indexed: the schema has no field {name}; it has {there}"),
    "policy.range": N_("{name} must be {low} to {high}, not {value}"),
    "policy.range_or_null": N_("{name} must be {low} to {high}, or null for no limit, not {value}"),
    "policy.least": N_("{name} must be {low} or more, not {value}"),
    "policy.span": N_("{name} must be 1 second to 1 day, not {value}"),
    "policy.retry_base": N_("retry_base_s is {base}, above retry_cap_s ({cap}), which is the longest delay"),
    "policy.span_or_unknown": N_("{name} must be 0 seconds (unknown) to 1 day, not {value}"),
    "policy.schema": N_("schema: {problem}"),
    "policy.not_json": N_("this is not a JSON document: {error}"),
    "policy.document": N_("the document"),
    "policy.no_field": N_("a task type has no field {name}; it has {known}"),
    "policy.no_field_near": N_("a task type has no field {name}; did you mean {near}?"),
    "policy.lacks": N_("{name} is missing; a task type needs it"),
    "policy.kind": N_("{where} must be {wanted}, not {given}"),
    "kind.whole": N_("a whole number such as 3"),
    "kind.fraction": N_("a number such as 1.5"),
    "kind.number": N_("a number"),
    "kind.text": N_("a text"),
    "kind.switch": N_("true or false"),
    "kind.list_like": N_('a list such as ["a", "b"]'),
    "kind.list": N_("a list"),
    "kind.table": N_("names with values"),
    "kind.or": N_("{one} or {other}"),
    "kind.schema.array": N_("array"),
    "kind.schema.boolean": N_("boolean"),
    "kind.schema.integer": N_("integer"),
    "kind.schema.null": N_("null"),
    "kind.schema.number": N_("number"),
    "kind.schema.object": N_("object"),
    "kind.schema.string": N_("string"),
    "policy.fault": N_("{where}: {what}"),
    "links.broken": N_("depends_on: {name} was not created, so this one was not either; mend that one first"),
    "links.twice": N_("key: {name} names another row too; give each its own"),
    "links.unknown": N_("depends_on: there is no task or task type {name}; name a task that exists, or a type"),
    "links.unknown_near": N_("depends_on: there is no task or task type {name}; did you mean {near}?"),
    "links.removed": N_("depends_on: {name} is {status} and its record was removed; take it out"),
    "links.circle": N_("depends_on: {way} is a circle, none of them could ever start; take one of these links away"),
    "priority.unknown": N_("priority must be high, normal, low or a whole number 1-10, not {value}"),
    "links.many": N_("depends_on takes up to {most} tasks, not {count}; let one task collect them"),
    "cause_rule.link": N_("a link begins with http:// or https:// and has at most {most} characters, not {link}"),
    "node.unknown": N_("no worker has told of a node {node}; known are: {known}; --force takes it all the same"),
    "node.none_known": N_("no worker has told of a node {node}; known are: none; --force takes it all the same"),
    "task.deadline_past": N_("the deadline cannot be kept: it is past"),
    "task.deadline_early": N_("the deadline cannot be kept: the task would not be due before it"),
    "payload.no_message": N_("payload: {error}"),
    "query.cursor": N_("the place to go on from is damaged; start again at the first page"),
    "query.cursor_order": N_("the place to go on from belongs to the order by {sort}"),
    "query.cursor_filter": N_(
        "the place to go on from belongs to another filter or direction; ask as for the page before, or start again at"
        " the first page"
    ),
    "query.no_group": N_("tasks cannot be grouped by {by}; use {known}"),
    "query.no_sort": N_("tasks cannot be sorted by {sort}; use {known}"),
    "query.logs_grouped": N_("what stands in logs cannot be counted in groups"),
    "query.lists_only": N_("{field} is for lists of tasks only; take it out here"),
    "query.no_field": N_("{field} is not a field of tasks"),
    "file.no_text": N_("{name} is empty"),
    "file.not_text": N_("{name} is not UTF-8 text"),
    "file.deep": N_("{name}: nested too deeply"),
    "file.not_json": N_("{name}: not JSON: {error}"),
    "links.failure": N_("on_dependency_failure must be hold or cancel"),
    "shop.id_lane": N_("shop must be 1-64 of A-Z a-z 0-9 _ - and not a lane's name, not {shop_id}"),
    UNSURE: N_(
        "nobody knows whether the same work was done: its entry in the ledger ({work}) cannot be read; say why it is to"
        " be done all the same, or let `repair` set that entry aside"
    ),
    "create.duplicate": N_("if-duplicate must be reject, queue or force"),
    "create.force_why": N_("force needs a reason: say why this must run although the same task is active"),
    "log.field": N_("a log has no field {name}; it has {known}, since and until"),
    "log.level": N_("level is {known}, not {level}"),
    "query.log_time": N_("{name} takes a day, a moment or a span, such as {name}:1h, not {value}"),
    "audit.age": N_("age is compared with a duration, such as age<2h, not {value}"),
    "audit.field": N_("the audit has no field {name}; it has {known}, age, since and until"),
    "audit.word": N_("{name} takes {known}, not {value}"),
    "audit.time": N_("{name} takes a day, a moment or a span, such as {name}:today, not {value}"),
    "guide.none": N_("there is no page {name}"),
    "cause_rule.too_long": N_("{field} may have {most} characters, not {count}"),
}

#: those of a server that is there and takes nobody with this user, password or address
OF_CONNECTION = frozenset({
    "broker.user", "broker.no_password", "broker.no_vhost", "broker.vhost_refused", "broker.no_rights",
    "store.refuses_user", "store.not_permitted", "store.no_database", "store.no_rights", "store.other_fleet",
})  # fmt: skip
