"""The packet simulator: how long schedules take, and comparisons of algorithms."""
from __future__ import annotations

import ctypes as c
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Union

from . import _library as L
from ._progress import Progress
from ._units import Bytes, format_bytes, to_bool, to_bytes, to_list, to_sizes
from .network import Network, as_network
from .plots.theme import colour_of, colours
from .points import Point, compare_points, supported
from .schedule import Schedule
from .torus import TorusLike, to_root

if TYPE_CHECKING:
    import numpy as np

#: Models of links in titles.
_QUEUES = {"fifo": "one queue per link (fifo)", "dateline": "two channels per link (dateline)"}


class Simulation(NamedTuple):
    """The result of a simulation.

    Attributes
    ----------
    time_ns : float
        From the start to the end of the last step of the last rank, in nanoseconds; `time` is the same in seconds.
    messages, packets, packet_hops : int
        Of the whole torus.
    links : numpy.ndarray, shape (ranks * ports,), or None
        The traffic of every directed link, if it was asked for: ``rank``, ``port``, ``packets``, ``bytes``, ``busy``
        (s) and ``queue_max`` (packets).
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


class Simulator(L.Handle):
    """A schedule prepared for simulation on a network: for many sizes. Any number of threads may use it at once.

    Parameters
    ----------
    schedule : Schedule
        It is not needed any more afterwards.
    network : Network, optional
        Of the schedule's torus; by default the one that the schedule was made for.
    """

    __slots__ = ("network",)
    _destroy = "simulator_destroy"

    def __init__(self, schedule: Schedule, network: Optional[Union[Network, TorusLike]] = None) -> None:
        if not isinstance(schedule, Schedule):
            raise L.ArgumentError(f"schedule is {schedule!r}; it is a Schedule, for example "
                                  "Schedule('trivance-b', '9')")
        pointer = c.c_void_p()
        self.network = schedule._network_for(network)
        L.check(L.lib.simulator_create(c.byref(pointer), schedule._pointer))
        self._pointer = pointer.value

    def time(self, size: Bytes, network: Optional[Network] = None) -> float:
        """The completion time for a vector of `size` bytes, in seconds; `network`: with the parameters of another
        network."""
        return self.run(size, network=network).time

    def run(self, size: Bytes, links: bool = False, network: Optional[Network] = None,
            full: bool = False) -> Simulation:
        """The time with counts of messages and packets and, if `links`, the traffic of every link. With `full` (or
        `links`) every packet is simulated, however many there are; otherwise large vectors are simulated with larger
        packets, usually within 1 %."""
        if network is not None and network.torus != self.network.torus:
            raise L.ArgumentError(f"network is one of the torus {network.torus}; the schedule's is "
                                  f"{self.network.torus}")
        result, options = L.Simulation(), L.SimulateOptions.from_buffer_copy((network or self.network)._options)
        options.link_loads = to_bool(links, "links")
        options.full = to_bool(full, "full")
        try:
            L.call(L.lib.simulate, self._pointer, c.byref(options), to_bytes(size), c.byref(result))
            return Simulation(result.time_ns, result.messages, result.packets, result.packet_hops,
                              _link_loads(self.network, result) if options.link_loads else None)
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
    loads = L.table(result.link, network.torus.size * ports)
    rows = np.zeros(len(loads),
                    dtype=[("rank", "i4"), ("port", "i4"), ("packets", "u8"), ("bytes", "u8"), ("busy", "f8"),
                           ("queue_max", "u4")])
    rows["rank"], rows["port"] = np.divmod(np.arange(len(loads)), ports)
    for name in ("packets", "bytes", "queue_max"):
        rows[name] = loads[name]
    rows["busy"] = loads["busy_ns"] / 1e9
    return rows


# ---- Several algorithms ----------------------------------------------------------------------------------------------

class Comparison:
    """The times of algorithms at several sizes.

    Attributes
    ----------
    network : Network
    collective : str
    algorithms : tuple of str
    sizes : tuple of int
        In bytes.
    table : numpy.ndarray, shape (algorithms * sizes,)
        ``algorithm`` as it was asked for, ``bytes``, ``time`` (s), ``name`` of the member or plan, and ``limit`` (s), a
        lower bound on the time of any schedule.
    """

    def __init__(self, network: Network, collective: str, names: Sequence[str], sizes: Sequence[int],
                 table: "np.ndarray[Any, Any]") -> None:
        self.network, self.collective, self.algorithms, self.sizes = network, collective, tuple(names), tuple(sizes)
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, key: str) -> Any:
        """The rows of an algorithm, or a column of the table."""
        if key in self.algorithms:
            return self.table[self.table["algorithm"] == key]
        L.choose("the algorithm or column", key, self.algorithms + (self.table.dtype.names or ()))
        return self.table[key]

    def frame(self) -> Any:
        """The times as a ``pandas.DataFrame``: a row for each size, a column for each algorithm."""
        pandas = L.need("pandas", "Comparison.frame")
        return pandas.DataFrame({name: self[name]["time"] for name in self.algorithms},
                                index=pandas.Index(self.sizes, name="bytes"))

    def plot(self, ax: Any = None, relative: Optional[str] = None) -> Any:
        """Curves over the size, in the explorer's colours.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Drawn there; by default in a new figure.
        relative : str, optional
            An algorithm of the comparison, or ``"limit"``: times as multiples of its time.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        UnsupportedError
            matplotlib is not installed.
        """
        if relative is not None:
            L.choose("relative", relative, (*self.algorithms, "limit"))
        ax = ax or L.need("matplotlib.pyplot", "Comparison.plot").subplots()[1]
        if not hasattr(ax, "set_xscale"):
            raise L.ArgumentError(f"ax is {ax!r}; it is matplotlib's Axes; `savefig` writes a file")
        used = {name: colour_of(name) for name in self.algorithms}
        spare = [colour for colour in colours("c") if colour not in used.values()]
        for name in self.algorithms:
            rows = self[name]
            unit = 1e-6 if relative is None else rows["limit"] if relative == "limit" else self[relative]["time"]
            ax.plot(self.sizes, rows["time"] / unit, label=name, marker=".",
                    color=used[name] or (spare.pop(0) if spare else None))
        ax.set_xscale("log", base=2)
        ax.set_yscale("log" if relative is None else "linear")
        ax.set_xlabel("size in bytes")
        ax.set_ylabel("time in us" if relative is None else f"time / {relative}")
        ax.set_title(f"{self.collective} on {self.network.torus}, {_QUEUES[self.network.options['model']]}")
        ax.grid(alpha=0.3)
        ax.legend()
        return ax

    def savefig(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Draws the times over the size into an SVG file, with the limit as a dashed line, as the tool's option
        ``--plot``.

        The file appears when it is complete; an existing one is replaced.

        Parameters
        ----------
        path : str or path
            It ends in ``.svg``.

        Raises
        ------
        ArgumentError
            The file cannot be written.
        UnsupportedError
            matplotlib is not installed.
        """
        L.need("matplotlib", "Comparison.savefig")
        from .plots.curves import save
        save(self, os.fspath(path))

    def _repr_html_(self) -> Optional[str]:
        try:
            return str(self.frame()._repr_html_())
        except L.UnsupportedError:
            return None

    def __repr__(self) -> str:
        sizes = f"{format_bytes(min(self.sizes))} to {format_bytes(max(self.sizes))}"
        return (f"Comparison({str(self.network.torus)!r}, {list(self.algorithms)}, {sizes}, "
                f"model={self.network.options['model']!r})")


