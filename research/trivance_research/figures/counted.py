"""Numbers that follow from schedules and formulas without a simulation: steps, tables 1 and 2, volumes of reductions,
and the blocks that Trivance B must send."""
import math
from typing import Any

import trivance


# ---- Steps on arbitrary sizes (section 4.4) --------------------------------------------------------------------------

def _log_ceil(base: int, size: int) -> int:
    steps, reach = 0, 1
    while reach < size:
        steps, reach = steps + 1, reach * base
    return steps


def _fewer(size: int) -> float:
    """ceil(log2 n) / ceil(log3 n) - 1 in percent."""
    return 100 * (_log_ceil(2, size) / _log_ceil(3, size) - 1)


def steps_asymptotic() -> tuple[float, float, str]:
    gain = _fewer(1 << 4000)
    return gain, gain, f"{gain:.1f} % on 2^4000 ranks"


def steps_of_powers_of_two() -> tuple[float, float, str]:
    gains = {1 << k: _fewer(1 << k) for k in range(3, 13)}
    low, high = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
    return gains[low], gains[high], f"{gains[low]:.1f} % on {low} to {gains[high]:.1f} % on {high}; 0 % on 2 and 4"


def steps_of_any() -> tuple[float, float, str]:
    gains = {size: _fewer(size) for size in range(3, 6562)}
    most = max(gains.values())
    later = max(gains[size] for size in gains if size > 9)
    return 0, most, f"{most:.0f} % on 3 and 9 ranks; beyond, up to {later:.0f} %"


# ---- Tables 1 and 2 --------------------------------------------------------------------------------------------------

RINGS = ("8", "9", "27", "64", "81")
TORI = ("8x8", "9x9", "27x27", "32x32", "8x8x8", "9x9x9", "16x16x16", "8x8x8x8", "9x9x9x9")
TABLE_COLUMNS = ("table", "algorithm", "torus", "steps", "lambda", "paper_lambda", "delta", "paper_delta", "theta",
                 "paper_theta", "paper_theta_limit", "agrees")


def tables(ranks_max: float = math.inf) -> list[dict[str, Any]]:
    """The rows of tables 1 and 2: values measured by routing every message, and the closed forms of the paper."""
    return [row for number, tori in ((1, RINGS), (2, TORI)) for algorithm in trivance.algorithms() for torus in tori
            if trivance.Torus(torus).size <= ranks_max and (row := _table_row(number, algorithm, torus))]


def _table_row(number: int, algorithm: trivance.Algorithm, torus: str) -> dict[str, Any] | None:
    paper = algorithm.paper_cost(torus)
    if paper is None or math.isnan(paper.theta):
        return None
    try:
        cost = trivance.Schedule(algorithm.name, torus).cost()
    except trivance.UnsupportedError:
        return None
    pairs = ((cost.lambda_, paper.lambda_), (cost.delta, paper.delta), (cost.theta, paper.theta))
    agrees = all(abs(measured - exact) <= 1e-9 * max(1.0, abs(exact)) for measured, exact in pairs)
    numbers = [value for pair in pairs for value in pair] + [paper.theta_limit]
    return dict(zip(TABLE_COLUMNS, [number, algorithm.name, torus, cost.steps, *numbers, agrees]))


# ---- Volumes ---------------------------------------------------------------------------------------------------------

def theta(torus: str) -> float:
    """Theta of Trivance B on a torus."""
    return trivance.Schedule("trivance-b", torus).cost().theta


def reduced(torus: str, algorithm: str) -> tuple[float, float]:
    """Operands and results of a rank's reductions, in vectors."""
    return trivance.Schedule(algorithm, torus).reduction_volume()
