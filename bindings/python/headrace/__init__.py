"""Events and durable jobs between programs on a LAN, with no broker to run.

    import headrace

    with headrace.Node(join=["tcp://127.0.0.1:7420"]) as node:

        @node.consumer("thumbnail.make")
        def make(job: headrace.RunningJob) -> str:
            return scale(job.params["path"])

        node.run()

Durations are seconds or a timedelta; times are aware datetimes; ids are str of 32 hex digits.
Whatever fails raises a subclass of Error.
"""

from ._headrace import (
    Closed,
    Consumer,
    Error,
    Event,
    Ext,
    Forbidden,
    Full,
    Internal,
    InUse,
    Invalid,
    JobFailed,
    JobHandle,
    JobInfo,
    Jobs,
    Member,
    Node,
    NoStore,
    NotFound,
    OutcomeUnknown,
    Protocol,
    Published,
    Registration,
    RunningJob,
    Store,
    Timeout,
    Unreachable,
    __version__,
)
from ._outcome import Cancel, Retry
from ._types import JobSpec

__all__ = [
    "Cancel",
    "Closed",
    "Consumer",
    "Error",
    "Event",
    "Ext",
    "Forbidden",
    "Full",
    "InUse",
    "Internal",
    "Invalid",
    "JobFailed",
    "JobHandle",
    "JobInfo",
    "JobSpec",
    "Jobs",
    "Member",
    "NoStore",
    "Node",
    "NotFound",
    "OutcomeUnknown",
    "Protocol",
    "Published",
    "Registration",
    "Retry",
    "RunningJob",
    "Store",
    "Timeout",
    "Unreachable",
    "__version__",
]
