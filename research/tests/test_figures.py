"""The rules of the figures, on curves made here: how claims are decided, which figures and claims there are, what is
counted from schedules."""
import io
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from conftest import EXHAUSTIVE  # noqa: E402
import trivance  # noqa: E402
from trivance_research.figures import (catalogue, counted, draw, effects, lists, message_rules, report,  # noqa: E402
                                       rules, write)
from trivance_research.figures import published as published_rules  # noqa: E402
from trivance_research.figures.claims import CLAIMS, Claim  # noqa: E402
from trivance_research.figures.cuts import CUTS, history  # noqa: E402
from trivance_research.figures.measures import (BreakEven, Curve, Figure, about, break_even,  # noqa: E402
                                                exactly, own_switch, percent, switch)
from trivance_research.figures.points import Kept, Point, answer  # noqa: E402
from trivance_research.figures.run import Result, run, spaced  # noqa: E402

ANY, ROOT = math.inf, pathlib.Path(__file__).resolve().parents[2]


def synthetic(advantages, spec=catalogue.SPECS[0], key="swing"):
    """Figure 6 with one curve, at 1, 2, 4 and 8 KiB; L below 4 KiB, B from there on."""
    result = Result([spec], quick=True)
    curve = Curve(key, "Swing", 2)
    curve.other = np.full(4, 1000.0)
    curve.own = 1000.0 - 10 * np.array(advantages, dtype=float)
    curve.member = ["swing-l", "swing-l", "swing-b", "swing-b"]
    curve.own_member = ["trivance-l", "trivance-l", "trivance-b", "trivance-b"]
    result.figures = [Figure(spec, np.array([1024.0, 2048, 4096, 8192]), [curve])]
    return result


def test_measures():
    figure = synthetic([10, 30, 20, -20]).figures[0]
    assert figure.curves[0].advantage[1] == pytest.approx(30)
    # 20 to -20 from 4 to 8 KiB: half an octave above 4 KiB.
    even = break_even(figure.axis, figure.best)
    assert even.first == even.last == pytest.approx(4096 * math.sqrt(2))
    assert switch(figure.curves[0].member) == 2


@pytest.mark.parametrize("advantages, expected", [
    ([10, 5, 5, 1], "none"), ([-10, -5, 0, -1], "0 B"), ([10, 10, -10, -1], "2.8 KiB"),
    ([10, -10, 10, 1], "1.4 KiB/none"),  # positive again
    ([10, -10, 10, -10], "1.4 KiB/5.7 KiB"), ([-10, 10, 10, -10], "0 B/5.7 KiB")])
def test_break_even(advantages, expected):
    figure = synthetic(advantages).figures[0]
    assert str(break_even(figure.axis, figure.best)) == expected


def test_words():
    assert [about(1.5 * 1024 * 1024), about(524288), about(32)] == ["1.5 MiB", "512 KiB", "32 B"]
    assert [percent(-99.96), percent(100), percent(104.8), percent(-146.5)] == ["-100.0 %", "100.0 %", "2.0x",
                                                                                "2.5x as long"]
    assert [exactly(512 << 20), exactly(100), spaced("1.6Tb/s")] == ["512 MiB", "100 B", "1.6 Tb/s"]
    assert str(BreakEven(math.inf, math.inf)) == "none"


AGREES, DIFFERS, NOT_MEASURED = rules.AGREES, rules.DIFFERS, rules.NOT_MEASURED


@pytest.mark.parametrize("figures, rule, verdict", [
    ((6,), rules.Within(10, 30, 1024, 4096, "swing"), AGREES),
    ((6,), rules.Within(11, ANY, 1024, 4096), DIFFERS),
    ((6,), rules.Within(-ANY, 0, 8192, 0), AGREES),
    ((6,), rules.Within(0, 0, 65536, 0), NOT_MEASURED),
    ((6,), rules.Within(0, 99, 1024, 4096, "bucket"), NOT_MEASURED),
    ((6,), rules.Within(0, 99, 1024, 4096, ("swing", "bucket")), NOT_MEASURED),
    ((7,), rules.Within(0, 99, 1024, 4096), NOT_MEASURED),
    ((6,), rules.Peak(25, 35, 1024, 8192), AGREES),
    ((6,), rules.Peak(25, 35, 4096, 8192), DIFFERS),
    ((6,), rules.PeakAt(2048, 4096), AGREES),
    ((6,), rules.PeakAt(4096, 8192), DIFFERS),
    ((6,), rules.BreaksEven(4096, 8192, "swing"), AGREES),
    ((6,), rules.BreaksEven(1024, 4096, "swing"), DIFFERS),
    ((6,), rules.FastestFrom(8192, 8192, "swing"), AGREES),
    ((6,), rules.FastestFrom(1024, 4096, "swing"), DIFFERS),
    ((6,), rules.SwitchesAt(4096, 4096), AGREES),
    ((6,), rules.SwitchesAt(1024, 2048, "swing"), DIFFERS),
    ((6,), rules.FallsFrom(2048, 2048), AGREES),
    ((6,), rules.FallsFrom(4096, 0), DIFFERS),
    ((6,), rules.Spread(0, 0, 1024, 8192), AGREES),
    ((6,), rules.Slower(-ANY, 1, 1024, 8192, "swing", "swing"), AGREES),
    ((6,), rules.Slower(-ANY, -1, 1024, 8192, "swing", "swing"), DIFFERS),
    ((6,), rules.Rising(), AGREES),
    ((6,), rules.PeakRising(), DIFFERS),  # one curve has nothing to rise to
    ((6,), rules.Weaker(7), NOT_MEASURED),
    ((), rules.Counted(1, 2, lambda: (1, 2, "1 to 2")), AGREES),
    ((), rules.Counted(1, 2, lambda: (1, 3, "1 to 3")), DIFFERS)])
