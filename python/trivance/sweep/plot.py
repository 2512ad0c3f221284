"""The picture of a sweep: completion time over size, a curve for each algorithm, on one torus and network."""
from __future__ import annotations

import math

from .. import _library as L
from ..limit import find_limit
from ..simulation import Comparison
from .grid import Grid


def check_plot(grid: Grid, path: str) -> None:
    """Checks before long work that the grid can be drawn, and the file written."""
    several = {axis.name: len(axis.cells) for axis in grid.axes}
    if several["bytes"] < 2:
        raise L.ArgumentError("--plot draws times over several sizes, for example --bytes=1K:64M")
    for name, count in several.items():
        if count > 1 and name not in ("algorithm", "bytes"):
            raise L.ArgumentError(f"--plot draws algorithms and sizes for a single {name.replace('_', '-')}; here "
                                  f"there are {count}, so give one")
    from ..plots.curves import check
    try:
        check(path)
    except L.ArgumentError as error:
        raise L.ArgumentError(f"--plot: {error}") from None


def comparison(grid: Grid, times_ns: dict[int, float]) -> Comparison:
    """The times of the points of a grid that can be drawn."""
    import numpy as np
    points = [grid.point(index) for index in range(grid.points)]
    network, collective, root = points[0].network, points[0].collective, points[0].root
    names, sizes = (list(dict.fromkeys(getattr(point, name) for point in points)) for name in ("what", "size"))
    limits = {size: find_limit(network, size, collective, root).time for size in sizes}
    rows = [(point.what, point.size, times_ns.get(index, math.nan) / 1e9, "", limits[point.size])
            for index, point in enumerate(points)]
    table = np.array(rows, dtype=[("algorithm", f"U{max(map(len, names))}"), ("bytes", "i8"), ("time", "f8"),
                                  ("name", "U1"), ("limit", "f8")])
    return Comparison(network, collective, names, sizes, table)
