"""Definitions of the figures and studies.

Figures 6 to 20 are those of the paper's section 6, of its sensitivity analysis and its additional plots (appendices F
and G), in its order. Of the others, 21 to 32 show the advantage of planned schedules over Trivance and the baselines,
33 their slowdown as links fail, and 34 and 35 the 4-D tori for which the paper states an expectation. For bandwidths
and packet sizes the paper states the minimum and the maximum; for the alphas and link latencies of figures 13 and 14 it
states none: they are ranges around its 1.5 us and 100 ns.
"""
import functools
import re
from typing import NamedTuple

import trivance

PAPER_LAST = 20
PLANNED_LAST = 33
CUT_SIZES = {"32B": 32, "1MiB": 1 << 20, "64MiB": 64 << 20}


class Spec(NamedTuple):
    """A figure. Its curves differ in the algorithm, or in a parameter (for ``cut`` the values are sizes)."""
    number: int
    torus: str
    title: str
    parameter: str | None = None
    values: tuple[str, ...] = ()

    @property
    def beyond(self) -> bool:
        """Whether it is not in the paper."""
        return self.number > PAPER_LAST

    @property
    def planned(self) -> bool:
        """Whether it shows the advantage of planned schedules instead of Trivance's."""
        return PAPER_LAST < self.number <= PLANNED_LAST

    @property
    def about_cuts(self) -> bool:
        """Whether the axis shows numbers of cut links instead of sizes."""
        return self.parameter == "cut"

    @property
    def mesh(self) -> bool:
        return "m" in self.torus


SPECS = (
    Spec(6, "8", "Ring of 8"),
    Spec(7, "64", "Ring of 64"),
    Spec(8, "32x32", "32x32 torus"),
    Spec(9, "8x64", "8x64 torus, rectangular"),
    Spec(10, "32x32", "Link bandwidth on 32x32", "bandwidth",
         ("200Gb/s", "400Gb/s", "800Gb/s", "1.6Tb/s", "2.4Tb/s", "3.2Tb/s")),
    Spec(11, "27x27", "27x27 torus, powers of three"),
    Spec(12, "16x16x16", "16x16x16 torus"),
    Spec(13, "8x8", "Startup latency per step on 8x8", "alpha", ("0.5us", "1us", "1.5us", "2.5us", "5us", "10us")),
    Spec(14, "8x8", "Link latency on 8x8", "link-latency", ("50ns", "100ns", "200ns", "500ns", "1us")),
    Spec(15, "8x8", "Packet size on 8x8", "packet", ("1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB")),
    Spec(16, "128", "Ring of 128"),
    Spec(17, "8x8", "8x8 torus"),
    Spec(18, "8x16", "8x16 torus"),
    Spec(19, "16x64", "16x64 torus"),
    Spec(20, "8x8x8", "8x8x8 torus"),
    *(Spec(number, torus, f"Planned schedules on {'the mesh ' if 'm' in torus else ''}{torus}")
      for number, torus in enumerate(
        ("32x32", "27x27", "16x16x16", "8x8x8", "8x8", "12x12", "16x16", "4x4x4", "4x4x8", "8mx8m", "27mx27m",
         "8mx8mx8m"), 21)),
    Spec(33, "32x32", "Links of 32x32 fail one after another", "cut", tuple(CUT_SIZES)),
    Spec(34, "4x4x4x4", "4x4x4x4 torus"),
    Spec(35, "8x8x8x8", "8x8x8x8 torus"),
)


class Study(NamedTuple):
    """Every algorithm on every torus at every size, under two values of an option."""
    title: str
    text: str
    option: str
    values: tuple[str, str]
    tori: tuple[str, ...]
    algorithms: tuple[str, ...]
    sizes: tuple[int, ...]
    threshold: float  # differences of less, in percent, are only counted


