"""Every function against the tool: 200 random questions with a fixed seed, of which the quick tier asks 60."""
import json
import random

import pytest

import trivance as tv
from trivance import _library as L

from conftest import EXHAUSTIVE

QUESTIONS = 200 if EXHAUSTIVE else 60
TORI = ("2", "3", "5", "8", "9", "16", "27", "7m", "9m", "2x3", "3x3", "4x4", "4x3m", "4mx5m", "8x8", "3x3x3", "2x4x3",
        "5x1x4")
SIZES = ("1", "32", "1000", "4KiB", "65537", "256K", "1MiB", "8M")
COLLECTIVES = ("allreduce", "allreduce", "reduce-scatter", "allgather")
PARAMETERS = ("hybrid:2", "hybrid:3:grouped", "line-pipelined:4", "bucket:2/1", "line-l:2", "star:l", "nonsense",
              "hybrid:x")


class Question:
    """A torus, an algorithm, a size and a network, for the tool and for the package."""

    def __init__(self, number):
        self.random = random.Random(20260901 + number)
        choice = self.random.choice
        self.torus, self.size, self.collective = choice(TORI), choice(SIZES), choice(COLLECTIVES)
        names = [one.name for one in tv.algorithms()]
        self.name = choice(PARAMETERS) if self.random.random() < 0.15 else choice(names)
        self.about = [f"--collective={self.collective}"]
        self.options, self.arguments = {}, []
        self._network()

    def _network(self):
        values = {"bandwidth": ("100Gb/s", "12.5GB/s", "400Gb/s"), "alpha": ("0ns", "0.5us", "10us"),
                  "link_latency": ("20ns", "1.5us"), "host_latency": ("0ns", "30ns"), "router_in": ("70ns",),
                  "router_out": ("10ns",), "packet": ("1KiB", "4096"), "message_overhead": ("250ns",),
                  "gamma": ("0.01ns",), "delivery": ("tail",), "nic_bandwidth": ("800Gb/s",), "routes": ("fixed",)}
        for key in self.random.sample(sorted(values), self.random.randint(0, 3)):
            self._set(key, self.random.choice(values[key]))
        torus = tv.Torus(self.torus)
        rank, dimension = self.random.randrange(torus.size), self.random.randrange(len(torus.dims))
        link = f"{rank}:+{dimension}"
        if torus.neighbour(rank, 2 * dimension) is None or torus.dims[dimension] < 3 or torus.lines:
            return
        if self.random.random() < 0.2:
            self.options["cuts"] = [link]
            self.arguments.append(f"--cut={link}")
        elif self.random.random() < 0.2:
            self.options["slow"] = {link: "3x"}
            self.arguments.append(f"--slow-link={link}:3x")

    def _set(self, key, value):
        self.options[key] = value
        self.arguments.append(f"--{key.replace('_', '-')}={value}")

    def links(self):
        """The options of links alone, as commands take them that simulate nothing."""
        kept = {key: self.options[key] for key in ("cuts", "slow", "routes") if key in self.options}
        return kept, [word for word in self.arguments if word.startswith(("--cut", "--slow-link", "--routes"))]

    def agree_on_refusal(self, tool, call):
        with pytest.raises(tv.TrivanceError) as refused:
            call()
        assert str(refused.value) in tool.sentence


def same(a, b):
    return a == pytest.approx(b, rel=1e-12, abs=1e-18)


def ask_simulate(q, tool):
    model = q.random.choice(("fifo", "dateline"))
    rows = tool.json("simulate", q.torus, "-a", q.name, "-b", q.size, "--limit", f"--model={model}", *q.about,
                     *q.arguments)

    def simulate():
        network = tv.Network(q.torus, model=model, **q.options)
        simulator = tv.Simulator(tv.Schedule(q.name, network, q.collective))
        return simulator.run(q.size), simulator.bound(q.size), network.limit(q.size, q.collective)

    if rows is None:
        return q.agree_on_refusal(tool, simulate)
    result, bound, limit = simulate()
    assert round(result.time_ns, 3) == rows[0]["time_ns"] and result.packet_hops == rows[0]["packet_hops"]
    assert round(limit.time * 1e9, 3) == pytest.approx(rows[0]["limit_ns"], abs=2e-3)
    assert bound <= result.time * (1 + 1e-9)


