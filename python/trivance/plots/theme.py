"""The colours of plots and of the explorer, from their style sheet."""
import functools
import importlib.resources
import re
from typing import List, Optional

from ..planner import algorithms


@functools.lru_cache(maxsize=None)
def colours(kind: str) -> List[str]:
    """The light colours of algorithms (``"c"``, by `Algorithm.colour`) or of a parameter's values (``"v"``)."""
    css = importlib.resources.files(__package__).joinpath("theme.css").read_text(encoding="utf-8")
    return re.findall(rf"--{kind}\d: (#[0-9a-f]{{6}})", css.split("[data-theme")[0])


def colour_of(name: str) -> Optional[str]:
    """The colour of the algorithm's family, or of the family with this name; None if it has no colour."""
    table = algorithms()
    family = {one.name: one.family for one in table}.get(name.split(":")[0], name)
    number = max((one.colour for one in table if one.family == family), default=0)
    return colours("c")[number] if number else None
