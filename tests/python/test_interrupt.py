"""Ctrl-C ends every wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import run_script

# Sends SIGINT once the main thread is in WAIT(), and prints how long that went on afterwards.
FRAME = """
import os, signal, socket, sys, tempfile, threading, time
import headrace

# A port where nobody answers.
silent = socket.socket()
silent.bind(("127.0.0.1", 0))
silent.listen()
nowhere = f"tcp://127.0.0.1:{{silent.getsockname()[1]}}"
never = threading.Event()

{prepare}

sent = 0.0
ended = threading.Event()

def watch():
    # Twice in a row at the same call without the GIL: it waits.
    global sent
    main = threading.main_thread().ident
    seen = 0
    while seen < 5 and not ended.wait(0.02):
        frame = sys._current_frames()[main]
        while frame is not None and frame.f_code is not wait.__code__:
            frame = frame.f_back
        seen = seen + 1 if frame is not None else 0
    sent = time.monotonic()
    if not ended.is_set():
        os.kill(os.getpid(), signal.SIGINT)

def wait():
    {wait}

threading.Thread(target=watch, daemon=True).start()
try:
    wait()
    end = "returned"
except KeyboardInterrupt:
    end = "KeyboardInterrupt"
ended.set()
took = time.monotonic() - sent
print(end, round(took, 3) if sent else "before the signal", flush=True)
os._exit(0)
"""

WITH_STORE = "node = headrace.Node(data=tempfile.mkdtemp(dir=sys.argv[1]))"
LOST = "node = headrace.Node(join=[nowhere], owner=nowhere)"
STUCK_EVENT = """node = headrace.Node()
entered = threading.Event()
def stuck(event):
    entered.set()
    never.wait()
registration = node.register("t", stuck)
node.publish("t")
entered.wait(20)"""
# Its queue is full of small events, and moves, but slowly: there is no room for a large one.
SLOW_EVENT = """node = headrace.Node()
node.register("t", lambda event: time.sleep(0.002))
while not node.try_publish("t", payload=bytes(1024)).dropped:
    pass"""
STUCK_JOB = WITH_STORE + """
entered = threading.Event()
def stuck(job):
    entered.set()
    never.wait()
node.consume("work", stuck)
node.jobs.add("work")
entered.wait(20)"""

WAITS = {
    "result": (WITH_STORE + "\njob = node.jobs.add('work')", "job.result()"),
    "result with a timeout": (WITH_STORE + "\njob = node.jobs.add('work')", "job.result(50)"),
    "wait_ready": (LOST, "node.wait_ready(50)"),
    "add": (LOST, "node.jobs.add('work', timeout=50)"),
    "add_many": (LOST, "node.jobs.add_many([{'topic': 'work'}], timeout=50)"),
    "get": (LOST, "node.jobs.get('0' * 32, timeout=50)"),
    "find": (LOST, "node.jobs.find(timeout=50)"),
    "submit": (LOST, "[node.jobs.submit('work', payload=bytes(16 << 20)) for _ in range(20)]"),
    "publish": (SLOW_EVENT, "node.publish('t', payload=bytes(7 << 20), timeout=50)"),
    "unregister": (STUCK_EVENT, "registration.unregister()"),
    "close": (STUCK_JOB, "node.close(50)"),
    "close that waits for a handler that does not stop": (STUCK_JOB, "node.close(0)"),
}


@pytest.mark.parametrize("name", WAITS)
def test_ctrl_c_ends(name: str, tmp_path: Path) -> None:
    prepare, wait = WAITS[name]
    done = run_script(FRAME.format(prepare=prepare, wait=wait), tmp_path)
    assert done.stdout.startswith("KeyboardInterrupt"), done.stdout + done.stderr
    assert float(done.stdout.split()[1]) < 2, done.stdout


def test_ctrl_c_lets_run_return(tmp_path: Path) -> None:
    done = run_script(FRAME.format(prepare="node = headrace.Node()", wait="node.run()"), tmp_path)
    assert done.stdout.startswith("returned"), done.stdout + done.stderr
    assert float(done.stdout.split()[1]) < 2, done.stdout


def test_sigterm_lets_run_return_and_the_program_end_well(tmp_path: Path) -> None:
    done = run_script(
        """
        import os, signal, sys, threading, time
        import headrace
        with headrace.Node(data=sys.argv[1]) as node:
            def kill():
                main = threading.main_thread().ident
                while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and not taken():
                    time.sleep(0.005)
                os.kill(os.getpid(), signal.SIGTERM)
            def taken():
                # The bit of SIGTERM in the mask of signals that are caught.
                with open("/proc/self/status") as status:
                    line = next(line for line in status if line.startswith("SigCgt"))
                return int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1
            threading.Thread(target=kill).start()
            node.run()
        print("closed")
        """,
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "closed\n"), done.stderr


def test_a_signal_handler_of_the_program_runs_during_a_wait_and_the_wait_goes_on(
    tmp_path: Path,
) -> None:
    done = run_script(
        """
        import signal, sys, threading, os
        import headrace
        heard = threading.Event()
        signal.signal(signal.SIGUSR1, lambda *_: heard.set())
        with headrace.Node(data=sys.argv[1]) as node:
            def later():
                os.kill(os.getpid(), signal.SIGUSR1)
                assert heard.wait(20)
                node.consume("work", lambda job: "done")
            job = node.jobs.add("work")
            threading.Thread(target=later).start()
            print(job.result(30), heard.is_set())
        """,
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "done True\n"), done.stderr
