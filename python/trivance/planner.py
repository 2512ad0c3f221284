"""The planner: which schedule is fastest on a network; and the table of algorithms."""
from __future__ import annotations

import ctypes as c
import threading
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Union

from . import _library as L
from ._progress import Progress, watch
from ._units import Bytes, bytes_text, time_text, to_bytes, to_int
from .network import Network, Torus, TorusLike, as_network

if TYPE_CHECKING:
    from .schedule import Schedule


class Algorithm(NamedTuple):
    """An algorithm of the library's table.

    Attributes
    ----------
    name, family, title : str
        ``"trivance-b"``, ``"trivance"``, ``"Trivance, bandwidth-optimal"``.
    source, sizes, use, steps, bytes : str
        Publication; tori that it supports; what it is for; steps, and bytes that a rank sends, as formulas in words.
    parameters : str or None
        The syntax of the parameters after the name and a colon.
    symmetry : {"none", "parity", "translation"}
    exact, consistent, in_rank_order, latency_optimal : bool
    baseline : bool
        Whether the figures compare Trivance with its family; ``colour`` is the number of its colour there, or 0.
    """

    name: str
    family: str
    title: str
    source: str
    sizes: str
    use: str
    steps: str
    bytes: str
    parameters: Optional[str]
    symmetry: str
    exact: bool
    consistent: bool
    in_rank_order: bool
    latency_optimal: bool
    baseline: bool
    colour: int

    def supports(self, torus: TorusLike, collective: str = "allreduce") -> bool:
        """Whether it supports a torus and a collective."""
        return not L.lib.algorithm_supports(L.lib.algorithm_find(self.name.encode()), c.byref(Torus(torus)._struct),
                                            L.collective_code(collective), 0)

    def paper_cost(self, torus: TorusLike) -> "PaperCost":
        """The paper's closed forms of what `Schedule.cost` measures."""
        cost = L.PaperCost()
        L.lib.algorithm_paper_cost(L.lib.algorithm_find(self.name.encode()), c.byref(Torus(torus)._struct), c.byref(cost))
        return PaperCost(cost.lambda_, cost.delta, cost.theta, cost.theta_limit)


class PaperCost(NamedTuple):
    """The exact sums of the paper's appendix B, and the limit of Theta of its tables 1 and 2; NaN where it has none."""

    lambda_: float
    delta: float
    theta: float
    theta_limit: float


def _algorithm(pointer: int) -> Algorithm:
    def text(name: str) -> Any:
        value = getattr(L.lib, "algorithm_" + name)(pointer)
        return value if value is None else value.decode()

    def number(name: str) -> Any:
        return getattr(L.lib, "algorithm_" + name)(pointer)

    return Algorithm(text("name"), text("family"), text("title"), text("source"), text("sizes"), text("use"),
                     text("steps_formula"), text("bytes_formula"), text("parameters"),
                     L.SYMMETRIES[number("symmetry")], number("exactness") == 0, number("consistent"),
                     number("in_rank_order"), number("latency_optimal"), number("baseline"), number("colour"))


def algorithms() -> List[Algorithm]:
    """The table of all algorithms."""
    return [_algorithm(L.lib.algorithm_at(i)) for i in range(L.lib.algorithms_count())]


def find_algorithm(name: str) -> Algorithm:
    """An algorithm by its name, with or without parameters (``"hybrid:4x8"``)."""
    pointer = L.lib.algorithm_find(L.text(name))
    if not pointer:
        L.check(L.ArgumentError.code)
    return _algorithm(pointer)


class Limit(NamedTuple):
    """Lower bounds on the time of any schedule, in seconds.

    Attributes
    ----------
    time : float
        The largest of `startup` (a step and the hops of the farthest pair), `sets` (what must leave and enter sets of
        ranks) and `links` (what all links together carry).
    steps : float
        `startup` if every rank sends at most one message per port and step.
    """

    time: float
    startup: float
    sets: float
    links: float
    steps: float

    def __repr__(self) -> str:
        return f"Limit(time={self.time:.6g}, startup={self.startup:.6g}, sets={self.sets:.6g}, links={self.links:.6g})"


