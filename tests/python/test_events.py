"""Events within a node and between two."""

from __future__ import annotations

import sys
import threading
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import headrace
from conftest import wait_for

Pair = tuple[headrace.Node, headrace.Node]


def test_an_event_crosses_between_nodes_whole(pair: Pair) -> None:
    owner, joined = pair
    seen: list[headrace.Event] = []
    joined.register("weather.us", seen.append)
    wait_for(lambda: owner.match_count("weather.us") == 1)
    published = owner.publish("weather.us", {"wind": 3}, b"\0storm")
    wait_for(lambda: seen)
    event = seen[0]
    assert (event.topic, event.params, event.payload) == ("weather.us", {"wind": 3}, b"\0storm")
    assert (event.node, event.id) == (owner.id, published.id)
    assert (published.destinations, published.dropped) == (1, 0)
    assert abs(event.time - datetime.now(timezone.utc)) < timedelta(minutes=1)
    assert event.seq >= 1


def test_events_of_one_publisher_arrive_in_order(pair: Pair) -> None:
    owner, joined = pair
    seen: list[int] = []
    joined.register("count", lambda event: seen.append(event.params["n"]))
    wait_for(lambda: owner.match_count("count") == 1)
    for number in range(2000):
        assert owner.publish("count", {"n": number}, timeout=20).dropped == 0
    wait_for(lambda: len(seen) == 2000)
    assert seen == list(range(2000))


def test_an_event_without_parameters_has_an_empty_dict_of_its_own(node: headrace.Node) -> None:
    seen: list[headrace.Event] = []
    node.register("t", seen.append)
    node.publish("t")
    node.publish("t")
    wait_for(lambda: len(seen) == 2)
    seen[0].params["mine"] = 1
    assert seen[0].params == {"mine": 1} and seen[1].params == {} and seen[1].payload == b""


def test_a_sink_gets_what_a_more_specific_topic_took(node: headrace.Node) -> None:
    seen: dict[str, int] = {"leaf": 0, "plain": 0, "sink": 0}

    def count(name: str) -> Any:
        def seen_one(event: headrace.Event) -> None:
            seen[name] += 1

        return seen_one

    node.register("a.b", count("leaf"))
    node.register("a", count("plain"))
    node.register("*", count("sink"), sink=True)
    node.publish("a.b")
    node.publish("a.c")
    wait_for(lambda: seen == {"leaf": 1, "plain": 1, "sink": 2})


def test_decorators_return_the_function_and_last_as_long_as_the_node(node: headrace.Node) -> None:
    seen: list[str] = []

    @node.on("t")
    def one(event: headrace.Event) -> None:
        seen.append("one")

    @node.on("t", sink=True)
    def two(event: headrace.Event) -> None:
        seen.append("two")

    assert one.__name__ == "one" and two.__name__ == "two"
    del one, two
    node.publish("t")
    wait_for(lambda: sorted(seen) == ["one", "two"])


def test_unregister_ends_the_callbacks_and_is_true_once(node: headrace.Node) -> None:
    seen: list[headrace.Event] = []
    registration = node.register("t", seen.append)
    other = node.register("u", seen.append)
    assert registration.id != other.id
    assert node.match_count("t") == 1
    assert registration.unregister() is True
    assert registration.unregister() is False
    assert node.match_count("t") == 0
    assert node.publish("t").destinations == 0
    node.publish("u")
    wait_for(lambda: seen)
    assert [event.topic for event in seen] == ["u"]


def test_unregister_waits_for_the_callback_that_runs(node: headrace.Node) -> None:
    entered, leave, left = threading.Event(), threading.Event(), threading.Event()

    def callback(event: headrace.Event) -> None:
        entered.set()
        leave.wait(20)
        left.set()

    registration = node.register("t", callback)
    node.publish("t")
    assert entered.wait(20)
    results: list[tuple[bool, bool]] = []
    waiter = threading.Thread(
        target=lambda: results.append((registration.unregister(), left.is_set()))
    )
    waiter.start()
    leave.set()
    waiter.join(20)
    assert results == [(True, True)]


def test_a_callback_may_unregister_itself(node: headrace.Node) -> None:
    results: list[bool] = []
    registration: headrace.Registration

    def callback(event: headrace.Event) -> None:
        results.append(registration.unregister())

    registration = node.register("t", callback)
    node.publish("t")
    wait_for(lambda: results)
    assert results == [True]


def test_what_a_callback_raises_is_reported_and_the_next_event_comes(
    node: headrace.Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    seen: list[int] = []

    @node.on("t")
    def callback(event: headrace.Event) -> None:
        if event.params["n"] == 1:
            raise LookupError("nothing there")
        seen.append(event.params["n"])

    node.publish("t", {"n": 1})
    node.publish("t", {"n": 2})
    wait_for(lambda: seen == [2])
    assert len(reported) == 1
    assert isinstance(reported[0].exc_value, LookupError)
    assert reported[0].exc_traceback is not None
    assert reported[0].object is callback


def test_an_event_stands_after_its_callback(node: headrace.Node) -> None:
    seen: list[headrace.Event] = []
    node.register("t", seen.append)
    for number in range(500):
        node.publish("t", {"n": number}, b"x" * number, timeout=20)
    wait_for(lambda: len(seen) == 500)
    assert all(event.payload == b"x" * number for number, event in enumerate(seen))
    assert all(event.params == {"n": number} for number, event in enumerate(seen))
    with pytest.raises(AttributeError):
        setattr(seen[0], "topic", "other")


def test_a_callback_may_publish(node: headrace.Node) -> None:
    seen: list[str] = []
    node.register("first", lambda event: node.publish("second", payload=event.payload))
    node.register("second", lambda event: seen.append(event.payload.decode()))
    node.publish("first", payload=b"on")
    wait_for(lambda: seen == ["on"])


def test_without_anyone_who_wants_it_an_event_goes_nowhere(node: headrace.Node) -> None:
    for publish in (node.publish, node.try_publish):
        published = publish("nobody")
        assert (published.destinations, published.dropped) == (0, 0)
        assert len(published.id) == 32


def test_only_headrace_publishes_to_its_own_topics(node: headrace.Node) -> None:
    with pytest.raises(headrace.Forbidden, match="sys"):
        node.publish("$sys.mine")


def test_a_node_tells_its_program_what_becomes_of_other_nodes(node: headrace.Node) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    node.register("$sys.member.>", lambda event: seen.append((event.topic, event.params)))

    def params(what: str, name: str) -> list[dict[str, Any]]:
        return [p for t, p in list(seen) if t == f"$sys.member.{what}" and p["name"] == name]

    with headrace.Node(name="guest", join=[node.endpoint]) as guest:
        wait_for(lambda: params("alive", "guest"))
        guest.register("guest.listens", print)
        wait_for(lambda: params("advert", "guest"))
        row = next(member for member in node.members() if member.name == "guest")
        assert params("alive", "guest") == [
            {"node": guest.id, "name": "guest", "state": "alive", "incarnation": row.incarnation}
        ]
        assert row.advert_version > 0
        wait_for(lambda: any(member.round_trip for member in node.members()))
        assert abs(row.since - datetime.now(timezone.utc)) < timedelta(minutes=1)
    wait_for(lambda: params("left", "guest"))


@pytest.mark.parametrize("fn", [None, "text", 5])
def test_a_callback_must_be_callable(node: headrace.Node, fn: Any) -> None:
    with pytest.raises(headrace.Invalid, match="fn"):
        node.register("t", fn)
    with pytest.raises(headrace.Invalid, match="fn"):
        node.consume("t", fn)
