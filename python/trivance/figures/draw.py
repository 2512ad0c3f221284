"""A figure as SVG by matplotlib, with the paper's axes and the colours of the page and the explorer (theme.css).

Solid markers are times of the text, hollow ones those of the published rules. An edged marker shows where an algorithm
switches from L to B, a dotted line where Trivance does.
"""
import contextlib
from typing import Any, Iterator, TextIO

import matplotlib  # type: ignore[import]
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG  # type: ignore[import]
from matplotlib.figure import Figure as Canvas  # type: ignore[import]

from trivance._theme import colours

from .catalogue import own_of
from .measures import Figure, exactly, frame, own_switch, switch

INK, MUTED, GRID = "#1f2933", "#6b7785", "#dfe4ea"
MARKERS = "oo^sDpv"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "trivance", "font.family": "sans-serif", "font.size": 11,
         "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": MUTED, "axes.grid": True,
         "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True, "xtick.color": INK, "ytick.color": INK,
         "axes.labelcolor": INK, "text.color": INK, "legend.frameon": False}

ALGORITHM, VALUE = colours("c"), colours("v")


@contextlib.contextmanager
def axes_of(title: str, stream: TextIO, columns: int = 4) -> Iterator[Any]:
    """Axes to draw on, which are written as SVG at the end of the context."""
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=(7.6, 4.4))
        FigureCanvasSVG(canvas)
        axes = canvas.add_axes((0.095, 0.25, 0.885, 0.68))  # a layout computed from the texts takes as long as drawing
        axes.set_title(title, fontsize=12)
        yield axes
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=columns, fontsize=9.5)
        canvas.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})


def set_sizes(axes: Any, sizes: list[int]) -> None:
    """The axis of sizes, with ticks at some of them."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [exactly(size) for size in sizes], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("AllReduce size")


def draw(figure: Figure, stream: TextIO) -> None:
    with axes_of(f"Figure {figure.spec.number}: {figure.spec.title}", stream) as axes:
        (_draw_cuts if figure.spec.about_cuts else _draw_advantages)(figure, axes)
        axes.set_ylim(*frame(figure))


def _draw_advantages(figure: Figure, axes: Any) -> None:
    own, parameter = own_of(figure.spec), figure.spec.parameter
    set_sizes(axes, [32 * 16 ** i for i in range(8) if 32 * 16 ** i <= figure.axis[-1]])
    axes.set_xlim(figure.axis[0], figure.axis[-1])
    axes.set_ylabel(f"(T_A \N{MINUS SIGN} T_{own.title}) / T_A [%]")
    axes.axhline(0, color=ALGORITHM[own.colour], linewidth=1.8, label=own.title)
    for i, curve in enumerate(figure.curves):
        colour = VALUE[i] if parameter else ALGORITHM[curve.colour]
        marker = MARKERS[(i + 1 if parameter else curve.colour) % len(MARKERS)]
        at_b, own_at_b = switch(curve.member), own_switch(figure, curve)
        filled = [k for k in range(len(figure.axis)) if k != at_b]
        axes.plot(figure.axis, curve.advantage, color=colour, linewidth=1.8, marker=marker, markersize=4,
                  markevery=filled, label=curve.title)
        if at_b >= 0:
            axes.plot(figure.axis[at_b], curve.advantage[at_b], color=colour, marker=marker, markersize=7,
                      markeredgecolor=INK, markeredgewidth=1.4)
        published = figure.published and figure.published.curve(curve.key)
        if figure.published and published:
            axes.plot(figure.published.axis, published.advantage, color=colour, linewidth=1.1, linestyle="--", marker=marker,
                      markersize=5, markerfacecolor="white", markeredgewidth=1.1)
        if own_at_b >= 0 and (i == 0 or parameter):
            axes.axvline(figure.axis[own_at_b], linestyle=":", linewidth=1.3,
                         color=colour if parameter else ALGORITHM[own.colour])


    if figure.published:
        axes.plot([], [], color=MUTED, linewidth=1.1, linestyle="--", marker="o", markersize=5, markerfacecolor="white",
                  label="hollow: published, / T_Trivance")


def _draw_cuts(figure: Figure, axes: Any) -> None:
    """Draws the median and the worst network, relative to the time of the whole torus."""
    places = np.arange(len(figure.axis))
    axes.set_xticks(places, [f"{links:.0f}" for links in figure.axis])
    axes.set_xlabel(f"Cut links, both ways ({figure.networks} random networks each; no row in two parts)")
    axes.set_ylabel("time / time of the whole torus")
    for i, curve in enumerate(figure.curves):
        colour = VALUE[(0, 6, 3)[i % 3]]
        axes.plot(places, curve.own / curve.other, color=colour, marker="o", markersize=4, label=f"{curve.title}, median")
        axes.plot(places, curve.worst / curve.other, color=colour, marker="o", markersize=4, linestyle="--",
                  markerfacecolor="white", linewidth=1.3, label=f"{curve.title}, worst")
    served = sum(sum(curve.served[1:]) for curve in figure.curves)
    every = len(figure.curves) * (len(figure.axis) - 1) * figure.networks
    axes.text(0.02, 0.93, f"The whole torus's schedules serve {served} of {every}.", transform=axes.transAxes)
