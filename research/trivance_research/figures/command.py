"""The command ``trivance figures``: options, output folder, interruption, summary."""
import argparse
import glob
import math
import os
import signal
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import trivance
from trivance.plots.svg import output

from ..options import Parser, make_folder, whole
from . import combinations, effects, page, report, rules, write
from .catalogue import SPECS, Spec
from .claims import CLAIMS
from .counted import tables
from .draw import draw
from .points import Kept
from .run import Result, add_published, run, variants

QUICK_RANKS_MAX, QUICK_TABLES_RANKS_MAX = 64, 1024
BAD = 2


def _options(arguments: list[str]) -> argparse.Namespace:
    """The options, which `trivance figures --help` explains."""
    made = Parser("trivance figures", usage=argparse.SUPPRESS)
    number = whole(min(spec.number for spec in SPECS), max(spec.number for spec in SPECS))
    made.add_argument("--output", "-o", metavar="DIR", default="evaluation")
    made.add_argument("--only", metavar="LIST", type=lambda text: set(map(number, text.split(","))))
    made.add_argument("--quick", action="store_true")
    made.add_argument("--model", choices=("dateline", "fifo"))
    made.add_argument("--delivery", choices=("head", "tail"))
    made.add_workers()
    made.add_argument("--combinations", action="store_true")
    options = made.parse_args(arguments)
    if options.combinations and (options.model or options.delivery):
        made.error("--combinations compares all queues and deliveries; leave out --model and --delivery")
    options.model, options.delivery = options.model or "dateline", options.delivery or "head"
    return options


def command_text(options: argparse.Namespace) -> str:
    """The command without the output folder, which does not affect the results."""
    text = "trivance figures" + (" --quick" if options.quick else "")
    if options.only:
        text += " --only " + ",".join(map(str, sorted(options.only)))
    text += f" --model={options.model}" if options.model != "dateline" else ""
    return text + (f" --delivery={options.delivery}" if options.delivery != "head" else "")


def chosen(options: argparse.Namespace) -> list[Spec]:
    return [spec for spec in SPECS if (spec.number in options.only if options.only else
                                       not options.quick or not spec.mesh
                                       and trivance.Torus(spec.torus).size <= QUICK_RANKS_MAX)]


# ---- The folder ------------------------------------------------------------------------------------------------------

def write_all(result: Result, rows: list[dict[str, Any]], folder: str) -> None:
    def path(*names: str) -> str:
        return os.path.join(folder, *names)

    for figure in result.figures:
        name = path("figures", f"figure-{figure.spec.number:02d}")
        with output(name + ".csv") as stream:
            write.figure_csv(figure, stream)
        with output(name + ".svg") as stream:
            draw(figure, stream)
    earlier = [path("plots.md"), *glob.glob(path("figures", "corrected-*.svg"))]
    for name in filter(os.path.exists, earlier):  # of a run with other figures, to which the report does not link
        os.remove(name)
    if result.corrected:
        with output(path("figures", f"corrected-{result.corrected.spec.number:02d}.svg")) as stream:
            draw(result.corrected, stream)
        with output(path("plots.md")) as stream:
            stream.write(result.plots)
    with output(path("tables.csv")) as stream:
        write.tables_csv(rows, stream)
    with output(path("evaluation.md")) as stream:
        report.write(result, CLAIMS, rows, folder, stream)
    with output(path("index.html")) as stream:
        page.write(result, CLAIMS, rows, stream)


# ---- The command -----------------------------------------------------------------------------------------------------

class Interrupted(BaseException):
    """A signal that ends the command."""


def _interrupt(number: int, _frame: Any) -> None:
    raise Interrupted(number)


def _run(options: argparse.Namespace, kept: Kept) -> None:
    begun, specs = time.monotonic(), chosen(options)
    if options.combinations:
        rows = combinations.count(specs, options.quick, CLAIMS, kept, options.workers, options.output)
        print(combinations.table(rows), end="")
        return
    result = Result(specs, options.quick, (("delivery", options.delivery), ("model", options.model)),
                    command=command_text(options))
    add_published(result, kept, options.workers)
    with ThreadPoolExecutor(1) as executor:
        counted = executor.submit(tables, QUICK_TABLES_RANKS_MAX if options.quick else math.inf)
        run("figures", result, kept, options.workers)
        variants(result, kept, options.workers)
    effects.run(result, kept, options.workers)  # forks, when no thread runs
    write_all(result, counted.result(), options.output)
    print_summary(result, options.output, time.monotonic() - begun)


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    kept_path = os.path.join(options.output, "unfinished.jsonl")
    warnings.filterwarnings("ignore", ".*are rounded to")  # bytes of message rules, by less than a thousandth
    try:
        make_folder(options.output)
        make_folder(os.path.join(options.output, "figures"))
        kept = Kept(kept_path)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _interrupt)
        _run(options, kept)
        kept.close(False)
        return 0
    except (trivance.TrivanceError, OSError) as error:
        sys.stderr.write(f"trivance figures: {error}\n")
        return BAD
    except Interrupted as signal_number:
        sys.stderr.write(f"trivance figures: interrupted; what was simulated is kept in '{kept_path}', and the same "
                         "command continues there\n")
        return int(128 + signal_number.args[0])


def print_summary(result: Result, folder: str, seconds: float) -> None:
    verdicts = [rules.judge(result, claim).verdict for claim in CLAIMS]
    simulations = sum(one.all_simulations for one in (result, result.published, *result.variants.values()) if one)
    count = len(result.figures)
    print(f"{count} figure{'' if count == 1 else 's'} of {simulations} simulations in {seconds:.1f} s. Of the paper's "
          f"claims {verdicts.count(rules.BOTH)} hold by its published rules and by its text, "
          f"{verdicts.count(rules.PUBLISHED)} by the rules only, {verdicts.count(rules.TEXT)} by the text only, "
          f"{verdicts.count(rules.NEITHER)} by neither; {verdicts.count(rules.NOT_MEASURED)} were not measured.\n"
          f"{folder}/index.html shows all of it, {folder}/evaluation.md compares claim by claim.")
