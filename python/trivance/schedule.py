"""Schedules: made by an algorithm, by hand or from a file; proved, costed, simulated, drawn and exported."""
from __future__ import annotations

import ctypes as c
import math
import os
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library as L
from ._progress import Progress, callback, run, watch
from ._units import Bytes, Rate, Time, to_bool, to_bps, to_bytes, to_int, to_ns
from .network import Network, as_network
from .points import Point, compare_points, simulate, supported
from .torus import Torus, TorusLike, to_root

if TYPE_CHECKING:
    import numpy as np

    from .planner import Choice

METHODS = ("auto", "exhaustive", "random")
FORMATS = ("goal", "mscclpp", "chakra", "json")
_CODES = {"goal": 0, "mscclpp": 2}  # trv_format_t
_USUAL_BYTES = 65536
_MESSAGE_DTYPE = [("stream", "i4"), ("step", "i4"), ("src", "i4"), ("dst", "i4"), ("port", "i4"), ("nic", "i4"),
                  ("units", "i8"), ("bytes", "u8")]


class Proof(NamedTuple):
    """The verifier's result; true if all claims of the schedule hold.

    Attributes
    ----------
    valid, exact, consistent : bool
        All claims hold; every contribution arrives exactly once; all ranks' results are the same expression.
    fault : str or None
        The first fault in words; where it is known ``rank``, ``stream``, ``step`` and ``unit`` say where, else they are
        None.
    method : {"exhaustive", "random"}
        A proof, or wrong with probability 2^-60 or less.
    ranks, units, messages : int
        Checked.
    seconds : float
        That it took.
    """

    valid: bool
    exact: bool
    consistent: bool
    fault: Optional[str]
    method: str
    ranks: int
    units: int
    messages: int
    seconds: float
    rank: Optional[int] = None
    stream: Optional[int] = None
    step: Optional[int] = None
    unit: Optional[int] = None

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        if not self.valid:
            return f"Proof(valid=False, fault={self.fault!r})"
        return (f"Proof(exact={self.exact}, consistent={self.consistent}, method={self.method!r}, ranks={self.ranks}, "
                f"messages={self.messages})")


class Cost(NamedTuple):
    """The cost of a schedule, measured by routing every message (paper, section 2.1).

    Attributes
    ----------
    lambda_ : float
        Steps, divided by log3 of the number of ranks.
    delta : float
        Maximum bytes that a rank sends, divided by twice the vector.
    theta : float
        Dimensions, times the sum over the steps of the busiest link's share of the vector.
    steps, messages : int
        Steps of each stream; messages of all ranks and streams.
    table : numpy.ndarray, shape (steps,)
        Of each step: ``messages`` on the link with the most, ``link_fraction`` and ``port_fraction``, bytes on the
        busiest link and of the largest message as shares of the vector, and ``hops`` of the longest route.
    """

    lambda_: float
    delta: float
    theta: float
    steps: int
    messages: int
    table: "np.ndarray[Any, Any]"

    def __repr__(self) -> str:
        return (f"Cost(steps={self.steps}, lambda_={self.lambda_:.4g}, delta={self.delta:.4g}, theta={self.theta:.4g}, "
                f"messages={self.messages})")


