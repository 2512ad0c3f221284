#!/usr/bin/env python3
"""Trivance beside gloo: all_reduce of 8 B to 25 MiB, and a DistributedDataParallel step of a model with 10 million
parameters. Started as a program, it starts its ranks; under a launcher it is a rank:

    PYTHONPATH=build/python bench/torch/compare.py --ranks 2,3,4
    torchrun --nproc_per_node 4 bench/torch/compare.py

Both run in the same processes, in turn, many times; each number is the median of the rounds, and the ratio gloo's time
over Trivance's (more than 1: Trivance is faster)."""

import argparse
import os
import statistics
import subprocess
import sys
import time

SIZES = (8, 64, 512, 4096, 32768, 262144, 1 << 20, 4 << 20, 25 << 20)


def text_of(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def in_turn(calls, rounds, repeats, dist):
    """The medians of both, in microseconds, of the slowest rank."""
    import torch
    took = {name: [] for name in calls}
    for i in range(rounds + 1):
        for name, call in calls.items():
            dist.barrier()
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            if i > 0:
                took[name].append((time.perf_counter() - start) / repeats * 1e6)
    result = torch.tensor([statistics.median(at) for at in took.values()], dtype=torch.float64)
    dist.all_reduce(result, dist.ReduceOp.MAX)
    return result.tolist()


def rank_main(rounds: int) -> None:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    import trivance_torch  # noqa: F401

    torch.set_num_threads(1)
    dist.init_process_group("trivance")
    groups = {"trivance": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    rank, ranks = dist.get_rank(), dist.get_world_size()

    def show(what, times):
        if rank == 0:
            ours, gloo = times
            print(f"{ranks:5}  {what:>12}  {ours:12.1f}  {gloo:12.1f}  {gloo / ours:6.2f}", flush=True)

    if rank == 0:
        print(f"{'ranks':>5}  {'all_reduce':>12}  {'trivance us':>12}  {'gloo us':>12}  {'ratio':>6}")
    for size in SIZES:
        tensor = torch.zeros(size // 4)  # sums of which remain
        repeats = max(1, min(100, (4 << 20) // size))
        calls = {name: lambda group=group: dist.all_reduce(tensor, group=group)
                 for name, group in groups.items()}
        show(text_of(size), in_turn(calls, rounds, repeats, dist))

    calls = {}
    for name, group in groups.items():
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
    show("DDP step", in_turn(calls, rounds, 2, dist))
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares the backend trivance with gloo.")
    parser.add_argument("--ranks", default="2,3,4", help="how many processes, one job after another")
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    if any(name in os.environ for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")):
        rank_main(arguments.rounds)
        return
    job = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "torch", "job.py")
    for ranks in arguments.ranks.split(","):
        subprocess.run([sys.executable, job, "--seconds=600", ranks, os.path.abspath(__file__), "--rounds",
                        str(arguments.rounds)], check=True)


if __name__ == "__main__":
    main()
