"""The plots of `trivance testbed bench`: time over size, an SVG file for every job of a testbed.csv, beside it.

``python3 -m trivance.plots.testbed FOLDER/testbed.csv``. All lines are thin and pale, except those to compare: the MPI
library's best at every size, and Trivance's auto. The tables of the command have the times of each algorithm by name.
"""
import csv
import os
import sys
from typing import Any

from matplotlib.ticker import LogLocator  # type: ignore[import]

from .. import _library as L
from .svg import axes_of, output, set_sizes

Row = dict[str, str]
MPI = {"openmpi": "Open MPI", "mpich": "MPICH"}
OWN, FORMS = ({"color": colour, "marker": "o", "markersize": 2.5, "linewidth": 1} for colour in ("#a3acb8", "#8dbcf0"))
BEST, INTEGERS, DOUBLES = ({"color": colour, "marker": marker, "linestyle": line, "markersize": 5, "linewidth": 3}
                           for colour, marker, line in (("#1f2933", "s", "-"), ("#12855a", "o", "-"),
                                                        ("#d9730d", "^", "--")))


def collective_of(row: Row) -> str:
    """The collective of a row; files of earlier versions have AllReduces only."""
    return row.get("collective", "allreduce")


def _plot(axes: Any, rows: list[Row], label: str, style: dict[str, Any]) -> None:
    sizes, times, least, most = ([float(row[name]) for row in rows]
                                 for name in ("bytes", "median_ms", "min_ms", "max_ms"))
    if style["linewidth"] > 1:
        axes.vlines(sizes, least, most, color="#d5dbe2", linewidth=5)
    known = label in axes.get_legend_handles_labels()[1]
    axes.plot(sizes, times, label="" if known else label, **style)


def draw(job: list[Row], stream: Any) -> None:
    """Draws the rows of one job; later lines are over earlier ones."""
    first, library = job[0], MPI[job[0]["mpi"]]
    lines: dict[tuple[str, ...], list[Row]] = {}
    for row in job:
        lines.setdefault((row["whose"], row["algorithm"], row["type"]), []).append(row)
    own = [row for row in job if row["whose"] == "library"]
    best = [min((row for row in own if row["bytes"] == size), key=lambda row: float(row["median_ms"]))
            for size in dict.fromkeys(row["bytes"] for row in own)]
    collective = L.TITLES[L.collective_code(collective_of(first))]
    title = (f"{collective}: {library}, torus {first['torus']} of {float(first['bandwidth_mbps']):g} Mb/s and "
             f"{float(first['hop_latency_ms']):g} ms, rendezvous {'on' if first['rendezvous'] == 'true' else 'off'}")
    with axes_of(title + (f", links {first['slow_link']}" if first["slow_link"] else ""), stream, 3) as axes:
        axes.set_yscale("log", subs=())
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        for (whose, algorithm, _), rows in lines.items():
            if whose == "library":
                _plot(axes, rows, f"{library}, each of its own", OWN)
            elif algorithm != "auto":
                _plot(axes, rows, "Trivance, each form", FORMS)
        typed = collective_of(first) in L.REDUCING  # the others have rows of one type
        for emphasized, label, style in ((best, f"{library}, the best of its own", BEST),
                                         (lines.get(("trivance", "auto", "int")), "Trivance, auto, integers", INTEGERS),
                                         (lines.get(("trivance", "auto", "double")),
                                          "Trivance, auto, doubles" if typed else "Trivance, auto", DOUBLES)):
            if emphasized:
                _plot(axes, emphasized, label, style)
        set_sizes(axes, sorted({int(row["bytes"]) for row in job}))
        axes.set_ylabel("time, ms (median, minimum to maximum)")


def main(path: str) -> None:
    """Draws all jobs of a testbed.csv."""
    jobs: dict[str, list[Row]] = {}
    with open(path, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            name = f"{row['torus']}-{row['mpi']}-{'rendezvous' if row['rendezvous'] == 'true' else 'eager'}"
            name += "" if collective_of(row) == "allreduce" else f"-{collective_of(row)}"
            jobs.setdefault(name, []).append(row)
    for name, job in jobs.items():
        with output(os.path.join(os.path.dirname(path), name + ".svg")) as stream:
            draw(job, stream)


if __name__ == "__main__":
    main(sys.argv[1])
