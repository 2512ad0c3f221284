"""``python3 -m trivance.validation``: predictions for measured collectives, as tables and plots in a folder."""
import argparse
import os
import sys

from .. import TrivanceError
from . import model, plans, report, rows


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser("python3 -m trivance.validation", description=__doc__)
    made.add_argument("-o", "--output", metavar="DIR", default="validation", help="folder (default: validation)")
    made.add_argument("--network", metavar="NAME", default="tofu-d", help="a profile (default: tofu-d)")
    made.add_argument("--library", metavar="NAME", default="utofu", help="the library whose rows are predicted (default: utofu)")
    made.add_argument("--data", metavar="FILE.csv", help="measurements with the columns of fugaku.csv, which is the default")
    made.add_argument("--ranks", metavar="N", type=int, default=1 << 30, help="only shapes of up to N ranks")
    made.add_argument("--no-plots", action="store_true", help="tables only")
    made.add_argument("--fit", action="store_true",
                      help="fit the parameters to Recursive Doubling and print them; takes a quarter of an hour")
    made.add_argument("--plans", metavar="SHAPE", nargs="+",
                      help="print predictions for Trivance and planned schedules on these shapes instead")
    made.add_argument("-j", "--workers", metavar="N", type=int, default=len(os.sched_getaffinity(0)))
    return made.parse_args()


def _read(options: argparse.Namespace) -> list[rows.Row]:
    from .. import Torus
    stream = open(options.data, encoding="utf-8", newline="") if options.data else None
    return [row for row in rows.read(stream) if row.library == options.library and rows.schedule_of(row)
            and Torus(row.shape).size <= options.ranks]


def main() -> int:
    options = _options()
    if options.plans:
        for line in plans.table(options.plans, options.network):
            print(line, flush=True)
        return 0
    chosen = _read(options)
    if options.fit:
        fitted = model.fit(chosen, options.network)
        print(", ".join(f"{name} {value:.4g}" for name, value in fitted.items()))
        return 0
    times = model.predict_all(chosen, options.network, workers=options.workers)
    results = [report.Result(row, time) for row, time in zip(chosen, times)]
    os.makedirs(options.output, exist_ok=True)
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
    except (TrivanceError, OSError, KeyError, ValueError) as error:
        sys.exit(f"trivance.validation: {error}")
