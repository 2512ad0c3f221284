"""Profiles: networks with a name, whose parameters are in files, each with its source. The library reads them."""
from __future__ import annotations

import ctypes as c
from typing import Any, Dict, List, Tuple

from . import _library as L

_SET = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p, c.c_char_p, c.c_char_p)


def profiles() -> Dict[str, str]:
    """The networks with a name, and the title of each.

    Returns
    -------
    dict of str to str
    """
    return dict(zip(L._names(L.formats.profile_name), L._names(L.formats.profile_title)))


def keyword_of(name: str) -> str:
    """The keyword argument of `Network` for a parameter; that of no-forwarding is `forwarding`."""
    return name.removeprefix("no-").replace("-", "_")


def read_flag(row: Any, text: str) -> bool:
    """The value of the keyword argument for a truth value, "yes" or "no": forwarding is the opposite of
    no-forwarding."""
    return (text == "yes") != bool(row.name.startswith(b"no-"))


def _read(name: str) -> List[Tuple[Any, str, str]]:
    """The parameters of a profile: rows of the table, with value and source."""
    if not isinstance(name, str):
        raise L.ArgumentError(f"the network is {name!r}; expected the name of a profile or the path of a file")
    options = L.SimulateOptions(size=c.sizeof(L.SimulateOptions))
    rows: List[Tuple[Any, str, str]] = []

    def add(_context: Any, parameter: bytes, value: bytes, source: bytes) -> int:
        code: int = L.lib.parameter_set(c.byref(options), parameter, value)
        if code == 0:
            rows.append((L.PARAMETERS[parameter.decode()], value.decode(), source.decode()))
        return code

    code = L.formats.profile_read(L.text(name, "the network"), _SET(add), None)
    if code < 0:
        raise L.ArgumentError(L.lib.last_error().decode(errors="replace"))
    return rows


def read_profile(name: str) -> Dict[str, Any]:
    """The parameters of a profile as arguments of `Network`."""
    return {keyword_of(row.name.decode()): read_flag(row, value) if row.kind == L.FLAG else value
            for row, value, _ in _read(name)}


def profile_sources(name: str) -> Dict[str, str]:
    """The source of each parameter of a profile, by its keyword argument of `Network`.

    Parameters
    ----------
    name : str
        As for `Network.from_profile`.

    Returns
    -------
    dict of str to str
        Of values that are fitted to measurements, it begins with ``"fitted"``.
    """
    return {keyword_of(row.name.decode()): source for row, _, source in _read(name)}
