"""mpi4py: objects and buffers, in place, sub-communicators. The output must be the same with a preload library."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()

total = array("d", [0.0]) * 100
world.Allreduce(array("d", [rank + i for i in range(100)]), total)
assert list(total) == [size * (size - 1) / 2 + i * size for i in range(100)]

here = array("i", [rank])
world.Allreduce(MPI.IN_PLACE, here, op=MPI.MAX)
assert here[0] == size - 1

gathered = array("i", [0]) * size
world.Allgather(array("i", [rank]), gathered)
assert list(gathered) == list(range(size))

part = array("i", [0])
world.Reduce_scatter_block(array("i", range(size)), part)
assert part[0] == rank * size

added = world.allreduce({"rank": rank}, op=lambda a, b: {"rank": a["rank"] + b["rank"]})
assert added == {"rank": size * (size - 1) / 2}
assert world.allgather(("object", rank)) == [("object", r) for r in range(size)]

concat = MPI.Op.Create(lambda a, b, t: None, commute=False)
concat.Free()

row = world.Split(rank % 2, rank)
assert row.allreduce(1) == row.Get_size()
row.Free()

request = world.Iallreduce(MPI.IN_PLACE, total)
request.Wait()
world.Barrier()
if rank == 0:
    print("mpi4py:", total[0], total[99])
