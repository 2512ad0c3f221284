"""The paper's own simulation as a model: the messages and times of its algorithms by the rules of its published code.

The messages differ from those of this project's algorithms, and are not proved: some of the lists do not even reduce
correctly. The rules are verified in research/published (docs/published.md), which compares them with the messages and
the completion times of that code.

- A *stream* is a part of the vector with its own order of dimensions and directions. A rank begins a step when all its
  messages of the step before have arrived, over all streams. Only Bucket's streams are independent, within a *stage*.
- A node has one interface for all ports. A message has 45 bytes more. Start-up times are charged in one lump.
- The plots' time includes MPI_Finalize, a barrier over the binary tree of rank numbers.
"""
import json
import math
import tempfile
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

import trivance

from .measures import Array

ALGORITHMS = ("TrivanceL", "TrivanceB", "BruckL", "BruckB", "SwingL", "SwingB", "RecDoubL", "RecDoubB", "Bucket")
ALPHA_NS, HEADER_BYTES, FLOAT_BYTES, FLIT_BYTES = 1500, 45, 4, 256
#: The network. Alpha and the message overhead are the software of an endpoint, measured on 32 B.
NETWORK: dict[str, Any] = {"model": "dateline", "shared_paths": "one", "path_bandwidth": "12.8Tb/s",
                           "balance_ties": True, "alpha": "3.4ns", "message_overhead": "1.5ns"}


class Message(NamedTuple):
    step: int
    stream: int
    src: int
    dst: int
    port: int
    size: int  # bytes without the header


class Hop(NamedTuple):
    """The peers of all ranks in a step of a stream (-1: none), ``distance`` links away in a dimension."""
    stream: int
    dimension: int
    peer: Array
    distance: Array


Steps = list[list[Hop]]


def dims_of(torus: str) -> tuple[int, ...]:
    """The sizes in this project's order. The published code numbers ranks along the first dimension of a shape."""
    return trivance.Torus(torus).dims[::-1]


# ---- Peers -----------------------------------------------------------------------------------------------------------

def _levels(side: int, base: int) -> int:
    """ceil(log_base(side)), the number of steps in a dimension."""
    steps, reach = 0, 1
    while reach < side:
        steps, reach = steps + 1, reach * base
    return steps


def _trivance(side: int, level: int) -> tuple[int, int]:
    distance = 3 ** level if level + 1 < _levels(side, 3) else math.ceil((side - 3 ** level) / 2)
    return distance, -distance


def _bruck(_side: int, level: int) -> tuple[int, int]:
    return 3 ** level, 2 * 3 ** level


def _swing(at: Array, level: int) -> Array:
    rho = (1 - (-2) ** (level + 1)) // 3
    return np.where(at % 2 == 0, rho, -rho)


def _doubling(at: Array, level: int) -> Array:
    return (at ^ 1 << level) - at


def _hop(stream: int, dims: tuple[int, ...], dimension: int, way: Array, core: int = 0) -> Hop:
    """Messages by the shorter way, + half way round. With ``core``, the ring is that of the first ``core`` members."""
    at = list(np.unravel_index(np.arange(math.prod(dims)), dims))
    here, side = at[dimension], dims[dimension]
    at[dimension] = (here + way) % (core or side)
    there = (at[dimension] - here) % side
    peer = np.ravel_multi_index(at, dims)
    way = np.where(2 * there > side, there - side, there)
    return Hop(stream, dimension, np.where(here < (core or side), peer, -1), way)


def _order(dims: tuple[int, ...], first: int, base: int) -> Iterator[tuple[int, int]]:
    """(dimension, level) of a stream's steps: the dimensions in turn, from ``first`` on, until each is done."""
    levels = [_levels(side, base) for side in dims]
    for turn in range(max(levels) * len(dims)):
        dimension, level = (first + turn) % len(dims), turn // len(dims)
        if level < levels[dimension]:
            yield dimension, level


def _jointly(dims: tuple[int, ...], pair: int, ways: Callable[[int, int], tuple[int, int]]) -> Steps:
    """Trivance and Bruck: two messages in each step, of the streams ``pair`` and D + ``pair``."""
    return [[_hop(pair + i * len(dims), dims, dimension, np.array(way))
             for i, way in enumerate(ways(dims[dimension], level))] for dimension, level in _order(dims, pair, 3)]


