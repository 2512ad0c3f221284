"""The promise of the planner: no algorithm of the list with at most the network's messages per port is faster than the
planned schedule, and the time that a plan states is the simulator's, on random networks and sets of nodes. By hand, on
larger ones:

    PYTHONPATH=build/python TRIVANCE_TOOL=build/bin/trivance python3 tests/python/test_promise.py --questions 5000
    --seed 2
"""
import argparse
import json
import math
import os
import random
import subprocess

import pytest

import trivance as tv
from trivance.points import Point, compare_points

TOLERANCE = 1e-3


def draw_ports(rng, torus, count):
    return list(dict.fromkeys((rng.choice(torus.ranks), f"{rng.choice('+-')}{rng.randrange(len(torus.dims))}")
                              for _ in range(count)))


def draw_nodes(rng, torus, ranks):
    """A box, consecutive ranks, or ranks anywhere: from 2 to `ranks` of them, and fewer than all."""
    kind, most = rng.randrange(3), min(torus.size - 1, ranks)
    if kind == 0:
        sides = [rng.randint(1, size) for size in torus.dims]
        first = [rng.randint(0, size - side) for size, side in zip(torus.dims, sides)]
        box = [rank for rank in torus.ranks
               if all(a <= x < a + side for x, a, side in zip(torus.coordinates(rank), first, sides))]
        if 2 <= len(box) <= most:
            return box
    nodes = rng.randint(2, most)
    if kind == 1:
        start = rng.randrange(torus.size - nodes + 1)
        return list(range(start, start + nodes))
    return sorted(rng.sample(torus.ranks, nodes))


def draw(rng, ranks, largest):
    """A question: a network, a collective, its root and a size, which are tried until such a network exists."""
    while True:
        dims = rng.choice([1, 1, 2, 2, 2, 3, 3, 4])
        sizes = [rng.randint(2, max(2, math.floor(1.4 * ranks ** (1 / dims)))) for _ in range(dims)]
        if math.prod(sizes) > ranks:
            continue
        lines = [d for d in range(dims) if rng.random() < 0.25]
        torus = tv.Torus(sizes, lines=lines)
        nodes = draw_nodes(rng, torus, ranks) if rng.random() < 0.15 and torus.size > 2 else None
        options = {"cuts": draw_ports(rng, torus, rng.choice([0, 0, 0, 0, 1, 1, 2])),
                   "slow": dict.fromkeys(draw_ports(rng, torus, rng.random() < 0.2), rng.choice([2, 4, 10])),
                   "forwarding": rng.random() >= 0.2,
                   "gamma": rng.choice(["0ns", "0ns", "0.01ns", "0.05ns", "0.02ns/stream"]),
                   "injection": rng.choice([None, None, None, "30Gb/s"]),
                   "alpha": rng.choice(["100ns", "500ns", "1.5us", "5us", "20us"]),
                   "bandwidth": f"{rng.choice([10, 25, 100, 200, 400, 800, 1600, 3200])}Gb/s"}
        collective = rng.choice(["allreduce"] * 4
                                + ["reduce-scatter", "allgather", "broadcast", "reduce", "scatter", "gather",
                                   "alltoall"])
        root = rng.choice(range(len(nodes)) if nodes else torus.ranks) if collective in ("broadcast", "reduce",
                                                                                         "scatter", "gather") else 0
        size = int(2 ** rng.uniform(0, math.log2(largest)))
        options["messages_per_port"] = rng.choice([1, 1, 2, "unlimited"])
        try:
            return tv.Network(torus, nodes=nodes, **options), collective, root, size
        except tv.TrivanceError:
            continue  # links that do not exist, or are named twice


def fits(net, name, collective, root):
    """Whether the algorithm is part of the promise: it has no more messages per port than the network allows."""
    limit = net.options["messages_per_port"]
    try:
        return limit == "unlimited" or tv.Schedule(name, net, collective, root=root).messages_per_port <= limit
    except tv.UnsupportedError:
        return False


def time_all(net, collective, root, size):
    """The planned time and name, those of the fastest algorithm of the promise, and the reason why there is no plan."""
    names = [one.name for one in tv.algorithms() if one.exact and fits(net, one.name, collective, root)]
    rows = compare_points([Point(net, name, size, collective, root) for name in ["planned", *names]])
    times = [math.inf if math.isnan(row.time_ns) else row.time_ns for row in rows]
    best = min(range(1, len(rows)), key=times.__getitem__)
    return (times[0], rows[0].name), (times[best], rows[best].name), rows[0].reason


