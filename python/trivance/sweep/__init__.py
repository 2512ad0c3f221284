"""Grids of simulations, whose results are rows of a table or of a file: the function `sweep`, and ``trivance
sweep``."""
from .run import sweep

__all__ = ["sweep"]
