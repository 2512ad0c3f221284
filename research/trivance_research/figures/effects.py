"""The page plots.md: how much each published rule changes the paper's plots, and what a corrected plot looks like."""
import importlib.resources
import string
from typing import Iterator, NamedTuple, Sequence

import numpy as np

import trivance

from . import catalogue, lists, write
from .measures import Array, Curve, Figure, advantage, exactly, percent
from .points import Kept, Options, Point, answer, simulate_all
from .run import Result

#: The columns of the table: tori with their figures in the paper, and sizes.
TORI = {"8": 6, "64": 7, "8x8": 17}
SIZES = (32, 512 << 10, 8 << 20)
#: The rows: title, rules, and whether the advantage is relative to T_Trivance.
PLOTTED = ("as plotted", "published", True)
EFFECTS = (
    ("without MPI_Finalize", "no barrier", True),
    ("relative to T_A", "published", False),
    ("independent streams", "independent streams", True),
    ("an interface for each port", "an interface for each port", True),
    ("blocks that must move", "blocks that must move", True),
    ("no header", "no header", True),
    ("half-way messages one way", "ties one way", True),
    ("without MPI_Finalize and relative to T_A", "no barrier", False),
)
TIMED = ("64", "8x8")  # whose times are a table of their own
CORRECTED = 7  # the figure that is drawn without MPI_Finalize and relative to T_A
SHRINKING, SHRINKING_SIZES = "16x16x16", (2 << 20, 8 << 20, 32 << 20)
LISTED = ("8", "9", "16", "27", "32", "64", "8x8", "9x9", "3x3x3")


class Row(NamedTuple):
    title: str
    gains: list[float]  # over the fastest other algorithm, in percent


def _rules(name: str) -> Options:
    return (("rules", name),)


def _point(torus: str, family: catalogue.Family, size: int, rules: str) -> Point:
    return Point(torus, family.members, size, _rules(rules))


def _gain(torus: str, size: int, rules: str, by_own: bool, kept: Kept) -> float:
    own = answer(_point(torus, catalogue.family("trivance"), size, rules), kept).time_ns
    other = np.nanmin([answer(_point(torus, one, size, rules), kept).time_ns for one in catalogue.baselines()])
    return float(-advantage(own, other) if by_own else advantage(other, own))


def _families() -> list[catalogue.Family]:
    return [catalogue.family("trivance"), *catalogue.baselines()]


def table(kept: Kept, workers: int, tori: Sequence[str] = tuple(TORI)) -> list[Row]:
    """The advantage as plotted, and with one rule changed, at every torus and size."""
    rows, cells = (PLOTTED, *EFFECTS), [(torus, size) for torus in tori for size in SIZES]
    simulate_all("published rules", [_point(torus, one, size, rules) for torus, size in cells for one in _families()
                                     for _, rules, _ in rows], kept, workers)
    return [Row(title, [_gain(*cell, rules, by_own, kept) for cell in cells]) for title, rules, by_own in rows]


def markdown_of(rows: Sequence[Row], tori: Sequence[str] = tuple(TORI)) -> str:
    return write.markdown(["", *(f"{torus}, {exactly(size)}" for torus in tori for size in SIZES)],
                          [[row.title, *map(percent, row.gains)] for row in rows])


def changes_of(kept: Kept, tori: Sequence[str] = TIMED) -> str:
    """The times of each algorithm at the largest size, and how much every row changes them. `table` simulates them."""
    def time(torus: str, one: catalogue.Family, rules: str) -> float:
        return answer(_point(torus, one, SIZES[-1], rules), kept).time_ns

    columns = [(torus, one) for torus in tori for one in _families()]
    plotted = [time(*column, PLOTTED[1]) for column in columns]
    rows = [[PLOTTED[0], *(f"{one / 1e3:.1f} us" for one in plotted)]]
    for title, rules, by_own in EFFECTS:
        if by_own:  # the others do not change times
            changes = [100 * (time(*column, rules) / one - 1) for column, one in zip(columns, plotted)]
            rows.append([title, *(f"{change:+.1f} %".replace("-0.0", "+0.0") for change in changes)])
    return write.markdown(["", *(f"{torus} {one.title}" for torus, one in columns)], rows)


