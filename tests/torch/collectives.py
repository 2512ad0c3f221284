"""Random cases of every collective: type, operation, shape (strided, empty, without dimensions), synchronous or not.

The reference is computed with gloo: it gathers the inputs of all ranks, which are reduced here in a wider type; gloo's
own result is compared, too, if gloo supports the operation on the type. Integers must be equal, floating-point results
must be within the error bound of the sum, and the results of all ranks must be bitwise identical.

The 9 ranks form jobs of 1 and 8 ranks at the same time, then of 2 and 7, …, then one of 9, in which groups of other
sizes, and overlapping ones, run collectives concurrently."""

import datetime
import os
import random
import sys

import torch
import torch.distributed as dist

import trivance.torch
from backend_threads import backend_threads

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 60
OP = dist.ReduceOp
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
HALVES = (torch.float16, torch.bfloat16)
REALS = (*HALVES, torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
ALL = (torch.bool, *INTEGERS, *REALS, *COMPLEX)
OPS = {"SUM": ALL, "AVG": INTEGERS + REALS + COMPLEX, "MIN": (torch.bool, *INTEGERS, *REALS),
       "MAX": (torch.bool, *INTEGERS, *REALS), "PRODUCT": (torch.bool, *INTEGERS, *REALS),
       "BAND": (torch.bool, *INTEGERS), "BOR": (torch.bool, *INTEGERS), "BXOR": (torch.bool, *INTEGERS)}
GLOO_TYPES = (torch.uint8, torch.int8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
BOUNDS = {torch.float16: 2 ** -10, torch.bfloat16: 2 ** -7, torch.float32: 2 ** -22, torch.float64: 2 ** -51,
          torch.complex64: 2 ** -21, torch.complex128: 2 ** -50}
SHAPES = ((), (0,), (1,), (7,), (3, 4), (2, 0, 5), (33, 9), (5, 2, 3), (1000,), (20011,))


class World:
    """A group of the backend trivance, and a gloo group of the same ranks."""

    def __init__(self, ours, gloo, rank, size):
        self.ours, self.gloo, self.rank, self.size = ours, gloo, rank, size

    def gather_inputs(self, tensor):
        """Returns the tensors of all ranks, gathered by gloo as bytes."""
        flat = torch.empty(tensor.numel(), dtype=tensor.dtype).copy_(tensor.detach().reshape(-1))
        if flat.numel() == 0:
            return [tensor.clone() for _ in range(self.size)]
        raw = flat.view(torch.uint8) if flat.dtype != torch.bool else flat.to(torch.uint8)
        got = [torch.empty_like(raw) for _ in range(self.size)]
        dist.all_gather(got, raw, group=self.gloo)
        return [(at.view(tensor.dtype) if tensor.dtype != torch.bool else at.bool()).reshape(tensor.shape)
                for at in got]


def values(draw, dtype, shape):
    """Returns a tensor with other values on each rank, in a random layout. The values are small, so that a product of 9
    does not overflow."""
    layout = draw.choice(("plain", "plain", "transposed", "strided", "offset"))
    wide = list(shape)
    if layout == "strided" and wide:
        wide[-1] *= 3
    maker = torch.Generator().manual_seed(draw.randrange(1 << 30) + 7919 * RANK)
    if dtype == torch.bool:
        made = torch.rand(wide, generator=maker) < 0.7
    elif dtype in INTEGERS:
        made = torch.randint(0, 255, wide, generator=maker).to(dtype)
    elif dtype in COMPLEX:
        made = torch.randn(wide, generator=maker, dtype=dtype)
    else:
        made = (torch.rand(wide, generator=maker, dtype=torch.float64) * 2 - 0.7).to(dtype)
    if layout == "strided" and wide:
        made = made[..., ::3]
    elif layout == "transposed" and len(wide) > 1:
        made = made.transpose(0, 1).contiguous().transpose(0, 1)
    elif layout == "offset":
        made = torch.cat((made.reshape(-1)[:1], made.reshape(-1)))[1 if made.numel() else 0:].view(made.shape)
    return made


def reduce_here(name, inputs):
    dtype = inputs[0].dtype
    if dtype == torch.bool:
        every = torch.stack(inputs)
        return {"SUM": every.any(0), "MAX": every.any(0), "BOR": every.any(0), "PRODUCT": every.all(0),
                "MIN": every.all(0), "BAND": every.all(0), "BXOR": every.sum(0) % 2 == 1}[name]
    wide = torch.complex128 if dtype in COMPLEX else torch.float64 if dtype in REALS else torch.int64
    result = inputs[0].to(wide)
    for at in inputs[1:]:
        at = at.to(wide)
        result = {"SUM": result.add, "AVG": result.add, "PRODUCT": result.mul, "MIN": result.minimum,
                  "MAX": result.maximum, "BAND": result.bitwise_and, "BOR": result.bitwise_or,
                  "BXOR": result.bitwise_xor}[name](at)
    if name == "AVG" and dtype in INTEGERS:
        result = result.to(dtype).to(wide).div(len(inputs), rounding_mode="trunc")
    elif name == "AVG":
        result = result / len(inputs)
    return result if dtype in REALS + COMPLEX else result.to(dtype)


def compare(what, name, inputs, got, expected, bound=1):
    dtype = got.dtype
    assert got.shape == expected.shape, f"{what}: the shape is {tuple(got.shape)}"
    if dtype not in BOUNDS:
        assert torch.equal(got, expected), f"{what}: {got} instead of {expected}"
        return
    expected = expected.to(torch.complex128 if dtype in COMPLEX else torch.float64)
    scale = sum(at.abs().to(torch.float64) for at in inputs) if name in ("SUM", "AVG") else expected.abs()
    steps = 1 if dtype in HALVES else len(inputs)  # half and bfloat16 are summed in float and rounded once
    smallest = {torch.float16: 2 ** -24}.get(dtype, 0)
    error = (got.to(expected.dtype) - expected).abs()
    if dtype in HALVES:
        scale = expected.abs() + scale * 2 ** -10 * BOUNDS[dtype]
    assert bool((error <= bound * steps * BOUNDS[dtype] * scale + smallest).all()), \
        f"{what}: off by {error.max().item()}"


def same_bits(what, world, got):
    every = world.gather_inputs(got)
    assert len({bytes(at.reshape(-1).view(torch.uint8).numpy()) if at.dtype != torch.bool else bytes(at.numpy())
                for at in every if at.numel() > 1}) < 2, f"{what}: the results of the ranks differ"


def run(draw, call):
    """Starts the call and waits in one of the possible ways."""
    work = call(True)
    way = draw.randrange(4)
    if not hasattr(work, "get_future"):  # all_reduce_coalesced returns the future itself
        work.wait()
    elif way == 0:
        work.wait()
    elif way == 1:
        work.get_future().wait()
    elif way == 2:
        while not work.is_completed():
            pass
        assert work.is_success()
    else:
        work.wait(datetime.timedelta(seconds=30))


# ---- Cases -----------------------------------------------------------------------------------------------------------
def pick(draw):
    name = draw.choice(list(OPS))
    return name, draw.choice(OPS[name]), draw.choice(SHAPES)


def raw(world, call, tensors, name):
    """Calls the group directly, because all_reduce rejects some operations on complex numbers that the group
    supports."""
    options = dist.AllreduceOptions()
    options.reduceOp = getattr(OP, name)
    return call(tensors, options)


def all_reduce(draw, world):
    name, dtype, shape = pick(draw)
    tensor = values(draw, dtype, shape)
    what = f"all_reduce {name} {dtype} {shape} of {world.size}"
    inputs = world.gather_inputs(tensor)
    ours = tensor
    run(draw, lambda later: dist.all_reduce(ours, getattr(OP, name), group=world.ours, async_op=later))
    compare(what, name, inputs, ours, reduce_here(name, inputs))
    same_bits(what, world, ours)
    if dtype in GLOO_TYPES and name != "AVG" and not (dtype in REALS and name[0] == "B") and tensor.numel():
        theirs = inputs[world.rank].clone()
        dist.all_reduce(theirs, getattr(OP, name), group=world.gloo)
        compare(what + " beside gloo", name, inputs, ours, theirs, bound=2 * world.size)


def all_reduce_coalesced(draw, world):
    name, dtype, _ = pick(draw)
    tensors = [values(draw, dtype, draw.choice(SHAPES)) for _ in range(draw.randrange(1, 5))]
    every = [world.gather_inputs(tensor) for tensor in tensors]
    run(draw, lambda later: dist.all_reduce_coalesced(tensors, getattr(OP, name), group=world.ours, async_op=later))
    for tensor, inputs in zip(tensors, every):
        compare(f"all_reduce_coalesced {name} {dtype}", name, inputs, tensor, reduce_here(name, inputs))


def reduce(draw, world):
    name, dtype, shape = pick(draw)
    tensor, root = values(draw, dtype, shape), draw.randrange(world.size)
    inputs, ours = world.gather_inputs(tensor), tensor
    run(draw, lambda later: dist.reduce(ours, ranks_of(world)[root], getattr(OP, name), world.ours, async_op=later))
    expected = reduce_here(name, inputs) if world.rank == root else inputs[world.rank]
    compare(f"reduce {name} {dtype} {shape}", name, inputs, ours, expected)


def reduce_scatter(draw, world):
    name, dtype, shape = pick(draw)
    parts = [values(draw, dtype, shape) for _ in range(world.size)]
    every = [world.gather_inputs(part) for part in parts]
    output = torch.empty_like(parts[0])
    what = f"reduce_scatter {name} {dtype} {shape} of {world.size}"
    op = getattr(OP, name)
    if draw.random() < 0.5:
        run(draw, lambda later: dist.reduce_scatter(output, parts, op, group=world.ours, async_op=later))
    else:
        whole = torch.stack([part.contiguous() for part in parts])
        if draw.random() < 0.3 and whole.numel():
            output = whole[world.rank]  # as in sharded models
        run(draw, lambda later: dist.reduce_scatter_tensor(output, whole, op, group=world.ours, async_op=later))
    compare(what, name, every[world.rank], output, reduce_here(name, every[world.rank]))


def all_gather(draw, world):
    dtype, shape = draw.choice(ALL), draw.choice(SHAPES)
    tensor = values(draw, dtype, shape)
    inputs = world.gather_inputs(tensor)
    got = [values(draw, dtype, shape) for _ in inputs]
    form = draw.randrange(3)
    if form == 0:
        run(draw, lambda later: dist.all_gather(got, tensor, group=world.ours, async_op=later))
    elif form == 1:
        whole = torch.empty((world.size, *shape), dtype=dtype)
        if draw.random() < 0.5:
            tensor = whole[world.rank].copy_(tensor)
        run(draw, lambda later: dist.all_gather_into_tensor(whole, tensor, group=world.ours, async_op=later))
        got = list(whole)
    else:
        other = values(draw, dtype, (3,))
        others = [torch.empty(3, dtype=dtype) for _ in inputs]
        expected = world.gather_inputs(other)
        lists = [[at, more] for at, more in zip(got, others)]
        run(draw, lambda later: dist.all_gather_coalesced(lists, [tensor, other], group=world.ours, async_op=later))
        assert all(map(torch.equal, others, expected)), "all_gather_coalesced: the second tensor"
    assert all(map(torch.equal, got, inputs)), f"all_gather {dtype} {shape}, form {form}"


def different_sizes(draw, world):
    """all_gather and reduce_scatter of tensors whose sizes differ between ranks; some are empty."""
    name, dtype, _ = pick(draw)
    lengths = [draw.choice((0, 1, 5, 300, 4001)) for _ in range(world.size)]
    tensor = values(draw, dtype, (max(lengths), 2))
    inputs = world.gather_inputs(tensor)
    got = [torch.empty((length, 2), dtype=dtype) for length in lengths]
    mine = tensor[:lengths[world.rank]]
    run(draw, lambda later: dist.all_gather(got, mine, group=world.ours, async_op=later))
    assert all(torch.equal(at, there[:length]) for at, there, length in zip(got, inputs, lengths)), \
        f"all_gather {dtype} {lengths}"
    parts = [tensor[:length] for length in lengths]
    output = torch.empty_like(parts[world.rank])
    run(draw, lambda later: dist.reduce_scatter(output, parts, getattr(OP, name), group=world.ours, async_op=later))
    inputs = [at[:lengths[world.rank]] for at in inputs]
    compare(f"reduce_scatter {name} {dtype} {lengths}", name, inputs, output, reduce_here(name, inputs))


def broadcast(draw, world):
    dtype, shape, root = draw.choice(ALL), draw.choice(SHAPES), draw.randrange(world.size)
    tensor = values(draw, dtype, shape)
    inputs = world.gather_inputs(tensor)
    run(draw, lambda later: dist.broadcast(tensor, ranks_of(world)[root], group=world.ours, async_op=later))
    assert torch.equal(tensor, inputs[root]), f"broadcast {dtype} {shape}"


def gather_and_scatter(draw, world):
    dtype, shape, root = draw.choice(ALL), draw.choice(SHAPES), draw.randrange(world.size)
    tensor = values(draw, dtype, shape)
    inputs, there = world.gather_inputs(tensor), ranks_of(world)[root]
    places = [values(draw, dtype, shape) for _ in inputs]  # on all ranks, so that all draw the same random numbers
    got = places if world.rank == root else None
    run(draw, lambda later: dist.gather(tensor, got, there, group=world.ours, async_op=later))
    assert got is None or all(map(torch.equal, got, inputs)), f"gather {dtype} {shape}"
    back = values(draw, dtype, shape)
    run(draw, lambda later: dist.scatter(back, got, there, group=world.ours, async_op=later))
    assert torch.equal(back, tensor), f"scatter {dtype} {shape}"


def all_to_all(draw, world):
    dtype, width = draw.choice(ALL), draw.randrange(4)
    sizes = [[draw.randrange(4) for _ in range(world.size)] for _ in range(world.size)]  # from, to
    mine, theirs = sizes[world.rank], [row[world.rank] for row in sizes]
    tensor = values(draw, dtype, (sum(mine), width))
    got = torch.empty((sum(theirs), width), dtype=dtype)
    if draw.random() < 0.5:
        run(draw, lambda later: dist.all_to_all_single(got, tensor, theirs, mine, group=world.ours, async_op=later))
    else:
        outputs = [torch.empty((size, width), dtype=dtype) for size in theirs]
        run(draw, lambda later: dist.all_to_all(outputs, list(tensor.split(mine)), group=world.ours, async_op=later))
        got = torch.cat(outputs)
    padded = torch.zeros((4 * world.size, 4), dtype=dtype)
    padded[:sum(mine), :width] = tensor
    starts = [sum(row[:world.rank]) for row in sizes]
    expected = [at[start:start + size, :width] for at, start, size in zip(world.gather_inputs(padded), starts, theirs)]
    assert torch.equal(got, torch.cat(expected)), f"all_to_all {dtype}"


def all_to_all_equal(draw, world):
    dtype, shape = draw.choice(ALL), draw.choice(SHAPES)
    tensor = values(draw, dtype, (world.size, *shape))
    inputs = world.gather_inputs(tensor)
    got = values(draw, dtype, (world.size, *shape))
    if draw.random() < 0.3:
        got = tensor
    run(draw, lambda later: dist.all_to_all_single(got, tensor, group=world.ours, async_op=later))
    expected = torch.stack([at[world.rank] for at in inputs])
    assert torch.equal(got, expected), f"all_to_all_single {dtype} {shape}"


def send_and_receive(draw, world):
    dtype, shape, tag = draw.choice(ALL), draw.choice(SHAPES), draw.randrange(5)
    tensor = values(draw, dtype, shape)
    inputs, ranks = world.gather_inputs(tensor), ranks_of(world)
    after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    got, second = values(draw, dtype, shape), torch.empty(3)
    work = [dist.isend(tensor, ranks[after], group=world.ours, tag=tag),
            dist.isend(torch.arange(3.), ranks[after], group=world.ours, tag=tag + 1),
            dist.irecv(second, ranks[before], group=world.ours, tag=tag + 1),
            dist.irecv(got, ranks[before], group=world.ours, tag=tag)]
    draw.shuffle(work)
    for at in work:
        at.wait()
    assert torch.equal(got, inputs[before]) and second.tolist() == [0, 1, 2], f"send {dtype} {shape}"


def at_once(draw, world):
    """Many active operations, which are waited for in another order."""
    tensors = [torch.full((draw.randrange(5000),), float(RANK + i)) for i in range(12)]
    inputs = [world.gather_inputs(tensor) for tensor in tensors]
    work = [dist.all_reduce(tensor, group=world.ours, async_op=True) for tensor in tensors]
    order = list(range(12))
    random.shuffle(order)
    for i in order:
        work[i].wait()
        compare("at once", "SUM", inputs[i], tensors[i], reduce_here("SUM", inputs[i]))


def barriers(draw, world):
    run(draw, lambda later: dist.barrier(group=world.ours, async_op=later))
    trivance.torch.monitored_barrier(world.ours)


KINDS = (all_reduce, all_reduce, all_reduce, all_reduce_coalesced, reduce, reduce_scatter, reduce_scatter, all_gather,
         all_gather, different_sizes, broadcast, gather_and_scatter, all_to_all, all_to_all_equal,
         send_and_receive, at_once, barriers)


# ---- Conjugate and negative bit --------------------------------------------------------------------------------------
FORMS = {"plain": lambda at: at, "conj": torch.conj, "neg": torch._neg_view,
         "conj neg": lambda at: torch._neg_view(at.conj())}


def with_bits(form, value):
    """Returns a tensor with the values of another one, whose memory has others if the form has bits."""
    return FORMS[form](FORMS[form](value).resolve_conj().resolve_neg().clone())


def calls_with_bits(group, rank, size):
    """Returns name, call, inputs, results before and after it. Calls the group directly, because functions of PyTorch
    1.13 view complex tensors as real ones, and refuse those with the conjugate bit."""
    piece = [[torch.tensor([complex(r + 1, i - 2), complex(-i, r)]) for i in range(size)] for r in range(size)]
    sent, received, mine = piece[rank], [row[rank] for row in piece], [row[0] for row in piece]
    none, parts = [torch.zeros(2, dtype=torch.complex64)] * size, [2] * size
    lists, root, after, before = none if rank == 0 else [], rank == 0, (rank + 1) % size, (rank - 1) % size

    def send_and_receive(i, o):
        work = [group.send(i, after, 0), group.recv(o, before, 0)]
        work[0].wait()
        return work[1]

    return [
        ("all_reduce", lambda i, o: group.allreduce(o, dist.AllreduceOptions()), [], [mine[rank]], [sum(mine)]),
        ("all_reduce_coalesced", lambda i, o: group.allreduce_coalesced(o), [], sent[:2],
         [sum(row[i] for row in piece) for i in range(2)]),
        ("reduce", lambda i, o: group.reduce(o, dist.ReduceOptions()), [], [mine[rank]],
         [sum(mine) if root else mine[rank]]),
        ("reduce_scatter", lambda i, o: group.reduce_scatter(o, [i]), sent, none[:1], [sum(received)]),
        ("reduce_scatter_tensor", lambda i, o: group._reduce_scatter_base(o[0], i[0]), [torch.cat(sent)], none[:1],
         [sum(received)]),
        ("all_gather", lambda i, o: group.allgather([o], i), [mine[rank]], none, mine),
        ("all_gather_into_tensor", lambda i, o: group._allgather_base(o[0], i[0]), [mine[rank]], [torch.cat(none)],
         [torch.cat(mine)]),
        ("all_gather_coalesced", lambda i, o: group.allgather_coalesced([[at] for at in o], i), [mine[rank]], none,
         mine),
        ("broadcast", lambda i, o: group.broadcast(o, dist.BroadcastOptions()), [], [mine[rank]], [mine[0]]),
        ("gather", lambda i, o: group.gather([o] if root else [], i, dist.GatherOptions()), [mine[rank]], lists,
         mine if root else []),
        ("scatter", lambda i, o: group.scatter(o, [i] if root else [], dist.ScatterOptions()), sent if root else [],
         none[:1], [piece[0][rank]]),
        ("all_to_all", lambda i, o: group.alltoall(o, i, dist.AllToAllOptions()), sent, none, received),
        ("all_to_all_single", lambda i, o: group.alltoall_base(o[0], i[0], [], []), [torch.cat(sent)],
         [torch.cat(none)], [torch.cat(received)]),
        ("all_to_all_single, sizes", lambda i, o: group.alltoall_base(o[0], i[0], parts, parts), [torch.cat(sent)],
         [torch.cat(none)], [torch.cat(received)]),
        ("send", send_and_receive, [mine[rank]], none[:1], [mine[before]]),
    ]


def bits(world):
    """Every collective, with every form of its inputs and of its results."""
    for name, call, inputs, results, expected in calls_with_bits(world.ours, world.rank, world.size):
        for form in FORMS:
            for other in FORMS:
                given, got = [with_bits(form, at) for at in inputs], [with_bits(other, at) for at in results]
                call(given, got).wait()
                assert all(map(torch.equal, got, expected)), f"{name}, {form} to {other}: {got} instead of {expected}"
                assert all(map(torch.equal, given, inputs)), f"{name}, {form} to {other}: the inputs have changed"
                assert all(at.is_conj() == ("conj" in other) and at.is_neg() == ("neg" in other) for at in got)


# ---- Jobs ------------------------------------------------------------------------------------------------------------
def ranks_of(world):
    return [dist.get_global_rank(world.ours, r) if world.ours is not dist.group.WORLD else r
            for r in range(world.size)]


def cases(world, count, seed):
    draw = random.Random(seed)
    for i in range(count):
        kind = KINDS[i % len(KINDS)] if i < len(KINDS) else draw.choice(KINDS)
        kind(draw, world)


def job(store, name, rank, size, count, with_groups):
    dist.init_process_group("trivance", store=dist.PrefixStore(name, store), rank=rank, world_size=size,
                            timeout=datetime.timedelta(seconds=40))
    gloo = dist.new_group(backend="gloo")
    cases(World(dist.group.WORLD, gloo, rank, size), count, size)
    if size in (2, RANKS):
        bits(World(dist.group.WORLD, gloo, rank, size))
    if with_groups:
        groups(rank, size, count)
    dist.barrier()
    dist.destroy_process_group()


def groups(rank, size, count):
    """Disjoint groups, each with its own order of calls; then two groups per rank at the same time."""
    parts = [range(0, size, 2), range(1, size, 2)]
    made = [(dist.new_group(part), dist.new_group(part, backend="gloo")) for part in parts]
    ours, gloo = made[rank % 2]
    cases(World(ours, gloo, rank // 2, len(parts[rank % 2])), count // 2, 100 + rank % 2)
    pairs = [dist.new_group([r, (r + 1) % size], pg_options=trivance.torch.Options(algorithm="ring"))
             for r in range(size)]
    mine = [pairs[rank], pairs[rank - 1]]
    tensors = [torch.full((1000,), float(rank)) for _ in mine]
    work = [dist.all_reduce(tensor, group=group, async_op=True) for tensor, group in zip(tensors, mine)]
    for at in work[::1 if rank % 2 else -1]:
        at.wait()
    for tensor, other in zip(tensors, ((rank + 1) % size, (rank - 1) % size)):
        assert tensor.eq(rank + other).all(), "overlapping groups"


def main():
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), RANKS, RANK == 0)
    for small in range(1, (RANKS + 1) // 2):
        mine, size = (RANK, small) if RANK < small else (RANK - small, RANKS - small)
        job(store, f"{small} {size}", mine, size, CASES // 2 if size > 1 else CASES // 4, False)
    job(store, "all", RANK, RANKS, CASES, RANKS > 2)
    left = backend_threads()
    assert not left, f"threads are left: {left}"
    store.add("over", 1)
    while RANK == 0 and store.add("over", 0) < RANKS:
        pass


main()
