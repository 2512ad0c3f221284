"""The packet simulator: how long schedules take, and comparisons of algorithms."""
from __future__ import annotations

import ctypes as c
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, \
    Union

from . import _library as L
from ._progress import Progress, meter, watch
from ._units import Bytes, bytes_text, to_bytes, to_sizes
from .network import Network, TorusLike, as_network
from .planner import Algorithm, algorithms, find_algorithm, find_limit, plan
from .schedule import Schedule

if TYPE_CHECKING:
    import numpy as np

#: Colours of the explorer and of the figures, by `Algorithm.colour`.
COLOURS = ("#1f2933", "#7a3db8", "#1f6fd1", "#d9730d", "#c2255c", "#0f7a52", "#0891a5", "#7a8b00", "#8c5a3c")
Job = TypeVar("Job")
Result = TypeVar("Result")


class Simulation(NamedTuple):
    """The result of a simulation.

    Attributes
    ----------
    time_ns : float
        From the start to the end of the last step of the last rank; `time` is the same in seconds.
    messages, packets, packet_hops : int
        Of the whole torus.
    links : numpy.ndarray or None
        The traffic of every directed link, if it was asked for: ``rank``, ``port``, ``packets``, ``bytes``, ``busy`` (s)
        and ``queue_max`` (packets).
    """

    time_ns: float
    messages: int
    packets: int
    packet_hops: int
    links: "Optional[np.ndarray[Any, Any]]" = None

    @property
    def time(self) -> float:
        """In seconds."""
        return self.time_ns / 1e9


class Simulator:
    """A schedule prepared for simulation on a network: for many sizes. Any number of threads may use it at once.

    Parameters
    ----------
    schedule : Schedule
        It is not needed any more afterwards.
    network : Network, optional
        The one that the schedule was made for, if none is given.
    """

    __slots__ = ("network", "_pointer", "__weakref__")

    def __init__(self, schedule: Schedule, network: Optional[Union[Network, TorusLike]] = None) -> None:
        self._pointer = c.c_void_p()
        self.network = schedule._network_for(network)
        L.check(L.lib.simulator_create(c.byref(self._pointer), schedule._pointer))

    def __del__(self) -> None:
        if self._pointer:
            L.lib.simulator_destroy(self._pointer)

    def time(self, size: Bytes) -> float:
        """The completion time for a vector of `size` bytes, in seconds."""
        return self.run(size).time_ns / 1e9

    def run(self, size: Bytes, links: bool = False) -> Simulation:
        """The time with counts of messages and packets and, if `links`, the traffic of every link."""
        count, result, options = to_bytes(size), L.Simulation(), self.network._options
        if links:
            options = L.SimulateOptions.from_buffer_copy(options)
            options.link_loads = True
        L.call(L.lib.simulate, self._pointer, c.byref(options), count, c.byref(result))
        try:
            return Simulation(result.time_ns, result.messages, result.packets, result.packet_hops,
                              _link_loads(self.network, result) if links else None)
        finally:
            L.lib.simulation_clear(c.byref(result))

    def bound(self, size: Bytes) -> float:
        """A lower bound on that time, in seconds, at negligible cost."""
        bound = c.c_double()
        L.check(L.lib.simulate_bound_ns(self._pointer, c.byref(self.network._options), to_bytes(size), c.byref(bound)))
        return bound.value / 1e9


