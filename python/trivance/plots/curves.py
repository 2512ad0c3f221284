"""The picture of a comparison: completion time over size, as an SVG file (`Comparison.savefig`, and --plot of the
tool)."""
from __future__ import annotations

import contextlib
import math
import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator  # type: ignore[import]

from .. import _library as L
from .._units import format_bytes
from .svg import INK, MARKERS, MUTED, axes_of, output
from .theme import colour_of, colours

if TYPE_CHECKING:
    from ..network import Network
    from ..simulation import Comparison


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


def _shape(network: Network) -> str:
    """"a ring of 9", "the torus 4x4", … as the tool says."""
    torus, cut = network.torus, any(factor == math.inf for _, _, factor in network.links)
    more = "" if network.options["forwarding"] else " without forwarding"
    if len(torus.dims) == 1:
        return f"a {'line' if torus.lines else 'ring'} of {torus.size}{' with a cut' if cut else ''}{more}"
    linked = tuple(d for d, size in enumerate(torus.dims) if size > 1)
    noun = "network" if cut or torus.lines and torus.lines != linked else "mesh" if torus.lines else "torus"
    return f"the {noun} {torus}{more}"


def title_of(comparison: Comparison) -> str:
    """"AllReduce on the torus 8x8: fifo, 800 Gb/s, alpha 1.5 us"."""
    network = comparison.network
    options, links = network._options, len(network.links)
    slow = f", {links} slow or cut link{'' if links == 1 else 's'}" if links else ""
    return (f"{L.TITLES[L.collective_code(comparison.collective)]} on {_shape(network)}: {network.options['model']}, "
            f"{options.bandwidth_bps / 1e9:g} Gb/s, alpha {options.alpha_ns / 1e3:g} us{slow}")


def data_of(comparison: Comparison) -> dict[str, Any]:
    """What `draw` takes."""
    curves = []
    for name in comparison.algorithms:
        rows = comparison[name]
        rows = rows[~np.isnan(rows["time"])]
        if len(rows):
            curves.append({"name": name, "bytes": rows["bytes"].tolist(), "ns": (rows["time"] * 1e9).tolist()})
    rows = np.sort(comparison.table[["bytes", "limit"]][:len(comparison.sizes)])
    return {"title": title_of(comparison), "curves": curves,
            "limit": {"bytes": rows["bytes"].tolist(), "ns": (rows["limit"] * 1e9).tolist()}}


def draw(data: dict[str, Any], stream: TextIO) -> None:
    """Draws the curves, and the limit as a dashed line below them.

    `data` has a ``title``; ``curves``, a list of dictionaries with ``name``, ``bytes`` and ``ns``, of which None is
    left out; and ``limit``, a dictionary with ``bytes`` and ``ns``.
    """
    used = [colour_of(curve["name"]) for curve in data["curves"]]
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
            axes.plot(*zip(*known), label=curve["name"], linewidth=2.6 if planned else 1.6,
                      marker=MARKERS[i % len(MARKERS)], markersize=4,
                      color=INK if planned else colour or (spare.pop(0) if spare else None))
        axes.plot(data["limit"]["bytes"], data["limit"]["ns"], label="limit (lower bound)", color=MUTED, linewidth=1.5,
                  linestyle="--")
        ticks = _size_ticks(every)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [format_bytes(size) for size in ticks], minor=False)
        axes.minorticks_off()
        axes.set_xlabel("size of the vector")
        axes.set_ylabel("completion time")


# ---- The file --------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def _written(path: str) -> Iterator[TextIO]:
    """A stream of the file, which appears when it is complete; a device or pipe is written directly."""
    if not path.endswith(".svg"):
        raise L.ArgumentError(f"the name '{path[:200]}' must end in .svg, for example times.svg")
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode if os.path.exists(real) else None
        if mode is not None and stat.S_ISREG(mode) and not (mode & 0o222 and os.access(real, os.W_OK)):
            raise PermissionError(0, "it is read-only")
        if mode is not None and not stat.S_ISREG(mode):
            with open(real, "w", encoding="utf-8") as stream:
                yield stream
        else:
            with output(real) as stream:
                yield stream
    except OSError as error:
        raise L.ArgumentError(f"the file '{path[:200]}' cannot be written: {error.strerror}") from None


class _Discarded(Exception):
    """Ends the writing of a file, which does not appear."""


def check(path: str) -> None:
    """Checks that a file can be written."""
    with contextlib.suppress(_Discarded), _written(path):
        raise _Discarded


def save(comparison: Comparison, path: str) -> None:
    """See `Comparison.savefig`."""
    with _written(path) as stream:
        draw(data_of(comparison), stream)
