"""Compares `trivance_research.figures.published` with messages and completion times of the paper's own simulation
(README.md).

Usage: compare.py [--quick]      --quick: rings of 8 and 9, and 8x8, for the tests; otherwise all rows, some minutes

Exit status 1 if messages differ, if a time deviates by more than 1 % and no reason is known, or if the deviations of
all rows exceed the limits below.
"""
import argparse
import collections
import csv
import pathlib
import sys
from typing import Any, Callable, NamedTuple

import trivance
from trivance_research.figures import published

HERE = pathlib.Path(__file__).parent
QUICK = ("8", "9", "4x4", "8x8")
#: Limits in percent: of the median, of a row, and the share of rows within the latter.
MEDIAN, ROW, WITHIN = 0.2, 1.0, 95.0
#: The largest deviation in percent that a known reason explains.
KNOWN = 16.0


class Row(NamedTuple):
    topology: str
    algorithm: str
    size: int
    gbps: str
    last: float  # deviations in percent
    plot: float


def reason(row: Row) -> str | None:
    """Why a row deviates by more than 1 %, if that is known."""
    if row.algorithm.startswith("RecDoub") and max(abs(row.last), abs(row.plot)) <= KNOWN:
        return "half-way packets: the code's choice of a direction is less even than the choice by waiting packets"
    return None


def read(name: str, quick: bool) -> list[dict[str, str]]:
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if not quick or row["topology"] in QUICK]


# ---- Messages --------------------------------------------------------------------------------------------------------

Kind = tuple[int, int, int, int, int]  # step, stream, dimension, distance, bytes


def sent(topology: str, algorithm: str, floats: int) -> "collections.Counter[Kind]":
    """The messages by the rules, in the terms of messages.csv."""
    dims = published.dims_of(topology)
    return collections.Counter(
        (step, hop.stream, len(dims) - 1 - hop.dimension, way, published.FLOAT_BYTES * size)
        for step, hop, amounts in published.sent(algorithm, dims, floats)
        for peer, way, size in zip(hop.peer.tolist(), hop.distance.tolist(), amounts.tolist()) if peer >= 0)


def compare_messages(quick: bool) -> bool:
    wanted: dict[tuple[str, str, int], "collections.Counter[Kind]"] = {}
    for row in read("messages.csv", quick):
        kinds = wanted.setdefault((row["topology"], row["algorithm"], int(row["count_floats"])), collections.Counter())
        if row["dimension"]:
            kinds[int(row["step"]), int(row["stream"]), int(row["dimension"]), int(row["distance"]),
                  int(row["bytes"])] += int(row["ranks"])
    same = True
    for (topology, algorithm, floats), kinds in wanted.items():
        try:
            differ = sent(topology, algorithm, floats) != kinds
        except trivance.UnsupportedError as error:
            print(f"{algorithm} on {topology}: {error}")
            continue
        same = same and not differ
        if differ:
            print(f"{algorithm} on {topology}, {floats} floats: other messages")
    print(f"{len(wanted)} lists of messages: {'the same' if same else 'not the same'}")
    return same


# ---- Times -----------------------------------------------------------------------------------------------------------

def compare_times(quick: bool) -> tuple[list[Row], int]:
    """The deviations, and the number of rows that are not modelled."""
    rows, missing = [], 0
    for row in read("times.csv", quick):
        changes: dict[str, Any] = {} if row["link_gbps"] == "800" else {"bandwidth": f"{row['link_gbps']}Gb/s"}
        try:
            last, plot = (published.time_ns(row["algorithm"], row["topology"], int(row["count_floats"]),
                                            published.Rules(barrier=barrier), **changes) for barrier in (False, True))
        except trivance.UnsupportedError:
            missing += 1
            continue
        rows.append(Row(row["topology"], row["algorithm"], int(row["bytes"]), row["link_gbps"],
                        100 * (last / float(row["last_stop_ns"]) - 1), 100 * (plot / float(row["time_ns"]) - 1)))
    return rows, missing


def _line(title: str, rows: list[Row], missing: int = 0) -> tuple[str, bool]:
    """A line of the table: rows, then median, share of rows within 1 % and worst of both times."""
    columns, fine = [], True
    values: tuple[Callable[[Row], float], ...] = (lambda row: abs(row.last), lambda row: abs(row.plot))
    for value in values:
        ordered = sorted(map(value, rows))
        within = 100 * sum(one <= ROW for one in ordered) / (len(ordered) + missing)
        fine = fine and ordered[len(ordered) // 2] <= MEDIAN and within >= WITHIN
        columns.append(f"{ordered[len(ordered) // 2]:8.3f} % {within:7.1f} % {ordered[-1]:7.2f} %")
    return f"{title:10} {len(rows):5} {' '.join(columns)}", fine


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    fine = compare_messages(quick)
    rows, missing = compare_times(quick)
    both = "median  within 1 %   worst"
    print(f"\n{'':10} {'rows':>5}   {both}    {both}\n{'':16}   last_stop_ns{'':24}time_ns")
    for algorithm in published.ALGORITHMS.values():
        print(_line(algorithm, [row for row in rows if row.algorithm == algorithm])[0])
    text, within = _line("all", rows, missing)
    print(f"{text}\n{missing} rows are not modelled\n")
    for row in rows:
        if max(abs(row.last), abs(row.plot)) > ROW:
            known = reason(row)
            within = within and known is not None
            print(f"{row.topology} {row.algorithm} {row.size} B {row.gbps} Gb/s: {row.last:+.2f} %, {row.plot:+.2f} %: "
                  f"{known}")
    return 0 if fine and within else 1


if __name__ == "__main__":
    sys.exit(main())
