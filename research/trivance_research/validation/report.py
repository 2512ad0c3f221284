"""Tables and plots of a validation: errors by regime, the ranking of algorithms, and every curve."""
from __future__ import annotations

import csv
import itertools
import os
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TextIO

from trivance import format_bytes

from .rows import Row, is_fitted, schedule_of

REGIMES = {"small, up to 2 KiB": (0, 2048), "middle, 16 KiB to 1 MiB": (2049, 1 << 20),
           "large, from 8 MiB": ((1 << 20) + 1, 1 << 62)}
APART = 1.2  # ratio of two measured medians from which their order counts


class Result(NamedTuple):
    """A row and its predicted time in seconds."""
    row: Row
    time: float

    @property
    def error(self) -> float:
        """Relative: 0.1 if 10 % more than measured."""
        return self.time / self.row.median - 1

    @property
    def fitted(self) -> bool:
        return is_fitted(self.row)


def _errors(results: Iterable[Result]) -> list[float]:
    return [abs(one.error) for one in results]


def _percent(errors: list[float]) -> str:
    return f"{len(errors)} | {100 * statistics.median(errors):.1f} % | {100 * max(errors):.0f} %" if errors else "0 | |"


def pairs(results: Iterable[Result]) -> Iterator[bool]:
    """For each two algorithms of a collective, shape and size whose medians are apart, whether the model orders them
    correctly."""
    def key(one: Result) -> tuple[str, str, str, int]:
        return one.row.collective, one.row.library, one.row.shape, one.row.size
    for _, group in itertools.groupby(sorted(results, key=key), key):
        for a, b in itertools.combinations(list(group), 2):
            ratio = a.row.median / b.row.median
            if max(ratio, 1 / ratio) > APART:
                yield (a.time < b.time) == (ratio < 1)


def _regimes(title: str, results: list[Result], chosen: Callable[[Result], bool]) -> Iterator[str]:
    for regime, (minimum, maximum) in REGIMES.items():
        some = [one for one in results if chosen(one) and minimum <= one.row.size <= maximum]
        if some:
            yield f"| {title} | {regime} | {_percent(_errors(some))} |"


# Of the rows of each library.
GROUPS: dict[str, dict[str, Callable[[Result], bool]]] = {"utofu": {
    "fitted: Recursive Doubling": lambda one: one.fitted,
    "Bine L, 1 port": lambda one: one.row.algorithm == "bine-l" and one.row.ports == 1,
    "Bine L, several ports": lambda one: one.row.algorithm == "bine-l" and one.row.ports > 1,
    "Bine B, 1 port": lambda one: one.row.algorithm == "bine-b-cont" and one.row.ports == 1,
    "Bine B, several ports": lambda one: one.row.algorithm == "bine-b-cont" and one.row.ports > 1,
    "ring, all ports": lambda one: one.row.algorithm == "ring-b-cont",
    "AllReduce, all predicted": lambda one: not one.fitted and one.row.collective == "allreduce",
    "ReduceScatter": lambda one: one.row.collective == "reduce-scatter",
    "AllGather": lambda one: one.row.collective == "allgather",
    "Broadcast": lambda one: one.row.collective == "bcast",
    "Reduce": lambda one: one.row.collective == "reduce",
    "Scatter": lambda one: one.row.collective == "scatter",
    "Gather": lambda one: one.row.collective == "gather",
}, "fjmpi": {
    "fitted: Recursive Doubling": lambda one: one.fitted,
    "Recursive Doubling, 2x2x2": lambda one: one.row.algorithm == "recursive_doubling" and not one.fitted,
    "AllReduce, 3 trees": lambda one: one.row.algorithm == "trix3",
    "AllReduce, 6 trees": lambda one: one.row.algorithm == "trix6",
    "Broadcast, 3 and 6 trees": lambda one: one.row.collective == "bcast" and one.row.algorithm.startswith("trinary"),
    "Reduce, 3 and 6 trees": lambda one: one.row.collective == "reduce" and one.row.algorithm.startswith("trinary"),
    "ReduceScatter, recursive halving": lambda one: one.row.algorithm == "recursive-halving",
    "AllGather, recursive doubling": lambda one: one.row.algorithm == "recursive-doubling",
    "Broadcast, binomial": lambda one: one.row.collective == "bcast" and one.row.algorithm == "binomial",
    "Reduce, binomial": lambda one: one.row.collective == "reduce" and one.row.algorithm == "binomial",
    "Scatter, binomial": lambda one: one.row.collective == "scatter",
    "Gather, binomial": lambda one: one.row.collective == "gather",
}}


