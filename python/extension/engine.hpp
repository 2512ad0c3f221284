/*
 * What is under way in a process group, and who drives it.
 *
 * An operation is started by the thread that calls the collective. Whoever waits for it drives it itself, asleep in the
 * library between messages, so that a synchronous call changes no thread. What nobody waits for is driven by the engine's
 * thread: at once if its future was asked for (DistributedDataParallel does), else when it is a millisecond old.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
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
    bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
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
    void limit(std::chrono::milliseconds timeout); // nothing, if that is not positive

  private:
    friend class Engine;
    void advance(bool waits, double seconds = 0); // with drive_
    void complete();
    bool poke(double seconds = 0); // unless another drives it; whether it is over
    bool wanted(Clock::time_point now) const;
    void check_deadline(Clock::time_point now);

    std::shared_ptr<Engine> engine_;
    const char *call_;
    std::vector<trv_net_request_t> requests_;
    std::vector<at::Tensor> results_, held_;
    std::string failure_;
    std::mutex drive_; // of requests_, failure_
    std::mutex ends_;  // of future_, and of the moment when it is over
    c10::intrusive_ptr<c10::ivalue::Future> future_;
    std::atomic<bool> claimed_{false}, over_{false}, has_future_{false};
    const Clock::time_point began_ = Clock::now();
    std::atomic<Clock::rep> deadline_{0}; // 0: the net's own timeout only
    std::chrono::milliseconds limit_{0};
};

using OperationPtr = c10::intrusive_ptr<Operation>;

class Engine : public std::enable_shared_from_this<Engine>
{
  public:
    static std::shared_ptr<Engine> start(trv_net_t *net); // which it owns

    trv_net_t *net() const { return net_; }
    trv_net_comm_t *world() const { return trv_net_world(net_); }

    void begin(const OperationPtr &operation);
    void forget(const Operation *operation);
    void hurry();
    // Throws in a child that was forked after the start; and after the end, too.
    void require_member(const char *call) const;
    void require_open(const char *call) const;
    // Ends the thread, what is under way (with an exception), and the net; waits for the other ranks' ends,
    // or lets them hear of the reason, if there is one. Nothing in a forked child, which has no place in the job.
    void close(const std::string &reason = {});

  private:
    explicit Engine(trv_net_t *net) : net_(net) {}
    void run();
    bool round(); // whether anything is to be driven further at once

    trv_net_t *net_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<OperationPtr> pending_, round_;
    bool stop_ = false, asleep_ = false, hurried_ = false;
    std::atomic<bool> closed_{false};
    const pid_t process_ = getpid();
    std::thread thread_;
};

// All engines of the process that are not closed, at its end; the others hear of the reason, if there is one.
void close_all(const std::string &reason);

} // namespace trivance