def find_limit(network: Network, size: int, collective: str) -> Limit:
    """See `Network.limit`."""
    o, found = network._options, L.LimitStruct()
    ends_ns = 2 * o.host_latency_ns + o.router_in_ns + o.router_out_ns
    times = L.Hockney(o.bandwidth_bps, o.alpha_ns + ends_ns, hop_ns(o))
    L.check(L.lib.limit_find(c.byref(network._network), c.byref(times), L.collective_code(collective), 0, size,
                             o.packet_bytes if o.delivery == 0 else 0, c.byref(found)))
    return Limit(found.time_ns / 1e9, found.startup_ns / 1e9, found.sets_ns / 1e9, found.links_ns / 1e9,
                 found.steps_ns / 1e9)


def hop_ns(options: L.SimulateOptions) -> float:
    """The time of a hop: along a link and through both sides of a router."""
    return float(options.link_latency_ns + options.router_in_ns + options.router_out_ns)


class Choice:
    """A schedule that the planner chooses; times are in seconds.

    Attributes
    ----------
    name : str
        Of the algorithm, with its parameters: ``"hybrid:4x8"``.
    steps : int
    time : float
        Simulated on the network. Its parts: `alpha` (the steps), `hops` (what a vector of one byte takes beside), and
        `transmission` (the rest).
    consistent : bool
        Whether all ranks end with the same bits, also for floating point.
    modelled : bool
        Whether the time is that of a model, because simulating it would be too much work.
    limit : float
        No schedule takes less.
    size : int
        Of the vector, in bytes.
    order : str or None
        For a set of nodes: how they are ordered, ``"snake"`` or ``"thirds"``.
    torus : Torus
        That of the schedule; for a set of nodes the line or ring of so many ranks.
    """

    __slots__ = ("name", "steps", "time", "alpha", "hops", "transmission", "consistent", "modelled", "size", "network",
                 "collective", "order", "torus", "_order")

    def __init__(self, network: Network, collective: str, size: int, plan: L.Planned, order: int = -1,
                 torus: Optional[Torus] = None) -> None:
        self.network, self.collective, self.size = network, collective, size
        self.name: str = plan.algorithm.decode()
        self.steps: int = plan.steps
        self.time: float = plan.time_ns / 1e9
        self.alpha: float = plan.alpha_ns / 1e9
        self.hops: float = plan.hops_ns / 1e9
        self.transmission: float = plan.transmission_ns / 1e9
        self.consistent: bool = plan.consistent
        self.modelled: bool = plan.modelled
        self.torus = torus or network.torus
        self._order = order
        self.order: Optional[str] = None if order < 0 else L.lib.order_name(order).decode()

    @property
    def limit(self) -> float:
        """A lower bound on the time of any schedule, in seconds."""
        return find_limit(self.network, self.size, self.collective).time

    def schedule(self) -> "Schedule":
        """The schedule; for a set of nodes as it runs on the whole network."""
        from .schedule import Schedule
        if self._order < 0:
            return Schedule(self.name, self.network, self.collective)
        return Schedule(self.name, self.torus, self.collective)._placed(self.network, self._order)

    def __repr__(self) -> str:
        order = f", order={self.order!r}" if self.order else ""
        bound = "" if self.order else f", limit={self.limit:.6g}"
        return f"Choice(name={self.name!r}, steps={self.steps}, time={self.time:.6g}{bound}{order})"

    def __str__(self) -> str:
        return f"{self.name} on {self.torus}: {bytes_text(self.size)} in {self.steps} steps, {time_text(self.time)}"


def _constraints(consistent: bool = False, idempotent: bool = False, memory: Optional[Bytes] = None,
                 messages_per_port: Optional[int] = None) -> L.Constraints:
    return L.Constraints(c.sizeof(L.Constraints), bool(consistent), bool(idempotent),
                         0 if memory is None else to_bytes(memory),
                         0 if messages_per_port is None else to_int(messages_per_port, "messages_per_port", 1, 1 << 20))


_NO_CONSTRAINTS = _constraints()


