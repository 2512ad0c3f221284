/*
 * What is under way in a process group, and who drives it.
 *
 * An operation is started by the thread that calls the collective. Whoever waits for it drives it itself, asleep in the
 * library between messages, so that a synchronous call changes no thread. What nobody waits for is driven by the engine's
 * threads: at once if its future was asked for (DistributedDataParallel does), else when it is a millisecond old.
 *
 * One of these threads drives at a time. Before it runs the callbacks of a future it steps aside, so that another can take
 * its place: a callback may itself wait for a future.
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

namespace trivance
{

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
class Engine;

// Throws what trv_last_error() says, after "all_reduce: ".
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

    // Until Engine::begin, by the thread that makes it:
    void expect(size_t requests) { requests_.reserve(requests); } // before more than one is added
    trv_net_request_t *add();                                     // a place for another request
    bool started() const;                                         // whether a request is under way
    void hold(const at::Tensor &tensor) { held_.push_back(tensor); }
    std::function<void()> finish_with;                // brings the results to where they belong
    std::vector<c10::intrusive_ptr<Operation>> parts; // begun before, which it waits for
    int source = -1;
    void limit(Milliseconds timeout);          // nothing, if that is not positive
    std::shared_lock<std::shared_mutex> open_; // Engine::enter's

  private:
    friend class Engine;
    void drive(std::unique_lock<std::mutex> lock, bool waits, double seconds = 0); // the lock: of drive_
    void advance(bool waits, double seconds);
    void complete();
    bool poke(double seconds = 0); // unless another drives it; whether it is over
    bool wanted(Clock::time_point now) const;
    void check_deadline(Clock::time_point now);

    std::shared_ptr<Engine> engine_;
    const char *call_;
    std::vector<trv_net_request_t> requests_;
    std::vector<at::Tensor> results_, held_;
    std::string failure_;
    std::mutex drive_; // of requests_, failure_, unannounced_
    std::mutex ends_;  // of future_, and of the moment when it is over
    c10::intrusive_ptr<c10::ivalue::Future> future_, unannounced_;
    std::atomic<bool> claimed_{false}, over_{false}, has_future_{false};
    const Clock::time_point began_ = Clock::now();
    std::atomic<Clock::rep> deadline_{0}; // 0: the net's own timeout only
    Milliseconds limit_{0};
    const bool inference_; // what it makes and writes to may be tensors of torch.inference_mode
};

using OperationPtr = c10::intrusive_ptr<Operation>;

class Engine : public std::enable_shared_from_this<Engine>
{
  public:
    static std::shared_ptr<Engine> start(trv_net_t *net); // which it owns

    trv_net_t *net() const { return net_; }
    bool is_member() const { return process_ == getpid(); }
    trv_net_comm_t *world() const { return trv_net_world(net_); }

    // The net stays open meanwhile. Throws what require_member does, and after the end.
    std::shared_lock<std::shared_mutex> enter(const char *call);
    void begin(const OperationPtr &operation);
    void forget(const Operation *operation);
    void hurry();
    void abort(const std::string &reason);
    // Throws in a child that was forked after the start.
    void require_member(const char *call) const;
    // What may run callbacks of a future; another thread drives if it takes longer.
    void call_back(const std::function<void()> &complete);
    // Ends the threads, what is under way (with an exception), and the net; the others hear of the reason, if there is
    // one. Waits a little for the other ranks' ends, which may wait for this one to end another group; close_all waits
    // for the rest. Nothing in a forked child, which has no place in the job.
    void close(const std::string &reason = {});

  private:
    explicit Engine(trv_net_t *net) : net_(net) {}
    void run();
    bool round(); // whether anything is to be driven further at once
    bool drives() const { return driver_ == std::this_thread::get_id(); }
    void add_thread(); // with mutex_
    void end_threads();

    trv_net_t *net_;
    std::mutex mutex_;
    std::condition_variable changed_, aside_;
    std::vector<OperationPtr> pending_;
    bool stop_ = false, asleep_ = false, hurried_ = false;
    std::vector<std::thread> threads_;
    std::atomic<std::thread::id> driver_{}; // none: whoever is next
    size_t spare_ = 0;                      // threads that wait to drive
    std::shared_mutex open_;                // of closed_; held where the net is used, apart from what is pending
    std::atomic<bool> closed_{false};
    const pid_t process_ = getpid();
};

// All engines of the process that are not closed, at its end, and what is left of the others. The other ranks hear of the
// reason, if there is one.
void close_all(const std::string &reason);

} // namespace trivance
