#!/usr/bin/env python3
"""Records what the programs and libraries answer, and compares a later build with the recording.

Usage: answers.py record [BUILD]    writes tests/answers.txt
       answers.py compare [BUILD] [--old=BUILD]
                                    exit status 1 if an answer differs; with a build of the recorded commit it also
                                    prints the differences

The questions are 2,000 random ones (with a fixed seed) to list, plan, cost, simulate, verify, sweep and export; the
schedule of every algorithm on a set of tori; symbols and prototypes of the libraries; and the decisions that the MPI
libraries and libtrivance_net log in small jobs. A line of the recording is the hash of an answer and its question.
A commit that changes answers on purpose records again and lists the differences.
"""
import concurrent.futures
import csv
import difflib
import glob
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

QUESTIONS = 2000
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDING = os.path.join(ROOT, "tests", "answers.txt")
RINGS = ["2", "3", "4", "5", "6", "7", "8", "9", "12", "16", "27", "32", "5m", "8m", "9m"]
TORI = ["2x2", "3x3", "4x4", "3x5", "4x8", "9x3", "8x8", "9x9", "2x2x2", "3x3x3", "4x4x4", "2x3x4", "4x4m", "3mx5m",
        "2x2x2x2"]
COLLECTIVES = ["allreduce", "reduce-scatter", "allgather", "broadcast", "reduce", "scatter", "gather", "alltoall"]
ROOTED = COLLECTIVES[3:7]
FAMILIES = ["trivance", "swing", "bruck", "recdoub", "planned"]
SIZES = ["1", "32", "1000", "4K", "64K", "100000", "1M", "7M", "32M"]
# Values of the parameters of a network; the last one is used less often, because it is invalid or seldom fits
NETWORK = {
    "bandwidth": ["200Gb/s", "100GB/s", "1.6Tb/s", "25gb/s"],
    "nic-bandwidth": ["800Gb/s", "12.8Tb/s", "800"],
    "injection": ["100Gb/s", "5GB/s", "0"],
    "alpha": ["0ns", "500ns", "1.5us", "2ms", " 1us"],
    "link-latency": ["10ns", "1us", "-1us"],
    "host-latency": ["0ns", "250ns", "1"],
    "router-in": ["0ns", "75ns", "0"],
    "router-out": ["20ns", "2h"],
    "packet": ["256", "1K", "4096", "255"],
    "gamma": ["0.01ns", "0.05ns/stream", "x"],
    "gamma-start": ["100ns", "1.5"],
    "gamma-small": ["0.2ns", ""],
    "message-overhead": ["100ns", "1us", "1e400ns"],
    "part-overhead": ["300ns", "nan"],
    "delivery": ["head", "tail", "body"],
    "network": ["paper", "tofu-d", "tofu-d-fjmpi", "nothing"],
    "slow-link": ["0:+0:4x", "1:-0:2.5x", "0:+0:down", "0:+1:2x"],
    "cut": ["0:+0", "1:-0:one-way", "99:+0"],
    "routes": ["fixed", "chosen", "both"],
    "no-forwarding": ["no", "yes"],
    "shared-paths": ["0", "all", "one", "0:1"],
}
SIMULATED = {
    "model": ["dateline", "fifo", "lifo"],
    "buffer": ["64K", "16"],
    "jitter": ["10%", "0.5"],
    "seed": ["7", "-1"],
    "slow-rank": ["0:2x", "1:1.5x", "400:2x"],
}
LINKS = ("slow-link", "cut", "routes", "no-forwarding")
NOT_COMPARED = {"wall_s", "seconds"}  # columns that are measured


# ---- Questions -------------------------------------------------------------------------------------------------------

def options_of(draw, parameters, most):
    """Up to `most` options of a network with random values."""
    chosen = draw.sample(sorted(parameters), draw.randrange(most + 1))
    return [f"--{name}={draw.choice(parameters[name][:-1]) if draw.random() < 0.9 else parameters[name][-1]}"
            for name in chosen]


def collective_of(draw):
    if draw.random() < 0.5:
        return []
    name = draw.choice(COLLECTIVES)
    root = [f"--root={draw.choice([0, 1, 1, 1, 40])}"] if name in ROOTED and draw.random() < 0.5 else []
    return [f"--collective={name}", *root]


def algorithm_of(draw, names):
    """A list of algorithms, families, or both; several, because some do not support the torus."""
    return ",".join(draw.sample(names + FAMILIES, draw.choice([2, 3, 4])))


def format_of(draw, *formats):
    return [f"--format={draw.choice(formats)}"] if draw.random() < 0.7 else []


