"""The command ``trivance figures``: options, output folder, interruption, summary."""
import argparse
import difflib
import math
import os
import re
import signal
import sys
import time

import trivance

from . import combinations, page, report, rules, write
from .catalogue import SPECS
from .claims import CLAIMS
from .counted import tables
from .draw import draw
from .points import Kept, beside
from .run import Result, run, variants

QUICK_RANKS_MAX, QUICK_TABLES_RANKS_MAX = 64, 1024
BAD = 2


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message):
        sys.stderr.write(f"{self.prog}: {message.removeprefix('argument ')}\n")
        sys.exit(BAD)

    def parse_args(self, args=None, namespace=None):
        options, others = super().parse_known_args(args, namespace)
        for word in others:
            if word.startswith("-"):
                known = [name for action in self._actions for name in action.option_strings]
                near = difflib.get_close_matches(word.split("=")[0], known, 1)
                self.error(f"there is no option '{word[:40]}'" + (f"; did you mean {near[0]}?" if near else
                                                                  "; --help lists all"))
            self.error(f"figures takes options only, not '{word[:40]}'; --only=6,8 chooses figures")
        return options


def _numbers(text):
    first, last = SPECS[0].number, SPECS[-1].number
    numbers = set()
    for item in text.split(","):
        if not item:
            raise argparse.ArgumentTypeError(f"the list of figures '{text[:40]}' has an empty entry; for example 6,8")
        if not re.fullmatch(r"[0-9]+", item) or not first <= int(item) <= last:
            raise argparse.ArgumentTypeError(f"a figure is a number from {first} to {last}, not '{item[:40]}'")
        numbers.add(int(item))
    return numbers


def _one_of(what, *names):
    def check(text):
        if text not in names:
            raise argparse.ArgumentTypeError(f"{what} '{text[:40]}' is neither {' nor '.join(names)}")
        return text
    return check


def _workers(text):
    if not re.fullmatch(r"[0-9]+", text) or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"the number of workers is a number from 1 to 1024, not '{text[:40]}'")
    return int(text)


def parser():
    """The options, which `trivance figures --help` explains."""
    made = Parser(prog="trivance figures", description="The figures and tables of the paper's evaluation, recomputed. "
                  "`trivance figures --help` explains the options.")
    made.add_argument("-o", "--output", metavar="DIR", default="evaluation")
    made.add_argument("--only", metavar="LIST", type=_numbers)
    made.add_argument("--quick", action="store_true")
    made.add_argument("--model", metavar="M", default="dateline", type=_one_of("the model", "dateline", "fifo"))
    made.add_argument("--delivery", metavar="D", default="head", type=_one_of("the delivery", "head", "tail"))
    made.add_argument("-j", "--workers", metavar="N", type=_workers, default=len(os.sched_getaffinity(0)))
    made.add_argument("--combinations", action="store_true")
    return made


def command_text(options):
    """The command without the output folder, which does not affect the results."""
    text = "trivance figures" + (" --quick" if options.quick else "")
    if options.only:
        text += " --only " + ",".join(map(str, sorted(options.only)))
    text += f" --model={options.model}" if options.model != "dateline" else ""
    return text + (f" --delivery={options.delivery}" if options.delivery != "head" else "")


def chosen(options):
    return [spec for spec in SPECS if (spec.number in options.only if options.only else
                                       not options.quick or trivance.Torus(spec.torus).size <= QUICK_RANKS_MAX)]


# ---- The folder ------------------------------------------------------------------------------------------------------

def prepare_folder(folder):
    """Checks before the first simulation that files can be written."""
    if not folder:
        raise trivance.ArgumentError("the folder has no name; for example --output=evaluation")
    for path in (folder, os.path.join(folder, "figures")):
        try:
            os.makedirs(path, exist_ok=True)
            with open(os.path.join(path, f".{os.getpid()}"), "w", encoding="utf-8") as file:
                os.unlink(file.name)
        except OSError as error:
            raise trivance.ArgumentError(f"the folder '{path}' cannot be made or written: {error.strerror}") from error


def write_all(result, rows, folder):
    def path(*names):
        return os.path.join(folder, *names)

    for figure in result.figures:
        name = path("figures", f"figure-{figure.spec.number:02d}")
        with write.output(name + ".csv") as stream:
            write.figure_csv(figure, stream)
        with write.output(name + ".svg") as stream:
            draw(figure, stream)
    with write.output(path("tables.csv")) as stream:
        write.tables_csv(rows, stream)
    with write.output(path("evaluation.md")) as stream:
        report.write(result, CLAIMS, rows, combinations.read(folder), stream)
    with write.output(path("index.html")) as stream:
        page.write(result, CLAIMS, rows, stream)


# ---- The command -----------------------------------------------------------------------------------------------------

class Interrupted(BaseException):
    """A signal that ends the command."""


def _interrupt(number, _frame):
    raise Interrupted(number)


def main(arguments):
    options = parser().parse_args(arguments)
    begun = time.monotonic()
    kept_path = os.path.join(options.output, "unfinished.jsonl")
    try:
        prepare_folder(options.output)
        kept = Kept(kept_path)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _interrupt)
        if options.combinations:
            rows = combinations.count(chosen(options), options.quick, CLAIMS, kept, options.workers, options.output)
            kept.close(False)
            print(combinations.lines(rows), end="")
            return 0
        result = Result(chosen(options), options.quick, (("delivery", options.delivery), ("model", options.model)),
                        command=command_text(options))
        rows = beside(lambda: tables(QUICK_TABLES_RANKS_MAX if options.quick else math.inf))
        run("figures", result, kept, options.workers)
        variants(result, kept, options.workers)
        write_all(result, rows(), options.output)
        kept.close(False)
        print_summary(result, options.output, time.monotonic() - begun)
        return 0
    except (trivance.TrivanceError, OSError) as error:
        sys.stderr.write(f"trivance figures: {error}\n")
        return BAD
    except Interrupted as signal_number:
        with kept.lock:  # the current line is complete
            sys.stderr.write(f"trivance figures: interrupted; what was simulated is kept in '{kept_path}', and the same "
                             "command continues there\n")
            sys.stderr.flush()
            os._exit(128 + signal_number.args[0])  # threads are still simulating


def print_summary(result, folder, seconds):
    verdicts = [rules.check(result, claim).verdict for claim in CLAIMS]
    simulations = result.all_simulations + sum(v.all_simulations for v in result.variants.values())
    count = len(result.figures)
    print(f"{count} figure{'' if count == 1 else 's'} of {simulations} simulations in {seconds:.1f} s. Of the paper's "
          f"claims {verdicts.count(rules.AGREES)} agree, {verdicts.count(rules.DIFFERS)} differ, "
          f"{verdicts.count(rules.NOT_MEASURED)} were not measured.\n"
          f"{folder}/index.html shows all of it, {folder}/evaluation.md compares claim by claim.")
