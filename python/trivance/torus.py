"""Tori and meshes of ranks."""
from __future__ import annotations

import ctypes as c
import numbers
from typing import Any, Iterable, Optional, Sequence, Tuple, Union

from . import _library as L
from ._units import to_int, to_list


class Torus:
    """A torus or mesh of ranks, numbered row-major with the last dimension fastest.

    Parameters
    ----------
    sizes : str, int, sequence of int, or Torus
        ``"8x8m"`` (m: the dimension is a line, without the link that joins its ends), ``9`` or ``(8, 8)``.
    lines : iterable of int
        The dimensions that are lines, beside those that a text marks.

    Attributes
    ----------
    dims : tuple of int
        Ranks along each dimension.
    size : int
        Number of ranks.
    ranks : range
        The ranks, 0 to size - 1.
    lines : tuple of int
        The dimensions that are lines.

    Raises
    ------
    ArgumentError
        There are no such sizes; a torus has 1 to 8 dimensions and up to 2^30 ranks.
    """

    __slots__ = ("_struct", "dims", "size", "ranks", "lines")

    def __init__(self, sizes: Union[str, int, Sequence[int], "Torus"], lines: Iterable[int] = ()) -> None:
        struct = L.Torus()
        if isinstance(sizes, (str, Torus)):
            L.check(L.lib.torus_parse(L.text(str(sizes), "a torus"), c.byref(struct)))
        else:
            listed = [sizes] if isinstance(sizes, numbers.Real) else to_list(
                sizes, "a torus", "'8x8m', 9 or (8, 8)", "a string, a size or a list of sizes")
            checked = [to_int(one, "the size of a dimension", 1, 1 << 30) for one in listed]
            L.check(L.lib.torus_init(c.byref(struct), len(checked), L.array(c.c_int, checked)))
        for line in to_list(lines, "lines", "(1,)"):
            struct.lines |= 1 << to_int(line, "a dimension that is a line", 0, struct.dims - 1)
        if struct.lines:
            L.check(L.lib.torus_set_lines(c.byref(struct), struct.lines))
        self._struct = struct
        self.dims: Tuple[int, ...] = tuple(struct.size[:struct.dims])
        self.size: int = struct.ranks
        self.ranks = range(struct.ranks)
        self.lines: Tuple[int, ...] = _bits(struct.lines)

    @classmethod
    def _of(cls, struct: L.Torus) -> "Torus":
        return cls(struct.size[:struct.dims], _bits(struct.lines))

    def coordinates(self, rank: int) -> Tuple[int, ...]:
        """The coordinates of a rank, each from 0 to the dimension's size - 1."""
        found = (c.c_int * len(self.dims))()
        L.lib.torus_coordinates(c.byref(self._struct), to_int(rank, "a rank", 0, self.size - 1), found)
        return tuple(found)

    def rank(self, coordinates: Sequence[int]) -> int:
        """The rank at some coordinates."""
        listed = to_list(coordinates, "coordinates", "(0, 3)")
        if len(listed) != len(self.dims):
            raise L.ArgumentError(f"there are {len(listed)} coordinates; the torus {self} has {len(self.dims)} "
                                  "dimensions")
        checked = [to_int(at, "a coordinate", 0, size - 1) for at, size in zip(listed, self.dims)]
        return int(L.lib.torus_rank(c.byref(self._struct), L.array(c.c_int, checked)))

    def neighbour(self, rank: int, port: int) -> Optional[int]:
        """The rank at the other end of the link that leaves by a port (2d: +d, 2d + 1: -d); None if there is none."""
        at = list(self.coordinates(rank))
        dimension, backwards = divmod(to_int(port, "a port", 0, 2 * len(self.dims) - 1), 2)
        moved, size = at[dimension] + (-1 if backwards else 1), self.dims[dimension]
        if size == 1 or (dimension in self.lines and not 0 <= moved < size):
            return None
        at[dimension] = moved % size
        return self.rank(at)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Torus, (str(self),)

    def __str__(self) -> str:
        return "x".join(f"{size}{'m' if d in self.lines else ''}" for d, size in enumerate(self.dims))

    def __repr__(self) -> str:
        return f"Torus({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Torus) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _bits(mask: int) -> Tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


TorusLike = Union[Torus, str, int, Sequence[int]]


def port_of(dimension: int, down: bool) -> int:
    """The port of a dimension in direction + or, `down`, -."""
    return 2 * dimension + down


def opposite(port: int) -> int:
    """The port by which a message over the link of `port` arrives."""
    return port ^ 1


def is_down(port: int) -> bool:
    """Whether the link of a port leads in direction -."""
    return port % 2 == 1


def port_text(port: int) -> str:
    """The text of a port: "+0" for 0, "-0" for 1, "+1" for 2."""
    return f"{'-' if port % 2 else '+'}{port // 2}"


def to_root(root: Any, torus: Torus) -> int:
    """A rank that is the root of a collective; the library rejects one that is not 0 where there is no root."""
    return to_int(root, "root", 0, torus.size - 1)
