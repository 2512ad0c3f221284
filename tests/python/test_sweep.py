"""Sweeps: the function, and the command with its files."""
import contextlib
import csv
import io
import json
import os
import pathlib
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

import trivance as tv
from trivance.sweep import values
from trivance.sweep.__main__ import main

from conftest import EXHAUSTIVE, TOOL

STATED = ("model,delivery,bandwidth_bps,nic_bandwidth_bps,alpha_ns,link_latency_ns,host_latency_ns,router_in_ns,"
          "router_out_ns,packet")
COLUMNS = f"torus,algorithm,bytes,{STATED},time_ns,packet_hops,wall_s,chosen_for,error"
NETWORK = "fifo,head,800000000000,12800000000000,1000,100,100,50,50,8192"
GRID = ("--torus=8x8,3x5", "-a", "all", "-b", "32:128K:x2" if EXHAUSTIVE else "32:32K:x8", "--alpha=1us", "-j", "1")


def call(*words, code=0):
    """The standard output and error of the command in this process, which must end with a code; options are long."""
    out, err = io.StringIO(), io.StringIO()
    handlers = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            assert main(["sweep", *words]) == code, (words, out.getvalue(), err.getvalue())
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)
    return out.getvalue(), err.getvalue()


def run(*words, code=0, cwd=None, **more):
    """The same of `trivance sweep`."""
    done = subprocess.run([TOOL, "sweep", *words], capture_output=True, text=True, check=False, cwd=cwd, **more)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def rows_of(*words):
    return json.loads(call(*words, "--format=json")[0])


def lines_of(path):
    """The rows of a file as sets of cells, without the duration."""
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream) if str(path).endswith("csv") else map(json.loads, stream))
    return sorted(str({name: value for name, value in row.items() if name != "wall_s"}) for row in rows)


# ---- Values ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, text, expected", [
    ("bytes", "1K:8K", [1024, 2048, 4096, 8192]),
    ("bytes", "1K:64M:x16", [1024, 16384, 262144, 4194304, 67108864]),
    ("bytes", "1K:3K:2", [1024, 2048, 3072]),
    ("bytes", "1:4:x1.5,3", [1, 2, 3, 4]),
    ("alpha", "1us:3us:+500ns", [1000, 1500, 2000, 2500, 3000]),
    ("alpha", "0ns:0.3us:+0.1us", [0, 100, 200, 300]),
    ("bandwidth", "200Gb/s:1.6Tb/s:x2,25GB/s", [2 * 10**11, 4 * 10**11, 8 * 10**11, 16 * 10**11]),
    ("jitter", "0%:14%:+7%", [0, 7, 14]),
    ("alpha", "0.5us,500ns,1500ns,1.5us", [500, 1500]),
    ("model", "fifo,dateline,fifo", ["fifo", "dateline"]),
    ("bytes", "1G", [1 << 30]),
    ("bytes", "7:7", [7]),
    ("alpha", 1.5e-6, [1500]),
    ("alpha", ["33.25ns", 1e-6], [33.25, 1000]),
    ("torus", [8, tv.Torus("3x3m"), "2:4:+1"], ["8", "3x3m", "2", "3", "4"]),
    ("torus", "9m", ["9m"]),  # a line, not 9 MiB
    ("jitter", [0.1, "10%"], [10]),
    ("no_forwarding", [True, "no"], ["yes", "no"]),
    ("algorithm", "auto,swing,planned", ["planned", "swing"]),
])
def test_values(name, text, expected):
    assert list(values.read(name, text)) == expected


@pytest.mark.parametrize("text", ["", "1,,2", "1:", ":2", "8:4", "1K:64M:x1", "1K:64M:x", "1K:64M:+", "1K:64M:+0",
                                  "1K:64M:+1us", "1us:64", "0:8:x2", "1:2:3:4", "a:b", "1:8:-1", "1:100000:+1"])
def test_no_values(text):
    with pytest.raises(tv.ArgumentError):
        values.read("packet", text)


# ---- The function ----------------------------------------------------------------------------------------------------

def column(table, name):
    return np.asarray(table[name])


