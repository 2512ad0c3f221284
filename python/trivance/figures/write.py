"""Output files of a run: each one is either complete or absent."""
import contextlib
import csv
import os
import tempfile

import numpy as np

from . import catalogue, counted, cuts
from .measures import advantage


@contextlib.contextmanager
def output(path, mode="w"):
    """A stream whose file is renamed to its final name at the end, and removed if an error occurs before."""
    folder, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(prefix=name + ".", dir=folder or ".")
    try:
        with os.fdopen(descriptor, mode, **({} if "b" in mode else {"encoding": "utf-8", "newline": ""})) as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def figure_csv(figure, stream):
    """Absolute times, one row per curve and point, those of the figure's own algorithm first."""
    write = csv.writer(stream, lineterminator="\n").writerow
    if figure.spec.about_cuts:
        _cuts_csv(figure, write)
        return
    spec, own = figure.spec, catalogue.own_of(figure.spec).key
    write(["figure", "torus", "parameter", "value", "family", "algorithm", "bytes", "time_ns", f"{own}_time_ns",
           "relative_percent"])
    for i, curve in enumerate(figure.curves):
        first = [spec.number, spec.torus, spec.parameter or "", curve.key if spec.parameter else ""]
        lines = [(own, curve.own, curve.own_member)] if i == 0 or spec.parameter else []
        lines.append(("best-baseline" if spec.parameter else curve.key, curve.other, curve.member))
        for family, times, members in lines:
            for size, time, member, own_time in zip(figure.axis, times, members, curve.own):
                write(first + [family, member, int(size), f"{time:.3f}", f"{own_time:.3f}",
                               f"{advantage(time, own_time):.4f}"])


def _cuts_csv(figure, write):
    write(["figure", "torus", "bytes", "cuts", "networks", "whole_torus_time_ns", "median_time_ns", "worst_time_ns",
           "median_times", "worst_times", "whole_torus_served", "whole_torus_plan", "median_plan", "worst_plan"])
    for curve in figure.curves:
        size = catalogue.CUT_SIZES[curve.key]
        for i, links in enumerate(cuts.CUTS):
            whole, median, worst = curve.other[i], curve.own[i], curve.worst[i]
            write([figure.spec.number, figure.spec.torus, size, links, figure.networks, f"{whole:.3f}",
                   f"{median:.3f}", f"{worst:.3f}", f"{median / whole:.4f}", f"{worst / whole:.4f}", curve.served[i],
                   curve.member[i], curve.own_member[i], curve.worst_member[i]])


def _cell(value):
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    return f"{value:.4f}" if isinstance(value, float) else value


def tables_csv(rows, stream):
    write = csv.writer(stream, lineterminator="\n").writerow
    write(counted.TABLE_COLUMNS)
    for row in rows:
        write([_cell(value) for value in row.values()])
