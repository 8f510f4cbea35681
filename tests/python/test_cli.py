"""The program `headrace`, run as its users run it, against real nodes on free ports."""

import base64
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import pytest

import headrace

BIN = os.environ.get("HEADRACE_BIN")
pytestmark = pytest.mark.skipif(BIN is None, reason="HEADRACE_BIN names no folder of programs")
PROGRAM = str(pathlib.Path(BIN or ".") / "headrace")
DEADLINE = 30.0
ANY_PORT = "tcp://127.0.0.1:*"
ID = re.compile(r"[0-9a-f]{32}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def run(*arguments: str, code: int = 0, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs the program to its end, which must be `code`."""
    options.setdefault("text", True)
    done = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, timeout=DEADLINE, check=False, **options
    )
    assert done.returncode == code, f"{arguments}: {done.returncode}, {done.stdout}{done.stderr}"
    return done


def complaint(*arguments: str, code: int, **options: Any) -> str:
    """The one line on stderr of a run that must fail, with nothing on stdout."""
    done = run(*arguments, code=code, **options)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def read_line(stream: Any) -> str:
    """One line of a process that goes on."""
    end = time.monotonic() + DEADLINE
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"no line within {DEADLINE} s, only {line!r}"
        part = os.read(stream.fileno(), 1)
        assert part, f"ended after {line!r}"
        line += part
    return line.decode().rstrip("\n")


