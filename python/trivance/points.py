"""Simulations of many points: algorithms, families, plans and schedules, on all cores."""
from __future__ import annotations

import ctypes as c
import math
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Sequence, Union

from . import _library as L
from . import _progress
from ._progress import Progress
from ._units import to_sizes

if TYPE_CHECKING:
    from .network import Network
    from .schedule import Schedule


class Point(NamedTuple):
    """A simulation: of the fastest of algorithms and families, whose names are separated by commas; of "planned"; or of
    a schedule, which may also compete with names. `as_planned`: times are those of the planner, with one queue per
    link."""

    network: Network
    what: Union[str, Schedule]
    size: int
    collective: str = "allreduce"
    root: int = 0
    schedule: Optional[Schedule] = None
    as_planned: bool = False


class Row(NamedTuple):
    """The answer to a point: the fastest candidate's name and time, or NaN and the reason why none is supported."""

    time_ns: float
    name: str
    reason: Optional[str]
    wall_s: float
    messages: int
    packets: int
    packet_hops: int
    simulated_hops: int
    limit: L.Limit     # in nanoseconds

    @classmethod
    def _of(cls, row: L.CompareRow) -> "Row":
        return cls(math.nan if row.code else row.time_ns, row.algorithm.decode(),
                   row.reason.decode() if row.code else None, row.wall_s, row.messages, row.packets, row.packet_hops,
                   row.simulated_hops, L.Limit.from_buffer_copy(row.limit))


class _Compare(L.Handle):
    __slots__ = ()
    _destroy = "compare_destroy"

    def __init__(self) -> None:
        pointer = c.c_void_p()
        L.check(L.lib.compare_create(c.byref(pointer)))
        self._pointer = pointer.value

    def add(self, point: Point) -> None:
        schedule = point.schedule if isinstance(point.what, str) else point.what
        name = L.text(point.what, "the name of an algorithm") if isinstance(point.what, str) else b""
        L.check(L.lib.compare_add(self._pointer, c.byref(L.ComparePoint(
            c.sizeof(L.ComparePoint), point.network.torus._struct, c.pointer(point.network._options),
            L.collective_code(point.collective), point.root, point.size, name, schedule and schedule._pointer,
            point.as_planned, True))))

    def run(self, workers: Optional[int], done: Optional[Callable[[int, Row], Any]]) -> None:
        def finished(_context: int, index: int, row: Any) -> int:
            try:
                if done is not None:
                    done(index, Row._of(row.contents))
            except BaseException as error:  # pylint: disable=broad-except; it is raised after the call
                return _progress.stop(error)
            return 0

        L.call(L.lib.compare_run, self._pointer, c.byref(L.CompareOptions(
            c.sizeof(L.CompareOptions), workers or 0, _progress.callback, None, L.DONE(finished), None)))


def compare_points(points: Sequence[Point], workers: Optional[int] = None, progress: Progress = None,
                   title: str = "comparing", done: Optional[Callable[[int, Row], Any]] = None) -> List[Row]:
    """The rows of all points, in their order.

    Parameters
    ----------
    points : sequence of Point
    workers : int, optional
        Threads; by default one per core.
    progress : callable, bool or None
        See `Schedule.verify`.
    done : callable, optional
        Called with the index of a point and its row as soon as it is known, in any order, in the thread of this call;
        like `progress`, it cannot make long calls of the library. Its exceptions end the call.

    Raises
    ------
    ArgumentError
        A name is not of an algorithm or a family.
    """
    compare = _Compare()
    for point in points:
        compare.add(point)
    with _progress.watch(progress, title):
        compare.run(workers, done)
    return [Row._of(L.lib.compare_row(compare._pointer, i).contents) for i in range(len(points))]


def supported(rows: List[Row]) -> List[Row]:
    """The rows; raises `UnsupportedError` with the reason of the first that has one."""
    for row in rows:
        if row.reason is not None:
            raise L.UnsupportedError(row.reason)
    return rows


def as_frame(table: Any) -> Any:
    """A structured array as a ``pandas.DataFrame``, if pandas is installed."""
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        return table
    return pandas.DataFrame(table)


# ---- One schedule ----------------------------------------------------------------------------------------------------

def simulate(network: Network, schedule: Schedule, sizes: Any, progress: Progress) -> Any:
    """See `Schedule.simulate`."""
    import numpy as np
    counts = to_sizes(sizes)
    rows = supported(compare_points([Point(network, schedule, size) for size in counts], None, progress,
                                    f"simulating {schedule.name}"))
    table = np.array([(size, row.time_ns / 1e9, row.messages, row.packets, row.packet_hops)
                      for size, row in zip(counts, rows)],
                     dtype=[("bytes", "i8"), ("time", "f8"), ("messages", "i8"), ("packets", "i8"),
                            ("packet_hops", "i8")])
    return as_frame(table)
