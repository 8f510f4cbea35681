"""The end of the interpreter, and forks, with nodes open."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import run_script

HEAD = """
import os, sys, threading, time
import headrace
node = headrace.Node(data=sys.argv[1])
entered = threading.Event()
"""


def test_a_node_left_open_is_closed_at_the_end(tmp_path: Path) -> None:
    done = run_script(HEAD + "node.jobs.add('work')\nsys.exit(3)", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    done = run_script(HEAD + "print(len(node.jobs.find()))", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_an_exception_that_ends_the_program_shows_and_the_node_closes(tmp_path: Path) -> None:
    done = run_script(HEAD + "raise LookupError('mine')", tmp_path)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("LookupError: mine")


def test_a_handler_that_heeds_stopping_ends_with_the_program(tmp_path: Path) -> None:
    done = run_script(
        HEAD + """
def handler(job):
    entered.set()
    while not job.stopping:
        time.sleep(0.005)
    print("stopped", flush=True)
node.consume("work", handler)
node.jobs.add("work")
entered.wait(20)
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")


@pytest.mark.parametrize("body", ["time.sleep(0.001)", "pass", "threading.Event().wait()"])
def test_a_handler_that_never_ends_is_left_behind_and_said(tmp_path: Path, body: str) -> None:
    done = run_script(
        HEAD + f"""
def handler(job):
    entered.set()
    while True:
        {body}
node.consume("work", handler)
node.jobs.add("work")
entered.wait(20)
print("ends", flush=True)
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr
    assert (
        done.stderr
        == f"headrace: a callback of node {name_in(done.stderr)} still runs; it is left behind\n"
    )


def name_in(line: str) -> str:
    return line.split()[5] if len(line.split()) > 5 else "?"


def test_events_may_pour_in_while_the_program_ends(tmp_path: Path) -> None:
    done = run_script(
        HEAD + """
counted = 0
@node.on("t")
def count(event):
    global counted
    counted += 1
    if counted == 1000:
        entered.set()
def pour():
    while True:
        try:
            node.publish("t", {"a": 1}, b"x" * 100)
        except headrace.Closed:
            return
for _ in range(3):
    threading.Thread(target=pour, daemon=True).start()
entered.wait(20)
print("ends", flush=True)
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


def test_futures_of_the_last_moment_do_no_harm(tmp_path: Path) -> None:
    done = run_script(HEAD + "kept = [node.jobs.submit('work') for _ in range(500)]", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = run_script(HEAD + "print(len(node.jobs.find(limit=1000)))", tmp_path)
    assert (done.stdout, done.stderr) == ("500\n", "")


FORK = HEAD + """
job = node.jobs.add("work")
registration = node.register("t", print)
consumer = node.consume("other", print)
child = os.fork()
if child == 0:
    calls = [
        lambda: node.publish("t"), lambda: node.try_publish("t"), lambda: node.jobs.add("work"),
        lambda: node.jobs.submit("work"), lambda: node.jobs.find(),
        lambda: node.members(), lambda: node.run(),
        lambda: node.wait_ready(), lambda: node.match_count("t"), lambda: node.register("t", print),
        lambda: node.consume("t", print), lambda: job.info(), lambda: job.result(),
        lambda: registration.unregister(), lambda: consumer.stop(),
    ]
    for number, call in enumerate(calls):
        try:
            call()
            print("no error from", number)
        except headrace.Closed as error:
            if "forked" not in str(error):
                print(number, error)
    node.close()
    node.stop()
    with headrace.Node() as own:
        seen = threading.Event()
        own.register("mine", lambda event: seen.set())
        own.publish("mine")
        print("own node", seen.wait(20), own.id != node.id, flush=True)
    {end}
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
node.consume("work", lambda job: "still here")
print(job.result(30))
"""


@pytest.mark.parametrize(
    "end", ["os._exit(7)", "sys.exit(7)", "del node, job, registration; sys.exit(7)"]
)
def test_a_forked_child_never_touches_its_parents_node(tmp_path: Path, end: str) -> None:
    done = run_script(FORK.replace("{end}", end), tmp_path)
    assert done.stdout == "own node True True\nchild 7\nstill here\n", done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_node_does_no_harm_in_a_forked_child(tmp_path: Path) -> None:
    done = run_script(
        HEAD + """
job = node.jobs.add("work")
node.close()
del node
child = os.fork()
if child == 0:
    del job
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
