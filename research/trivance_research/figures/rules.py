"""Rules that decide whether a claim of the paper agrees with the measurements.

A rule turns the curves of one figure into readings (percentages or sizes, each with the size where it was read) and
compares the minimum and the maximum over all figures of the claim with its bounds. A claim about several figures holds
if it holds in each of them that is part of the run.
"""
import math
from dataclasses import dataclass, replace
from typing import Any, Callable, ClassVar, NamedTuple

import numpy as np

from .measures import Array, Curve, Figure, about, break_even, percent, switch

AGREES, DIFFERS, NOT_MEASURED = "agrees", "differs", "not measured"
ANY = math.inf


class Finding(NamedTuple):
    verdict: str
    rule: str
    measured: str


class Reading(NamedTuple):
    value: float
    at: float  # bytes
    figure: int


def _value(reading: Reading) -> float:
    return reading.value


def _place(first: float, last: float) -> str:
    if first and first == last:
        return f"at {about(first)}"
    if not last:
        return f"at {about(first)} or later"
    return f"between {about(first)} and {about(last)}" if first else f"at {about(last)} or earlier"


def _share(low: float, high: float) -> str:
    if math.isinf(high):
        return "more than 0 %" if low < 1 else f"at least {low:g} %"
    return f"at most {high:g} %" if math.isinf(low) else f"{low:g} to {high:g} %"


def _in_figure(several: bool, reading: Reading) -> str:
    return f" (figure {reading.figure})" if several else ""


class Rule:
    """``phrase`` is the rule in words, with the places {share}, {place} and those of its fields."""
    phrase: ClassVar[str]

    def words(self) -> str:
        fields = vars(self)
        place = _place(fields["first"], fields["last"]) if "first" in fields else ""
        share = _share(fields["low"], fields["high"]) if "low" in fields else ""
        return self.phrase.format(place=place, share=share, **fields)


@dataclass(frozen=True)
class Percent(Rule):
    """Percentages, within bounds, at the sizes from ``first`` to ``last``."""
    low: float
    high: float
    first: int
    last: int
    curve: str | tuple[str, ...] | None = None  # None: the fastest of all, in a figure over a parameter every curve
    largest_only: ClassVar[bool] = True         # the reading that is reported

    def value_text(self, value: float) -> str:
        return percent(value)

    def lines(self, figure: Figure) -> list[Array]:
        """The advantages that count, one array per curve; none if a curve is missing."""
        if self.curve is None:
            return [c.advantage for c in figure.curves] if figure.spec.parameter else [figure.best]
        curves = [figure.curve(key) for key in ((self.curve,) if isinstance(self.curve, str) else self.curve)]
        return [c.advantage for c in curves if c] if all(curves) else []

    def readings(self, figure: Figure) -> list[Reading]:
        lines = self.lines(figure)
        return [Reading(float(line[i]), float(size), figure.spec.number) for i, size in enumerate(figure.axis)
                if size >= self.first and (not self.last or size <= self.last) for line in lines
                if not math.isnan(line[i])]

    def holds(self, least: Reading, most: Reading) -> bool:
        return least.value >= self.low and most.value <= self.high

    def measured(self, least: Reading, most: Reading, several: bool) -> str:
        one = (least.at, least.figure) == (most.at, most.figure)
        if one and not self.largest_only:
            return self.value_text(least.value)
        return " to ".join(f"{self.value_text(r.value)} at {about(r.at)}{_in_figure(several, r)}"
                           for r in ([most] if self.largest_only else [least, most]))


class Within(Percent):
    """The advantage lies within the bounds at every size."""
    phrase, largest_only = "{share} {place}", False


class Peak(Percent):
    """The largest advantage over these sizes lies within the bounds."""
    phrase = "largest: {share}, {place}"

    def readings(self, figure: Figure) -> list[Reading]:
        return sorted(super().readings(figure), key=lambda r: -r.value)[:1]


class Spread(Percent):
    """The curves differ by at most ``high`` points at every size."""
    phrase = "curves within {high:g} points"

    def value_text(self, value: float) -> str:
        return f"{value:.1f} points"

    def lines(self, figure: Figure) -> list[Array]:
        return [np.ptp([c.advantage for c in figure.curves], axis=0)]


@dataclass(frozen=True)
class Slower(Percent):
    """The curve's algorithm takes at most ``high`` % longer than ``than`` at every size."""
    than: str = ""
    phrase = "at most {high:g} % longer"

    def lines(self, figure: Figure) -> list[Array]:
        curve, than = figure.curve(self.curve), figure.curve(self.than)
        return [100 * (curve.other / than.other - 1)] if curve and than else []


