/*
 * The extension as PyTorch 2 sees it, a c10d::Backend, in three processes without Python: what that calls and 1.13 does
 * not, beside some of what both do. The tests of 1.13 have all the rest, of the same code.
 */
#include "collectives.cpp"
#include "engine.cpp"
#include "group.cpp"
#include "tensors.cpp"

#include <iostream>

#include <sys/wait.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>

using trivance::Tensors;

// There is no Python here, whose lock would have to be let go.
int Py_IsInitialized() { return 0; }
int PyGILState_Check() { return 0; }
PyThreadState *PyEval_SaveThread() { return nullptr; }
void PyEval_RestoreThread(PyThreadState *) {}

static constexpr int RANKS = 3;
static int failures;

static void hold(bool holds, const char *what)
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
        std::cerr << "another sentence: " << error.what() << "\n";
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
    hold(wholes[0].equal(of({0, 10, 1, 11, 2, 12}).view({3, 2})),
         "the first output of all_gather_into_tensor_coalesced");
    hold(strided.select(2, 1).eq(0).all().item<bool>(), "what lies between a strided output's elements has changed");
    hold(wholes[1].equal(at::arange(3)), "the second output of all_gather_into_tensor_coalesced");

    Tensors inputs = {at::arange(6, at::kFloat) * (r + 1), at::full({3}, r)},
            outputs = {at::empty({2}), at::empty({1})};
    c10d::ReduceScatterOptions options;
    options.reduceOp = c10d::ReduceOp::AVG;
    group.reduce_scatter_tensor_coalesced(outputs, inputs, options)->wait();
    hold(outputs[0].equal(of({4 * r, 4 * r + 2})), "the first output of reduce_scatter_tensor_coalesced");
    hold(outputs[1].equal(of({1})), "the second output of reduce_scatter_tensor_coalesced");

    Tensors small = {at::empty({1})}, none;
    hold(fails("3 times its elements", [&] { group.allgather_into_tensor_coalesced(small, small); }), "a wrong length");
    hold(fails("0 outputs", [&] { group.reduce_scatter_tensor_coalesced(none, small); }), "another number of outputs");
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
        hold(work->isSuccess() && sum[0].item<float>() == RANKS && got[0].item<float>() == (rank + 1) % RANKS,
             "coalesced operations");
    }
    group.startCoalescing();
    group.endCoalescing()->wait(); // of nothing
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
    hold(sum[0].equal(of({3, 6})), "all_reduce");
    coalesced_forms(*group, rank);
    coalescing(*group, rank);
    group->barrier()->wait();
    group->shutdown();
    hold(fails("shut down", [&] { group->allreduce(sum); }), "a call after the end");

    group = start();
    Tensors word = {at::zeros({1})};
    if (rank == 1) { // once the others are ready for it
        group->recv(word, 0, 0)->wait();
        group->recv(word, 2, 0)->wait();
        group->abort();
        return;
    }
    const auto wait_for_it = [&] {
        Tensors got = {at::zeros({1})};
        group->startCoalescing();
        group->recv(got, 1, 0);
        const auto work = group->endCoalescing();
        group->send(word, 1, 0);
        work->wait();
    };
    hold(fails("rank 1 has aborted", wait_for_it), "an abort");
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
                hold(false, error.what());
            }
            _exit(failures > 0);
        }
    bool failed = false;
    for (int status; wait(&status) > 0;)
        failed |= status != 0;
    unlink(path);
    return failed;
}
