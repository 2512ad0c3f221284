"""Predictions: simulations of the schedules of measured rows, on a network with a profile."""
from __future__ import annotations

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterable, Optional, Sequence

from trivance import Network, Schedule, Simulator, Torus, parse_bytes, profile_sources

from .rows import TREES, Row, collectives_of, cuts_of, is_fitted, schedule_of, trees_of

# of the longest message: larger packets take less time to simulate, and change the result by less than 2 %
PACKETS = 32
SIZE_MAX = 32 << 20  # the time of longer vectors grows linearly, and is extrapolated from this size and half of it
CHUNKS = (1, 4, 16, 64, 256)  # of trees, in the order in which they are tried
CHUNK_PACKETS = 4             # of a chunk, which crosses one link


@functools.lru_cache(maxsize=256)
def _simulator(torus: str, cuts: tuple[str, ...], name: str, collective: str) -> Simulator:
    return Simulator(Schedule(name, Network(torus, cuts=cuts) if cuts else torus, collective))


@functools.lru_cache(maxsize=4096)
def _simulate(network: Network, name: str, collective: str, size: int, messages: int) -> float:
    """Simulates a size with the network's packets or, if the messages into which the size is divided have many, with
    larger ones: a power of two up to 1 MiB."""
    packet = int(max(parse_bytes(network.options["packet"]),
                     min(1 << 20, 1 << int(math.log2(max(size / messages, 1))))))
    simulator = _simulator(str(network.torus), network.options["cuts"], name, collective)
    return simulator.time(size, network.replace(packet=packet))


def _time(network: Network, name: str, collective: str, size: int, messages: int) -> float:
    if size <= SIZE_MAX:
        return _simulate(network, name, collective, size, messages)
    half, whole = (_simulate(network, name, collective, one, messages) for one in (SIZE_MAX // 2, SIZE_MAX))
    return whole + (whole - half) * (size - SIZE_MAX) / (SIZE_MAX - SIZE_MAX // 2)


def _time_by_trees(network: Network, collective: str, size: int, trees: int) -> float:
    """The time with the best number of chunks: more of them are tried until the time increases."""
    best = math.inf
    for chunks in CHUNKS:
        time = _time(network, f"{TREES}:{chunks}:1", collective, size, trees * chunks * CHUNK_PACKETS)
        if time > best:
            break
        best = time
    return best


def predict(row: Row, profile: str, packets: int = PACKETS, **changes: Any) -> float:
    """The time of a row in seconds."""
    name = schedule_of(row)
    assert name is not None
    pairs = [d for d, size in enumerate(Torus(row.shape).dims) if size == 2]  # two nodes have one link, not two
    network = Network.from_profile(row.shape, profile, shared_paths=pairs, cuts=cuts_of(row), **changes)
    trees, messages = trees_of(row), max(row.ports, 1) * packets
    return sum(_time_by_trees(network, collective, row.size, trees) if trees else
               _time(network, name, collective, row.size, messages) for collective in collectives_of(row))


def predict_all(rows: Sequence[Row], profile: str, packets: int = PACKETS, workers: Optional[int] = None,
                **changes: Any) -> list[float]:
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda row: predict(row, profile, packets, **changes), rows))


# ---- Fitting ---------------------------------------------------------------------------------------------------------

RATES: dict[str, Any] = {"gamma": 2.5e-11}  # where the searches begin, in SI units
SOFTWARE: dict[str, Any] = {"alpha": 1e-6, "message_overhead": 1e-6, "part_overhead": 10e-6, "gamma_small": 5e-10,
                            "gamma_start": 10e-6}
LINKS: dict[str, Any] = {"bandwidth": 100e9}
SMALL_RANKS_MAX, LONG, VERY_LONG = 1000, 1 << 20, 8 << 20


def search(rows: Sequence[Row], profile: str, start: dict[str, Any], steps: Sequence[float] = (1.5, 1.2, 1.08, 1.03),
           report: Callable[[str], None] = print, **fixed: Any) -> dict[str, Any]:
    """The parameters in `start`, fitted to rows by coordinate descent.

    Each parameter in turn is multiplied or divided by a step while the mean of |log(predicted / measured)| decreases.
    """
    def error(values: dict[str, Any]) -> float:
        times = predict_all(rows, profile, 4, **fixed, **values)
        return sum(abs(math.log(time / row.median)) for time, row in zip(times, rows)) / len(rows)

    values, best = dict(start), error(start)
    for step in steps:
        better = True
        while better:
            better = False
            for key in values:
                for factor in (step, 1 / step):
                    trial = {**values, key: values[key] * factor}
                    found = error(trial)
                    if found < best - 1e-4:
                        values, best, better = trial, found, True
                        break
        report(f"step {step}: mean error {best:.4f} of {len(rows)} rows, "
               + ", ".join(f"{name} {value:.4g}" for name, value in values.items()))
    return values


def fitted_parameters(profile: str) -> set[str]:
    """The parameters of a profile that are fitted to measurements, according to their sources."""
    return {name for name, source in profile_sources(profile).items() if source.startswith("fitted")}


def fit(rows: Iterable[Row], profile: str) -> dict[str, Any]:
    """Fits a profile to the rows of Recursive Doubling in three stages: the rate of reductions to long vectors on small
    tori, where hardly any two messages share a link; software costs to short ones; the bandwidth of links to long ones
    on large tori. Parameters that the profile does not call fitted remain.
    """
    known = fitted_parameters(profile)
    rates, software, links = ({key: value for key, value in some.items() if key in known}
                              for some in (RATES, SOFTWARE, LINKS))
    fitted = [row for row in rows if is_fitted(row) and schedule_of(row)]
    small = [row for row in fitted if math.prod(Torus(row.shape).dims) <= SMALL_RANKS_MAX]
    values = search([row for row in small if row.size >= VERY_LONG], profile, rates, **links, **software)
    values.update(search([row for row in small if row.size < VERY_LONG], profile, software, **links, **values))
    long = [row for row in fitted if row not in small and row.size >= LONG]
    return {**values, **search(long, profile, links, (1.2, 1.08, 1.03), **values)}
