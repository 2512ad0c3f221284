"""Plots: comparisons by --plot of the tool and in Python, and the jobs of `trivance testbed bench`."""
import io
import os
import subprocess
import venv

import pytest

pytest.importorskip("matplotlib")

from conftest import TOOL  # noqa: E402
from trivance.plots import curves, testbed  # noqa: E402


def test_curves():
    """Times over sizes with the limit, as `trivance simulate --plot` draws them."""
    data = {"title": "AllReduce on a ring of 9: fifo", "limit": {"bytes": [32, 64], "ns": [2600, 2600]},
            "curves": [{"name": "planned", "bytes": [32, 64], "ns": [4000, 4500]},
                       {"name": "swing", "bytes": [32, 64], "ns": [8000, None]}]}
    svg = io.StringIO()
    curves.draw(data, svg)
    for text in ("AllReduce on a ring of 9: fifo", "swing", "planned", "limit (lower bound)", "64 B", "5 us"):
        assert text in svg.getvalue(), text


def test_testbed(tmp_path):
    """A plot for each job of a testbed.csv: an MPI library, with and without rendezvous."""
    rows = ["torus,bandwidth_mbps,hop_latency_ms,mpi,rendezvous,slow_link,bytes,whose,algorithm,type,"
            "median_ms,min_ms,max_ms"]
    for rendezvous, link in (("true", ""), ("false", "0:+0:2x")):
        for whose, algorithm, kind in (("library", "ring", "double"), ("library", "default", "double"),
                                       ("trivance", "trivance-b", "int"), ("trivance", "auto", "double")):
            rows += [f"3x3,50.000,2.000,mpich,{rendezvous},{link},{size},{whose},{algorithm},{kind},4,3,{size}"
                     for size in (8, 8192)]
    (tmp_path / "testbed.csv").write_text("\n".join(rows), encoding="utf-8")
    testbed.main(str(tmp_path / "testbed.csv"))
    plot = (tmp_path / "3x3-mpich-eager.svg").read_text(encoding="utf-8")
    for words in ("MPICH, torus 3x3 of 50 Mb/s and 2 ms, rendezvous off, links 0:+0:2x", "MPICH, each of its own",
                  "MPICH, the best of its own", "Trivance, each form", "Trivance, auto, doubles", "8 KiB"):
        assert plot.count(f"{words}</text>") == 1, words
    assert "auto, integers" not in plot and (tmp_path / "3x3-mpich-rendezvous.svg").exists()


def hide_packages(folder):
    """Lets no Python with this folder in PYTHONPATH find a package of the system."""
    (folder
     / "sitecustomize.py").write_text("import sys\nsys.path[:] = [path for path in sys.path if '-packages' not in "
                                      "path]\n")


@pytest.mark.parametrize("line", ["simulate 9 -b 32,1K", "sweep --torus=9 -a trivance,planned -b 32,1K"])
def test_plot(tmp_path, line):
    """--plot of the subcommands that simulate sizes; nothing is left behind but the picture."""
    done = subprocess.run([TOOL, *line.split(), "--plot=times.svg"], capture_output=True, text=True, check=False,
                          cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == ["times.svg"]
    svg = (tmp_path / "times.svg").read_text(encoding="utf-8")
    assert "AllReduce on a ring of" in svg and "planned" in svg and "limit (lower bound)" in svg


def test_plot_without_python(tmp_path):
    """One sentence before any simulation where no python3 has matplotlib; of two the one that has it is used."""
    hide_packages(tmp_path)
    line = [TOOL, "simulate", "9", f"--plot={tmp_path}/times.svg"]
    done = subprocess.run(line, capture_output=True, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    sentence = "trivance simulate: --plot: there is no python3 with numpy, matplotlib and the package trivance"
    assert sentence in done.stderr
    assert not (tmp_path / "times.svg").exists()
    venv.create(tmp_path / "bare")
    done = subprocess.run(line, capture_output=True, text=True, check=False,
                          env=os.environ | {"PATH": f"{tmp_path}/bare/bin"})
    assert done.returncode == 0 and (tmp_path / "times.svg").exists(), done.stderr
