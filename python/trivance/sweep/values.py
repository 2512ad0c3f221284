"""The values of the axes of a sweep: lists and ranges, as cells of the results.

Quantities are numbers in the unit that ends the name of their column ("1.5us" is 1500 in ``alpha_ns``), so that equal
values are recognized however they were given. Other values are words.
"""
from __future__ import annotations

import ctypes as c
import difflib
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional, Union

from .. import _library as L
from .._profiles import _SET, keyword_of, read_flag
from .._units import to_bps, to_bytes, to_int, to_list, to_ns, to_quantity
from ..network import Network
from ..planner import algorithms, find_algorithm
from ..torus import Torus

Cell = Union[int, float, str]
VALUES_MAX = 10000  # of an axis


class Kind(NamedTuple):
    """A kind of quantity: the end of its column's name, its unit, and the function that reads it in that unit."""

    suffix: str
    unit: str
    read: Callable[[Any, str], float]


def _count(value: Any, what: str) -> int:
    return 0 if value in (0, "0") else to_bytes(value, what)


def _whole(value: Any, what: str) -> int:
    return to_int(int(value) if isinstance(value, str) and value.isdecimal() else value, what, 0, (1 << 31) - 1)


def _whole_or(word: str) -> Callable[[Any, str], int]:
    """A whole number, or the word for 0."""
    return lambda value, what: 0 if value == word else _whole(value, what)


_KINDS = {L.TIME: Kind("_ns", "ns", to_ns), L.RATE: Kind("_bps", "b/s", to_bps), L.BYTES: Kind("", "", _count),
          L.SHARE: Kind("_percent", "%", lambda value, what: 100 * to_quantity(L.SHARE, value, what)),
          L.WHOLE: Kind("", "", _whole)}
_ROWS = {name.replace("-", "_"): row for name, row in L.PARAMETERS.items()}
#: The axis without which another one has no effect.
NEEDS = {name: row.needs.decode().replace("-", "_") for name, row in _ROWS.items() if row.needs}
#: The axes of a network.
NETWORK = ("network", *_ROWS)
#: The axes in the order of their columns. Those without a kind have words.
AXES: dict[str, Optional[Kind]] = {
    "torus": None, "algorithm": None, "bytes": Kind("", "", to_bytes), "collective": None, "root": _KINDS[L.WHOLE],
    "network": None,
    **{name: Kind("", "", _whole_or(row.words.decode())) if row.kind == L.WHOLE and row.words else _KINDS.get(row.kind)
       for name, row in _ROWS.items()}}

#: Rows always state the network's basic parameters, so that results can be compared without the command.
STATED = {name: row.usual.decode() for name, row in _ROWS.items() if row.affects & L.STATED_RESULTS}
#: An axis whose only value is the default has no column, so that a file belongs to the same sweep if it is given.
USUAL = {"collective": "allreduce", "root": "0", "network": "paper",
         **{name: "none" if row.kind == L.LIST else row.usual.decode() for name, row in _ROWS.items()}}


def text_of(cell: Cell) -> str:
    """The text of a cell in CSV."""
    return f"{cell:.12g}" if isinstance(cell, float) else str(cell)


def _cell(value: float) -> Cell:
    whole = abs(value - round(value)) < 1e-9 * value or value == 0
    return round(value) if whole and value < 9e15 else float(f"{value:.12g}")


# ---- Lists and ranges ------------------------------------------------------------------------------------------------

def items(given: Any, name: str) -> Iterator[Any]:
    """The entries of a value or list, of which texts may be lists with commas."""
    single = isinstance(given, (str, Torus)) or not hasattr(given, "__iter__")
    for one in [given] if single else to_list(given, name, "['8', '8x8']"):
        items = one.split(",") if isinstance(one, str) else [one]
        if "" in items:
            raise L.ArgumentError(f"{name}: the list has an empty entry: expected entries separated by single commas, "
                                  "for example a,b,c")
        yield from items


def _range(kind: Kind, item: str, name: str) -> Iterator[float]:
    """MIN:MAX (doubling), MIN:MAX:xFACTOR or MIN:MAX:+STEP."""
    low = high = step = 0.0
    factor = 2.0
    try:
        first, last, *more = item.split(":", 2)
        low, high = kind.read(first, name), kind.read(last, name)
        if more and more[0].startswith("+"):
            step = kind.read(more[0][1:], name)
        elif more:
            number = re.fullmatch(r"x?([0-9]+(?:\.[0-9]*)?)", more[0])
            factor = float(number[1]) if number else 0
    except ValueError:
        factor = 0
    if step <= 0 and not 1 < factor <= 1e6 or ":+" in item and step <= 0:
        raise L.ArgumentError(f"{name}: '{item[:60]}' is not a range; expected MIN:MAX (doubling), MIN:MAX:xFACTOR or "
                              "MIN:MAX:+STEP, for example 1K:64M:x4 or 1us:5us:+500ns")
    if low > high:
        raise L.ArgumentError(f"{name}: the range '{item[:60]}' begins above its end; give the smaller value first, "
                              "for example 1K:64M:x4")
    if step <= 0 and low <= 0:
        raise L.ArgumentError(f"{name}: the range '{item[:60]}' begins at 0, of which every multiple is 0; give a "
                              "step, for example 0us:5us:+500ns")
    value, i = low, 0
    while value < high * (1 - 1e-9):
        yield math.floor(value) if kind.unit == "" else value
        i += 1
        value = low + i * step if step > 0 else value * factor
    yield high


