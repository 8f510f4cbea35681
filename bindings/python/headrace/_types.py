"""Types for annotations: what the calls take."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict, Union

Seconds = Union[float, timedelta]
# Values: None, bool, int within 64 bit, float, str, bytes, bytearray, memoryview, aware datetime,
# Ext, and lists, tuples and dicts with str keys of these.
Params = dict[str, Any]
Level = Literal["disk", "os", "memory"]
JobState = Literal[
    "QUEUED", "DELAYED", "ACTIVE", "SUCCEEDED", "STOPPED", "GIVEN_UP", "ERROR", "DROPPED", "EXPIRED"
]
MemberState = Literal["alive", "suspect", "dead", "left"]


class _JobSpecNeeded(TypedDict):
    topic: str


class JobSpec(_JobSpecNeeded, total=False):
    """One job of jobs.add_many: what jobs.add takes."""

    params: Params | None
    payload: bytes | bytearray | memoryview
    priority: int
    not_before: datetime | None
    max_attempts: int
    level: Level
    id: str | None
