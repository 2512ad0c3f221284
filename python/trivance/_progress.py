"""Ctrl-C, progress and cancellation of long calls, through the callback that the library calls about every 10 ms.

There is one callback for all calls. It runs in the thread of the call, so what it reports to is kept per thread.
"""
from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from typing import Any, Callable, Iterator, Optional, Union

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)

#: What ``progress=`` takes: a function of the fraction that is done, False for none, None for a bar on a terminal.
Progress = Union[None, bool, Callable[[float], Any]]


class _Thread(threading.local):
    report: Optional[Callable[[float], Any]] = None
    error: Optional[BaseException] = None


_thread = _Thread()


def _call(_context: int, fraction: float) -> int:
    """Python handles signals as this function begins, which raises KeyboardInterrupt within it."""
    try:
        if _thread.report is not None:
            _thread.report(fraction)
        return 0
    except BaseException as error:  # pylint: disable=broad-except; it is raised again after the call
        _thread.error = error
        return 1


callback = CALLBACK(_call)


def raise_pending() -> None:
    """Raises what ended the call of this thread, if that was an exception in its callback."""
    error, _thread.error = _thread.error, None
    if error is not None:
        raise error


@contextlib.contextmanager
def watch(progress: Progress, title: str) -> Iterator[None]:
    """Reports the progress of the calls within, which are one piece of work."""
    before = _thread.report
    with meter(progress, title) as report:
        _thread.report = report
        try:
            yield
        finally:
            _thread.report = before


@contextlib.contextmanager
def meter(progress: Progress, title: str) -> Iterator[Optional[Callable[[float], Any]]]:
    """A function that takes fractions: the caller's, that of a bar (tqdm, if it is installed), or None."""
    if callable(progress):
        yield progress
        return
    bar = _bar(title) if progress or (progress is None and sys.stderr.isatty()) else None
    if bar is None:
        yield None
        return
    try:
        yield lambda fraction: bar.update(fraction - bar.n)
    finally:
        bar.close()


def _bar(title: str) -> Any:
    try:
        from tqdm import tqdm  # type: ignore[import]
    except ImportError:
        return None
    return tqdm(total=1.0, desc=title, delay=0.5, leave=False, bar_format="{l_bar}{bar}| {remaining}")
