"""Profiles: networks with a name, whose parameters are in files (``profiles/*.json``), each with its source."""
from __future__ import annotations

import inspect
import json
import pathlib
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
        if not text.endswith("%"):
            raise ValueError(f"{key} is {text!r}; expected a share, for example 10%")
        return {"jitter": float(text.removesuffix("%")) / 100}
    if key == "shared-paths" and text not in ("all", "one"):
        return {"shared_paths": [int(d) for d in text.split(":")]}
    return {key.replace("-", "_"): text}


def _unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """An object of a JSON file, whose keys must differ."""
    for key in (found := [key for key, _ in pairs]):
        if found.count(key) > 1:
            raise ValueError(f"the key {key!r} occurs twice")
    return dict(pairs)


def _read(name: str) -> Tuple[Dict[str, Any], Set[str]]:
    """The parameters of a profile as arguments of `Network`, and the names of those whose source is "fitted"."""
    from .network import Network
    path = pathlib.Path(name) if set("/.") & set(name) else _FOLDER / f"{name}.json"
    try:
        profile = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique)
        if profile["format"] != FORMAT:
            raise ValueError(f'its format is not "{FORMAT}"')
        arguments: Dict[str, Any] = {}
        fitted: Set[str] = set()
        known = {name.replace("_", "-") for name in inspect.signature(Network).parameters} - _NOT_IN_PROFILES
        for key, entry in profile["parameters"].items():
            if key not in known | {"no-forwarding"}:
                raise ValueError(f"there is no parameter {key!r}")
            if not isinstance(entry["value"], str) or not isinstance(entry["source"], str):
                raise ValueError(f"the value and the source of {key!r} must be strings")
            own = _option(key, entry["value"])
            arguments.update(own)
            if entry["source"].startswith("fitted"):
                fitted.update(own)
    except OSError:
        raise L.ArgumentError(f"there is no network {name!r}; expected one of {', '.join(profiles())}, or the path of a file, "
                              "for example './mine.json'") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise L.ArgumentError(f"{path}: this is not a profile of a network, as profiles/paper.json is: {error}") from None
    return arguments, fitted


def read_profile(name: str) -> Dict[str, Any]:
    """The parameters of a profile as arguments of `Network`."""
    return _read(name)[0]


def fitted_parameters(name: str) -> Set[str]:
    """The arguments of `Network` whose values in a profile are fitted to measurements, according to their sources."""
    return _read(name)[1]
