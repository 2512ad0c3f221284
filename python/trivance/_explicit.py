"""Schedules of your own, from tables of messages and reductions, and such tables from any schedule."""
from __future__ import annotations

import ctypes as c
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _library as L
from ._units import to_int
from .network import Torus

if TYPE_CHECKING:
    from .schedule import Schedule

Array = "np.ndarray[Any, Any]"
Columns = Dict[str, Any]

CELLS_MAX = 1 << 22      # ranks * streams * steps
LISTED_MAX = 1 << 27     # units in all lists
UNITS_MAX, REGISTERS_MAX, STREAMS_MAX = 1 << 24, 1 << 16, 1 << 12
_MESSAGE = ("stream", "step", "src", "dst", "port", "unit", "from_reg", "to_reg", "nic")
_TRANSFER = [(name, "i8" if name == "unit" else "i4") for name in _MESSAGE]
_COMBINE = ("stream", "step", "rank", "dst", "unit", "sources")
_CLAIMS: Dict[str, Any] = {"name": "custom", "collective": "allreduce", "units": None, "exact": True, "consistent": False,
           "weights": None, "mirrored": 0}


# ---- Input tables ----------------------------------------------------------------------------------------------------

def _columns(table: Any, what: str, known: Sequence[str], needed: Sequence[str]) -> Columns:
    """The columns of a table, all of equal length, as int64."""
    if isinstance(table, np.ndarray) and table.dtype.names:
        found: Columns = {name: table[name] for name in table.dtype.names}
    elif isinstance(table, Mapping) or hasattr(table, "columns"):
        found = {str(name): table[name] for name in (table if isinstance(table, Mapping) else table.columns)}
    else:
        raise L.fail(f"{what} are a {type(table).__name__}; they are a structured array, a DataFrame or a dictionary of "
                     f"columns, for example {{'step': [0], 'src': [0], 'dst': [1]}}")
    if "units" in found:
        raise L.fail(f"{what} have a column 'units', of counts; from_messages takes 'unit', a row for each unit, as "
                     "Schedule.transfers has them")
    for name in found:
        if name not in known:
            raise L.fail(f"{what} have no column {name!r}; there are {', '.join(known)}")
    for name in needed:
        if name not in found:
            raise L.fail(f"{what} lack the column {name!r}; they need {', '.join(needed)}")
    columns = {name: _numbers(column, f"the column {name!r} of {what}", name == "sources")
               for name, column in found.items()}
    rows = {len(column) for column in columns.values()}
    if len(rows) > 1:
        raise L.fail(f"the columns of {what} have {' and '.join(map(str, sorted(rows)))} rows; all must have as many")
    return columns


