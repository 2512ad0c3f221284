"""Simulations on all cores, each executed once; results are kept on disk, so that an interrupted run can be resumed."""
import functools
import json
import math
import multiprocessing
import os
import signal
from typing import Any, Iterable, NamedTuple, Sequence

import trivance
from trivance import points as comparisons

from . import message_rules, published

Options = tuple[tuple[str, str], ...]
PLANNED = ("planned",)
PUBLISHED: Options = (("rules", "published"),)
BARRIER = "barrier"  # a member of published points: MPI_Finalize alone


class Point(NamedTuple):
    """One simulation: the fastest of the members, or the plan (`PLANNED`)."""
    torus: str
    members: tuple[str, ...]
    size: int
    options: Options  # sorted
    collective: str = "allreduce"

    @property
    def key(self) -> str:
        """All inputs of the result, including the version, because another version may yield another result."""
        options = " ".join(f"{name}={value}" for name, value in self.options)
        collective = "" if self.collective == "allreduce" else f" {self.collective}"
        return f"{trivance.__version__} {self.torus} {self.size} {options}{collective}: {' '.join(self.members)}"

    @property
    def singles(self) -> list["Point"]:
        """The points of one member each that the published simulation has, if the options name its rules."""
        return [self._replace(members=(member,)) for member in self.members
                if published.simulates(member, self.torus, self.size)]

    def asked(self) -> comparisons.Point:
        """The question to the library. A member trivance-b#RULE is Trivance B under another message rule."""
        rules = [member.partition("#")[2] for member in self.members if "#" in member]
        names = ",".join(member for member in self.members if "#" not in member)
        schedule = _schedule(self.torus, rules[0]) if rules else None
        return comparisons.Point(network_of(self.torus, self.options), names, self.size, self.collective,
                                 schedule=schedule)


class Answer(NamedTuple):
    time_ns: float
    member: str
    packet_hops: int


class Kept:
    """Results in a file, one JSON object per line, so that an interrupted run can be resumed.

    Each line is written with its line break first, so that a torn line does not damage the next.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.answers: dict[str, Answer] = {}
        self.file = open(path, "a+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.file.seek(0)
        for line in self.file:
            try:
                row = json.loads(line)
                self.answers[row["point"]] = Answer(row["time_ns"], row["algorithm"], row["packet_hops"])
            except (ValueError, KeyError, TypeError):
                continue

    def add(self, key: str, answer: Answer) -> None:
        self.answers[key] = answer
        row = {"point": key, "algorithm": answer.member, "time_ns": answer.time_ns, "packet_hops": answer.packet_hops}
        self.file.write("\n" + json.dumps(row))
        self.file.flush()

    def close(self, needed: bool) -> None:
        self.file.close()
        if not needed:
            os.unlink(self.path)


_schedule = functools.lru_cache(maxsize=64)(message_rules.schedule)  # points that differ in size share one


# ---- Simulating ------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=256)
def network_of(torus: str, options: Options, cuts: Sequence[str] = ()) -> trivance.Network:
    """The network of options as the tool writes them."""
    named: dict[str, Any] = {name.replace("-", "_"): value for name, value in options} | {"cuts": cuts}
    for name, value in options:
        if name == "jitter":
            named["jitter"] = float(value)
        elif name == "slow-link":
            link, factor = value.rsplit(":", 1)
            del named["slow_link"]
            named["slow"] = {link: float(factor.removesuffix("x"))}
    return trivance.Network(torus, **named)


def simulate_all(what: str, points: Iterable[Point], kept: Kept, workers: int) -> None:
    """Fills ``kept`` with the answers of all points; see `answer`."""
    points = list(points)
    _simulate_published(what, [one for point in points if "rules" in dict(point.options) for one in point.singles],
                        kept, workers)
    points = [point for point in points if "rules" not in dict(point.options)]
    left = [point for point in dict.fromkeys(points) if point.key not in kept.answers]
    keep(what, [(point.key, point.asked()) for point in left], kept, workers)
    for point in left:
        if point.key not in kept.answers:
            raise trivance.UnsupportedError(f"none of {', '.join(point.members)} takes a {point.torus}")


def answer(point: Point, kept: Kept) -> Answer:
    """The answer of a simulated point; of a published one the fastest member's, NaN if none is simulated."""
    if "rules" not in dict(point.options):
        return kept.answers[point.key]
    return min((kept.answers[one.key] for one in point.singles), default=Answer(math.nan, "", 0))


def keep(what: str, asked: Sequence[tuple[str, comparisons.Point]], kept: Kept, workers: int) -> None:
    """Adds the answers of all points that have one to ``kept`` under their keys, each as soon as it is known."""
    def done(index: int, row: comparisons.Row) -> None:
        if row.reason is None:
            kept.add(asked[index][0], Answer(row.time_ns, row.name, row.packet_hops))

    comparisons.compare_points([point for _, point in asked], workers, None, what, done)


# ---- By the published rules ------------------------------------------------------------------------------------------

def _published_ns(points: list[Point]) -> list[tuple[str, Answer]]:
    """The answers of points of one algorithm on one torus, which share its lists of blocks."""
    found = []
    for torus, (member,), size, options, _ in sorted(points,
                                                     key=lambda point: (point.size, dict(point.options)["rules"])):
        changes: dict[str, Any] = {name.replace("-", "_"): value for name, value in options if name != "rules"}
        alpha = changes.pop("alpha", "1.5us")
        if member == BARRIER:
            time = published.barrier_ns(torus, **changes)
        else:
            time = published.time_ns(published.ALGORITHMS[member], torus, size // published.FLOAT_BYTES,
                                     published.RULES[dict(options)["rules"]], 1e3 * float(alpha.removesuffix("us")),
                                     **changes)
        found.append((Point(torus, (member,), size, options).key, Answer(time, member, 0)))
    return found


def _leave_interrupts() -> None:
    """Lets the parent process handle Ctrl-C, and end this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _watched(results: Iterable[Any], number: int, what: str) -> Iterable[Any]:
    """The results, with a progress bar on a terminal if tqdm is installed."""
    try:
        from tqdm import tqdm  # type: ignore[import]
    except ImportError:
        return results
    return tqdm(results, what, number, leave=False, disable=None)  # type: ignore[no-any-return]


def _simulate_published(what: str, points: list[Point], kept: Kept, workers: int) -> None:
    """The same by processes, because half of the work is Python's; the largest tori first."""
    groups: dict[tuple[str, tuple[str, ...]], list[Point]] = {}
    for point in dict.fromkeys(points):
        if point.key not in kept.answers:
            groups.setdefault((point.torus, point.members), []).append(point)
    tasks = sorted(groups.values(), key=lambda group: -trivance.Torus(group[0].torus).size)
    if not tasks:
        return
    # Processes are forked, so that they need not load the packages again: no other thread may run at this time.
    with multiprocessing.get_context("fork").Pool(min(workers, len(tasks)), _leave_interrupts) as pool:
        for answers in _watched(pool.imap_unordered(_published_ns, tasks), len(tasks), what):
            for key, one in answers:
                kept.add(key, one)
