#!/usr/bin/env python3
"""Comparison of Trivance on hosts that do not forward with gloo on the same hosts that do, because gloo needs routes
between all of them: all_reduce on rings of 4 and 5 nodes of the testbed. Needs root and an otherwise idle machine:

    PYTHONPATH=build/python /usr/bin/python3 bench/torch/cables.py

Each number is the median of the slowest rank; the ratio is the time of gloo divided by that of Trivance. The limit is
the larger of the time that a byte needs to the farthest node and the time that a node needs to send 2 (n - 1) / n of
the vector over its two cables."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

SIZES = (8, 4096, 48 << 10, 1 << 20)
BANDWIDTH_BPS, LATENCY_S = 50e6, 2e-3  # of a cable


def text_of(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def rank_main(backend: str, rounds: int) -> None:
    """Runs on every node. Rank 0 prints a size and a time in microseconds per line."""
    import torch
    import torch.distributed as dist
    import trivance.torch  # noqa: F401 (registers the backend)
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "tun0")  # the emulated network, on nodes that forward
    dist.init_process_group(backend)
    for size in SIZES:
        tensor = torch.ones(size // 4)
        took = []
        for _ in range(rounds + 2):
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(tensor)
            took.append(time.perf_counter() - start)
        median = torch.tensor(statistics.median(took[2:]), dtype=torch.float64)
        dist.all_reduce(median, dist.ReduceOp.MAX)
        if dist.get_rank() == 0:
            print(f"time {size} {median.item() * 1e6:.1f}", flush=True)
    dist.destroy_process_group()


def measure(trivance: str, ranks: int, network: str, backend: str, rounds: int) -> dict:
    options = [network] if network else []
    subprocess.run([trivance, "testbed", "up", str(ranks), *options, f"--bandwidth={BANDWIDTH_BPS / 1e6:.0f}Mb/s",
                    f"--hop-latency={LATENCY_S * 1e3:.0f}ms"], check=True, stdout=subprocess.DEVNULL)
    try:
        made = subprocess.run([trivance, "testbed", "run", "--mpi=none", "--", sys.executable,
                               os.path.abspath(__file__), f"--backend={backend}", f"--rounds={rounds}"], check=True,
                              stdout=subprocess.PIPE, text=True)
    finally:
        subprocess.run([trivance, "testbed", "down"], check=True, stdout=subprocess.DEVNULL)
    lines = [line.split() for line in made.stdout.splitlines() if line.startswith("time ")]
    return {int(size): float(us) for _, size, us in lines}


def limit_us(ranks: int, size: int) -> float:
    return 1e6 * max(ranks // 2 * LATENCY_S, (ranks - 1) / ranks * 8 * size / BANDWIDTH_BPS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares Trivance on hosts that do not forward with gloo on hosts "
                                     "that do.")
    parser.add_argument("--ranks", default="4,5", help="rings, for example 4,5")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--backend", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.backend:
        rank_main(arguments.backend, arguments.rounds)
        return
    build = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin", "trivance")
    trivance = build if os.path.exists(build) else shutil.which("trivance")
    print(f"{'ring':>4}  {'all_reduce':>10}  {'trivance us':>11}  {'gloo us':>9}  {'ratio':>5}  {'limit us':>8}")
    for ranks in map(int, arguments.ranks.split(",")):
        ours = measure(trivance, ranks, "--no-forwarding", "trivance", arguments.rounds)
        gloo = measure(trivance, ranks, None, "gloo", arguments.rounds)
        for size in SIZES:
            print(f"{ranks:4}  {text_of(size):>10}  {ours[size]:11.0f}  {gloo[size]:9.0f}  "
                  f"{gloo[size] / ours[size]:5.2f}  {limit_us(ranks, size):8.0f}", flush=True)


if __name__ == "__main__":
    main()