def test_function(tmp_path):
    """The rows of the tool, in the order of the grid; from a file those that it has are not simulated again."""
    arguments = {"alpha": ["1us", 1.5e-6], "limit": True}
    table = tv.sweep([8, "3x3"], ["trivance", "ring"], "64,1M", **arguments)
    answer = rows_of("--torus=8,3x3", "--algorithm=trivance,ring", "--bytes=64,1M", "--alpha=1us,1.5us", "--limit",
                     "--workers=1")
    assert list(table.keys() if hasattr(table, "keys") else table.dtype.names) == list(answer[0])
    assert list(column(table, "torus")) == ["8"] * 8 + ["3x3"] * 8 and list(column(table, "alpha_ns")) == [1000,
                                                                                                           1500] * 8
    answer = {(row["torus"], row["chosen_for"], row["bytes"], row["alpha_ns"]): row for row in answer}
    for i in range(16):
        row = {name: column(table, name)[i]
               for name in ("torus", "chosen_for", "bytes", "alpha_ns", "time_ns", "algorithm",
                            "limit_ratio", "reference_ns", "packet_hops", "error", "limit_from")}
        same = answer[row["torus"], row["chosen_for"], row["bytes"], row["alpha_ns"]]
        for name, value in row.items():
            missing = value is None or isinstance(value, float) and np.isnan(value)
            assert (None if missing else value) == same[name], (name, row, same)
    file = tmp_path / "rows.csv"
    first = tv.sweep(8, ["trivance", "ring"], "64,1M", file=file, **arguments)
    size = file.stat().st_size
    again = tv.sweep(8, ["trivance", "ring"], "64,1M", file=file, **arguments)
    assert file.stat().st_size == size and list(column(again, "wall_s")) == list(column(first, "wall_s"))
    assert list(column(again, "time_ns")) == list(column(first, "time_ns")) == list(column(table, "time_ns"))[:8]


def test_function_like_compare():
    compared = tv.compare("3x4", ["trivance", "planned", "bucket"], "1K,64K")
    swept = tv.sweep("3x4", ["trivance", "planned", "bucket"], "1K,64K")
    assert list(column(swept, "time_ns")) == pytest.approx(list(compared["time"] * 1e9), abs=1e-3)
    assert list(column(swept, "algorithm")) == list(compared["name"])


def test_progress_and_cancellation(tmp_path):
    """An exception of a progress function, as that of Ctrl-C, ends the sweep between two rows."""
    seen, file, grid = [], tmp_path / "rows.jsonl", ("8x8", "all", "32K:512K:x4")
    points = len(column(tv.sweep(*grid, progress=seen.append), "bytes"))
    assert seen == sorted(seen) and seen[-1] == pytest.approx(1)

    def stop(fraction):
        if fraction > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tv.sweep(*grid, progress=stop, file=file, workers=1)
    kept = lines_of(file)
    assert 0 < len(kept) < points
    tv.sweep(*grid, file=file)
    assert len(lines_of(file)) == points and set(kept) < set(lines_of(file))


@pytest.mark.parametrize("arguments, words", [
    ({"torus": "8", "gama": 1}, "there is no parameter 'gama'"),
    ({"torus": []}, "the list of torus is empty"),
    ({"torus": "8", "file": "rows.txt"}, "must end in .csv or .jsonl"),
    ({"torus": "8", "workers": 0}, "workers is 0"),
    ({"torus": "8", "limit": "no"}, "limit is 'no'"),
    ({"torus": "8", "root": 1}, "allreduce has no root"),
    ({"torus": "1:10000:+1", "algorithms": "ring", "sizes": "1:100:+1"},
     r"1,000,000 points \(10000 tori × 100 sizes\); pass yes=True"),
])
def test_function_refuses(arguments, words):
    with pytest.raises(tv.ArgumentError, match=words):
        tv.sweep(**arguments)


