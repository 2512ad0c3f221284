"""Predictions: simulations of the schedules of measured rows, on a network with a profile."""
from __future__ import annotations

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterable, Optional, Sequence

from .. import Network, Schedule, Simulator, Torus
from .rows import FITTED, Row, collective_of, schedule_of

PACKETS = 32  # of the longest message: larger packets take less time to simulate, and change the result by less than 2 %
SIZE_MAX = 32 << 20  # the time of longer vectors grows linearly, and is extrapolated from this size and half of it


@functools.lru_cache(maxsize=256)
def _simulator(torus: str, name: str, collective: str) -> Simulator:
    return Simulator(Schedule(name, torus, collective))


def _time(row: Row, size: int, name: str, network: Network, packets: int) -> float:
    """Simulates a size with the network's packets or, if messages have many, with larger ones: a power of two up to 1 MiB."""
    share = size / max(row.ports, 1) / packets
    packet = int(max(network._options.packet_bytes, min(1 << 20, 1 << int(math.log2(max(share, 1))))))
    return _simulator(row.shape, name, collective_of(row)).time(size, network.replace(packet=packet))


def predict(row: Row, profile: str, packets: int = PACKETS, **changes: Any) -> float:
    """The time of a row in seconds."""
    name = schedule_of(row)
    assert name is not None
    pairs = [d for d, size in enumerate(Torus(row.shape).dims) if size == 2]  # two nodes have one link, not two
    network = Network.from_profile(row.shape, profile, shared_paths=pairs, **changes)
    if row.size <= SIZE_MAX:
        return _time(row, row.size, name, network, packets)
    half, whole = (_time(row, size, name, network, packets) for size in (SIZE_MAX // 2, SIZE_MAX))
    return whole + (whole - half) * (row.size - SIZE_MAX) / (SIZE_MAX - SIZE_MAX // 2)


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


def fit(rows: Iterable[Row], profile: str) -> dict[str, Any]:
    """Fits a profile to the rows of Recursive Doubling in three stages: the rate of reductions to long vectors on small tori,
    where hardly any two messages share a link; software costs to short ones; the bandwidth of links to long ones on large tori.
    """
    fitted = [row for row in rows if row.algorithm in FITTED and schedule_of(row)]
    small = [row for row in fitted if math.prod(Torus(row.shape).dims) <= SMALL_RANKS_MAX]
    values = search([row for row in small if row.size >= VERY_LONG], profile, RATES, **LINKS, **SOFTWARE)
    values.update(search([row for row in small if row.size < VERY_LONG], profile, SOFTWARE, **LINKS, **values))
    long = [row for row in fitted if row not in small and row.size >= LONG]
    return {**values, **search(long, profile, LINKS, (1.2, 1.08, 1.03), **values)}
