/*
 * Operations, and the engine's thread, which progresses operations for which no thread waits.
 */
#include "engine.hpp"

#include <algorithm>
#include <future>
#include <pthread.h>
#include <set>

namespace trivance
{

using namespace std::chrono_literals;

static constexpr auto PATIENCE = 1ms;    // before the engine progresses operations for which a caller may wait next
static constexpr double WAIT_S = 0.0005; // for one operation, before the others are polled
static constexpr auto WATCHFUL = 1000ms; // polling after the last operation; then the thread sleeps until it is woken
static constexpr auto ASIDE = 1ms;       // for callbacks, before another thread becomes the driver
static constexpr auto FAREWELL = 1000ms; // for the end of the other ranks
static constexpr auto LONGEST = 876000h; // maximum timeout: a later time overflows the clock

void throw_last_error(const char *call, int code)
{
    const std::string sentence = c10::str(call, ": ", trv_last_error());
    if (code == TRV_ERR_ARGUMENT || code == TRV_ERR_UNSUPPORTED)
        throw std::invalid_argument(sentence);
    throw std::runtime_error(sentence);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

Operation::Operation(std::shared_ptr<Engine> engine, const char *call, c10d::OpType type, int rank,
                     std::vector<at::Tensor> results)
    : Work(rank, type, call, results), engine_(std::move(engine)), call_(call), results_(std::move(results)),
      inference_(c10::InferenceMode::is_enabled() ||
                 std::any_of(results_.begin(), results_.end(), [](const at::Tensor &at) { return at.is_inference(); }))
{
}

trv_net_request_t *Operation::add()
{
    requests_.push_back(TRV_NET_REQUEST_NULL);
    return &requests_.back();
}

bool Operation::started() const
{
    return std::any_of(requests_.begin(), requests_.end(), [](trv_net_request_t at) { return at != nullptr; });
}

void Operation::limit(Milliseconds timeout)
{
    if (timeout.count() <= 0)
        return;
    limit_ = std::min<Milliseconds>(timeout, LONGEST);
    deadline_ = (Clock::now() + limit_).time_since_epoch().count();
}

void Operation::check_deadline(Clock::time_point now)
{
    const Clock::rep deadline = deadline_;
    if (deadline == 0 || now.time_since_epoch().count() < deadline || over_)
        return;
    deadline_ = 0;
    trv_net_abort(engine_->net(),
                  c10::str(call_, " took longer than ", static_cast<double>(limit_.count()) / 1e3, " s").c_str());
}

/* After an error it continues to the last request, so that no buffer is in use when the operation is complete. */
void Operation::advance(bool waits, double seconds)
{
    for (const OperationPtr &part : parts)
        try {
            if (!waits && !part->poke(seconds))
                return;
            part->wait();
        } catch (const std::exception &error) {
            if (failure_.empty())
                failure_ = error.what();
        }
    for (trv_net_request_t &request : requests_) {
        bool done = true;
        const int rc = waits ? trv_net_wait(&request) : trv_net_wait_for(&request, seconds, &done);
        if (rc < 0 && failure_.empty())
            failure_ = c10::str(call_, ": ", trv_last_error());
        if (!done)
            return;
    }
    complete();
}

void Operation::complete()
{
    std::exception_ptr error;
    if (!failure_.empty())
        error = std::make_exception_ptr(std::runtime_error(failure_));
    else if (finish_with) {
        try {
            c10::InferenceMode mode(inference_);
            at::NoGradGuard guard;
            finish_with();
        } catch (...) {
            error = std::current_exception();
        }
    }
    finish_with = nullptr;
    held_.clear();
    parts.clear();
    engine_->forget(this);
    std::lock_guard<std::mutex> lock(ends_);
    finish(error);
    over_ = true;
    unannounced_ = future_;
}

void Operation::drive(std::unique_lock<std::mutex> lock, bool waits, double seconds)
{
    const OperationPtr self = OperationPtr::unsafe_reclaim_from_nonowning(this);
    if (!over_)
        advance(waits, seconds);
    const auto future = std::move(unannounced_);
    unannounced_ = {};
    lock.unlock();
    if (!future)
        return;
    engine_->call_back([&] {
        if (isSuccess())
            future->markCompleted(c10::IValue(results_));
        else
            future->setError(exception());
    });
}

bool Operation::wanted(Clock::time_point now) const { return has_future_ || now - began_ > PATIENCE; }

bool Operation::poke(double seconds)
{
    std::unique_lock<std::mutex> lock(drive_, std::try_to_lock);
    if (lock.owns_lock())
        drive(std::move(lock), false, seconds);
    return over_;
}

bool Operation::isCompleted()
{
    if (over_)
        return true;
    engine_->require_member(call_);
    return poke();
}

bool Operation::isSuccess() const
{
    std::lock_guard lock(mutex_); // the mutex of Work, a timed one in some versions 2.x
    return completed_ && !exception_;
}

bool Operation::wait(Milliseconds timeout)
{
    limit(timeout);
    if (!over_) {
        engine_->require_member(call_);
        claimed_ = true;
        drive(std::unique_lock<std::mutex>(drive_), true);
    }
    std::lock_guard lock(mutex_);
    if (exception_)
        std::rethrow_exception(exception_);
    return true;
}

void Operation::abort() { engine_->abort(c10::str(call_, " was given up")); }

std::vector<at::Tensor> Operation::result() { return results_; }

c10::intrusive_ptr<c10::ivalue::Future> Operation::getFuture()
{
    std::unique_lock<std::mutex> lock(ends_);
    if (future_)
        return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    has_future_ = true;
    const bool over = over_;
    lock.unlock();
    if (!over)
        engine_->hurry();
    else if (isSuccess())
        future_->markCompleted(c10::IValue(results_));
    else
        future_->setError(exception());
    return future_;
}

/* ---- The engine -------------------------------------------------------------------------------------------------- */

static std::mutex all_mutex; // protects both lists
static std::condition_variable all_changed;
static std::set<std::shared_ptr<Engine>> &all()
{
    static auto *engines = new std::set<std::shared_ptr<Engine>>; // never freed: threads may outlive static objects
    return *engines;
}

// Threads that must still be joined, each with its process: a forked child inherits the list but not the threads.
struct Ending {
    std::thread thread;
    pid_t process;
};
static std::vector<Ending> &endings()
{
    static auto *list = new std::vector<Ending>;
    return *list;
}

static thread_local bool is_engines; // whether this thread belongs to an engine

static void leave_to_the_end(std::thread thread)
{
    std::lock_guard<std::mutex> lock(all_mutex);
    endings().push_back({std::move(thread), getpid()});
}

static void name_thread(std::thread &thread) { pthread_setname_np(thread.native_handle(), "trivance-torch"); }

std::shared_ptr<Engine> Engine::start(trv_net_t *net)
{
    std::shared_ptr<Engine> made(new Engine(net));
    {
        std::lock_guard<std::mutex> lock(made->mutex_);
        made->add_thread();
    }
    std::lock_guard<std::mutex> lock(all_mutex);
    all().insert(made);
    return made;
}

/* The thread keeps the engine alive until it ends, even if a callback of a future releases the group. */
void Engine::add_thread()
{
    threads_.emplace_back([self = shared_from_this()] {
        is_engines = true;
        self->run();
    });
    name_thread(threads_.back());
}

void Engine::require_member(const char *call) const
{
    if (process_ != getpid())
        throw std::runtime_error(c10::str(call,
                                          ": this process was forked after the group was made, and has no part in "
                                          "it; only the process that made it can use it"));
}

std::shared_lock<std::shared_mutex> Engine::enter(const char *call)
{
    require_member(call);
    std::shared_lock<std::shared_mutex> lock(open_);
    if (closed_)
        throw std::runtime_error(c10::str(call, ": the group has been shut down"));
    return lock;
}

void Engine::abort(const std::string &reason)
{
    std::shared_lock<std::shared_mutex> lock(open_);
    if (!closed_)
        trv_net_abort(net_, reason.c_str());
}

void Engine::begin(const OperationPtr &operation)
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        pending_.push_back(operation);
        if (asleep_)
            changed_.notify_one();
    }
    operation->open_ = {};
}

