"""The paper's own simulation as a model: the messages and times of its algorithms by the rules of its published code.

The messages differ from those of this project's algorithms, and are not proved: some of the lists do not even reduce
correctly. The rules are verified in research/published (research/docs/published.md), which compares them with the
messages and the completion times of that code.

- A *stream* is a part of the vector with its own order of dimensions and directions. A rank begins a step when all its
  messages of the step before have arrived, over all streams. Only Bucket's streams are independent, within a *stage*.
- A node has one interface for all ports. A message has 45 bytes more. Start-up times are charged in one lump.
- The plots' time includes MPI_Finalize, a barrier over the binary tree of rank numbers.
"""
import functools
import json
import math
import tempfile
import warnings
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import numpy as np

import trivance

from .measures import Array

#: The algorithms, by the names of their counterparts in this project.
ALGORITHMS = {"trivance-l": "TrivanceL", "trivance-b": "TrivanceB", "bruck-l": "BruckL", "bruck-b": "BruckB",
              "swing-l": "SwingL", "swing-b": "SwingB", "recdoub-l": "RecDoubL", "recdoub-b": "RecDoubB",
              "bucket": "Bucket"}
HEADER_BYTES, FLOAT_BYTES, FLIT_BYTES = 45, 4, 256
#: The sizes that are simulated, in bytes: those of L end with 512 KiB, those of B and Bucket begin with 32 KiB.
L_LAST, B_FIRST = 512 << 10, 32 << 10
#: The network. Alpha and the message overhead are the software of an endpoint, measured on 32 B.
NETWORK: dict[str, Any] = {"model": "dateline", "shared_paths": "one", "path_bandwidth": "12.8Tb/s",
                           "balance_ties": True, "alpha": "3.4ns", "message_overhead": "1.5ns"}
#: Bytes of the vector times ranks up to which every packet is simulated; beyond, packets may be enlarged.
FULL_MAX = 1 << 35


class Message(NamedTuple):
    step: int
    stream: int
    src: int
    dst: int
    port: int
    size: int  # bytes with the header


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


def collectives(algorithm: str, dims: tuple[int, ...]) -> list[Steps]:
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


def blocks(steps: Steps, ranks: int) -> Iterator[Array]:
    """For each block, in ascending order, the hop (counted over all steps) by which each rank sends it; -1: not at all.

    Each block other than the own is sent once: of the last steps of both streams in which it can reach its owner, in
    the one with the fewest blocks so far.
    """
    reach, everyone = _reach(steps, ranks), np.arange(ranks)
    hops = [(k, hop) for k, step in enumerate(steps) for hop in step]
    load = np.zeros((len(hops), ranks), dtype=np.int32)
    for owner in everyone:
        able, later = np.zeros((len(hops), ranks), dtype=bool), {hop.stream: everyone == owner for _, hop in hops}
        for i, (k, hop) in reversed(list(enumerate(hops))):
            able[i] = reach[k + 1][hop.peer, owner] & ~later[hop.stream]
            later[hop.stream] = later[hop.stream] | able[i]
        chosen = np.where(able, load, ranks).argmin(axis=0)
        chosen[~able.any(axis=0)] = -1
        load[chosen[chosen >= 0], everyone[chosen >= 0]] += 1
        yield chosen


@functools.lru_cache(maxsize=64)
def _lists(algorithm: str, dims: tuple[int, ...], part: int) -> list[list[tuple[Array, Array]]]:
    """For each hop of each step of a part of the vector, how many blocks each rank sends, and whether the last one."""
    steps, ranks = collectives(algorithm, dims)[part], math.prod(dims)
    hops = sum(map(len, steps))
    count = last = np.zeros((hops, ranks), dtype=np.int64)
    for chosen in blocks(steps, ranks):
        last = chosen == np.arange(hops)[:, np.newaxis]
        count = count + last
    lists = iter(zip(count, last))
    return [[next(lists) for _ in step] for step in steps]


