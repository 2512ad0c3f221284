"""Faults: `faults.py FAULT…` in a job of 3 ranks. All ranks must raise an exception within seconds, with one sentence
that describes the fault; none may hang, and no thread of the backend may be left after the group is destroyed.

    bad           invalid calls are rejected before anything is sent, and the group remains usable
    options       invalid options, or a torus of another size
    shapes        the ranks' tensors have different sizes
    types         the tensors have the same length but another type; then the same type but another operation
    absent        rank 2 makes no call for longer than the timeout
    first         likewise, in the first call with a signature, whose decision rank 0 broadcasts
    limit         a shorter timeout of one wait
    missing       monitored_barrier reports the missing ranks
    left          a group is destroyed while an operation is active
    callback      a future's callback calls collectives, another waits for a future, another releases its own group
    inference     tensors of torch.inference_mode, and results that are created there
    longest       the longest timeout that Python can express
    half          ranks with different values of the option half: that of rank 0 applies
    crossed       groups are destroyed in another order on each rank
    forked        a child of each rank uses the group, and exits
    not_connected rank 2 does not create the group, after which its PyTorch counts groups differently: the last of a job
    raises        rank 2 exits with an exception
    killed        rank 2 is killed during collectives
    late          a program that exits without destroying its group, one rank after another
    exit_in_callback
                  a program that exits while a callback destroys its group"""

import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

import trivance.torch
from backend_threads import backend_threads

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
TIMEOUT = 3.0
store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), RANKS, RANK == 0, datetime.timedelta(seconds=60))
begun = []


def synchronize():
    """Waits for all ranks, so that timeouts begin at the same time."""
    begun.append(len(begun))
    store.add(f"begun {begun}", 1)
    while store.add(f"begun {begun}", 0) < RANKS:
        time.sleep(0.01)


def begin(seconds=TIMEOUT, **more):
    synchronize()
    init(seconds, **more)
    assert backend_threads()


def init(seconds, **more):
    dist.init_process_group("trivance", store=dist.PrefixStore(str(begun), store), rank=RANK, world_size=RANKS,
                            timeout=datetime.timedelta(seconds=seconds), **more)


def fails(call, *words, kind=RuntimeError, within=TIMEOUT + 5):
    """Expects an exception in time, with one sentence that contains one of the words."""
    start = time.monotonic()
    try:
        call()
    except kind as error:
        sentence = str(error)
        assert "\n" not in sentence and any(word in sentence for word in words), f"unexpected message: {sentence}"
        assert time.monotonic() - start < within, f"it took {time.monotonic() - start:.1f} s"
        print(f"rank {RANK}: {sentence}", file=sys.stderr)
        return
    raise AssertionError(f"rank {RANK} did not fail")


def reduce_repeatedly(tensor, rounds=1000000):
    """Calls AllReduce until a call fails."""
    end = time.monotonic() + 20
    for _ in range(rounds):
        dist.all_reduce(tensor)
        if time.monotonic() > end:
            return


def not_connected():
    synchronize()
    if RANK < 2:
        fails(lambda: init(1), "rank 2 did not connect to the store within 1 s")
    if RANK == 0:
        time.sleep(2)  # it hosts the store, and rank 1 may have begun to wait later


def bad():
    begin()
    one = torch.ones(4)
    fails(lambda: dist.all_reduce(one.to_sparse()), "sparse tensors are not supported", kind=ValueError)
    fails(lambda: dist.all_reduce(one, dist.ReduceOp.BAND), "BAND is not defined on Float", kind=ValueError)
    fails(lambda: dist.broadcast(torch.quantize_per_tensor(one, 1, 0, torch.qint8), 0), "quantized", kind=ValueError)
    fails(lambda: dist.all_gather([one], one), "a list of 3 tensors", kind=ValueError)
    fails(lambda: dist.reduce_scatter_tensor(one, one), "3 times its elements", kind=ValueError)
    fails(lambda: dist.all_to_all_single(one, one), "not a multiple of the 3 ranks", kind=ValueError)
    fails(lambda: dist.send(one, (RANK + 1) % 3, tag=1 << 30), "expected a tag of 0 … ", kind=ValueError)
    fails(lambda: dist.recv(one), "specify the source", kind=ValueError)
    dist.all_reduce(one)
    assert one.tolist() == [3] * 4


