"""The queue's promises, on both databases."""

from __future__ import annotations

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from bciarena.database.db import reading, writing
from bciarena.errors import BadInput
from bciarena.jobs.model import Job
from bciarena.jobs.queue import FAULTS_ALLOWED, Lease, Outcome, Queue, enqueue, waits_apart
from bciarena.jobs.view import snapshot

OK = Outcome("ok", {"score": 1.0}, "tree-" + "0" * 64)


def take(queue: Queue, **options: float) -> Lease:
    lease = queue.lease("w", "here", **options)
    assert lease is not None
    return lease


def make_ready(queue: Queue) -> None:
    """Skip the wait between attempts."""
    from sqlalchemy import update

    from bciarena.jobs.model import Job

    with writing(queue.engine) as session:
        session.execute(update(Job).values(ready_at=0.0))


def test_a_job_is_leased_once_and_committed_once(queue: Queue) -> None:
    job = queue.put("noop", {"x": "值"})
    lease = take(queue)
    assert (lease.job, lease.attempt, lease.payload) == (job, 1, {"x": "值"})
    assert queue.lease("other") is None
    assert queue.commit(lease, OK)
    assert not queue.commit(lease, Outcome("crashed"))
    row = queue.get(job)
    assert (row.state, row.verdict, row.result, row.run) == ("finished", "ok", {"score": 1.0}, OK.run)
    assert row.ended_at >= row.started_at >= row.created_at


def test_the_same_key_is_the_same_job(queue: Queue) -> None:
    one = queue.put("noop", {}, key="a")
    assert queue.put("noop", {"other": 1}, key="a") == one
    assert queue.put("noop", {}, key="b") != one


def test_a_verdict_is_final(queue: Queue) -> None:
    job = queue.put("noop", {})
    queue.commit(take(queue), Outcome("crashed", {"score": 0}, None, "ZeroDivisionError"))
    row = queue.get(job)
    assert (row.state, row.verdict, row.error, row.faults) == ("failed", "crashed", "ZeroDivisionError", 0)
    assert queue.lease("w") is None


def test_faults_are_tried_three_times(queue: Queue) -> None:
    job = queue.put("noop", {})
    for count in range(1, FAULTS_ALLOWED + 1):
        lease = take(queue)
        assert lease.attempt == count
        assert queue.commit(lease, Outcome(error="the disk failed"))
        row = queue.get(job)
        assert row.state == ("faulted" if count == FAULTS_ALLOWED else "queued")
        assert row.error == "the disk failed"
        assert queue.lease("w") is None  # not at once
        make_ready(queue)
    assert queue.lease("w") is None
    assert queue.retry(job)
    assert take(queue).attempt == FAULTS_ALLOWED + 1
    assert queue.get(job).faults == 0


def test_a_final_fault_is_not_tried_again(queue: Queue) -> None:
    job = queue.put("noop", {})
    queue.commit(take(queue), Outcome(error="no way", final=True))
    assert queue.get(job).state == "faulted"


def test_an_unwell_machine_and_a_stopping_worker_count_for_nothing(queue: Queue) -> None:
    job = queue.put("noop", {})
    assert queue.commit(take(queue), Outcome(error="disk full", unwell=True))
    assert queue.release(take(queue))
    row = queue.get(job)
    assert (row.state, row.faults, row.attempt) == ("queued", 0, 2)


def test_a_dead_workers_job_is_swept_and_its_late_result_dropped(queue: Queue) -> None:
    job = queue.put("noop", {})
    dead = take(queue, lease_s=-0.001)
    alive = queue.put("noop", {})
    live = take(queue)
    assert live.job == alive
    assert queue.sweep() == 1
    assert queue.sweep() == 0
    assert queue.get(job).error.startswith("worker w was not heard of")
    make_ready(queue)
    second = take(queue)
    assert (second.job, second.attempt) == (job, 2)
    assert not queue.beat(dead)
    assert not queue.commit(dead, Outcome("crashed"))
    assert not queue.commit(dead, Outcome(error="late fault"))
    assert not queue.release(dead)
    assert queue.commit(second, OK)
    assert queue.get(job).state == "finished"
    assert queue.get(alive).state == "leased"


