"""The comparison of plans with baselines for every collective: table, file, plots, exit status."""
import csv

import pytest

pytest.importorskip("matplotlib")

from conftest import EXHAUSTIVE  # noqa: E402
from trivance_research.figures import collectives  # noqa: E402

NETWORKS = "8x8,9,8x8m" if EXHAUSTIVE else "9"
SIZES = "32,32K,2M" if EXHAUSTIVE else "32,32K"


def test_every_collective(capsys, tmp_path):
    """No plan is slower than a baseline, or faster than the limit."""
    assert collectives.main(["--networks", NETWORKS, "--bytes", SIZES, "--output", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    with open(tmp_path / "collectives.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert err == "" and len(out.splitlines()) == 2 + len(rows)
    assert len(rows) == len(NETWORKS.split(",")) * len(collectives.COLLECTIVES) * len(SIZES.split(","))
    assert {row["collective"] for row in rows} == set(collectives.COLLECTIVES)
    for row in rows:
        assert float(row["of_the_limit"]) >= 1 and float(row["faster_by"]) > 0.995, row


def test_plots(tmp_path):
    """The plan, the fastest baselines, and the limit; only for some collectives and networks."""
    arguments = ["--networks", "8x8,9", "--collectives", "broadcast,scatter", "--bytes", "32,32K", "--output",
                 str(tmp_path)]
    assert collectives.main(arguments) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"collectives.csv", "broadcast-8x8.svg"}
    svg = (tmp_path / "broadcast-8x8.svg").read_text(encoding="utf-8")
    assert "broadcast on 8x8" in svg and ">planned<" in svg and ">bine<" in svg and ">limit (lower bound)<" in svg


def test_slower(capsys, monkeypatch):
    """Every plan that is slower than a baseline has a sentence."""
    monkeypatch.setattr(collectives, "SLOWER", 1e9)
    assert collectives.main(["--networks", "4", "--collectives", "gather", "--bytes", "32,64K"]) == 1
    out, err = capsys.readouterr()
    assert err.count("trivance_research.figures.collectives: gather of ") == 2
    assert collectives.main(["--networks", "4", "--collectives", "gather", "--bytes", "32,64K", "--brief"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "| torus | collective | 32 B | 64 KiB |" and out[2].startswith("| 4 | gather | ") and len(out) == 3


@pytest.mark.parametrize("arguments, words", [(("--networks", "9y"), "9y"), (("--collectives", "barrier"), "barrier"),
                                              (("--bytes", "x"), "'x'"), (("--output", "/dev/null/x"), "/dev/null/x")])
def test_bad_input(arguments, words, capsys):
    assert collectives.main(list(arguments)) == 2
    assert words in capsys.readouterr().err


def test_workers(capsys):
    with pytest.raises(SystemExit, match="2"):
        collectives.main(["-j", "0"])
    assert capsys.readouterr().err == ("trivance_research.figures.collectives: --workers/-j: '0' is not a whole number "
                                       "from 1 to 1024\n")