def plan(network: Union[Network, TorusLike], size: Bytes, collective: str = "allreduce", *, progress: Progress = False,
         **constraints: Any) -> Choice:
    """The fastest schedule for a size. Answers are kept, so that a repeated question takes microseconds.

    Parameters
    ----------
    network : Network, or torus
    size : int or str
        Of the vector, in bytes.
    collective : {"allreduce", "reduce-scatter", "allgather"}
    progress : callable, bool or None
        See `Schedule.verify`.
    **constraints
        As those of `Planner`.

    Raises
    ------
    UnsupportedError
        No schedule satisfies the constraints; the sentence says which of them excludes what.
    """
    net = as_network(network)
    asked = _constraints(**constraints) if constraints else _NO_CONSTRAINTS
    if net.nodes is not None:
        return plan_nodes(net, to_bytes(size), collective, asked, 1)[0]
    planned, count, code = L.Planned(), to_bytes(size), L.collective_code(collective)
    question = (c.byref(net.torus._struct), code, 0, count, c.byref(net._options), c.byref(asked), c.byref(planned))
    if progress is False:
        L.call(L.lib.planner_best, *question)
    else:
        with watch(progress, f"planning {net.torus}"):
            L.call(L.lib.planner_best, *question)
    return Choice(net, collective, count, planned)


def plan_nodes(network: Network, size: int, collective: str, constraints: L.Constraints, number: int) -> List[Choice]:
    """The fastest schedules for the network's nodes, best first."""
    assert network.nodes is not None
    plans = (L.NodePlan * number)()
    found = L.call(L.lib.planner_nodes, c.byref(network.torus._struct), len(network.nodes), network._nodes,
                   L.collective_code(collective), 0, size, c.byref(network._options), c.byref(constraints), number, plans)
    return [Choice(network, collective, size, one.plan, one.order, Torus._of(one.torus)) for one in plans[:found]]


class _Handle:
    """A planner of the library, which one thread may use at a time."""

    __slots__ = ("pointer", "lock")

    def __init__(self, pointer: c.c_void_p) -> None:
        self.pointer, self.lock = pointer, threading.Lock()

    def __del__(self) -> None:
        L.lib.planner_destroy(self.pointer)


class Planner:
    """The candidates for one network, collective and set of constraints: for many sizes, and for the runners-up.

    Parameters
    ----------
    network : Network, or torus
    collective : {"allreduce", "reduce-scatter", "allgather"}
    consistent : bool
        The same bits on all ranks, also for floating point.
    idempotent : bool
        Contributions may count twice, as for MAX and MIN.
    memory : int or str
        Maximum scratch memory per rank, in bytes.
    messages_per_port : int
        Maximum messages of a stream that leave a rank by one port in a step.
    """

    def __init__(self, network: Union[Network, TorusLike], collective: str = "allreduce", **constraints: Any) -> None:
        self.network, self.collective = as_network(network), collective
        self._constraints = _constraints(**constraints)
        self._handle: Optional[_Handle] = None
        if self.network.nodes is None:
            pointer = c.c_void_p()
            L.call(L.lib.planner_create, c.byref(pointer), c.byref(self.network.torus._struct),
                   L.collective_code(collective), 0, c.byref(self.network._options), c.byref(self._constraints))
            self._handle = _Handle(pointer)

    def best(self, size: Bytes) -> Choice:
        """The fastest schedule for a size in bytes."""
        if self._handle is None:
            return self.rank(size, 1)[0]
        planned, count = L.Planned(), to_bytes(size)
        L.call(L.lib.planner_best, c.byref(self.network.torus._struct), L.collective_code(self.collective), 0, count,
               c.byref(self.network._options), c.byref(self._constraints), c.byref(planned))
        return Choice(self.network, self.collective, count, planned)

    def rank(self, size: Bytes, n: int = 10) -> List[Choice]:
        """The `n` fastest schedules for a size in bytes, best first."""
        count, number = to_bytes(size), to_int(n, "the number of plans", 1, 4096)
        if self._handle is None:
            return plan_nodes(self.network, count, self.collective, self._constraints, number)
        plans = (L.Planned * number)()
        with self._handle.lock:
            found = L.call(L.lib.planner_rank, self._handle.pointer, count, number, plans)
        return [Choice(self.network, self.collective, count, one) for one in plans[:found]]

    def time(self, size: Bytes, name: str) -> Choice:
        """The plan of one algorithm, timed in the same way.

        Raises
        ------
        UnsupportedError
            It does not support the torus, or violates the constraints.
        """
        if self._handle is None:
            raise L.UnsupportedError("for a set of nodes there are only the fastest plans; use best() or rank()")
        planned, count = L.Planned(), to_bytes(size)
        with self._handle.lock:
            L.call(L.lib.planner_time, self._handle.pointer, count, L.text(name), c.byref(planned))
        return Choice(self.network, self.collective, count, planned)

    def __repr__(self) -> str:
        return f"Planner({self.network!r}, {self.collective!r})"