def test_a_heartbeat_keeps_the_lease_and_shows_progress(queue: Queue) -> None:
    job = queue.put("noop", {})
    lease = take(queue, lease_s=-0.001)
    assert queue.beat(lease, {"packets": 7}, "node2")
    assert queue.sweep() == 0
    row = queue.get(job)
    assert (row.progress, row.machine) == ({"packets": 7}, "node2")


def test_three_lost_workers_end_a_job(queue: Queue) -> None:
    job = queue.put("noop", {})
    for _ in range(FAULTS_ALLOWED):
        take(queue, lease_s=-0.001)
        queue.sweep()
        make_ready(queue)
    assert queue.get(job).state == "faulted"


def test_cancel(queue: Queue) -> None:
    waiting, running = queue.put("noop", {}, priority=-1), queue.put("noop", {})
    lease = take(queue)
    assert lease.job == running
    assert queue.cancel(waiting)
    assert queue.cancel(running)
    assert not queue.cancel(running)
    assert not queue.beat(lease)
    assert not queue.commit(lease, OK)
    assert queue.get(running).state == queue.get(waiting).state == "cancelled"
    with pytest.raises(BadInput, match="no such job"):
        queue.get(99)


def test_priority_then_age(queue: Queue) -> None:
    low, high, late = queue.put("noop", {}), queue.put("noop", {}, priority=5), queue.put("noop", {})
    assert [take(queue).job for _ in range(3)] == [high, low, late]


def test_teams_share_fairly_however_much_one_queues(queue: Queue) -> None:
    for _ in range(20):
        queue.put("noop", {}, team="flood")
    small = [queue.put("noop", {}, team="small") for _ in range(3)]
    order = []
    for _ in range(6):  # one at a time: turns
        lease = take(queue)
        order.append(lease.job in small)
        queue.commit(lease, OK)
    assert sum(order) == 3
    for _ in range(3):
        queue.put("noop", {}, team="small")
    held = [queue.get(take(queue).job).team for _ in range(6)]  # several at once: equal shares
    assert Counter(held) == {"flood": 3, "small": 3}


def test_team_limit_holds_even_when_all_ask_at_once(queue: Queue) -> None:
    for team in ("a", "b"):
        for _ in range(8):
            queue.put("noop", {}, team=team, team_limit=2)
    with ThreadPoolExecutor(8) as pool:
        leases = [lease for lease in pool.map(lambda _: queue.lease("w"), range(16)) if lease]
    assert Counter(queue.get(lease.job).team for lease in leases) == {"a": 2, "b": 2}
    queue.commit(leases[0], OK)
    assert queue.get(take(queue).job).team == queue.get(leases[0].job).team


def test_many_leasing_at_once_never_get_the_same(queue: Queue) -> None:
    for _ in range(30):
        queue.put("noop", {})

    def drain(_: int) -> list[int]:
        got = []
        while lease := queue.lease("w"):
            got.append(lease.job)
            assert queue.commit(lease, OK)
        return got

    with ThreadPoolExecutor(6) as pool:
        done = [job for got in pool.map(drain, range(6)) for job in got]
    assert len(done) == len(set(done)) == 30


def test_a_join_waits_for_its_shards(queue: Queue) -> None:
    with writing(queue.engine) as session:
        join = enqueue(session, "join", {}, priority=9).id
        shards = [enqueue(session, "match", {}, parent=join).id for _ in range(2)]
    first, second = take(queue), take(queue)
    assert [first.job, second.job] == shards
    queue.commit(first, OK)
    assert queue.lease("w") is None
    queue.commit(second, Outcome("crashed"))
    assert take(queue).job == join
    assert queue.cancel(join)


def test_cancelling_a_join_cancels_its_shards(queue: Queue) -> None:
    with writing(queue.engine) as session:
        join = enqueue(session, "join", {}).id
        shard = enqueue(session, "match", {}, parent=join).id
    assert queue.cancel(join)
    assert queue.get(shard).state == "cancelled"
    assert queue.lease("w") is None


def test_workers_are_listed_and_leave(queue: Queue) -> None:
    from sqlalchemy import select

    from bciarena.database.db import reading
    from bciarena.jobs.model import Worker

    queue.seen("w1", machine="m", engine="local", slots=2, version="0")
    time.sleep(0.02)
    queue.seen("w1", trouble="disk full")
    with reading(queue.engine) as session:
        row = session.scalars(select(Worker)).one()
        assert (row.trouble, row.slots) == ("disk full", 2)
        assert row.seen_at > row.started_at
    queue.gone("w1")
    with reading(queue.engine) as session:
        assert session.scalars(select(Worker)).all() == []


