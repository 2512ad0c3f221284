"""Links that fail one after another.

The failures of a network are random with its number as the seed: links of the torus, in both directions, each in a
different row, because a row with two cuts is disconnected, which no schedule supports; a link in a row with a cut is
drawn again. After 1, 2, 4 … failures the planner plans for the remaining links, with one queue per link. The times are
the planner's, which for the largest vectors uses larger packets (docs/planner.md), a deviation of 0.5 %.

A schedule for the whole torus still works on a network with cuts if no route of its messages uses a cut.
"""
import itertools

import numpy as np

import trivance
from trivance.points import Point

from .catalogue import CUT_SIZES, Spec
from .measures import Curve, Figure, exactly
from .points import Answer, Kept, Options, keep, network_of

CUTS = (0, 1, 2, 4, 8, 16)


def _hash(data: bytes) -> int:
    """FNV-1a, 64 bits."""
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


def history(torus: trivance.Torus, network: int) -> list[str]:
    """The links that fail, in order: the port + of a rank in a dimension."""
    dims, ranks = torus.dims, torus.size
    if sum(ranks // side for side in dims) < CUTS[-1]:
        raise trivance.ArgumentError(f"{torus} has fewer than {CUTS[-1]} rows, one for each cut; take a larger torus")
    links: dict[tuple[int, ...], str] = {}  # by row
    for attempt in itertools.count():
        if len(links) == CUTS[-1]:
            break
        number = _hash(network.to_bytes(4, "little") + attempt.to_bytes(4, "little")) >> 24
        rank, dimension = number % ranks, number // ranks % len(dims)
        row = [int(at) for at in np.unravel_index(rank, dims)]
        row[dimension] = -1
        links.setdefault(tuple(row), f"{rank}:+{dimension}")
    return list(links.values())


def run(spec: Spec, quick: bool, options: Options, kept: Kept, workers: int) -> tuple[Figure, int]:
    """Returns the figure and the number of plans."""
    count = 5 if quick else 20
    histories = [history(trivance.Torus(spec.torus), n + 1) for n in range(count)]
    options = tuple((dict(options) | {"model": "fifo"}).items())
    jobs = [(0, 0)] + [(point, n) for point in range(1, len(CUTS)) for n in range(count)]

    def network(point: int, n: int) -> trivance.Network:
        return network_of(spec.torus, options, cuts=tuple(histories[n][:CUTS[point]]))

    def key(job: tuple[int, int], value: str) -> str:
        links = ",".join(histories[job[1]][:CUTS[job[0]]])
        return f"{trivance.__version__} {spec.torus} {value} {sorted(options)}: planned, cuts {links}"

    keep("links that fail", [(key(job, value), Point(network(*job), "planned", CUT_SIZES[value], as_planned=True))
                             for job in jobs for value in spec.values if key(job, value) not in kept.answers], kept,
         workers)
    figure = Figure(spec, np.array(CUTS, dtype=float), networks=count)
    for value in spec.values:
        answers = {job: kept.answers[key(job, value)] for job in jobs}
        figure.curves.append(_curve(value, answers, count))
        figure.curves[-1].served = _served(answers[0, 0].member, spec.torus,
                                           [[network(point, n) for point in range(len(CUTS))]
                                            for n in range(count)])
    return figure, len(jobs) * len(spec.values)


def _curve(value: str, answers: dict[tuple[int, int], Answer], count: int) -> Curve:
    """The median and the worst network at every number of cuts."""
    ranked = [sorted((answers[point, n] for n in range(count if point else 1)), key=lambda one: one.time_ns)
              for point in range(len(CUTS))]
    median, worst = [one[len(one) // 2] for one in ranked], [one[-1] for one in ranked]
    whole = [answers[0, 0]] * len(CUTS)
    (other, member), (own, own_member), (slowest, slowest_member) = (
        (np.array([one.time_ns for one in line]), [one.member for one in line]) for line in (whole, median, worst))
    return Curve(value, exactly(CUT_SIZES[value]), 0, other, own, member, own_member, slowest, slowest_member)


def _served(name: str, torus: str, histories: list[list[trivance.Network]]) -> list[int]:
    """The number of networks on which the whole torus's plan still works, at every number of cuts.

    The simulator refuses a message that uses a cut link; a plan that fails also fails with more cuts.
    """
    schedule, counts = trivance.Schedule(name, torus), [0] * len(CUTS)
    for networks in histories:
        for point, network in enumerate(networks):
            try:
                trivance.Simulator(schedule, network).time(32)
            except trivance.UnsupportedError:
                break
            counts[point] += 1
    return counts
