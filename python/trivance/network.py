"""Networks: what schedules are made for, planned for and simulated on."""
from __future__ import annotations

import ctypes as c
import functools
import inspect
import math
import numbers
import textwrap
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterable, Iterator, Mapping, Optional, Tuple, Union

from . import _library as L
from ._explorer import frame
from ._graph import from_networkx, to_networkx
from ._profiles import keyword_of, read_flag, read_profile
from ._progress import Progress, callback
from ._units import Bytes, to_bool, to_bytes, to_factor, to_int, to_list, to_quantity
from .limit import Limit, find_limit
from .torus import Torus, TorusLike, opposite, port_text

if TYPE_CHECKING:
    from .planner import Choice

#: A parameter of a network: a number in SI units or a text, a truth value, or dimensions.
Parameter = Union[float, str, Iterable[int], None]


def _read_link(link: Any, what: str) -> Tuple[int, int, bool]:
    """Rank, port, and whether one direction only, of "3:+0", "3:+0:one-way", (3, "+0") or (3, 0)."""
    text = link
    if isinstance(link, (tuple, list)) and len(link) > 1:
        text = ":".join(port_text(int(one)) if i == 1 and isinstance(one, numbers.Integral) else str(one)
                        for i, one in enumerate(link))
    if not isinstance(text, str):
        raise L.ArgumentError(f"{what} is {link!r}; it is a rank and the port by which the link leaves, for example "
                              "'3:+0'")
    entry = L.ParameterEntry()
    if L.lib.parameter_parse_entry(b"cut", L.text(text, what), c.byref(entry)) < 0:
        raise L.ArgumentError(f"{what}: {L.lib.last_error().decode(errors='replace')}")
    return entry.rank, entry.port, entry.one_way


def _mapping(value: Any, what: str, example: str) -> Dict[Any, Any]:
    try:
        return dict(value or {})
    except (TypeError, ValueError):
        raise L.ArgumentError(f"{what} is {value!r}; it is a dictionary of factors, for example {example}") from None


# ---- Keyword arguments, from the table of parameters -----------------------------------------------------------------

_TYPES = {L.RATE: ("Union[float, str]", "float (bit/s) or str"), L.TIME: ("Union[float, str]", "float (s) or str"),
          L.BYTES: ("Union[int, str]", "int or str"), L.SHARE: ("Union[float, str]", "float (0 to 1) or str"),
          L.WHOLE: ("Union[int, str]", "int or str"), L.WORD: ("str", "str"), L.FLAG: ("bool", "bool"),
          L.DIMENSIONS: ("Union[str, Iterable[int]]", "str or iterable of int")}
#: The rows by keyword: lists have keywords of their own.
_ROWS = {keyword_of(name): row for name, row in L.PARAMETERS.items() if row.kind != L.LIST}
#: Keywords of truth values that the text of another parameter may set: gamma_per_stream of "0.01ns/stream".
_MARKS = tuple(row.mark.decode() for row in _ROWS.values() if row.mark and row.kind == L.TIME)


def _usual(row: L.Parameter) -> Any:
    """The default of a keyword argument."""
    text = row.usual.decode()
    if row.kind == L.FLAG:
        return read_flag(row, text)
    if row.kind == L.DIMENSIONS:
        return ()
    return int(text) if row.kind == L.WHOLE else text or None


def _described() -> str:
    """The parameters in the form of the docstring."""
    lines = []
    for keyword, row in _ROWS.items():
        sentence = row.sentence.decode()
        if keyword != row.name.decode().replace("-", "_"):  # its opposite
            sentence = f"if it is False, {sentence[:sentence.rindex(' (default')]}"
        lines += [f"    {keyword} : {_TYPES[row.kind][1]}", *textwrap.wrap(
            sentence[0].upper() + sentence[1:] + ".", 112, initial_indent=" " * 8, subsequent_indent=" " * 8)]
    return "\n".join(lines)


def _set_parameter(options: L.SimulateOptions, keyword: str, row: L.Parameter, value: Any, dims: int) -> None:
    """Sets a member from the value of a keyword argument."""
    member, text = row.member.decode(), isinstance(value, str)
    if row.kind == L.FLAG:
        setattr(options, member, to_bool(value, keyword) == read_flag(row, "yes"))
    elif text:
        L.set_parameter(options, row.name.decode(), value, keyword)
    elif row.kind == L.WORD:
        L.choose(keyword, value, tuple(row.words.decode().split()))  # no word: an error
    elif row.kind == L.DIMENSIONS:
        setattr(options, member, sum({1 << to_int(d, f"a dimension of {keyword}", 0, dims - 1) for d in value}))
    elif value is not None or row.usual:
        whole = row.kind in (L.BYTES, L.WHOLE)
        setattr(options, member, to_int(value, keyword, int(row.low), int(row.high)) if whole else
                to_quantity(row.kind, value, keyword))
    if row.kind == L.DIMENSIONS and getattr(options, member) == (1 << 32) - 1:  # "all"
        setattr(options, member, (1 << dims) - 1)


