"""Values on their way from Python to C++ and back: as parameters, and as results."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import headrace

UTC = timezone.utc

KEPT: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63 - 1,
    2**63,
    2**64 - 1,
    -(2**63),
    0.0,
    -1.5,
    math.inf,
    5e-324,
    "",
    "text",
    "\0 inside, \u00e4, \U0001f600",
    b"",
    b"\x00\xff",
    [],
    [1, [2, [3, "x"]], None],
    {},
    {"a": {"b": [{"c": b"d"}]}, "": 0, "a.b": 1},
    datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    headrace.Ext(5, b"abc"),
    headrace.Ext(-128, b""),
    headrace.Ext(127, b"\0" * 300),
]


def same(one: object, other: object) -> bool:
    """Equal, and of one type all the way down: True is not 1, 1 is not 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def test_every_value_comes_back_as_it_was(node: headrace.Node) -> None:
    node.consume("echo", lambda job: job.params["value"])
    jobs = node.jobs.add_many([{"topic": "echo", "params": {"value": value}} for value in KEPT])
    for job, value in zip(jobs, KEPT):
        back = job.result(30)
        assert same(back, value), f"{value!r} came back as {back!r}"
        info = job.info()
        assert same(info.result, value)


def test_what_has_no_form_of_its_own_comes_back_as_its_nearest(node: headrace.Node) -> None:
    class Number(int):
        pass

    cases = [
        ((1, (2,)), [1, [2]]),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"abc")[1:], b"bc"),
        (Number(7), 7),
        (
            datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
            datetime(2026, 1, 1, 10, tzinfo=UTC),
        ),
    ]
    node.consume("echo", lambda job: job.params["value"])
    for given, expected in cases:
        back = node.jobs.add("echo", {"value": given}).result(30)
        assert same(back, expected), f"{given!r} came back as {back!r}"
    back = node.jobs.add("echo", {"value": math.nan}).result(30)
    assert math.isnan(back)


def test_times_come_back_aware_and_in_utc(node: headrace.Node) -> None:
    node.consume("echo", lambda job: job.params["value"])
    back = node.jobs.add("echo", {"value": datetime(2026, 1, 1, tzinfo=UTC)}).result(30)
    assert back.tzinfo is UTC


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


class Odd:
    pass


REFUSED: list[tuple[Any, str, str]] = [
    ({"size": {"x": 2**64}}, "params.size.x", "64 bit"),
    ({"size": {"x": -(2**63) - 1}}, "params.size.x", "64 bit"),
    ({"list": [0, {"y": 10**100}]}, "params.list.1.y", "64 bit"),
    ({"when": datetime(2026, 1, 1)}, "params.when", "naive"),
    ({"list": [datetime(2026, 1, 1)]}, "params.list.0", "naive"),
    ({"odd": Odd()}, "params.odd", "Odd"),
    ({"odd": {1, 2}}, "params.odd", "set"),
    ({"odd": 1 + 2j}, "params.odd", "complex"),
    ({"size": {1: 2}}, "params.size", "keys must be str"),
    ({1: 2}, "params", "keys must be str"),
    ([1], "params", "dict"),
    ({"text": "\ud800"}, "params.text", "Unicode"),
    ({"deep": nested(33)}, "params.deep", "nested deeper"),
    ({"x" * 256: 1}, "params", "255"),
    ({"big": "x" * (1 << 20)}, "params", "1048576"),
]


@pytest.mark.parametrize(
    ("params", "path", "why"), REFUSED, ids=[case[2] + "-" + case[1] for case in REFUSED]
)
def test_what_is_no_value_is_refused_with_its_path(
    node: headrace.Node, params: Any, path: str, why: str
) -> None:
    calls = [node.publish, node.try_publish, node.jobs.add, node.jobs.submit]
    for call in calls:
        with pytest.raises(headrace.Invalid) as refused:
            call("t", params)
        assert path in str(refused.value) and why in str(refused.value), str(refused.value)
    assert node.jobs.find() == []


def test_a_list_that_holds_itself_is_refused(node: headrace.Node) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(headrace.Invalid, match="nested deeper"):
        node.publish("t", {"endless": endless})


def test_an_ext_says_its_type_and_data_and_compares() -> None:
    ext = headrace.Ext(7, bytearray(b"xy"))
    assert (ext.type, ext.data) == (7, b"xy")
    assert ext == headrace.Ext(7, b"xy") and hash(ext) == hash(headrace.Ext(7, b"xy"))
    assert ext != headrace.Ext(8, b"xy") and ext != headrace.Ext(7, b"x") and ext != (7, b"xy")
    assert repr(ext) == "headrace.Ext(7, b'xy')"


@pytest.mark.parametrize("number", [-1, -129, 128])
def test_an_ext_of_a_type_that_is_not_free_is_refused(number: int) -> None:
    with pytest.raises(headrace.Invalid, match=str(number)):
        headrace.Ext(number, b"")


@pytest.mark.parametrize("payload", [b"bytes", bytearray(b"bytes"), memoryview(b"-bytes")[1:]])
def test_any_buffer_is_a_payload(node: headrace.Node, payload: Any) -> None:
    node.consume("echo", lambda job: bytes(job.payload))
    assert node.jobs.add("echo", payload=payload).result(30) == b"bytes"


@pytest.mark.parametrize("payload", ["text", 5, None, memoryview(b"abcd")[::2]])
def test_what_is_no_contiguous_buffer_is_no_payload(node: headrace.Node, payload: Any) -> None:
    with pytest.raises(headrace.Invalid, match="payload"):
        node.publish("t", payload=payload)


def test_durations_are_seconds_or_a_timedelta(node: headrace.Node) -> None:
    node.publish("t", timeout=timedelta(milliseconds=1))
    node.publish("t", timeout=0)
    node.publish("t", timeout=0.5)
    node.publish("t", timeout=math.inf)
    wrong: list[Any] = [-1, -0.1, math.nan, "1", None, timedelta(seconds=-1)]
    for timeout in wrong:
        with pytest.raises(headrace.Invalid, match="timeout"):
            node.publish("t", timeout=timeout)
