"""Output files of a run: each one is either complete or absent."""
import csv
import os
from typing import Any, Iterable, Iterator, Sequence, TextIO

from . import catalogue
from .counted import TABLE_COLUMNS
from .measures import Figure


def read_csv(folder: str, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file that another command wrote to the folder, or none."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    except FileNotFoundError:
        return []


def markdown(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(map(str, cells))} |\n" for cells in (head, *rows)]
    return lines[0] + "|---" * len(head) + "|\n" + "".join(lines[1:])


def figure_csv(figure: Figure, stream: TextIO) -> None:
    """Absolute times, one row per curve and point, those of the figure's own algorithm first."""
    write = csv.writer(stream, lineterminator="\n").writerow
    if figure.spec.about_cuts:
        _cuts_csv(figure, write)
        return
    own = catalogue.own_of(figure.spec).key
    write(["figure", "torus", "parameter", "value", "family", "algorithm", "bytes", "time_ns", f"{own}_time_ns",
           f"time_vs_{own}", "rules"])
    for rules, one in (("text", figure), ("published", figure.published)):
        for line in _lines(one) if one else ():
            write([*line, rules])


def _lines(figure: Figure) -> Iterator[list[Any]]:
    spec, own = figure.spec, catalogue.own_of(figure.spec).key
    for i, curve in enumerate(figure.curves):
        first = [spec.number, spec.torus, spec.parameter or "", curve.key if spec.parameter else ""]
        lines = [(own, curve.own, curve.own_member)] if i == 0 or spec.parameter else []
        lines.append(("best-baseline" if spec.parameter else curve.key, curve.other, curve.member))
        for family, times, members in lines:
            yield from (first + [family, member, int(size), f"{time:.3f}", f"{own_time:.3f}", f"{time / own_time:.6f}"]
                        for size, time, member, own_time in zip(figure.axis, times, members, curve.own) if member)


def _cuts_csv(figure: Figure, write: Any) -> None:
    write(["figure", "torus", "bytes", "cuts", "networks", "whole_torus_time_ns", "median_time_ns", "worst_time_ns",
           "median_times", "worst_times", "whole_torus_served", "whole_torus_plan", "median_plan", "worst_plan"])
    for curve in figure.curves:
        size = catalogue.CUT_SIZES[curve.key]
        for i, links in enumerate(figure.axis):
            whole, median, worst = curve.other[i], curve.own[i], curve.worst[i]
            write([figure.spec.number, figure.spec.torus, size, int(links), figure.networks, f"{whole:.3f}",
                   f"{median:.3f}", f"{worst:.3f}", f"{median / whole:.4f}", f"{worst / whole:.4f}", curve.served[i],
                   curve.member[i], curve.own_member[i], curve.worst_member[i]])


def tables_csv(rows: list[dict[str, Any]], stream: TextIO) -> None:
    write = csv.writer(stream, lineterminator="\n").writerow
    write(TABLE_COLUMNS)
    for row in rows:
        write([f"{value:.4f}" if isinstance(value, float) else str(value).lower() for value in row.values()])
