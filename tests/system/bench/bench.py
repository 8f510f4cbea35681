"""Checks of `headrace bench`: bench.py PROGRAM CHECK.

No figure is judged: only that every promised one is there and above zero, that the parameters are
echoed, that nothing was lost, and that nothing is left behind.
"""

import json
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]


def run(*arguments):
    return subprocess.run([PROGRAM, "bench", *arguments], capture_output=True, text=True, timeout=100)


def measure(name, *arguments):
    done = run(name, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    return json.loads(lines[0])


def expect(report, parameters, figures):
    for name, value in parameters.items():
        assert report[name] == value, f"{name}: {report[name]}, not {value}"
    for name in figures:
        assert report[name] > 0, f"{name}: {report[name]}"


def in_scratch(check):
    with tempfile.TemporaryDirectory() as folder:
        check(folder)
        assert os.listdir(folder) == [], "something was left behind"


def limits():
    def check(folder):
        report = measure("limits", "--size", "64", "--count", "1000", "--round-trips", "50",
                         "--disk-seconds", "0.05", "--dir", folder)
        expect(report, {"size": 64, "directory": folder, "pin": False},
               ["zmq_push_pull_per_s", "zmq_pub_sub_8_per_s", "zmq_rtt_p50_us", "fdatasync_per_s",
                "leveldb_sync_1_per_s", "leveldb_sync_100_per_s", "leveldb_sync_1000_per_s"])
    in_scratch(check)


def events():
    report = measure("events", "--size", "50", "--count", "2000", "--subscribers", "2", "--pin")
    expect(report, {"size": 50, "count": 2000, "subscribers": 2, "pin": True, "lost": 0},
           ["delivered_per_s"])
    assert len(report["per_subscriber"]) == 2
    assert all(rate > 0 for rate in report["per_subscriber"])


def latency():
    report = measure("latency", "--size", "50", "--count", "100")
    expect(report, {"size": 50, "count": 100}, ["p50_us", "p99_us", "p999_us"])
    assert report["p50_us"] <= report["p99_us"] <= report["p999_us"]


def check_jobs(client):
    def check(folder):
        report = measure("jobs", "--size", "50", "--count", "500", "--workers", "2", "--level", "os",
                         "--starts", "10", "--dir", folder, *(["--client"] if client else []))
        expect(report,
               {"size": 50, "count": 500, "workers": 2, "level": "os", "starts": 10, "lost": 0,
                "client": client, "directory": folder},
               ["adds_per_s", "runs_per_s", "both_per_s", "start_p50_us", "start_p99_us", "rss_mb"])
    in_scratch(check)


def jobs():
    check_jobs(client=False)


def jobs_by_client():
    check_jobs(client=True)


def jobs_standing():
    def check(folder):
        report = measure("jobs", "--standing", "1000", "--standing-seconds", "0.5", "--dir", folder)
        expect(report, {"standing": 1000, "standing_seconds": 0.5, "level": "disk"},
               ["adds_per_s", "both_per_s", "rss_mb", "rss_standing_mb"])
    in_scratch(check)


def idle():
    def check(folder):
        report = measure("idle", "--seconds", "0.5", "--dir", folder)
        expect(report, {"seconds": 0.5}, ["rss_mb"])
        assert report["cpu_percent"] >= 0
    in_scratch(check)


def mesh():
    report = measure("mesh", "--nodes", "4", "--seconds", "0.5")
    expect(report, {"nodes": 4, "seconds": 0.5, "false_deaths": 0}, ["formed_ms"])
    for name in "fds", "rss_mb", "idle_bytes_per_s", "idle_messages_per_s", "cpu_percent":
        assert 0 <= report[name]["mean"] <= report[name]["most"] + 1e-9, report
    # Two sockets that listen and their threads, and a connection each way to three others at least.
    assert 2 + 3 * 2 < report["fds"]["mean"] < 100
    assert report["rss_mb"]["mean"] > 1


def compare():
    def check(folder):
        for what, count in ("events", 2000), ("fanout", 1000), ("latency", 50), ("jobs", 500):
            report = measure("compare", what, "--rounds", "2", "--count", str(count), "--dir", folder)
            expect(report, {"what": what, "rounds": 2, "size": 100, "count": count},
                   ["ratio", "headrace", "limit"])
            assert abs(report["ratio"] - report["headrace"] / report["limit"]) < 1e-9
            rounds = report["every_round"]
            assert len(rounds) == 2
            for side in "headrace", "limit":
                middle = sum(each[side] for each in rounds) / 2
                assert abs(report[side] - middle) <= 1e-9 * middle
    in_scratch(check)


def table():
    done = run("events", "--count", "1000")
    assert done.returncode == 0, done.stderr
    assert "delivered_per_s" in done.stdout
    assert "events" in done.stderr


def bad_input():
    for arguments, words in [
        (["speed"], ["speed", "limits", "events", "latency", "jobs", "idle", "mesh", "compare"]),
        ([], ["which command"]),
        (["compare"], ["WHAT is missing"]),
        (["compare", "speed"], ["speed", "fanout"]),
        (["events", "--size", "0"], ["size 0"]),
        (["events", "--size", str((16 << 20) + 1)], ["size 16777217"]),
        (["events", "--subscribers", "-1"], ["subscribers -1"]),
        (["events", "--speed", "1"], ["--speed"]),
        (["latency", "--count", "0"], ["count 0"]),
        (["jobs", "--level", "paper"], ["paper"]),
        (["jobs", "--size", "7"], ["size 7"]),
        (["jobs", "--dir", "/nowhere/at/all"], ["/nowhere/at/all"]),
        (["idle", "--seconds", "soon"], ["soon"]),
        (["mesh", "--nodes", "1"], ["nodes 1"]),
        (["mesh", "--nodes", "501"], ["nodes 501"]),
        (["limits", "--round-trips", "0"], ["0"]),
    ]:
        done = run(*arguments)
        assert done.returncode == 2, (arguments, done.returncode, done.stderr)
        assert done.stdout == "" and done.stderr.count("\n") == 1, (arguments, done.stderr)
        for word in words:
            assert word in done.stderr, (arguments, done.stderr)


CHECKS = {check.__name__: check
          for check in (limits, events, latency, jobs, jobs_by_client, jobs_standing, idle, mesh, compare,
                        table, bad_input)}
CHECKS[sys.argv[2]]()