# ---- The command -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("line, words", [
    ("", "no torus is given; give at least one"),
    ("8x8", "a torus is given as --torus=8x8"),
    ("/nonexistent/grid.json", "the file '/nonexistent/grid.json' cannot be read"),
    ("/dev/zero", "the file '/dev/zero' is a device; expected a regular file or a pipe"),
    ("a.json b.json", "two files"),
    ("--torus=8y8", "is not a torus"),
    ("--torus=8,,9", "empty entry"),
    ("--torus=8 --algorithm=trivanse", "did you mean trivance?"),
    ("--torus=8 --bytes=0", "bytes is '0'"),
    ("--torus=8 --bytes=1K:64M:y4", "is not a range"),
    ("--torus=8 --bytes=1M:1K", "bytes: the range '1M:1K' begins above its end"),
    ("--torus=8 --alpha=0us:1us", "alpha: the range '0us:1us' begins at 0"),
    ("--torus=8 --bytes=1K --plot=x.svg", "--plot draws times over several sizes"),
    ("--torus=8 --bytes=1K --plot=x.svg --dry-run", "--plot draws times over several sizes"),
    ("--torus=8,9 --plot=x.svg", "--plot draws algorithms and sizes for a single torus; here there are 2"),
    ("--torus=8 --plot=x.pdf", "--plot: the name 'x.pdf' must end in .svg"),
    ("--torus=8 --plot=/nonexistent/x.svg", "--plot: the file '/nonexistent/x.svg' cannot be written: No such file"),
    ("--torus=8 --collective=barrier", "barrier"),
    ("--torus=8 --collective=allreduce,broadcast --root=0,3", "--root: allreduce has no root"),
    ("--torus=8 --collective=broadcast --root=8", "there is no root 8 among 8 ranks; roots are 0 to 7"),
    ("--torus=8 --collective=broadcast --root=x", "root"),
    ("--torus=8 --bandwidth=800", "--bandwidth: '800' is not a rate"),
    ("--torus=8 --bandwidth=0Gb/s", "bandwidth"),
    ("--torus=8 --alpha=1us,1.5", "--alpha: '1.5' is not a time"),
    ("--torus=8 --packet=1", "1 MiB"),
    ("--torus=8 --packet=64K --buffer=8K --model=dateline", "buffer"),
    ("--torus=8 --slow-rank=9:2x", "9"),
    ("--torus=8 --model=ideal", "ideal"),
    ("--torus=8 --cut=3", "--cut: '3'"),
    ("--torus=8 --gamma-small=", "--gamma-small: the list has an empty entry"),
    ("--torus=8 --seed=-1", "seed is '-1'; it is a whole number"),
    ("--torus=8 --no-forwarding=maybe", "neither no nor yes"),
    ("--torus=8 --shared-paths=x", "lists no dimensions"),
    ("--torus=8 --network=tofu", "--network: there is no network 'tofu'"),
    ("--torus=8 --format=xml", "no format 'xml'"),
    ("--torus=8 --format=csv --output=out.csv", "--format is for stdout"),
    ("--torus=8 --restart", "--restart requires --output"),
    ("--torus=8 --output=out.txt", "must end in .csv or .jsonl"),
    ("--torus=8 --output=/nonexistent/out.csv", "'/nonexistent/out.csv' cannot be written: No such file"),
    ("--torus=8 --workers=0", "--workers"),
    ("--torus=8 --workers=x", "--workers"),
    ("--torus=8 --link-latency=2h", "--link-latency: '2h' is not a time"),
    ("--torus=8 --seed=1", "--seed: valid only with jitter; leave it out or add that"),
    ("--torus=8 --path-bandwidth=1Gb/s", "--path-bandwidth: valid only with shared_paths"),
    ("--torus=1:10000:+1 --bytes=1:10000:+1 --seed=0:9999:+1 --jitter=1% --algorithm=ring",
     "1,000,000,000,000 points (10000 tori × 10000 sizes × 10000 values of seed); add --yes"),
])
def test_bad_input(line, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("trivance sweep: ") and err.count("\n") == 1 and words in err
    assert not os.listdir(tmp_path)


def test_bad_input_of_the_tool():
    assert "trivance sweep: there is no option '--tours'; did you mean --torus?\n" == run("--tours=8", code=2)[1]
    assert "trivance sweep: --workers is 0" in run("--torus=8", "-j", "0", code=2)[1]


def test_formats(tmp_path):
    """The four formats of a grid have the same rows; a table has the order of the grid, and no columns of defaults."""
    grid = ("--torus=3x3,8", "--algorithm=ring,trivance", "--bytes=64,1M", "--alpha=1us,1.5us", "--workers=1")
    text, table, file = call(*grid, "--format=csv")[0], call(*grid)[0].splitlines(), tmp_path / "rows.jsonl"
    assert text.startswith(COLUMNS + "\n")
    assert "\n8,trivance-l,64,fifo,head,800000000000,12800000000000,1500,100,100,50,50,8192,4" in text
    row = '\n3x3,ring,64,fifo,head,800000000000,12800000000000,1000,100,100,50,50,8192,,,,ring,"ring supports only'
    assert row in text
    assert table[0].split() == ["torus", "algorithm", "bytes", "alpha_ns", "time_ns", "packet_hops", "wall_s",
                                "chosen_for", "error"]
    assert [line.split()[0] for line in table[1:]] == ["3x3"] * 8 + ["8"] * 8
    assert not any(line.endswith(" ") for line in table)
    rows = rows_of(*grid)
    assert "all 16 points, 16 new, 4 with an error" in call(*grid, f"--output={file}")[0]
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    manual = (pathlib.Path(TOOL).parent.parent / "man" / "trivance-sweep.1").read_text(encoding="utf-8")
    assert all(name in manual for name in rows[0])
    cells = list(csv.DictReader(text.splitlines()))
    for row, line, cell in zip(rows, lines, cells):
        assert list(row) == list(line) == list(cell) and len(row) == 18
        assert {**row, "wall_s": 0} == {**line, "wall_s": 0}
        assert cell["time_ns"] == ("" if row["time_ns"] is None else f"{row['time_ns']:.3f}")


def test_description(tmp_path, capsys):
    """A description in a file yields the same grid; options override its keys."""
    file = tmp_path / "grid.json"
    file.write_text('{"torus": [8, "3x3"], "algorithm": "trivance,ring", "bytes": [64, "1K:2K"], "jitter": ["0%", '
                    '"10%"], '
                    '"seed": 3}', encoding="utf-8")
    typed = rows_of("--torus=8,3x3", "--algorithm=trivance", "--algorithm=ring", "--bytes=64", "--jitter=0%,10%",
                    "--seed=3", "--workers=1")
    described = rows_of(str(file), "--bytes=64", "--workers=1")
    assert [{**row, "wall_s": 0} for row in described] == [{**row, "wall_s": 0} for row in typed]
    assert "has all 24 points" in call(str(file), f"--output={tmp_path}/described.csv")[0]
    piped = run("-", "-b", "64", "--dry-run", input=file.read_text(encoding="utf-8"))[0]
    assert piped.startswith("8 points")
    for text, words in [('{"torus": 8, "bandwith": 1}', "did you mean bandwidth?"),
                        ('{"torus": 8, "zzzzzzzz": 1}', "there is no key 'zzzzzzzz'"),
                        ('{"torus": []}', "the list of the key torus is empty"),
                        ('{"torus": {"a": 8}}', "the key torus takes a string"),
                        ('{"torus": 8, "torus": 9}', "duplicate"),
                        ("[8]", "is not a JSON object"),
                        ('{"bytes": 8,\n"torus": ["8", "8y8"]}', "grid.json:2:1: '8y8' is not a torus"),
                        ('{"torus": 8, "alpha": "3x"}', "alpha"),
                        ('{"torus": 8', "grid.json:1:12: not valid JSON"),
                        ('{"torus": 8, "alpha": 1.5}', "alpha")]:
        file.write_text(text, encoding="utf-8")
        assert main(["sweep", str(file)]) == 2 and words in capsys.readouterr().err, text


def test_rows_without_numbers():
    """Cut links, and parameters that exclude each other, yield rows that state so instead of numbers."""
    rows = rows_of("--torus=4x4", "--algorithm=star", "--bytes=1K", "--slow-link=none,1:-0:2x,1:-0:down",
                   "--packet=1K,64K", "--buffer=0,8K", "--model=dateline")
    assert len(rows) == 12
    for row in rows:
        fits = row["packet"] == 1024 or row["buffer"] == 0
        assert (row["error"] is None) == (row["time_ns"] is not None) == (row["slow_link"] != "1:-0:down" and fits)
        assert fits or "buffer" in row["error"]


def test_left_out():
    """Algorithms that were not selected by name cause no error on a torus that they do not support."""
    out, err = call("--torus=8x8,8", "--bytes=64,1K", "--format=csv")
    assert ',ring,"ring supports' not in out and "\n8,ring,64," in out and "trivance sweep: 54 of " in err
    out, err = call("--torus=8x8,8", "--bytes=64,1K", "--algorithm=ring", "--format=csv")
    row = '\n8x8,ring,64,fifo,head,800000000000,12800000000000,1500,100,100,50,50,8192,,,,ring,"ring supports'
    assert row in out and err == ""
    rows = rows_of("--torus=9", "--bytes=1K", "--cut=none,3:+0")
    assert [row["cut"] for row in rows if row["chosen_for"] == "line-l"] == ["3:+0"]


def test_networks():
    """A ring with a cut is a line; routes, forwarding and networks in which a row is cut in two."""
    rows = {(row["torus"], row["cut"]): row for row in
            rows_of("--torus=9,9m", "--algorithm=trivance-b", "--bytes=1K", "--cut=none,3:+0", "--model=fifo")}
    assert rows["9m", "none"]["time_ns"] == rows["9", "3:+0"]["time_ns"] != rows["9", "none"]["time_ns"]
    assert "leave no route between the nodes" in rows["9m", "3:+0"]["error"]
    slow = ("--torus=9", "--algorithm=hybrid:1@10", "--slow-link=0:+0:10x", "--bytes=8K", "--bandwidth=50Mb/s",
            "--model=fifo", "--format=csv")
    assert ",9300320.880," in call(*slow, "--routes=chosen")[0]
    assert ",chosen,9300320.880," in call(*slow, "--routes=fixed,chosen")[0]
    hosts = rows_of("--torus=9", "--algorithm=neighbour,trivance-l", "--bytes=1K", "--no-forwarding")
    assert sorted("does not forward" in (row["error"] or "") for row in hosts) == [False, True]
    assert ",no,4411" in call("--torus=9", "--algorithm=trivance-l", "--bytes=1K", "--no-forwarding=yes,no",
                              "--format=csv")[0]
    divided = rows_of("--torus=4x4m", "--algorithm=spanning-trees,trivance-l,planned", "--bytes=1K", "--cut=0:+1")
    assert {row["chosen_for"]: row["error"] is None for row in divided} == {"spanning-trees": True, "trivance-l": False,
                                                                            "planned": True}
    both = rows_of("--torus=8x8,10", "--bytes=1K", "--algorithm=hybrid:5,hybrid:4x8")
    assert sum(row["error"] is not None for row in both) == 2


def test_roots():
    """On a line the root matters: from its middle a broadcast has half as far to go. Root 0 alone has no column."""
    roots = rows_of("--torus=9m", "--algorithm=trivance-tree", "--collective=broadcast", "--root=0,4", "--bytes=1K")
    times = {row["root"]: row["time_ns"] for row in roots}
    assert times[4] < times[0]
    first = call("--torus=9m", "--algorithm=trivance-tree", "--collective=broadcast", "--root=0", "--bytes=1K",
                 "--format=csv")[0]
    assert "root" not in first and "\n9m,trivance-tree,1024,broadcast,fifo," in first


def test_errors_only(tmp_path):
    """A sweep that yields only errors is not reported as successful, however often it is resumed."""
    file = str(tmp_path / "errors.csv")
    for _ in range(2):
        assert "no point has a result" in call("--torus=8x8", "--bytes=64,1K", "--algorithm=ring", f"--output={file}",
                                               code=1)[1]
    call("--torus=8x8", "--torus=8", "--bytes=64,1K", "--algorithm=ring", f"--output={file}")
    assert "no point has a result" in call("--torus=8x8", "--bytes=64", "--algorithm=ring", "--format=json", code=1)[1]


def test_dry_call(tmp_path):
    grid = ("--torus=8x8,8", "--bytes=64,1K", "--alpha=1us,2us", "--dry-run")
    out = call(*grid, "--algorithm=ring,trivance", f"--output={tmp_path}/dry.csv")[0]
    assert out == "16 points (2 tori × 2 algorithms × 2 sizes × 2 values of alpha)\n" and not os.listdir(tmp_path)
    assert ", minus 108 whose algorithm" in call(*grid)[0]
    assert "160000 points" in call(*grid, "--algorithm=ring,trivance", "--jitter=1%", "--seed=1:10000:+1")[0]


@pytest.mark.exhaustive
def test_broken_output():
    """A full device, and a reader that ends, are reported in one sentence."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([TOOL, "sweep", "--torus=9", "-a", "ring", "-b", "1K"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "trivance sweep: the output could not be written: No space left on device\n"


# ---- The file --------------------------------------------------------------------------------------------------------

def test_output_of_the_tool(tmp_path):
    """No traceback for an output that is full, closed or cannot encode a character, and no module of the current
    folder."""
    (tmp_path / "numpy.py").write_text("raise SystemExit('a module of the current folder')\n")
    line = [TOOL, "sweep", "--torus=8,9", "-b", "1K", "-a", "trivance,swing"]
    for redirection, code, sentence in ((">/dev/full", 2, "the output could not be written"),
                                        (">&-", 2, "stdout is closed"), ("", 0, "")):
        done = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", *line, "--dry-run"], cwd=tmp_path,
                              capture_output=True, text=True, check=False,
                              env=os.environ | {"PYTHONIOENCODING": "ascii"})
        assert done.returncode == code and sentence in done.stderr and done.stderr.count("\n") == (code
                                                                                                   > 0), done.stderr


def test_damaged_number(tmp_path):
    """A result that is no number is an error that names the line; the file is not changed."""
    file = tmp_path / "rows.csv"
    tv.sweep("8", "trivance-l", "1K", file=file)
    header, row = file.read_text().splitlines()
    cells = ["abc" if name == "time_ns" else cell for name, cell in zip(header.split(","), row.split(","))]
    text = f"{header}\n{','.join(cells)}\n"
    file.write_text(text)
    with pytest.raises(tv.ArgumentError, match="line 2 has time_ns abc, which is not a number"):
        tv.sweep("8", "trivance-l", "1K", file=file)
    assert file.read_text() == text


@pytest.fixture(scope="module", name="whole")
def _whole(tmp_path_factory):
    """The file of an uninterrupted sweep of GRID."""
    file = tmp_path_factory.mktemp("whole") / "whole.csv"
    run(*GRID, "-o", str(file))
    return file


def interrupt(file, number, whole):
    """Ends a sweep by a signal after it has written something; its exit code and standard error."""
    with subprocess.Popen([TOOL, "sweep", *GRID, "-o", str(file)], stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and (not file.exists() or file.stat().st_size < 1000):
            time.sleep(0.0002)
        process.send_signal(number)
        code, said = process.wait(), process.stderr.read()
    assert file.stat().st_size < whole.stat().st_size
    return code, said


@pytest.mark.exhaustive
def test_killed(tmp_path, whole):
    """Resumed after a kill; a default that is given is no other sweep, and a grid may grow."""
    file, points = tmp_path / "killed.csv", len(lines_of(whole))
    assert interrupt(file, signal.SIGKILL, whole)[0] == -signal.SIGKILL
    out = run(*GRID, "-o", str(file))[0]
    assert f"has all {points} points" in out and f"{points} new" not in out and lines_of(file) == lines_of(whole)
    for more in ((), ("--bandwidth=800Gb/s", "--collective=allreduce", "--slow-link=none")):
        assert f"has all {points} points, 0 new" in run(*GRID, *more, "-o", str(file))[0]
    out = run(*GRID, "--torus=2", "-o", str(file))[0]
    assert f"has all {len(lines_of(file))} points, {len(lines_of(file)) - points} new" in out
    assert len(lines_of(file)) > points
    run(*GRID, "--restart", "-o", str(file))
    assert lines_of(file) == lines_of(whole)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(tmp_path, whole, number):
    file = tmp_path / "interrupted.csv"
    code, said = interrupt(file, number, whole)
    assert code == 128 + number and said.count("\n") == 1
    assert f"of {len(lines_of(whole))} points; the same command continues after the last row of '{file}'" in said
    assert file.read_text(encoding="utf-8").endswith("\n")
    run(*GRID, "-o", str(file))
    assert lines_of(file) == lines_of(whole)


@pytest.mark.exhaustive
@pytest.mark.parametrize("cut", [5, len(COLUMNS) + 1, 1000, 0, 60, 100, 400])
def test_truncated_file(tmp_path, whole, cut):
    """A file that is truncated in the header, between rows or in a row is completed."""
    file = tmp_path / "torn.csv"
    file.write_bytes(whole.read_bytes()[:cut])
    run(*GRID, "-o", str(file))
    assert lines_of(file) == lines_of(whole)


def test_truncated_lines(tmp_path):
    file, grid = tmp_path / "torn.jsonl", ("--torus=8", "--jitter=0%:1%:+0.1%", "--algorithm=ring", "--bytes=64,1K")
    call(*grid, f"--output={file}")
    os.truncate(file, file.stat().st_size - 20)
    assert "has all 22 points, 1 new" in call(*grid, f"--output={file}")[0]


@pytest.mark.parametrize("name, text, words", [
    ("notes.csv", "my notes", "line 1 is not the beginning of a sweep"),
    ("notes.csv", "my notes\n", "line 1 does not list the columns"),
    ("less.csv", "torus,algorithm,bytes,time_ns,packet_hops,wall_s,chosen_for,error\n", "does not list the columns"),
    ("grid.csv", f"*8x8,ring,32,{NETWORK},1.000,1,1.0,ring,\n9x9,ring,32,{NETWORK},1.000,1,1.0,ring,\n",
     "line 3 has torus 9x9"),
    ("bytes.csv", f"*8x8,ring,33,{NETWORK},1.000,1,1.0,ring,\n", "has bytes 33"),
    ("family.csv", f"*8x8,ring,32,{NETWORK},1.000,1,1.0,trivance,\n", "has chosen_for trivance"),
    ("short.csv", "*8x8,ring,32\n", "is not a row of this sweep"),
    ("quote.csv", f'*8x8,ring,32,{NETWORK},1.000,1,1.0,ring,"\n', "is not a row of this sweep"),
    ("lines.jsonl", '{"torus": "8x8"}\n', "is not a row of this sweep"),
    ("lines.jsonl", '{"my": "notes"', "not the beginning"),
    ("lines.jsonl", "[1]\n", "is not a row of this sweep"),
])
def test_other_files(tmp_path, name, text, words, capsys):
    """A file that a sweep would not have written is refused and left unchanged."""
    file = tmp_path / name
    file.write_text(text.replace("*", COLUMNS + "\n", 1) if text[0] == "*" else text, encoding="utf-8")
    before = file.read_bytes()
    assert main(["sweep", "--torus=8x8", "--algorithm=all", "--bytes=32", "--alpha=1us", f"--output={file}"]) == 2
    err = capsys.readouterr().err
    assert words in err and "is left unchanged" in err and file.read_bytes() == before


@pytest.mark.exhaustive
def test_other_sweep(whole, tmp_path):
    """A sweep with another bandwidth must not reuse rows of the default one."""
    before = whole.read_bytes()
    assert "has bandwidth_bps 800000000000" in run(*GRID, "--bandwidth=400Gb/s", "-o", str(whole), code=2)[1]
    assert whole.read_bytes() == before
    assert "cannot be written" in run(*GRID, "-o", f"{tmp_path}/no/out.csv", code=2)[1]


@pytest.mark.exhaustive
def test_two_writers(tmp_path):
    """Of two sweeps with one file the second is refused, in this process or another one."""
    file = tmp_path / "rows.csv"

    def second(_fraction):
        if not said:
            said.append(run("--torus=8", "-a", "ring", "-b", "64,1K", "-o", str(file), code=2)[1])
            with pytest.raises(tv.ArgumentError, match="another sweep is writing"):
                tv.sweep("8", "ring", "64,1K", file=file)

    said = []
    tv.sweep("8", "ring", "64,1K", file=file, progress=second)
    assert said == [f"trivance sweep: another sweep is writing '{file}'; wait for it, or give another file\n"]
    assert len(lines_of(file)) == 2
    assert "0 new" in run("--torus=8", "-a", "ring", "-b", "64,1K", "-o", str(file))[0]


@pytest.mark.exhaustive
def test_disk_full(tmp_path, whole):
    """A limit on the file size leaves whole rows, and the sweep continues; a full device is an error."""
    file = tmp_path / "full.csv"
    err = run(*GRID, "-o", str(file), code=2, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (3000, resource.getrlimit(resource.RLIMIT_FSIZE)[1])))[1]
    assert "could not be written: File too large; the same command continues after its last row" in err
    text = file.read_text(encoding="utf-8")
    assert len(text) > 2000 and text.endswith("\n")
    run(*GRID, "-o", str(file))
    assert lines_of(file) == lines_of(whole)
    (tmp_path / "device.csv").symlink_to("/dev/full")
    assert "No space left on device" in run(*GRID, "-o", str(tmp_path / "device.csv"), code=2)[1]


@pytest.mark.exhaustive
def test_stdout_is_the_file(tmp_path):
    file = tmp_path / "rows.csv"
    with open(file, "w", encoding="utf-8") as stream:
        done = subprocess.run([TOOL, "sweep", "--torus=9", "-a", "ring", "-b", "1K", "-o", str(file)], stdout=stream,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and f"stdout is redirected to the file '{file}'" in done.stderr and not file.read_text()
    assert run("--torus=9", "-a", "ring", "-b", "1K", "-f", "csv", "-o", "/dev/stdout")[0].count("\n") == 2


def test_network_file(tmp_path):
    """Rows of a network's file are kept until its parameters change, and those of the other networks with them."""
    network, file = tmp_path / "own.json", tmp_path / "rows.csv"
    for title, alpha, code, words in [("own", "1us", 0, "2 new"), ("another title", "1us", 0, "0 new"),
                                      ("own", "2us", 2, "of a file whose parameters have changed")]:
        network.write_text(json.dumps({"format": "trivance-network-1", "title": title,
                                       "parameters": {"alpha": {"value": alpha, "source": "x"}}}), encoding="utf-8")
        assert words in "".join(call("--torus=8", "--algorithm=ring", "--bytes=32", f"--network={network},paper",
                                     f"--output={file}", code=code))


# ---- The picture -----------------------------------------------------------------------------------------------------

def test_picture(tmp_path):
    """Comparison.savefig and --plot draw the same file, which replaces an existing one."""
    pytest.importorskip("matplotlib")
    own, drawn = tmp_path / "own.svg", tmp_path / "tool.svg"
    drawn.write_text("old", encoding="utf-8")
    tv.compare("9", ["trivance", "planned", "ring"], "32,1K,64K").savefig(own)
    call("--torus=9", "--algorithm=trivance,planned,ring", "--bytes=32,1K,64K", f"--output={tmp_path}/rows.csv",
         f"--plot={drawn}")
    assert own.read_text(encoding="utf-8") == drawn.read_text(encoding="utf-8")
    assert "AllReduce on a ring of 9: fifo, 800 Gb/s, alpha 1.5 us" in own.read_text(encoding="utf-8")
    # All rows are in the file: nothing is simulated, and the picture is the same.
    out = call("--torus=9", "--algorithm=trivance,planned,ring", "--bytes=32,1K,64K", f"--output={tmp_path}/rows.csv",
               f"--plot={drawn}")[0]
    assert "0 new" in out and own.read_text(encoding="utf-8") == drawn.read_text(encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["own.svg", "rows.csv", "tool.svg"]
    with pytest.raises(tv.ArgumentError, match="must end in .svg"):
        tv.compare("9", ["ring"], "32,1K").savefig(tmp_path / "own.png")
