import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar, final

from typing_extensions import Buffer, Self

from ._types import JobSpec, JobState, Level, MemberState, Params, Seconds

__version__: str

_OnEvent = TypeVar("_OnEvent", bound=Callable[[Event], object])
_OnJob = TypeVar("_OnJob", bound=Callable[[RunningJob], object])

class Error(Exception):
    """What Headrace could not do: one sentence, and `code`, a stable number."""

    code: int

class Invalid(Error, ValueError): ...
class Timeout(Error, TimeoutError): ...
class NotFound(Error, LookupError): ...
class Full(Error): ...
class Unreachable(Error): ...

class OutcomeUnknown(Error):
    """Stored or not, nobody knows: add it again with `id`, and it is the same job."""

    id: str | None

class Closed(Error): ...
class InUse(Error): ...
class NoStore(Error): ...
class Store(Error): ...
class Forbidden(Error): ...
class Protocol(Error): ...
class JobFailed(Error): ...
class Internal(Error): ...

class Ext:
    """An application's own msgpack extension, carried unread. Immutable."""

    def __init__(self, type: int, data: Buffer) -> None: ...
    @property
    def type(self) -> int: ...
    @property
    def data(self) -> bytes: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Event:
    """What a callback gets. It may be kept: everything in it is its own."""

    @property
    def topic(self) -> str: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def payload(self) -> bytes:
        """A copy: the memory that the event came in goes back when the callback returns."""

    @property
    def node(self) -> str:
        """The publisher's id."""

    @property
    def id(self) -> str: ...
    @property
    def time(self) -> datetime:
        """By the publisher's clock, UTC."""

    @property
    def seq(self) -> int:
        """Counts the publisher's events."""

@final
class Published:
    """What became of a publish."""

    @property
    def id(self) -> str: ...
    @property
    def destinations(self) -> int:
        """Nodes it went to, this one included."""

    @property
    def dropped(self) -> int:
        """Nodes it did not go to for want of room."""

class Registration:
    """An interest in a topic. Lasts as long as the node, unless ended."""

    @property
    def id(self) -> int: ...
    def unregister(self) -> bool:
        """True once. None of its callbacks starts afterwards; waits for one that runs, unless
        called inside it."""

class Consumer:
    """A handler of jobs. Lasts as long as the node, unless ended."""

    def stop(self) -> None:
        """Takes no more jobs and hands back what has not started; what runs goes on."""

