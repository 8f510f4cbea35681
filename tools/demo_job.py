"""The main job on real input: verify this machine's packages, and route its dpkg.log as events.

Started by tools/demo, which builds what it needs. Everything that is printed is checked against
md5sum and awk; the exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import headrace

ROOT = Path(__file__).resolve().parent.parent
INFO = Path("/var/lib/dpkg/info")
LOG = Path("/var/log/dpkg.log")


class Failed(Exception):
    """What was promised did not hold."""


def say(text: str) -> None:
    print(text, flush=True)


class Kill(NamedTuple):
    worker: str
    at: datetime


class Bar:
    """A progress bar on a terminal, a line now and then elsewhere."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.shown = what, total, -1

    def show(self, done: int) -> None:
        if sys.stdout.isatty():
            filled = 40 * done // max(self.total, 1)
            print(
                f"\r  {self.what} [{'#' * filled}{'.' * (40 - filled)}] {done}/{self.total}",
                end="",
                flush=True,
            )
        elif done == self.total or done - self.shown >= max(1, self.total // 5):
            say(f"  {self.what}: {done}/{self.total}")
            self.shown = done

    def end(self) -> None:
        if sys.stdout.isatty():
            print()


class Process:
    """A program of the demo: what it prints, line by line, and its end."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self.name, self.log = name, log
        self.lines: list[str] = []
        self.new_line = threading.Condition()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log.open("w"), text=True
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.new_line:
                self.lines.append(line.rstrip("\n"))
                self.new_line.notify_all()

    def line(self, accept: object, timeout: float = 30.0) -> str | None:
        """The first line for which accept(line) is true, or None after `timeout` seconds."""
        assert callable(accept)
        deadline = time.monotonic() + timeout
        with self.new_line:
            while True:
                for line in self.lines:
                    if accept(line):
                        return line
                left = deadline - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self.new_line.wait(0.2)):
                    return None
                self.new_line.wait(min(left, 0.2))

    def event(self, kind: str, timeout: float = 30.0) -> dict[str, object]:
        line = self.line(
            lambda text: text.startswith("{") and json.loads(text)["event"] == kind, timeout
        )
        if line is None:
            raise Failed(f"{self.name} did not say '{kind}' within {timeout:.0f} s; see {self.log}")
        event: dict[str, object] = json.loads(line)
        return event

    def end(self, sig: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(sig)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def package_lists() -> dict[str, bytes]:
    lists = {
        path.name.removesuffix(".md5sums"): path.read_bytes()
        for path in sorted(INFO.glob("*.md5sums"))
    }
    if not lists:
        raise Failed(f"no package lists under {INFO}: is this a Debian machine?")
    return lists


def start_worker(number: int, endpoint: str, folder: Path) -> Process:
    command = [
        sys.executable,
        str(ROOT / "tools" / "demo_worker.py"),
        "--join",
        endpoint,
        "--name",
        f"worker-{number}",
    ]
    return Process(f"worker-{number}", command, folder / f"worker-{number}.log")


def job_id(package: str) -> str:
    """Made by us, so that adding a package again is the same job."""
    return hashlib.blake2b(package.encode(), digest_size=16).hexdigest()


def add_jobs(node: headrace.Node, lists: dict[str, bytes]) -> int:
    """Adds every job twice; returns how many of the repeats were recognised."""

    def add_all() -> list[headrace.JobHandle]:
        futures = [
            node.jobs.submit("dpkg.verify", {"package": package}, payload, id=job_id(package))
            for package, payload in lists.items()
        ]
        return [future.result(60) for future in futures]

    added = add_all()
    repeated = add_all()
    same = sum(one.id == other.id for one, other in zip(added, repeated))
    if same != len(lists):
        raise Failed(f"{len(lists) - same} repeated adds became other jobs")
    return same


def finished(node: headrace.Node) -> list[headrace.JobInfo]:
    return node.jobs.find(state="SUCCEEDED", topic="dpkg.verify", limit=10000)


def wait_until(node: headrace.Node, count: int, bar: Bar, deadline: float) -> None:
    while (done := len(finished(node))) < count:
        bar.show(done)
        if time.monotonic() > deadline:
            states = Counter(
                info.state for info in node.jobs.find(topic="dpkg.verify", limit=10000)
            )
            raise Failed(f"only {done} of {count} jobs have ended in time; states: {dict(states)}")
        time.sleep(0.05)
    bar.show(done)


def check_with_md5sum(lists: dict[str, bytes]) -> tuple[set[bytes], set[bytes]]:
    """What md5sum -c finds over the same lists: files that differ, files it could not read."""
    run = subprocess.run(
        ["md5sum", "--check", "--quiet"],
        cwd="/",
        input=b"".join(lists.values()),
        capture_output=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    differ: set[bytes] = set()
    unread: set[bytes] = set()
    for line in run.stdout.splitlines():
        name, _, verdict = line.rpartition(b": ")
        (differ if verdict == b"FAILED" else unread).add(name)
    return differ, unread


def route_log(endpoint: str, folder: Path) -> None:
    """Publishes every line of a copy of dpkg.log and compares the counts with awk's over it."""
    copy = folder / "dpkg.log"
    if not LOG.exists():
        raise Failed(f"{LOG} is missing: is this a Debian machine?")
    shutil.copyfile(LOG, copy)
    lines = copy.read_text(errors="replace").splitlines()
    expected_status = int(
        subprocess.check_output(["awk", '$3 == "status" {n++} END {print n + 0}', copy])
    )
    expected_rest = int(
        subprocess.check_output(["awk", '$3 != "status" {n++} END {print n + 0}', copy])
    )

    counts: Counter[str] = Counter()
    with headrace.Node(name="listener", join=[endpoint]) as listener:

        @listener.on("dpkg.log.status", sink=True)
        def on_status(event: headrace.Event) -> None:
            counts["status"] += 1

        @listener.on("*")
        def on_rest(event: headrace.Event) -> None:
            counts["rest"] += 1

        with headrace.Node(name="publisher", join=[endpoint]) as publisher:
            publisher.wait_ready(10)
            deadline = time.monotonic() + 10
            while (
                publisher.match_count("dpkg.log.status.x") != 1 or publisher.match_count("a") != 1
            ):
                if time.monotonic() > deadline:
                    raise Failed(
                        "the publisher did not hear of the listener's registrations within 10 s"
                    )
                time.sleep(0.01)
            dropped = 0
            bar = Bar("dpkg.log lines published", len(lines))
            started = time.monotonic()
            for number, line in enumerate(lines, 1):
                fields = line.split()
                package = fields[4] if fields[2] == "status" else fields[3]
                topic = f"dpkg.log.{fields[2]}.{package.replace('.', '_')}"
                dropped += publisher.publish(
                    topic, {"line": number}, line.encode(), timeout=10
                ).dropped
                if number % 500 == 0 or number == len(lines):
                    bar.show(number)
            bar.end()
            while sum(counts.values()) < len(lines) - dropped and time.monotonic() < started + 60:
                time.sleep(0.01)
    say(f"  events   {len(lines)} published; status {counts['status']} (awk {expected_status}), "
        f"others {counts['rest']} (awk {expected_rest}), dropped {dropped}")  # fmt: skip
    if dropped:
        raise Failed(f"publish reported {dropped} drops")
    if (counts["status"], counts["rest"]) != (expected_status, expected_rest):
        raise Failed("the counts of events differ from awk's")


def tell_outcome(infos: list[headrace.JobInfo], names: dict[str, str], kill: Kill) -> None:
    def count(kind: str) -> int:
        return sum(len(info.result[kind]) for info in infos)

    files = sum(info.result["files"] for info in infos)
    verified = sum(info.result["verified"] for info in infos)
    say(
        f"  packages {len(infos)}; files {files}: verified {verified}, mismatched"
        f" {count('mismatched')}, missing {count('missing')}, unreadable {count('unreadable')}"
    )
    by_worker = Counter(names.get(str(info.consumer), str(info.consumer)) for info in infos)
    say("  jobs     " + ", ".join(f"{name} {count}" for name, count in sorted(by_worker.items())))
    again = [info.started for info in infos if info.deliveries > 1 and info.started is not None]
    again = [started for started in again if started > kill.at]
    if again:
        first, last = min(again) - kill.at, max(again) - kill.at
        say(
            f"  kill     {len(again)} jobs that {kill.worker} held were handed out again,"
            f" {first.total_seconds():.2f} to {last.total_seconds():.2f} s after the kill"
        )
    else:
        say(f"  kill     {kill.worker} held no job at that moment")


def summarise(
    node: headrace.Node, lists: dict[str, bytes], names: dict[str, str], kill: Kill, repeats: int
) -> None:
    infos = node.jobs.find(topic="dpkg.verify", limit=10000)
    if len(infos) != len(lists) or len({info.id for info in infos}) != len(lists):
        raise Failed(f"{len(lists)} packages, but {len(infos)} jobs")
    if any(info.state != "SUCCEEDED" for info in infos):
        raise Failed(f"not every job succeeded: {Counter(info.state for info in infos)}")
    tell_outcome(infos, names, kill)
    say(f"  again    {repeats} duplicates refused: each package was added twice, and is one job")

    results = [info.result for info in infos]
    mismatched = {name for result in results for name in result["mismatched"]}
    not_read = {name for result in results for name in result["missing"] + result["unreadable"]}
    differ, unread = check_with_md5sum(lists)
    if mismatched != differ:
        raise Failed(f"mismatches differ from md5sum's by {sorted(mismatched ^ differ)[:5]}")
    if not_read != unread:
        raise Failed(f"unread files differ from md5sum's by {sorted(not_read ^ unread)[:5]}")
    say(
        f"  check    md5sum -c finds the same {len(differ)} mismatches"
        f" and {len(unread)} files it cannot read"
    )


def run(args: argparse.Namespace, folder: Path) -> None:
    lists = package_lists()
    started: list[Process] = []
    try:
        say(f"1. a daemon that owns the jobs, and a worker   ({folder})")
        command = [str(args.program), "node", "--name", "owner", "--data", str(folder / "owner")]
        owner = Process("owner", command + ["--listen", "tcp://127.0.0.1:0"], folder / "owner.log")
        started.append(owner)
        ready = owner.line(lambda text: text.startswith("ready "))
        if ready is None:
            raise Failed(f"the daemon did not start: {(folder / 'owner.log').read_text().strip()}")
        endpoint = dict(word.split("=", 1) for word in ready.split()[1:])["listen"]
        workers = [start_worker(1, endpoint, folder)]
        started += workers
        names = {str(workers[0].event("ready")["id"]): "worker-1"}

        with headrace.Node(name="adder", join=[endpoint], owner=endpoint) as node:
            node.wait_ready(10)
            total = len(lists)
            say(f"2. {total} packages, one durable job each; a second worker joins late")
            begun = time.monotonic()
            repeats = add_jobs(node, lists)
            say(
                f"  added    {total} jobs with {sum(map(len, lists.values())) / 1e6:.1f} MB of"
                f" lists, each twice, in {time.monotonic() - begun:.2f} s"
            )
            deadline = time.monotonic() + args.timeout
            bar = Bar("packages verified", total)
            wait_until(node, max(1, int(total * min(0.1, args.kill_at / 2))), bar, deadline)
            workers.append(start_worker(2, endpoint, folder))
            started.append(workers[-1])
            joined = workers[-1].event("ready")
            names[str(joined["id"])] = "worker-2"
            first = workers[-1].event("first")
            waited = float(str(first["time"])) - float(str(joined["time"]))

            wait_until(node, int(total * args.kill_at), bar, deadline)
            workers[0].process.kill()
            kill = Kill("worker-1", datetime.now(timezone.utc))
            workers.append(start_worker(3, endpoint, folder))
            started.append(workers[-1])
            names[str(workers[-1].event("ready")["id"])] = "worker-3"
            wait_until(node, total, bar, deadline)
            bar.end()
            say(
                f"3. worker-1 was killed at {args.kill_at:.0%}, worker-3 took its place;"
                f" worker-2 had its first job {waited * 1000:.0f} ms after it joined"
            )
            say("4. every line of dpkg.log as an event")
            route_log(endpoint, folder)
            say("5. the outcome")
            summarise(node, lists, names, kill, repeats)
    finally:
        for process in reversed(started):
            process.end()


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/demo", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--kill-at",
        type=float,
        metavar="SHARE",
        help="kill the first worker when this share of the jobs has ended"
        " (default: random, 0.2 to 0.8)",
    )
    parser.add_argument(
        "--timeout", type=float, default=900, metavar="SECONDS", help="for all jobs (default: 900)"
    )
    parser.add_argument(
        "--program",
        type=Path,
        default=ROOT / "build" / "release" / "bin" / "headrace",
        metavar="FILE",
        help="the daemon (default: %(default)s)",
    )
    args = parser.parse_args()
    args.kill_at = args.kill_at if args.kill_at is not None else round(random.uniform(0.2, 0.8), 2)
    folder = ROOT / "build" / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begun = time.monotonic()
    try:
        run(args, folder)
    except (Failed, headrace.Error, OSError) as error:
        say(f"demo failed: {error}\n  logs: {folder}/*.log")
        return 1
    say(f"done: everything holds ({time.monotonic() - begun:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
