"""The results of a sweep: their columns, and the file that an interrupted sweep continues.

Every row is written by one write, and a later sweep continues after the last whole line, so that the file is valid
whenever a sweep ends. The columns of the axes identify the points that a file has; no other record is kept.
"""
from __future__ import annotations

import csv
import errno
import fcntl
import io
import json
import math
import os
import stat
from typing import Any, BinaryIO, NamedTuple, Optional

from .. import _library as L
from ..points import Row
from .grid import Axis, Grid
from .values import text_of


class Result(NamedTuple):
    """The result of a point; without a time, `error` has the reason."""

    algorithm: str = ""
    time_ns: Optional[float] = None
    packet_hops: Optional[int] = None
    wall_s: Optional[float] = None
    limit_ns: Optional[float] = None
    limit_from: Optional[str] = None
    limit_ratio: Optional[float] = None
    reference_ns: Optional[float] = None
    error: Optional[str] = None

    @classmethod
    def of(cls, row: Row) -> "Result":
        """The result of a comparison."""
        limit, known = row.limit, not math.isnan(row.limit.time_ns)
        source = "start-up" if limit.startup_ns >= limit.time_ns else \
            "links around a set of ranks" if limit.sets_ns >= limit.time_ns else "all links"
        bounds = (limit.time_ns, source, None, limit.reference_ns) if known else (None, None, None, None)
        if row.reason is not None:
            return cls("", None, None, None, *bounds, error=row.reason)
        ratio = row.time_ns / limit.time_ns if known and limit.time_ns > 0 else 1.0
        return cls(row.name, row.time_ns, row.packet_hops, row.wall_s,
                   *bounds)._replace(limit_ratio=ratio if known else None)


LIMIT = ("limit_ns", "limit_from", "limit_ratio", "reference_ns")
DECIMALS = {"time_ns": 3, "wall_s": 6, "limit_ns": 3, "limit_ratio": 6, "reference_ns": 3}


class Rows:
    """The rows of a grid, in which `algorithm` is the one that was simulated, and `chosen_for` the name that was
    given."""

    def __init__(self, grid: Grid, limit: bool) -> None:
        self.grid = grid
        self.columns = [axis.column for axis in grid.axes] + ["time_ns", "packet_hops", "wall_s"]
        self.columns += [*LIMIT, "chosen_for", "error"] if limit else ["chosen_for", "error"]
        self._algorithm = [axis.name for axis in grid.axes].index("algorithm")

    def row(self, index: int, result: Result) -> dict[str, Any]:
        """The values of a row by their columns; None where there is none."""
        row: dict[str, Any] = {axis.column: axis.cells[digit]
                               for axis, digit in zip(self.grid.axes, self.grid.digits(index))}
        chosen_for = row["algorithm"]
        row["algorithm"] = result.algorithm if result.error is None else chosen_for
        for name in self.columns[len(row):-2]:
            value = getattr(result, name)
            row[name] = value if value is None or name not in DECIMALS else float(f"{value:.{DECIMALS[name]}f}")
        return {**row, "chosen_for": chosen_for, "error": result.error}

    def texts(self, row: dict[str, Any]) -> list[str]:
        """The cells of CSV and of tables."""
        return ["" if value is None else f"{value:.{DECIMALS[name]}f}" if name in DECIMALS else text_of(value)
                for name, value in row.items()]

    def csv(self, cells: list[str]) -> str:
        """A line of CSV."""
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        return line.getvalue()

    def read(self, line: str, jsonl: bool) -> tuple[int, dict[str, Any]]:
        """The index of the point that a line of a file belongs to, and its cells; ValueError if it is no row of the
        grid."""
        try:
            if jsonl:
                found = json.loads(line, object_pairs_hook=lambda pairs: pairs)
                names = [name for name, _ in found]
                cells = ["" if value is None else text_of(value) for _, value in found]
            else:
                names, (cells,) = self.columns, csv.reader([line], strict=True)
        except (ValueError, TypeError, csv.Error):
            names, cells = [], []
        if names != self.columns or len(cells) != len(names):
            raise ValueError("is not a row of this sweep, because its columns differ")
        for name, cell in zip(names, cells):
            if (name in DECIMALS or name == "packet_hops") and cell and not _is_number(cell):
                raise ValueError(f"has {name} {cell[:60]}, which is not a number")
        digits = []
        for i, axis in enumerate(self.grid.axes):
            column = self.columns[-2] if axis.name == "algorithm" else axis.column
            digits.append(_digit(axis, column, cells[-2] if axis.name == "algorithm" else cells[i]))
        return self.grid.index(digits), dict(zip(names, cells))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _digit(axis: Axis, column: str, text: str) -> int:
    known = list(map(text_of, axis.cells))
    if text in known:
        return known.index(text)
    path = text.rpartition("#")[0]
    if axis.name == "network" and path and any(one.rpartition("#")[0] == path for one in known):
        raise ValueError(f"has network {text[:60]}, of a file whose parameters have changed since")
    raise ValueError(f"has {column} {text[:60]}, which is not in this sweep")


