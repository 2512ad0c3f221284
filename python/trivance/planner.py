"""The planner: which schedule is fastest on a network; and the table of algorithms."""
from __future__ import annotations

import ctypes as c
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from . import _library as L
from ._progress import Progress, watch
from ._units import Bytes, to_bool, to_bytes, to_int
from .limit import find_limit
from .network import Network, as_network
from .schedule import Schedule
from .torus import Torus, TorusLike, to_root


class PaperCost(NamedTuple):
    """The exact sums of the paper's appendix B, and the limit of Theta of its tables 1 and 2; NaN where it has none."""

    lambda_: float
    delta: float
    theta: float
    theta_limit: float


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
        Whether contributions arrive exactly once; whether all ranks end with the same bits; whether sums are in the
        order of ranks; whether whole vectors are sent.
    collectives : tuple of str
        Those that it supports.
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
    collectives: Tuple[str, ...]

    def supports(self, torus: TorusLike, collective: str = "allreduce") -> bool:
        """Whether it supports a torus and a collective."""
        return not L.lib.algorithm_supports(L.lib.algorithm_find(self.name.encode()), c.byref(Torus(torus)._struct),
                                            L.collective_code(collective))

    def paper_cost(self, torus: TorusLike) -> PaperCost:
        """The paper's closed forms of what `Schedule.cost` measures."""
        cost = L.PaperCost()
        L.lib.algorithm_paper_cost(L.lib.algorithm_find(self.name.encode()), c.byref(Torus(torus)._struct),
                                   c.byref(cost))
        return PaperCost(cost.lambda_, cost.delta, cost.theta, cost.theta_limit)


def _algorithm(pointer: int) -> Algorithm:
    """An algorithm from the library's functions, which are called as the fields."""
    fields: Dict[str, Any] = {}
    for field in Algorithm._fields[:-1]:
        function = {"steps": "steps_formula", "bytes": "bytes_formula", "exact": "exactness"}.get(field, field)
        value = getattr(L.lib, "algorithm_" + function)(pointer)
        fields[field] = value.decode() if isinstance(value, bytes) else value
    fields["collectives"] = tuple(name for i, name in enumerate(L.COLLECTIVES)
                                  if L.lib.algorithm_has_collective(pointer, i))
    return Algorithm(**{**fields, "symmetry": L.SYMMETRIES[fields["symmetry"]], "exact": fields["exact"] == 0})


def algorithms() -> List[Algorithm]:
    """The table of all algorithms."""
    return [_algorithm(L.lib.algorithm_at(i)) for i in range(L.lib.algorithms_count())]


def find_algorithm(name: str) -> Algorithm:
    """An algorithm by its name, with or without parameters (``"hybrid:4x8"``).

    Raises
    ------
    ArgumentError
        There is no such algorithm.
    """
    pointer = L.lib.algorithm_find(L.text(name, "the name of an algorithm"))
    if not pointer:
        L.check(L.ArgumentError.code)
    return _algorithm(pointer)


class Choice(NamedTuple):
    """A schedule that the planner chooses; times are in seconds.

    Attributes
    ----------
    name : str
        Of the algorithm, with its parameters: ``"hybrid:4x8"``.
    steps : int
    time : float
        Simulated on the network. Its parts: `alpha` (the steps), `hops` (the rest of the time of a vector of one byte),
        and `transmission` (the rest).
    consistent : bool
        Whether all ranks end with the same bits, also for floating point.
    approximate : bool
        Whether it was simulated with larger packets, because there are millions; usually within 1 %.
    size : int
        Of the vector, in bytes.
    collective : str
    network : Network
    torus : Torus
        That of the algorithm; for a set of nodes the line or ring with one rank per node, or the torus that a box of
        nodes forms.
    order : {"snake", "thirds", "rows"}, or None
        For a set of nodes their order (``trv_order_t``).
    root : int
        Of a collective with a root, otherwise 0.
    """

    name: str
    steps: int
    time: float
    alpha: float
    hops: float
    transmission: float
    consistent: bool
    approximate: bool
    size: int
    collective: str
    network: Network
    torus: Torus
    order: Optional[str] = None
    root: int = 0

    @property
    def limit(self) -> float:
        """A lower bound on the time of any schedule, in seconds; see `Network.limit`."""
        return find_limit(self.network, self.size, self.collective, self.root).time

    def schedule(self) -> Schedule:
        """The schedule; for a set of nodes as it runs on the whole network."""
        if self.order is None:
            return Schedule(self.name, self.network, self.collective, self.root)
        return Schedule._on_nodes(self)

    def __repr__(self) -> str:
        last = f"order={self.order!r}" if self.order else f"limit={self.limit:.6g}"
        return f"Choice(name={self.name!r}, steps={self.steps}, time={self.time:.6g}, {last})"