def options():
    def start(**more):
        begin(pg_options=trivance.torch.Options(**more))

    fails(lambda: begin(pg_options=7), "must be trivance.torch.Options", kind=TypeError)
    fails(lambda: start(half="quarter"), '"wide" or "narrow"', kind=ValueError)
    fails(lambda: start(torus=3), "must be a string", kind=TypeError)
    fails(lambda: start(torus="2x2"), "2x2", kind=(ValueError, RuntimeError))
    fails(lambda: start(provider="pigeons"), "pigeons", kind=(ValueError, RuntimeError))


def shapes():
    begin()
    fails(lambda: reduce_repeatedly(torch.ones(30001 if RANK == 2 else 30000)), "rank", "took longer than")


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
          "it waits for rank 0")  # if that rank began so late that this rank timed out first


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
          "rank 1, 2 did not enter the barrier within 1 s")


def left():
    begin(60)
    tensor = torch.ones(3)
    work = dist.irecv(tensor, (RANK + 1) % 3)
    future = dist.all_reduce(torch.ones(5), async_op=True).get_future() if RANK > 0 else None
    store.add("begun", 1)
    while store.add("begun", 0) < RANKS:
        time.sleep(0.01)
    dist.destroy_process_group()
    fails(work.wait, "destroyed the group while", "rank")
    if future is not None:
        fails(future.wait, "destroyed the group while", "rank")


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

        assert dist.all_reduce(torch.ones(5), group=other,
                               async_op=True).get_future().then(wait_again).wait() == [RANKS] * 7
        assert begun_in_callback[0].wait()[0].tolist() == [RANKS] * 2
    # In two groups, because the calls of a callback and of the main thread are not ordered.
    waiting = [dist.all_reduce(torch.ones(1), async_op=True).get_future().then(
        lambda future: dist.all_reduce(future.value()[0], group=other, async_op=True).get_future().wait()[0])
               for _ in range(80)]
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
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, "unexpected exit status of the child"
    dist.send(torch.ones(3), (RANK - 1) % 3)
    work.wait()


def raises():
    begin(60)
    if RANK == 2:
        reduce_repeatedly(torch.ones(3), 20)
        print("rank 2: the following exception is intended", file=sys.stderr)
        raise KeyError("intended exception of rank 2")
    fails(lambda: reduce_repeatedly(torch.ones(3)), "rank 2")


def killed():
    begin(60)
    if RANK == 2:
        reduce_repeatedly(torch.ones(100000), 20)
        os.kill(os.getpid(), signal.SIGKILL)
    work = dist.irecv(torch.ones(3), 2, tag=1)
    fails(lambda: reduce_repeatedly(torch.ones(100000)), "rank 2")
    fails(work.wait, "rank 2")
    fails(lambda: dist.barrier(), "rank 2")


def exit_in_callback():
    begin(60)
    work = dist.all_reduce(torch.ones(5), async_op=True)
    if RANK > 0:
        try:
            work.wait()
        except RuntimeError as error:  # rank 0 can end before the sum of this rank is complete
            assert "rank 0 has aborted" in str(error), error
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


for fault in sys.argv[1:]:
    start = time.monotonic()
    globals()[fault]()
    if dist.is_initialized():
        dist.destroy_process_group()
    end = time.monotonic() + 5
    # a thread from which a callback closed its group ends by itself
    while backend_threads() and time.monotonic() < end:
        time.sleep(0.01)
    assert not backend_threads(), f"{fault}: {len(backend_threads())} threads are left"
    print(f"rank {RANK}: {fault} took {time.monotonic() - start:.1f} s", file=sys.stderr)