@dataclass(frozen=True)
class Size(Rule):
    """A size that lies in ``first`` to ``last``."""
    first: int
    last: int
    curve: str | None = None

    def sizes(self, figure: Figure, curve: Curve | None) -> list[float]:
        """The sizes of one figure that are compared."""
        raise NotImplementedError

    def readings(self, figure: Figure) -> list[Reading]:
        curve = figure.curve(self.curve)
        if self.curve and not curve:
            return []
        return [Reading(float(size), 0, figure.spec.number) for size in self.sizes(figure, curve)]

    def holds(self, least: Reading, most: Reading) -> bool:
        return least.value >= self.first and (not self.last or most.value <= self.last)

    def measured(self, least: Reading, most: Reading, several: bool) -> str:
        low, high = ["no size up to 128 MiB" if math.isinf(r.value) else about(r.value) for r in (least, most)]
        if least.value == most.value:
            return low
        if least.figure != most.figure:
            return f"{low}{_in_figure(several, least)} to {high}{_in_figure(several, most)}"
        if math.isinf(most.value):
            return f"{low}, but Trivance is ahead again up to 128 MiB{_in_figure(several, least)}"
        return f"first {low}, last {high}{_in_figure(several, most)}"


def _gains(figure: Figure, curve: Curve | None) -> Array:
    return curve.advantage if curve else figure.best


class PeakAt(Size):
    """The size of the largest advantage."""
    phrase = "largest {place}"

    def sizes(self, figure: Figure, curve: Curve | None) -> list[float]:
        return [figure.axis[int(np.nanargmax(_gains(figure, curve)))]]


class BreaksEven(Size):
    """The first and the last break-even size."""
    phrase = "break-even {place}"

    def sizes(self, figure: Figure, curve: Curve | None) -> list[float]:
        return list(break_even(figure.axis, _gains(figure, curve)))


class FastestFrom(Size):
    """The size from which on the curve's algorithm is the fastest of all."""
    phrase = "fastest of all from a size on, {place}"

    def sizes(self, figure: Figure, curve: Curve | None) -> list[float]:
        assert curve
        fastest = np.nanmin([curve.own] + [c.other for c in figure.curves], axis=0)
        start = int(np.max(np.flatnonzero(curve.other > fastest), initial=-1)) + 1
        return [figure.axis[start] if start < len(figure.axis) else math.inf]


class SwitchesAt(Size):
    """The size at which the curve's algorithm (none: Trivance) switches from L to B."""
    phrase = "L to B {place}"

    def sizes(self, figure: Figure, curve: Curve | None) -> list[float]:
        at = switch(curve.member if curve else figure.curves[0].own_member)
        return [math.inf if at < 0 else figure.axis[at]]


class FallsFrom(Size):
    """The last size before the advantage over the fastest other algorithm first falls by more than a point."""
    phrase = "first falls by more than a point {place}"

    def sizes(self, figure: Figure, curve: Curve | None) -> list[float]:
        return [*figure.axis[:-1][np.diff(figure.best) < -1], math.inf][:1]


class Series(Rule):
    """A rule on the curves of one figure over a parameter, from one value to the next."""

    def decide(self, figure: Figure, result: Any) -> tuple[str, str]:
        """The verdict and the measured values."""
        raise NotImplementedError


class Rising(Series):
    """Neither the first nor the last break-even size falls from one curve to the next."""
    phrase = "first and last break-even never earlier than at the value before"

    def decide(self, figure: Figure, result: Any) -> tuple[str, str]:
        evens = [break_even(figure.axis, c.advantage) for c in figure.curves]
        rises = all(b.first >= a.first and b.last >= a.last for a, b in zip(evens, evens[1:]))
        return AGREES if rises else DIFFERS, ", ".join(map(str, evens))


class PeakRising(Series):
    """The size of the largest advantage never falls from one curve to the next, and rises from the first to the
    last."""
    phrase = "size of the largest advantage never smaller than at the value before, larger at the last"

    def decide(self, figure: Figure, result: Any) -> tuple[str, str]:
        at = [float(figure.axis[int(np.argmax(c.advantage))]) for c in figure.curves]
        return AGREES if at == sorted(at) and at[-1] > at[0] else DIFFERS, ", ".join(map(about, at))


@dataclass(frozen=True)
class Weaker(Series):
    """The first break-even size moves less per doubling of the parameter, a time, than in another figure."""
    than: int
    phrase = "first break-even: fewer octaves of size per octave of time than in figure {than}"

    def decide(self, figure: Figure, result: Any) -> tuple[str, str]:
        other = result.find(self.than)
        if other is None:
            return NOT_MEASURED, ""
        here, there = _octaves(figure), _octaves(other)
        if here is None or there is None:
            return DIFFERS, "too few curves have a break-even"
        return AGREES if here < there else DIFFERS, f"{here:.2f} octaves, there {there:.2f}"


