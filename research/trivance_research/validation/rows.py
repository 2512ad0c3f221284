"""The measurements, and the schedule of each algorithm that the study ran."""
from __future__ import annotations

import csv
import dataclasses
import io
import math
import os
import pathlib
from typing import Dict, Iterator, List, Optional, Tuple, Union

from trivance import ArgumentError, Torus

COLUMNS = ("collective", "torus", "library", "algorithm", "ports", "segment_bytes", "bytes", "median_us", "p10_us",
           "p90_us")
DATA = pathlib.Path(__file__).parent / "fugaku.csv"


@dataclasses.dataclass(frozen=True)
class Row:
    """A measured median, in seconds, with its 10th and 90th percentiles."""
    collective: str
    shape: str
    library: str
    algorithm: str
    ports: int  # 0: the library's own choice
    size: int   # of the vector, in bytes
    median: float
    low: float
    high: float

    @property
    def curve(self) -> tuple[str, str, str, str, int]:
        return self.collective, self.shape, self.library, self.algorithm, self.ports


TREES = "disjoint-trees"  # with the number of chunks that is best for the size

# The schedules of the study's library, with as many ports ("{}"), and of Fujitsu MPI. Names: research/docs/fugaku.md.
_SCHEDULES = {
    ("allreduce", "utofu", "recdoub-l"): "recdoub-l:{}",
    ("allreduce", "utofu", "recdoub-b-cont"): "recdoub-b:{}",
    ("allreduce", "utofu", "bine-l"): "swing-l:{}",
    ("allreduce", "utofu", "bine-b-cont"): "swing-b:{}",
    ("allreduce", "utofu", "ring-b-cont"): "bucket",
    ("reduce-scatter", "utofu", "bine-vec-halving-cont-permute"): "swing-b:{}",
    ("allgather", "utofu", "bine-vec-doubling-cont-permute"): "swing-b:{}",
    ("reduce-scatter", "utofu", "ring-vec-halving-cont-permute"): "bucket",
    ("allgather", "utofu", "ring-vec-doubling-cont-permute"): "bucket",
    ("bcast", "utofu", "bine-binomial-tree"): "bine:{}",
    ("reduce", "utofu", "bine-binomial-tree"): "bine:{}",
    ("scatter", "utofu", "bine-binomial-tree-cont-permute-dec"): "bine:{}",
    ("gather", "utofu", "bine-binomial-tree-cont-permute-dec"): "bine:{}",
    ("allreduce", "fjmpi", "recursive_doubling"): "recdoub-l:1",
    ("reduce-scatter", "fjmpi", "recursive-halving"): "recdoub-b:1",
    ("allgather", "fjmpi", "recursive-doubling"): "recdoub-b:1",
    ("bcast", "fjmpi", "binomial"): "bine:1",  # the steps and messages of a binomial tree, over other distances
    ("reduce", "fjmpi", "binomial"): "bine:1",
    ("scatter", "fjmpi", "binomial"): "bine:1",
    ("gather", "fjmpi", "binomial"): "bine:1",
    ("allreduce", "fjmpi", "trix3"): TREES,
    ("allreduce", "fjmpi", "trix6"): TREES,
    ("reduce", "fjmpi", "trinaryx3"): TREES,
    ("reduce", "fjmpi", "trinaryx6"): TREES,
    ("bcast", "fjmpi", "trinaryx3"): TREES,
    ("bcast", "fjmpi", "trinaryx6"): TREES,
}
_NAMES = {"bcast": "broadcast"}
PROFILES = {"utofu": "tofu-d", "fjmpi": "tofu-d-fjmpi"}  # of each library
_FITTED = ("recdoub-l", "recdoub-b-cont", "recursive_doubling")
_FITTED_SHAPES = ("4x4x4", "64x64")


def is_fitted(row: Row) -> bool:
    """Whether parameters are fitted to a row or to others of its algorithm and shape."""
    return row.algorithm in _FITTED and row.shape in _FITTED_SHAPES


def schedule_of(row: Row) -> Optional[str]:
    """The name of the schedule that a row measures; None if the project has none: segments, or more ports than the
    torus has."""
    name, dims = _SCHEDULES.get((row.collective, row.library, row.algorithm)), Torus(row.shape).dims
    links = sum(min(size - 1, 2) for size in dims)  # of a node: two nodes in a dimension have one
    return None if name is None or row.ports > 2 * len(dims) or trees_of(row) > links else name.format(row.ports)


def trees_of(row: Row) -> int:
    """The number of trees without common links, each from a port of the root; 0 if the algorithm is another one."""
    return int(row.algorithm[-1]) if _SCHEDULES.get((row.collective, row.library, row.algorithm)) == TREES else 0


def collectives_of(row: Row) -> Tuple[str, ...]:
    """The collectives that a row's algorithm executes in succession: an AllReduce by rooted trees is a reduce and a
    broadcast."""
    return ("reduce", "broadcast") if trees_of(row) and row.collective == "allreduce" else (collective_of(row),)


def cuts_of(row: Row) -> List[str]:
    """The links that trees do not use: the second one of two nodes, and those of the root beyond the number of
    trees."""
    if not trees_of(row):
        return []
    torus = Torus(row.shape)
    pairs = [d for d, size in enumerate(torus.dims) if size == 2]
    own = [f"0:{sign}{d}" for sign in "+-" for d in range(len(torus.dims)) if sign == "+" or d not in pairs]
    return own[trees_of(row):] + [f"{rank}:-{d}" for d in pairs for rank in range(torus.size)
                                  if torus.coordinates(rank)[d] == 0]


def collective_of(row: Row) -> str:
    return _NAMES.get(row.collective, row.collective)


def _parse(line: Dict[str, str]) -> Row:
    low, median, high = (float(line[key]) / 1e6 for key in ("p10_us", "median_us", "p90_us"))
    row = Row(line["collective"], str(Torus(line["torus"])), line["library"], line["algorithm"],
              int(line["ports"] or 0), int(line["bytes"]), median, low, high)
    if not 0 < low <= median <= high < math.inf or row.ports < 0 or row.size <= 0:
        raise ValueError("the times must be positive and in ascending order (p10, median, p90), and the bytes positive")
    return row


def read(path: Union[str, "os.PathLike[str]"] = DATA) -> Iterator[Row]:
    """The rows without segments, of the file that comes with the package or of one with the same columns."""
    reader = csv.DictReader(io.StringIO(pathlib.Path(path).read_text(encoding="utf-8-sig")), strict=True)
    try:
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"the columns are {','.join(COLUMNS)}; {missing[0]} is missing")
        for line in reader:
            if None in line or None in line.values():
                raise ValueError("its number of columns is another one")
            if line["segment_bytes"] in ("", "0"):
                yield _parse(line)
    except (ArgumentError, TypeError, ValueError, csv.Error) as error:
        raise ValueError(f"{path}:{reader.line_num}: this is not a measurement as in fugaku.csv: {error}") from None
