"""The public interface: the example of the documentation, names, properties, tables and conversions."""
import doctest
import functools
import itertools
import math
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import trivance as tv
from trivance.points import Point, compare_points


def test_example(tmp_path, exhaustive):
    net = tv.Network("8x8m", bandwidth="800Gb/s", alpha="1.5us", cuts=["3:+0"])
    choice = net.plan("1MiB")
    assert choice.time > choice.limit > 0 and repr(choice).startswith("Choice(name=") and choice.steps > 0
    size = 27 if exhaustive else 9
    s = tv.Schedule("trivance-b", f"{size}x{size}")
    proof = s.verify()
    assert proof and proof.exact and proof.consistent and repr(proof).startswith("Proof(exact=True, consistent=True")
    assert s.messages.dtype.names == ("stream", "step", "src", "dst", "port", "units", "bytes")
    assert s.messages.shape == (34992 if exhaustive else 2592,)
    table = choice.schedule().simulate(net, ["32KiB", "1MiB"])
    assert list(table["bytes"]) == [32768, 1 << 20] and table["time"][1] == pytest.approx(choice.time)
    with pytest.raises(tv.ArgumentError,
                       match=f"is for {s.torus} and the network is 8x8m; give a network of {s.torus}, or make"):
        s.simulate(net, ["32KiB", "1MiB"])
    assert len(s.simulate(net.replace(s.torus, cuts=()), ["32KiB"])) == 1
    comparison = tv.compare("8x8", ["trivance", "swing", "bruck", "bucket", "planned"],
                            sizes="32:1M" if exhaustive else "1K:4K")
    assert len(comparison) == 5 * (16 if exhaustive
                                   else 3) and (comparison["planned"]["time"] <= comparison["swing"]["time"]).all()
    assert set(comparison["trivance"]["name"]) <= {"trivance-l", "trivance-b"}
    assert (comparison["time"] >= comparison["limit"]).all()
    assert tv.Schedule("trivance-l", "9")._repr_svg_().startswith("<svg")


