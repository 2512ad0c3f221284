"""Conversion between networks and graphs of networkx."""
from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from . import _library as L
from ._units import to_bps
from .torus import Torus, is_down, port_of, port_text

if TYPE_CHECKING:
    from .network import Network


def to_networkx(network: Network) -> Any:
    """See `Network.to_networkx`."""
    torus, options = network.torus, network._options
    factors = {(rank, port): factor for rank, port, factor in network.links}
    graph = L.need("networkx", "to_networkx").MultiDiGraph(torus=str(torus))
    for rank in torus.ranks if network.nodes is None else network.nodes:
        graph.add_node(rank, pos=torus.coordinates(rank))
    for rank in list(graph):
        for port in range(2 * len(torus.dims)):
            other, factor = torus.neighbour(rank, port), factors.get((rank, port), 1.0)
            if other in graph and factor != math.inf:
                graph.add_edge(rank, other, port, port=port_text(port), factor=factor,
                               bandwidth=options.bandwidth_bps / factor, latency=options.link_latency_ns / 1e9)
    return graph


def _positions(graph: Any) -> Dict[Any, Tuple[int, ...]]:
    """The coordinates of all nodes: the nodes themselves (tuples or numbers), or their attribute ``pos``."""
    positions = {}
    for node, at in graph.nodes(data="pos"):
        at = node if at is None else at
        at = (at,) if isinstance(at, numbers.Integral) else at
        if not isinstance(at, tuple) or not at or not all(isinstance(x, numbers.Integral) and int(x) >= 0 for x in at):
            raise L.ArgumentError(f"the node {node!r} has no coordinates; nodes are tuples of whole numbers from 0, as "
                                  "those of networkx.grid_graph, or have them as the attribute 'pos'")
        positions[node] = tuple(map(int, at))
    if len({len(at) for at in positions.values()}) != 1 or len(set(positions.values())) != len(positions):
        raise L.ArgumentError("the nodes are no grid; all have as many coordinates, and no two have the same")
    return positions


def _port(dims: List[int], a: Tuple[int, ...], b: Tuple[int, ...], name: Any) -> Tuple[int, int]:
    """The dimension of a link, and the port by which it leaves."""
    differ = [d for d in range(len(dims)) if a[d] != b[d]]
    d = differ[0] if differ else 0
    step = b[d] - a[d]
    if len(differ) != 1 or abs(step) not in (1, dims[d] - 1):
        raise L.ArgumentError(f"the edge from {a} to {b} is no link of a torus; links join nodes that are 1 apart in "
                              "one coordinate, or the ends of a row")
    if dims[d] == 2 and name in (f"+{d}", f"-{d}"):  # both ports lead to the same rank
        return d, port_of(d, name[0] == "-")
    return d, port_of(d, step < 0 if abs(step) == 1 else step > 0)


def from_networkx(graph: Any, options: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments of `Network` for a graph."""
    if not hasattr(graph, "to_directed") or len(graph) == 0:
        raise L.ArgumentError("from_networkx takes a graph of networkx with at least one node, for example "
                              "networkx.grid_graph([4, 4])")
    at = _positions(graph)
    dims = [1 + max(column) for column in zip(*at.values())]
    links: Dict[Tuple[Any, int], Dict[str, Any]] = {}
    rings = set()
    for a, b, data in graph.to_directed().edges(data=True):
        d, port = _port(dims, at[a], at[b], data.get("port"))
        if at[b][d] - at[a][d] != (-1 if is_down(port) else 1):
            rings.add(d)
        links.setdefault((at[a], port), data)
    rates = {link: to_bps(data["bandwidth"], "the bandwidth of an edge")
             for link, data in links.items() if "bandwidth" in data}
    fastest = max(rates.values(), default=0.0)
    torus = Torus(dims, [d for d, size in enumerate(dims) if size > 1 and d not in rings])
    rank = {place: torus.rank(place) for place in at.values()}
    found: Dict[str, Any] = {"torus": torus, "cuts": [], "slow": {}}
    for link in ((place, port) for place in rank for port in range(2 * len(dims))):
        to, name = torus.neighbour(rank[link[0]], link[1]), (rank[link[0]], port_text(link[1]))
        if to is not None and torus.coordinates(to) in rank:
            if link not in links:
                found["cuts"].append((*name, "one-way"))
            else:
                rate = rates.get(link, fastest)
                slower = 1.0 if rate == fastest else fastest / rate if rate else math.inf
                found["slow"][name] = links[link].get("factor", slower)
    found["slow"] = {name: factor for name, factor in found["slow"].items() if factor != 1}
    if len(rank) < torus.size:
        found["nodes"] = sorted(rank.values())
    if fastest:
        found["bandwidth"] = fastest
    return {**found, **options}
