"""The explorer, a page in a single file, in a notebook."""
from __future__ import annotations

import ctypes as c
import math
import os
import pathlib
import re
import shutil
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Tuple, Union

from . import _library as L
from .torus import is_down, opposite, port_text

if TYPE_CHECKING:
    from .network import Network

PAGE = "trivance-explorer.html"


def _find() -> str:
    here = pathlib.Path(os.path.abspath(__file__)).parent
    for place in (here / "explorer.html", here.parents[1] / "bin/explorer.html",
                  *(prefix / "share/trivance/explorer.html" for prefix in here.parents)):
        if place.exists():
            return str(place)
    raise L.UnsupportedError("the explorer's page is not installed; it is built with clang for WebAssembly and "
                             "esbuild, by `make explorer`, and is in Debian's package trivance")


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers as text: "0-9,16"."""
    ranges: List[List[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


#: Parameters with a control in the page, which has other names for them and numbers in the units of the library.
_CONTROLS = {"bandwidth": "bandwidth", "alpha": "alpha", "link-latency": "latency", "message-overhead": "overhead"}


def _parameters(network: Network) -> Iterator[Tuple[str, str]]:
    """The words of the page's address for parameters that have a control, and for others without their default."""
    o, text = network._options, c.create_string_buffer(64)
    for name, row in L.PARAMETERS.items():
        if name in _CONTROLS:
            yield _CONTROLS[name], f"{getattr(o, row.member.decode()):.15g}"
        elif not L.lib.parameter_is_default(c.byref(o), c.byref(row)):
            yield name, L.lib.parameter_format(c.byref(o), c.byref(row), text).decode()


def address(network: Network, size: int) -> str:
    """The page's state, as the part of its address after the #."""
    words = {"torus": str(network.torus), "bytes": str(size), **dict(_parameters(network))}
    slow = network._options.slow_rank[:network._options.slow_ranks]
    words["slow-rank"] = ",".join(f"{one.rank}:{one.factor:.10g}x" for one in slow)
    words = {name: word.replace("%", "%25") for name, word in words.items() if word}
    if network.nodes is not None:
        words["nodes"] = _ranges(network.nodes)
    cut = {(rank, port) for rank, port, factor in network.links if factor == math.inf}
    links = []
    for rank, port in sorted(cut):
        both = (network.torus.neighbour(rank, port), opposite(port)) in cut
        if not both or not is_down(port):
            links.append(f"{rank}:{port_text(port)}:{'cut' if both else 'one-way'}")
    links += [f"{rank}:{port_text(port)}:{factor:.10g}x" for rank, port, factor in network.links if factor != math.inf]
    if links:
        words["links"] = ",".join(links)
    return "&".join(f"{key}={word}" for key, word in words.items())


def _length(value: Union[int, str], what: str) -> Union[int, str]:
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?(px|%|em|rem|vw|vh)?", str(value)):
        return value
    raise L.ArgumentError(f"{what} is {value!r}; it is a number of pixels or a length of CSS, for example 720 or "
                          "'100%'")


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
