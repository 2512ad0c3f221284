"""Quantities as numbers in SI units, or as strings with a unit, which the library parses as it does for the tool.

Bytes are whole numbers; K, KiB, M, MiB, G, GiB, T and TiB are powers of 1024. Rates are bits per second ("800Gb/s") or
bytes ("100GB/s"), K, M, G, T powers of 1000. Times are seconds ("1.5us").
"""
from __future__ import annotations

import ctypes as c
import functools
import math
import numbers
import sys
from typing import Any, List, Union

from . import _library as L
from ._library import ArgumentError

#: A size: bytes, or a string such as "64KiB".
Bytes = Union[int, str]
#: A time: seconds, or a string such as "1.5us".
Time = Union[float, str]
#: A rate: bits per second, or a string such as "800Gb/s".
Rate = Union[float, str]

BYTES_MAX = 1 << 50
SIZES_MAX = 4096


@functools.lru_cache(maxsize=4096)
def _parse(kind: int, text: str, what: str) -> float:
    value = c.c_double()
    if L.lib.quantity_parse(kind, L.text(text, what), c.byref(value)) < 0:
        raise ArgumentError(f"{what}: {L.lib.last_error().decode(errors='replace')}")
    return value.value


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


#: Of the kinds that numbers may have: how many of the library's units one is, and what is allowed.
_NUMBERS = {L.TIME: (1e9, "a time from 0 on, for example 1.5e-6 (seconds) or '1.5us'"),
            L.RATE: (1.0, "a rate, for example 800e9 (bit/s) or '800Gb/s'"),
            L.SHARE: (1.0, "a number from 0 to 1, for example 0.1, or '10%'"),
            L.FACTOR: (1.0, "a factor from 1 on or 'down', for example 4 or '4x'")}


def to_quantity(kind: int, value: Any, what: str) -> float:
    """A quantity of at least 0 in the library's unit: ns, bit/s, a share or a factor."""
    unit, allowed = _NUMBERS[kind]
    if isinstance(value, str):
        return _parse(kind, value, what)
    if _is_number(value) and 0 <= value < math.inf:
        # 15 digits: 1.5e-06 s are 1500 ns, not 1499.9999999999998
        return float(format(float(value) * unit, ".15g"))
    raise ArgumentError(f"{what} is {value!r}; it is {allowed}")


to_ns = functools.partial(to_quantity, L.TIME)
to_bps = functools.partial(to_quantity, L.RATE)


def to_factor(value: Any, what: str) -> float:
    """A factor of time: 4, "4x"; infinite or "down" for a cut link."""
    if isinstance(value, (str, float)) and value in ("down", math.inf):
        return math.inf
    return to_quantity(L.FACTOR, value, what)


def to_bytes(value: Any, what: str = "a size") -> int:
    """A size in bytes, at least 1, from a number or text."""
    count = 0
    if isinstance(value, str):
        count = int(_parse(L.BYTES, value, what))
    elif _is_number(value) and math.isfinite(value) and value == int(value):
        count = int(value)
    if not 1 <= count <= BYTES_MAX:
        raise ArgumentError(f"{what} is {value!r}; it is a whole number from 1 to 2^50 of bytes, or of K, M, G or T in "
                            "a string, for example '64KiB'")
    return count


def to_sizes(value: Any) -> List[int]:
    """Sizes: one, several, or text with commas and ranges, "32:128M" (doubling), "1K:64K:x4", "1K:9K:+2K"."""
    if isinstance(value, str):
        found, number = (c.c_uint64 * SIZES_MAX)(), c.c_int()
        L.check(L.lib.sizes_parse(L.text(value, "sizes"), found, SIZES_MAX, c.byref(number)))
        return found[:number.value]
    if hasattr(value, "__iter__"):
        sizes = [size for one in to_list(value, "sizes", "['32KiB', '1MiB']")
                 for size in (to_sizes(one) if isinstance(one, str) else [to_bytes(one)])]
    else:
        sizes = [to_bytes(value)]
    if not 1 <= len(sizes) <= SIZES_MAX:
        raise ArgumentError(f"there are {len(sizes)} sizes; there must be 1 to {SIZES_MAX}, for example '32:128M'")
    return sizes


def to_int(value: Any, what: str, low: int, high: int) -> int:
    """An integer within a range."""
    if _is_number(value) and low <= value <= high and value == int(value):
        return int(value)
    raise ArgumentError(f"{what} is {value!r}; it is a whole number from {low} to {high}")


def to_bool(value: Any, what: str) -> bool:
    """True or False, also numpy's. Other values are errors, because Python takes "no" as true."""
    numpy = sys.modules.get("numpy")
    if isinstance(value, bool) or (numpy and isinstance(value, numpy.bool_)):
        return bool(value)
    raise ArgumentError(f"{what} is {value!r}; it is True or False")


def to_list(value: Any, what: str, example: str, allowed: str = "a list") -> List[Any]:
    """The elements of an iterable that is no text; `allowed` is what the argument may be."""
    if not isinstance(value, (str, bytes)):
        try:
            return list(value)
        except TypeError:
            pass
    raise ArgumentError(f"{what} is {value!r}; it is {allowed}, for example {example}")


def format_bytes(count: int) -> str:
    """A size as readable text: "64 KiB"."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count and count % (1 << bits) == 0:
            return f"{count >> bits} {unit}"
    return f"{count} B"
