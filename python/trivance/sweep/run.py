"""Simulates the points of a sweep, on all cores."""
from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional, Union

from .. import _library as L
from .._progress import Progress, meter
from .._units import to_bool, to_int
from ..points import Point, as_frame, compare_points
from ..torus import TorusLike
from . import values
from .grid import Grid
from .results import DECIMALS, LIMIT, File, Result, Rows

CHUNK = 4096  # points in memory at a time
CONFIRM_POINTS = 100000  # a grid with more points needs a confirmation


def format_of(path: str) -> str:
    """The format of a file of results, by its name."""
    for ending in (".csv", ".jsonl"):
        if path.endswith(ending):
            return ending[1:]
    raise L.ArgumentError(f"the name '{path[:200]}' must end in .csv or .jsonl (JSON lines), which selects the format; "
                          "for example out.csv")


class Sweep:
    """A grid and its results so far.

    Attributes
    ----------
    added, failed : int
        Number of rows that were added, and of those without a time.
    numbers : bool
        Whether some row has a time.
    """

    def __init__(self, grid: Grid, limit: bool, path: Optional[str] = None, restart: bool = False) -> None:
        self.grid, self.rows = grid, Rows(grid, limit)
        self.file = None if path is None else File(path, self.rows, restart)
        self.added = self.failed = 0
        self.done = self.file.done if self.file else {}
        self.numbers = any(row["time_ns"] for row in self.done.values())

    @property
    def points(self) -> int:
        """The number of points without those that are left out."""
        return self.grid.points - self.grid.left_out

    @property
    def pending(self) -> int:
        """The number of points that have no row yet."""
        return self.points - len(self.done) - self.added

    def run(self, workers: Optional[int], progress: Progress, receive: Callable[[int, dict[str, Any]], Any],
            ordered: bool = False) -> None:
        """Simulates the pending points. `receive` gets the index and the row of each when it is done, or with `ordered`
        in the order of the grid, in the thread of this call."""
        indices, total = self._indices(), self.pending
        with meter(progress, "sweep") as report:
            while chunk := list(itertools.islice(indices, CHUNK)):
                kept: dict[int, dict[str, Any]] = {}
                before = total - self.pending

                def done(index: int, result: Result) -> None:
                    row = self.rows.row(index, result)
                    if self.file:
                        self.file.add(row)
                    self.added += 1
                    self.failed += result.error is not None
                    self.numbers |= result.error is None
                    kept[index] = row  # pylint: disable=cell-var-from-loop; called in this iteration
                    if not ordered:
                        receive(index, row)

                def advance(fraction: float) -> None:
                    if report:
                        report((before + fraction * len(chunk)) / total)  # pylint: disable=cell-var-from-loop

                self._simulate(chunk, workers, advance, done)
                for index in sorted(kept) if ordered else ():
                    receive(index, kept[index])

    def _indices(self) -> Iterator[int]:
        return (index for index in range(self.grid.points) if index not in self.done and self.grid.has(index))

    def _simulate(self, chunk: Sequence[int], workers: Optional[int], progress: Progress,
                  done: Callable[[int, Result], None]) -> None:
        points: list[tuple[int, Point]] = []
        for index in chunk:
            try:
                points.append((index, self.grid.point(index)))
            except (L.ArgumentError, L.UnsupportedError) as error:
                done(index, Result(error=str(error)))
        compare_points([point for _, point in points], workers, progress, "sweep",
                       lambda i, row: done(points[i][0], Result.of(row)))

    def close(self) -> None:
        """Closes the file."""
        if self.file:
            self.file.close()


