"""Plans of every collective against the baselines and the limit: a table, and plots of time over size.

``python3 -m trivance_research.figures.collectives``. Every plan and every baseline is simulated on the same network,
with one queue per link. Baselines are all algorithms of the families with which schedules are compared, some of them
also with other parameters; where only the fastest is needed, those that a lower bound excludes are not simulated.
Packets of long vectors are larger, because a simulation takes as long as its packets are many. Exit status: 0 success,
1 a plan is slower than a baseline, 2 bad input.
"""
import argparse
import csv
import os
import sys
import warnings
from typing import Any, Iterable, NamedTuple

import trivance
from trivance import format_bytes, parse_sizes
from trivance.plots import curves
from trivance.plots.svg import output

from ..options import Parser, make_folder
from . import write
from .points import PLANNED, Answer, Kept, Options, Point, network_of, simulate_all

NETWORKS = ("8x8", "8x8x8", "9", "9x9x9", "27x27", "8x8m")
SIZES = "32:512M:x16"
COLLECTIVES = tuple(dict.fromkeys(collective for a in trivance.algorithms() for collective in a.collectives))
PLOTTED = {"broadcast", "reduce", "alltoall", "allgather"}
PLOTTED_NETWORKS = {"8x8", "27x27", "8x8x8"}
OTHER_PARAMETERS = {"broadcast": ("scatter-allgather:swing-b", "chain:64", "chain:256"),
                    "reduce": ("scatter-allgather:swing-b", "chain:64", "chain:256")}
LONG, LONG_PACKET = 16 << 20, "64KiB"  # vectors from this size on have packets of this size
SLOWER = 0.995  # a plan is slower if the best baseline takes less than this part of its time
COLUMNS = ("torus", "collective", "bytes", "plan", "time_us", "of_the_limit", "best_baseline", "its_time_us",
           "faster_by")


class Cell(NamedTuple):
    """A network, a collective and a size."""
    network: str
    collective: str
    size: int

    @property
    def options(self) -> Options:
        return (("model", "fifo"), *((("packet", LONG_PACKET),) if self.size >= LONG else ()))

    def point(self, members: tuple[str, ...]) -> Point:
        return Point(self.network, members, self.size, self.options, self.collective)

    @property
    def limit_ns(self) -> float:
        return 1e9 * network_of(self.network, self.options).limit(self.size, self.collective).time

    @property
    def plotted(self) -> bool:
        return self.collective in PLOTTED and self.network in PLOTTED_NETWORKS


def baselines(collective: str, network: str) -> tuple[str, ...]:
    """The algorithms with which plans are compared on a network."""
    known = trivance.algorithms()
    families = {a.family for a in known if a.baseline}
    own = [a.name for a in known if a.family in families and a.exact and collective in a.collectives]
    return tuple(name for name in (*own, *OTHER_PARAMETERS.get(collective, ())) if _supports(name, network, collective))


def _supports(name: str, network: str, collective: str) -> bool:
    try:
        trivance.Schedule(name, network, collective)
    except trivance.UnsupportedError:
        return False
    return True


# ---- The table -------------------------------------------------------------------------------------------------------

def _row(cell: Cell, plan: Answer, best: Answer | None) -> dict[str, Any]:
    return dict(zip(COLUMNS, (cell.network, cell.collective, cell.size, plan.member, plan.time_ns / 1e3,
                              plan.time_ns / cell.limit_ns, best.member if best else "",
                              best.time_ns / 1e3 if best else "", best.time_ns / plan.time_ns if best else "")))


def table(rows: Iterable[dict[str, Any]]) -> str:
    """The rows as a table of Markdown."""
    def text(name: str, value: Any) -> str:
        if name == "bytes":
            return format_bytes(value)
        if name in ("plan", "best_baseline"):
            return f"`{value}`" if value else ""
        return value if isinstance(value, str) else f"{value:,.1f}" if name.endswith("us") else f"{value:.2f}"

    head = ("torus", "collective", "bytes", "plan", "time, us", "of the limit", "best baseline", "its time",
            "faster by")
    return write.markdown(head, [[text(name, row[name]) for name in COLUMNS] for row in rows])


def brief(rows: list[dict[str, Any]]) -> str:
    """A row for each network and collective, with "faster by / of the limit" for each size."""
    lines: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        faster = f"{row['faster_by']:.2f}" if row["best_baseline"] else "–"
        lines.setdefault((row["torus"], row["collective"]), []).append(f"{faster} / {row['of_the_limit']:.2f}")
    sizes = dict.fromkeys(format_bytes(row["bytes"]) for row in rows)
    return write.markdown(("torus", "collective", *sizes), [(*key, *cells) for key, cells in lines.items()])


# ---- Plots -----------------------------------------------------------------------------------------------------------

