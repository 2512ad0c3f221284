"""The C libraries: finding and loading them, their structures and functions, and errors as exceptions.

Both libraries are loaded from one folder: that of the package, if a wheel or the build has put them there; else the
folder in the environment variable TRIVANCE_LIBRARY; else the first that the dynamic loader finds.
"""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Callable, List, Optional, Tuple

from ._progress import CALLBACK, run

#: Of this package, and so of the libraries that it works with. The release sets it with that of the project.
__version__ = "0.3.0"

DIMS_MAX = 8
NAME_MAX = 128
COLLECTIVES = ("allreduce", "reduce-scatter", "allgather")
SYMMETRIES = ("none", "parity", "translation")


class TrivanceError(Exception):
    """An operation failed; the text is the library's sentence.

    Attributes
    ----------
    code : int
        The library's code, one of the negative ``TRV_ERR_*``.
    """

    code = 0

    def __init__(self, sentence: str, code: Optional[int] = None) -> None:
        super().__init__(sentence)
        if code is not None:
            self.code = code


class ArgumentError(TrivanceError, ValueError):
    """A value that is never valid."""

    code = -1


class UnsupportedError(TrivanceError):
    """Valid in itself, but not supported: a torus that an algorithm does not take, a drawing that is too large."""

    code = -2


class OutOfMemoryError(TrivanceError, MemoryError):
    """There is not enough memory."""

    code = -3


class InvalidScheduleError(TrivanceError):
    """A schedule or a file that is not what it claims to be."""

    code = -5


class CancelledError(TrivanceError):
    """A progress function ended the work."""

    code = -7


class LibraryError(TrivanceError, ImportError):
    """The C library is missing, or of another version than this package."""


_ERRORS = {kind.code: kind for kind in (ArgumentError, UnsupportedError, OutOfMemoryError, InvalidScheduleError,
                                        CancelledError)}

# ---- Structures, as in the headers ---------------------------------------------------------------------------------


class TorusStruct(c.Structure):
    _fields_ = [("dims", c.c_int), ("size", c.c_int * DIMS_MAX), ("ranks", c.c_int), ("lines", c.c_uint)]


class SlowLink(c.Structure):
    _fields_ = [("rank", c.c_int), ("port", c.c_int), ("factor", c.c_double)]


class SlowRank(c.Structure):
    _fields_ = [("rank", c.c_int), ("factor", c.c_double)]


class NetworkStruct(c.Structure):
    _fields_ = [("size", c.c_size_t), ("torus", TorusStruct), ("slow_links", c.c_int),
                ("slow_link", c.POINTER(SlowLink)), ("routes", c.c_int)]


class Hockney(c.Structure):
    _fields_ = [("bandwidth_bps", c.c_double), ("alpha_ns", c.c_double), ("hop_ns", c.c_double)]


class StepCost(c.Structure):
    _fields_ = [("messages", c.c_int), ("link_fraction", c.c_double), ("port_fraction", c.c_double), ("hops", c.c_int)]


class CostStruct(c.Structure):
    _fields_ = [("steps", c.c_int), ("lambda_", c.c_double), ("delta", c.c_double), ("theta", c.c_double),
                ("messages", c.c_uint64), ("step", c.POINTER(StepCost))]


class PaperCost(c.Structure):
    _fields_ = [(name, c.c_double) for name in ("lambda_", "delta", "theta", "theta_limit")]


class LimitStruct(c.Structure):
    _fields_ = [(name, c.c_double) for name in ("startup_ns", "sets_ns", "links_ns", "time_ns", "steps_ns")]


class Verdict(c.Structure):
    _fields_ = [("size", c.c_size_t), ("valid", c.c_bool), ("consistent", c.c_bool), ("method", c.c_int),
                ("ranks", c.c_int64), ("units", c.c_int64), ("messages", c.c_int64), ("seconds", c.c_double),
                ("fault_rank", c.c_int), ("fault_stream", c.c_int), ("fault_step", c.c_int), ("fault_unit", c.c_int64),
                ("fault", c.c_char * 512)]


class SimulateOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("model", c.c_int), ("delivery", c.c_int), ("bandwidth_bps", c.c_double),
                ("nic_bandwidth_bps", c.c_double), ("alpha_ns", c.c_double), ("link_latency_ns", c.c_double),
                ("host_latency_ns", c.c_double), ("router_in_ns", c.c_double), ("router_out_ns", c.c_double),
                ("packet_bytes", c.c_uint32), ("buffer_bytes", c.c_uint64), ("message_overhead_ns", c.c_double),
                ("gamma_ns", c.c_double), ("jitter", c.c_double), ("seed", c.c_uint64), ("full", c.c_bool),
                ("link_loads", c.c_bool), ("slow_ranks", c.c_int), ("slow_links", c.c_int),
                ("slow_rank", c.POINTER(SlowRank)), ("slow_link", c.POINTER(SlowLink)), ("observer", c.c_void_p),
                ("routes", c.c_int), ("shared_paths", c.c_uint), ("one_path", c.c_bool), ("gamma_per_stream", c.c_bool), ("progress", CALLBACK),
                ("progress_context", c.c_void_p)]


class LinkLoad(c.Structure):
    _fields_ = [("packets", c.c_uint64), ("bytes", c.c_uint64), ("busy_ns", c.c_double), ("queue_max", c.c_uint32)]


class Simulation(c.Structure):
    _fields_ = [("time_ns", c.c_double), ("time_fs", c.c_uint64), ("messages", c.c_uint64), ("packets", c.c_uint64),
                ("packet_hops", c.c_uint64), ("simulated_hops", c.c_uint64), ("simulated_ranks", c.c_int),
                ("link", c.POINTER(LinkLoad))]


class Constraints(c.Structure):
    _fields_ = [("size", c.c_size_t), ("consistent", c.c_bool), ("idempotent", c.c_bool), ("memory_bytes", c.c_uint64),
                ("messages_per_port", c.c_int)]


class Planned(c.Structure):
    _fields_ = [("algorithm", c.c_char * NAME_MAX), ("steps", c.c_int), ("consistent", c.c_bool),
                ("time_ns", c.c_double), ("alpha_ns", c.c_double), ("hops_ns", c.c_double),
                ("transmission_ns", c.c_double), ("modelled", c.c_bool)]


class NodePlan(c.Structure):
    _fields_ = [("order", c.c_int), ("torus", TorusStruct), ("plan", Planned)]


class Shifts(c.Structure):
    _fields_ = [("count", c.c_int), ("vector", c.POINTER(c.c_int))]


class Product(c.Structure):
    _fields_ = [("halves", c.c_int), ("count", c.c_int * DIMS_MAX), ("value", c.POINTER(c.c_int) * DIMS_MAX),
                ("shifts", c.c_int), ("shift", c.POINTER(Shifts))]


class Blocks(c.Structure):
    _fields_ = [("space", c.POINTER(TorusStruct)), ("halves", c.c_int), ("terms", c.c_int), ("term", Product * 2)]


class Part(c.Structure):
    _fields_ = [("reg", c.c_int), ("slots", c.c_bool), ("blocks", Blocks)]


class Message(c.Structure):
    _fields_ = [("peer", c.c_int), ("port", c.c_int), ("nic", c.c_int), ("parts", c.c_int), ("part", c.POINTER(Part))]


class Combine(c.Structure):
    _fields_ = [("dst", c.c_int), ("sources", c.c_int), ("source", c.POINTER(c.c_int)), ("first", c.c_int),
                ("blocks", Blocks)]


class Step(c.Structure):
    _fields_ = [("dimension", c.c_int), ("sends", c.c_int), ("send", c.POINTER(Message)), ("receives", c.c_int),
                ("receive", c.POINTER(Message)), ("combines", c.c_int), ("combine", c.POINTER(Combine)),
                ("arena", c.c_void_p)]


class SentMessage(c.Structure):
    _fields_ = [(name, c.c_int) for name in ("stream", "step", "from_", "to", "port", "nic")] + \
               [("units", c.c_int64), ("bytes", c.c_uint64)]


class Messages(c.Structure):
    _fields_ = [("count", c.c_int64), ("message", c.POINTER(SentMessage))]


class ExplicitOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("collective", c.c_int), ("streams", c.c_int), ("steps", c.c_int),
                ("registers", c.c_int), ("units", c.c_int64), ("symmetry", c.c_int), ("exactness", c.c_int),
                ("consistent", c.c_bool), ("messages_per_port", c.c_int), ("mirrored_streams", c.c_int),
                ("position", c.POINTER(c.c_int64)), ("weight", c.POINTER(c.c_int))]


class ExplicitPart(c.Structure):
    _fields_ = [("from_reg", c.c_int), ("to_reg", c.c_int), ("slots", c.c_bool), ("count", c.c_int64),
                ("unit", c.POINTER(c.c_int64))]


class DrawOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("network", c.POINTER(NetworkStruct)), ("cost", c.POINTER(CostStruct)),
                ("vector_bytes", c.c_uint64), ("rank", c.c_int), ("all_ranks", c.c_bool), ("stream", c.c_int),
                ("no_blocks", c.c_bool), ("note", c.c_char_p), ("ascii", c.c_bool), ("columns", c.c_int)]


class ScheduleFile(c.Structure):
    _fields_ = [("schedule", c.c_void_p), ("vector_bytes", c.c_uint64), ("has_blocks", c.c_bool),
                ("slow_links", c.c_int), ("slow_link", SlowLink * 128)]


WARN = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)

# ---- Functions: name, result ("code": 0 or an error), arguments ------------------------------------------------------

_P, _I, _L, _U, _D, _S, _B = c.c_void_p, c.c_int, c.c_int64, c.c_uint64, c.c_double, c.c_char_p, c.c_bool
_CORE: List[Tuple[str, Any, Tuple[Any, ...]]] = [
    ("last_error", _S, ()), ("version", _S, ()),
    ("torus_parse", _I, (_S, _P)), ("torus_init", _I, (_P, _I, _P)), ("torus_set_lines", _I, (_P, c.c_uint)),
    ("torus_format", _S, (_P, _P, c.c_size_t)), ("port_parse", _I, (_S, _P)),
    ("algorithms_count", _I, ()), ("algorithm_at", _P, (_I,)), ("algorithm_find", _P, (_S,)),
    ("algorithm_supports", _I, (_P, _P, _I)), ("algorithm_paper_cost", None, (_P, _P, _P)),
    ("network_check", _I, (_P,)), ("order_nodes", _I, (_P, _I, _I, _P)), ("order_name", _S, (_I,)),
    ("schedule_create_on", _I, (_P, _P, _S, _I, _I)), ("schedule_embed", _I, (_P, _P, _P, _P)),
    ("schedule_destroy", None, (_P,)), ("schedule_name", _S, (_P,)), ("schedule_torus", c.POINTER(TorusStruct), (_P,)),
    ("schedule_collective", _I, (_P,)), ("schedule_streams", _I, (_P,)), ("schedule_steps", _I, (_P,)),
    ("schedule_registers", _I, (_P,)), ("schedule_units", _L, (_P,)), ("schedule_symmetry", _I, (_P,)),
    ("schedule_exactness", _I, (_P,)), ("schedule_consistent", _B, (_P,)), ("schedule_mirrored", _B, (_P, _I)),
    ("schedule_weight", _I, (_P, _I)), ("schedule_messages_per_port", _I, (_P,)),
    ("schedule_position", _L, (_P, _I, _L)), ("schedule_step", _I, (_P, _I, _I, _I, _P)), ("step_clear", None, (_P,)),
    ("blocks_count", _L, (_P,)), ("blocks_list", None, (_P, _P)),
    ("schedule_messages", _I, (_P, _U, _P, CALLBACK, _P)), ("messages_clear", None, (_P,)),
    ("explicit_create", _I, (_P, _P, _S, _P)),
    ("explicit_message", _I, (_P, _I, _I, _I, _I, _I, _I, _I, _I, _P)),
    ("explicit_combine", _I, (_P, _I, _I, _I, _I, _I, _P, _L, _P)),
    ("verify_on", _I, (_P, _P, _I, _P, CALLBACK, _P)),
    ("cost_measure", _I, (_P, _P)), ("cost_clear", None, (_P,)), ("cost_time_ns", _I, (_P, _P, _U, _P)),
    ("limit_find", _I, (_P, _P, _I, _I, _U, _U, _P)),
    ("simulator_create", _I, (_P, _P)), ("simulator_destroy", None, (_P,)), ("simulate", _I, (_P, _P, _U, _P)),
    ("simulate_bound_ns", _I, (_P, _P, _U, _P)), ("simulation_clear", None, (_P,)),
    ("planner_best", _I, (_P, _I, _I, _U, _P, _P, _P)), ("planner_create", _I, (_P, _P, _I, _I, _P, _P)),
    ("planner_destroy", None, (_P,)), ("planner_rank", _I, (_P, _U, _I, _P)), ("planner_time", _I, (_P, _U, _S, _P)),
    ("planner_nodes", _I, (_P, _I, _P, _I, _I, _U, _P, _P, _I, _P)),
] + [("algorithm_" + name, kind, (_P,)) for name, kind in
     [(text, _S) for text in ("name", "family", "title", "source", "sizes", "use", "steps_formula", "bytes_formula",
                              "parameters")] +
     [("symmetry", _I), ("exactness", _I), ("colour", _I), ("consistent", _B), ("in_rank_order", _B),
      ("latency_optimal", _B), ("baseline", _B)]]
