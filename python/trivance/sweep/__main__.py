"""``python3 -m trivance.sweep``: the subcommands ``trivance sweep`` and ``trivance simulate --plot``.

The tool reads the command line, and passes on the subcommand, options as --NAME=VALUE or --NAME, and arguments.
"""
from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import signal
import sys
from typing import Any, Optional

import trivance

from .._units import to_int
from ..planner import algorithms
from . import values
from .grid import Grid
from .plot import check_plot, comparison
from .results import Rows
from .run import CONFIRM_POINTS, Sweep, format_of

WRONG, BAD = 1, 2
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class Options:
    """The command line: the lists of the axes, and the other options."""

    def __init__(self, words: list[str]) -> None:
        self.command, *words = words
        self.given: dict[str, Any] = {}
        self.leave_out = False  # silently
        self.others: dict[str, str] = {}
        arguments = []
        for word in words:
            name, equals, value = word[2:].partition("=")
            axis = name.replace("-", "_")
            if not word.startswith("--"):
                arguments.append(word)
            elif axis in values.AXES:
                self.given.setdefault(axis, []).append(value if equals else "yes")
            else:
                self.others[name] = value
        if self.command == "simulate":
            self._simulate(arguments)
        elif len(arguments) > 1:
            raise trivance.ArgumentError(f"there are two files, '{arguments[0][:60]}' and '{arguments[1][:60]}'; give "
                                         "one")
        elif arguments:
            self.given = read_description(arguments[0]) | self.given
        self.path: Optional[str] = self.others.get("output", "-")
        self.path = None if self.path in STDOUT else self.path
        self.format = self.others.get("format", "table")

    def _simulate(self, tori: list[str]) -> None:
        """The arguments and defaults of that subcommand."""
        families = [one.family for one in algorithms() if one.baseline or one.colour]
        self.leave_out = "algorithm" not in self.given
        self.given = {"torus": tori, "bytes": "32,1K,32K,1M,32M,128M",
                      "algorithm": [*dict.fromkeys(families), "planned"]} | self.given


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is a duplicate; give each key once")
    return found


