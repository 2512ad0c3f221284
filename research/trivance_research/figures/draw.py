"""A figure as SVG by matplotlib, with the paper's axes and the colours of the page and the explorer (theme.css).

Solid markers are times of the text, hollow ones those of the published rules. An edged marker shows where an algorithm
switches from L to B, a dotted line where Trivance does.
"""
from typing import Any, TextIO

import numpy as np
from trivance.plots.svg import INK, MARKERS, MUTED, axes_of, set_sizes
from trivance.plots.theme import colours

from .catalogue import own_of
from .measures import Figure, frame, own_switch, switch

ALGORITHM, VALUE = colours("c"), colours("v")


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
            axes.plot(figure.published.axis, published.advantage, color=colour, linewidth=1.1, linestyle="--",
                      marker=marker, markersize=5, markerfacecolor="white", markeredgewidth=1.1)
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
        axes.plot(places, curve.own / curve.other, color=colour, marker="o", markersize=4,
                  label=f"{curve.title}, median")
        axes.plot(places, curve.worst / curve.other, color=colour, marker="o", markersize=4, linestyle="--",
                  markerfacecolor="white", linewidth=1.3, label=f"{curve.title}, worst")
    served = sum(sum(curve.served[1:]) for curve in figure.curves)
    every = len(figure.curves) * (len(figure.axis) - 1) * figure.networks
    axes.text(0.02, 0.93, f"The whole torus's schedules serve {served} of {every}.", transform=axes.transAxes)
