"""A network of the tests' own: one namespace for each node and one for the switch between them,
named by process id; gone with close(). Nothing of the machine's own network is touched."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fault"))

from harness import Process, Skip  # noqa: E402


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, **options)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr or done.stdout}"
    return done.stdout


class Network:
    """Nodes are counted from 1. `delay_ms`: each way, by a forwarder in place of the switch."""

    def __init__(self, folder, nodes=5, delay_ms=None):
        self.tag = f"hr{os.getpid()}"
        self.nodes = range(1, nodes + 1)
        self.made = []
        self.forwarder = None
        if os.geteuid() != 0:
            raise Skip("making network namespaces needs root")
        for tool in ("ip", "nft", "tc"):
            if shutil.which(tool) is None:
                raise Skip(f"there is no {tool}: install iproute2 and nftables")
        try:
            self.namespaces()
        except AssertionError as error:
            self.close()
            raise Skip(f"no network namespaces here: {error}") from None
        try:
            if delay_ms is None:
                self.switch()
            else:
                self.delay(folder, delay_ms)
            for node in self.nodes:
                run("ip", "-n", self.name(node), "address", "add", f"{self.address(node)}/24",
                    "dev", "eth0")
                run("ip", "-n", self.name(node), "link", "set", "eth0", "up")
        except BaseException:
            self.close()
            raise

    def name(self, node):
        return f"{self.tag}n{node}"

    def address(self, node):
        return f"10.77.0.{node}"

    def endpoint(self, node):
        return f"tcp://{self.address(node)}:7420"

    def prefix(self, node):
        """What runs a command there."""
        return ("ip", "netns", "exec", self.name(node))

    def namespaces(self):
        self.sweep()
        for name in [f"{self.tag}s", *map(self.name, self.nodes)]:
            run("ip", "netns", "add", name)
            self.made.append(name)
            run("ip", "-n", name, "link", "set", "lo", "up")

    @staticmethod
    def sweep():
        """Removes what a test that was killed left behind."""
        for name in map(str.split, run("ip", "netns", "list").splitlines()):
            left = re.fullmatch(r"hr(\d+)(s|n\d+)", name[0]) if name else None
            if left and not os.path.exists(f"/proc/{left[1]}"):
                subprocess.run(("ip", "netns", "delete", name[0]), capture_output=True, timeout=30)

    def switch(self):
        run("ip", "-n", f"{self.tag}s", "link", "add", "br0", "up", "type", "bridge")
        for node in self.nodes:
            run("ip", "link", "add", f"v{node}", "netns", f"{self.tag}s", "type", "veth",
                "peer", "name", "eth0", "netns", self.name(node))
            run("ip", "-n", f"{self.tag}s", "link", "set", f"v{node}", "master", "br0", "up")

    def delay(self, folder, delay_ms):
        names = [self.name(node) for node in self.nodes]
        self.forwarder = Process("forwarder", [sys.executable, str(HERE / "forwarder.py"),
                                               str(delay_ms), *names], folder)
        assert self.forwarder.line() == "ready"

    # --- Faults. heal() ends those of nftables.
    def rules(self, node, *rules):
        """Further rules for what arrives at a node."""
        text = "table inet fault {\n chain in {\n  type filter hook input priority 0;\n"
        text += "".join(f"  {rule}\n" for rule in rules) + " }\n}\n"
        run(*self.prefix(node), "nft", "-f", "-", input=text)

    def drop(self, node, *others):
        """What these send does not arrive at `node`."""
        addresses = ", ".join(map(self.address, others))
        self.rules(node, f"ip saddr {{ {addresses} }} drop")

    def partition(self, *sides):
        for side in sides:
            for node in side:
                self.drop(node, *(other for rest in sides if rest is not side for other in rest))

    def loss(self, percent):
        for node in self.nodes:
            self.rules(node, f'iifname "eth0" numgen random mod 100 < {percent} drop')

    def heal(self):
        for node in self.nodes:
            run(*self.prefix(node), "nft", "flush", "ruleset")

    def rate(self, bits):
        for node in self.nodes:
            run("tc", "-n", self.name(node), "qdisc", "add", "dev", "eth0", "root", "tbf",
                "rate", bits, "burst", "16kb", "latency", "400ms")

    def link(self, node, state):
        run("ip", "-n", self.name(node), "link", "set", "eth0", state)

    def close(self):
        if self.forwarder:
            self.forwarder.kill()
        for name in self.made:
            subprocess.run(("ip", "netns", "delete", name), capture_output=True, timeout=30)