class Schedule(L.Handle):
    """A schedule: the messages of every rank in every step, and their reductions.

    Parameters
    ----------
    name : str
        Of an algorithm, with parameters where it takes any: ``"trivance-b"``, ``"hybrid:4x8"``.
    network : Network, Torus, str, int or sequence of int
        What it is made for. Links of a network that are cut are avoided.
    collective : str
        "allreduce", "reduce-scatter", "allgather", "broadcast", "reduce", "scatter", "gather" or "alltoall".
    root : int
        Of a broadcast, reduce, scatter or gather.

    Attributes
    ----------
    name, collective : str
    root : int
        Of a collective with a root, otherwise 0.
    network : Network
        What it was made for.
    torus : Torus
        That of the network.
    steps, streams : int
        Steps of each stream; concurrent streams, each of which has its own slice of the vector.
    weights : tuple of int
        Of each stream: its slice is the weight's share of the vector.
    mirrored : int
        Streams, the last ones, whose routes break ties the other way.
    units, registers : int
        Units of a slice; registers of a rank: 0 is the vector, the others are scratch.
    exact : bool
        It claims that every contribution arrives exactly once; otherwise contributions arrive at least once.
    consistent : bool
        It claims that all ranks end with the same bits, also for floating point.
    symmetry : {"none", "parity", "translation"}
        The translations that map it onto itself: none, those by 2, or all.
    has_blocks : bool
        False for a file that has only the bytes of messages, which is enough for costs, simulations and drawings.

    Raises
    ------
    ArgumentError
        There is no such algorithm.
    UnsupportedError
        The algorithm does not support the torus or the collective, or the network has `nodes`.

    Examples
    --------
    >>> s = Schedule("trivance-b", "27x27")
    >>> s.steps, len(s.messages)
    (12, 34992)
    """

    __slots__ = ("name", "collective", "root", "network", "torus", "steps", "streams", "weights", "mirrored", "units",
                 "registers", "exact", "consistent", "symmetry", "has_blocks", "_vector_bytes", "_choice")
    _destroy = "schedule_destroy"

    def __init__(self, name: str, network: Union[Network, TorusLike], collective: str = "allreduce",
                 root: int = 0) -> None:
        net, pointer = as_network(network), c.c_void_p()
        if net.nodes is not None:
            raise L.UnsupportedError("schedules by name are for whole networks; for a set of nodes use "
                                     "network.plan('1MiB').schedule()")
        L.check(L.lib.schedule_create_on(c.byref(pointer), c.byref(net._network),
                                         L.text(name, "the name of an algorithm"), L.collective_code(collective),
                                         to_root(root, net.torus)))
        self._take(pointer.value, net)

    def _take(self, pointer: Optional[int], network: Optional[Network], has_blocks: bool = True,
              vector_bytes: int = _USUAL_BYTES) -> None:
        self._pointer, self.has_blocks, self._vector_bytes = pointer, has_blocks, vector_bytes
        self._choice: Optional["Choice"] = None  # for a set of nodes
        self.name: str = L.lib.schedule_name(pointer).decode(errors="replace")
        self.collective: str = L.COLLECTIVES[L.lib.schedule_collective(pointer)]
        self.root: int = L.lib.schedule_root(pointer)
        self.torus = Torus._of(L.lib.schedule_torus(pointer).contents)
        self.network: Network = network or Network(self.torus)
        self.steps: int = L.lib.schedule_steps(pointer)
        self.streams: int = L.lib.schedule_streams(pointer)
        self.weights: Tuple[int, ...] = tuple(L.lib.schedule_weight(pointer, i) for i in range(self.streams))
        self.mirrored: int = sum(L.lib.schedule_mirrored(pointer, i) for i in range(self.streams))
        self.units: int = L.lib.schedule_units(pointer)
        self.registers: int = L.lib.schedule_registers(pointer)
        self.exact: bool = L.lib.schedule_exactness(pointer) == 0
        self.consistent: bool = L.lib.schedule_consistent(pointer)
        self.symmetry: str = L.SYMMETRIES[L.lib.schedule_symmetry(pointer)]

    @classmethod
    def _of(cls, pointer: Optional[int], network: Optional[Network] = None, *more: Any) -> "Schedule":
        schedule = cls.__new__(cls)
        schedule._take(pointer, network, *more)
        return schedule

    @classmethod
    def _on_nodes(cls, choice: "Choice") -> "Schedule":
        """The schedule of a choice for a set of nodes, on the whole network."""
        network, own, pointer = choice.network, cls(choice.name, choice.torus, choice.collective,
                                                    choice.root), c.c_void_p()
        nodes = L.array(c.c_int, network.nodes or ())
        L.check(L.lib.order_nodes(c.byref(network._network), L.ORDERS.index(str(choice.order)), len(nodes), nodes))
        embedded, own._pointer = own._pointer, None  # of which the library takes ownership
        L.check(L.lib.schedule_embed(c.byref(pointer), embedded, c.byref(network._network), nodes))
        schedule = cls._of(pointer.value, network)
        schedule._choice = choice
        return schedule

    @classmethod
    def from_messages(cls, torus: Union[Network, TorusLike], messages: Any, combines: Any = None, *,
                      name: str = "custom", collective: str = "allreduce", units: Optional[int] = None,
                      exact: bool = True, consistent: bool = False, weights: Optional[Sequence[int]] = None,
                      mirrored: int = 0, root: int = 0) -> "Schedule":
        """A schedule of your own, from a table of what is sent.

        Parameters
        ----------
        torus : Network, Torus, str, int or sequence of int
        messages : structured array, pandas.DataFrame, or mapping of columns
            A row for each unit that is sent: rows with the same stream, step, src, dst and port are one message.

            ======== =========================================================== =======================
            column   meaning                                                     default
            ======== =========================================================== =======================
            step     counted from 0                                              needed
            src, dst ranks                                                       needed
            stream   each has its own slice of the vector                        0
            port     of the sender, 2d for +d and 2d + 1 for -d                  the shorter way in the
                                                                                 first dimension that differs
            unit     of the slice; -1 for all units                              -1
            from_reg register that it is read from                               0
            to_reg   register that it is written to                              1, 2, …: one for each
                                                                                 message of the step; 0 where
                                                                                 nothing is reduced
            nic      port whose network interface injects the message            -1: that of the port
            ======== =========================================================== =======================

        combines : structured array, pandas.DataFrame, mapping of columns, or None
            Reductions in their order: ``step``, ``rank``, ``sources`` (registers that are added from left to right, in
            one joint reduction; a list, or a row of a 2-D column with -1 for none), ``dst`` (0), ``unit`` (-1: all),
            ``stream`` (0). None: what arrives in other registers than 0 is added to register 0 after each step; where
            ``to_reg`` is 0 there is nothing to add.
        name : str
        collective : str
        units : int
            Of a slice; by default 1 more than the largest unit. For reduce-scatter, allgather, scatter, gather and
            alltoall a multiple of the ranks: unit u belongs to rank u // (units // ranks). In an alltoall that is the
            displacement from a unit's source to its destination, and not a rank.
        exact : bool
            The claim that contributions arrive exactly once; otherwise at least once.
        consistent : bool
            The claim that all ranks end with the same bits, also for floating point.
        weights : sequence of int
            Of the streams: a slice is the weight's share of the vector.
        mirrored : int
            Streams, the last ones, whose routes break ties the other way.
        root : int
            Of a broadcast, reduce, scatter or gather.

        Returns
        -------
        Schedule
            As it is described; `verify` proves it.

        Raises
        ------
        ArgumentError
            A table lacks a column, or a value is out of its range.
        UnsupportedError
            The schedule is too large: 2^22 rank-steps, 2^24 units, or 2^27 units in all rows.

        Examples
        --------
        >>> import numpy as np
        >>> rank = np.arange(3)
        >>> mine = Schedule.from_messages(3, {"step": [0] * 6, "src": np.r_[rank, rank],
        ...                                   "dst": np.r_[(rank + 1) % 3, (rank + 2) % 3]})
        >>> bool(mine.verify())
        True
        """
        from ._explicit import create  # loads numpy
        network = as_network(torus)
        return cls._of(create(network.torus, messages, combines, name, collective, units, exact, consistent, weights,
                              mirrored, to_root(root, network.torus)), network)

    @classmethod
    def from_file(cls, path: Union[str, "os.PathLike[str]"]) -> "Schedule":
        """Reads a file of the format trivance-schedule-1 (JSON), as `export` and the tool write it.

        Content that is ignored causes a warning. The claims of the file are not verified.

        Raises
        ------
        ArgumentError
            The file cannot be read.
        InvalidScheduleError
            It is no such file; the sentence has the line and the column.
        """
        file = L.ScheduleFile()
        sentences: List[str] = []
        warn = L.WARN(lambda _context, sentence: sentences.append(sentence.decode(errors="replace")))
        L.check(L.formats.schedule_read(L.text(path, "the path of a file"), c.byref(file), warn, None))
        schedule = cls._of(file.schedule, None, file.has_blocks, file.vector_bytes)
        links = [((link.rank, link.port), link.factor) for link in file.slow_link[:file.slow_links]]
        schedule.network = Network(
            schedule.torus, cuts=[(*link, "one-way") for link, factor in links if factor == math.inf],
            slow={link: factor for link, factor in links if factor != math.inf}, forwarding=not file.no_forwarding)
        for sentence in sentences:
            warnings.warn(sentence, stacklevel=2)
        return schedule

    # ---- Messages --------------------------------------------------------------------------------------------------

    @property
    def messages_per_port(self) -> int:
        """The maximum number of messages of a stream that a rank sends or receives in a step, per port."""
        return L.check(L.lib.schedule_messages_per_port(self._pointer))

    @property
    def messages(self) -> "np.ndarray[Any, Any]":
        """All messages, as `list_messages` has them for a vector of 64 KiB (of a file: for that of the file)."""
        return self.list_messages(self._vector_bytes)

    def list_messages(self, size: Bytes, progress: Progress = None) -> "np.ndarray[Any, Any]":
        """All messages of all ranks, by stream, step and sender.

        Parameters
        ----------
        size : int or str
            Of the vector, in bytes.

        Returns
        -------
        numpy.ndarray, shape (messages,)
            ``stream``, ``step``, ``src``, ``dst``, ``port`` (of the sender: 2d for +d, 2d + 1 for -d), ``units`` and
            ``bytes``. Its memory is that of the library, and is freed with it.
        """
        import numpy as np
        listed = L.Messages()
        try:
            with watch(progress, f"messages of {self.name}"):
                L.call(L.lib.schedule_messages, self._pointer, to_bytes(size), c.byref(listed), callback, None)
        except BaseException:
            L.lib.messages_clear(c.byref(listed))
            raise
        block = (L.SentMessage * listed.count).from_address(c.cast(listed.message, c.c_void_p).value or 0)
        # with the last array on the block
        weakref.finalize(block, L.lib.messages_clear, c.byref(listed)).atexit = False
        rows = np.frombuffer(block, dtype=_MESSAGE_DTYPE)
        return rows[["stream", "step", "src", "dst", "port", "units", "bytes"]]

    def _each_step(self, ranks: Iterable[int]) -> Iterator[Tuple[int, int, int, L.Step]]:
        out = L.Step(dimension=-1)
        try:
            for stream in range(self.streams):
                for step in range(self.steps):
                    for rank in ranks:
                        L.check(L.lib.schedule_step(self._pointer, rank, stream, step, c.byref(out)))
                        yield stream, step, rank, out
        finally:
            L.lib.step_clear(c.byref(out))

    @property
    def transfers(self) -> "np.ndarray[Any, Any]":
        """A table as `from_messages` takes it: a row for every unit of every message, with registers.

        Returns
        -------
        numpy.ndarray, shape (units of all messages,)
            ``stream``, ``step``, ``src``, ``dst``, ``port``, ``unit``, ``from_reg``, ``to_reg``, ``nic``.
        """
        from ._explicit import transfers
        return transfers(self)

    @property
    def combines(self) -> "np.ndarray[Any, Any]":
        """All reductions in their order, a row for every unit, as `from_messages` takes them.

        Returns
        -------
        numpy.ndarray, shape (units of all reductions,)
            ``stream``, ``step``, ``rank``, ``dst``, ``unit`` and ``sources``, filled up with -1.
        """
        from ._explicit import combines
        return combines(self)

    def reduction_volume(self, rank: int = 0) -> Tuple[float, float]:
        """Operands that a rank's reductions read and results that they write, in vectors (copies are free)."""
        read = written = 0.0
        whole = sum(self.weights) * self.units
        for stream, _, _, out in self._each_step([to_int(rank, "a rank", 0, self.torus.size - 1)]):
            for combine in out.combine[:out.combines]:
                if combine.sources > 1:
                    share = L.lib.blocks_count(c.byref(combine.blocks)) * self.weights[stream] / whole
                    read, written = read + share * combine.sources, written + share
        return read, written

    # ---- Readers ---------------------------------------------------------------------------------------------------

    def _network_for(self, network: Optional[Union[Network, TorusLike]]) -> Network:
        net = self.network if network is None else as_network(network)
        if net.torus != self.torus:
            raise L.ArgumentError(f"the schedule is for {self.torus} and the network is {net.torus}; give a network of "
                                  f"{self.torus}, or make the schedule for this network, for example "
                                  "network.plan('1MiB').schedule()")
        return net

    def verify(self, network: Optional[Union[Network, TorusLike]] = None, method: str = "auto",
               progress: Progress = None) -> Proof:
        """Proves or disproves what the schedule claims, without moving data.

        The schedule of a set of nodes is verified on the set: its ranks are the nodes in the order of the plan.

        Parameters
        ----------
        network : Network, optional
            No message's route may pass a link that is cut; the network that it was made for, if none is given.
        method : {"auto", "exhaustive", "random"}
            ``"auto"`` is exhaustive if that is affordable.
        progress : callable, bool or None
            Called with the fraction that is done; False: none; None or True: a bar of tqdm, if it is installed, which
            None shows on a terminal only. An exception of the function ends the work. The function must not call
            functions that report progress themselves.

        Returns
        -------
        Proof
        """
        net, verdict = self._network_for(network), L.Verdict(size=c.sizeof(L.Verdict))
        if self._choice:
            return self._verify_nodes(self._choice, net, method, progress)
        if not self.has_blocks:
            raise L.InvalidScheduleError("the schedule has messages but no blocks, so there is nothing to prove")
        with watch(progress, f"verifying {self.name}"):
            L.call(L.lib.verify_on, self._pointer, c.byref(net._network), L.choose("method", method, METHODS),
                   c.byref(verdict), callback, None)
        place = [None if verdict.valid or at < 0 else at for at in
                 (verdict.fault_rank, verdict.fault_stream, verdict.fault_step, verdict.fault_unit)]
        return Proof(verdict.valid, verdict.valid and self.exact, verdict.consistent,
                     None if verdict.valid else verdict.fault.decode(errors="replace"), METHODS[verdict.method],
                     verdict.ranks, verdict.units, verdict.messages, verdict.seconds, *place)

    def _verify_nodes(self, choice: "Choice", network: Network, method: str, progress: Progress) -> Proof:
        """Verifies the schedule of the set's own torus; the simulator finds routes that pass a cut link."""
        proof = Schedule(choice.name, choice.torus, choice.collective, choice.root).verify(None, method, progress)
        try:
            supported(compare_points([Point(network, self, 1)]))
        except L.UnsupportedError as error:
            return proof._replace(valid=False, exact=False, consistent=False, fault=str(error))
        return proof

    def cost(self) -> Cost:
        """Steps, bytes and congestion; see `Cost`."""
        cost = L.Cost()
        L.check(L.lib.cost_measure(self._pointer, c.byref(cost)))
        try:
            return Cost(cost.lambda_, cost.delta, cost.theta, cost.steps, cost.messages, L.table(cost.step, cost.steps))
        finally:
            L.lib.cost_clear(c.byref(cost))

    def hockney(self, size: Bytes, *, bandwidth: Rate = "800Gb/s", alpha: Time = "1.5us", hop: Time = 0) -> float:
        """The time of the congestion-aware Hockney model, in seconds: steps * alpha, the busiest links, and hops."""
        times = L.Hockney(to_bps(bandwidth, "bandwidth"), to_ns(alpha, "alpha"), to_ns(hop, "hop"))
        time_ns = c.c_double()
        L.check(L.lib.cost_time_ns(self._pointer, c.byref(times), to_bytes(size), c.byref(time_ns)))
        return time_ns.value / 1e9

    def simulate(self, network: Optional[Union[Network, TorusLike]] = None, sizes: Any = "32:128M",
                 progress: Progress = None) -> Any:
        """Simulates several sizes, packet by packet, on all cores.

        Parameters
        ----------
        network : Network, optional
            Of the schedule's torus; by default the one that the schedule was made for.
        sizes : str, int, or sequence of them
            In bytes: ``["32KiB", "1MiB"]``, or text with ranges: ``"32:128M"`` (doubling), ``"1K:9K:+2K"``,
            ``"1K:1M:x4"``.
        progress : callable, bool or None
            See `verify`.

        Returns
        -------
        pandas.DataFrame, or numpy.ndarray of shape (sizes,) without pandas
            ``bytes``, ``time`` (s), ``messages``, ``packets``, ``packet_hops``.
        """
        return simulate(self._network_for(network), self, sizes, progress)

    def draw(self, format: str = "svg", *, size: Optional[Bytes] = None, rank: Optional[int] = None,
             stream: Optional[int] = None, network: Optional[Union[Network, TorusLike]] = None,
             all_ranks: bool = False, ascii: bool = False, columns: int = 110) -> str:
        """A drawing of every step's messages and of what ranks hold.

        Parameters
        ----------
        format : {"svg", "text"}
        size : int or str
            Of the vector, in bytes, for captions.
        rank, stream : int, optional
            Whose messages are drawn: by default those of all ranks on a ring or line, else of one in the middle
            (``all_ranks``: of all); and which stream's, by default of all.
        network : Network, optional
            Whose slow and cut links are marked.
        ascii, columns : bool, int
            Of text.

        Raises
        ------
        UnsupportedError
            The drawing would be unreadable.
        """
        kind, net = L.choose("format", format, ("svg", "text")), self._network_for(network)
        options = L.DrawOptions(
            size=c.sizeof(L.DrawOptions), network=c.pointer(net._network),
            vector_bytes=self._vector_bytes if size is None else to_bytes(size),
            rank=-1 if rank is None else to_int(rank, "rank", 0, self.torus.size - 1),
            all_ranks=to_bool(all_ranks, "all_ranks"),
            stream=-1 if stream is None else to_int(stream, "stream", 0, self.streams - 1),
            no_blocks=not self.has_blocks, ascii=to_bool(ascii, "ascii"),
            columns=to_int(columns, "columns", 20, 1 << 16))
        function = L.formats.draw_text if kind else L.formats.draw_svg
        return L.capture(lambda out: function(self._pointer, c.byref(options), out))

    def export(self, format: str, path: Optional[Union[str, "os.PathLike[str]"]] = None, *,
               size: Optional[Bytes] = None, alpha: Optional[Time] = None, progress: Progress = None) -> Optional[str]:
        """The schedule as a program or file.

        Parameters
        ----------
        format : {"goal", "mscclpp", "chakra", "json"}
            A program of LogGOPSim or MSCCL++, execution traces for ASTRA-sim, or a file of the format
            trivance-schedule-1.
        path : str or path, optional
            Written there; else it is returned. Chakra traces require it: the files are ``path.<rank>.et``.
        size : int or str
            Of the vector, in bytes (64 KiB); programs of MSCCL++ serve all sizes.
        alpha : float or str, optional
            What a rank calculates at the start of a step: 1.5 us in GOAL programs, 0 in Chakra traces, where it must be
            a whole number of microseconds.
        """
        if format == "msccl":
            raise L.UnsupportedError("MSCCL's XML was removed; MSCCL++ execution plans in JSON (mscclpp) replace it")
        L.choose("format", format, FORMATS)
        count = self._vector_bytes if size is None else to_bytes(size)
        if not self.has_blocks and format not in ("goal", "chakra"):
            raise L.InvalidScheduleError("the schedule has messages but no blocks, which is enough for goal or chakra "
                                         "only")
        alpha_ns = to_ns(("0us" if format == "chakra" else "1.5us") if alpha is None else alpha, "alpha")
        if format == "chakra" and path is None:
            raise L.ArgumentError("path is None; Chakra traces are files, for example path='traces/ring'")
        with watch(progress, f"exporting {self.name}"):
            if format == "chakra":
                L.call(L.formats.export_chakra, self._pointer, L.text(path, "the path of a file"), count, alpha_ns,
                       callback, None)
                return None
            if format == "json":
                text = L.capture(lambda out: run(L.formats.schedule_write, (
                    self._pointer, c.byref(self.network._network), count, callback, None, out)))
            else:
                text = L.capture(lambda out: run(L.formats.export, (
                    self._pointer, _CODES[format], count, alpha_ns, callback, None, out)))
        if path is None:
            return text
        try:
            with open(L.text(path, "the path of a file"), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise L.ArgumentError(f"the file {os.fspath(path)!r} cannot be written: {error.strerror}") from error
        return None

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.draw("svg")
        except L.UnsupportedError:
            return None

    def __repr__(self) -> str:
        collective = "" if self.collective == "allreduce" else f", {self.collective!r}"
        root = f", root={self.root}" if self.root else ""
        return f"Schedule({self.name!r}, {str(self.torus)!r}{collective}{root})"