void Engine::forget(const Operation *operation)
{
    OperationPtr kept; // freed without the lock
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [operation](const OperationPtr &at) { return at.get() == operation; });
    if (found == pending_.end())
        return;
    kept = std::move(*found);
    pending_.erase(found);
}

void Engine::hurry()
{
    std::lock_guard<std::mutex> lock(mutex_);
    hurried_ = true;
    changed_.notify_one();
}

void Engine::call_back(const std::function<void()> &complete)
{
    if (!drives()) {
        complete();
        return;
    }
    {
        std::lock_guard<std::mutex> lock(mutex_);
        driver_ = std::thread::id();
        aside_.notify_one();
        if (spare_ == 0 && !stop_)
            try {
                add_thread();
            } catch (const std::system_error &) { // thread limit reached: callbacks must then not block
            }
    }
    complete();
    std::lock_guard<std::mutex> lock(mutex_);
    if (driver_ == std::thread::id())
        driver_ = std::this_thread::get_id();
}

/* Progresses the operations that are due and for which no thread waits; waits briefly for the oldest of them, which
 * also progresses all others. Returns whether any is incomplete. */
bool Engine::round()
{
    std::vector<OperationPtr> pending;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        hurried_ = false;
        pending = pending_;
    }
    bool more = false;
    const Clock::time_point now = Clock::now();
    for (const OperationPtr &operation : pending) {
        if (!drives())
            return false;
        operation->check_deadline(now);
        if (!operation->claimed_ && operation->wanted(now))
            more = !operation->poke(more ? 0 : WAIT_S) || more;
    }
    return more;
}

