"""A job and groups of it on hosts whose addresses others do not all reach: the first rank of a group is on either
host."""

import torch
import torch.distributed as dist

import trivance.torch  # noqa: F401, registers the backend

dist.init_process_group("trivance")
RANKS = dist.get_world_size()
for ranks in (range(RANKS), range(1, RANKS), range(RANKS - 1, RANKS - 3, -1)):
    group = dist.new_group(list(ranks))
    if dist.get_rank() in ranks:
        total = torch.tensor(dist.get_rank())
        dist.all_reduce(total, group=group)
        assert total == sum(ranks), f"the sum of {list(ranks)} is {total}"
dist.barrier()  # rank 0 serves the store of PyTorch until no rank needs it
dist.destroy_process_group()
