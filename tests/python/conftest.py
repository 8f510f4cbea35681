from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headrace


# Nodes of one test find none of another's. Who tests the beacon asks for a port of its own.
os.environ["HEADRACE_BEACON"] = "off"


def wait_for(holds: Callable[[], object], timeout: float = 20.0) -> None:
    """Until holds() is true; fails after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, f"not within {timeout} s"
        time.sleep(0.005)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[headrace.Node]:
    """A node with a store, alone."""
    with headrace.Node(name="alone", data=tmp_path / "alone") as opened:
        yield opened


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[headrace.Node, headrace.Node]]:
    """An owner with a store, and a node without one that has joined it."""
    with headrace.Node(name="owner", data=tmp_path / "owner") as owner:
        with headrace.Node(name="joined", join=[owner.endpoint]) as joined:
            joined.wait_ready(20)
            yield owner, joined


def run_script(
    code: str, *arguments: object, timeout: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """Runs `code` as a program of its own."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True, text=True, timeout=timeout, check=False, cwd=Path(__file__).parent,
    )  # fmt: skip
