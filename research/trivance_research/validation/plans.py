"""Predictions for planned schedules on the network of a profile, compared with the algorithms of the study's
library."""
from __future__ import annotations

from typing import Iterable

from trivance import Network, Torus, format_bytes
from trivance.points import Point, compare_points, supported

SIZES = (512, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20)


def library_names(dims: int) -> list[str]:
    """Swing and Recursive Doubling, L and B, on one port, one port per dimension and all ports, and rings."""
    ports = sorted({1, dims, 2 * dims})
    return [f"{name}:{count}" for name in ("swing-l", "swing-b", "recdoub-l", "recdoub-b")
            for count in ports] + ["bucket"]


def table(shapes: Iterable[str], profile: str, sizes: Iterable[int] = SIZES) -> Iterable[str]:
    """The rows of a table in Markdown: the library's best algorithm, Trivance L and B, and the planner's choice."""
    yield "| shape | size | best of the library's | `trivance-l` | `trivance-b` | planned | gain |"
    yield "|---|---|---|---|---|---|---|"
    for shape in shapes:
        network = Network.from_profile(shape, profile)
        names = (",".join(library_names(len(Torus(shape).dims))), "trivance-l", "trivance-b", "planned")
        for size in sizes:
            rows = supported(compare_points([Point(network, name, size, as_planned=True) for name in names]))
            best, planned = rows[0], rows[-1]
            trivance = [f"{row.time_ns / 1e3:.4g} us" for row in rows[1:-1]]
            yield (f"| {shape} | {format_bytes(size)} | {best.time_ns / 1e3:.4g} us, `{best.name}` | "
                   f"{' | '.join(trivance)} | {planned.time_ns / 1e3:.4g} us, `{planned.name}` | "
                   f"{best.time_ns / planned.time_ns:.2f} |")
