"""The explorer, a page in a single file, in a notebook."""
from __future__ import annotations

import math
import os
import pathlib
import shutil
from typing import Any, Union

from . import _library as L
from .network import DELIVERIES, MODELS, Network, port_text

PAGE = "trivance-explorer.html"


def _find() -> str:
    here = pathlib.Path(os.path.abspath(__file__)).parent
    for place in (here / "explorer.html", here.parents[1] / "bin/explorer.html",
                  *(prefix / "share/trivance/explorer.html" for prefix in here.parents)):
        if place.exists():
            return str(place)
    raise L.UnsupportedError("the explorer's page is not installed; it is built with clang for WebAssembly and esbuild, by "
                             "`make explorer`, and is in Debian's package trivance")


def address(network: Network, size: int) -> str:
    """The page's state, as the part of its address after the #."""
    o = network._options
    words = {"torus": str(network.torus), "bytes": str(size), "bandwidth": f"{o.bandwidth_bps:.15g}",
             "alpha": f"{o.alpha_ns:.15g}", "latency": f"{o.link_latency_ns:.15g}",
             "overhead": f"{o.message_overhead_ns:.15g}", "delivery": DELIVERIES[o.delivery], "model": MODELS[o.model]}
    cut = {(rank, port) for rank, port, factor in network.links if factor == math.inf}
    links = [f"{rank}:{port_text(port)}:cut" for rank, port in sorted(cut)
             if port % 2 == 0 or (network.torus.neighbour(rank, port), port - 1) not in cut]
    links += [f"{rank}:{port_text(port)}:{factor:.10g}x" for rank, port, factor in network.links if factor != math.inf]
    if links:
        words["links"] = ",".join(links)
    return "&".join(f"{key}={word}" for key, word in words.items())


def frame(network: Network, size: int, width: Union[int, str], height: int) -> Any:
    """See `Network.explore`."""
    display = L.need("IPython.display", "Network.explore, which is for Jupyter,")
    try:
        if not os.path.exists(PAGE):
            shutil.copyfile(_find(), PAGE)
    except OSError as error:
        raise L.ArgumentError(f"the file {PAGE!r} cannot be written here: {error.strerror}") from error
    return display.IFrame(f"{PAGE}#{address(network, size)}", width, height)
