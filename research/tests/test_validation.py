"""The validation with measurements on a real torus: rows, schedules, predictions of a sample, reports, profiles."""
import subprocess
import sys

import pytest

import trivance as tv
from conftest import EXHAUSTIVE
from trivance_research.validation import model, plans, report, rows

ROWS = list(rows.read())


def chosen(**columns):
    return [row for row in ROWS if all(getattr(row, key) == value for key, value in columns.items())]


def test_rows():
    """Every row has a positive median between its percentiles; those with segments are left out."""
    assert len(ROWS) > 2000 and {row.shape for row in ROWS} == {"2x2x2", "4x4x4", "64x64"}
    assert all(0 < row.low <= row.median <= row.high for row in ROWS)
    assert len({(row.curve, row.size) for row in ROWS}) == len(ROWS)


def test_invalid_rows(tmp_path):
    """A file with other contents is an error that names the line."""
    header = ",".join(rows.COLUMNS)
    for text, words in (("", "collective is missing"), ("a,b\n", "collective is missing"), (header + "\n", None),
                        (header + "\nallreduce,2x2x2,utofu,bine-l,1,0,8,3,2,4\n", None),
                        (header + "\nallreduce,2x2y,utofu,bine-l,1,0,8,3,2,4\n", ":2: .*2x2y"),
                        (header + "\nallreduce,2x2x2,utofu,bine-l,1,0,8,x,2,4\n", ":2: .*'x'"),
                        (header + "\nallreduce,2x2x2,utofu,bine-l,1,0,8,nan,2,4\n", "ascending"),
                        (header + "\nallreduce,2x2x2,utofu,bine-l,1,0,0,3,2,4\n", "bytes positive"),
                        (header + "\nallreduce,2x2x2\n", ":2: ")):
        path = tmp_path / "rows.csv"
        path.write_text(text)
        if words:
            with pytest.raises(ValueError, match=words):
                list(rows.read(path))
        else:
            assert len(list(rows.read(path))) == text.count("\n") - 1
    assert subprocess.run([sys.executable, "-m", "trivance_research.validation", "--data", str(path)],
                          stderr=subprocess.PIPE, check=False).returncode == 2


def test_schedules():
    """Every schedule of a row exists, and is exact; rows with more ports than the torus have none."""
    for name, shape, collective in {(rows.schedule_of(row), row.shape, rows.collective_of(row)) for row in ROWS
                                    if rows.schedule_of(row) not in (None, rows.TREES) and row.shape != "64x64"}:
        assert tv.Schedule(name, shape, collective).verify(), (name, shape, collective)
    assert all(rows.schedule_of(row) is None for row in chosen(shape="64x64", ports=6))


def test_one_port():
    """The sample of the quick tier: whole vectors by one port on 4x4x4 are predicted within a third, half of them
    within 15 %."""
    some = chosen(collective="allreduce", shape="4x4x4", library="utofu", algorithm="bine-l", ports=1)
    errors = sorted(abs(time / row.median - 1) for row, time in zip(some, model.predict_all(some, "tofu-d", 8)))
    assert len(errors) == 10 and errors[-1] < 0.34 and errors[5] < 0.15, errors


def test_trees():
    """An AllReduce by trees takes the time of a reduce and of a broadcast; as many trees leave the root; others have no
    schedule."""
    for shape, trees in (("2x2x2", 3), ("4x4x4", 3), ("4x4x4", 6)):
        some = chosen(library="fjmpi", shape=shape, algorithm=f"trix{trees}", size=8 << 20)
        network = tv.Network(shape, cuts=rows.cuts_of(some[0]))
        assert tv.Schedule("disjoint-trees:1:1", network, "broadcast").streams == trees
        parts = chosen(library="fjmpi", shape=shape, algorithm=f"trinaryx{trees}", size=8 << 20)
        assert sorted(row.collective for row in parts) == ["bcast", "reduce"]
        assert model.predict(some[0], "tofu-d-fjmpi") == pytest.approx(sum(model.predict_all(parts, "tofu-d-fjmpi")))
    assert {row.shape for row in ROWS if rows.trees_of(row) == 6 and rows.schedule_of(row)} == {"4x4x4"}