def ask_plan(q, tool):
    rows = tool.json("plan", q.torus, "-b", q.size, "--why", *q.about, *q.arguments)
    network = tv.Network(q.torus, **q.options)
    if rows is None:
        return q.agree_on_refusal(tool, lambda: network.plan(q.size, q.collective))
    chosen, choice = next(row for row in rows if row["chosen"]), network.plan(q.size, q.collective)
    assert (choice.name, choice.steps, choice.consistent) == (chosen["algorithm"], chosen["steps"],
                                                              chosen["consistent"])
    assert same(choice.time * 1e9, chosen["time_ns"]) and same(choice.hops * 1e9, chosen["hops_part_ns"])
    assert same(choice.alpha * 1e9, chosen["alpha_part_ns"]) and choice.approximate == chosen["approximate"]
    planner = tv.Planner(network, q.collective)
    assert planner.rank(q.size, 3)[0].name == planner.best(q.size).name == choice.name
    assert same(planner.time(q.size, choice.name).time, choice.time)
    assert choice.schedule().name == choice.name


def ask_cost(q, tool):
    rows = tool.json("cost", q.torus, "-a", q.name, "-b", q.size, *q.about)
    if rows is None:
        return q.agree_on_refusal(tool, lambda: tv.Schedule(q.name, q.torus, q.collective))
    schedule = tv.Schedule(q.name, q.torus, q.collective)
    cost = schedule.cost()
    assert (cost.steps, cost.messages) == (rows[0]["steps"], rows[0]["messages"])
    for key, value in (("lambda", cost.lambda_), ("delta", cost.delta), ("theta", cost.theta)):
        assert round(value, 6) == pytest.approx(rows[0][key], abs=1e-6)
    assert cost.messages == len(schedule.messages) and len(cost.table) == cost.steps


def ask_verify(q, tool):
    options, arguments = q.links()
    if "routes" in options or "slow" in options:
        options, arguments = {}, []
    rows = tool.json("verify", q.torus, "-a", q.name, *q.about, *arguments)
    if rows is None or rows[0]["verdict"] == "unsupported":
        return q.agree_on_refusal(tool, lambda: tv.Schedule(q.name, tv.Network(q.torus, **options), q.collective))
    proof = tv.Schedule(q.name, tv.Network(q.torus, **options), q.collective).verify()
    assert proof and (proof.exact, proof.consistent) == (rows[0]["verdict"] == "exact", rows[0]["consistent"])
    assert (proof.messages, proof.ranks, proof.method) == (rows[0]["messages"], rows[0]["ranks"], rows[0]["method"])


def ask_export(q, tool):
    options, arguments = q.links()
    arguments = [one for one in arguments if not one.startswith("--slow-link")]  # a file has no times
    kind = q.random.choice(("goal", "mscclpp"))
    text = tool("export", q.torus, "-a", q.name, "-b", q.size, f"--format={kind}", *q.about, *arguments,
                *["--unchecked"] * ("cuts" in options))

    def export():
        return tv.Schedule(q.name, tv.Network(q.torus, **options), q.collective).export(kind, size=q.size)

    return q.agree_on_refusal(tool, export) if text is None else _equal(export(), text)


def _equal(ours, theirs):
    assert ours == theirs


def ask_file(q, tool, tmp_path):
    options, arguments = q.links()
    text = tool("plan", q.torus, "-a", q.name, "-b", q.size, "--format=json", *q.about, *arguments)

    def make():
        return tv.Schedule(q.name, tv.Network(q.torus, **options), q.collective)

    if text is None:
        return q.agree_on_refusal(tool, make)
    made, path = make(), tmp_path / "schedule.json"
    made.export("json", path, size=q.size)
    assert path.read_text() == text
    read = tv.Schedule.from_file(path)
    assert (read.name, read.torus, read.steps, read.collective) == (made.name, made.torus, made.steps, made.collective)
    assert sorted(read.list_messages(q.size).tolist()) == sorted(made.list_messages(q.size).tolist())
    listed = sum(len(step) for stream in json.loads(text)["streams"] for step in stream["steps"])
    assert listed == len(made.messages) and bool(read.verify())


