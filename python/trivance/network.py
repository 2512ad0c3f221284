"""Tori, meshes and networks: what schedules are made for, planned for and simulated on."""
from __future__ import annotations

import ctypes as c
import math
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library as L
from ._progress import callback
from ._units import Bytes, Rate, Time, to_bps, to_bytes, to_factor, to_int, to_ns

if TYPE_CHECKING:
    from .planner import Choice, Limit

MODELS = ("dateline", "fifo")
DELIVERIES = ("head", "tail")
ROUTES = ("chosen", "fixed")


class Torus:
    """A torus or mesh of ranks, numbered row-major with the last dimension fastest.

    Parameters
    ----------
    sizes : str, int, sequence of int, or Torus
        ``"8x8m"`` (m: the dimension is a line, without the link that joins its ends), ``9`` or ``(8, 8)``.
    lines : iterable of int
        The dimensions that are lines, beside those that a text marks.

    Attributes
    ----------
    dims : tuple of int
        Ranks along each dimension.
    size : int
        Number of ranks.
    ranks : range
        The ranks, 0 to size - 1.
    lines : tuple of int
        The dimensions that are lines.
    """

    __slots__ = ("_struct", "dims", "size", "ranks", "lines")

    def __init__(self, sizes: Union[str, int, Sequence[int], "Torus"], lines: Iterable[int] = ()) -> None:
        struct = L.TorusStruct()
        if isinstance(sizes, Torus):
            sizes = str(sizes)
        if isinstance(sizes, str):
            L.check(L.lib.torus_parse(L.text(sizes), c.byref(struct)))
        else:
            listed = [sizes] if isinstance(sizes, int) else list(sizes)
            numbers = [to_int(one, "the size of a dimension", 1, 1 << 30) for one in listed]
            L.check(L.lib.torus_init(c.byref(struct), len(numbers), (c.c_int * len(numbers))(*numbers)))
        for line in lines:
            struct.lines |= 1 << to_int(line, "a dimension that is a line", 0, struct.dims - 1)
        if struct.lines:
            L.check(L.lib.torus_set_lines(c.byref(struct), struct.lines))
        self._take(struct)

    def _take(self, struct: L.TorusStruct) -> None:
        self._struct = struct
        self.dims: Tuple[int, ...] = tuple(struct.size[:struct.dims])
        self.size: int = struct.ranks
        self.ranks = range(struct.ranks)
        self.lines: Tuple[int, ...] = tuple(d for d in range(struct.dims) if struct.lines >> d & 1)

    @classmethod
    def _of(cls, struct: L.TorusStruct) -> "Torus":
        torus = cls.__new__(cls)
        torus._take(L.TorusStruct.from_buffer_copy(struct))
        return torus

    def coordinates(self, rank: int) -> Tuple[int, ...]:
        """The coordinates of a rank, each from 0 to the dimension's size - 1."""
        rest, found = to_int(rank, "a rank", 0, self.size - 1), []
        for size in reversed(self.dims):
            rest, at = divmod(rest, size)
            found.append(at)
        return tuple(reversed(found))

    def rank(self, coordinates: Sequence[int]) -> int:
        """The rank at some coordinates."""
        if len(coordinates) != len(self.dims):
            raise L.fail(f"there are {len(coordinates)} coordinates; the torus {self} has {len(self.dims)} dimensions")
        rank = 0
        for size, at in zip(self.dims, coordinates):
            rank = rank * size + to_int(at, "a coordinate", 0, size - 1)
        return rank

    def neighbour(self, rank: int, port: int) -> Optional[int]:
        """The rank at the other end of the link that leaves by a port (2d: +d, 2d + 1: -d); None where there is none."""
        at = list(self.coordinates(rank))
        dimension, step = to_int(port, "a port", 0, 2 * len(self.dims) - 1) // 2, -1 if port % 2 else 1
        moved, size = at[dimension] + step, self.dims[dimension]
        if size == 1 or (dimension in self.lines and not 0 <= moved < size):
            return None
        at[dimension] = moved % size
        return self.rank(at)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Torus, (str(self),)

    def __str__(self) -> str:
        return "x".join(f"{size}{'m' if d in self.lines else ''}" for d, size in enumerate(self.dims))

    def __repr__(self) -> str:
        return f"Torus({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Torus) and (self.dims, self.lines) == (other.dims, other.lines)

    def __hash__(self) -> int:
        return hash((self.dims, self.lines))


TorusLike = Union[Torus, str, int, Sequence[int]]


def parse_port(text: Union[str, int]) -> int:
    """The number of a port: "+0" is 0, "-0" 1, "+1" 2 …"""
    if isinstance(text, str):
        port = c.c_int()
        L.check(L.lib.port_parse(L.text(text), c.byref(port)))
        return port.value
    return to_int(text, "a port", 0, 2 * L.DIMS_MAX - 1)