# Of which the order is compared.
RANKED: dict[str, Callable[[Result], bool]] = {
    "AllReduce": lambda one: one.row.collective == "allreduce",
    "AllReduce without fitted rows": lambda one: one.row.collective == "allreduce" and not one.fitted,
    "all collectives": lambda one: True,
}


def summary(results: list[Result]) -> Iterator[str]:
    """The lines of a table in Markdown: rows, median and worst absolute error of each group and regime."""
    yield "| library | rows | sizes | number | median | worst |"
    yield "|---|---|---|---|---|---|"
    libraries = list(dict.fromkeys(one.row.library for one in results))
    for library in libraries:
        for title, chosen in GROUPS[library].items():
            yield from _regimes(f"{library} | {title}", [one for one in results if one.row.library == library], chosen)
    for library, (title, chosen) in itertools.product(libraries, RANKED.items()):
        right = list(pairs(one for one in results if one.row.library == library and chosen(one)))
        if right:
            yield ""
            yield (f"{library}, {title}: of {len(right)} pairs of algorithms whose medians differ by more than 20 %, "
                   f"the model orders {100 * sum(right) / len(right):.1f} % correctly.")


def curves(results: list[Result]) -> Iterator[str]:
    """The lines of a table in Markdown: predicted / measured of every curve, by size."""
    sizes = sorted({one.row.size for one in results})
    yield "| library | collective | shape | algorithm | ports | schedule | " + " | ".join(map(format_bytes,
                                                                                              sizes)) + " |"
    yield "|---|---|---|---|---|---|" + "---|" * len(sizes)
    for curve in dict.fromkeys(one.row.curve for one in results):
        of_size = {one.row.size: one for one in results if one.row.curve == curve}
        collective, shape, library, algorithm, ports = curve
        cells = (f"{of_size[size].error + 1:.2f}" if size in of_size else "" for size in sizes)
        schedule = schedule_of(next(iter(of_size.values())).row)
        yield (f"| {library} | {collective} | {shape} | {algorithm} | {ports or ''} | {schedule} | " +
               " | ".join(cells) + " |")


def write_csv(results: list[Result], stream: TextIO) -> None:
    out = csv.writer(stream, lineterminator="\n")
    out.writerow(("collective", "torus", "library", "algorithm", "ports", "bytes", "schedule", "fitted", "measured_us",
                  "p10_us", "p90_us", "predicted_us", "error"))
    for one in results:
        row = one.row
        out.writerow((*row.curve, row.size, schedule_of(row), "yes" if one.fitted else "no", f"{row.median * 1e6:.6g}",
                      f"{row.low * 1e6:.6g}", f"{row.high * 1e6:.6g}", f"{one.time * 1e6:.6g}", f"{one.error:.4f}"))


def draw(results: list[Result], folder: str) -> int:
    """A plot for every library, collective and shape: measured medians as markers, predictions as lines. Returns their
    number."""
    from trivance.plots.svg import MARKERS, axes_of, set_sizes
    groups = list(dict.fromkeys(one.row.curve[:3] for one in results))
    for collective, shape, library in groups:
        some = [one for one in results if one.row.curve[:3] == (collective, shape, library)]
        with open(os.path.join(folder, f"{library}-{collective}-{shape}.svg"), "w", encoding="utf-8") as stream, \
                axes_of(f"{collective}, {shape}, {library}: measured (markers) and predicted (lines)", stream,
                        3) as axes:
            set_sizes(axes, sorted({one.row.size for one in some}))
            axes.set_xlabel("size")
            axes.set_yscale("log")
            axes.set_ylabel("time [us]")
            for i, curve in enumerate(dict.fromkeys(one.row.curve for one in some)):
                own = sorted((one for one in some if one.row.curve == curve), key=lambda one: one.row.size)
                sizes = [one.row.size for one in own]
                line, = axes.plot(sizes, [1e6 * one.time for one in own], linewidth=1.4, color=f"C{i % 10}",
                                  linestyle="-" if i < 10 else "--",
                                  label=f"{curve[3]}, {curve[4]} ports" if curve[4] else curve[3])
                axes.plot(sizes, [1e6 * one.row.median for one in own], linestyle="", marker=MARKERS[i % len(MARKERS)],
                          markersize=4, color=line.get_color())
    return len(groups)
