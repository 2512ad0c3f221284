"""Trivance as a backend of torch.distributed.

    import torch.distributed as dist
    import trivance.torch                    # registers the backend
    dist.init_process_group("trivance")      # under torchrun or mpirun

The environment defines the torus of the processes and their interfaces (TRIVANCE_TORUS, TRIVANCE_PORTS, …), as
everywhere in Trivance; `Options` defines them for one group. docs/pytorch.md describes the backend.
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
_TIMEOUT_MAX = timedelta(days=36500)  # PyTorch counts nanoseconds, which overflow for longer times


@dataclass(frozen=True)
class Options:
    """Options of one process group, which take precedence over the environment: the `pg_options` of init_process_group
    and new_group. Those of rank 0 apply.

    Parameters
    ----------
    torus : str
        The torus of the group's ranks, ``"3x3"``; by default TRIVANCE_TORUS if it has as many ranks, otherwise a ring.
    algorithm : str
        A name of `trivance list`; by default the planner's choice.
    provider : str
        Of libfabric, ``"tcp"``.
    ports : str
        The interface of each port, ``"+0=eth1,-0=eth2"``.
    half : {"wide", "narrow"}
        Sums, means and products of half and bfloat16 are computed in float and rounded once, which sends twice the
        bytes; or they are rounded in every step.

    Raises
    ------
    TypeError, ValueError
        An option is not a string; half has another value.
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
                raise TypeError(f"trivance.torch.Options: {name} must be a string, not {value!r}")
        if self.half not in ("wide", "narrow"):
            raise ValueError(f'trivance.torch.Options: half must be "wide" or "narrow", not {self.half!r}')


def _create_group(settings: Any, options: Optional[Options]) -> Any:
    """Creates a process group; called by torch.distributed."""
    if options is None:
        options = Options()
    if not isinstance(options, Options):
        raise TypeError(f"pg_options of the backend trivance must be trivance.torch.Options, not {options!r}")
    timeout = settings.timeout
    if not isinstance(timeout, timedelta):
        timeout = timedelta(seconds=timeout)
    _close_at_exit()
    if not timedelta(0) < timeout < _TIMEOUT_MAX:
        timeout = _TIMEOUT_MAX
    return _C.make_group(settings.store, settings.group_rank, settings.group_size, timeout, options.torus,
                         options.algorithm, options.provider, options.ports, options.half == "narrow")


def _backend_of(group: Optional[Any]) -> Any:
    """The C++ object of a group: the group itself, in PyTorch 2 its backend."""
    group = group if group is not None else dist.distributed_c10d._get_default_group()
    if hasattr(group, "_get_backend"):
        return group._get_backend(torch.device("cpu"))
    return group


def monitored_barrier(group: Optional[Any] = None, timeout: Optional[timedelta] = None,
                      wait_all_ranks: bool = False) -> None:
    """Like torch.distributed.monitored_barrier, which PyTorch 1.13 limits to gloo.

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
    _backend_of(group).monitored_barrier(min(timeout, _TIMEOUT_MAX), wait_all_ranks)


def ports(group: Optional[Any] = None) -> List[Dict[str, Any]]:
    """The network interfaces that the group's messages use, with the traffic so far.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default that of all ranks.

    Returns
    -------
    list of dict
        ``interface``, ``provider``, ``address``, ``ports``, ``bytes_sent``, ``bytes_received``, ``messages_sent`` and
        ``messages_received``.
    """
    return _C.ports_of(_backend_of(group))


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
        dist.Backend.register_backend("trivance", _create_group, extended_api=True, devices=["cpu", "cuda"])
    except TypeError:  # before PyTorch 2, backends had no devices
        dist.Backend.register_backend("trivance", _create_group, extended_api=True)
    atexit.register(_close)
