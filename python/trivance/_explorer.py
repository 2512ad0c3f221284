"""The explorer, a page in a single file, in a notebook."""
from __future__ import annotations

import math
import os
import pathlib
import re
import shutil
from typing import Any, Dict, Iterable, List, Union

from . import _library as L
from .network import DELIVERIES, MODELS, ROUTES, Network, port_text

PAGE = "trivance-explorer.html"


def _find() -> str:
    here = pathlib.Path(os.path.abspath(__file__)).parent
    for place in (here / "explorer.html", here.parents[1] / "bin/explorer.html",
                  *(prefix / "share/trivance/explorer.html" for prefix in here.parents)):
        if place.exists():
            return str(place)
    raise L.UnsupportedError("the explorer's page is not installed; it is built with clang for WebAssembly and esbuild, by "
                             "`make explorer`, and is in Debian's package trivance")


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers as text: "0-9,16"."""
    ranges: List[List[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def _parameters(network: Network) -> Dict[str, str]:
    """The parameters of a network without a control in the page, by the names of the tool's options."""
    o = network._options
    times = {f"{name.replace('_', '-')}": getattr(o, name + "_ns") for name in ("host_latency", "router_in", "router_out")}
    shared = [str(d) for d in range(len(network.torus.dims)) if o.shared_paths >> d & 1]
    times.update({"part-overhead": o.part_overhead_ns, "gamma-start": o.gamma_start_ns, "gamma-small": o.gamma_small_ns})
    return {"nic-bandwidth": f"{o.nic_bandwidth_bps / 1e9:.15g}Gb/s",
            "injection": f"{o.injection_bps / 1e9:.15g}Gb/s", **{name: f"{ns:.15g}ns" for name, ns in times.items()},
            "packet": str(o.packet_bytes), "buffer": str(o.buffer_bytes),
            "gamma": f"{o.gamma_ns:.15g}ns{'/stream' if o.gamma_per_stream else ''}", "jitter": f"{100 * o.jitter:.15g}%",
            "seed": str(o.seed), "routes": ROUTES[o.routes],
            "no-forwarding": "yes" if o.no_forwarding else "no", "shared-paths": "one" if o.one_path else ":".join(shared),
            "slow-rank": ",".join(f"{one.rank}:{one.factor:.10g}x" for one in o.slow_rank[:o.slow_ranks])}


def address(network: Network, size: int) -> str:
    """The page's state, as the part of its address after the #."""
    o = network._options
    words = {"torus": str(network.torus), "bytes": str(size), "bandwidth": f"{o.bandwidth_bps:.15g}",
             "alpha": f"{o.alpha_ns:.15g}", "latency": f"{o.link_latency_ns:.15g}",
             "overhead": f"{o.message_overhead_ns:.15g}", "delivery": DELIVERIES[o.delivery], "model": MODELS[o.model]}
    usual = _parameters(Network(network.torus))
    words.update((name, word.replace("%", "%25")) for name, word in _parameters(network).items() if word != usual[name])
    if network.nodes is not None:
        words["nodes"] = _ranges(network.nodes)
    cut = {(rank, port) for rank, port, factor in network.links if factor == math.inf}
    links = []
    for rank, port in sorted(cut):
        both = (network.torus.neighbour(rank, port), port ^ 1) in cut
        if not both or port % 2 == 0:
            links.append(f"{rank}:{port_text(port)}:{'cut' if both else 'one-way'}")
    links += [f"{rank}:{port_text(port)}:{factor:.10g}x" for rank, port, factor in network.links if factor != math.inf]
    if links:
        words["links"] = ",".join(links)
    return "&".join(f"{key}={word}" for key, word in words.items())


def _length(value: Union[int, str], what: str) -> Union[int, str]:
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?(px|%|em|rem|vw|vh)?", str(value)):
        return value
    raise L.ArgumentError(f"{what} is {value!r}; it is a number of pixels or a length of CSS, for example 720 or '100%'")


def frame(network: Network, size: int, width: Union[int, str], height: Union[int, str]) -> Any:
    """See `Network.explore`."""
    width, height = _length(width, "width"), _length(height, "height")
    display = L.need("IPython.display", "Network.explore, which is for Jupyter,")
    try:
        if not os.path.exists(PAGE):
            shutil.copyfile(_find(), PAGE)
    except OSError as error:
        raise L.ArgumentError(f"the file {PAGE!r} cannot be written here: {error.strerror}") from error
    return display.IFrame(f"{PAGE}#{address(network, size)}", width, height)
