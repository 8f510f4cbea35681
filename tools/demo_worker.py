"""A worker of the demo: joins a cluster and verifies the files of one Debian package for each job.

Prints one JSON object a line: {"event": "ready" | "first", ...}, so that the demo can tell when it
had its first job.
"""

import argparse
import hashlib
import json
import os
import sys
import time

import headrace


def say(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, "time": time.time(), **fields}), flush=True)


def check_file(path: str, expected: str) -> str:
    """One of verified, mismatched, missing, unreadable."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "md5") if hasattr(hashlib, "file_digest") else None
            if digest is None:
                digest = hashlib.md5()
                while block := file.read(1 << 20):
                    digest.update(block)
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except OSError:
        return "unreadable"
    return "verified" if digest.hexdigest() == expected else "mismatched"


def verify(payload: bytes) -> dict[str, object]:
    found: dict[str, list[bytes]] = {
        "verified": [],
        "mismatched": [],
        "missing": [],
        "unreadable": [],
    }
    for line in payload.splitlines():
        expected, _, name = line.partition(b"  ")
        found[check_file("/" + os.fsdecode(name), expected.decode("ascii"))].append(name)
    return {
        "files": sum(len(names) for names in found.values()),
        "verified": len(found["verified"]),
        "mismatched": found["mismatched"],
        "missing": found["missing"],
        "unreadable": found["unreadable"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--join", required=True)
    parser.add_argument("--name", required=True)
    args = parser.parse_args()
    with headrace.Node(name=args.name, join=[args.join]) as node:
        first = True

        @node.consumer("dpkg.verify")
        def run(job: headrace.RunningJob) -> dict[str, object]:
            nonlocal first
            if first:
                say("first", package=job.params["package"])
                first = False
            return verify(bytes(job.payload))

        say("ready", id=str(node.id))
        node.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