class Network:
    """A torus or mesh with its links and parameters, of which each may be a number in SI units or a string with a unit.

    The defaults are those of the paper's evaluation, with one queue per link, which is the planner's model.

    Parameters
    ----------
    torus : Torus, str, int or sequence of int
        ``"8x8m"``.
    cuts : iterable of str
        Links that are down, both ways (``"3:+0"``, the link that leaves rank 3 in direction + of dimension 0) or one
        way (``"3:+0:one-way"``).
    slow : mapping of str to float
        Directed links that take F times as long: ``{"3:+0": 4}``.
    slow_ranks : mapping of int to float
        Ranks whose own work takes F times as long. The planner ignores them.
    nodes : iterable of int, optional
        The ranks of a job that does not use the whole torus; plans are for these.
    gamma_per_stream : bool
        Gamma is the rate of every stream of a rank; otherwise of the rank, which its streams share.
    **parameters

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
        The cuts leave no route between two ranks, and no `nodes` are given.
    """

    __slots__ = ("torus", "options", "nodes", "links", "_options", "_network", "_nodes")
    torus: Torus
    _options: L.SimulateOptions
    _network: L.Network
    _plan: ClassVar[Callable[..., Choice]]  # of the planner, which sets it, because it is above this module

    def __init__(self, torus: TorusLike, *, cuts: Iterable[Any] = (), slow: Optional[Mapping[Any, Any]] = None,
                 slow_ranks: Optional[Mapping[int, Any]] = None, nodes: Optional[Iterable[int]] = None,
                 **parameters: Parameter) -> None:
        for keyword in parameters:
            if keyword not in _USUAL:
                raise TypeError(f"Network() got an unexpected keyword argument {keyword!r}")
        self.torus = Torus(torus)
        self.options: Dict[str, Any] = {**_USUAL, **parameters}
        self.options["cuts"] = tuple([cuts] if isinstance(cuts, str) else to_list(cuts, "cuts", "['3:+0']"))
        self.options["slow"] = _mapping(slow, "slow", "{'3:+0': 4}") or None
        self.options["slow_ranks"] = _mapping(slow_ranks, "slow_ranks", "{3: 4}") or None
        self.options["nodes"] = nodes if nodes is None else tuple(to_list(nodes, "nodes", "[0, 1, 4]"))
        self._set_links()
        self._set_options()
        code = L.lib.network_check_connected(c.byref(self._network))
        if nodes is None or code != L.UnsupportedError.code:  # nodes may be planned where others are cut off
            L.check(code)
        L.check(L.lib.simulate_check(c.byref(self._options), c.byref(self.torus._struct)))
        self.nodes: Optional[Tuple[int, ...]] = None
        if nodes is not None:
            listed = [to_int(node, "a node", 0, self.torus.size - 1) for node in self.options["nodes"]]
            self._nodes = L.array(c.c_int, listed)
            L.check(L.lib.order_nodes(c.byref(self._network), 0, len(listed), self._nodes))
            self.nodes = tuple(self._nodes)

    def _set_links(self) -> None:
        factors: Dict[Tuple[int, int], float] = {}
        for rank, port, factor in self._read_links():
            if factors.setdefault((rank, port), factor) != factor:
                raise L.ArgumentError(f"the link {rank}:{port_text(port)} is both cut and slow, or slow by two "
                                      "factors; leave one out")
        self.links: Tuple[Tuple[int, int, float], ...] = tuple((*link, factor) for link, factor in factors.items())

    def _set_options(self) -> None:
        slow_link = L.array(L.SlowLink, self.links)
        slow_rank = [(to_int(rank, "a slow rank", 0, self.torus.size - 1),
                      to_factor(factor, "the factor of a slow rank"))
                     for rank, factor in (self.options["slow_ranks"] or {}).items()]
        options = self._options = L.SimulateOptions.from_buffer_copy(_DEFAULTS)
        options.slow_ranks, options.slow_rank = len(slow_rank), L.array(L.SlowRank, slow_rank)
        options.slow_links, options.slow_link = len(slow_link), slow_link
        for keyword, value in self.options.items():
            row = _ROWS.get(keyword)
            if row and value is not _USUAL[keyword]:
                if row.kind == L.DIMENSIONS and not isinstance(value, str):
                    value = self.options[keyword] = tuple(to_list(value, keyword, "(0, 2)",
                                                                  "'all', 'one' or a list of dimensions"))
                _set_parameter(options, keyword, row, value, len(self.torus.dims))
        for keyword in _MARKS:
            if to_bool(self.options[keyword], keyword):
                setattr(options, keyword, True)
        self._network = L.Network(c.sizeof(L.Network), self.torus._struct, len(slow_link), slow_link, options.routes,
                                  options.no_forwarding, options.messages_per_port)

    def _read_links(self) -> Iterator[Tuple[int, int, float]]:
        for cut in self.options["cuts"]:
            rank, port, one_way = _read_link(cut, "a cut")
            yield rank, port, math.inf
            known = rank < self.torus.size and port < 2 * len(self.torus.dims)
            other = self.torus.neighbour(rank, port) if known else None
            if other is not None and not one_way:
                yield other, opposite(port), math.inf
        for link, factor in (self.options["slow"] or {}).items():
            rank, port, one_way = _read_link(link, "a slow link")
            if one_way:
                raise L.ArgumentError(f"a slow link is {link!r}, and slow in this direction only; for example '3:+0'")
            yield rank, port, to_factor(factor, "the factor of a slow link")

    @classmethod
    def from_profile(cls, torus: TorusLike, profile: str, **changes: Any) -> "Network":
        """A torus with the parameters of a network that has a name, as the tool's option ``--network``.

        Parameters
        ----------
        torus : Torus, str, int or sequence of int
        profile : str
            ``"paper"``, ``"tofu-d"``, ``"tofu-d-fjmpi"`` or the path of a file, which has a slash or a dot
            (``"./mine.json"``).
        changes
            Parameters of `Network`, which replace those of the profile.
        """
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
             **constraints: Any) -> Choice:
        """The fastest schedule for a size; see `trivance.plan`."""
        return self._plan(size, collective, root=root, progress=progress, **constraints)

    def limit(self, size: Bytes, collective: str = "allreduce", *, root: int = 0) -> Limit:
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
        return frame(self, to_bytes(size), width, height)

    def to_networkx(self) -> Any:
        """The network as a ``networkx.MultiDiGraph``.

        Nodes are ranks with ``pos``, their coordinates; edges, one for every directed link that is not cut, have
        ``port``, ``bandwidth`` (bit/s), ``factor`` (1, or of a slow link) and ``latency`` (s), and the port as their
        key.

        Raises
        ------
        UnsupportedError
            networkx is not installed.
        """
        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> "Network":
        """The network of a graph whose nodes are coordinates, as those of ``networkx.grid_graph``, or numbers of a
        ring.

        A dimension is a ring if a link joins its ends in some row, otherwise a line. Links that are missing are cut;
        edges with ``factor``, or with less than the largest ``bandwidth`` (bit/s), are slow. An undirected edge is a
        link in both directions. If nodes are missing, those that are there become ``nodes``. Other parameters are those
        of `Network`.

        Raises
        ------
        ArgumentError
            The graph is no part of a torus or mesh.
        """
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


