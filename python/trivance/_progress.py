"""Ctrl-C, progress and cancellation of long calls, through the callback that the library calls about every 10 ms.

All calls share one callback. It runs in the thread of the call, so the receiver of its reports is stored per thread.

Python runs signal handlers at the start of a function, in the callback before any `try`, and ctypes drops their
exceptions. So during a long call of the main thread signals that end programs are only noted; the callback then calls
the program's handler, whose exception (KeyboardInterrupt, unless the program has a handler of its own) ends the call.
"""
from __future__ import annotations

import contextlib
import _signal  # type: ignore[import]  # signal's own functions convert to enumerations, which takes longer than a plan
import ctypes
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from ._errors import ArgumentError, UnsupportedError

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)

#: What ``progress=`` takes: a function of the fraction that is done, False for none, None for a bar on a terminal.
Progress = Union[None, bool, Callable[[float], Any]]
Report = Optional[Callable[[float], Any]]


_ENDING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


class _Thread(threading.local):
    report: Report = None
    error: Optional[BaseException] = None
    running = False                          # whether a long call is in progress
    handlers: Dict[int, Any] = {}            # of the program, by signal
    noted: Optional[Tuple[int, Any]] = None  # its arguments, if the signal has arrived


_thread = _Thread()


def _handle_noted() -> None:
    noted, _thread.noted = _thread.noted, None
    if noted is not None:
        _thread.handlers[noted[0]](*noted)


def _call(_context: int, fraction: float) -> int:
    try:
        if _thread.error is None:
            _handle_noted()
            if _thread.report is not None:
                _thread.report(fraction)
        return int(_thread.error is not None)
    except BaseException as error:  # pylint: disable=broad-except; it is raised again after the call
        _thread.error = error
        return 1


callback = CALLBACK(_call)


def stop(error: BaseException) -> int:
    """The result of another callback of the library that ends the call; `run` raises the exception after it."""
    _thread.error = error
    return 1


def _note(number: int, frame: Any) -> None:
    _thread.noted = number, frame


def run(function: Callable[..., int], arguments: Any) -> int:
    """The code that a long function of the library returns. Exceptions in its callback, and those of Ctrl-C, are
    raised.

    Ctrl-C may also raise after a function that has succeeded: the caller frees its results.
    """
    if _thread.running:  # the planner would wait for its own lock
        raise UnsupportedError("a progress function, and a handler of SIGINT during a long call, cannot make long "
                               "calls of the library; make them after the call")
    _thread.error, _thread.running = None, True
    handlers: Dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            handlers = {number: handler for number in _ENDING if callable(handler := _signal.getsignal(number))}
            _thread.handlers = handlers
            for number in handlers:
                _signal.signal(number, _note)
        code = function(*arguments)
    finally:
        _thread.running = False
        for number, handler in handlers.items():
            if _signal.getsignal(number) is _note:
                _signal.signal(number, handler)
        _handle_noted()
    error, _thread.error = _thread.error, None
    if error is not None:
        raise error
    return code


@contextlib.contextmanager
def watch(progress: Progress, title: str) -> Iterator[None]:
    """Reports the progress of the calls within the context as that of one operation."""
    before = _thread.report
    if progress is None and before is not None:  # part of another operation
        yield
        return
    with meter(progress, title) as report:
        _thread.report = report
        try:
            yield
        finally:
            _thread.report = before


@contextlib.contextmanager
def meter(progress: Progress, title: str) -> Iterator[Report]:
    """A function that receives fractions: the caller's, that of a progress bar (tqdm, if it is installed), or None."""
    if not callable(progress) and progress is not None and not isinstance(progress, bool):
        raise ArgumentError(f"progress is {progress!r}; it is a function of a fraction, True, False or None")
    if callable(progress) or progress is False or (progress is None and not sys.stderr.isatty()):
        yield progress or None
        return
    bars: List[Any] = []

    def report(fraction: float) -> None:
        if not bars:  # the first report comes after 10 ms, so that short calls need not import tqdm
            bars.append(_bar(title))
        if bars[0] is not None:
            bars[0].update(fraction - bars[0].n)

    try:
        yield report
    finally:
        if bars and bars[0] is not None:
            bars[0].close()


def _bar(title: str) -> Any:
    try:
        from tqdm import tqdm  # type: ignore[import]
    except ImportError:
        return None
    return tqdm(total=1.0, desc=title, delay=0.5, leave=False, bar_format="{l_bar}{bar}| {remaining}")
