"""The measurements, and the schedule of each algorithm that the study ran."""
from __future__ import annotations

import csv
import dataclasses
import pathlib
from typing import Iterator, Optional, TextIO

from .. import Torus

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


# The schedules of the study's library, with as many ports ("{}"), and of Fujitsu MPI. Names: docs/fugaku.md.
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
}
_NAMES = {"bcast": "broadcast"}
FITTED = ("recdoub-l", "recdoub-b-cont", "recursive_doubling")


def schedule_of(row: Row) -> Optional[str]:
    """The name of the schedule that a row measures; None if the project has none: segments, or more ports than the torus has."""
    name = _SCHEDULES.get((row.collective, row.library, row.algorithm))
    return None if name is None or row.ports > 2 * len(Torus(row.shape).dims) else name.format(row.ports)


def collective_of(row: Row) -> str:
    return _NAMES.get(row.collective, row.collective)


def read(stream: Optional[TextIO] = None) -> Iterator[Row]:
    """The rows without segments, of the file that comes with the package or of one with the same columns."""
    with stream or open(DATA, encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            if line["segment_bytes"] not in ("", "0"):
                continue
            low, median, high = (float(line[key]) / 1e6 for key in ("p10_us", "median_us", "p90_us"))
            yield Row(line["collective"], line["torus"], line["library"], line["algorithm"], int(line["ports"] or 0),
                      int(line["bytes"]), median, low, high)