def _octaves(figure: Figure) -> float | None:
    """Octaves of size per octave of time, from the first to the last curve that has a break-even."""
    unit = {"us": 1e3, "ns": 1.0}
    found = [(even, float(c.key[:-2]) * unit[c.key[-2:]]) for c in figure.curves
             if 0 < (even := break_even(figure.axis, c.advantage).first) < math.inf]
    if len(found) < 2:
        return None
    (low, short), (high, long) = found[0], found[-1]
    return math.log2(high / low) / math.log2(long / short)


@dataclass(frozen=True)
class Counted(Rule):
    """A rule on numbers that need no simulation: the result of ``count`` lies within the bounds."""
    low: float
    high: float
    count: Callable[[], tuple[float, float, str]]  # least, most, words
    phrase = "{share}"


def check(result: Any, claim: Any) -> Finding:
    """The result of checking a claim in a run."""
    rule = claim.rule
    figures = [f for f in map(result.find, claim.figures) if f]
    if isinstance(rule, Counted):
        least, most, measured = rule.count()
        return Finding(AGREES if least >= rule.low and most <= rule.high else DIFFERS, rule.words(), measured)
    if isinstance(rule, Series):
        verdict, measured = rule.decide(figures[-1], result) if figures else (NOT_MEASURED, "")
        return Finding(verdict, rule.words(), measured)
    readings = [r for f in figures for r in rule.readings(f)]
    if not readings:
        return Finding(NOT_MEASURED, rule.words(), "")
    ends = min(readings, key=_value), max(readings, key=_value)
    return Finding(AGREES if rule.holds(*ends) else DIFFERS, rule.words(), rule.measured(*ends, len(claim.figures) > 1))


# ---- Two sets of rules -----------------------------------------------------------------------------------------------

BOTH, PUBLISHED, TEXT, NEITHER = VERDICTS = "both", "published rules", "text", "neither"
ASSUMPTIONS = (
    "The published rules are those of the paper's own simulation code, with MPI_Finalize in every time and advantages "
    "relative to T_Trivance, as in its plots. The text is a torus as the paper describes it, with this project's "
    "proved schedules and advantages relative to T_A. A claim that holds by the published rules is checked without "
    "MPI_Finalize, relative to T_A, and with both changes, to find what it needs. A claim that holds by neither is "
    "checked under the same changes, and under two other assumptions about the text: one queue per link "
    "(`--model=fifo`), and in addition arrival with the last byte (`--delivery=tail`). The first reading under which "
    "it holds is named; a claim without one is not reproduced.")
NOT_REPRODUCED = "Not reproduced."


class Judgement(NamedTuple):
    published: Finding
    text: Finding
    verdict: str  # by which rules the claim holds


def judge(result: Any, claim: Any) -> Judgement:
    """The findings by both sets of rules; the published ones may not be part of the run."""
    text = check(result, claim)
    published = check(result.published, claim) if result.published else text._replace(verdict=NOT_MEASURED, measured="")
    holds = (published.verdict == AGREES, text.verdict == AGREES)
    measured = {published.verdict, text.verdict} != {NOT_MEASURED}
    cases = dict(zip(((True, True), (True, False), (False, True), (False, False)), VERDICTS))
    return Judgement(published, text, cases[holds] if measured else NOT_MEASURED)


def _changed(result: Any, barrier: bool, by_own: bool) -> Any:
    """The published result without MPI_Finalize, or relative to T_A."""
    def curve(one: Curve) -> Curve:
        less = 0.0 if barrier else one.barrier
        return replace(one, other=one.other - less, own=one.own - less, by_own=by_own)

    return replace(result, figures=[replace(f, curves=[curve(c) for c in f.curves]) for f in result.figures])


def readings(result: Any) -> dict[str, Any]:
    """Results under other readings of the published rules and of the text, the nearest first."""
    found = {}
    if result.published:
        found = {"the published rules without MPI_Finalize": _changed(result.published, False, True),
                 "the published rules relative to T_A": _changed(result.published, True, False),
                 "the published rules without MPI_Finalize and relative to T_A": _changed(result.published, False,
                                                                                          False)}
    return found | {f"the text with {assumption}": variant for assumption, variant in result.variants.items()}


def reason(result: Any, claim: Any, judged: Judgement) -> str:
    """The conditions under which a claim holds that does not hold by both sets of rules, and the known reason."""
    others = ((name, check(other, claim)) for name, other in readings(result).items())
    if judged.verdict == PUBLISHED:
        needed = next((f"It does not hold by {name}: {found.measured}." for name, found in others
                       if name.startswith("the published") and found.verdict == DIFFERS),
                      "It holds without MPI_Finalize and relative to T_A, too.")
    elif judged.verdict == TEXT:
        needed = ""
    else:
        needed = next((f"It holds by {name}: {found.measured}." for name, found in others if found.verdict == AGREES),
                      NOT_REPRODUCED)
    return " ".join(filter(None, (needed, claim.why)))
