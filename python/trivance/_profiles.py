"""Profiles: networks with a name, whose parameters are in files (``profiles/*.json``), each with its source."""
from __future__ import annotations

import inspect
import json
import pathlib
from typing import Any, Dict, Set, Tuple

from . import _library as L

FORMAT = "trivance-network-1"
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
        return {"forwarding": text == "no"}
    if key == "jitter":
        return {"jitter": float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)}
    if key == "shared-paths" and text not in ("all", "one"):
        return {"shared_paths": [int(d) for d in text.split(":")]}
    return {key.replace("-", "_"): text}


def _read(name: str) -> Tuple[Dict[str, Any], Set[str]]:
    """The parameters of a profile as arguments of `Network`, and the names of those whose source is "fitted"."""
    from .network import Network
    path = pathlib.Path(name) if set("/.") & set(name) else _FOLDER / f"{name}.json"
    try:
        profile = json.loads(path.read_text(encoding="utf-8"))
        if profile["format"] != FORMAT:
            raise ValueError(f'its format is not "{FORMAT}"')
        arguments: Dict[str, Any] = {}
        fitted: Set[str] = set()
        known = set(inspect.signature(Network).parameters) - {"torus"}
        for key, entry in profile["parameters"].items():
            own = _option(key, entry["value"])
            if not set(own) <= known:
                raise ValueError(f"there is no parameter {key!r}")
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