def question(draw, names):
    """The arguments of the tool for one random question."""
    torus = draw.choice(RINGS + TORI if draw.random() < 0.95 else ["0", "3x", "9y9", "1", "1x1", "4x3mx2"])
    size = draw.choice(SIZES)
    command = draw.choice(["list", "plan", "plan", "plan", "cost", "simulate", "simulate", "simulate", "verify",
                           "sweep", "sweep", "export"])
    links = {name: NETWORK[name] for name in LINKS}
    if command == "list":
        return ["list", *collective_of(draw)[:1], *format_of(draw, "json", "csv", "table")]
    if command == "plan":
        mode = draw.choice([[], [], [], ["--why"], ["--all-sizes"], ["--nodes=0-2,4"], ["--limit"], ["--consistent"]])
        algorithm = [f"--algorithm={draw.choice(names + 3 * FAMILIES)}"] if draw.random() < 0.4 else []
        return ["plan", torus, f"--bytes={size}", *mode, *algorithm, *collective_of(draw),
                *options_of(draw, NETWORK, 3), *format_of(draw, "json", "text", "svg")]
    if command == "cost":
        return ["cost", torus, f"--algorithm={algorithm_of(draw, names)}", f"--bytes={size}", *collective_of(draw),
                *options_of(draw, links, 1), *draw.choice([[], ["--limit"]]), *format_of(draw, "json", "csv")]
    if command == "simulate":
        mode = draw.choice([[], [], ["--limit"], ["--ranking"], ["--links"], ["--compare"], ["--full"]])
        return ["simulate", torus, f"--algorithm={algorithm_of(draw, names)}", f"--bytes={size},{draw.choice(SIZES)}",
                *mode, *collective_of(draw), *options_of(draw, NETWORK | SIMULATED, 3), *format_of(draw, "json", "csv")]
    if command == "verify":
        return ["verify", torus, f"--algorithm={algorithm_of(draw, names)}", *collective_of(draw),
                *options_of(draw, links, 1), *format_of(draw, "json", "csv")]
    if command == "sweep":
        return ["sweep", f"--torus={torus},{draw.choice(RINGS)}", f"--algorithm={algorithm_of(draw, names)}",
                f"--bytes={size},{draw.choice(SIZES)}", *collective_of(draw), *options_of(draw, NETWORK | SIMULATED, 2),
                *draw.choice([[], ["--limit"]]), f"--format={draw.choice(['json', 'csv'])}"]
    return ["export", torus, f"--algorithm={draw.choice(names + ['planned'])}", f"--bytes={size}", *collective_of(draw),
            f"--format={draw.choice(['goal', 'mscclpp', 'chakra'])}"]


def questions(names):
    draw = random.Random(52)
    asked = [question(draw, names) for _ in range(QUESTIONS)]
    for torus in RINGS + TORI:
        asked += [["plan", torus, f"--algorithm={name}", "--format=json"] for name in names]
    return [shlex.join(one) for one in asked]


# ---- Answers ---------------------------------------------------------------------------------------------------------

def without_measurements(text):
    """An answer without measured columns; rows of CSV and JSON, which may come in any order, are sorted."""
    try:
        rows = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
        if all(isinstance(row, dict) for row in rows):
            return "\n".join(sorted(json.dumps({k: v for k, v in row.items() if k not in NOT_COMPARED})
                                    for row in rows))
    except ValueError:
        pass
    if text.startswith("torus ") and text.partition("\n")[0].endswith(" time"):  # of `trivance verify`
        return re.sub(r" +[0-9.]+ (ns|us|ms|s)$", "", text, flags=re.M)
    if NOT_COMPARED & set(text.partition("\n")[0].split(",")):
        rows = list(csv.reader(io.StringIO(text)))
        kept = [i for i, name in enumerate(rows[0]) if name not in NOT_COMPARED]
        return "\n".join(sorted(",".join(row[i] for i in kept if i < len(row)) for row in rows))
    return text


