"""Tori, meshes and networks: what schedules are made for, planned for and simulated on."""
from __future__ import annotations

import ctypes as c
import functools
import math
import numbers
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, Mapping, Optional, Sequence, Tuple, Union

from . import _library as L
from ._progress import Progress, callback
from ._units import Bytes, Rate, Time, to_bool, to_bps, to_bytes, to_factor, to_int, to_list, to_ns, to_share

if TYPE_CHECKING:
    from .planner import Choice, Limit

MODELS = ("dateline", "fifo")
DELIVERIES = ("head", "tail")
ROUTES = ("chosen", "fixed")
_TIMES = ("alpha", "link_latency", "host_latency", "router_in", "router_out", "message_overhead", "part_overhead", "gamma",
          "gamma_start", "gamma_small")


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

    Raises
    ------
    ArgumentError
        There are no such sizes; a torus has 1 to 8 dimensions and up to 2^30 ranks.
    """

    __slots__ = ("_struct", "dims", "size", "ranks", "lines")

    def __init__(self, sizes: Union[str, int, Sequence[int], "Torus"], lines: Iterable[int] = ()) -> None:
        struct = L.Torus()
        if isinstance(sizes, (str, Torus)):
            L.check(L.lib.torus_parse(L.text(str(sizes), "a torus"), c.byref(struct)))
        else:
            listed = [sizes] if isinstance(sizes, numbers.Real) else to_list(
                sizes, "a torus", "'8x8m', 9 or (8, 8)", "a string, a size or a list of sizes")
            checked = [to_int(one, "the size of a dimension", 1, 1 << 30) for one in listed]
            L.check(L.lib.torus_init(c.byref(struct), len(checked), L.array(c.c_int, checked)))
        for line in to_list(lines, "lines", "(1,)"):
            struct.lines |= 1 << to_int(line, "a dimension that is a line", 0, struct.dims - 1)
        if struct.lines:
            L.check(L.lib.torus_set_lines(c.byref(struct), struct.lines))
        self._struct = struct
        self.dims: Tuple[int, ...] = tuple(struct.size[:struct.dims])
        self.size: int = struct.ranks
        self.ranks = range(struct.ranks)
        self.lines: Tuple[int, ...] = _bits(struct.lines)

    @classmethod
    def _of(cls, struct: L.Torus) -> "Torus":
        return cls(struct.size[:struct.dims], _bits(struct.lines))

    def coordinates(self, rank: int) -> Tuple[int, ...]:
        """The coordinates of a rank, each from 0 to the dimension's size - 1."""
        found = (c.c_int * len(self.dims))()
        L.lib.torus_coordinates(c.byref(self._struct), to_int(rank, "a rank", 0, self.size - 1), found)
        return tuple(found)

    def rank(self, coordinates: Sequence[int]) -> int:
        """The rank at some coordinates."""
        listed = to_list(coordinates, "coordinates", "(0, 3)")
        if len(listed) != len(self.dims):
            raise L.ArgumentError(f"there are {len(listed)} coordinates; the torus {self} has {len(self.dims)} dimensions")
        checked = [to_int(at, "a coordinate", 0, size - 1) for at, size in zip(listed, self.dims)]
        return int(L.lib.torus_rank(c.byref(self._struct), L.array(c.c_int, checked)))

    def neighbour(self, rank: int, port: int) -> Optional[int]:
        """The rank at the other end of the link that leaves by a port (2d: +d, 2d + 1: -d); None if there is none."""
        at = list(self.coordinates(rank))
        dimension, backwards = divmod(to_int(port, "a port", 0, 2 * len(self.dims) - 1), 2)
        moved, size = at[dimension] + (-1 if backwards else 1), self.dims[dimension]
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
        return isinstance(other, Torus) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _bits(mask: int) -> Tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


TorusLike = Union[Torus, str, int, Sequence[int]]


def port_text(port: int) -> str:
    """The text of a port: "+0" for 0, "-0" for 1, "+1" for 2."""
    return f"{'-' if port % 2 else '+'}{port // 2}"


def _read_link(link: Any, what: str) -> Tuple[int, int, bool]:
    """Rank, port, and whether one direction only, of "3:+0", "3:+0:one-way", (3, "+0") or (3, 0)."""
    text = link
    if isinstance(link, (tuple, list)) and len(link) > 1:
        text = ":".join(port_text(int(one)) if i == 1 and isinstance(one, numbers.Integral) else str(one) for i, one in enumerate(link))
    found = re.fullmatch(r"([0-9]{1,9}):([+-])([0-9]{1,3})(:one-way)?", text) if isinstance(text, str) else None
    if not found:
        raise L.ArgumentError(f"{what} is {link!r}; it is a rank and the port by which the link leaves, for example '3:+0'")
    return int(found.group(1)), 2 * int(found.group(3)) + (found.group(2) == "-"), bool(found.group(4))


