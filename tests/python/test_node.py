"""Nodes: options, membership, life."""

from __future__ import annotations

import gc
import socket
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

import headrace
from conftest import wait_for


def test_a_node_has_an_id_a_name_and_an_endpoint() -> None:
    with headrace.Node() as node:
        assert len(node.id) == 32 and int(node.id, 16)
        assert node.name
        assert node.endpoint.startswith("tcp://127.0.0.1:")
        assert node.name in repr(node)
        assert node.jobs is node.jobs


def test_members_know_each_other(tmp_path: Path) -> None:
    with (
        headrace.Node(name="one", tags={"zone": "a"}) as one,
        headrace.Node(name="two", join=one.endpoint) as two,
    ):
        two.wait_ready(20)
        wait_for(lambda: len(one.members()) == 2 and len(two.members()) == 2)
        seen = {member.id: member for member in two.members()}
        member = seen[one.id]
        assert (member.name, member.state, member.endpoint) == ("one", "alive", one.endpoint)
        assert member.tags == {"zone": "a"} and member.incarnation > 0
        two.close()
        wait_for(lambda: {m.name: m.state for m in one.members()}.get("two") in (None, "left"))


def test_a_node_keeps_its_identity_and_jobs_in_its_directory(tmp_path: Path) -> None:
    with headrace.Node(data=tmp_path) as node:
        first, job = node.id, node.jobs.add("work", {"n": 1})
    with headrace.Node(data=str(tmp_path)) as node:
        assert node.id == first
        assert node.jobs.get(job.id).state == "QUEUED"


def test_a_directory_in_use_is_refused_and_free_after_close(tmp_path: Path) -> None:
    with headrace.Node(data=tmp_path):
        with pytest.raises(headrace.InUse) as refused:
            headrace.Node(data=tmp_path)
        assert refused.value.code == 8
    headrace.Node(data=tmp_path).close()


def test_dropping_a_node_closes_it(tmp_path: Path) -> None:
    node = headrace.Node(data=tmp_path)
    del node
    headrace.Node(data=tmp_path).close()


def test_a_port_that_is_taken_is_refused_with_its_number() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(headrace.InUse, match=str(port)):
            headrace.Node(listen=f"tcp://127.0.0.1:{port}")


def test_two_nodes_of_one_machine_find_each_other_without_being_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("", 0))
        port = held.getsockname()[1]
    monkeypatch.setenv("HEADRACE_BEACON", str(port))
    with headrace.Node(name="one") as one, headrace.Node(name="two") as two:
        wait_for(lambda: len(one.members()) == len(two.members()) == 2)
        with headrace.Node(name="silent", beacon=False) as silent:
            with headrace.Node(name="three") as three:
                wait_for(lambda: len(three.members()) == len(two.members()) == 3)
            assert len(silent.members()) == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"listen": "nonsense"}, headrace.Invalid, "nonsense"),
        ({"join": ["nonsense"]}, headrace.Invalid, "nonsense"),
        ({"join": "nonsense"}, headrace.Invalid, "nonsense"),
        ({"join": [5]}, headrace.Invalid, "join"),
        ({"owner": "nonsense"}, headrace.Invalid, "nonsense"),
        ({"name": "two words"}, headrace.Invalid, "two words"),
        ({"name": 5}, headrace.Invalid, "name"),
        ({"tags": {"a": 5}}, headrace.Invalid, "tags"),
        ({"tags": "a"}, headrace.Invalid, "tags"),
        ({"listen": "tcp://0.0.0.0:0"}, headrace.Forbidden, "insecure"),
        ({"lan": True}, headrace.Forbidden, "secret"),
        ({"data": "/proc/no/such"}, headrace.Invalid, "/proc/no"),
    ],
)
def test_bad_options_are_refused_with_the_value(
    options: dict[str, Any], error: type[headrace.Error], message: str
) -> None:
    with pytest.raises(error, match=message):
        headrace.Node(**options)


def test_after_close_every_call_says_closed(tmp_path: Path) -> None:
    node = headrace.Node(data=tmp_path)
    job = node.jobs.add("work")
    registration = node.register("t", print)
    node.close()
    node.close()
    calls = [
        lambda: node.publish("t"),
        lambda: node.try_publish("t"),
        lambda: node.jobs.add("work"),
        lambda: node.jobs.get(job.id),
        lambda: node.jobs.find(),
        lambda: node.wait_ready(),
        lambda: node.register("t", print),
        lambda: node.consume("t", print),
        lambda: node.run(),
        lambda: job.info(),
        lambda: job.result(),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(headrace.Closed) as refused:
            call()
        assert refused.value.code == 7, number
    registration.unregister()
    assert len(node.id) == 32


def test_stop_ends_run_now_or_later() -> None:
    with headrace.Node() as node:
        runner = threading.Thread(target=node.run)
        runner.start()
        node.stop()
        runner.join(20)
        assert not runner.is_alive()
        node.run()


def test_close_ends_run() -> None:
    node = headrace.Node()
    runner = threading.Thread(target=node.run)
    runner.start()
    node.close()
    runner.join(20)
    assert not runner.is_alive()


def test_close_gives_a_handler_time_to_end(tmp_path: Path) -> None:
    entered, leave = threading.Event(), threading.Event()

    def handler(job: headrace.RunningJob) -> str:
        entered.set()
        leave.wait(30)
        return "in time"

    with headrace.Node(data=tmp_path / "owner") as owner:
        with headrace.Node(join=[owner.endpoint]) as worker:
            worker.consume("work", handler)
            job = owner.jobs.add("work")
            assert entered.wait(20)
            closer = threading.Thread(target=worker.close, args=(20,))
            closer.start()
            leave.set()
            closer.join(20)
        assert job.result(20) == "in time"


def test_close_tells_a_handler_to_stop_when_its_time_is_over(tmp_path: Path) -> None:
    entered = threading.Event()
    stopped: list[bool] = []

    def handler(job: headrace.RunningJob) -> None:
        entered.set()
        wait_for(lambda: job.stopping)
        stopped.append(True)

    with headrace.Node(data=tmp_path) as node:
        node.consume("work", handler)
        node.jobs.add("work")
        assert entered.wait(20)
        node.close(0)
        assert stopped == [True]


def test_a_node_that_nobody_answers_is_not_ready_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with headrace.Node(join=[f"tcp://127.0.0.1:{silent.getsockname()[1]}"]) as node:
            with pytest.raises(headrace.Timeout):
                node.wait_ready(0.05)


CODES = """Invalid Timeout NotFound Full Unreachable OutcomeUnknown Closed InUse
    NoStore Store Forbidden Protocol JobFailed Internal""".split()


def test_there_is_an_error_for_every_code_with_its_number() -> None:
    for number, name in enumerate(CODES, 1):
        error = getattr(headrace, name)
        assert issubclass(error, headrace.Error) and error.code == number
        assert error.__module__ == "headrace" and error.__name__ == name
    assert issubclass(headrace.Invalid, ValueError)
    assert issubclass(headrace.Timeout, TimeoutError)
    assert issubclass(headrace.NotFound, LookupError)


def test_a_closed_node_lets_go_of_callbacks_that_refer_to_it(tmp_path: Path) -> None:
    class Token:
        pass

    def open_and_close() -> weakref.ref[Token]:
        token = Token()
        node = headrace.Node(data=tmp_path)
        node.register("t", lambda event: node.publish(str(token)))
        node.consume("t", lambda job: node.publish(str(token)))
        node.close()
        return weakref.ref(token)

    left = open_and_close()
    gc.collect()
    assert left() is None