def test_fitted():
    """Only parameters that a profile calls fitted are fitted, and only to Recursive Doubling on two shapes."""
    both, software = model.fitted_parameters("tofu-d"), {"message_overhead", "part_overhead"}
    assert software < both and model.fitted_parameters("tofu-d-fjmpi") == both - software
    assert {row.shape for row in ROWS if rows.is_fitted(row)} == {"4x4x4", "64x64"}
    some = chosen(library="fjmpi", shape="4x4x4", algorithm="recursive_doubling")
    errors = sorted(abs(time / row.median - 1) for row, time in zip(some, model.predict_all(some, "tofu-d-fjmpi", 8)))
    assert errors[5] < 0.05, errors


def test_extrapolation():
    """Beyond SIZE_MAX the time is extrapolated; it is the simulated one within a percent."""
    row = chosen(collective="allreduce", shape="2x2x2", library="utofu", algorithm="bine-l", ports=3, size=64 << 20)[0]
    network = tv.Network.from_profile("2x2x2", "tofu-d", shared_paths="all", packet="256K")
    assert model.predict(row, "tofu-d") == pytest.approx(tv.Simulator(tv.Schedule("swing-l:3", "2x2x2"),
                                                                      network).time(64 << 20), rel=0.01)


def test_command(tmp_path):
    """Tables and plots of the smallest shape."""
    arguments = ["--ranks=8", "-o", str(tmp_path), *([] if EXHAUSTIVE and _has_matplotlib() else ["--no-plots"])]
    done = subprocess.run([sys.executable, "-m", "trivance_research.validation", *arguments], capture_output=True,
                          text=True, check=True)
    for text in ("| utofu | AllReduce, all predicted | large, from 8 MiB |", "| fjmpi | AllReduce, 3 trees |",
                 "% correctly"):
        assert text in done.stdout, text
    assert {"rows.csv", "summary.md"} <= {path.name for path in tmp_path.iterdir()}
    assert len((tmp_path / "rows.csv").read_text().splitlines()) > 100


@pytest.mark.parametrize("option, words", [("-j0", "--workers/-j: '0' is not"), ("--ranks=0", "--ranks: '0' is not"),
                                           ("-o/proc/x", "the folder '/proc/x' cannot be made or written")])
def test_bad_input(option, words):
    """One sentence before anything is predicted."""
    done = subprocess.run([sys.executable, "-m", "trivance_research.validation", option], capture_output=True,
                          text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("trivance_research.validation: ") and words in done.stderr


def test_plans():
    """The table of predictions: no choice is slower than an algorithm of the library."""
    lines = list(plans.table(["4x2"], "tofu-d", [512, 16 << 10]))
    assert [line.split(" | ")[1] for line in lines[2:]] == ["512 B", "16 KiB"]
    assert all(float(line.split("|")[-2]) >= 1 for line in lines[2:])


def _has_matplotlib():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def test_ranking():
    """Pairs count if their medians differ by more than a fifth."""
    def result(algorithm, median, time):
        return report.Result(rows.Row("allreduce", "8", "x", algorithm, 1, 32, median, median, median), time)
    assert list(report.pairs([result("a", 1, 3), result("b", 2, 2), result("c", 1.1, 1)])) == [False, True]


def test_fit(capsys):
    """A parameter returns to its value from a wrong one, if times are those of the model itself."""
    some = chosen(collective="allreduce", shape="4x4x4", algorithm="recdoub-l", ports=1)[:6]
    true = model.predict_all(some, "tofu-d", 4, alpha=1e-6)
    moved = [row.__class__(**{**row.__dict__, "median": time}) for row, time in zip(some, true)]
    found = model.search(moved, "tofu-d", {"alpha": 2e-6}, (1.25, 1.05))
    assert found["alpha"] == pytest.approx(1e-6, rel=0.05) and "mean error" in capsys.readouterr().out
