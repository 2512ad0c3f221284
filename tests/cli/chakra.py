#!/usr/bin/env python3
"""Checks `trivance export --format=chakra`: chakra.py TOOL PROTOC

protoc decodes the traces, and this program compares them with the schedule as `trivance plan --format=json` writes it:
every send has its receive (ranks, tag, size), the messages are those of the schedule, a node requires exactly what the
schedule orders before it, and an execution as in ASTRA-sim terminates. The tool refuses what traces cannot hold, and
leaves no files then.
"""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TOOL, PROTOC = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
COMP, SEND, RECEIVE = "COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE"
COMM_TYPE = {"allreduce": 0, "reduce": 1, "allgather": 2, "gather": 3, "scatter": 4, "broadcast": 5, "alltoall": 6,
             "reduce-scatter": 7}


def run(*words, code=0):
    result = subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=300)
    assert result.returncode == code, f"trivance {' '.join(words)}: exit code {result.returncode}, {result.stderr}"
    return result


def records(data):
    """The records of a file, each with its length before it."""
    position = 0
    while position < len(data):
        begin, length, shift = position, 0, 0
        while True:
            byte = data[position]
            length |= (byte & 0x7f) << shift
            position, shift = position + 1, shift + 7
            if byte < 0x80:
                break
        position += length
        assert position <= len(data), "the last record is incomplete"
        yield data[begin:position]


def decode(path):
    """The text that protoc prints for a file."""
    with open(path, "rb") as file:
        whole = b"".join((b"\x0a" if i == 0 else b"\x12") + record for i, record in enumerate(records(file.read())))
    result = subprocess.run([PROTOC, "--decode=ChakraProtoMsg.Trace", f"--proto_path={HERE}", "chakra.proto"],
                            input=whole, capture_output=True, check=True)
    return result.stdout.decode()


def parse(text):
    """protoc's text as lists of (field, value), where a message is such a list."""
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            stack[-1].append((line[:-2], []))
            stack.append(stack[-1][-1][1])
        elif line == "}":
            stack.pop()
        else:
            field, value = line.split(": ", 1)
            assert not field.isdigit(), f"a field that the schema does not have: {line}"
            stack[-1].append((field, value))
    return stack[0]


def values(message, field):
    return [value for name, value in message if name == field]


class Node:
    def __init__(self, message):
        single = dict(message)
        self.id = int(single.get("id", 0))
        self.type = single["type"]
        self.duration = int(single.get("duration_micros", 0))
        self.requires = [int(value) for value in values(message, "data_deps")]
        self.attribute = {dict(a)["name"].strip('"'): a[1][1] == "true" if a[1][0] == "bool_val" else int(a[1][1])
                          for a in values(message, "attr")}
        place = re.fullmatch(r'"\w+ \d+, stream (\d+), step (\d+)"', single["name"])
        self.place = (int(place[1]), int(place[2])) if place else None


def read_traces(folder, ranks):
    names = sorted(os.listdir(folder))
    assert names == sorted(f"t.{rank}.et" for rank in range(ranks)), names
    traces = []
    for rank in range(ranks):
        trace = parse(decode(f"{folder}/t.{rank}.et"))
        assert dict(dict(trace)["metadata"])["version"] == '"0.0.4"'
        nodes = [Node(message) for message in values(trace, "node")]
        assert [node.id for node in nodes] == list(range(len(nodes)))
        traces.append(nodes)
    return traces


def renumber(torus, rank):
    """ASTRA-sim's number of a rank: the first dimension is the fastest, not the last."""
    number, factor, coordinates = 0, 1, []
    for size in reversed(torus):
        coordinates.insert(0, rank % size)
        rank //= size
    for size, coordinate in zip(torus, coordinates):
        number, factor = number + coordinate * factor, factor * size
    return number