def _entries(algorithms: Any, network: Network, collective: str, root: int) -> Dict[str, Union[str, Schedule]]:
    """The entries of a comparison by their names: names of algorithms, and schedules for the network."""
    listed: List[Any] = [algorithms] if isinstance(algorithms, (str, Schedule)) else to_list(algorithms, "algorithms",
                                                                                             "['trivance', 'swing']")
    entries: Dict[str, Union[str, Schedule]] = {}
    for one in listed:
        what: Union[str, Schedule] = one if isinstance(one, Schedule) else str(one)
        name = what if isinstance(what, str) else what.name
        if isinstance(what, Schedule):
            what._network_for(network)
            if (what.collective, what.root) != (collective, root):
                raise L.ArgumentError(f"the schedule {name!r} is for {what.collective} with the root {what.root}; the "
                                      f"comparison is of {collective} with the root {root}")
        if entries.setdefault(name, what) is not what and entries[name] != what:
            raise L.ArgumentError(f"two entries have the name {name!r}; give the schedule another one, for example "
                                  "Schedule.from_messages(..., name='mine')")
    if not entries:
        raise L.ArgumentError("there are no algorithms to compare; name at least one, for example 'trivance'")
    return entries


def compare(network: Union[Network, TorusLike], algorithms: Union[str, Schedule, Iterable[Union[str, Schedule]]],
            sizes: Any = "32:128M", collective: str = "allreduce", *, root: int = 0,
            progress: Progress = None) -> Comparison:
    """Simulates several algorithms at several sizes, on all cores.

    Parameters
    ----------
    network : Network, Torus, str, int or sequence of int
    algorithms : str, Schedule or iterable of them
        Names (``"trivance-b"``, ``"hybrid:4x8"``), families (``"trivance"``, ``"swing"``, ``"bruck"``: their fastest
        member at each size), and ``"planned"``, the planner's choice at each size. Of names in one string that are
        separated by commas (``"ring,bucket"``) the fastest is taken. A schedule for the network, the collective and the
        root is an entry of its own, with its name.
    sizes : str, int, or sequence of them
        In bytes, as those of `Schedule.simulate`.
    collective : str
    root : int
        Of a broadcast, reduce, scatter or gather.
    progress : callable, bool or None
        See `Schedule.verify`.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError
        A schedule is for another torus, collective or root.
    UnsupportedError
        An algorithm, or all members of a family, do not support the torus or the collective; or the network has
        `nodes`.
    """
    import numpy as np
    net, counts = as_network(network), to_sizes(sizes)
    if net.nodes is not None:
        raise L.UnsupportedError("algorithms are compared on whole networks; for a set of nodes use Network.plan")
    L.collective_code(collective)
    root = to_root(root, net.torus)
    entries = _entries(algorithms, net, collective, root)
    names = list(entries)
    asked = [(name, size) for name in names for size in counts]
    points = [Point(net, entries[name], size, collective, root) for name, size in asked]
    found = supported(compare_points(points, None, progress, f"comparing on {net.torus}"))
    rows = [(*one, row.time_ns / 1e9, row.name, row.limit.time_ns / 1e9) for one, row in zip(asked, found)]
    table = np.array(rows, dtype=[("algorithm", f"U{max(map(len, names))}"), ("bytes", "i8"), ("time", "f8"),
                                  ("name", f"U{max(len(row[3]) for row in rows)}"), ("limit", "f8")])
    return Comparison(net, collective, names, counts, table)