_FORMATS: List[Tuple[str, Any, Tuple[Any, ...]]] = [
    ("draw_svg", _I, (_P, _P, _P)), ("draw_text", _I, (_P, _P, _P)), ("schedule_read", _I, (_S, _P, WARN, _P)),
    ("schedule_write", _I, (_P, _P, _U, CALLBACK, _P, _P)), ("export", _I, (_P, _I, _U, _D, CALLBACK, _P, _P)),
]


class Functions:
    """The functions of a library by their names without ``trv_``."""

    def __init__(self, library: c.CDLL, table: List[Tuple[str, Any, Tuple[Any, ...]]]) -> None:
        for name, result, arguments in table:
            function = getattr(library, "trv_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"the library has no function trv_{name}")


def _load(stem: str) -> c.CDLL:
    name = f"lib{stem}.so.0"
    bundled = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    folder = os.environ.get("TRIVANCE_LIBRARY")
    path = bundled if os.path.exists(bundled) else os.path.join(folder, name) if folder else name
    try:
        return c.CDLL(path)
    except OSError as error:
        raise LibraryError(f"{name} cannot be loaded ({error}); install libtrivance0 and libtrivance-formats0, or set "
                           "TRIVANCE_LIBRARY to the folder that has it") from None


def _open() -> Tuple[Functions, Functions]:
    core = _load("trivance")
    try:
        core.trv_version.restype = c.c_char_p
        version = core.trv_version().decode()
        if version != __version__:
            raise LibraryError(f"libtrivance.so.0 is version {version}; this package works with version {__version__} "
                               "only, install both from one source")
        return Functions(core, _CORE), Functions(_load("trivance_formats"), _FORMATS)
    except AttributeError as error:
        raise LibraryError(f"libtrivance.so.0 is not of version {__version__}: {error}") from None


lib, formats = _open()


def fail(sentence: str) -> ArgumentError:
    """An error about an argument that the Python code detects."""
    return ArgumentError(sentence)


def check(code: int) -> int:
    """Returns a code that is not an error; raises the exception of an error code."""
    if code >= 0:
        return code
    sentence = lib.last_error().decode(errors="replace")
    raise _ERRORS.get(code, TrivanceError)(sentence, code)


def call(function: Callable[..., int], *arguments: Any) -> int:
    """`check` for a function that may take long; Ctrl-C cancels it."""
    return check(run(function, arguments))


def text(value: Any) -> bytes:
    """A name or path for the library."""
    encoded = os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode(errors="surrogateescape")
    if b"\0" in encoded:
        raise fail(f"{value!r} has a zero byte, which no name has")
    return encoded


def collective_code(name: str) -> int:
    """The number of a collective."""
    if name in COLLECTIVES:
        return COLLECTIVES.index(name)
    raise fail(f"there is no collective {name!r}; there are {', '.join(COLLECTIVES)}")


def choose(what: str, value: Any, words: Tuple[str, ...]) -> int:
    """The index of one of some words."""
    if value in words:
        return words.index(value)
    raise fail(f"{what} is {value!r}; it is one of {', '.join(words)}")


# ---- Text that the library writes to a stream ------------------------------------------------------------------------

_libc = c.CDLL(None)
_libc.open_memstream.restype, _libc.open_memstream.argtypes = _P, (_P, _P)
_libc.fclose.argtypes = (_P,)
_libc.free.argtypes = (_P,)


def capture(write: Callable[[c.c_void_p], Any]) -> str:
    """The text that a function of the library writes to its stream argument."""
    text, length = c.c_void_p(), c.c_size_t()
    stream = _libc.open_memstream(c.byref(text), c.byref(length))
    if not stream:
        raise OutOfMemoryError("there is not enough memory for a text")
    try:
        code = write(stream)
    finally:
        _libc.fclose(stream)
        try:
            written = c.string_at(text, length.value)
        finally:
            _libc.free(text)
    check(code)
    return written.decode(errors="replace")
