"""Five daemons on a network of their own that fails: netns.py CHECK.

In each: the views of all converge to what is right, nobody declares a healthy third party dead, and
jobs that are added and run meanwhile have one outcome each. Figures are printed.
"""

import json
import signal
import sys
import time

from network import Network  # also finds the harness

from harness import (Actor, Daemon, View, check_outcomes, command, jobs_at, main,
                     wait_for)

PYTHON_NODES = ("adder", "w2", "w4")
# Enough that each worker has jobs at any moment, and one of them alone falls behind.
RUNS = ("--seconds", "0.3", "--parallel", "2")


class Cluster:
    """Daemons n1 to n5, each in its namespace and watched. n1 owns jobs that are added beside it;
    w2 and w4 run them, beside n2 and n4."""

    def __init__(self, folder, network, size):
        self.network, self.folder, self.size = network, folder, size
        self.daemons, self.views, self.programs = {}, {}, []
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        for node in self.network.nodes:
            join = ["--join", self.network.endpoint(1 if node > 1 else 2)]
            self.daemons[node] = self.keep(Daemon(
                f"n{node}", self.folder, "--insecure", *join,
                listen=self.network.endpoint(node), prefix=self.network.prefix(node)))
        for node in self.network.nodes:
            self.views[node] = self.keep(View(f"n{node}", self.folder, self.network.endpoint(node),
                                              self.network.prefix(node)))
        self.workers = [self.actor("work", "w2", 2, *RUNS), self.actor("work", "w4", 4, *RUNS)]
        self.adder = self.actor("add", "adder", 1, "--period", "0.1", "--size", str(self.size))
        self.took = self.converge(set(), 30)
        wait_for("both workers have run jobs",
                 lambda: all(len(w.events.get("end", [])) >= 2 for w in self.workers), 20)
        self.began = time.monotonic()

    def keep(self, program):
        self.programs.append(program)
        return program

    def actor(self, role, name, node, *options):
        where = f"tcp://{self.network.address(node)}:*"
        return self.keep(Actor(role, name, self.folder, "--insecure", "--listen", where, "--join",
                               self.network.endpoint(node), "--owner", self.network.endpoint(1),
                               *options, prefix=self.network.prefix(node)))

    def close(self):
        for program in reversed(self.programs):
            program.kill()
        self.network.close()

    def names(self):
        return {f"n{node}" for node in self.network.nodes} | set(PYTHON_NODES)

    def converge(self, dead, timeout, observers=None):
        """Until these take `dead` for dead and all others for alive; returns the seconds."""
        began = time.monotonic()
        observers = observers or self.network.nodes

        def wrong():
            return {f"n{node}": {name: self.views[node].states().get(name)
                                 for name in sorted(self.names())
                                 if (self.views[node].states().get(name) != "alive")
                                 != (name in dead)
                                 or (name in dead and self.views[node].states().get(name)
                                     not in ("dead", "gone"))}
                    for node in observers}

        wait_for(lambda: f"wrong views: {wrong()}", lambda: not any(wrong().values()), timeout)
        return time.monotonic() - began

    def check_no_flaps(self, side, names=None):
        """Nobody of `side` took one of `names` for dead since the start; how often one was
        suspected."""
        names = names or self.names()
        suspicions = 0
        for node in side:
            for at, change in self.views[node].changes:
                if at < self.began or change["name"] not in names or change["change"] != "state":
                    continue
                suspicions += change["state"] == "suspect"
                assert change["state"] in ("alive", "suspect"), \
                    f"n{node} took the healthy {change['name']} for {change['state']}"
        return suspicions

    def jobs_end_well(self, timeout=60):
        self.adder.process.stdin.write("stop\n")
        self.adder.process.stdin.flush()
        self.adder.wait_event("done", timeout)
        acknowledged = [event["job"] for event in self.adder.events["acked"]]
        told = {event["job"]: event["run"] for event in self.adder.events["outcome"]}
        jobs = jobs_at(self.network.endpoint(1), "fault.job", self.network.prefix(1))
        say(check_outcomes(acknowledged, told, jobs, self.workers))


def say(text):
    print("  " + text, flush=True)


def with_cluster(check, size=100, **network):
    """`size`: of a job's payload."""
    def run(folder):
        cluster = Cluster(folder, Network(folder, **network), size)
        say(f"views complete after {cluster.took:.1f} s")
        try:
            check(cluster)
        finally:
            cluster.close()

    return run


def stand(seconds):
    """The fault stands for a stated time."""
    time.sleep(seconds)


