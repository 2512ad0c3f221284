"""The plots of `trivance simulate`, `sweep` and `plan --all-sizes` with --plot: completion time over size, as an SVG file.

``python3 -m trivance.figures.curves`` writes it to stdout and reads a JSON object from stdin: ``title``; ``curves``, a
list of objects with ``name``, ``bytes`` and ``ns``, of which a value of null is left out; and ``limit``, an object with
``bytes`` and ``ns``.
"""
import json
import sys
from typing import Any, TextIO

from matplotlib.ticker import FuncFormatter, LogLocator  # type: ignore[import]

from .._theme import colours
from ..simulation import _colour
from .draw import INK, MARKERS, MUTED, axes_of
from .measures import exactly


def _time_text(ns: float, _: Any = None) -> str:
    """"2.5 us": a time on the axis."""
    for unit, size in (("ns", 1e3), ("us", 1e6), ("ms", 1e9)):
        if ns < size * 0.9999:
            return f"{ns / size * 1e3:g} {unit}"
    return f"{ns / 1e9:g} s"


def _size_ticks(sizes: list[int]) -> list[int]:
    """At most nine powers of two, or the sizes themselves where they are few."""
    if len(sizes) <= 7:
        return sizes
    first, last = (sizes[0] - 1).bit_length(), sizes[-1].bit_length() - 1
    return [1 << power for power in range(first, last + 1, (last - first) // 8 + 1)] or sizes[:1]


def draw(data: dict[str, Any], stream: TextIO) -> None:
    """Draws the curves, and the limit as a dashed line below them."""
    used = [_colour(curve["name"]) for curve in data["curves"]]
    spare = [colour for colour in colours("c")[1:] if colour not in used]  # the first one is that of plans
    every = sorted({size for curve in (*data["curves"], data["limit"]) for size in curve["bytes"]})
    rows = -(-(len(data["curves"]) + 1) // 4)
    with axes_of(data["title"], stream) as axes:
        height = 4.4 + max(0, rows - 2) * 0.22
        axes.figure.set_size_inches(7.6, height)
        axes.set_position((0.125, 1 - 3.3 / height, 0.855, 3.0 / height))
        axes.set_yscale("log", subs=())
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(_time_text))
        for i, (curve, colour) in enumerate(zip(data["curves"], used)):
            known = [(size, ns) for size, ns in zip(curve["bytes"], curve["ns"]) if ns is not None]
            planned = curve["name"] == "planned"
            if not known:
                continue
            axes.plot(*zip(*known), label=curve["name"], linewidth=2.6 if planned else 1.6, marker=MARKERS[i % len(MARKERS)], markersize=4,
                      color=INK if planned else colour or (spare.pop(0) if spare else None))
        axes.plot(data["limit"]["bytes"], data["limit"]["ns"], label="limit (lower bound)", color=MUTED, linewidth=1.5,
                  linestyle="--")
        ticks = _size_ticks(every)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [exactly(size) for size in ticks], minor=False)
        axes.minorticks_off()
        axes.set_xlabel("size of the vector")
        axes.set_ylabel("completion time")


def main() -> None:
    """Draws the curves on stdin to stdout."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[attr-defined]
    draw(json.load(sys.stdin), sys.stdout)


if __name__ == "__main__":
    main()
