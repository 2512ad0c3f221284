"""Measures of a figure's curves: advantages, break-even sizes, switches from L to B; and sizes and shares in words."""
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Sequence

import numpy as np

from trivance import format_bytes

from . import catalogue

Array = np.ndarray[Any, Any]


def _none() -> Any:
    return field(default_factory=lambda: np.empty(0))


@dataclass
class Curve:
    """Times in ns along the axis: of an algorithm or the fastest baseline, and of the figure's own algorithm."""
    key: str
    title: str
    colour: int = 0
    other: Array = _none()
    own: Array = _none()
    member: list[str] = field(default_factory=list)      # the fastest algorithm of the family
    own_member: list[str] = field(default_factory=list)
    worst: Array = _none()                               # of cuts: the slowest network; ``own`` is the median
    worst_member: list[str] = field(default_factory=list)
    served: list[int] = field(default_factory=list)      # networks on which the whole torus's plan works
    barrier: float = 0.0                                 # of published times: MPI_Finalize alone
    by_own: bool = False                                 # of published times: advantages are relative to ``own``

    @property
    def advantage(self) -> Array:
        """(T_A - T_own) / T_A in percent, or / T_own of published times, at every point; NaN: not simulated."""
        return np.asarray(advantage(self.other, self.own) if not self.by_own else -advantage(self.own, self.other))


@dataclass
class Figure:
    spec: catalogue.Spec
    axis: Array  # bytes, or numbers of cuts
    curves: list[Curve] = field(default_factory=list)
    networks: int = 0  # of cuts
    published: "Figure | None" = None  # the same figure by the published rules

    def curve(self, key: Any) -> Curve | None:
        return next((c for c in self.curves if c.key == key), None)

    @property
    def best(self) -> Array:
        """The advantage over the fastest of the figure's curves, at every point."""
        return np.asarray(np.nanmin([c.advantage for c in self.curves], axis=0))


class BreakEven(NamedTuple):
    """Sizes at which an advantage stops being positive for the first and for the last time, interpolated over log2.

    0: it is not positive at the smallest size; infinity: it stays positive. They differ if it becomes positive again.
    """
    first: float
    last: float

    def __str__(self) -> str:
        both = ["none" if math.isinf(size) else about(size) for size in self]
        return both[0] if self.first == self.last else "/".join(both)


def advantage(other: Any, own: Any) -> Any:
    return (other - own) / other * 100


def break_even(sizes: Array, gains: Array) -> BreakEven:
    sizes, gains = sizes[~np.isnan(gains)], gains[~np.isnan(gains)]
    first = last = math.inf
    before = 0.0
    for i, gain in enumerate(gains):
        if gain > 0:
            last = math.inf
        elif i == 0:
            first = last = 0.0
        elif before > 0:
            last = float(sizes[i - 1]) * (float(sizes[i]) / float(sizes[i - 1])) ** (before / (before - gain))
            first = min(first, last)
        before = gain
    return BreakEven(first, last)


def switch(members: Sequence[str]) -> int:
    """The first point at which a bandwidth-optimal member follows a latency-optimal one, or -1."""
    optimal = [catalogue.latency_optimal(name) for name in members]
    return next((i for i in range(1, len(optimal)) if optimal[i - 1] and not optimal[i]), -1)


def own_switch(figure: Figure, curve: Curve) -> int:
    """The same for the figure's own algorithm; plans have no such point."""
    return -1 if figure.spec.planned else switch(curve.own_member)


def frame(figure: Figure) -> tuple[float, float]:
    """The range of the axis: advantages within -60 to 60 %; for cuts, times relative to the whole torus's."""
    if figure.spec.about_cuts:
        worst = max(float(np.max(c.worst / c.other)) for c in figure.curves)
        return 1.0, math.ceil(10 * worst + 0.5) / 10
    every = np.concatenate([c.advantage for f in (figure, figure.published) if f for c in f.curves]).clip(-60, 60)
    low, high = min(0.0, float(np.nanmin(every))), max(10.0, float(np.nanmax(every)))
    return 10.0 * math.floor((low - 2) / 10), 10.0 * math.ceil((high + 2) / 10)


# ---- In words --------------------------------------------------------------------------------------------------------

exactly = format_bytes


def about(size: float) -> str:
    """"5.7 MiB": a size that need not be whole, to two digits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.1f} {unit}" if size < 9.95 and size != math.floor(size) else f"{size:.0f} {unit}"


def percent(value: float) -> str:
    """"12.5 %"; beyond 100 a ratio: of more time "2.1x", of an advantage that is none "2.5x as long"."""
    if value < -100:
        return f"{1 - value / 100:.1f}x as long"
    return f"{1 + value / 100:.1f}x" if value > 100 else f"{value:.1f} %"
