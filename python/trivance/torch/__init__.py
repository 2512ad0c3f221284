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

import torch.distributed

from . import _C, _launch

dist: Any = torch.distributed  # whose functions have no types, and differ between PyTorch 1.13 and 2

__all__ = ["Options", "monitored_barrier", "ports"]
__version__: str = _C.version
_LONGEST = timedelta(days=36500)  # PyTorch counts nanoseconds, which overflow for longer times


@dataclass(frozen=True)
class Options:
    """Settings of one process group, in place of those of the environment: the `pg_options` of init_process_group and
    new_group. Those of rank 0 apply.

    Parameters
    ----------
    torus : str
        How the group's ranks are wired, ``"3x3"``; by default TRIVANCE_TORUS if that has as many ranks, otherwise a ring.
    algorithm : str
        A name of `trivance list`; by default the planner's choice.
    provider : str
        Of libfabric, ``"tcp"``.
    ports : str
        The interface of each port, ``"+0=eth1,-0=eth2"``.
    half : {"wide", "narrow"}
        Sums, means and products of half and bfloat16 are made in float and rounded once, at twice the bytes; or they are
        rounded in every step.

    Raises
    ------
    TypeError, ValueError
        A setting is no string; half is another word.
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
        return group._get_backend(torch.device("cpu"))
    return group


def monitored_barrier(group: Optional[Any] = None, timeout: Optional[timedelta] = None,
                      wait_all_ranks: bool = False) -> None:
    """The barrier torch.distributed.monitored_barrier, which PyTorch 1.13 has for gloo only.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default that of all ranks.
    timeout : datetime.timedelta, optional
        By default 30 s.
    wait_all_ranks : bool
        The error names all ranks that did not arrive within the timeout, otherwise the first of them.

    Raises
    ------
    RuntimeError
        A rank did not arrive.
    """
    timeout = timeout if timeout is not None else timedelta(seconds=30)
    _of(group).monitored_barrier(min(timeout, _LONGEST), wait_all_ranks)


def ports(group: Optional[Any] = None) -> List[Dict[str, Any]]:
    """The network interfaces by which the group's messages leave, with the traffic so far.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default that of all ranks.

    Returns
    -------
    list of dict
        ``interface``, ``provider``, ``address``, ``ways``, ``bytes_sent``, ``bytes_received``, ``messages_sent`` and
        ``messages_received``.
    """
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
