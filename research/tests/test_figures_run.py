"""The command `trivance figures` as users call it: arguments, a run, its files, interruption."""
import csv
import json
import os
import re
import signal
import subprocess
import time

import pytest

pytest.importorskip("matplotlib")

from conftest import EXHAUSTIVE, TOOL  # noqa: E402
from trivance_research.figures.claims import CLAIMS  # noqa: E402

FIGURES = [6, 14, 17] if EXHAUSTIVE else [6]
ONLY = ",".join(map(str, FIGURES))


def call(*arguments, **environment):
    return subprocess.run([TOOL, "figures", *arguments], capture_output=True, text=True, check=False,
                          env=os.environ | environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("figures")
    done = call("--quick", "--only", ONLY, "--output", str(made / "run"))
    assert done.returncode == 0, done.stderr
    assert f"{len(FIGURES)} figure" in done.stdout
    return made


def rows(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


WRONG = [
    ("--only 5", "--only: '5' is not a whole number from 6 to 35"),
    ("--only 6,36", "'36' is not a whole number from 6 to 35"), ("--only 6,,7", "'' is not a whole number"),
    ("--only six", "'six' is not a whole number"), ("--model=ideal", "--model: invalid choice: 'ideal'"),
    ("--delivery=late", "--delivery: invalid choice: 'late'"),
    ("--workers=0", "--workers/-j: '0' is not a whole number from 1 to 1024"),
    ("6", "--only=6,8"), ("--qick", "did you mean --quick?"),
    ("--out /dev/null/here", "'/dev/null/here' cannot be made"), ("--out /proc", "'/proc/figures' cannot be made"),
    ("--only 6 --output=", "the folder has no name"),
    ("--combinations --model=fifo", "--combinations compares all queues and deliveries; leave out --model")]


@pytest.mark.parametrize("line, words", WRONG if EXHAUSTIVE else WRONG[::6])
def test_bad_input(line, words):
    done = call(*line.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert words in done.stderr


def test_help():
    done = call("--help")
    assert done.returncode == 0 and "--combinations" in done.stdout and "Examples:" in done.stdout


def test_without_python(tmp_path):
    """One sentence where no Python has the packages."""
    # No Python with this folder in PYTHONPATH finds a package of the system.
    (tmp_path / "sitecustomize.py").write_text("import sys\n"
                                               "sys.path[:] = [path for path in sys.path if '-packages' not in path]\n")
    done = call("--quick", "--only", "6", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("trivance figures: there is no python3 with numpy"), done.stderr


def test_files(folder):
    names = {f"figure-{number:02d}.{ending}" for number in FIGURES for ending in ("csv", "svg")}
    assert set(os.listdir(folder / "run" / "figures")) == names
    assert set(os.listdir(folder / "run")) == {"evaluation.md", "figures", "index.html", "tables.csv"}
    svg = (folder / "run" / "figures" / "figure-06.svg").read_text(encoding="utf-8")
    assert "Figure 6: Ring of 8" in svg and svg.rstrip().endswith("</svg>")


def test_csv(folder):
    ring = rows(folder / "run" / "figures" / "figure-06.csv")
    assert list(ring[0]) == ["figure", "torus", "parameter", "value", "family", "algorithm", "bytes", "time_ns",
                             "trivance_time_ns", "time_vs_trivance", "rules"]
    published = [row for row in ring if row["rules"] == "published"]
    assert {row["bytes"] for row in published if row["family"] == "bucket"} == {str(32768 << 2 * i) for i in range(7)}
    assert len(published) == 4 * 12 + 7  # Bucket from 32 KiB on
    (swing,) = [row for row in published if (row["family"], row["bytes"]) == ("swing", "32")]
    assert 1.21 < float(swing["time_vs_trivance"]) < 1.23  # 22 % by the published simulation
    ring = [row for row in ring if row["rules"] == "text"]
    assert len(ring) == 5 * 12
    for row in ring:  # two steps and three, at little more than 2 us each (paper section 6.1: more than 20 %)
        if row["family"] == "swing" and int(row["bytes"]) < 8192:
            assert 1 / 0.75 < float(row["time_vs_trivance"]) < 1 / 0.66
    tables = rows(folder / "run" / "tables.csv")
    assert len(tables) == 65 and sum(row["agrees"] == "true" for row in tables) == 43  # of at most 1024 ranks
    if not EXHAUSTIVE:
        return
    torus = rows(folder / "run" / "figures" / "figure-17.csv")
    latency = rows(folder / "run" / "figures" / "figure-14.csv")
    assert len(latency) == 2 * 5 * 12
    for size in {row["bytes"] for row in torus}:
        # The fastest baseline of a figure over link latencies, at the usual 100 ns, is that of figure 17.
        least = min(float(row["time_ns"]) for row in torus
                    if row["bytes"] == size and row["family"] != "trivance" and row["rules"] == "text")
        found = [float(row["time_ns"]) for row in latency
                 if (row["bytes"], row["value"], row["family"]) == (size, "100ns", "best-baseline")]
        assert found == [least]


def test_page(folder):
    """It opens without a network, and its data are those of the other files."""
    page = (folder / "run" / "index.html").read_text(encoding="utf-8")
    for outside in (" src=", "<link", "@import", 'href="http', "fetch(", "https:"):
        assert outside not in page
    assert page.count("url(") == page.count("url(#")  # its own clip paths
    assert page.count("http:") == 1                   # the name of SVG
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    assert len(data["sizes"]) == 12 and [f["number"] for f in data["figures"]] == FIGURES
    assert len(data["claims"]) == len(CLAIMS) and len(data["tables"]) == 65
    curve = data["figures"][0]["curves"][1]
    assert curve["title"] == "Swing" and len(curve["other"]) == 12
    published = data["figures"][0]["published"]
    assert published["sizes"] == data["sizes"] and published["curves"][3]["advantage"][:5] == [None] * 5  # Bucket


def test_report(folder):
    report = (folder / "run" / "evaluation.md").read_text(encoding="utf-8")
    assert f"`trivance figures --quick --only {ONLY}`" in report.splitlines()[0]
    assert "## Summary" in report and "$" not in report
    assert all(claim.text in report for claim in CLAIMS)
    measured, folded = report.split("<details><summary>")
    line = next(line for line in measured.splitlines() if "Ring of 8: more than 20 % faster than Swing" in line)
    assert line.endswith("| 22.0 % at 32 B to 22.4 % at 8 KiB | 31.2 % | both |")
    line = next(line for line in folded.splitlines() if "27x27: still more than 40 % at 32 MiB" in line)
    assert "| not measured |" in line


def interrupt(folder, number, enough):
    """Ends a run with a signal once it has simulated a part; its exit code and its standard error."""
    with subprocess.Popen([TOOL, "figures", "--quick", "--only", ONLY, "-j", "1", "-o", str(folder)],
                          stderr=subprocess.PIPE, text=True) as process:
        kept = folder / "unfinished.jsonl"
        while process.poll() is None and (not kept.exists() or kept.stat().st_size < enough):
            time.sleep(0.001)
        process.send_signal(number)
        return process.wait(), process.stderr.read()


@pytest.mark.skipif(not EXHAUSTIVE, reason="it waits for many simulations")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(folder, number):
    """It reports the interruption and where it continues; the result is that of a run without an interruption."""
    stopped = folder / f"stopped-{number}"
    code, said = interrupt(stopped, number, 25000)
    assert code == 128 + number
    assert said.startswith("trivance figures: interrupted; what was simulated is kept in") and said.count("\n") == 1
    assert not (stopped / "index.html").exists() and not os.listdir(stopped / "figures")
    kept = stopped / "unfinished.jsonl"
    text = kept.read_text(encoding="utf-8")
    kept.write_text(text[:text.rindex("}")], encoding="utf-8")  # a line that was torn is simulated again
    name = f"figure-{FIGURES[-1]:02d}.csv"
    assert call("--quick", "--only", ONLY, "-o", str(stopped)).returncode == 0
    assert not kept.exists()
    assert (stopped / "figures" / name).read_text() == (folder / "run" / "figures" / name).read_text()
    # The others are not: with other times in them the figures are others.
    kept.write_text(text.replace('"time_ns": ', '"time_ns": 9'), encoding="utf-8")
    assert call("--quick", "--only", ONLY, "-o", str(stopped)).returncode == 0
    assert any((stopped / "figures" / f"figure-{n:02d}.csv").read_text() !=
               (folder / "run" / "figures" / f"figure-{n:02d}.csv").read_text() for n in FIGURES)
