"""Faults: `faults.py WHAT…` in a job of 3. All ranks get an exception, of one sentence that says what happened, within
seconds; none hangs, and no thread of ours is left once the group is destroyed.

    bad       what cannot be served is refused before anything is sent, and the group goes on
    options   options that are wrong, or a torus of another size
    shapes    the ranks' tensors differ
    types     they are as long, but of another type; then of the same, for another operation
    absent    rank 2 does not call for longer than the timeout
    first     likewise, the first call of its kind, of which rank 0 tells the others
    limit     a shorter timeout of one wait
    missing   monitored_barrier names who did not come
    left      a group is destroyed while something is under way
    callback  a future's callback calls collectives, another waits for a future, another lets go of its own group
    inference tensors of torch.inference_mode, and results that are made there
    longest   the longest timeout that Python knows
    half      ranks with other options of half: rank 0's hold
    crossed   groups are destroyed in another order on each rank
    forked    a child of each rank uses the group, and ends
    unmet     rank 2 does not make the group, after which its PyTorch counts groups otherwise: the last of a job
    raises    rank 2 dies of an exception
    killed    rank 2 is killed amid collectives
    late      a program that ends without destroying its group, ranks one after another
    amid      a program that ends while a callback destroys its group"""

import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

import trivance.torch

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
TIMEOUT = 3.0
store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), RANKS, RANK == 0, datetime.timedelta(seconds=60))
begun = []


def ours():
    return [at for at in os.listdir("/proc/self/task") if "trivance" in open(f"/proc/self/task/{at}/comm").read()]


def meet():
    """Timeouts begin when all are there."""
    begun.append(len(begun))
    store.add(f"met {begun}", 1)
    while store.add(f"met {begun}", 0) < RANKS:
        time.sleep(0.01)


def begin(seconds=TIMEOUT, **more):
    meet()
    init(seconds, **more)
    assert ours()


def init(seconds, **more):
    dist.init_process_group("trivance", store=dist.PrefixStore(str(begun), store), rank=RANK, world_size=RANKS,
                            timeout=datetime.timedelta(seconds=seconds), **more)


def fails(call, *words, kind=RuntimeError, within=TIMEOUT + 5):
    """The call ends in time, in an exception of one sentence with one of the words."""
    start = time.monotonic()
    try:
        call()
    except kind as error:
        sentence = str(error)
        assert "\n" not in sentence and any(word in sentence for word in words), f"another sentence: {sentence}"
        assert time.monotonic() - start < within, f"it took {time.monotonic() - start:.1f} s"
        print(f"rank {RANK}: {sentence}", file=sys.stderr)
        return
    raise AssertionError(f"rank {RANK} did not fail")


def again(tensor, rounds=1000000):
    """AllReduces until one fails."""
    end = time.monotonic() + 20
    for _ in range(rounds):
        dist.all_reduce(tensor)
        if time.monotonic() > end:
            return


def unmet():
    meet()
    if RANK < 2:
        fails(lambda: init(1), "rank 2 did not come to the store within 1 s")
    if RANK == 0:
        time.sleep(2)  # it is the store's host, and rank 1 may have begun to wait a moment later


def bad():
    begin()
    one = torch.ones(4)
    fails(lambda: dist.all_reduce(one.to_sparse()), "sparse tensors are not served", kind=ValueError)
    fails(lambda: dist.all_reduce(one, dist.ReduceOp.BAND), "BAND is not defined on Float", kind=ValueError)
    fails(lambda: dist.broadcast(torch.quantize_per_tensor(one, 1, 0, torch.qint8), 0), "quantized", kind=ValueError)
    fails(lambda: dist.all_gather([one], one), "a list of 3 tensors", kind=ValueError)
    fails(lambda: dist.reduce_scatter_tensor(one, one), "3 times its elements", kind=ValueError)
    fails(lambda: dist.all_to_all_single(one, one), "not a multiple of the 3 ranks", kind=ValueError)
    fails(lambda: dist.send(one, (RANK + 1) % 3, tag=1 << 30), "tags are 0 … ", kind=ValueError)
    fails(lambda: dist.recv(one), "say the source", kind=ValueError)
    dist.all_reduce(one)
    assert one.tolist() == [3] * 4