def ask_drawing(q, tool):
    text = tool("plan", q.torus, "-a", q.name, "-b", q.size, "--format=svg", *q.about)

    def draw():
        return tv.Schedule(q.name, q.torus, q.collective).draw("svg", size=q.size)

    if text is None:
        return q.agree_on_refusal(tool, draw)
    ours = draw()
    # The tool adds the simulated time to the caption, which may make the drawing wider.
    different = [line for line in zip(ours.splitlines(), text.splitlines()) if line[0] != line[1]]
    assert len(ours.splitlines()) == len(text.splitlines()) and len(different) <= 3
    schedule = tv.Schedule(q.name, q.torus, q.collective)
    assert schedule._repr_svg_().startswith("<svg")
    assert schedule.draw("text") in tool("plan", q.torus, "-a", q.name, "-b", q.size, *q.about)


def ask_nodes(q, tool):
    torus = tv.Torus(q.torus)
    nodes = sorted(q.random.sample(torus.ranks, q.random.randint(1, torus.size)))
    words = [word for word in q.arguments if not word.startswith("--routes")]
    options = {key: value for key, value in q.options.items() if key != "routes"}
    rows = tool.json("plan", q.torus, "-b", q.size, "--nodes=" + ",".join(map(str, nodes)), *q.about, *words)
    network = tv.Network(q.torus, nodes=nodes, **options)
    if rows is None:
        return q.agree_on_refusal(tool, lambda: network.plan(q.size, q.collective))
    choice = network.plan(q.size, q.collective)
    assert (choice.name, choice.order, choice.steps) == (rows[0]["plan"], rows[0]["order"], rows[0]["steps"])
    assert same(choice.time * 1e9, rows[0]["time_ns"]) and choice.schedule().torus == torus


def ask_family(q, tool):
    name = q.random.choice(("trivance", "swing", "bruck", "recdoub", "bucket", "planned"))
    rows = tool.json("simulate", q.torus, "-a", name, "-b", q.size, "--model=fifo", *q.about, *q.arguments)
    network = tv.Network(q.torus, **q.options)
    if rows is None:
        return q.agree_on_refusal(tool, lambda: tv.compare(network, name, q.size, collective=q.collective))
    table = tv.compare(network, [name], q.size, collective=q.collective).table
    assert round(table["time"][0] * 1e9, 3) == rows[0]["time_ns"] and table["name"][0] == rows[0]["algorithm"]


def test_traces(tool, tmp_path):
    """Python and the tool write the same Chakra traces."""
    (tmp_path / "tool").mkdir()
    assert tool("export", "3x2", "-a", "trivance-b", "--format=chakra", "--alpha=2us", "-o",
                str(tmp_path / "tool" / "t")) == ""
    assert tv.Schedule("trivance-b", "3x2").export("chakra", tmp_path / "t", alpha="2us") is None
    assert all((tmp_path / f"t.{rank}.et").read_bytes() == (tmp_path / "tool" / f"t.{rank}.et").read_bytes()
               for rank in range(6))


ASKED = (ask_simulate, ask_plan, ask_cost, ask_verify, ask_export, ask_file, ask_drawing, ask_nodes, ask_family)


@pytest.mark.parametrize("number", range(QUESTIONS))
def test_same_as_the_tool(number, tool, tmp_path):
    question, ask = Question(number), ASKED[number % len(ASKED)]
    ask(question, tool, tmp_path) if ask is ask_file else ask(question, tool)


def test_collectives(tool):
    rows = tool.json("list", "--collectives")
    assert [(row["name"], row["title"]) for row in rows] == list(zip(L.COLLECTIVES, L.TITLES))
    assert L.REDUCING == tuple(row["name"] for row in rows if row["reduces"])
    owned = [row["name"] for row in rows if "owner" in (row["before"], row["after"])]
    assert L.BLOCKED == (*owned, "alltoall")


def test_table_of_algorithms(tool):
    rows, ours = tool.json("list"), tv.algorithms()
    assert [row["name"] for row in rows] == [one.name for one in ours]
    for row, one in zip(rows, ours):
        for key in ("family", "title", "steps", "bytes", "exact", "consistent", "symmetry", "sizes", "source", "use",
                    "baseline", "colour", "parameters"):
            assert getattr(one, key) == row[key]
        assert one.latency_optimal == (row["variant"] == "L")
    paper = next(one for one in ours if one.name == "trivance-b").paper_cost("27")
    row = tool.json("cost", "27", "-a", "trivance-b", "-b", "32")[0]
    assert (paper.theta, round(paper.theta_limit, 6)) == (row["paper_theta"], row["paper_theta_limit"])
