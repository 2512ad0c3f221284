"""The C libraries: finding and loading them, their structures and functions.

Each library is loaded from the folder of the package, if a wheel, an installation or the build has put it there;
otherwise from the folder in the environment variable TRIVANCE_LIBRARY; if that is not set, the dynamic loader finds it.
"""
from __future__ import annotations

import ctypes as c
import importlib
import os
import re
import stat
from types import SimpleNamespace
from typing import Any, Callable, ClassVar, Dict, List, NoReturn, Optional, Sequence, Tuple, Union

from ._errors import ArgumentError as ArgumentError, CancelledError as CancelledError, LibraryError as LibraryError
from ._errors import InvalidScheduleError as InvalidScheduleError, OutOfMemoryError as OutOfMemoryError
from ._errors import TrivanceError as TrivanceError, UnsupportedError as UnsupportedError
from ._progress import CALLBACK, run

#: Of this package, and so of the libraries that it works with. The release sets it with that of the project.
__version__ = "0.3.0"

#: Collectives in which data is combined; and with one block of the vector for each rank.
REDUCING = ("allreduce", "reduce-scatter", "reduce")
BLOCKED = ("reduce-scatter", "allgather", "scatter", "gather", "alltoall")
SYMMETRIES = ("none", "parity", "translation")
ORDERS = ("snake", "thirds", "rows")


_ERRORS = {kind.code: kind for kind in (ArgumentError, UnsupportedError, OutOfMemoryError, InvalidScheduleError,
                                        CancelledError)}


