"""Simulations on all cores, each executed once; results are kept on disk, so that an interrupted run can be resumed.

Threads take the most expensive points first; ctypes releases the GIL while the library simulates.
"""
import json
import os
import threading
from typing import Any, Callable, Iterable, NamedTuple, Sequence, TypeVar

import trivance
from trivance.simulation import spread

from . import message_rules

Options = tuple[tuple[str, str], ...]
Job = TypeVar("Job")
PLANNED = ("planned",)


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
    def work(self) -> float:
        """Estimated work: proportional to the packets, with a small constant for each point."""
        return trivance.Torus(self.torus).size * (1e5 + self.size)


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
        self.lock = threading.Lock()  # protects the file
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
        with self.lock:
            self.answers[key] = answer
            row = {"point": key, "algorithm": answer.member, "time_ns": answer.time_ns,
                   "packet_hops": answer.packet_hops}
            self.file.write("\n" + json.dumps(row))
            self.file.flush()

    def close(self, needed: bool) -> None:
        self.file.close()
        if not needed:
            os.unlink(self.path)


def in_threads(what: str, jobs: Iterable[Job], work: Callable[[Job], None], size_of: Callable[[Job], float],
               workers: int) -> None:
    """Calls work(job) for every job on ``workers`` threads, the largest first; raises the first exception."""
    spread(sorted(jobs, key=size_of, reverse=True), work, None, what, size_of, workers)


# ---- Simulating ------------------------------------------------------------------------------------------------------

def schedule_of(member: str, torus: str, collective: str = "allreduce") -> trivance.Schedule:
    """The schedule of an algorithm, or of Trivance B under another message rule (trivance-b#RULE)."""
    rule = member.partition("#")[2]
    return message_rules.schedule(torus, rule) if rule else trivance.Schedule(member, torus, collective)


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


def _simulators(point: Point) -> dict[str, trivance.Simulator]:
    """Those of the point's members that support its torus."""
    made, network = {}, network_of(point.torus, point.options)
    for member in point.members:
        try:
            made[member] = trivance.Simulator(schedule_of(member, point.torus, point.collective), network)
        except trivance.UnsupportedError:
            continue
    return made


def _fastest(point: Point, simulators: dict[str, trivance.Simulator]) -> Answer:
    """Simulates the fastest member; members that a lower bound excludes are not simulated."""
    bounds = {member: simulator.bound(point.size) for member, simulator in simulators.items()}
    best = None
    for member in sorted(bounds, key=bounds.__getitem__):
        if best and bounds[member] * 1e9 >= best.time_ns:
            break
        result = simulators[member].run(point.size)
        if not best or result.time_ns < best.time_ns:
            best = Answer(result.time_ns, member, result.packet_hops)
    if not best:
        raise trivance.UnsupportedError(f"none of {', '.join(point.members)} takes a {point.torus}")
    return best


def simulate_all(what: str, points: Iterable[Point], kept: Kept, workers: int) -> None:
    """Fills ``kept`` with the answers of all points. Points that differ in size only share their simulators."""
    groups: dict[tuple[object, ...], list[Point]] = {}
    for point in dict.fromkeys(points):
        if point.key not in kept.answers:
            alone = point.size if point.members == PLANNED else None
            groups.setdefault((point.torus, point.members, point.options, point.collective, alone), []).append(point)

    def simulate(group: list[Point]) -> None:
        if group[0].members == PLANNED:
            plan = network_of(group[0].torus, group[0].options).plan(group[0].size, group[0].collective)
            simulators = _simulators(group[0]._replace(members=(plan.name,)))
        else:
            simulators = _simulators(group[0])
        for point in group:
            kept.add(point.key, _fastest(point, simulators))

    in_threads(what, groups.values(), simulate, lambda group: sum(point.work for point in group), workers)
