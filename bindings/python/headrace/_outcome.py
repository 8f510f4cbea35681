"""What a handler of jobs may raise to say how its attempt ended."""

from __future__ import annotations

from datetime import timedelta


class Cancel(Exception):
    """The job can never succeed: it ends in ERROR, without a further attempt.

    `why` is shown with the job.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)


class Retry(Exception):
    """The attempt failed; the job is tried again `after` seconds (or a timedelta) from now.

    None: after the usual backoff. It counts as an attempt like every failure. `why` is shown with
    the job.
    """

    def __init__(self, why: str, after: float | timedelta | None = None) -> None:
        super().__init__(why)
        self.after = after
