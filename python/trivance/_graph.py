"""Conversion between networks and graphs of networkx."""
from __future__ import annotations

import math
from typing import Any, Dict, List, Tuple

from . import _library as L
from .network import Network, Torus, port_text


def to_networkx(network: Network) -> Any:
    """See `Network.to_networkx`."""
    import networkx  # type: ignore[import]
    torus, options = network.torus, network._options
    factor = {(rank, port): factor for rank, port, factor in network.links}
    graph = networkx.MultiDiGraph(torus=str(torus))
    for rank in torus.ranks if network.nodes is None else network.nodes:
        graph.add_node(rank, pos=torus.coordinates(rank))
    for rank in list(graph):
        for port in range(2 * len(torus.dims)):
            other, slower = torus.neighbour(rank, port), factor.get((rank, port), 1.0)
            if other is not None and other in graph and slower != math.inf:
                graph.add_edge(rank, other, port, port=port_text(port), factor=slower,
                               bandwidth=options.bandwidth_bps / slower, latency=options.link_latency_ns / 1e9)
    return graph


def _positions(graph: Any) -> Dict[Any, Tuple[int, ...]]:
    """The coordinates of all nodes: the nodes themselves (tuples or numbers), or their attribute ``pos``."""
    positions = {}
    for node, attributes in graph.nodes(data=True):
        at = attributes.get("pos", node)
        at = (at,) if isinstance(at, int) else at
        if not isinstance(at, tuple) or not at or not all(isinstance(x, int) and x >= 0 for x in at):
            raise L.fail(f"the node {node!r} is no coordinates; nodes are tuples of whole numbers from 0, as those of "
                         "networkx.grid_graph, or have them as the attribute 'pos'")
        positions[node] = at
    if len({len(at) for at in positions.values()}) != 1 or len(set(positions.values())) != len(positions):
        raise L.fail("the nodes are no grid; all have as many coordinates, and no two have the same")
    return positions


def _edges(graph: Any) -> List[Tuple[Any, Any, Dict[str, Any]]]:
    edges = list(graph.edges(data=True))
    return edges if graph.is_directed() else edges + [(b, a, data) for a, b, data in edges]


def _dimension(dims: List[int], a: Tuple[int, ...], b: Tuple[int, ...]) -> Tuple[int, int]:
    """The dimension and the direction of a link."""
    differ = [d for d in range(len(dims)) if a[d] != b[d]]
    if len(differ) == 1:
        d = differ[0]
        if b[d] - a[d] in (1, -1):
            return d, b[d] - a[d]
        if abs(b[d] - a[d]) == dims[d] - 1:
            return d, 1 if b[d] == 0 else -1
    raise L.fail(f"the edge from {a} to {b} is no link of a torus; links join nodes that are 1 apart in one coordinate, or "
                 "the ends of a row")


def from_networkx(graph: Any, options: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments of `Network` for a graph."""
    if not hasattr(graph, "is_directed") or len(graph) == 0:
        raise L.fail("from_networkx takes a graph of networkx with at least one node, for example networkx.grid_graph([4, 4])")
    at = _positions(graph)
    dims = [1 + max(place[d] for place in at.values()) for d in range(len(next(iter(at.values()))))]
    links: Dict[Tuple[Tuple[int, ...], int], List[Dict[str, Any]]] = {}
    rings = set()
    for a, b, data in _edges(graph):
        d, sign = _dimension(dims, at[a], at[b])
        ends = {at[a][d], at[b][d]} == {0, dims[d] - 1}
        port = 2 * d + (sign < 0)
        named = data.get("port")
        if dims[d] == 2 and named in (f"+{d}", f"-{d}"):
            port = 2 * d + (named[0] == "-")
        if ends and (dims[d] > 2 or (at[a][d] == 1 and port == 2 * d)):
            rings.add(d)
        links.setdefault((at[a], port), []).append(data)
    torus = Torus(dims, [d for d in range(len(dims)) if dims[d] > 1 and d not in rings])
    rank = {place: torus.rank(place) for place in at.values()}
    rates = [data["bandwidth"] for listed in links.values() for data in listed if "bandwidth" in data]
    fastest = max(rates, default=None)
    cuts: List[Tuple[int, int, str]] = []
    slow: Dict[Tuple[int, int], float] = {}
    for place, number in rank.items():
        for port in range(2 * len(dims)):
            other = torus.neighbour(number, port)
            if other is None or torus.coordinates(other) not in rank:
                continue
            if (place, port) not in links:
                cuts.append((number, port, "one-way"))
                continue
            data = links[place, port][0]
            factor = data.get("factor", fastest / data["bandwidth"] if "bandwidth" in data else 1)
            if factor != 1:
                slow[number, port] = factor
    found: Dict[str, Any] = {"torus": torus, "cuts": cuts, "slow": slow}
    if len(rank) < torus.size:
        found["nodes"] = sorted(rank.values())
    if fastest is not None:
        found["bandwidth"] = fastest
    return {**found, **options}

