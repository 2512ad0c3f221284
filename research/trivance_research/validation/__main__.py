"""``python3 -m trivance_research.validation``: predictions for measured collectives, as tables and plots in a
folder."""
import argparse
import os
import sys

from trivance import Torus, TrivanceError

from ..options import Parser, make_folder, whole
from . import model, plans, report, rows


def _options() -> argparse.Namespace:
    made = Parser("trivance_research.validation", description=__doc__)
    made.add_argument("-o", "--output", metavar="DIR", default="validation", help="folder (default: validation)")
    made.add_argument("--network", metavar="NAME", help="a profile (default: that of the library, for example tofu-d)")
    made.add_argument("--library", metavar="NAME",
                      help="the library whose rows are predicted, utofu or fjmpi (default: both)")
    made.add_argument("--data", metavar="FILE.csv",
                      help="measurements with the columns of fugaku.csv, which is the default")
    made.add_argument("--ranks", metavar="N", type=whole(1, 1 << 30), default=1 << 30,
                      help="only shapes of up to N ranks")
    made.add_argument("--no-plots", action="store_true", help="tables only")
    made.add_argument("--fit", action="store_true",
                      help="fit the parameters to Recursive Doubling and print them; takes a quarter of an hour")
    made.add_argument("--plans", metavar="SHAPE", nargs="+",
                      help="print predictions for Trivance and planned schedules on these shapes instead")
    made.add_workers()
    return made.parse_args()


def _read(options: argparse.Namespace) -> list[rows.Row]:
    if options.library not in (None, *rows.PROFILES):
        raise ValueError(f"there is no library {options.library!r}; expected {' or '.join(rows.PROFILES)}")
    chosen = [row for row in rows.read(options.data or rows.DATA)
              if options.library in (None, row.library) and rows.schedule_of(row)
              and Torus(row.shape).size <= options.ranks]
    if not chosen:
        raise ValueError("no row remains that is predicted; the smallest shape has 8 ranks, for example --ranks=64")
    return chosen


def main() -> int:
    options = _options()
    if options.plans:
        for line in plans.table(options.plans, options.network or "tofu-d"):
            print(line, flush=True)
        return 0
    chosen = _read(options)
    results = []
    if not options.fit:
        make_folder(options.output)
    for library in dict.fromkeys(row.library for row in chosen):
        own, profile = [row for row in chosen if row.library == library], options.network or rows.PROFILES[library]
        if options.fit:
            print(f"{library}:", ", ".join(f"{name} {value:.4g}" for name, value in model.fit(own, profile).items()))
        else:
            times = model.predict_all(own, profile, workers=options.workers)
            results += [report.Result(row, time) for row, time in zip(own, times)]
    if options.fit:
        return 0
    with open(os.path.join(options.output, "rows.csv"), "w", encoding="utf-8") as stream:
        report.write_csv(results, stream)
    text = [*report.summary(results), "", *report.curves(results)]
    with open(os.path.join(options.output, "summary.md"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(text) + "\n")
    print("\n".join(report.summary(results)))
    if not options.no_plots:
        report.draw(results, options.output)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as problem:
        print(f"trivance_research.validation: {problem.filename}: {problem.strerror}", file=sys.stderr)
        sys.exit(2)
    except (TrivanceError, KeyError, ValueError) as error:
        print(f"trivance_research.validation: {error}", file=sys.stderr)
        sys.exit(2)
