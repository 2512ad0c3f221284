"""The simulations that the figures and studies need, and their results.

A curve needs points; a point that several curves need (8x8 is in five figures) is simulated once.
"""
import functools
import itertools
import time
from dataclasses import dataclass, field
from typing import Iterator

import numpy as np

from . import catalogue, cuts
from .catalogue import Spec, Study
from .measures import Array, Curve, Figure, exactly
from .points import BARRIER, PLANNED, PUBLISHED, Answer, Kept, Options, Point, answer, simulate_all

DEFAULTS = (("delivery", "head"), ("model", "dateline"))
USUAL = {"bandwidth": "800Gb/s", "alpha": "1.5us", "link-latency": "100ns", "packet": "8KiB", "gamma": "0ns",
         "jitter": "0", "slow-link": "none"}


@dataclass
class StudyRow:
    torus: str
    algorithm: str
    size: int
    other: list[float]     # ns, under the first and the second value of the option
    trivance: list[float]

    @property
    def change(self) -> float:
        """The increase of the time under the second value, in percent."""
        return 100 * (self.other[1] / self.other[0] - 1)


@dataclass
class Result:
    specs: list[Spec]
    quick: bool
    options: Options = DEFAULTS
    trivance: tuple[str, ...] = field(default_factory=lambda: catalogue.family("trivance").members)
    symmetric_only: bool = False  # omit algorithms without symmetry (slow with one queue per link)
    studied: bool = True
    command: str = ""
    figures: list[Figure] = field(default_factory=list)
    studies: list[tuple[Study, list[StudyRow]]] = field(default_factory=list)
    variants: dict[str, "Result"] = field(default_factory=dict)  # the same figures under other assumptions
    published: "Result | None" = None                            # the paper's figures by the published rules
    plots: str = ""                                              # plots.md, see `effects`
    corrected: Figure | None = None                              # its figure
    simulations: int = 0                                         # of the paper's figures and the studies
    packet_hops: int = 0
    all_simulations: int = 0                                     # including those of the figures beyond the paper
    all_packet_hops: int = 0
    seconds: float = 0.0

    def _sizes(self, first: int, last: int) -> list[int]:
        factor = 4 if self.quick else 2
        return [size for i in range(30) if first <= (size := 32 * factor ** i) <= last]

    @functools.cached_property
    def sizes(self) -> list[int]:
        return self._sizes(32, 128 << 20)

    @functools.cached_property
    def larger(self) -> list[int]:
        """Sizes of meshes above those of the paper."""
        return self._sizes(self.sizes[-1] + 1, 512 << 20)

    def axis(self, spec: Spec) -> list[int]:
        return self.sizes + (self.larger if spec.mesh else [])

    def find(self, number: int) -> Figure | None:
        return next((f for f in self.figures if f.spec.number == number), None)


def _changed(options: Options, name: str, value: str) -> Options:
    """The options with one changed; the paper's values are omitted, so that equal points have equal keys."""
    return options if USUAL.get(name) == value else tuple(sorted({**dict(options), name: value}.items()))


def _curves(spec: Spec, result: Result) -> Iterator[tuple[Curve, tuple[str, ...], Options]]:
    """Every curve of a figure, its members and options."""
    baselines = [b for b in catalogue.baselines()
                 if not catalogue.omits(spec.torus, b.key) and (b.symmetric or not result.symmetric_only)]
    if spec.parameter:
        members = tuple(itertools.chain.from_iterable(b.members for b in baselines))
        for value in spec.values:
            yield Curve(value, spaced(value)), members, _changed(result.options, spec.parameter, value)
        return
    for f in ([catalogue.family("trivance")] if spec.planned else []) + baselines:
        yield Curve(f.key, f.title, f.colour), f.members, result.options


def spaced(value: str) -> str:
    """"800 Gb/s" of "800Gb/s"."""
    digits = len(value) - len(value.lstrip("0123456789."))
    return f"{value[:digits]} {value[digits:]}"


