"""Durable jobs: adding, looking, handling."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import uuid
from concurrent.futures import Future
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import headrace
from conftest import wait_for

Pair = tuple[headrace.Node, headrace.Node]


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


def test_a_job_runs_at_another_node_and_its_result_comes_back(pair: Pair) -> None:
    owner, joined = pair
    seen: list[tuple[Any, ...]] = []

    @joined.consumer("image.*")
    def scale(job: headrace.RunningJob) -> dict[str, int]:
        seen.append(
            (
                job.id,
                job.topic,
                job.params,
                bytes(job.payload),
                job.attempt,
                job.deliveries,
                job.stopping,
            )
        )
        return {"width": job.params["width"] // 2}

    added = owner.jobs.add("image.scale", {"width": 640}, b"\0png")
    assert added.level == "disk"
    assert added.result(30) == {"width": 320}
    assert seen == [(added.id, "image.scale", {"width": 640}, b"\0png", 1, 1, False)]
    info = added.info()
    assert info.state == "SUCCEEDED" and info.result == {"width": 320}
    assert (info.owner, info.consumer) == (owner.id, joined.id)


def test_a_job_added_without_a_store_goes_to_the_owner(pair: Pair) -> None:
    owner, joined = pair
    added = joined.jobs.add("work", {"n": 1})
    assert joined.jobs.get(added.id).owner == owner.id
    assert [info.id for info in owner.jobs.find()] == [added.id]
    owner.consume("work", lambda job: job.params["n"] + 1)
    assert added.result(30) == 2


def test_without_a_store_or_an_owner_there_are_no_durable_jobs() -> None:
    with headrace.Node() as alone:
        with pytest.raises(headrace.NoStore) as refused:
            alone.jobs.add("work")
        assert refused.value.code == 9


def test_an_info_says_all_about_a_job(node: headrace.Node) -> None:
    before = utc_now() - timedelta(seconds=1)
    later = utc_now() + timedelta(hours=1)
    added = node.jobs.add("work", priority=9, max_attempts=3, level="os", not_before=later)
    info = node.jobs.get(added.id)
    assert (info.id, info.topic, info.state, info.level) == (added.id, "work", "DELAYED", "os")
    assert (info.priority, info.attempt, info.max_attempts, info.deliveries) == (9, 0, 3, 0)
    assert info.owner == node.id and info.consumer is None
    assert before < info.added < utc_now() + timedelta(seconds=1)
    assert info.not_before == later
    assert info.started is None and info.finished is None
    assert info.result is None and info.error == "" and info.errors == []
    assert info.queue


def test_find_filters_by_state_and_topic_and_stops_at_the_limit(node: headrace.Node) -> None:
    node.consume("done", lambda job: None)
    node.jobs.add("done").result(30)
    waiting = [node.jobs.add(f"wait.{number}").id for number in range(5)]
    assert {info.id for info in node.jobs.find(state="QUEUED")} == set(waiting)
    assert [info.topic for info in node.jobs.find(state="SUCCEEDED")] == ["done"]
    assert [info.id for info in node.jobs.find(topic="wait.3")] == [waiting[3]]
    assert len(node.jobs.find(topic="wait.*")) == 5
    assert len(node.jobs.find(limit=2)) == 2
    with pytest.raises(headrace.Invalid, match="ODD"):
        node.jobs.find(state="ODD")  # type: ignore[arg-type]
    with pytest.raises(headrace.Invalid, match="limit"):
        node.jobs.find(limit=10_001)


def test_adding_with_the_same_id_is_the_same_job(node: headrace.Node) -> None:
    own = uuid.uuid4().hex
    assert node.jobs.add("work", id=own).id == own
    assert node.jobs.add("work", id=own).id == own
    assert node.jobs.submit("work", id=own).result(30).id == own
    assert [info.id for info in node.jobs.find()] == [own]


def test_submit_pipelines_and_keeps_every_job(node: headrace.Node) -> None:
    futures = [node.jobs.submit("work", {"n": number}) for number in range(2000)]
    assert all(isinstance(future, Future) for future in futures)
    handles = [future.result(60) for future in futures]
    assert len({handle.id for handle in handles}) == 2000
    seen: set[int] = set()

    def handler(job: headrace.RunningJob) -> int:
        seen.add(job.params["n"])
        return int(job.params["n"])

    node.consume("work", handler)
    wait_for(lambda: len(seen) == 2000, 60)
    assert handles[1234].result(30) == 1234


def test_many_submits_under_way_share_their_syncs(node: headrace.Node) -> None:
    """One at a time each add pays for a sync of its own; pipelined they must not."""
    pending = [node.jobs.submit("work") for _ in range(200)]
    assert any(not future.done() for future in pending), "each add was waited for"
    for future in pending:
        future.result(30)


def test_a_submit_that_fails_says_so_in_its_future_or_at_once(node: headrace.Node) -> None:
    with pytest.raises(headrace.Invalid, match="priority"):
        node.jobs.submit("work", priority=10)
    node.close()
    with pytest.raises(headrace.Closed):
        node.jobs.submit("work").result(30)


def test_a_future_cannot_be_cancelled_once_submitted(node: headrace.Node) -> None:
    future = node.jobs.submit("work")
    assert future.cancel() is False
    assert future.result(30).info().state == "QUEUED"


def test_add_many_stores_all_or_none(node: headrace.Node) -> None:
    handles = node.jobs.add_many([{"topic": "a", "priority": 1}, {"topic": "b", "payload": b"x"}])
    assert [handle.info().topic for handle in handles] == ["a", "b"]
    assert handles[0].info().priority == 1
    assert node.jobs.add_many([]) == []
    wrong: list[tuple[Any, str]] = [
        ([{"topic": "c"}, {"topic": "d.."}], "job 2 of the list"),
        ([{"topic": "c"}, {"params": {}}], "job 2 of the list: it has no topic"),
        ([{"topic": "c", "prio": 1}], "job 1 of the list: add.. takes no 'prio'"),
        (
            [{"topic": "c"}, {"topic": "d", "params": {"x": {"y": 2**64}}}],
            "job 2 of the list: params.x.y",
        ),
        (["c"], "job 1 of the list: expected a dict"),
    ]
    for jobs, message in wrong:
        with pytest.raises(headrace.Invalid, match=message):
            node.jobs.add_many(jobs)
    assert len(node.jobs.find()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"priority": 10}, "priority 10"),
        ({"priority": -1}, "priority -1"),
        ({"priority": "high"}, "priority"),
        ({"max_attempts": 0}, "max_attempts 0"),
        ({"max_attempts": 1001}, "max_attempts 1001"),
        ({"level": "ram"}, "ram"),
        ({"level": None}, "level"),
        ({"id": "abc"}, "abc"),
        ({"id": 5}, "id"),
        ({"not_before": datetime(2026, 1, 1)}, "not_before: the datetime is naive"),
        ({"not_before": 5}, "not_before"),
        ({"payload": bytes((16 << 20) + 1)}, "16777216"),
        ({"payload": "text"}, "payload"),
        ({"timeout": -1}, "timeout"),
    ],
)
def test_a_bad_argument_is_refused_by_name_and_value(
    node: headrace.Node, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(headrace.Invalid, match=message) as refused:
        node.jobs.add("work", **arguments)
    assert isinstance(refused.value, ValueError) and refused.value.code == 1
    assert node.jobs.find() == []


def test_the_largest_payload_comes_through_uncut(pair: Pair) -> None:
    owner, joined = pair
    payload = bytes(range(256)) * (1 << 16)
    same: list[bool] = []
    joined.consume("big", lambda job: same.append(job.payload == payload))
    owner.jobs.add("big", payload=payload).result(60)
    assert same == [True]


def test_a_payload_is_a_read_only_view_that_outlives_the_handler(node: headrace.Node) -> None:
    kept: list[memoryview] = []
    payloads = [bytes([number]) * 100_000 for number in range(20)]
    node.consume("keep", lambda job: kept.append(job.payload))
    for payload in payloads:
        node.jobs.add("keep", payload=payload).result(30)
    assert [bytes(view) for view in kept] == payloads
    assert kept[0].readonly and kept[0].format == "B" and kept[0].contiguous
    with pytest.raises(TypeError):
        kept[0][0] = 1


def test_a_job_object_can_be_read_after_its_handler(node: headrace.Node) -> None:
    kept: list[headrace.RunningJob] = []
    node.consume("keep", kept.append)
    node.jobs.add("keep", {"a": 1}, b"x").result(30)
    job = kept[0]
    assert (job.topic, job.attempt, bytes(job.payload)) == ("keep", 1, b"x")
    wait_for(lambda: job.stopping)
    with pytest.raises(headrace.Closed, match="params"):
        job.params


def test_an_unknown_job_is_not_found(node: headrace.Node) -> None:
    with pytest.raises(headrace.NotFound) as missing:
        node.jobs.get("0" * 32)
    assert isinstance(missing.value, LookupError) and missing.value.code == 3


def test_a_result_that_does_not_come_in_time_is_a_timeout(node: headrace.Node) -> None:
    job = node.jobs.add("work")
    with pytest.raises(headrace.Timeout) as late:
        job.result(0.05)
    assert isinstance(late.value, TimeoutError) and late.value.code == 2
    with pytest.raises(TimeoutError):
        job.result(timedelta(milliseconds=20))


def test_stopping_a_consumer_leaves_what_has_not_started_to_others(node: headrace.Node) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(job: headrace.RunningJob) -> str:
        entered.set()
        leave.wait(30)
        return "slow"

    first = node.consume("work", slow, hwm=4, lwm=2)
    jobs = [node.jobs.add("work") for _ in range(4)]
    assert entered.wait(20)
    first.stop()
    node.consume("work", lambda job: "quick")
    for job in jobs[1:]:
        assert job.result(30) == "quick"
    leave.set()
    assert jobs[0].result(30) == "slow"


def test_parallel_handlers_run_at_once(node: headrace.Node) -> None:
    together = threading.Barrier(3, timeout=30)
    node.consume("work", lambda job: together.wait() >= 0, parallel=3)
    jobs = [node.jobs.add("work") for _ in range(3)]
    assert [job.result(30) for job in jobs] == [True] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parallel": 0}, "parallel 0"),
        ({"parallel": 1025}, "parallel 1025"),
        ({"parallel": "2"}, "parallel"),
        ({"lwm": 2}, "lwm"),
        ({"hwm": 4097}, "hwm"),
        ({"hwm": 2, "lwm": 3}, "3"),
    ],
)
def test_a_consumer_with_bad_options_is_refused(
    node: headrace.Node, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(headrace.Invalid, match=message):
        node.consume("work", lambda job: None, **arguments)


def test_a_handler_may_add_jobs_and_wait_for_them(node: headrace.Node) -> None:
    node.consume("inner", lambda job: 20)
    node.consume("outer", lambda job: node.jobs.add("inner").result(30) + 1)
    assert node.jobs.add("outer").result(30) == 21


def test_a_closed_node_ends_a_wait(tmp_path: Path) -> None:
    node = headrace.Node(data=tmp_path)
    job = node.jobs.add("work")
    ends: list[BaseException] = []

    def wait() -> None:
        try:
            job.result()
        except headrace.Error as error:
            ends.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    node.close()
    waiter.join(20)
    assert len(ends) == 1 and isinstance(ends[0], headrace.Closed)


OWNER = """
import sys, headrace
with headrace.Node(name="owner", data=sys.argv[1]) as node:
    print(node.endpoint, flush=True)
    node.run()
"""


def test_an_add_whose_answer_is_lost_is_repeated_with_the_id_of_the_error(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None
        with headrace.Node(join=owner.stdout.readline().strip()) as joined:
            joined.wait_ready(20)
            first = joined.jobs.add("work")
            owner.send_signal(signal.SIGSTOP)
            own = uuid.uuid4().hex
            with pytest.raises(headrace.OutcomeUnknown) as unknown:
                joined.jobs.add("work", timeout=0.2)
            with pytest.raises(headrace.OutcomeUnknown) as unknown_own:
                joined.jobs.add("work", id=own, timeout=0.2)
            owner.send_signal(signal.SIGCONT)
            assert unknown.value.code == 6 and unknown_own.value.id == own
            assert unknown.value.id is not None
            for id in (unknown.value.id, own):
                assert joined.jobs.add("work", id=id).id == id
            jobs = [info.id for info in joined.jobs.find()]
            assert sorted(jobs) == sorted([first.id, unknown.value.id, own])
    finally:
        owner.kill()
        owner.wait()
        if owner.stdout is not None:
            owner.stdout.close()