def read_description(path: str) -> dict[str, Any]:
    """The lists of the axes in a file, or on the standard input ("-"): a JSON object with the names of the options."""
    if not os.path.lexists(path) and path != "-":
        try:
            trivance.Torus(path)
        except trivance.ArgumentError:
            pass
        else:
            raise trivance.ArgumentError(f"there is no file '{path[:60]}'; a torus is given as --torus={path[:60]}")
    try:
        text = sys.stdin.read() if path == "-" else trivance._library.read_text(path)
        found = json.loads(text, object_pairs_hook=_unique)
    except OSError as error:
        raise trivance.ArgumentError(f"the file '{path[:200]}' cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise trivance.ArgumentError(f"{path}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise trivance.ArgumentError(f"{path}: not valid JSON: {error}") from None
    except ValueError as error:
        raise trivance.ArgumentError(f"{path}: {error}") from None
    if not isinstance(found, dict):
        raise trivance.ArgumentError(f'{path}: it is not a JSON object, for example {{"torus": ["8", "8x8"]}}')
    lists = {}
    for key, value in found.items():
        before = text[:max(text.find(json.dumps(key)), 0)]
        place = f"{path}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        axis = _axis_of(place, key)
        lists[axis] = _list_of(place, key, value)
    return lists


def _axis_of(place: str, key: str) -> str:
    names = [name.replace("_", "-") for name in values.AXES]
    if key in names:
        return key.replace("-", "_")
    near = difflib.get_close_matches(key, names, 1)
    if near:
        raise trivance.ArgumentError(f"{place}: there is no key '{key[:40]}'; did you mean {near[0]}?")
    raise trivance.ArgumentError(f"{place}: there is no key '{key[:40]}'; the keys are the long options of `trivance "
                                 "sweep --help` that take lists, for example torus")


def _list_of(place: str, key: str, value: Any) -> list[str]:
    """The values of a key, as the texts of an option."""
    entries = value if isinstance(value, list) else [value]
    if not entries:
        raise trivance.ArgumentError(f"{place}: the list of the key {key} is empty")
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
            raise trivance.ArgumentError(f"{place}: the key {key} takes a string, a number or a list of these, for "
                                         'example ["8", "8x8"]')
    texts = [entry if isinstance(entry, str) else format(entry, ".15g") for entry in entries]
    try:
        values.read(key.replace("-", "_"), texts)
    except trivance.ArgumentError as error:
        raise trivance.ArgumentError(f"{place}: {error}") from None
    return texts


# ---- Standard output -------------------------------------------------------------------------------------------------

def write(text: str) -> None:
    """Writes to stdout at once."""
    try:
        if sys.stdout is None:
            raise trivance.TrivanceError("the output could not be written: stdout is closed")
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the interpreter flushes at its exit
        raise trivance.TrivanceError(f"the output could not be written: {error.strerror}") from None


class Output:
    """Rows on the standard output, as CSV, a JSON array or a table as text."""

    def __init__(self, rows: Rows, form: str) -> None:
        self.rows, self.form, self.kept, self.count = rows, form, [rows.columns], 0
        if form == "csv":
            write(rows.csv(rows.columns))
        elif form == "json":
            write("[")

    def add(self, _index: int, row: dict[str, Any]) -> None:
        if self.form == "csv":
            write(self.rows.csv(self.rows.texts(row)))
        elif self.form == "json":
            write((",\n" if self.count else "\n") + json.dumps(row, ensure_ascii=False))
        else:
            self.kept.append(self.rows.texts(row))
        self.count += 1

    def end(self) -> None:
        if self.form == "json":
            write("\n]\n" if self.count else "]\n")
        elif self.form == "table":
            write(self.table())

    def table(self) -> str:
        """Columns that are aligned; those of parameters with their default only are left out."""
        axes = {axis.column: axis for axis in self.rows.grid.axes}
        words = ("limit_from", "chosen_for", "error")
        shown = [i for i, name in enumerate(self.rows.columns) if name not in axes or axes[name].shown]
        right = [axes[name].numeric if name in axes else name not in words for name in self.rows.columns]
        width = {i: max(len(row[i]) for row in self.kept) for i in shown}
        lines = ["  ".join(row[i].rjust(width[i]) if right[i] else row[i].ljust(width[i]) for i in shown).rstrip()
                 for row in self.kept]
        if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
            lines[0] = f"\033[1m{lines[0]}\033[0m"
        return "\n".join(lines) + "\n"


def report(command: str, sentence: str) -> None:
    """Reports on the standard error."""
    with contextlib.suppress(OSError, AttributeError):  # stdout is None if it is closed
        sys.stdout.flush()
    sys.stderr.write(f"trivance {command}: {sentence}\n")


# ---- The command -----------------------------------------------------------------------------------------------------

def check(options: Options, grid: Grid) -> None:
    """Checks combinations of options, and that some point is possible; the rows of others report why they are not."""
    points = grid.points - grid.left_out
    if options.path is None and "restart" in options.others:
        raise trivance.ArgumentError("--restart requires --output, whose file it empties, for example -o out.csv")
    if options.path is not None:
        if "format" in options.others:
            raise trivance.ArgumentError("--format is for stdout; the format of --output is that of the name, for "
                                         "example out.csv or out.jsonl")
        format_of(options.path)
        if os.path.isfile(options.path) and os.path.samestat(os.stat(options.path), os.fstat(1)):
            raise trivance.ArgumentError(f"stdout is redirected to the file '{options.path[:200]}', too, and one "
                                         "output would overwrite the other; redirect stdout to another file, for "
                                         "example >output.txt")
    if options.format not in ("table", "json", "csv"):
        raise trivance.ArgumentError(f"there is no format '{options.format[:40]}' for this table; expected table, json "
                                     "or csv, for example --format=json")
    if points > CONFIRM_POINTS and "yes" not in options.others and "dry-run" not in options.others:
        raise trivance.ArgumentError(f"the grid has {points:,} points ({grid}); add --yes to simulate all of them")
    if "plot" in options.others:
        check_plot(grid, options.others["plot"])
    reason: Optional[Exception] = None
    for index in range(min(grid.points, CONFIRM_POINTS)):
        try:
            grid.point(index)
            return
        except trivance.TrivanceError as error:
            reason = error
    if reason:
        raise reason


def describe(grid: Grid) -> str:
    """"16 points (2 tori × …)"."""
    points, axes = grid.points - grid.left_out, str(grid)
    left_out = f", minus {grid.left_out} whose algorithm does not support the torus or the collective"
    more = left_out if grid.left_out else ""
    return f"{points} point{'' if points == 1 else 's'}" + (f" ({axes}{more})" if axes else "")


class Interrupted(BaseException):
    """A signal that ends the command."""


def _interrupt(number: int, _frame: Any) -> None:
    raise Interrupted(number)


def _interruption(options: Options, made: Sweep) -> str:
    done = f"interrupted after {made.points - made.pending} of {made.points} points"
    if options.path:
        return f"{done}; the same command continues after the last row of '{options.path}'"
    return f"{done}; with -o FILE.csv rows are kept, and the same command continues after the last one"


def run(options: Options) -> int:
    """Runs a subcommand; the exit code."""
    grid = Grid(options.given, options.leave_out)
    workers = to_int(int(options.others["workers"]) if options.others.get("workers", "1").isdecimal() else
                     options.others["workers"], "--workers", 1, 1024) if "workers" in options.others else None
    check(options, grid)
    if "dry-run" in options.others:
        write(describe(grid) + "\n")
        return 0
    with contextlib.closing(Sweep(grid, "limit" in options.others, options.path, "restart" in options.others)) as made:
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, _interrupt)
            return simulate(options, made, workers)
        except Interrupted as number:
            report(options.command, _interruption(options, made))
            return int(128 + number.args[0])


def simulate(options: Options, made: Sweep, workers: Optional[int]) -> int:
    """Simulates the points that have no row yet, and draws the picture; the exit code."""
    grid = made.grid
    plot, times = options.others.get("plot"), {i: float(row["time_ns"] or "nan") for i, row in made.done.items()}
    output = None if options.path else Output(made.rows, options.format)

    def receive(index: int, row: dict[str, Any]) -> None:
        if output:
            output.add(index, row)
        if plot and row["error"] is None:
            times[index] = row["time_ns"]

    # A bar would collide with rows that appear one by one on the terminal.
    alone = output is None or options.format == "table" or not sys.stdout.isatty()
    try:
        made.run(workers, None if alone else False, receive, options.format == "table")
    finally:
        if output:
            output.end()
    if not output:
        write(f"{options.path} has all {made.points} points, {made.added} new, {made.failed or 'none'} with an error\n")
    if grid.left_out and not options.leave_out:
        report(options.command,
               f"{grid.left_out} of {grid.points} points left out: their algorithm does not support the torus "
               "or the collective")
    if not made.numbers:
        report(options.command, "no point has a result; the column error has the reasons")
        return WRONG
    if plot:
        comparison(grid, times).savefig(plot)
    return 0


def main(words: list[str]) -> int:
    """Runs a subcommand, and reports its errors; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where the encoding lacks a character
    try:
        return run(Options(words))
    except trivance.TrivanceError as error:
        name, colon, rest = str(error).partition(": ")
        report(words[0], f"--{name.replace('_', '-')}: {rest}" if colon and name in values.AXES else str(error))
        return BAD
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
