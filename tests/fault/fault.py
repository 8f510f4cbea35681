"""Real processes that are killed and stopped, full disks, damaged files: fault.py CHECK.

Nothing that was acknowledged is lost, and each job has one outcome. Figures are printed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

from harness import (Actor, Daemon, Skip, check_outcomes, command, jobs_at, main, wait_for)

import headrace


def say(text):
    print("  " + text, flush=True)


class Programs:
    """Kills what was started, at the end of a check."""

    def __init__(self, folder):
        self.folder, self.all = folder, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in reversed(self.all):
            if program.alive():
                program.signal(signal.SIGCONT)
            program.kill()

    def daemon(self, name, **options):
        self.all.append(Daemon(name, self.folder, **options))
        return self.all[-1]

    def actor(self, role, name, owner, *options):
        self.all.append(Actor(role, name, self.folder, "--join", owner.endpoint, "--owner",
                              owner.endpoint, *options))
        return self.all[-1]

    def restart(self, daemon):
        """Kills it and starts it again on what it left."""
        daemon.kill()
        return self.daemon(daemon.name, listen=daemon.endpoint, data=daemon.data)


class ClientAdds(threading.Thread):
    """Adds jobs through `headrace job add`, one after another, each until it is acknowledged."""

    def __init__(self, endpoint):
        super().__init__(daemon=True)
        self.endpoint, self.acknowledged, self.ended = endpoint, [], threading.Event()
        self.start()

    def run(self):
        while not self.ended.is_set():
            id = uuid.uuid4().hex
            while command("job", "add", "fault.job", "--id", id, "--node", self.endpoint,
                          code=None, timeout=60).returncode != 0:
                time.sleep(0.05)
            self.acknowledged.append(id)
            self.ended.wait(0.1)

    def stop(self):
        self.ended.set()
        self.join(60)
        assert not self.is_alive(), "an add by the client never came to an end"


def churn(folder):
    """Workers and the owner are killed, a worker stands still, jobs are added all the while."""
    with Programs(folder) as programs:
        owner = programs.daemon("owner")
        workers = [programs.actor("work", f"w{i}", owner) for i in range(3)]
        adder = programs.actor("add", "adder", owner)
        client = ClientAdds(owner.endpoint)
        starts = 1

        def go_on(runs=40):
            """Until so many more have come to their end: each fault meets jobs in flight."""
            def ended():
                return sum(len(worker.events.get("end", [])) for worker in workers)
            before = ended()
            wait_for("jobs run on", lambda: ended() >= before + runs, 60)

        go_on(), workers[0].kill()
        workers.append(programs.actor("work", "w3", owner))
        go_on(), workers[1].signal(signal.SIGSTOP)
        stopped = time.monotonic()
        for restart in (1, 2, 3):
            go_on()
            owner = programs.restart(owner)
            starts += 1
            if restart == 2:
                workers[2].kill()
                workers.append(programs.actor("work", "w4", owner))
        wait_for("it stands still for 10 s", lambda: time.monotonic() >= stopped + 10, 20)
        workers[1].signal(signal.SIGCONT)
        workers[3].kill()
        owner = programs.restart(owner)  # both at once
        starts += 1
        go_on()
        client.stop()
        adder.process.stdin.write("stop\n")
        adder.process.stdin.flush()
        adder.wait_event("done", 80)
        for id in client.acknowledged:
            command("job", "show", id, "--node", owner.endpoint)
        wait_for("the client's jobs end", lambda: all(
            row["state"] not in ("QUEUED", "ACTIVE", "DELAYED")
            for row in jobs_at(owner.endpoint, "fault.job").values()), 60)
        told = {event["job"]: event["run"] for event in adder.events["outcome"]}
        acknowledged = [event["job"] for event in adder.events["acked"]]
        say(check_outcomes(acknowledged + client.acknowledged, told,
                           jobs_at(owner.endpoint, "fault.job"), workers))
        say(f"{len(client.acknowledged)} added by clients; {starts} starts of the owner; "
            f"{len(adder.events.get('retry', []))} adds failed and were repeated")


def stale(folder):
    """A worker stands still until its job was run elsewhere; what it then says is refused."""
    with Programs(folder) as programs:
        owner = programs.daemon("owner")
        worker = programs.actor("work", "stale", owner, "--seconds", "2")
        job = command("job", "add", "fault.job", "--node", owner.endpoint).strip()
        worker.wait_event("begin", 20)
        worker.signal(signal.SIGSTOP)
        stopped = time.monotonic()
        other = programs.actor("work", "other", owner)

        def outcome():
            row = jobs_at(owner.endpoint, "fault.job")[job]
            return row if row["state"] == "SUCCEEDED" else None

        row = wait_for("another worker ends the job", outcome, 60)
        say(f"run elsewhere {time.monotonic() - stopped:.1f} s after the worker stood still")
        assert not worker.events.get("end"), "it did not stand still"
        worker.signal(signal.SIGCONT)
        worker.wait_event("end", 30)
        assert worker.end() == 0  # it goes when what it said was answered
        assert row["result"]["run"] == other.events["end"][0]["run"]
        assert outcome() == row, "the outcome has changed"


def told(folder):
    """A worker stands still until its job was run elsewhere; its handler is then told to stop."""
    with Programs(folder) as programs:
        owner = programs.daemon("owner")
        worker = programs.actor("work", "stale", owner, "--seconds", "60", "--obeys")
        job = command("job", "add", "fault.job", "--node", owner.endpoint).strip()
        worker.wait_event("begin", 20)
        worker.signal(signal.SIGSTOP)
        programs.actor("work", "other", owner)
        wait_for("another worker ends the job",
                 lambda: jobs_at(owner.endpoint, "fault.job")[job]["state"] == "SUCCEEDED", 60)
        worker.signal(signal.SIGCONT)
        continued = time.monotonic()
        worker.wait_event("told", 20)
        say(f"told to stop {time.monotonic() - continued:.2f} s after it went on")
        more = command("job", "add", "fault.job", "--node", owner.endpoint).strip()
        wait_for("its slot is free again",
                 lambda: jobs_at(owner.endpoint, "fault.job")[more]["state"] != "QUEUED", 20)
        assert worker.end() == 0


@contextlib.contextmanager
def tmpfs(folder, megabytes):
    """A small disk; only this process and its children see it."""
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "headrace-test",
                           str(disk)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skip(f"no tmpfs can be mounted: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def alone_with_mounts():
    """Runs this script again in a mount namespace of its own, where its mounts end with it."""
    if os.environ.get("HEADRACE_OWN_MOUNTS"):
        return
    if os.geteuid() != 0:
        raise Skip("a small disk of its own needs root")
    os.environ["HEADRACE_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B",
                          *sys.argv])


def fill(node, payload, most):
    """Adds jobs until the owner has no room; (their ids, what it said)."""
    added = []
    while len(added) < most:
        try:
            added.append(node.jobs.add("fault.bulk", payload=payload).id)
        except headrace.Full as error:
            return added, str(error)
    raise AssertionError(f"{most} jobs were added and the disk is not full")


def refused(node):
    try:
        node.jobs.add("fault.bulk")
    except headrace.Full:
        return True
    return False


def full_disk(folder):
    """The owner's disk fills up: adds are refused, what runs goes on, freed space is used again."""
    with tmpfs(folder, 160) as disk, Programs(folder) as programs:  # the reserve is a tenth of it
        filler = disk / "filler"
        occupy(filler, 70)
        owner = programs.daemon("owner", data=disk / "owner")
        worker = programs.actor("work", "worker", owner, "--seconds", "1", "--parallel", "4")
        with headrace.Node(join=[owner.endpoint], owner=owner.endpoint) as node:
            node.wait_ready(20)
            added, why = fill(node, os.urandom(60_000), 2000)
            free = shutil.disk_usage(disk).free >> 20
            say(f"full after {len(added)} jobs of 60 kB, with {free} MiB free: {why}")
            assert "disk" in why and owner.name in why, why
            assert free >= 8, "it was noticed too late"
            added += jobs_end_on_a_full_disk(node, filler, worker)
            check_kept(owner, added)
            owner = programs.restart(owner)
            wait_for("the owner answers", lambda: node.jobs.get(added[0]), 30)
            assert refused(node), "the disk is still full"
            check_kept(owner, added)
            filler.unlink()
            wait_for("room again, without a restart", lambda: not refused(node), 30)


