"""The explorer, a page in a single file, in a notebook."""
from __future__ import annotations

import math
import os
import shutil
from typing import Any, Union

from . import _library as L
from .network import DELIVERIES, MODELS, Network, port_text

PAGE = "trivance-explorer.html"


def _find() -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, "explorer.html"), os.path.join(here, "..", "..", "bin", "explorer.html")]
    up = here
    for _ in range(5): # lib/python3.11/site-packages below the prefix, or fewer
        up = os.path.dirname(up)
        places.append(os.path.join(up, "share", "trivance", "explorer.html"))
    for place in places:
        if os.path.exists(place):
            return place
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
    try:
        from IPython.display import IFrame  # type: ignore[import]
    except ImportError:
        raise L.UnsupportedError("explore() is for Jupyter; `trivance explore` writes the page for a browser") from None
    if not os.path.exists(PAGE):
        shutil.copyfile(_find(), PAGE)
    return IFrame(f"{PAGE}#{address(network, size)}", width, height)
