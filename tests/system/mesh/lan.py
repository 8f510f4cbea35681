"""Daemons on a network of their own find each other by beacon: lan.py PROGRAM.

Makes network namespaces, joined by pairs of virtual interfaces, and removes them. Exit code 77
(skipped) where that is not allowed.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = sys.argv[1]
TAG = f"hr{os.getpid() % 100_000}"  # interfaces have at most 15 letters
PATIENCE = 20.0


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def namespaces(*names):
    made = []
    try:
        for name in names:
            ip("netns", "add", TAG + name)
            made.append(name)
            ip("-n", TAG + name, "link", "set", "lo", "up")
        yield
    finally:
        for name in made:
            ip("netns", "del", TAG + name)


def wire(left, right, net):
    """A cable between two namespaces: 10.99.NET.1 and .2."""
    ends = [(left, f"{TAG}{net}l", f"10.99.{net}.1"), (right, f"{TAG}{net}r", f"10.99.{net}.2")]
    ip("link", "add", ends[0][1], "netns", TAG + left, "type", "veth",
       "peer", "name", ends[1][1], "netns", TAG + right)
    for name, device, address in ends:
        ip("-n", TAG + name, "addr", "add", f"{address}/24", "brd", "+", "dev", device)
        ip("-n", TAG + name, "link", "set", device, "up")


class Daemon:
    def __init__(self, folder, namespace, name, *arguments):
        self.prefix = ["ip", "netns", "exec", TAG + namespace, PROGRAM]
        self.process = subprocess.Popen(
            [*self.prefix, "node", "--json", "--name", name, "--data", str(Path(folder) / name),
             "--beacon-port", "7999", *arguments], stdout=subprocess.PIPE, text=True)
        self.endpoint = json.loads(self.process.stdout.readline())["listen"]

    def alive(self):
        run = subprocess.run([*self.prefix, "members", "--json", "--node", self.endpoint],
                             capture_output=True, text=True, timeout=PATIENCE, check=True)
        return {row["name"] for row in json.loads(run.stdout) if row["state"] == "alive"}

    def end(self):
        self.process.kill()
        self.process.wait()


def wait_for(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE} s"
        time.sleep(0.02)


def main():
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("needs to be root, and the program ip")
        return 77
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        try:
            stack.enter_context(namespaces("a", "b", "c"))
        except subprocess.CalledProcessError as error:
            print(error.stderr)
            return 77

        def start(*arguments):
            daemon = Daemon(folder, *arguments)
            stack.callback(daemon.end)
            return daemon

        wire("a", "b", 77)
        home = start("a", "home")
        a = start("a", "a", "--lan", "--insecure")
        b = start("b", "b", "--lan", "--insecure")
        wait_for(lambda: a.alive() == b.alive() == {"a", "b"})
        # An interface that comes while the node runs, and a node that can be reached there alone.
        wire("a", "c", 78)
        c = start("c", "c", "--lan", "--insecure")
        wait_for(lambda: "c" in a.alive() and "a" in c.alive())
        # Who listens on loopback alone is nobody that the network could reach.
        assert home.alive() == {"home"}
    return 0


if __name__ == "__main__":
    sys.exit(main())
