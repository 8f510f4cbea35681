#!/usr/bin/env python3
"""Checks what the compiler does not: includes, lengths of files, what the README promises.

structure.py CHECK [ROOT]     one of the checks below; prints each violation
structure.py --self-check     plants a violation of each check and sees that it is caught
"""

import pathlib
import re
import sys
import tempfile
from typing import Callable, Dict, Iterator, List, Set, Tuple

# Each may include itself and what stands before it.
LAYERS = ["core", "transport", "nodes", "tools"]
LINES, TEST_LINES = 600, 800
SOURCE_SUFFIXES = {".h", ".cc", ".py", ".pyi", ".sh", ".cmake", ".in", ".toml", ".txt"}
PROGRAMS = {"headrace", "headrace-sim"}

NETWORK = (
    r"zmq\w*\.hpp|zmq\.h|sys/(socket|un|epoll|select)\.h|poll\.h|net\w*/.*|arpa/.*"
    r"|netdb\.h|ifaddrs\.h"
)
THREADS = (
    r"thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier"
    r"|stop_token|pthread\.h"
)
CLOCKS = r"ctime|time\.h|sys/time\.h"
FILES = (
    r"fstream|iostream|filesystem|fcntl\.h|unistd\.h|dirent\.h|sys/(stat|mman|file|statvfs)\.h"
    r"|leveldb/.*"
)
LOGS = r"spdlog/.*|syslog\.h"
BANNED = re.compile(rf"^({'|'.join([NETWORK, THREADS, CLOCKS, FILES, LOGS])})$")
BANNED_IN_STORE = re.compile(rf"^({'|'.join([NETWORK, LOGS])})$")
BANNED_CALLS = re.compile(
    r"::now\s*\(|\b(?:clock_gettime|gettimeofday|random_device|fopen|sleep_for)\b"
)

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
Root = pathlib.Path
Violations = Iterator[str]