def read_text(path: Union[str, "os.PathLike[str]"]) -> str:
    """The text of a file: as in the C library, a regular file or a pipe, shorter than 2 GiB."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        kind = os.fstat(file.fileno()).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise ArgumentError(f"the file {os.fspath(path)!r} is a device; expected a regular file or a pipe")
        text = file.read(1 << 31)
    if len(text) == 1 << 31:
        raise ArgumentError(f"the file {os.fspath(path)!r} is too large: files are read up to 2 GiB")
    return text


# ---- Structures: trv_slow_link_t of the headers is SlowLink here, with the same declarations (`lambda_` is lambda) ---

WARN = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)
_TYPES: Dict[str, Any] = {
    "int": c.c_int, "unsigned": c.c_uint, "uint32_t": c.c_uint32, "int64_t": c.c_int64, "uint64_t": c.c_uint64,
    "size_t": c.c_size_t, "double": c.c_double, "bool": c.c_bool, "char": c.c_char, "char *": c.c_char_p,
    "void *": c.c_void_p, "trv_progress_t": CALLBACK}


def _declared(declarations: str) -> List[Tuple[str, Any]]:
    """The fields of a structure from declarations in C: "int dims, size[8]; slow_link *link"."""
    fields = []
    for declaration in declarations.split(";"):
        kind, names = declaration.split(maxsplit=1)
        for stars, name, length in re.findall(r"(\**)(\w+)(?:\[(\d+)\])?", names):
            found = _TYPES.get(f"{kind} {stars}".strip())
            if found is None:
                found = _TYPES.get(kind) or globals()[kind]
                found = c.POINTER(found) if stars else found
            fields.append((name, found * int(length) if length else found))
    return fields


class Torus(c.Structure):
    _fields_ = _declared("int dims, size[8], ranks; unsigned lines")


class SlowLink(c.Structure):
    _fields_ = _declared("int rank, port; double factor")


class SlowRank(c.Structure):
    _fields_ = _declared("int rank; double factor")


class Network(c.Structure):
    _fields_ = _declared("size_t size; Torus torus; int slow_links; SlowLink *slow_link; int routes; bool "
                         "no_forwarding; int messages_per_port")


class Hockney(c.Structure):
    _fields_ = _declared("double bandwidth_bps, alpha_ns, hop_ns, message_ns")


class StepCost(c.Structure):
    _fields_ = _declared("int messages; double link_fraction, port_fraction; int hops")


class Cost(c.Structure):
    _fields_ = _declared("int steps; double lambda_, delta, theta; uint64_t messages; StepCost *step")


class PaperCost(c.Structure):
    _fields_ = _declared("double lambda_, delta, theta, theta_limit")


class Limit(c.Structure):
    _fields_ = _declared("double startup_ns, sets_ns, links_ns, time_ns, steps_ns, reference_ns")


class Verdict(c.Structure):
    _fields_ = _declared("size_t size; bool valid, consistent; int method; int64_t ranks, units, messages; double "
                         "seconds; int fault_rank, fault_stream, fault_step; int64_t fault_unit; char fault[512]")


class Parameter(c.Structure):
    _fields_ = _declared("char *name; int kind; unsigned affects; char *value, *words, *usual, *sentence; double low, "
                         "high; char *member, *mark; size_t offset, bytes, mark_offset; char *summary, *needs; "
                         "double unit")


class ParameterEntry(c.Structure):
    _fields_ = _declared("int rank, port; double factor; bool one_way")


class LinkLoad(c.Structure):
    _fields_ = _declared("uint64_t packets, bytes; double busy_ns; uint32_t queue_max")


class Simulation(c.Structure):
    _fields_ = _declared("double time_ns; uint64_t time_fs, messages, packets, packet_hops, simulated_hops; "
                         "int simulated_ranks; uint32_t packet_bytes; LinkLoad *link")


class PlannerConstraints(c.Structure):
    _fields_ = _declared("size_t size; bool consistent, idempotent; uint64_t memory_bytes")


class PlannerChoice(c.Structure):
    _fields_ = _declared("char algorithm[128]; int steps; bool consistent; "
                         "double time_ns, alpha_ns, hops_ns, transmission_ns; bool approximate")


class CompareRow(c.Structure):
    _fields_ = _declared(
        "int code; char *reason; char algorithm[128]; double time_ns; bool approximate, covers; "
        "double wall_s; uint64_t messages, packets, packet_hops, simulated_hops; Limit limit; double ratio")


DONE = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_int64, c.POINTER(CompareRow))
_TYPES["trv_compare_done_t"] = DONE


class CompareOptions(c.Structure):
    _fields_ = _declared("size_t size; int workers; trv_progress_t progress; void *progress_context; "
                         "trv_compare_done_t done; void *done_context")


class PlannerNodeChoice(c.Structure):
    _fields_ = _declared("int order; Torus torus; PlannerChoice choice")


class Shifts(c.Structure):
    _fields_ = _declared("int count, *vector")


class Product(c.Structure):
    _fields_ = _declared("int halves, count[8], *value[8], shifts; Shifts *shift")


class Blocks(c.Structure):
    _fields_ = _declared("Torus *space; int halves, terms; Product term[2]")


class Part(c.Structure):
    _fields_ = _declared("int reg; bool slots; Blocks blocks")


class Message(c.Structure):
    _fields_ = _declared("int peer, port, nic, parts; Part *part")


class Combine(c.Structure):
    _fields_ = _declared("int dst, sources, *source, first; Blocks blocks")


class Step(c.Structure):
    _fields_ = _declared("int dimension, sends; Message *send; int receives; Message *receive; int combines; "
                         "Combine *combine; void *arena")


class SentMessage(c.Structure):
    _fields_ = _declared("int stream, step, from_, to, port, nic; int64_t units; uint64_t bytes")


class Messages(c.Structure):
    _fields_ = _declared("int64_t count; SentMessage *message")


class ExplicitOptions(c.Structure):
    _fields_ = _declared(
        "size_t size; int collective, root, streams, steps, registers; int64_t units; int symmetry, exactness; bool "
        "consistent; int messages_per_port, mirrored_streams; int64_t *position; int *weight")


class ExplicitPart(c.Structure):
    _fields_ = _declared("int from_reg, to_reg; bool slots; int64_t count, *unit")


class DrawOptions(c.Structure):
    _fields_ = _declared("size_t size; Network *network; Cost *cost; uint64_t vector_bytes; int rank; bool all_ranks; "
                         "int stream; bool no_blocks; char *note; bool ascii; int columns")


class ScheduleFile(c.Structure):
    _fields_ = _declared("void *schedule; uint64_t vector_bytes; bool has_blocks, no_forwarding; int slow_links; "
                         "SlowLink slow_link[128]")


# ---- Functions by their results: names without trv_, and a letter for each argument ----------------------------------

_LETTERS = {"P": c.c_void_p, "s": c.c_char_p, "i": c.c_int, "I": c.c_uint, "q": c.c_int64, "Q": c.c_uint64,
            "d": c.c_double, "F": CALLBACK, "W": WARN}
CORE: Dict[Any, str] = {
    c.c_int: """torus_parse sP, torus_init PiP, torus_set_lines PI, torus_rank PP, algorithms_count,
        algorithm_symmetry P, algorithm_exactness P, algorithm_colour P, algorithm_supports PPi, network_check P,
        network_check_connected P, order_nodes PiiP, schedule_create_on PPsii, schedule_embed PPPP,
        schedule_collective P, schedule_root P, schedule_streams P, schedule_steps P, schedule_registers P,
        schedule_messages_per_port P, schedule_symmetry P, schedule_exactness P, schedule_weight Pi,
        schedule_step PiiiP, schedule_messages PQPFP, explicit_create PPsP, explicit_message PiiiiiiiiP,
        explicit_combine PiiiiiPqP, verify_on PPiPFP, cost_measure PP, cost_time_ns PPQP, simulator_create PP,
        simulate PPQP, simulate_check PP, simulate_bound_ns PPQP, planner_best PiiQPPP, planner_create PPiiPP,
        planner_rank PQiP, planner_time PQsP, planner_nodes PiPiiQPPiP, parameter_set Pss,
        parameter_parse_entry ssP, quantity_parse isP, sizes_parse sPiP, compare_create P, compare_run PP,
        compare_limit PPiiQP""",
    c.c_bool: """algorithm_consistent P, algorithm_in_rank_order P, algorithm_latency_optimal P, algorithm_baseline P,
        algorithm_has_collective Pi, parameter_is_default PP, schedule_consistent P, schedule_mirrored Pi""",
    c.c_int64: "schedule_units P, blocks_count P, compare_add PP",
    c.c_char_p: """last_error, version, schedule_name P, algorithm_name P, algorithm_family P, algorithm_title P,
        algorithm_source P, algorithm_sizes P, algorithm_use P, algorithm_steps_formula P, algorithm_bytes_formula P,
        algorithm_parameters P, collective_name i, collective_title i, parameter_format PPs""",
    c.c_void_p: "algorithm_at i, algorithm_find s",
    c.POINTER(Parameter): "parameter_at i",
    c.POINTER(Torus): "schedule_torus P",
    c.POINTER(CompareRow): "compare_row Pq",
    None: """torus_coordinates PiP, algorithm_paper_cost PPP, schedule_destroy P, step_clear P, blocks_list PP,
        messages_clear P, cost_clear P, simulator_destroy P, simulation_clear P, planner_destroy P,
        compare_destroy P"""}
FORMATS: Dict[Any, str] = {
    c.c_int: """draw_svg PPP, draw_text PPP, schedule_read sPWP, schedule_write PPQFPP, export PiQdFPP,
        export_chakra PsQdFP, profile_read sPP""",
    c.c_char_p: "profile_name i, profile_title i"}


def _functions(library: c.CDLL, table: Dict[Any, str]) -> Any:
    """The functions of a library, as attributes without ``trv_``."""
    found = SimpleNamespace()
    for result, functions in table.items():
        for name, letters in re.findall(r"(\w+)(?: (\w+))?", functions):
            function = getattr(library, "trv_" + name)
            function.restype, function.argtypes = result, [_LETTERS[letter] for letter in letters]
            setattr(found, name, function)
    return found


def _load(stem: str) -> c.CDLL:
    name = f"lib{stem}.so.0"
    bundled = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    path = bundled if os.path.exists(bundled) else os.path.join(os.environ.get("TRIVANCE_LIBRARY", ""), name)
    try:
        return c.CDLL(path)
    except OSError as error:
        raise LibraryError(f"{name} cannot be loaded ({error}); install libtrivance0 and libtrivance-formats0, or set "
                           "TRIVANCE_LIBRARY to the folder that has it") from None


def _open() -> Tuple[Any, Any]:
    core = _load("trivance")
    try:
        core.trv_version.restype = c.c_char_p
        version = core.trv_version().decode()
        if version != __version__:
            raise LibraryError(f"libtrivance.so.0 is version {version}; this package works with version {__version__} "
                               "only, install both from one source")
        return _functions(core, CORE), _functions(_load("trivance_formats"), FORMATS)
    except AttributeError as error:
        raise LibraryError(f"libtrivance.so.0 is not of version {__version__}: {error}") from None


lib, formats = _open()


def _names(function: Callable[[int], Optional[bytes]]) -> Tuple[str, ...]:
    """The names of a table of the library, in its order."""
    found: List[str] = []
    while (name := function(len(found))) is not None:
        found.append(name.decode())
    return tuple(found)


#: "reduce-scatter", and "Reduce-Scatter" at the same place.
COLLECTIVES, TITLES = _names(lib.collective_name), _names(lib.collective_title)


# ---- The table of the parameters of networks -------------------------------------------------------------------------

RATE, TIME, BYTES, SHARE, FACTOR, WHOLE, WORD, FLAG, DIMENSIONS, LIST = range(10)
STATED_RESULTS = 8
_MEMBERS = {RATE: c.c_double, TIME: c.c_double, SHARE: c.c_double, WHOLE: c.c_uint64, WORD: c.c_int, FLAG: c.c_bool,
            DIMENSIONS: c.c_uint}


def _parameters() -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    while row := lib.parameter_at(len(found)):
        found[row.contents.name.decode()] = row.contents
    return found


def _members() -> List[Tuple[str, Any]]:
    """The members of the options of simulations that the table has, in the order of their offsets."""
    found: Dict[int, Tuple[str, Any]] = {}
    for row in PARAMETERS.values():
        if row.kind != LIST:
            kind = _MEMBERS.get(row.kind) or {4: c.c_uint32, 8: c.c_uint64}[row.bytes]
            found[row.offset] = row.member.decode(), kind
        if row.mark:
            found[row.mark_offset] = row.mark.decode(), c.c_bool
    return [found[offset] for offset in sorted(found)]


#: The rows by name, in the order of the table.
PARAMETERS = _parameters()


class SimulateOptions(c.Structure):
    _fields_ = _declared("size_t size; bool full, link_loads; void *observer; trv_progress_t progress; "
                         "void *progress_context; int slow_ranks, slow_links; SlowRank *slow_rank; "
                         "SlowLink *slow_link") + _members()


class ComparePoint(c.Structure):
    _fields_ = _declared("size_t size; Torus torus; SimulateOptions *network; int collective, root; uint64_t "
                         "vector_bytes; char *algorithms; void *schedule; bool as_planned, with_limit")


# ---- Calls -----------------------------------------------------------------------------------------------------------

def check(code: int) -> int:
    """Returns a code that is not an error; raises the exception of an error code."""
    if code >= 0:
        return code
    sentence = lib.last_error().decode(errors="replace")
    raise _ERRORS.get(code, TrivanceError)(sentence)


def call(function: Callable[..., int], *arguments: Any) -> int:
    """`check` for a function that may take long; Ctrl-C cancels it."""
    return check(run(function, arguments))


class Handle:
    """The owner of an object of the library, which is destroyed with it."""

    __slots__ = ("_pointer", "__weakref__")
    _pointer: Optional[int]
    _destroy: ClassVar[str]

    def __del__(self) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer is not None and lib is not None:  # it is gone when the interpreter exits
            self._pointer = None
            getattr(lib, self._destroy)(pointer)

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise UnsupportedError(f"a {type(self).__name__} belongs to this process and cannot be copied or pickled; make "
                               "it where it is used, for example from its name and its network")


def array(kind: Any, values: Sequence[Any]) -> Any:
    """An array of the library."""
    return (kind * len(values))(*values)


def table(pointer: Any, count: int) -> Any:
    """A structured array with a copy of `count` structures of the library."""
    import numpy as np
    return np.frombuffer(bytearray(c.string_at(pointer, count * c.sizeof(pointer._type_))), dtype=pointer._type_)


def text(value: Any, what: str) -> bytes:
    """A name or path for the library."""
    try:
        encoded = os.fsencode(value) if isinstance(value, (str, os.PathLike)) else b"\0"
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise ArgumentError(f"{what} is {value!r}; it is a string without zero bytes and lone surrogates")
    return encoded


def set_parameter(options: SimulateOptions, name: str, value: str, what: str) -> None:
    """Sets a parameter of a network from text."""
    code = lib.parameter_set(c.byref(options), name.encode(), text(value, what))
    if code < 0:
        raise ArgumentError(f"{what}: {lib.last_error().decode(errors='replace')}")


def choose(what: str, value: Any, words: Tuple[str, ...]) -> int:
    """The index of one of some words."""
    if isinstance(value, str) and value in words:
        return words.index(value)
    raise ArgumentError(f"{what} is {value!r}; it is one of {', '.join(words)}")


def collective_code(name: str) -> int:
    """The number of a collective."""
    return choose("collective", name, COLLECTIVES)


def need(module: str, user: str) -> Any:
    """An optional package."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnsupportedError(f"{user} needs {module.split('.')[0]}, which cannot be imported ({error}); install it") \
            from None


# ---- Text that the library writes to a stream ------------------------------------------------------------------------

_libc = c.CDLL(None)
_libc.open_memstream.restype, _libc.open_memstream.argtypes = c.c_void_p, (c.c_void_p, c.c_void_p)
_libc.fclose.argtypes = _libc.free.argtypes = (c.c_void_p,)


def capture(write: Callable[[c.c_void_p], Any]) -> str:
    """The text that a function of the library writes to its stream argument."""
    written, length = c.c_void_p(), c.c_size_t()
    stream = _libc.open_memstream(c.byref(written), c.byref(length))
    if not stream:
        raise OutOfMemoryError("there is not enough memory for a text")
    try:
        code = write(stream)
    finally:
        _libc.fclose(stream)
        found = c.string_at(written, length.value)
        _libc.free(written)
    check(code)
    return found.decode(errors="replace")
