"""Simulations on all cores, each executed once; results are kept on disk, so that an interrupted run can be resumed.

Threads take the most expensive points first; ctypes releases the GIL while the library simulates.
"""
import functools
import json
import os
import sys
import threading
import time
from typing import NamedTuple

import trivance

from . import message_rules


class Point(NamedTuple):
    """One simulation: the fastest of the members, or the plan ("planned")."""
    torus: str
    members: tuple[str, ...]
    size: int
    options: tuple[tuple[str, str], ...]  # sorted

    @property
    def key(self):
        """All inputs of the result, including the version, because another version may yield another result."""
        options = " ".join(f"{name}={value}" for name, value in self.options)
        return f"{trivance.__version__} {self.torus} {self.size} {options}: {' '.join(self.members)}"

    @property
    def work(self):
        """Estimated work: proportional to the packets, with a small constant for each point."""
        return trivance.Torus(self.torus).size * (1e5 + self.size)


class Answer(NamedTuple):
    time_ns: float
    member: str
    packet_hops: int


# ---- Results on disk -------------------------------------------------------------------------------------------------

class Kept:
    """Results in a file, one JSON object per line, so that an interrupted run can be resumed.

    Each line is written with its line break first, so that a torn line does not damage the next.
    """

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()  # protects the file and the bar
        self.answers = {}
        self.file = open(path, "a+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.file.seek(0)
        for line in self.file:
            try:
                row = json.loads(line)
                self.answers[row["point"]] = Answer(row["time_ns"], row["algorithm"], row["packet_hops"])
            except (ValueError, KeyError, TypeError):
                continue

    def add(self, key, answer):
        with self.lock:
            self.answers[key] = answer
            row = {"point": key, "algorithm": answer.member, "time_ns": answer.time_ns,
                   "packet_hops": answer.packet_hops}
            self.file.write("\n" + json.dumps(row))
            self.file.flush()

    def close(self, needed):
        self.file.close()
        if not needed:
            os.unlink(self.path)


class Bar:
    """A progress bar on a terminal, shown after two seconds."""

    def __init__(self, what, total):
        self.what, self.total, self.done = what, total, 0.0
        self.begun = self.drawn = time.monotonic()
        self.shown = False

    def step(self, work):
        self.done += work
        now = time.monotonic()
        if now - self.begun < 2 or now - self.drawn < 0.25 or not sys.stderr.isatty():
            return
        share = min(1.0, self.done / self.total)
        left = round((now - self.begun) * (1 - share) / share) if share else 0
        left_text = f"{left} s" if left < 60 else f"{left // 60} min {left % 60:02d} s"
        sys.stderr.write(f"\r{self.what} [{'#' * round(30 * share):.<30}] {int(100 * share):3d} %, {left_text} left\033[K")
        sys.stderr.flush()
        self.drawn, self.shown = now, True

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self.shown = False


# ---- Threads ---------------------------------------------------------------------------------------------------------

def in_threads(jobs, work, workers):
    """Calls work(job) for every job on ``workers`` threads; re-raises the first exception.

    The main thread only waits, so that signals are handled at once; the threads are daemons, so that they do not keep
    an interrupted process alive.
    """
    jobs, failures, lock = iter(jobs), [], threading.Lock()

    def take():
        while not failures:
            with lock:
                job = next(jobs, None)
            if job is None:
                return
            try:
                work(job)
            except BaseException as failure:  # pylint: disable=broad-except
                failures.append(failure)

    threads = [threading.Thread(target=take, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)
    if failures:
        raise failures[0]


def beside(work):
    """Starts work on a new thread; returns a function that waits for its result."""
    results = []
    thread = threading.Thread(target=in_threads, args=([work], lambda job: results.append(job()), 1), daemon=True)
    thread.start()

    def wait():
        thread.join()
        if not results:
            raise trivance.TrivanceError("the tables could not be computed")
        return results[0]
    return wait


# ---- Simulating ------------------------------------------------------------------------------------------------------

class Simulators:
    """Simulators that points share, each created for the first point that needs it and released after the last."""

    def __init__(self, points):
        self.lock = threading.Lock()
        self.made = {}
        self.users = {}
        for point in points:
            for member in point.members:
                key = (point.torus, member, point.options)
                self.users[key] = self.users.get(key, 0) + 1

    def get(self, point, member):
        """The simulator, or None if the algorithm does not support the torus."""
        key = (point.torus, member, point.options)
        with self.lock:
            maker = self.made.setdefault(key, functools.cache(functools.partial(self._make, *key)))
        return maker()

    @staticmethod
    def _make(torus, member, options):
        try:
            return trivance.Simulator(schedule_of(member, torus), network_of(torus, options))
        except trivance.UnsupportedError:
            return None

    def release(self, point):
        with self.lock:
            for member in point.members:
                key = (point.torus, member, point.options)
                self.users[key] -= 1
                if self.users[key] == 0:
                    self.made.pop(key, None)


def schedule_of(member, torus):
    """The schedule of an algorithm, or of Trivance B under another message rule (trivance-b#RULE)."""
    rule = member.partition("#")[2]
    return message_rules.schedule(torus, rule) if rule else trivance.Schedule(member, torus)


def network_of(torus, options):
    """The network of options as the tool writes them."""
    named = {name.replace("-", "_"): value for name, value in options}
    if named.get("gamma", "").endswith("/stream"):
        named |= {"gamma": named["gamma"].removesuffix("/stream"), "gamma_per_stream": True}
    if "jitter" in named:
        named["jitter"] = float(named["jitter"])
    if "slow_link" in named:
        link, factor = named.pop("slow_link").rsplit(":", 1)
        named["slow"] = {link: float(factor.removesuffix("x"))}
    return trivance.Network(torus, **named)


def simulate(point, simulators):
    """Simulates the fastest member; members that a lower bound excludes are not simulated."""
    candidates = [(simulator.bound(point.size), i, member, simulator) for i, member in enumerate(point.members)
                  if (simulator := simulators.get(point, member))]
    best = None
    for bound, _, member, simulator in sorted(candidates, key=lambda one: one[:2]):
        if best and bound * 1e9 >= best.time_ns:
            break
        result = simulator.run(point.size)
        if not best or result.time_ns < best.time_ns:
            best = Answer(result.time_ns, member, result.packet_hops)
    if not best:
        raise trivance.UnsupportedError(f"none of {', '.join(point.members)} takes a {point.torus}")
    return best


def answer_planned(point):
    plan = network_of(point.torus, point.options).plan(point.size)
    planned = point._replace(members=(plan.name,))
    return simulate(planned, Simulators([planned]))


def simulate_all(what, points, kept, workers):
    """Fills ``kept`` with the answers of all points."""
    todo = [p for p in dict.fromkeys(points) if p.key not in kept.answers]
    dearest = {}
    for point in todo:
        group = point.torus, point.members
        dearest[group] = max(dearest.get(group, 0), point.work)
    todo.sort(key=lambda p: (-dearest[p.torus, p.members], p.torus, p.members, -p.work))
    simulators = Simulators(p for p in todo if p.members != ("planned",))
    bar = Bar(what, sum(p.work for p in todo))

    def work(point):
        if point.members == ("planned",):
            answer = answer_planned(point)
        else:
            answer = simulate(point, simulators)
            simulators.release(point)
        kept.add(point.key, answer)
        with kept.lock:
            bar.step(point.work)

    try:
        in_threads(todo, work, workers)
    finally:
        bar.end()