def _mapping(value: Any, what: str, example: str) -> Dict[Any, Any]:
    try:
        return dict(value or {})
    except (TypeError, ValueError):
        raise L.ArgumentError(f"{what} is {value!r}; it is a dictionary of factors, for example {example}") from None


class Network:
    """A torus or mesh with its links and parameters, of which each may be a number in SI units or a string with a unit.

    The defaults are those of the paper's evaluation, with one queue per link, which is the planner's model.

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
        At the input and at the output of a router, in seconds.
    injection : float or str, optional
        Rate at which an interface injects its messages, if it is less than its bandwidth, in bit/s.
    packet, buffer : int or str
        Payload of a packet, and a router's input buffer per link and channel (None: unlimited), in bytes.
    message_overhead, gamma : float or str
        Time for which a processor is busy before it sends a message, and time per byte that a reduction reads, in seconds.
    part_overhead : float or str
        Additional overhead of the first message of a stream to a peer, if it is a part of the stream's data.
    gamma_start, gamma_small : float or str
        Start-up time of a step's reductions; time per byte of those by one core without start-up, where it is faster (0: never).
    gamma_per_stream : bool
        Gamma is the rate of every stream of a rank; otherwise of the rank, which its streams share.
    model : {"fifo", "dateline"}
        The queues of a link: one, or two channels that take turns.
    delivery : {"head", "tail"}
        Whether a packet arrives with its first or with its last bit.
    cuts : iterable of str
        Links that are down, both ways (``"3:+0"``, the link that leaves rank 3 in direction + of dimension 0) or one way
        (``"3:+0:one-way"``).
    slow : mapping of str to float
        Directed links that take F times as long: ``{"3:+0": 4}``.
    routes : {"chosen", "fixed"}
        The route of a message begins at the port that a schedule names, or is fixed by the network.
    forwarding : bool
        Nodes pass on messages of others. Otherwise a message may cross one link only, as between hosts that are wired to each
        other without switches.
    jitter : float
        Every alpha is stretched by a random share of up to this, 0 to 1; ``seed`` determines it. The planner ignores it.
    slow_ranks : mapping of int to float
        Ranks whose own work takes F times as long. The planner ignores them.
    shared_paths : "all", "one" or iterable of int
        Dimensions whose two directions share one path out of a node; ``"one"``: all share a single one.
    nodes : iterable of int, optional
        The ranks of a job that does not use the whole torus; plans are for these.

    Attributes
    ----------
    torus : Torus
    links : tuple of (int, int, float)
        Slow and cut links as rank, port and factor, which is infinite for a cut.
    nodes : tuple of int, or None
    options : dict
        The parameters as they were given, with the defaults.

    Raises
    ------
    ArgumentError
        A parameter has no valid value.
    UnsupportedError
        The cuts divide a row in two, and no `nodes` are given.
    """

    __slots__ = ("torus", "options", "nodes", "links", "_options", "_network", "_nodes")

    def __init__(self, torus: TorusLike, *, bandwidth: Rate = "800Gb/s", alpha: Time = "1.5us",
                 link_latency: Time = "100ns", packet: Bytes = "8KiB", message_overhead: Time = 0, gamma: Time = 0,
                 gamma_per_stream: bool = False, model: str = "fifo", delivery: str = "head", cuts: Iterable[Any] = (),
                 slow: Optional[Mapping[Any, Any]] = None, routes: str = "chosen", forwarding: bool = True,
                 nic_bandwidth: Rate = "12.8Tb/s", injection: Optional[Rate] = None, part_overhead: Time = 0,
                 gamma_start: Time = 0, gamma_small: Time = 0,
                 host_latency: Time = "100ns", router_in: Time = "50ns", router_out: Time = "50ns",
                 buffer: Optional[Bytes] = None, jitter: float = 0, seed: int = 1,
                 slow_ranks: Optional[Mapping[int, Any]] = None, shared_paths: Union[str, Iterable[int]] = (),
                 nodes: Optional[Iterable[int]] = None) -> None:
        given = dict(locals())
        self.torus = Torus(torus)
        given["cuts"] = tuple([cuts] if isinstance(cuts, str) else to_list(cuts, "cuts", "['3:+0']"))
        given["slow"] = _mapping(slow, "slow", "{'3:+0': 4}") or None
        given["slow_ranks"] = _mapping(slow_ranks, "slow_ranks", "{3: 4}") or None
        if not isinstance(shared_paths, str) or shared_paths not in ("all", "one"):
            given["shared_paths"] = tuple(to_list(shared_paths, "shared_paths", "(0, 2)", "'all', 'one' or a list of dimensions"))
        given["nodes"] = nodes if nodes is None else tuple(to_list(nodes, "nodes", "[0, 1, 4]"))
        self.options: Dict[str, Any] = {name: given[name] for name in _USUAL}
        factors: Dict[Tuple[int, int], float] = {}
        for rank, port, factor in self._read_links():
            if factors.setdefault((rank, port), factor) != factor:
                raise L.ArgumentError(f"the link {rank}:{port_text(port)} is both cut and slow, or slow by two factors; leave "
                                      "one out")
        self.links: Tuple[Tuple[int, int, float], ...] = tuple((*link, factor) for link, factor in factors.items())
        slow_link = L.array(L.SlowLink, self.links)
        self._network = L.Network(c.sizeof(L.Network), self.torus._struct, len(slow_link), slow_link,
                                  L.choose("routes", routes, ROUTES), not to_bool(forwarding, "forwarding"))
        code = L.lib.network_check(c.byref(self._network))
        if nodes is None or code != L.UnsupportedError.code:  # nodes may be planned where a row is cut in two
            L.check(code)
        slow_rank = [(to_int(rank, "a slow rank", 0, self.torus.size - 1), to_factor(factor, "the factor of a slow rank"))
                     for rank, factor in (given["slow_ranks"] or {}).items()]
        self._options = L.SimulateOptions(
            size=c.sizeof(L.SimulateOptions), model=L.choose("model", model, MODELS),
            delivery=L.choose("delivery", delivery, DELIVERIES), bandwidth_bps=to_bps(bandwidth, "bandwidth"),
            nic_bandwidth_bps=to_bps(nic_bandwidth, "nic_bandwidth"),
            injection_bps=0 if injection is None else to_bps(injection, "injection"),
            packet_bytes=min(to_bytes(packet, "packet"), (1 << 32) - 1),
            buffer_bytes=0 if buffer is None else to_bytes(buffer, "buffer"), jitter=to_share(jitter, "jitter"),
            seed=to_int(seed, "seed", 0, (1 << 63) - 1), slow_ranks=len(slow_rank), slow_links=len(slow_link),
            slow_rank=L.array(L.SlowRank, slow_rank), slow_link=slow_link, routes=self._network.routes,
            no_forwarding=self._network.no_forwarding,
            shared_paths=self._read_shared_paths(), one_path=given["shared_paths"] == "one",
            gamma_per_stream=to_bool(gamma_per_stream, "gamma_per_stream"), progress=callback,
            **{f"{name}_ns": to_ns(given[name], name) for name in _TIMES})
        _check_options(self._options)
        self.nodes: Optional[Tuple[int, ...]] = None
        if nodes is not None:
            listed = [to_int(node, "a node", 0, self.torus.size - 1) for node in given["nodes"]]
            self._nodes = L.array(c.c_int, listed)
            L.check(L.lib.order_nodes(c.byref(self._network), 0, len(listed), self._nodes))
            self.nodes = tuple(self._nodes)

    def _read_links(self) -> Iterator[Tuple[int, int, float]]:
        for cut in self.options["cuts"]:
            rank, port, one_way = _read_link(cut, "a cut")
            yield rank, port, math.inf
            known = rank < self.torus.size and port < 2 * len(self.torus.dims)
            other = self.torus.neighbour(rank, port) if known else None
            if other is not None and not one_way:
                yield other, port ^ 1, math.inf
        for link, factor in (self.options["slow"] or {}).items():
            rank, port, _ = _read_link(link, "a slow link")
            yield rank, port, to_factor(factor, "the factor of a slow link")

    def _read_shared_paths(self) -> int:
        dims, shared = range(len(self.torus.dims)), self.options["shared_paths"]
        return sum({1 << to_int(d, "a dimension of shared_paths", 0, dims[-1])
                    for d in (dims if isinstance(shared, str) else shared)})

    @classmethod
    def from_profile(cls, torus: TorusLike, profile: str, **changes: Any) -> "Network":
        """A torus with the parameters of a network that has a name, as the tool's option ``--network``.

        Parameters
        ----------
        torus : Torus, str, int or sequence of int
        profile : str
            ``"paper"``, ``"tofu-d"``, ``"tofu-d-fjmpi"`` or the path of a file, which has a slash or a dot (``"./mine.json"``).
        changes
            Parameters of `Network`, which replace those of the profile.
        """
        from ._profiles import read_profile
        parameters = read_profile(profile)
        try:
            return cls(torus, **{**parameters, **changes})
        except L.ArgumentError as error:
            if changes:
                raise
            raise L.ArgumentError(f"{profile}: {error}") from None

    def replace(self, torus: Optional[TorusLike] = None, **changes: Any) -> "Network":
        """The same network but for some parameters."""
        return Network(self.torus if torus is None else torus, **{**self.options, **changes})

    def plan(self, size: Bytes, collective: str = "allreduce", *, root: int = 0, progress: Progress = None,
             **constraints: Any) -> "Choice":
        """The fastest schedule for a size; see `trivance.plan`."""
        from .planner import plan
        return plan(self, size, collective, root=root, progress=progress, **constraints)

    def limit(self, size: Bytes, collective: str = "allreduce", *, root: int = 0) -> "Limit":
        """Lower bounds on the time of any schedule on the whole torus.

        Parameters
        ----------
        size : int or str
            Of the vector, in bytes.
        collective : str
        root : int
            Of a broadcast, reduce, scatter or gather.

        Returns
        -------
        Limit

        Raises
        ------
        UnsupportedError
            The network has `nodes`.
        """
        from .planner import find_limit
        return find_limit(self, size, collective, root)

    def explore(self, size: Bytes = "64KiB", *, width: Union[int, str] = "100%", height: Union[int, str] = 720) -> Any:
        """The explorer with this network, or its set of nodes, as an ``IPython.display.IFrame`` for Jupyter.

        The page, one file, is put beside the notebook as ``trivance-explorer.html``, unless it is there.

        Parameters
        ----------
        size : int or str
            Of the vector, in bytes.
        width, height : int or str
            Of the frame, in pixels or with a unit of CSS.

        Raises
        ------
        UnsupportedError
            IPython or the page is not installed.
        """
        from ._explorer import frame
        return frame(self, to_bytes(size), width, height)

    def to_networkx(self) -> Any:
        """The network as a ``networkx.MultiDiGraph``.

        Nodes are ranks with ``pos``, their coordinates; edges, one for every directed link that is not cut, have ``port``,
        ``bandwidth`` (bit/s), ``factor`` (1, or of a slow link) and ``latency`` (s), and the port as their key.

        Raises
        ------
        UnsupportedError
            networkx is not installed.
        """
        from ._graph import to_networkx
        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> "Network":
        """The network of a graph whose nodes are coordinates, as those of ``networkx.grid_graph``, or numbers of a ring.

        A dimension is a ring if a link joins its ends in some row, otherwise a line. Links that are missing are cut; edges
        with ``factor``, or with less than the largest ``bandwidth`` (bit/s), are slow. An undirected edge is a link in both
        directions. If nodes are missing, those that are there become ``nodes``. Other parameters are those of `Network`.

        Raises
        ------
        ArgumentError
            The graph is no part of a torus or mesh.
        """
        from ._graph import from_networkx
        return cls(**from_networkx(graph, options))

    def __reduce__(self) -> Tuple[Any, ...]:
        return functools.partial(Network, **self.options), (str(self.torus),)

    def __repr__(self) -> str:
        changed = [f", {key}={value!r}" for key, value in self.options.items() if value != _USUAL[key]]
        return f"Network({str(self.torus)!r}{''.join(changed)})"

    def _key(self) -> Tuple[Any, ...]:
        plain = L.SimulateOptions.from_buffer_copy(self._options)
        slow = frozenset((one.rank, one.factor) for one in plain.slow_rank[:plain.slow_ranks])
        plain.slow_rank = plain.slow_link = None
        return self.torus, frozenset(self.links), self.nodes, slow, bytes(plain)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