class File:
    """A file of results, which one process at a time writes.

    Attributes
    ----------
    done : dict of int to dict
        The cells, as text, of the points that it had at the start.
    """

    def __init__(self, path: str, rows: Rows, restart: bool) -> None:
        self.path, self.rows, self.jsonl = path, rows, path.endswith(".jsonl")
        self.done: dict[int, dict[str, Any]] = {}
        self._end = 0  # of its last whole row
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise L.ArgumentError(f"the file '{path[:200]}' cannot be written: {error.strerror}") from None
        try:
            self._begin(restart)
        except BaseException:
            self.close()
            raise

    def _begin(self, restart: bool) -> None:
        self._regular = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        if self._regular:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise L.ArgumentError(f"another sweep is writing '{self.path[:200]}'; wait for it, or give another "
                                      "file") from None
            if not restart:
                with open(self._descriptor, "rb", closefd=False) as stream:
                    self._resume(stream)
            os.ftruncate(self._descriptor, self._end)
        if not self._end and not self.jsonl:
            self._append(self.rows.csv(self.rows.columns))

    def _resume(self, stream: BinaryIO) -> None:
        header = b"" if self.jsonl else self.rows.csv(self.rows.columns).encode()
        for number, line in enumerate(stream, 1):
            try:
                if not line.endswith(b"\n"):
                    expected = header or b'{"torus": '
                    if not self._end and line[:len(expected)] != expected[:len(line)]:
                        raise ValueError("is not the beginning of a sweep's results")
                    return
                if self._end or self.jsonl:
                    index, cells = self.rows.read(line.decode("utf-8", "surrogateescape")[:-1], self.jsonl)
                    if self.rows.grid.has(index):
                        self.done[index] = cells
                elif line != header:
                    raise ValueError("does not list the columns of this sweep")
            except ValueError as error:
                raise L.ArgumentError(f"'{self.path[:200]}' is left unchanged: its line {number} {error}; use another "
                                      "file, or restart to overwrite this one") from None
            self._end += len(line)

    def add(self, row: dict[str, Any]) -> None:
        """Appends a row. If that fails, the file has only whole rows. One thread at a time may call it."""
        self._append(json.dumps(row, ensure_ascii=False) + "\n" if self.jsonl else self.rows.csv(self.rows.texts(row)))

    def _append(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            more = ""
            if self._regular:
                os.ftruncate(self._descriptor, self._end)
                more = "; the same command continues after its last row"
            raise L.TrivanceError(f"the file '{self.path[:200]}' could not be written: "
                                  f"{os.strerror(error.errno or errno.EIO)}{more}") from None
        self._end += len(data)

    def close(self) -> None:
        """Closes the file, which ends its lock."""
        os.close(self._descriptor)
