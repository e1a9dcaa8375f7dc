"""The public face: what a handler of tasks imports, and how another program of this machine hands over work.

    from fleetdeck import Job, task_handler

    @task_handler("send_welcome_email")
    def send(payload: dict, job: Job) -> dict:
        job.progress(50, "writing")
        return {"sent": 1}

    from fleetdeck import submit

    submit("sync_order", "pdd:s1", {"since": "2026-11-20"}).task_id

What stands in ``__all__`` stays as it is from version to version; everything else of the program may change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.domain.errors import ConsoleError as FleetdeckError
from services.domain.errors import UsageError
from services.executors.registry import HandlerContext as Job
from services.executors.registry import HandlerError, task_handler

__all__ = ["FleetdeckError", "HandlerError", "Job", "Submission", "UsageError", "submit", "task_handler"]

#: characters of the name of a batch
MAX_BATCH = 200


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a ``submit``."""

    task_id: str
    created: bool  #: False: this task does the same work, or has just done it, and nothing was created
    sent: bool  #: False: recorded, and sent as soon as the broker can be reached


def submit(
    task_type: str,
    shop: str,
    payload: Mapping[str, Any] | None = None,
    *,
    priority: str = "",
    delay_s: float = 0.0,
    depends_on: Sequence[str] = (),
    batch: str = "",
    if_duplicate: str = "reject",
    reason: str = "",
    profile: str = "",
) -> Submission:
    """Create one task, as ``main.py task create`` does: checked, recorded, in the audit, sent.

    Args:
        shop: ``platform:shop_id``.
        payload: what JSON can say; checked against the schema of the type.
        priority: high, normal or low; "" for the type's own.
        delay_s: seconds until it may start, at most a year.
        depends_on: ids of tasks that must succeed first, or task types: what is open of these for the same shop; one
            alone may be given as it is.
        if_duplicate: where a task that has not ended does the same work: ``reject`` (answer with that one), ``queue``
            (wait for it) or ``force`` (beside it; takes a ``reason``).
        reason: why it has to be done again, where its type says for how long it need not be (``unique_for``).
        profile: which connection; "" for the one of ``FLEETDECK_*`` and config.toml.

    Raises:
        UsageError: an argument is not acceptable; ``field`` names it.
        FleetdeckError: the fleet cannot be reached, or this account may not create tasks.
    """
    named = (depends_on,) if isinstance(depends_on, str) else depends_on
    for name, value in {"batch": batch, "if_duplicate": if_duplicate, "reason": reason, "profile": profile}.items():
        _need(value, name, str, "a text")
    _need(delay_s, "delay_s", (int, float), "a number of seconds")
    _need(named, "depends_on", Sequence, "ids of tasks, or task types")
    for one in named:
        _need(one, "depends_on", str, "ids of tasks, or task types")
    if not batch.isprintable() or len(batch) > MAX_BATCH:
        raise UsageError(f"batch must be at most {MAX_BATCH} printable characters, not {batch!r:.60}", field="batch")
    # Imported here: a handler's process needs none of it and starts in a third of the time.
    from services import assembly, settings
    from services.domain import audit
    from services.domain.task.status import Status
    from services.engine.spec import TaskSpec

    platform, _, shop_id = str(shop or "").partition(":")
    if not shop_id:
        raise UsageError(f"shop must be platform:shop_id, for example pdd:s1, not {shop!r:.60}", field="shop")
    spec = TaskSpec(
        platform=platform,
        shop_id=shop_id,
        task_type=task_type,
        payload=payload or {},
        priority=priority,
        delay_s=delay_s,
        depends_on=named,
        batch=batch,
        if_duplicate=if_duplicate,
        reason=reason,
    )
    with _naming_arguments():
        engine = assembly.open_engine(settings.load(profile=profile), via=audit.PYTHON)
        try:
            with contextlib.suppress(FleetdeckError):  # it is recorded without, and a twin of it is found when it runs
                assembly.take_notice(engine)
            done = assembly.commands(engine).tasks.create([spec], origin="python")
        finally:
            engine.close()
        for _spec, field, sentence in done.errors:
            raise UsageError(sentence, field=field)
    for _spec, twin in done.duplicates:
        return Submission(twin.task_id, created=False, sent=twin.status != Status.PENDING)
    for _spec, last in done.done:
        return Submission(last.task_id, created=False, sent=True)
    (task,) = done.created
    return Submission(task.task_id, created=True, sent=not done.unconfirmed)


def _need(value: object, name: str, kinds: type | tuple[type, ...], wanted: str) -> None:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise UsageError(f"{name} must be {wanted}, not {value!r:.60}", field=name)


#: what the command line calls the arguments of ``submit``
_ARGUMENTS = {"delay": "delay_s", "type": "task_type", "platform": "shop", "shop_id": "shop"}


@contextlib.contextmanager
def _naming_arguments() -> Iterator[None]:
    """Let what is refused name the argument as ``submit`` calls it."""
    try:
        yield
    except UsageError as exc:
        name = exc.field.lstrip("-").replace("-", "_")
        exc.field = _ARGUMENTS.get(name, name)
        raise