def port_text(port: int) -> str:
    """ "+0", "-0", "+1" …"""
    return f"{'-' if port % 2 else '+'}{port // 2}"


def _read_link(link: Any, what: str) -> Tuple[int, int, List[str]]:
    """Rank, port and further words of "3:+0", "3:+0:one-way" or (3, "+0")."""
    part = link.split(":") if isinstance(link, str) else list(link) if isinstance(link, (tuple, list)) else []
    if not 2 <= len(part) <= 3 or (isinstance(part[0], str) and not part[0].strip().isdigit()):
        raise L.fail(f"{what} is {link!r}; it is a rank and the port by which the link leaves, for example '3:+0'")
    return to_int(int(part[0]) if isinstance(part[0], str) else part[0], "a rank", 0, (1 << 30) - 1), \
        parse_port(part[1]), [str(word) for word in part[2:]]


class Network:
    """A torus or mesh with its links and parameters, of which each may be a number in SI units or a string with a unit.

    The defaults are those of the paper's evaluation, with one queue per link, as the planner has it.

    Parameters
    ----------
    torus : Torus, str, int or sequence of int
        ``"8x8m"``.
    bandwidth, nic_bandwidth : float or str
        Of a link in each direction, and of a network interface, in bit/s.
    alpha : float or str
        Paid at the start of every step, in seconds.
    link_latency, host_latency : float or str
        Along a link; between a node and its router, each way; in seconds.
    router_in, router_out : float or str
        At the input and at the output of a router, in seconds; ``router`` sets both.
    packet, buffer : int or str
        Payload of a packet, and a router's input buffer per link and channel (None: unlimited), in bytes.
    message_overhead, gamma : float or str
        For which a processor is busy before it sends a message, and per byte that a reduction reads, in seconds.
    gamma_per_stream : bool
        Gamma is the rate of every stream of a rank; else that of the rank, which its streams share.
    model : {"fifo", "dateline"}
        The queues of a link: one, or two channels that take turns.
    delivery : {"head", "tail"}
        When a packet counts as arrived.
    cuts : iterable of str
        Links that are down, both ways (``"3:+0"``) or one (``"3:+0:one-way"``).
    slow : mapping of str to float
        Directed links with 1/F of the bandwidth: ``{"3:+0": 4}``.
    routes : {"chosen", "fixed"}
        What determines the route of a message: the port that a schedule names, or the network.
    jitter : float
        Every alpha is stretched by a random share of up to this, 0 to 1; ``seed`` determines it. The planner ignores it.
    slow_ranks : mapping of int to float
        Ranks whose own work takes F times as long. The planner ignores them.
    shared_paths : "all", "one" or iterable of int
        Dimensions whose two directions share one path out of a node; ``"one"``: all share a single one.
    nodes : iterable of int, optional
        A job's nodes, where they are not the whole torus; then plans are for these.

    Attributes
    ----------
    torus : Torus
    options : dict
        The parameters as they were given, with the defaults.
    """

    __slots__ = ("torus", "options", "nodes", "links", "_options", "_network", "_keep", "_nodes")

    def __init__(self, torus: TorusLike, *, bandwidth: Rate = "800Gb/s", alpha: Time = "1.5us",
                 link_latency: Time = "100ns", router: Optional[Time] = None, packet: Bytes = "8KiB",
                 message_overhead: Time = 0, gamma: Time = 0, gamma_per_stream: bool = False, model: str = "fifo", delivery: str = "head",
                 cuts: Iterable[Any] = (), slow: Optional[Mapping[Any, Any]] = None, routes: str = "chosen",
                 nic_bandwidth: Rate = "12.8Tb/s", host_latency: Time = "100ns", router_in: Time = "50ns",
                 router_out: Time = "50ns", buffer: Optional[Bytes] = None,
                 jitter: float = 0, seed: int = 1, slow_ranks: Optional[Mapping[int, Any]] = None,
                 shared_paths: Union[str, Iterable[int]] = (), nodes: Optional[Iterable[int]] = None) -> None:
        self.torus = Torus(torus)
        cuts = [cuts] if isinstance(cuts, str) else list(cuts)
        if router is not None:
            router_in = router_out = router
        self.options: Dict[str, Any] = {
            "bandwidth": bandwidth, "alpha": alpha, "link_latency": link_latency, "packet": packet,
            "router_in": router_in, "router_out": router_out,
            "message_overhead": message_overhead, "gamma": gamma, "gamma_per_stream": bool(gamma_per_stream), "model": model, "delivery": delivery,
            "cuts": tuple(cuts), "slow": dict(slow or {}), "routes": routes, "nic_bandwidth": nic_bandwidth,
            "host_latency": host_latency, "buffer": buffer, "jitter": jitter, "seed": seed,
            "slow_ranks": dict(slow_ranks or {}), "shared_paths": shared_paths if isinstance(shared_paths, str) else tuple(shared_paths),
            "nodes": nodes if nodes is None else tuple(nodes)}
        #: Slow and cut links as (rank, port, factor), infinity for one that is cut.
        self.links: Tuple[Tuple[int, int, float], ...] = tuple(self._read_links(cuts, self.options["slow"]))
        slow_link = (L.SlowLink * max(1, len(self.links)))(*(L.SlowLink(*link) for link in self.links))
        slow_rank = (L.SlowRank * max(1, len(self.options["slow_ranks"])))(*(
            L.SlowRank(to_int(rank, "a slow rank", 0, self.torus.size - 1), to_factor(factor, "the factor of a slow rank"))
            for rank, factor in self.options["slow_ranks"].items()))
        self._network = L.NetworkStruct(c.sizeof(L.NetworkStruct), self.torus._struct, len(self.links), slow_link,
                                        L.choose("routes", routes, ROUTES))
        L.check(L.lib.network_check(c.byref(self._network)))
        self._options = L.SimulateOptions(
            size=c.sizeof(L.SimulateOptions), model=L.choose("model", model, MODELS),
            delivery=L.choose("delivery", delivery, DELIVERIES), bandwidth_bps=to_bps(bandwidth, "bandwidth"),
            nic_bandwidth_bps=to_bps(nic_bandwidth, "nic_bandwidth"), alpha_ns=to_ns(alpha, "alpha"),
            link_latency_ns=to_ns(link_latency, "link_latency"), host_latency_ns=to_ns(host_latency, "host_latency"),
            router_in_ns=to_ns(router_in, "router_in"), router_out_ns=to_ns(router_out, "router_out"),
            packet_bytes=min(to_bytes(packet), (1 << 32) - 1), buffer_bytes=0 if buffer is None else to_bytes(buffer),
            message_overhead_ns=to_ns(message_overhead, "message_overhead"), gamma_ns=to_ns(gamma, "gamma"),
            jitter=_fraction(jitter), seed=to_int(seed, "the seed", 0, (1 << 63) - 1),
            slow_ranks=len(self.options["slow_ranks"]), slow_links=len(self.links), slow_rank=slow_rank,
            slow_link=slow_link, routes=self._network.routes, shared_paths=self._read_shared_paths(self.options["shared_paths"]),
            one_path=self.options["shared_paths"] == "one", gamma_per_stream=self.options["gamma_per_stream"],
            progress=callback)
        self._keep = (slow_link, slow_rank)
        _check_options(self._options)
        self.nodes: Optional[Tuple[int, ...]] = None
        self._nodes: Any = None
        if nodes is not None:
            listed = [to_int(node, "a node", 0, self.torus.size - 1) for node in self.options["nodes"]]
            self._nodes = (c.c_int * max(1, len(listed)))(*listed)
            L.check(L.lib.order_nodes(c.byref(self.torus._struct), 0, len(listed), self._nodes))
            self.nodes = tuple(self._nodes[:len(listed)])

    def _read_links(self, cuts: List[Any], slow: Mapping[Any, Any]) -> Iterable[Tuple[int, int, float]]:
        for cut in cuts:
            rank, port, more = _read_link(cut, "a cut")
            if more not in ([], ["one-way"]):
                raise L.fail(f"a cut is {cut!r}; it is '3:+0', or '3:+0:one-way' for one direction only")
            yield rank, port, math.inf
            known = rank < self.torus.size and port < 2 * len(self.torus.dims)
            other = self.torus.neighbour(rank, port) if known else None
            if other is not None and not more:
                yield other, port ^ 1, math.inf
        for link, factor in slow.items():
            rank, port, more = _read_link(link, "a slow link")
            if more:
                raise L.fail(f"a slow link is {link!r}; it is a rank and a port, and the factor its value: {{'3:+0': 4}}")
            yield rank, port, to_factor(factor, "the factor of a slow link")

    def _read_shared_paths(self, shared_paths: Union[str, Tuple[int, ...]]) -> int:
        if shared_paths in ("all", "one"):
            return (1 << len(self.torus.dims)) - 1
        if isinstance(shared_paths, str):
            raise L.fail(f"shared_paths is {shared_paths!r}; it is 'all', 'one' or the dimensions, for example (0, 2)")
        mask = 0
        for dimension in shared_paths:
            mask |= 1 << to_int(dimension, "a dimension of shared_paths", 0, len(self.torus.dims) - 1)
        return mask

    def replace(self, torus: Optional[TorusLike] = None, **changes: Any) -> "Network":
        """The same network but for some parameters."""
        return Network(self.torus if torus is None else torus, **{**self.options, **changes})

    def plan(self, size: Bytes, collective: str = "allreduce", **constraints: Any) -> "Choice":
        """The fastest schedule for a size.

        Parameters
        ----------
        size : int or str
            Of the vector, in bytes; for reduce-scatter and allgather of all blocks together.
        collective : {"allreduce", "reduce-scatter", "allgather"}
        **constraints
            As those of `Planner`: ``consistent``, ``idempotent``, ``memory``, ``messages_per_port``.

        Returns
        -------
        Choice
        """
        from .planner import plan
        return plan(self, size, collective, **constraints)

    def limit(self, size: Bytes, collective: str = "allreduce") -> "Limit":
        """A lower bound on the time of any schedule; see `Limit`."""
        from .planner import find_limit
        return find_limit(self, to_bytes(size), collective)

    def explore(self, size: Bytes = "64KiB", *, width: Union[int, str] = "100%", height: int = 720) -> Any:
        """The explorer with this network, as an ``IPython.display.IFrame`` for Jupyter.

        The page, one file, is put beside the notebook as ``trivance-explorer.html``, unless it is there.
        """
        from ._explorer import frame
        return frame(self, to_bytes(size), width, height)

    def to_networkx(self) -> Any:
        """The network as a ``networkx.MultiDiGraph``.

        Nodes are ranks with ``pos``, their coordinates; edges, one for every directed link that is not cut, have ``port``,
        ``bandwidth`` (bit/s), ``factor`` (1, or of a slow link) and ``latency`` (s), and the port as their key.
        """
        from ._graph import to_networkx
        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> "Network":
        """The network of a graph whose nodes are coordinates, as those of ``networkx.grid_graph``, or numbers of a ring.

        A dimension is a ring where a link joins its ends in some row, else a line. Links that are missing are cut; edges with
        ``factor``, or with less than the largest ``bandwidth`` (bit/s), are slow. An undirected edge is a link in both
        directions. Where nodes are missing, those that are there become ``nodes``. Other parameters are those of `Network`.
        """
        from ._graph import from_networkx
        return cls(**from_networkx(graph, options))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _make, (str(self.torus), self.options)

    def __repr__(self) -> str:
        usual = _usual()
        changed = [f", {key}={value!r}" for key, value in self.options.items() if value != usual[key]]
        return f"Network({str(self.torus)!r}{''.join(changed)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self.torus == other.torus and self.links == other.links and self.nodes == other.nodes and \
            all(getattr(self._options, name) == getattr(other._options, name) for name in _COMPARED) and \
            self.options["slow_ranks"] == other.options["slow_ranks"]

    def __hash__(self) -> int:
        return hash((self.torus, self.links, self._options.bandwidth_bps, self._options.alpha_ns))


