"""The protocol's bytes as docs/PROTOCOL.md says them: the hand-written vectors of tests/golden, read by a reader that
knows nothing of Headrace, and the page's table of kinds against the code's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ONE, TWO = b"\x11" * 16, b"\x22" * 16
JOB, EVENT = b"\x33" * 16, b"\x44" * 16
TIME = 1_790_000_000_123_456
LIFE = 0x0102030405060708
PARAMS = b"\x81\xa1k\x01"
ABOUT = ["one", "c:1", "d:2", {"k": "v"}, True, False, 1, 1]
ALIVE = [0, ONE, [1000, 0], 5, ABOUT]
WINDOW = [1, "default"]


class Reader:
    """msgpack, as its specification has it: no more of it than the protocol uses."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        assert self.at + size <= len(self.data), "cut short"
        self.at += size
        return self.data[self.at - size : self.at]

    def uint(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def values(self, count: int) -> list:
        return [self.value() for _ in range(count)]

    def pairs(self, count: int) -> dict:
        return {self.value(): self.value() for _ in range(count)}

    def value(self):
        tag = self.uint(1)
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 0x100
        if tag < 0x90:
            return self.pairs(tag & 0x0F)
        if tag < 0xA0:
            return self.values(tag & 0x0F)
        if tag < 0xC0:
            return self.take(tag & 0x1F).decode()
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        if 0xC4 <= tag <= 0xC6:
            return self.take(self.uint(1 << (tag - 0xC4)))
        if 0xCC <= tag <= 0xCF:
            return self.uint(1 << (tag - 0xCC))
        if 0xD0 <= tag <= 0xD3:
            return int.from_bytes(self.take(1 << (tag - 0xD0)), "big", signed=True)
        if 0xD9 <= tag <= 0xDB:
            return self.take(self.uint(1 << (tag - 0xD9))).decode()
        if tag in (0xDC, 0xDD):
            return self.values(self.uint(2 if tag == 0xDC else 4))
        if tag in (0xDE, 0xDF):
            return self.pairs(self.uint(2 if tag == 0xDE else 4))
        raise AssertionError(f"{tag:#x} is not used by the protocol")


def read_all(data: bytes) -> list:
    reader, found = Reader(data), []
    while reader.at < len(data):
        found.append(reader.value())
    return found


def vectors() -> dict[str, bytes]:
    found: dict[str, str] = {}
    name = ""
    for line in (ROOT / "tests/golden/messages.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            name = line.strip("[]")
            assert name not in found
            found[name] = ""
        elif line:
            found[name] += line
    return {name: bytes.fromhex(text) for name, text in found.items()}


EXPECTED = {
    "frame": [[1, 0xEBADA5168620C5FE, ONE, 1000, TWO, 2000], [101, 5]],
    "hello": [[1, 7, ALIVE, None]],
    "hello_ack": [[2, 7, ALIVE, [2, TWO, [2000, 1], ONE]]],
    "reject": [[3, 7, 2, "full"]],
    "ping": [[4, 256, "c:1", [[1, TWO, [2000, 0], ONE]]]],
    "ack": [[5, 256, [[3, TWO, [2000, 0]]]]],
    "ping_request": [[6, 7, TWO, "c:2", 500]],
    "nack": [[7, 7]],
    "gossip": [[8, [[4, TWO, [2000, 0], 6]]]],
    "sync_digest": [[9, 7, 0x0123456789ABCDEF]],
    "sync_need": [[10, 7, 0, 1, [[TWO, 0, [2000, 0], 5]]]],
    "sync_state": [[11, 7, True, False, [], [TWO]]],
    "leave": [[12, [1000, 2]]],
    "advert_get": [[13, TWO, 2000, 4, 0, "c:1"]],
    "advert": [[14, TWO, 2000, 5, 0, 1, b"\x01\x02\x03"]],
    "advert_body": [[[[1, "work", 2]], b"\x92\x03\x92\xa3a.b\x03"]],
    "announce": [[20, WINDOW, [5, 2000, 2, 16, 12, 3, 64, True]]],
    "window_state": [[21, WINDOW, [2000, 2, 1000, 16, 9, 3, 5, 1 | 4, [1, 5, 1, 2, 8, 2]]]],
    "window_state_short": [[21, WINDOW, [2000, 2, 1000, 16, 9, 3, 0, 2]]],
    "mark": [[22, WINDOW, [6, 2000, 2, 16, 12, 3, 0, False]]],
    "window_over": [[23, WINDOW, [2000, [1, 3, 2, 2, 1, 1]]]],
    "blob": [[30, 3, 2, 5, b"cde"]],
    "job_item": [
        [40, WINDOW, [5, 2000, 2, 16, 12, 3, 64, False], LIFE, 9, 300, JOB, "a.b", 2, 3, PARAMS, b"hi", 0]
    ],
    "job_done": [[41, LIFE, 9, 300, 0, b"\x2a", b"", None]],
    "job_done_failed": [[41, LIFE, 9, 300, 1, b"", b"nope", 5000]],
    "job_done_ack": [[42, LIFE, [9, 10], [11]]],
    "job_hand_back": [[43, [[300, LIFE, 9]]]],
    "job_claims": [[44, [[300, LIFE, 9], [301, LIFE, 10]], 0, 4096]],
    "job_claims_ack": [[45, []]],
    "event": [[70, 1, TIME, "a.b", 2, b"", b"hi", 0]],
    "event_gone": [[71, "a.b", 2, 5]],
    "lane_state": [[72, [2000, 1, 1000, 4 << 20, 100, 50, 7]]],
    "lane_mark": [[73, [2000, 1, 100]]],
    "lane_query": [[74, [2000, 1, True]]],
    "reply": [[90, 5, 0, b"", b"hi", 0]],
    "reply_refused": [[90, 5, 4, b"full", b"", 0]],
    "call_add_jobs": [
        [
            91,
            5,
            True,
            [
                [JOB, "a.b", 4, None, 10, 0, b"", b"hi", 0],
                [JOB[:15] + b"\x34", "a.b", 9, TIME, 1, 2, PARAMS, b"", 3],
            ],
        ]
    ],
    "call_get_job": [[92, 5, JOB]],
    "call_find_jobs": [[93, 5, 3, "a.b", 100]],
    "call_wait_job": [[94, 5, JOB, 1000]],
    "call_members": [[95, 5]],
    "call_publish": [[96, 5, "a.b", b"", b"hi", 0, 1000]],
    "call_subscribe": [[97, 5, 8, "a.b", True]],
    "call_unsubscribe": [[98, 5, 8]],
    "client_event": [[99, 8, ONE, EVENT, TIME, 1, "a.b", b"", b"hi", 0]],
    "client_alive": [[100]],
    "call_hello": [[101, 5]],
    "hello_body": [[ONE, 1000, "one", "default", "d:2", True]],
    "members_body": [[[ONE, "one", "alive", "c:1", 1000, {"k": "v"}, "d:2", 7, 1500, 250]]],
    "published_body": [[EVENT, 2, 1]],
    "jobs_body": [
        [
            [JOB, "a.b", "default", 4, 1, 4, 2, 10, 3, ONE, TWO, TIME, [None, TIME + 1, TIME + 2]]
            + [b"\x2a", b"nope", [b"nope"], None]
        ]
    ],
    "beacon": [["HRB", 1, 0xEBADA5168620C5FE, ONE, b"\x55" * 32, "10.0.0.1", 7420]],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_vector_reads_as_the_page_says(name: str) -> None:
    assert read_all(vectors()[name]) == EXPECTED[name]


def test_a_frame_of_events_holds_whole_messages_and_says_its_size_in_four_bytes() -> None:
    data = vectors()["event_frame"]
    assert data[:3] == b"\x93\x4b\xc6"
    [[kind, events, lane]] = read_all(data)
    assert kind == 75
    assert read_all(events) == [[70, 1, TIME, "a.b", 2, b"", b"", 0]]
    assert lane == [2000, 1, 100, len(events)]


def test_each_vector_is_read_here() -> None:
    assert set(vectors()) == {*EXPECTED, "event_frame"}


def kinds_of_the_code() -> dict[int, str]:
    text = (ROOT / "core/wire/kinds.h").read_text()
    return {int(number): name for name, number in re.findall(r"^  k(\w+) = (\d+),", text, re.MULTILINE)}


def test_the_page_lists_the_kinds_of_the_code() -> None:
    page = (ROOT / "docs/PROTOCOL.md").read_text()
    table = page.split("## 4. Messages")[1].split("## 5.")[0]
    listed = {int(number): name for number, name in re.findall(r"^\| (\d+) \| (\w+) \|", table, re.MULTILINE)}
    assert listed == kinds_of_the_code()


def test_each_kind_has_a_vector() -> None:
    kinds = {messages[-1][0] for name, messages in EXPECTED.items() if not name.endswith(("_body", "beacon"))}
    assert kinds | {75} == set(kinds_of_the_code())


def test_the_page_says_how_each_kind_looks() -> None:
    page = (ROOT / "docs/PROTOCOL.md").read_text()
    for kind in kinds_of_the_code():
        assert re.search(rf"`\[{kind}[,\]]", page), f"no form of kind {kind}"
