"""Profiles: networks with a name, whose parameters are in files (``profiles/*.json``), each with its source."""
from __future__ import annotations

import inspect
import json
import pathlib
import re
from typing import Any, Dict, List, Set, Tuple

from . import _library as L

FORMAT = "trivance-network-1"
# Arguments of `Network` that belong to one torus or that profiles state in another form
_NOT_IN_PROFILES = {"torus", "cuts", "slow", "slow-ranks", "nodes", "forwarding", "gamma-per-stream"}
_FOLDER = pathlib.Path(__file__).parent / "profiles"


def profiles() -> Dict[str, str]:
    """The networks with a name, and the title of each.

    Returns
    -------
    dict of str to str
    """
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))["title"] for path in sorted(_FOLDER.glob("*.json"))}


def _option(key: str, text: str) -> Dict[str, Any]:
    """The arguments of `Network` for a parameter with the name and the value of the tool's option."""
    if key == "gamma":
        return {"gamma": text.removesuffix("/stream"), "gamma_per_stream": text.endswith("/stream")}
    if key == "no-forwarding":
        if text not in ("no", "yes"):
            raise ValueError(f"{key} is {text!r}; expected yes or no")
        return {"forwarding": text == "no"}
    if key == "jitter":
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?%", text):
            raise ValueError(f"{key} is {text!r}; expected a share from 0% to 100%, for example 10%")
        return {"jitter": float(text[:-1]) / 100}
    if key == "seed":
        if not re.fullmatch(r"[0-9]{1,10}", text):
            raise ValueError(f"{key} is {text!r}; expected a whole number, for example 7")
        return {"seed": int(text)}
    if key == "shared-paths" and text not in ("all", "one"):
        if not re.fullmatch(r"[0-9](:[0-9])*", text):
            raise ValueError(f"{key} is {text!r}; expected all, one, or dimensions separated by ':', for example 0:1")
        return {"shared_paths": [int(d) for d in text.split(":")]}
    return {key.replace("-", "_"): text}


def _unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """An object of a JSON file, whose keys must differ."""
    for key in (found := [key for key, _ in pairs]):
        if found.count(key) > 1:
            raise ValueError(f"the key {key!r} occurs twice")
    return dict(pairs)


def _parse(text: str) -> Tuple[Dict[str, Any], Set[str]]:
    """The result of `_read` for the text of a file; ValueError if it is not a profile."""
    from .network import Network
    try:
        profile = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("the values are nested too deeply") from None
    if not isinstance(profile, dict) or profile.get("format") != FORMAT:
        raise ValueError(f'expected "format": "{FORMAT}"')
    if not isinstance(profile.get("parameters"), dict):
        raise ValueError('expected "parameters": {…}, with the names of the options of `trivance simulate --help`')
    for key in profile:
        if key not in ("format", "title", "parameters"):
            raise ValueError(f'there is no key {key!r}; expected "format", "title" and "parameters"')
    arguments: Dict[str, Any] = {}
    fitted: Set[str] = set()
    known = {name.replace("_", "-") for name in inspect.signature(Network).parameters} - _NOT_IN_PROFILES
    for key, entry in profile["parameters"].items():
        if key not in known | {"no-forwarding"}:
            raise ValueError(f"there is no parameter {key!r}")
        if not isinstance(entry, dict) or set(entry) != {"value", "source"} or not all(isinstance(one, str) for one in entry.values()):
            raise ValueError(f'{key!r}: expected an object with two strings, for example '
                             '{"value": "1.5us", "source": "measured"}')
        own = _option(key, entry["value"])
        arguments.update(own)
        if entry["source"].startswith("fitted"):
            fitted.update(own)
    return arguments, fitted


def _read(name: str) -> Tuple[Dict[str, Any], Set[str]]:
    """The parameters of a profile as arguments of `Network`, and the names of those whose source is "fitted"."""
    if not isinstance(name, str):
        raise L.ArgumentError(f"the network is {name!r}; expected the name of a profile or the path of a file")
    is_path = bool(set("/.") & set(name))
    if not is_path and name not in profiles():
        raise L.ArgumentError(f"there is no network {name!r}; expected one of {', '.join(profiles())}, or the path of a file, "
                              "for example './mine.json'")
    path = pathlib.Path(name) if is_path else _FOLDER / f"{name}.json"
    try:
        return _parse(L.read_text(path))
    except OSError as error:
        raise L.ArgumentError(f"the file {name!r} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise L.ArgumentError(f"{name}: {error}") from None


def read_profile(name: str) -> Dict[str, Any]:
    """The parameters of a profile as arguments of `Network`."""
    return _read(name)[0]


def fitted_parameters(name: str) -> Set[str]:
    """The arguments of `Network` whose values in a profile are fitted to measurements, according to their sources."""
    return _read(name)[1]