def set_clock_back(queue: Queue, by_s: float) -> None:
    """As if the database's clock had been set back: everything that was written lies so much further ahead."""
    with writing(queue.engine) as session:
        for name in ("heartbeat_at", "leased_until", "ready_at", "created_at", "started_at"):
            column = getattr(Job, name)
            session.execute(sa.update(Job).values({name: column + by_s}).execution_options(synchronize_session=False))


def test_a_dead_workers_job_comes_back_though_the_clock_was_set_back(queue: Queue) -> None:
    job = queue.put("noop", {})
    take(queue, lease_s=0.4)
    assert queue.sweep() == 0
    set_clock_back(queue, 3600)
    swept, until = 0, time.monotonic() + 3
    while not swept and time.monotonic() < until:
        swept = queue.sweep()
        time.sleep(0.05)
    assert swept == 1
    assert queue.get(job).state == "queued"


@pytest.mark.parametrize("by_s", [3600, -3600])
def test_a_living_worker_keeps_its_job_though_the_clock_was_set(queue: Queue, by_s: float) -> None:
    queue.put("noop", {})
    lease = take(queue, lease_s=0.4)
    for count in range(12):
        assert queue.sweep() == 0
        if count == 4:
            set_clock_back(queue, by_s)
        assert queue.beat(lease, lease_s=0.4)
        time.sleep(0.05)


def test_what_waits_does_not_wait_for_a_clock_that_was_set_back(queue: Queue) -> None:
    queue.put("noop", {})
    queue.commit(take(queue), Outcome(error="our fault"))
    queue.put("noop", {})
    set_clock_back(queue, 3600)
    assert {take(queue).job, take(queue).job} == {1, 2}


def test_a_process_that_was_not_watching_sweeps_nothing(queue: Queue) -> None:
    """The database was away, or we stood still: workers could not send heartbeats, or we did not see them."""
    queue.put("noop", {})
    take(queue, lease_s=0.4)
    assert queue.sweep() == 0
    time.sleep(0.6)
    assert queue.sweep() == 0


def test_matches_that_must_stay_apart_do_not_run_at_once(queue: Queue) -> None:
    scout = queue.put("noop", {}, team="a", apart="data of a")
    rider = queue.put("noop", {}, team="b", apart="data of a")
    free = queue.put("noop", {}, team="b", apart="other data of a")
    first, second = take(queue), take(queue)
    assert {first.job, second.job} == {scout, free}
    assert queue.lease("w") is None
    with reading(queue.engine) as session:
        assert [waits_apart(session, session.get_one(Job, job)) for job in (scout, rider, free)] == [False, True, False]
    assert queue.commit(first if first.job == scout else second, OK)
    with reading(queue.engine) as session:
        assert not waits_apart(session, session.get_one(Job, rider))
    assert take(queue).job == rider


def test_shards_of_one_match_run_side_by_side_and_those_of_another_wait(queue: Queue) -> None:
    with writing(queue.engine) as session:
        joins = [enqueue(session, "join", {}, apart="x").id for _ in range(2)]
        shards = {join: [enqueue(session, "noop", {}, parent=join, apart="x").id for _ in range(2)] for join in joins}
    assert {take(queue).job, take(queue).job} == set(shards[joins[0]])
    assert queue.lease("w") is None


def test_a_disturbed_machine_puts_a_job_back_for_a_while_uncounted(queue: Queue) -> None:
    job = queue.put("noop", {})
    assert queue.commit(take(queue), Outcome(error="the machine is disturbed", later=True))
    row = queue.get(job)
    assert (row.state, row.attempt, row.faults, row.error) == ("queued", 1, 0, "the machine is disturbed")
    assert queue.lease("w") is None
    with reading(queue.engine) as session:
        (waiting,) = snapshot(session)["waiting"]
    assert re.fullmatch(r"tried again in (1\d|20) s, after: the machine is disturbed", waiting["why"])
    make_ready(queue)
    assert take(queue).attempt == 2