def _complete() -> Dict[str, Any]:
    """Adds the parameters of the table to the docstring and the signature of `Network`. Returns all defaults."""
    given = inspect.signature(Network.__init__).parameters
    own = [one for one in given.values() if one.kind != inspect.Parameter.VAR_KEYWORD]
    own += [inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for keyword, default, kind in (*((keyword, _usual(row), _TYPES[row.kind][0])
                                             for keyword, row in _ROWS.items()),
                                           *((keyword, False, "bool") for keyword in _MARKS))]
    Network.__init__.__signature__ = inspect.Signature(own, return_annotation="None")  # type: ignore[attr-defined]
    if Network.__doc__:
        Network.__doc__ = Network.__doc__.replace("    **parameters", _described())
    return {one.name: one.default for one in own if one.kind == inspect.Parameter.KEYWORD_ONLY}


_USUAL = _complete()
_DEFAULTS = L.SimulateOptions(size=c.sizeof(L.SimulateOptions), progress=callback)
for _keyword, _row in _ROWS.items():
    _set_parameter(_DEFAULTS, _keyword, _row, _USUAL[_keyword], 0)


def as_network(network: Union[Network, TorusLike]) -> Network:
    """A network, or that of a torus with the defaults."""
    return network if isinstance(network, Network) else Network(network)
