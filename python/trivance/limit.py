"""Lower bounds on the time of any schedule."""
from __future__ import annotations

import ctypes as c
from typing import TYPE_CHECKING, NamedTuple

from . import _library as L
from ._units import Bytes, to_bytes
from .torus import to_root

if TYPE_CHECKING:
    from .network import Network


class Limit(NamedTuple):
    """Lower bounds on the time of any schedule, in seconds.

    Attributes
    ----------
    time : float
        The largest of `startup` (a step and the hops of the farthest pair), `sets` (what must leave and enter sets of
        ranks) and `links` (what all links together carry).
    steps : float
        `startup` if every rank sends at most one message per port and step.
    """

    time: float
    startup: float
    sets: float
    links: float
    steps: float


def find_limit(network: Network, size: Bytes, collective: str, root: int = 0) -> Limit:
    """See `Network.limit`."""
    if network.nodes is not None:
        raise L.UnsupportedError("there are lower bounds for whole networks only; make the network without nodes")
    found = L.Limit()
    L.check(L.lib.compare_limit(c.byref(network.torus._struct), c.byref(network._options),
                                L.collective_code(collective), to_root(root, network.torus), to_bytes(size),
                                c.byref(found)))
    return Limit(*(getattr(found, name + "_ns") / 1e9 for name in Limit._fields))