def test_rules(figures, rule, verdict):
    finding = rules.check(synthetic([10, 30, 20, -20]), Claim("", "", figures, rule))
    assert finding.verdict == verdict, finding


def published(advantages, barrier=0.0):
    """The same curve by the published rules: relative to T_Trivance."""
    result = synthetic(advantages)
    result.figures[0].curves[0].by_own = True
    result.figures[0].curves[0].barrier = barrier
    return result


def test_judgements():
    """A claim is judged by the published rules and by the text; what it needs, or another reading, is found."""
    result, claim = synthetic([10, 30, 20, -20]), Claim("", "", (6,), rules.Peak(25, 35, 1024, 8192), "Known.")
    judged = rules.judge(result, claim)
    assert judged.verdict == rules.TEXT and judged.published.verdict == NOT_MEASURED
    result.published = published([20, 23, 20, -20])  # 23 / 77 is 30 %
    judged = rules.judge(result, claim)
    assert (judged.verdict, judged.published.measured, judged.text.measured) == (rules.BOTH, "29.9 % at 2 KiB",
                                                                                 "30.0 % at 2 KiB")
    result.figures = synthetic([10, 5, 5, -20]).figures
    judged = rules.judge(result, claim)
    assert judged.verdict == rules.PUBLISHED
    assert rules.reason(result, claim,
                        judged) == "It does not hold by the published rules relative to T_A: 23.0 % at 2 KiB. Known."
    result.published = published([10, 10, 10, -20], barrier=600.0)  # without it 100 of 300 ns are saved
    judged = rules.judge(result, claim._replace(why=""))
    assert judged.verdict == rules.NEITHER
    needed = rules.reason(result, claim._replace(why=""), judged)
    assert needed == "It holds by the published rules without MPI_Finalize: 33.3 % at 1 KiB."
    result.published = published([10, 10, 10, -20])
    judged = rules.judge(result, claim)
    assert rules.reason(result, claim, judged) == "Not reproduced. Known."
    result.variants["one queue per link"] = synthetic([10, 30, -20, -20])
    assert rules.reason(result, claim,
                        judged) == "It holds by the text with one queue per link: 30.0 % at 2 KiB. Known."
    assert rules.judge(Result([], True), claim).verdict == NOT_MEASURED


def test_unsimulated_sizes():
    """Sizes that the published simulation does not have are left out of every measure."""
    result = published([math.nan, 30, 20, -20])
    figure = result.figures[0]
    own = figure.curves[0].own.copy()
    figure.curves.append(Curve("bruck", "Bruck", 1, np.full(4, 2000.0), own, ["bruck-l"] * 4, by_own=True))
    figure.curves[1].own[0] = 1000.0
    assert figure.best[0] == pytest.approx(100)
    for rule in (rules.Within(25, 50, 1024, 2048, "swing"), rules.PeakAt(2048, 2048, "swing"),
                 rules.BreaksEven(4096, 8192, "swing")):
        assert rules.check(result, Claim("", "", (6,), rule)).verdict == AGREES, rule
    asked = (("swing-l", "8", 1 << 20), ("swing-b", "8", 1 << 20), ("bucket", "8", 32), ("swing-b", "27x27", 1 << 20))
    assert [published_rules.simulates(*one) for one in asked] == [False, True, False, False]


