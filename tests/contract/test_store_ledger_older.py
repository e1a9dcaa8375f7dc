"""The ledger on Redis while a program of before writes in it too, and after that has left."""

from __future__ import annotations

from contextlib import closing

import pytest
import redis

from services.clock import SystemClock
from services.domain.fleet.worker import WorkerInfo
from services.domain.task import ledger
from services.engine.lead.ledger_keeper import LedgerKeeper
from services.store.redis import keys
from tests.contract.rig import Rig

WORK = "4f2c"
#: how programs of before note a success: KEYS[1] the entry, ARGV the id, its instant, who created it, its worker
OLDER = """
local old = redis.call('SET', KEYS[1], cmsgpack.pack({ ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], {} }), 'GET')
local good, entry = pcall(cmsgpack.unpack, old or '')
good = good and type(entry) == 'table' and type(entry[1]) == 'string' and type(entry[2]) == 'number'
  and type(entry[5]) == 'table'
if not good then entry = { '', 0, '', '', {} } end
local red = entry[5]
if entry[2] <= tonumber(ARGV[2]) then entry = { ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], red } end
if entry[1] ~= ARGV[1] or red[1] then redis.call('SET', KEYS[1], cmsgpack.pack(entry)) end
"""


@pytest.fixture
def fleet(rig: Rig) -> Rig:
    """Where programs of two versions can meet."""
    if not rig.redis_url:
        pytest.skip("another version does not open this file")
    return rig


def by_older(rig: Rig) -> str:
    """A success that an older program notes: all of it is as ours would, but for the entry."""
    name = keys.WORK + WORK
    with closing(redis.Redis.from_url(rig.redis_url)) as client:
        before = client.get(name) or b""
        task = rig.running(uniq=WORK)
        rig.finish(task)
        done = rig.record(task)
        client.set(name, before)
        client.eval(OLDER, 1, name, done.task_id, done.ended_at, done.created_by, done.worker)
    return done.task_id


def test_what_an_older_program_leaves_out_is_counted_when_it_has_left(fleet: Rig) -> None:
    store, keeper = fleet.store, LedgerKeeper(fleet.store, SystemClock())
    store.heartbeat(WorkerInfo(worker="new", host="h", pid=1, ledger=ledger.FORM))
    assert keeper.count()
    letter = fleet.dead(uniq=WORK)
    fleet.pass_time(0.002)
    store.heartbeat(WorkerInfo(worker="old", host="h", pid=2))
    assert not keeper.count()
    last_id = by_older(fleet)
    (told,) = store.ran([WORK])
    assert told is not None
    assert (told.failed, [(day.succeeded, day.failed) for day in told.days]) == (None, [(1, 0)]), "that is the damage"
    assert not keeper.count()
    store.forget_worker("old")
    assert keeper.count()
    (told,) = store.ran([WORK])
    assert told is not None
    assert told.done is not None
    assert told.failed is not None
    assert (told.done.task_id, told.failed.task_id) == (last_id, letter.task_id)
    days = [(day.succeeded, day.failed, day.first_id, day.last_id) for day in told.days]
    assert days == [(1, 1, letter.task_id, last_id)]
    assert store.recount(mend=False) == []