def occupy(filler, megabytes):
    with filler.open("ab") as file:
        os.posix_fallocate(file.fileno(), 0, megabytes << 20)


def jobs_end_on_a_full_disk(node, filler, worker):
    """Jobs begin when there is room, and end when there is none."""
    os.truncate(filler, 10 << 20)  # beside what is new there must be place for the ballast
    wait_for("room again, without a restart", lambda: not refused(node), 30)
    running = [node.jobs.add("fault.job") for _ in range(4)]
    wait_for("the jobs run", lambda: len(worker.events.get("begin", [])) == 4, 20)
    free = shutil.disk_usage(filler.parent).free
    occupy(filler, 10 + (free >> 20) - 10)
    assert not worker.events.get("end"), "the disk was full too late to show anything"
    for job in running:
        job.result(30)
    assert refused(node)
    return [job.id for job in running]


def check_kept(owner, added):
    jobs = jobs_at(owner.endpoint, "fault.*")
    lost = set(added) - set(jobs)
    assert not lost, f"{len(lost)} jobs are lost"
    wrong = [job for job, row in jobs.items()
             if row["state"] != ("QUEUED" if row["topic"] == "fault.bulk" else "SUCCEEDED")]
    assert not wrong, f"{len(wrong)} jobs are not as they were"


