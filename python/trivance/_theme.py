"""The colours of figures, of the page of the evaluation and of the explorer, from their style sheet."""
import functools
import importlib.resources
import re
from typing import List


@functools.lru_cache(maxsize=None)
def colours(kind: str) -> List[str]:
    """The light colours of algorithms (``"c"``, by `Algorithm.colour`) or of a parameter's values (``"v"``)."""
    css = importlib.resources.files("trivance.figures").joinpath("theme.css").read_text(encoding="utf-8")
    return re.findall(rf"--{kind}\d: (#[0-9a-f]{{6}})", css.split("[data-theme")[0])
