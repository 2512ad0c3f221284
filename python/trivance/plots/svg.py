"""The style of plots, and their files."""
import contextlib
import os
from typing import Any, Iterator, TextIO

import matplotlib  # type: ignore[import]
from matplotlib.backends.backend_svg import FigureCanvasSVG  # type: ignore[import]
from matplotlib.figure import Figure  # type: ignore[import]

from .._units import format_bytes

INK, MUTED, GRID = "#1f2933", "#6b7785", "#dfe4ea"
MARKERS = "oo^sDpv"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "trivance", "font.family": "sans-serif", "font.size": 11,
         "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": MUTED, "axes.grid": True,
         "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True, "xtick.color": INK, "ytick.color": INK,
         "axes.labelcolor": INK, "text.color": INK, "legend.frameon": False}


@contextlib.contextmanager
def axes_of(title: str, stream: TextIO, columns: int = 4) -> Iterator[Any]:
    """Axes to draw on, which are written as SVG at the end of the context."""
    with matplotlib.rc_context(STYLE):
        canvas = Figure(figsize=(7.6, 4.4))
        FigureCanvasSVG(canvas)
        axes = canvas.add_axes((0.095, 0.25, 0.885, 0.68))  # a layout computed from the texts takes as long as drawing
        axes.set_title(title, fontsize=12)
        yield axes
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=columns, fontsize=9.5)
        canvas.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})


def set_sizes(axes: Any, sizes: list[int]) -> None:
    """The axis of sizes, with ticks at some of them."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [format_bytes(size) for size in sizes], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("AllReduce size")


@contextlib.contextmanager
def output(path: str) -> Iterator[TextIO]:
    """A stream whose file is renamed to its final name at the end, and removed if an error occurs before."""
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            yield stream
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