def test_published_lists(tmp_path):
    """The lists of blocks are exported with their gaps; `trivance verify` names one."""
    assert [lists.complete("TrivanceB", torus) for torus in ("8", "16", "8x8")] == [[8], [11], [64, 64]]
    assert lists.complete("BruckB", "8x8") == [37, 40] and lists.complete("SwingL", "9") == [0]
    command = [sys.executable, "-m", "trivance_research.figures.lists"]
    for algorithm, torus, words in (("TrivanceB", "8x8", None), ("SwingB", "8", None),
                                    ("TrivanceB", "16", "rank 0 lacks the contribution of rank 2 in block 0"),
                                    ("SwingL", "9", "has the contribution of rank 0 twice")):
        done = subprocess.run([*command, algorithm, torus], capture_output=True, text=True, check=True)
        (tmp_path / "lists.json").write_text(done.stdout, encoding="utf-8")
        proof = trivance.Schedule.from_file(tmp_path / "lists.json").verify()
        assert proof.valid == (words is None) and (words or "") in (proof.fault or ""), proof
    assert done.stderr == "0 of 9 ranks end with every contribution exactly once\n"
    assert subprocess.run([*command, "Bucket", "8"], capture_output=True, check=False).returncode == 2


def test_effects(tmp_path):
    """research/docs/plots.md has the sizes of the effects; here those of the ring of 8 and, exhaustively, of 8x8."""
    page = (ROOT / "research/docs/plots.md").read_text(encoding="utf-8")
    table = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in page.splitlines()
             if line.startswith("|")]
    head, rows = table[0], {row[0]: row for row in reversed(table)}
    tori = ["8", "8x8"] if EXHAUSTIVE else ["8"]
    kept = Kept(tmp_path / "kept.jsonl")
    found = effects.table(kept, 2, tori)
    kept.close(True)
    places = [head.index(f"{torus}, {exactly(size)}") for torus in tori for size in effects.SIZES]
    assert len(found) == 1 + len(effects.EFFECTS)
    for row in found:
        assert [percent(gain) for gain in row.gains] == [rows[row.title][place] for place in places]
    assert effects.lists_of() in page
    # The time without MPI_Finalize is that of the AllReduce alone: 4.7 us less on 8 (research/published).
    own = catalogue.family("trivance")
    plotted, alone = (answer(Point("8", own.members, 32, (("rules", name),)), kept).time_ns
                      for name in ("published", "no barrier"))
    assert plotted - alone == pytest.approx(4670, abs=10)


def test_colours():
    """Two curves never look alike, and an entry's number is that of a colour."""
    own, others = catalogue.family("trivance"), catalogue.baselines()
    assert all(0 <= one.colour < len(draw.ALGORITHM) for one in trivance.algorithms())
    colours = [own.colour] + [one.colour for one in others]
    assert own.colour and len(set(colours)) == len(colours)
    assert colours[1:] == sorted(colours[1:])
    assert own.members == ("trivance-l", "trivance-b")


def test_claims():
    """A claim speaks of figures, curves and sizes that exist."""
    specs = {spec.number: spec for spec in catalogue.SPECS}
    assert list(specs) == list(range(6, 36))
    for claim in CLAIMS:
        assert claim.figures or isinstance(claim.rule, rules.Counted)
        first, last = getattr(claim.rule, "first", 0), getattr(claim.rule, "last", 0)
        assert not last or first <= last, claim.text
        named = getattr(claim.rule, "curve", None)
        for number in claim.figures:
            spec = specs[number]
            curves = spec.values or [b.key for b in catalogue.baselines() if not catalogue.omits(spec.torus, b.key)]
            for curve in () if named is None else (named,) if isinstance(named, str) else named:
                assert curve in curves, claim.text


def test_counted_claims():
    verdicts = {claim.text: rules.check(Result([], True), claim) for claim in CLAIMS if not claim.figures}
    assert [finding.verdict for finding in verdicts.values()] == [AGREES, AGREES, DIFFERS]
    assert [finding.measured for finding in verdicts.values()][2] == "100 % on 3 and 9 ranks; beyond, up to 75 %"


def test_beyond():
    """Beyond the paper a figure shows what planned schedules gain, over Trivance, too."""
    spec = next(one for one in catalogue.SPECS if one.number == 32)
    figure = synthetic([10, 30, 20, -20], spec, "trivance").figures[0]
    assert own_switch(figure, figure.curves[0]) == -1
    text, svg = io.StringIO(), io.StringIO()
    write.figure_csv(figure, text)
    lines = text.getvalue().splitlines()
    assert lines[0].endswith(",time_ns,planned_time_ns,time_vs_planned,rules")
    assert sum(",planned," in line for line in lines) == sum(",trivance," in line for line in lines) == 4
    assert any(line.endswith(",1000.000,700.000,1.428571,text") for line in lines)
    draw.draw(figure, svg)
    assert "Planned" in svg.getvalue() and "Figure 32: Planned schedules" in svg.getvalue()