class Planner(L.Handle):
    """The planner for one network, collective and set of constraints. Any number of threads may use it at once.

    Parameters
    ----------
    network : Network, Torus, str, int or sequence of int
    collective : str
    root : int
        Of a broadcast, reduce, scatter or gather; for a set of nodes the root's place in their order.
    consistent : bool
        The same bits on all ranks, also for floating point.
    idempotent : bool
        Contributions may count twice, as for MAX and MIN.
    memory : int or str, optional
        Maximum scratch memory per rank, in bytes.
    """

    __slots__ = ("network", "collective", "root", "_code", "_constraints", "_lock")
    _destroy = "planner_destroy"

    def __init__(self, network: Union[Network, TorusLike], collective: str = "allreduce", *, root: int = 0,
                 consistent: bool = False, idempotent: bool = False, memory: Optional[Bytes] = None) -> None:
        self.network, self.collective, self._code = as_network(network), collective, L.collective_code(collective)
        self.root = to_root(root, self.network.torus)
        self._constraints = L.PlannerConstraints(
            c.sizeof(L.PlannerConstraints), to_bool(consistent, "consistent"), to_bool(idempotent, "idempotent"),
            0 if memory is None else to_bytes(memory, "memory"))
        self._lock = threading.Lock()
        self._pointer = None  # the candidates, created by the first rank() or time()

    def best(self, size: Bytes, progress: Progress = None) -> Choice:
        """The fastest schedule for a size in bytes; see `trivance.plan`."""
        if self.network.nodes is not None:
            return self.rank(size, 1, progress)[0]
        planned, count = L.PlannerChoice(), to_bytes(size)
        with watch(progress, "planning"):
            L.call(L.lib.planner_best, c.byref(self.network.torus._struct), self._code, self.root, count,
                   c.byref(self.network._options), c.byref(self._constraints), c.byref(planned))
        return self._choice(count, planned)

    def rank(self, size: Bytes, n: int = 10, progress: Progress = None) -> List[Choice]:
        """The `n` fastest schedules for a size in bytes, best first."""
        count, number, net = to_bytes(size), to_int(n, "the number of plans", 1, 4096), self.network
        with watch(progress, "planning"):
            if net.nodes is None:
                plans = (L.PlannerChoice * number)()
                with self._lock:
                    found = L.call(L.lib.planner_rank, self._candidates(), count, number, plans)
                return [self._choice(count, one) for one in plans[:found]]
            placed = (L.PlannerNodeChoice * number)()
            found = L.call(L.lib.planner_nodes, c.byref(net.torus._struct), len(net.nodes), net._nodes, self._code,
                           self.root, count, c.byref(net._options), c.byref(self._constraints), number, placed)
            return [self._choice(count, one.choice, Torus._of(one.torus), L.ORDERS[one.order])
                    for one in placed[:found]]

    def time(self, size: Bytes, name: str) -> Choice:
        """The plan of one algorithm, timed in the same way.

        Raises
        ------
        UnsupportedError
            It does not support the torus, or violates the constraints; or the network has `nodes`.
        """
        if self.network.nodes is not None:
            raise L.UnsupportedError("for a set of nodes there are only the fastest plans; use best() or rank()")
        planned, count = L.PlannerChoice(), to_bytes(size)
        with self._lock:
            L.call(L.lib.planner_time, self._candidates(), count, L.text(name, "the name of an algorithm"),
                   c.byref(planned))
        return self._choice(count, planned)

    def _candidates(self) -> Optional[int]:
        if self._pointer is None:
            pointer = c.c_void_p()
            try:
                L.call(L.lib.planner_create, c.byref(pointer), c.byref(self.network.torus._struct), self._code,
                       self.root, c.byref(self.network._options), c.byref(self._constraints))
            finally:
                self._pointer = pointer.value
        return self._pointer

    def _choice(self, size: int, plan: L.PlannerChoice, torus: Optional[Torus] = None,
                order: Optional[str] = None) -> Choice:
        return Choice(plan.algorithm.decode(), plan.steps, plan.time_ns / 1e9, plan.alpha_ns / 1e9, plan.hops_ns / 1e9,
                      plan.transmission_ns / 1e9, plan.consistent, plan.approximate, size, self.collective,
                      self.network, torus or self.network.torus, order, self.root)

    def __repr__(self) -> str:
        root = f", root={self.root}" if self.root else ""
        return f"Planner({self.network!r}, {self.collective!r}{root})"


def plan(network: Union[Network, TorusLike], size: Bytes, collective: str = "allreduce", *, root: int = 0,
         progress: Progress = None, consistent: bool = False, idempotent: bool = False,
         memory: Optional[Bytes] = None) -> Choice:
    """The fastest schedule for a size. Answers are kept, so that a repeated question takes microseconds.

    Parameters
    ----------
    network : Network, Torus, str, int or sequence of int
    size : int or str
        Of the vector, in bytes; where it consists of blocks, for example for an allgather, of all blocks together.
    collective : str
        "allreduce", "reduce-scatter", "allgather", "broadcast", "reduce", "scatter", "gather" or "alltoall".
    root : int
        Of a broadcast, reduce, scatter or gather; for a set of nodes the root's place in their order.
    progress : callable, bool or None
        See `Schedule.verify`.
    consistent, idempotent, memory
        The constraints of `Planner`.

    Returns
    -------
    Choice

    Raises
    ------
    UnsupportedError
        No schedule satisfies the constraints; the sentence names the constraints that exclude all.
    """
    return Planner(network, collective, root=root, consistent=consistent, idempotent=idempotent,
                   memory=memory).best(size, progress)


Network._plan = plan