def options():
    def start(**more):
        begin(pg_options=trivance.torch.Options(**more))

    fails(lambda: begin(pg_options=7), "takes trivance.torch.Options", kind=TypeError)
    fails(lambda: start(half="quarter"), '"wide" or "narrow"', kind=ValueError)
    fails(lambda: start(torus=3), "is a text", kind=TypeError)
    fails(lambda: start(torus="2x2"), "2x2", kind=(ValueError, RuntimeError))
    fails(lambda: start(provider="pigeons"), "pigeons", kind=(ValueError, RuntimeError))


def shapes():
    begin()
    fails(lambda: again(torch.ones(30001 if RANK == 2 else 30000)), "rank", "took longer than")


def types():
    begin()
    fails(lambda: dist.all_reduce(torch.ones(4, dtype=torch.float32 if RANK else torch.int32)),
          "calls AllReduce of float with sum where rank 0 calls AllReduce of int32 with sum")
    dist.destroy_process_group()
    begin()
    fails(lambda: dist.all_reduce(torch.ones(4), dist.ReduceOp.SUM if RANK else dist.ReduceOp.MAX), "float with max")


def absent():
    begin()
    dist.all_reduce(torch.ones(3))
    if RANK == 2:
        time.sleep(TIMEOUT + 1)
    fails(lambda: dist.all_reduce(torch.ones(3)), "took longer than 3 s")


def first():
    begin()
    if RANK == 2:
        time.sleep(TIMEOUT + 1)
    fails(lambda: dist.all_reduce(torch.ones(3)), "it waits for rank 2", "waits for ranks 0, 2", "waits for ranks 2",
          "it waits for rank 0")  # which began so much later that this rank's time was over first


def limit():
    begin(60)
    dist.barrier()
    if RANK < 2:
        work = dist.all_reduce(torch.ones(3), async_op=True)
        fails(lambda: work.wait(datetime.timedelta(seconds=1)), "all_reduce took longer than 1 s")
        assert work.is_completed() and not work.is_success()
    else:
        fails(lambda: (time.sleep(2), dist.all_reduce(torch.ones(3))), "took longer than 1 s")


def missing():
    begin(60)
    seconds = datetime.timedelta(seconds=1)
    trivance.torch.monitored_barrier(timeout=seconds)
    if RANK > 0:
        time.sleep(2)
    fails(lambda: trivance.torch.monitored_barrier(timeout=seconds, wait_all_ranks=True),
          "rank 1, 2 did not come within 1 s")


def left():
    begin(60)
    tensor = torch.ones(3)
    work = dist.irecv(tensor, (RANK + 1) % 3)
    future = dist.all_reduce(torch.ones(5), async_op=True).get_future() if RANK > 0 else None
    store.add("begun", 1)
    while store.add("begun", 0) < RANKS:
        time.sleep(0.01)
    dist.destroy_process_group()
    fails(work.wait, "left while", "rank")
    if future is not None:
        fails(future.wait, "left while", "rank")


def callback():
    begin(60)
    other, gone = dist.new_group(range(RANKS)), dist.new_group(range(RANKS))

    def reduce_again(future):
        tensor = future.value()[0][0] * torch.ones(3)
        for group in (dist.group.WORLD, other):
            dist.all_reduce(tensor, group=group)
        return tensor

    def leave(future):
        dist.destroy_process_group(gone)

    for _ in range(10):
        future = dist.all_reduce(torch.ones(5), async_op=True).get_future().then(reduce_again)
        assert future.wait().tolist() == [RANKS ** 3] * 3
        begun_in_callback = []

        def wait_again(future):
            inner = dist.all_reduce(torch.ones(7), group=other, async_op=True).get_future()
            begun_in_callback.append(dist.all_reduce(torch.ones(2), group=other, async_op=True).get_future())
            return inner.wait()[0].tolist()

        assert dist.all_reduce(torch.ones(5), group=other, async_op=True).get_future().then(wait_again).wait() == [RANKS] * 7
        assert begun_in_callback[0].wait()[0].tolist() == [RANKS] * 2
    # Of two groups, since a callback's call is in no order with those of the main thread.
    waiting = [dist.all_reduce(torch.ones(1), async_op=True).get_future().then(
        lambda future: dist.all_reduce(future.value()[0], group=other, async_op=True).get_future().wait()[0]) for _ in range(80)]
    assert all(future.wait().tolist() == [RANKS ** 2] for future in waiting)
    dist.all_reduce(torch.ones(5), group=gone, async_op=True).get_future().then(leave).wait()
    dist.all_reduce(torch.ones(5), group=other)


