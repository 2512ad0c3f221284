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

from .catalogue import CUT_SIZES
from .measures import Curve, Figure, exactly
from .points import Answer, Bar, in_threads

CUTS = (0, 1, 2, 4, 8, 16)


def networks(quick):
    return 5 if quick else 20


def _hash(data):
    """FNV-1a, 64 bits."""
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


def history(torus, network):
    """The links that fail, in order, as (rank, dimension) of the port +."""
    dims, ranks = torus.dims, torus.size
    if sum(ranks // side for side in dims) < CUTS[-1]:
        raise trivance.ArgumentError(f"{torus} has fewer than {CUTS[-1]} rows, one for each cut; take a larger torus")
    links, rows = [], set()
    for attempt in itertools.count():
        if len(links) == CUTS[-1]:
            return links
        number = _hash(network.to_bytes(4, "little") + attempt.to_bytes(4, "little")) >> 24
        rank, dimension = number % ranks, number // ranks % len(dims)
        coordinates = list(np.unravel_index(rank, dims))
        coordinates[dimension] = -1
        row = tuple(map(int, coordinates))
        if row not in rows:
            rows.add(row)
            links.append((rank, dimension))
    return []


def run(spec, result, kept, workers):
    """Returns the figure and the number of plans."""
    torus = trivance.Torus(spec.torus)
    count = networks(result.quick)
    histories = [history(torus, n + 1) for n in range(count)]
    options = dict(result.options) | {"model": "fifo"}
    jobs = [(0, 0)] + [(point, n) for point in range(1, len(CUTS)) for n in range(count)]
    sizes = CUT_SIZES

    def network(point, n):
        links = tuple(f"{rank}:+{dimension}" for rank, dimension in histories[n][:CUTS[point]])
        return trivance.Network(spec.torus, cuts=links, **options)

    def key(point, n, value):
        links = ",".join(f"{rank}:+{dimension}" for rank, dimension in histories[n][:CUTS[point]])
        return f"{trivance.__version__} {spec.torus} {value} {sorted(options.items())}: planned, cuts {links}"

    def plan(job):
        missing = [value for value in spec.values if key(*job, value) not in kept.answers]
        if not missing:
            return
        planner = trivance.Planner(network(*job))
        for value in missing:
            choice = planner.best(sizes[value])
            kept.add(key(*job, value), Answer(choice.time * 1e9, choice.name, 0))
            with kept.lock:
                bar.step(1 + sizes[value] / (8 << 20))

    bar = Bar("links that fail", len(jobs) * sum(1 + size / (8 << 20) for size in sizes.values()))
    try:
        in_threads(jobs, plan, workers)
    finally:
        bar.end()
    figure = Figure(spec, np.array(CUTS, dtype=float), networks=count)
    for value in spec.values:
        answers = {job: kept.answers[key(*job, value)] for job in jobs}
        figure.curves.append(_curve(value, sizes[value], answers, count))
        whole = answers[0, 0].member
        figure.curves[-1].served = _served(whole, spec.torus, [[network(point, n) for point in range(len(CUTS))]
                                                               for n in range(count)])
    return figure, len(jobs) * len(spec.values)


def _curve(value, size, answers, count):
    """The median and the worst network at every number of cuts."""
    curve = Curve(value, exactly(size))
    ranked = [sorted((answers[point, n] for n in range(count if point else 1)), key=lambda one: one.time_ns)
              for point in range(len(CUTS))]
    median, worst = [one[len(one) // 2] for one in ranked], [one[-1] for one in ranked]
    curve.other = np.full(len(CUTS), answers[0, 0].time_ns)
    curve.member = [answers[0, 0].member] * len(CUTS)
    curve.own, curve.own_member = np.array([one.time_ns for one in median]), [one.member for one in median]
    curve.worst, curve.worst_member = np.array([one.time_ns for one in worst]), [one.member for one in worst]
    return curve


def _served(name, torus, histories):
    """The number of networks on which the whole torus's plan still works, at every number of cuts.

    The simulator refuses a message that uses a cut link; a plan that fails also fails with more cuts.
    """
    schedule = trivance.Schedule(name, torus)
    counts = [0] * len(CUTS)
    for networks_of_one in histories:
        for point, network in enumerate(networks_of_one):
            try:
                trivance.Simulator(schedule, network).time(32)
            except trivance.UnsupportedError:
                break
            counts[point] += 1
    return counts