def partition(cluster):
    net = cluster.network
    left, right = {"n1", "n2", "w2", "adder"}, {"n3", "n4", "n5", "w4"}
    net.partition((1, 2), (3, 4, 5))
    began = time.monotonic()
    say(f"left side knows after {cluster.converge(right, 45, (1, 2)):.1f} s")
    cluster.converge(left, 45, (3, 4, 5))
    say(f"both sides know after {time.monotonic() - began:.1f} s")
    stand(max(0.0, 30 - (time.monotonic() - began)))
    cluster.converge(right, 1, (1, 2))
    cluster.converge(left, 1, (3, 4, 5))
    net.heal()
    say(f"healed after {cluster.converge(set(), 30):.1f} s")
    cluster.check_no_flaps((1, 2), left)
    cluster.check_no_flaps((3, 4, 5), right)
    cluster.jobs_end_well()


def one_way(cluster):
    # n5 does not hear n1: no connection between the two works, but everybody reaches both.
    cluster.network.drop(5, 1)
    stand(25)
    say(f"suspicions: {cluster.check_no_flaps(cluster.network.nodes)}")
    cluster.network.heal()
    say(f"all alive after {cluster.converge(set(), 20):.1f} s")
    cluster.check_no_flaps(cluster.network.nodes)
    cluster.jobs_end_well()


def loss(cluster):
    cluster.network.loss(20)
    stand(25)
    cluster.network.heal()
    say(f"all alive after {cluster.converge(set(), 20):.1f} s")
    say(f"suspicions: {cluster.check_no_flaps(cluster.network.nodes)}")
    cluster.jobs_end_well()


def delay(cluster):
    stand(15)
    say(f"all alive after {cluster.converge(set(), 20):.1f} s")
    say(f"suspicions: {cluster.check_no_flaps(cluster.network.nodes)}")
    where = ("--node", cluster.network.endpoint(1))
    rows = json.loads(command("members", "--json", *where, prefix=cluster.network.prefix(1)))
    trips = [row["round_trip_us"] / 1000 for row in rows if row["name"] in ("n2", "n3", "n4", "n5")]
    say(f"round trips as n1 sees them: {', '.join(f'{trip:.0f} ms' for trip in trips)}")
    assert len(trips) == 4 and all(200 <= trip < 900 for trip in trips)
    cluster.jobs_end_well()


def slow(cluster):
    cluster.network.rate("1mbit")
    stand(20)
    say(f"all alive after {cluster.converge(set(), 20):.1f} s")
    say(f"suspicions: {cluster.check_no_flaps(cluster.network.nodes)}")
    cluster.jobs_end_well()


def interface(cluster):
    net = cluster.network
    net.link(5, "down")
    say(f"n5 dead to the others after {cluster.converge({'n5'}, 30, (1, 2, 3, 4)):.1f} s")
    net.link(5, "up")
    say(f"back after {cluster.converge(set(), 30):.1f} s")
    cluster.check_no_flaps((1, 2, 3, 4), cluster.names() - {"n5"})
    cluster.jobs_end_well()


def killed(cluster):
    cluster.daemons[3].kill()
    took = cluster.converge({"n3"}, 12, (1, 2, 4, 5))
    say(f"all know after {took:.1f} s")
    cluster.check_no_flaps((1, 2, 4, 5), cluster.names() - {"n3"})
    cluster.jobs_end_well()


def stopped_5_s(cluster):
    cluster.daemons[3].signal(signal.SIGSTOP)
    stand(5)
    cluster.daemons[3].signal(signal.SIGCONT)
    say(f"all alive after {cluster.converge(set(), 15):.1f} s")
    say(f"suspicions: {cluster.check_no_flaps(cluster.network.nodes)}")
    cluster.jobs_end_well()


def stopped_60_s(cluster):
    stopped = time.monotonic()
    cluster.daemons[3].signal(signal.SIGSTOP)
    say(f"all know after {cluster.converge({'n3'}, 30, (1, 2, 4, 5)):.1f} s")
    stand(60 - (time.monotonic() - stopped))
    cluster.converge({"n3"}, 1, (1, 2, 4, 5))
    cluster.daemons[3].signal(signal.SIGCONT)
    say(f"back after {cluster.converge(set(), 10):.1f} s")
    cluster.check_no_flaps(cluster.network.nodes, cluster.names() - {"n3"})
    cluster.jobs_end_well()


CHECKS = {check.__name__: with_cluster(check)
          for check in (partition, one_way, loss, interface, killed, stopped_5_s,
                        stopped_60_s)}
CHECKS["delay"] = with_cluster(delay, delay_ms=100)
CHECKS["slow"] = with_cluster(slow, size=12_000)  # ten a second fill the link

if __name__ == "__main__":
    sys.exit(main(CHECKS))