def check_messages(traces, schedule):
    """The sends are the messages of the schedule, and each has exactly one receive."""
    expected, sends, receives = collections.Counter(), {}, {}
    for stream, contents in enumerate(schedule["streams"]):
        for step, messages in enumerate(contents["steps"]):
            for source, target, _, size, *_ in messages:
                torus = schedule["torus"]
                expected[renumber(torus, source), renumber(torus, target), size, stream, step] += 1
    found = collections.Counter()
    for rank, nodes in enumerate(traces):
        for node in nodes:
            if node.type == COMP:
                assert not node.attribute
                continue
            a = node.attribute
            assert list(a) == ["comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "is_cpu_op"], a
            assert a["is_cpu_op"] is False
            assert a["comm_type"] == COMM_TYPE[schedule["collective"]]
            assert a["comm_src" if node.type == SEND else "comm_dst"] == rank
            key = a["comm_src"], a["comm_dst"], a["comm_tag"]
            table = sends if node.type == SEND else receives
            assert key not in table, f"two messages with the same ranks and tag: {key}"
            table[key] = a["comm_size"], node.place
            if node.type == SEND:
                found[a["comm_src"], a["comm_dst"], a["comm_size"], *node.place] += 1
    assert sends == receives
    assert found == expected


def check_order(nodes, alpha_us):
    """A node requires exactly the messages of its stream's previous step, through a calculation if alpha > 0."""
    steps = collections.defaultdict(lambda: {COMP: set(), SEND: set(), RECEIVE: set()})
    for node in nodes:
        steps[node.place][node.type].add(node.id)
    before = {}
    for stream, step in sorted(steps):
        step_nodes = steps[stream, step]
        messages, previous = step_nodes[SEND] | step_nodes[RECEIVE], before.get(stream, set())
        assert len(step_nodes[COMP]) == (alpha_us > 0) and messages
        for node in (nodes[i] for i in step_nodes[COMP]):
            assert node.duration == alpha_us and set(node.requires) == previous
        for node in (nodes[i] for i in messages):
            assert node.duration == 0 and set(node.requires) == (step_nodes[COMP] or previous)
            assert len(node.requires) == len(set(node.requires))
        before[stream] = messages


def execute(traces):
    """Executes the traces as ASTRA-sim does: a node begins when all that it requires has ended, and a receive ends when
    its message has been sent. Returns whether all nodes end."""
    done, sent, progress = [set() for _ in traces], set(), True
    while progress:
        progress = False
        for rank, nodes in enumerate(traces):
            for node in nodes:
                if node.id in done[rank] or not done[rank].issuperset(node.requires):
                    continue
                key = tuple(node.attribute.get(name) for name in ("comm_src", "comm_dst", "comm_tag"))
                if node.type == RECEIVE and key not in sent:
                    continue
                if node.type == SEND:
                    sent.add(key)
                done[rank].add(node.id)
                progress = True
    return all(len(ended) == len(nodes) for ended, nodes in zip(done, traces))


def check(torus, algorithm, collective="allreduce", size="100000", alpha_us=0, more=()):
    options = [torus, f"--algorithm={algorithm}", f"--collective={collective}", f"--bytes={size}", *more]
    schedule = json.loads(run("plan", *options, "--format=json").stdout)
    with tempfile.TemporaryDirectory() as folder:
        alpha = [f"--alpha={alpha_us}us"] if alpha_us else []
        result = run("export", *options, "--format=chakra", f"--output={folder}/t", *alpha)
        assert result.stdout == "" and result.stderr == ""
        ranks = 1
        for dimension in schedule["torus"]:
            ranks *= dimension
        traces = read_traces(folder, ranks)
    check_messages(traces, schedule)
    for nodes in traces:
        check_order(nodes, alpha_us)
    assert execute(traces)
    sender = next(nodes for nodes in traces if any(node.type == SEND for node in nodes))
    sender.remove(next(node for node in sender if node.type == SEND))  # its receive cannot end
    assert not execute(traces)


def check_schedules():
    for torus in ("2", "8", "9", "3x2", "2x4", "3x3", "2x3x2", "9m"):
        for algorithm in ("ring", "bucket", "trivance-l", "trivance-b", "swing-b", "recdoub-b"):
            cost = subprocess.run([TOOL, "cost", torus, f"--algorithm={algorithm}"], capture_output=True, timeout=300)
            if cost.returncode == 0:  # the algorithm supports the torus
                check(torus, algorithm, alpha_us=len(torus) % 3)
    check("3x2", "trivance-b", "reduce-scatter")
    check("9", "trivance-b", "allgather", size="1", alpha_us=3)
    check("3x3", "trivance-tree", "broadcast", more=["--root=4"])
    check("3x3", "disjoint-trees", "reduce")
    check("4x3", "by-dimension", "alltoall", size="2G")


def check_single_rank():
    """ASTRA-sim ends a rank only with a node, so a rank without messages has one."""
    with tempfile.TemporaryDirectory() as folder:
        run("export", "1", "--format=chakra", "-o", f"{folder}/t")
        (nodes,) = read_traces(folder, 1)
        assert len(nodes) == 1 and nodes[0].type == COMP and not nodes[0].requires


def check_errors():
    with tempfile.TemporaryDirectory() as folder:
        prefix = f"--output={folder}/t"
        export = ["export", "9", "--format=chakra"]
        wrong = [
            ([*export, prefix, "--alpha=1.5us"], "whole microseconds"),
            ([*export, prefix, "--alpha=500ns"], "alpha is 0.5 us, but times in Chakra are whole microseconds"),
            ([*export, prefix, "--alpha=2h"], "is not a time"),
            ([*export, f"--output={folder}/none/t"], "/none/t.0.et' cannot be written: No such file"),
            ([*export, f"--output={folder}/"], "does not end with the beginning of a file name"),
            ([*export], "Chakra traces are files"),
            ([*export, "--output=-"], "Chakra traces are files"),
            (["export", "17000", "-a", "ring", "--format=chakra", prefix], "17000 ranks are too many for Chakra"),
        ]
        for words, sentence in wrong:
            result = run(*words, code=2)
            lines = result.stderr.splitlines()
            assert result.stdout == "" and len(lines) == 1 and sentence in lines[0], (words, result.stderr)
            assert os.listdir(folder) == [], (words, os.listdir(folder))
        # One file that cannot be replaced keeps all others from appearing or changing.
        os.mkdir(f"{folder}/t.5.et")
        with open(f"{folder}/t.1.et", "w", encoding="utf-8") as file:
            file.write("old")
        result = run(*export, prefix, code=2)
        assert "t.5.et' cannot be written: it is not a regular file" in result.stderr
        assert sorted(os.listdir(folder)) == ["t.1.et", "t.5.et"]
        with open(f"{folder}/t.1.et", encoding="utf-8") as file:
            assert file.read() == "old"
        os.rmdir(f"{folder}/t.5.et")
        run(*export, prefix)
        assert len(read_traces(folder, 9)[1]) > 0


def check_signals():
    """A signal ends the tool without files."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        with tempfile.TemporaryDirectory() as folder:
            tool = subprocess.Popen([TOOL, "export", "24x24x24", "-a", "bucket", "--format=chakra",
                                     f"--output={folder}/t"], stderr=subprocess.DEVNULL)
            while not os.listdir(folder) and tool.poll() is None:
                time.sleep(0.01)
            assert tool.poll() is None, "the export ended before the signal"
            tool.send_signal(number)
            assert tool.wait(60) != 0
            assert os.listdir(folder) == [], os.listdir(folder)


check_schedules()
check_single_rank()
check_errors()
check_signals()
