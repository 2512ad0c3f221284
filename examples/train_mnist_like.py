#!/usr/bin/env python3
"""Trains a small convolutional network on generated pictures of digits, with DistributedDataParallel over Trivance:

    python3 -m torch.distributed.run --standalone --nproc_per_node 2 train_mnist_like.py
    mpirun -n 2 python3 train_mnist_like.py

All ranks have bitwise identical parameters after every step, and repeated runs print the same numbers: the loss, and a
checksum of the parameters' bits. `--backend gloo` is for comparison."""

import argparse
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import trivance.torch  # noqa: F401 (registers the backend)


def pictures(count: int, seed: int):
    """Pictures of ten shapes, 28 x 28, each moved and with added noise, and their class numbers."""
    shapes = torch.rand(10, 7, 7, generator=torch.Generator().manual_seed(0)).round()
    shapes = nn.functional.interpolate(shapes[:, None], scale_factor=3)  # 21 x 21
    maker = torch.Generator().manual_seed(seed)
    digits = torch.randint(10, (count,), generator=maker)
    moved = torch.randint(8, (count, 2), generator=maker)
    made = 0.3 * torch.randn(count, 1, 28, 28, generator=maker)
    for picture, digit, (down, right) in zip(made, digits, moved.tolist()):
        picture[0, down:down + 21, right:right + 21] += shapes[digit, 0]
    return made, digits


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(32 * 6 * 6, 64), nn.ReLU(), nn.Linear(64, 10))


def bits(model: nn.Module) -> str:
    """A checksum of the bits of all parameters."""
    return f"{zlib.crc32(b''.join(at.detach().numpy().tobytes() for at in model.parameters())):08x}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains on generated digits with DistributedDataParallel.")
    parser.add_argument("--backend", default="trivance")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64, help="pictures of all ranks in a step")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group(arguments.backend)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    own = arguments.batch // ranks
    x, y = pictures(own * arguments.steps, seed=100 + rank)
    for step in range(arguments.steps):
        part = slice(step * own, (step + 1) * own)
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach()
        dist.all_reduce(mean)
        if rank == 0 and (step % 10 == 9 or step == 0):
            print(f"step {step + 1:3}: loss {mean.item() / ranks:.6f}")
    every = [None] * ranks
    dist.all_gather_object(every, bits(model))
    x, y = pictures(500, seed=99)
    with torch.no_grad():
        right = (model.module(x).argmax(1) == y).float().mean().item()
    if rank == 0:
        print(f"{right:.1%} of new pictures are read right; the parameters of rank 0 are {every[0]}")
        print("all ranks have the same bits" if len(set(every)) == 1 else f"the ranks differ: {every}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
