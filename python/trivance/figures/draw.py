"""A figure as SVG by matplotlib, with the paper's axes and the colours of the page and the explorer (theme.css).

A hollow marker shows where an algorithm switches from L to B, a dotted line where Trivance does.
"""
import importlib.resources
import re

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from .catalogue import own_of
from .measures import exactly, frame, own_switch, switch

INK, MUTED, GRID = "#1f2933", "#6b7785", "#dfe4ea"
MARKERS = "oo^sDpv"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "trivance", "font.family": "sans-serif", "font.size": 11,
         "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": MUTED, "axes.grid": True,
         "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True, "xtick.color": INK, "ytick.color": INK,
         "axes.labelcolor": INK, "text.color": INK, "legend.frameon": False}


def _theme():
    """The light colours of algorithms (c0, c1, ...) and of a parameter's values (v0, v1, ...)."""
    css = importlib.resources.files(__package__).joinpath("theme.css").read_text(encoding="utf-8")
    found = dict(re.findall(r"--([cv]\d): (#[0-9a-f]{6})", css.split("[data-theme")[0]))
    return [[found[f"{kind}{i}"] for i in range(10) if f"{kind}{i}" in found] for kind in "cv"]


ALGORITHM, VALUE = _theme()


def colour_of(figure, index):
    return VALUE[index] if figure.spec.parameter else ALGORITHM[figure.curves[index].colour]


def draw(figure, stream):
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=(7.6, 4.4))
        FigureCanvasSVG(canvas)
        axes = canvas.add_axes((0.095, 0.25, 0.885, 0.68))  # a layout computed from the texts takes as long as drawing
        axes.set_title(f"Figure {figure.spec.number}: {figure.spec.title}", fontsize=12)
        (_draw_cuts if figure.spec.about_cuts else _draw_advantages)(figure, axes)
        axes.set_ylim(*frame(figure))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=4, fontsize=9.5)
        canvas.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})


def _draw_advantages(figure, axes):
    own = own_of(figure.spec)
    axes.set_xscale("log", base=2)
    axes.set_xlim(figure.axis[0], figure.axis[-1])
    ticks = [32 * 16 ** i for i in range(8) if 32 * 16 ** i <= figure.axis[-1]]
    axes.set_xticks(ticks, [exactly(size) for size in ticks], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("AllReduce size")
    axes.set_ylabel(f"(T_A \N{MINUS SIGN} T_{own.title}) / T_A [%]")
    axes.axhline(0, color=ALGORITHM[own.colour], linewidth=1.8, label=own.title)
    for i, curve in enumerate(figure.curves):
        colour, at_b = colour_of(figure, i), switch(curve.member)
        marker = MARKERS[(i + 1 if figure.spec.parameter else curve.colour) % len(MARKERS)]
        filled = [k for k in range(len(figure.axis)) if k != at_b]
        axes.plot(figure.axis, curve.advantage, color=colour, linewidth=1.8, marker=marker, markersize=4,
                  markevery=filled, label=curve.title)
        if at_b >= 0:
            axes.plot(figure.axis[at_b], curve.advantage[at_b], color=colour, marker=marker, markersize=6.5,
                      markerfacecolor="white", markeredgewidth=1.6)
        own_at_b = own_switch(figure, curve)
        if own_at_b >= 0 and (i == 0 or figure.spec.parameter):
            axes.axvline(figure.axis[own_at_b], linestyle=":", linewidth=1.3,
                         color=colour if figure.spec.parameter else ALGORITHM[own.colour])


def _draw_cuts(figure, axes):
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
    served, every = served_of(figure)
    axes.text(0.02, 0.93, f"The whole torus's schedules serve {served} of {every}.", transform=axes.transAxes)


def served_of(figure):
    """The number of networks with cuts on which the whole torus's schedules still work, and the number of networks."""
    return (sum(sum(c.served[1:]) for c in figure.curves),
            len(figure.curves) * (len(figure.axis) - 1) * figure.networks)