class RunningJob:
    """What a handler gets: one attempt at a job. Its fields may be read after the handler has
    returned (`params` if they were read before)."""

    @property
    def id(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def payload(self) -> memoryview:
        """Read-only, over the bytes as they came: no copy, and they stay as long as the view."""

    @property
    def attempt(self) -> int:
        """1 the first time."""

    @property
    def deliveries(self) -> int: ...
    @property
    def stopping(self) -> bool:
        """True once its result will not count any more, or its node is closing: end soon."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

class JobHandle:
    """A job that was added."""

    @property
    def id(self) -> str: ...
    @property
    def level(self) -> Level:
        """How safe it was when the add was acknowledged."""

    def info(self, timeout: Seconds = 5.0) -> JobInfo:
        """The job as its owner has it now. NotFound, Timeout, Unreachable."""

    def result(self, timeout: Seconds | None = None) -> Any:
        """Waits for the job's end and returns its result. JobFailed names the state it ended in
        and the reason; Timeout. None: waits for ever."""

class JobInfo:
    """A job at one moment, as its owner had it. Times are UTC, by the owner's clock."""

    @property
    def id(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def queue(self) -> str: ...
    @property
    def state(self) -> JobState: ...
    @property
    def level(self) -> Level: ...
    @property
    def priority(self) -> int: ...
    @property
    def attempt(self) -> int:
        """Runs that have failed, and the one that runs."""

    @property
    def max_attempts(self) -> int: ...
    @property
    def deliveries(self) -> int:
        """Dispatches, those handed back unrun not counted."""

    @property
    def owner(self) -> str: ...
    @property
    def consumer(self) -> str | None:
        """The node that runs it, or ran it last."""

    @property
    def added(self) -> datetime: ...
    @property
    def not_before(self) -> datetime | None:
        """While it waits for its time."""

    @property
    def started(self) -> datetime | None:
        """Of the last dispatch."""

    @property
    def finished(self) -> datetime | None: ...
    @property
    def result(self) -> Any:
        """Of a job that succeeded."""

    @property
    def error(self) -> str:
        """Of the last attempt that failed, or why it was given up."""

    @property
    def errors(self) -> list[str]:
        """Of the newest attempts, oldest first."""

class Member:
    """A node of the cluster, as this node believes it to be."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> MemberState: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def incarnation(self) -> int: ...
    @property
    def tags(self) -> dict[str, str]: ...
    @property
    def data_endpoint(self) -> str: ...
    @property
    def advert_version(self) -> int:
        """Of what it says it consumes and listens to."""

    @property
    def since(self) -> datetime:
        """When it came into that state, by this machine's clock."""

    @property
    def round_trip(self) -> float | None:
        """Seconds, of pings, smoothed. None: of this node itself, or none was answered yet."""

class Jobs:
    """The durable jobs of a node. Calls from any thread."""

    def add(
        self,
        topic: str,
        params: Params | None = None,
        payload: Buffer = b"",
        *,
        priority: int = 4,
        not_before: datetime | None = None,
        max_attempts: int = 10,
        level: Level = "disk",
        id: str | None = None,
        timeout: Seconds = 30.0,
    ) -> JobHandle:
        """Stores a job at its owner and returns when it is as safe as `level` says.

        priority: 0 to 9, 9 first. not_before: not dispatched earlier, by the owner's clock.
        id: made by the caller (32 hex digits); adding it again is the same job. Invalid; NoStore;
        Timeout: nothing was stored; OutcomeUnknown: nobody knows, add it again with the error's id.
        """

    def submit(
        self,
        topic: str,
        params: Params | None = None,
        payload: Buffer = b"",
        *,
        priority: int = 4,
        not_before: datetime | None = None,
        max_attempts: int = 10,
        level: Level = "disk",
        id: str | None = None,
    ) -> Future[JobHandle]:
        """As add, but returns at once, so that many adds share one sync. Waits only while too many
        are pending. Not inside a callback."""

    def add_many(self, jobs: Iterable[JobSpec], timeout: Seconds = 30.0) -> list[JobHandle]:
        """Stores all or none, in one commit. Each is a dict of what add() takes."""

    def get(self, id: str, timeout: Seconds = 5.0) -> JobInfo:
        """NotFound if there is none."""

    def find(
        self,
        state: JobState | None = None,
        topic: str | None = None,
        limit: int = 100,
        timeout: Seconds = 5.0,
    ) -> list[JobInfo]:
        """Jobs of the node's own store, else of its owner's, oldest first. `topic` may be a
        pattern."""

class Node:
    """A program's membership in a cluster: events, durable jobs, members. Open at once.

    Calls from any thread, callbacks included, unless they say otherwise; none blocks other Python
    threads while it waits, and Ctrl-C ends every wait. `with` closes it; so does the interpreter's
    end. In a child made by fork it raises Closed.

    name: for people; None: two words made from its id. data: the directory of its store; None: no
    store, durable calls go to `owner`. listen: an endpoint; None: loopback, a free port. join:
    endpoints of nodes to join through. owner: an endpoint; None: the first of `join` that has a
    store. cluster: nodes of another one are not heard. insecure: needed to listen off loopback.
    lan: listens on all interfaces. beacon: finds and is found by nodes of its cluster on this machine,
    with `lan` on the network.
    Invalid, InUse, Store, Forbidden.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        data: str | os.PathLike[str] | None = None,
        listen: str | None = None,
        join: str | Iterable[str] = (),
        owner: str | None = None,
        cluster: str = "default",
        tags: dict[str, str] | None = None,
        insecure: bool = False,
        lan: bool = False,
        beacon: bool = True,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def close(self, drain: Seconds = 5.0) -> None:
        """Lets callbacks end within `drain` seconds, hands back the rest, flushes, leaves. Not
        inside a callback."""

    def stop(self) -> None:
        """Ends run(), now or when it is called. Never waits."""

    def run(self) -> None:
        """Returns after Ctrl-C, SIGTERM, stop() or close(). Not inside a callback."""

    def wait_ready(self, timeout: Seconds = 5.0) -> None:
        """Waits until it knows every member that the nodes it joined through know, with what they
        registered. Timeout."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def jobs(self) -> Jobs: ...
    def members(self) -> list[Member]:
        """This node and those it knows of."""

    def register(
        self, topic: str, fn: Callable[[Event], object], sink: bool = False
    ) -> Registration:
        """Calls fn(event) for every event at `topic` or below that no more specific topic took; a
        sink gets those too. One at a time and in order, on a thread of Headrace's. What it raises
        goes to sys.unraisablehook."""

    def on(self, topic: str, sink: bool = False) -> Callable[[_OnEvent], _OnEvent]:
        """Decorator: register(), for as long as the node lasts."""

    def consume(
        self,
        topics: str,
        fn: Callable[[RunningJob], object],
        parallel: int = 1,
        hwm: int | None = None,
        lwm: int | None = None,
    ) -> Consumer:
        """Calls fn(job) for each job at a topic or pattern, up to `parallel` at once, each on a
        thread of Headrace's. What it returns is the job's result; what it raises fails the attempt:
        Cancel for good, Retry after its time, all else after the backoff. hwm, lwm: how many jobs
        it holds; None: automatic."""

    def consumer(
        self, topics: str, parallel: int = 1, hwm: int | None = None, lwm: int | None = None
    ) -> Callable[[_OnJob], _OnJob]:
        """Decorator: consume(), for as long as the node lasts."""

    def publish(
        self,
        topic: str,
        params: Params | None = None,
        payload: Buffer = b"",
        timeout: Seconds = 1.0,
    ) -> Published:
        """Waits up to `timeout` for room at destinations that are moving; one without is dropped
        and counted. Invalid, Forbidden, Closed."""

    def try_publish(
        self, topic: str, params: Params | None = None, payload: Buffer = b""
    ) -> Published:
        """As publish, but never waits."""

    def match_count(self, topic: str) -> int:
        """Nodes that an event there would go to."""