K, M = 1 << 10, 1 << 20
STUDIES = (
    Study("Two channels that take turns, or one queue",
          "Every link of a deadlock-free torus router has two virtual channels that take turns (`--model=dateline`, as "
          "in SST/Merlin, and the default of `trivance figures`); a packet changes to the second when it passes "
          "coordinate 0. The ideal "
          "router has one queue per link (`--model=fifo`). At coordinate 0 the turns shift the mirrored streams of "
          "Swing, and the two messages of a step of Bruck, against each other: they fall out of step, meet on links "
          "that the schedule gives to one of them alone, and large vectors take longer. Trivance and Bucket load both "
          "directions evenly and are hardly affected if the sides are equal; on 8x64 the two streams of Trivance meet "
          "in the longer dimension and fall out of step, too. The streams of Recursive Doubling meet on the same links "
          "in either case; the turns make it faster or slower.",
          "model", ("dateline", "fifo"), ("8", "64", "32x32", "8x64", "27x27", "8x8", "8x8x8"),
          ("trivance-b", "bruck-b", "swing-b", "recdoub-b", "recdoub-b-split", "bucket"),
          (128 * K, 2 * M, 32 * M), 2.0),
    Study("Heads or tails",
          "In SST/Merlin a packet has arrived when its head has (`--delivery=head`); on a real link a message has "
          "arrived when its last byte has (`--delivery=tail`), the serialisation of one packet (82 ns) later in every "
          "step. The effect is largest for algorithms of many steps with short messages. Bruck and Swing take less "
          "time with the tail on 27x27, where their streams meet; this is unexplained.",
          "delivery", ("head", "tail"), ("8", "64", "32x32", "27x27", "8x8", "8x8x8"),
          ("trivance-b", "bruck-b", "swing-b", "recdoub-b", "bucket"), (128 * K, 2 * M, 32 * M), 2.0),
    Study("Reductions that cost time",
          "The paper's figures omit the time of reductions; its discussion counts the bytes that they touch, 1.5 m for "
          "Trivance and 2 m for the mirrored algorithms. Here every byte that a reduction reads costs 10 ps "
          "(`--gamma=0.01ns`, 100 GB/s, as much as a link), the rate of a rank, which its streams share.",
          "gamma", ("0ns", "0.01ns"), ("8", "32x32", "27x27", "8x8", "8x8x8"),
          ("trivance-b", "swing-b", "recdoub-b", "bucket"), (2 * M, 32 * M), 0.0),
    Study("Reductions at a rate per stream",
          "The same where every stream has a core of its own (`--gamma=0.01ns/stream`): on D dimensions Trivance has D "
          "streams and the mirrored algorithms 2D, hence twice the reduction rate, so Trivance's reductions read a "
          "quarter less and take half as long again.",
          "gamma", ("0ns", "0.01ns/stream"), ("8", "32x32", "27x27", "8x8", "8x8x8"),
          ("trivance-b", "swing-b", "recdoub-b", "bucket"), (2 * M, 32 * M), 0.0),
    Study("Ranks that are late",
          "Joint reductions (paper, section 7) wait: a rank of Trivance needs both messages of a step, "
          "where a stream of Swing needs one. Here every alpha is stretched by a random share of up to 20 % "
          "(`--jitter=20%`). Both take a few us longer: a step ends with the latest of the ranks that it depends on, "
          "and Trivance has fewer steps, each of which depends on one rank more. No advantage turns round.",
          "jitter", ("0", "0.2"), ("8", "8x8", "27x27"), ("trivance-b", "swing-b", "bucket"), (128 * K, 2 * M), 0.0),
    Study("One slow link",
          "One directed link has half the bandwidth (`--slow-link=0:+0:2x`). A delay of one message of Trivance "
          "delays the joint reduction of its receiver and all that follows; of Swing's mirrored streams it delays the "
          "one that uses the link, and the vector is complete when both are. Trivance loses more of its time than "
          "Swing, most on the ring, and stays ahead on the tori; Bucket, whose messages are short, loses least.",
          "slow-link", ("none", "0:+0:2x"), ("8", "8x8", "27x27"), ("trivance-b", "swing-b", "bucket"),
          (128 * K, 2 * M), 0.0),
)


# ---- Algorithms ------------------------------------------------------------------------------------------------------

class Family(NamedTuple):
    """A family that has a curve, as the table of algorithms describes it."""
    key: str
    title: str
    colour: int  # and marker
    members: tuple[str, ...] = ()
    symmetric: bool = True  # every member has a symmetry, which makes simulation with one queue per link cheap


PLANNED = Family("planned", "Planned", 0)


@functools.cache
def family(name: str) -> Family:
    """The family of that name (the exact members only), or the algorithm of that name as a family of one."""
    known = trivance.algorithms()
    every = [a for a in known if a.family == name and "allreduce" in a.collectives]
    named = [a for a in known if a.name == name]
    members = named or [a for a in every if a.exact]
    head = (every or named)[0]
    return Family(name, head.title.split(",")[0], head.colour, tuple(a.name for a in members),
                  all(a.symmetry != "none" for a in every))


@functools.cache
def baselines() -> tuple[Family, ...]:
    """The families with which Trivance is compared, in the order of the colours."""
    return tuple(sorted((family(a.family) for a in trivance.algorithms() if a.baseline and a.colour),
                        key=lambda one: one.colour))


@functools.cache
def latency_optimal(member: str) -> bool:
    """Whether an algorithm, by its name with or without parameters, sends whole vectors."""
    name = re.split("[:@#]", member)[0]
    return any(a.latency_optimal for a in trivance.algorithms() if a.name == name)


def omits(torus: str, algorithm: str) -> bool:
    """Whether the paper omits an algorithm on a torus: Recursive Doubling on powers of three."""
    return torus == "27x27" and algorithm.startswith("recdoub")


def own_of(spec: Spec) -> Family:
    """The algorithm whose advantage a figure shows."""
    return PLANNED if spec.planned else family("trivance")