def payload_of(number):
    return number.to_bytes(4, "big") * 1000


def owner_of_jobs(programs, count):
    """A killed owner with that many jobs in its log; (it, ids in the order of their adds)."""
    owner = programs.daemon("owner")
    with headrace.Node(join=[owner.endpoint], owner=owner.endpoint) as node:
        ids = [node.jobs.add("fault.bulk", payload=payload_of(n)).id for n in range(count)]
    owner.kill()
    return owner, ids


def flip(file, offset):
    with file.open("r+b") as bytes_of:
        bytes_of.seek(offset)
        byte = bytes_of.read(1)[0]
        bytes_of.seek(offset)
        bytes_of.write(bytes([byte ^ 0x10]))


def largest(owner, pattern):
    return max((owner.data / "db").glob(pattern), key=lambda file: file.stat().st_size)


def told_of(owner, ids):
    """The states that the owner tells, and its errors; of an id that nobody knows, neither."""
    states, errors = {}, {}
    with headrace.Node(join=[owner.endpoint], owner=owner.endpoint) as node:
        node.wait_ready(20)
        for id in ids:
            try:
                states[id] = node.jobs.get(id).state
            except headrace.NotFound:
                pass
            except headrace.Store as error:
                errors[id] = str(error)
    return states, errors


def damaged_log(folder):
    """A log that ends in the middle of a record loses that one; other damage stops the start."""
    with Programs(folder) as programs:
        owner, ids = owner_of_jobs(programs, 100)
        log = largest(owner, "*.log")
        flip(log, log.stat().st_size // 2)
        files = sorted(file.name for file in (owner.data / "db").iterdir())
        done = command("node", "--data", str(owner.data), "--listen", "tcp://127.0.0.1:*",
                       code=None)
        say(f"damage inside: {done.stderr.strip()}")
        assert done.returncode == 1 and str(owner.data) in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert set(files) <= {file.name for file in (owner.data / "db").iterdir()}
        flip(log, log.stat().st_size // 2)  # as it was

        os.truncate(log, log.stat().st_size - 7)
        owner = programs.restart(owner)
        states, errors = told_of(owner, ids)
        say(f"cut short: {len(states)} of {len(ids)} jobs")
        assert not errors
        # The last record may also be a note of the owner's own.
        assert list(states) == ids[:len(states)] and len(states) >= len(ids) - 1


def damaged_table(folder):
    """A damaged block of a table: its jobs are errors, all others are there and run."""
    with Programs(folder) as programs:
        owner, ids = owner_of_jobs(programs, 300)
        owner = programs.restart(owner)  # an open makes a table of the log
        owner.kill()
        table = largest(owner, "*.ldb")
        flip(table, table.stat().st_size // 2)
        owner = programs.restart(owner)
        states, errors = told_of(owner, ids)
        say(f"{len(states)} jobs are there, {len(errors)} are told as damaged: "
            f"{next(iter(errors.values()), None)}")
        assert len(states) + len(errors) == len(ids), "a job is hidden by the damage"
        assert 1 <= len(errors) <= 8, "a block holds few jobs of this size"
        worker = programs.actor("work", "worker", owner, "--topic", "fault.bulk", "--seconds", "0",
                                "--parallel", "4")
        wait_for(lambda: f"only {len(worker.events.get('end', []))} ran",
                 lambda: len({e["job"] for e in worker.events.get("end", [])}) >= len(states), 30)
        assert {e["job"] for e in worker.events["end"]} == set(states)


CHECKS = {check.__name__: check
          for check in (churn, stale, told, full_disk, damaged_log, damaged_table)}

if __name__ == "__main__":
    if sys.argv[1:] == ["full_disk"]:
        try:
            alone_with_mounts()
        except Skip as reason:
            print(f"skipped: {reason}")
            sys.exit(77)
    sys.exit(main(CHECKS))