def sources(root: Root, *folders: str) -> Iterator[Tuple[str, str]]:
    """(path from the root, text) of each C++ file under the folders."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield path.relative_to(root).as_posix(), path.read_text()


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def core_is_pure(root: Root) -> Violations:
    for name, text in sources(root, "core"):
        in_store = name.startswith("core/store/")
        for included in INCLUDE.findall(text):
            if (BANNED_IN_STORE if in_store else BANNED).match(included):
                yield f"{name}: includes <{included}>, which core must not"
        if not in_store:
            for call in BANNED_CALLS.findall(without_comments(text)):
                yield f"{name}: calls {call.strip()}, which core must not"


def includes_point_down(root: Root) -> Violations:
    for level, layer in enumerate(LAYERS):
        above = tuple(f"{other}/" for other in LAYERS[level + 1 :] + ["bindings", "tests"])
        for name, text in sources(root, layer):
            for included in INCLUDE.findall(text):
                if included.startswith(above):
                    yield f'{name}: includes "{included}" from above'


def folder_arrows(root: Root) -> Dict[str, Set[str]]:
    """For each folder of core the folders that it includes."""
    arrows: Dict[str, Set[str]] = {}
    for name, text in sources(root, "core"):
        folder = name.split("/")[1]
        targets = {path.split("/")[1] for path in INCLUDE.findall(text) if path.startswith("core/")}
        arrows.setdefault(folder, set()).update(targets - {folder})
    return arrows


def core_has_no_circle(root: Root) -> Violations:
    arrows = folder_arrows(root)
    settled: Set[str] = set()

    def walk(folder: str, trail: List[str]) -> Violations:
        if folder in trail:
            yield "circle of includes: " + " -> ".join(trail[trail.index(folder) :] + [folder])
        elif folder not in settled:
            for target in sorted(arrows.get(folder, set())):
                yield from walk(target, trail + [folder])
            settled.add(folder)

    for folder in sorted(arrows):
        yield from walk(folder, [])


def files_are_short(root: Root) -> Violations:
    for folder in LAYERS + ["bindings", "tests", "cmake", ".ci"]:
        limit = TEST_LINES if folder == "tests" else LINES
        for path in sorted((root / folder).rglob("*")):
            script = path.is_file() and not path.suffix and path.read_bytes().startswith(b"#!")
            if path.is_file() and (path.suffix in SOURCE_SUFFIXES or script):
                lines = len(path.read_text().splitlines())
                if lines > limit:
                    yield f"{path.relative_to(root)}: {lines} lines, more than {limit}"


def readme_is_true(root: Root) -> Violations:
    text = (root / "README.md").read_text()
    for path in sorted(set(re.findall(r"(?<![\w/.-])(?:tools|docs|\.ci)/[\w./-]*\w", text))):
        if not (root / path).exists():
            yield f"README.md: names {path}, which is not there"
    commands = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for command in re.findall(r"^\s*(?:\$ )?((?:tools|\.ci)/\S+)", commands, re.MULTILINE):
        if (root / command).is_file() and not (root / command).stat().st_mode & 0o111:
            yield f"README.md: {command} cannot be run"
    for program in sorted(set(re.findall(r"build/\w+/bin/([\w-]+)", text)) - PROGRAMS):
        yield f"README.md: names a program {program}, which is not built"
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not (root / link).exists():
            yield f"README.md: links to {link}, which is not there"


CHECKS: Dict[str, Callable[[Root], Violations]] = {
    check.__name__: check
    for check in (
        core_is_pure,
        includes_point_down,
        core_has_no_circle,
        files_are_short,
        readme_is_true,
    )
}

# What each check must catch, as files of a tree, and a neighbour that it must let pass.
PLANTED: List[Tuple[str, Dict[str, str]]] = [
    ("core_is_pure", {"core/base/a.h": "#include <zmq.hpp>\n"}),
    ("core_is_pure", {"core/job/a.h": "#include <sys/socket.h>\n"}),
    ("core_is_pure", {"core/flow/a.cc": "  # include <thread>\n"}),
    ("core_is_pure", {"core/flow/a.cc": "#include <time.h>\n"}),
    ("core_is_pure", {"core/peer/a.cc": "#include <fstream>\n"}),
    ("core_is_pure", {"core/peer/a.cc": "#include <leveldb/db.h>\n"}),
    ("core_is_pure", {"core/store/a.cc": "#include <zmq.h>\n"}),
    ("core_is_pure", {"core/job/a.cc": "auto t = std::chrono::steady_clock::now();\n"}),
    ("includes_point_down", {"core/base/a.h": '#include "transport/lane.h"\n'}),
    ("includes_point_down", {"transport/a.h": '#include "nodes/node.h"\n'}),
    ("includes_point_down", {"nodes/a.cc": '#include "tools/cli/main.h"\n'}),
    (
        "core_has_no_circle",
        {"core/a/x.h": '#include "core/b/y.h"\n', "core/b/y.h": '#include "core/a/z.h"\n'},
    ),
    (
        "core_has_no_circle",
        {
            "core/a/x.h": '#include "core/b/y.h"\n',
            "core/b/y.h": '#include "core/c/z.h"\n',
            "core/c/z.h": '#include "core/b/w.h"\n',
        },
    ),
    ("files_are_short", {"core/base/a.cc": "int a;\n" * (LINES + 1)}),
    ("files_are_short", {"tests/unit/a_test.cc": "int a;\n" * (TEST_LINES + 1)}),
    ("files_are_short", {"tools/run": "#!/bin/sh\n" * (LINES + 1)}),
    ("readme_is_true", {"README.md": "```\ntools/fly\n```\n"}),
    ("readme_is_true", {"README.md": "```\ntools/setup\n```\n", "tools/setup": "#!/bin/sh\n"}),
    ("readme_is_true", {"README.md": "`build/release/bin/flightrace`\n"}),
    ("readme_is_true", {"README.md": "See [there](docs/THERE.md).\n"}),
]
CLEAN = {
    "README.md": "Run `build/release/bin/headrace`.\n",
    "core/base/a.h": "#include <chrono>\n// never ::now()\n",
    "core/store/a.cc": '#include <leveldb/db.h>\n#include "core/base/a.h"\n',
    "transport/a.cc": '#include <zmq.hpp>\n#include "core/base/a.h"\n',
    "tools/a.cc": '#include "nodes/node.h"\n' * LINES,
    "tests/unit/a_test.cc": "int a;\n" * TEST_LINES,
}


def violations_in(check: str, files: Dict[str, str]) -> List[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"README.md": "", **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(CHECKS[check](root))


def self_check() -> Violations:
    for check, files in PLANTED:
        if not violations_in(check, files):
            yield f"{check} lets pass {files}"
    for check in CHECKS:
        for violation in violations_in(check, CLEAN):
            yield f"{check} is wrong about a clean tree: {violation}"
    for check in CHECKS.keys() - {check for check, _ in PLANTED}:
        yield f"{check} has no planted violation"


def main(arguments: List[str]) -> int:
    here = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(arguments[1]) if len(arguments) > 1 else here
    if arguments[:1] == ["--self-check"]:
        found = list(self_check())
    elif arguments and arguments[0] in CHECKS:
        found = list(CHECKS[arguments[0]](root))
    else:
        print(f"{__doc__}\nchecks: {' '.join(CHECKS)}", file=sys.stderr)
        return 2
    print("\n".join(found) or "no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