def time_all_on_nodes(net, collective, root, size):
    """The same for a set of nodes, by the tool."""
    words = [f"--{key.replace('_', '-')}={net.options[key]}" for key in
             ("gamma", "injection", "alpha", "bandwidth", "messages_per_port") if net.options[key] is not None]
    words += [f"--cut={rank}:{port}" for rank, port in net.options["cuts"] or ()]
    words += [f"--slow-link={rank}:{port}:{factor}x" for (rank, port), factor in (net.options["slow"] or {}).items()]
    words += ["--no-forwarding"] if net.options["forwarding"] is False else []
    words += [f"--root={root}"] if root else []
    done = subprocess.run([os.environ.get("TRIVANCE_TOOL", "trivance"), "simulate", str(net.torus),
                           f"--collective={collective}", "--nodes=" + ",".join(map(str, net.nodes)),
                           "--algorithm=all,planned", f"--bytes={size}", "--format=json", *words], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        return (math.inf, ""), (math.inf, ""), done.stderr.strip()
    limit, exact = net.options["messages_per_port"], {one.name for one in tv.algorithms() if one.exact}
    timed = {row["chosen_for"]: (row["time_ns"], row["algorithm"]) for row in json.loads(done.stdout)
             if row["time_ns"] is not None
             and (limit == "unlimited" or row["messages_per_port"] <= limit or row["chosen_for"] == "planned")}
    return timed["planned"], min((timed[name] for name in timed if name in exact), default=(math.inf, "")), None


def violation(net, collective, root, size):
    """A sentence, None, or "" if there is no schedule for the network."""
    try:
        choice = net.plan(size, collective, root=root)
    except tv.UnsupportedError:
        return ""
    (planned_ns, planned), (best_ns, best), reason = (time_all if net.nodes is None
                                                      else time_all_on_nodes)(net, collective, root, size)
    if reason:
        return "" if any(one in reason for one in ("divides", "cut in two", "already cut")) else reason
    if planned_ns > best_ns * (1 + TOLERANCE):
        return f"{best} takes {best_ns:.0f} ns, and planned ({planned}) {planned_ns:.0f} ns"
    if abs(choice.time * 1e9 / planned_ns - 1) > TOLERANCE:
        return f"the plan {choice.name} states {choice.time * 1e9:.0f} ns, and takes {planned_ns:.0f} ns"
    return None


def ask(seed, questions, ranks, largest):
    """Asks this many questions that have an answer, prints each violation, and returns their number."""
    rng, answered, violations = random.Random(seed), 0, 0
    while answered < questions:
        question = draw(rng, ranks, largest)
        found = violation(*question)
        answered += found != ""
        violations += bool(found)
        if found:
            print(*question, found, sep="; ", flush=True)
    return violations


def test_promise(exhaustive):
    assert ask(1, 300 if exhaustive else 4, ranks=64 if exhaustive else 16, largest=2 ** 22) == 0


NODES = [
    # with whole vectors of megabytes, whose packets the search enlarges
    (tv.Network("5x3", nodes=[0, 1, *range(3, 15)], bandwidth="25Gb/s", injection="30Gb/s", alpha="100ns",
                gamma="0.02ns/stream", messages_per_port=2), "allgather", 3567457),
    (tv.Network("5x6", nodes=sorted(set(range(30)) - {14, 20, 23, 26}), bandwidth="200Gb/s", alpha="500ns",
                gamma="0ns"),
     "allreduce", 33193319),
    (tv.Network("9x4", cuts=[(30, "+1")], nodes=sorted(set(range(36)) - {19}), bandwidth="1600Gb/s", alpha="100ns",
                gamma="0ns"),
     "allreduce", 80280736),
    # a box whose ranks have fewer ports than the nodes of the machine
    (tv.Network("10x2m", nodes=range(10, 14), bandwidth="3200Gb/s", injection="30Gb/s", alpha="5us", gamma="0ns"),
     "allreduce", 1089523),
]


@pytest.mark.parametrize("net, collective, size", NODES)
def test_nodes(net, collective, size):
    assert violation(net, collective, 0, size) is None


def test_many_messages():
    """A listed algorithm with 80,000 messages, when no work is left for the search."""
    net = tv.Network("2mx5mx4m", bandwidth="3200Gb/s", injection="30Gb/s", alpha="20us", gamma="0.01ns")
    planned, listed = compare_points([Point(net, name, 108790275) for name in ("planned", "spanning-trees")])
    assert planned.time_ns <= listed.time_ns


def test_equal_times_on_nodes():
    """By enlarged packets eight schedules take the same time, and spanning-trees longer; by exact ones it is faster."""
    net = tv.Network("43", cuts=[(6, "-0")], nodes=[0, 1, 8, 13, 25, 27, 30, 36, 39], bandwidth="400Gb/s", alpha="5us")
    assert net.plan(45339390).time == tv.Planner(net).rank(45339390)[0].time


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Asks the planner random questions, and compares it with every listed "
                                     "algorithm.")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=64, help="at most")
    parser.add_argument("--bytes", type=int, default=2 ** 30, help="at most")
    given = parser.parse_args()
    count = ask(given.seed, given.questions, given.ranks, given.bytes)
    print(f"{given.questions} questions, {count} violations above {TOLERANCE:.1%}")
    raise SystemExit(count > 0)
