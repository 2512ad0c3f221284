/*
 * The active operations of a process group, and the threads that progress them.
 *
 * An operation is started by the thread that calls the collective. A thread that waits for an operation progresses it
 * itself, asleep in the library between messages, so that a synchronous call needs no switch of threads. Operations for
 * which no thread waits are progressed by the engine's threads: immediately if their future was requested (as
 * DistributedDataParallel does), else when they are a millisecond old.
 *
 * One of these threads is the driver at a time. Before it runs the callbacks of a future it stops being the driver, so
 * that another thread can replace it: a callback may itself wait for a future.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <unistd.h>

#include <trivance/net.h>

#include "text.hpp"

namespace trivance
{

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
class Engine;

// Throws an exception with the text of trv_last_error(), after "all_reduce: ".
[[noreturn]] void throw_last_error(const char *call, int code);

class Operation : public c10d::Work
{
  public:
    Operation(std::shared_ptr<Engine> engine, const char *call, c10d::OpType type, int rank,
              std::vector<at::Tensor> results);
    ~Operation() override = default;

    bool isCompleted() override;
    bool isSuccess() const override;
    bool wait(Milliseconds timeout = kNoTimeout) override;
    void abort() override;
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
    std::vector<at::Tensor> result() override;
    int sourceRank() const override { return source; }

    // Called before Engine::begin, by the creating thread:
    trv_net_request_t *add(); // adds a request; the pointer is valid until the next one is added
    bool started() const;     // whether a request is active
    void keep_alive(const at::Tensor &tensor) { tensors_.push_back(tensor); }
    std::function<void()> finish_results;             // moves the results to their destinations
    std::vector<c10::intrusive_ptr<Operation>> parts; // started before; this operation waits for them
    int source = -1;
    void set_timeout(Milliseconds timeout);    // no limit if the timeout is not positive
    std::shared_lock<std::shared_mutex> open_; // the lock from Engine::enter

  private:
    friend class Engine;
    void progress(std::unique_lock<std::mutex> lock, bool waits, double seconds = 0); // `lock` holds progress_mutex_
    void advance(bool waits, double seconds);
    void complete();
    bool try_progress(
        double seconds = 0); // does nothing if another thread progresses it; returns whether it is complete
    bool is_due(Clock::time_point now) const;
    void check_deadline(Clock::time_point now);

    std::shared_ptr<Engine> engine_;
    const char *call_;
    std::vector<trv_net_request_t> requests_;
    std::vector<at::Tensor> results_, tensors_;
    std::string failure_;
    std::mutex progress_mutex_;   // protects requests_, failure_, future_to_complete_
    std::mutex completion_mutex_; // protects future_ and the transition to complete
    c10::intrusive_ptr<c10::ivalue::Future> future_, future_to_complete_;
    std::atomic<bool> has_waiter_{false}, over_{false}, has_future_{false};
    const Clock::time_point start_time_ = Clock::now();
    std::atomic<Clock::rep> deadline_{0}; // 0: only the net's own timeout
    Milliseconds timeout_{0};
    const bool inference_; // whether its tensors may be inference tensors (torch.inference_mode)
};

using OperationPtr = c10::intrusive_ptr<Operation>;

class Engine : public std::enable_shared_from_this<Engine>
{
  public:
    static std::shared_ptr<Engine> start(trv_net_t *net); // takes ownership of the net

    trv_net_t *net() const { return net_; }
    bool is_member() const { return process_ == getpid(); }
    trv_net_comm_t *world() const { return trv_net_world(net_); }

    // Keeps the net open while the lock is held. Throws as require_member does, and if the group is closed.
    std::shared_lock<std::shared_mutex> enter(const char *call);
    void begin(const OperationPtr &operation);
    void remove(const Operation *operation);
    void wake();
    void abort(const std::string &reason);
    // Throws in a child that was forked after the start.
    void require_member(const char *call) const;
    // Calls a function that may run callbacks of a future; another thread becomes the driver if it takes longer.
    void complete_future(const std::function<void()> &complete);
    // Ends the threads, the active operations (with an exception) and the net; the other ranks receive the reason, if
    // any. Waits briefly for the other ranks to close, because they may wait for this rank to close another group;
    // close_all waits for the rest. Does nothing in a forked child, which is not part of the job.
    void close(const std::string &reason = {});

  private:
    explicit Engine(trv_net_t *net) : net_(net) {}
    void run();
    bool round(); // returns whether more progress is needed immediately
    bool drives() const { return driver_ == std::this_thread::get_id(); }
    void add_thread(); // the caller holds mutex_
    void end_threads();

    trv_net_t *net_;
    std::mutex mutex_;
    std::condition_variable changed_, driver_changed_;
    std::vector<OperationPtr> pending_;
    bool stop_ = false, asleep_ = false, woken_ = false;
    std::vector<std::thread> threads_;
    std::atomic<std::thread::id> driver_{}; // none: the next thread takes over
    size_t idle_threads_ = 0;               // threads that wait to become the driver
    std::shared_mutex open_; // protects closed_; held while the net is used, except by pending operations
    std::atomic<bool> closed_{false};
    const pid_t process_ = getpid();
};

// Closes all open engines at the end of the process, and joins the threads of those closed before. The other ranks
// receive the reason, if any.
void close_all(const std::string &reason);

} // namespace trivance
