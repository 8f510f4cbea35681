"""What becomes of a job whose handler raises."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

import pytest

import headrace
from conftest import wait_for


def test_an_exception_fails_the_attempt_with_its_last_lines(node: headrace.Node) -> None:
    @node.consumer("work")
    def handler(job: headrace.RunningJob) -> None:
        raise FileNotFoundError("no such picture")

    job = node.jobs.add("work", max_attempts=1)
    with pytest.raises(headrace.JobFailed) as failed:
        job.result(30)
    assert failed.value.code == 13
    info = job.info()
    assert info.state == "GIVEN_UP" and info.state in str(failed.value)
    line = handler.__code__.co_firstlineno + 2
    assert info.error.endswith(
        f"FileNotFoundError: no such picture ({__file__}:{line}, in handler)"
    )
    assert info.errors and "no such picture" in info.errors[0]
    assert "no such picture" in str(failed.value)


def test_a_job_that_failed_once_is_tried_again(node: headrace.Node) -> None:
    attempts: list[int] = []

    @node.consumer("work")
    def handler(job: headrace.RunningJob) -> str:
        attempts.append(job.attempt)
        if job.attempt == 1:
            raise headrace.Retry("not yet", after=0.01)
        return "at last"

    job = node.jobs.add("work")
    assert job.result(30) == "at last"
    assert attempts == [1, 2]
    assert job.info().errors == ["not yet"]


@pytest.mark.parametrize("after", [3600, 3600.0, timedelta(hours=1)])
def test_retry_says_when(node: headrace.Node, after: Any) -> None:
    def handler(job: headrace.RunningJob) -> None:
        raise headrace.Retry("in an hour", after=after)

    node.consume("work", handler)
    job = node.jobs.add("work")
    wait_for(lambda: job.info().state == "DELAYED")
    info = job.info()
    assert info.not_before is not None and info.started is not None
    assert timedelta(minutes=59) < info.not_before - info.started < timedelta(minutes=61)
    assert info.error == "in an hour"


def test_retry_without_a_time_takes_the_backoff(node: headrace.Node) -> None:
    def handler(job: headrace.RunningJob) -> None:
        raise headrace.Retry("soon")

    node.consume("work", handler)
    job = node.jobs.add("work", max_attempts=2)
    with pytest.raises(headrace.JobFailed, match="GIVEN_UP.*soon"):
        job.result(30)
    assert job.info().errors == ["soon", "soon"]


def test_a_retry_with_a_bad_time_still_fails_the_attempt(node: headrace.Node) -> None:
    def handler(job: headrace.RunningJob) -> None:
        raise headrace.Retry("when?", after="later")  # type: ignore[arg-type]

    node.consume("work", handler)
    job = node.jobs.add("work", max_attempts=1)
    with pytest.raises(headrace.JobFailed, match="when.*after"):
        job.result(30)


def test_cancel_ends_the_job_at_once_in_error(node: headrace.Node) -> None:
    class Hopeless(headrace.Cancel):
        pass

    def handler(job: headrace.RunningJob) -> None:
        raise Hopeless("it is no picture")

    node.consume("work", handler)
    job = node.jobs.add("work")
    with pytest.raises(headrace.JobFailed, match="ERROR.*it is no picture"):
        job.result(30)
    info = job.info()
    assert (info.state, info.attempt, info.error) == ("ERROR", 1, "it is no picture")


def test_a_result_that_is_no_value_ends_the_job_with_its_path(node: headrace.Node) -> None:
    node.consume("work", lambda job: {"size": {"x": 2**64}})
    job = node.jobs.add("work")
    with pytest.raises(headrace.JobFailed, match=r"result\.size\.x.*64 bit"):
        job.result(30)
    assert job.info().state == "ERROR"


def test_a_result_over_the_limit_ends_the_job(node: headrace.Node) -> None:
    node.consume("work", lambda job: b"x" * ((1 << 20) + 1))
    with pytest.raises(headrace.JobFailed, match="ERROR.*1048576"):
        node.jobs.add("work").result(30)


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_even_what_usually_ends_a_program_only_fails_the_attempt(
    node: headrace.Node, raised: BaseException
) -> None:
    def handler(job: headrace.RunningJob) -> None:
        raise raised

    node.consume("work", handler)
    job = node.jobs.add("work", max_attempts=1)
    with pytest.raises(headrace.JobFailed, match=type(raised).__name__):
        job.result(30)


def test_an_exception_that_cannot_be_shown_fails_the_attempt(node: headrace.Node) -> None:
    class Shy(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    class ShyCancel(headrace.Cancel):
        def __str__(self) -> str:
            raise RuntimeError("no")

    raising: list[BaseException] = [Shy(), ShyCancel("x")]

    def handler(job: headrace.RunningJob) -> None:
        raise raising[job.params["n"]]

    node.consume("work", handler)
    for number, name in enumerate(("Shy", "ShyCancel")):
        job = node.jobs.add("work", {"n": number}, max_attempts=1)
        with pytest.raises(headrace.JobFailed, match=name):
            job.result(30)


def test_a_callback_cannot_close_or_run_its_node(node: headrace.Node) -> None:
    def handler(job: headrace.RunningJob) -> str:
        said = []
        for call in (node.close, node.run):
            try:
                call()
            except headrace.Invalid as error:
                said.append(str(error))
        return " / ".join(said)

    node.consume("work", handler)
    said = node.jobs.add("work").result(30)
    assert "cannot close" in said and "cannot run" in said


def test_handlers_do_not_leak_what_they_get(node: headrace.Node) -> None:
    class Token:
        pass

    token = Token()
    before = sys.getrefcount(token)

    def handler(job: headrace.RunningJob) -> None:
        assert token is not None

    consumer = node.consume("work", handler)
    for _ in range(20):
        node.jobs.add("work", {"a": [1, 2]}, b"x").result(30)
    consumer.stop()
    del handler

    # Whatever the node still holds of the handler goes with the next calls.
    def gone() -> bool:
        node.register("t", print).unregister()
        return sys.getrefcount(token) == before

    wait_for(gone)
