"""Trivance as a backend of torch.distributed.

    import torch.distributed as dist
    import trivance.torch                    # registers the backend
    dist.init_process_group("trivance")      # under torchrun or mpirun

The environment says how the processes are wired (TRIVANCE_TORUS, TRIVANCE_PORTS, …), as everywhere in Trivance; `Options`
says it for one group. docs/pytorch.md has all of it.
"""

import atexit
import multiprocessing.util
import os
import sys
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Dict, List, Optional, Set

import torch.distributed as dist

from . import _C, _launch

__all__ = ["Options", "monitored_barrier", "ports"]
__version__: str = _C.version
_LONGEST = timedelta(days=36500)  # PyTorch counts nanoseconds, which overflow for longer times


@dataclass(frozen=True)
class Options:
    """What one process group is to have in place of what the environment says: the `pg_options` of init_process_group and
    new_group. The same on all ranks, of which rank 0's hold.

    torus      how the group's ranks are wired, "3x3"; TRIVANCE_TORUS, where that has as many ranks, else a ring
    algorithm  a name of `trivance list`; the planner's choice
    provider   of libfabric, "tcp"
    ports      which interface leads which way, "+0=eth1,-0=eth2"
    half       "wide": sums, means and products of half and bfloat16 are made in float and rounded once, at twice the
               bytes; "narrow": they are rounded in every step
    """

    torus: str = ""
    algorithm: str = ""
    provider: str = ""
    ports: str = ""
    half: str = "wide"

    def __post_init__(self) -> None:
        for name in ("torus", "algorithm", "provider", "ports", "half"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise TypeError(f"trivance.torch.Options: {name} is a text, and {value!r} is none")
        if self.half not in ("wide", "narrow"):
            raise ValueError(f'trivance.torch.Options: half is "wide" or "narrow", and not {self.half!r}')


def _make(where: Any, options: Optional[Options]) -> Any:
    """Creates a process group; called by torch.distributed."""
    if options is None:
        options = Options()
    if not isinstance(options, Options):
        raise TypeError(f"the backend trivance takes trivance.torch.Options as pg_options, and not {options!r}")
    timeout = where.timeout
    if not isinstance(timeout, timedelta):
        timeout = timedelta(seconds=timeout)
    _close_at_exit()
    if not timedelta(0) < timeout < _LONGEST:
        timeout = _LONGEST
    return _C.make_group(where.store, where.group_rank, where.group_size, timeout, options.torus, options.algorithm,
                         options.provider, options.ports, options.half == "narrow")


def _of(group: Optional[Any]) -> Any:
    """The C++ object of a group: the group itself, in PyTorch 2 its backend."""
    group = group if group is not None else dist.distributed_c10d._get_default_group()
    if hasattr(group, "_get_backend"):
        import torch
        return group._get_backend(torch.device("cpu"))
    return group


def monitored_barrier(group: Optional[Any] = None, timeout: Optional[timedelta] = None,
                      wait_all_ranks: bool = False) -> None:
    """As torch.distributed.monitored_barrier, which PyTorch 1.13 keeps for gloo: a barrier that says which ranks did not come
    within the timeout (30 s), the first of them, or all."""
    timeout = timeout if timeout is not None else timedelta(seconds=30)
    _of(group).monitored_barrier(min(timeout, _LONGEST), wait_all_ranks)


def ports(group: Optional[Any] = None) -> List[Dict[str, Any]]:
    """The network interfaces that the group's messages leave by, with what has left and arrived so far."""
    return _C.ports_of(_of(group))


def _close() -> None:
    """Closes groups that the program did not destroy; after an exception, the other ranks receive it immediately."""
    error = getattr(sys, "last_value", None)
    if error is not None:
        text = " ".join(str(error).split())
        _C.close_all(f"it ended with {type(error).__name__}{': ' if text else ''}{text[:200]}")
    else:
        _C.close_all("")


def _close_at_exit() -> None:
    """Registers _close for processes of multiprocessing, which do not run atexit handlers."""
    if multiprocessing.parent_process() is not None and os.getpid() not in _closing:
        _closing.add(os.getpid())
        multiprocessing.util.Finalize(None, _close, exitpriority=0)


_closing: Set[int] = set()
_launch.fill_environment()
if hasattr(dist, "is_available") and dist.is_available():
    try:
        dist.Backend.register_backend("trivance", _make, extended_api=True, devices=["cpu", "cuda"])
    except TypeError:  # before PyTorch 2, backends had no devices
        dist.Backend.register_backend("trivance", _make, extended_api=True)
    atexit.register(_close)