def test_doctests():
    from trivance import schedule
    assert doctest.testmod(schedule).failed == 0
    text = (tv.__doc__ or "").replace("…", "...")
    test = doctest.DocTestParser().get_doctest(text, {}, "trivance", None, 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


def test_public_names_have_docstrings():
    for name in tv.__all__:
        one = getattr(tv, name)
        if callable(one):
            assert one.__doc__ and len(one.__doc__) > 10, name
            for member in vars(one) if isinstance(one, type) else ():
                if not member.startswith("_") and callable(getattr(one, member)) and member not in dir(tuple):
                    assert getattr(one, member).__doc__, f"{name}.{member}"


def test_torus():
    torus = tv.Torus("8x4m")
    assert (torus.dims, torus.size, torus.lines, str(torus)) == ((8, 4), 32, (1,), "8x4m")
    assert torus == tv.Torus((8, 4), lines=(1,)) == tv.Torus(torus) and hash(torus) == hash(tv.Torus("8x4m"))
    assert torus != tv.Torus("8x4") and torus != "8x4m"
    assert torus.coordinates(31) == (7, 3) and torus.rank((7, 3)) == 31
    assert list(itertools.product(range(8), range(4))) == [torus.coordinates(rank) for rank in torus.ranks]
    assert [torus.rank(torus.coordinates(rank)) for rank in torus.ranks] == list(torus.ranks)
    assert torus.neighbour(0, 1) == 28 and torus.neighbour(0, 3) is None and torus.neighbour(0, 2) == 1
    assert tv.Torus(9).dims == (9,) and repr(torus) == "Torus('8x4m')"


def test_network_replace_and_equality():
    net = tv.Network("8x8", alpha=1.5e-6, bandwidth=800e9)
    assert net == tv.Network("8x8") and net.replace(alpha="2us") != net
    assert net.replace(torus="4x4").torus == tv.Torus("4x4")
    assert net.replace(slow={(3, "+0"): 4}).links == ((3, 0, 4.0),)
    assert net.replace(cuts="3:+0").links == ((3, 0, math.inf), (11, 1, math.inf))
    assert eval(repr(net.replace(cuts=["3:+0"], packet="4KiB")), {"Network": tv.Network}).links == \
        ((3, 0, math.inf), (11, 1, math.inf))


@pytest.mark.parametrize("text, count", [("1", 1), ("64KiB", 65536), ("64k", 65536), ("1G", 1 << 30), (4096, 4096),
                                         (np.int64(7), 7), (2.0, 2), ("8B", 8), ("1TiB", 1 << 40)])
def test_bytes(text, count):
    assert tv.parse_bytes(text) == count


def test_sizes():
    assert tv.parse_sizes("32:128") == [32, 64, 128] and tv.parse_sizes("1K:5K:+2K,7") == [1024, 3072, 5120, 7]
    assert tv.parse_sizes("1:20:x4") == [1, 4, 16, 20] and tv.parse_sizes(["1K", 5]) == [1024, 5]


@pytest.mark.parametrize("bad",
                         ["", "x", "1.5K", "-1", "0", 0, -1, 1.5, None, True, "64 KB", "9" * 40, math.nan, b"1", [1]])
def test_bad_bytes(bad):
    with pytest.raises(tv.ArgumentError):
        tv.parse_bytes(bad)


def test_units_are_those_of_numbers():
    texts = tv.Network("9", bandwidth="12.5GB/s", alpha="0.3us", link_latency="20ns", gamma="0.01ns")
    numbers = tv.Network("9", bandwidth=100e9, alpha=0.3e-6, link_latency=20e-9, gamma=1e-11)
    assert texts == numbers and texts.plan("1M").time == numbers.plan("1M").time


def test_planned_is_no_schedule():
    with pytest.raises(tv.ArgumentError,
                       match=r"'planned' selects an algorithm .* \(in Python trivance.plan\) returns"):
        tv.Schedule("planned", "8x8")


def test_constraints():
    free, bound = tv.plan("9", "64K"), tv.plan("9", "64K", consistent=True, memory="1M")
    assert bound.consistent and bound.time >= free.time
    assert tv.Planner("9", consistent=True).best("64K").consistent
    for plan in (tv.Network("9").plan, functools.partial(tv.plan, "9")):
        with pytest.raises(TypeError, match=r"plan\(\) got an unexpected keyword argument 'algorithm'"):
            plan("64K", algorithm="ring")
    with pytest.raises(tv.UnsupportedError, match="no schedule on 9 meets all constraints"):
        tv.plan("9", "64K", memory=1)
    with pytest.raises(tv.UnsupportedError, match="trivance-l violates the constraints: consistency"):
        tv.Planner("9", memory=1, consistent=True).time("64K", "trivance-l")


def test_memory_of_messages_outlives_the_schedule():
    rows = tv.Schedule("trivance-b", "9x9").messages
    copy = rows.copy()
    junk = [np.ones(1000) for _ in range(100)]
    assert len(junk) == 100 and (rows == copy).all() and rows.flags.writeable


def test_one_rank():
    one = tv.Schedule("trivance-l", "1")
    assert len(one.messages) == len(one.transfers) == len(one.combines) == 0 and one.messages.dtype.names[-1] == "bytes"
    assert one.verify() and one.cost().steps == 0 and tv.Simulator(one).time("1M") == 0 and tv.plan("1", "1M").time == 0


def test_links():
    simulator = tv.Simulator(tv.Schedule("trivance-b", "9"), tv.Network("9"))
    links = simulator.run("1M", links=True).links
    assert len(links) == 18 and links["busy"].max() <= simulator.time("1M") and links["bytes"].sum() > 0


def test_simulator_in_threads():
    simulator = tv.Simulator(tv.Schedule("bucket", "8x8"))
    alone, found = simulator.time("1M"), []
    threads = [threading.Thread(target=lambda: found.append(simulator.time("1M"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 8


def test_compare_points():
    """Algorithms, families, plans and schedules, of different networks, are those of their own functions; rows arrive
    once."""
    net, mesh, seen = tv.Network("3x3", alpha="1us"), tv.Network("4m"), []
    own = tv.Schedule("trivance-b", net)
    points = [Point(net, "swing-b", 4096), Point(net, "trivance", 1 << 20), Point(net, own, 1 << 20),
              Point(net, "planned", 4096), Point(mesh, "trivance-l,ring", 64), Point(net, "ring", 64),
              Point(net, "trivance-l", 1 << 20, schedule=own), Point(net, "planned", 4096, as_planned=True),
              Point(net, "trivance-tree", 4096, "broadcast", 2)]
    rows = compare_points(points, 3, done=lambda index, row: seen.append((index, row.time_ns)))
    assert sorted(seen[i][0] for i in range(len(points))) == list(range(len(points)))
    assert all(rows[i].time_ns == time or math.isnan(time) for i, time in seen)
    assert rows[0].time_ns == tv.Simulator(tv.Schedule("swing-b", net)).run(4096).time_ns and rows[0].name == "swing-b"
    assert rows[1].name == rows[2].name == rows[6].name == "trivance-b"
    assert rows[1].time_ns == rows[2].time_ns == rows[6].time_ns
    assert rows[3].name == net.plan(4096).name
    assert rows[7].time_ns == rows[3].time_ns == pytest.approx(net.plan(4096).time * 1e9)
    assert rows[4].name == "trivance-l" and rows[4].limit.time_ns == pytest.approx(mesh.limit(64).time * 1e9)
    assert math.isnan(rows[5].time_ns) and "only rings" in rows[5].reason and rows[5].name == ""
    assert rows[8].time_ns == tv.Simulator(tv.Schedule("trivance-tree", net, "broadcast", 2)).run(4096).time_ns
    assert [row[:3] for row in compare_points(points, 1)[:5]] == [row[:3] for row in rows[:5]]


def test_compare_points_ends():
    """Exceptions of either function end the call; a progress function receives the end."""
    points, fractions = [Point(tv.Network("8x8"), "trivance", size) for size in (64, 4096, 1 << 18)], []
    for functions in ({"done": lambda index, row: 1 / 0}, {"progress": lambda fraction: 1 / 0}):
        for workers in (1, 2):
            with pytest.raises(ZeroDivisionError):
                compare_points(points, workers, **functions)
    compare_points(points, 2, fractions.append)
    assert fractions == sorted(fractions) and fractions[-1] == pytest.approx(1)
    with pytest.raises(tv.ArgumentError, match="there is no algorithm"):
        compare_points([Point(tv.Network("9"), "trivanse", 64)])


def test_planner_in_threads():
    planner, found = tv.Planner("9x9"), []
    threads = [threading.Thread(target=lambda: found.append(planner.rank("1M", 2)[0].name)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(found)) == 1


def test_progress_and_cancellation():
    told = []
    assert tv.Schedule("trivance-b", "9x9").verify(progress=told.append) and told and max(told) <= 1

    class Enough(Exception):
        pass

    def stop(_fraction):
        raise Enough

    with pytest.raises(Enough):
        tv.Schedule("trivance-b", "27x27").verify(progress=stop)
    with pytest.raises(Enough):
        tv.compare("8x8", ["trivance", "swing"], progress=stop)
    with pytest.raises(tv.UnsupportedError, match="a progress function, .* cannot make long calls"):
        tv.plan("27x27", "3M", progress=lambda _fraction: tv.plan("9", "1K"))
    assert tv.Schedule("trivance-b", "9").verify() and tv.plan("27x27", "3M").steps


INTERRUPTED = """
import os, signal, threading, time, trivance as tv

class OfTheProgram(Exception):
    pass

def handle(number, frame):
    raise OfTheProgram

sent = []

def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

if {own_handler}:
    signal.signal(signal.SIGINT, handle)
schedule = tv.Schedule("bucket", "16x16x16")
try:
    threading.Timer(0.3, send).start()
    schedule.verify()
    tv.Simulator(schedule, tv.Network("16x16x16", model="dateline")).time("1G")
except (KeyboardInterrupt, OfTheProgram) as error:
    print(type(error).__name__, time.monotonic() - sent[0] < 60, signal.getsignal(signal.SIGINT) in
          (handle, signal.default_int_handler))
"""


@pytest.mark.parametrize("own_handler, error", [(False, "KeyboardInterrupt"), (True, "OfTheProgram")])
def test_ctrl_c(own_handler, error):
    """It ends a call that takes much longer, by the exception of the program's handler."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(own_handler=own_handler)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == (f"{error} True True", "")


def test_import_is_light():
    script = "import sys, trivance; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=True).stdout == "False\n"


def _import_a_copy(tmp_path, change):
    """The exit status and the last line of an import of a changed copy of the package."""
    place = pathlib.Path(tv.__file__).parent
    copy = tmp_path / "trivance"
    copy.mkdir()
    for file in place.glob("*.py"):
        (copy / file.name).write_text(file.read_text())
    for library in [*place.glob("*.so.0"), place / "plots", place / "sweep"]:
        (copy / library.name).symlink_to(library.resolve())
    change(copy)
    done = subprocess.run([sys.executable, "-c", "import trivance"], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": str(tmp_path), "TRIVANCE_LIBRARY": "/nonexistent"})
    return done.returncode, done.stderr.strip().splitlines()[-1] if done.stderr else ""


def test_library_of_another_version(tmp_path):
    def change(copy):
        file = copy / "_library.py"
        file.write_text(file.read_text().replace(f'"{tv.__version__}"', '"9.9.9"'))

    assert _import_a_copy(tmp_path, lambda copy: None) == (0, "")
    other = tmp_path / "other"
    other.mkdir()
    code, sentence = _import_a_copy(other, change)
    assert code == 1
    assert f"libtrivance.so.0 is version {tv.__version__}; this package works with version 9.9.9" in sentence


def test_library_that_is_missing(tmp_path):
    code, sentence = _import_a_copy(tmp_path, lambda copy: (copy / "libtrivance.so.0").unlink())
    assert code == 1 and "LibraryError: libtrivance.so.0 cannot be loaded" in sentence
    assert "TRIVANCE_LIBRARY" in sentence


def test_figures_without_research(tmp_path):
    """The paper's evaluation is not part of the package: one sentence states where it is."""
    (tmp_path / "trivance").symlink_to(pathlib.Path(tv.__file__).parent)
    done = subprocess.run([sys.executable, "-m", "trivance.figures"], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("trivance figures: the paper's evaluation is not installed")
    assert "PYTHONPATH" in done.stderr


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    comparison = tv.compare("9", ["trivance", "bruck", "hybrid:3", "planned"], sizes="1K:1M")
    assert len(comparison.plot().lines) == 4 and len(comparison.plot(relative="trivance").lines) == 4
    assert comparison.plot(relative="limit").get_ylabel() == "time / limit"
    assert comparison.plot().get_title() == "allreduce on 9, one queue per link (fifo)"
    two_channels = tv.compare(tv.Network("9", model="dateline"), "ring", sizes="1K")
    assert "dateline" in two_channels.plot().get_title() and "model='dateline'" in repr(two_channels)
    with pytest.raises(tv.ArgumentError):
        comparison.plot(relative="nothing")
    with pytest.raises(tv.ArgumentError, match="ax is 'x.svg'; .*`savefig` writes a file"):
        comparison.plot("x.svg")


def _direct(name="direct"):
    """A single step on a ring of 5, in which every rank sends its vector to all others."""
    offsets = (1, -1, 2, -2)
    rows = [(0, src, (src + off) % 5, to) for src in range(5) for to, off in enumerate(offsets, 1)]
    messages = dict(zip(("step", "src", "dst", "to_reg"), zip(*rows)))
    combines = {"step": [0] * 5, "rank": range(5), "dst": [0] * 5, "sources": [range(5)] * 5}
    return tv.Schedule.from_messages("5", messages, combines, name=name)


def test_compare_own_schedule():
    own, net = _direct(), tv.Network("5", alpha="5us")
    assert own.verify().exact
    comparison = tv.compare(net, ["trivance", own, "planned", own], sizes="32,1M".split(","))
    assert comparison.algorithms == ("trivance", "direct", "planned") and len(comparison) == 6
    times = {name: comparison[name]["time"] for name in comparison.algorithms}
    assert list(times["direct"]) == list(own.simulate(net, [32, 1 << 20])["time"])
    assert times["direct"][0] < times["planned"][0] and times["planned"][1] < times["direct"][1]
    assert set(comparison["direct"]["name"]) == {"direct"} and tv.compare(net, own, 32).algorithms == ("direct",)
    for network, others, collective, words in (("9", [own], "allreduce", "schedule is for 5 and the network is 9"),
                                               ("5", [own], "allgather", "'direct' is for allreduce"),
                                               ("5", [own, _direct()], "allreduce",
                                                "two entries have the name 'direct'"),
                                               ("5", ["ring", _direct("ring")], "allreduce",
                                                "two entries have the name 'ring'")):
        with pytest.raises(tv.ArgumentError, match=words):
            tv.compare(network, others, 32, collective)


def test_errors_can_be_pickled_and_have_codes():
    with pytest.raises(tv.ArgumentError) as error:
        tv.Torus("9y9")
    assert error.value.code == -1 and isinstance(error.value, ValueError)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_networks_can_be_pickled():
    net = tv.Network("8x8m", cuts=["3:+0"], slow={"20:+0": 2}, packet="4KiB")
    assert pickle.loads(pickle.dumps(net)) == net and pickle.loads(pickle.dumps(net.torus)) == net.torus


def test_explorer_has_all_parameters():
    from trivance._explorer import address
    assert address(tv.Network("9"), 64) == "torus=9&bytes=64&bandwidth=800000000000&alpha=1500&latency=100&overhead=0"
    text = address(tv.Network("4x4m", nodes=[8, 0, 1, 2, 5], packet="4KiB", shared_paths=(0, 1), buffer="64K",
                              model="dateline", jitter=0.1, seed=7, gamma="0.5ns", gamma_per_stream=True,
                              routes="fixed", nic_bandwidth="200Gb/s", host_latency="77.5ns", router_in=0,
                              router_out="1us", slow_ranks={3: 2.5}, cuts=["9:+0", "6:+1:one-way"], forwarding=False),
                   1 << 20)
    words = dict(word.split("=") for word in text.split("&"))
    assert words == {
        "torus": "4x4m", "bytes": "1048576", "bandwidth": "800000000000", "alpha": "1500", "latency": "100",
        "overhead": "0", "model": "dateline", "nodes": "0-2,5,8", "packet": "4096", "shared-paths": "0:1",
        "buffer": "65536", "jitter": "10%25", "seed": "7", "gamma": "0.5ns/stream", "routes": "fixed",
        "nic-bandwidth": "200Gb/s", "host-latency": "77.5ns", "router-in": "0ns", "router-out": "1000ns",
        "no-forwarding": "yes", "slow-rank": "3:2.5x", "links": "6:+1:one-way,9:+0:cut"}
    assert "shared-paths=one" in address(tv.Network("4x4", shared_paths="one"), 64)


def test_network_that_does_not_forward(tmp_path):
    ring = tv.Network("9", bandwidth="200Gb/s", alpha="5us", forwarding=False)
    assert not tv.Schedule("trivance-l", "9").verify(ring)
    assert tv.Schedule("neighbour", ring).verify() and tv.Schedule("relayed:trivance-l", ring).verify()
    choice = ring.plan("48K")
    assert choice.schedule().verify() and ring.limit(8).time == pytest.approx(4 * 5.5e-6, rel=0.01)
    with pytest.raises(tv.UnsupportedError, match="does not forward"):
        tv.Schedule("trivance-l", ring).simulate(sizes="1K")
    (tmp_path / "ring.json").write_text(choice.schedule().export("json"))
    read = tv.Schedule.from_file(tmp_path / "ring.json")
    assert not read.network.options["forwarding"] and read.verify()


def test_numbers_of_numpy():
    assert tv.Torus(np.int64(9)) == tv.Torus(np.array([9])) == tv.Torus("9")
    assert tv.Network(np.int32(9), alpha=np.float64(1.5e-6), jitter=np.float32(0), nodes=np.arange(4)).nodes == (0, 1,
                                                                                                                 2, 3)
    assert tv.parse_sizes(np.array([1024, 2048])) == [1024, 2048]
    assert tv.Network("9", cuts=[(np.int64(3), np.int64(0))]) == tv.Network("9", cuts=["3:+0"])


def test_truth_values_of_numpy():
    assert tv.Network("9", gamma_per_stream=np.bool_(True)) == tv.Network("9", gamma_per_stream=True)
    assert tv.Planner("9", consistent=np.bool_(True)).best("64K").consistent


@pytest.mark.parametrize("torus, nodes, cuts", [("4x4", [0, 1, 2, 3, 5, 8], []), ("8x8", range(32), []),
                                                ("4x4", [0, 1, 2, 3, 5, 8], ["0:+1"]),
                                                ("9", [1, 2, 3, 4], ["0:+0", "4:+0"])])
def test_sets_of_nodes_are_verified_on_the_set(torus, nodes, cuts):
    proof = tv.Network(torus, nodes=nodes, cuts=cuts).plan("64K").schedule().verify()
    assert proof and proof.exact and proof.ranks == len(nodes)


def test_set_of_nodes_with_a_cut_on_a_route():
    proof = tv.Network("4x4", nodes=[0, 1, 2, 3, 5, 8]).plan("64K").schedule().verify(tv.Network("4x4", cuts=["0:+1"]))
    assert not proof and "needs the link 0:+1, which is cut" in proof.fault


def test_nodes_of_a_divided_row():
    cuts = ["0:+0", "4:+0"]
    with pytest.raises(tv.UnsupportedError, match="leave no route between the nodes"):
        tv.Network("9", cuts=cuts)
    net = tv.Network("9", cuts=cuts, nodes=[1, 2, 3, 4])
    choice = net.plan("1M")
    assert choice.schedule().simulate(sizes="1M")["time"][0] == pytest.approx(choice.time)
    with pytest.raises(tv.UnsupportedError):
        tv.Schedule("ring", net)
    with pytest.raises(tv.UnsupportedError, match="leave no route between the nodes"):
        net.replace(nodes=[1, 5]).plan("1M")


def test_equal_networks():
    slow = tv.Network("9", slow_ranks={1: 2}, cuts=[(3, 0)])
    assert slow == tv.Network("9", slow_ranks={1: "2x"}, cuts="3:+0") and hash(slow) == hash(slow.replace())
    assert tv.Network("9", cuts=["3:+0"]) == tv.Network("9", cuts=["4:-0"])
    assert len({slow, slow.replace(), slow.replace(slow_ranks={2: 2}), slow.replace(nodes=[1, 2]),
                tv.Network("9m")}) == 4


def test_attributes_of_a_schedule():
    s = tv.Schedule("trivance-b", "9x9", "allgather")
    assert (s.name, s.collective, str(s.torus), s.network) == ("trivance-b", "allgather", "9x9", tv.Network("9x9"))
    assert s.streams == len(s.weights) > s.mirrored and s.units % 81 == 0 and s.exact and s.has_blocks
    assert s.reduction_volume() == (0, 0) and tv.Schedule("trivance-l", "3").reduction_volume() == (3, 1)


def test_messages_without_rows_and_empty_tables():
    empty = tv.Schedule.from_messages("9", {"step": [], "src": [], "dst": []})
    assert empty.steps == 0 and len(empty.messages) == 0 and not empty.verify()