def _draw(cells: list[Cell], kept: Kept, folder: str) -> None:
    """Draws the plan and every baseline that is the fastest at some size, over the size."""
    first = cells[0]
    names = dict.fromkeys(best.member for cell in cells
                          if (best := kept.answers.get(cell.point(baselines(cell.collective, cell.network)).key)))
    points = {name: [cell.point((name,)) for cell in cells] for name in names}
    times = {name: [kept.answers[point.key].time_ns for point in some] for name, some in
             {"planned": [cell.point(PLANNED) for cell in cells], **points}.items()}
    sizes = [cell.size for cell in cells]
    data = {"title": f"{first.collective} on {first.network}",
            "curves": [{"name": name, "bytes": sizes, "ns": ns} for name, ns in times.items()],
            "limit": {"bytes": sizes, "ns": [cell.limit_ns for cell in cells]}}
    with output(os.path.join(folder, f"{first.collective}-{first.network}.svg")) as stream:
        curves.draw(data, stream)


def _draw_all(cells: list[Cell], kept: Kept, workers: int, folder: str) -> None:
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.plotted:
            groups.setdefault((cell.collective, cell.network), []).append(cell)
    singles = []
    for group in groups.values():
        members = baselines(group[0].collective, group[0].network)
        fastest = {kept.answers[cell.point(members).key].member for cell in group} if members else set()
        singles += [cell.point((name,)) for cell in group for name in fastest]
    simulate_all("baselines", singles, kept, workers)
    for group in groups.values():
        _draw(group, kept, folder)


# ---- The command -----------------------------------------------------------------------------------------------------

def _options(arguments: list[str]) -> argparse.Namespace:
    made = Parser("trivance_research.figures.collectives", description="Plans of every collective against the "
                  "baselines and the limit; exit status 1 if a plan is slower than a baseline.")
    made.add_argument("--networks", metavar="LIST", default=",".join(NETWORKS), help="default %(default)s")
    made.add_argument("--collectives", metavar="LIST", default=",".join(COLLECTIVES), help="default %(default)s")
    made.add_argument("--bytes", metavar="LIST", default=SIZES, help="default %(default)s")
    made.add_argument("--brief", action="store_true",
                      help="print how many times the best baseline takes, and how many times "
                      "the limit a plan takes: a row for each network and collective")
    made.add_argument("-o", "--output", metavar="DIR",
                      help="folder for collectives.csv and the plots: " + ", ".join(sorted(PLOTTED)) + " on " +
                           ", ".join(sorted(PLOTTED_NETWORKS)))
    made.add_workers()
    return made.parse_args(arguments)


def _cells(options: argparse.Namespace) -> list[Cell]:
    networks = [str(trivance.Torus(text)) for text in options.networks.split(",")]
    collectives = options.collectives.split(",")
    for collective in collectives:
        if collective not in COLLECTIVES:
            raise trivance.ArgumentError(f"there is no collective {collective!r}; expected one of "
                                         f"{', '.join(COLLECTIVES)}")
    return [Cell(network, collective, size) for network in networks for collective in collectives
            for size in parse_sizes(options.bytes)]


def _run(options: argparse.Namespace, kept: Kept) -> int:
    cells = _cells(options)
    members = {(c, n): baselines(c, n) for c, n in dict.fromkeys((cell.collective, cell.network) for cell in cells)}
    best = [cell.point(members[cell.collective, cell.network]) for cell in cells]
    simulate_all("plans and baselines",
                 [*(cell.point(PLANNED) for cell in cells), *(point for point in best if point.members)], kept,
                 options.workers)
    rows = [_row(cell, kept.answers[cell.point(PLANNED).key], kept.answers.get(point.key))
            for cell, point in zip(cells, best)]
    print((brief if options.brief else table)(rows), end="")
    if options.output:
        with output(os.path.join(options.output, "collectives.csv")) as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        _draw_all(cells, kept, options.workers, options.output)
    slower = [row for row in rows if row["best_baseline"] and row["faster_by"] < SLOWER]
    for row in slower:
        sys.stderr.write(f"trivance_research.figures.collectives: {row['collective']} of {format_bytes(row['bytes'])} "
                         f"on {row['torus']}: the plan {row['plan']} takes {row['time_us']:.1f} us, "
                         f"{row['best_baseline']} {row['its_time_us']:.1f} us\n")
    return 1 if slower else 0


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    warnings.filterwarnings("ignore", ".*are rounded to")
    try:
        if options.output:
            make_folder(options.output)
        path = os.path.join(options.output, "unfinished.jsonl") if options.output else os.devnull
        kept = Kept(path)
        code = _run(options, kept)
        kept.close(path == os.devnull)
        return code
    except (trivance.TrivanceError, OSError) as error:
        sys.stderr.write(f"trivance_research.figures.collectives: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
