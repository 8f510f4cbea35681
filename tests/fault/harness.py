"""What the tests with real processes share: the daemon, programs in Python that add and run jobs,
watched views, and what must hold of jobs at the end.

A test is a function of a script's CHECKS; the script takes its name. Exit code 77: not possible
here, with the reason on stdout.
"""

import collections
import ctypes
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = str(pathlib.Path(os.environ.get("HEADRACE_BIN", ".")) / "headrace")
SKIPPED = 77
# Daemons and actors of one test find none of another's; here they meet by address.
os.environ["HEADRACE_BEACON"] = "off"
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def end_with_parent():
    """In a child before it becomes its program: a test that is killed leaves nothing running."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Skip(Exception):
    """This machine does not allow the test."""


def wait_for(what, holds, timeout):
    """Until holds() is true; returns what it gave. After `timeout` s it fails with `what`."""
    deadline = time.monotonic() + timeout
    while True:
        held = holds()
        if held:
            return held
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout} s: {what() if callable(what) else what}")
        time.sleep(0.02)


class Process:
    """A program in the background; its lines of stdout are kept, stderr goes to a log."""

    def __init__(self, name, command, folder, prefix=()):
        self.name = name
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.lines = []
        self.arrived = queue.Queue()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([*prefix, *command], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, text=True,
                                            preexec_fn=end_with_parent)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.took(line.rstrip("\n"))
        self.arrived.put(None)

    def took(self, line):
        self.lines.append(line)
        self.arrived.put(line)

    def line(self, timeout=30.0):
        """The next line; fails if there is none in time."""
        try:
            line = self.arrived.get(timeout=timeout)
        except queue.Empty:
            line = None
        assert line is not None, f"{self.name} said nothing:\n{self.log.read_text()}"
        return line

    def alive(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.alive():
            self.process.kill()
        self.process.wait()
        self.reader.join(10)  # what it said before is all here

    def end(self, timeout=20):
        """Asks it to end; its exit code."""
        if self.alive():
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end in {timeout} s") from None
        self.reader.join(10)
        return code


class Daemon(Process):
    """`headrace node`."""

    def __init__(self, name, folder, *options, listen="tcp://127.0.0.1:*", prefix=(), data=None):
        self.data = pathlib.Path(data or pathlib.Path(folder) / f"{name}.data")
        super().__init__(name, [PROGRAM, "node", "--json", "--name", name, "--data",
                                str(self.data), "--listen", listen, *options], folder, prefix)
        self.ready = json.loads(self.line())
        self.endpoint, self.id = self.ready["listen"], self.ready["id"]


class Actor(Process):
    """A role of actor.py; its lines are events, by kind in `events`."""

    def __init__(self, role, name, folder, *options, prefix=()):
        self.events = {}
        super().__init__(name, [sys.executable, str(HERE / "actor.py"), role, "--name", name,
                                *options], folder, prefix)
        self.wait_event("ready", 40)

    def took(self, line):
        event = json.loads(line)
        self.events.setdefault(event["event"], []).append(event)
        super().took(line)

    def wait_event(self, kind, timeout):
        def there():
            if not self.events.get(kind):
                assert self.alive(), f"{self.name} ended:\n{self.log.read_text()}"
            return self.events.get(kind)

        return wait_for(f"{self.name} says {kind}", there, timeout)[0]


class View(Process):
    """How one node sees the others: `headrace members --watch`."""

    def __init__(self, name, folder, endpoint, prefix=()):
        self.changes = []  # (seconds since some start, change)
        self.members = {}
        super().__init__(f"view-{name}", [PROGRAM, "members", "--watch", "--json", "--node",
                                          endpoint], folder, prefix)

    def took(self, line):
        change = json.loads(line)
        self.changes.append((time.monotonic(), change))
        self.members[change["name"]] = dict(change, state="gone") \
            if change["change"] == "forgotten" else change

    def states(self):
        return {name: member["state"] for name, member in self.members.items()}

    def of(self, name, state, since=0.0):
        """When `name` came into that state, for the first time from `since` on; None if never."""
        return next((at for at, change in self.changes if at >= since and change["name"] == name
                     and change["state"] == state and change["change"] in ("found", "state")), None)


def command(*arguments, prefix=(), timeout=30, code=0):
    """Runs the program to its end; its stdout."""
    done = subprocess.run([*prefix, PROGRAM, *arguments], capture_output=True, text=True,
                          timeout=timeout)
    if code is not None:
        assert done.returncode == code, f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"
    return done if code is None else done.stdout


def jobs_at(endpoint, topic, prefix=()):
    """All jobs of that topic in a node's store, by id."""
    rows = json.loads(command("job", "list", "--json", "--limit", "10000", "--topic", topic,
                              "--node", endpoint, prefix=prefix))
    assert len({row["id"] for row in rows}) == len(rows), "an id is listed twice"
    return {row["id"]: row for row in rows}


def check_outcomes(acknowledged, told, jobs, workers):
    """Every acknowledged job has one outcome: of a run that came to its end, and the one that was
    told first. Returns what to tell of them."""
    lost = [job for job in acknowledged if job not in jobs]
    assert not lost, f"{len(lost)} acknowledged jobs are not there any more: {lost[:3]}"
    for job in acknowledged:
        row = jobs[job]
        assert row["state"] == "SUCCEEDED", f"{job} is {row['state']}: {row['error']}"
    ended = {}
    for worker in workers:
        for event in worker.events.get("end", []):
            ended.setdefault(event["job"], set()).add(event["run"])
    for job in acknowledged:
        run = jobs[job]["result"]["run"]
        assert run in ended.get(job, set()), f"{job}: nobody ended the run of its outcome"
        assert told.get(job, run) == run, f"{job}: told as {told[job]}, now {run}"
    runs = sum(len(runs) for runs in ended.values())
    again = sum(jobs[job]["deliveries"] > 1 for job in acknowledged)
    by = collections.Counter(jobs[job]["result"]["worker"] for job in acknowledged)
    return (f"{len(acknowledged)} jobs with one outcome each, by "
            f"{', '.join(f'{name} {count}' for name, count in sorted(by.items()))}; "
            f"{runs} runs ended, {again} jobs were handed out again")


def main(checks):
    """Runs the check that the command line names, in a folder of its own."""
    if len(sys.argv) != 2 or sys.argv[1] not in checks:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(checks)}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        try:
            checks[sys.argv[1]](pathlib.Path(folder))
        except Skip as reason:
            print(f"skipped: {reason}")
            sys.exit(SKIPPED)
        except BaseException:
            for log in sorted(pathlib.Path(folder).glob("*.log")):
                tail = log.read_text(errors="replace").splitlines()[-15:]
                if tail:
                    print(f"--- {log.name}", *tail, sep="\n")
            raise
    print(f"{sys.argv[1]}: {time.monotonic() - began:.1f} s")
