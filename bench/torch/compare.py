#!/usr/bin/env python3
"""Comparison of Trivance with gloo: all_reduce of 8 B to 25 MiB, and a DistributedDataParallel step of a model with 10
million parameters. Started directly, the program starts its ranks; started by a launcher, it is one of the ranks:

    PYTHONPATH=build/python bench/torch/compare.py --ranks 2,3,4
    torchrun --nproc_per_node 4 bench/torch/compare.py
    trivance testbed up 9
    trivance testbed run --mpi=none -- /usr/bin/python3 bench/torch/compare.py --rounds 3 --largest 1M

Both run alternately in the same processes, many times. Each number is the median over the rounds; the ratio is the time
of gloo divided by that of Trivance (more than 1: Trivance is faster)."""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time

SIZES = (8, 64, 512, 4096, 32768, 262144, 1 << 20, 4 << 20, 25 << 20)


def text_of(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def bytes_of(text: str) -> int:
    return int(float(text.rstrip("KM")) * {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1))


def median_times(calls, rounds, calls_max, dist):
    """Returns the medians of both in microseconds, of the slowest rank. A round takes about 0.2 s, but has at most
    `calls_max` calls."""
    import torch
    took = {name: [] for name in calls}
    first = []
    for call in calls.values():
        call()
        dist.barrier()
        start = time.perf_counter()
        call()
        first.append(time.perf_counter() - start)
    slowest = torch.tensor(max(first))
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    repeats = max(1, min(calls_max, int(0.2 / slowest.item())))
    for _ in range(rounds):
        for name, call in calls.items():
            dist.barrier()
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            took[name].append((time.perf_counter() - start) / repeats * 1e6)
    result = torch.tensor([statistics.median(at) for at in took.values()], dtype=torch.float64)
    dist.all_reduce(result, dist.ReduceOp.MAX)
    return result.tolist()


def rank_main(rounds: int, largest: int) -> None:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    import trivance.torch

    torch.set_num_threads(1)
    dist.init_process_group("trivance")
    dist.barrier()
    interface = max(trivance.torch.ports(), key=lambda port: port["bytes_sent"])["interface"]
    if any(interface == name for _, name in socket.if_nameindex()):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)  # the same network for both
    groups = {"trivance": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    rank, ranks = dist.get_rank(), dist.get_world_size()

    def show(what, times):
        if rank == 0:
            ours, gloo = times
            print(f"{ranks:5}  {what:>12}  {ours:12.1f}  {gloo:12.1f}  {gloo / ours:6.2f}", flush=True)

    if rank == 0:
        print(f"{ranks} ranks, by {interface}; load average {os.getloadavg()[0]:.1f}")
        print(f"{'ranks':>5}  {'all_reduce':>12}  {'trivance us':>12}  {'gloo us':>12}  {'ratio':>6}")
    for size in (size for size in SIZES if size <= largest):
        tensor = torch.zeros(size // 4)  # zeros, whose sums are zeros
        calls = {name: lambda group=group: dist.all_reduce(tensor, group=group)
                 for name, group in groups.items()}
        show(text_of(size), median_times(calls, rounds, 100, dist))

    calls = {}
    for name, group in groups.items() if largest >= SIZES[-1] else ():
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1400))
        if rank == 0 and not calls:
            print(f"one step with {sum(at.numel() for at in model.parameters()) / 1e6:.1f} million parameters")
        model = DistributedDataParallel(model, process_group=group)
        x = torch.randn(8, 1024)

        def step(model=model):
            model.zero_grad()
            model(x).square().mean().backward()

        calls[name] = step
    if calls:
        show("DDP step", median_times(calls, rounds, 2, dist))
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares the backend trivance with gloo.")
    parser.add_argument("--ranks", default="2,3,4", help="numbers of ranks, one job for each")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--largest", type=bytes_of, default=SIZES[-1],
                        help="largest size; below 25M the DistributedDataParallel step is omitted")
    arguments = parser.parse_args()
    if any(name in os.environ for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")):
        rank_main(arguments.rounds, arguments.largest)
        return
    job = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "torch", "job.py")
    for ranks in arguments.ranks.split(","):
        subprocess.run([sys.executable, job, "--seconds=600", ranks, os.path.abspath(__file__), "--rounds",
                        str(arguments.rounds), "--largest", str(arguments.largest)], check=True)


if __name__ == "__main__":
    main()
