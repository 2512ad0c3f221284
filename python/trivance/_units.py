"""Quantities as numbers in SI units, or as strings with a unit as the tool reads them.

Bytes are whole numbers; K, KiB, M, MiB, G, GiB, T and TiB are powers of 1024. Rates are bits per second ("800Gb/s") or
bytes ("100GB/s"), K, M, G, T powers of 1000. Times are seconds ("1.5us").
"""
from __future__ import annotations

import functools
import math
import numbers
import re
import sys
from typing import Any, Dict, List, Tuple, Union

from ._library import ArgumentError

#: A size: bytes, or a string such as "64KiB".
Bytes = Union[int, str]
#: A time: seconds, or a string such as "1.5us".
Time = Union[float, str]
#: A rate: bits per second, or a string such as "800Gb/s".
Rate = Union[float, str]

BYTES_MAX = 1 << 50
SIZES_MAX = 4096
_BYTES = {"": 1, "B": 1, **{prefix + end: 1 << 10 * power for power, letter in enumerate("KMGT", 1)
                            for prefix in (letter, letter.lower()) for end in ("", "iB")}}
_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
_BPS = {prefix + end: 1000.0 ** power * bits for power, letter in enumerate(("", "K", "M", "G", "T"))
        for prefix in (letter, letter.lower()) for end, bits in (("b/s", 1), ("B/s", 8))}
_FACTOR = {"": 1.0, "x": 1.0}


@functools.lru_cache(maxsize=4096)
def _split(text: str) -> Tuple[str, str]:
    """The number and the unit of a text; empty if it does not begin with a number."""
    found = re.match(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(.*?)\s*$", text)
    return (found.group(1), found.group(2)) if found else ("", "")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _quantity(value: Any, what: str, units: Dict[str, float], number_unit: float, allowed: str) -> float:
    """A quantity of at least 0; a number without a unit counts in `number_unit`."""
    if isinstance(value, str):
        number, unit = _split(value)
        if number and (unit in units or float(number) == 0 and not unit):
            return float(number) * units.get(unit, 0)
    elif _is_number(value) and 0 <= value < math.inf:
        # 15 digits: 1.5e-06 s are 1500 ns, not 1499.9999999999998
        return float(format(float(value) * number_unit, ".15g"))
    raise ArgumentError(f"{what} is {value!r}; it is {allowed}")


def to_ns(value: Any, what: str) -> float:
    """A time in nanoseconds, from seconds or text."""
    return _quantity(value, what, _NS, 1e9, "a time from 0 on, for example 1.5e-6 (seconds) or '1.5us'")


def to_bps(value: Any, what: str) -> float:
    """A rate in bits per second."""
    return _quantity(value, what, _BPS, 1.0, "a rate, for example 800e9 (bit/s) or '800Gb/s'")


def to_factor(value: Any, what: str) -> float:
    """A factor of time: 4, "4x"; infinite or "down" for a cut link."""
    if isinstance(value, (str, float)) and value in ("down", math.inf):
        return math.inf
    return _quantity(value, what, _FACTOR, 1.0, "a factor from 1 on or 'down', for example 4 or '4x'")


def to_share(value: Any, what: str) -> float:
    """A share, which the library compares with 1."""
    return _quantity(value, what, _FACTOR, 1.0, "a number from 0 to 1, for example 0.1")


def to_bytes(value: Any, what: str = "a size") -> int:
    """A size in bytes, at least 1, from a number or text."""
    count = 0
    if isinstance(value, str):
        number, unit = _split(value)
        count = int(number) * _BYTES[unit] if number.isdigit() and len(number) < 17 and unit in _BYTES else 0
    elif _is_number(value) and math.isfinite(value) and value == int(value):
        count = int(value)
    if not 1 <= count <= BYTES_MAX:
        raise ArgumentError(f"{what} is {value!r}; it is a whole number from 1 to 2^50 of bytes, or of K, M, G or T in a "
                            "string, for example '64KiB'")
    return count


def to_sizes(value: Any) -> List[int]:
    """Sizes: one, several, or text with commas and ranges, "32:128M" (doubling), "1K:64K:x4", "1K:9K:+2K"."""
    if isinstance(value, str):
        sizes = [size for item in value.split(",") for size in _range(item)]
    elif hasattr(value, "__iter__"):
        sizes = [size for one in to_list(value, "sizes", "['32KiB', '1MiB']")
                 for size in (to_sizes(one) if isinstance(one, str) else [to_bytes(one)])]
    else:
        sizes = [to_bytes(value)]
    if not 1 <= len(sizes) <= SIZES_MAX:
        raise ArgumentError(f"there are {len(sizes)} sizes; there must be 1 to {SIZES_MAX}, for example '32:128M'")
    return sizes


def _range(item: str) -> List[int]:
    first, *more = item.split(":")
    sizes = [to_bytes(first)]
    if not more:
        return sizes
    last, step = to_bytes(more[0]), (more[1:] or ["x2"])[0]
    factor = int(step[1:]) if re.fullmatch(r"x[0-9]{1,16}", step) else 1
    add = to_bytes(step[1:]) if step[:1] == "+" else 0
    if len(more) > 2 or (factor < 2 and not add) or last < sizes[0]:
        raise ArgumentError(f"sizes are {item!r}; a range is MIN:MAX, MIN:MAX:xFACTOR or MIN:MAX:+STEP, for example 32:128M")
    while sizes[-1] < last and len(sizes) <= SIZES_MAX:
        sizes.append(min(last, sizes[-1] * factor + add))
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


def bytes_text(count: int) -> str:
    """A size as readable text: "64 KiB"."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count and count % (1 << bits) == 0:
            return f"{count >> bits} {unit}"
    return f"{count} B"
