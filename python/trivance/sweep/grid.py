"""The points of a sweep: the combinations of the values of its axes.

A point is identified by its index; its digits, in the mixed radix of the axes' lengths, are the indices of its values.
The first axis changes slowest. A grid therefore takes no memory in proportion to its points.
"""
from __future__ import annotations

import ctypes as c
import functools
import math
import re
from typing import Any, NamedTuple

from .. import _library as L
from ..network import Network
from ..planner import Algorithm, algorithms
from ..points import Point
from ..torus import Torus
from . import values
from .values import AXES, Cell

_SUPPORT = ("torus", "algorithm", "collective", "slow_link", "cut")  # the axes on which it depends
_SEVERAL = {"torus": "tori", "algorithm": "algorithms", "bytes": "sizes", "collective": "collectives", "root": "roots"}


class Axis(NamedTuple):
    name: str
    column: str
    cells: tuple[Cell, ...]
    shown: bool  # in a table as text, which leaves out defaults
    numeric: bool


def _axis(name: str, given: dict[str, Any]) -> Axis | None:
    default = {"algorithm": "all", "bytes": "32:128M:x4", **({} if "network" in given else values.STATED)}
    if name not in given and name not in default:
        return None
    cells, kind = values.read(name, given.get(name, default.get(name))), AXES[name]
    usual = values.read(name, values.USUAL[name])[0] if values.USUAL.get(name) else None
    if cells == (usual,) and name not in values.STATED:
        return None
    numeric = kind is not None and not all(isinstance(cell, str) for cell in cells)
    return Axis(name, name + (kind.suffix if kind and numeric else ""), cells, cells != (usual,), numeric)


class Grid:
    """The axes with columns, and the number of points, also of those that are left out.

    With the algorithms ``all``, and if `leave_out` is true, those are left out that do not support the torus or the
    collective.
    """

    def __init__(self, given: dict[str, Any], leave_out: bool = False) -> None:
        if "torus" not in given:
            raise L.ArgumentError("no torus is given; give at least one, for example --torus=8,8x8")
        self.axes = [axis for axis in (_axis(name, given) for name in AXES) if axis]
        self.leaves_out = leave_out or "all" in values.items(given.get("algorithm", "all"), "algorithm")
        self.points = math.prod(len(axis.cells) for axis in self.axes)
        self.left_out = self._count_left_out()
        self._check_effects(given)

    def digits(self, index: int) -> list[int]:
        """The indices of a point's values."""
        found = []
        for axis in reversed(self.axes):
            index, digit = divmod(index, len(axis.cells))
            found.append(digit)
        return found[::-1]

    def index(self, digits: list[int]) -> int:
        """The index of the point with these values."""
        return functools.reduce(lambda index, one: index * len(one[0].cells) + one[1], zip(self.axes, digits), 0)

    def cells(self, index: int) -> dict[str, Cell]:
        """The values of a point by the names of their axes."""
        return {axis.name: axis.cells[digit] for axis, digit in zip(self.axes, self.digits(index))}

    def has(self, index: int) -> bool:
        """Whether the point is simulated."""
        cells = self.cells(index)
        return not self.leaves_out or _is_supported(*(str(cells.get(name, values.USUAL.get(name)))
                                                      for name in _SUPPORT))

    def point(self, index: int) -> Point:
        """The point; ArgumentError or UnsupportedError if its parameters are incompatible with each other or the
        torus."""
        cells = self.cells(index)
        network = _network(str(cells["torus"]), tuple((name, cells[name]) for name in values.NETWORK if name in cells))
        root = int(cells.get("root", 0))
        if root >= network.torus.size:
            ranks = network.torus.size
            raise L.ArgumentError(f"there is no root {root} among {ranks} ranks; roots are 0 to {ranks - 1}")
        return Point(network, str(cells["algorithm"]), int(cells["bytes"]), str(cells.get("collective", "allreduce")),
                     root)

    def _count_left_out(self) -> int:
        """Counts over the axes on which support depends; each counts for all values of the others."""
        if not self.leaves_out:
            return 0
        used = [axis for axis in self.axes if axis.name in _SUPPORT]
        grid = Grid.__new__(Grid)
        grid.axes, grid.leaves_out = used, True
        combinations = math.prod(len(axis.cells) for axis in used)
        count = sum(not grid.has(index) for index in range(combinations))
        return count * (self.points // combinations)

    def _check_effects(self, given: dict[str, Any]) -> None:
        """Rejects parameters that have no effect at any point."""
        axes = {axis.name: axis.cells for axis in self.axes}
        for name, needs in values.NEEDS.items():
            if name in given and not {needs, "network"} & given.keys():  # a network's file may have it
                raise L.ArgumentError(f"{name}: valid only with {needs}; leave it out or add that")
        for collective in map(str, axes.get("collective", ("allreduce",))):
            if collective not in ROOTED and any(axes.get("root", ())):
                raise L.ArgumentError(f"root: {collective} has no root; leave it out, or choose the collective "
                                      "broadcast")

    def __str__(self) -> str:
        """"2 tori × 14 algorithms × 12 sizes × 3 values of alpha": the axes with more than one value."""
        return " × ".join(f"{len(axis.cells)} " + _SEVERAL.get(axis.name, f"values of {axis.name.replace('_', '-')}")
                          for axis in self.axes if len(axis.cells) > 1)


ROOTED = ("broadcast", "reduce", "scatter", "gather")


@functools.lru_cache(maxsize=None)
def _members(name: str) -> list[Algorithm]:
    """The algorithm with a name, or those of a family."""
    table = algorithms()
    named = [one for one in table if one.name == re.split("[:@]", name)[0]]
    return named or [one for one in table if one.family == name and one.exact]


@functools.lru_cache(maxsize=256)
def _network(torus: str, cells: tuple[tuple[str, Cell], ...]) -> Network:
    return values.network_of(torus, dict(cells))


@functools.lru_cache(maxsize=1 << 16)
def _is_supported(torus: str, algorithm: str, collective: str, slow_link: str, cut: str) -> bool:
    """Whether a member supports the torus, with the dimensions that cuts open as lines, and the collective."""
    if algorithm == "planned":
        return True
    try:
        network = _network(torus, (("slow_link", slow_link), ("cut", cut)))
        L.check(L.lib.network_check(c.byref(network._network)))
    except L.TrivanceError:
        return True  # the row reports the error
    opened = Torus(torus, {port // 2 for _, port, factor in network.links if factor == math.inf})
    return any(one.supports(opened, collective) for one in _members(algorithm))
