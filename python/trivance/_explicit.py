"""Schedules of your own, from tables of messages and reductions, and such tables from any schedule."""
from __future__ import annotations

import ctypes as c
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _library as L
from ._units import to_bool, to_int, to_list
from .torus import Torus, port_of

if TYPE_CHECKING:
    from .schedule import Schedule

#: A table by its columns, arrays of int64.
Columns = Dict[str, Any]

CELLS_MAX = 1 << 22      # ranks * streams * steps
LISTED_MAX = 1 << 27     # units in all lists
UNITS_MAX, REGISTERS_MAX, STREAMS_MAX = 1 << 24, 1 << 16, 1 << 12
_NEEDED, _COMPUTED = "needed", "computed"
_MESSAGE = ("stream", "step", "src", "dst", "port", "nic")
_PART = ("from_reg", "to_reg")
_REDUCTION = ("stream", "step", "rank", "dst")


def _kinds(torus: Torus) -> Tuple[Dict[str, Tuple[Any, int, int]], Dict[str, Tuple[Any, int, int]]]:
    """The columns of messages and of combines: default, minimum and maximum."""
    rank, port = (_NEEDED, 0, torus.size - 1), 2 * len(torus.dims) - 1
    register, step = REGISTERS_MAX - 1, (_NEEDED, 0, CELLS_MAX)
    both: Dict[str, Tuple[Any, int, int]] = {"stream": (0, 0, STREAMS_MAX - 1), "step": step,
                                             "unit": (-1, -1, UNITS_MAX - 1)}
    return ({**both, "src": rank, "dst": rank, "port": (_COMPUTED, 0, port), "from_reg": (0, 0, register),
             "to_reg": (_COMPUTED, 0, register), "nic": (-1, -1, port)},
            {**both, "rank": rank, "dst": (0, 0, register), "sources": (_NEEDED, -1, register)})


# ---- Input tables ----------------------------------------------------------------------------------------------------

def _columns(table: Any, what: str, kinds: Dict[str, Tuple[Any, int, int]]) -> Columns:
    """The columns of a table with their defaults, all of equal length."""
    names: Any = table if isinstance(table, Mapping) else getattr(table, "columns", None)
    if names is None and isinstance(table, np.ndarray):
        names = table.dtype.names
    if names is None:
        raise L.ArgumentError(f"{what} are a {type(table).__name__}; they are a structured array, a DataFrame or a "
                              "dictionary of columns, for example {'step': [0], 'src': [0], 'dst': [1]}")
    if "units" in names:
        raise L.ArgumentError(f"{what} have a column 'units', of counts; from_messages takes 'unit', a row for each "
                              "unit, as Schedule.transfers has them")
    for name in names:
        if name not in kinds:
            raise L.ArgumentError(f"{what} have no column {name!r}; there are {', '.join(kinds)}")
    needed = [name for name, (default, _, _) in kinds.items() if default == _NEEDED]
    for name in needed:
        if name not in names:
            raise L.ArgumentError(f"{what} lack the column {name!r}; they need {', '.join(needed)}")
    columns = {name: _numbers(table[name], name, what, *kinds[name][1:]) for name in names}
    rows = sorted({len(column) for column in columns.values()})
    if len(rows) > 1:
        raise L.ArgumentError(f"the columns of {what} have {' and '.join(map(str, rows))} rows; all must have as many")
    defaults = {name: default for name, (default, _, _) in kinds.items() if isinstance(default, int)}
    return {**{name: np.full(rows[0], default) for name, default in defaults.items()}, **columns}