_USUAL: Dict[str, Any] = Network.__init__.__kwdefaults__  # of the options


@functools.lru_cache(maxsize=1)
def _one_rank() -> c.c_void_p:
    """A simulator on one rank, to check options."""
    network = L.Network(c.sizeof(L.Network), Torus(1)._struct, 0, None, 0, False)
    schedule, simulator = c.c_void_p(), c.c_void_p()
    L.check(L.lib.schedule_create_on(c.byref(schedule), c.byref(network), b"trivance-l", 0, 0))
    L.check(L.lib.simulator_create(c.byref(simulator), schedule))
    L.lib.schedule_destroy(schedule)
    return simulator


def _check_options(options: L.SimulateOptions) -> None:
    """Checks options by a simulation on a torus of one rank, so that the library reports errors early."""
    plain, factors = L.SimulateOptions.from_buffer_copy(options), options.slow_rank[:options.slow_ranks]
    plain.slow_rank = L.array(L.SlowRank, [(0, one.factor) for one in factors])
    plain.slow_links = plain.shared_paths = 0
    L.check(L.lib.simulate(_one_rank(), c.byref(plain), 1, c.byref(L.Simulation())))


def to_root(root: Any, torus: Torus) -> int:
    """A rank that is the root of a collective; the library rejects one that is not 0 where there is no root."""
    return to_int(root, "root", 0, torus.size - 1)


def as_network(network: Union[Network, TorusLike]) -> Network:
    """A network, or that of a torus with the defaults."""
    return network if isinstance(network, Network) else Network(network)