_COMPARED = [name for name, kind in L.SimulateOptions._fields_ if kind in (c.c_int, c.c_double, c.c_bool, c.c_uint,
                                                                          c.c_uint32, c.c_uint64)]


def _make(torus: str, options: Dict[str, Any]) -> Network:
    return Network(torus, **options)


def _fraction(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise L.fail(f"jitter is {value!r}; it is a number from 0 to 1, for example 0.1")


def _usual() -> Dict[str, Any]:
    if not _USUAL:
        _USUAL.update(Network(1).options)
    return _USUAL


_USUAL: Dict[str, Any] = {}
_CHECKER: List[c.c_void_p] = []


def _check_options(options: L.SimulateOptions) -> None:
    """Checks options by a simulation on a torus of one rank, so that the library reports errors early."""
    if not _CHECKER:
        network = L.NetworkStruct(c.sizeof(L.NetworkStruct), Torus(1)._struct, 0, None, 0)
        schedule, simulator = c.c_void_p(), c.c_void_p()
        L.check(L.lib.schedule_create_on(c.byref(schedule), c.byref(network), b"trivance-l", 0, 0))
        L.check(L.lib.simulator_create(c.byref(simulator), schedule))
        L.lib.schedule_destroy(schedule)
        _CHECKER.append(simulator)
    plain, bound = L.SimulateOptions.from_buffer_copy(options), c.c_double()
    plain.slow_links = plain.slow_ranks = plain.shared_paths = 0
    L.check(L.lib.simulate_bound_ns(_CHECKER[0], c.byref(plain), 1, c.byref(bound)))


def as_network(network: Union[Network, TorusLike]) -> Network:
    """A network, or that of a torus with the defaults."""
    return network if isinstance(network, Network) else Network(network)
