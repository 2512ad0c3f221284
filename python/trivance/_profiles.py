"""Profiles: networks with a name, whose parameters are in files, each with its source. The library reads them."""
from __future__ import annotations

import ctypes as c
from typing import Any, Dict, List, Set, Tuple

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
    """The value of the keyword argument for a truth value, "yes" or "no": forwarding is the opposite of no-forwarding."""
    return (text == "yes") != bool(row.name.startswith(b"no-"))


def _read(name: str) -> Tuple[Dict[str, Any], Set[str]]:
    """The parameters of a profile as arguments of `Network`, and the names of those whose source is "fitted"."""
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
    arguments = {keyword_of(row.name.decode()): read_flag(row, value) if row.kind == L.FLAG else value for row, value, _ in rows}
    return arguments, {keyword_of(row.name.decode()) for row, _, source in rows if source.startswith("fitted")}


def read_profile(name: str) -> Dict[str, Any]:
    """The parameters of a profile as arguments of `Network`."""
    return _read(name)[0]


def fitted_parameters(name: str) -> Set[str]:
    """The arguments of `Network` whose values in a profile are fitted to measurements, according to their sources."""
    return _read(name)[1]
