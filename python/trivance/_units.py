"""Quantities as numbers in SI units, or as strings with a unit as the tool reads them.

Bytes are whole numbers; K, KiB, M, MiB, G, GiB, T and TiB are powers of 1024. Rates are bits per second ("800Gb/s") or
bytes ("100GB/s"), K, M, G, T powers of 1000. Times are seconds ("1.5us").
"""
from __future__ import annotations

import functools
import math
import numbers
import re
from typing import Any, Iterable, List, Union

from ._library import fail

#: A size: bytes, or a string such as "64KiB".
Bytes = Union[int, str]
#: A time: seconds, or a string such as "1.5us".
Time = Union[float, str]
#: A rate: bits per second, or a string such as "800Gb/s".
Rate = Union[float, str]

BYTES_MAX = 1 << 50
SIZES_MAX = 4096
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_TIME_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_NUMBER = r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)"


def _real(value: Any, what: str, example: str) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if math.isfinite(number):
            return number
    raise fail(f"{what} is {value!r}; it is a number or a string, for example {example}")


@functools.lru_cache(maxsize=4096)
def _bytes_of(text: str) -> int:
    found = re.fullmatch(r"(\d{1,16})\s*(?:([kKmMgGtT])(?:iB)?|B)?", text.strip())
    count = int(found.group(1)) << 10 * _POWER[(found.group(2) or "").upper()] if found else BYTES_MAX + 1
    if count > BYTES_MAX:
        raise fail(f"a size is {text!r}; it is a whole number up to 2^50 with or without K, M, G or T, for example 64KiB")
    return count


def to_bytes(value: Any) -> int:
    """The size of a vector, at least 1 byte."""
    if value.__class__ is str:
        count = _bytes_of(value)
    elif isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value) and value == int(value):
        count = int(value)
    else:
        raise fail(f"a size is {value!r}; it is a whole number of bytes or a string, for example '64KiB'")
    if not 1 <= count <= BYTES_MAX:
        raise fail(f"a size is {count} bytes; a vector has 1 to 2^50 bytes")
    return count


def to_sizes(value: Any) -> List[int]:
    """Sizes: one, several, or text with commas and ranges, "32:128M" (doubling), "1K:64K:x4", "1K:9K:+2K"."""
    sizes: List[int] = []
    if isinstance(value, str):
        for item in value.split(","):
            sizes += _range(item)
    elif isinstance(value, Iterable):
        for one in value:
            sizes += to_sizes(one)
    else:
        sizes.append(to_bytes(value))
    if not 1 <= len(sizes) <= SIZES_MAX:
        raise fail(f"there are {len(sizes)} sizes; there must be 1 to {SIZES_MAX}, for example '32:128M'")
    return sizes


def _range(item: str) -> List[int]:
    part = item.split(":")
    if len(part) == 1:
        return [to_bytes(part[0])]
    first, last = to_bytes(part[0]), to_bytes(part[1])
    step = part[2] if len(part) == 3 else "x2"
    more = re.fullmatch(r"x(\d+)", step)
    by = int(more.group(1)) if more else to_bytes(step[1:]) if step[:1] == "+" else 0
    if len(part) > 3 or by < (2 if more else 1) or last < first:
        raise fail(f"sizes are {item!r}; a range is MIN:MAX, MIN:MAX:xFACTOR or MIN:MAX:+STEP, for example 32:128M")
    sizes = [first]
    while sizes[-1] < last:
        if len(sizes) == SIZES_MAX:
            raise fail(f"the range {item!r} has more than {SIZES_MAX} sizes; take larger steps")
        sizes.append(min(last, sizes[-1] * by if more else sizes[-1] + by))
    return sizes


@functools.lru_cache(maxsize=256)
def _ns_of(text: str, what: str) -> float:
    found = re.fullmatch(_NUMBER + r"\s*(ns|us|µs|ms|s)", text.strip())
    if not found and not re.fullmatch(r"0(?:\.0*)?", text.strip()):
        raise fail(f"{what} is {text!r}; it is a number and ns, us, ms or s, for example 1.5us")
    return float(found.group(1)) * _TIME_NS[found.group(2)] if found else 0.0


def to_ns(value: Any, what: str) -> float:
    """A time in nanoseconds, from seconds or text."""
    if isinstance(value, str):
        return _ns_of(value, what)
    # 15 digits: 1.5e-06 s are 1500 ns, not 1499.9999999999998
    return float(format(_real(value, what, "1.5e-6 (seconds) or '1.5us'") * 1e9, ".15g"))


def to_bps(value: Any, what: str) -> float:
    """A rate in bits per second."""
    if not isinstance(value, str):
        return _real(value, what, "800e9 (bit/s) or '800Gb/s'")
    found = re.fullmatch(_NUMBER + r"\s*([kKmMgGtT]?)(b|B)/s", value.strip())
    if not found:
        raise fail(f"{what} is {value!r}; it is a number and b/s or B/s with K, M, G or T, for example 800Gb/s")
    return float(found.group(1)) * 1000.0 ** _POWER[found.group(2).upper()] * (8 if found.group(3) == "B" else 1)


def to_factor(value: Any, what: str) -> float:
    """A factor of time: 4, "4x"; infinite or "down" for a cut link."""
    if isinstance(value, str):
        if value == "down":
            return math.inf
        found = re.fullmatch(_NUMBER + "x?", value.strip())
        if not found:
            raise fail(f"{what} is {value!r}; it is a factor from 1 on or down, for example 4 or '4x'")
        return float(found.group(1))
    return math.inf if value == math.inf else _real(value, what, "4 or '4x'")


def to_int(value: Any, what: str, low: int, high: int) -> int:
    """An integer within a range."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value) and value == int(value):
        number = int(value)
        if low <= number <= high:
            return number
    raise fail(f"{what} is {value!r}; it is a whole number from {low} to {high}")


def time_text(seconds: float) -> str:
    """A time as readable text: "12.34 us"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def bytes_text(count: int) -> str:
    """A size as readable text: "64 KiB"."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count and count % (1 << bits) == 0:
            return f"{count >> bits} {unit}"
    return f"{count} B"
