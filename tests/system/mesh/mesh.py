"""Checks of daemons that find and lose each other: mesh.py PROGRAM CHECK.

Each check has a cluster and a beacon port of its own. It says how long things took; it fails where
they took so long that something else than what is checked must have brought them about.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = sys.argv[1]
CLUSTER = f"mesh-{os.getpid()}"
PATIENCE = 20.0  # for what has to happen at some time


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("", 0))
        return held.getsockname()[1]


def free_tcp_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


BEACON = free_udp_port()


class Daemon:
    def __init__(self, folder, name, *arguments, limit=None, cluster=CLUSTER,
                 host="127.0.0.1", port=0):
        command = [PROGRAM, "node", "--json", "--name", name, "--data", str(folder / name),
                   "--cluster", cluster]
        if "--lan" not in arguments:
            command += ["--listen", f"tcp://{host}:{port}"]
        if "--beacon-port" not in arguments:
            command += ["--beacon-port", str(BEACON)]
        command += arguments
        if limit is not None:
            command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *command]
        self.name = name
        self.notes = folder / f"{name}.notes"
        with self.notes.open("w") as notes:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=notes,
                                            text=True)
        line = self.process.stdout.readline()
        self.endpoint = json.loads(line)["listen"] if line else None

    def states(self):
        run = subprocess.run([PROGRAM, "members", "--json", "--node", self.endpoint],
                             capture_output=True, text=True, timeout=PATIENCE, check=True)
        return {row["name"]: row["state"] for row in json.loads(run.stdout)}

    def sees(self, *names, state="alive"):
        states = self.states()
        return all(states.get(name) == state for name in names)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Folder:
    """A scratch folder and the daemons in it, all ended at the end."""

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.daemons = []
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.end()
        self.scratch.cleanup()

    def start(self, name, *arguments, **options):
        daemon = Daemon(Path(self.scratch.name), name, *arguments, **options)
        self.daemons.append(daemon)
        return daemon

    def mesh(self, size):
        """That many, all of which know all."""
        first = self.start("n0", "--no-beacon")
        rest = [self.start(f"n{i}", "--no-beacon", "--join", first.endpoint)
                for i in range(1, size)]
        daemons = [first, *rest]
        for daemon in daemons:
            took(lambda: daemon.sees(*(other.name for other in daemons)), PATIENCE)
        return daemons


def took(holds, within):
    """Seconds until holds()."""
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() < begun + within, f"not within {within} s"
        time.sleep(0.01)
    return time.monotonic() - begun


def beacon():
    with Folder() as folder:
        a, b = folder.start("a"), folder.start("b")
        seconds = took(lambda: a.sees("b") and b.sees("a"), PATIENCE)
        print(f"by beacon alone: {seconds:.2f} s")
        c = folder.start("c")  # when the others have fallen silent, its own beacon is answered
        seconds = took(lambda: c.sees("a", "b") and a.sees("c"), PATIENCE)
        print(f"a third: {seconds:.2f} s")


def other_cluster():
    with Folder() as folder:
        ours = [folder.start("a"), folder.start("b")]
        theirs = [folder.start(name, cluster=CLUSTER + "-other") for name in ("c", "d")]
        for left, right in (ours, theirs):
            took(lambda: left.sees(right.name) and right.sees(left.name), PATIENCE)
        assert set(ours[0].states()) == {"a", "b"}
        assert set(theirs[0].states()) == {"c", "d"}


def no_beacon():
    with Folder() as folder:
        silent = folder.start("silent", "--no-beacon")
        apart = folder.start("apart", "--beacon-port", str(free_udp_port()))
        heard = [folder.start("a"), folder.start("b")]
        took(lambda: heard[0].sees("b"), PATIENCE)
        for daemon in (silent, apart):
            assert set(daemon.states()) == {daemon.name}
        assert set(heard[0].states()) == {"a", "b"}


def late_seed():
    with Folder() as folder:
        port = free_tcp_port()
        early = folder.start("early", "--no-beacon", "--join", f"tcp://127.0.0.1:{port}")
        assert set(early.states()) == {"early"}
        seed = folder.start("seed", "--no-beacon", port=port)
        print(f"a seed that came late: {took(lambda: early.sees('seed'), PATIENCE):.2f} s")
        joiner = folder.start("joiner", "--no-beacon", "--join", seed.endpoint)
        seconds = took(lambda: joiner.sees("seed", "early"), PATIENCE)
        print(f"a seed that was there: {seconds:.2f} s")


def seed_names():
    with Folder() as folder:
        seed = folder.start("seed", "--no-beacon")
        port = seed.endpoint.rsplit(":", 1)[1]
        by_name = folder.start("named", "--no-beacon", "--join", f"tcp://localhost:{port}")
        took(lambda: by_name.sees("seed"), PATIENCE)
        # Both ends of a seed that is listed with others which are not there.
        dead = f"tcp://127.0.0.1:{free_tcp_port()}"
        several = folder.start("several", "--no-beacon", "--join", dead, "--join", seed.endpoint)
        took(lambda: several.sees("seed", "named"), PATIENCE)
        # An IPv4 node and an IPv6 node reach each other: each is told where the other listens.
        sixth = folder.start("sixth", "--no-beacon", "--join", seed.endpoint, host="[::1]")
        took(lambda: sixth.sees("seed", "several") and seed.sees("sixth"), PATIENCE)
        by_six = folder.start("by-six", "--no-beacon", "--join", sixth.endpoint)
        took(lambda: by_six.sees("seed", "sixth") and sixth.sees("by-six"), PATIENCE)


def kill():
    with Folder() as folder:
        daemons = folder.mesh(5)
        killed = daemons.pop(2)
        killed.process.kill()
        begun = time.monotonic()
        for daemon in daemons:
            took(lambda: daemon.sees(killed.name, state="dead"), PATIENCE)
        seconds = time.monotonic() - begun
        print(f"a killed process is known to all: {seconds:.2f} s")
        # Missed pings alone would take at least a probe, and four seconds of suspicion.
        assert seconds < 4
        names = [daemon.name for daemon in daemons]
        assert all(daemon.sees(*names) for daemon in daemons)


def leave():
    with Folder() as folder:
        daemons = folder.mesh(5)
        left = daemons.pop(2)
        left.process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        for daemon in daemons:
            took(lambda: daemon.sees(left.name, state="left"), PATIENCE)
        print(f"a node that left is known to all: {time.monotonic() - begun:.2f} s")


def stopped():
    """A process that stands still has closed nothing: a short halt is no death."""
    with Folder() as folder:
        daemons = folder.mesh(3)
        names = [daemon.name for daemon in daemons]
        daemons[1].process.send_signal(signal.SIGSTOP)
        try:
            end = time.monotonic() + 2.5
            while time.monotonic() < end:
                assert not daemons[0].sees("n1", state="dead")
        finally:
            daemons[1].process.send_signal(signal.SIGCONT)
        for daemon in daemons:
            took(lambda: daemon.sees(*names), PATIENCE)


def few_descriptors():
    with Folder() as folder:
        poor = folder.start("poor", "--no-beacon", limit=16)
        assert poor.process.wait(PATIENCE) == 1
        assert poor.notes.read_text().count("\n") == 1
        assert "ulimit -n" in poor.notes.read_text()
        # Enough to start, too few for all: it stays a member among members.
        seed = folder.start("seed", "--no-beacon", limit=80)
        others = [folder.start(f"n{i}", "--no-beacon", "--join", seed.endpoint)
                  for i in range(20)]
        for other in others:
            took(lambda: other.sees("seed", *(each.name for each in others)), PATIENCE)
        assert seed.process.poll() is None, seed.notes.read_text()


def lan():
    with Folder() as folder:
        refused = folder.start("refused", "--lan")
        assert refused.process.wait(PATIENCE) == 2
        assert "secret" in refused.notes.read_text() and "--insecure" in refused.notes.read_text()


CHECKS = {check.__name__: check
          for check in (beacon, other_cluster, no_beacon, late_seed, seed_names, kill, leave,
                        stopped, few_descriptors, lan)}
if __name__ == "__main__":
    CHECKS[sys.argv[2]]()