def _pairwise(dims: tuple[int, ...], stream: int, ways: Callable[[Array, int], Array]) -> Steps:
    """Swing and Recursive Doubling: one message in each step. The streams from D on are mirrored."""
    steps = []
    for dimension, level in _order(dims, stream % len(dims), 2):
        way = ways(np.unravel_index(np.arange(math.prod(dims)), dims)[dimension], level)
        steps.append([_hop(stream, dims, dimension, way if stream < len(dims) else -way, dims[dimension] // 2 * 2)])
    return steps


def _collectives(algorithm: str, dims: tuple[int, ...]) -> list[Steps]:
    """The steps of every independent part of the vector, without those of an allgather."""
    family = algorithm[:-1]
    if family in ("Trivance", "Bruck"):
        return [_jointly(dims, pair, _trivance if family == "Trivance" else _bruck) for pair in range(len(dims))]
    return [_pairwise(dims, stream, _swing if family == "Swing" else _doubling)
            for stream in range(1 if algorithm.endswith("L") else 2 * len(dims))]


# ---- Sizes -----------------------------------------------------------------------------------------------------------

def _share(floats: int, parts: int, index: int) -> int:
    return floats // parts + (floats % parts if index == parts - 1 else 0)


def _reach(steps: Steps, ranks: int) -> list[Array]:
    """For each step a matrix: whether a rank reaches another in this step and later ones."""
    reach = [np.eye(ranks, dtype=bool)]
    for step in reversed(steps):
        now = reach[0].copy()
        for hop in step:
            now |= reach[0][hop.peer]
        reach.insert(0, now)
    return reach


def _lists(steps: Steps, floats: int, ranks: int) -> list[list[Array]]:
    """The floats that each rank sends, for each hop of each step.

    In ascending order, each block other than the own is sent once: of the last steps of both streams in which it can
    reach its owner, in the one with the fewest blocks so far. The last block has the remainder.
    """
    reach, everyone = _reach(steps, ranks), np.arange(ranks)
    hops = [(k, hop) for k, step in enumerate(steps) for hop in step]
    load, sent = np.zeros((len(hops), ranks)), np.zeros((len(hops), ranks), dtype=np.int64)
    for owner in everyone:
        able = np.array([reach[k + 1][hop.peer, owner] for k, hop in hops])
        for i, (_, hop) in enumerate(hops):
            able[i] &= ~np.any([able[j] for j in range(i + 1, len(hops)) if hops[j][1].stream == hop.stream], axis=0)
        chosen = np.where(able, load, np.inf).argmin(axis=0)
        senders = everyone[able.any(axis=0) & (everyone != owner)]
        load[chosen[senders], senders] += 1
        sent[chosen[senders], senders] += _share(floats, ranks, owner)
    lists = iter(sent)
    return [[next(lists) for _ in step] for step in steps]


def _sizes(algorithm: str, dims: tuple[int, ...], steps: Steps, share: int) -> list[list[Array]]:
    """As `_lists`, by the rule of the algorithm."""
    ranks = math.prod(dims)
    if algorithm.endswith("L"):
        return [[np.full(ranks, share) for _ in step] for step in steps]
    if algorithm == "TrivanceB" and dims == (16, 16, 16):
        return [[np.full(ranks, math.ceil(0.33 ** (k + 1) * share)) for _ in step] for k, step in enumerate(steps)]
    return _lists(steps, share, ranks)


def _bucket(dims: tuple[int, ...], floats: int) -> Iterator[tuple[int, Hop, Array]]:
    """Rings in one dimension after the other. The last block has the remainder, which later dimensions ignore."""
    at = np.unravel_index(np.arange(math.prod(dims)), dims)
    for stream in range(2 * len(dims)):
        way, part = 1 - 2 * (stream % 2), _share(floats, 2 * len(dims), stream)
        before: list[tuple[Hop, Array]] = []
        after: list[tuple[Hop, Array]] = []
        for turn in range(len(dims)):
            dimension = (stream // 2 + turn) % len(dims)
            side, hop = dims[dimension], _hop(stream, dims, dimension, np.array(way))
            blocks = [part // side + np.where((at[dimension] - way * k) % side == side - 1, part % side, 0)
                      for k in range(-1, side - 1)]
            before += [(hop, block) for block in blocks[1:]]
            after = [(hop, block) for block in blocks[:-1]] + after
            part //= side
        yield from ((step, *both) for step, both in enumerate(before + after))


def sent(algorithm: str, dims: tuple[int, ...], floats: int) -> Iterator[tuple[int, Hop, Array]]:
    """(step, hop, floats of each rank)."""
    if algorithm == "Bucket":
        yield from _bucket(dims, floats)
        return
    if algorithm == "SwingB" and any(side % 2 for side in dims):
        raise trivance.UnsupportedError("the helper pairs of Swing B on odd sizes are not modelled")
    collectives = _collectives(algorithm, dims)
    for index, steps in enumerate(collectives):
        share = _share(floats, len(collectives), index)
        sizes = _sizes(algorithm, dims, steps, share)
        if algorithm.endswith("B") and share >= math.prod(dims):
            steps, sizes = steps + steps[::-1], sizes + sizes[::-1]
        for k, (step, amounts) in enumerate(zip(steps, sizes)):
            yield from ((k, hop, amount) for hop, amount in zip(step, amounts))


def messages(algorithm: str, torus: str, floats: int) -> list[Message]:
    """All messages for a vector of ``floats`` floats, by step, sender and stream."""
    found = [Message(step, hop.stream, src, dst, 2 * hop.dimension + (way < 0), FLOAT_BYTES * size)
             for step, hop, amounts in sent(algorithm, dims_of(torus), floats)
             for src, (dst, way, size) in enumerate(zip(hop.peer.tolist(), hop.distance.tolist(), amounts.tolist()))
             if dst >= 0]
    return sorted(found, key=lambda m: (m.step, m.src, m.stream))


# ---- Times -----------------------------------------------------------------------------------------------------------

def lump_ns(algorithm: str, torus: str) -> int:
    """The start-up time of all steps, which is charged once, before the first message."""
    dims = dims_of(torus)
    if algorithm == "Bucket":
        return 2 * len(dims) * (dims[0] - 1) * ALPHA_NS
    steps = sum(_levels(side, 3 if algorithm[:-1] in ("Trivance", "Bruck") else 2) for side in dims)
    return steps * ALPHA_NS * (2 if algorithm.endswith("B") else 1)


def barrier(torus: str, first: int) -> list[Message]:
    """MPI_Finalize in steps from ``first`` on: to the root of the tree, and back."""
    dims, found = dims_of(torus), []
    depth = [(rank + 1).bit_length() for rank in range(math.prod(dims))]
    for rank in range(1, len(depth)):
        parent = (rank - 1) // 2
        for src, dst, step in ((rank, parent, depth[-1] - depth[rank]), (parent, rank, depth[-1] + depth[rank] - 3)):
            ways = [int((at[1] - at[0]) % side) for side, at in zip(dims, np.unravel_index([src, dst], dims))]
            d = next(d for d, way in enumerate(ways) if way)
            found.append(Message(first + step, 0, src, dst, 2 * d + (2 * ways[d] > dims[d]), 0))
    return found


def schedule(torus: str, listed: list[Message], independent: bool = False) -> tuple[trivance.Schedule, int]:
    """A schedule of these messages with their headers, and the size of the vector for which they have these sizes.

    A link carries whole flits, of which sizes are multiples; where these are too many for a file, of several flits. All
    streams are one, in which a rank waits for all its messages of a step, unless they are ``independent``.
    """
    flits = np.array([-(-(m.size + HEADER_BYTES) // FLIT_BYTES) for m in listed])
    unit, streams = 1, 1 + max(m.stream for m in listed) if independent else 1
    while (-(-flits // unit)).sum() > (1 << 20) + 1000 * len(flits):
        unit *= 2
    steps: list[Any] = [[[] for _ in range(1 + max(m.step for m in listed))] for _ in range(streams)]
    for m, size in zip(listed, (-(-flits // unit) * unit * FLIT_BYTES).tolist()):
        steps[m.stream % streams][m.step].append([m.src, m.dst, f"{'-' if m.port % 2 else '+'}{m.port // 2}", size])
    vector = int(-(-flits.max() // unit)) * unit * FLIT_BYTES * streams
    file = {"format": "trivance-schedule-1", "torus": dims_of(torus), "name": "published", "vector_bytes": vector,
            "streams": [{"steps": one} for one in steps]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as stream:
        json.dump(file, stream)
        stream.flush()
        return trivance.Schedule.from_file(stream.name), vector


def times_ns(algorithm: str, torus: str, floats: int, **changes: Any) -> tuple[float, float]:
    """The end of the AllReduce on the last rank, and the time of the plots. ``changes``: of `NETWORK`."""
    listed, independent = messages(algorithm, torus, floats), algorithm == "Bucket"
    if independent and len(set(dims_of(torus))) > 1:
        raise trivance.UnsupportedError(f"the times of Bucket are modelled for equal sizes only, not for {torus}")
    network = trivance.Network(dims_of(torus), **{**NETWORK, **changes})

    def run(some: list[Message]) -> float:
        first = min(m.step for m in some)
        made, vector = schedule(torus, [m._replace(step=m.step - first) for m in some], independent)
        return trivance.Simulator(made, network).run(vector, full=True).time_ns

    end, last = float(lump_ns(algorithm, torus)), listed[-1].step + 1
    if independent:  # all streams of a rank end a stage before the next one begins
        stage = dims_of(torus)[0] - 1
        end += sum(run([m for m in listed if begin <= m.step < begin + stage]) for begin in range(0, last, stage))
        return end, end + run(barrier(torus, 0))
    return end + run(listed), end + run(listed + barrier(torus, last))
