"""``python3 -m trivance_research.figures.lists TrivanceB 16 > lists.json``: the published lists of blocks as a file
that `trivance verify` examines, a reduce-scatter (of L: an AllReduce); on standard error, how many ranks end with every
contribution exactly once.
"""
import json
import math
import sys
from typing import Any, Iterator

import numpy as np

import trivance

from .measures import Array
from .published import ALGORITHMS, Steps, blocks, collectives, dims_of


def _moves(algorithm: str, steps: Steps, ranks: int) -> Iterator[tuple[int, Array]]:
    """(unit, for each hop, counted over all steps, which ranks send it): of B each block, of L the whole vector."""
    hops = [hop for step in steps for hop in step]
    if algorithm.endswith("L"):
        yield 0, np.array([hop.peer >= 0 for hop in hops])
        return
    yield from ((unit, chosen == np.arange(len(hops))[:, np.newaxis])
                for unit, chosen in enumerate(blocks(steps, ranks)))


def _received(steps: Steps, moves: Array) -> Array:
    """How often each rank (row) has each contribution (column) of a unit at the end."""
    have, index = np.eye(moves.shape[1], dtype=np.int64), 0
    for step in steps:
        before = have.copy()
        for hop in step:
            sender = np.flatnonzero(moves[index])
            np.add.at(have, hop.peer[sender], before[sender])
            index += 1
    return have


def complete(algorithm: str, torus: str) -> list[int]:
    """For each part of the vector, the ranks with every contribution to their block (L: the vector) exactly once."""
    ranks = math.prod(dims_of(torus))
    return [sum(int((_received(steps, moves)[unit if algorithm.endswith("B") else slice(None)] == 1).all(axis=-1).sum())
                for unit, moves in _moves(algorithm, steps, ranks)) for steps in collectives(algorithm, dims_of(torus))]


def _file_steps(algorithm: str, steps: Steps, ranks: int) -> dict[str, Any]:
    """The messages and combines of a part: the data of a step's first hop are received into register 1, then 2."""
    moves = list(_moves(algorithm, steps, ranks))
    file: dict[str, list[Any]] = {"steps": [], "combines": []}
    first = 0
    for step in steps:
        brought: list[dict[int, set[int]]] = [{} for _ in range(ranks)]  # of each rank, the units by register
        messages = []
        for register, hop in enumerate(step, 1):
            signs = ["-" if way < 0 else "+" for way in np.broadcast_to(hop.distance, ranks).tolist()]
            for rank in range(ranks):
                units = [unit for unit, move in moves if move[first + register - 1][rank]]
                if units:
                    peer = int(hop.peer[rank])
                    messages.append([rank, peer, f"{signs[rank]}{hop.dimension}", 4 * len(units),
                                     {"into": register, "blocks": units}])
                    brought[peer][register] = set(units)
        first += len(step)
        file["steps"].append(messages)
        file["combines"].append([[rank, 0, [0, *registers], sorted(units)] for rank, received in enumerate(brought)
                                 for registers, units in _groups(received)])
    return file


def _groups(received: dict[int, set[int]]) -> Iterator[tuple[list[int], set[int]]]:
    """(registers, the units that exactly these have received)."""
    by_registers: dict[tuple[int, ...], set[int]] = {}
    for unit in set().union(*received.values()):
        by_registers.setdefault(tuple(one for one, units in received.items() if unit in units), set()).add(unit)
    yield from ((list(registers), units) for registers, units in by_registers.items())


def schedule(algorithm: str, torus: str) -> dict[str, Any]:
    """The lists as a file of the format trivance-schedule-1."""
    dims, latency = dims_of(torus), algorithm.endswith("L")
    parts, ranks = collectives(algorithm, dims), math.prod(dims)
    units = 1 if latency else ranks
    return {"format": "trivance-schedule-1", "torus": dims, "name": f"published {algorithm}", "units": units,
            "registers": 3, "collective": "allreduce" if latency else "reduce-scatter",
            "vector_bytes": 4 * units * len(parts),
            "streams": [_file_steps(algorithm, steps, ranks) for steps in parts]}


def main(arguments: list[str]) -> int:
    names = [name for name in ALGORITHMS.values() if name != "Bucket"]
    usage = ("usage: python3 -m trivance_research.figures.lists ALGORITHM TORUS, for example TrivanceB 16; ALGORITHM "
             f"is one of {', '.join(names)}\n")
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(usage)
        return 0
    if len(arguments) != 2 or arguments[0] not in names:
        sys.stderr.write(usage)
        return 2
    try:
        torus = trivance.Torus(arguments[1])
        if torus.lines or min(torus.dims) < 2:
            raise trivance.ArgumentError("the published lists are for tori whose sides are 2 or more, such as 16 or "
                                         f"8x8, not {torus}")
        ranks = torus.size
        json.dump(schedule(*arguments), sys.stdout)
        sys.stdout.flush()
    except (trivance.TrivanceError, OSError) as error:
        sys.stderr.write(f"lists: {error}\n")
        return 2
    counts = " and ".join(str(count) for count in complete(*arguments))
    sys.stderr.write(f"{counts} of {ranks} ranks end with every contribution exactly once\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
