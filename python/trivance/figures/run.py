"""The simulations that the figures and studies need, and their results.

A curve needs points; a point that several curves need (8x8 is in five figures) is simulated once.
"""
import functools
import itertools
import time
from dataclasses import dataclass, field

import numpy as np

from . import catalogue, cuts
from .measures import Curve, Figure, exactly
from .points import Point, simulate_all

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
    def change(self):
        """The increase of the time under the second value, in percent."""
        return 100 * (self.other[1] / self.other[0] - 1)


@dataclass
class Result:
    specs: list
    quick: bool
    options: tuple = DEFAULTS
    trivance: tuple = field(default_factory=lambda: catalogue.family("trivance").members)
    symmetric_only: bool = False  # omit algorithms without symmetry (slow with one queue per link)
    studied: bool = True
    command: str = ""
    figures: list = field(default_factory=list)
    studies: list = field(default_factory=list)   # (Study, rows)
    variants: dict = field(default_factory=dict)  # the same figures under other assumptions
    simulations: int = 0                          # of the paper's figures and the studies
    packet_hops: int = 0
    all_simulations: int = 0                      # including those of the figures beyond the paper
    all_packet_hops: int = 0
    seconds: float = 0.0

    @functools.cached_property
    def sizes(self):
        return [32 * (4 if self.quick else 2) ** i for i in range(12 if self.quick else 23)]

    @functools.cached_property
    def larger(self):
        """Sizes of meshes above those of the paper: up to 512 MiB."""
        size, sizes = self.sizes[-1] * (4 if self.quick else 2), []
        while size <= 512 << 20:
            sizes.append(size)
            size *= 4 if self.quick else 2
        return sizes

    def axis(self, spec):
        return self.sizes + (self.larger if spec.mesh else [])

    def find(self, number):
        return next((f for f in self.figures if f.spec.number == number), None)


def _changed(options, name, value):
    """The options with one changed; the paper's values are omitted, so that equal points have equal keys."""
    return options if USUAL.get(name) == value else tuple(sorted({**dict(options), name: value}.items()))


def _families(spec, symmetric_only):
    """The curves of a figure over algorithms."""
    own = [catalogue.family("trivance")] if spec.planned else []
    return own + [b for b in catalogue.baselines()
                  if not catalogue.omits(spec.torus, b.key) and (b.symmetric or not symmetric_only)]


def _curves(spec, result):
    """(Curve, members, options) of each curve of a figure."""
    if not spec.parameter:
        return [(Curve(f.key, f.title, f.colour), f.members, result.options)
                for f in _families(spec, result.symmetric_only)]
    best = tuple(itertools.chain.from_iterable(
        b.members for b in catalogue.baselines() if b.symmetric or not result.symmetric_only))
    return [(Curve(value, spaced(value)), best, _changed(result.options, spec.parameter, value))
            for value in spec.values]


def spaced(value):
    """"800 Gb/s" of "800Gb/s"."""
    digits = len(value) - len(value.lstrip("0123456789."))
    return f"{value[:digits]} {value[digits:]}"


def run(what, result, kept, workers):
    """Simulates the figures of ``result.specs``, and the studies that concern their tori (unless they are not wanted)."""
    begun = time.monotonic()
    wanted = {}  # spec -> [(curve, points of the other, points of the figure's own)]
    for spec in result.specs:
        if spec.about_cuts:
            continue
        own = ("planned",) if spec.planned else result.trivance
        wanted[spec] = [(curve, [Point(spec.torus, members, size, options) for size in result.axis(spec)],
                         [Point(spec.torus, own, size, options) for size in result.axis(spec)])
                        for curve, members, options in _curves(spec, result)]
    rows = list(_study_rows(result)) if result.studied else []
    paper = {p for spec, curves in wanted.items() if not spec.beyond for _, *both in curves for p in sum(both, [])}
    paper |= {p for _, _, both in rows for p in sum(both, [])}
    every = list(dict.fromkeys(p for curves in wanted.values() for _, *both in curves for p in sum(both, [])))
    every += [p for p in paper if p not in set(every)]
    simulate_all(what, every, kept, workers)
    answers = {p: kept.answers[p.key] for p in every}
    result.simulations, result.packet_hops = len(paper), sum(answers[p].packet_hops for p in paper)
    result.all_simulations, result.all_packet_hops = len(every), sum(a.packet_hops for a in answers.values())
    for spec in result.specs:
        if spec.about_cuts:
            figure, plans = cuts.run(spec, result, kept, workers)
            result.all_simulations += plans
        else:
            figure = Figure(spec, np.array(result.axis(spec), dtype=float))
            for curve, other, own in wanted[spec]:
                curve.other, curve.member = _times(answers, other)
                curve.own, curve.own_member = _times(answers, own)
                figure.curves.append(curve)
        result.figures.append(figure)
    for study in catalogue.STUDIES if result.studied else ():
        mine = [StudyRow(torus, algorithm, size, *([answers[p].time_ns for p in points] for points in both))
                for (one, torus, algorithm, size), _, both in rows if one is study]
        result.studies.append((study, mine))
    result.seconds = time.monotonic() - begun
    return result


def _times(answers, points):
    return np.array([answers[p].time_ns for p in points]), [answers[p].member for p in points]


def _study_rows(result):
    """The points of each row of the studies: those of the algorithm and of Trivance, under both values."""
    tori = {spec.torus for spec in result.specs if not spec.beyond}
    for study in catalogue.STUDIES:
        for torus, algorithm, size in itertools.product(study.tori, study.algorithms, study.sizes):
            if torus in tori and not catalogue.omits(torus, algorithm):
                both = [[Point(torus, members, size, _changed(result.options, study.option, value))
                         for value in study.values]
                        for members in ((algorithm,), catalogue.family("trivance").members)]
                yield (study, torus, algorithm, size), None, both


def variants(result, kept, workers):
    """Simulates the paper's figures under other assumptions, to explain claims that do not hold."""
    options = dict(result.options)
    plans = []
    if options["model"] != "fifo":
        plans.append(("one queue per link", "one queue per link", options["delivery"]))
    if options["delivery"] != "tail":
        plans.append(("one queue per link and arrival with the last byte", "tails", "tail"))
    for assumption, what, delivery in plans:
        variant = Result([s for s in result.specs if not s.planned], result.quick, (("delivery", delivery), ("model", "fifo")),
                         symmetric_only=True, studied=False)
        result.variants[assumption] = run(what, variant, kept, workers)


def network_text(options):
    """The network's options as one readable line."""
    return (f"{dict(options)['model']}, delivery {dict(options)['delivery']}, 800 Gb/s, alpha 1.5 us, links 100 ns, hosts "
            f"100 ns, routers 50 + 50 ns, packets of {exactly(8192)}")