def _sizes(algorithm: str, dims: tuple[int, ...], part: int, steps: Steps, share: int,
           lists: bool) -> list[list[Array]]:
    """The floats that each rank sends, for each hop of each step; with ``lists`` by lists of blocks on 16x16x16,
    too."""
    ranks = math.prod(dims)
    if algorithm.endswith("L"):
        return [[np.full(ranks, share) for _ in step] for step in steps]
    if algorithm == "TrivanceB" and dims == (16, 16, 16) and not lists:
        return [[np.full(ranks, math.ceil(0.33 ** (k + 1) * share)) for _ in step] for k, step in enumerate(steps)]
    return [[count * (share // ranks) + last * (share % ranks) for count, last in step]
            for step in _lists(algorithm, dims, part)]


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


def sent(algorithm: str, dims: tuple[int, ...], floats: int, lists: bool = False) -> Iterator[tuple[int, Hop, Array]]:
    """(step, hop, floats of each rank); ``lists``: see `_sizes`."""
    if algorithm == "Bucket":
        yield from _bucket(dims, floats)
        return
    if algorithm == "SwingB" and any(side % 2 for side in dims):
        raise trivance.UnsupportedError("the helper pairs of Swing B on odd sizes are not modelled")
    parts = collectives(algorithm, dims)
    for index, steps in enumerate(parts):
        share = _share(floats, len(parts), index)
        sizes = _sizes(algorithm, dims, index, steps, share, lists)
        if algorithm.endswith("B") and share >= math.prod(dims):
            steps, sizes = steps + steps[::-1], sizes + sizes[::-1]
        for k, (step, amounts) in enumerate(zip(steps, sizes)):
            yield from ((k, hop, amount) for hop, amount in zip(step, amounts))


def _sent_by_text(algorithm: str, dims: tuple[int, ...], floats: int) -> Iterator[tuple[int, Hop, Array]]:
    """As `sent`, on equal sizes, with the blocks that must move: as much as this project's Trivance B and Bruck B
    send."""
    found = sent(algorithm, dims, floats)
    if algorithm not in ("TrivanceB", "BruckB"):
        yield from found
        return
    model = trivance.Schedule(f"{algorithm[:-1].lower()}-b", dims)
    units = {}
    for stream, step, src, dst, port, count, _ in model.messages.tolist():
        if (stream, src) == (0, 0):
            there = model.torus.coordinates(dst)[port // 2]
            units[step, min(there, dims[0] - there)] = count
    for step, hop, amounts in found:
        share = _share(floats, len(dims), hop.stream % len(dims))
        yield step, hop, np.full_like(amounts, round(share * units[step, abs(int(hop.distance.flat[0]))] / model.units))


def _messages(found: Iterable[tuple[int, Hop, Array]], header: int) -> list[Message]:
    return [Message(step, hop.stream, src, dst, 2 * hop.dimension + (way < 0), FLOAT_BYTES * size + header)
            for step, hop, amounts in found
            for src, (dst, way, size) in enumerate(zip(hop.peer.tolist(), hop.distance.tolist(), amounts.tolist()))
            if dst >= 0]


# ---- Times -----------------------------------------------------------------------------------------------------------

class Rules(NamedTuple):
    """The rules of the published times, each of which can be dropped."""
    barrier: bool = True      # the time includes MPI_Finalize
    synchronous: bool = True  # a rank waits for all its streams, except those of Bucket
    header: int = HEADER_BYTES
    sizes: Callable[..., Iterable[tuple[int, Hop, Array]]] = sent
    network: tuple[tuple[str, Any], ...] = tuple(NETWORK.items())


#: The published rules, and what results without one of them, by names that are part of the keys of results.
RULES = {
    "published": Rules(),
    "no barrier": Rules(barrier=False),
    "independent streams": Rules(synchronous=False),
    "an interface for each port": Rules(network=tuple((NETWORK
                                                       | {"shared_paths": (), "path_bandwidth": None}).items())),
    "blocks that must move": Rules(sizes=_sent_by_text),
    "lists on 16x16x16": Rules(sizes=functools.partial(sent, lists=True)),
    "no header": Rules(header=0),
    "ties one way": Rules(network=tuple((NETWORK | {"balance_ties": False}).items())),
}


def simulates(member: str, torus: str, size: int) -> bool:
    """Whether the published simulation has times of a member ("barrier": of MPI_Finalize), and the model, too."""
    if member not in ALGORITHMS and member != "barrier":
        return False  # of a plugin
    if member.endswith("-l"):
        return size <= L_LAST
    odd = member == "swing-b" and any(side % 2 for side in trivance.Torus(torus).dims)
    return member == "barrier" or size >= B_FIRST and not odd


def lump_ns(algorithm: str, torus: str, alpha_ns: float = 1500) -> float:
    """The start-up time of all steps, which is charged once, before the first message."""
    dims = dims_of(torus)
    if algorithm == "Bucket":
        steps = 2 * len(dims) * (dims[0] - 1)
    else:
        steps = sum(_levels(side, 3 if algorithm[:-1] in ("Trivance", "Bruck") else 2) for side in dims)
        steps *= 2 if algorithm.endswith("B") else 1
    return steps * alpha_ns


def _barrier(dims: tuple[int, ...], first: int) -> list[Message]:
    """MPI_Finalize in steps from ``first`` on: to the root of the tree, and back."""
    found = []
    depth = [(rank + 1).bit_length() for rank in range(math.prod(dims))]
    for rank in range(1, len(depth)):
        parent = (rank - 1) // 2
        for src, dst, step in ((rank, parent, depth[-1] - depth[rank]), (parent, rank, depth[-1] + depth[rank] - 3)):
            ways = [int((at[1] - at[0]) % side) for side, at in zip(dims, np.unravel_index([src, dst], dims))]
            d = next(d for d, way in enumerate(ways) if way)
            found.append(Message(first + step, 0, src, dst, 2 * d + (2 * ways[d] > dims[d]), HEADER_BYTES))
    return found


def _schedule(dims: tuple[int, ...], listed: list[Message], independent: bool = False) -> tuple[trivance.Schedule, int]:
    """A schedule of these messages, and the size of the vector for which they have these sizes.

    A link carries whole flits, of which sizes are multiples; where these are too many for a file, of several flits. All
    streams are one, in which a rank waits for all its messages of a step, unless they are ``independent``.
    """
    flits = np.array([-(-m.size // FLIT_BYTES) for m in listed])
    unit, streams = 1, 1 + max(m.stream for m in listed) if independent else 1
    while (-(-flits // unit)).sum() > (1 << 20) + 1000 * len(flits):
        unit *= 2
    steps: list[Any] = [[[] for _ in range(1 + max(m.step for m in listed))] for _ in range(streams)]
    for m, size in zip(listed, (-(-flits // unit) * unit * FLIT_BYTES).tolist()):
        steps[m.stream % streams][m.step].append([m.src, m.dst, f"{'-' if m.port % 2 else '+'}{m.port // 2}", size])
    vector = int(-(-flits.max() // unit)) * unit * FLIT_BYTES * streams
    file = {"format": "trivance-schedule-1", "torus": dims, "name": "published", "vector_bytes": vector,
            "streams": [{"steps": one} for one in steps]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as stream, warnings.catch_warnings():
        stream.write(json.dumps(file))  # json.dump takes ten times as long
        stream.flush()
        warnings.filterwarnings("ignore", ".*are rounded to")  # a large schedule has fewer units
        return trivance.Schedule.from_file(stream.name), vector


def _bucket_stages(dims: tuple[int, ...], floats: int, header: int) -> Iterator[list[Message]]:
    """The stages of Bucket, each on a torus of sides of 4: no stream meets another on a link, and all ranks are alike.

    A stream's largest block passes all ranks, one in each step, and determines the time of all of them.
    """
    parts, small = [_share(floats, 2 * len(dims), stream) for stream in range(2 * len(dims))], (4,) * len(dims)
    stages = []
    for turn in range(len(dims)):
        found = []
        for stream, part in enumerate(parts):
            dimension = (stream // 2 + turn) % len(dims)
            side, hop = dims[dimension], _hop(stream, small, dimension, np.array(1 - 2 * (stream % 2)))
            parts[stream] = part // side
            found += [(step, hop, np.full(4 ** len(dims), part // side + part % side)) for step in range(side - 1)]
        stages.append(found)
    return (_messages(found, header) for found in stages + stages[::-1])


def _prepare(dims: tuple[int, ...], listed: list[Message], independent: bool = False) -> tuple[trivance.Simulator, int]:
    made, vector = _schedule(dims, sorted(listed, key=lambda m: (m.step, m.src, m.stream)), independent)
    return trivance.Simulator(made, dims), vector


def barrier_ns(torus: str, **changes: Any) -> float:
    """The time of MPI_Finalize if all ranks begin it together."""
    dims = dims_of(torus)
    simulator, vector = _prepare(dims, _barrier(dims, 0))
    return simulator.run(vector, network=trivance.Network(dims, **NETWORK | changes), full=True).time_ns


class _Prepared(NamedTuple):
    """One schedule, or those of Bucket's stages, one after another; ``balanced``: with half-way messages."""
    simulators: list[tuple[trivance.Simulator, int]]
    dims: tuple[int, ...]
    balanced: bool
    barrier: bool  # whether the schedule includes MPI_Finalize


@functools.lru_cache(maxsize=1)
def _prepared(algorithm: str, dims: tuple[int, ...], floats: int, rules: Rules) -> _Prepared:
    """The schedules, which depend on the network's shape only. Times on several networks are computed one after
    another."""
    if algorithm == "Bucket":
        small = (4,) * len(dims)
        stages = [_prepare(small, stage, True) for stage in _bucket_stages(dims, floats, rules.header)]
        return _Prepared(stages, small, False, False)
    found = list(rules.sizes(algorithm, dims, floats))
    halfway = any((2 * abs(hop.distance) == dims[hop.dimension]).any() for _, hop, _ in found)
    listed = _messages(found, rules.header)
    if not rules.synchronous:  # both messages of a part of Trivance and Bruck belong together
        parts = len(dims) if algorithm[:-1] in ("Trivance", "Bruck") else 2 * len(dims)
        listed = [m._replace(stream=m.stream % parts) for m in listed]
    elif rules.barrier:
        listed += _barrier(dims, 1 + max(m.step for m in listed))
    return _Prepared([_prepare(dims, listed, not rules.synchronous)], dims, halfway,
                     rules.synchronous and rules.barrier)


def time_ns(algorithm: str, torus: str, floats: int, rules: Rules = Rules(), alpha_ns: float = 1500,
            **changes: Any) -> float:
    """The time of a vector of ``floats`` floats, of the plots by default. ``changes`` are those of the network."""
    dims, options = dims_of(torus), dict(rules.network) | changes
    prepared = _prepared(algorithm, dims, floats, rules)
    full = prepared.balanced or FLOAT_BYTES * floats * math.prod(dims) <= FULL_MAX
    options["balance_ties"] = options["balance_ties"] and full  # balanced ties need every packet
    network = trivance.Network(prepared.dims, **options)
    end = lump_ns(algorithm, torus, alpha_ns) + sum(simulator.run(vector, network=network, full=full).time_ns
                                                    for simulator, vector in prepared.simulators)
    return end + (barrier_ns(torus, **changes) if rules.barrier and not prepared.barrier else 0)