class Program:
    """A run of the program that goes on until it is ended."""

    def __init__(self, *arguments: str, **options: Any) -> None:
        self.process = subprocess.Popen(
            [PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    def line(self) -> str:
        return read_line(self.process.stdout)

    def error_line(self) -> str:
        return read_line(self.process.stderr)

    def end(self, signum: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signum)
        try:
            self.process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class Daemon(Program):
    def __init__(self, *arguments: str, listen: Optional[str] = ANY_PORT, **options: Any) -> None:
        where = [] if listen is None else ["--listen", listen]
        super().__init__("node", *where, *arguments, **options)
        self.data = arguments[arguments.index("--data") + 1] if "--data" in arguments else ""
        try:
            self.ready = dict(word.split("=", 1) for word in self.line().split()[1:])
        except BaseException:
            self.process.kill()
            _, errors = self.process.communicate()
            raise AssertionError(errors.decode()) from None
        self.endpoint = self.ready["listen"]

    def __enter__(self) -> "Daemon":
        return self


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon("--name", "owner", "--data", str(tmp_path_factory.mktemp("owner"))) as node:
        yield node


def at(node: Daemon) -> Tuple[str, str]:
    return "--node", node.endpoint


def test_every_command_has_help_that_fits_a_screen_and_a_version() -> None:
    commands: List[List[str]] = [[], ["job"]]
    commands += [[name] for name in ("node", "pub", "sub", "members")]
    commands += [["job", name] for name in ("add", "list", "show")]
    for command in commands:
        text = run(*command, "--help").stdout
        assert text.startswith(" ".join(["usage: headrace", *command]))
        assert len(text.splitlines()) <= 40
        assert max(map(len, text.splitlines())) <= 100
        assert re.fullmatch(r"headrace \d+\.\d+\.\d+\n", run(*command, "--version").stdout)


def test_help_shows_defaults() -> None:
    env = {**os.environ, "HEADRACE_NODE": "tcp://10.1.2.3:4"}
    assert "tcp://10.1.2.3:4" in run("members", "--help", env=env).stdout
    assert "tcp://127.0.0.1:7420" in run("node", "--help").stdout
    assert "(=4)" in run("job", "add", "--help").stdout


USAGE: List[Tuple[Sequence[str], str, str]] = [
    ((), "which command", "headrace --help"),
    (("fly",), "'fly'", "headrace --help"),
    (("--fly",), "'--fly'", "headrace --help"),
    (("job", "fly"), "'fly'", "headrace job --help"),
    (("pub", "a", "--fly"), "'--fly'", "headrace pub --help"),
    (("pub", "a", "--pay", "x"), "'--pay'", "headrace pub --help"),
    (("pub",), "TOPIC", "headrace pub --help"),
    (("pub", "a", "b"), "1 argument", "headrace pub --help"),
    (("pub", "a..b"), "'a..b'", "headrace pub --help"),
    (("pub", "a.*"), "'a.*'", "headrace pub --help"),
    (("pub", "a", "-p", "size"), "'size'", "headrace pub --help"),
    (("pub", "a", "-p", "=x"), "'=x'", "headrace pub --help"),
    (("pub", "a", "-p", "k=1", "-p", "k=2"), "'k' is given twice", "headrace pub --help"),
    (("pub", "a", "-p", "k:={"), "'k': '{' is not JSON", "headrace pub --help"),
    (("pub", "a", "-p", "k:=" + "9" * 20), "64 bits", "headrace pub --help"),
    (("pub", "a", "-p", "k:=" + "[" * 40), "32 levels", "headrace pub --help"),
    (("pub", "a", "--node", "nowhere"), '"nowhere"', "headrace pub --help"),
    (("pub", "a", "--node", "tcp://h:0"), "tcp://h:", "headrace pub --help"),
    (("sub", "a.>.b"), "'a.>.b'", "headrace sub --help"),
    (("sub", "a", "--count", "-1"), "-1", "headrace sub --help"),
    (("job", "add", "a", "--priority", "10"), "10 is not between 0", "headrace job add --help"),
    (("job", "add", "a", "--priority", "x"), "'x'", "headrace job add --help"),
    (("job", "add", "a", "--max-attempts", "0"), "0 is not between", "headrace job add --help"),
    (("job", "add", "a", "--level", "tape"), "tape", "headrace job add --help"),
    (("job", "add", "a", "--wait=soon"), "'soon'", "headrace job add --help"),
    (("job", "add", "a", "--id", "12"), "'12'", "headrace job add --help"),
    (("job", "list", "--state", "LOST"), "LOST", "headrace job list --help"),
    (("job", "list", "--topic", "a..b"), "'a..b'", "headrace job list --help"),
    (("job", "list", "--limit", "10001"), "10001", "headrace job list --help"),
    (("job", "show", "12"), "'12'", "headrace job show --help"),
    (("node", "--listen", "7420"), '"7420"', "headrace node --help"),
    (("node", "--join", "here"), '"here"', "headrace node --help"),
    (("node", "--lan"), "--insecure", "headrace node --help"),
    (("node", "--listen", "tcp://0.0.0.0:0"), "--insecure", "headrace node --help"),
    (("node", "--lan", "--listen", ANY_PORT), "--lan", "headrace node --help"),
    (("node", "--name", "a b"), "'a b'", "headrace node --help"),
    (("node", "--data", ""), "--data", "headrace node --help"),
]


@pytest.mark.parametrize("arguments,named,help_page", USAGE)
def test_a_wrong_command_line_gets_one_line_that_names_the_fault_and_the_help(
    arguments: Sequence[str], named: str, help_page: str, tmp_path: pathlib.Path
) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    line = complaint(*arguments, code=2, env=env)
    assert named in line
    assert line.endswith(f"see: {help_page}")


def free_endpoint() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize("command", [["pub", "a"], ["sub", "a"], ["members"], ["job", "list"]])
def test_where_no_node_runs_the_error_says_how_to_start_one(command: List[str]) -> None:
    endpoint = free_endpoint()
    line = complaint(*command, "--node", endpoint, code=1)
    assert f"headrace node --listen {endpoint}" in line
    env = {**os.environ, "HEADRACE_NODE": endpoint}
    assert endpoint in complaint(*command, code=1, env=env)


def test_a_payload_that_cannot_be_taken_is_refused_before_connecting(
    tmp_path: pathlib.Path,
) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate((16 << 20) + 1)
    for command in (["pub"], ["job", "add"]):
        line = complaint(*command, "a", "--payload", str(large), code=1)
        assert str((16 << 20) + 1) in line and str(16 << 20) in line
        with large.open("rb") as file:
            line = complaint(*command, "a", "--payload", "-", code=1, stdin=file)
        assert str(16 << 20) in line
        missing = str(tmp_path / "missing")
        assert missing in complaint(*command, "a", "--payload", missing, code=1)
        assert str(tmp_path) in complaint(*command, "a", "--payload", str(tmp_path), code=1)


def test_a_node_says_ready_and_ends_well_on_either_signal(tmp_path: pathlib.Path) -> None:
    for signum in (signal.SIGINT, signal.SIGTERM):
        node = Daemon("--name", "mill", "--data", str(tmp_path))
        assert node.ready["name"] == "mill"
        assert ID.fullmatch(node.ready["id"])
        assert re.fullmatch(r"tcp://127\.0\.0\.1:\d+", node.ready["listen"])
        assert node.end(signum) == 0


def test_a_node_keeps_its_id_and_its_default_data_directory(tmp_path: pathlib.Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    with Daemon(env=env) as first:
        assert (tmp_path / "headrace").is_dir()
    with Program("node", "--json", "--listen", ANY_PORT, env=env) as second:
        ready = json.loads(second.line())
    assert ready["id"] == first.ready["id"]
    assert set(ready) == {"name", "id", "listen"}


def test_a_taken_port_is_an_error_if_asked_for_and_else_avoided(
    daemon: Daemon, tmp_path: pathlib.Path
) -> None:
    line = complaint("node", "--data", str(tmp_path), "--listen", daemon.endpoint, code=1)
    assert daemon.endpoint in line
    # Two that ask for nothing: at most one of them has the usual port.
    with Daemon("--data", str(tmp_path / "a"), listen=None) as first:
        with Daemon("--data", str(tmp_path / "b"), listen=None) as second:
            assert first.endpoint != second.endpoint


def test_bad_data_directories_are_named(daemon: Daemon, tmp_path: pathlib.Path) -> None:
    below_file = tmp_path / "file" / "data"
    below_file.parent.write_text("")
    line = complaint("node", "--data", str(below_file), "--listen", ANY_PORT, code=1)
    assert str(below_file.parent) in line
    line = complaint("node", "--data", daemon.data, "--listen", ANY_PORT, code=1)
    assert daemon.data in line and str(daemon.process.pid) in line
    # Not even root may create or write anything here.
    for sealed in ("/proc/headrace", "/proc/self"):
        line = complaint("node", "--data", sealed, "--listen", ANY_PORT, code=1)
        assert sealed in line


def test_members_lists_the_nodes(daemon: Daemon, tmp_path: pathlib.Path) -> None:
    def states() -> Dict[str, str]:
        rows = json.loads(run("members", "--json", *at(daemon)).stdout)
        assert all(
            set(row)
            == {"id", "name", "state", "endpoint", "incarnation", "tags", "endpoints"}
            | {"advert_version", "since", "round_trip_us"}
            for row in rows
        )
        return {row["name"]: row["state"] for row in rows}

    def wait_for(name: str, state: str) -> None:
        end = time.monotonic() + DEADLINE
        while states().get(name) != state:
            assert time.monotonic() < end, f"{name} never became {state}: {states()}"

    assert states()["owner"] == "alive"
    with Daemon("--name", "guest", "--data", str(tmp_path), "--join", daemon.endpoint):
        wait_for("guest", "alive")
        heading, *rows = run("members", *at(daemon)).stdout.splitlines()
        assert heading.split() == "NAME STATE SINCE RTT ENDPOINT ID ADVERT TAGS".split()
        guest = next(row for row in rows if row.startswith("guest "))
        assert guest.index("alive") == heading.index("STATE")
        assert re.fullmatch(r"\d+(ms|s|m)", guest.split()[2])
        row = next(
            row
            for row in json.loads(run("members", "--json", *at(daemon)).stdout)
            if row["name"] == "guest"
        )
        assert row["endpoints"][0] == row["endpoint"]
        assert re.fullmatch(r"tcp://127\.0\.0\.1:\d+", row["endpoints"][1])
        assert TIME.fullmatch(row["since"])
    wait_for("guest", "left")


def test_watching_the_members_prints_a_line_for_each_change(
    daemon: Daemon, tmp_path: pathlib.Path
) -> None:
    def next_of(watch: Program, name: str, json_lines: bool) -> Any:
        while True:
            line = watch.line()
            change = json.loads(line) if json_lines else line.split()
            if name == (change["name"] if json_lines else change[1]):
                return change

    with Program("members", "--watch", "--json", *at(daemon)) as watch:
        with Program("members", "--watch", *at(daemon)) as lines:
            first = next_of(watch, "owner", True)
            assert (first["change"], first["before"], first["state"]) == ("found", None, "alive")
            assert TIME.fullmatch(first["time"])
            assert next_of(lines, "owner", False)[2:4] == ["found", "alive"]
            join = ["--join", daemon.endpoint]
            with Daemon("--name", "visitor", "--data", str(tmp_path), *join) as visitor:
                found = next_of(watch, "visitor", True)
                assert (found["change"], found["state"]) == ("found", "alive")
                assert next_of(lines, "visitor", False)[2:4] == ["found", "alive"]
                with Program("members", "--watch", *at(visitor)) as its_own:
                    next_of(its_own, "owner", False)  # whom it will tell that it leaves
            # On a slow machine it may be suspected in between.
            while (left := next_of(watch, "visitor", True))["state"] != "left":
                assert left["change"] in ("advert", "state")
            assert left["change"] == "state" and left["before"] in ("alive", "suspect")
            assert left["id"] == found["id"]
            while "left" not in (row := next_of(lines, "visitor", False)):
                assert row[2] in ("advert", "state")
            assert row[2] == "state" and row[4:6] == ["->", "left"]
            assert lines.end(signal.SIGINT) == 0
        assert watch.end(signal.SIGINT) == 0


def test_an_event_reaches_a_subscription_whole(daemon: Daemon) -> None:
    more = '{"list":[1,-2,2.5,true,null],"large":18446744073709551615}'
    pub = ["pub", "weather.us", "--payload", "-", *at(daemon)]
    with Program("sub", "weather.*", "--count", "2", "--json", *at(daemon)) as events:
        assert events.error_line() == "subscribed"
        done = run(*pub, "--json", "-p", "text=a=b", "-p", f"more:={more}", input="mild")
        published = json.loads(done.stdout)
        assert set(published) == {"id", "destinations", "dropped"}
        assert (published["destinations"], published["dropped"]) == (1, 0)
        first = json.loads(events.line())
        run(*pub, input=b"\xff\x00", text=False)
        second = json.loads(events.line())
        assert events.process.wait(DEADLINE) == 0
    assert ID.fullmatch(first["node"]) and TIME.fullmatch(first["time"])
    assert first["id"] == published["id"]
    assert first["topic"] == "weather.us"
    assert first["payload"] == "mild"
    assert first["params"] == {
        "text": "a=b",
        "more": {"list": [1, -2, 2.5, True, None], "large": 18446744073709551615},
    }
    assert set(first) == {"topic", "params", "payload", "node", "id", "time", "seq"}
    assert base64.b64decode(second["payload_base64"]) == b"\xff\x00"
    assert "payload" not in second
    assert second["seq"] > first["seq"]


def test_a_subscription_prints_one_line_an_event_and_ends_on_ctrl_c(daemon: Daemon) -> None:
    with Program("sub", "lines", *at(daemon)) as events:
        assert events.error_line() == "subscribed"
        text = run("pub", "lines", "-p", "k=v", "--payload", "-", *at(daemon), input="a\nb").stdout
        assert re.fullmatch(rf"published {ID.pattern} to 1 node\n", text)
        assert re.fullmatch(rf'{TIME.pattern} lines {{"k":"v"}} a\\x0[Aa]b', events.line())
        assert events.end(signal.SIGINT) == 0


def test_publishing_to_nobody_is_no_failure(daemon: Daemon) -> None:
    assert run("pub", "nobody.listens", *at(daemon)).stdout.endswith(" to 0 nodes\n")


def test_a_job_is_added_listed_and_shown(daemon: Daemon, tmp_path: pathlib.Path) -> None:
    payload = tmp_path / "payload"
    payload.write_bytes(os.urandom(5 << 20))
    add = ["job", "add", "mill.grind", "--priority", "7", "-p", "k=v", "--payload", str(payload)]
    job_id = run(*add, *at(daemon)).stdout.strip()
    assert ID.fullmatch(job_id)
    again = json.loads(run(*add, "--id", job_id, "--json", *at(daemon)).stdout)
    assert again == {"id": job_id, "level": "disk"}

    shown = json.loads(run("job", "show", job_id, "--json", *at(daemon)).stdout)
    assert shown["id"] == job_id
    assert (shown["topic"], shown["state"], shown["priority"]) == ("mill.grind", "QUEUED", 7)
    assert shown["owner"] == daemon.ready["id"]
    assert TIME.fullmatch(shown["added"])
    assert (shown["started"], shown["finished"], shown["result"]) == (None, None, None)
    documented = """id topic queue state priority attempt deliveries owner consumer added
                    started finished result error errors"""
    assert set(documented.split()) <= set(shown)

    listing = ["job", "list", "--topic", "mill.*", *at(daemon)]
    assert json.loads(run(*listing, "--json", "--state", "QUEUED").stdout) == [shown]
    assert json.loads(run(*listing, "--json", "--state", "SUCCEEDED").stdout) == []
    heading, row = run(*listing).stdout.splitlines()
    assert heading.split()[:2] == ["ID", "STATE"]
    assert row.split()[:2] == [job_id, "QUEUED"]
    block = run("job", "show", job_id, *at(daemon)).stdout
    assert re.search(r"^state +QUEUED$", block, re.MULTILINE)


def test_an_unknown_job_is_a_failure_that_names_it(daemon: Daemon) -> None:
    nobody = "0" * 31 + "1"
    assert nobody in complaint("job", "show", nobody, *at(daemon), code=1)


def test_waiting_for_a_job_that_nobody_runs_ends_in_time_with_its_own_code(daemon: Daemon) -> None:
    add = ["job", "add", "nobody.runs", *at(daemon)]
    assert "QUEUED" in complaint(*add, "--wait", "0.2", code=3)
    assert "QUEUED" in complaint(*add, "--wait=0", code=3)


def test_waiting_for_a_job_tells_how_it_ended(daemon: Daemon) -> None:
    def halve(job: "headrace.RunningJob") -> Any:
        number = job.params["number"]
        if number % 2:
            raise ValueError(f"{number} is odd")
        return {"half": number // 2}

    with headrace.Node(join=[daemon.endpoint]) as worker:
        worker.consume("mill.halve", halve)
        add = ["job", "add", "mill.halve", "--max-attempts", "1", "--wait", *at(daemon)]
        good = run(*add, "-p", "number:=8").stdout
        assert re.fullmatch(rf'{ID.pattern} SUCCEEDED {{"half":4}}\n', good)
        bad = json.loads(run(*add, "-p", "number:=7", "--json", code=1).stdout)
        assert bad["state"] == "GIVEN_UP"
        assert "7 is odd" in bad["error"]
        assert bad["consumer"] == str(worker.id)


def test_a_node_that_comes_back_still_has_its_jobs(tmp_path: pathlib.Path) -> None:
    endpoint = free_endpoint()
    with Daemon("--data", str(tmp_path), listen=endpoint) as first:
        job_id = run("job", "add", "kept", *at(first)).stdout.strip()
        first.process.kill()
        first.process.wait(DEADLINE)
    with Daemon("--data", str(tmp_path), listen=endpoint) as second:
        shown = json.loads(run("job", "show", job_id, "--json", *at(second)).stdout)
        assert shown["state"] == "QUEUED"