def _numbers(column: Any, name: str, what: str, low: int, high: int) -> Any:
    """A column as int64; `sources` as a matrix."""
    try:
        array = _padded(column) if name == "sources" else np.asarray(column)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != (2 if name == "sources" else 1):
        allowed = ("a list of registers in each row, such as [0, 1]" if name == "sources" else
                   "whole numbers, one in each row")
        raise L.ArgumentError(f"the column {name!r} of {what} has dtype {array.dtype} and shape {array.shape}; it "
                              f"takes {allowed}")
    wrong = array[(array < low) | (array > high)]
    if wrong.size:
        raise L.ArgumentError(f"the column {name!r} of {what} has {wrong.flat[0]}; it is from {low} to {high}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _padded(column: Any) -> Any:
    """Lists of sources as a matrix filled up with -1."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column[:, np.newaxis] if column.ndim == 1 else column
    lists = [np.atleast_1d(one) for one in column]
    width = max([len(one) for one in lists], default=1)
    return np.array([[*one, *[-1] * (width - len(one))] for one in lists]).reshape(len(lists), width)


def _starts(keys: Sequence[Any]) -> Any:
    """The rows at which a new key begins, and the number of rows."""
    rows = len(keys[0])
    changed = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.r_[0, np.flatnonzero(changed) + 1, rows] if rows else np.zeros(1, dtype=np.int64)


def _sorted(columns: Columns, names: Sequence[str]) -> Columns:
    order = np.lexsort([columns[name] for name in reversed(names)])
    return {name: np.ascontiguousarray(column[order]) for name, column in columns.items()}


# ---- Computed columns ------------------------------------------------------------------------------------------------

def _shorter_ports(torus: Torus, src: Any, dst: Any) -> Any:
    """The port in the first dimension that differs, in the shorter direction, or + if both are equally long."""
    port = np.zeros(len(src), dtype=np.int64)
    here, there = np.unravel_index(src, torus.dims), np.unravel_index(dst, torus.dims)
    for d in reversed(range(len(torus.dims))):
        way = there[d] - here[d]
        up = way > 0 if d in torus.lines else way % torus.dims[d] <= torus.dims[d] // 2
        port = np.where(way != 0, np.where(up, port_of(d, False), port_of(d, True)), port)
    return port


def _own_registers(m: Columns) -> Any:
    """1, 2, … for the messages that a rank receives in a step."""
    m = _sorted({**m, "row": np.arange(len(m["step"]))}, ("stream", "step", "dst", "src", "port"))
    new = np.zeros(len(m["row"]), dtype=np.int64)
    new[_starts([m[name] for name in ("stream", "step", "dst", "src", "port")])[:-1]] = 1
    number = np.cumsum(new)
    receiver = _starts([m[name] for name in ("stream", "step", "dst")])
    register = np.empty_like(number)
    register[m["row"]] = number - np.repeat(number[receiver[:-1]] - 1, np.diff(receiver))
    return register


def _messages(torus: Torus, table: Any, collective: str) -> Columns:
    m = _columns(table, "messages", _kinds(torus)[0])
    for rank in m["src"][m["src"] == m["dst"]]:
        raise L.ArgumentError(f"rank {rank} sends a message to itself; src and dst must differ")
    if "port" not in m:
        m["port"] = _shorter_ports(torus, m["src"], m["dst"])
    for port in m["port"][np.array(torus.dims)[m["port"] // 2] == 1]:
        raise L.ArgumentError(f"port {port} leads nowhere: that dimension of {torus} has size 1")
    if "to_reg" not in m:
        m["to_reg"] = _own_registers(m) if collective in L.REDUCING else np.zeros_like(m["step"])
    return _sorted(m, (*_MESSAGE, *_PART, "unit"))


def _default_combines(m: Columns) -> Columns:
    """Adds data received in registers other than 0 to register 0; units of the same registers are one reduction."""
    keys = ("stream", "step", "dst", "unit", "to_reg")
    rows = _sorted({name: m[name][m["to_reg"] != 0] for name in keys}, keys)
    first = _starts(list(rows.values()))[:-1]
    rows = {name: column[first] for name, column in rows.items()}
    start = _starts([rows[name] for name in keys[:-1]])
    k = {name: rows[name][start[:-1]] for name in ("stream", "step", "unit")}
    k["rank"], k["dst"] = rows["dst"][start[:-1]], np.zeros(len(start) - 1, dtype=np.int64)
    place = np.arange(start[-1]) - np.repeat(start[:-1], np.diff(start))
    k["sources"] = np.full((len(start) - 1, 2 + place.max(initial=0)), -1, dtype=np.int64)
    k["sources"][:, 0] = 0
    k["sources"][np.repeat(np.arange(len(start) - 1), np.diff(start)), 1 + place] = rows["to_reg"]
    mixed = (k["unit"][:-1] == -1) & (k["stream"][1:] == k["stream"][:-1]) & (k["step"][1:] == k["step"][:-1]) & \
        (k["rank"][1:] == k["rank"][:-1])
    for row in np.flatnonzero(mixed):
        raise L.ArgumentError(f"rank {k['rank'][row]} receives single units and all units in step {k['step'][row]}; "
                              "give to_reg and combines, or the units of all messages")
    order = np.lexsort([k["unit"], *k["sources"].T[::-1], k["rank"], k["step"], k["stream"]])
    return {name: np.ascontiguousarray(column[order]) for name, column in k.items()}


def _combines(torus: Torus, table: Any) -> Columns:
    k = _columns(table, "combines", _kinds(torus)[1])
    if (k["sources"] < 0).all(axis=1).any():
        raise L.ArgumentError("a reduction has no sources; it has at least one register, for example [0, 1]")
    return k


# ---- Creating --------------------------------------------------------------------------------------------------------

def _units_of(torus: Torus, collective: str, given: Any, least: int) -> int:
    units = least if given is None else to_int(given, "units", 1, UNITS_MAX)
    if units < least:
        raise L.ArgumentError(f"there are {units} units and a row has unit {least - 1}; units are 0 to {units - 1}")
    if collective not in L.BLOCKED or units % torus.size == 0:
        return units
    if given is not None:
        raise L.ArgumentError(f"there are {units} units; for {collective} they are a multiple of the "
                              f"{torus.size} ranks")
    return -(-units // torus.size) * torus.size


def create(torus: Torus, messages: Any, combines: Any, name: str, collective: str, units: Optional[int], exact: bool,
           consistent: bool, weights: Optional[Sequence[int]], mirrored: int, root: int) -> Optional[int]:
    """See `Schedule.from_messages`. Returns the library's schedule."""
    code = L.collective_code(collective)
    m = _messages(torus, messages, collective)
    k = _default_combines(m) if combines is None else _combines(torus, combines)

    def count(*columns: Any) -> int:
        return 1 + max(int(column.max(initial=-1)) for column in columns)

    streams, steps = max(1, count(m["stream"], k["stream"])), count(m["step"], k["step"])
    units = _units_of(torus, collective, units, max(1, count(m["unit"], k["unit"])))
    cells = torus.size * streams * steps
    listed = sum(int((one["unit"] < 0).sum()) * units + len(one["unit"]) for one in (m, k))
    if cells > CELLS_MAX or listed > LISTED_MAX:
        raise L.UnsupportedError(f"the schedule has {cells} rank-steps and {listed} units in all rows; up to "
                                 f"{CELLS_MAX} and {LISTED_MAX} are supported")
    weight = None
    if weights is not None:
        checked = [to_int(one, "a weight", 1, 1024) for one in to_list(weights, "weights", "[1, 2]")]
        if len(checked) != streams:
            raise L.ArgumentError(f"there are {len(checked)} weights for {streams} streams; each stream has one")
        weight = L.array(c.c_int, checked)
    options = L.ExplicitOptions(
        size=c.sizeof(L.ExplicitOptions), collective=code, root=root, streams=streams, steps=steps, units=units,
        registers=max(1, count(m["from_reg"], m["to_reg"], k["dst"], k["sources"])),
        exactness=0 if to_bool(exact, "exact") else 1, consistent=to_bool(consistent, "consistent"),
        mirrored_streams=to_int(mirrored, "mirrored", 0, streams), weight=weight)
    pointer = c.c_void_p()
    L.check(L.lib.explicit_create(c.byref(pointer), c.byref(torus._struct), L.text(name, "the name of a schedule"),
                                  c.byref(options)))
    try:
        everything = np.arange(units, dtype=np.int64)
        _add_messages(pointer, m, everything)
        _add_combines(pointer, k, everything)
    except BaseException:
        L.lib.schedule_destroy(pointer)
        raise
    return pointer.value


def _units(column: Any, begin: int, end: int, everything: Any) -> Any:
    """The units of some rows; a single -1 means all."""
    return column[begin:end] if column[begin] >= 0 or end - begin > 1 else everything


def _check_units(table: Columns, keys: Sequence[Any], names: Sequence[str]) -> None:
    """Rows with equal keys list units of one message or reduction, each once; `names` are the columns for the error."""
    unit = table["unit"]
    same = np.all([key[1:] == key[:-1] for key in keys], axis=0)
    for row in np.flatnonzero(same & ((unit[1:] == unit[:-1]) | (unit[1:] < 0) | (unit[:-1] < 0))):
        place = ", ".join(f"{name} {table[name][row]}" for name in names)
        raise L.ArgumentError(f"two rows have {place}, unit {unit[row]}; list each unit once"
                              if unit[row] == unit[row + 1] else
                              f"rows with {place} have single units and unit -1, which means all; leave out either")


def _address(units: Any) -> Any:
    return units.ctypes.data_as(c.POINTER(c.c_int64))


def _add_messages(schedule: c.c_void_p, m: Columns, everything: Any) -> None:
    start = _starts([m[name] for name in _MESSAGE])
    part = [m[name] for name in (*_MESSAGE, *_PART)]
    _check_units(m, part, _MESSAGE[:4])
    part_start = _starts(part)
    for begin, end in zip(start[:-1], start[1:]):
        bounds = part_start[np.searchsorted(part_start, begin):np.searchsorted(part_start, end) + 1]
        lists = [_units(m["unit"], first, last, everything) for first, last in zip(bounds[:-1], bounds[1:])]
        parts = [L.ExplicitPart(m["from_reg"][first], m["to_reg"][first], False, len(units), _address(units))
                 for first, units in zip(bounds, lists)]
        L.check(L.lib.explicit_message(schedule, *(int(m[name][begin]) for name in _MESSAGE), 3, len(parts),
                                       L.array(L.ExplicitPart, parts)))


def _add_combines(schedule: c.c_void_p, k: Columns, everything: Any) -> None:
    keys = [*(k[name] for name in _REDUCTION), *k["sources"].T]
    _check_units(k, keys, _REDUCTION)
    start = _starts(keys)
    for begin, end in zip(start[:-1], start[1:]):
        units = _units(k["unit"], begin, end, everything)
        sources = [int(one) for one in k["sources"][begin] if one >= 0]
        L.check(L.lib.explicit_combine(schedule, *(int(k[name][begin]) for name in _REDUCTION), len(sources),
                                       L.array(c.c_int, sources), len(units), _address(units)))


# ---- Tables of any schedule ------------------------------------------------------------------------------------------

def _list(blocks: L.Blocks) -> Any:
    units = np.empty(L.lib.blocks_count(c.byref(blocks)), dtype=np.int64)
    L.lib.blocks_list(c.byref(blocks), units.ctypes.data)
    return units


def _parts(message: L.Message) -> List[Tuple[int, bool, Any]]:
    return [(part.reg, part.slots, _list(part.blocks)) for part in message.part[:message.parts]]


def _table(rows: List[Tuple[Any, ...]], names: Sequence[str]) -> "np.ndarray[Any, Any]":
    """A structured array of rows in which units are arrays and all else are numbers."""
    blocks = [np.stack(np.broadcast_arrays(*row), axis=1) for row in rows]
    table = np.concatenate(blocks) if blocks else np.zeros((0, len(names)), dtype=np.int64)
    made = np.empty(len(table), dtype=[(name, "i8" if name == "unit" else "i4") for name in names])
    for index, name in enumerate(names):
        made[name] = table[:, index]
    return made


def transfers(schedule: "Schedule") -> "np.ndarray[Any, Any]":
    """See `Schedule.transfers`."""
    sends: List[Tuple[Any, ...]] = []
    receives: Dict[Tuple[int, ...], List[Any]] = {}
    for stream, step, rank, out in schedule._each_step(schedule.torus.ranks):
        for message in out.send[:out.sends]:
            sends.append((stream, step, rank, message.peer, message.port, message.nic, _parts(message)))
        for message in out.receive[:out.receives]:
            receives.setdefault((stream, step, message.peer, rank), []).append(_parts(message))
    rows = []
    for *place, parts in sends:
        for (reg, slots, units), (to_reg, _, to_units) in zip(parts, receives[tuple(place[:4])].pop(0)):
            rows.append((*place, -1, reg + units, to_reg + to_units) if slots else (*place, units, reg, to_reg))
    return _table(rows, (*_MESSAGE, "unit", *_PART))


def combines(schedule: "Schedule") -> "np.ndarray[Any, Any]":
    """See `Schedule.combines`."""
    rows: List[Tuple[Any, ...]] = []
    lists: List[List[int]] = []
    for stream, step, rank, out in schedule._each_step(schedule.torus.ranks):
        for one in out.combine[:out.combines]:
            units = _list(one.blocks)
            rows.append((stream, step, rank, one.dst, units))
            sources = one.source[:one.sources] if one.source else list(range(one.first, one.first + one.sources))
            lists += [sources] * len(units)
    found, width = _table(rows, (*_REDUCTION, "unit")), max(map(len, lists), default=1)
    made = np.empty(len(found), dtype=[*found.dtype.descr, ("sources", "i4", (width,))])
    for name in found.dtype.names or ():
        made[name] = found[name]
    made["sources"] = [sources + [-1] * (width - len(sources)) for sources in lists] or np.zeros((0, width))
    return made