def _link_loads(network: Network, result: L.Simulation) -> Any:
    import numpy as np
    ports = 2 * len(network.torus.dims)
    rows = [(i // ports, i % ports, load.packets, load.bytes, load.busy_ns / 1e9, load.queue_max)
            for i, load in enumerate(result.link[:network.torus.size * ports])]
    return np.array(rows, dtype=[("rank", "i4"), ("port", "i4"), ("packets", "u8"), ("bytes", "u8"), ("busy", "f8"),
                                 ("queue_max", "u4")])


# ---- Work on all cores -----------------------------------------------------------------------------------------------

def spread(jobs: Sequence[Job], work: Callable[[Job], Result], progress: Progress, title: str) -> List[Result]:
    """The results of all jobs, in their order, from one thread per core; the library's calls run in parallel."""
    from concurrent.futures import ThreadPoolExecutor, as_completed
    stop = threading.Event()
    results: Dict[int, Result] = {}

    def report(_fraction: float) -> None:
        if stop.is_set():
            raise L.CancelledError("the operation was cancelled before its end")

    def run(job: Job) -> Result:
        report(0)
        with watch(report, title):
            return work(job)

    with meter(progress, title) as done, \
            ThreadPoolExecutor(max(1, min(len(jobs), len(os.sched_getaffinity(0))))) as pool:
        futures = {pool.submit(run, job): index for index, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                if done is not None:
                    done(len(results) / len(jobs))
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
    return [results[index] for index in range(len(jobs))]


# ---- One schedule ----------------------------------------------------------------------------------------------------

def simulate(schedule: Schedule, network: Optional[Union[Network, TorusLike]] = None, sizes: Any = "32:128M",
             progress: Progress = None) -> Any:
    """Simulates a schedule at several sizes.

    Parameters
    ----------
    schedule : Schedule
    network : Network, optional
        The one that the schedule was made for, if none is given.
    sizes : str, int, or sequence of them
        In bytes: ``["32KiB", "1MiB"]``, or text with ranges: ``"32:128M"`` (doubling), ``"1K:9K:+2K"``, ``"1K:1M:x4"``.
    progress : callable, bool or None
        See `Schedule.verify`.

    Returns
    -------
    pandas.DataFrame, or numpy.ndarray of shape (sizes,) without pandas
        ``bytes``, ``time`` (s), ``messages``, ``packets``, ``packet_hops``.
    """
    import numpy as np
    simulator, counts = Simulator(schedule, network), to_sizes(sizes)
    results = spread(counts, simulator.run, progress, f"simulating {schedule.name}")
    table = np.array([(size, one.time, one.messages, one.packets, one.packet_hops)
                      for size, one in zip(counts, results)],
                     dtype=[("bytes", "i8"), ("time", "f8"), ("messages", "i8"), ("packets", "i8"),
                            ("packet_hops", "i8")])
    return _frame(table)


def _frame(table: Any) -> Any:
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        return table
    return pandas.DataFrame({name: table[name] for name in table.dtype.names})


# ---- Several algorithms ----------------------------------------------------------------------------------------------

class Comparison:
    """The times of algorithms at several sizes.

    Attributes
    ----------
    network, collective, algorithms, sizes
        What was compared; sizes in bytes.
    table : numpy.ndarray, shape (algorithms * sizes,)
        ``algorithm`` as it was asked for, ``bytes``, ``time`` (s), ``name`` of the member or plan, and ``limit`` (s), a
        lower bound on the time of any schedule.
    """

    def __init__(self, network: Network, collective: str, names: Sequence[str], sizes: Sequence[int],
                 table: "np.ndarray[Any, Any]") -> None:
        self.network, self.collective, self.algorithms, self.sizes = network, collective, tuple(names), tuple(sizes)
        self.table = table

    def __array__(self, dtype: Any = None) -> Any:
        return self.table if dtype is None else self.table.astype(dtype)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, key: Any) -> Any:
        """Rows or columns of the table; of an algorithm its rows."""
        return self.table[self.table["algorithm"] == key] if key in self.algorithms else self.table[key]

    def frame(self) -> Any:
        """The times as a ``pandas.DataFrame``: a row for each size, a column for each algorithm."""
        import pandas
        return pandas.DataFrame({name: self[name]["time"] for name in self.algorithms},
                                index=pandas.Index(self.sizes, name="bytes"))

    def plot(self, ax: Any = None, relative: Optional[str] = None) -> Any:
        """Curves over the size, in the explorer's colours.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Drawn there; else in a new figure.
        relative : str, optional
            An algorithm of the comparison, or ``"limit"``: times as multiples of its.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib import pyplot  # type: ignore[import]
            ax = pyplot.subplots()[1]
        if relative is not None and relative != "limit" and relative not in self.algorithms:
            raise L.fail(f"there is no algorithm {relative!r} to compare with; there are {', '.join(self.algorithms)} and "
                         "limit")
        used = {name: _colour(name) for name in self.algorithms}
        spare = [colour for colour in COLOURS if colour not in used.values()]
        for name in self.algorithms:
            rows = self[name]
            times = rows["time"] * 1e6
            if relative is not None:
                times = rows["time"] / (rows["limit"] if relative == "limit" else self[relative]["time"])
            ax.plot(self.sizes, times, label=name, marker=".", color=used[name] or (spare.pop(0) if spare else None))
        ax.set_xscale("log", base=2)
        ax.set_xlabel("size in bytes")
        ax.set_ylabel("time in us" if relative is None else f"time / {relative}")
        if relative is None:
            ax.set_yscale("log")
        ax.set_title(f"{self.collective} on {self.network.torus}")
        ax.grid(alpha=0.3)
        ax.legend()
        return ax

    def _repr_html_(self) -> Optional[str]:
        try:
            return str(self.frame()._repr_html_())
        except ImportError:
            return None

    def __repr__(self) -> str:
        sizes = f"{bytes_text(min(self.sizes))} to {bytes_text(max(self.sizes))}"
        return f"Comparison({str(self.network.torus)!r}, {list(self.algorithms)}, {sizes})"


def _colour(name: str) -> Optional[str]:
    """The colour of the algorithm's family, or of the family with this name."""
    family = name if name in {one.family for one in algorithms()} else None
    if family is None and L.lib.algorithm_find(L.text(name)):
        family = find_algorithm(name).family
    number = max([one.colour for one in algorithms() if one.family == family], default=0)
    return COLOURS[number] if number else None


def family_members(name: str) -> List[str]:
    """The algorithms that a name stands for: itself with its parameters, or the exact members of a family."""
    known: Dict[str, Algorithm] = {one.name: one for one in algorithms()}
    members = [one.name for one in known.values() if one.family == name and one.exact]
    if name in known or not members:
        find_algorithm(name)
        return [name]
    return members


class _Once:
    """Simulators by name, each created by the first thread that needs it; None if the torus is not supported."""

    def __init__(self, network: Network, collective: str) -> None:
        self.network, self.collective = network, collective
        self.lock = threading.Lock()
        self.locks: Dict[str, threading.Lock] = {}
        self.made: Dict[str, Union[Simulator, L.UnsupportedError]] = {}

    def get(self, name: str) -> Union[Simulator, L.UnsupportedError]:
        with self.lock:
            lock = self.locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self.made:
                try:
                    self.made[name] = Simulator(Schedule(name, self.network, self.collective))
                except L.UnsupportedError as error:
                    self.made[name] = error
            return self.made[name]


def _fastest(once: _Once, members: Iterable[str], size: int) -> Tuple[float, str]:
    """The minimum time over the members and its member; members that a lower bound excludes are not simulated."""
    made = [(name, once.get(name)) for name in members]
    able = [(one.bound(size), name, one) for name, one in made if isinstance(one, Simulator)]
    reasons = [one for _, one in made if isinstance(one, L.UnsupportedError)]
    if not able:
        raise reasons[-1]
    best: Optional[Tuple[float, str]] = None
    for bound, name, simulator in sorted(able, key=lambda one: one[:2]):
        if best is not None and bound >= best[0]:
            break
        time = simulator.time(size)
        if best is None or time < best[0]:
            best = time, name
    assert best is not None
    return best


def compare(network: Union[Network, TorusLike], algorithms: Union[str, Iterable[str]], sizes: Any = "32:128M", *,
            collective: str = "allreduce", progress: Progress = None) -> Comparison:
    """Simulates several algorithms at several sizes, on all cores.

    Parameters
    ----------
    network : Network, or torus
    algorithms : str or iterable of str
        Names (``"trivance-b"``, ``"hybrid:4x8"``), families (``"trivance"``, ``"swing"``, ``"bruck"``: their fastest member
        at each size), and ``"planned"``, the planner's choice at each size.
    sizes : str, int, or sequence of them
        In bytes, as those of `simulate`.
    collective : {"allreduce", "reduce-scatter", "allgather"}
    progress : callable, bool or None
        See `Schedule.verify`.

    Returns
    -------
    Comparison

    Raises
    ------
    UnsupportedError
        An algorithm, or all members of a family, do not support the torus or the collective.
    """
    import numpy as np
    net, counts = as_network(network), to_sizes(sizes)
    if net.nodes is not None:
        raise L.UnsupportedError("algorithms are compared on whole networks; for a set of nodes use Network.plan")
    names = [algorithms] if isinstance(algorithms, str) else [str(name) for name in algorithms]
    if not names:
        raise L.fail("there are no algorithms to compare; name at least one, for example 'trivance'")
    names = list(dict.fromkeys(names))
    code = L.collective_code(collective)
    members = {name: [] if name == "planned" else family_members(name) for name in names}
    once = _Once(net, L.COLLECTIVES[code])

    def work(job: Tuple[str, int]) -> Tuple[float, str]:
        name, size = job
        return _fastest(once, members[name] or [plan(net, size, collective).name], size)

    jobs = sorted(((name, size) for name in names for size in dict.fromkeys(counts)), key=lambda job: -job[1])
    found = dict(zip(jobs, spread(jobs, work, progress, f"comparing on {net.torus}")))
    limits = {size: find_limit(net, size, collective).time for size in dict.fromkeys(counts)}
    table = np.array([(name, size, *found[name, size], limits[size]) for name in names for size in counts],
                     dtype=[("algorithm", f"U{max(map(len, names))}"), ("bytes", "i8"), ("time", "f8"),
                            ("name", f"U{max(len(name) for _, name in found.values())}"), ("limit", "f8")])
    return Comparison(net, collective, names, counts, table)