void Engine::run()
{
    Clock::time_point last = Clock::now();
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
        if (!drives()) {
            spare_++;
            aside_.wait(lock, [this] { return stop_ || driver_ == std::thread::id(); });
            aside_.wait_for(lock, ASIDE, [this] { return stop_ || driver_ != std::thread::id(); });
            spare_--;
            if (driver_ == std::thread::id())
                driver_ = std::this_thread::get_id();
            continue;
        }
        const bool empty = pending_.empty();
        lock.unlock();
        const bool more = round();
        lock.lock();
        if (more || !drives())
            continue;
        const Clock::time_point now = Clock::now();
        last = empty ? last : now;
        asleep_ = now - last > WATCHFUL;
        if (asleep_)
            changed_.wait(lock, [this] { return stop_ || hurried_ || !pending_.empty(); });
        else
            changed_.wait_for(lock, PATIENCE, [this] { return stop_ || hurried_; });
        asleep_ = false;
    }
}

/* The last reference may be released in a callback, on a thread of this engine or of another one, which may wait for
 * this engine's thread. The threads are then joined at the end of the process. */
void Engine::end_threads()
{
    std::vector<std::thread> threads;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        threads.swap(threads_);
    }
    for (std::thread &thread : threads)
        if (is_engines)
            leave_to_the_end(std::move(thread));
        else
            thread.join();
}

void Engine::close(const std::string &reason)
{
    if (process_ != getpid())
        return;
    if (!reason.empty())
        abort(reason);
    {
        std::unique_lock<std::shared_mutex> lock(open_);
        if (closed_.exchange(true))
            return;
    }
    std::vector<OperationPtr> left;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        changed_.notify_all();
        aside_.notify_all();
        left = pending_;
    }
    for (const OperationPtr &operation : left)
        if (!operation->isCompleted())
            trv_net_abort(net_, c10::str("it left while ", operation->call_, " was under way").c_str());
    for (const OperationPtr &operation : left)
        try {
            operation->wait();
        } catch (...) { // reported to the holder of the operation
        }
    end_threads();
    std::promise<void> over;
    std::future<void> ended = over.get_future();
    std::thread ending([self = shared_from_this(), over = std::move(over)]() mutable {
        trv_net_finalize(&self->net_);
        over.set_value();
    });
    name_thread(ending);
    if (ended.wait_for(FAREWELL) == std::future_status::ready)
        ending.join();
    else
        leave_to_the_end(std::move(ending));
    std::lock_guard<std::mutex> lock(all_mutex);
    all().erase(shared_from_this());
    all_changed.notify_all();
}

void close_all(const std::string &reason)
{
    std::vector<std::shared_ptr<Engine>> left;
    std::vector<std::thread> ending;
    {
        std::lock_guard<std::mutex> lock(all_mutex);
        left.assign(all().begin(), all().end());
    }
    for (const auto &engine : left)
        engine->close(reason);
    {
        std::unique_lock<std::mutex> lock(all_mutex);
        all_changed.wait(lock, [&] { // a callback may be closing one
            return std::none_of(left.begin(), left.end(),
                                [](const auto &at) { return at->is_member() && all().count(at) > 0; });
        });
        for (Ending &at : endings())
            if (at.process == getpid() && at.thread.joinable())
                ending.push_back(std::move(at.thread));
    }
    for (std::thread &thread : ending)
        thread.join();
}

} // namespace trivance