def sweep(torus: Union[TorusLike, Sequence[TorusLike]], algorithms: Union[str, Sequence[str]] = "all",
          sizes: Union[str, int, Sequence[Union[str, int]]] = "32:128M:x4",
          collective: Union[str, Sequence[str]] = "allreduce", *, root: Union[int, Sequence[int]] = 0,
          file: Union[None, str, "os.PathLike[str]"] = None, limit: bool = False, restart: bool = False,
          yes: bool = False, workers: Optional[int] = None, progress: Progress = None, **parameters: Any) -> Any:
    """Simulates every combination of tori, algorithms, sizes and parameters of the network, on all cores.

    Every parameter is an axis: a value, or a list of values. A text may be a list, too, with commas and ranges, as the
    tool's options of the same names: ``"1us,2us"``, ``"1K:64M:x4"``, ``"1us:3us:+500ns"``.

    Parameters
    ----------
    torus : Torus, str or int, or sequence of these
    algorithms : str or sequence of str
        Names, families (their fastest member), ``"planned"``, the planner's choice, or ``"all"``: those that support
        the torus and the collective.
    sizes : int or str, or sequence of these
        Of the vector, in bytes.
    collective : str or sequence of str
    root : int or sequence of int
        Of a broadcast, reduce, scatter or gather.
    file : str or path, optional
        A file of results that ends in ``.csv`` or ``.jsonl`` (JSON lines), to which rows are appended when their points
        are done. The rows that it has are not simulated again, so that the same call continues a sweep that was
        interrupted; the grid may have grown. One process at a time may write a file.
    limit : bool
        Add the columns ``limit_ns``, the lower bound on the time of any schedule, ``limit_from``, ``limit_ratio`` and
        ``reference_ns``.
    restart : bool
        Empty the file first.
    yes : bool
        Simulate also a grid of more than 100,000 points.
    workers : int, optional
        Number of threads that simulate; by default one per core.
    progress : callable, bool or None
        See `Schedule.verify`.
    **parameters
        Parameters of the network under the names of the options of ``trivance sweep`` with underscores: ``network``
        (the name of a profile or the path of one), ``alpha``, ``bandwidth``, …, and ``slow_rank`` (``"5:2x"``),
        ``slow_link`` (``"0:+1:4x"``), ``cut`` (``"3:+0"``), of which ``"none"`` is a value, too.

    Returns
    -------
    pandas.DataFrame, or a structured numpy.ndarray if pandas is not installed
        The rows in the order of the grid, whose first axis changes slowest. The columns are those of ``trivance
        sweep``: an axis each, quantities in the unit that ends the name of the column (``alpha_ns``), then ``time_ns``,
        ``packet_hops``, ``wall_s``, ``chosen_for``, the algorithm or family that was given, and ``error``, why a point
        has no time (NaN).

    Raises
    ------
    ArgumentError
        A value is invalid; the grid has more than 100,000 points, without `yes`; the file has other columns or points,
        and is not changed; or another process is writing it.
    """
    given: dict[str, Any] = {"torus": torus, "algorithm": algorithms, "bytes": sizes, "collective": collective,
                             "root": root}
    for name, value in parameters.items():
        if name not in values.NETWORK:
            raise L.ArgumentError(f"there is no parameter {name!r}; expected {', '.join(values.NETWORK)}")
        given[name] = value
    path = None if file is None else os.fspath(file)
    if path is not None:
        format_of(path)
    count = None if workers is None else to_int(workers, "workers", 1, 1024)
    rows: dict[int, dict[str, Any]] = {}
    grid = Grid(given)
    points = grid.points - grid.left_out
    if points > CONFIRM_POINTS and not to_bool(yes, "yes"):
        raise L.ArgumentError(f"the grid has {points:,} points ({grid}); pass yes=True to simulate all of them")
    with contextlib.closing(Sweep(grid, to_bool(limit, "limit"), path, to_bool(restart, "restart"))) as made:
        made.run(count, progress, rows.__setitem__)
    for index, texts in made.done.items():
        numeric = {axis.column for axis in made.grid.axes if axis.numeric} | {"packet_hops", *DECIMALS}
        rows[index] = {name: _number(text) if name in numeric else text or None for name, text in texts.items()}
    return _table(made, [rows[index] for index in sorted(rows)])


def _number(text: str) -> Union[None, int, float]:
    return None if not text else int(text) if text.isdecimal() else float(text)


def _table(made: Sweep, rows: list[dict[str, Any]]) -> Any:
    import numpy as np
    kinds = []
    for name in made.rows.columns:
        found = {type(row[name]) for row in rows}
        kinds.append((name, "i8" if found == {int} else "f8" if found <= {int, float, type(None)} and name not in
                      ("error", LIMIT[1]) else "O"))
    table = np.array([tuple(np.nan if row[name] is None and kind == "f8" else row[name] for name, kind in kinds)
                      for row in rows], dtype=kinds)
    return as_frame(table)
