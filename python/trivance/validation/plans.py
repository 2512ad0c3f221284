"""Predictions for planned schedules on the network of a profile, compared with the algorithms of the study's library."""
from __future__ import annotations

from typing import Iterable

from .. import Network, Planner, Torus
from .._units import bytes_text

SIZES = (512, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20)


def library_names(dims: int) -> list[str]:
    """Swing and Recursive Doubling, L and B, on one port, one port per dimension and all ports, and rings."""
    ports = sorted({1, dims, 2 * dims})
    return [f"{name}:{count}" for name in ("swing-l", "swing-b", "recdoub-l", "recdoub-b") for count in ports] + ["bucket"]


def table(shapes: Iterable[str], profile: str, sizes: Iterable[int] = SIZES) -> Iterable[str]:
    """The rows of a table in Markdown: the library's best algorithm, Trivance L and B, and the planner's choice."""
    yield "| shape | size | best of the library's | `trivance-l` | `trivance-b` | planned | gain |"
    yield "|---|---|---|---|---|---|---|"
    for shape in shapes:
        planner = Planner(Network.from_profile(shape, profile))
        names = library_names(len(Torus(shape).dims))
        for size in sizes:
            best = min((planner.time(size, name) for name in names), key=lambda choice: choice.time)
            trivance = [f"{planner.time(size, name).time * 1e6:.4g} us" for name in ("trivance-l", "trivance-b")]
            planned = planner.best(size)
            yield (f"| {shape} | {bytes_text(size)} | {best.time * 1e6:.4g} us, `{best.name}` | {' | '.join(trivance)} "
                   f"| {planned.time * 1e6:.4g} us, `{planned.name}` | {best.time / planned.time:.2f} |")
