"""Three rules for the blocks that the bandwidth-optimal Trivance sends if sizes are not powers of three (paper,
sections 4.1, 4.3 and 4.4; Algorithm 1).

- the blocks that must move: every block crosses one edge per phase; this is the schedule trivance-b
- ``algorithm-1``: every block that Algorithm 1 marks for the peer, literally. If the routes of later steps overlap,
  a block is sent to both sides
- ``thirds``: m / 3^(k+1) in step k of the reduce-scatter, as in section 4.1

All three have the same steps, peers and routes. The schedules of the latter two have sizes only: they can be simulated
and costed, but contributions would arrive twice, or not at all.
"""
import json
import math
import tempfile
from typing import Iterator

import trivance

RULES = ("algorithm-1", "thirds")
TITLES = {"": "blocks that must move", "algorithm-1": "Algorithm 1 literally", "thirds": "m/3^(k+1)"}
TORI = ("7", "8", "32", "64", "81", "8x8", "8x64", "27x27", "32x32", "8x8x8", "16x16x16")


def distances(side: int) -> list[int]:
    """Distances of the steps on a ring: 3^k, and for the last step the remaining distance."""
    steps, power = [], 1
    while power < side:
        steps.append(power if 3 * power < side else (side - power + 1) // 2)
        power *= 3
    return steps


def reached(side: int) -> list[int]:
    """For each step, the number of ranks reachable by it and the later steps, including the rank itself."""
    counts, ranks = [1], {0}
    for distance in reversed(distances(side)):
        ranks = {(rank + way) % side for rank in ranks for way in (-distance, 0, distance)}
        counts.append(len(ranks))
    return counts[::-1]


def shares(dims: tuple[int, ...], order: list[int], rule: str) -> list[tuple[int, int]]:
    """(numerator, denominator) of the slice that is sent in each reduce-scatter step, for the dimensions in order."""
    level, sent = [0] * len(dims), []
    for done, dimension in enumerate(order):
        level[dimension] += 1
        if rule == "thirds":
            sent.append((3 ** (len(order) - done - 1), 3 ** len(order)))
        else:
            sent.append((math.prod(reached(side)[at] for side, at in zip(dims, level)), math.prod(dims)))
    return sent


def _orders(model: trivance.Schedule) -> list[list[int]]:
    """The dimension of every reduce-scatter step, for each stream."""
    own = model.messages
    own = own[own["src"] == 0]
    return [[int(own["port"][(own["stream"] == stream) & (own["step"] == step)][0]) // 2
             for step in range(model.steps // 2)] for stream in range(model.streams)]


def schedule(torus: str, rule: str) -> trivance.Schedule:
    """Trivance B under a rule, as a schedule without blocks."""
    model = trivance.Schedule("trivance-b", torus)
    dims, messages = model.torus.dims, model.messages
    sent = [shares(dims, order, rule) for order in _orders(model)]
    streams: list[dict[str, list[list[object]]]] = [{"steps": [[] for _ in range(model.steps)]} for _ in sent]
    for stream, step, src, dst, port in zip(*(messages[name].tolist() for name in
                                              ("stream", "step", "src", "dst", "port"))):
        size = sent[stream][min(step, model.steps - 1 - step)][0]  # the allgather reverses the reduce-scatter
        streams[stream]["steps"][step].append([src, dst, f"{'-' if port % 2 else '+'}{port // 2}", size])
    file = {"format": "trivance-schedule-1", "torus": dims, "name": f"trivance-b#{rule}", "symmetry": "translation",
            "vector_bytes": sent[0][0][1] * model.streams, "streams": streams}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as stream:
        json.dump(file, stream)
        stream.flush()
        return trivance.Schedule.from_file(stream.name)


def cost(torus: str, rule: str) -> tuple[float, float]:
    """(Delta, Theta) of Trivance B under a rule, from the shares and distances of its steps."""
    model = trivance.Schedule("trivance-b", torus)
    dims, sent = model.torus.dims, 0.0
    load: dict[int, list[float]] = {}
    for order in _orders(model):
        level = [0] * len(dims)
        for step, (dimension, (numerator, denominator)) in enumerate(zip(order, shares(dims, order, rule))):
            share = numerator / denominator / model.streams
            sent += 2 * share  # to both sides
            here = load.setdefault(step, [0.0] * len(dims))
            here[dimension] += share * distances(dims[dimension])[level[dimension]]
            level[dimension] += 1
    return sent, 2 * len(dims) * sum(max(here) for here in load.values())


def table() -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """(torus, [(Delta, Theta) of the blocks that must move, and of each rule])."""
    for torus in TORI:
        model = trivance.Schedule("trivance-b", torus).cost()
        yield torus, [(model.delta, model.theta)] + [cost(torus, rule) for rule in RULES]