def _numbers(column: Any, what: str, two: bool) -> Any:
    if two:
        column = _padded(column, what)
    try:
        array = np.asarray(column)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.size == 0 and array.ndim == 1 and array.dtype.kind in "fiu":
        return np.empty((0, 1) if two else 0, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.ndim != (2 if two else 1):
        raise L.fail(f"{what} has dtype {array.dtype} and shape {array.shape}; it must be whole numbers in one column")
    if array.size and (array.min() < -1 or array.max() >= 1 << 31):
        raise L.fail(f"{what} has numbers from {array.min()} to {array.max()}; they must be from -1 to 2^31 - 1")
    return array.astype(np.int64)


def _padded(column: Any, what: str) -> Any:
    """Lists of sources as a 2-D array padded with -1."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column[:, np.newaxis] if column.ndim == 1 else column
    try:
        lists = [np.atleast_1d(one) for one in column]
        width = max([len(one) for one in lists], default=1)
        return np.array([[*one, *[-1] * (width - len(one))] for one in lists], dtype=None).reshape(len(lists), width)
    except (TypeError, ValueError):
        raise L.fail(f"{what} is not a list of registers in each row, for example [0, 1, 2]") from None


def _require(column: Any, what: str, low: int, high: int) -> None:
    if len(column) and (column.min() < low or column.max() > high):
        wrong = column[(column < low) | (column > high)][0]
        raise L.fail(f"{what} {wrong} is not there; it is from {low} to {high}")


def _starts(keys: Sequence[Any]) -> Any:
    """The rows at which a new key begins, and the number of rows."""
    rows = len(keys[0])
    changed = np.zeros(max(rows - 1, 0), dtype=bool)
    for key in keys:
        changed |= key[1:] != key[:-1]
    return np.r_[0, np.flatnonzero(changed) + 1, rows] if rows else np.zeros(1, dtype=np.int64)


# ---- Completing messages ---------------------------------------------------------------------------------------------

def _shorter_ports(torus: Torus, src: Any, dst: Any) -> Any:
    """The port in the first dimension that differs, in the shorter direction, or + if both are equally long."""
    port = np.full(len(src), -1, dtype=np.int64)
    here, there = np.unravel_index(src, torus.dims), np.unravel_index(dst, torus.dims)
    for d in reversed(range(len(torus.dims))):
        way = there[d] - here[d]
        up = way > 0 if d in torus.lines else way % torus.dims[d] <= torus.dims[d] // 2
        port = np.where(way != 0, 2 * d + np.where(up, 0, 1), port)
    return port


def _own_registers(m: Columns) -> Any:
    """1, 2, … for the messages that a rank receives in a step."""
    order = np.lexsort((m["port"], m["src"], m["dst"], m["step"], m["stream"]))
    receiver = [m[name][order] for name in ("stream", "step", "dst")]
    message = receiver + [m[name][order] for name in ("src", "port")]
    new_message, new_receiver = np.zeros(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    new_message[_starts(message)[:-1]] = 1
    count = np.cumsum(new_message)
    first = _starts(receiver)[:-1]
    new_receiver[first] = np.diff(np.r_[0, count[first] - 1])
    register = np.empty(len(order), dtype=np.int64)
    register[order] = count - np.cumsum(new_receiver)
    return register


def _complete(torus: Torus, m: Columns, collective: str) -> Columns:
    rows = len(m["step"])
    _require(m["src"], "src", 0, torus.size - 1)
    _require(m["dst"], "dst", 0, torus.size - 1)
    same = np.flatnonzero(m["src"] == m["dst"])
    if len(same):
        raise L.fail(f"rank {m['src'][same[0]]} sends a message to itself; src and dst must differ")
    m.setdefault("stream", np.zeros(rows, dtype=np.int64))
    m.setdefault("unit", np.full(rows, -1, dtype=np.int64))
    m.setdefault("from_reg", np.zeros(rows, dtype=np.int64))
    m.setdefault("nic", np.full(rows, -1, dtype=np.int64))
    if "port" not in m:
        m["port"] = _shorter_ports(torus, m["src"], m["dst"])
    if "to_reg" not in m:
        m["to_reg"] = np.zeros(rows, dtype=np.int64) if collective == "allgather" else _own_registers(m)
    _require(m["port"], "port", 0, 2 * len(torus.dims) - 1)
    _require(m["nic"], "nic", -1, 2 * len(torus.dims) - 1)
    flat = np.flatnonzero(np.array(torus.dims)[m["port"] // 2] == 1)
    if len(flat):
        raise L.fail(f"port {m['port'][flat[0]]} leads nowhere: that dimension of {torus} has size 1")
    for name in ("from_reg", "to_reg"):
        _require(m[name], "register", 0, REGISTERS_MAX - 1)
    for name, high in (("stream", STREAMS_MAX - 1), ("step", CELLS_MAX)):
        _require(m[name], name, 0, high)
    return m


def _default_combines(m: Columns) -> Columns:
    """Adds data received in registers other than 0 to register 0; units of the same registers are one reduction."""
    rows: Dict[Tuple[int, int, int, int], List[int]] = {}
    into = np.flatnonzero(m["to_reg"] != 0)
    for stream, step, rank, unit, register in zip(*(m[name][into].tolist() for name in
                                                    ("stream", "step", "dst", "unit", "to_reg"))):
        registers = rows.setdefault((stream, step, rank, unit), [0])
        if register not in registers:
            registers.append(register)
    for (stream, step, rank, unit), registers in rows.items():
        if unit >= 0 and (stream, step, rank, -1) in rows:
            raise L.fail(f"rank {rank} receives single units and all units in step {step}; give to_reg and combines, or "
                         "the units of all messages")
    listed = sorted((stream, step, rank, tuple([0] + sorted(registers[1:])), unit)
                    for (stream, step, rank, unit), registers in rows.items())
    return _columns({"stream": np.array([one[0] for one in listed], dtype=np.int64),
                     "step": np.array([one[1] for one in listed], dtype=np.int64),
                     "rank": np.array([one[2] for one in listed], dtype=np.int64),
                     "sources": [one[3] for one in listed],
                     "unit": np.array([one[4] for one in listed], dtype=np.int64)}, "combines", _COMBINE, ())


def _complete_combines(torus: Torus, table: Any) -> Columns:
    k = _columns(table, "combines", _COMBINE, ("step", "rank", "sources"))
    rows = len(k["step"])
    for name, usual in (("stream", 0), ("dst", 0), ("unit", -1)):
        k.setdefault(name, np.full(rows, usual, dtype=np.int64))
    _require(k["rank"], "rank", 0, torus.size - 1)
    _require(k["dst"], "register", 0, REGISTERS_MAX - 1)
    _require(k["sources"].ravel(), "register", -1, REGISTERS_MAX - 1)
    for name, high in (("stream", STREAMS_MAX - 1), ("step", CELLS_MAX)):
        _require(k[name], name, 0, high)
    if rows and (k["sources"] >= 0).sum(axis=1).min() == 0:
        raise L.fail("a reduction has no sources; it has at least one register, for example [0, 1]")
    return k


# ---- Creating --------------------------------------------------------------------------------------------------------

def _most(m: Columns, *columns: Columns) -> Dict[str, int]:
    """One plus the maximum of stream, step, unit and register."""
    names: Dict[str, Tuple[str, ...]] = {"streams": ("stream",), "steps": ("step",), "units": ("unit",),
                                         "registers": ("from_reg", "to_reg", "sources")}
    found = {}
    for what, keys in names.items():
        all_columns = [one[key] for one in (m, *columns) for key in keys if key in one]
        all_columns += [k["dst"] for k in columns] if what == "registers" else []
        found[what] = 1 + max([int(column.max()) for column in all_columns if column.size], default=-1)
    return {"streams": max(1, found["streams"]), "steps": found["steps"], "units": max(1, found["units"]),
            "registers": max(1, found["registers"])}


def _units_of(torus: Torus, collective: str, given: Any, least: int) -> int:
    units = least if given is None else to_int(given, "units", 1, UNITS_MAX)
    if units < least:
        raise L.fail(f"there are {units} units and a message has unit {least - 1}; units are 0 to {units - 1}")
    if collective != "allreduce" and units % torus.size:
        if given is None:
            return -(-units // torus.size) * torus.size
        raise L.fail(f"there are {units} units; for {collective} they are a multiple of the {torus.size} ranks")
    return units


def create(torus: Torus, messages: Any, combines: Any, **claims: Any) -> Optional[int]:
    """See `Schedule.from_messages`. Returns the library's schedule."""
    for claim in claims:
        if claim not in _CLAIMS:
            raise L.fail(f"there is no claim {claim!r}; there are {', '.join(_CLAIMS)}")
    given = {**_CLAIMS, **claims}
    collective = L.collective_code(given["collective"])
    m = _complete(torus, _columns(messages, "messages", _MESSAGE, ("step", "src", "dst")), given["collective"])
    k = _default_combines(m) if combines is None else _complete_combines(torus, combines)
    if combines is None:
        k.setdefault("dst", np.zeros(len(k["step"]), dtype=np.int64))
    most = _most(m, k)
    units = _units_of(torus, given["collective"], given["units"], most["units"])
    cells = torus.size * most["streams"] * most["steps"]
    listed = sum(int((one["unit"] < 0).sum()) * units + len(one["unit"]) for one in (m, k))
    if cells > CELLS_MAX or units > UNITS_MAX or listed > LISTED_MAX:
        raise L.UnsupportedError(f"the schedule has {cells} rank-steps, {units} units and {listed} units in all lists; up "
                                 f"to {CELLS_MAX}, {UNITS_MAX} and {LISTED_MAX} are supported")
    order = np.lexsort(tuple(m[name] for name in ("unit", "to_reg", "from_reg", "port", "nic", "dst", "src", "step", "stream")))
    m = {name: np.ascontiguousarray(column[order]) for name, column in m.items()}
    weights: Any = given["weights"]
    if weights is not None:
        weights = [to_int(one, "a weight", 1, 1024) for one in weights]
        if len(weights) != most["streams"]:
            raise L.fail(f"there are {len(weights)} weights for {most['streams']} streams; each stream has one")
        weights = (c.c_int * len(weights))(*weights)
    options = L.ExplicitOptions(
        size=c.sizeof(L.ExplicitOptions), collective=collective, streams=most["streams"], steps=most["steps"],
        registers=most["registers"], units=units, exactness=0 if given["exact"] else 1,
        consistent=bool(given["consistent"]), messages_per_port=_per_port(m),
        mirrored_streams=to_int(given["mirrored"], "mirrored", 0, most["streams"]), weight=weights)
    pointer = c.c_void_p()
    L.check(L.lib.explicit_create(c.byref(pointer), c.byref(torus._struct), L.text(given["name"]),
                                  c.byref(options)))
    try:
        everything = np.arange(units, dtype=np.int64)
        _add_messages(pointer, m, everything)
        _add_combines(pointer, k, everything)
    except BaseException:
        L.lib.schedule_destroy(pointer)
        raise
    return pointer.value


def _per_port(m: Columns) -> int:
    first = _starts([m[name] for name in ("stream", "step", "src", "dst", "port", "nic")])[:-1]
    if not len(first):
        return 1
    keys = np.stack([m[name][first] for name in ("stream", "step", "src", "port")], axis=1)
    return int(np.unique(keys, axis=0, return_counts=True)[1].max())


def _pointer(units: Any) -> Any:
    return units.ctypes.data_as(c.POINTER(c.c_int64))


def _add_messages(schedule: c.c_void_p, m: Columns, everything: Any) -> None:
    names = ("stream", "step", "src", "dst", "port", "nic")
    start = _starts([m[name] for name in names])
    part_start = _starts([m[name] for name in (*names, "from_reg", "to_reg")])
    for begin, end in zip(start[:-1], start[1:]):
        parts = part_start[np.searchsorted(part_start, begin):np.searchsorted(part_start, end) + 1]
        part = (L.ExplicitPart * (len(parts) - 1))()
        lists = []
        for i, (first, last) in enumerate(zip(parts[:-1], parts[1:])):
            units = m["unit"][first:last] if m["unit"][first] >= 0 or last - first > 1 else everything
            lists.append(units)
            part[i] = L.ExplicitPart(m["from_reg"][first], m["to_reg"][first], False, len(units), _pointer(units))
        stream, step, src, dst, port, nic = (int(m[name][begin]) for name in names)
        L.check(L.lib.explicit_message(schedule, stream, step, src, dst, port, nic, 3, len(part), part))


def _add_combines(schedule: c.c_void_p, k: Columns, everything: Any) -> None:
    names = ("stream", "step", "rank", "dst")
    start = _starts([k[name] for name in names] + list(k["sources"].T))
    unit = np.ascontiguousarray(k["unit"])
    for begin, end in zip(start[:-1], start[1:]):
        units = unit[begin:end] if unit[begin] >= 0 or end - begin > 1 else everything
        sources = [int(one) for one in k["sources"][begin] if one >= 0]
        stream, step, rank, dst = (int(k[name][begin]) for name in names)
        L.check(L.lib.explicit_combine(schedule, stream, step, rank, dst, len(sources),
                                       (c.c_int * len(sources))(*sources), len(units), _pointer(units)))


# ---- Tables of any schedule ------------------------------------------------------------------------------------------

def _list(blocks: L.Blocks) -> Any:
    units = np.empty(L.lib.blocks_count(c.byref(blocks)), dtype=np.int64)
    L.lib.blocks_list(c.byref(blocks), units.ctypes.data)
    return units


def _parts(message: L.Message) -> List[Tuple[int, bool, Any]]:
    return [(part.reg, part.slots, _list(part.blocks)) for part in message.part[:message.parts]]


def transfers(schedule: "Schedule") -> "np.ndarray[Any, Any]":
    """See `Schedule.transfers`."""
    sends: List[Tuple[int, int, int, int, int, int, Any]] = []
    receives: Dict[Tuple[int, int, int, int], List[Any]] = {}
    for stream, step, rank, out in schedule._each_step():
        for message in out.send[:out.sends]:
            sends.append((stream, step, rank, message.peer, message.port, message.nic, _parts(message)))
        for message in out.receive[:out.receives]:
            receives.setdefault((stream, step, message.peer, rank), []).append(_parts(message))
    rows = []
    for stream, step, src, dst, port, nic, parts in sends:
        for (reg, slots, units), (to_reg, _, to_units) in zip(parts, receives[stream, step, src, dst].pop(0)):
            row = np.zeros(len(units), dtype=_TRANSFER)
            row["stream"], row["step"], row["src"], row["dst"], row["port"] = stream, step, src, dst, port
            row["nic"] = nic
            row["unit"] = -1 if slots else units
            row["from_reg"], row["to_reg"] = (reg + units, to_reg + to_units) if slots else (reg, to_reg)
            rows.append(row)
    return np.concatenate(rows) if rows else np.zeros(0, dtype=_TRANSFER)


def combines(schedule: "Schedule") -> "np.ndarray[Any, Any]":
    """See `Schedule.combines`."""
    found = []
    for stream, step, rank, out in schedule._each_step():
        for one in out.combine[:out.combines]:
            sources = one.source[:one.sources] if one.source else list(range(one.first, one.first + one.sources))
            found.append((stream, step, rank, one.dst, _list(one.blocks), sources))
    width = max([len(one[5]) for one in found], default=1)
    dtype = [("stream", "i4"), ("step", "i4"), ("rank", "i4"), ("dst", "i4"), ("unit", "i8"), ("sources", "i4", (width,))]
    rows = []
    for stream, step, rank, dst, units, sources in found:
        row = np.zeros(len(units), dtype=dtype)
        row["stream"], row["step"], row["rank"], row["dst"], row["unit"] = stream, step, rank, dst, units
        row["sources"] = sources + [-1] * (width - len(sources))
        rows.append(row)
    return np.concatenate(rows) if rows else np.zeros(0, dtype=dtype)