def ask(build, command):
    """The exit status, the output and the errors of the tool."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRIVANCE")}
    done = subprocess.run([os.path.join(build, "bin", "trivance"), *shlex.split(command)], capture_output=True,
                          text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=600, check=False, cwd="/",
                          env=environment | {"LC_ALL": "C.UTF-8", "PYTHONPATH": os.path.join(ROOT, "python")})
    tool = os.path.join(os.path.abspath(build), "bin")
    return f"exit {done.returncode}\n{without_measurements(done.stdout)}\n{done.stderr}".replace(tool, "BIN")


def symbols(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return "\n".join(sorted(" ".join(line.split()[1:]) for line in listed.splitlines()))


def prototypes(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
    return "\n".join(" ".join(one.split()) for one in re.findall(r"(?:TRV_API|TRV_MPI_API)\b[^;]*;", text))


def decisions(log):
    """The decisions in a log, without measured times, ids of communicators and names of hosts."""
    kept = [line for line in log.splitlines() if line.startswith("trivance: comm") or "(planned" in line]
    return "\n".join(sorted({re.sub(r"; planning took [0-9]+ ms| of rank \d+|comm \d+", "", line) for line in kept}))


def job(build, kind):
    """The decisions in a job of 4 ranks on a 2x2 torus."""
    if kind == "net":
        command = f"{build}/bin/trivance launch -n 4 {build}/tests/guarantees/guarantees_net results"
    else:
        command = (f"mpirun.{kind} -n 4 env "
                   f"LD_PRELOAD={glob.glob(f'{build}/**/libtrivance_pmpi_{kind}.so', recursive=True)[0]} "
                   f"{build}/tests/guarantees/guarantees_drop_in.{kind} results")
    with tempfile.TemporaryDirectory() as folder:  # a log of its own for each rank, because a launcher joins lines
        done = subprocess.run(["bash", "-c", f". scripts/mpi-environment.sh; {command}"], capture_output=True,
                              text=True, cwd=ROOT, timeout=600, check=False,
                              env=os.environ | {"TRIVANCE_TORUS": "2x2", "TRIVANCE_DEBUG": "info",
                                                "TRIVANCE_DEBUG_FILE": f"{folder}/%p"})
        log = "".join(pathlib.Path(path).read_text(encoding="utf-8") for path in sorted(glob.glob(f"{folder}/*")))
    return f"exit {done.returncode}\n{decisions(log + done.stderr)}"


def everything(build):
    """A function for each question, by its text, and in the order of the recording."""
    build = os.path.abspath(build)
    listed = subprocess.run([f"{build}/bin/trivance", "list", "--format=json"], capture_output=True, check=True).stdout
    names = [row["name"] for row in json.loads(listed)]
    found = {text: (lambda text=text: ask(build, text)) for text in questions(names)}
    for library in sorted(glob.glob(f"{build}/**/*.so", recursive=True)):
        if "/tests/" not in library and not os.path.islink(os.path.dirname(library)):
            found[f"symbols {os.path.basename(library)}"] = lambda library=library: symbols(library)
    cache = pathlib.Path(build, "CMakeCache.txt").read_text(encoding="utf-8")
    sources = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.M).group(1)
    for header in sorted(glob.glob(f"{sources}/include/trivance/*.h") + glob.glob(f"{build}/bindings/trivance/*.h")):
        found[f"prototypes {os.path.basename(header)}"] = lambda header=header: prototypes(header)
    for kind in ("openmpi", "mpich", "net"):
        found[f"decisions {kind}"] = lambda kind=kind: job(build, kind)
    return found


def answers(build, only=None):
    """The answers of a build by question."""
    asked = {text: call for text, call in everything(build).items() if only is None or text in only}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(asked, pool.map(lambda call: call(), asked.values())))


def digest(answer):
    return hashlib.sha256(answer.encode()).hexdigest()[:16]


# ---- Commands --------------------------------------------------------------------------------------------------------

def record(build):
    with open(RECORDING, "w", encoding="utf-8") as file:
        file.writelines(f"{digest(answer)} {text}\n" for text, answer in answers(build).items())


def compare(build, old):
    with open(RECORDING, encoding="utf-8") as file:
        recorded = {line[17:].rstrip("\n"): line[:16] for line in file}
    found = answers(build)
    changed = [text for text in found if recorded.get(text) != digest(found[text])]
    missing = [text for text in recorded if text not in found]
    before = answers(old, changed) if old else {}
    for text in changed:
        print(f"{'changed' if text in recorded else 'new'}: {text}")
        if text in before:
            print("\n".join(difflib.unified_diff(before[text].splitlines(), found[text].splitlines(), "old", "new",
                                                 lineterm="", n=1)))
    for text in missing:
        print(f"missing: {text}")
    print(f"{len(found)} answers: {len(changed)} changed or new, {len(missing)} missing")
    return 1 if changed or missing else 0


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--old=")]
    old = next((word[6:] for word in sys.argv[1:] if word.startswith("--old=")), None)
    if not words or words[0] not in ("record", "compare") or len(words) > 2:
        sys.exit(__doc__)
    build = (words[1:] or ["build"])[0]
    sys.exit(record(build) if words[0] == "record" else compare(build, old))


main()
