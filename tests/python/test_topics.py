"""The rules of topics, the same as in C++ (tests/unit/topic/topic_test.cc)."""

from __future__ import annotations

import os

import pytest

import headrace


def words(count: int, word: str = "w") -> str:
    return ".".join([word] * count)


LONGEST = words(4, "x" * 204) + "." + "y" * 204

GOOD = [
    "a", "a.b.c", "weather.northamerica.us", "$system.x", "A-b_c/d:e@f#g", "\U0001f600.smile",
    "ä.日本",
    "a<b", "~!\"'()", "e\u0301", "\u200d", "w" * 255, words(128), LONGEST,
]  # fmt: skip

WHITE = "white space is not allowed"
CONTROL = "control characters are not allowed"
WILD = "wildcards stand for many topics and cannot be one"
STAR = "'*' and '>' are not part of a word"
BAD = [
    ("", "it is empty"),
    (".", "a word is empty"),
    (".a", "a word is empty"),
    ("a.", "a word is empty"),
    ("a..b", "a word is empty"),
    ("a b", WHITE),
    ("a.b\n", WHITE),
    ("a\tb", WHITE),
    ("a\u00a0b", WHITE),
    ("\u0085", WHITE),
    ("\u1680", WHITE),
    ("\u2000", WHITE),
    ("\u200a", WHITE),
    ("\u2028", WHITE),
    ("\u202f", WHITE),
    ("\u205f", WHITE),
    ("a.\u3000", WHITE),
    ("a\x01", CONTROL),
    ("a\0b", CONTROL),
    ("\x1f", CONTROL),
    ("\x7f", CONTROL),
    ("\x80", CONTROL),
    ("\x9f", CONTROL),
    ("*", WILD),
    ("a.*", WILD),
    ("a.*.b", WILD),
    ("a.>", WILD),
    (">", WILD),
    ("a*", STAR),
    ("a.b>c", STAR),
    ("w" * 256, "a word has more than 255 bytes"),
    (words(129), "it has more than 128 words"),
    (LONGEST + "z", "it has more than 1024 bytes"),
]


def test_names_within_the_rules_are_topics(node: headrace.Node) -> None:
    for topic in GOOD:
        assert node.publish(topic).destinations == 0, topic
        assert node.jobs.add(topic, level="memory").info().topic == topic


@pytest.mark.parametrize(("topic", "rule"), BAD, ids=[ascii(topic)[:40] for topic, _ in BAD])
def test_names_outside_the_rules_are_refused_with_the_rule(
    node: headrace.Node, topic: str, rule: str
) -> None:
    for call in (node.publish, node.try_publish, node.jobs.add, node.jobs.submit):
        with pytest.raises(headrace.Invalid) as refused:
            call(topic)
        assert rule in str(refused.value)
    assert node.jobs.find() == []
    assert node.match_count(topic) == 0


def test_a_str_that_is_not_unicode_is_no_topic(node: headrace.Node) -> None:
    with pytest.raises(headrace.Invalid, match="topic"):
        node.publish(os.fsdecode(b"\xff"))
    with pytest.raises(headrace.Invalid, match="topic: expected str, found bytes"):
        node.publish(b"bytes")  # type: ignore[arg-type]