def inference():
    begin()
    for dtype in (torch.float32, torch.float16):
        before = torch.ones(6, dtype=dtype)
        with torch.inference_mode():
            within = torch.ones(6, dtype=dtype)
            for tensor in (before, within, within[::2], before[::2]):
                future = dist.all_reduce(tensor, dist.ReduceOp.AVG, async_op=True).get_future()
                assert future.wait()[0].tolist() == [1] * len(tensor)
        for tensor in (before, within, within[::2]):
            future = dist.all_reduce(tensor, dist.ReduceOp.AVG, async_op=True).get_future()
            time.sleep(0.01)
            assert future.wait()[0].tolist() == [1] * len(tensor)


def longest():
    begin((datetime.timedelta.max - datetime.timedelta(days=1)).total_seconds())
    work = dist.all_reduce(torch.ones(3), async_op=True)
    assert work.wait(datetime.timedelta.max)
    trivance.torch.monitored_barrier(timeout=datetime.timedelta.max)


def half():
    begin(pg_options=trivance.torch.Options(half="narrow" if RANK == 1 else "wide"))
    tensor = torch.ones(3, dtype=torch.float16)
    dist.all_reduce(tensor)
    assert tensor.tolist() == [RANKS] * 3


def crossed():
    begin(60)
    groups = [dist.new_group(range(RANKS)) for _ in range(RANKS)]
    start = time.monotonic()
    for i in range(RANKS):
        dist.destroy_process_group(groups[(i + RANK) % RANKS])
        groups[(i + RANK) % RANKS] = None  # the last reference
    assert time.monotonic() - start < 10, f"it took {time.monotonic() - start:.1f} s"


def forked():
    begin(60)
    work = dist.irecv(torch.empty(3), (RANK + 1) % 3)
    child = os.fork()
    if child == 0:
        for call in (work.wait, work.is_completed, dist.barrier, trivance.torch.monitored_barrier):
            fails(call, "this process was forked")
        trivance.torch._close()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, "the child ended otherwise"
    dist.send(torch.ones(3), (RANK - 1) % 3)
    work.wait()


def raises():
    begin(60)
    if RANK == 2:
        again(torch.ones(3), 20)
        print("rank 2: what follows is meant", file=sys.stderr)
        raise KeyError("rank 2 dies of this")
    fails(lambda: again(torch.ones(3)), "rank 2")


def killed():
    begin(60)
    if RANK == 2:
        again(torch.ones(100000), 20)
        os.kill(os.getpid(), signal.SIGKILL)
    work = dist.irecv(torch.ones(3), 2, tag=1)
    fails(lambda: again(torch.ones(100000)), "rank 2")
    fails(work.wait, "rank 2")
    fails(lambda: dist.barrier(), "rank 2")


def amid():
    begin(60)
    work = dist.all_reduce(torch.ones(5), async_op=True)
    if RANK > 0:
        work.wait()
        time.sleep(3)
        sys.exit(0)
    work.get_future().then(lambda future: dist.destroy_process_group())
    del work
    time.sleep(0.3)
    sys.exit(0)


def late():
    begin(60)
    dist.all_reduce(torch.ones(3))
    time.sleep(0.3 * RANK)
    sys.exit(0)


for what in sys.argv[1:]:
    start = time.monotonic()
    globals()[what]()
    if dist.is_initialized():
        dist.destroy_process_group()
    end = time.monotonic() + 5
    while ours() and time.monotonic() < end:  # a thread that a callback has left by ends on its own
        time.sleep(0.01)
    assert not ours(), f"{what}: {len(ours())} threads are left"
    print(f"rank {RANK}: {what} took {time.monotonic() - start:.1f} s", file=sys.stderr)
