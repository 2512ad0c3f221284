/*
 * The extension as a c10d::Backend, as PyTorch 2 uses it, in three processes without Python: the functions that only
 * PyTorch 2 calls, and some that both versions call. The tests with PyTorch 1.13 cover the rest of the same code.
 */
#include "alltoall.cpp"
#include "collectives.cpp"
#include "engine.cpp"
#include "group.cpp"
#include "tensors.cpp"

#include <iostream>

#include <sys/wait.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>

using trivance::Tensors;

// Stubs: without Python there is no GIL to release.
int Py_IsInitialized() { return 0; }
int PyGILState_Check() { return 0; }
PyThreadState *PyEval_SaveThread() { return nullptr; }
void PyEval_RestoreThread(PyThreadState *) {}

static constexpr int RANKS = 3;
static int failures;

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    std::cerr << what << "\n";
    failures++;
}

static at::Tensor of(std::vector<float> values) { return at::tensor(values); }

template <typename Call> static bool fails(const std::string &words, Call call)
{
    try {
        call();
    } catch (const std::exception &error) {
        if (std::string(error.what()).find(words) != std::string::npos)
            return true;
        std::cerr << "unexpected error message: " << error.what() << "\n";
    }
    return false;
}

static void coalesced_forms(c10d::Backend &group, int rank)
{
    const auto r = static_cast<float>(rank);
    Tensors parts = {of({r, r + 10}), at::full({1}, rank, at::kLong), at::empty({0})};
    at::Tensor strided = at::zeros({3, 2, 2});
    Tensors wholes = {strided.select(2, 0), at::zeros({3}, at::kLong), at::empty({0})};
    group.allgather_into_tensor_coalesced(wholes, parts)->wait();
    expect(wholes[0].equal(of({0, 10, 1, 11, 2, 12}).view({3, 2})),
           "the first output of all_gather_into_tensor_coalesced");
    expect(strided.select(2, 1).eq(0).all().item<bool>(),
           "the memory between the elements of a strided output has changed");
    expect(wholes[1].equal(at::arange(3)), "the second output of all_gather_into_tensor_coalesced");

    Tensors inputs = {at::arange(6, at::kFloat) * (r + 1), at::full({3}, r)},
            outputs = {at::empty({2}), at::empty({1})};
    c10d::ReduceScatterOptions options;
    options.reduceOp = c10d::ReduceOp::AVG;
    group.reduce_scatter_tensor_coalesced(outputs, inputs, options)->wait();
    expect(outputs[0].equal(of({4 * r, 4 * r + 2})), "the first output of reduce_scatter_tensor_coalesced");
    expect(outputs[1].equal(of({1})), "the second output of reduce_scatter_tensor_coalesced");

    Tensors small = {at::empty({1})}, none;
    expect(fails("3 times its elements", [&] { group.allgather_into_tensor_coalesced(small, small); }),
           "a wrong length");
    expect(fails("0 outputs", [&] { group.reduce_scatter_tensor_coalesced(none, small); }),
           "another number of outputs");
}

static void coalescing(c10d::Backend &group, int rank)
{
    Tensors sum = {of({1})}, got = {at::zeros({1})}, mine = {at::full({1}, rank, at::kFloat)};
    for (int way = 0; way < 3; way++) {
        sum[0].fill_(1);
        got[0].zero_();
        group.startCoalescing();
        group.allreduce(sum);
        group.recv(got, (rank + 1) % RANKS, 7);
        group.send(mine, (rank + 2) % RANKS, 7);
        const auto work = group.endCoalescing();
        if (way == 0)
            work->wait();
        else if (way == 1)
            work->getFuture()->wait();
        else
            while (!work->isCompleted())
                ;
        expect(work->isSuccess() && sum[0].item<float>() == RANKS && got[0].item<float>() == (rank + 1) % RANKS,
               "coalesced operations");
    }
    group.startCoalescing();
    group.endCoalescing()->wait(); // without operations
}

static void rank_main(const std::string &path, int rank)
{
    const auto store = c10::make_intrusive<c10d::FileStore>(path, RANKS);
    const auto start = [&] {
        return c10::intrusive_ptr<c10d::Backend>(
            c10::make_intrusive<trivance::Group>(store, rank, RANKS, std::chrono::seconds(30), trivance::Settings{}));
    };
    auto group = start();
    Tensors sum = {of({1, 2})};
    group->allreduce(sum)->wait();
    expect(sum[0].equal(of({3, 6})), "all_reduce");
    coalesced_forms(*group, rank);
    coalescing(*group, rank);
    group->barrier()->wait();
    group->shutdown();
    expect(fails("shut down", [&] { group->allreduce(sum); }), "a call after the end");

    group = start();
    Tensors message = {at::zeros({1})};
    if (rank == 1) { // aborts when the others are ready
        group->recv(message, 0, 0)->wait();
        group->recv(message, 2, 0)->wait();
        group->abort();
        return;
    }
    const auto wait_for_abort = [&] {
        Tensors got = {at::zeros({1})};
        group->startCoalescing();
        group->recv(got, 1, 0);
        const auto work = group->endCoalescing();
        group->send(message, 1, 0);
        work->wait();
    };
    expect(fails("rank 1 has aborted", wait_for_abort), "an abort");
}

int main()
{
    char path[] = "/tmp/trivance-backend2-XXXXXX";
    if (mkstemp(path) < 0)
        return 1;
    for (int rank = 0; rank < RANKS; rank++)
        if (fork() == 0) {
            try {
                rank_main(path, rank);
            } catch (const std::exception &error) {
                expect(false, error.what());
            }
            _exit(failures > 0);
        }
    bool failed = false;
    for (int status; wait(&status) > 0;)
        failed |= status != 0;
    unlink(path);
    return failed;
}