def _text_row(result: Result) -> Row:
    figures = [figure for number in TORI.values() if (figure := result.find(number))]
    return Row("the text", [float(figure.best[list(figure.axis).index(size)]) for figure in figures for size in SIZES])


def _barriers(result: Result) -> Iterator[tuple[object, ...]]:
    """MPI_Finalize on every torus, and its part in the plotted time of Trivance for the smallest vector."""
    assert result.published
    for figure in result.published.figures:
        if not figure.spec.parameter:
            curve = figure.curves[0]
            yield (figure.spec.number, figure.spec.torus, f"{curve.barrier / 1e3:.1f} us",
                   f"{curve.own[0] / 1e3:.1f} us", percent(100 * curve.barrier / curve.own[0]))


def _shrinking(kept: Kept, workers: int) -> str:
    """Trivance B on 16x16x16 with messages that shrink by 0.33, and with lists of blocks."""
    own = catalogue.family("trivance")._replace(members=("trivance-b",))
    pairs = [[_point(SHRINKING, own, size, rules) for rules in ("published", "lists on 16x16x16")]
             for size in SHRINKING_SIZES]
    rest = [_point(SHRINKING, one, size, "published") for size in SHRINKING_SIZES for one in catalogue.baselines()]
    simulate_all("published rules", sum(pairs, rest), kept, workers)
    rows = []
    for size, pair in zip(SHRINKING_SIZES, pairs):
        times = [answer(point, kept).time_ns for point in pair]
        other = np.nanmin([answer(_point(SHRINKING, one, size, "published"), kept).time_ns
                           for one in catalogue.baselines()])
        rows.append((exactly(size), *(f"{time / 1e3:.1f} us" for time in times),
                     *(percent(-float(advantage(time, other))) for time in times)))
    return write.markdown(("size", "Trivance B, 0.33", "Trivance B, lists", "advantage, 0.33", "advantage, lists"),
                          rows)


def lists_of() -> str:
    """How many ranks have every contribution to their block after the published reduce-scatter."""
    return write.markdown(("torus", "ranks", "Trivance B", "Bruck B"), [
        (torus, trivance.Torus(torus).size, *(" and ".join(map(str, dict.fromkeys(lists.complete(name, torus))))
                                              for name in ("TrivanceB", "BruckB"))) for torus in LISTED])


def corrected(result: Result, kept: Kept, workers: int) -> Figure | None:
    """A figure without MPI_Finalize and relative to T_A, which has the plotted one as its published figure."""
    plotted = result.published and result.published.find(CORRECTED)
    if not plotted:
        return None
    torus, sizes = plotted.spec.torus, [int(size) for size in plotted.axis]

    def points(one: catalogue.Family) -> list[Point]:
        return [_point(torus, one, size, "no barrier") for size in sizes]

    def times(one: catalogue.Family) -> tuple[Array, list[str]]:
        found = [answer(point, kept) for point in points(one)]
        return np.array([row.time_ns for row in found]), [row.member for row in found]

    simulate_all("published rules", [point for one in _families() for point in points(one)], kept, workers)
    curves = []
    for one in catalogue.baselines():
        curve = Curve(one.key, one.title, one.colour)
        curve.other, curve.member = times(one)
        curve.own, curve.own_member = times(catalogue.family("trivance"))
        curves.append(curve)
    spec = plotted.spec._replace(title=f"{plotted.spec.title}, as plotted (hollow) and corrected")
    return Figure(spec, plotted.axis, curves, published=plotted)


def complete(result: Result) -> bool:
    """Whether a run includes the figures that the page is about."""
    return not result.quick and all(result.find(number) for number in (*TORI.values(), 12))


def run(result: Result, kept: Kept, workers: int) -> None:
    """Simulates what the page needs, if the run includes its figures."""
    if complete(result):
        text = importlib.resources.files(__package__).joinpath("plots.md").read_text(encoding="utf-8")
        result.plots = string.Template(text).substitute(
            effects=markdown_of([*table(kept, workers), _text_row(result)]),
            changes=changes_of(kept), size=exactly(SIZES[-1]), barriers=write.markdown(
                ("figure", "torus", "MPI_Finalize", "Trivance, 32 B, as plotted", "share"), _barriers(result)),
            shrinking=_shrinking(kept, workers), lists=lists_of())
        result.corrected = corrected(result, kept, workers)
