"""Trivance: collectives on rings, tori and meshes; schedules, proofs, costs, simulations and plans.

>>> import trivance as tv
>>> net = tv.Network("8x8m", bandwidth="800Gb/s", alpha="1.5us", cuts=["3:+0"])
>>> net.plan("1MiB")                                    # doctest: +ELLIPSIS
Choice(name='…', steps=…, time=…, limit=…)
>>> s = tv.Schedule("trivance-b", "27x27")
>>> s.verify()                                          # doctest: +ELLIPSIS
Proof(exact=True, consistent=True, …)
>>> len(s.messages)                                     # stream, step, src, dst, port, units, bytes
34992
>>> s.simulate(sizes=["32KiB", "1MiB"])                 # doctest: +SKIP
>>> tv.compare("32x32", ["trivance", "swing", "bruck", "bucket", "planned"], sizes="32:128M").plot() # doctest: +SKIP

Sizes are bytes, times seconds, rates bit/s; each may be a string with a unit: ``"1MiB"``, ``"1.5us"``, ``"800Gb/s"``.
Errors are exceptions below `TrivanceError` with one sentence, that of the library.
"""
from ._errors import (ArgumentError, CancelledError, InvalidScheduleError, LibraryError, OutOfMemoryError,
                      TrivanceError, UnsupportedError)
from ._library import __version__
from ._units import format_bytes, to_bytes as parse_bytes, to_sizes as parse_sizes
from ._profiles import profile_sources, profiles
from .limit import Limit
from .network import Network
from .planner import Algorithm, Choice, PaperCost, Planner, algorithms, find_algorithm, plan
from .schedule import Cost, Proof, Schedule
from .simulation import Comparison, Simulation, Simulator, compare
from .sweep import sweep
from .torus import Torus

__all__ = [
    "Algorithm", "ArgumentError", "CancelledError", "Choice", "Comparison", "Cost", "InvalidScheduleError",
    "LibraryError", "Limit", "Network", "OutOfMemoryError", "PaperCost", "Planner", "Proof", "Schedule", "Simulation",
    "Simulator", "Torus", "TrivanceError", "UnsupportedError", "__version__", "algorithms", "compare", "find_algorithm",
    "format_bytes", "parse_bytes", "parse_sizes", "plan", "profile_sources", "profiles", "sweep",
]