def _words(name: str, item: Any) -> str:
    return ("yes" if item else "no") if isinstance(item, bool) else str(item)


def _torus(item: Any) -> Iterator[str]:
    """A torus, or several rings as a range of whole numbers."""
    try:
        yield str(Torus(item))
    except L.ArgumentError:
        if not isinstance(item, str) or ":" not in item:
            raise
        yield from (str(Torus(round(size))) for size in _range(_KINDS[L.WHOLE], item, "torus"))


def _algorithm(item: Any) -> list[str]:
    """The names that an entry stands for, of which each is one value."""
    names = [one.name for one in algorithms()] + ["planned"]
    if item == "all":
        return names
    name = "planned" if item == "auto" else str(item)
    known = {*names, *(one.family for one in algorithms())}
    near = difflib.get_close_matches(name, sorted(known), 1)
    if name not in known and near and not re.search("[:@]", name):
        raise L.ArgumentError(f"there is no algorithm '{name[:40]}'; did you mean {near[0]}? `trivance list` shows all")
    if name not in known:
        find_algorithm(name)
    return [name]


def _cells(name: str, item: Any) -> Iterator[Cell]:
    kind = AXES[name]
    if name == "torus":
        yield from _torus(item)
    elif name == "algorithm":
        yield from _algorithm(item)
    elif name == "network":
        yield _with_hash(str(item))
    elif kind is None or str(item).endswith("/stream"):
        yield _words(name, item)
    else:
        yield from map(_cell,
                       _range(kind, item, name) if isinstance(item, str) and ":" in item else [kind.read(item, name)])


def read(name: str, given: Any) -> tuple[Cell, ...]:
    """The different values of an axis."""
    found: dict[Cell, None] = {}
    for item in items(given, name):
        for cell in _cells(name, item):
            found[cell] = None
            if len(found) > VALUES_MAX:
                raise L.ArgumentError(f"{name} has more than {VALUES_MAX} values")
    if not found:
        raise L.ArgumentError(f"the list of {name} is empty; give at least one value")
    for cell in found:
        _check(name, cell)
    return tuple(found)


# ---- Networks --------------------------------------------------------------------------------------------------------

def _with_hash(network: str) -> str:
    """The name of a profile; or the path of a file with a hash of its parameters, because it may change between
    sweeps."""
    try:
        Network.from_profile(1, network)
    except L.ArgumentError as error:
        raise L.ArgumentError(f"network: {error}") from None
    if not set("/.") & set(network):
        return network
    code = 14695981039346656037  # FNV-1a

    def add(_context: Any, parameter: bytes, value: bytes, _source: bytes) -> int:
        nonlocal code
        for byte in parameter + b"\0" + value + b"\0":
            code = (code ^ byte) * 1099511628211 % (1 << 64)
        return 0

    L.check(L.formats.profile_read(L.text(network, "the network"), _SET(add), None))
    return f"{network}#{code % (1 << 32):08x}"


def _entry_of(name: str, text: str) -> dict[str, Any]:
    """The arguments of `Network` for an entry of a list."""
    entry = L.ParameterEntry()
    if L.lib.parameter_parse_entry(name.replace("_", "-").encode(), L.text(text, name), c.byref(entry)) < 0:
        raise L.ArgumentError(f"{name}: {L.lib.last_error().decode(errors='replace')}")
    if name == "cut":
        return {"cuts": [text]}
    if name == "slow_rank":
        return {"slow_ranks": {entry.rank: entry.factor}}
    return {"slow": {text.rpartition(":")[0]: entry.factor}}


def arguments_of(name: str, cell: Cell) -> dict[str, Any]:
    """The arguments of `Network` for a parameter."""
    row, kind = _ROWS[name], AXES[name]
    if row.kind == L.LIST:
        return {} if cell == "none" else _entry_of(name, str(cell))
    text = text_of(cell) + (kind.unit if kind and not isinstance(cell, str) else "")
    options = L.SimulateOptions(size=c.sizeof(L.SimulateOptions))
    L.set_parameter(options, name.replace("_", "-"), text, name)
    return {keyword_of(row.name.decode()): read_flag(row, text) if row.kind == L.FLAG else text}


def network_of(torus: str, cells: dict[str, Cell]) -> Network:
    """The network with the parameters that are given."""
    changes: dict[str, Any] = {}
    for name, cell in cells.items():
        if name != "network":
            changes |= arguments_of(name, cell)
    if "network" not in cells:
        return Network(torus, **changes)
    return Network.from_profile(torus, str(cells["network"]).split("#")[0], **changes)


def _check(name: str, cell: Cell) -> None:
    """Checks a single value. A combination that is impossible is reported by the points that have it."""
    if name == "collective":
        L.collective_code(str(cell))
    elif name in _ROWS:
        arguments_of(name, cell)