def test_chunk_orders(tmp_path):
    """The report includes what the benchmark and --combinations have written to the folder."""
    (tmp_path / "chunk-order.csv").write_text(
        "torus,algorithm,bytes,chunks,aligned_us,opposite_us,opposite_by_aligned,limit_us,"
        "aligned_arrived,opposite_arrived\n"
        "9,trivance-b,648,2,10.00,11.00,1.100,9.00,0.500,0.750\n"
        "9,trivance-b,648,3,10.00,12.00,1.200,9.00,0.333,0.667\n",
        encoding="utf-8")
    (tmp_path / "combinations.csv").write_text("queues,delivery,message rule,agree,differ\nfifo,tail,m/3^(k+1),3,4\n")
    text = io.StringIO()
    report.write(Result([], True), CLAIMS, [], str(tmp_path), text)
    assert "trivance-b 1.150, the median of 2 runs, from 1.100 to 1.200.\n" in text.getvalue()
    assert "| 9 | trivance-b | 3 | 10.00 us | 12.00 us | 1.200 | 9.00 us | 33 % | 67 % |\n" in text.getvalue()
    assert "| fifo | tail | m/3^(k+1) | 3 | 4 |\n" in text.getvalue()


def test_volumes():
    """Theta of powers of three is the exact sum of the paper's appendix B; reductions read its volume (section 7)."""
    assert counted.theta("9x9") == pytest.approx(2 * (1 / 3 + 1 / 9 + 1 / 9 + 1 / 27))
    assert counted.reduced("9x9", "trivance-b") == pytest.approx((1.5 * 80 / 81, 0.5 * 80 / 81))
    assert counted.reduced("8x8", "swing-b")[0] == pytest.approx(2 * 63 / 64)


def test_message_rules():
    """On powers of three all rules are the same; on 7 the paper's figure 4 has the blocks that must move."""
    assert message_rules.distances(7) == [1, 2] and message_rules.reached(7) == [7, 3, 1]
    for torus in ("9", "9x9"):
        model = trivance.Schedule("trivance-b", torus).cost()
        for rule in message_rules.RULES:
            assert message_rules.cost(torus, rule) == pytest.approx((model.delta, model.theta))
    for rule in message_rules.RULES:
        made = message_rules.schedule("7", rule).cost()
        assert message_rules.cost("7", rule) == pytest.approx((made.delta, made.theta), rel=1e-3)
    assert message_rules.cost("7", "algorithm-1")[0] == pytest.approx(8 / 7)


def test_histories():
    """Every cut is in a row of its own, and a longer history begins with a shorter one."""
    torus = trivance.Torus("8x8")
    for network in range(1, 4):
        links = history(torus, network)
        ports = [tuple(map(int, link.split(":+"))) for link in links]
        rows = {(dimension, torus.coordinates(rank)[1 - dimension]) for rank, dimension in ports}
        assert len(rows) == len(links) == CUTS[-1]
        trivance.Network("8x8", cuts=links)
    with pytest.raises(trivance.ArgumentError, match="fewer than 16 rows"):
        history(trivance.Torus("4x4"), 1)


def small(spec, tmp_path, sizes=(32,), larger=(1 << 20,)):
    """One figure with few sizes."""
    result = Result([spec], quick=True, studied=False)
    result.sizes, result.larger = list(sizes), list(larger)
    kept = Kept(tmp_path / "kept.jsonl")
    run("test", result, kept, 2)
    kept.close(True)
    return result.figures[0]


def test_meshes(tmp_path):
    """Meshes go on for larger sizes; a torus of the same sides is another point."""
    mesh = small(catalogue.Spec(30, "3mx2", "A mesh"), tmp_path)
    torus = small(catalogue.Spec(29, "3x2", "A torus"), tmp_path)
    assert len(mesh.axis) == 2 and len(torus.axis) == 1
    assert mesh.curves[0].own[1] > mesh.curves[0].own[0]
    assert mesh.curves[0].other[0] > torus.curves[0].other[0]


def test_cuts(tmp_path, monkeypatch):
    """Links of 8x8 fail in all of its 16 rows: no plan is faster than that of the whole torus, more cuts are not better
    in the median, and whole vectors along rings pass every link sooner or later."""
    monkeypatch.setitem(catalogue.CUT_SIZES, "8KiB", 8192)
    spec = catalogue.Spec(33, "8x8", "Links fail", "cut", ("32B", "8KiB"))
    figure = small(spec, tmp_path)
    for curve in figure.curves:
        assert curve.own[0] == curve.other[0] == curve.worst[0] and curve.served[0] == figure.networks == 5
        assert all(np.diff(curve.own) >= 0) and all(curve.worst >= curve.own) and all(np.diff(curve.served) <= 0)
        assert curve.served[-1] == 0
    text, again = io.StringIO(), io.StringIO()
    write.figure_csv(figure, text)
    assert text.getvalue().count("\n33,8x8,") == 2 * len(CUTS) and "\n33,8x8,8192,16,5," in text.getvalue()
    write.figure_csv(small(spec, tmp_path), again)  # from what was kept
    assert again.getvalue() == text.getvalue()
