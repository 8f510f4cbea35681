"""Programs of the tests, as users write them: actor.py work|add. Prints one JSON object a line.

work: runs jobs. A run says that it begins, and that it ends before its result counts.
add:  adds jobs until a line comes on stdin, each again under its id until it is acknowledged; then
      waits for all outcomes. `acked` once a job is, `outcome` once its result is told, `done`.
"""

import argparse
import json
import sys
import threading
import time
import uuid

import headrace

TOPIC = "fault.job"
UNDECIDED = (headrace.OutcomeUnknown, headrace.Timeout, headrace.Unreachable, headrace.NoStore,
             headrace.Full, headrace.Store)
printing = threading.Lock()


def say(event, **fields):
    with printing:
        print(json.dumps({"event": event, **fields}), flush=True)


def open_node(args):
    return headrace.Node(name=args.name, join=args.join, owner=args.owner, data=args.data,
                         listen=args.listen, insecure=args.insecure)


def work(args):
    with open_node(args) as node:

        @node.consumer(args.topic, parallel=args.parallel)
        def run(job):
            run = uuid.uuid4().hex
            say("begin", job=job.id, run=run, deliveries=job.deliveries)
            until = time.monotonic() + args.seconds
            while time.monotonic() < until and not (args.obeys and job.stopping):
                time.sleep(min(0.05, args.seconds))
            if args.obeys and job.stopping:
                say("told", job=job.id, run=run)
            say("end", job=job.id, run=run)
            return {"run": run, "worker": args.name}

        say("ready", id=node.id)
        node.run()


def add_one(node, args, number):
    id = uuid.uuid4().hex
    while True:
        try:
            return node.jobs.add(args.topic, {"number": number}, b"x" * args.size, id=id, timeout=5)
        except UNDECIDED as error:
            say("retry", job=id, why=f"{type(error).__name__}: {error}")
            time.sleep(0.05)


def result_of(handle):
    while True:
        try:
            return handle.result(timeout=2)
        except (headrace.Timeout, headrace.Unreachable, headrace.OutcomeUnknown, headrace.Store):
            time.sleep(0.05)  # it is there; whoever can tell is not


def add(args):
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    handles = []
    with open_node(args) as node:
        say("ready", id=node.id)
        while not stop.is_set():
            handles.append(add_one(node, args, len(handles)))
            say("acked", job=handles[-1].id)
            stop.wait(args.period)
        say("stopped", count=len(handles))
        for handle in handles:
            say("outcome", job=handle.id, run=result_of(handle)["run"])
        say("done")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["work", "add"])
    parser.add_argument("--name", required=True)
    parser.add_argument("--join", action="append", default=[])
    parser.add_argument("--owner")
    parser.add_argument("--data")
    parser.add_argument("--listen")
    parser.add_argument("--insecure", action="store_true")
    parser.add_argument("--topic", default=TOPIC)
    parser.add_argument("--seconds", type=float, default=0.1, help="that a run takes")
    parser.add_argument("--obeys", action="store_true", help="runs end when they are to stop")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--period", type=float, default=0.05, help="between two adds")
    parser.add_argument("--size", type=int, default=100, help="of a payload")
    args = parser.parse_args()
    {"work": work, "add": add}[args.role](args)


if __name__ == "__main__":
    main()