def run(what: str, result: Result, kept: Kept, workers: int) -> Result:
    """Simulates the figures of ``result.specs``, and the studies that concern their tori (unless they are not
    wanted)."""
    begun = time.monotonic()

    def points(spec: Spec, members: tuple[str, ...], options: Options) -> list[Point]:
        return [Point(spec.torus, members, size, options) for size in result.axis(spec)]

    wanted = {spec.number: [(curve, points(spec, members, options),
                             points(spec, PLANNED if spec.planned else result.trivance, options))
                            for curve, members, options in _curves(spec, result)]
              for spec in result.specs if not spec.about_cuts}
    rows = list(_study_rows(result)) if result.studied else []
    paper = [p for number, curves in wanted.items() if number <= catalogue.PAPER_LAST
             for _, *both in curves for p in sum(both, [])] + [p for _, *both in rows for p in sum(both, [])]
    beyond = [p for curves in wanted.values() for _, *both in curves for p in sum(both, [])]
    barriers = {p: p._replace(members=(BARRIER,), size=0) for p in beyond if "rules" in dict(p.options)}
    simulate_all(what, paper + beyond + list(barriers.values()), kept, workers)
    answers = {p: answer(p, kept) for p in paper + beyond}
    result.simulations, result.packet_hops = len(set(paper)), sum(answers[p].packet_hops for p in set(paper))
    result.all_simulations, result.all_packet_hops = len(answers), sum(a.packet_hops for a in answers.values())
    for spec in result.specs:
        figure = Figure(spec, np.array(result.axis(spec), dtype=float))
        if spec.about_cuts:
            figure, plans = cuts.run(spec, result.quick, result.options, kept, workers)
            result.all_simulations += plans
        for curve, other, own in wanted.get(spec.number, []):
            curve.other, curve.member = _times(answers, other)
            curve.own, curve.own_member = _times(answers, own)
            if own[0] in barriers:
                curve.by_own, curve.barrier = True, answer(barriers[own[0]], kept).time_ns
            figure.curves.append(curve)
        figure.published = result.published.find(spec.number) if result.published else None
        result.figures.append(figure)
    for study in catalogue.STUDIES if result.studied else ():
        result.studies.append((study, [_study_row(answers, other, own) for one, other, own in rows if one is study]))
    result.seconds = time.monotonic() - begun
    return result


def _times(answers: dict[Point, Answer], points: list[Point]) -> tuple[Array, list[str]]:
    return np.array([answers[p].time_ns for p in points]), [answers[p].member for p in points]


def _study_row(answers: dict[Point, Answer], other: list[Point], own: list[Point]) -> StudyRow:
    return StudyRow(other[0].torus, other[0].members[0], other[0].size, [answers[p].time_ns for p in other],
                    [answers[p].time_ns for p in own])


def _study_rows(result: Result) -> Iterator[tuple[Study, list[Point], list[Point]]]:
    """The points of each row of the studies: those of the algorithm and of Trivance, under both values."""
    tori = {spec.torus for spec in result.specs if not spec.beyond}
    for study in catalogue.STUDIES:
        for torus, algorithm, size in itertools.product(study.tori, study.algorithms, study.sizes):
            if torus in tori and not catalogue.omits(torus, algorithm):
                other, own = ([Point(torus, members, size, _changed(result.options, study.option, value))
                               for value in study.values]
                              for members in ((algorithm,), catalogue.family("trivance").members))
                yield study, other, own


def variants(result: Result, kept: Kept, workers: int) -> None:
    """Simulates the paper's figures under other assumptions, to explain claims that do not hold."""
    options = dict(result.options)
    for assumption, delivery, known in (
            ("one queue per link", options["delivery"], options["model"] == "fifo"),
            ("one queue per link and arrival with the last byte", "tail", options["delivery"] == "tail")):
        if not known:
            variant = Result([s for s in result.specs if not s.planned], result.quick,
                             (("delivery", delivery), ("model", "fifo")), symmetric_only=True, studied=False)
            result.variants[assumption] = run(assumption, variant, kept, workers)


def add_published(result: Result, kept: Kept, workers: int) -> None:
    """Simulates the paper's figures by the published rules, at every second size; of a quick run those of 8 and 8x8.

    `run` then gives each figure its published one. It starts processes: no other thread may run at this time.
    """
    specs = [s for s in result.specs if not s.beyond
             and not (result.quick and (s.parameter or s.torus not in ("8", "8x8")))]
    result.published = run("published rules", Result(specs, True, PUBLISHED, studied=False), kept, workers)


def network_text(options: Options) -> str:
    """The network's options as one readable line."""
    return (f"{dict(options)['model']}, delivery {dict(options)['delivery']}, 800 Gb/s, alpha 1.5 us, links 100 ns, "
            f"hosts 100 ns, routers 50 + 50 ns, packets of {exactly(8192)}")
